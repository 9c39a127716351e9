//! How a program is run.

use super::scheduler::Scheduler;

/// How a program is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Who takes the next step.
    pub scheduler: Scheduler,
    /// The run is cut off after this many events.
    pub max_steps: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options { scheduler: Scheduler::Random(0), max_steps: 100_000 }
    }
}

impl Options {
    /// At random with this seed.
    pub fn seed(seed: u64) -> Options {
        Options { scheduler: Scheduler::Random(seed), ..Options::default() }
    }

    /// One thread after the other.
    pub fn serial() -> Options {
        Options { scheduler: Scheduler::Serial, ..Options::default() }
    }
}

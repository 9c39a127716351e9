//! How a program is run, and what is explored of it.

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

/// What is explored of a program.
#[derive(Clone, Copy, Debug)]
pub struct Exploring<'a> {
    /// Each interleaving is cut off after this many events.
    pub max_steps: u32,
    /// Whether two interleavings differ where an operation ends before another begins in one of them only. If not, the histories of
    /// equivalent interleavings may differ in that.
    pub real_time: bool,
    /// Code that is kept whole. A thread comes into it only where it can go through: it waits before it for what it would wait for in it.
    pub whole: &'a [Whole],
}

impl Exploring<'_> {
    /// All interleavings of the program as it is, by their accesses and synchronisation alone.
    pub fn all(max_steps: u32) -> Exploring<'static> {
        Exploring { max_steps, real_time: false, whole: &[] }
    }
}

/// Lines that a thread runs through without interruption.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Whole {
    /// The operation that the lines are of, or the label of the marked block where a program has no operations. Without it they are
    /// of no operation and no labelled block.
    pub block: Option<String>,
    /// The first line, from 1.
    pub first: u32,
    /// The last line.
    pub last: u32,
    /// Whether one turn of a loop and the next are kept together. If not, each is whole by itself.
    pub turns: bool,
}

//! The schedulers of a serial recording, and the variables of the environment that choose them.

use foretrace_runtime::record::HEADER_WORDS;
pub use foretrace_runtime::scheduler::Scheduler;
use std::ffi::OsString;
use std::io::Read;
use std::path::Path;

/// A scheduler with its settings.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Scheduling {
    /// The same seed gives the same run.
    pub seed: u64,
    /// The scheduler.
    pub scheduler: Scheduler,
    /// For `pct`: the number of orders that a failure is assumed to need; 3 by default.
    pub depth: Option<u64>,
    /// Records of each thread in an earlier run, by number: for `pct` and `urw`. May be empty.
    pub steps: Vec<u64>,
    /// For `order`: of each thread, by number, the headers of records after which others may go on, too. May be empty.
    pub ends_of_turns: Vec<Vec<u64>>,
}

impl Scheduling {
    /// The variables of the environment that the runtime reads.
    pub(crate) fn environment(&self) -> Vec<(&'static str, OsString)> {
        let mut variables = vec![("FORETRACE_SEED", self.seed.to_string().into())];
        variables.push(("FORETRACE_SCHEDULER", self.scheduler.name().into()));
        variables.extend(self.depth.map(|depth| ("FORETRACE_DEPTH", depth.to_string().into())));
        let joined = |numbers: &[u64], by: &str| numbers.iter().map(u64::to_string).collect::<Vec<String>>().join(by);
        if !self.steps.is_empty() {
            variables.push(("FORETRACE_STEPS", joined(&self.steps, ",").into()));
        }
        if !self.ends_of_turns.is_empty() {
            let of = |ends: &Vec<u64>| if ends.is_empty() { "0".to_string() } else { joined(ends, "/") };
            let ends: Vec<String> = self.ends_of_turns.iter().map(of).collect();
            variables.push(("FORETRACE_ENDS_OF_TURNS", ends.join(",").into()));
        }
        variables
    }

    /// How many records of a recording were the same as those before, again and again: mostly those of threads that waited in loops.
    pub fn repeated(recording: &Path) -> u64 {
        let text = std::fs::read_to_string(recording.join("repeated")).unwrap_or_default();
        text.trim().parse().unwrap_or(0)
    }

    /// How many records each thread of a recording has, by number. Ends at the first log that cannot be read.
    pub fn steps_of(recording: &Path) -> Vec<u64> {
        (1..=MOST_THREADS).map_while(|thread| count_of(&recording.join(format!("thread-{thread}.log")))).collect()
    }
}

/// The number of records goes to the runtime for at most this many threads.
const MOST_THREADS: usize = 256;

/// The place of the count among the words at the start of a log.
const COUNT: usize = 5;

fn count_of(log: &Path) -> Option<u64> {
    let mut header = [0; HEADER_WORDS * 8];
    std::fs::File::open(log).ok()?.read_exact(&mut header).ok()?;
    let word = header[COUNT * 8..(COUNT + 1) * 8].try_into().ok()?;
    Some(u64::from_ne_bytes(word))
}

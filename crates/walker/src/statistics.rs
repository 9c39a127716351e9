//! What a walk met, in numbers.

use foretrace_trace::ThreadId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What a walk met, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Records of all logs.
    pub records: u64,
    /// What took effect one after the other in the threads, all together: accesses and synchronisation.
    pub counted: u64,
    /// Records that a log would have of the executed code if nothing were left out. One for each read, write and atomic update by an
    /// instruction, but not for variables of a frame whose address goes nowhere. These count one each: a branch by a condition or switch,
    /// the entry of a function, a parameter, and the return of a function that was not instrumented. So do an exception that arrives, an
    /// operation on a mutex or condition variable, and a thread created or joined. One for each value that is neither computed from words
    /// nor read: addresses of a frame's variables, intrinsics, floating point, parts of aggregates. Two for each copy or set of memory, and
    /// one for each eight bytes copied.
    pub operations: u64,
    /// Events of the trace.
    pub events: u64,
    /// Threads that have a log.
    pub threads: u64,
    /// Bytes of memory that were accessed.
    pub touched: u64,
    /// Those of them that two threads touched and one wrote.
    pub shared: u64,
    /// Accesses of memory that is not shared whose value depends on what shared memory held.
    pub symbolic_accesses: u64,
    /// Other accesses of memory that is not shared.
    pub constant_accesses: u64,
    /// Events on shared variables.
    pub shared_accesses: u64,
    /// Writes to shared variables by code that was not recorded.
    pub external_writes: u64,
    /// Operations by the names of functions.
    pub named_operations: u64,
    /// What is not known of such operations: which value of which function, or which functions are none.
    pub unknown_of_operations: BTreeSet<String>,
    /// Values that had to be fixed, by what fixed them.
    pub pins: BTreeMap<String, u64>,
    /// Synchronisation that fits to no state of its object, and was left out.
    pub dropped: u64,
    /// Places where a thread gave back a lock that it did not hold, which is part of this.
    pub not_held: BTreeSet<String>,
    /// Whether the trace begins later than the run.
    pub begins_later: bool,
    /// Whether the trace ends earlier than the logs, since it has as many events as logs of the size that was asked for could
    /// have records of.
    pub ends_early: bool,
    /// Whether it does so since the log does not fit to the program there.
    pub ends_unexplained: bool,
    /// Accesses of a parallel run whose values may be others than the program saw.
    pub races: u64,
    /// Transactions in the trace.
    pub transactions: u64,
    /// By place of the program's own code, where inside of a library its accesses happen.
    pub inside: BTreeMap<String, String>,
    /// Code that foretrace did not build, that ran, and that may order threads.
    pub foreign: BTreeSet<String>,
    /// Functions of the C library that ran and whose writes to memory the trace does not have.
    pub unseen_writes: BTreeSet<String>,
    /// Events whose access has no record in the log.
    pub unlogged: Vec<Unlogged>,
    /// By place of the program's own code the ways that branches went whose condition depends on shared memory.
    pub branches: BTreeMap<String, Ways>,
    /// The same of checks, of which one way never returns: assertions, and what the compiler adds.
    pub checks: BTreeMap<String, Ways>,
    /// How often the log and the program disagreed.
    pub mismatch_count: u64,
    /// Where they did, the first of them.
    pub mismatches: Vec<Mismatch>,
}

/// An access of shared memory that the log left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unlogged {
    /// The thread, as the trace counts.
    pub thread: ThreadId,
    /// Counted records of the thread before it.
    pub at: u64,
    /// The place that its record would have.
    pub place: u64,
}

/// The ways that a branch went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ways {
    /// Its condition held.
    pub held: bool,
    /// It did not.
    pub failed: bool,
}

impl Ways {
    /// Those of both.
    pub fn and(self, other: Ways) -> Ways {
        Ways { held: self.held || other.held, failed: self.failed || other.failed }
    }

    /// Whether it went both.
    pub fn are_both(self) -> bool {
        self.held && self.failed
    }
}

/// A place where the log and the program disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The thread's number.
    pub thread: u64,
    /// Counted records of the thread before it.
    pub at: u64,
    /// Where in the source.
    pub place: String,
    /// What was found and expected.
    pub what: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in thread {} at {} (after {} counted records): {}", self.thread, self.place, self.at, self.what)
    }
}

impl Statistics {
    pub(crate) fn pinned_by(&mut self, what: &str) {
        match self.pins.get_mut(what) {
            Some(count) => *count += 1,
            None => drop(self.pins.insert(what.to_string(), 1)),
        }
    }
}

//! How large random traces are, and about what.

use crate::trace::Data;

/// Kinds of events that a trace may have besides accesses, conditions and transactions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Topic {
    /// Critical sections of plain mutexes, nested rarely, and failed tries.
    Mutex,
    /// The same of a recursive mutex, nested often.
    Recursive,
    /// Exclusive and shared critical sections.
    Rwlock,
    /// Waits, wakes of every cause, signals and broadcasts.
    Condvar,
    /// Posts and downs.
    Semaphore,
    /// Arrives and departs.
    Barrier,
    /// Initialisations that happen once, some of which fail.
    Once,
    /// Forks and joins.
    Threads,
    /// Operations on concurrent objects.
    Operations,
    /// Several events in one step.
    Parts,
    /// Memory that is given back.
    Memory,
    /// Writes by code that was not recorded.
    External,
    /// Read-modify-writes with a guard.
    Swaps,
}

/// How large random traces are, and about what.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Most events.
    pub events: usize,
    /// Most threads, at least 2.
    pub threads: u64,
    /// What is known of values; by chance if nothing is said.
    pub data: Option<Data>,
    /// What it is about; one or two topics by chance if nothing is said.
    pub topics: Vec<Topic>,
    /// Whether blocks are often inside each other.
    pub nests: bool,
}

/// Up to 14 events of 4 threads.
impl Default for Shape {
    fn default() -> Shape {
        Shape { events: 14, threads: 4, data: None, topics: Vec::new(), nests: false }
    }
}

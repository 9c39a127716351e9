//! The schedulers of serial recordings, and the names by which the environment chooses one.

/// How the thread that goes on is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Scheduler {
    /// A random thread, for a random number of records.
    #[default]
    Turns = 0,
    /// A random thread before each record, with equal chances.
    Random,
    /// One after the other, each for the same number of records, which is random.
    RoundRobin,
    /// The thread of highest priority, which changes at a few random moments (Burckhardt, Kothari, Musuvathi and Nagarakatte, *A Randomized
    /// Scheduler with Probabilistic Guarantees of Finding Bugs*, ASPLOS 2010).
    Pct,
    /// The thread whose next record has the highest priority (Yuan, Yang and Gu, *Partial Order Aware Concurrency Sampling*, CAV 2018).
    Pos,
    /// A random thread before each record, the likelier the more records it has left (Zhao, Wolff, Mathur and Roychoudhury, *Selectively
    /// Uniform Concurrency Testing*, ASPLOS 2025, without their selection).
    Urw,
    /// The first thread, until it waits; then one thread after the other, each until it waits or ends.
    Order,
}

impl Scheduler {
    /// All of them.
    pub const ALL: [Scheduler; 7] = [
        Scheduler::Turns,
        Scheduler::Random,
        Scheduler::RoundRobin,
        Scheduler::Pct,
        Scheduler::Pos,
        Scheduler::Urw,
        Scheduler::Order,
    ];

    /// Its name on the command line and in the environment of the program.
    pub fn name(self) -> &'static str {
        match self {
            Scheduler::Turns => "turns",
            Scheduler::Random => "random",
            Scheduler::RoundRobin => "round-robin",
            Scheduler::Pct => "pct",
            Scheduler::Pos => "pos",
            Scheduler::Urw => "urw",
            Scheduler::Order => "order",
        }
    }
}

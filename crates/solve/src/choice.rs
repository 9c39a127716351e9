//! The choice of the back-end.

/// How the order of events is decided. Verdicts do not depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// What is fastest.
    Auto,
    /// Difference logic in Z3: the paper's way.
    Idl,
    /// An ordering theory in Z3.
    Order,
    /// The ordering theory in a SAT solver, with tables of values; in Z3 where they do not lead there.
    Sat,
}

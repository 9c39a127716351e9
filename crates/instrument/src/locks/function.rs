//! Functions of locks: which lock they take or release, and how they say whether they did.

use foretrace_runtime::lock_calls::LockCall;

/// What a mark may say.
const MARK_SYNTAX: &str = "take, try, try=0 or give, and after it nothing, alone, shared or (of give) either";

/// A function that is a lock's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LockFunction {
    /// What it does.
    pub call: LockCall,
    /// Which lock.
    pub lock: WhichLock,
    /// What it answers when it has done so.
    pub success: Success,
    /// How long it waits, if not for ever.
    pub time: Option<Time>,
}

/// Which lock a function is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum WhichLock {
    /// The one that its parameter of this number, from 0, points to.
    Parameter(usize),
    /// Its first parameter that is a pointer; one of this number if it has none.
    FirstPointer(u64),
    /// The word at the end of this path from the first parameter: offsets, and between two of them a pointer that lies there.
    Word(Vec<u64>),
}

/// What a function that may fail answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Success {
    /// 0 if it failed.
    NotZero,
    /// 0 if it succeeded.
    Zero,
    /// It cannot fail.
    Always,
    /// A struct whose first element is null if it failed.
    First,
}

/// How a time is given: seconds and nanoseconds as the parameters after the lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Time {
    /// So long from now.
    Span,
    /// Until this moment of the monotonic clock.
    Moment,
}

/// A function that is said to be a lock's, and cannot be one.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum BadLock {
    /// It has not the parameters for it.
    #[error("{function} is said to be a function of a lock: expected {expected}")]
    Parameters {
        /// The function.
        function: String,
        /// What it should have.
        expected: &'static str,
    },
    /// A mark in the source says something else than it can.
    #[error("the mark of {function}: found {found:?}, expected {}", MARK_SYNTAX)]
    Mark {
        /// The function.
        function: String,
        /// What the mark says.
        found: String,
    },
}

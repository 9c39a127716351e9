//! Numbers of what a trace holds: events, threads, variables, synchronisation objects, names and terms.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::NonZeroU32;

macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The same as a slice index.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// From a slice index, which must be below 2^32.
            pub fn from_index(index: usize) -> $name {
                $name(u32::try_from(index).expect("fewer than 2^32 entries"))
            }
        }
    };
}

index_type!(/// An event, by its position in the observed order, from 0.
    EventId);
index_type!(/// A thread, by its position in [`crate::Trace::threads`]; its number in the file is [`crate::Thread::number`].
    ThreadId);
index_type!(/// A shared variable, by its position in [`crate::Trace::vars`].
    VarId);
index_type!(/// A synchronisation object, by its position in [`crate::Trace::syncs`].
    SyncId);

/// As the event's index.
impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An interned string: a source location, label, local name, method or reason.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct NameId(pub NonZeroU32);

impl NameId {
    pub(crate) fn from_index(index: usize) -> NameId {
        let number = u32::try_from(index + 1).ok().and_then(NonZeroU32::new);
        NameId(number.expect("fewer than 2^32 names"))
    }

    pub(crate) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// A term of one arena.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct TermId(NonZeroU32);

impl TermId {
    pub(crate) fn new(position: usize) -> TermId {
        let next = u32::try_from(position + 1).ok().and_then(NonZeroU32::new);
        TermId(next.expect("fewer than 2^32 terms"))
    }

    /// Position in the arena; a term's arguments have lower ones.
    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

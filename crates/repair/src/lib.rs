//! Which code must be atomic for a failing run not to happen.
//!
//! A repair is a set of atomic sections. It *eliminates* a trace if no trace with the same order of conflicts keeps its sections whole. The
//! crate finds all repairs of a failing trace that are optimal (none contains another), turns them into stretches of source lines, and
//! ranks them by how many passing traces they would forbid.
//!
//! After Berk Çirisci, Constantin Enea, Azadeh Farzan, Suha Orhun Mutluergil: "Root Causing Linearizability Violations",
//! CAV 2020; the sections that the modules name are those of this paper.

mod calls;
mod cycle;
mod eliminators;
mod enforce;
mod function;
mod guard;
mod lock_order;
mod locked_order;
mod merge;
mod minimize;
mod operations;
mod others;
mod patch;
mod place;
mod rank;
mod relation;
mod rounds;
mod section;
mod semaphores;
mod serializable;
mod subsumption;
mod ways;

pub use cycle::{Link, Relates, cycle};
pub use eliminators::{Eliminators, Limits, Segment, eliminators};
pub use enforce::{Sections, Switch, Whole, kept_whole, stretches_of, switches, with_switches};
pub use function::{Function, Functions};
pub use guard::{Guard, Guarded, NoGuard, excludes, guarded};
pub use lock_order::{Taken, circle};
pub use locked_order::with_lock;
pub use merge::{combine, optimal};
pub use minimize::minimize;
pub use operations::{Operation, Operations};
pub use others::{Others, others};
pub use patch::{NewLock, NoPatch, Patch, PatchLock, file_of, patch};
pub use rank::{Passing, Ranked, Repairs, repairs};
pub use relation::{Relation, may_be_end};
pub use rounds::{Round, RoundsEnd, Seen, rounds};
pub use section::{Lines, Repair, Section};
pub use semaphores::Downs;
pub use serializable::is_serializable;

//! The order of events in terms of Z3.

use foretrace_trace::EventId;
use z3::ast::Bool;

/// Makes terms of order atoms.
pub(super) trait OrderTheory {
    /// "`a` comes before `b`", for `a` earlier than `b` in the observed order. Its negation means the opposite.
    fn before(&mut self, a: EventId, b: EventId) -> Bool;

    /// Hears that this term says whether the prefix holds the event.
    fn included(&mut self, _event: EventId, _term: &Bool) {}
}

//! How much a violation matters: whether another order of its conflicts would make a difference.

use crate::judgement::Violation;
use foretrace_checker::{Access, Link, guarded_dependent};
use foretrace_trace::{EventId, Op, Trace, Value, VarId};
use rustc_hash::FxHashMap;

/// How much the conflicts of a violation path matter; the gravest first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Weight {
    /// Each of them makes a difference, as far as values are known.
    Full,
    /// Some are harmless: without them there would be no path.
    Partial,
    /// All are harmless.
    None,
}

/// A value that may not be known. What is not known equals nothing.
#[derive(Clone, Default)]
struct Known(Option<Value>);

impl PartialEq for Known {
    fn eq(&self, other: &Known) -> bool {
        self.0.is_some() && self.0 == other.0
    }
}

impl Weight {
    /// How much the violation matters. A conflict is harmless where its variable is benign, or where the values of the schedule
    /// make the order irrelevant: guarded independence (C. Wang, R. Limaye, M. Ganai and A. Gupta, "Trace-based symbolic analysis for
    /// atomicity violations", TACAS 2010, Definition 2).
    pub fn of_violation(violation: &Violation, trace: &Trace, is_benign: &dyn Fn(VarId) -> bool) -> Weight {
        let (path, values) = (violation.claim(), values(violation, trace));
        let pairs = path.events.windows(2).zip(&path.links);
        let conflicts = pairs.filter_map(|(pair, link)| match link {
            Link::Conflict(var) => Some((pair[0], pair[1], *var)),
            Link::ProgramOrder => None,
        });
        let (mut harmless, mut all) = (0, 0);
        for (earlier, later, var) in conflicts {
            all += 1;
            harmless += usize::from(is_benign(var) || is_independent(trace, &values, earlier, later));
        }
        match harmless {
            0 => Weight::Full,
            _ if harmless < all => Weight::Partial,
            _ => Weight::None,
        }
    }
}

/// What the accesses of the path found and left.
fn values(violation: &Violation, trace: &Trace) -> FxHashMap<EventId, Access<Known>> {
    let mut memory: FxHashMap<VarId, Option<Value>> = FxHashMap::default();
    let mut values = FxHashMap::default();
    for step in violation.run().steps(trace) {
        let op = &trace.event(step.event).op;
        let Some(var) = op.var() else { continue };
        let held = memory.entry(var).or_insert_with(|| trace.vars[var.index()].init.clone());
        let before = step.read.clone().or_else(|| held.clone());
        let after = if op.writes() { step.written.clone() } else { before.clone() };
        *held = after.clone();
        if violation.claim().events.contains(&step.event) {
            values.insert(step.event, Access { before: Known(before), after: Known(after) });
        }
    }
    values
}

/// Whether the values make the order of two accesses irrelevant.
fn is_independent(trace: &Trace, values: &FxHashMap<EventId, Access<Known>>, earlier: EventId, later: EventId) -> bool {
    let (Some(earlier_values), Some(later_values)) = (values.get(&earlier), values.get(&later)) else { return false };
    let ops = [earlier, later].map(|event| &trace.event(event).op);
    if ops.iter().any(|op| matches!(op, Op::Rmw { .. })) {
        return false;
    }
    let [earlier_writes, later_writes] = ops.map(Op::writes);
    !guarded_dependent((earlier_values, earlier_writes), (later_values, later_writes))
}

//! What operations give in schedules other than the recorded one.
//!
//! The format (`docs/trace-format.md`) lets a `let` of a name that starts with `result`, directly before a `return` in its thread,
//! give the result, if it has the recorded result in the recorded order. Every other result is the same in all schedules.

use crate::observe::values_of_lets;
use crate::op::Op;
use crate::result_lets::result_lets;
use crate::trace::{EventId, Trace};
use crate::value::{Sort, Value};
use rustc_hash::FxHashMap;

/// Which operations give another result in another schedule.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// By `return`, the `let` that gives its result.
    given_by: FxHashMap<EventId, EventId>,
}

impl Results {
    /// Reads them off a trace; runs its recorded order if there are such.
    pub fn new(trace: &Trace) -> Results {
        let pairs = result_lets(trace);
        if pairs.is_empty() {
            return Results::default();
        }
        let lets = pairs.iter().map(|(definition, _)| *definition).collect();
        let values = values_of_lets(trace, &lets);
        let fits = |(definition, ret): &(EventId, EventId)| {
            let recorded = recorded_result(trace, *ret)?;
            (as_json(values.get(definition)?, recorded)? == recorded).then_some((*ret, *definition))
        };
        Results { given_by: pairs.iter().filter_map(fits).collect() }
    }

    /// The `let` that gives the result of a `return`, where there is one.
    pub fn given_by(&self, ret: EventId) -> Option<EventId> {
        self.given_by.get(&ret).copied()
    }

    /// What a `return` gives, as JSON, where its `let` has this value; the recorded result where it has none. `None` where that
    /// was not recorded.
    pub fn text(&self, trace: &Trace, ret: EventId, value: Option<&Value>) -> Option<String> {
        let recorded = recorded_result(trace, ret)?;
        let given = value.filter(|_| self.given_by.contains_key(&ret)).and_then(|value| as_json(value, recorded));
        Some(given.unwrap_or_else(|| recorded.to_string()))
    }
}

fn recorded_result(trace: &Trace, ret: EventId) -> Option<&str> {
    match trace.event(ret).op {
        Op::Return { value, .. } => value.map(|value| trace.names.text(value)),
        _ => None,
    }
}

/// A value as JSON, in the way in which the recorded result is written: a word of one bit may be a truth value, one of 64 bits is signed.
fn as_json(value: &Value, recorded: &str) -> Option<String> {
    let is_truth = matches!(recorded, "true" | "false");
    match (value, value.sort()) {
        (Value::Bool(truth), _) => is_truth.then(|| truth.to_string()),
        (_, Sort::BitVec(1)) if is_truth => Some((value.to_integer() != 0.into()).to_string()),
        _ if is_truth => None,
        (_, Sort::BitVec(64)) => Some(value.to_signed().to_string()),
        _ => Some(value.to_integer().to_string()),
    }
}

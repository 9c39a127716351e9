//! Runs a schedule: which operations does it perform, and what do they give?

use crate::context::Context;
use foretrace_checker::PerformedStep;
use foretrace_trace::{EventId, Op, Value};
use rustc_hash::FxHashMap;

/// A schedule that was run.
#[derive(Clone, Default)]
pub(crate) struct Way {
    /// The events, in order.
    pub schedule: Vec<EventId>,
    /// The calls and returns among them.
    pub performed: Vec<PerformedStep>,
}

/// What a schedule performs; nothing where it is no prefix.
pub(crate) fn perform(context: &Context<'_>, schedule: &[EventId]) -> Option<Way> {
    let Context { trace, results, .. } = context;
    let mut defined: FxHashMap<EventId, Value> = FxHashMap::default();
    let mut performed = Vec::new();
    let ran = context.semantics.run(schedule, |event, effect| match trace.event(event).op {
        Op::Let { .. } => {
            if let Some(value) = effect.defined() {
                defined.insert(event, value.clone());
            }
        }
        Op::Call { .. } | Op::Return { .. } => {
            let given_by = results.given_by(event);
            let value = given_by.and_then(|definition| defined.get(&definition));
            performed.push(PerformedStep { event, result: results.text(trace, event, value), given_by });
        }
        _ => {}
    });
    ran.ok().map(|_| Way { schedule: schedule.to_vec(), performed })
}

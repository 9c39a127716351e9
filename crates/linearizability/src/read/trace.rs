//! Histories from traces: their `call` and `return` events.

use super::json::value_of;
use crate::history::{History, Operation};
use crate::value::Value;
use foretrace_trace::{EventId, NameId, Op, Trace};

/// The operations of a trace. What a `return` closes is the innermost open `call` of its object and method.
pub fn read_trace(trace: &Trace) -> History {
    let recorded = |id: EventId| match trace.event(id).op {
        Op::Return { value, .. } => value.map(|value| trace.names.text(value).to_string()),
        _ => None,
    };
    read_order(trace, trace.iter().map(|(id, _)| id), recorded)
}

/// The operations of another order of some of a trace's events. Times are places in the order; `result` says what a `return` gives there,
/// as JSON, `None` where that is not known.
pub fn read_order(
    trace: &Trace,
    order: impl IntoIterator<Item = EventId>,
    result: impl Fn(EventId) -> Option<String>,
) -> History {
    let mut operations: Vec<Operation> = Vec::new();
    let mut open: Vec<Vec<usize>> = vec![Vec::new(); trace.threads.len()];
    let text = |name: NameId| trace.names.text(name).to_string();
    for (time, id) in order.into_iter().enumerate() {
        let event = trace.event(id);
        let thread = &trace.threads[event.thread.index()];
        match &event.op {
            Op::Call { object, method, args } => {
                open[event.thread.index()].push(operations.len());
                operations.push(Operation {
                    process: thread
                        .name
                        .as_deref()
                        .map_or_else(|| thread.number.to_string(), |name| format!("{name}#{}", thread.number)),
                    object: object.map(text),
                    method: text(*method),
                    args: args.map(|args| values(&text(args))).unwrap_or_default(),
                    result: None,
                    call: time as u64,
                    ret: u64::MAX,
                });
            }
            Op::Return { object, method, .. } => {
                let open = &mut open[event.thread.index()];
                let (object, method) = (object.map(text), text(*method));
                let is_it =
                    |number: &usize| operations[*number].object == object && operations[*number].method == method;
                let Some(place) = open.iter().rposition(is_it) else { continue };
                let number = open[place];
                open.truncate(place);
                operations[number].ret = time as u64;
                operations[number].result = Some(result(id).map_or(Value::Unknown, |value| one(&value)));
            }
            _ => {}
        }
    }
    History::new(operations)
}

/// Arguments: a JSON array, or one value.
fn values(text: &str) -> Vec<Value> {
    match one(text) {
        Value::List(values) => values,
        value => vec![value],
    }
}

/// A JSON value, else text.
fn one(text: &str) -> Value {
    serde_json::from_str(text).map_or_else(|_| Value::Text(text.to_string()), |value| value_of(&value))
}

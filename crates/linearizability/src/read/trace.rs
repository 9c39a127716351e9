//! Histories from traces: their `call` and `return` events.

use super::json::value_of;
use crate::history::{History, Operation};
use crate::value::Value;
use foretrace_trace::{NameId, Op, Trace};

/// The operations of a trace. What a `return` closes is the innermost open `call` of its object and method.
pub fn read_trace(trace: &Trace) -> History {
    let mut operations: Vec<Operation> = Vec::new();
    let mut open: Vec<Vec<usize>> = vec![Vec::new(); trace.threads.len()];
    let text = |name: NameId| trace.names.text(name).to_string();
    for (id, event) in trace.iter() {
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
                    call: u64::from(id.0),
                    ret: u64::MAX,
                });
            }
            Op::Return { object, method, value } => {
                let open = &mut open[event.thread.index()];
                let (object, method) = (object.map(text), text(*method));
                let is_it =
                    |number: &usize| operations[*number].object == object && operations[*number].method == method;
                let Some(place) = open.iter().rposition(is_it) else { continue };
                let number = open[place];
                open.truncate(place);
                operations[number].ret = u64::from(id.0);
                operations[number].result = Some(value.map_or(Value::Unknown, |value| one(&text(value))));
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

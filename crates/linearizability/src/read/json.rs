//! Histories as JSON Lines, or as one array: a call or a return per object, or a whole operation per object.

use super::entry::{Entry, Kind, ReadError, paired};
use crate::history::{History, Operation};
use crate::value::Value;
use serde_json::Value as Json;

/// Reads JSON Lines of either form:
///
/// - `{"process": 0, "type": "invoke", "f": "write", "value": 3}`, then `"type"` `ok`, `fail` or `info`, as Jepsen has it;
/// - `{"process": 0, "call": 10, "return": 25, "method": "push", "args": [3], "result": null}`, as Porcupine's
///   `Operation` (also by the names `ClientId`, `Call`, `Return`, `Input`, `Output`).
pub fn read_json_lines(text: &str) -> Result<History, ReadError> {
    let mut values: Vec<(usize, Json)> = Vec::new();
    if text.trim_start().starts_with('[') {
        let all: Vec<Json> = serde_json::from_str(text).map_err(|error| {
            ReadError::new(error.line(), format!("what is no JSON array ({error})"), "an array of operations")
        })?;
        values.extend(all.into_iter().map(|value| (1, value)));
    } else {
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let value = serde_json::from_str(line)
                .map_err(|error| ReadError::new(number + 1, format!("what is no JSON ({error})"), "an object"))?;
            values.push((number + 1, value));
        }
    }
    if values.iter().any(|(_, value)| field(value, &["type"]).is_some()) {
        let entries: Result<Vec<Entry>, ReadError> = values.iter().map(|(line, value)| entry(*line, value)).collect();
        return paired(entries?);
    }
    let operations: Result<Vec<Operation>, ReadError> =
        values.iter().map(|(line, value)| operation(*line, value)).collect();
    Ok(History::new(apart(operations?)))
}

fn field<'j>(value: &'j Json, names: &[&str]) -> Option<&'j Json> {
    names.iter().find_map(|name| value.get(name))
}

fn text_of(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => Some(text.clone()),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A value of ours; objects are text.
pub(super) fn value_of(value: &Json) -> Value {
    match value {
        Json::Null => Value::Nil,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => number.as_i64().map_or_else(|| Value::Text(number.to_string()), Value::Int),
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(values) => Value::List(values.iter().map(value_of).collect()),
        Json::Object(fields) if fields.get("unknown") == Some(&Json::Bool(true)) => Value::Unknown,
        Json::Object(_) => Value::Text(value.to_string()),
    }
}

fn required<T>(line: usize, value: &Json, found: Option<T>, expected: &'static str) -> Result<T, ReadError> {
    found.ok_or_else(|| ReadError::new(line, value.to_string(), expected))
}

const PROCESS: &[&str] = &["process", "client", "thread", "ClientId"];
const METHOD: &[&str] = &["f", "method", "op"];
const OBJECT: &[&str] = &["object", "key"];

fn entry(line: usize, value: &Json) -> Result<Entry, ReadError> {
    let process = required(line, value, field(value, PROCESS).and_then(text_of), "a field \"process\"")?;
    let kind = field(value, &["type"]).and_then(Json::as_str).and_then(Kind::from_text);
    let kind = required(line, value, kind, "a \"type\" of invoke, ok, fail or info")?;
    let method = required(line, value, field(value, METHOD).and_then(text_of), "a method in a field \"f\"")?;
    let object = field(value, OBJECT).and_then(text_of);
    Ok(Entry { line, process, kind, object, method, value: field(value, &["value"]).map(value_of) })
}

fn operation(line: usize, value: &Json) -> Result<Operation, ReadError> {
    let input = field(value, &["Input", "input"]).unwrap_or(value);
    let process = field(value, PROCESS).and_then(text_of).unwrap_or_default();
    let call = field(value, &["call", "Call"]).and_then(Json::as_u64);
    let call = required(line, value, call, "a time in a field \"call\"")?;
    let method = required(line, value, field(input, METHOD).and_then(text_of), "a method in a field \"method\"")?;
    let args = match field(input, &["args", "value", "arg"]) {
        Some(Json::Array(values)) => values.iter().map(value_of).collect(),
        None | Some(Json::Null) => Vec::new(),
        Some(value) => vec![value_of(value)],
    };
    let ret = field(value, &["return", "Return"]).and_then(Json::as_u64);
    if ret.is_some_and(|ret| ret < call) {
        return Err(ReadError::new(line, value.to_string(), "a return after the call"));
    }
    let result = field(value, &["result", "Output", "output"]).map_or(Value::Nil, value_of);
    Ok(Operation {
        process,
        object: field(input, OBJECT).and_then(text_of),
        method,
        args,
        result: ret.map(|_| result),
        call,
        ret: ret.unwrap_or(u64::MAX),
    })
}

/// Gives each call and return a moment for itself. Where times are equal calls come first: then operations overlap, as
/// they may have.
fn apart(mut operations: Vec<Operation>) -> Vec<Operation> {
    let mut moments: Vec<(u64, bool, usize)> = Vec::new();
    for (number, operation) in operations.iter().enumerate() {
        moments.push((operation.call, false, number));
        if operation.is_complete() {
            moments.push((operation.ret, true, number));
        }
    }
    moments.sort_unstable();
    for (moment, (_, is_return, number)) in moments.into_iter().enumerate() {
        let operation = &mut operations[number];
        if is_return { operation.ret = moment as u64 } else { operation.call = moment as u64 }
    }
    operations
}

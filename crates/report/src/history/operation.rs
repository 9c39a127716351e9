//! An operation of a history as JSON.

use foretrace_linearizability::{Operation, Value};
use serde::Serialize;

/// An operation, with when it was called and returned.
#[derive(Serialize)]
pub struct OperationJson<'h> {
    process: &'h str,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<&'h str>,
    method: &'h str,
    args: Vec<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<serde_json::Value>,
    call: u64,
    #[serde(rename = "return", skip_serializing_if = "Option::is_none")]
    ret: Option<u64>,
}

/// The operation for programs.
pub fn operation_json(operation: &Operation) -> OperationJson<'_> {
    OperationJson {
        process: &operation.process,
        object: operation.object.as_deref(),
        method: &operation.method,
        args: operation.args.iter().map(json_value).collect(),
        result: operation.result.as_ref().filter(|result| **result != Value::Unknown).map(json_value),
        call: operation.call,
        ret: operation.is_complete().then_some(operation.ret),
    }
}

/// The value as JSON; how deep it is was bounded when it was read.
fn json_value(value: &Value) -> serde_json::Value {
    match value {
        Value::Nil | Value::Unknown => serde_json::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::Int(value) => (*value).into(),
        Value::Text(text) => text.as_str().into(),
        Value::List(values) => values.iter().map(json_value).collect(),
    }
}

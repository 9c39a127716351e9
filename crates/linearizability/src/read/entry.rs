//! Calls and returns one after the other, as logs have them, and the operations that they make.

use crate::history::{History, Operation};
use crate::value::Value;

/// Why a history could not be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: found {found}, expected {expected}")]
pub struct ReadError {
    /// The line, from 1.
    pub line: usize,
    /// What is there.
    pub found: String,
    /// What should be.
    pub expected: &'static str,
}

impl ReadError {
    pub(super) fn new(line: usize, found: impl Into<String>, expected: &'static str) -> ReadError {
        let mut found: String = found.into();
        if found.chars().count() > 80 {
            found = found.chars().take(80).chain(['…']).collect();
        }
        ReadError { line, found, expected }
    }
}

/// A line of a log of calls and returns.
pub(super) struct Entry {
    pub(super) line: usize,
    pub(super) process: String,
    pub(super) kind: Kind,
    pub(super) object: Option<String>,
    pub(super) method: String,
    pub(super) value: Option<Value>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Invoke,
    Ok,
    /// It did not happen.
    Fail,
    /// Nobody knows whether it happened.
    Info,
}

impl Kind {
    pub(super) fn from_text(text: &str) -> Option<Kind> {
        match text {
            "invoke" | "call" => Some(Kind::Invoke),
            "ok" | "return" => Some(Kind::Ok),
            "fail" => Some(Kind::Fail),
            "info" => Some(Kind::Info),
            _ => None,
        }
    }
}

/// Puts calls and returns together. An operation that failed did not happen; one with an unknown end never returned.
pub(super) fn paired(entries: Vec<Entry>) -> Result<History, ReadError> {
    let mut operations: Vec<Option<Operation>> = Vec::new();
    let mut open: Vec<(String, usize)> = Vec::new();
    for (moment, entry) in entries.into_iter().enumerate() {
        let place = open.iter().position(|(process, _)| *process == entry.process);
        if entry.kind == Kind::Invoke {
            if place.is_some() {
                let found = format!("a second call of process {}", entry.process);
                return Err(ReadError::new(entry.line, found, "the end of its first one"));
            }
            open.push((entry.process.clone(), operations.len()));
            let args = match entry.value {
                None | Some(Value::Nil) => Vec::new(),
                Some(Value::List(values)) => values,
                Some(value) => vec![value],
            };
            operations.push(Some(Operation {
                process: entry.process,
                object: entry.object,
                method: entry.method,
                args,
                result: None,
                call: moment as u64,
                ret: u64::MAX,
            }));
            continue;
        }
        let Some(place) = place else {
            if entry.kind == Kind::Info {
                continue; // a note of the test itself
            }
            let found = format!("a return of process {}", entry.process);
            return Err(ReadError::new(entry.line, found, "a call before it"));
        };
        let (_, number) = open.swap_remove(place);
        match entry.kind {
            Kind::Fail => operations[number] = None,
            Kind::Ok => {
                if let Some(operation) = &mut operations[number] {
                    operation.ret = moment as u64;
                    operation.result = Some(entry.value.unwrap_or(Value::Nil));
                }
            }
            Kind::Invoke | Kind::Info => {}
        }
    }
    Ok(History::new(operations.into_iter().flatten().collect()))
}

//! Histories from files: JSON Lines and EDN as Jepsen and Porcupine have them, and traces of ours.

mod edn;
mod json;
mod trace;

pub use edn::read_edn;
pub use json::read_json_lines;
pub use trace::read_trace;

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
    fn new(line: usize, found: impl Into<String>, expected: &'static str) -> ReadError {
        let mut found: String = found.into();
        if found.chars().count() > 80 {
            found = found.chars().take(80).chain(['…']).collect();
        }
        ReadError { line, found, expected }
    }
}

/// Reads a history, whose first character says what it is: `{` with a quoted or a bare word after it, `[` or `(`, or else lines
/// of a log with `{…}` or words in them.
pub fn read_text(text: &str) -> Result<History, ReadError> {
    let start = text.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
    let inside = start.trim_start_matches(['[', '(']).trim_start().strip_prefix('{').map(str::trim_start);
    match inside {
        Some(inside) if inside.starts_with('"') => read_json_lines(text),
        _ => read_edn(text),
    }
}

/// A line of a log of calls and returns.
struct Entry {
    line: usize,
    process: String,
    kind: Kind,
    object: Option<String>,
    method: String,
    value: Option<Value>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Invoke,
    Ok,
    /// It did not happen.
    Fail,
    /// Nobody knows whether it happened.
    Info,
}

impl Kind {
    fn of(text: &str) -> Option<Kind> {
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
fn paired(entries: Vec<Entry>) -> Result<History, ReadError> {
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

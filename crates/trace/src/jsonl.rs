//! Traces as JSON Lines, the format of `docs/trace-format.md`: a header, then one event a line.

pub(crate) mod event;
pub(crate) mod header;
mod object;
mod scalar;
mod write;

pub use header::VERSION;
pub use write::write;

use crate::error::{Problem, ReadError};
use crate::lines::Lines;
use crate::observed::Observed;
use crate::trace::Trace;
use std::io::BufRead;

/// Reads a trace, line by line, and runs its recorded order; every rule of the format is checked.
pub fn read(input: impl BufRead) -> Result<(Trace, Observed), ReadError> {
    let mut lines = Lines::new(input);
    let Some(line) = lines.next(None)? else {
        let problem = Problem::new("an empty file", "a trace's header");
        return Err(ReadError::invalid(None, problem.at(None)));
    };
    let mut assembler = header::read(line).map_err(|problem| ReadError::invalid(Some(1), problem.at(None)))?;
    let mut events = event::EventReader::default();
    loop {
        let id = assembler.next_event();
        let Some(line) = lines.next(Some(id))? else { break };
        let read = events.read(&mut assembler, line).and_then(|event| assembler.push(event));
        read.map_err(|problem| ReadError::invalid(Some(lines.number()), problem.at(id)))?;
    }
    // Lines and events run in step: the header is line 1.
    assembler.finish_observed().map_err(|invalid| {
        let line = invalid.event.map_or(1, |event| u64::from(event.0) + 2);
        ReadError::invalid(Some(line), invalid)
    })
}

/// Whether `text` is one JSON value without needless blanks, as it stands for the `args` of a call.
pub(crate) fn is_compact(text: &str) -> bool {
    let parsed: Result<&serde_json::value::RawValue, _> = serde_json::from_str(text);
    parsed.is_ok_and(|raw| scalar::compact("", raw.get()).is_ok_and(|compact| compact == text))
}

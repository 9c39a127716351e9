//! What is wrong with an input, and where: every reader reports through these types.

use crate::trace::EventId;
use std::fmt;

/// What was found where something else was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("found {found}, expected {expected}")]
pub struct Problem {
    /// What the input has.
    pub found: String,
    /// What it should have.
    pub expected: String,
}

impl Problem {
    /// A problem from its two halves.
    pub fn new(found: impl Into<String>, expected: impl Into<String>) -> Problem {
        Problem { found: found.into(), expected: expected.into() }
    }

    /// The same problem of an event, or of the trace as a whole.
    pub fn at(self, event: impl Into<Option<EventId>>) -> Invalid {
        Invalid { event: event.into(), problem: self }
    }
}

/// A rule of the format that a trace breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Invalid {
    /// The event that breaks it; none where it is the header.
    pub event: Option<EventId>,
    /// What is wrong.
    pub problem: Problem,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.event {
            Some(event) => write!(f, "event {event}: {}", self.problem),
            None => self.problem.fmt(f),
        }
    }
}

/// Where in which file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePosition {
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1, where the format has lines.
    pub line: Option<u64>,
}

impl fmt::Display for FilePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        self.line.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}

/// Why a file could not be read as a trace.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The bytes could not be had.
    #[error("{place}: {source}")]
    Io {
        /// How far reading came.
        place: FilePosition,
        /// What the system says.
        source: std::io::Error,
    },
    /// They are no valid trace.
    #[error("{place}: {invalid}")]
    Invalid {
        /// Where.
        place: FilePosition,
        /// What is wrong there.
        invalid: Invalid,
    },
}

impl ReadError {
    pub(crate) fn io(line: Option<u64>, source: std::io::Error) -> ReadError {
        ReadError::Io { place: FilePosition { file: String::new(), line }, source }
    }

    /// Bytes that could not be had where this line or event should stand: the system's fault, or a damaged file.
    pub(crate) fn unreadable(line: Option<u64>, event: Option<EventId>, source: std::io::Error) -> ReadError {
        match source.get_ref().and_then(|inner| inner.downcast_ref::<Damaged>()) {
            Some(Damaged(reason)) => {
                let found = format!("damaged compressed data ({reason})");
                ReadError::invalid(line, Problem::new(found, "a whole Zstandard file").at(event))
            }
            None => ReadError::io(line, source),
        }
    }

    pub(crate) fn invalid(line: Option<u64>, invalid: Invalid) -> ReadError {
        ReadError::Invalid { place: FilePosition { file: String::new(), line }, invalid }
    }

    /// The same error, in this file.
    pub(crate) fn in_file(mut self, name: &str) -> ReadError {
        match &mut self {
            ReadError::Io { place, .. } | ReadError::Invalid { place, .. } => place.file = name.to_string(),
        }
        self
    }
}

/// What the decoder says of compressed data that it cannot read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Damaged(pub(crate) String);

/// Text of the input as a message shows it: in backquotes, on one line, not too long.
pub(crate) fn quoted(text: &str) -> String {
    const SHOWN: usize = 60;
    let mut shown: String = text.chars().take(SHOWN).flat_map(|c| plain_or_escaped(c)).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

fn plain_or_escaped(c: char) -> Box<dyn Iterator<Item = char>> {
    if c.is_control() { Box::new(c.escape_default()) } else { Box::new(std::iter::once(c)) }
}

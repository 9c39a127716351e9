//! Events of a trace as they come, for traces that do not end or do not fit into memory.
//!
//! What events say of values is passed over. Each line is checked, and the rules of single threads: what they open and close,
//! forks and joins. Whether the recorded order gives each value, and whether locks keep threads apart, is not checked: that takes
//! [`crate::read`]. A [`TraceTail`] keeps the latest events and checks them whole.

mod past;
mod tail;

pub use tail::{Lent, TraceTail};

use crate::assembler::TraceAssembler;
use crate::binary::read::Reader;
use crate::error::{Problem, ReadError};
use crate::jsonl::event::EventReader;
use crate::jsonl::header;
use crate::lines::Lines;
use crate::op::Op;
use crate::std_format::Import;
use crate::trace::{Event, EventId, Trace};
use crate::wellformed::AsTheyCome;
use std::io::BufRead;

type Input = Box<dyn BufRead>;

/// The events of a trace, one by one. Memory grows with the variables, synchronisation objects and threads that were named, not with
/// events; in the binary form also with its tables.
pub struct EventStream {
    source: Source,
    checks: AsTheyCome,
    file: String,
}

/// How the input is laid out.
enum Source {
    Jsonl(Lines<Input>, TraceAssembler, EventReader),
    Std(Lines<Input>, Import),
    /// With the number of events that are left; nothing once the end was read, too.
    Binary(Box<Reader<Input>>, Option<u64>),
}

impl EventStream {
    /// The events of JSON Lines, whose header is read.
    pub(crate) fn of_jsonl(input: Input) -> Result<EventStream, ReadError> {
        let mut lines = Lines::new(input);
        let empty = || ReadError::invalid(None, Problem::new("an empty file", "a trace's header").at(None));
        let line = lines.next(None)?.ok_or_else(empty)?;
        let assembler = header::read(line).map_err(|problem| ReadError::invalid(Some(1), problem.at(None)))?;
        Ok(EventStream::from_source(Source::Jsonl(lines, assembler, EventReader::default())))
    }

    /// The events of RAPID's text format.
    pub(crate) fn of_std(input: Input) -> EventStream {
        EventStream::from_source(Source::Std(Lines::new(input), Import::new()))
    }

    /// The events of the binary form, whose tables are read.
    pub(crate) fn of_binary(input: Input) -> Result<EventStream, ReadError> {
        let (reader, events) = Reader::after_tables(input)?;
        Ok(EventStream::from_source(Source::Binary(Box::new(reader), Some(events))))
    }

    fn from_source(mut source: Source) -> EventStream {
        source.assembler().keep_no_events();
        EventStream { source, checks: AsTheyCome::default(), file: String::new() }
    }

    /// With a name for messages.
    pub(crate) fn of_file(mut self, name: &str) -> EventStream {
        self.file = name.to_string();
        self
    }

    /// What was declared or named so far: variables, synchronisation objects, threads, names. It has no events.
    pub fn trace(&self) -> &Trace {
        match &self.source {
            Source::Jsonl(_, assembler, _) => assembler.trace(),
            Source::Std(_, import) => import.assembler.trace(),
            Source::Binary(reader, _) => reader.assembler.trace(),
        }
    }

    /// That an event which came is not what was expected.
    pub fn refused(&self, id: EventId, found: String, expected: String) -> ReadError {
        ReadError::invalid(self.source.line(), Problem::new(found, expected).at(id)).in_file(&self.file)
    }

    /// The next event and its number, once it is there; `None` at the end.
    ///
    /// # Errors
    /// As [`crate::read`], as far as this is checked.
    #[allow(clippy::should_implement_trait)] // an error ends it, and the trace is asked in between
    pub fn next(&mut self) -> Result<Option<(EventId, Event)>, ReadError> {
        let id = self.source.assembler().next_event();
        let read = self.source.next(id);
        let Some(mut event) = read.map_err(|error| error.in_file(&self.file))? else { return Ok(None) };
        if let Op::Wake { by, .. } = &mut event.op {
            *by = None; // which may have gone by
        }
        let checked = self.checks.check(self.source.assembler().trace(), id, &event);
        let passed = checked.and_then(|()| self.source.assembler().pass());
        match passed {
            Ok(id) => Ok(Some((id, event))),
            Err(problem) => Err(ReadError::invalid(self.source.line(), problem.at(id)).in_file(&self.file)),
        }
    }
}

impl Source {
    fn assembler(&mut self) -> &mut TraceAssembler {
        match self {
            Source::Jsonl(_, assembler, _) => assembler,
            Source::Std(_, import) => &mut import.assembler,
            Source::Binary(reader, _) => &mut reader.assembler,
        }
    }

    fn line(&self) -> Option<u64> {
        match self {
            Source::Jsonl(lines, ..) | Source::Std(lines, _) => Some(lines.number()),
            Source::Binary(..) => None,
        }
    }

    /// The next event, which has this number in messages.
    fn next(&mut self, id: EventId) -> Result<Option<Event>, ReadError> {
        let read = match self {
            Source::Jsonl(lines, assembler, events) => match lines.next(Some(id))? {
                Some(line) => events.read(assembler, line),
                None => return Ok(None),
            },
            Source::Std(lines, import) => match lines.next(Some(id))? {
                Some(line) => import.line(line),
                None => return Ok(None),
            },
            Source::Binary(reader, left) => {
                let Some(after) = left.and_then(|left| left.checked_sub(1)) else {
                    return left.take().map_or(Ok(()), |_| reader.end()).map(|()| None);
                };
                *left = Some(after);
                return reader.next().map(Some);
            }
        };
        read.map(Some).map_err(|problem| ReadError::invalid(self.line(), problem.at(id)))
    }
}

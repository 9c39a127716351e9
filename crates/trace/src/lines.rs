//! Lines of a text file, of bounded length, in strict UTF-8.

use crate::error::{Problem, ReadError};
use crate::trace::EventId;
use std::io::BufRead;

/// Longest line that is read, in bytes.
pub const LINE_LIMIT: usize = 64 << 20;

/// Most bytes of blank lines that are read on for something else.
const BLANK_LIMIT: usize = 1 << 16;

/// Reads lines one after the other into one buffer.
pub(crate) struct Lines<R> {
    input: R,
    line: Vec<u8>,
    number: u64,
    ended: bool,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(input: R) -> Lines<R> {
        Lines { input, line: Vec::new(), number: 0, ended: false }
    }

    /// The number of the line that was read last, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The next line that is not blank; blank ones may only stand at the end. `event` is what the line should hold.
    pub(crate) fn next(&mut self, event: Option<EventId>) -> Result<Option<&str>, ReadError> {
        let mut blank = 0;
        loop {
            if !self.read_line(event)? {
                return Ok(None);
            }
            if !self.line.iter().all(u8::is_ascii_whitespace) {
                break;
            }
            blank += self.line.len();
            if blank > BLANK_LIMIT {
                let found = format!("more than {BLANK_LIMIT} bytes of empty lines");
                return Err(self.problem(event, &found, "one event a line"));
            }
        }
        if blank > 0 {
            let problem = Problem::new("an empty line", "one event a line");
            return Err(ReadError::invalid(Some(self.number - 1), problem.at(event)));
        }
        let length = self.line.trim_ascii_end().len();
        std::str::from_utf8(&self.line[..length]).map(Some).map_err(|error| {
            let found = format!("bytes that are no UTF-8 at column {}", error.valid_up_to() + 1);
            self.problem(event, &found, "UTF-8 text")
        })
    }

    /// Reads one line with its end; false at the end of the input.
    fn read_line(&mut self, event: Option<EventId>) -> Result<bool, ReadError> {
        self.line.clear();
        while !self.ended {
            let chunk = match self.input.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(ReadError::unreadable(Some(self.number + 1), event, error)),
            };
            self.ended = chunk.is_empty();
            let end = memchr::memchr(b'\n', chunk);
            let used = end.map_or(chunk.len(), |end| end + 1);
            if self.line.len() + used > LINE_LIMIT {
                self.number += 1;
                let found = format!("a line of more than {LINE_LIMIT} bytes");
                return Err(self.problem(event, &found, "shorter lines"));
            }
            self.line.extend_from_slice(&chunk[..used]);
            self.input.consume(used);
            if end.is_some() {
                break;
            }
        }
        let any = !self.line.is_empty();
        self.number += u64::from(any);
        Ok(any)
    }

    fn problem(&self, event: Option<EventId>, found: &str, expected: &str) -> ReadError {
        ReadError::invalid(Some(self.number), Problem::new(found, expected).at(event))
    }
}

//! Checked reading of the binary form's primitives.

use crate::error::{Problem, ReadError};
use crate::trace::EventId;
use dashu_int::UBig;
use std::io::{self, BufRead};

/// Longest string or number that is read, in bytes.
const STRING_LIMIT: u64 = 64 << 20;

/// Why reading stopped.
pub(super) enum Failure {
    Io(io::Error),
    Problem(Problem),
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Failure {
        Failure::Problem(problem)
    }
}

impl Failure {
    pub(super) fn at(self, event: Option<EventId>) -> ReadError {
        match self {
            Failure::Io(error) => ReadError::unreadable(None, event, error),
            Failure::Problem(problem) => ReadError::invalid(None, problem.at(event)),
        }
    }
}

/// Bytes with their checksum so far.
pub(super) struct Input<R> {
    input: R,
    checksum: crc32fast::Hasher,
    offset: u64,
}

impl<R: BufRead> Input<R> {
    pub(super) fn new(input: R) -> Input<R> {
        Input { input, checksum: crc32fast::Hasher::new(), offset: 0 }
    }

    /// Takes up to `wanted` bytes that are at hand, at least one.
    fn take<T>(&mut self, wanted: usize, take: impl FnOnce(&[u8]) -> T) -> Result<T, Failure> {
        loop {
            match self.input.fill_buf() {
                Ok([]) => {
                    let found = format!("the end of the file after {} bytes", self.offset);
                    return Err(Problem::new(found, "more of the trace (is the file cut off?)").into());
                }
                Ok(bytes) => {
                    let bytes = &bytes[..wanted.min(bytes.len())];
                    let (taken, length) = (take(bytes), bytes.len());
                    self.checksum.update(bytes);
                    self.input.consume(length);
                    self.offset += length as u64;
                    return Ok(taken);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::Io(error)),
            }
        }
    }

    /// A problem with what was read last.
    pub(super) fn corrupt(&self, found: impl std::fmt::Display, expected: impl Into<String>) -> Failure {
        Problem::new(format!("{found} before byte {}", self.offset), expected).into()
    }

    pub(super) fn byte(&mut self) -> Result<u8, Failure> {
        self.take(1, |bytes| bytes[0])
    }

    /// A number in groups of seven bits, the lowest first.
    pub(super) fn number(&mut self) -> Result<u64, Failure> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let group = u64::from(byte & 0x7F);
            if group << shift >> shift != group {
                break;
            }
            number |= group << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(self.corrupt("a number of more than 64 bits", "a smaller number"))
    }

    /// A number up to `most`; `what` it is.
    pub(super) fn number_up_to(&mut self, most: u64, what: &str) -> Result<u64, Failure> {
        let number = self.number()?;
        if number <= most {
            return Ok(number);
        }
        Err(self.corrupt(format!("{number} as {what}"), format!("a number up to {most}")))
    }

    /// The position of one of `count` things.
    pub(super) fn index(&mut self, count: usize, what: &str) -> Result<usize, Failure> {
        let number = self.number()?;
        match usize::try_from(number) {
            Ok(index) if index < count => Ok(index),
            _ => Err(self.corrupt(format!("{what} {number}"), format!("one of the {count} in the file"))),
        }
    }

    /// A length, then so many bytes; never more memory than bytes were read.
    fn bytes(&mut self) -> Result<Vec<u8>, Failure> {
        let mut missing = self.number_up_to(STRING_LIMIT, "a length")? as usize;
        let mut all = Vec::with_capacity(missing.min(4096));
        while missing > 0 {
            missing -= self.take(missing, |bytes| {
                all.extend_from_slice(bytes);
                bytes.len()
            })?;
        }
        Ok(all)
    }

    pub(super) fn string(&mut self) -> Result<String, Failure> {
        let bytes = self.bytes()?;
        String::from_utf8(bytes).map_err(|_| self.corrupt("a string that is no UTF-8", "UTF-8 text"))
    }

    pub(super) fn optional_string(&mut self) -> Result<Option<String>, Failure> {
        match self.byte()? {
            0 => Ok(None),
            1 => self.string().map(Some),
            other => Err(self.corrupt(format!("the mark {other}"), "0 or 1")),
        }
    }

    pub(super) fn big_number(&mut self) -> Result<UBig, Failure> {
        self.bytes().map(|bytes| UBig::from_le_bytes(&bytes))
    }

    /// The checksum of all bytes before, then the end of the file.
    pub(super) fn end(&mut self) -> Result<(), Failure> {
        let computed = self.checksum.clone().finalize();
        let mut stored = [0; 4];
        for byte in &mut stored {
            *byte = self.byte()?;
        }
        if u32::from_le_bytes(stored) != computed {
            let found = format!("checksum {computed:08x} of the content");
            let expected = format!("checksum {:08x} as written at its end", u32::from_le_bytes(stored));
            return Err(Problem::new(found, expected).into());
        }
        let mut rest = [0; 1];
        match self.input.read(&mut rest) {
            Ok(0) => Ok(()),
            Ok(_) => Err(self.corrupt("bytes after the end of the trace", "the end of the file")),
            Err(error) => Err(Failure::Io(error)),
        }
    }
}

//! The records of a log one after the other.

use super::{Record, WORD, word};
use foretrace_runtime::record::{COUNT_WORD, HEADER_WORDS, Kind, PLACE_BITS, count_of};
use std::cell::Cell;

/// A position in a log, and the records from there on.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    bytes: &'a [u8],
    pub(super) position: usize,
    at: u64,
    /// What [`Records::next_at`] said, up to the next record with an order.
    next_at: Cell<Option<u64>>,
    count: u64,
}

impl<'a> Records<'a> {
    /// Those of a log, with the file's header.
    pub(super) fn new(bytes: &'a [u8]) -> Records<'a> {
        Records::from(bytes, HEADER_WORDS * WORD, 0)
    }

    /// Those from a byte on, before which so many counted things happened.
    pub(super) fn from(bytes: &'a [u8], position: usize, at: u64) -> Records<'a> {
        let count = word(bytes, COUNT_WORD * WORD).unwrap_or(0);
        let mut records = Records { bytes, position, at, next_at: Cell::new(None), count };
        records.pass_skips();
        records
    }

    /// The next record, which stays the next one.
    #[inline]
    pub fn peek(&self) -> Option<Record> {
        let header = word(self.bytes, self.position)?;
        let kind = Kind::from_header(header)?;
        let mut words = [0; 4];
        let from = self.position + WORD;
        let rest = self.bytes.get(from..from + (kind.words() - 1) * WORD)?;
        for (word, bytes) in words.iter_mut().zip(rest.as_chunks::<WORD>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        let at = if kind.ordered() { self.at_of(words[kind.words() - 2]) } else { self.at };
        Some(Record { kind, place: header & ((1 << PLACE_BITS) - 1), words, at })
    }

    /// The kind of the next record.
    #[inline]
    pub fn next_kind(&self) -> Option<Kind> {
        word(self.bytes, self.position).and_then(Kind::from_header)
    }

    /// Where it is, for [`Log::start_at`].
    pub(crate) fn position(&self) -> (usize, u64) {
        (self.position, self.at)
    }

    /// The byte at which the next record starts.
    pub fn byte(&self) -> u64 {
        self.position as u64
    }

    /// The `at` of the next record, which has an order and this stamp.
    #[inline]
    fn at_of(&self, stamp: u64) -> u64 {
        // A record that was never finished is the last that the thread began.
        count_of(stamp, self.at).unwrap_or(self.at.max(self.count))
    }

    /// Goes past a record of this kind, which is the next one.
    #[inline]
    pub fn pass(&mut self, kind: Kind) {
        self.position += kind.words() * WORD;
        if kind.ordered() {
            let stamp = word(self.bytes, self.position - WORD).unwrap_or(0);
            self.at = self.at_of(stamp) + u64::from(kind.counted());
            self.next_at.set(None);
        }
        self.pass_skips();
    }

    #[inline]
    fn pass_skips(&mut self) {
        while word(self.bytes, self.position).and_then(Kind::from_header) == Some(Kind::Skip) {
            self.at = word(self.bytes, self.position + WORD).unwrap_or(self.at);
            self.position += Kind::Skip.words() * WORD;
        }
    }

    /// The `at` of the next record with an order, or of what the thread would have done next.
    #[inline]
    pub fn next_at(&self) -> u64 {
        if let Some(known) = self.next_at.get() {
            return known;
        }
        let next_at = self.look_ahead();
        self.next_at.set(Some(next_at));
        next_at
    }

    fn look_ahead(&self) -> u64 {
        let (mut position, mut least) = (self.position, self.at);
        loop {
            let Some(kind) = word(self.bytes, position).and_then(Kind::from_header) else {
                return least.max(self.count);
            };
            let end = position + kind.words() * WORD;
            let Some(last) = word(self.bytes, end - WORD) else { return least.max(self.count) };
            match kind {
                Kind::Skip => least = last,
                kind if kind.ordered() => return count_of(last, least).unwrap_or(least.max(self.count)),
                _ => {}
            }
            position = end;
        }
    }

    /// The order of the next record that has one, after records without.
    pub fn next_order(&self) -> Option<u64> {
        self.clone().find_map(|record| record.order().filter(|order| *order != 0))
    }
}

impl Iterator for Records<'_> {
    type Item = Record;

    #[inline]
    fn next(&mut self) -> Option<Record> {
        let record = self.peek()?;
        self.pass(record.kind);
        Some(record)
    }
}

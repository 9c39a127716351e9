//! Accesses of instructions as they took effect: from the log, or, where it leaves them out, from what memory then held.

use super::Walk;
use super::thread::{Pause, Step};
use crate::log::Record;
use crate::program::Function;
use crate::statistics::Unlogged;
use crate::value::Word;
use foretrace_runtime::record::Kind;

/// An access of up to eight bytes that took effect.
#[derive(Clone, Copy)]
pub(super) struct Access {
    pub address: u64,
    /// In bytes.
    pub size: u64,
    /// What it read or left behind.
    pub bits: u64,
    /// How many counted things the thread did before it.
    pub at: u64,
}

impl Access {
    /// The one that a record is of.
    #[inline]
    pub fn of_record(record: &Record) -> Access {
        Access { address: record.words[0], size: record.kind.size() as u64, bits: record.left_behind(), at: record.at }
    }

    /// The record of it.
    fn record(self, kind: Kind, place: u64) -> Record {
        Record { kind, place, words: [self.address, self.bits, 0, 0], at: self.at }
    }
}

impl Walk<'_, '_> {
    /// Whether the next access has no record.
    #[inline]
    pub(super) fn is_left_out(&self) -> bool {
        self.thread.done < self.thread.records.next_at()
    }

    /// An access without a record takes effect: at which `at`.
    #[inline]
    fn leave_out(&mut self, address: Word) -> Step<u64> {
        if !address.is_known() {
            return Err(Pause::Lost("an access without a record whose address is not known".into()));
        }
        if self.world.is_full() {
            return Err(Pause::Full);
        }
        let at = self.thread.done;
        self.thread.now = at;
        self.thread.unlogged = Some(at);
        self.thread.done = at + 1;
        Ok(at)
    }

    /// A read without a record.
    #[inline]
    pub(super) fn load_left_out(&mut self, address: Word, size: u64) -> Step<Access> {
        let at = self.leave_out(address)?;
        let mirror = self.world.mirror.as_mut();
        let bits = mirror.map_or(0, |mirror| mirror.load(address.bits, size as u32));
        if let Some(survey) = &mut self.world.survey {
            survey.read(self.thread.index as u32 + 1, address.bits, size);
        }
        Ok(Access { address: address.bits, size, bits, at })
    }

    /// A write without a record.
    #[inline]
    pub(super) fn store_left_out(&mut self, address: Word, value: Word, size: u64) -> Step<Access> {
        if !value.is_known() {
            return Err(Pause::Lost("a write without a record of a value that is not known".into()));
        }
        let at = self.leave_out(address)?;
        if let Some(mirror) = &mut self.world.mirror {
            mirror.store(address.bits, size as u32, value.bits);
        }
        if let Some(survey) = &mut self.world.survey {
            survey.write(self.thread.index as u32 + 1, address.bits, size);
        }
        Ok(Access { address: address.bits, size, bits: value.bits, at })
    }

    /// The record of a read, or the one that it would have.
    pub(super) fn load_record(
        &mut self,
        function: &Function,
        index: usize,
        what: &str,
        address: Word,
        size: u64,
    ) -> Step<Record> {
        if !self.is_left_out() {
            return self.expect(function, index, what, Kind::is_load);
        }
        let access = self.load_left_out(address, size)?;
        Ok(access.record(Kind::load(size), function.site_of(index).0))
    }

    /// The record of a write, or the one that it would have.
    pub(super) fn store_record(
        &mut self,
        function: &Function,
        index: usize,
        what: &str,
        (address, value): (Word, Word),
        size: u64,
    ) -> Step<Record> {
        if !self.is_left_out() {
            return self.expect(function, index, what, Kind::is_store);
        }
        let access = self.store_left_out(address, value, size)?;
        Ok(access.record(Kind::store(size), function.site_of(index).0))
    }

    /// Notes the access that the last event is, if it has no record: a replay needs its place.
    pub(super) fn note_unlogged(&mut self) {
        let Some(at) = self.thread.unlogged else { return };
        let is_it = self.world.draft.events.last().is_some_and(|event| event.at == Some(at));
        let noted = &mut self.world.statistics.unlogged;
        let thread = self.thread.id;
        if !is_it || noted.last().is_some_and(|last| (last.thread, last.at) == (thread, at)) {
            return;
        }
        let frame = self.thread.frames.last().and_then(|frame| Some((frame.function?, frame.next)));
        let Some((number, next)) = frame else { return };
        let place = self.program.functions[number].site_of(next).0;
        noted.push(Unlogged { thread, at, place });
    }

    /// What a record says of memory, if it is of an access that took effect.
    pub(super) fn observe(&mut self, record: &Record) {
        if record.kind.size() == 0 || record.order() == Some(0) {
            return;
        }
        if let Some(mirror) = &mut self.world.mirror {
            mirror.store(record.words[0], record.kind.size() as u32, record.left_behind());
        }
        if let Some(survey) = &mut self.world.survey {
            survey.record(self.thread.index as u32 + 1, record);
        }
    }
}

//! Instructions that move or set more memory than one record holds.

use super::Walk;
use super::accesses::Access;
use super::thread::{State, Step};
use crate::memory::Bytes;
use crate::program::Function;
use crate::value::{Value, Word};
use foretrace_instrument::sidecar::Operand;
use foretrace_runtime::record::{piece_of_copy, piece_of_set};

impl Walk<'_, '_> {
    pub(super) fn wide(
        &mut self,
        function: &Function,
        index: usize,
        address: &Operand,
        pieces: &[(u64, u8)],
    ) -> Step<()> {
        let done = match self.frame()?.state {
            State::Moving(done) => done as usize,
            _ => 0,
        };
        for (piece, (offset, _)) in pieces.iter().enumerate().skip(done) {
            let record = self.expect(function, index, "a wide access's", |kind| kind.is_load() || kind.is_store())?;
            self.address(address, record.words[0].wrapping_sub(*offset));
            if record.kind.is_load() {
                let bytes = self.read(Access::of_record(&record), &function.instructions[index].name);
                let word = self.world.expressions.join(&bytes);
                self.pin(word, "wide value");
            } else {
                self.write(
                    Access::of_record(&record),
                    Bytes::constant(record.kind.size() as u32, record.words[1]),
                    record.replaced(),
                );
            }
            self.frame()?.state = State::Moving(piece as u64 + 1);
        }
        self.set(index, Value::Untracked)
    }

    pub(super) fn copy(
        &mut self,
        function: &Function,
        index: usize,
        (to, from, length): (&Operand, &Operand, &Operand),
        hooked: bool,
    ) -> Step<()> {
        let (to, from, length) = (self.word(to, 64), self.word(from, 64), self.word(length, 64));
        let words = [to, from, length].map(|word| self.pin(word, "address"));
        if !hooked {
            if words.iter().all(|word| word.is_known()) {
                self.copy_private(to.bits, from.bits, length.bits);
            }
            self.operation(2 + length.bits.div_ceil(8));
            return self.set(index, Value::Untracked);
        }
        while let Some(done) = self.left_to_move(function, index, length)? {
            let (offset, piece) = match length.is_known() {
                true => piece_of_copy(to.bits, from.bits, length.bits, done),
                false => (0, 1),
            };
            let further = |word: Word| Word { bits: word.bits.wrapping_add(offset), ..word };
            let held = self.frame()?.held.take();
            let Some(bytes) = held else {
                let record = self.load_record(function, index, "a copy's", further(from), piece)?;
                let bytes = self.read(Access::of_record(&record), &function.instructions[index].name);
                self.frame()?.held = Some(Box::new(bytes));
                continue;
            };
            let value = Word::constant(64, bytes.bits);
            let record = match self.store_record(function, index, "a copy's", (further(to), value), piece) {
                Ok(record) => record,
                Err(pause) => {
                    self.frame()?.held = Some(bytes);
                    return Err(pause);
                }
            };
            if record.words[1] != bytes.bits || record.kind.size() as u32 != bytes.size {
                return Err(self.lost(record, "what was loaded"));
            }
            self.write(Access::of_record(&record), *bytes, record.replaced());
            self.frame()?.state = State::Moving(done + record.kind.size() as u64);
        }
        self.operation(2 + length.bits.div_ceil(8));
        self.set(index, Value::Untracked)
    }

    /// How many bytes a copy or set has done, unless it is done with all.
    fn left_to_move(&mut self, function: &Function, index: usize, length: Word) -> Step<Option<u64>> {
        let done = match self.frame()?.state {
            State::Moving(done) => done,
            _ => 0,
        };
        let is_over = match length.is_known() {
            true => done >= length.bits,
            false => self.frame()?.held.is_none() && self.record()?.site() != function.site_of(index),
        };
        Ok((!is_over).then_some(done))
    }

    fn copy_private(&mut self, to: u64, from: u64, length: u64) {
        let mut moved = Vec::new();
        for at in (0..length).step_by(8) {
            moved.push((at, self.private(from.wrapping_add(at), (length - at).min(8) as u32)));
        }
        for (at, bytes) in moved {
            self.world.memory.store(to.wrapping_add(at), &bytes);
        }
    }

    pub(super) fn set_memory(
        &mut self,
        function: &Function,
        index: usize,
        (to, byte, length): (&Operand, &Operand, &Operand),
        hooked: bool,
    ) -> Step<()> {
        let (to, byte, length) = (self.word(to, 64), self.word(byte, 8), self.word(length, 64));
        let words = [to, length].map(|word| self.pin(word, "address"));
        if !hooked {
            if words.iter().all(|word| word.is_known()) {
                self.set_private(to.bits, byte, length.bits);
            }
            self.operation(2);
            return self.set(index, Value::Untracked);
        }
        while let Some(done) = self.left_to_move(function, index, length)? {
            let piece = if length.is_known() { piece_of_set(to.bits, length.bits, done) } else { 1 };
            let address = Word { bits: to.bits.wrapping_add(done), ..to };
            let value = self.world.expressions.splat(byte, piece as u32);
            let record = self.store_record(function, index, "a set's", (address, value), piece)?;
            let size = record.kind.size() as u32;
            let value = self.world.expressions.splat(byte, size);
            let value = self.checked(value, record.words[1], "a set value");
            let bytes = self.world.expressions.split(value, size);
            self.write(Access::of_record(&record), bytes, record.replaced());
            self.frame()?.state = State::Moving(done + u64::from(size));
        }
        self.operation(2);
        self.set(index, Value::Untracked)
    }

    fn set_private(&mut self, to: u64, byte: Word, length: u64) {
        for at in (0..length).step_by(8) {
            let size = (length - at).min(8) as u32;
            let value = self.world.expressions.splat(byte, size);
            let bytes = self.world.expressions.split(value, size);
            self.world.memory.store(to.wrapping_add(at), &bytes);
        }
    }
}

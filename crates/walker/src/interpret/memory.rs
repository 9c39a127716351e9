//! Instructions that access memory: shared memory by events, other memory by what the walk knows of it.

use super::Walk;
use super::accesses::Access;
use super::thread::Step;
use crate::log::Record;
use crate::memory::Bytes;
use crate::program::{Code, Function};
use crate::value::{Value, Word, mask};
use crate::world::Source;
use foretrace_instrument::sidecar::Operand;
use foretrace_runtime::record::Kind;
use foretrace_trace::{Func, Op, TermId, VarId, Why};

/// The pieces of an access: shared cells and what lies between them.
#[derive(Default)]
pub(super) struct Pieces {
    /// Offset, size, cell.
    list: [(u32, u32, Option<u32>); 8],
    pub count: usize,
    pub cells: u32,
    /// Cells of the same step before these, and after them.
    pub around: (u32, u32),
}

impl Pieces {
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32, Option<u32>)> + use<> {
        self.list.into_iter().take(self.count)
    }

    /// Puts the first cell whose content is not the expected one before the others; where it lies in the access, and its size.
    pub fn put_first_that_differs(&mut self, found: &Bytes, expected: u64) -> Option<(u32, u32)> {
        let differs = |(offset, size, cell): (u32, u32, Option<u32>)| {
            cell.is_some() && (found.bits ^ expected) >> (offset * 8) & mask(size * 8) != 0
        };
        let index = self.iter().position(differs)?;
        self.list.swap(0, index);
        let (offset, size, _) = self.list[0];
        Some((offset, size))
    }

    /// Whether they are all of a step.
    fn are_a_step(&self, steps: u32) -> bool {
        steps == 1 && self.around == (0, 0)
    }

    /// The cells, each with which part of the step it is where there are several: of `steps` events for each cell those of `step`.
    fn parts(&self, step: u32, steps: u32) -> impl Iterator<Item = (u32, u32, u32, Option<(u32, u32)>)> + use<> {
        let (before, after) = self.around;
        let in_each = before + self.cells + after;
        let all = in_each * steps;
        let cells = self.iter().filter_map(|(offset, size, cell)| Some((offset, size, cell?)));
        (step * in_each + before + 1..)
            .zip(cells)
            .map(move |(number, (offset, size, cell))| (offset, size, cell, (all > 1).then_some((number, all))))
    }
}

impl Walk<'_, '_> {
    pub(super) fn pieces(&mut self, address: u64, size: u32) -> Pieces {
        let mut pieces = Pieces::default();
        if self.world.cells.are_none(address, size) {
            pieces.list[0] = (0, size, None);
            pieces.count = 1;
            return pieces;
        }
        let mut at = 0;
        while at < size {
            let cell = self.world.cells.at(address.wrapping_add(u64::from(at)));
            let length = match cell {
                Some(cell) => self.world.cells.all[cell as usize].piece.size.min(size - at),
                None => 1,
            };
            match (cell, pieces.count.checked_sub(1).map(|last| &mut pieces.list[last])) {
                (None, Some((_, size, None))) => *size += 1,
                _ => {
                    pieces.list[pieces.count] = (at, length, cell);
                    pieces.count += 1;
                    pieces.cells += u32::from(cell.is_some());
                }
            }
            at += length;
        }
        pieces
    }

    pub(super) fn load(
        &mut self,
        function: &Function,
        index: usize,
        address: &Operand,
        size: u64,
        hooked: bool,
    ) -> Step<()> {
        let instruction = &function.instructions[index];
        let width = instruction.ty.bits();
        if !hooked {
            let address = self.word(address, 64);
            if !address.is_known() || !(1..=8).contains(&size) || width == 0 {
                return self.set(index, Value::Untracked);
            }
            self.pin(address, "address");
            let bytes = self.private(address.bits, size as u32);
            let word = self.narrow(&bytes, width);
            return self.set_word(index, word);
        }
        let address = self.word(address, 64);
        let access = match self.is_left_out() {
            true => self.load_left_out(address, size)?,
            false => Access::of_record(&self.expect(function, index, "a load's", Kind::is_load)?),
        };
        self.operation(1);
        self.accessed(address, access.address);
        let word = self.read_word(access, &instruction.name);
        let word = self.world.expressions.truncate(word, width);
        self.set_word(index, word)
    }

    /// Memory without records: what the walk has put there, else what the program's file has.
    pub(super) fn private(&mut self, address: u64, size: u32) -> Bytes {
        let bytes = self.world.memory.load(address, size);
        if bytes.is_known() {
            return bytes;
        }
        let image = self.program.image(address).and_then(|image| image.get(..size as usize));
        match image {
            Some(image) => Bytes::constant(size, image.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))),
            None => bytes,
        }
    }

    fn narrow(&mut self, bytes: &Bytes, width: u32) -> Word {
        let word = self.world.expressions.join(bytes);
        self.world.expressions.truncate(word, width)
    }

    /// The address of an access is what the log says.
    pub(super) fn address(&mut self, operand: &Operand, recorded: u64) {
        let address = self.word(operand, 64);
        self.accessed(address, recorded);
    }

    pub(super) fn accessed(&mut self, address: Word, recorded: u64) {
        let address = self.checked(address, recorded, "an address");
        self.pin(address, "address");
    }

    /// Whether this walk only finds out who accesses what.
    pub(super) fn is_survey(&self) -> bool {
        self.world.survey.is_some()
    }

    /// Reads memory, as one word.
    fn read_word(&mut self, access: Access, name: &str) -> Word {
        let (address, size) = (access.address, access.size as u32);
        let found = Word::constant(size * 8, access.bits);
        if self.is_survey() {
            return found;
        }
        let Some(cell) = self.world.cells.whole(address, size) else {
            let bytes = self.read(access, name);
            return self.world.expressions.join(&bytes);
        };
        if self.world.is_fixed(cell) {
            return self.found_fixed(cell, address, found);
        }
        let source = self.source(access.at);
        self.expect_content(source, cell, address, (size, found.bits));
        let dst = self.world.fresh_name(&mut self.thread.names, name);
        let value = Some(self.world.literal(cell, found.bits));
        self.world.accesses(source.thread, cell);
        let event = self.world.push(source, Op::Read { var: VarId(cell), dst: Some(dst), value, guard: None });
        self.count_access(cell);
        Word { term: Some(self.world.expressions.local(event, found.width())), ..found }
    }

    /// Reads memory: an event for each shared cell.
    pub(super) fn read(&mut self, Access { address, size, bits, at }: Access, name: &str) -> Bytes {
        let size = size as u32;
        if self.is_survey() {
            return Bytes::constant(size, bits);
        }
        let pieces = self.pieces(address, size);
        self.read_pieces(address, &pieces, Bytes::constant(size, bits), name, (at, 1))
    }

    pub(super) fn read_pieces(
        &mut self,
        address: u64,
        pieces: &Pieces,
        found: Bytes,
        name: &str,
        (at, steps): (u64, u32),
    ) -> Bytes {
        if pieces.cells == 0 {
            return self.read_own(address, found);
        }
        let source = self.source(at);
        let mut bytes = found;
        let are_fixed = pieces.are_a_step(steps)
            && pieces.iter().filter_map(|(.., cell)| cell).all(|cell| self.world.is_fixed(cell));
        for (offset, size, cell) in pieces.iter() {
            let (address, part) = (address.wrapping_add(u64::from(offset)), found.part(offset, size));
            match cell {
                Some(cell) if are_fixed => {
                    self.found_fixed(cell, address, Word::constant(size * 8, part.bits));
                }
                Some(cell) => self.expect_content(source, cell, address, (size, part.bits)),
                None => bytes.put(offset, &self.read_own(address, part)),
            }
        }
        if are_fixed {
            return bytes;
        }
        for (offset, size, cell, part) in pieces.parts(0, steps) {
            let content = found.part(offset, size);
            if part.is_none_or(|(part, _)| part == 1) {
                self.world.accesses(source.thread, cell);
            }
            let dst = self.world.fresh_name(&mut self.thread.names, name);
            let value = Some(self.world.literal(cell, content.bits));
            let op = Op::Read { var: VarId(cell), dst: Some(dst), value, guard: None };
            let event = self.world.push_part(source, op, part);
            self.count_access(cell);
            let term = self.world.expressions.local(event, size * 8);
            bytes.put(offset, &self.named(term, content));
        }
        bytes
    }

    /// A read of a cell whose content no schedule changes: no event.
    fn found_fixed(&mut self, cell: u32, address: u64, found: Word) -> Word {
        match self.world.memory.replace(address, found.width() / 8, found.bits) {
            None => self.world.starts_as(cell, found.bits),
            Some(known) if known != found.bits => _ = self.world.fix(cell, found.bits), // by code that was not recorded
            Some(_) => {}
        }
        self.see_types(cell);
        self.count_own(false);
        found
    }

    fn named(&mut self, term: TermId, bytes: Bytes) -> Bytes {
        let word = Word { term: Some(term), ..Word::constant(bytes.size * 8, bytes.bits) };
        self.world.expressions.split(word, bytes.size)
    }

    pub(super) fn count_access(&mut self, cell: u32) {
        let is_meeting = self.is_meeting();
        self.thread.nest.accesses += u64::from(!is_meeting);
        self.world.statistics.shared_accesses += 1;
        self.world.note_use(cell, is_meeting);
        self.see_types(cell);
        self.note_inside();
        self.note_unlogged();
    }

    /// Whether the library's code that threads meet in does this, for itself.
    fn is_meeting(&self) -> bool {
        if self.is_concrete() || self.is_unknown() {
            return false;
        }
        let frames = self.thread.frames.iter().rev();
        let mut codes = frames.map(|frame| {
            let function = frame.function.map(|function| &self.program.functions[function]);
            function.map_or(Code::Own, |function| function.code(frame.next))
        });
        codes.find(|code| *code != Code::Library) == Some(Code::Meeting)
    }

    /// Bytes that no other thread can have written: what is known of them, if they are still that.
    fn read_own(&mut self, address: u64, found: Bytes) -> Bytes {
        let known = self.world.memory.load(address, found.size);
        let mut bytes = if known.symbolic { self.own_terms(known) } else { known };
        for byte in (0..found.size).filter(|byte| known.known >> byte & 1 == 0) {
            bytes.put(byte, &found.part(byte, 1));
        }
        if bytes.bits != found.bits {
            bytes = found; // written by code that was not recorded
        }
        if bytes != known {
            self.world.memory.store(address, &bytes);
        }
        self.count_own(bytes.symbolic);
        bytes
    }

    /// Memory that seemed one thread's own may hold what another thread has computed: such bytes keep their values here, and there.
    fn own_terms(&mut self, mut bytes: Bytes) -> Bytes {
        for at in 0..bytes.size {
            let Some(slice) = bytes.slices[at as usize] else { continue };
            let owner = self.world.owner(slice.term).filter(|owner| *owner != self.thread.id);
            let Some(owner) = owner else { continue };
            let byte = bytes.part(at, 1);
            let word = self.world.expressions.join(&byte);
            self.mismatch("memory of one thread holds what another thread has computed".to_string());
            if let Some(condition) = self.world.pin(word) {
                let source = Source { thread: owner, loc: None, at: 0 };
                self.world.push_unlogged(source, Op::Assume { expr: condition, why: Why::Pin });
            }
            bytes.put(at, &Bytes::constant(1, word.bits));
        }
        bytes.symbolic = bytes.slices.iter().any(Option::is_some);
        bytes
    }

    fn count_own(&mut self, symbolic: bool) {
        let statistics = &mut self.world.statistics;
        statistics.symbolic_accesses += u64::from(symbolic);
        statistics.constant_accesses += u64::from(!symbolic);
    }

    /// A shared cell holds these bytes: if it did not when last seen, code that was not recorded has written it.
    pub(super) fn expect_content(&mut self, source: Source, cell: u32, address: u64, (size, bits): (u32, u64)) {
        if self.world.may_start_unknown(cell) {
            self.world.initials.found(cell, bits);
        }
        if let Some(fixed) = self.world.loosen(cell) {
            let op = self.written(cell, None, fixed, true);
            self.world.push_unlogged(source, op);
        }
        match self.world.memory.replace(address, size, bits) {
            None => self.world.starts_as(cell, bits),
            Some(known) if known != bits => {
                let is_count = self.world.is_of_library(cell) && self.world.counts.is_count(cell);
                let op = match is_count {
                    true => self.counted_outside(source, cell, (size, known, bits)),
                    false => self.written(cell, None, bits, true),
                };
                self.world.push_unlogged(source, op);
                self.world.statistics.external_writes += 1;
            }
            Some(_) => {}
        }
    }

    /// Code that was not recorded has counted: what it added, it adds in every schedule.
    fn counted_outside(&mut self, source: Source, cell: u32, (size, known, bits): (u32, u64, u64)) -> Op {
        let event = self.world.draft.next_access(source.thread, source.loc);
        let term = self.world.expressions.local(event, size * 8);
        let old = Word { term: Some(term), ..Word::constant(size * 8, known) };
        let added = Word::constant(size * 8, bits.wrapping_sub(known));
        let sum = self.world.expressions.binary(Func::BvAdd, old, added);
        let expr = self.world.expressions.whole(sum).term;
        let dst = Some(self.world.fresh_name(&mut self.thread.names, ""));
        let (value, stored) = (self.world.literal(cell, known), self.world.literal(cell, bits));
        let (value, stored) = (Some(value), Some(stored));
        Op::Rmw { var: VarId(cell), dst, expr, value, stored, guard: None, external: true }
    }

    pub(super) fn store(
        &mut self,
        function: &Function,
        index: usize,
        (address, value): (&Operand, &Operand),
        size: u64,
        hooked: bool,
    ) -> Step<()> {
        if !hooked {
            let address = self.word(address, 64);
            if address.is_known() && (1..=8).contains(&size) {
                self.pin(address, "address");
                let value = self.operand(value).word(size as u32 * 8);
                let bytes = self.world.expressions.split(value, size as u32);
                self.world.memory.store(address.bits, &bytes);
            }
            return self.set(index, Value::Untracked);
        }
        let (address, size) = (self.word(address, 64), size as u32);
        let value = match self.operand(value) {
            Value::Word(word) => self.world.expressions.zero_extend(word, size * 8),
            _ => Word::unknown(size * 8),
        };
        let (access, replaced) = match self.is_left_out() {
            true => (self.store_left_out(address, value, u64::from(size))?, None),
            false => {
                let record = self.expect(function, index, "a store's", Kind::is_store)?;
                (Access::of_record(&record), record.replaced())
            }
        };
        self.operation(1);
        self.accessed(address, access.address);
        let value = self.checked(value, access.bits, "a stored value");
        self.write_word(access, value, replaced);
        self.set(index, Value::Untracked)
    }

    /// Writes a word to memory.
    fn write_word(&mut self, access: Access, word: Word, replaced: Option<u64>) {
        if self.is_survey() {
            return;
        }
        self.beside_wide_swaps((access.address, word.width() / 8, access.at), |walk| {
            walk.write_whole_or_parts(access, word, replaced);
        });
    }

    fn write_whole_or_parts(&mut self, access: Access, word: Word, replaced: Option<u64>) {
        let (address, size) = (access.address, word.width() / 8);
        let whole = self.world.cells.whole(address, size).filter(|_| replaced.is_none());
        let Some(cell) = whole else {
            let bytes = self.world.expressions.split(word, size);
            return self.write_parts(access, bytes, replaced);
        };
        let source = self.source(access.at);
        self.world.memory.replace(address, size, word.bits);
        let word = self.world.expressions.whole(word);
        if word.term.is_none() && self.world.fix(cell, word.bits) {
            self.see_types(cell);
            return self.count_own(false);
        }
        self.world.loosen(cell);
        self.world.starts_unseen(self.thread.id, cell);
        self.world.accesses(self.thread.id, cell);
        let op = self.written(cell, word.term, word.bits, false);
        self.world.counts.set(cell);
        self.world.push(source, op);
        self.count_access(cell);
    }

    /// A write of a cell; a constant, if no term is given.
    fn written(&mut self, cell: u32, term: Option<TermId>, bits: u64, external: bool) -> Op {
        let value = self.world.literal(cell, bits);
        let expr = Some(term.unwrap_or(value));
        Op::Write { var: VarId(cell), expr, value: Some(value), guard: None, external }
    }

    /// Writes memory, which held `replaced` where that is known: an event for each shared cell.
    pub(super) fn write(&mut self, access: Access, bytes: Bytes, replaced: Option<u64>) {
        if self.is_survey() {
            return;
        }
        self.beside_wide_swaps((access.address, bytes.size, access.at), |walk| {
            walk.write_parts(access, bytes, replaced);
        });
    }

    fn write_parts(&mut self, access: Access, bytes: Bytes, replaced: Option<u64>) {
        let pieces = self.pieces(access.address, bytes.size);
        if let Some(before) = replaced {
            self.replaces(&pieces, Bytes::constant(bytes.size, before));
        }
        self.write_pieces(access.address, &pieces, bytes, access.at, (0, 1));
    }

    /// What a write found is what its cells hold before the trace's first event, where that is not known.
    pub(super) fn replaces(&mut self, pieces: &Pieces, before: Bytes) {
        for (offset, size, cell) in pieces.iter() {
            if let Some(cell) = cell {
                self.world.starts_as(cell, before.part(offset, size).bits);
            }
        }
    }

    pub(super) fn write_pieces(
        &mut self,
        address: u64,
        pieces: &Pieces,
        bytes: Bytes,
        at: u64,
        (step, steps): (u32, u32),
    ) {
        if pieces.cells == 0 {
            self.count_own(bytes.symbolic);
            return self.world.memory.store(address, &bytes);
        }
        let source = self.source(at);
        for (offset, size, cell) in pieces.iter() {
            let (address, part) = (address.wrapping_add(u64::from(offset)), bytes.part(offset, size));
            let kept = if cell.is_some() { Bytes::constant(size, part.bits) } else { part };
            self.world.memory.store(address, &kept);
        }
        let cells = || pieces.iter().filter_map(|(offset, size, cell)| Some((cell?, bytes.part(offset, size))));
        if pieces.are_a_step(steps) && cells().all(|(cell, part)| !part.symbolic && self.world.is_handed_on(cell)) {
            for (cell, part) in cells() {
                self.world.fix(cell, part.bits);
                self.see_types(cell);
            }
            return self.count_own(false);
        }
        cells().for_each(|(cell, _)| _ = self.world.loosen(cell));
        for (offset, size, cell, part) in pieces.parts(step, steps) {
            self.world.starts_unseen(self.thread.id, cell);
            if part.is_none_or(|(part, _)| part == 1) {
                self.world.accesses(self.thread.id, cell);
            }
            let bytes = bytes.part(offset, size);
            let expr = self.world.expressions.join(&bytes).term;
            let op = self.written(cell, expr, bytes.bits, false);
            self.world.counts.set(cell);
            self.world.push_part(source, op, part);
            self.count_access(cell);
        }
    }

    /// An access by an interposed function: its values are those in the log.
    pub(crate) fn access_from_outside(&mut self, record: Record) {
        let size = record.kind.size() as u32;
        if record.kind.is_store() {
            self.write(Access::of_record(&record), Bytes::constant(size, record.words[1]), record.replaced());
        } else if super::atomic::is_update(record.kind) {
            let new = Word::constant(size * 8, record.words[2]);
            // What it wrote depends on what it found.
            let found = Word::constant(size * 8, record.words[1]);
            self.replace(record, "", Some(found), &mut |_, _| new);
        } else {
            let bytes = self.read(Access::of_record(&record), "");
            let value = self.world.expressions.join(&bytes);
            self.pin_concrete(value);
        }
    }

    /// What such code does with a value that it has read, nobody knows.
    fn pin_concrete(&mut self, value: Word) {
        match self.is_unknown() {
            _ if self.program.is_concrete() => {}
            true => drop(self.pin(value, "value read by a function entered before the trace")),
            false => drop(self.pin(value, "value read by code without side-car")),
        }
    }
}

//! Atomic read-modify-writes and compare-and-swaps.

use super::Walk;
use super::thread::Step;
use crate::log::Record;
use crate::memory::Bytes;
use crate::program::Function;
use crate::value::{Value, Word, mask};
use foretrace_instrument::sidecar::{Operand, Type, UpdateOp};
use foretrace_runtime::record::Kind;
use foretrace_trace::{Func, Node, Op, VarId, Why};

impl Walk<'_, '_> {
    pub(super) fn update(
        &mut self,
        function: &Function,
        index: usize,
        (address, operand): (&Operand, &Operand),
        size: u64,
        by: UpdateOp,
    ) -> Step<()> {
        let record = self.expect(function, index, "an atomic update's", is_update)?;
        self.operation(1);
        self.address(address, record.words[0]);
        let width = size as u32 * 8;
        let operand = match self.operand(operand) {
            Value::Word(word) => self.world.expressions.zero_extend(word, width),
            _ => Word::unknown(width),
        };
        let name = &function.instructions[index].name;
        let old = self.replace(record, name, None, &mut |walk, old| walk.updated(by, old, operand));
        let narrow = self.world.expressions.truncate(old, function.instructions[index].ty.bits());
        self.set_word(index, narrow)
    }

    fn updated(&mut self, by: UpdateOp, old: Word, operand: Word) -> Word {
        let expressions = &mut self.world.expressions;
        let mut larger = |func| {
            let keeps = expressions.compare(func, old, operand);
            expressions.select(keeps, old, operand)
        };
        let func = match by {
            UpdateOp::Xchg => return operand,
            UpdateOp::Max => return larger(Func::BvSgt),
            UpdateOp::Min => return larger(Func::BvSlt),
            UpdateOp::UMax => return larger(Func::BvUgt),
            UpdateOp::UMin => return larger(Func::BvUlt),
            UpdateOp::Nand => {
                let both = expressions.binary(Func::BvAnd, old, operand);
                return expressions.binary(Func::BvXor, both, Word::constant(old.width(), u64::MAX));
            }
            UpdateOp::Other => return Word::unknown(old.width()),
            UpdateOp::Add => Func::BvAdd,
            UpdateOp::Sub => Func::BvSub,
            UpdateOp::And => Func::BvAnd,
            UpdateOp::Or => Func::BvOr,
            UpdateOp::Xor => Func::BvXor,
        };
        expressions.binary(func, old, operand)
    }

    pub(super) fn compare_and_swap(
        &mut self,
        function: &Function,
        index: usize,
        address: &Operand,
        (expected, desired): (&Operand, &Operand),
        size: u64,
    ) -> Step<()> {
        let record = self.expect(function, index, "a compare-and-swap's", |kind| is_update(kind) || is_failed(kind))?;
        self.operation(1);
        self.address(address, record.words[0]);
        let (width, name) = (size as u32 * 8, &function.instructions[index].name);
        let mut extended = |operand: &Operand| match self.operand(operand) {
            Value::Word(word) => self.world.expressions.zero_extend(word, width),
            _ => Word::unknown(width),
        };
        let (expected, desired) = (extended(expected), extended(desired));
        let succeeded = is_update(record.kind);
        let old = if succeeded {
            let expected = self.checked(expected, record.words[1], "the value expected by a compare-and-swap");
            self.replace(record, name, Some(expected), &mut |_, _| desired)
        } else {
            let expected = self.checked(expected, record.words[2], "the value expected by a compare-and-swap");
            self.read_refusing(record, expected, name)
        };
        let width = match &function.instructions[index].ty {
            Type::Aggregate(parts) => parts.first().map_or(width, Type::bits),
            _ => width,
        };
        let old = self.world.expressions.truncate(old, width);
        let parts = [Value::Word(old), Value::Word(Word::constant(1, u64::from(succeeded)))];
        self.set(index, Value::Aggregate(parts.into()))
    }

    /// What a compare-and-swap finds that changes nothing: had it found what it expects, it would have written.
    fn read_refusing(&mut self, record: Record, expected: Word, name: &str) -> Word {
        let (address, size) = (record.words[0], record.kind.size() as u32);
        let found = Bytes::constant(size, record.words[1]);
        if self.is_survey() {
            return Word::constant(size * 8, found.bits);
        }
        let mut pieces = self.pieces(address, size);
        let differing = pieces.put_first_that_differs(&found, expected.bits);
        let found = self.read_pieces(address, &pieces, found, name, (record.at, 1));
        let old = self.world.expressions.join(&found);
        match differing {
            Some(piece) => {
                let expected = self.world.expressions.split(expected, size);
                self.guard_by_piece(Func::Distinct, &found, &expected, piece);
            }
            None => {
                let differ = self.world.expressions.compare(Func::Distinct, old, expected);
                self.assume_refused(differ);
            }
        }
        old
    }

    /// Gives the read of a piece, which lies there and is so long, a guard on what it finds: the other pieces are read in the same step.
    pub(super) fn guard_by_piece(&mut self, is: Func, found: &Bytes, expected: &Bytes, (offset, size): (u32, u32)) {
        let [found, expected] = [found, expected].map(|bytes| bytes.part(offset, size));
        let [found, expected] = [found, expected].map(|bytes| self.world.expressions.join(&bytes));
        let holds = self.world.expressions.compare(is, found, expected);
        let Some((read, condition)) = found.term.zip(holds.term) else { return };
        match self.world.expressions.terms.node(read) {
            Node::Leaf(local) => self.world.draft.guard_read(local.definition, condition),
            _ => drop(self.assume(condition, Why::Branch)),
        }
    }

    /// That a compare-and-swap failed for what it found. One that may fail for no reason did so if nothing differed: nothing follows
    /// from it.
    pub(super) fn assume_refused(&mut self, differ: Word) {
        if let Some(condition) = differ.term.filter(|_| differ.is(1)) {
            self.assume(condition, Why::Branch);
        }
    }

    /// An atomic update: `new` computes the new value from the old one, which is given back. A compare-and-swap that
    /// succeeded says what it `expected`.
    pub(super) fn replace(
        &mut self,
        record: Record,
        name: &str,
        expected: Option<Word>,
        new: &mut dyn FnMut(&mut Self, Word) -> Word,
    ) -> Word {
        let (address, size) = (record.words[0], record.kind.size() as u32);
        if self.is_survey() {
            return Word::constant(size * 8, record.words[1]);
        }
        self.beside_wide_swaps((address, size, record.at), |walk| walk.replace_parts(record, name, expected, new))
    }

    fn replace_parts(
        &mut self,
        record: Record,
        name: &str,
        expected: Option<Word>,
        new: &mut dyn FnMut(&mut Self, Word) -> Word,
    ) -> Word {
        let (address, size) = (record.words[0], record.kind.size() as u32);
        let mut pieces = self.pieces(address, size);
        let found = Bytes::constant(size, record.words[1]);
        if let (Some((0, whole, Some(cell))), 1) = (pieces.iter().next(), pieces.count)
            && whole == size
        {
            return self.replace_cell(record, cell, name, expected, new);
        }
        let changing =
            expected.and_then(|expected| pieces.put_first_that_differs(&found, record.words[2]).zip(Some(expected)));
        let old = self.read_pieces(address, &pieces, found, name, (record.at, 2));
        if let Some((piece, expected)) = changing {
            let expected = self.world.expressions.split(expected, size);
            self.guard_by_piece(Func::Eq, &old, &expected, piece);
        }
        let old = self.world.expressions.join(&old);
        let value = new(self, old);
        let value = self.checked(value, record.words[2], "an updated value");
        let bytes = self.world.expressions.split(value, size);
        self.write_pieces(address, &pieces, bytes, record.at, (1, 2));
        if let Some(expected) = expected {
            let same = self.world.expressions.compare(Func::Eq, old, expected);
            same.term.map(|condition| self.assume(condition, Why::Branch));
        }
        old
    }

    fn replace_cell(
        &mut self,
        record: Record,
        cell: u32,
        name: &str,
        expected: Option<Word>,
        new: &mut dyn FnMut(&mut Self, Word) -> Word,
    ) -> Word {
        let (address, size) = (record.words[0], record.kind.size() as u32);
        let source = self.source(record.at);
        let found_bits = record.words[1] & mask(size * 8);
        self.expect_content(source, cell, address, (size, found_bits));
        self.world.accesses(source.thread, cell);
        let event = self.world.draft.next_access(source.thread, source.loc);
        let term = self.world.expressions.local(event, size * 8);
        let old = Word { term: Some(term), ..Word::constant(size * 8, record.words[1]) };
        let value = new(self, old);
        let value = self.checked(value, record.words[2], "an updated value");
        self.world.counts.update(cell, expected.is_none() && value.term == Some(term));
        let value = self.world.expressions.whole(value);
        let guard = expected.and_then(|expected| self.world.expressions.compare(Func::Eq, old, expected).term);
        let dst = self.world.fresh_name(&mut self.thread.names, name);
        let [_, found, stored, _] = record.words;
        let (var, found, stored) = (VarId(cell), self.world.literal(cell, found), self.world.literal(cell, stored));
        let expr = Some(value.term.unwrap_or(stored));
        let op =
            Op::Rmw { var, dst: Some(dst), expr, value: Some(found), stored: Some(stored), guard, external: false };
        self.world.push(source, op);
        self.count_access(cell);
        self.world.memory.replace(address, size, record.words[2]);
        old
    }
}

pub(super) fn is_update(kind: Kind) -> bool {
    matches!(kind, Kind::Update1 | Kind::Update2 | Kind::Update4 | Kind::Update8)
}

pub(super) fn is_failed(kind: Kind) -> bool {
    matches!(kind, Kind::Failed1 | Kind::Failed2 | Kind::Failed4 | Kind::Failed8)
}

//! Atomic accesses of 16 bytes. All cells of both halves are read, and written, in one step.
//!
//! A compare-and-swap that failed has a guard on the first cell that it reads: one that differed. A compare-and-swap that succeeded
//! writes only if both halves were as expected, which no single guard says. So it reads in one
//! step, the condition follows, and it writes in another one; between them it holds a lock that all which write there
//! take, also where they write fewer bytes.

use super::Walk;
use super::atomic::{is_failed, is_update};
use super::memory::Pieces;
use super::thread::Step;
use crate::log::Record;
use crate::memory::Bytes;
use crate::objects::Class;
use crate::program::Function;
use crate::value::{Value, Word};
use foretrace_instrument::sidecar::{Atomic16Op, Operand, UpdateOp};
use foretrace_runtime::record::Kind;
use foretrace_trace::{Func, Op, Problem, SyncId, SyncKind, Why};

const HALF: u32 = 8;
const HALF_BITS: u32 = 64;

type Halves = [Word; 2];

/// An access under way: its two records, and the cells of each.
struct Access<'f> {
    records: [Record; 2],
    pieces: [Pieces; 2],
    /// The half that is read first.
    leading: usize,
    /// What the source calls the value.
    name: &'f str,
}

impl Access<'_> {
    fn address(&self) -> u64 {
        self.records[0].words[0]
    }

    /// The position in the log of what it does to a half: where it reads and then writes, or begins with the other half, that of the
    /// first record, since positions must not go back.
    fn at(&self, half: usize) -> u64 {
        self.records[if is_update(self.records[0].kind) || self.leading == 1 { 0 } else { half }].at
    }

    /// Has the half read first.
    fn begin_with(&mut self, half: usize) {
        self.leading = half;
        let [low, high] = [self.pieces[0].cells, self.pieces[1].cells];
        [self.pieces[0].around, self.pieces[1].around] =
            if half == 0 { [(0, high), (low, 0)] } else { [(high, 0), (0, low)] };
    }

    fn is_shared(&self) -> bool {
        self.pieces.iter().any(|pieces| pieces.cells > 0)
    }

    /// A word of both records.
    fn words(&self, index: usize) -> Halves {
        self.records.map(|record| Word::constant(HALF_BITS, record.words[index]))
    }
}

impl<'a> Walk<'_, 'a> {
    pub(super) fn pair(
        &mut self,
        function: &'a Function,
        index: usize,
        by: Atomic16Op,
        (address, words): (&Operand, &[Operand]),
    ) -> Step<()> {
        let fits = |kind: Kind| kind.is_load() || kind.is_store() || is_update(kind) || is_failed(kind);
        let what = "an atomic access's of 16 bytes";
        let records = [self.expect(function, index, what, fits)?, self.expect(function, index, what, fits)?];
        self.operation(1);
        self.address(address, records[0].words[0]);
        let mut operands = words.chunks(2).map(|halves| [0, 1].map(|half| self.word(&halves[half], HALF_BITS)));
        let (first, second) = (operands.next(), operands.next());
        drop(operands);
        let unknown = [Word::unknown(HALF_BITS); 2];
        let (first, second) = (first.unwrap_or(unknown), second.unwrap_or(unknown));
        let found = if self.is_survey() {
            records.map(|record| Word::constant(HALF_BITS, record.words[1]))
        } else {
            let mut access = self.access_of(records, &function.instructions[index].name);
            self.perform(&mut access, by, first, second)?
        };
        self.set(index, Value::Aggregate(found.map(Value::Word).into()))
    }

    fn access_of<'f>(&mut self, records: [Record; 2], name: &'f str) -> Access<'f> {
        let pieces = records.map(|record| self.pieces(record.words[0], HALF));
        let mut access = Access { records, pieces, leading: 0, name };
        access.begin_with(0);
        access
    }

    /// Makes the events; what was there.
    fn perform(&mut self, access: &mut Access, by: Atomic16Op, first: Halves, second: Halves) -> Step<Halves> {
        let kind = access.records[0].kind;
        match by {
            Atomic16Op::Load => Ok(self.read_both(access, 1)),
            Atomic16Op::CompareAndSwap if is_failed(kind) => {
                let expected = self.agreed(first, access.words(2), "a value expected by a compare-and-swap");
                Ok(self.read_refusing_both(access, expected))
            }
            Atomic16Op::CompareAndSwap => self.exclusively(access, |walk, access| {
                let expected = walk.agreed(first, access.words(1), "a value expected by a compare-and-swap");
                let found = walk.read_both(access, 1);
                let same = walk.are_equal(found, expected);
                same.term.map(|condition| walk.assume(condition, Why::Branch));
                let desired = walk.agreed(second, access.words(2), "a value stored by a compare-and-swap");
                walk.write_both(access, desired, (0, 1));
                found
            }),
            Atomic16Op::Store => self.exclusively(access, |walk, access| {
                let stored = walk.agreed(first, access.words(1), "a stored value");
                if kind.is_replace() {
                    for half in 0..2 {
                        let before = Bytes::constant(HALF, access.records[half].words[2]);
                        walk.replaces(&access.pieces[half], before);
                    }
                }
                walk.write_both(access, stored, (0, 1));
                stored
            }),
            Atomic16Op::Update(by) => self.exclusively(access, |walk, access| {
                let found = walk.read_both(access, 2);
                let new = walk.updated_pair(by, found, first);
                let new = walk.agreed(new, access.words(2), "an updated value");
                walk.write_both(access, new, (1, 2));
                found
            }),
        }
    }

    /// Words that were computed, held to what the log says.
    fn agreed(&mut self, computed: Halves, recorded: Halves, what: &str) -> Halves {
        [0, 1].map(|half| self.checked(computed[half], recorded[half].bits, what))
    }

    /// Reads both halves, in the first of so many rounds of their step.
    fn read_both(&mut self, access: &Access, rounds: u32) -> Halves {
        let found = access.words(1).map(|word| Bytes::constant(HALF, word.bits));
        self.expect_both(access, &found);
        let mut words = access.words(1);
        for half in [access.leading, 1 - access.leading] {
            let (address, at) = (access.records[half].words[0], access.at(half));
            let bytes = self.read_pieces(address, &access.pieces[half], found[half], access.name, (at, rounds));
            words[half] = self.world.expressions.join(&bytes);
        }
        words
    }

    /// What a compare-and-swap finds that changes nothing. The half with a cell that differs is read first, so that it can have a guard.
    fn read_refusing_both(&mut self, access: &mut Access, expected: Halves) -> Halves {
        let words = access.words(1);
        let mut differing = |half: usize| {
            let found = Bytes::constant(HALF, words[half].bits);
            Some((half, access.pieces[half].put_first_that_differs(&found, expected[half].bits)?))
        };
        let differing = differing(0).or_else(|| differing(1));
        access.begin_with(differing.map_or(0, |(half, _)| half));
        let found = self.read_both(access, 1);
        match differing {
            Some((half, piece)) => {
                let [found, expected] = [found, expected].map(|words| self.world.expressions.split(words[half], HALF));
                self.guard_by_piece(Func::Distinct, &found, &expected, piece);
            }
            None => {
                let same = self.are_equal(found, expected);
                let differ = self.negated(same);
                self.assume_refused(differ);
            }
        }
        found
    }

    /// What code that was not recorded has written comes before the step.
    fn expect_both(&mut self, access: &Access, found: &[Bytes; 2]) {
        let source = self.source(access.records[0].at);
        for (half, found) in found.iter().enumerate() {
            for (offset, size, cell) in access.pieces[half].iter() {
                if let Some(cell) = cell {
                    let address = access.records[half].words[0].wrapping_add(u64::from(offset));
                    self.expect_content(source, cell, address, (size, found.part(offset, size).bits));
                }
            }
        }
    }

    fn write_both(&mut self, access: &Access, words: Halves, round: (u32, u32)) {
        for (half, word) in words.into_iter().enumerate() {
            let (address, at) = (access.records[half].words[0], access.at(half));
            let bytes = self.world.expressions.split(word, HALF);
            self.write_pieces(address, &access.pieces[half], bytes, at, round);
        }
    }

    /// Does something with the lock of all that write there. The log has no such lock.
    fn exclusively(&mut self, access: &Access, act: impl FnOnce(&mut Self, &Access) -> Halves) -> Step<Halves> {
        if !access.is_shared() {
            return Ok(act(self, access));
        }
        let lock = self.lock_of_wide_swaps(access.address())?;
        let source = self.source(access.records[0].at);
        self.world.push_unlogged(source, Op::Acquire { lock });
        let found = act(self, access);
        self.world.push_unlogged(source, Op::Release { lock });
        Ok(found)
    }
}

/// Accesses of fewer bytes.
impl Walk<'_, '_> {
    fn lock_of_wide_swaps(&mut self, address: u64) -> Result<SyncId, Problem> {
        let object = self.world.object(address, Class::Mutex, SyncKind::Mutex { recursive: false })?;
        Ok(self.world.objects.get(object).sync)
    }

    /// Writes so many bytes there, with the lock that compare-and-swaps of 16 bytes hold, if there are any of these bytes.
    pub(super) fn beside_wide_swaps<R>(
        &mut self,
        (address, size, at): (u64, u32, u64),
        write: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let swapped = self.world.cells.sharing.wide_swaps.covering(address, size);
        let swapped = swapped.filter(|_| self.pieces(address, size).cells > 0);
        let Some(lock) = swapped.and_then(|address| self.lock_of_wide_swaps(address).ok()) else { return write(self) };
        let source = self.source(at);
        self.world.push_unlogged(source, Op::Acquire { lock });
        let written = write(self);
        self.world.push_unlogged(source, Op::Release { lock });
        written
    }
}

/// Values.
impl Walk<'_, '_> {
    fn are_equal(&mut self, a: Halves, b: Halves) -> Word {
        let [low, high] = [0, 1].map(|half| self.world.expressions.compare(Func::Eq, a[half], b[half]));
        self.world.expressions.binary(Func::BvAnd, low, high)
    }

    fn negated(&mut self, bit: Word) -> Word {
        self.world.expressions.binary(Func::BvXor, bit, Word::constant(1, 1))
    }

    /// What an update makes of the old value.
    fn updated_pair(&mut self, by: UpdateOp, old: Halves, operand: Halves) -> Halves {
        let expressions = &mut self.world.expressions;
        let mut each = |func| [0, 1].map(|half| expressions.binary(func, old[half], operand[half]));
        match by {
            UpdateOp::Xchg => operand,
            UpdateOp::And => each(Func::BvAnd),
            UpdateOp::Or => each(Func::BvOr),
            UpdateOp::Xor => each(Func::BvXor),
            UpdateOp::Nand => {
                let both = each(Func::BvAnd);
                both.map(|half| expressions.binary(Func::BvXor, half, Word::constant(HALF_BITS, u64::MAX)))
            }
            UpdateOp::Add | UpdateOp::Sub => self.sum_of_pairs(by, old, operand),
            UpdateOp::Max => self.one_of_pairs((Func::BvSgt, Func::BvUgt), old, operand),
            UpdateOp::Min => self.one_of_pairs((Func::BvSlt, Func::BvUlt), old, operand),
            UpdateOp::UMax => self.one_of_pairs((Func::BvUgt, Func::BvUgt), old, operand),
            UpdateOp::UMin => self.one_of_pairs((Func::BvUlt, Func::BvUlt), old, operand),
            UpdateOp::Other => [Word::unknown(HALF_BITS); 2],
        }
    }

    fn sum_of_pairs(&mut self, by: UpdateOp, old: Halves, operand: Halves) -> Halves {
        let func = if by == UpdateOp::Add { Func::BvAdd } else { Func::BvSub };
        let expressions = &mut self.world.expressions;
        let low = expressions.binary(func, old[0], operand[0]);
        let (less, than) = if by == UpdateOp::Add { (low, old[0]) } else { (old[0], operand[0]) };
        let carry = expressions.compare(Func::BvUlt, less, than);
        let carry = expressions.zero_extend(carry, HALF_BITS);
        let high = expressions.binary(func, old[1], operand[1]);
        [low, expressions.binary(func, high, carry)]
    }

    /// The old value where it is larger or smaller, by the upper halves or, where these are equal, by the lower.
    fn one_of_pairs(&mut self, (upper, lower): (Func, Func), old: Halves, operand: Halves) -> Halves {
        let expressions = &mut self.world.expressions;
        let by_upper = expressions.compare(upper, old[1], operand[1]);
        let by_lower = expressions.compare(lower, old[0], operand[0]);
        let equal = expressions.compare(Func::Eq, old[1], operand[1]);
        let keeps = expressions.select(equal, by_lower, by_upper);
        [0, 1].map(|half| expressions.select(keeps, old[half], operand[half]))
    }
}

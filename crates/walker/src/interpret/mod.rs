//! Executes the program again along the log of a thread: values from the log, expressions from the side-car.
//!
//! Threads take turns so that their ordered records come in the order in which they took effect. An instruction that waits for its
//! turn has done nothing yet and is executed again later.

mod accesses;
mod arithmetic;
mod atomic;
mod atomic16;
mod call_stacks;
mod calls;
mod contexts;
mod control;
mod foreign;
mod held;
mod inside;
mod intrinsics;
mod library;
mod loops;
mod lost;
mod memory;
mod moves;
mod named_operations;
mod naming;
mod operations;
mod registers;
mod results;
mod robust;
mod stretches;
mod synchronise;
mod thread;
mod unwind;
mod variadic;

pub(crate) use thread::{Pause, Step, Thread};

use crate::log::Record;
use crate::names::Origin;
use crate::program::{Function, Program};
use crate::regions::Birth;
use crate::value::{Value, Word};
use crate::world::{Source, World};
use foretrace_instrument::sidecar::{Instruction, Op, Operand, Type};
use foretrace_runtime::record::Kind;
use foretrace_trace::{self as trace, TermId, Why};
use std::fmt::Display;
use thread::{Frame, State};

/// One thread on its way.
pub(crate) struct Walk<'w, 'a> {
    pub world: &'w mut World<'a>,
    pub thread: &'w mut Thread<'a>,
    pub program: &'a Program,
    /// The order at which it is another thread's turn.
    pub until: u64,
}

impl<'a> Walk<'_, 'a> {
    /// Goes on until it is another thread's turn, which is said, or to the end.
    pub fn run(&mut self) -> Result<Option<u64>, trace::Problem> {
        loop {
            match self.step() {
                Ok(()) | Err(Pause::Again) => {}
                Err(Pause::Turn(order)) => return Ok(Some(order)),
                Err(Pause::Problem(problem)) => return Err(problem),
                Err(Pause::Lost(what)) => {
                    if !self.lose(what) {
                        return Ok(None);
                    }
                }
                Err(Pause::End) => {
                    self.end();
                    return Ok(None);
                }
                Err(Pause::Full) => {
                    self.world.statistics.ends_early = true;
                    return Ok(None);
                }
            }
        }
    }

    #[inline]
    fn step(&mut self) -> Step<()> {
        match self.thread.frames.last() {
            Some(Frame { function: Some(function), state, next, .. }) if *state != State::Outside => {
                let function = &self.program.functions[*function];
                let next = self.compute_from(function, *next)?;
                let instruction = function.instructions.get(next);
                let instruction = instruction.ok_or_else(Pause::no_end)?;
                self.execute(function, next, instruction)
            }
            _ => self.outside(),
        }
    }

    /// Executes instructions of the innermost frame that only compute scalars, up to another one, which it gives back.
    #[inline]
    fn compute_from(&mut self, function: &Function, start: usize) -> Step<usize> {
        let mut next = start;
        loop {
            match self.compute_in_room(function, next)? {
                (end, true) => return Ok(end),
                (full, false) => next = self.compute_fixed(function, full)?,
            }
        }
    }

    /// The same, also up to an instruction for whose result there is no room. Says whether it is another one.
    #[inline]
    fn compute_in_room(&mut self, function: &Function, start: usize) -> Step<(usize, bool)> {
        let frame = self.thread.frames.last_mut().ok_or_else(Pause::no_frame)?;
        let registers = self.thread.registers.get_mut(frame.registers..).unwrap_or_default();
        let prepared = function.prepared();
        let mut next = start;
        while let Some(scalar) = prepared.scalars.get(next).filter(|scalar| scalar.is_computed()) {
            match arithmetic::of_constants(registers, scalar) {
                Some(bits) => held::put(registers, next, Word::new(scalar.bits, bits, None)),
                None if !self.world.expressions.has_room() => {
                    frame.next = next;
                    return Ok((next, false));
                }
                None => {
                    let word = self.world.expressions.compute(registers, scalar, prepared);
                    held::put(registers, next, word);
                }
            }
            next += 1;
        }
        frame.next = next;
        Ok((next, true))
    }

    /// Executes an instruction that only computes a scalar, from what its operands were in the run. A loop that computes with what it has read
    /// would make terms without end, and no event shows them.
    #[cold]
    fn compute_fixed(&mut self, function: &Function, index: usize) -> Step<usize> {
        let prepared = function.prepared();
        let scalar = prepared.scalars.get(index).ok_or_else(Pause::no_end)?;
        let start = self.frame()?.registers;
        for operand in prepared.operands_of(scalar) {
            let register = start + operand as usize;
            if let Some(Value::Word(word)) = self.thread.registers.get(register).cloned() {
                let fixed = self.pin(word, "too large an expression");
                held::put(&mut self.thread.registers, register, fixed);
            }
        }
        let registers = self.thread.registers.get_mut(start..).unwrap_or_default();
        let word = self.world.expressions.compute(registers, scalar, prepared);
        held::put(registers, index, word);
        self.frame()?.next = index + 1;
        Ok(index + 1)
    }

    /// The thread's last event was made.
    pub fn end(&mut self) {
        self.end_all_stretches();
    }

    /// The next record, if it is this thread's turn to take it.
    fn record(&mut self) -> Step<Record> {
        let record = self.thread.records.peek().ok_or(Pause::End)?;
        match record.order() {
            None if record.kind == Kind::Stop => Err(Pause::End),
            None => Ok(record),
            Some(_) if record.at != self.thread.done => {
                let missing = record.at.wrapping_sub(self.thread.done);
                Err(self.lost(record, &format!("{missing} accesses that were left out")))
            }
            Some(0) => self.crash(record),
            Some(order) if order >= self.until => Err(Pause::Turn(order)),
            Some(_) if record.kind == Kind::HandlerBegin => self.begin_handler(record),
            Some(_) => Ok(record),
        }
    }

    /// An access that never took effect: what comes now is a failure or a signal handler.
    fn crash(&mut self, record: Record) -> Step<Record> {
        self.take(record);
        if let Some(frame) = self.thread.frames.last_mut() {
            frame.crashed = Some(std::mem::replace(&mut frame.state, State::Outside));
        }
        Err(Pause::Again)
    }

    /// The record is done with.
    pub(crate) fn take(&mut self, record: Record) {
        self.thread.now = self.thread.done;
        self.thread.done += u64::from(record.kind.counted());
        self.thread.place = record.place;
        self.observe(&record);
        self.thread.records.pass(record.kind);
    }

    /// The next record, which is of this instruction and of one of these kinds; it is taken.
    fn expect(&mut self, function: &Function, index: usize, what: &str, fits: impl Fn(Kind) -> bool) -> Step<Record> {
        let record = self.record()?;
        if !fits(record.kind) || record.site() != function.site_of(index) {
            return Err(self.lost(record, what));
        }
        self.take(record);
        Ok(record)
    }

    /// So many records would be in a log without anything left out.
    #[inline]
    fn operation(&mut self, records: u64) {
        self.world.statistics.operations += records;
    }

    fn lost(&self, record: Record, expected: &str) -> Pause {
        let place = self.program.position(record.site()).map_or(String::new(), |position| {
            format!(" of {}:{} in {}", position.file, position.line, position.function)
        });
        Pause::Lost(format!("found a record {:?}{place}, expected {expected}", record.kind))
    }

    /// The frame that executes.
    #[inline]
    fn frame(&mut self) -> Step<&mut Frame> {
        self.thread.frames.last_mut().ok_or_else(Pause::no_frame)
    }

    /// Of an event whose record has this position in the log.
    fn source(&mut self, at: u64) -> Source {
        self.note_call(at);
        self.source_beside(at)
    }

    /// Of an event that has no record, but comes after one that has this position.
    fn source_beside(&mut self, at: u64) -> Source {
        if self.is_concrete() || self.is_unknown() {
            let loc = self.concrete_location();
            return Source { thread: self.thread.id, loc, at };
        }
        let loc = self.place().and_then(|(function, next)| {
            let function = &self.program.functions[function];
            let location = function.instructions.get(next).map_or(function.location, |i| i.location);
            self.world.location(function.unit, location)
        });
        Source { thread: self.thread.id, loc, at }
    }

    fn mismatch(&mut self, what: String) {
        let source = self.source_beside(self.thread.now);
        let frame = self.thread.frames.last().and_then(|frame| Some((frame.function?, frame.next)));
        let what = match frame {
            Some((function, next)) => {
                format!("{what} (instruction {next} of {})", self.program.functions[function].name)
            }
            None => what,
        };
        self.world.mismatch(self.thread.number, source.at, source.loc, what);
    }

    /// A computed value against the one in the log; what counts is the one in the log.
    fn checked(&mut self, computed: Word, recorded: u64, what: &str) -> Word {
        let recorded = Word::constant(computed.width(), recorded);
        if !computed.is_known() {
            return recorded;
        }
        if computed.bits != recorded.bits {
            self.mismatch(format!("{what} is {:#x} in the log, computed {:#x}", recorded.bits, computed.bits));
            self.pin(computed, "not explained"); // with the same inputs it is again what the log says
            return recorded;
        }
        computed
    }

    /// A condition that holds here, unless this thread has said so before.
    fn assume(&mut self, condition: TermId, why: Why) -> bool {
        let is_new =
            self.world.expressions.terms.as_const(condition).is_none() && self.thread.assumed.insert(condition);
        if is_new {
            let source = self.source_beside(self.thread.now);
            self.world.push(source, trace::Op::Assume { expr: condition, why });
        }
        is_new
    }

    /// Fixes a value that leaves what is tracked; gives it back as a constant.
    fn pin(&mut self, word: Word, by: impl Display) -> Word {
        if let Some(term) = word.term.filter(|term| !self.thread.pinned.has(*term))
            && let Some(condition) = self.world.pin(word)
        {
            if self.assume(condition, Why::Pin) {
                self.world.statistics.pinned_by(&by.to_string());
            }
            self.thread.pinned.add(term);
        }
        word.fixed()
    }

    fn pin_value(&mut self, value: &Value, by: impl Display + Copy) {
        match value {
            Value::Word(word) => drop(self.pin(*word, by)),
            Value::Aggregate(parts) => parts.iter().for_each(|part| self.pin_value(part, by)),
            Value::Untracked => {}
        }
    }

    fn execute(&mut self, function: &'a Function, index: usize, instruction: &'a Instruction) -> Step<()> {
        match &instruction.op {
            Op::Alloca { size, count, escapes } => self.alloca(function, index, *size, count, *escapes),
            Op::Load { address, size, hooked, .. } => self.load(function, index, address, *size, *hooked),
            Op::Store { address, value, size, hooked, .. } => {
                self.store(function, index, (address, value), *size, *hooked)
            }
            Op::Wide { address, pieces, .. } => self.wide(function, index, address, pieces),
            Op::Update { address, operand, size, by } => self.update(function, index, (address, operand), *size, *by),
            Op::CompareAndSwap { address, expected, desired, size } => {
                self.compare_and_swap(function, index, address, (expected, desired), *size)
            }
            Op::Pair { by, address, words } => self.pair(function, index, *by, (address, words)),
            Op::Copy { to, from, length, hooked } => self.copy(function, index, (to, from, length), *hooked),
            Op::Set { to, byte, length, hooked } => self.set_memory(function, index, (to, byte, length), *hooked),
            Op::Phi(_) => self.set(index, self.operand(&Operand::Local(index as u32))), // set by the jump
            Op::Branch { condition, yes, no, recorded } => {
                self.branch(function, index, condition, (*yes, *no), *recorded)
            }
            Op::Jump(to) => self.jump(function, *to),
            Op::Switch { value, bits, cases, otherwise, recorded } => {
                self.switch(function, index, (value, *bits), (cases, *otherwise), *recorded)
            }
            Op::Indirect { address, to } => self.indirect(function, index, address, to),
            Op::Call { callee, arguments, result, .. } => self.call(function, index, callee, arguments, *result),
            Op::Library { name, arguments, .. } => self.library(name, arguments, function.used[index]),
            Op::Intrinsic { name, arguments } => self.intrinsic(function, index, name, arguments),
            Op::Landing => {
                self.expect(function, index, "a landing pad's", |kind| kind == Kind::Landing)?;
                self.operation(1);
                self.set(index, Value::Untracked)
            }
            Op::Resume => {
                self.frame()?.state = State::Outside;
                Ok(())
            }
            Op::Return(value) => {
                let value = value.as_ref().map_or(Value::Untracked, |value| self.operand(value));
                self.return_from(function, value)
            }
            Op::Unreachable => {
                self.frame()?.state = State::Outside;
                Ok(())
            }
            Op::Opaque { operands, recorded, .. } => self.opaque(function, index, operands, *recorded),
            Op::Nothing => self.set(index, Value::Untracked),
            Op::Select { condition, yes, no } => {
                let value = self.select(condition, yes, no, instruction.ty.bits());
                self.set(index, value)
            }
            Op::Extract { from, path } => {
                self.operation(u64::from(instruction.ty.bits() > 0));
                let value = self.operand(from).part(path);
                self.set(index, value)
            }
            Op::Insert { into, value, path } => {
                let part = self.operand(value);
                let value = self.operand(into).with_part(path, part);
                self.set(index, value)
            }
            // Scalars were computed before; this is nothing that is tracked.
            Op::Binary { .. } | Op::Compare { .. } | Op::Cast { .. } | Op::Offset { .. } => {
                self.set(index, Value::Untracked)
            }
        }
    }

    fn alloca(&mut self, function: &Function, index: usize, size: u64, count: &Operand, escapes: bool) -> Step<()> {
        if escapes {
            let record = self.expect(function, index, "an alloca's", |kind| kind == Kind::Alloca)?;
            self.operation(1);
            let number = self.thread.frames.last().and_then(|frame| frame.function).unwrap_or_default();
            let origin = Origin::Frame { function: number as u32, instruction: index as u32 };
            self.world.born(record.words[0], record.words[1], (Birth::Frame, origin));
            return self.set_word(index, Word::constant(64, record.words[0]));
        }
        self.operation(1);
        let count = self.operand(count).word(64);
        let bytes = if count.is_known() { size.saturating_mul(count.bits).min(1 << 32) } else { size };
        let address = self.thread.private;
        self.thread.private = address + bytes.next_multiple_of(16).max(16);
        self.world.memory.forget(address, bytes);
        self.set_word(index, Word::constant(64, address))
    }

    fn opaque(&mut self, function: &Function, index: usize, operands: &[Operand], recorded: bool) -> Step<()> {
        let ty = &function.instructions[index].ty;
        let value = match recorded {
            true => {
                let record = self.expect(function, index, "an opaque instruction's", |kind| kind == Kind::Value)?;
                Value::Word(Word::constant(ty.bits().max(1), record.words[0]))
            }
            false => Value::Untracked,
        };
        self.operation(u64::from((1..=64).contains(&ty.bits())));
        let by = if matches!(ty, Type::Float(_)) { "floating point" } else { "opaque operation" };
        for operand in operands {
            self.pin_value(&self.operand(operand), by);
        }
        self.set(index, value)
    }
}

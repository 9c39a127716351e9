//! Where control goes within a function.

use super::Walk;
use super::thread::{Pause, State, Step};
use crate::program::{FrameSlot, Function};
use crate::statistics::Ways;
use crate::value::{Value, Word};
use foretrace_instrument::sidecar::{BlockId, Operand};
use foretrace_runtime::record::Kind;
use foretrace_trace::{self as trace, Func, TermId, Why};

impl<'a> Walk<'_, 'a> {
    pub(super) fn branch(
        &mut self,
        function: &'a Function,
        index: usize,
        condition: &Operand,
        to: (BlockId, BlockId),
        recorded: bool,
    ) -> Step<()> {
        let condition = self.word(condition, 1);
        let is_branch = |kind| matches!(kind, Kind::BranchTrue | Kind::BranchFalse);
        let taken = match recorded {
            true => self.expect(function, index, "a branch's", is_branch)?.kind == Kind::BranchTrue,
            false => self.computed(condition)? != 0,
        };
        self.operation(1);
        let condition = self.checked(condition, u64::from(taken), "a branch condition");
        if let Some(holds) = self.world.pin(condition) {
            if function.compares_and_swaps {
                self.guard_compared(holds);
            }
            self.assume(holds, Why::Branch);
            self.note_branch(index, taken);
            self.decide(function, holds);
        }
        self.jump(function, if taken { to.0 } else { to.1 })
    }

    /// What the thread has just read is compared in the same step.
    fn guard_compared(&mut self, holds: TermId) {
        let leaves = self.world.expressions.terms.leaves(holds);
        let events = &self.world.draft.events;
        let (thread, latest) = (self.thread.id, leaves.iter().map(|leaf| leaf.definition).max());
        let of_thread = |event: &&trace::Event| event.thread == thread && event.op.var().is_some();
        let is_last = |read: &trace::EventId| {
            events[read.index()].part.is_none() && !events[read.index() + 1..].iter().any(|event| of_thread(&event))
        };
        if let Some(read) = latest.filter(is_last) {
            self.world.draft.guard_read(read, holds);
        }
    }

    /// A branch of the innermost function whose condition depends on shared memory goes one way.
    fn note_branch(&mut self, index: usize, taken: bool) {
        let Some(number) = self.thread.frames.last().and_then(|frame| frame.function) else { return };
        let ways = self.world.branches.entry((number, index)).or_default();
        *ways = ways.and(Ways { held: taken, failed: !taken });
    }

    pub(super) fn switch(
        &mut self,
        function: &'a Function,
        index: usize,
        (value, bits): (&Operand, u32),
        (cases, otherwise): (&[(u64, BlockId)], BlockId),
        recorded: bool,
    ) -> Step<()> {
        let value = self.word(value, bits);
        let chosen = match recorded {
            true => self.expect(function, index, "a switch's", |kind| kind == Kind::Switch)?.words[0],
            false => self.computed(value)?,
        };
        self.operation(1);
        let value = self.checked(value, chosen, "a switch's value");
        let to = cases.iter().find(|(case, _)| *case == value.bits).map_or(otherwise, |(_, to)| *to);
        if let Some(term) = value.term {
            let condition = self.switch_condition(Word { term: Some(term), ..value }, cases, to, otherwise);
            self.assume(condition, Why::Branch);
            self.decide(function, condition);
        }
        self.jump(function, to)
    }

    /// Ways part in the innermost function, by a condition on shared memory.
    fn decide(&mut self, function: &Function, condition: TermId) {
        let Some(frame) = self.thread.frames.last() else { return };
        let meet = function.meets().after(frame.block);
        self.thread.decisions.decide(self.thread.frames.len(), meet, condition);
    }

    /// Decisions from this one on are over.
    #[cold]
    pub(super) fn end_decisions(&mut self, first: usize) {
        let next = self.world.draft.next();
        let detours = self.thread.decisions.close(first, self.thread.id, next);
        self.world.detours.add(detours);
    }

    /// Where control goes without a record.
    fn computed(&mut self, value: Word) -> Step<u64> {
        if !self.is_left_out() {
            match self.thread.records.next_kind() {
                None | Some(Kind::Stop) => return Err(Pause::End), // the thread came no further, as far as anybody knows
                Some(Kind::HandlerBegin) => drop(self.record()?),
                _ => {}
            }
        }
        match value.is_known() {
            true => Ok(value.bits),
            false => Err(Pause::Lost("a branch without a record whose condition is not known".into())),
        }
    }

    /// The condition under which a switch leads to a block.
    fn switch_condition(&mut self, value: Word, cases: &[(u64, BlockId)], to: BlockId, otherwise: BlockId) -> TermId {
        let leads = |case: &&(u64, BlockId)| (case.1 == to) == (to != otherwise);
        let expressions = &mut self.world.expressions;
        let mut tests: Vec<TermId> = Vec::new();
        for (case, _) in cases.iter().filter(leads) {
            let test = expressions.compare(Func::Eq, value, Word::constant(value.width(), *case));
            tests.push(expressions.term(test));
        }
        // Of a default block: none of the cases that lead elsewhere.
        if to == otherwise {
            tests = tests.into_iter().map(|test| expressions.not(test)).collect();
        }
        let func = if to == otherwise { Func::And } else { Func::Or };
        match tests[..] {
            [] => expressions.terms.constant(trace::Value::Bool(true)),
            [one] => one,
            _ => expressions.terms.app(func, &tests).expect("truth values"),
        }
    }

    pub(super) fn indirect(
        &mut self,
        function: &'a Function,
        index: usize,
        address: &Operand,
        to: &[BlockId],
    ) -> Step<()> {
        let record = self.expect(function, index, "a computed goto's", |kind| kind == Kind::Switch)?;
        let address = self.word(address, 64);
        self.pin(address, "computed goto");
        let target = to.get(record.words[0] as usize).copied();
        self.jump(function, target.ok_or_else(|| Pause::Lost("a computed goto to no block".into()))?)
    }

    /// Goes on at the start of a block.
    pub(super) fn jump(&mut self, function: &'a Function, to: BlockId) -> Step<()> {
        let block = function.prepared().blocks.get(to as usize);
        let block = block.ok_or_else(|| Pause::Lost("a jump to no block".into()))?;
        let frame = self.frame()?;
        frame.previous = std::mem::replace(&mut frame.block, to);
        frame.state = State::Running;
        frame.next = block.start + block.count;
        let (from, start) = (frame.previous, frame.registers);
        if let Some(first) = self.thread.decisions.met(self.thread.frames.len(), to) {
            self.end_decisions(first);
        }
        if block.count > 0 {
            let first = start + block.start;
            match block.after(from) {
                Some(places) => self.take_over(places, start, first),
                None => self.thread.registers[first..first + block.count].fill(Value::Untracked),
            }
        }
        self.entered(function, to)
    }

    /// What the first instructions of a block, from register `first` on, take over of the frame at `start`: all at once.
    fn take_over(&mut self, places: &[FrameSlot], start: usize, first: usize) {
        let registers = &mut self.thread.registers;
        if let [one] = places {
            registers[first] = registers[start + *one as usize].clone();
            return;
        }
        let incoming = &mut self.thread.incoming;
        incoming.extend(places.iter().map(|place| registers[start + *place as usize].clone()));
        for (register, value) in registers[first..].iter_mut().zip(incoming.drain(..)) {
            *register = value;
        }
    }

    fn entered(&mut self, function: &'a Function, to: BlockId) -> Step<()> {
        self.end_inlined_calls(function, to);
        if self.world.options.wants(foretrace_trace::BlockKind::Loop) {
            self.enter_block(function, to);
        }
        Ok(())
    }
}

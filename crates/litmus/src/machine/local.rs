//! Instructions that make no event.

use super::super::program::Instruction;
use super::super::recorder::Operand;
use super::{Frame, Machine, Status};
use dashu_int::ops::BitTest;
use foretrace_trace::{Func, Value};

/// Functions call each other at most this deep.
const DEEPEST_CALL: usize = 1000;

/// Integers have at most this many bits.
const LARGEST_INTEGER: usize = 1 << 12;

impl Machine<'_> {
    /// Runs an instruction that makes no event.
    pub(super) fn local_step(&mut self, thread: usize) {
        let instruction = self.next(thread);
        self.threads[thread].at += 1;
        match instruction {
            Instruction::Constant(value) => self.push(thread, Operand::constant(value.clone())),
            Instruction::Load(slot) => {
                let operand = self.frame(thread).locals[*slot].clone();
                self.push(thread, operand);
            }
            Instruction::Store(slot) => self.store(thread, *slot),
            Instruction::Forget(from) => self.frame(thread).locals.truncate(*from),
            Instruction::Pop => {
                self.pop(thread);
            }
            Instruction::Apply(function, count) => self.apply(thread, *function, *count),
            Instruction::Jump(target) => self.threads[thread].at = *target,
            Instruction::JumpUnless(target) => {
                let truth = self.pop(thread).value.is_true();
                if !truth {
                    self.threads[thread].at = *target;
                }
            }
            Instruction::Call(function) => self.call(thread, *function),
            Instruction::Return => self.give_back(thread),
            Instruction::Pin(array) => self.check_index(thread, *array),
            Instruction::TryAcquire(_) => self.push_truth(thread, false),
            // Whatever else comes here has nothing to do: a small operand needs no name, a constant no decision.
            _ => {}
        }
    }

    fn store(&mut self, thread: usize, slot: usize) {
        let operand = self.pop(thread);
        let locals = &mut self.frame(thread).locals;
        match locals.get_mut(slot) {
            Some(local) => *local = operand,
            None => locals.push(operand),
        }
    }

    fn pop_many(&mut self, thread: usize, count: usize) -> Vec<Operand> {
        let stack = &mut self.threads[thread].stack;
        stack.split_off(stack.len() - count)
    }

    fn apply(&mut self, thread: usize, function: Func, count: usize) {
        let operands = self.pop_many(thread, count);
        let result = self.recorder.apply(function, &operands);
        if matches!(&result.value, Value::Int(integer) if integer.bit_len() > LARGEST_INTEGER) {
            self.stop(thread, format!("an integer of more than {LARGEST_INTEGER} bits"));
        }
        self.push(thread, result);
    }

    fn call(&mut self, thread: usize, function: usize) {
        let program = self.program;
        let code = &program.functions[function];
        if self.threads[thread].frames.len() > DEEPEST_CALL {
            return self.stop(thread, format!("`{}` is called more than {DEEPEST_CALL} calls deep", code.name));
        }
        let locals = self.pop_many(thread, code.parameters);
        let state = &mut self.threads[thread];
        state.frames.push(Frame { return_to: state.at, locals });
        state.at = code.entry;
    }

    fn give_back(&mut self, thread: usize) {
        let state = &mut self.threads[thread];
        let frame = state.frames.pop();
        match frame.filter(|_| !state.frames.is_empty()) {
            Some(frame) => state.at = frame.return_to,
            None => state.status = Status::Done,
        }
    }

    fn check_index(&mut self, thread: usize, array: usize) {
        let array = &self.program.arrays[array];
        let index = self.top(thread).value.to_integer();
        if index < 0.into() || index >= array.length.into() {
            self.stop(thread, format!("index {index} of `{}`, which has {} elements", array.name, array.length));
        }
    }

    /// Makes an error the thread's next and last event.
    fn stop(&mut self, thread: usize, reason: String) {
        let state = &mut self.threads[thread];
        state.error = Some(reason);
        state.at -= 1; // the event's place is that of the instruction that went wrong
    }
}

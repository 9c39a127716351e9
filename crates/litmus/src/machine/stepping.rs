//! A program as a thing that can be stepped: what its threads would do next, as far as other threads can tell.

use super::super::options::Options;
use super::super::program::{Instruction, Program, Target};
use super::super::synchronisation::Object;
use super::{Failed, Machine, Readiness, Status};
use foretrace_explore::{Action, Mode, Next, System, Use};
use foretrace_trace::{SyncId, Trace};

/// A state of a program that is explored. A step is an event that other threads can tell from its absence, with the thread's events
/// after it that they cannot.
#[derive(Clone)]
pub(in super::super) struct Stepping<'p> {
    machine: Machine<'p>,
    /// Per thread: whether it has failed, and stays where it is.
    halted: Vec<bool>,
    /// The first failure.
    failed: Option<Failed>,
    max_steps: u32,
}

impl<'p> Stepping<'p> {
    /// The state before the first step.
    pub fn new(program: &'p Program, max_steps: u32) -> Stepping<'p> {
        let mut machine = Machine::new(program, &Options { max_steps, ..Options::serial() });
        machine.start();
        let halted = vec![false; machine.threads.len()];
        let mut state = Stepping { machine, halted, failed: None, max_steps };
        (0..state.halted.len()).for_each(|thread| state.go_on(thread));
        state
    }

    /// The first failure.
    pub fn failed(&self) -> Option<&Failed> {
        self.failed.as_ref()
    }

    /// The machine, to ask where its threads are.
    pub fn machine(&mut self) -> &mut Machine<'p> {
        &mut self.machine
    }

    /// What happened up to the failure, or up to here.
    pub fn trace(&self) -> Trace {
        let mut trace = self.machine.recorder.trace.clone();
        if let Some(failed) = &self.failed {
            trace.events.truncate(failed.event.index() + 1);
        }
        trace
    }

    /// Whether the run was cut off.
    pub fn is_cut(&self) -> bool {
        self.machine.local_steps == 0 || self.machine.recorder.trace.events.len() >= self.max_steps as usize
    }

    /// Takes the thread's next events that no other thread can tell.
    fn go_on(&mut self, thread: usize) {
        while self.is_running(thread)
            && self.machine.readiness(thread) == Readiness::Ready
            && self.action(thread).is_none()
        {
            self.event(thread);
        }
    }

    fn is_running(&self, thread: usize) -> bool {
        self.machine.threads[thread].status == Status::Running && !self.halted[thread] && !self.is_cut()
    }

    fn event(&mut self, thread: usize) {
        if let Err(failed) = self.machine.step(thread) {
            self.halted[thread] = true;
            self.failed.get_or_insert(failed);
        }
    }

    /// What the thread's next event is to others; nothing where they cannot tell.
    fn action(&self, thread: usize) -> Option<Action> {
        use Instruction::*;
        if self.machine.threads[thread].error.is_some() {
            return None;
        }
        let sync = |id: &SyncId, mode| Use { object: self.machine.program.variables.len() as u32 + id.0, mode };
        let lock = |id: &SyncId| self.machine.lock(*id);
        let uses = match self.machine.next(thread) {
            Read { target, .. } => vec![self.access(thread, *target, 0, Mode::Read)],
            Write { target } => vec![self.access(thread, *target, 1, Mode::Write)],
            Update { target, .. } => vec![self.access(thread, *target, 1, Mode::Write)],
            CompareAndSwap { target, .. } => {
                let mut access = self.access(thread, *target, 2, Mode::Write);
                let expected = self.operand(thread, 1);
                if expected.is_some_and(|expected| self.machine.memory[access.object as usize] != *expected) {
                    access.mode = Mode::Read;
                }
                vec![access]
            }
            Acquire(id) => vec![sync(id, Mode::Take)],
            TryAcquire(id) if lock(id).can_acquire(thread) => vec![sync(id, Mode::Take)],
            TryAcquire(id) => vec![sync(id, Mode::Busy)],
            Release(id) => vec![sync(id, Mode::Give)],
            AcquireShared(id) => vec![sync(id, Mode::TakeShared)],
            ReleaseShared(id) => vec![sync(id, Mode::GiveShared)],
            Wait { cond, lock } => vec![sync(lock, Mode::Give), sync(cond, Mode::Any)],
            Wake { cond, lock } | WakeOrTimeout { cond, lock } => vec![sync(lock, Mode::Take), sync(cond, Mode::Any)],
            Signal(cond) | Broadcast(cond) => vec![sync(cond, Mode::Any)],
            Post(id) => vec![sync(id, Mode::Post)],
            Down(id) => vec![sync(id, Mode::Down)],
            OnceBegin(id) | OnceEnd(id) | OnceFail(id) | Arrive(id) | Depart(id) => vec![sync(id, Mode::Any)],
            Spawn(_) | Join(_) => Vec::new(),
            _ => return None,
        };
        let mut action = Action::new(uses.into());
        match self.machine.next(thread) {
            Spawn(child) => action.starts = Some(*child),
            Join(child) => action.joins = Some(*child),
            Signal(cond) => {
                if let Object::Condvar { waiters } = self.machine.object(*cond) {
                    action.choices = waiters.iter().filter(|waiter| waiter.released.is_none()).count().max(1);
                }
            }
            _ => {}
        }
        Some(action)
    }

    /// An operand on the thread's stack, by how many lie above it.
    fn operand(&self, thread: usize, above: usize) -> Option<&foretrace_trace::Value> {
        let stack = &self.machine.threads[thread].stack;
        Some(&stack.get(stack.len().checked_sub(above + 1)?)?.value)
    }

    /// The use of a variable; an element's index lies below so many operands.
    fn access(&self, thread: usize, target: Target, above: usize, mode: Mode) -> Use {
        let object = match target {
            Target::Variable(var) => var.0,
            Target::Element(array) => {
                let index =
                    self.operand(thread, above).map_or(0, |value| u32::try_from(value.to_integer()).unwrap_or(0));
                self.machine.program.arrays[array].first.0 + index
            }
        };
        Use { object, mode }
    }
}

impl System for Stepping<'_> {
    fn threads(&self) -> usize {
        self.halted.len()
    }

    fn next(&self, thread: usize) -> Next {
        if !self.is_running(thread) {
            return Next::Over;
        }
        let Some(action) = self.action(thread) else { return Next::Over };
        match self.machine.readiness(thread) {
            Readiness::Ready | Readiness::Timeout => Next::Ready(action),
            Readiness::Blocked | Readiness::Local => Next::Blocked(action),
        }
    }

    fn step(&mut self, thread: usize, choice: usize) {
        let child = match self.machine.next(thread) {
            Instruction::Spawn(child) => Some(*child),
            _ => None,
        };
        self.machine.choice.decide(choice);
        self.event(thread);
        self.go_on(thread);
        if let Some(child) = child {
            self.go_on(child);
        }
    }
}

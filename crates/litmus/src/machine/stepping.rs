//! A program as a thing that can be stepped: what its threads would do next, as far as other threads can tell.

use super::super::options::{Exploring, Options};
use super::super::program::{Instruction, Program, Target};
use super::super::synchronisation::Object;
use super::super::whole::Passage;
use super::{Failed, Machine, Readiness, Status};
use foretrace_explore::{Action, Mode, Next, System, Use};
use foretrace_trace::{SyncId, Trace};

/// A state of a program that is explored. A step begins with an event whose absence other threads can notice. The thread's next events that
/// they cannot notice belong to it. Code that is kept whole is one step.
#[derive(Clone)]
pub(in super::super) struct Stepping<'p> {
    machine: Machine<'p>,
    /// Per thread: whether it has failed, and stays where it is.
    halted: Vec<bool>,
    /// The first failure.
    failed: Option<Failed>,
    exploring: Exploring<'p>,
}

/// A step's events are at most this many: code that is kept whole and goes on for longer waits for another thread in a loop.
const LONGEST_STEP: usize = 2_000;

/// A step that was looked at.
struct Ahead<'p> {
    /// The state at its end, or where it cannot go on.
    state: Stepping<'p>,
    /// What it does up to there.
    action: Action,
    /// Whether it comes to its end.
    is_possible: bool,
}

impl<'p> Stepping<'p> {
    /// The state before the first step.
    pub fn new(program: &'p Program, exploring: Exploring<'p>) -> Stepping<'p> {
        let mut machine = Machine::new(program, &Options { max_steps: exploring.max_steps, ..Options::serial() });
        machine.start();
        let halted = vec![false; machine.threads.len()];
        let mut state = Stepping { machine, halted, failed: None, exploring };
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

    /// The machine where a thread cannot go on: further on in the code that is kept whole, if it is in such.
    pub fn at_obstacle(&self, thread: usize) -> Machine<'p> {
        match self.begin(thread) {
            Some(passage) => self.ahead(thread, passage).state.machine,
            None => self.machine.clone(),
        }
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
        self.machine.local_steps == 0 || self.machine.recorder.trace.events.len() >= self.exploring.max_steps as usize
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
            TryAcquire(id) if lock(id).can_acquire(thread) => vec![sync(id, Mode::TryTake)],
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
            CallOperation(operation) if self.exploring.real_time => vec![self.concurrent(*operation, Mode::Call)],
            ReturnOperation(operation) if self.exploring.real_time => vec![self.concurrent(*operation, Mode::Return)],
            Constant(_) | Load(_) | Store(_) | Forget(_) | Pop | Apply(..) | Jump(_) | JumpUnless(_) | Call(_)
            | Return | Name(_) | Decide | Pin(_) => return None,
            Begin(_) | End(_) | CallOperation(_) | ReturnOperation(_) | Free(..) | Fail(_) => return None,
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

    /// The use of an operation's object.
    fn concurrent(&self, operation: usize, mode: Mode) -> Use {
        let program = self.machine.program;
        let number = program.variables.len() + program.syncs.len() + program.operations[operation].number;
        Use { object: number as u32, mode }
    }

    /// The way through code that is kept whole, where the thread's next event begins one.
    fn begin(&self, thread: usize) -> Option<Passage<'p>> {
        Passage::begin(self.exploring.whole, &self.machine, thread)
    }

    /// Goes the way through code that is kept whole, in another state, as far as it leads.
    fn ahead(&self, thread: usize, mut passage: Passage<'p>) -> Ahead<'p> {
        let mut state = self.clone();
        let mut uses: Vec<Use> = Vec::new();
        let mut choices = 1;
        let mut events = 0;
        while let Some(action) = state.action(thread) {
            uses.extend(action.uses.iter().filter(|one| !uses.contains(one)).copied().collect::<Vec<_>>());
            choices = choices.max(action.choices);
            let is_ready = state.machine.readiness(thread) == Readiness::Ready;
            if !is_ready || events == LONGEST_STEP {
                return Ahead { state, action: Action { choices, ..Action::new(uses.into()) }, is_possible: false };
            }
            state.one(thread, 0);
            events += 1;
            if !state.stays(thread, &mut passage, choices) {
                break;
            }
        }
        Ahead { state, action: Action { choices, ..Action::new(uses.into()) }, is_possible: true }
    }

    /// In how many ways the thread's next event can turn out.
    fn choices(&self, thread: usize) -> usize {
        self.action(thread).map_or(1, |action| action.choices)
    }

    /// Whether the thread's next event belongs to code that is kept whole, too. A step has one signal at most that has a choice.
    fn stays(&self, thread: usize, passage: &mut Passage<'p>, choices: usize) -> bool {
        let may = |action: Action| choices == 1 || action.choices == 1;
        self.is_running(thread) && self.action(thread).is_some_and(may) && passage.goes_on(&self.machine, thread)
    }

    /// Takes the thread's next event and those after it that no other thread can tell.
    fn one(&mut self, thread: usize, choice: usize) {
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
        if let Some(passage) = self.begin(thread) {
            let Ahead { action, is_possible, .. } = self.ahead(thread, passage);
            return if is_possible { Next::Ready(action) } else { Next::Blocked(action) };
        }
        match self.machine.readiness(thread) {
            Readiness::Ready | Readiness::Timeout => Next::Ready(action),
            Readiness::Blocked | Readiness::Local => Next::Blocked(action),
        }
    }

    fn step(&mut self, thread: usize, choice: usize) {
        let passage = self.begin(thread);
        let mut choices = self.choices(thread);
        self.one(thread, choice.min(choices - 1));
        let Some(mut passage) = passage else { return };
        while self.stays(thread, &mut passage, choices) {
            let own = self.choices(thread);
            self.one(thread, choice.min(own - 1));
            choices = choices.max(own);
        }
    }
}

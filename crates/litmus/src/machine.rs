//! The state of a run: its threads between two events, and which of them can make the next one.

mod local;
mod step;
pub(super) mod stepping;

use super::options::Options;
use super::program::{Instruction, Program, TextId};
use super::recorder::{Operand, Recorder};
use super::scheduler::Choice;
use super::synchronisation::{Lock, Object};
use foretrace_trace::{EventId, SyncId, Value};

/// A run in progress.
#[derive(Clone)]
pub(super) struct Machine<'p> {
    pub program: &'p Program,
    pub recorder: Recorder<'p>,
    pub threads: Vec<ThreadState>,
    choice: Choice,
    memory: Vec<Value>,
    objects: Vec<Object>,
    /// How many more instructions may be run that make no event.
    pub local_steps: u64,
}

/// A thread between two events.
#[derive(Clone, Default)]
pub(super) struct ThreadState {
    pub status: Status,
    /// The instruction that comes next.
    pub at: usize,
    stack: Vec<Operand>,
    frames: Vec<Frame>,
    /// What went wrong; its report is the thread's next and last event.
    error: Option<String>,
    /// How deep the lock was held that a wait gave back.
    held: u64,
    /// The barrier's round that the thread takes part in.
    round: u64,
    /// The operations that it is in; the marked blocks where the program has no operations.
    blocks: Vec<Option<TextId>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Status {
    /// Waits for its `spawn`.
    #[default]
    Unborn,
    Running,
    Done,
}

/// A call in progress: where to return, and its local variables.
#[derive(Clone, Default)]
struct Frame {
    return_to: usize,
    locals: Vec<Operand>,
}

/// What a thread can do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Readiness {
    /// Go on without an event.
    Local,
    /// Make an event.
    Ready,
    /// Make an event only by letting a wait time out.
    Timeout,
    Blocked,
}

/// The failure that ended a run.
#[derive(Clone)]
pub(super) struct Failed {
    pub thread: usize,
    pub at: usize,
    pub event: EventId,
    pub reason: String,
    /// Whether it is that of an `assert`, not a mistake such as an index out of range.
    pub assertion: bool,
}

/// A run is cut off after this many instructions that make no event, and some more per event that it may make.
const LOCAL_STEPS: u64 = 1_000_000;
const LOCAL_STEPS_PER_EVENT: u64 = 100;

impl<'p> Machine<'p> {
    pub(super) fn new(program: &'p Program, options: &Options) -> Machine<'p> {
        let initial = |variable: &foretrace_trace::Variable| variable.init.clone().unwrap_or(Value::Bool(false));
        Machine {
            program,
            recorder: Recorder::new(program),
            threads: program.threads.iter().map(|_| ThreadState::default()).collect(),
            choice: Choice::new(options.scheduler),
            memory: program.variables.iter().map(initial).collect(),
            objects: program.syncs.iter().map(|sync| Object::new(sync.kind)).collect(),
            local_steps: LOCAL_STEPS + LOCAL_STEPS_PER_EVENT * u64::from(options.max_steps),
        }
    }

    /// Starts the threads that no `spawn` names.
    pub(super) fn start(&mut self) {
        for thread in 0..self.threads.len() {
            if !self.program.threads[thread].spawned {
                self.begin(thread);
            }
        }
    }

    /// Starts a thread.
    fn begin(&mut self, thread: usize) {
        let state = &mut self.threads[thread];
        state.status = Status::Running;
        state.at = self.program.threads[thread].entry;
        state.frames.push(Frame::default());
        self.settle(thread);
    }

    /// Brings a thread to its next event, or its end.
    fn settle(&mut self, thread: usize) {
        while self.threads[thread].status == Status::Running && self.readiness(thread) == Readiness::Local {
            let Some(left) = self.local_steps.checked_sub(1) else { return };
            self.local_steps = left;
            self.local_step(thread);
        }
    }

    /// The thread that the scheduler lets make the next event.
    pub(super) fn choose(&mut self) -> Option<usize> {
        let (mut ready, mut timeouts) = (Vec::new(), Vec::new());
        for (thread, state) in self.threads.iter().enumerate() {
            if state.status == Status::Running {
                match self.readiness(thread) {
                    Readiness::Ready => ready.push(thread),
                    Readiness::Timeout => timeouts.push(thread),
                    Readiness::Local | Readiness::Blocked => {}
                }
            }
        }
        self.choice.thread(&ready, &timeouts)
    }

    /// Has every choice made as it is said in advance.
    pub(super) fn script(&mut self, wanted: Vec<usize>) {
        self.choice = Choice::scripted(wanted);
    }

    /// Whether a thread can make an event now.
    pub(super) fn can_run(&self, thread: usize) -> bool {
        self.threads[thread].status == Status::Running
            && matches!(self.readiness(thread), Readiness::Ready | Readiness::Timeout)
    }

    /// What was chosen, of how many, by a script; and the recorder.
    pub(super) fn into_parts(self) -> (Vec<(usize, usize)>, Recorder<'p>) {
        (self.choice.made(), self.recorder)
    }

    /// The innermost operation that a thread is in, or the innermost labelled block where the program has no operations.
    pub(super) fn block(&self, thread: usize) -> Option<TextId> {
        self.threads[thread].blocks.iter().rev().find_map(|block| *block)
    }

    /// How many calls a thread is deep.
    pub(super) fn depth(&self, thread: usize) -> usize {
        self.threads[thread].frames.len()
    }

    fn next(&self, thread: usize) -> &'p Instruction {
        &self.program.code[self.threads[thread].at]
    }

    fn readiness(&self, thread: usize) -> Readiness {
        use Instruction::*;
        if self.threads[thread].error.is_some() {
            return Readiness::Ready;
        }
        let local_if = |local: bool| if local { Readiness::Local } else { Readiness::Ready };
        let ready_if = |ready: bool| if ready { Readiness::Ready } else { Readiness::Blocked };
        match self.next(thread) {
            Constant(_) | Load(_) | Store(_) | Forget(_) | Pop | Apply(..) | Jump(_) | JumpUnless(_) | Call(_)
            | Return => Readiness::Local,
            Name(_) => local_if(!self.top(thread).is_large()),
            Decide | Pin(_) => local_if(self.top(thread).is_constant()),
            TryAcquire(lock) => local_if(self.lock(*lock).is_own_obstacle(thread)),
            Acquire(lock) => ready_if(self.lock(*lock).can_acquire(thread)),
            AcquireShared(lock) => ready_if(self.lock(*lock).can_share()),
            Wake { cond, lock } => {
                ready_if(self.released(*cond, thread).is_some() && self.lock(*lock).can_acquire(thread))
            }
            WakeOrTimeout { lock, .. } if !self.lock(*lock).can_acquire(thread) => Readiness::Blocked,
            WakeOrTimeout { cond, .. } if self.released(*cond, thread).is_none() => Readiness::Timeout,
            Down(semaphore) => ready_if(matches!(self.object(*semaphore), Object::Semaphore { count: 1.. })),
            OnceBegin(once) => ready_if(matches!(self.object(*once), Object::Once { holder: None, .. })),
            Depart(barrier) => ready_if(self.is_full(*barrier, self.threads[thread].round)),
            Join(child) => ready_if(self.threads[*child].status == Status::Done),
            Read { .. } | Write { .. } | Update { .. } | CompareAndSwap { .. } | Free(..) => Readiness::Ready,
            Release(_) | ReleaseShared(_) | Wait { .. } | WakeOrTimeout { .. } | Signal(_) | Broadcast(_) => {
                Readiness::Ready
            }
            Post(_) | OnceEnd(_) | OnceFail(_) | Arrive(_) | Spawn(_) => Readiness::Ready,
            Begin(_) | End(_) | CallOperation(_) | ReturnOperation(_) | Fail(_) => Readiness::Ready,
        }
    }

    fn object(&self, object: foretrace_trace::SyncId) -> &Object {
        &self.objects[object.index()]
    }

    fn lock(&self, lock: SyncId) -> &Lock {
        match self.object(lock) {
            Object::Lock(lock) => lock,
            other => unreachable!("the compiler has checked that this is a lock: {other:?}"),
        }
    }

    fn lock_mut(&mut self, lock: SyncId) -> &mut Lock {
        match &mut self.objects[lock.index()] {
            Object::Lock(lock) => lock,
            other => unreachable!("the compiler has checked that this is a lock: {other:?}"),
        }
    }

    /// The signal or broadcast that released the thread from its wait.
    fn released(&self, cond: SyncId, thread: usize) -> Option<EventId> {
        let Object::Condvar { waiters } = self.object(cond) else { return None };
        waiters.iter().find(|waiter| waiter.thread == thread).and_then(|waiter| waiter.released)
    }

    /// Whether all that meet in a round of a barrier have arrived.
    fn is_full(&self, barrier: SyncId, round: u64) -> bool {
        matches!(self.object(barrier), Object::Barrier { parties, arrivals } if arrivals / parties > round)
    }

    fn top(&self, thread: usize) -> &Operand {
        self.threads[thread].stack.last().expect(BALANCED)
    }

    fn top_mut(&mut self, thread: usize) -> &mut Operand {
        self.threads[thread].stack.last_mut().expect(BALANCED)
    }

    fn pop(&mut self, thread: usize) -> Operand {
        self.threads[thread].stack.pop().expect(BALANCED)
    }

    fn push(&mut self, thread: usize, operand: Operand) {
        self.threads[thread].stack.push(operand);
    }

    fn push_truth(&mut self, thread: usize, truth: bool) {
        self.push(thread, Operand::constant(Value::Bool(truth)));
    }

    fn frame(&mut self, thread: usize) -> &mut Frame {
        self.threads[thread].frames.last_mut().expect("a running thread is in some code")
    }

    /// What a thread that cannot go on waits for, in words.
    pub(super) fn obstacle(&self, thread: usize) -> String {
        let name = |sync: &SyncId| self.program.sync_name(*sync);
        match self.next(thread) {
            Instruction::Acquire(lock) | Instruction::AcquireShared(lock) => self.held(*lock, thread),
            Instruction::Wake { cond, lock } | Instruction::WakeOrTimeout { cond, lock } => {
                match self.released(*cond, thread) {
                    Some(_) => self.held(*lock, thread),
                    None => format!("a signal on `{}`", name(cond)),
                }
            }
            Instruction::Down(semaphore) => format!("a post of `{}`", name(semaphore)),
            Instruction::OnceBegin(once) => match self.object(*once) {
                Object::Once { holder: Some(by), .. } if *by == thread => {
                    format!("the initialisation of `{}`, which is its own", name(once))
                }
                _ => format!("the initialisation of `{}`", name(once)),
            },
            Instruction::Depart(barrier) => format!("more threads at `{}`", name(barrier)),
            Instruction::Join(child) => format!("the end of `{}`", self.program.threads[*child].name),
            _ => "nothing".to_string(),
        }
    }

    fn held(&self, lock: SyncId, thread: usize) -> String {
        let owner = |owner: &usize| match *owner == thread {
            true => "the thread itself".to_string(),
            false => format!("`{}`", self.program.threads[*owner].name),
        };
        let owners: Vec<String> = self.lock(lock).owners().iter().map(owner).collect();
        format!("`{}`, held by {}", self.program.sync_name(lock), owners.join(", "))
    }
}

/// Why the stack of operands is never empty where one is wanted.
const BALANCED: &str = "the compiler balances pushes and pops";

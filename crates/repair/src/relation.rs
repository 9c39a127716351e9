//! Program order and conflicts of a trace (section 3), as vector clocks.
//!
//! Two accesses of one variable by different threads conflict where one of them writes. Locks are no conflicts: two
//! critical sections may change places where their accesses may. What must wait for another thread whatever the values
//! (a join, a wake and its signal, a barrier, a down and the posts that it needs) is an order that no equivalent trace can change, so it
//! counts as well. A wait that nothing ended comes after the signals that it missed: the other way round one of them would have ended it.
//!
//! The paper takes a trace that is equivalent to a sequential one to be linearizable (section 4.1). That holds if the sequential one keeps
//! the order of operations that do not overlap, which equivalence does not ask for. [`Relation::in_real_time`] has that order, too.

use crate::semaphores::Downs;
use foretrace_trace::{EventId, NameId, Op, SyncId, ThreadId, Trace, VarId};
use rustc_hash::FxHashMap;

/// An event's place among the steps of its thread, from 0.
pub(crate) type Position = u32;

/// Whether a section may begin or end with such a step: an access, what other threads wait for, or a wait, which is a step where it misses its signal.
pub fn may_be_end(op: &Op) -> bool {
    let lets_others_go_on =
        matches!(op, Op::Fork { .. } | Op::Signal { .. } | Op::Broadcast { .. } | Op::Arrive { .. } | Op::Post { .. });
    lets_others_go_on || op.var().is_some() || matches!(op, Op::Wait { .. })
}

/// The steps of a trace that order threads, and which of them come before which.
pub struct Relation {
    threads: usize,
    /// Per thread its steps.
    pub(crate) steps: Vec<Vec<EventId>>,
    /// Per event its position, where it is a step.
    positions: Vec<Option<Position>>,
    /// Per event its number among all steps, where it is one.
    numbers: Vec<u32>,
    /// Per step and thread, how many of the thread's steps come before or are the step.
    clocks: Vec<Position>,
    /// Per step, how many of its own thread's steps come before one that another thread's step orders before it.
    returns: Vec<Position>,
    /// Per step the steps of other threads that come right before it: of each thread the latest of each kind.
    sources: Vec<Box<[EventId]>>,
    /// How many pairs of accesses conflict.
    conflicts: u64,
}

impl Relation {
    /// Reads the relations off a trace.
    pub fn new(trace: &Trace) -> Relation {
        Builder::new(trace, false).build()
    }

    /// The same, where the return of an operation also comes before each later call of its object by another thread. A trace of operations
    /// that is not linearizable always has a cycle of these. Without a cycle its operations could have run one after the other, in an order
    /// that its history allows.
    pub fn in_real_time(trace: &Trace) -> Relation {
        Builder::new(trace, true).build()
    }

    /// How many pairs of accesses conflict.
    pub fn conflicts(&self) -> u64 {
        self.conflicts
    }

    /// How many threads there are.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// How many events the trace has.
    pub(crate) fn events(&self) -> usize {
        self.positions.len()
    }

    /// The steps of a thread, in program order.
    pub fn steps(&self, thread: ThreadId) -> &[EventId] {
        &self.steps[thread.index()]
    }

    /// The position of an event in its thread, where it is a step.
    pub(crate) fn position(&self, event: EventId) -> Option<Position> {
        self.positions[event.index()]
    }

    /// How many steps of `thread` come before a step, or are it.
    pub(crate) fn known(&self, step: EventId, thread: usize) -> Position {
        self.clocks[self.numbers[step.index()] as usize * self.threads + thread]
    }

    /// How many steps of its own thread come before a step by way of another thread's.
    pub(crate) fn returned(&self, step: EventId) -> Position {
        self.returns[self.numbers[step.index()] as usize]
    }

    /// The steps of other threads that come right before a step: of each thread the latest of each kind.
    pub(crate) fn sources(&self, step: EventId) -> &[EventId] {
        &self.sources[self.numbers[step.index()] as usize]
    }
}

/// The variables whose accesses conflict: several threads access them, one of them writes, and no library owns them.
pub(crate) fn contended(trace: &Trace) -> Vec<bool> {
    let mut users: Vec<(Option<ThreadId>, bool, bool)> = vec![(None, false, false); trace.vars.len()];
    for event in &trace.events {
        let Some(var) = event.op.var() else { continue };
        let (first, several, written) = &mut users[var.index()];
        *several |= first.is_some_and(|first| first != event.thread);
        *written |= event.op.writes();
        first.get_or_insert(event.thread);
    }
    let wanted =
        |((_, several, written), var): (_, &foretrace_trace::Variable)| several && written && !var.is_of_library();
    users.into_iter().zip(&trace.vars).map(wanted).collect()
}

/// Per thread how many of its steps come before.
type Clock = Vec<Position>;

fn join(clock: &mut Clock, other: &[Position]) {
    clock.iter_mut().zip(other).for_each(|(own, other)| *own = (*own).max(*other));
}

/// What one thread did to a variable last, and how often.
#[derive(Clone, Copy, Default)]
struct Accesses {
    read: Option<EventId>,
    write: Option<EventId>,
    reads: u64,
    writes: u64,
}

struct Builder<'a> {
    trace: &'a Trace,
    contended: Vec<bool>,
    /// Per thread what it knows of all.
    now: Vec<Clock>,
    /// Per thread the fork that started it, until its first step.
    start: Vec<Option<EventId>>,
    variables: FxHashMap<VarId, Vec<Accesses>>,
    arrived: FxHashMap<(SyncId, u64), Vec<EventId>>,
    downs: Downs,
    /// The waits that nothing ended.
    endless: Vec<EventId>,
    /// Per condition variable, per thread its latest signal.
    signals: FxHashMap<SyncId, Vec<Option<EventId>>>,
    /// Whether the order of operations counts.
    real_time: bool,
    /// By object of operations, per thread its latest return.
    returned: FxHashMap<Option<NameId>, Vec<Option<EventId>>>,
    relation: Relation,
}

/// The waits that nothing ended: each is the last event of a thread.
fn endless(trace: &Trace) -> Vec<EventId> {
    let mut last: Vec<Option<EventId>> = vec![None; trace.threads.len()];
    trace.iter().for_each(|(id, event)| last[event.thread.index()] = Some(id));
    last.into_iter().flatten().filter(|id| matches!(trace.event(*id).op, Op::Wait { .. })).collect()
}

impl<'a> Builder<'a> {
    fn new(trace: &'a Trace, real_time: bool) -> Builder<'a> {
        let threads = trace.threads.len();
        let relation = Relation {
            threads,
            steps: vec![Vec::new(); threads],
            positions: vec![None; trace.events.len()],
            numbers: vec![0; trace.events.len()],
            clocks: Vec::new(),
            returns: Vec::new(),
            sources: Vec::new(),
            conflicts: 0,
        };
        Builder {
            trace,
            contended: contended(trace),
            now: vec![vec![0; threads]; threads],
            start: vec![None; threads],
            variables: FxHashMap::default(),
            arrived: FxHashMap::default(),
            downs: Downs::new(trace),
            endless: endless(trace),
            signals: FxHashMap::default(),
            real_time,
            returned: FxHashMap::default(),
            relation,
        }
    }

    fn build(mut self) -> Relation {
        for (id, event) in self.trace.iter() {
            match event.op {
                Op::Read { var, .. } | Op::Write { var, .. } | Op::Rmw { var, .. } if self.contended[var.index()] => {
                    let before = self.access(id, event.thread, var, &event.op);
                    self.step(id, event.thread, before);
                }
                Op::Call { object, .. } if self.real_time => {
                    let before = self.returned.get(&object).cloned().unwrap_or_default();
                    self.wait(id, event.thread, before.into_iter().flatten().collect());
                }
                Op::Return { object, .. } if self.real_time => {
                    self.wait(id, event.thread, Vec::new());
                    let none = || vec![None; self.trace.threads.len()];
                    self.returned.entry(object).or_insert_with(none)[event.thread.index()] = Some(id);
                }
                Op::Fork { child } => {
                    self.wait(id, event.thread, Vec::new());
                    self.start[child.index()] = Some(id);
                }
                Op::Join { child } => {
                    let last = self.relation.steps[child.index()].last().copied();
                    self.wait(id, event.thread, last.into_iter().collect());
                }
                Op::Wake { by, .. } => self.wait(id, event.thread, by.into_iter().collect()),
                Op::Signal { cond } | Op::Broadcast { cond } => {
                    self.wait(id, event.thread, Vec::new());
                    let none = || vec![None; self.trace.threads.len()];
                    self.signals.entry(cond).or_insert_with(none)[event.thread.index()] = Some(id);
                }
                Op::Wait { cond, .. } if self.endless.contains(&id) => {
                    let missed = self.signals.get(&cond).cloned().unwrap_or_default();
                    self.wait(id, event.thread, missed.into_iter().flatten().collect());
                }
                Op::Arrive { barrier, round } => {
                    self.wait(id, event.thread, Vec::new());
                    self.arrived.entry((barrier, round)).or_default().push(id);
                }
                Op::Depart { barrier, round } => {
                    let arrived = self.arrived.get(&(barrier, round)).cloned().unwrap_or_default();
                    self.wait(id, event.thread, arrived);
                }
                Op::Post { sem } if self.downs.has_waits(sem) => self.wait(id, event.thread, Vec::new()),
                Op::Down { .. } => {
                    if let Some(posts) = self.downs.posts(id) {
                        let posts = posts.to_vec();
                        self.wait(id, event.thread, posts);
                    }
                }
                Op::Read { .. } | Op::Write { .. } | Op::Rmw { .. } | Op::Let { .. } | Op::Assume { .. } => {}
                Op::Begin { .. } | Op::End { .. } | Op::Call { .. } | Op::Return { .. } => {}
                Op::Acquire { .. } | Op::Release { .. } | Op::AcquireShared { .. } | Op::ReleaseShared { .. } => {}
                Op::Busy { .. } | Op::Wait { .. } | Op::Post { .. } => {}
                Op::OnceBegin { .. } | Op::OnceEnd { .. } | Op::OncePass { .. } | Op::OnceFail { .. } => {}
                Op::Free { .. } | Op::Unseen { .. } | Op::Fail { .. } => {}
            }
        }
        self.relation
    }

    /// A step that waits for steps, whatever the values.
    fn wait(&mut self, id: EventId, thread: ThreadId, mut after: Vec<EventId>) {
        after.retain(|earlier| self.trace.event(*earlier).thread != thread);
        self.step(id, thread, after);
    }

    /// Notes an access; the latest accesses of each other thread that conflict with it.
    fn access(&mut self, id: EventId, thread: ThreadId, var: VarId, op: &Op) -> Vec<EventId> {
        let threads = self.relation.threads;
        let by_thread = self.variables.entry(var).or_insert_with(|| vec![Accesses::default(); threads]);
        let mut before = Vec::new();
        for (_, others) in by_thread.iter().enumerate().filter(|(other, _)| *other != thread.index()) {
            before.extend(others.write);
            self.relation.conflicts += others.writes;
            if op.writes() {
                before.extend(others.read);
                self.relation.conflicts += others.reads;
            }
        }
        let own = &mut by_thread[thread.index()];
        // An access that reads and writes is a write to all who come after: everything conflicts with it.
        match op.writes() {
            true => (own.write, own.writes) = (Some(id), own.writes + 1),
            false => (own.read, own.reads) = (Some(id), own.reads + 1),
        }
        before
    }

    /// Adds a step of a thread after steps of others.
    fn step(&mut self, id: EventId, thread: ThreadId, mut sources: Vec<EventId>) {
        let threads = self.relation.threads;
        sources.extend(self.start[thread.index()].take());
        let mut before = vec![0; threads];
        for source in &sources {
            let row = self.relation.numbers[source.index()] as usize * threads;
            join(&mut before, &self.relation.clocks[row..row + threads]);
        }
        let position = self.relation.steps[thread.index()].len() as Position;
        self.relation.steps[thread.index()].push(id);
        self.relation.positions[id.index()] = Some(position);
        self.relation.numbers[id.index()] = self.relation.returns.len() as u32;
        self.relation.returns.push(before[thread.index()]);
        self.relation.sources.push(sources.into_boxed_slice());
        let now = &mut self.now[thread.index()];
        join(now, &before);
        now[thread.index()] = position + 1;
        self.relation.clocks.extend_from_slice(now);
    }
}

//! Traces built by hand, event by event: for tests, generators and whatever makes traces from other things.
//!
//! Names are given as text, threads by their numbers; both come into being at first use (variables and objects must
//! be declared where the trace has data or the kind is not clear). Expressions are SMT-LIB text over the thread's local
//! names. [`TraceBuilder::finish`] runs the trace once.

use crate::observe::{Observed, StepError, observe};
use crate::smtlib::{self, TermError};
use crate::term::TermId;
use crate::trace::{
    Data, Event, EventId, Local, NameId, Op, SyncId, SyncKind, SyncObject, Thread, ThreadId, Trace, VarId, Variable,
    WakeCause, Why,
};
use crate::value::{Sort, Value};
use rustc_hash::FxHashMap;

/// Why a trace cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// An expression that makes no sense.
    #[error("event {event}: in `{text}` {error}")]
    Term {
        /// The event that it belongs to.
        event: EventId,
        /// The expression.
        text: String,
        /// What is wrong.
        error: TermError,
    },
    /// A variable that was not declared, in a trace with data.
    #[error("event {event}: unknown variable {name}")]
    Unknown {
        /// The event that mentions it.
        event: EventId,
        /// The variable.
        name: String,
    },
    /// The recorded order is no execution.
    #[error(transparent)]
    Step(#[from] StepError),
}

/// A trace in the making. The first mistake is kept and returned by [`TraceBuilder::finish`].
#[derive(Clone, Debug)]
pub struct TraceBuilder {
    trace: Trace,
    vars: FxHashMap<String, VarId>,
    syncs: FxHashMap<String, SyncId>,
    threads: FxHashMap<u64, ThreadId>,
    locals: FxHashMap<(ThreadId, NameId), Local>,
    error: Option<BuildError>,
}

/// An event just added, for what is said of it rarely.
pub struct Added<'b>(&'b mut TraceBuilder, EventId);

impl TraceBuilder {
    /// A trace without events.
    pub fn new(data: Data) -> TraceBuilder {
        TraceBuilder {
            trace: Trace::new(data),
            vars: FxHashMap::default(),
            syncs: FxHashMap::default(),
            threads: FxHashMap::default(),
            locals: FxHashMap::default(),
            error: None,
        }
    }

    /// A shared variable and its first value.
    pub fn var(&mut self, key: &str, init: impl Into<Value>) -> &mut Self {
        let init = init.into();
        self.declare_var(key, Some(init));
        self
    }

    /// A shared integer.
    pub fn int_var(&mut self, key: &str, init: i64) -> &mut Self {
        self.var(key, Value::int(init))
    }

    /// A synchronisation object.
    pub fn sync(&mut self, key: &str, kind: SyncKind) -> &mut Self {
        self.declare_sync(key, kind);
        self
    }

    fn declare_var(&mut self, key: &str, init: Option<Value>) -> VarId {
        let id = VarId::from_index(self.trace.vars.len());
        let sort = init.as_ref().map(Value::sort);
        self.trace.vars.push(Variable { key: key.into(), name: None, sort, init });
        self.vars.insert(key.to_string(), id);
        id
    }

    fn declare_sync(&mut self, key: &str, kind: SyncKind) -> SyncId {
        let id = SyncId::from_index(self.trace.syncs.len());
        self.trace.syncs.push(SyncObject { key: key.into(), kind });
        self.syncs.insert(key.to_string(), id);
        id
    }

    /// The thread of this number.
    pub fn thread(&mut self, number: u64) -> ThreadId {
        let next = ThreadId::from_index(self.trace.threads.len());
        let id = *self.threads.entry(number).or_insert(next);
        if id == next {
            self.trace.threads.push(Thread { number, name: None, path: None });
        }
        id
    }

    fn variable(&mut self, key: &str) -> VarId {
        match self.vars.get(key) {
            Some(var) => *var,
            None => {
                if self.trace.data != Data::None {
                    self.fail_unknown(key);
                }
                self.declare_var(key, None)
            }
        }
    }

    fn object(&mut self, key: &str, kind: SyncKind) -> SyncId {
        self.syncs.get(key).copied().unwrap_or_else(|| self.declare_sync(key, kind))
    }

    fn lock(&mut self, key: &str) -> SyncId {
        self.object(key, SyncKind::Mutex { recursive: false })
    }

    fn next_event(&self) -> EventId {
        EventId::from_index(self.trace.events.len())
    }

    fn fail_unknown(&mut self, name: &str) {
        let unknown = BuildError::Unknown { event: self.next_event(), name: name.to_string() };
        self.error.get_or_insert(unknown);
    }

    /// The term that `text` is for this thread at this point.
    pub fn term(&mut self, thread: u64, text: &str) -> TermId {
        let (thread, event) = (self.thread(thread), self.next_event());
        let (names, locals) = (&self.trace.names, &self.locals);
        let mut resolve = |name: &str| locals.get(&(thread, names.find(name)?)).cloned();
        smtlib::parse(text, &mut self.trace.terms, &mut resolve).unwrap_or_else(|error| {
            self.error.get_or_insert(BuildError::Term { event, text: text.to_string(), error });
            self.trace.terms.constant(Value::Bool(true))
        })
    }

    /// Adds an event.
    pub fn event(&mut self, thread: u64, op: Op) -> Added<'_> {
        let id = self.next_event();
        let thread = self.thread(thread);
        self.trace.events.push(Event { thread, op, loc: None, at: None, part: None });
        Added(self, id)
    }

    fn define(&mut self, thread: u64, dst: &str, sort: Option<Sort>) -> NameId {
        let (thread, dst) = (self.thread(thread), self.trace.names.intern(dst));
        if let Some(sort) = sort {
            let local = Local { definition: self.next_event(), sort };
            self.locals.insert((thread, dst), local);
        }
        dst
    }

    fn define_read(&mut self, thread: u64, var: VarId, dst: Option<&str>) -> Option<NameId> {
        let sort = self.trace.vars[var.index()].sort;
        dst.map(|dst| self.define(thread, dst, sort))
    }

    /// `dst := var`; an empty `dst` for none.
    pub fn read(&mut self, thread: u64, var: &str, dst: &str) -> Added<'_> {
        let var = self.variable(var);
        let dst = self.define_read(thread, var, Some(dst).filter(|dst| !dst.is_empty()));
        self.event(thread, Op::Read { var, dst, value: None, guard: None })
    }

    /// `dst := var` where the guard holds, which may mention `dst`.
    pub fn read_if(&mut self, thread: u64, var: &str, dst: &str, guard: &str) -> Added<'_> {
        let var = self.variable(var);
        let dst = self.define_read(thread, var, Some(dst));
        let guard = Some(self.term(thread, guard));
        self.event(thread, Op::Read { var, dst, value: None, guard })
    }

    /// `var := expr`.
    pub fn write(&mut self, thread: u64, var: &str, expr: &str) -> Added<'_> {
        let (var, expr) = (self.variable(var), Some(self.term(thread, expr)));
        self.event(thread, Op::Write { var, expr, value: None, guard: None, external: false })
    }

    /// `var := expr` where the guard holds.
    pub fn write_if(&mut self, thread: u64, var: &str, expr: &str, guard: &str) -> Added<'_> {
        let (var, expr) = (self.variable(var), Some(self.term(thread, expr)));
        let guard = Some(self.term(thread, guard));
        self.event(thread, Op::Write { var, expr, value: None, guard, external: false })
    }

    /// `dst := var; var := expr` in one step; `expr` may mention `dst`.
    pub fn rmw(&mut self, thread: u64, var: &str, dst: &str, expr: &str) -> Added<'_> {
        let var = self.variable(var);
        let dst = self.define_read(thread, var, Some(dst));
        let expr = Some(self.term(thread, expr));
        self.event(thread, Op::Rmw { var, dst, expr, value: None, stored: None, guard: None })
    }

    /// The same where the guard holds.
    pub fn rmw_if(&mut self, thread: u64, var: &str, dst: &str, expr: &str, guard: &str) -> Added<'_> {
        let var = self.variable(var);
        let dst = self.define_read(thread, var, Some(dst));
        let expr = Some(self.term(thread, expr));
        let guard = Some(self.term(thread, guard));
        self.event(thread, Op::Rmw { var, dst, expr, value: None, stored: None, guard })
    }

    /// A read of a trace without expressions: `value` was read, nothing where the trace has no data.
    pub fn saw(&mut self, thread: u64, var: &str, value: Option<Value>) -> Added<'_> {
        let var = self.variable(var);
        let value = value.map(|value| self.trace.terms.constant(value));
        self.event(thread, Op::Read { var, dst: None, value, guard: None })
    }

    /// A write of a trace without expressions.
    pub fn put(&mut self, thread: u64, var: &str, value: Option<Value>) -> Added<'_> {
        let var = self.variable(var);
        let value = value.map(|value| self.trace.terms.constant(value));
        self.event(thread, Op::Write { var, expr: None, value, guard: None, external: false })
    }

    /// An rmw of a trace without expressions: the old and the new value.
    pub fn swapped(&mut self, thread: u64, var: &str, values: Option<(Value, Value)>) -> Added<'_> {
        let var = self.variable(var);
        let (value, stored) = match values {
            Some((old, new)) => (Some(self.trace.terms.constant(old)), Some(self.trace.terms.constant(new))),
            None => (None, None),
        };
        self.event(thread, Op::Rmw { var, dst: None, expr: None, value, stored, guard: None })
    }

    /// `dst := expr`.
    pub fn set(&mut self, thread: u64, dst: &str, expr: &str) -> Added<'_> {
        let expr = self.term(thread, expr);
        let sort = self.trace.terms.sort(expr);
        let dst = self.define(thread, dst, Some(sort));
        self.event(thread, Op::Let { dst, expr })
    }

    /// A branch that was taken.
    pub fn assume(&mut self, thread: u64, expr: &str) -> Added<'_> {
        let expr = self.term(thread, expr);
        self.event(thread, Op::Assume { expr, why: Why::Branch })
    }

    /// A value that left what is tracked.
    pub fn pin(&mut self, thread: u64, expr: &str) -> Added<'_> {
        let expr = self.term(thread, expr);
        self.event(thread, Op::Assume { expr, why: Why::Pin })
    }

    /// Start of a transaction.
    pub fn begin(&mut self, thread: u64) -> Added<'_> {
        self.event(thread, Op::Begin { label: None })
    }

    /// End of a transaction.
    pub fn end(&mut self, thread: u64) -> Added<'_> {
        self.event(thread, Op::End { label: None })
    }

    /// Take a lock; a plain mutex unless declared otherwise.
    pub fn acquire(&mut self, thread: u64, lock: &str) -> Added<'_> {
        let lock = self.lock(lock);
        self.event(thread, Op::Acquire { lock })
    }

    /// Give it back.
    pub fn release(&mut self, thread: u64, lock: &str) -> Added<'_> {
        let lock = self.lock(lock);
        self.event(thread, Op::Release { lock })
    }

    /// Share a rwlock.
    pub fn acquire_shared(&mut self, thread: u64, lock: &str) -> Added<'_> {
        let lock = self.object(lock, SyncKind::Rwlock);
        self.event(thread, Op::AcquireShared { lock })
    }

    /// Give the share back.
    pub fn release_shared(&mut self, thread: u64, lock: &str) -> Added<'_> {
        let lock = self.object(lock, SyncKind::Rwlock);
        self.event(thread, Op::ReleaseShared { lock })
    }

    /// A try-lock that failed.
    pub fn busy(&mut self, thread: u64, lock: &str) -> Added<'_> {
        let lock = self.lock(lock);
        self.event(thread, Op::Busy { lock })
    }

    /// Give a lock back and wait.
    pub fn wait(&mut self, thread: u64, cond: &str, lock: &str) -> Added<'_> {
        let (cond, lock) = (self.object(cond, SyncKind::Condvar), self.lock(lock));
        self.event(thread, Op::Wait { cond, lock })
    }

    /// Wake up from a wait; a cause where no signal was needed.
    pub fn wake(&mut self, thread: u64, cond: &str, lock: &str, cause: Option<WakeCause>) -> Added<'_> {
        let (cond, lock) = (self.object(cond, SyncKind::Condvar), self.lock(lock));
        self.event(thread, Op::Wake { cond, lock, cause, by: None })
    }

    /// Release one waiter.
    pub fn signal(&mut self, thread: u64, cond: &str) -> Added<'_> {
        let cond = self.object(cond, SyncKind::Condvar);
        self.event(thread, Op::Signal { cond })
    }

    /// Release all waiters.
    pub fn broadcast(&mut self, thread: u64, cond: &str) -> Added<'_> {
        let cond = self.object(cond, SyncKind::Condvar);
        self.event(thread, Op::Broadcast { cond })
    }

    /// Count a semaphore up.
    pub fn post(&mut self, thread: u64, sem: &str) -> Added<'_> {
        let sem = self.object(sem, SyncKind::Semaphore { init: 0 });
        self.event(thread, Op::Post { sem })
    }

    /// Count it down.
    pub fn down(&mut self, thread: u64, sem: &str) -> Added<'_> {
        let sem = self.object(sem, SyncKind::Semaphore { init: 0 });
        self.event(thread, Op::Down { sem })
    }

    /// Come to a barrier.
    pub fn arrive(&mut self, thread: u64, barrier: &str, round: u64) -> Added<'_> {
        let barrier = self.object(barrier, SyncKind::Barrier { parties: None });
        self.event(thread, Op::Arrive { barrier, round })
    }

    /// Leave it.
    pub fn depart(&mut self, thread: u64, barrier: &str, round: u64) -> Added<'_> {
        let barrier = self.object(barrier, SyncKind::Barrier { parties: None });
        self.event(thread, Op::Depart { barrier, round })
    }

    /// Start a thread.
    pub fn fork(&mut self, thread: u64, child: u64) -> Added<'_> {
        self.thread(thread);
        let child = self.thread(child);
        self.event(thread, Op::Fork { child })
    }

    /// Wait for a thread's last event.
    pub fn join(&mut self, thread: u64, child: u64) -> Added<'_> {
        self.thread(thread);
        let child = self.thread(child);
        self.event(thread, Op::Join { child })
    }

    /// Start of an operation.
    pub fn call(&mut self, thread: u64, method: &str) -> Added<'_> {
        let method = self.trace.names.intern(method);
        self.event(thread, Op::Call { object: None, method, args: None })
    }

    /// End of an operation.
    pub fn ret(&mut self, thread: u64, method: &str) -> Added<'_> {
        let method = self.trace.names.intern(method);
        self.event(thread, Op::Return { object: None, method, value: None })
    }

    /// Give variables' memory back.
    pub fn free(&mut self, thread: u64, vars: &[&str]) -> Added<'_> {
        let vars = vars.iter().map(|var| self.variable(var)).collect();
        self.event(thread, Op::Free { vars })
    }

    /// The failure that ended the run.
    pub fn fail(&mut self, thread: u64) -> Added<'_> {
        self.event(thread, Op::Fail { reason: None })
    }

    /// The trace so far, run or not.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// The trace, if all names and sorts were right.
    pub fn build(self) -> Result<Trace, BuildError> {
        self.error.map_or(Ok(self.trace), Err)
    }

    /// The trace and what its recorded order shows, if it is right and that order is an execution.
    pub fn finish(self) -> Result<(Trace, Observed), BuildError> {
        let trace = self.build()?;
        let observed = observe(&trace)?;
        Ok((trace, observed))
    }
}

impl Added<'_> {
    /// The event's id.
    pub fn id(&self) -> EventId {
        self.1
    }

    fn op(&mut self) -> &mut Op {
        &mut self.0.trace.events[self.1.index()].op
    }

    /// It is the k-th of n parts of one step.
    pub fn part(self, k: u32, n: u32) -> Self {
        self.0.trace.events[self.1.index()].part = Some((k, n));
        self
    }

    /// It is a write by code that was not recorded.
    pub fn external(mut self) -> Self {
        if let Op::Write { external, .. } = self.op() {
            *external = true;
        }
        self
    }

    /// The value that was read, or written by a write.
    pub fn value(mut self, recorded: impl Into<Value>) -> Self {
        let term = self.0.trace.terms.constant(recorded.into());
        if let Op::Read { value, .. } | Op::Write { value, .. } | Op::Rmw { value, .. } = self.op() {
            *value = Some(term);
        }
        self
    }

    /// The value that an rmw wrote.
    pub fn stored(mut self, recorded: impl Into<Value>) -> Self {
        let term = self.0.trace.terms.constant(recorded.into());
        if let Op::Rmw { stored, .. } = self.op() {
            *stored = Some(term);
        }
        self
    }

    /// Where in the source it is.
    pub fn at(self, loc: &str) -> Self {
        self.0.trace.events[self.1.index()].loc = Some(self.0.trace.names.intern(loc));
        self
    }
}

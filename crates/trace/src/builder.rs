//! Traces built by hand: a short call for each event, over [`TraceAssembler`].
//!
//! For tests and generators. Names are given as text, threads by their numbers; synchronisation objects come into
//! being at first use. Expressions are SMT-LIB text over the thread's local names.

use crate::assembler::{SyncUse, TraceAssembler};
use crate::error::{Invalid, Problem};
use crate::observed::Observed;
use crate::op::{BlockKind, Op, WakeCause, Why};
use crate::smtlib::TermError;
use crate::term::TermId;
use crate::trace::{Data, Event, EventId, NameId, SyncId, SyncKind, ThreadId, Trace, VarId};
use crate::value::{Sort, Value};

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
    /// A rule of the format that the trace breaks.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

/// A trace in the making. The first mistake is kept and returned at the end.
#[derive(Clone, Debug)]
pub struct TraceBuilder {
    assembler: TraceAssembler,
    error: Option<BuildError>,
}

/// An event just added, for what is rarely said of one.
pub struct Added<'b>(&'b mut TraceBuilder, EventId);

impl TraceBuilder {
    /// A trace without events.
    pub fn new(data: Data) -> TraceBuilder {
        TraceBuilder { assembler: TraceAssembler::new(data), error: None }
    }

    /// A shared variable and its first value; in a trace without data they come into being by being named.
    pub fn var(&mut self, key: &str, init: impl Into<Value>) -> &mut Self {
        let init = init.into();
        let declared = self.assembler.declare_var(key, None, Some(init.sort()), Some(init));
        self.keep(declared, VarId(0));
        self
    }

    /// A shared integer.
    pub fn int_var(&mut self, key: &str, init: i64) -> &mut Self {
        self.var(key, Value::int(init))
    }

    /// A synchronisation object.
    pub fn sync(&mut self, key: &str, kind: SyncKind) -> &mut Self {
        let declared = self.assembler.declare_sync(key, kind);
        self.keep(declared, SyncId(0));
        self
    }

    /// The thread of this number.
    pub fn thread(&mut self, number: u64) -> ThreadId {
        let thread = self.assembler.thread(number);
        self.keep(thread, ThreadId(0))
    }

    /// What was wanted, or a stand-in and an error at the end.
    fn keep<T>(&mut self, wanted: Result<T, Problem>, otherwise: T) -> T {
        wanted.unwrap_or_else(|problem| {
            let event = self.assembler.next_event();
            self.error.get_or_insert_with(|| problem.at(event).into());
            otherwise
        })
    }

    fn variable(&mut self, key: &str) -> VarId {
        let var = self.assembler.var(key);
        self.keep(var, VarId(0))
    }

    fn object(&mut self, key: &str, used_as: SyncUse) -> SyncId {
        let kind = used_as.kind();
        let object = self.assembler.sync(key, used_as).or_else(|_| self.assembler.declare_sync(key, kind));
        self.keep(object, SyncId(0))
    }

    fn lock(&mut self, key: &str) -> SyncId {
        self.object(key, SyncUse::Lock)
    }

    /// The term of an expression of this thread at this point.
    fn term(&mut self, thread: u64, text: &str) -> TermId {
        let (thread, event) = (self.thread(thread), self.assembler.next_event());
        self.assembler.expression(thread, text).unwrap_or_else(|error| {
            self.error.get_or_insert(BuildError::Term { event, text: text.to_string(), error });
            self.assembler.literal(Value::Bool(true))
        })
    }

    fn event(&mut self, thread: u64, op: Op) -> Added<'_> {
        let thread = self.thread(thread);
        let op = if self.error.is_some() { Op::Fail { reason: None } } else { op }; // ids may be stand-ins
        let added = self.assembler.push(Event { thread, op, loc: None, at: None, part: None, tried: false });
        let id = self.keep(added, EventId(0));
        Added(self, id)
    }

    /// An event that was added before.
    #[cfg(any(test, feature = "strategies"))]
    pub(crate) fn added(&mut self, event: EventId) -> Added<'_> {
        Added(self, event)
    }

    /// Makes `dst` stand for what the thread's next event reads from `var`.
    fn define_read(&mut self, thread: u64, var: VarId, dst: &str) -> Option<NameId> {
        let thread = self.thread(thread);
        let sort: Option<Sort> = self.assembler.trace().vars.get(var.index()).and_then(|var| var.sort);
        let dst = self.assembler.name(Some(dst).filter(|dst| !dst.is_empty())?);
        if let Some(sort) = sort {
            self.assembler.define(thread, dst, sort);
        }
        Some(dst)
    }

    /// `dst := var`; an empty `dst` for none.
    pub fn read(&mut self, thread: u64, var: &str, dst: &str) -> Added<'_> {
        let var = self.variable(var);
        let dst = self.define_read(thread, var, dst);
        self.event(thread, Op::Read { var, dst, value: None, guard: None })
    }

    /// `dst := var` where the guard holds, which may mention `dst`.
    pub fn read_if(&mut self, thread: u64, var: &str, dst: &str, guard: &str) -> Added<'_> {
        let var = self.variable(var);
        let dst = self.define_read(thread, var, dst);
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
        let dst = self.define_read(thread, var, dst);
        let expr = Some(self.term(thread, expr));
        self.event(thread, Op::Rmw { var, dst, expr, value: None, stored: None, guard: None, external: false })
    }

    /// The same where the guard holds.
    pub fn rmw_if(&mut self, thread: u64, var: &str, dst: &str, expr: &str, guard: &str) -> Added<'_> {
        let var = self.variable(var);
        let dst = self.define_read(thread, var, dst);
        let expr = Some(self.term(thread, expr));
        let guard = Some(self.term(thread, guard));
        self.event(thread, Op::Rmw { var, dst, expr, value: None, stored: None, guard, external: false })
    }

    /// A read of a trace without expressions: `value` was read, nothing where the trace has no data.
    pub fn saw(&mut self, thread: u64, var: &str, value: Option<Value>) -> Added<'_> {
        let var = self.variable(var);
        let value = value.map(|value| self.assembler.literal(value));
        self.event(thread, Op::Read { var, dst: None, value, guard: None })
    }

    /// A write of a trace without expressions.
    pub fn put(&mut self, thread: u64, var: &str, value: Option<Value>) -> Added<'_> {
        let var = self.variable(var);
        let value = value.map(|value| self.assembler.literal(value));
        self.event(thread, Op::Write { var, expr: None, value, guard: None, external: false })
    }

    /// An rmw of a trace without expressions: the old and the new value.
    pub fn swapped(&mut self, thread: u64, var: &str, values: Option<(Value, Value)>) -> Added<'_> {
        let var = self.variable(var);
        let (value, stored) = match values {
            Some((old, new)) => (Some(self.assembler.literal(old)), Some(self.assembler.literal(new))),
            None => (None, None),
        };
        self.event(thread, Op::Rmw { var, dst: None, expr: None, value, stored, guard: None, external: false })
    }

    /// `dst := expr`.
    pub fn set(&mut self, thread: u64, dst: &str, expr: &str) -> Added<'_> {
        let expr = self.term(thread, expr);
        let dst = self.assembler.name(dst);
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
        self.event(thread, Op::Begin { label: None, kind: BlockKind::Mark })
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
        let lock = self.object(lock, SyncUse::SharedLock);
        self.event(thread, Op::AcquireShared { lock })
    }

    /// Give the share back.
    pub fn release_shared(&mut self, thread: u64, lock: &str) -> Added<'_> {
        let lock = self.object(lock, SyncUse::SharedLock);
        self.event(thread, Op::ReleaseShared { lock })
    }

    /// A try-lock that failed.
    pub fn busy(&mut self, thread: u64, lock: &str) -> Added<'_> {
        let lock = self.lock(lock);
        self.event(thread, Op::Busy { lock })
    }

    /// Give a lock back and wait.
    pub fn wait(&mut self, thread: u64, cond: &str, lock: &str) -> Added<'_> {
        let (cond, lock) = (self.object(cond, SyncUse::Condvar), self.lock(lock));
        self.event(thread, Op::Wait { cond, lock })
    }

    /// Wake up from a wait; a cause where no signal was needed.
    pub fn wake(&mut self, thread: u64, cond: &str, lock: &str, cause: Option<WakeCause>) -> Added<'_> {
        let (cond, lock) = (self.object(cond, SyncUse::Condvar), self.lock(lock));
        self.event(thread, Op::Wake { cond, lock, cause, by: None })
    }

    /// Release one waiter.
    pub fn signal(&mut self, thread: u64, cond: &str) -> Added<'_> {
        let cond = self.object(cond, SyncUse::Condvar);
        self.event(thread, Op::Signal { cond })
    }

    /// Release all waiters.
    pub fn broadcast(&mut self, thread: u64, cond: &str) -> Added<'_> {
        let cond = self.object(cond, SyncUse::Condvar);
        self.event(thread, Op::Broadcast { cond })
    }

    /// Count a semaphore up.
    pub fn post(&mut self, thread: u64, sem: &str) -> Added<'_> {
        let sem = self.object(sem, SyncUse::Semaphore);
        self.event(thread, Op::Post { sem })
    }

    /// Count it down.
    pub fn down(&mut self, thread: u64, sem: &str) -> Added<'_> {
        let sem = self.object(sem, SyncUse::Semaphore);
        self.event(thread, Op::Down { sem })
    }

    /// Come to a barrier.
    pub fn arrive(&mut self, thread: u64, barrier: &str, round: u64) -> Added<'_> {
        let barrier = self.object(barrier, SyncUse::Barrier);
        self.event(thread, Op::Arrive { barrier, round })
    }

    /// Leave it.
    pub fn depart(&mut self, thread: u64, barrier: &str, round: u64) -> Added<'_> {
        let barrier = self.object(barrier, SyncUse::Barrier);
        self.event(thread, Op::Depart { barrier, round })
    }

    /// Begin an initialisation that happens once.
    pub fn once_begin(&mut self, thread: u64, once: &str) -> Added<'_> {
        let once = self.object(once, SyncUse::Once);
        self.event(thread, Op::OnceBegin { once })
    }

    /// End it.
    pub fn once_end(&mut self, thread: u64, once: &str) -> Added<'_> {
        let once = self.object(once, SyncUse::Once);
        self.event(thread, Op::OnceEnd { once })
    }

    /// Go past it.
    pub fn once_pass(&mut self, thread: u64, once: &str) -> Added<'_> {
        let once = self.object(once, SyncUse::Once);
        self.event(thread, Op::OncePass { once })
    }

    /// Give it up.
    pub fn once_fail(&mut self, thread: u64, once: &str) -> Added<'_> {
        let once = self.object(once, SyncUse::Once);
        self.event(thread, Op::OnceFail { once })
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
        let method = self.assembler.name(method);
        self.event(thread, Op::Call { object: None, method, args: None })
    }

    /// End of an operation.
    pub fn ret(&mut self, thread: u64, method: &str) -> Added<'_> {
        let method = self.assembler.name(method);
        self.event(thread, Op::Return { object: None, method, value: None })
    }

    /// Give variables' memory back.
    pub fn free(&mut self, thread: u64, vars: &[&str]) -> Added<'_> {
        let vars = vars.iter().map(|var| self.variable(var)).collect();
        self.event(thread, Op::Free { vars, syncs: Box::default(), external: false })
    }

    /// Give the memory of synchronisation objects back, which were declared.
    pub fn free_syncs(&mut self, thread: u64, keys: &[&str]) -> Added<'_> {
        let known: Vec<_> = keys.iter().map(|key| self.assembler.known_sync(key)).collect();
        let syncs = known.into_iter().map(|sync| self.keep(sync, SyncId(0))).collect();
        self.event(thread, Op::Free { vars: Box::default(), syncs, external: false })
    }

    /// Code that may order threads; of which object, `""` for any.
    pub fn unseen(&mut self, thread: u64, what: &str, object: &str) -> Added<'_> {
        let what = self.assembler.name(what);
        let object = Some(object).filter(|object| !object.is_empty()).map(|object| self.assembler.name(object));
        self.event(thread, Op::Unseen { what, object, if_both: false })
    }

    /// Code whose order with other such code of the object matters only where both run.
    pub fn unseen_if_both(&mut self, thread: u64, what: &str, object: &str) -> Added<'_> {
        let [what, object] = [what, object].map(|text| self.assembler.name(text));
        self.event(thread, Op::Unseen { what, object: Some(object), if_both: true })
    }

    /// The failure that ended the run.
    pub fn fail(&mut self, thread: u64) -> Added<'_> {
        self.event(thread, Op::Fail { reason: None })
    }

    /// The trace so far, right or not.
    pub fn trace(&self) -> &Trace {
        self.assembler.trace()
    }

    /// The trace, if all names and sorts were right; whether it keeps the rules of the format is not looked at.
    pub fn build(self) -> Result<Trace, BuildError> {
        self.error.map_or_else(|| Ok(self.assembler.trace().clone()), Err)
    }

    /// The trace and what its recorded order shows, if it is valid.
    pub fn finish(self) -> Result<(Trace, Observed), BuildError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        Ok(self.assembler.finish_observed()?)
    }
}

impl Added<'_> {
    /// The event's id.
    pub fn id(&self) -> EventId {
        self.1
    }

    fn event(&mut self) -> &mut Event {
        self.0.assembler.event_mut(self.1)
    }

    /// It is at this place of the source.
    pub fn at_place(mut self, place: &str) -> Self {
        let place = self.0.assembler.name(place);
        self.event().loc = Some(place);
        self
    }

    /// It is the k-th of n parts of one step.
    pub fn part(mut self, k: u32, n: u32) -> Self {
        self.event().part = Some((k, n));
        self
    }

    /// It is one of two outcomes of a call.
    pub fn tried(mut self) -> Self {
        self.event().tried = true;
        self
    }

    /// It is a write by code that was not recorded.
    pub fn external(mut self) -> Self {
        if let Op::Write { external, .. } | Op::Rmw { external, .. } | Op::Free { external, .. } = &mut self.event().op
        {
            *external = true;
        }
        self
    }

    /// The value that was read, or written by a write.
    pub fn value(mut self, recorded: impl Into<Value>) -> Self {
        let term = self.0.assembler.literal(recorded.into());
        if let Op::Read { value, .. } | Op::Write { value, .. } | Op::Rmw { value, .. } = &mut self.event().op {
            *value = Some(term);
        }
        self
    }

    /// The value that an rmw wrote.
    pub fn stored(mut self, recorded: impl Into<Value>) -> Self {
        let term = self.0.assembler.literal(recorded.into());
        if let Op::Rmw { stored, .. } = &mut self.event().op {
            *stored = Some(term);
        }
        self
    }

    /// The signal or broadcast that a wake was woken by.
    pub fn by(mut self, signal: EventId) -> Self {
        if let Op::Wake { by, .. } = &mut self.event().op {
            *by = Some(signal);
        }
        self
    }

    /// Where in the source it is.
    pub fn at(mut self, loc: &str) -> Self {
        let loc = self.0.assembler.name(loc);
        self.event().loc = Some(loc);
        self
    }
}

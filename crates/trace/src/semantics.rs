//! The executable semantics of a trace: which event may come next in a prefix, and its effect.
//!
//! This is the definition of `docs/trace-format.md` (*Executions of a trace*) as code. Everything that judges
//! without a solver (reading a trace, checking a schedule, the exhaustive oracle) runs it; no encoding does.

use crate::blocked::Blocked;
use crate::data_rules::{DataRules, Executed, Ignored, Repeated};
use crate::locals::Slots;
use crate::observed::Observed;
use crate::op::Op;
use crate::program_order::Fixed;
use crate::state::{Cell, Effect, State, ThreadState};
use crate::sync_state::{Lock, Once, SyncState, Waiter};
use crate::trace::{Data, EventId, SyncId, ThreadId, Trace, VarId};
use crate::value::Value;
use crate::violation::Model;
use std::sync::Arc;

/// A model that needs more than the trace knows of values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("model {model} needs a trace with {} data, found {}", data_name(*.needs), data_name(*.found))]
pub struct Unsupported {
    /// The model.
    pub model: Model,
    /// What it needs.
    pub needs: Data,
    /// What the trace has.
    pub found: Data,
}

fn data_name(data: Data) -> &'static str {
    match data {
        Data::None => "no",
        Data::Concrete => "concrete",
        Data::Symbolic => "symbolic",
    }
}

/// The step semantics of one trace in one model.
pub struct Semantics<'t> {
    trace: &'t Trace,
    fixed: Fixed,
    slots: Arc<Slots>,
    data: Box<dyn DataRules + 't>,
}

impl<'t> Semantics<'t> {
    /// The semantics of `trace` in `model`. The place where a model's rules are chosen.
    pub fn new(trace: &'t Trace, observed: &'t Observed, model: Model) -> Result<Semantics<'t>, Unsupported> {
        let (needs, found) = (model.needs(), trace.data);
        if found < needs {
            return Err(Unsupported { model, needs, found });
        }
        Ok(match model {
            Model::Cam => Semantics::with(trace, Arc::default(), Box::new(Ignored)),
            Model::Ctp => Semantics::executing(trace),
            Model::Mcm => Semantics::with(trace, Arc::default(), Box::new(Repeated::same_value(trace, observed))),
            Model::Avp => Semantics::with(trace, Arc::default(), Box::new(Repeated::same_write(trace, observed))),
        })
    }

    /// The semantics that the recorded order is held against.
    pub(crate) fn of_the_run(trace: &'t Trace) -> Semantics<'t> {
        match trace.data {
            Data::None => Semantics::with(trace, Arc::default(), Box::new(Ignored)),
            Data::Concrete | Data::Symbolic => Semantics::executing(trace),
        }
    }

    fn executing(trace: &'t Trace) -> Semantics<'t> {
        let slots = Arc::new(Slots::new(trace));
        Semantics::with(trace, slots.clone(), Box::new(Executed { trace, slots }))
    }

    fn with(trace: &'t Trace, slots: Arc<Slots>, data: Box<dyn DataRules + 't>) -> Semantics<'t> {
        Semantics { trace, fixed: Fixed::new(trace), slots, data }
    }

    /// The trace.
    pub fn trace(&self) -> &'t Trace {
        self.trace
    }

    pub(crate) fn data(&self) -> &dyn DataRules {
        &*self.data
    }

    /// The value that a variable with this content has, where the model and the trace know it.
    pub fn value<'a>(&'a self, var: VarId, cell: &'a Cell) -> Option<&'a Value> {
        self.data.value(var, cell)
    }

    /// The value that a definition has for the events that use it, in a state from it to the last of those. `None` in a model that
    /// executes no expressions.
    pub fn local<'a>(&self, state: &'a State, definition: EventId) -> Option<&'a Value> {
        state.locals[self.slots.slot_of(definition)?].as_ref()
    }

    /// The state of the empty prefix.
    pub fn initial(&self) -> State {
        State {
            threads: vec![ThreadState::default(); self.trace.threads.len()],
            open_group: None,
            syncs: self.trace.syncs.iter().map(|object| SyncState::new(object.kind)).collect(),
            arrived: vec![0; self.fixed.rounds.len()],
            memory: (0..self.trace.vars.len()).map(|var| self.data.initial(VarId::from_index(var))).collect(),
            locals: vec![None; self.slots.count()],
        }
    }

    /// Whether the event is in the prefix.
    pub fn is_done(&self, state: &State, event: EventId) -> bool {
        let thread = self.trace.event(event).thread;
        self.fixed.order.position(event) < state.threads[thread.index()].done
    }

    /// Whether the prefix holds all events of the thread.
    pub fn is_finished(&self, state: &State, thread: ThreadId) -> bool {
        state.threads[thread.index()].done as usize == self.fixed.order.of_thread(thread).len()
    }

    /// Whether the prefix holds all events.
    pub fn is_complete(&self, state: &State) -> bool {
        (0..self.trace.threads.len()).all(|thread| self.is_finished(state, ThreadId::from_index(thread)))
    }

    /// The next event of a thread in program order, be it enabled or not.
    pub fn next(&self, state: &State, thread: ThreadId) -> Option<EventId> {
        self.fixed.order.of_thread(thread).get(state.threads[thread.index()].done as usize).copied()
    }

    /// The next event of each thread that has one.
    pub fn next_events(&self, state: &State) -> impl Iterator<Item = EventId> {
        (0..self.trace.threads.len()).filter_map(|thread| self.next(state, ThreadId::from_index(thread)))
    }

    /// Those that the event may release where it is a signal; it releases exactly one of them if there are any.
    pub fn releasable(&self, state: &State, event: EventId) -> Vec<ThreadId> {
        match self.trace.event(event).op {
            Op::Signal { cond } => unreleased(state, cond).map(|waiter| waiter.thread).collect(),
            _ => Vec::new(),
        }
    }

    /// What the event would do to data as the next one of the prefix, or why it cannot be.
    pub fn enabled(&self, state: &State, event: EventId) -> Result<Effect, Blocked> {
        self.in_turn(state, event)?;
        self.synchronised(state, event)?;
        self.data.effect(state, event)
    }

    /// Makes the event the next one of the prefix; `released` is the choice that a signal makes among
    /// [`Semantics::releasable`]. A blocked event leaves the state as it was.
    pub fn step(&self, state: &mut State, event: EventId, released: Option<ThreadId>) -> Result<Effect, Blocked> {
        let effect = self.enabled(state, event);
        if let Ok(effect) = &effect {
            self.apply(state, event, released, effect)?;
        }
        effect
    }

    /// Has a variable hold what it holds at first. Of use for variables on whose values no condition depends: states that differ in these only
    /// become equal.
    pub fn forget(&self, state: &mut State, var: VarId) {
        state.memory[var.index()] = self.data.initial(var);
    }

    /// The event is the next of its thread, the thread runs, and no other is inside a step of several parts.
    fn in_turn(&self, state: &State, event: EventId) -> Result<(), Blocked> {
        let thread = self.trace.event(event).thread;
        if let Some(inside) = state.open_group.filter(|inside| *inside != thread) {
            return Err(Blocked::InsideGroup { thread: inside });
        }
        let progress = state.threads[thread.index()];
        if progress.done != self.fixed.order.position(event) {
            return Err(Blocked::NotNext);
        }
        if progress.stopped {
            return Err(Blocked::Stopped);
        }
        match self.fixed.forks[thread.index()] {
            Some(fork) if !self.is_done(state, fork) => Err(Blocked::NotStarted { fork }),
            _ => Ok(()),
        }
    }

    /// The column *enabled when* of the format's table, but for guards and assumes.
    fn synchronised(&self, state: &State, event: EventId) -> Result<(), Blocked> {
        let thread = self.trace.event(event).thread;
        match self.trace.event(event).op {
            Op::Acquire { lock } => lock_of(state, lock)?.may_take(lock, thread),
            Op::Release { lock } => lock_of(state, lock)?.held_by(lock, thread).map(drop),
            Op::AcquireShared { lock } => lock_of(state, lock)?.may_share(lock),
            Op::ReleaseShared { lock } => lock_of(state, lock)?.shared_by(lock, thread),
            Op::Busy { lock } => lock_of(state, lock)?.busy_for(lock, thread),
            Op::Wait { cond, lock } => {
                waiters_of(state, cond)?;
                lock_of(state, lock)?.held_by(lock, thread).map(drop)
            }
            Op::Wake { cond, lock, cause, .. } => {
                let waiter = waiters_of(state, cond)?.iter().find(|waiter| waiter.thread == thread);
                let waiter = waiter.ok_or(Blocked::NotWaiting { cond })?;
                if cause.is_none() && !waiter.released {
                    return Err(Blocked::NotSignalled { cond });
                }
                lock_of(state, lock)?.is_free(lock)
            }
            Op::Signal { cond } | Op::Broadcast { cond } => waiters_of(state, cond).map(drop),
            Op::Post { sem } => count_of(state, sem).map(drop),
            Op::Down { sem } if count_of(state, sem)? == 0 => Err(Blocked::CountIsZero { sem }),
            Op::OnceBegin { once } => once_of(state, once)?.may_begin(once),
            Op::OnceEnd { once } | Op::OnceFail { once } => once_of(state, once)?.held_by(once, thread),
            Op::OncePass { once } => once_of(state, once)?.may_pass(once),
            Op::Depart { barrier, round } => self.all_arrived(state, barrier, round),
            Op::Join { child } if !self.is_finished(state, child) => Err(Blocked::NotFinished { child }),
            Op::Down { .. } | Op::Arrive { .. } | Op::Fork { .. } | Op::Join { .. } => Ok(()),
            Op::Begin { .. }
            | Op::End { .. }
            | Op::Read { .. }
            | Op::Write { .. }
            | Op::Rmw { .. }
            | Op::Let { .. }
            | Op::Assume { .. } => Ok(()),
            Op::Call { .. } | Op::Return { .. } | Op::Free { .. } | Op::Unseen { .. } | Op::Fail { .. } => Ok(()),
        }
    }

    fn all_arrived(&self, state: &State, barrier: SyncId, round: u64) -> Result<(), Blocked> {
        let Some(expected) = self.fixed.rounds.get(&(barrier, round)) else { return Ok(()) };
        let (arrived, arrives) = (state.arrived[expected.index], expected.arrives);
        if arrived == arrives { Ok(()) } else { Err(Blocked::NotAllArrived { barrier, arrived, arrives }) }
    }

    /// The column *effect*, for an event that is enabled.
    pub fn apply(
        &self,
        state: &mut State,
        event: EventId,
        released: Option<ThreadId>,
        effect: &Effect,
    ) -> Result<(), Blocked> {
        self.apply_synchronisation(state, event, released)?;
        self.apply_data(state, event, effect);
        let thread = self.trace.event(event).thread;
        state.open_group = self.trace.event(event).part.filter(|(k, n)| k < n).map(|_| thread);
        let progress = &mut state.threads[thread.index()];
        *progress = ThreadState { done: progress.done + 1, stopped: effect.stops };
        Ok(())
    }

    fn apply_synchronisation(
        &self,
        state: &mut State,
        event: EventId,
        released: Option<ThreadId>,
    ) -> Result<(), Blocked> {
        let thread = self.trace.event(event).thread;
        match self.trace.event(event).op {
            Op::Acquire { lock } => change_lock(state, lock, |lock| lock.take(thread)),
            Op::Release { lock } => change_lock(state, lock, Lock::give_back),
            Op::AcquireShared { lock } => change_lock(state, lock, |lock| lock.share(thread)),
            Op::ReleaseShared { lock } => change_lock(state, lock, |lock| lock.give_share_back(thread)),
            Op::Wait { cond, lock } => {
                let depth = lock_of(state, lock)?.held_by(lock, thread)?;
                change_lock(state, lock, |lock| lock.holder = None);
                // It is in none of them: a thread that waits has its wake before another wait.
                change_waiters(state, cond, |waiters| {
                    waiters.push(Waiter { thread, since: event, depth, released: false });
                    waiters.sort_unstable_by_key(|waiter| waiter.since);
                });
            }
            Op::Wake { cond, lock, .. } => {
                let waiting = waiters_of(state, cond)?.iter().find(|waiter| waiter.thread == thread);
                let depth = waiting.map_or(1, |waiter| waiter.depth);
                change_waiters(state, cond, |waiters| waiters.retain(|waiter| waiter.thread != thread));
                change_lock(state, lock, |lock| lock.holder = Some((thread, depth)));
            }
            Op::Signal { cond } => release_one(state, cond, released)?,
            Op::Broadcast { cond } => {
                change_waiters(state, cond, |waiters| waiters.iter_mut().for_each(|waiter| waiter.released = true));
            }
            Op::Post { sem } => change_count(state, sem, |count| *count += 1),
            Op::Down { sem } => change_count(state, sem, |count| *count -= 1),
            Op::OnceBegin { once } => change_once(state, once, |once| once.holder = Some(thread)),
            Op::OnceEnd { once } => change_once(state, once, |once| *once = Once { holder: None, done: true }),
            Op::OnceFail { once } => change_once(state, once, |once| once.holder = None),
            Op::Arrive { barrier, round } => {
                if let Some(round) = self.fixed.rounds.get(&(barrier, round)) {
                    state.arrived[round.index] += 1;
                }
            }
            Op::Busy { .. } | Op::OncePass { .. } | Op::Depart { .. } | Op::Fork { .. } | Op::Join { .. } => {}
            Op::Begin { .. }
            | Op::End { .. }
            | Op::Read { .. }
            | Op::Write { .. }
            | Op::Rmw { .. }
            | Op::Let { .. }
            | Op::Assume { .. } => {}
            Op::Call { .. } | Op::Return { .. } | Op::Free { .. } | Op::Unseen { .. } | Op::Fail { .. } => {}
        }
        Ok(())
    }

    fn apply_data(&self, state: &mut State, event: EventId, effect: &Effect) {
        if let Some(var) = self.trace.event(event).op.var()
            && self.trace.event(event).op.writes()
        {
            state.memory[var.index()] = effect.after.clone();
        }
        for slot in self.slots.ended_by(event) {
            state.locals[*slot as usize] = None;
        }
        if let Some(slot) = self.slots.slot_of(event) {
            state.locals[slot] = effect.defined.clone();
        }
    }
}

fn lock_of(state: &State, object: SyncId) -> Result<&Lock, Blocked> {
    match &state.syncs[object.index()] {
        SyncState::Lock(lock) => Ok(lock),
        _ => Err(Blocked::WrongKind { object }),
    }
}

fn waiters_of(state: &State, object: SyncId) -> Result<&[Waiter], Blocked> {
    match &state.syncs[object.index()] {
        SyncState::Condvar(waiters) => Ok(waiters),
        _ => Err(Blocked::WrongKind { object }),
    }
}

fn count_of(state: &State, object: SyncId) -> Result<u128, Blocked> {
    match state.syncs[object.index()] {
        SyncState::Semaphore(count) => Ok(count),
        _ => Err(Blocked::WrongKind { object }),
    }
}

fn once_of(state: &State, object: SyncId) -> Result<&Once, Blocked> {
    match &state.syncs[object.index()] {
        SyncState::Once(once) => Ok(once),
        _ => Err(Blocked::WrongKind { object }),
    }
}

fn change_once(state: &mut State, object: SyncId, change: impl FnOnce(&mut Once)) {
    if let SyncState::Once(once) = &mut state.syncs[object.index()] {
        change(once);
    }
}

fn change_lock(state: &mut State, object: SyncId, change: impl FnOnce(&mut Lock)) {
    if let SyncState::Lock(lock) = &mut state.syncs[object.index()] {
        change(lock);
    }
}

fn change_waiters(state: &mut State, object: SyncId, change: impl FnOnce(&mut Vec<Waiter>)) {
    if let SyncState::Condvar(waiters) = &mut state.syncs[object.index()] {
        change(waiters);
    }
}

fn change_count(state: &mut State, object: SyncId, change: impl FnOnce(&mut u128)) {
    if let SyncState::Semaphore(count) = &mut state.syncs[object.index()] {
        change(count);
    }
}

/// Those that wait on the condition variable and were not released since.
pub(crate) fn unreleased(state: &State, cond: SyncId) -> impl Iterator<Item = &Waiter> {
    waiters_of(state, cond).unwrap_or(&[]).iter().filter(|waiter| !waiter.released)
}

/// Releases exactly the one chosen, which must be there if anyone waits.
fn release_one(state: &mut State, cond: SyncId, chosen: Option<ThreadId>) -> Result<(), Blocked> {
    let found = match chosen {
        Some(thread) => unreleased(state, cond).any(|waiter| waiter.thread == thread),
        None => unreleased(state, cond).next().is_none(),
    };
    if !found {
        return Err(Blocked::NotReleasable { cond });
    }
    change_waiters(state, cond, |waiters| {
        waiters.iter_mut().filter(|waiter| Some(waiter.thread) == chosen).for_each(|waiter| waiter.released = true);
    });
    Ok(())
}

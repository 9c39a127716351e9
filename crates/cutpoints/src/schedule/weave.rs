//! Executes events under the step semantics: a thread that waits for another lets that one go ahead, as far as it must.

use super::why_not::WhyNot;
use crate::lock_log::LockLog;
use crate::locks::Change;
use foretrace_index::TraceIndex;
use foretrace_trace::{Blocked, EventId, Op, Semantics, State, SyncId, ThreadId, Trace};
use rustc_hash::FxHashMap;

/// A take of a lock that waits until another thread has done so many events.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guard {
    pub take: EventId,
    pub needs: (ThreadId, usize),
}

/// A prefix in the making.
pub(super) struct Weaver<'s, 't> {
    trace: &'t Trace,
    semantics: &'s Semantics<'t>,
    trace_index: &'s TraceIndex,
    log: &'s LockLog,
    state: State,
    events: Vec<EventId>,
    done: Vec<usize>,
    /// Per thread: how many of its events may be done.
    limits: Vec<usize>,
    guards: FxHashMap<EventId, (ThreadId, usize)>,
    /// Who waits to be woken by each signal, as in the observed run.
    woken: FxHashMap<EventId, ThreadId>,
}

impl<'s, 't> Weaver<'s, 't> {
    pub fn new(
        trace: &'t Trace,
        semantics: &'s Semantics<'t>,
        trace_index: &'s TraceIndex,
        log: &'s LockLog,
    ) -> Weaver<'s, 't> {
        let wakes = trace_index.waitings.iter().map(|waiting| waiting.wake);
        let woken = wakes.filter_map(|wake| match trace.event(wake).op {
            Op::Wake { by: Some(signal), .. } => Some((signal, trace.event(wake).thread)),
            _ => None,
        });
        Weaver {
            trace,
            semantics,
            trace_index,
            log,
            state: semantics.initial(),
            events: Vec::new(),
            done: vec![0; trace.threads.len()],
            limits: vec![usize::MAX; trace.threads.len()],
            guards: FxHashMap::default(),
            woken: woken.collect(),
        }
    }

    /// How many events there are so far.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// The events.
    pub fn into_events(self) -> Vec<EventId> {
        self.events
    }

    /// Drops all events but the first so many. Nothing can follow.
    pub fn cut_to(&mut self, events: usize) {
        self.events.truncate(events);
    }

    /// A thread does no more than so many events from now on.
    pub fn limit(&mut self, thread: ThreadId, events: usize) {
        self.limits[thread.index()] = events;
    }

    /// From now on these takes wait, and no others.
    pub fn guard(&mut self, guards: Vec<Guard>) {
        self.guards = guards.into_iter().map(|guard| (guard.take, guard.needs)).collect();
    }

    /// Does these events, those that can be done: the first of a thread that cannot ends its part.
    pub fn follow(&mut self, events: Vec<EventId>) {
        let mut ended = vec![false; self.trace.threads.len()];
        for event in events {
            let thread = self.trace.event(event).thread.index();
            if !ended[thread] {
                ended[thread] = self.step(event).is_err();
            }
        }
    }

    /// Goes on in the observed order until `late` has done its events, while `early` stays where it is.
    pub fn follow_until(&mut self, early: (ThreadId, usize), late: (ThreadId, usize)) {
        let Some(last) = late.1.checked_sub(1).map(|last| self.trace_index.threads[late.0.index()][last]) else {
            return;
        };
        let mut ended = vec![false; self.trace.threads.len()];
        for (id, event) in self.trace.iter().take(last.index() + 1) {
            let thread = event.thread;
            let is_next = self.trace_index.position(id) == self.done[thread.index()];
            if is_next && thread != early.0 && !ended[thread.index()] {
                ended[thread.index()] = self.step(id).is_err();
            }
        }
    }

    /// Lets a thread go on until it has done so many events, and others where it waits for them.
    ///
    /// # Errors
    /// What cannot be waited for: that another thread goes on beyond its limit, or that a thread goes on which itself waits.
    pub fn advance(&mut self, thread: ThreadId, events: usize) -> Result<(), WhyNot> {
        let mut waiting = vec![(thread, events)];
        while let Some((thread, events)) = waiting.last().copied() {
            if self.done[thread.index()] >= events {
                waiting.pop();
                continue;
            }
            let Some(next) = self.semantics.next(&self.state, thread) else { return Err(self.over(thread)) };
            let Err(stopped) = self.step(next) else { continue };
            let (helper, until) = self.needed(next, &stopped).ok_or_else(|| self.why_not(next, &stopped))?;
            let is_waiting = waiting.iter().any(|(other, _)| *other == helper);
            let needs = self.trace_index.threads[helper.index()].get(until.saturating_sub(1)).copied();
            if is_waiting || until > self.limits[helper.index()] || self.done[helper.index()] >= until {
                return Err(match needs {
                    Some(needs) if is_waiting => WhyNot::Circle { event: next, needs },
                    _ => self.why_not(next, &stopped),
                });
            }
            waiting.push((helper, until));
        }
        Ok(())
    }

    /// The thread has no event left: the run ended inside a step of several parts, say.
    fn over(&self, thread: ThreadId) -> WhyNot {
        let last = self.trace_index.threads[thread.index()].last().copied();
        WhyNot::Blocked { event: last.unwrap_or(EventId(0)), problem: "the recorded run ends there".into() }
    }

    fn why_not(&self, event: EventId, stopped: &Stopped) -> WhyNot {
        let problem = match stopped {
            Stopped::By(blocked) => self.semantics.explain(&self.state, event, *blocked).to_string(),
            Stopped::Limit => "its thread must not go on before the remote access".into(),
            Stopped::Guard(..) => "the other thread still needs the lock".into(),
        };
        WhyNot::Blocked { event, problem }
    }

    fn step(&mut self, event: EventId) -> Result<(), Stopped> {
        let thread = self.trace.event(event).thread.index();
        if self.done[thread] >= self.limits[thread] {
            return Err(Stopped::Limit);
        }
        if let Some((other, events)) = self.guards.get(&event)
            && self.done[other.index()] < *events
        {
            return Err(Stopped::Guard(*other, *events));
        }
        let released = self.released(event);
        self.semantics.step(&mut self.state, event, released).map_err(Stopped::By)?;
        self.done[thread] += 1;
        self.events.push(event);
        Ok(())
    }

    /// The waiter that a signal releases: the one of the observed run where it waits.
    fn released(&self, event: EventId) -> Option<ThreadId> {
        let waiting = self.semantics.releasable(&self.state, event);
        let as_observed = self.woken.get(&event).filter(|thread| waiting.contains(thread));
        as_observed.or(waiting.first()).copied()
    }

    /// Which thread has to do how many events so that the event can happen.
    fn needed(&self, event: EventId, stopped: &Stopped) -> Option<(ThreadId, usize)> {
        let thread = self.trace.event(event).thread;
        let until = |event: EventId| (self.trace.event(event).thread, self.trace_index.position(event) + 1);
        match *stopped {
            Stopped::Limit => None,
            Stopped::Guard(other, events) => Some((other, events)),
            Stopped::By(blocked) => match blocked {
                Blocked::NotStarted { fork } => Some(until(fork)),
                Blocked::NotFree { lock, by, .. } if by != thread => self.release_of(by, lock).map(until),
                Blocked::InsideGroup { thread: inside } => Some((inside, self.done[inside.index()] + 1)),
                Blocked::NotFinished { .. } | Blocked::NotAllArrived { .. } | Blocked::NotInitialised { .. } => {
                    self.first_left(self.trace_index.waits_for(self.trace, event)).map(until)
                }
                Blocked::CountIsZero { sem } => {
                    self.first_of_others(thread, &self.trace_index.posts[sem.index()]).map(until)
                }
                Blocked::NotSignalled { cond } => {
                    let by = self.signal_of(event).filter(|signal| !self.is_done(*signal));
                    by.or_else(|| self.first_of_others(thread, &self.trace_index.signals[cond.index()])).map(until)
                }
                Blocked::NotBusy { lock } => self.take_by_other(thread, lock, event).map(until),
                _ => None,
            },
        }
    }

    fn is_done(&self, event: EventId) -> bool {
        self.semantics.is_done(&self.state, event)
    }

    fn signal_of(&self, wake: EventId) -> Option<EventId> {
        match self.trace.event(wake).op {
            Op::Wake { by, .. } => by,
            _ => None,
        }
    }

    fn first_left(&self, events: &[EventId]) -> Option<EventId> {
        events.iter().copied().find(|event| !self.is_done(*event))
    }

    fn first_of_others(&self, thread: ThreadId, events: &[EventId]) -> Option<EventId> {
        let within = |event: &EventId| {
            let other = self.trace.event(*event).thread;
            other != thread && self.trace_index.position(*event) < self.limits[other.index()]
        };
        events.iter().copied().find(|event| within(event) && !self.is_done(*event))
    }

    /// The next event with which a thread gives a lock back.
    fn release_of(&self, thread: ThreadId, lock: SyncId) -> Option<EventId> {
        let done = self.done[thread.index()];
        let last = done.checked_sub(1).map(|last| self.trace_index.threads[thread.index()][last])?;
        let mut later = self.log.after(thread, last).iter();
        later.find(|entry| matches!(entry.change, Change::Give(given) if given.lock == lock)).map(|entry| entry.event)
    }

    /// For a failed try of a lock: the take that was the reason in the observed run.
    fn take_by_other(&self, thread: ThreadId, lock: SyncId, busy: EventId) -> Option<EventId> {
        let others = (0..self.trace.threads.len()).map(ThreadId::from_index).filter(|other| *other != thread);
        let takes = others.filter_map(|other| {
            let own = self.log.of_thread(other);
            let before = &own[..own.partition_point(|entry| entry.event < busy)];
            let is_take =
                |entry: &&crate::lock_log::Entry| matches!(entry.change, Change::Take(taken) if taken.lock == lock);
            before.iter().rev().find(is_take).map(|entry| entry.event)
        });
        takes.filter(|take| !self.is_done(*take)).max()
    }
}

/// Why an event was not done.
enum Stopped {
    By(Blocked),
    Limit,
    Guard(ThreadId, usize),
}

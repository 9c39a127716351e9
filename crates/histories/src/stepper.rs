//! A trace as a thing that can be stepped, with the history so far.
//!
//! A step is one event that other threads can tell from its absence, with the thread's events after it that they cannot; all events of
//! one step of the trace (`part`) go together. In each state only some threads are tried: a set such that nothing that the
//! others can still do depends on the next steps of its threads (a persistent set, P. Godefroid, "Partial-order methods for the verification of
//! concurrent systems", LNCS 1032, chapter 4). Traces end, so that this loses no interleaving up to equivalence. That a call comes before a return
//! or after it makes a difference, so those depend on each other.

use crate::context::Context;
use crate::performed::{Came, Group, Performed};
use foretrace_explore::{Action, Fingerprint, Next, System};
use foretrace_trace::{Blocked, EventId, Op, State, ThreadId};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Says whether the history of an object is what is looked for.
pub(crate) type IsFound<'c> = dyn Fn(&[Group]) -> bool + 'c;

/// A state of the exploration.
#[derive(Clone)]
pub(crate) struct Stepper<'c> {
    context: &'c Context<'c>,
    is_found: &'c IsFound<'c>,
    state: State,
    performed: Performed,
    found: bool,
    /// Per thread whether it is tried from here.
    tried: Vec<bool>,
    /// What led here, where that is wanted.
    schedule: Option<Vec<EventId>>,
}

/// What a thread can do.
enum Able {
    /// Nothing in any continuation.
    Never,
    /// This, if another thread first makes it possible.
    Later(Action),
    /// This.
    Now(Action),
}

impl<'c> Stepper<'c> {
    /// The state before the first step that others can tell; with what led there if `records`.
    pub fn new(context: &'c Context<'c>, is_found: &'c IsFound<'c>, records: bool) -> Stepper<'c> {
        let threads = context.trace.threads.len();
        let mut stepper = Stepper {
            context,
            is_found,
            state: context.semantics.initial(),
            performed: Performed::default(),
            found: false,
            tried: vec![false; threads],
            schedule: records.then(Vec::new),
        };
        (0..threads).for_each(|thread| stepper.go_on(thread));
        stepper.choose();
        stepper
    }

    /// The history so far.
    pub fn performed(&self) -> &Performed {
        &self.performed
    }

    /// What led here.
    pub fn into_schedule(self) -> Vec<EventId> {
        self.schedule.unwrap_or_default()
    }

    /// Whether some thread would go on elsewhere than in the recorded run, since a value forbids its next event.
    pub fn leaves_path(&self) -> bool {
        (0..self.tried.len()).filter_map(|thread| self.next_event(thread)).any(|event| {
            match self.context.semantics.enabled(&self.state, event) {
                Err(Blocked::False { .. } | Blocked::ReadsOther { .. } | Blocked::Stopped) => true,
                Err(_) => false,
                Ok(_) => self.context.trace.event(event).part.is_some(),
            }
        })
    }

    fn next_event(&self, thread: usize) -> Option<EventId> {
        self.context.semantics.next(&self.state, ThreadId::from_index(thread))
    }

    fn event(&mut self, event: EventId, released: Option<ThreadId>) -> Result<(), Blocked> {
        let Context { trace, semantics, results, .. } = self.context;
        let op = &trace.event(event).op;
        // What gives a result is forgotten at the return.
        let came = match op {
            Op::Return { .. } => {
                let value = results.given_by(event).and_then(|definition| semantics.local(&self.state, definition));
                results.text(trace, event, value)
            }
            _ => None,
        };
        semantics.step(&mut self.state, event, released)?;
        if let Some(schedule) = &mut self.schedule {
            schedule.push(event);
        }
        if let Op::Call { object, .. } | Op::Return { object, .. } = op {
            let is_return = matches!(op, Op::Return { .. });
            let object = self.context.object(*object);
            self.performed.add(object, is_return, Came { event, result: came.map(Arc::from) });
            self.found |= is_return && (self.is_found)(self.performed.of(object));
        }
        Ok(())
    }

    /// Takes the thread's next events that no other thread can tell. A failure ends the program, so that it is left for ever.
    fn go_on(&mut self, thread: usize) {
        while !self.found
            && let Some(event) = self.next_event(thread)
        {
            let is_failure = matches!(self.context.trace.event(event).op, Op::Fail { .. });
            if is_failure || self.context.action(event).is_some() || self.event(event, None).is_err() {
                return;
            }
        }
    }

    /// Takes the events of the thread's step that come after its first one; whether it got to its end.
    fn rest_of_step(&mut self, thread: usize, first: EventId) -> bool {
        let count = self.context.trace.event(first).part.map_or(1, |(k, n)| n + 1 - k);
        (1..count).all(|_| self.next_event(thread).is_some_and(|event| self.event(event, None).is_ok()))
    }

    fn able(&self, thread: usize) -> Able {
        let Some(event) = self.next_event(thread) else { return Able::Never };
        let Some(action) = self.context.action(event) else { return Able::Never };
        let Context { trace, semantics, .. } = self.context;
        let op = &trace.event(event).op;
        match semantics.enabled(&self.state, event) {
            Ok(_) => {}
            Err(Blocked::Stopped | Blocked::TooLarge) => return Able::Never,
            Err(Blocked::False { .. }) if op.var().is_none() => return Able::Never,
            Err(_) => return Able::Later(action.clone()),
        }
        if trace.event(event).part.is_some() {
            // One that would stay half-way keeps all others from going on: the same history comes about without it.
            let mut trial = self.clone();
            if trial.event(event, None).is_err() || !trial.rest_of_step(thread, event) {
                return Able::Later(action.clone());
            }
        }
        let choices = semantics.releasable(&self.state, event).len().max(1);
        Able::Now(Action { choices, ..action.clone() })
    }

    /// Chooses the threads that are tried from here.
    fn choose(&mut self) {
        let able: Vec<Able> = (0..self.tried.len()).map(|thread| self.able(thread)).collect();
        let is_ready = |thread: &usize| matches!(able[*thread], Able::Now(_));
        let sets = (0..able.len()).filter(is_ready).map(|thread| self.persistent(thread, &able));
        let ready = |set: &Vec<usize>| set.iter().copied().filter(is_ready).count();
        let least = sets.min_by_key(ready).unwrap_or_default();
        self.tried.fill(false);
        least.into_iter().filter(is_ready).for_each(|thread| self.tried[thread] = true);
    }

    /// The least persistent set with a thread, as far as what threads use tells.
    fn persistent(&self, thread: usize, able: &[Able]) -> Vec<usize> {
        let mut set = vec![thread];
        let mut at = 0;
        while let Some(own) = set.get(at).copied() {
            at += 1;
            let (Able::Now(action) | Able::Later(action)) = &able[own] else { continue };
            let is_blocked = matches!(able[own], Able::Later(_));
            for other in 0..able.len() {
                if set.contains(&other) || matches!(able[other], Able::Never) {
                    continue;
                }
                let Some(next) = self.next_event(other) else { continue };
                let enables = is_blocked && (action.joins == Some(other) || self.context.starter(own) == Some(other));
                if enables || self.context.may_depend((other, next), action) {
                    set.push(other);
                }
            }
        }
        set
    }
}

impl System for Stepper<'_> {
    fn threads(&self) -> usize {
        self.tried.len()
    }

    fn next(&self, thread: usize) -> Next {
        match self.able(thread) {
            Able::Never => Next::Over,
            Able::Now(action) if self.tried[thread] => Next::Ready(action),
            Able::Now(action) | Able::Later(action) => Next::Blocked(action),
        }
    }

    fn step(&mut self, thread: usize, choice: usize) {
        let Some(event) = self.next_event(thread) else { return };
        let waiting = self.context.semantics.releasable(&self.state, event);
        if self.event(event, waiting.get(choice).copied()).is_err() || !self.rest_of_step(thread, event) {
            return;
        }
        self.go_on(thread);
        if let Op::Fork { child } = self.context.trace.event(event).op {
            self.go_on(child.index());
        }
        if !self.found {
            self.choose();
        }
    }

    fn found(&self) -> bool {
        self.found
    }
}

impl Fingerprint for Stepper<'_> {
    fn fingerprint(&self) -> u128 {
        let half = |salt: u64| {
            let mut hasher = DefaultHasher::new();
            salt.hash(&mut hasher);
            self.state.hash(&mut hasher);
            self.performed.hash(&mut hasher);
            u128::from(hasher.finish())
        };
        half(0x9E37_79B9_7F4A_7C15) << 64 | half(0xD1B5_4A32_D192_ED03)
    }

    fn counts(&self) -> bool {
        false
    }
}

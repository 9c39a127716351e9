//! A trace as a system of steps, with the history so far.
//!
//! A step is one event that other threads can observe, with the thread's events after it that they cannot observe. All events of one step
//! of the trace (`part`) go together. An operation begins in the step of its first observable event, and ends in the step of its last one.
//! Of all schedules that order these events alike, this one has the most operations that end before others begin. If its history is
//! linearizable, so are the others', since they have fewer constraints. Whether an operation ends before another one begins makes a
//! difference, so such steps depend on each other.
//!
//! In each state only the threads of a persistent set are tried: nothing that the other threads can still do depends on the next steps of
//! these threads (P. Godefroid, "Partial-order methods for the verification of concurrent systems", LNCS 1032, chapter 4). Traces are
//! finite, so this loses no interleaving up to equivalence.

use crate::context::{Context, Step};
use crate::performed::{CallsOrReturns, Came, Performed};
use foretrace_explore::{Action, Fingerprint, Next, System, fingerprint_of};
use foretrace_trace::{Blocked, EventId, Op, State, ThreadId};
use std::hash::Hash;
use std::sync::Arc;

/// Says whether the history of an object is what is looked for.
pub(crate) type IsFound<'c> = dyn Fn(&[CallsOrReturns]) -> bool + 'c;

/// A state of the exploration.
#[derive(Clone)]
pub(crate) struct Stepper<'c> {
    context: &'c Context<'c>,
    is_found: &'c IsFound<'c>,
    state: State,
    performed: Performed,
    found: bool,
    /// What each thread can do.
    able: Vec<Able>,
    /// Per thread whether it is tried from here.
    tried: Vec<bool>,
    /// What led here, where that is wanted.
    schedule: Option<Vec<EventId>>,
}

/// What a thread can do.
#[derive(Clone)]
enum Able {
    /// Nothing in any continuation.
    Never,
    /// This, if another thread first makes it possible.
    Later(Action),
    /// This.
    Now(Action),
}

/// Whether the program would go on elsewhere than in the recorded run, since a value differs.
fn is_by_value(blocked: Blocked) -> bool {
    matches!(blocked, Blocked::False { .. } | Blocked::ReadsOther { .. } | Blocked::Stopped)
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
            able: Vec::new(),
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

    /// The next events of threads that would go on elsewhere than in the recorded run, since a value forbids these events.
    pub fn leaving(&self) -> impl Iterator<Item = EventId> {
        (0..self.tried.len()).filter_map(|thread| self.next_event(thread)).filter(|event| {
            let event = *event;
            let blocked = match self.context.step(event) {
                Some(step) => self.look_ahead(event, step.anchor).err().map(|(_, blocked)| blocked),
                None => self.context.semantics.enabled(&self.state, event).err(),
            };
            blocked.is_some_and(is_by_value)
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
            self.found |= is_return && (self.is_found)(self.performed.of_object(object));
        }
        Ok(())
    }

    /// Takes the thread's next events that no other thread can tell, up to where an operation begins. A failure ends the program, so that it is left
    /// for ever.
    fn go_on(&mut self, thread: usize) {
        while !self.found
            && let Some(event) = self.next_event(thread)
        {
            let stays = matches!(self.context.trace.event(event).op, Op::Fail { .. } | Op::Call { .. });
            if stays || self.context.step(event).is_some() || self.event(event, None).is_err() {
                return;
            }
        }
    }

    /// How many events of a step come with its anchor.
    fn parts(&self, anchor: EventId) -> u32 {
        self.context.trace.event(anchor).part.map_or(1, |(number, parts)| parts + 1 - number)
    }

    /// In how many ways a step can turn out; else the event of it that cannot come, and why.
    fn look_ahead(&self, head: EventId, anchor: EventId) -> Result<usize, (EventId, Blocked)> {
        let semantics = self.context.semantics;
        let choices = |state: &State| semantics.releasable(state, anchor).len().max(1);
        if head == anchor && self.parts(anchor) == 1 {
            semantics.enabled(&self.state, anchor).map_err(|blocked| (anchor, blocked))?;
            return Ok(choices(&self.state));
        }
        let thread = self.context.trace.event(head).thread;
        let mut state = self.state.clone();
        let mut found = 1;
        let mut left = None;
        while let Some(event) = semantics.next(&state, thread).filter(|_| left != Some(0)) {
            if event == anchor {
                semantics.enabled(&state, anchor).map_err(|blocked| (anchor, blocked))?;
                found = choices(&state);
                left = Some(self.parts(anchor));
            }
            let released = semantics.releasable(&state, event).first().copied();
            semantics.step(&mut state, event, released).map_err(|blocked| (event, blocked))?;
            left = left.map(|left| left - 1);
        }
        Ok(found)
    }

    /// What a thread can do. A step that would stay half-way is not taken: the same history happens without it.
    fn able(&self, thread: usize) -> Able {
        let Some(event) = self.next_event(thread) else { return Able::Never };
        let Some(step) = self.context.step(event) else { return Able::Never };
        let ahead = self.look_ahead(event, step.anchor);
        if ahead.as_ref().is_err_and(|(_, blocked)| is_by_value(*blocked)) {
            self.context.leaves_path.set(true);
        }
        match ahead {
            Ok(choices) => Able::Now(Action { choices, ..step.action.clone() }),
            Err((_, Blocked::Stopped | Blocked::TooLarge)) => Able::Never,
            Err((event, Blocked::False { .. })) if self.context.trace.event(event).op.var().is_none() => Able::Never,
            Err(_) => Able::Later(step.action.clone()),
        }
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
        self.able = able;
    }

    /// The least persistent set with a thread, as far as what threads use tells.
    fn persistent(&self, thread: usize, able: &[Able]) -> Vec<usize> {
        let mut set = vec![thread];
        let mut at = 0;
        while let Some(own) = set.get(at).copied() {
            at += 1;
            let (Able::Now(action) | Able::Later(action)) = &able[own] else { continue };
            let is_blocked = matches!(able[own], Able::Later(_));
            for (other, theirs) in able.iter().enumerate() {
                if set.contains(&other) || matches!(theirs, Able::Never) {
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
        match self.able[thread].clone() {
            Able::Never => Next::Over,
            Able::Now(action) if self.tried[thread] => Next::Ready(action),
            Able::Now(action) | Able::Later(action) => Next::Blocked(action),
        }
    }

    fn step(&mut self, thread: usize, choice: usize) {
        let Some(head) = self.next_event(thread) else { return };
        let Some(Step { anchor, .. }) = self.context.step(head) else { return };
        while let Some(event) = self.next_event(thread) {
            let waiting = self.context.semantics.releasable(&self.state, event);
            if self.event(event, waiting.get(choice).copied()).is_err() {
                return;
            }
            if event == *anchor {
                break;
            }
        }
        for _ in 1..self.parts(*anchor) {
            if self.next_event(thread).is_none_or(|event| self.event(event, None).is_err()) {
                return;
            }
        }
        self.go_on(thread);
        if let Op::Fork { child } = self.context.trace.event(*anchor).op {
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
        fingerprint_of(|hasher| (&self.state, &self.performed).hash(hasher))
    }

    fn counts(&self) -> bool {
        false
    }
}

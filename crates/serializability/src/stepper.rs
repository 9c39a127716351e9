//! The events of a segment as a system of steps.
//!
//! A step is one event that other threads can observe, with the thread's events after it that they cannot observe. All events of one step
//! of the trace (`part`) go together. The trace's step semantics says what is enabled and what a step does.

use crate::accesses::Accesses;
use crate::monitor::{Monitor, Watched};
use crate::objects::{Objects, Users};
use crate::segment::Range;
use foretrace_explore::{Action, Fingerprint, Mode, Next, System, Use, fingerprint_of};
use foretrace_index::TraceIndex;
use foretrace_trace::{Block, Blocked, EventId, Op, Semantics, State, ThreadId, Trace};
use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::sync::Arc;

/// What all states of one exploration have in common.
pub struct Context<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) semantics: &'a Semantics<'a>,
    pub(crate) trace_index: &'a TraceIndex,
    pub(crate) accesses: &'a Accesses,
    pub(crate) watched: Watched,
    /// What is explored.
    pub(crate) range: Range,
    /// Per event of the range what other threads can tell of it; nothing where they cannot tell anything.
    actions: Vec<Option<Action>>,
    /// Where each thread's events of the range are among the actions.
    offsets: Vec<usize>,
}

impl<'a> Context<'a> {
    /// The exploration of a range for a block. If context switches count, the first event of a thread in the range is a step by itself. No
    /// other thread can notice it, but it may take a switch.
    pub fn new(
        trace: &'a Trace,
        semantics: &'a Semantics<'a>,
        trace_index: &'a TraceIndex,
        accesses: &'a Accesses,
        (objects, users): (&Objects, &Users),
        (block, part): (Block, FxHashMap<EventId, EventId>),
        (range, counts_switches): (Range, bool),
    ) -> Context<'a> {
        let mut shared: Vec<Option<bool>> = vec![None; objects.count()];
        let mut is_shared =
            |one: &Use| *shared[one.object as usize].get_or_insert_with(|| is_shared_within(users, one.object, &range));
        let none: Arc<[Use]> = Arc::from([]);
        let mut actions = Vec::new();
        let mut offsets = Vec::new();
        for (thread, events) in trace_index.threads.iter().enumerate() {
            offsets.push(actions.len());
            let (from, to) = (range.upper[thread] as usize, range.lower[thread] as usize);
            let mut position = from;
            while position < to {
                let last = trace_index.position(trace_index.step(trace, events[position]).1).min(events.len() - 1);
                let step = &events[position..=last.max(position)];
                let uses = step.iter().flat_map(|id| objects.uses(&trace.event(*id).op)).flatten();
                let uses: Vec<Use> = uses.filter(&mut is_shared).collect();
                let mut action = Action::new(if uses.is_empty() { none.clone() } else { Arc::from(uses) });
                match trace.event(events[position]).op {
                    Op::Fork { child } => action.starts = Some(child.index()),
                    Op::Join { child } if range.lower[child.index()] > range.upper[child.index()] => {
                        action.joins = Some(child.index());
                    }
                    _ => {}
                }
                let asks = |id: &EventId| {
                    matches!(trace.event(*id).op, Op::Rmw { .. }) || trace.event(*id).op.condition().is_some()
                };
                action.asks_values = step.len() > 1 || step.iter().any(asks);
                let is_visible = !action.uses.is_empty() || action.starts.is_some() || action.joins.is_some();
                // Of a step of several events the first stands for all; it may fail half-way, so that it is always seen.
                let has_parts = trace.event(events[position]).part.is_some();
                let is_first = counts_switches && position == from;
                actions.push((is_visible || has_parts || is_first).then_some(action));
                actions.extend(std::iter::repeat_n(None, step.len() - 1));
                position += step.len();
            }
        }
        let vars = (0..trace.vars.len() as u32).filter(|var| is_shared(&Use { object: *var, mode: Mode::Write }));
        let watched = Watched::new(block, part, vars);
        Context { trace, semantics, trace_index, accesses, watched, range, actions, offsets }
    }

    fn action(&self, thread: usize, position: u32) -> Option<&Action> {
        self.actions.get(self.offsets[thread] + (position - self.range.upper[thread]) as usize)?.as_ref()
    }
}

/// Whether the events of a range use an object so that the order between threads matters.
fn is_shared_within(users: &Users, object: u32, range: &Range) -> bool {
    let inside = |thread: usize, position: &u32| range.holds(thread, *position);
    let mut threads = 0;
    let mut changes = false;
    for of_thread in users.of_object(object) {
        let from = of_thread.uses.partition_point(|(position, _, _)| *position < range.upper[of_thread.thread]);
        let mut own = of_thread.uses[from..].iter().take_while(|(at, _, _)| inside(of_thread.thread, at)).peekable();
        if own.peek().is_some() {
            threads += 1;
            changes |= own.any(|(_, mode, _)| *mode != Mode::Read);
        }
    }
    threads > 1 && changes
}

/// From where on paths may start, and context switches count.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum From {
    /// From anywhere.
    Anywhere,
    /// From an access that a step is still to choose.
    Open,
    /// From this access on.
    Access(EventId),
}

/// A state of the exploration.
#[derive(Clone)]
pub struct Stepper<'c> {
    context: &'c Context<'c>,
    state: State,
    monitor: Monitor,
    /// A step of several events did not get to its end: nothing can follow.
    is_stuck: bool,
    /// From which of the block's accesses on paths may start.
    from: From,
    /// What led here, where that is wanted.
    schedule: Option<Vec<EventId>>,
}

impl<'c> Stepper<'c> {
    /// The state after `before`, which are all events above the range, in order; with what led there if `records`. `None` where
    /// they cannot happen in this order: then the one that cannot.
    pub fn new(context: &'c Context<'c>, before: &[EventId], records: bool) -> Result<Stepper<'c>, EventId> {
        let monitor = Monitor::new(&context.watched, context.trace.threads.len());
        let schedule = records.then(Vec::new);
        let (state, from) = (context.semantics.initial(), From::Anywhere);
        let mut stepper = Stepper { context, state, monitor, is_stuck: false, from, schedule };
        for event in before {
            let waiting = context.semantics.releasable(&stepper.state, *event);
            // As in the run: the one whose wake names this signal, else the one that waits longest.
            let released = waiting.iter().copied().find(|thread| stepper.is_woken_by(*thread, *event));
            stepper.event(*event, released.or(waiting.first().copied())).map_err(|_| *event)?;
        }
        (0..context.trace.threads.len()).for_each(|thread| stepper.go_on(thread));
        Ok(stepper)
    }

    /// The same state where a step chooses the access of the block from which on paths may start and context switches count.
    pub fn with_choice_of_start(mut self) -> Stepper<'c> {
        self.from = From::Open;
        self
    }

    /// Whether a path may start at the thread's next step, where that is to be chosen.
    fn may_choose(&self, thread: usize, event: EventId) -> bool {
        let Context { trace, trace_index, accesses, watched: Watched { block, .. }, .. } = self.context;
        let (first, last) = trace_index.step(trace, event);
        let is_own = |event: u32| block.first.0 <= event && event <= block.last.0 && accesses.count(EventId(event));
        let own = &trace_index.threads[thread];
        let step = &own[trace_index.position(first)..=trace_index.position(last)];
        self.from == From::Open && thread == block.thread.index() && step.iter().any(|event| is_own(event.0))
    }

    fn is_woken_by(&self, thread: ThreadId, signal: EventId) -> bool {
        let next = self.context.semantics.next(&self.state, thread);
        next.is_some_and(
            |wake| matches!(self.context.trace.event(wake).op, Op::Wake { by: Some(by), .. } if by == signal),
        )
    }

    /// What led here.
    pub fn schedule(&self) -> &[EventId] {
        self.schedule.as_deref().unwrap_or(&[])
    }

    /// The next event of a thread, where it is in the range.
    pub fn next_event(&self, thread: usize) -> Option<EventId> {
        let event = self.context.semantics.next(&self.state, ThreadId::from_index(thread))?;
        let position = self.context.trace_index.position(event) as u32;
        (position < self.context.range.lower[thread]).then_some(event)
    }

    /// The access at which a path came back to the block.
    pub fn end(&self) -> Option<EventId> {
        self.monitor.found()
    }

    fn event(&mut self, event: EventId, released: Option<ThreadId>) -> Result<(), Blocked> {
        self.context.semantics.step(&mut self.state, event, released)?;
        let may_start = match self.from {
            From::Anywhere => true,
            From::Open => false,
            From::Access(from) => from <= event,
        };
        self.monitor.see(self.context.trace, self.context.accesses, &self.context.watched, event, may_start);
        if let Some(schedule) = &mut self.schedule {
            schedule.push(event);
        }
        Ok(())
    }

    /// Takes the thread's next events that no other thread can tell.
    fn go_on(&mut self, thread: usize) {
        while let Some(event) = self.next_event(thread) {
            let position = self.context.trace_index.position(event) as u32;
            if self.context.action(thread, position).is_some() || self.event(event, None).is_err() {
                return;
            }
        }
    }

    /// Takes the events of the thread's step that come after its first one; whether it got to its end.
    fn rest_of_step(&mut self, thread: usize, first: EventId) -> bool {
        let count = self.context.trace.event(first).part.map_or(1, |(k, n)| n + 1 - k);
        (1..count).all(|_| self.next_event(thread).is_some_and(|event| self.event(event, None).is_ok()))
    }
}

impl System for Stepper<'_> {
    fn threads(&self) -> usize {
        self.context.trace.threads.len()
    }

    fn next(&self, thread: usize) -> Next {
        if self.is_stuck {
            return Next::Over;
        }
        let Some(event) = self.next_event(thread) else { return Next::Over };
        let position = self.context.trace_index.position(event) as u32;
        let Some(action) = self.context.action(thread, position) else { return Next::Over };
        let op = &self.context.trace.event(event).op;
        match self.context.semantics.enabled(&self.state, event) {
            Ok(_) => {}
            Err(Blocked::Stopped | Blocked::TooLarge) => return Next::Over,
            Err(Blocked::False { .. }) if op.var().is_none() => return Next::Over,
            Err(_) => return Next::Blocked(action.clone()),
        }
        let mut action = action.clone();
        action.choices = self.context.semantics.releasable(&self.state, event).len().max(1);
        if self.may_choose(thread, event) {
            action.choices = 2;
        }
        if self.context.trace.event(event).part.is_some() {
            let mut trial = self.clone();
            action.ends_all = trial.event(event, None).is_err() || !trial.rest_of_step(thread, event);
        }
        Next::Ready(action)
    }

    fn step(&mut self, thread: usize, choice: usize) {
        let Some(event) = self.next_event(thread) else { return };
        let waiting = self.context.semantics.releasable(&self.state, event);
        if choice == 1 && self.may_choose(thread, event) {
            self.from = From::Access(event);
        }
        if self.event(event, waiting.get(choice).copied()).is_err() {
            return;
        }
        if !self.rest_of_step(thread, event) {
            self.is_stuck = true;
            return;
        }
        self.go_on(thread);
        if let Op::Fork { child } = self.context.trace.event(event).op {
            self.go_on(child.index());
        }
    }

    fn found(&self) -> bool {
        self.monitor.found().is_some()
    }
}

impl Fingerprint for Stepper<'_> {
    fn fingerprint(&self) -> u128 {
        fingerprint_of(|hasher| (&self.state, &self.monitor, self.is_stuck, self.from).hash(hasher))
    }

    fn counts(&self) -> bool {
        self.from != From::Open
    }
}

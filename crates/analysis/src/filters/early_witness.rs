//! Early witnesses: schedules that are tried by running the step semantics, without a solver.
//!
//! Source: F. Sorrentino, A. Farzan, P. Madhusudan, *PENELOPE: Weaving Threads to Expose Atomicity Violations*, FSE 2010, section 4.2.
//!
//! The run follows the recorded order up to the point where it must leave it. From there it holds one thread at a chosen point
//! and advances the others, the event recorded earliest first, until remote lies between first and second. The caller has the
//! checker run every schedule, so nothing here has to be trusted.

use super::locksets::Locksets;
use super::wake_search::{Leg, WakeSearch};
use foretrace_index::TraceIndex;
use foretrace_trace::{
    Cell, Effect, EventId, Feasibility, Model, Observed, Op, Question, Semantics, State, ThreadId, Trace, Triple,
    Unsupported,
};

/// Steps of one attempt.
const MOST_STEPS: usize = 4_000;
/// Most states of the recorded run that are kept, and most cells in all of them.
const MOST_SNAPSHOTS: usize = 128;
const MOST_CELLS: usize = 1 << 22;
/// Least distance between two of them.
const LEAST_STRIDE: usize = 128;

/// Builds schedules for candidates.
pub struct EarlyWitness<'a> {
    trace: &'a Trace,
    trace_index: &'a TraceIndex,
    observed: &'a Observed,
    semantics: Semantics<'a>,
    complete: bool,
    /// Whether a plain read that does not return the recorded value ends its thread.
    repeats: bool,
    /// Where no value counts and threads wait for signals.
    wake_search: Option<WakeSearch>,
    stride: usize,
    /// The states of the recorded run after every `stride` events.
    snapshots: Vec<State>,
}

/// Where the two threads of a candidate stand still, as numbers of their events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Plan {
    /// Remote's thread waits here until first is done.
    hold: u32,
    /// The transaction's thread waits here, after first, until remote is done.
    cut: u32,
    /// Whether the thread that is waited for goes ahead of what was recorded earlier.
    hurry: bool,
}

/// Accesses of one thread that a schedule should have between two others: all in between in program order, too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// The earliest.
    pub from: EventId,
    /// The latest.
    pub to: EventId,
}

/// How sweeps are made.
#[derive(Clone, Copy, Debug)]
pub enum Way<'g> {
    /// As in the run, as far as possible.
    AsRecorded,
    /// Along a schedule up to first.
    Along(&'g Guide),
}

/// A schedule along which others are made: its steps come first in its order, then the rest as recorded.
#[derive(Clone, Debug)]
pub struct Guide {
    /// The place of each event.
    places: Vec<u32>,
}

impl Guide {
    /// Along a schedule of a trace with this many events.
    pub fn new(schedule: &[EventId], events: usize) -> Guide {
        let mut places: Vec<u32> = (0..events).map(|event| (schedule.len() + event) as u32).collect();
        for (place, event) in schedule.iter().enumerate() {
            places[event.index()] = place as u32;
        }
        Guide { places }
    }

    /// Where an event comes.
    pub fn place(&self, event: EventId) -> u32 {
        self.places[event.index()]
    }
}

/// A thread that waits, as its plan says, until first is done.
#[derive(Clone, Copy, Debug)]
struct Held {
    thread: ThreadId,
    at: u32,
    /// What it is to do between first and second: at least the one, at most up to the other.
    from: EventId,
    to: EventId,
}

/// A plan with what it is for.
#[derive(Clone, Copy)]
struct Course<'h> {
    first: EventId,
    second: EventId,
    cut: u32,
    held: &'h [Held],
    manner: Manner<'h>,
}

/// Which thread goes next where nothing else is asked: the one whose next event comes earliest.
#[derive(Clone, Copy)]
struct Manner<'h> {
    /// But for the one that is waited for, which goes ahead; with a guide, from first on.
    hurry: bool,
    /// Along this in place of the recorded order.
    guide: Option<&'h Guide>,
}

impl Manner<'_> {
    /// Where an event comes.
    fn place(self, event: EventId) -> u32 {
        self.guide.map_or(event.0, |guide| guide.place(event))
    }
}

impl<'a> EarlyWitness<'a> {
    /// Runs the recorded order once and keeps some of its states; fewer where `go_on` no longer agrees, and makes fewer schedules
    /// then.
    pub fn within(
        trace: &'a Trace,
        trace_index: &'a TraceIndex,
        observed: &'a Observed,
        locksets: &Locksets,
        question: Question,
        go_on: &dyn Fn() -> bool,
    ) -> Result<EarlyWitness<'a>, Unsupported> {
        let cells = trace.vars.len() + trace.syncs.len() + trace.threads.len() + 16;
        let most = (MOST_CELLS / cells).clamp(1, MOST_SNAPSHOTS);
        let mut witness = EarlyWitness {
            trace,
            trace_index,
            observed,
            semantics: Semantics::new(trace, observed, question.model)?,
            complete: question.feasibility == Feasibility::Complete,
            repeats: matches!(question.model, Model::Mcm | Model::Avp),
            wake_search: Some(locksets)
                .filter(|_| question.model == Model::Cam)
                .and_then(|locksets| WakeSearch::new(trace, trace_index, locksets)),
            stride: (trace.events.len() / most).max(LEAST_STRIDE),
            snapshots: Vec::new(),
        };
        witness.snapshots = witness.record(go_on);
        Ok(witness)
    }

    fn record(&self, go_on: &dyn Fn() -> bool) -> Vec<State> {
        let mut state = self.semantics.initial();
        let mut snapshots = vec![state.clone()];
        for (id, _) in self.trace.iter() {
            let released = self.released(&state, id, |wake| wake.0);
            if self.semantics.step(&mut state, id, released).is_err() {
                break; // not reached in a valid trace
            }
            if (id.index() + 1).is_multiple_of(self.stride) {
                snapshots.push(state.clone());
                if !go_on() {
                    break;
                }
            }
        }
        snapshots
    }

    /// The recorded order as far as it is asked for, where it shows the triple.
    pub fn recorded(&self, triple: Triple) -> Option<Vec<EventId>> {
        let Triple { first, remote, second } = triple;
        let last = if self.complete { self.trace.events.len() - 1 } else { second.index() };
        (first < remote && remote < second).then(|| (0..=last).map(EventId::from_index).collect())
    }

    /// Schedules for the triple, one at a time; each is a prefix of the model that holds it in order.
    pub fn schedules(&self, locksets: &Locksets, triple: Triple) -> impl Iterator<Item = Vec<EventId>> {
        let Triple { first, remote, second } = triple;
        let span = Span { from: remote, to: remote };
        let by_plan = self.plans(locksets, triple).into_iter().filter_map(move |plan| self.attempt(triple, plan));
        by_plan.chain(std::iter::once_with(move || self.by_handshakes(locksets, (first, second), span)).flatten())
    }

    /// The ways to try, likeliest first.
    fn plans(&self, locksets: &Locksets, triple: Triple) -> Vec<Plan> {
        let [first, remote, second] =
            [triple.first, triple.remote, triple.second].map(|event| self.trace_index.position[event.index()]);
        let thread = |event| self.trace.event(event).thread.index();
        let mut holds = vec![remote];
        holds.extend(locksets.unlocked_before(thread(triple.remote), remote));
        let mut cuts = vec![first + 1];
        cuts.extend(locksets.unlocked_after(thread(triple.first), first).map(|count| count.min(second)));
        cuts.push(second);
        let mut plans = Vec::new();
        for hurry in [true, false] {
            for hold in &holds {
                for cut in &cuts {
                    let plan = Plan { hold: *hold, cut: *cut, hurry };
                    if !plans.contains(&plan) {
                        plans.push(plan);
                    }
                }
            }
        }
        plans
    }

    /// Schedules that end with remote, after first and before second, one at a time; each is a prefix of the model.
    pub fn interruptions(&self, locksets: &Locksets, triple: Triple) -> impl Iterator<Item = Vec<EventId>> {
        let of_plan = move |plan: Plan| {
            let held = [self.held(triple, plan)];
            self.interrupted(self.course(triple, plan, &held), MOST_STEPS).map(|walk| walk.schedule)
        };
        self.plans(locksets, triple).into_iter().filter_map(of_plan)
    }

    fn attempt(&self, triple: Triple, plan: Plan) -> Option<Vec<EventId>> {
        let held = [self.held(triple, plan)];
        self.along(self.course(triple, plan, &held), MOST_STEPS)
    }

    fn held(&self, triple: Triple, plan: Plan) -> Held {
        let remote = triple.remote;
        Held { thread: self.trace.event(remote).thread, at: plan.hold, from: remote, to: remote }
    }

    fn course<'h>(&self, triple: Triple, plan: Plan, held: &'h [Held]) -> Course<'h> {
        let manner = Manner { hurry: plan.hurry, guide: None };
        Course { first: triple.first, second: triple.second, cut: plan.cut, held, manner }
    }

    /// Whether threads go on after a read that does not return what it did.
    pub fn goes_on(&self) -> bool {
        !self.repeats
    }

    /// Schedules in which each of these threads does as many as it can of its accesses `from..=to` between first and second,
    /// made in this way.
    pub fn sweeps(
        &self,
        locksets: &Locksets,
        (first, second): (EventId, EventId),
        spans: &[Span],
        way: Way<'_>,
    ) -> impl Iterator<Item = Vec<EventId>> {
        let position = |event: EventId| self.trace_index.position[event.index()];
        let thread = self.trace.event(first).thread.index();
        let mut cuts = vec![position(first) + 1];
        cuts.extend(locksets.unlocked_after(thread, position(first)).map(|count| count.min(position(second))));
        cuts.dedup();
        let hold = move |span: &Span, unlocked: bool| {
            let (thread, at) = (self.trace.event(span.from).thread, position(span.from));
            let before = locksets.unlocked_before(thread.index(), at).filter(|_| unlocked);
            Held { thread, at: before.unwrap_or(at), from: span.from, to: span.to }
        };
        let held = [true, false].map(|unlocked| spans.iter().map(|span| hold(span, unlocked)).collect::<Vec<Held>>());
        let ways = held.into_iter().flat_map(move |held| cuts.clone().into_iter().map(move |cut| (held.clone(), cut)));
        let guide = match way {
            Way::AsRecorded => None,
            Way::Along(guide) => Some(guide),
        };
        ways.filter_map(move |(held, cut)| {
            let manner = Manner { hurry: true, guide };
            self.along(Course { first, second, cut, held: &held, manner }, self.trace.events.len())
        })
    }

    /// Whether schedules are searched for by who signals whom.
    pub fn has_handshakes(&self) -> bool {
        self.wake_search.is_some()
    }

    /// A schedule by who signals whom, in which the earliest access of the span comes between first and second, and so do those after
    /// it that its thread gets to.
    pub fn by_handshakes(
        &self,
        locksets: &Locksets,
        (first, second): (EventId, EventId),
        span: Span,
    ) -> Option<Vec<EventId>> {
        let wake_search = self.wake_search.as_ref()?;
        let goal = wake_search.goal(self.trace, self.trace_index, locksets, [first, span.from, span.to, second])?;
        let legs = wake_search.legs(&goal)?;
        let limits = self.trace_index.threads.iter().map(|own| own.len() as u32).collect();
        let manner = Manner { hurry: true, guide: None };
        let (state, left) = (self.semantics.initial(), self.trace.events.len());
        let mut walk = Walk { by: self, state, schedule: Vec::new(), limits, last: Vec::new(), manner, left };
        legs.iter().try_for_each(|leg| walk.leg(leg))?;
        walk.until(second, self.trace.event(second).thread)?;
        if self.complete { walk.finish() } else { Some(walk.schedule) }
    }

    fn along(&self, course: Course<'_>, most_steps: usize) -> Option<Vec<EventId>> {
        let Course { first, second, held, .. } = course;
        let (own, local) = (&self.trace_index.threads, self.trace.event(first).thread);
        let mut walk = self.interrupted(course, most_steps)?;
        walk.limits[local.index()] = self.trace_index.position[second.index()] + 1;
        held.iter().for_each(|held| walk.limits[held.thread.index()] = own[held.thread.index()].len() as u32);
        walk.until(second, local)?;
        if self.complete { walk.finish() } else { Some(walk.schedule) }
    }

    /// The same up to where those that were held have done what they are to do, and second is still to come.
    fn interrupted<'w>(&'w self, course: Course<'w>, most_steps: usize) -> Option<Walk<'w, 'a>> {
        let Course { first, second, held, manner, .. } = course;
        let local = self.trace.event(first).thread;
        let own = &self.trace_index.threads;
        // Up to here the recorded order does as it is.
        let stands = held.iter().map(|held| own[held.thread.index()][held.at as usize]);
        let leave = stands.chain([own[local.index()][course.cut as usize]]).min()?.index();
        let at = if manner.guide.is_none() { leave } else { 0 };
        let state = self.recorded_state(at)?;
        let schedule = (0..at).map(EventId::from_index).collect();
        let limits = own.iter().map(|own| own.len() as u32).collect();
        let last = held.iter().map(|held| held.to).chain([second]).collect();
        let at_first = Manner { hurry: manner.hurry && manner.guide.is_none(), ..manner };
        let mut walk = Walk { by: self, state, schedule, limits, last, manner: at_first, left: most_steps };
        walk.limits[local.index()] = course.cut;
        held.iter().for_each(|held| walk.limits[held.thread.index()] = held.at);
        walk.until(first, local)?;
        walk.manner = manner;
        for held in held {
            walk.limits[held.thread.index()] = self.trace_index.position[held.to.index()] + 1;
        }
        for held in held {
            let _ = walk.until(held.to, held.thread); // as far as it gets
        }
        if !held.iter().any(|held| self.semantics.is_done(&walk.state, held.from)) {
            return None;
        }
        Some(walk)
    }

    /// The recorded run before its event `index`, unless it was cut off before.
    fn recorded_state(&self, index: usize) -> Option<State> {
        let number = (index / self.stride).min(self.snapshots.len() - 1);
        let mut state = self.snapshots[number].clone();
        for id in (number * self.stride..index).map(EventId::from_index) {
            let released = self.released(&state, id, |wake| wake.0);
            self.semantics.step(&mut state, id, released).ok()?;
        }
        Some(state)
    }

    fn as_recorded(&self, read: EventId, effect: &Effect) -> bool {
        match &effect.before {
            Cell::Anything => true,
            Cell::Value(value) => self.observed.read(read) == Some(value),
            Cell::Write(write) => self.observed.source(read) == *write,
        }
    }

    /// Of the waiters that a signal may release, the one whose wake comes earliest by `place`.
    fn released<P: Ord>(&self, state: &State, event: EventId, place: impl Fn(EventId) -> P) -> Option<ThreadId> {
        if !matches!(self.trace.event(event).op, Op::Signal { .. }) {
            return None;
        }
        let wake = |thread: &ThreadId| {
            let next = self.semantics.next(state, *thread);
            let next = next.filter(|next| matches!(self.trace.event(*next).op, Op::Wake { cause: None, .. }));
            (next.is_none(), next.map(&place))
        };
        self.semantics.releasable(state, event).into_iter().min_by_key(wake)
    }
}

/// A schedule on its way.
struct Walk<'w, 'a> {
    by: &'w EarlyWitness<'a>,
    state: State,
    schedule: Vec<EventId>,
    /// Per thread: how many of its events it may take.
    limits: Vec<u32>,
    /// Those that are the last of their thread, whatever they read.
    last: Vec<EventId>,
    manner: Manner<'w>,
    /// How many steps there may still be.
    left: usize,
}

impl Walk<'_, '_> {
    /// Goes on until an event is done, with its thread ahead of the others where there is a hurry.
    fn until(&mut self, goal: EventId, thread: ThreadId) -> Option<()> {
        while !self.by.semantics.is_done(&self.state, goal) {
            self.left = self.left.checked_sub(1)?;
            self.advance(self.manner.hurry.then_some(thread))?;
        }
        Some(())
    }

    /// Goes on to the last event of all threads.
    fn finish(mut self) -> Option<Vec<EventId>> {
        self.limits = self.by.trace_index.threads.iter().map(|own| own.len() as u32).collect();
        while self.schedule.len() < self.by.trace.events.len() {
            self.advance(None)?;
        }
        Some(self.schedule)
    }

    /// Takes the next step: of the thread `ahead` if it can, else of the one whose next event comes earliest.
    fn advance(&mut self, ahead: Option<ThreadId>) -> Option<()> {
        let preferred = ahead.and_then(|thread| self.next(thread));
        if preferred.is_some_and(|next| self.step(next)) {
            return Some(());
        }
        let threads = (0..self.limits.len()).map(ThreadId::from_index);
        let mut others: Vec<EventId> = threads.filter_map(|thread| self.next(thread)).collect();
        others.sort_unstable_by_key(|next| self.manner.place(*next));
        others.into_iter().any(|next| preferred != Some(next) && self.step(next)).then_some(())
    }

    /// The next event of a thread, if it may take one.
    fn next(&self, thread: ThreadId) -> Option<EventId> {
        self.by.semantics.next(&self.state, thread).filter(|next| !self.is_held(*next))
    }

    /// Whether its thread may not go so far now.
    fn is_held(&self, event: EventId) -> bool {
        self.limits[self.by.trace.event(event).thread.index()] <= self.by.trace_index.position[event.index()]
    }

    /// Goes on with one thread alone.
    fn leg(&mut self, leg: &Leg) -> Option<()> {
        let by = self.by;
        while let Some(next) = by.semantics.next(&self.state, leg.thread)
            && by.trace_index.position[next.index()] < leg.to
        {
            let chosen = leg.releases.iter().find(|(signal, _)| *signal == next).map(|(_, thread)| *thread);
            let released = chosen.or_else(|| by.released(&self.state, next, |wake| wake.0));
            by.semantics.step(&mut self.state, next, released).ok()?;
            self.schedule.push(next);
        }
        Some(())
    }

    fn step(&mut self, event: EventId) -> bool {
        let by = self.by;
        let stops = by.repeats && !self.last.contains(&event);
        if stops && matches!(by.trace.event(event).op, Op::Read { guard: None, .. }) {
            // Rather wait for the recorded value than end the thread.
            match by.semantics.enabled(&self.state, event) {
                Ok(effect) if by.as_recorded(event, &effect) => {}
                _ => return false,
            }
        }
        let released = by.released(&self.state, event, |wake| self.manner.place(wake));
        let done = by.semantics.step(&mut self.state, event, released).is_ok();
        self.schedule.extend(done.then_some(event));
        done
    }
}

//! Early witnesses: schedules that are tried by running the step semantics, without a solver.
//!
//! Source: Penelope, 4.2. The run follows the recorded order up to where it has to leave it; from there one thread is held
//! at a point of its own while the others advance, the event recorded earliest first, until remote lies between first
//! and second. Nothing here is trusted: the caller has every schedule checked.

use super::locksets::Locksets;
use foretrace_trace::{
    Cell, Effect, EventId, Feasibility, Model, Observed, Op, Question, Semantics, State, Structure, ThreadId, Trace,
    Triple, Unsupported,
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
    structure: &'a Structure,
    observed: &'a Observed,
    semantics: Semantics<'a>,
    complete: bool,
    /// Whether a plain read that does not return the recorded value ends its thread.
    repeats: bool,
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

impl<'a> EarlyWitness<'a> {
    /// Runs the recorded order once and keeps some of its states.
    pub fn new(
        trace: &'a Trace,
        structure: &'a Structure,
        observed: &'a Observed,
        question: Question,
    ) -> Result<EarlyWitness<'a>, Unsupported> {
        let cells = trace.vars.len() + trace.syncs.len() + trace.threads.len() + 16;
        let most = (MOST_CELLS / cells).clamp(1, MOST_SNAPSHOTS);
        let mut witness = EarlyWitness {
            trace,
            structure,
            observed,
            semantics: Semantics::new(trace, observed, question.model)?,
            complete: question.feasibility == Feasibility::Complete,
            repeats: matches!(question.model, Model::Mcm | Model::Avp),
            stride: (trace.events.len() / most).max(LEAST_STRIDE),
            snapshots: Vec::new(),
        };
        witness.snapshots = witness.record();
        Ok(witness)
    }

    fn record(&self) -> Vec<State> {
        let mut state = self.semantics.initial();
        let mut snapshots = vec![state.clone()];
        for (id, _) in self.trace.iter() {
            let released = self.released(&state, id);
            if self.semantics.step(&mut state, id, released).is_err() {
                break; // not reached in a valid trace
            }
            if (id.index() + 1).is_multiple_of(self.stride) {
                snapshots.push(state.clone());
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
        self.plans(locksets, triple).into_iter().filter_map(move |plan| self.attempt(triple, plan))
    }

    /// The ways to try, likeliest first.
    fn plans(&self, locksets: &Locksets, triple: Triple) -> Vec<Plan> {
        let [first, remote, second] =
            [triple.first, triple.remote, triple.second].map(|event| self.structure.position[event.index()]);
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

    fn attempt(&self, triple: Triple, plan: Plan) -> Option<Vec<EventId>> {
        let thread = |event| self.trace.event(event).thread;
        let (local, other) = (thread(triple.first), thread(triple.remote));
        let held = |thread: ThreadId, count: u32| self.structure.threads[thread.index()][count as usize];
        // Up to here the recorded order does as it is.
        let leave = held(local, plan.cut).min(held(other, plan.hold)).index();
        let (mut state, at) = self.recorded_state(leave)?;
        let mut schedule: Vec<EventId> = (0..at).map(EventId::from_index).collect();
        let mut limits: Vec<u32> = self.structure.threads.iter().map(|own| own.len() as u32).collect();
        let mut steps = 0;
        limits[local.index()] = plan.cut;
        limits[other.index()] = plan.hold;
        let mut run = |goal: EventId, ahead: ThreadId, limits: &[u32], schedule: &mut Vec<EventId>| {
            while !self.semantics.is_done(&state, goal) {
                steps += 1;
                let next = self.advance(&mut state, triple, limits, plan.hurry.then_some(ahead))?;
                schedule.push(next);
                if steps > MOST_STEPS {
                    return None;
                }
            }
            Some(())
        };
        run(triple.first, local, &limits, &mut schedule)?;
        limits[other.index()] = self.structure.position[triple.remote.index()] + 1;
        run(triple.remote, other, &limits, &mut schedule)?;
        limits[local.index()] = self.structure.position[triple.second.index()] + 1;
        limits[other.index()] = self.structure.threads[other.index()].len() as u32;
        run(triple.second, local, &limits, &mut schedule)?;
        if self.complete { self.complete(state, triple, schedule) } else { Some(schedule) }
    }

    /// The recorded run before its event `index`, unless it was cut off before.
    fn recorded_state(&self, index: usize) -> Option<(State, usize)> {
        let number = (index / self.stride).min(self.snapshots.len() - 1);
        let mut state = self.snapshots[number].clone();
        for id in (number * self.stride..index).map(EventId::from_index) {
            let released = self.released(&state, id);
            self.semantics.step(&mut state, id, released).ok()?;
        }
        Some((state, index))
    }

    /// Takes the next step: of the thread `ahead` if it can, else of the one whose next event was recorded earliest.
    fn advance(&self, state: &mut State, triple: Triple, limits: &[u32], ahead: Option<ThreadId>) -> Option<EventId> {
        let within = |thread: ThreadId, state: &State| {
            let next = self.semantics.next(state, thread)?;
            (self.structure.position[next.index()] < limits[thread.index()]).then_some(next)
        };
        let preferred = ahead.and_then(|thread| within(thread, state));
        if let Some(next) = preferred
            && self.step(state, triple, next)
        {
            return Some(next);
        }
        let mut others: Vec<EventId> =
            (0..limits.len()).filter_map(|thread| within(ThreadId::from_index(thread), state)).collect();
        others.sort_unstable();
        others.into_iter().filter(|next| preferred != Some(*next)).find(|next| self.step(state, triple, *next))
    }

    fn step(&self, state: &mut State, triple: Triple, event: EventId) -> bool {
        let stops = self.repeats && event != triple.second && event != triple.remote;
        if stops && matches!(self.trace.event(event).op, Op::Read { guard: None, .. }) {
            // Rather wait for the recorded value than end the thread.
            match self.semantics.enabled(state, event) {
                Ok(effect) if self.as_recorded(event, &effect) => {}
                _ => return false,
            }
        }
        let released = self.released(state, event);
        self.semantics.step(state, event, released).is_ok()
    }

    fn as_recorded(&self, read: EventId, effect: &Effect) -> bool {
        match &effect.before {
            Cell::Anything => true,
            Cell::Value(value) => self.observed.read(read) == Some(value),
            Cell::Write(write) => self.observed.source(read) == *write,
        }
    }

    /// Of the waiters that a signal may release, the one whose wake was recorded earliest.
    fn released(&self, state: &State, event: EventId) -> Option<ThreadId> {
        if !matches!(self.trace.event(event).op, Op::Signal { .. }) {
            return None;
        }
        let wake = |thread: &ThreadId| {
            let next = self.semantics.next(state, *thread);
            next.filter(|next| matches!(self.trace.event(*next).op, Op::Wake { cause: None, .. }))
                .map_or(u32::MAX, |next| next.0)
        };
        self.semantics.releasable(state, event).into_iter().min_by_key(wake)
    }

    /// Goes on to the last event of all threads.
    fn complete(&self, mut state: State, triple: Triple, mut schedule: Vec<EventId>) -> Option<Vec<EventId>> {
        let limits: Vec<u32> = self.structure.threads.iter().map(|own| own.len() as u32).collect();
        while schedule.len() < self.trace.events.len() {
            schedule.push(self.advance(&mut state, triple, &limits, None)?);
        }
        Some(schedule)
    }
}

//! Looks for an order by which a branch goes the other way, from the recorded order to ever better ones.
//!
//! The solver decides a branch that hangs on a few values. Where a sum over many turns must grow as far as it can, the solver comes to no end,
//! while each small change of the order shows whether it leads there. What is found is a schedule like any other. What is not found may
//! exist.

use super::distance::Distance;
use foretrace_trace::random::Random;
use foretrace_trace::{Blocked, Event, EventId, Local, Op, Semantics, State, ThreadId, Trace, Value};

/// Steps that are made for one branch, and for all branches of a trace, at the first try.
const STEPS_OF_BRANCH: usize = 4_000_000;
const STEPS: usize = 4 * STEPS_OF_BRANCH;
/// Orders without a better one after which several changes are made at once, to get away from there.
const STALE: usize = 400;
/// How many.
const LEAP: usize = 8;
/// The longest stretch of turns that one change moves.
const LONGEST_MOVE: usize = 6;

/// How many changes of a hundred make threads alternate, and for how many turns at most.
const ALTERNATING: usize = 20;
const LONGEST_ALTERNATION: usize = 30;

/// Makes orders of a trace, each a little different from the best one so far.
pub(super) struct Climber<'t> {
    trace: &'t Trace,
    semantics: Semantics<'t>,
    random: Random,
    /// Steps that may still be made, and how many for one branch.
    steps: usize,
    steps_of_branch: usize,
}

/// An order up to a branch.
struct Tried {
    /// The thread of each turn: a step that others can see, and the thread's own steps after it.
    turns: Vec<ThreadId>,
    order: Vec<EventId>,
    /// Events of the branch's thread that were not made, and how far the branch's condition is from being false.
    from_goal: (usize, u128),
}

impl<'t> Climber<'t> {
    pub(super) fn new(trace: &'t Trace, semantics: Semantics<'t>, effort: u32) -> Climber<'t> {
        let times = effort as usize;
        Climber {
            trace,
            semantics,
            random: Random::new(effort.into()),
            steps: times.saturating_mul(STEPS),
            steps_of_branch: times.saturating_mul(STEPS_OF_BRANCH),
        }
    }

    /// An order after which the branch goes the other way.
    pub(super) fn other_way(&mut self, branch: EventId, go_on: &dyn Fn() -> bool) -> Option<Vec<EventId>> {
        let least = self.steps.saturating_sub(self.steps_of_branch);
        let before = self.trace.iter().take(branch.index());
        let turns = before.filter(|(_, event)| is_turn(&event.op)).map(|(_, event)| event.thread).collect();
        let mut best = self.tried(turns, branch);
        let mut stale = 0;
        while best.from_goal != (0, 0) {
            if self.steps <= least || !go_on() {
                return None;
            }
            let is_leap = stale >= STALE;
            let changes = if is_leap { LEAP } else { 1 + self.random.below(3) };
            let mut turns = best.turns.clone();
            for _ in 0..changes {
                self.change(&mut turns)?;
            }
            let tried = self.tried(turns, branch);
            let is_kept = tried.from_goal <= best.from_goal || is_leap && tried.from_goal.0 == best.from_goal.0;
            stale = if is_leap || tried.from_goal < best.from_goal { 0 } else { stale + 1 };
            if is_kept {
                best = tried;
            }
        }
        Some(best.order)
    }

    /// Takes some turns of a thread to another place, near by or anywhere; nothing where there are too few.
    fn change(&mut self, turns: &mut Vec<ThreadId>) -> Option<()> {
        if turns.len() < 2 {
            return None;
        }
        let from = self.random.below(turns.len());
        if self.random.percent(ALTERNATING) {
            let end = (from + 2 + self.random.below(LONGEST_ALTERNATION)).min(turns.len());
            alternate(&mut turns[from..end], 1 + self.random.below(LONGEST_MOVE));
            return Some(());
        }
        let from = self.at_switch(turns, from);
        let thread = turns[from];
        let alike = turns[from..].iter().take_while(|other| **other == thread).count();
        let count = 1 + self.random.below(alike.min(LONGEST_MOVE));
        turns.drain(from..from + count);
        let (first, end) = match self.random.percent(50) {
            true => (0, turns.len() + 1),
            false => (from.saturating_sub(LONGEST_MOVE), (from + LONGEST_MOVE).min(turns.len()) + 1),
        };
        let to = first + self.random.below(end - first);
        let to = self.at_switch(turns, to);
        turns.splice(to..to, std::iter::repeat_n(thread, count));
        Some(())
    }

    /// A place, or as often the last one before it where another thread goes on.
    fn at_switch(&mut self, turns: &[ThreadId], place: usize) -> usize {
        let is_switch = |at: &usize| *at == 0 || turns.get(*at) != turns.get(*at - 1);
        if self.random.percent(50) { (0..=place).rev().find(is_switch).unwrap_or(0) } else { place }
    }

    /// Makes the turns in this order. Who cannot go on does so as soon as it can.
    fn tried(&mut self, turns: Vec<ThreadId>, branch: EventId) -> Tried {
        let (trace, semantics) = (self.trace, &self.semantics);
        let stuck = vec![false; trace.threads.len()];
        let state = semantics.initial();
        let mut making = Making { trace, semantics, branch, state, stuck, turns: Vec::new(), order: Vec::new() };
        let mut waiting: Vec<ThreadId> = Vec::new();
        for thread in turns {
            if !making.turn(thread) {
                waiting.push(thread);
                continue;
            }
            while let Some(at) = (0..waiting.len()).find(|at| !making.is_at_branch() && making.turn(waiting[*at])) {
                waiting.remove(at);
            }
            if making.is_at_branch() {
                break;
            }
        }
        self.steps = self.steps.saturating_sub(making.order.len() + 1);
        making.tried()
    }
}

/// Lets threads take their turns by rounds: in a round, each thread takes `each` of its turns. The rounds end when no turn is left.
fn alternate(turns: &mut [ThreadId], each: usize) {
    let mut left: Vec<(ThreadId, usize)> = Vec::new();
    for thread in turns.iter() {
        match left.iter_mut().find(|(other, _)| other == thread) {
            Some((_, count)) => *count += 1,
            None => left.push((*thread, 1)),
        }
    }
    let mut places = turns.iter_mut();
    while left.iter().any(|(_, count)| *count > 0) {
        for (thread, count) in &mut left {
            let taken = each.min(*count);
            places.by_ref().take(taken).for_each(|place| *place = *thread);
            *count -= taken;
        }
    }
}

/// Whether others can see the step, or be kept from theirs by it.
fn is_turn(op: &Op) -> bool {
    let is_own = matches!(
        op,
        Op::Let { .. } | Op::Assume { .. } | Op::Begin { .. } | Op::End { .. } | Op::Call { .. } | Op::Return { .. }
    );
    !is_own
}

/// An order that is being made.
struct Making<'m, 't> {
    trace: &'t Trace,
    semantics: &'m Semantics<'t>,
    branch: EventId,
    state: State,
    /// Per thread, whether a branch of it would go another way than in the trace, or it is at the one that is to do so.
    stuck: Vec<bool>,
    turns: Vec<ThreadId>,
    order: Vec<EventId>,
}

impl Making<'_, '_> {
    fn is_at_branch(&self) -> bool {
        let thread = self.trace.event(self.branch).thread;
        self.semantics.next(&self.state, thread) == Some(self.branch)
    }

    /// Makes the thread's next step that others can see, and its own steps around it. Whether there is nothing to wait for.
    fn turn(&mut self, thread: ThreadId) -> bool {
        let mut is_made = false;
        let mut is_inside = false;
        while let Some(event) = self.semantics.next(&self.state, thread)
            && !self.stuck[thread.index()]
        {
            let is_visible = is_turn(&self.trace.event(event).op);
            if is_visible && is_made && !is_inside {
                break;
            }
            let released = self.semantics.releasable(&self.state, event).first().copied();
            if event == self.branch {
                self.stuck[thread.index()] = true;
                break;
            }
            match self.semantics.step(&mut self.state, event, released) {
                Ok(_) => self.order.push(event),
                Err(Blocked::False { .. } | Blocked::TooLarge) => {
                    self.stuck[thread.index()] = true;
                    break;
                }
                Err(_) => return is_made,
            }
            is_made |= is_visible;
            is_inside = self.trace.event(event).part.is_some_and(|(k, n)| k < n);
        }
        if is_made {
            self.turns.push(thread);
        }
        is_made || self.stuck[thread.index()]
    }

    fn tried(self) -> Tried {
        let Making { trace, semantics, branch, state, turns, order, .. } = self;
        let thread = trace.event(branch).thread;
        let Some(condition) =
            trace.event(branch).op.condition().filter(|_| semantics.next(&state, thread) == Some(branch))
        else {
            let is_missing =
                |(id, event): &(EventId, &Event)| event.thread == thread && !semantics.is_done(&state, *id);
            let missing = trace.iter().take(branch.index()).filter(is_missing).count();
            return Tried { turns, order, from_goal: (missing.max(1), 0) };
        };
        let value =
            |local: &Local| semantics.local(&state, local.definition).cloned().unwrap_or(Value::zero(local.sort));
        let distance = Distance { terms: &trace.terms, value: &value };
        Tried { turns, order, from_goal: (0, distance.from(condition, false)) }
    }
}

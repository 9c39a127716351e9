//! Dynamic partial-order reduction with source sets and sleep sets.
//!
//! Source: P. Abdulla, S. Aronis, B. Jonsson and K. Sagonas, "Optimal dynamic partial order reduction", POPL 2014, algorithm 1,
//! on C. Flanagan and P. Godefroid, "Dynamic partial-order reduction for model checking software", POPL 2005. Steps can block
//! here: at the end of an interleaving the next steps of blocked threads are looked at for races, too, and where none of those
//! that could reverse a race is enabled, every enabled thread is tried. No state is stored but the one that the search is in.

use crate::action::{Action, Relation};
use crate::races::History;
use crate::step::Step;
use crate::system::{Next, System};
use crate::threads::ThreadSet;
use std::ops::ControlFlow;

/// What an exploration has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Interleavings that came to their end, or as far as they may go.
    pub executions: u64,
    /// Steps that were not taken, since they are a context switch too many.
    pub cut: u64,
    /// Those given up half-way, since an equivalent one had been explored.
    pub redundant: u64,
    /// Steps taken, those that are taken again after going back among them.
    pub steps: u64,
}

/// How an exploration ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// Everything was explored.
    Complete,
    /// Who looked at the interleavings wanted no more.
    Stopped,
    /// The limit was reached.
    Limit,
}

/// A state on the way, and which threads are tried from it.
struct Node {
    enabled: ThreadSet,
    /// Threads to try.
    backtrack: ThreadSet,
    /// Threads that were tried, or need not be.
    sleep: ThreadSet,
    /// The thread that is being tried, and the choice that comes next.
    current: Option<(usize, usize)>,
    /// Whether a step was taken from here.
    is_left: bool,
}

/// Explores every maximal interleaving from `start`, of those that are equivalent one: with `reduce` off every single one.
/// `at_end` sees each with its last state. `go_on` is asked before every step.
pub fn explore<S: System>(
    start: &S,
    reduce: bool,
    go_on: &mut dyn FnMut(&Tally) -> bool,
    at_end: &mut dyn FnMut(&S, &[Step]) -> ControlFlow<()>,
) -> (Tally, Ended) {
    let mut search = Search {
        start,
        reduce,
        system: start.clone(),
        at: 0,
        marks: Vec::new(),
        history: History::new(start.threads()),
        nodes: Vec::new(),
        tally: Tally::default(),
    };
    let sleep = ThreadSet::new(start.threads());
    if search.arrive(sleep, at_end).is_break() {
        return (search.tally, Ended::Stopped);
    }
    loop {
        if !go_on(&search.tally) {
            return (search.tally, Ended::Limit);
        }
        match search.choose() {
            Some((thread, choice)) => {
                if search.take(thread, choice, at_end).is_break() {
                    return (search.tally, Ended::Stopped);
                }
            }
            None => {
                search.nodes.pop();
                search.history.pop();
                if search.nodes.is_empty() {
                    return (search.tally, Ended::Complete);
                }
            }
        }
    }
}

/// A state is kept at every depth that is a multiple of this, up to [`MOST_MARKS`] of them.
const MARK_EVERY: usize = 24;
const MOST_MARKS: usize = 64;

struct Search<'s, S> {
    start: &'s S,
    reduce: bool,
    /// The state after `at` steps of the history, or one that is no longer on the way where `at` is larger.
    system: S,
    at: usize,
    /// States on the way, by depth.
    marks: Vec<(usize, S)>,
    history: History,
    nodes: Vec<Node>,
    tally: Tally,
}

impl<S: System> Search<'_, S> {
    /// Comes to a state: notes which threads can go on, or that the interleaving ends here.
    fn arrive(&mut self, sleep: ThreadSet, at_end: &mut dyn FnMut(&S, &[Step]) -> ControlFlow<()>) -> ControlFlow<()> {
        let threads = self.system.threads();
        let mut node = Node {
            enabled: ThreadSet::new(threads),
            backtrack: ThreadSet::new(threads),
            sleep,
            current: None,
            is_left: false,
        };
        let found = self.system.found();
        let mut blocked: Vec<(usize, Action)> = Vec::new();
        for thread in (0..threads).filter(|_| !found) {
            match self.system.next(thread) {
                Next::Ready(_) => node.enabled.add(thread),
                Next::Blocked(action) => blocked.push((thread, action)),
                Next::Over => {}
            }
        }
        let last = self.history.steps.last().map(|step| step.thread);
        let awake = |thread: &usize| !node.sleep.has(*thread);
        let able = |thread: &usize| node.enabled.has(*thread) && awake(thread);
        let stay = self.system.preferred().filter(able).or_else(|| last.filter(able));
        let first = stay.or_else(|| node.enabled.iter().find(awake));
        let ends = first.is_none();
        let redundant = ends && node.enabled.iter().next().is_some();
        match first {
            Some(_) if !self.reduce => node.backtrack.add_all(&node.enabled.clone()),
            Some(first) => node.backtrack.add(first),
            None => {}
        }
        self.nodes.push(node);
        if !ends {
            return ControlFlow::Continue(());
        }
        // A thread that is blocked may be so in equivalent interleavings, too, and what would unblock it is to be tried in one.
        if self.reduce {
            for (thread, action) in blocked {
                self.note_races(thread, &action);
            }
        }
        if redundant {
            self.tally.redundant += 1;
            return ControlFlow::Continue(());
        }
        self.tally.executions += 1;
        at_end(&self.system, &self.history.steps)
    }

    /// What is tried next from the last state.
    fn choose(&mut self) -> Option<(usize, usize)> {
        let depth = self.nodes.len().checked_sub(1)?;
        let node = &mut self.nodes[depth];
        if node.current.is_none() {
            let next = node.backtrack.iter().find(|thread| !node.sleep.has(*thread))?;
            node.current = Some((next, 0));
        }
        node.current
    }

    /// Takes a step from the last state.
    fn take(
        &mut self,
        thread: usize,
        choice: usize,
        at_end: &mut dyn FnMut(&S, &[Step]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.go_back();
        let depth = self.nodes.len() - 1;
        let Next::Ready(action) = self.system.next(thread) else {
            self.nodes[depth].current = None;
            self.nodes[depth].sleep.add(thread);
            return ControlFlow::Continue(());
        };
        if self.reduce && choice == 0 {
            self.note_races(thread, &action);
        }
        if action.ends_all {
            let enabled = self.nodes[depth].enabled.clone();
            self.nodes[depth].backtrack.add_all(&enabled);
            // No end of this interleaving tells of threads that are blocked here.
            let others = if self.reduce { 0..self.system.threads() } else { 0..0 };
            for other in others {
                if let Next::Blocked(theirs) = self.system.next(other) {
                    self.note_races(other, &theirs);
                }
            }
        }
        let sleep = self.still_asleep(depth, thread, &action);
        let node = &mut self.nodes[depth];
        if choice + 1 < action.choices {
            node.current = Some((thread, choice + 1));
        } else {
            node.current = None;
            node.sleep.add(thread);
        }
        node.is_left = true;
        self.system.step(thread, choice);
        self.tally.steps += 1;
        self.history.push(thread, choice, action);
        self.at += 1;
        self.arrive(sleep, at_end)
    }

    /// The threads that need not be tried after a step, either: what they would do does not depend on it.
    fn still_asleep(&self, depth: usize, thread: usize, action: &Action) -> ThreadSet {
        let mut sleep = ThreadSet::new(self.system.threads());
        if !self.reduce || action.ends_all {
            return sleep;
        }
        for other in self.nodes[depth].sleep.iter().filter(|other| *other != thread) {
            if let Next::Ready(theirs) = self.system.next(other)
                && theirs.relation(action) == Relation::Independent
                && !theirs.ends_all
            {
                sleep.add(other);
            }
        }
        sleep
    }

    /// Sees to it that the races of a thread's next step are tried the other way round. Of two that are ordered the later one
    /// is enough where the step can surely overtake it: the other is found once that is reversed.
    fn note_races(&mut self, thread: usize, next: &Action) {
        let mut settled: Vec<usize> = Vec::new();
        for step in self.history.races(thread, next) {
            if settled.iter().any(|later| self.history.ordered(step, *later)) {
                continue;
            }
            let initials = self.history.initials(step, thread, next);
            let overtakes = next.can_overtake(&self.history.steps[step].action);
            let node = &mut self.nodes[step];
            let mut able = initials.iter().filter(|initial| node.enabled.has(*initial));
            let preferred = if initials.has(thread) && node.enabled.has(thread) { Some(thread) } else { able.next() };
            match preferred {
                Some(_) if initials.meets(&node.backtrack) => {}
                Some(one) => node.backtrack.add(one),
                None => node.backtrack.add_all(&node.enabled.clone()),
            }
            if preferred.is_some() && overtakes {
                settled.push(step);
            }
        }
    }

    /// Brings the state to where the history is: from the nearest state that was kept, by taking the steps again.
    fn go_back(&mut self) {
        let depth = self.history.steps.len();
        while self.marks.last().is_some_and(|(at, _)| *at > depth) {
            self.marks.pop();
        }
        // The state is that of the last node as long as no step was taken from it.
        let is_left = self.nodes.last().is_some_and(|node| node.is_left);
        if self.at == depth && !is_left {
            self.keep(depth);
            return;
        }
        let (from, state) = self.marks.last().map_or((0, self.start), |(at, state)| (*at, state));
        let mut system = state.clone();
        for at in from..depth {
            let Step { thread, choice, .. } = self.history.steps[at];
            system.step(thread, choice);
            self.tally.steps += 1;
        }
        self.system = system;
        self.at = depth;
        self.keep(depth);
    }

    fn keep(&mut self, depth: usize) {
        let last = self.marks.last().map_or(0, |(at, _)| *at);
        if depth >= last + MARK_EVERY && self.marks.len() < MOST_MARKS {
            self.marks.push((depth, self.system.clone()));
        }
    }
}

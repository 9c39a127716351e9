//! The exhaustive oracle: decides candidates of small traces by looking at all prefixes.
//!
//! It is the definition of feasibility and nothing else: it makes every prefix step by step with the semantics, each choice of a signal
//! included. Two prefixes that reach the same state have the same continuations. So it is enough to walk the graph of states, each with what
//! matters of the prefix so far. What matters is the progress of an [`Automaton`]: a property as the oracle sees it. The triple's is here.

use crate::dependence::{Access, first_depends, second_depends};
pub use foretrace_trace::candidates;
use foretrace_trace::{
    Cell, Effect, EventId, Feasibility, Independence, Model, Observed, Pattern, Question, Semantics, State, Trace,
    Transaction, Triple, Unsupported,
};
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashSet};
use std::collections::{BTreeMap, VecDeque};
use std::hash::Hash;
use std::ops::ControlFlow;

/// All prefixes of a trace in one model, those with equal states as one.
pub struct Oracle<'t> {
    trace: &'t Trace,
    /// By the length of their prefixes, the empty one first.
    nodes: Vec<Node>,
}

struct Node {
    edges: Vec<Edge>,
    /// Whether some continuation holds all events.
    completes: bool,
}

/// One event that may come next.
struct Edge {
    event: EventId,
    access: Values,
    target: usize,
}

/// An access' values as numbers; equal numbers are equal values.
pub type Values = Access<u32>;

/// A property of prefixes, as an automaton that reads their events one after the other.
///
/// The checker does not use it. It looks at a whole schedule ([`crate::Property`]), so that it can name what is wrong, and a mistake in one of the
/// two definitions does not hide in the other.
pub trait Automaton {
    /// What matters of a prefix for what can follow.
    type Progress: Clone + Eq + Hash;

    /// The progress of the empty prefix.
    fn start(&self) -> Self::Progress;

    /// The progress after one more event, or nothing where no continuation matters.
    fn after(&self, progress: &Self::Progress, event: EventId, access: Values) -> Option<Self::Progress>;
}

/// How far a prefix has come with a candidate.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Progress {
    /// None of the three is in it.
    Start,
    /// First is, with these values.
    First(Values),
    /// First and then remote, which depend on each other.
    Remote(Values),
    /// All three in order, each depending on the one before.
    Violated,
}

/// What a search looks for.
#[derive(Clone, Copy)]
struct Violation {
    triple: Triple,
    pattern: Pattern,
    independence: Independence,
}

impl Automaton for Violation {
    type Progress = Progress;

    fn start(&self) -> Progress {
        Progress::Start
    }

    fn after(&self, progress: &Progress, event: EventId, access: Values) -> Option<Progress> {
        let Triple { first, remote, second } = self.triple;
        match *progress {
            Progress::Start if event == first => Some(Progress::First(self.remembered(access))),
            Progress::First(before) if event == remote => {
                let depends = self.depends(first_depends(self.pattern, &before, &access));
                depends.then_some(Progress::Remote(self.remembered(access)))
            }
            Progress::Remote(before) if event == second => {
                let depends = self.depends(second_depends(self.pattern, &before, &access));
                depends.then_some(Progress::Violated)
            }
            Progress::Violated => Some(Progress::Violated),
            _ if [first, remote, second].contains(&event) => None,
            progress => Some(progress),
        }
    }
}

impl Violation {
    /// Under conflict independence, accesses that fit the pattern always depend on each other.
    fn depends(self, guarded: bool) -> bool {
        self.independence == Independence::Conflict || guarded
    }

    /// The values that matter later.
    fn remembered(self, access: Values) -> Values {
        match self.independence {
            Independence::Conflict => Values::default(),
            Independence::Guarded => access,
        }
    }
}

impl<'t> Oracle<'t> {
    /// Makes all prefixes. Their number grows exponentially with the trace.
    pub fn new(trace: &'t Trace, observed: &'t Observed, model: Model) -> Result<Oracle<'t>, Unsupported> {
        let semantics = Semantics::new(trace, observed, model)?;
        let mut contents: IndexSet<Cell, FxBuildHasher> = IndexSet::default();
        let mut states: IndexSet<State, FxBuildHasher> = IndexSet::default();
        let mut nodes: Vec<Node> = Vec::new();
        states.insert(semantics.initial());
        while let Some(state) = states.get_index(nodes.len()).cloned() {
            let successors = successors(&semantics, &state);
            let edges = successors.into_iter().map(|(event, effect, next)| {
                let before = contents.insert_full(effect.before).0 as u32;
                let after = contents.insert_full(effect.after).0 as u32;
                Edge { event, access: Values { before, after }, target: states.insert_full(next).0 }
            });
            nodes.push(Node { edges: edges.collect(), completes: semantics.is_complete(&state) });
        }
        for node in (0..nodes.len()).rev() {
            nodes[node].completes |= nodes[node].edges.iter().any(|edge| nodes[edge.target].completes);
        }
        Ok(Oracle { trace, nodes })
    }

    /// The number of states.
    pub fn states(&self) -> usize {
        self.nodes.len()
    }

    /// Every candidate, with the first of its patterns that is feasible, if one is.
    pub fn decide(
        &self,
        transactions: &[Transaction],
        feasibility: Feasibility,
        independence: Independence,
    ) -> BTreeMap<Triple, Option<Pattern>> {
        let decide = |triple| (triple, self.witness(triple, feasibility, independence).map(|(pattern, _)| pattern));
        candidates(self.trace, transactions).into_iter().map(decide).collect()
    }

    /// The first feasible pattern of a candidate and a schedule that shows it.
    pub fn witness(
        &self,
        triple: Triple,
        feasibility: Feasibility,
        independence: Independence,
    ) -> Option<(Pattern, Vec<EventId>)> {
        triple.patterns(self.trace).find_map(|pattern| {
            let is_shown = |progress: &Progress| *progress == Progress::Violated;
            let found = self.search(&Violation { triple, pattern, independence }, feasibility, is_shown);
            found.map(|schedule| (pattern, schedule))
        })
    }

    /// The fewest context switches between first and second of all schedules that show a candidate, if any does.
    pub fn fewest_switches(&self, triple: Triple, feasibility: Feasibility, independence: Independence) -> Option<u32> {
        let fewest = |pattern| self.fewest(Violation { triple, pattern, independence }, feasibility);
        triple.patterns(self.trace).filter_map(fewest).min()
    }

    /// The same of one pattern: a search that looks at states reached with fewer switches first.
    fn fewest(&self, violation: Violation, feasibility: Feasibility) -> Option<u32> {
        let mut seen = FxHashSet::default();
        let mut open = VecDeque::from([(0, 0, Progress::Start, None)]);
        while let Some((switches, node, progress, last)) = open.pop_front() {
            if !seen.insert((node, progress, last)) {
                continue;
            }
            if progress == Progress::Violated {
                return Some(switches);
            }
            for edge in self.edges(node, feasibility) {
                let Some(next) = violation.after(&progress, edge.event, edge.access) else { continue };
                let thread = self.trace.event(edge.event).thread;
                let counts = progress != Progress::Start && last != Some(thread);
                let reached = (switches + u32::from(counts), edge.target, next, Some(thread));
                if counts { open.push_back(reached) } else { open.push_front(reached) }
            }
        }
        None
    }

    /// The shortest part of a violation that needs no more of the recorded path: a prefix that holds first and then remote, which
    /// depend on each other, and not second.
    pub fn interruption(&self, triple: Triple, independence: Independence) -> Option<Vec<EventId>> {
        triple.patterns(self.trace).find_map(|pattern| {
            let is_shown = |progress: &Progress| matches!(progress, Progress::Remote(_));
            self.search(&Violation { triple, pattern, independence }, Feasibility::Prefix, is_shown)
        })
    }

    /// The events that may come after a state, where it may go on to the end of the trace if that is asked.
    fn edges(&self, node: usize, feasibility: Feasibility) -> impl Iterator<Item = &Edge> {
        let goes_on = move |edge: &&Edge| feasibility == Feasibility::Prefix || self.nodes[edge.target].completes;
        self.nodes[node].edges.iter().filter(goes_on)
    }

    /// Some schedule after which the property has come as far as is asked.
    fn search<A: Automaton>(
        &self,
        automaton: &A,
        feasibility: Feasibility,
        is_shown: impl Fn(&A::Progress) -> bool,
    ) -> Option<Vec<EventId>> {
        self.walk(automaton, feasibility, |step| {
            let ends = feasibility == Feasibility::Prefix || step.is_last;
            if ends && is_shown(step.progress) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    }

    /// Walks all prefixes with an automaton, those of equal state and progress as one. `see` gets each step, and ends the walk where
    /// it breaks; then the schedule that led there is the result.
    pub fn walk<A: Automaton>(
        &self,
        automaton: &A,
        feasibility: Feasibility,
        mut see: impl FnMut(Walked<'_, A::Progress>) -> ControlFlow<()>,
    ) -> Option<Vec<EventId>> {
        let start = automaton.start();
        let mut found = vec![Found { node: 0, by: None }];
        let mut seen = FxHashSet::from_iter([(0, start.clone())]);
        let mut unexplored = vec![(0, start)];
        while let Some((from, progress)) = unexplored.pop() {
            for edge in self.edges(found[from].node, feasibility) {
                let Some(progress) = automaton.after(&progress, edge.event, edge.access) else { continue };
                if !seen.insert((edge.target, progress.clone())) {
                    continue;
                }
                found.push(Found { node: edge.target, by: Some((from, edge.event)) });
                let is_last = self.nodes[edge.target].edges.is_empty();
                if see(Walked { event: edge.event, progress: &progress, is_last }).is_break() {
                    return Some(path(&found));
                }
                unexplored.push((found.len() - 1, progress));
            }
        }
        None
    }
}

/// A step of a walk over all prefixes.
pub struct Walked<'w, P> {
    /// The event.
    pub event: EventId,
    /// The progress after it.
    pub progress: &'w P,
    /// Whether nothing can come after it.
    pub is_last: bool,
}

/// A state that some prefix reaches: by this event, from an earlier one.
struct Found {
    node: usize,
    by: Option<(usize, EventId)>,
}

/// The events that led to the last one found.
fn path(found: &[Found]) -> Vec<EventId> {
    let steps = std::iter::successors(found.last().and_then(|last| last.by), |(from, _)| found[*from].by);
    let mut events: Vec<EventId> = steps.map(|(_, event)| event).collect();
    events.reverse();
    events
}

/// All events that may come next, with what they do: one for each choice that a signal has.
fn successors(semantics: &Semantics<'_>, state: &State) -> Vec<(EventId, Effect, State)> {
    let mut successors = Vec::new();
    for event in semantics.next_events(state) {
        let Ok(effect) = semantics.enabled(state, event) else { continue };
        let waiting = semantics.releasable(state, event);
        let choices = if waiting.is_empty() { vec![None] } else { waiting.into_iter().map(Some).collect() };
        for choice in choices {
            let mut next = state.clone();
            if semantics.apply(&mut next, event, choice, &effect).is_ok() {
                successors.push((event, effect.clone(), next));
            }
        }
    }
    successors
}

/// Decides every candidate of a trace.
pub fn decide(
    trace: &Trace,
    observed: &Observed,
    transactions: &[Transaction],
    question: Question,
) -> Result<BTreeMap<Triple, Option<Pattern>>, Unsupported> {
    let oracle = Oracle::new(trace, observed, question.model)?;
    Ok(oracle.decide(transactions, question.feasibility, question.independence))
}

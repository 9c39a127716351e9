//! The exhaustive oracle: decides candidates of small traces by looking at all prefixes.
//!
//! It is the definition of feasibility and nothing else: it makes every prefix step by step with the semantics, each choice of a signal
//! included. Two prefixes that reach the same state have the same continuations. So it is enough to walk the graph of states, each with the
//! accesses of the candidate that the prefix has so far.

use crate::dependence::{Access, first_depends, second_depends};
pub use foretrace_trace::candidates;
use foretrace_trace::{
    Cell, Effect, EventId, Feasibility, Independence, Model, Observed, Pattern, Question, Semantics, State, Trace,
    Transaction, Triple, Unsupported,
};
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashSet};
use std::collections::{BTreeMap, VecDeque};

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
type Values = Access<u32>;

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

/// How far a search goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goal {
    /// To remote, with second still to come.
    Remote,
    /// To second.
    Second,
    /// To second and on to the end of the trace.
    End,
}

impl Violation {
    /// The progress after one more event, or nothing when the violation is no longer possible.
    fn after(self, progress: Progress, edge: &Edge) -> Option<Progress> {
        let Triple { first, remote, second } = self.triple;
        match progress {
            Progress::Start if edge.event == first => Some(Progress::First(self.remembered(edge.access))),
            Progress::First(before) if edge.event == remote => {
                let depends = self.depends(first_depends(self.pattern, &before, &edge.access));
                depends.then_some(Progress::Remote(self.remembered(edge.access)))
            }
            Progress::Remote(before) if edge.event == second => {
                let depends = self.depends(second_depends(self.pattern, &before, &edge.access));
                depends.then_some(Progress::Violated)
            }
            Progress::Violated => Some(Progress::Violated),
            _ if [first, remote, second].contains(&edge.event) => None,
            _ => Some(progress),
        }
    }

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
            let violation = Violation { triple, pattern, independence };
            let goal = match feasibility {
                Feasibility::Prefix => Goal::Second,
                Feasibility::Complete => Goal::End,
            };
            self.search(violation, goal).map(|schedule| (pattern, schedule))
        })
    }

    /// The fewest context switches between first and second of all schedules that show a candidate, if any does.
    pub fn fewest_switches(&self, triple: Triple, feasibility: Feasibility, independence: Independence) -> Option<u32> {
        let goal = if feasibility == Feasibility::Complete { Goal::End } else { Goal::Second };
        let fewest = |pattern| self.fewest(Violation { triple, pattern, independence }, goal);
        triple.patterns(self.trace).filter_map(fewest).min()
    }

    /// The same of one pattern: a search that looks at states reached with fewer switches first.
    fn fewest(&self, violation: Violation, goal: Goal) -> Option<u32> {
        let mut seen = FxHashSet::default();
        let mut open = VecDeque::from([(0, 0, Progress::Start, None)]);
        while let Some((switches, node, progress, last)) = open.pop_front() {
            if !seen.insert((node, progress, last)) {
                continue;
            }
            if progress == Progress::Violated {
                return Some(switches);
            }
            for edge in &self.nodes[node].edges {
                if goal == Goal::End && !self.nodes[edge.target].completes {
                    continue;
                }
                let Some(next) = violation.after(progress, edge) else { continue };
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
            let violation = Violation { triple, pattern, independence };
            self.search(violation, Goal::Remote)
        })
    }

    /// Some prefix that takes the violation to its goal.
    fn search(&self, violation: Violation, goal: Goal) -> Option<Vec<EventId>> {
        let mut seen = FxHashSet::from_iter([(0, Progress::Start)]);
        let mut found = vec![Found { node: 0, progress: Progress::Start, by: None }];
        let mut unexplored = vec![0];
        while let Some(from) = unexplored.pop() {
            let Found { node, progress, .. } = found[from];
            for edge in &self.nodes[node].edges {
                if goal == Goal::End && !self.nodes[edge.target].completes {
                    continue;
                }
                let Some(progress) = violation.after(progress, edge) else { continue };
                if !seen.insert((edge.target, progress)) {
                    continue;
                }
                found.push(Found { node: edge.target, progress, by: Some((from, edge.event)) });
                let is_reached = match goal {
                    Goal::Remote => matches!(progress, Progress::Remote(_)),
                    Goal::Second => progress == Progress::Violated,
                    Goal::End => progress == Progress::Violated && self.nodes[edge.target].edges.is_empty(),
                };
                if is_reached {
                    return Some(path(&found));
                }
                unexplored.push(found.len() - 1);
            }
        }
        None
    }
}

/// A state and progress that some prefix reaches: by this event, from an earlier one.
struct Found {
    node: usize,
    progress: Progress,
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

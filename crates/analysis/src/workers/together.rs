//! Candidates that differ only in the remote access, asked together once one of them turned out to be infeasible by itself.
//!
//! What refutes one of them often refutes all: a disjunction costs little more than one of its parts. The first is asked by itself, since one that
//! is feasible by a short prefix needs little of the trace.

use crate::candidates::Class;
use crate::context::AnalysisContext;
use crate::options::Strategy;
use crate::refuted_sections::RefutedSections;
use crate::verdict::{Decision, RestsOn, Verdict};
use foretrace_trace::{EventId, Independence, Triple};
use rustc_hash::{FxHashMap, FxHashSet};

/// If so many of a pair are not easy, the others are not asked as easy ones.
const NOT_EASY: usize = 2;

/// The candidates of a family, by pair, and what refutations of earlier ones say of them.
pub(super) struct Together<'r> {
    /// Refutations of this worker; nothing where no candidate says anything of another one.
    refuted: Option<&'r RefutedSections<'r>>,
    asks_for_orders: bool,
    pairs: FxHashMap<(EventId, EventId), Pair>,
    /// The places of candidates that are decided.
    decided: FxHashSet<usize>,
    /// Classes in which one candidate is feasible, where that is enough.
    found: FxHashSet<Class>,
}

#[derive(Default)]
struct Pair {
    /// Those that were not asked together yet.
    members: Vec<(usize, Triple, Class)>,
    /// Whether a member was refuted.
    is_refuted: bool,
    not_easy: usize,
}

impl<'r> Together<'r> {
    /// Of the candidates of a family, each with its place.
    pub(super) fn new(
        context: &AnalysisContext<'_>,
        candidates: impl Iterator<Item = (usize, Triple)>,
        refuted: &'r RefutedSections<'r>,
    ) -> Together<'r> {
        let options = context.options;
        let is_asked = options.question.independence == Independence::Conflict
            && options.context_switches.is_none()
            && options.strategy != Strategy::Paper
            && options.dump_smt2.is_none();
        let mut pairs: FxHashMap<_, Pair> = FxHashMap::default();
        for (place, triple) in candidates.filter(|_| is_asked) {
            let members = &mut pairs.entry((triple.first, triple.second)).or_default().members;
            members.push((place, triple, context.class(triple)));
        }
        let refuted = Some(refuted).filter(|_| is_asked);
        // What locks and signals order the filters know.
        let asks_for_orders = is_asked && options.question.model.has_values();
        Together { refuted, asks_for_orders, pairs, decided: FxHashSet::default(), found: FxHashSet::default() }
    }

    /// Whether orders that refute one candidate may be used for another.
    pub(super) fn asks_for_orders(&self) -> bool {
        self.asks_for_orders
    }

    /// The remote accesses of those with the pair of this one that were not asked together yet.
    pub(super) fn remotes(&self, Triple { first, second, .. }: Triple) -> impl Iterator<Item = EventId> {
        let members = self.pairs.get(&(first, second)).into_iter().flat_map(|pair| &pair.members);
        members.filter(|(place, _, class)| !self.is_done(*place, *class)).map(|(_, triple, _)| triple.remote)
    }

    /// Whether an earlier refutation refutes this candidate, too; then whether that rests on pins.
    pub(super) fn refuted_before(&self, triple: Triple) -> Option<bool> {
        self.refuted?.covers(triple)
    }

    /// Whether the candidate at this place is decided, or its class is done.
    pub(super) fn is_done(&self, place: usize, class: Class) -> bool {
        self.decided.contains(&place) || self.found.contains(&class)
    }

    /// Whether candidates of this pair are not easy.
    pub(super) fn is_not_easy(&self, Triple { first, second, .. }: Triple) -> bool {
        self.pairs.get(&(first, second)).is_some_and(|pair| pair.not_easy >= NOT_EASY)
    }

    /// Takes note of a candidate that is not easy.
    pub(super) fn note_not_easy(&mut self, Triple { first, second, .. }: Triple) {
        if let Some(pair) = self.pairs.get_mut(&(first, second)) {
            pair.not_easy += 1;
        }
    }

    /// Takes note of a decision; whether a feasible one is enough for its class.
    pub(super) fn note(&mut self, place: usize, decision: &Decision, class: Class, one_is_enough: bool) {
        self.decided.insert(place);
        let Triple { first, second, .. } = decision.triple;
        match decision.verdict {
            Verdict::Feasible(_) if one_is_enough => drop(self.found.insert(class)),
            Verdict::Infeasible => {
                if let Some(refuted) = self.refuted {
                    refuted.add(decision.triple, decision.rests_on == Some(RestsOn::Pin));
                }
                if let Some(pair) = self.pairs.get_mut(&(first, second)) {
                    pair.is_refuted = true;
                }
            }
            _ => (),
        }
    }

    /// The candidates with the same pair, each with its place and class, that are to be asked together now: once for each pair.
    pub(super) fn due(&mut self, Triple { first, second, .. }: Triple) -> Vec<(usize, Triple, Class)> {
        let Some(pair) = self.pairs.get_mut(&(first, second)).filter(|pair| pair.is_refuted) else { return Vec::new() };
        let mut open = std::mem::take(&mut pair.members);
        self.still_open(&mut open);
        open
    }

    /// What is still open of some candidates.
    pub(super) fn still_open(&self, members: &mut Vec<(usize, Triple, Class)>) {
        members.retain(|(place, _, class)| !self.is_done(*place, *class));
    }
}

//! Where reads take their values from: tried out one source after the other, only for reads that need one.
//!
//! "None of the first n that were tried" is a variable for each n, which the solver tries to have false first. So a source
//! that was chosen once is what the solver begins with the next time that the read needs one.

use crate::solve::partial_order::AtomId;
use batsat::{Lit, TheoryArg, lbool};
use foretrace_trace::EventId;

/// A source with its literal.
#[derive(Clone, Copy)]
pub(super) struct Source {
    pub(super) write: Option<EventId>,
    pub(super) literal: Lit,
    pub(super) atom: AtomId,
}

/// A read that may need a source.
pub(super) struct Sources {
    /// The likeliest first.
    pub(super) all: Vec<Source>,
    /// "The read needs a source", where that was ever said.
    pub(super) needed: Option<Lit>,
    /// Unless one of the literals in front holds, it needs one of those behind.
    demands: Vec<(Vec<Lit>, Vec<Lit>)>,
    /// "None of those tried so far."
    none_yet: Option<(Lit, Lit)>,
}

/// What is to be done about a read.
pub(super) enum Step {
    /// Nothing: it has the source that it needs, or needs none.
    Done,
    /// This cannot be.
    Refuse(Vec<Lit>),
    /// The solver tries a source next, by this variable.
    Try(Lit),
}

impl Sources {
    pub(super) fn new(all: Vec<Source>) -> Sources {
        Sources { all, needed: None, demands: Vec::new(), none_yet: None }
    }

    /// The literal for this source.
    pub(super) fn literal(&self, write: Option<EventId>) -> Option<Lit> {
        self.all.iter().find(|source| source.write == write).map(|source| source.literal)
    }

    /// Unless one of these literals holds, the read needs one of these sources.
    pub(super) fn demand(&mut self, unless: Vec<Lit>, sources: Vec<Lit>) {
        self.demands.push((unless, sources));
    }

    /// Sees to it that the read has a source, if it needs one. `is_hidden` tells of those that some write is known to come
    /// after, before the read.
    pub(super) fn choose(&mut self, query: Lit, solver: &mut TheoryArg, is_hidden: impl Fn(AtomId) -> bool) -> Step {
        let value = |literal: Lit| {
            let value = solver.value(literal.var());
            (value != lbool::UNDEF).then(|| value == lbool::new(literal.sign()))
        };
        let Some(needed) = self.needed.filter(|needed| value(*needed) == Some(true)) else { return Step::Done };
        let in_force = |unless: &[Lit]| unless.iter().all(|literal| value(*literal) == Some(false));
        let demands: Vec<&(Vec<Lit>, Vec<Lit>)> = self.demands.iter().filter(|(unless, _)| in_force(unless)).collect();
        if let Some(chosen) = self.all.iter().find(|source| value(source.literal) == Some(true)) {
            return match demands.iter().find(|(_, sources)| !sources.contains(&chosen.literal)) {
                Some((unless, _)) => Step::Refuse(unless.iter().copied().chain([!chosen.literal]).collect()),
                None => Step::Done,
            };
        }
        let untried = |source: &&Source| value(source.literal).is_none();
        let wanted = |source: &&Source| demands.iter().all(|(_, sources)| sources.contains(&source.literal));
        let likely = self.all.iter().filter(untried).filter(wanted).find(|source| !is_hidden(source.atom));
        let next = likely.or_else(|| self.all.iter().filter(untried).find(wanted));
        let next = next.or_else(|| self.all.iter().find(|source| untried(source)));
        let Some(Source { literal, .. }) = next.copied() else { return Step::Done };
        let none = solver.mk_new_lit(); // the solver tries false first
        let before = self.none_yet.filter(|(other, _)| *other == query).map(|(_, none)| !none);
        let clause: Vec<Lit> = [!query, !needed, none, literal].into_iter().chain(before).collect();
        solver.add_theory_lemma(&clause);
        solver.add_theory_lemma(&[!query, !none, !literal]);
        self.none_yet = Some((query, none));
        Step::Try(none)
    }
}

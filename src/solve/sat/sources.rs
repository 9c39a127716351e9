//! Where reads take their values from, and wakes their signals: what they find where the steps are executed with what is
//! decided, if that will do. For those that it will not do for, sources are tried out one after the other.
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

/// Unless one of the literals in front holds, the read needs one of those behind.
type Demand = (Vec<Lit>, Vec<Lit>);

/// A read that may need a source, or a wake, whose sources are signals.
pub(super) struct Sources {
    /// The likeliest first.
    pub(super) all: Vec<Source>,
    /// "The read needs a source", where that was ever said.
    pub(super) needed: Option<Lit>,
    demands: Vec<Demand>,
    /// "None of those tried so far."
    none_yet: Option<(Lit, Lit)>,
}

/// What an assignment makes of a read that has no source yet.
pub(super) enum Found {
    /// It needs none.
    Unneeded,
    /// It may have the source that it found.
    Fits(Lit),
    /// It needs another one.
    Misfits,
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

    /// Whether the write that a read found where the steps were executed will do.
    pub(super) fn fits(&self, write: Option<EventId>, solver: &TheoryArg) -> Found {
        let value = |literal: Lit| value(solver, literal);
        if self.needed.and_then(value) != Some(true) {
            return Found::Unneeded;
        }
        match self.literal(write) {
            Some(literal)
                if value(literal) != Some(false) && self.in_force(solver).all(|(_, all)| all.contains(&literal)) =>
            {
                Found::Fits(literal)
            }
            _ => Found::Misfits,
        }
    }

    fn in_force(&self, solver: &TheoryArg) -> impl Iterator<Item = &Demand> {
        let is_false = |literal: &Lit| value(solver, *literal) == Some(false);
        self.demands.iter().filter(move |(unless, _)| unless.iter().all(is_false))
    }

    /// Sees to it that the read has a source, if it needs one. `is_hidden` tells of those that some write is known to come
    /// after, before the read.
    pub(super) fn choose(&mut self, query: Lit, solver: &mut TheoryArg, is_hidden: impl Fn(AtomId) -> bool) -> Step {
        let value = |literal: Lit| value(solver, literal);
        let Some(needed) = self.needed.filter(|needed| value(*needed) == Some(true)) else { return Step::Done };
        let demands: Vec<&Demand> = self.in_force(solver).collect();
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

fn value(solver: &TheoryArg, literal: Lit) -> Option<bool> {
    let value = solver.value(literal.var());
    (value != lbool::UNDEF).then(|| value == lbool::new(literal.sign()))
}

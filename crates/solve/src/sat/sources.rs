//! Where reads take their values from, and wakes their signals. The theory executes the steps with what is decided; a read takes what it
//! finds there, if that fits. For reads that it does not fit, the solver tries sources one after the other.
//!
//! For each n there is a variable "none of the first n sources tried". The solver first tries it false. So the next time
//! a read needs a source, the solver begins with the source that it chose before.

use crate::partial_order::AtomId;
use crate::schedules::Schedules;
use batsat::{Lit, TheoryArg, lbool};
use foretrace_encodings::Participant;
use foretrace_trace::EventId;

/// A source that some constraint speaks of, with its literal.
#[derive(Clone, Copy)]
pub(super) struct Source {
    /// The likeliest source has the least.
    pub(super) rank: u32,
    pub(super) literal: Lit,
    pub(super) atom: AtomId,
}

/// A source that was told.
#[derive(Clone, Copy)]
struct Told {
    write: Option<EventId>,
    part: Option<Participant>,
    rank: u32,
    literal: Option<Lit>,
}

/// Unless one of the literals in front holds, the read needs one of those behind.
type Demand = (Vec<Lit>, Vec<Lit>);

/// A read that may need a source, or a wake, whose sources are signals.
pub(super) struct Sources {
    /// By write.
    told: Vec<Told>,
    /// The likeliest first.
    all: Vec<Source>,
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
    /// Nothing yet: the solver was told what cannot be.
    Implied,
    /// The solver tries a source next, by this variable.
    Try(Lit),
}

impl Sources {
    /// A read with these sources, the likeliest first; none is spoken of yet.
    pub(super) fn new(sources: &[Option<Participant>]) -> Sources {
        let told = |(rank, part): (u32, &Option<Participant>)| Told {
            write: part.map(|part| part.event),
            part: *part,
            rank,
            literal: None,
        };
        let mut told: Vec<Told> = (0..).zip(sources).map(told).collect();
        told.sort_unstable_by_key(|told| told.write);
        Sources { told, all: Vec::new(), needed: None, demands: Vec::new(), none_yet: None }
    }

    fn told(&self, write: Option<EventId>) -> Option<usize> {
        self.told.binary_search_by_key(&write, |told| told.write).ok()
    }

    /// What was told of this source: its write, if it is not the initial value, and its literal, if it has one.
    pub(super) fn find(&self, write: Option<EventId>) -> Option<(Option<Participant>, Option<Lit>)> {
        self.told(write).map(|at| (self.told[at].part, self.told[at].literal))
    }

    /// Gives a source its literal and its atom.
    pub(super) fn name(&mut self, write: Option<EventId>, literal: Lit, atom: AtomId) {
        let Some(at) = self.told(write) else { return };
        self.told[at].literal = Some(literal);
        let rank = self.told[at].rank;
        let place = self.all.partition_point(|source| source.rank < rank);
        self.all.insert(place, Source { rank, literal, atom });
    }

    /// Unless one of these literals holds, the read needs one of these sources. How often that was said of it.
    pub(super) fn demand(&mut self, unless: Vec<Lit>, sources: Vec<Lit>) -> usize {
        self.demands.push((unless, sources));
        self.demands.len()
    }

    /// What cannot be: the read has a source, and needs another one. No clause says so, since a source that is true leaves the others open.
    pub(super) fn refused(&self, solver: &TheoryArg) -> Option<Vec<Lit>> {
        let chosen = self.all.iter().find(|source| value(solver, source.literal) == Some(true))?;
        let (unless, _) = self.in_force(solver).find(|(_, sources)| !sources.contains(&chosen.literal))?;
        Some(unless.iter().copied().chain([!chosen.literal]).collect())
    }

    /// Whether the write that a read found where the steps were executed will do.
    pub(super) fn fits(&self, write: Option<EventId>, solver: &TheoryArg) -> Found {
        let value = |literal: Lit| value(solver, literal);
        if self.needed.and_then(value) != Some(true) {
            return Found::Unneeded;
        }
        match self.find(write).and_then(|(_, literal)| literal) {
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

    /// Sees to it that the read has a source, if it needs one.
    pub(super) fn choose(&mut self, query: Lit, solver: &mut TheoryArg, schedules: &Schedules) -> Step {
        let value = |literal: Lit| value(solver, literal);
        let Some(needed) = self.needed.filter(|needed| value(*needed) == Some(true)) else { return Step::Done };
        if let Some(clause) = self.refused(solver) {
            return Step::Refuse(clause);
        }
        if self.all.iter().any(|source| value(source.literal) == Some(true)) {
            return Step::Done;
        }
        let demands: Vec<&Demand> = self.in_force(solver).collect();
        let untried = |source: &&Source| value(source.literal).is_none();
        let wanted = |source: &&Source| demands.iter().all(|(_, sources)| sources.contains(&source.literal));
        let (next, too_late) = likeliest(self.all.iter().filter(untried).filter(wanted), schedules);
        let any = || self.all.iter().find(untried).filter(|_| too_late.is_empty());
        let next = next.or_else(any).copied();
        if !too_late.iter().all(|literal| solver.propagate(*literal)) {
            return Step::Implied;
        }
        let Some(Source { literal, .. }) = next else {
            return if too_late.is_empty() { Step::Done } else { Step::Implied };
        };
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

/// The first of these sources that no write is known to hide, else the first that can be; and what says of those before it that
/// they come after the read. Nothing else says so: most sources of most reads are never looked at.
fn likeliest<'s>(sources: impl Iterator<Item = &'s Source>, schedules: &Schedules) -> (Option<&'s Source>, Vec<Lit>) {
    let (mut hidden, mut too_late) = (None, Vec::new());
    for source in sources {
        if schedules.is_too_late(source.atom) {
            too_late.push(!source.literal);
        } else if !schedules.is_hidden(source.atom) {
            return (Some(source), too_late);
        } else {
            hidden = hidden.or(Some(source));
        }
    }
    (hidden, too_late)
}

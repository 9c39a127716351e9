//! Candidates by source location, and which of them people should look at first.

use super::Subject;
use foretrace_analysis::blocks::BlockName;
use foretrace_analysis::candidates::Class;
use foretrace_analysis::predict::OffPathCounts;
use foretrace_analysis::verdict::{Decider, Decision, OffPath, RestsOn, Verdict};
use foretrace_analysis::whole_thread::WholeThreads;
use foretrace_checker::Witness;
use foretrace_trace::{BlockKind, EventId, Op, Pattern, Triple};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::cmp::Reverse;

/// How much a feasible candidate deserves a look; greater is worse. The fields count from the first on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Severity {
    /// Memory is used after it was given back.
    pub use_after_free: bool,
    /// It is feasible under guarded independence, too.
    pub guarded: bool,
    /// The witness rests on no code that the trace does not show.
    pub recorded: bool,
    /// Lost updates first, then unrepeatable reads, then what is seen or overwritten half-way.
    pub pattern: u8,
}

impl Severity {
    fn of_decision(decision: &Decision, witness: &Witness) -> Severity {
        Severity {
            use_after_free: !witness.run().uses_after_free.is_empty(),
            guarded: decision.guarded == Some(true),
            recorded: !matches!(decision.rests_on, Some(RestsOn::External | RestsOn::Unseen)),
            pattern: match decision.pattern {
                Pattern::Rww => 4,
                Pattern::Rwr => 3,
                Pattern::Wwr => 2,
                Pattern::Wrw => 1,
                Pattern::Www => 0,
            },
        }
    }
}

/// A feasible candidate.
#[derive(Clone, Debug)]
pub struct Found {
    /// The candidate.
    pub triple: Triple,
    /// What is wrong with it.
    pub pattern: Pattern,
    /// Who found it.
    pub decided_by: Decider,
    /// What proves it.
    pub witness: Witness,
    /// Whether it is feasible under guarded independence, too, where that is known.
    pub guarded: Option<bool>,
    /// How bad it is.
    pub severity: Severity,
    /// Whether the recorded order itself shows it.
    pub observed: bool,
}

impl Found {
    fn new(decision: &Decision, witness: &Witness, severity: Severity, observed: bool) -> Found {
        let Decision { triple, pattern, decided_by, guarded, .. } = *decision;
        Found { triple, pattern, decided_by, witness: witness.clone(), guarded, severity, observed }
    }
}

/// What was decided of the candidates of three source locations.
#[derive(Clone, Debug, Default)]
pub struct ClassVerdicts {
    /// How many can happen.
    pub feasible: u64,
    /// How many cannot.
    pub infeasible: u64,
    /// How many of those cannot only because a value was pinned.
    pub pinned: u64,
    /// How many are undecided.
    pub unknown: u64,
    /// The worst that can happen; of equal ones the first.
    pub worst: Option<Box<Found>>,
    /// The first that is undecided.
    pub undecided: Option<Box<Decision>>,
    /// The one that is off the path and comes first in [`Subject::off_path_rank`].
    pub off_path: Option<Box<Decision>>,
}

/// Where a feasible candidate stands among others.
struct Standing {
    /// The name of its block; nothing for marks, which are not grouped.
    block: Option<BlockName>,
    /// Smaller ones come first: what did not happen, or in a run that did not fail; of a whole thread; the thread waits for a
    /// condition in between, so that others may go on; an access of the block is by a library's code; not marked; how many levels
    /// of blocks there are inside; the distance to the end of a run that failed.
    order: (bool, bool, bool, bool, bool, u32, Reverse<EventId>),
}

impl Standing {
    fn of_found(subject: Subject<'_>, found: &Found) -> Standing {
        let happened = found.observed && subject.options.failed;
        let second = Reverse(if happened { found.triple.second } else { EventId(0) });
        let block = subject.block(found.triple).filter(|(name, _)| name.kind != BlockKind::Mark);
        let is_thread = block.is_some_and(|(name, _)| name.kind == BlockKind::Thread);
        let (is_unmarked, height) = block.map_or((false, 0), |(_, height)| (true, height));
        let accesses = [found.triple.first, found.triple.second];
        let is_of_library = accesses.into_iter().any(|access| subject.inside(access).is_some());
        let order =
            (!happened, is_thread, waits_between(subject, accesses), is_of_library, is_unmarked, height, second);
        Standing { block: block.map(|(name, _)| name), order }
    }
}

/// Whether a thread waits for a condition between two of its events.
fn waits_between(subject: Subject<'_>, [first, second]: [EventId; 2]) -> bool {
    let between = WholeThreads::new(subject.trace, subject.options).between(first, second);
    between.is_some_and(|mut between| between.any(|(_, op)| matches!(op, Op::Wait { .. })))
}

impl ClassVerdicts {
    fn as_off_path(&self) -> Option<OffPathClass<'_>> {
        let decision = self.off_path.as_deref()?;
        let off_path = decision.off_path.as_ref()?;
        Some(OffPathClass { decision, off_path })
    }
}

/// A class in which nothing is feasible or undecided, and something off the path.
pub struct OffPathClass<'c> {
    /// The one that stands for it.
    pub decision: &'c Decision,
    /// What is known of that one.
    pub off_path: &'c OffPath,
}

/// How much a candidate that is off the path deserves a look; smaller ones come first. The kind: what is proved up to the remote access,
/// then what has a schedule at all. Then the block: of no whole thread, not of a library's code, marked, few levels of blocks inside. Then
/// how near it is to the recorded order; of equal ones the first.
pub type OffPathRank = (u8, bool, bool, bool, u32, u32, Triple);

impl Subject<'_> {
    /// Its rank; nothing for a decision that is not off the path.
    pub fn off_path_rank(self, decision: &Decision) -> Option<OffPathRank> {
        let kind = match decision.off_path.as_ref()? {
            OffPath::AfterRemote(_) => 0,
            OffPath::BeforeRemote(_) => 1,
            OffPath::Unasked(Some(_)) => 2,
            OffPath::Unasked(None) => 3,
        };
        let triple = decision.triple;
        let block = self.block(triple).filter(|(name, _)| name.kind != BlockKind::Mark);
        let is_thread = block.is_some_and(|(name, _)| name.kind == BlockKind::Thread);
        let (is_unmarked, height) = block.map_or((false, 0), |(_, height)| (true, height));
        let is_of_library = [triple.first, triple.second].into_iter().any(|access| self.inside(access).is_some());
        Some((kind, is_thread, is_of_library, is_unmarked, height, triple.distance(), triple))
    }
}

/// Classes of a single candidate that are off the path and remembered: there can be too many to keep.
const MOST_SINGLE: usize = 10_000;

/// All classes of a run, in the order in which their first candidate was decided.
#[derive(Debug, Default)]
pub struct Classes {
    named: IndexMap<Class, ClassVerdicts, FxBuildHasher>,
    /// Classes of a single candidate that cannot happen, and those of them that cannot only because a value was pinned:
    /// there can be too many to keep.
    refuted: (usize, usize),
    /// How many of these are off the path.
    refuted_off_path: usize,
    /// How many classes of a single candidate are kept though it is infeasible.
    singles: usize,
}

impl Classes {
    /// Adds so many candidates that cannot happen, whatever values are.
    pub fn add_refuted(&mut self, class: Class, count: u64) {
        self.named.entry(class).or_default().infeasible += count;
    }

    /// Adds a decision.
    pub fn add(&mut self, subject: Subject<'_>, decision: &Decision) {
        let class = subject.class(decision.triple);
        let is_kept = decision.off_path.is_some() && self.singles < MOST_SINGLE;
        if class.is_one_candidate() && matches!(decision.verdict, Verdict::Infeasible) && is_kept {
            self.singles += 1;
        } else if class.is_one_candidate() && matches!(decision.verdict, Verdict::Infeasible) {
            self.refuted_off_path += usize::from(decision.off_path.is_some());
            self.refuted.0 += 1;
            self.refuted.1 += usize::from(decision.rests_on == Some(RestsOn::Pin));
            return;
        }
        let entry = self.named.entry(class).or_default();
        match &decision.verdict {
            Verdict::Feasible(witness) => {
                entry.feasible += 1;
                let severity = Severity::of_decision(decision, witness);
                let observed = subject.is_observed(decision.triple, witness);
                let shown = |observed: bool| observed && subject.options.failed;
                let is_worse = |worst: &Found| (shown(worst.observed), worst.severity) < (shown(observed), severity);
                if entry.worst.as_deref().is_none_or(is_worse) {
                    entry.worst = Some(Box::new(Found::new(decision, witness, severity, observed)));
                }
            }
            Verdict::Infeasible => {
                entry.infeasible += 1;
                entry.pinned += u64::from(decision.rests_on == Some(RestsOn::Pin));
                let rank = |one: &Decision| subject.off_path_rank(one);
                let better = |known: &Decision| rank(decision) < rank(known);
                if decision.off_path.is_some() && entry.off_path.as_deref().is_none_or(better) {
                    entry.off_path = Some(Box::new(decision.clone()));
                }
            }
            Verdict::Unknown(_) => {
                entry.unknown += 1;
                entry.undecided.get_or_insert_with(|| Box::new(decision.clone()));
            }
        }
    }

    /// The classes that hold something feasible, in the order in which people should look at them. What happened in a run that failed comes
    /// first. Then come blocks: tight ones first, whole threads last, and of a failed run the one nearest to its end. Within a block the
    /// worst class comes first, then the one with more feasible candidates, then the one that was found first.
    pub fn feasible(&self, subject: Subject<'_>) -> Vec<(&ClassVerdicts, &Found)> {
        let found = self.named.values().filter_map(|class| class.worst.as_deref().map(|worst| (class, worst)));
        let mut found: Vec<_> =
            found.map(|(class, worst)| (Standing::of_found(subject, worst), class, worst)).collect();
        let mut worst_of: IndexMap<Option<BlockName>, Reverse<Severity>, FxBuildHasher> = IndexMap::default();
        for (standing, _, worst) in &found {
            let of_block = worst_of.entry(standing.block).or_insert(Reverse(worst.severity));
            *of_block = Reverse(worst.severity).min(*of_block);
        }
        found.sort_by_key(|(standing, class, worst)| {
            let block = worst_of.get_full(&standing.block).map(|(position, _, worst)| (*worst, position));
            (standing.order, block, Reverse((worst.severity, class.feasible)))
        });
        found.into_iter().map(|(_, class, worst)| (class, worst)).collect()
    }

    /// The classes in which nothing is feasible and something undecided, with the first such candidate.
    pub fn undecided(&self) -> impl Iterator<Item = (&ClassVerdicts, &Decision)> {
        let open = self.named.values().filter(|class| class.worst.is_none());
        open.filter_map(|class| class.undecided.as_deref().map(|decision| (class, decision)))
    }

    /// The classes of which nothing is feasible or undecided and something off the path, by rank.
    pub fn off_path(&self, subject: Subject<'_>) -> Vec<OffPathClass<'_>> {
        let refuted = self.named.values().filter(|class| class.feasible == 0 && class.unknown == 0);
        let mut found: Vec<OffPathClass<'_>> = refuted.filter_map(ClassVerdicts::as_off_path).collect();
        found.sort_by_key(|class| subject.off_path_rank(class.decision));
        found
    }

    /// How many classes are off the path: with a prefix up to remote, with a schedule of free reads alone, and with neither.
    pub fn count_off_path(&self) -> OffPathCounts {
        let mut counts = OffPathCounts { unasked: self.refuted_off_path as u64, ..OffPathCounts::default() };
        let refuted = self.named.values().filter(|class| class.feasible == 0 && class.unknown == 0);
        for class in refuted.filter_map(ClassVerdicts::as_off_path) {
            match class.off_path {
                OffPath::AfterRemote(_) => counts.after_remote += 1,
                OffPath::BeforeRemote(_) => counts.before_remote += 1,
                OffPath::Unasked(_) => counts.unasked += 1,
            }
        }
        counts
    }

    /// How many classes hold nothing but what is impossible.
    pub fn impossible(&self) -> usize {
        let impossible = |class: &&ClassVerdicts| class.feasible == 0 && class.unknown == 0 && class.off_path.is_none();
        self.named.values().filter(impossible).count() + self.refuted.0 - self.refuted_off_path
    }

    /// How many classes hold nothing feasible or undecided, some of it only because a value was pinned.
    pub fn pinned(&self) -> usize {
        let refuted = self.named.values().filter(|class| class.feasible == 0 && class.unknown == 0);
        self.refuted.1 + refuted.filter(|class| class.pinned > 0).count()
    }
}

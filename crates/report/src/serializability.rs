//! What is said of whole blocks: verdicts, totals and groups; [`json`], [`text`] and [`witness`] write them.

pub mod json;
mod text;
pub mod witness;

use super::block::in_words;
use super::names::Names;
use foretrace_analysis::blocks::BlockName;
use foretrace_analysis::serializability::{FoundBeyond, OtherPaths};
use foretrace_serializability::{Decision, Judgement, PathKind, Violation, Weight};
use foretrace_trace::{Atomic, Block, BlockKind, Blocks, EventId, Model, NameId, Trace, VarId};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde::Serialize;
use std::time::Duration;

/// Collects what is found of blocks.
pub struct BlockReport<'t> {
    file: &'t str,
    trace: &'t Trace,
    atomic: Atomic,
    blocks: &'t Blocks,
    model: Model,
    context_switches: Option<u32>,
    judged: Vec<Judged>,
    names: Names<'t>,
    is_benign: Box<dyn Fn(VarId) -> bool + 't>,
    /// Whether violations of whole threads do not count.
    folds_threads: bool,
}

struct Judged {
    judgement: Judgement,
    /// Whether the recorded order itself violates the block.
    observed: bool,
    /// What other paths of the program may do, where no schedule of the model violates the block.
    other_paths: OtherPaths,
    /// Blocks inside of it that are violated.
    inside: Vec<usize>,
    /// The gravest verdict of the blocks inside of it.
    gravest_inside: Verdict,
}

/// What is said of a block, the gravest last: of a block and those inside of it the gravest counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Verdict {
    Proved,
    Holds,
    OffPath,
    NotObserved,
    NotWithin,
    Limit,
    Violated,
}

/// Why a violation does not count for the exit code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
enum NotCounted {
    /// It disturbs only attempts which the block gives up.
    FailedAttempt,
    /// It is of a whole thread.
    WholeThread,
}

/// How many blocks there are of each verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct BlockTotals {
    /// All.
    pub blocks: u64,
    /// Proved statically, on every path.
    pub proved: u64,
    /// No schedule violates it, on every path.
    pub holds: u64,
    /// No schedule of the model violates it; on another path of the program one may.
    pub off_path: u64,
    /// Of those, blocks that the static check proves on the path of this run.
    pub off_path_proved: u64,
    /// Of those, blocks of which it is not known whether synchronisation alone keeps them from being violated.
    pub off_path_unasked: u64,
    /// Not violated by the recorded order, where nothing else was asked.
    #[serde(skip_serializing_if = "is_none")]
    pub not_observed: u64,
    /// Violated, or with a block inside that is.
    pub violated: u64,
    /// Of those, violated by the recorded order itself.
    pub observed: u64,
    /// Not violated with as few context switches as were asked for, and not known to hold with more.
    #[serde(skip_serializing_if = "is_none")]
    pub not_within: u64,
    /// Not decided.
    pub limit: u64,
    /// Mean number of events of a segment.
    pub segment_events: u64,
    /// The same, in thousandths of the trace.
    pub segment_per_mille: u64,
    /// Interleavings that were explored to their end.
    pub interleavings: u64,
    /// Microseconds that judging took.
    pub microseconds: u64,
}

/// By what groups stand together: the block, those that its path goes through, the cycle's shape, and whether it counts.
type Pair = (BlockName, Vec<BlockName>, PathKind, Option<NotCounted>);

/// Violations of one block's name by one path.
type Alike<'a> = Vec<(usize, &'a Violation)>;

/// By what violations are grouped: the block, and where its path goes.
type PathKey = (BlockName, Vec<(Option<NameId>, bool)>);

impl<'t> BlockReport<'t> {
    /// A report of nothing yet.
    pub fn new(file: &'t str, trace: &'t Trace, atomic: Atomic, blocks: &'t Blocks, model: Model) -> BlockReport<'t> {
        let (names, is_benign) = (Names::new(trace), Box::new(|_| false));
        let (context_switches, judged, folds_threads) = (None, Vec::new(), false);
        BlockReport { file, trace, atomic, blocks, model, context_switches, judged, names, is_benign, folds_threads }
    }

    /// The same, where only violations with few context switches were looked for.
    pub fn within(self, context_switches: Option<u32>) -> BlockReport<'t> {
        BlockReport { context_switches, ..self }
    }

    /// The same, where conflicts on some variables are harmless.
    pub fn with_benign(self, is_benign: impl Fn(VarId) -> bool + 't) -> BlockReport<'t> {
        BlockReport { is_benign: Box::new(is_benign), ..self }
    }

    /// The same, where violations of whole threads do not count.
    pub fn without_threads(self, folds_threads: bool) -> BlockReport<'t> {
        BlockReport { folds_threads, ..self }
    }

    /// Adds what was found of a block beyond triples.
    pub fn add_beyond(&mut self, found: FoundBeyond) {
        match found {
            FoundBeyond::Violated(judgement, observed) => self.add(judgement, observed),
            FoundBeyond::OffPath(judgement, violation) => {
                let block = judgement.block;
                self.add(judgement, false);
                self.set_other_paths(block, OtherPaths::Violated(violation));
            }
        }
    }

    /// Adds what was found of a block.
    pub fn add(&mut self, judgement: Judgement, observed: bool) {
        let at = self.judged.partition_point(|judged| judged.judgement.block <= judgement.block);
        let (other_paths, gravest_inside) = (OtherPaths::Unknown, Verdict::Proved);
        self.judged.insert(at, Judged { judgement, observed, other_paths, inside: Vec::new(), gravest_inside });
    }

    /// Says of a block that was added what other paths of the program may do. Without this a block that holds is off the path.
    pub fn set_other_paths(&mut self, block: usize, other_paths: OtherPaths) {
        let at = self.judged.partition_point(|judged| judged.judgement.block < block);
        if let Some(judged) = self.judged.get_mut(at).filter(|judged| judged.judgement.block == block) {
            judged.other_paths = other_paths;
        }
    }

    /// Whether it holds a violation that counts.
    pub fn has_found(&self) -> bool {
        self.judged.iter().any(|judged| judged.is_own() && self.not_counted(judged.judgement.block).is_none())
    }

    /// Why a violation of this block does not count, where it does not.
    fn not_counted(&self, block: usize) -> Option<NotCounted> {
        let of_thread = self.folds_threads && self.blocks.all()[block].kind == BlockKind::Thread;
        match self.judged_of(block).judgement.is_dropped {
            true => Some(NotCounted::FailedAttempt),
            false => of_thread.then_some(NotCounted::WholeThread),
        }
    }

    /// Passes verdicts on to the blocks around, and counts.
    pub fn finish(&mut self, inside: &dyn Fn(usize) -> Vec<usize>) -> BlockTotals {
        // Blocks inside come after those around them.
        for block in (0..self.judged.len()).rev() {
            let inner = inside(block);
            let gravest = inner.iter().map(|inner| self.judged[*inner].verdict()).max();
            let violated = |inner: &usize| self.judged[*inner].verdict() == Verdict::Violated;
            let inside = inner.into_iter().filter(violated).collect();
            let judged = &mut self.judged[block];
            (judged.inside, judged.gravest_inside) = (inside, gravest.unwrap_or(Verdict::Proved));
        }
        let mut totals = BlockTotals { blocks: self.judged.len() as u64, ..BlockTotals::default() };
        let mut time = Duration::ZERO;
        for judged in &self.judged {
            let judgement = &judged.judgement;
            match judged.verdict() {
                Verdict::Violated => {
                    totals.violated += 1;
                    totals.observed += u64::from(judged.observed);
                }
                Verdict::Proved => totals.proved += 1,
                Verdict::Holds => totals.holds += 1,
                Verdict::OffPath => {
                    totals.off_path += 1;
                    totals.off_path_proved += u64::from(matches!(judgement.decision, Decision::Proved));
                    totals.off_path_unasked += u64::from(judged.off_path() == Some("unasked"));
                }
                Verdict::NotObserved => totals.not_observed += 1,
                Verdict::NotWithin => totals.not_within += 1,
                Verdict::Limit => totals.limit += 1,
            }
            totals.segment_events += judgement.segment.range.events();
            totals.interleavings += judgement.explored.interleavings;
            time += judgement.time;
        }
        totals.segment_events /= totals.blocks.max(1);
        totals.segment_per_mille = totals.segment_events * 1000 / (self.trace.events.len() as u64).max(1);
        totals.microseconds = time.as_micros() as u64;
        totals
    }

    fn name(&self, block: &Block) -> BlockName {
        let loc = self.trace.event(block.first).loc.filter(|_| block.kind != BlockKind::Thread);
        BlockName { kind: block.kind, label: block.label, loc }
    }

    /// What was found of a block that was added; blocks come in order.
    fn judged_of(&self, block: usize) -> &Judged {
        let at = self.judged.partition_point(|judged| judged.judgement.block < block);
        &self.judged[at.min(self.judged.len() - 1)]
    }

    fn weight(&self, block: usize, violation: &Violation) -> Weight {
        match self.judged_of(block).judgement.is_dropped {
            true => Weight::None,
            false => Weight::of_violation(violation, self.trace, &self.is_benign),
        }
    }

    /// Violations by group, the gravest group first: over several variables, then what no triple shows; of those, where the values make
    /// a difference; then shorter paths. Those of whole threads come late, and harmless ones last.
    fn groups(&self) -> Vec<Vec<(usize, &Violation)>> {
        let mut groups: IndexMap<PathKey, Vec<(usize, &Violation)>, FxBuildHasher> = IndexMap::default();
        for judged in &self.judged {
            let block = judged.judgement.block;
            let Decision::Violated(violation) = &judged.judgement.decision else { continue };
            let place = |event: &EventId| (self.trace.event(*event).loc, self.trace.event(*event).op.writes());
            let path = violation.claim().events.iter().map(place).collect();
            groups.entry((self.name(&self.blocks.all()[block]), path)).or_default().push((block, violation));
        }
        let mut groups: Vec<_> = groups.into_values().collect();
        for group in &mut groups {
            group.sort_by_key(|(block, violation)| {
                (self.weight(*block, violation), violation.claim().events.len(), violation.schedule().len(), *block)
            });
        }
        groups.sort_by_key(|group| {
            let (block, violation) = &group[0];
            let one = &self.blocks.all()[*block];
            let is_thread = one.kind == BlockKind::Thread;
            let weight = self.weight(*block, violation);
            let is_harmless = weight == Weight::None;
            let length = violation.claim().events.len();
            (is_harmless, is_thread, violation.claim().kind(), weight, one.kind, one.height, length, *block)
        });
        groups
    }

    /// The other threads' blocks that a path goes through: the innermost ones, by name.
    fn against(&self, violation: &Violation) -> Vec<BlockName> {
        let own = violation.claim().events.first().map(|event| self.trace.event(*event).thread);
        let mut names = Vec::new();
        for event in &violation.claim().events {
            let thread = self.trace.event(*event).thread;
            let around = self.blocks.innermost(thread, *event, *event).filter(|_| Some(thread) != own);
            let name = around.map(|block| self.name(&self.blocks.all()[block]));
            names.extend(name.filter(|name| !names.contains(name)));
        }
        names
    }

    /// Groups of the same pair of blocks and the same shape together, each with the gravest and smallest cycle first.
    fn pairs(&self) -> Vec<Vec<Alike<'_>>> {
        let mut pairs: IndexMap<Pair, Vec<Alike<'_>>, FxBuildHasher> = IndexMap::default();
        for group in self.groups() {
            let Some((block, violation)) = group.first().copied() else { continue };
            let name = self.name(&self.blocks.all()[block]);
            let not_counted = self.not_counted(block);
            let pair = (name, self.against(violation), violation.claim().kind(), not_counted);
            pairs.entry(pair).or_default().push(group);
        }
        pairs.into_values().collect()
    }

    /// Paths that may violate blocks on another path of the program, by block and places, in order; whole threads last.
    fn paths_off_path(&self) -> Vec<Alike<'_>> {
        let mut groups: IndexMap<PathKey, Alike<'_>, FxBuildHasher> = IndexMap::default();
        for judged in self.judged.iter().filter(|judged| judged.verdict() == Verdict::OffPath) {
            let OtherPaths::Violated(violation) = &judged.other_paths else { continue };
            let block = judged.judgement.block;
            let place = |event: &EventId| (self.trace.event(*event).loc, self.trace.event(*event).op.writes());
            let places = violation.claim().events.iter().map(place).collect();
            groups.entry((self.name(&self.blocks.all()[block]), places)).or_default().push((block, &**violation));
        }
        let mut groups: Vec<_> = groups.into_values().collect();
        let is_thread = |block: usize| self.blocks.all()[block].kind == BlockKind::Thread;
        groups.sort_by_key(|group| {
            group.first().map(|(block, violation)| (is_thread(*block), violation.claim().kind(), *block))
        });
        groups
    }

    /// The trace's file.
    pub(crate) fn file(&self) -> &'t str {
        self.file
    }

    /// A block in words.
    pub(crate) fn words(&self, block: usize) -> String {
        in_words(self.trace, self.name(&self.blocks.all()[block]))
    }

    /// Where a block is in the trace.
    pub(crate) fn place(&self, block: usize) -> String {
        let block = &self.blocks.all()[block];
        format!("events {} to {} of {}", block.first, block.last, self.names.thread(block.thread))
    }

    /// Whether no violation was added.
    pub fn is_empty(&self) -> bool {
        self.judged.is_empty()
    }
}

/// Whether a count that few reports have is left out.
fn is_none(count: &u64) -> bool {
    *count == 0
}

impl Judged {
    /// What is said of the block and those inside of it.
    fn verdict(&self) -> Verdict {
        let is_safe_on_every_path = matches!(self.other_paths, OtherPaths::Safe);
        let own = match self.judgement.decision {
            Decision::Violated(_) => Verdict::Violated,
            Decision::Proved | Decision::Holds if !is_safe_on_every_path => Verdict::OffPath,
            Decision::Proved => Verdict::Proved,
            Decision::Holds => Verdict::Holds,
            Decision::NotObserved => Verdict::NotObserved,
            Decision::NotWithin(_) => Verdict::NotWithin,
            Decision::Limit | Decision::Refused(_) => Verdict::Limit,
        };
        // Who shows that a block is safe is told of the block alone.
        if self.gravest_inside <= Verdict::Holds { own } else { own.max(self.gravest_inside) }
    }

    /// Whether the block is violated itself.
    fn is_own(&self) -> bool {
        matches!(self.judgement.decision, Decision::Violated(_))
    }

    /// Why a block is off the path.
    fn off_path(&self) -> Option<&'static str> {
        if self.verdict() != Verdict::OffPath {
            return None;
        }
        Some(match self.other_paths {
            OtherPaths::Violated(_) => "violated",
            OtherPaths::Unknown => "unasked",
            OtherPaths::Safe => "inside",
        })
    }
}

fn shape(kind: PathKind) -> &'static str {
    match kind {
        PathKind::SeveralVariables => "several-variables",
        PathKind::SeveralAccesses => "several-accesses",
        PathKind::Triple => "triple",
    }
}

//! What is said of whole blocks, for programs.

use super::{BlockReport, BlockTotals, Judged, NotCounted, Verdict, shape};
use crate::json::VERSION;
use foretrace_analysis::blocks::BlockName;
use foretrace_analysis::serializability::{Beyond, OtherPaths};
use foretrace_analysis::verdict::RestsOn;
use foretrace_serializability::{Decision, Link, Violation, ViolationPath, Weight};
use foretrace_trace::{Atomic, BlockKind, EventId, Model};
use serde::Serialize;

/// A block with its verdict, as JSON has it.
#[derive(Serialize)]
pub struct BlockJson<'t> {
    block: usize,
    #[serde(flatten)]
    name: NameJson<'t>,
    thread: u64,
    first: EventId,
    last: EventId,
    verdict: Verdict,
    /// Why a block is off the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    off_path: Option<&'static str>,
    /// The path that may violate it on another path of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_path: Option<Vec<PathStepJson<'t>>>,
    observed: bool,
    /// Violated blocks inside; with `path` absent the block is violated only there.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    inside: &'t [usize],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    by_solver: bool,
    segment_events: u64,
    interleavings: u64,
    steps: u64,
    /// Left out where reports of the same input must have the same bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    microseconds: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    violation: Option<ViolationJson<'t>>,
}

#[derive(Serialize)]
pub(super) struct ViolationJson<'t> {
    shape: &'static str,
    weight: &'static str,
    /// Why it does not count for the exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_counted: Option<NotCounted>,
    /// The other threads' blocks that the path goes through.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    against: Vec<NameJson<'t>>,
    variables: Vec<&'t str>,
    /// Between the path's first and last access.
    context_switches: u32,
    path: Vec<PathStepJson<'t>>,
    schedule: &'t [EventId],
    #[serde(skip_serializing_if = "Option::is_none")]
    rests_on: Option<RestsOn>,
}

/// What a block is called.
#[derive(Serialize)]
pub(super) struct NameJson<'t> {
    kind: BlockKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'t str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    loc: Option<&'t str>,
}

#[derive(Serialize)]
pub(super) struct PathStepJson<'t> {
    event: EventId,
    thread: u64,
    op: &'static str,
    var: &'t str,
    #[serde(skip_serializing_if = "Option::is_none")]
    loc: Option<&'t str>,
    /// How the path goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<&'static str>,
}

/// The whole report.
#[derive(Serialize)]
pub struct BlocksJson<'t> {
    foretrace: u32,
    trace: &'t str,
    model: Model,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_switches: Option<u32>,
    atomic: Atomic,
    events: usize,
    blocks: Vec<BlockJson<'t>>,
    totals: BlockTotals,
}

/// What is said of blocks in a report of triples.
#[derive(Serialize)]
pub struct BeyondJson<'t> {
    count: u64,
    judged: u64,
    undecided: u64,
    violations: Vec<BlockJson<'t>>,
    /// Blocks that another path of the program may violate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    off_path: Vec<BlockJson<'t>>,
}

impl<'t> BlockReport<'t> {
    /// Where it holds one block: that, for programs.
    pub(crate) fn only(&self) -> Option<BlockJson<'_>> {
        self.judged.first().map(|judged| self.block_json(judged))
    }

    /// What no triple shows, for programs.
    pub fn beyond_json(&self, beyond: &Beyond) -> BeyondJson<'_> {
        let Beyond { blocks, judged, undecided } = *beyond;
        let shown = self.groups();
        let violations = shown.iter().map(|group| self.block_json(self.judged_of(group[0].0))).collect();
        let off_path = self.paths_off_path();
        let off_path = off_path.iter().map(|group| self.block_json(self.judged_of(group[0].0))).collect();
        BeyondJson { count: blocks, judged, undecided, violations, off_path }
    }

    fn block_json<'a>(&'a self, judged: &'a Judged) -> BlockJson<'a> {
        let position = judged.judgement.block;
        let block = &self.blocks.all()[position];
        let Judged { judgement, observed, .. } = judged;
        let violation = match &judgement.decision {
            Decision::Violated(violation) => Some(self.violation_json(position, violation)),
            _ => None,
        };
        let other_path = match &judged.other_paths {
            OtherPaths::Violated(violation) if judged.off_path().is_some() => Some(self.path_json(violation.claim())),
            _ => None,
        };
        BlockJson {
            block: position,
            name: self.name_json(self.name(block)),
            thread: self.trace.threads[block.thread.index()].number,
            first: block.first,
            last: block.last,
            verdict: judged.verdict(),
            off_path: judged.off_path(),
            other_path,
            observed: *observed,
            inside: &judged.inside,
            by_solver: judgement.by_solver,
            segment_events: judgement.segment.range.events(),
            interleavings: judgement.explored.interleavings,
            steps: judgement.explored.steps,
            microseconds: Some(judgement.time.as_micros() as u64).filter(|_| !judgement.time.is_zero()),
            violation,
        }
    }

    /// The report for programs.
    pub fn json(&self, totals: &BlockTotals) -> BlocksJson<'_> {
        BlocksJson {
            foretrace: VERSION,
            trace: self.file,
            model: self.model,
            context_switches: self.context_switches,
            atomic: self.atomic,
            events: self.trace.events.len(),
            blocks: self.judged.iter().map(|judged| self.block_json(judged)).collect(),
            totals: *totals,
        }
    }

    fn violation_json<'a>(&'a self, block: usize, violation: &'a Violation) -> ViolationJson<'a> {
        let weight = match self.weight(block, violation) {
            Weight::Full => "full",
            Weight::Partial => "partial",
            Weight::None => "harmless",
        };
        ViolationJson {
            shape: shape(violation.claim().kind()),
            weight,
            not_counted: self.not_counted(block),
            against: self.against(violation).into_iter().map(|name| self.name_json(name)).collect(),
            variables: violation.claim().vars().iter().map(|var| self.trace.vars[var.index()].shown()).collect(),
            context_switches: violation.claim().context_switches(self.trace, violation.schedule()),
            path: self.path_json(violation.claim()),
            schedule: violation.schedule(),
            rests_on: RestsOn::of_run(violation.run()),
        }
    }

    pub(super) fn name_json(&self, name: BlockName) -> NameJson<'t> {
        let text = |id| self.trace.names.text(id);
        NameJson { kind: name.kind, label: name.label.map(text), loc: name.loc.map(text) }
    }

    pub(super) fn path_json(&self, path: &ViolationPath) -> Vec<PathStepJson<'t>> {
        let links = path.links.iter().map(|link| match link {
            Link::ProgramOrder => Some("program order"),
            Link::Conflict(_) => Some("conflict"),
        });
        let step = |(event, link): (&EventId, Option<&'static str>)| {
            let one = self.trace.event(*event);
            PathStepJson {
                event: *event,
                thread: self.trace.threads[one.thread.index()].number,
                op: one.op.kind(),
                var: one.op.var().map_or("", |var| self.trace.vars[var.index()].shown()),
                loc: self.trace.loc(*event),
                link,
            }
        };
        path.events.iter().zip(links.chain([None])).map(step).collect()
    }
}

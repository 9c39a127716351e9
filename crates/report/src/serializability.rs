//! What is said of whole blocks: text, JSON, and a file for each violation that is shown.

use super::block::in_words;
use super::json::{VERSION, write_open_object};
use super::names::{Names, wrapped};
use super::table::act;
use super::witness::{StepJson, WitnessDir, WitnessFileError, step_json, write_whole};
use foretrace_analysis::blocks::BlockName;
use foretrace_analysis::serializability::Beyond;
use foretrace_analysis::verdict::RestsOn;
use foretrace_checker::{Run, Step};
use foretrace_serializability::{Decision, Judgement, Link, PathKind, Violation, Weight};
use foretrace_trace::{
    Atomic, Block, BlockKind, Blocks, EventId, Feasibility, Independence, Model, NameId, Trace, VarId,
};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde::Serialize;
use std::io::{self, Write};
use std::path::PathBuf;
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
}

struct Judged {
    judgement: Judgement,
    /// Whether the recorded order itself violates the block.
    observed: bool,
    /// Blocks inside of it that are violated.
    inside: Vec<usize>,
}

/// A violation with its file.
pub struct WrittenBlock<'r> {
    /// The block's position among all.
    pub block: usize,
    /// Its violation.
    pub violation: &'r Violation,
    /// The witness.
    pub file: PathBuf,
    /// Whether the recorded order itself shows it.
    pub observed: bool,
}

/// How many blocks there are of each verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct BlockTotals {
    /// All.
    pub blocks: u64,
    /// Proved statically.
    pub proved: u64,
    /// Explored to the end without a violation.
    pub holds: u64,
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

/// A block with its verdict, as JSON has it.
#[derive(Serialize)]
pub struct BlockJson<'t> {
    block: usize,
    #[serde(flatten)]
    name: NameJson<'t>,
    thread: u64,
    first: EventId,
    last: EventId,
    verdict: &'static str,
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
struct ViolationJson<'t> {
    shape: &'static str,
    weight: &'static str,
    /// Why it does not count for the exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_counted: Option<&'static str>,
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
struct NameJson<'t> {
    kind: BlockKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'t str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    loc: Option<&'t str>,
}

#[derive(Serialize)]
struct PathStepJson<'t> {
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
}

/// What stands before the schedule of a witness file.
#[derive(Serialize)]
struct Head<'t> {
    foretrace: u32,
    kind: &'static str,
    trace: &'t str,
    first: EventId,
    remote: EventId,
    second: EventId,
    model: Model,
    feasibility: Feasibility,
    independence: Independence,
    atomic: Atomic,
    verdict: &'static str,
    block: BlockPlaceJson<'t>,
    shape: &'static str,
    path: Vec<PathStepJson<'t>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rests_on: Option<RestsOn>,
    observed: bool,
}

#[derive(Serialize)]
struct BlockPlaceJson<'t> {
    #[serde(flatten)]
    name: NameJson<'t>,
    first: EventId,
    last: EventId,
}

/// By what groups stand together: the block, those that its path goes through, the cycle's shape, and whether it counts.
type Pair = (BlockName, Vec<BlockName>, PathKind, bool);

/// Violations of one block's name by one path.
type Alike<'a> = Vec<(usize, &'a Violation)>;

/// By what violations are grouped: the block, and where its path goes.
type Group = (BlockName, Vec<(Option<NameId>, bool)>);

impl<'t> BlockReport<'t> {
    /// A report of nothing yet.
    pub fn new(file: &'t str, trace: &'t Trace, atomic: Atomic, blocks: &'t Blocks, model: Model) -> BlockReport<'t> {
        let (names, is_benign) = (Names::new(trace), Box::new(|_| false));
        BlockReport { file, trace, atomic, blocks, model, context_switches: None, judged: Vec::new(), names, is_benign }
    }

    /// The same, where only violations with few context switches were looked for.
    pub fn within(self, context_switches: Option<u32>) -> BlockReport<'t> {
        BlockReport { context_switches, ..self }
    }

    /// The same, where conflicts on some variables are harmless.
    pub fn with_benign(self, is_benign: impl Fn(VarId) -> bool + 't) -> BlockReport<'t> {
        BlockReport { is_benign: Box::new(is_benign), ..self }
    }

    /// Adds what was found of a block.
    pub fn add(&mut self, judgement: Judgement, observed: bool) {
        let at = self.judged.partition_point(|judged| judged.judgement.block <= judgement.block);
        self.judged.insert(at, Judged { judgement, observed, inside: Vec::new() });
    }

    /// Whether it holds a violation that counts: one that disturbs more than attempts which the block gives up.
    pub fn has_found(&self) -> bool {
        self.judged.iter().any(|judged| is_own(judged) && !judged.judgement.is_dropped)
    }

    /// Passes violations on to the blocks around, and counts.
    pub fn finish(&mut self, inside: &dyn Fn(usize) -> Vec<usize>) -> BlockTotals {
        // Blocks inside come after those around them.
        for block in (0..self.judged.len()).rev() {
            let violated = |inner: &usize| is_violated(&self.judged[*inner]);
            self.judged[block].inside = inside(block).into_iter().filter(violated).collect();
        }
        let mut totals = BlockTotals { blocks: self.judged.len() as u64, ..BlockTotals::default() };
        let mut time = Duration::ZERO;
        for judged in &self.judged {
            let judgement = &judged.judgement;
            match judgement.decision {
                _ if is_violated(judged) => {
                    totals.violated += 1;
                    totals.observed += u64::from(judged.observed);
                }
                Decision::Proved => totals.proved += 1,
                Decision::Holds => totals.holds += 1,
                Decision::NotWithin(_) => totals.not_within += 1,
                _ => totals.limit += 1,
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
            false => violation.weight(self.trace, &self.is_benign),
        }
    }

    /// Violations by group, the gravest group first: over several variables, then what no triple shows; of those, where the values make
    /// a difference; then shorter paths. Those of whole threads come late, and harmless ones last.
    fn groups(&self) -> Vec<Vec<(usize, &Violation)>> {
        let mut groups: IndexMap<Group, Vec<(usize, &Violation)>, FxBuildHasher> = IndexMap::default();
        for judged in &self.judged {
            let block = judged.judgement.block;
            let Decision::Violated(violation) = &judged.judgement.decision else { continue };
            let place = |event: &EventId| (self.trace.event(*event).loc, self.trace.event(*event).op.writes());
            let path = violation.path.events.iter().map(place).collect();
            groups.entry((self.name(&self.blocks.all()[block]), path)).or_default().push((block, violation));
        }
        let mut groups: Vec<_> = groups.into_values().collect();
        for group in &mut groups {
            group.sort_by_key(|(block, violation)| {
                (self.weight(*block, violation), violation.path.events.len(), violation.schedule.len(), *block)
            });
        }
        groups.sort_by_key(|group| {
            let (block, violation) = &group[0];
            let one = &self.blocks.all()[*block];
            let is_thread = one.kind == BlockKind::Thread;
            let weight = self.weight(*block, violation);
            let is_harmless = weight == Weight::None;
            let length = violation.path.events.len();
            (is_harmless, is_thread, violation.path.kind(), weight, one.kind, one.height, length, *block)
        });
        groups
    }

    /// The other threads' blocks that a path goes through: the innermost ones, by name.
    fn against(&self, violation: &Violation) -> Vec<BlockName> {
        let own = violation.path.events.first().map(|event| self.trace.event(*event).thread);
        let mut names = Vec::new();
        for event in &violation.path.events {
            let thread = self.trace.event(*event).thread;
            let around = self.blocks.innermost(thread, *event, *event).filter(|_| Some(thread) != own);
            let name = around.map(|block| self.name(&self.blocks.all()[block]));
            names.extend(name.filter(|name| !names.contains(name)));
        }
        names
    }

    fn name_json(&self, name: BlockName) -> NameJson<'t> {
        let text = |id| self.trace.names.text(id);
        NameJson { kind: name.kind, label: name.label.map(text), loc: name.loc.map(text) }
    }

    /// Groups of the same pair of blocks and the same shape together, each with the gravest and smallest cycle first.
    fn pairs(&self) -> Vec<Vec<Alike<'_>>> {
        let mut pairs: IndexMap<Pair, Vec<Alike<'_>>, FxBuildHasher> = IndexMap::default();
        for group in self.groups() {
            let Some((block, violation)) = group.first().copied() else { continue };
            let name = self.name(&self.blocks.all()[block]);
            let is_dropped = self.judged_of(block).judgement.is_dropped;
            let pair = (name, self.against(violation), violation.path.kind(), is_dropped);
            pairs.entry(pair).or_default().push(group);
        }
        pairs.into_values().collect()
    }

    /// Writes the file of each violation that is shown; says which.
    ///
    /// # Errors
    /// Where a file cannot be written.
    pub fn write_witnesses(&self, folder: &WitnessDir) -> Result<Vec<WrittenBlock<'_>>, WitnessFileError> {
        let mut written = Vec::new();
        for group in self.groups() {
            let (block, violation) = group[0];
            let file = folder.file(&file_name(violation));
            write_whole(&file, |out| self.write_witness(block, violation, out))
                .map_err(|source| WitnessFileError { path: file.clone(), source })?;
            written.push(WrittenBlock { block, violation, file, observed: self.judged_of(block).observed });
        }
        Ok(written)
    }

    fn write_witness(&self, position: usize, violation: &Violation, out: &mut dyn Write) -> io::Result<()> {
        let block = &self.blocks.all()[position];
        let [first, remote, second] = ends(violation);
        let head = Head {
            foretrace: VERSION,
            kind: "block",
            trace: self.file,
            first,
            remote,
            second,
            model: self.model,
            feasibility: Feasibility::Prefix,
            independence: Independence::Conflict,
            atomic: self.atomic,
            verdict: "violated",
            block: BlockPlaceJson { name: self.name_json(self.name(block)), first: block.first, last: block.last },
            shape: shape(violation.path.kind()),
            path: self.path_json(violation),
            rests_on: rests_on(&violation.run),
            observed: self.judged_of(position).observed,
        };
        write_open_object(&head, out)?;
        out.write_all(b",\n\"schedule\":[\n")?;
        for (number, step) in violation.run.steps.iter().enumerate() {
            out.write_all(if number == 0 { b"" } else { b",\n" })?;
            let step: StepJson<'_> = step_json(self.trace, step)?;
            serde_json::to_writer(&mut *out, &step)?;
        }
        out.write_all(b"]}\n")
    }

    fn path_json(&self, violation: &Violation) -> Vec<PathStepJson<'t>> {
        let links = violation.path.links.iter().map(|link| match link {
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
        violation.path.events.iter().zip(links.chain([None])).map(step).collect()
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

    /// Where it holds one block: that, for programs.
    pub(crate) fn only(&self) -> Option<BlockJson<'_>> {
        self.judged.first().map(|judged| self.block_json(judged))
    }

    /// The violations, for people.
    pub(crate) fn write_violations(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_groups("", out)
    }

    /// Whether no violation was added.
    pub fn is_empty(&self) -> bool {
        self.judged.is_empty()
    }

    /// What no triple shows, for programs.
    pub fn beyond_json(&self, beyond: &Beyond) -> BeyondJson<'_> {
        let Beyond { blocks, judged, undecided } = *beyond;
        let shown = self.groups();
        let shown = shown.iter().map(|group| self.block_json(self.judged_of(group[0].0)));
        BeyondJson { count: blocks, judged, undecided, violations: shown.collect() }
    }

    fn block_json<'a>(&'a self, judged: &'a Judged) -> BlockJson<'a> {
        let position = judged.judgement.block;
        let block = &self.blocks.all()[position];
        let Judged { judgement, observed, .. } = judged;
        let violation = match &judgement.decision {
            Decision::Violated(violation) => Some(self.violation_json(position, violation)),
            _ => None,
        };
        BlockJson {
            block: position,
            name: self.name_json(self.name(block)),
            thread: self.trace.threads[block.thread.index()].number,
            first: block.first,
            last: block.last,
            verdict: verdict(judged),
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
            shape: shape(violation.path.kind()),
            weight,
            not_counted: self.judged_of(block).judgement.is_dropped.then_some("failed-attempt"),
            against: self.against(violation).into_iter().map(|name| self.name_json(name)).collect(),
            variables: violation.path.vars().iter().map(|var| self.trace.vars[var.index()].shown()).collect(),
            context_switches: violation.path.context_switches(self.trace, &violation.schedule),
            path: self.path_json(violation),
            schedule: &violation.schedule,
            rests_on: rests_on(&violation.run),
        }
    }

    /// The report for people.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn write_text(&self, totals: &BlockTotals, out: &mut dyn Write) -> io::Result<()> {
        let within = super::within_words(self.context_switches);
        writeln!(out, "{}: {} events, model {}{within}", self.file, self.trace.events.len(), self.model)?;
        if let Some(folder) = self.names.folder() {
            writeln!(out, "paths are below {folder}")?;
        }
        self.write_groups("", out)?;
        let BlockTotals { blocks, proved, holds, violated, observed, not_within, limit, .. } = totals;
        let beyond = match not_within {
            0 => String::new(),
            count => format!("{count} not violated within so few context switches, "),
        };
        writeln!(out)?;
        let line = format!(
            "{blocks} blocks by --atomic {}: {violated} violated ({observed} by the recorded order itself), {proved} proved \
             statically, {holds} hold in every schedule, {beyond}{limit} undecided at the limit",
            self.atomic
        );
        writeln!(out, "{}", wrapped(&line, "   "))?;
        if *holds > 0 && self.model != Model::Cam {
            let line = "those that hold do so on the path of this run; explain --block says whether another path may violate one";
            writeln!(out, "{}", wrapped(line, "   "))?;
        }
        let dropped = self.judged.iter().filter(|judged| judged.judgement.is_dropped).count();
        if dropped > 0 {
            writeln!(out, "of the violated ones {dropped} only in attempts that they give up, which does not count")?;
        }
        let whole = totals.segment_per_mille as f64 / 10.0;
        let line = format!(
            "segments: {} events on average, {whole} % of the trace; {} interleavings explored",
            totals.segment_events, totals.interleavings
        );
        writeln!(out, "{}", wrapped(&line, "   "))
    }

    /// What no triple shows, for people, behind the report of triples. Numbers begin with `B`, since triples have numbers of their own.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn write_beyond(&self, beyond: &Beyond, out: &mut dyn Write) -> io::Result<()> {
        if !self.judged.is_empty() {
            writeln!(out, "\nBlocks that are violated in a way that no triple shows")?;
            self.write_groups("B", out)?;
        }
        let Beyond { blocks, judged, undecided } = beyond;
        let left = match (blocks - judged, undecided) {
            (0, 0) => return Ok(()),
            (0, undecided) => format!("{undecided} not decided"),
            (more, 0) => format!("{more} not looked at"),
            (more, undecided) => format!("{more} not looked at, {undecided} not decided"),
        };
        let line = format!("of {blocks} blocks as wholes {left} (--property serializability decides them)");
        writeln!(out, "{}", wrapped(&line, "   "))
    }

    fn write_groups(&self, prefix: &str, out: &mut dyn Write) -> io::Result<()> {
        let (dropped, counted): (Vec<_>, Vec<_>) = self.pairs().into_iter().partition(|pair| {
            let first = pair.first().and_then(|group| group.first());
            first.is_some_and(|(block, _)| self.judged_of(*block).judgement.is_dropped)
        });
        for (number, pair) in counted.iter().enumerate() {
            let [smallest, others @ ..] = &pair[..] else { continue };
            writeln!(out)?;
            self.write_group(&format!("{prefix}{}", number + 1), smallest, out)?;
            self.write_others(others, out)?;
        }
        if !dropped.is_empty() {
            let text = "Harmless, and not counted: cycles through attempts that the block gives up. No schedule lets an attempt that they \
                        disturb take effect";
            writeln!(out, "\n{}", wrapped(text, "   "))?;
            for group in dropped.iter().flatten() {
                self.write_in_a_line(group, out)?;
            }
        }
        Ok(())
    }

    /// More cycles of a pair of blocks, each in a line.
    fn write_others(&self, others: &[Alike<'_>], out: &mut dyn Write) -> io::Result<()> {
        const MOST: usize = 8;
        if others.is_empty() {
            return Ok(());
        }
        writeln!(out, "   more cycles of these blocks")?;
        others.iter().take(MOST).try_for_each(|group| self.write_in_a_line(group, out))?;
        match others.len().saturating_sub(MOST) {
            0 => Ok(()),
            more => writeln!(out, "     and {more} more (serializability --format json lists every block)"),
        }
    }

    fn write_in_a_line(&self, group: &Alike<'_>, out: &mut dyn Write) -> io::Result<()> {
        let Some((block, violation)) = group.first() else { return Ok(()) };
        let names: Vec<_> = violation.path.vars().iter().map(|var| self.names.var(*var)).collect();
        let events: Vec<String> = violation.path.events.iter().map(|event| self.names.place(*event)).collect();
        let words = in_words(self.trace, self.name(&self.blocks.all()[*block]));
        let more = if group.len() > 1 { format!(", {} blocks", group.len()) } else { String::new() };
        let line = format!("{}: {} by {}{more}", self.names.short(&words), names.join(", "), events.join(", "));
        writeln!(out, "     {}", wrapped(&line, "       "))
    }

    fn write_group(&self, number: &str, group: &[(usize, &Violation)], out: &mut dyn Write) -> io::Result<()> {
        let (position, violation) = group[0];
        let against: Vec<String> = self.against(violation).iter().map(|name| in_words(self.trace, *name)).collect();
        let block = &self.blocks.all()[position];
        let names: Vec<_> = violation.path.vars().iter().map(|var| self.names.var(*var)).collect();
        let what = match violation.path.kind() {
            PathKind::SeveralVariables => format!("a cycle over {}", names.join(", ")),
            PathKind::SeveralAccesses => format!("a cycle over {} through several accesses", names.join(", ")),
            PathKind::Triple => format!("a cycle over {} by one access", names.join(", ")),
        };
        let words = in_words(self.trace, self.name(block));
        writeln!(out, "{}", wrapped(&format!("{number}. {}: {what}", self.names.short(&words)), "   "))?;
        let observed = if self.judged_of(position).observed { "; the recorded order itself shows it" } else { "" };
        let length = violation.schedule.len();
        let line = format!(
            "events {} to {} of {}; a schedule of {length} events{observed}",
            block.first,
            block.last,
            self.names.thread(block.thread)
        );
        writeln!(out, "   {}", wrapped(&line, "   "))?;
        if !against.is_empty() {
            let line = format!("through {}", against.join(", "));
            writeln!(out, "   {}", wrapped(&self.names.short(&line), "   "))?;
        }
        match self.weight(position, violation) {
            Weight::Full => {}
            Weight::Partial => writeln!(out, "   without its harmless conflicts there is no cycle")?,
            Weight::None => writeln!(out, "   harmless: no conflict on the cycle makes a difference")?,
        }
        if let Some(others) = group.len().checked_sub(1).filter(|others| *others > 0) {
            writeln!(out, "   so are {others} more blocks of this place, by the same path")?;
        }
        for (at, event) in violation.path.events.iter().enumerate() {
            let known = Step { event: *event, read: None, written: None };
            let step = violation.run.steps.iter().find(|step| step.event == *event).unwrap_or(&known);
            let place = self.names.loc(*event).map_or(String::new(), |loc| format!(", {loc}"));
            let thread = self.names.thread(self.trace.event(*event).thread);
            let act = act(self.trace, step);
            let line = format!("{thread}: {} (event {event}{place})", self.names.short(&act));
            writeln!(out, "     {}", wrapped(&line, "       "))?;
            match violation.path.links.get(at) {
                Some(Link::ProgramOrder) => writeln!(out, "       then, in the same thread")?,
                Some(Link::Conflict(_)) => writeln!(out, "       before")?,
                None => {}
            }
        }
        if let Some(rests_on) = rests_on(&violation.run) {
            let words =
                if rests_on == RestsOn::External { "a write by unrecorded code" } else { "an order that is not seen" };
            writeln!(out, "   it rests on {words}")?;
        }
        Ok(())
    }
}

/// Whether a count that few reports have is left out.
fn is_none(count: &u64) -> bool {
    *count == 0
}

fn verdict(judged: &Judged) -> &'static str {
    match judged.judgement.decision {
        _ if is_violated(judged) => "violated",
        Decision::Proved => "proved",
        Decision::Holds => "holds",
        Decision::NotWithin(_) => "not-within",
        _ => "limit",
    }
}

/// Whether a block is violated itself.
fn is_own(judged: &Judged) -> bool {
    matches!(judged.judgement.decision, Decision::Violated(_))
}

/// Whether a block is violated, or one inside of it.
fn is_violated(judged: &Judged) -> bool {
    is_own(judged) || !judged.inside.is_empty()
}

/// First and last access, and the first one of another thread.
fn ends(violation: &Violation) -> [EventId; 3] {
    let events = &violation.path.events;
    let (first, last) = (events.first().copied().unwrap_or(EventId(0)), events.last().copied().unwrap_or(EventId(0)));
    [first, events.get(1).copied().unwrap_or(first), last]
}

fn file_name(violation: &Violation) -> String {
    let [first, remote, second] = ends(violation);
    format!("block-{first}-{remote}-{second}.json")
}

fn shape(kind: PathKind) -> &'static str {
    match kind {
        PathKind::SeveralVariables => "several-variables",
        PathKind::SeveralAccesses => "several-accesses",
        PathKind::Triple => "triple",
    }
}

fn rests_on(run: &Run) -> Option<RestsOn> {
    run.unseen.map(|_| RestsOn::Unseen).or(run.passes_external.then_some(RestsOn::External))
}

//! Whole blocks in several models, side by side.

use super::block::{BlockJson, in_words};
use super::json::VERSION;
use super::names::{Names, wrapped};
use foretrace_analysis::blocks::BlockName;
use foretrace_serializability::{Decision, Judgement};
use foretrace_trace::{Atomic, Block, BlockKind, Blocks, EventId, Model, Trace};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde::Serialize;
use std::io::{self, Write};

/// Places at which models differ that text lists.
const MOST_DIFFERENCES: usize = 40;

/// What a model says of a block by itself, leaving out violations of the blocks inside of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Said {
    Violated,
    Holds,
    Proved,
    NotWithin,
    Limit,
}

/// Collects what each model says of each block.
pub struct BlockComparison<'t> {
    file: &'t str,
    trace: &'t Trace,
    atomic: Atomic,
    blocks: &'t Blocks,
    said: Vec<(Model, Vec<Said>)>,
    context_switches: Option<u32>,
}

#[derive(Serialize)]
struct OfModel {
    model: Model,
    violated: usize,
    holds: usize,
    proved: usize,
    #[serde(skip_serializing_if = "is_none")]
    not_within: usize,
    limit: usize,
}

#[derive(Serialize)]
struct OfBlock<'t> {
    block: usize,
    thread: u64,
    first: EventId,
    last: EventId,
    place: BlockJson<'t>,
    /// By model, in the order of `models`.
    verdicts: Vec<Said>,
}

/// The report for programs; its schema is `schemas/block-comparison.schema.json`.
#[derive(Serialize)]
pub struct BlockComparisonJson<'t> {
    foretrace: u32,
    trace: &'t str,
    property: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_switches: Option<u32>,
    atomic: Atomic,
    events: usize,
    models: Vec<OfModel>,
    blocks: Vec<OfBlock<'t>>,
}

impl<'t> BlockComparison<'t> {
    /// A comparison without any model yet.
    pub fn new(file: &'t str, trace: &'t Trace, atomic: Atomic, blocks: &'t Blocks) -> BlockComparison<'t> {
        BlockComparison { file, trace, atomic, blocks, said: Vec::new(), context_switches: None }
    }

    /// The same, where only violations with few context switches are looked for.
    pub fn within(self, context_switches: Option<u32>) -> BlockComparison<'t> {
        BlockComparison { context_switches, ..self }
    }

    /// What follows is said by this model.
    pub fn begin(&mut self, model: Model) {
        self.said.push((model, Vec::new()));
    }

    /// Adds what the model says of the next block.
    pub fn add(&mut self, judgement: &Judgement) {
        let said = match judgement.decision {
            Decision::Violated(_) => Said::Violated,
            Decision::Holds => Said::Holds,
            Decision::Proved => Said::Proved,
            Decision::NotWithin(_) => Said::NotWithin,
            Decision::Limit | Decision::NotObserved | Decision::Refused(_) => Said::Limit,
        };
        if let Some((_, all)) = self.said.last_mut() {
            all.push(said);
        }
    }

    /// Whether every model has decided every block.
    pub fn is_complete(&self) -> bool {
        self.said.iter().all(|(_, all)| !all.iter().any(|said| matches!(said, Said::Limit | Said::NotWithin)))
    }

    fn counts(&self) -> Vec<OfModel> {
        let count = |all: &[Said], wanted| all.iter().filter(|said| **said == wanted).count();
        let of = |(model, all): &(Model, Vec<Said>)| OfModel {
            model: *model,
            violated: count(all, Said::Violated),
            holds: count(all, Said::Holds),
            proved: count(all, Said::Proved),
            not_within: count(all, Said::NotWithin),
            limit: count(all, Said::Limit),
        };
        self.said.iter().map(of).collect()
    }

    fn verdicts(&self, block: usize) -> Vec<Said> {
        self.said.iter().filter_map(|(_, all)| all.get(block).copied()).collect()
    }

    /// The report for programs.
    pub fn json(&self) -> BlockComparisonJson<'t> {
        let of_block = |(position, block): (usize, &Block)| OfBlock {
            block: position,
            thread: self.trace.threads[block.thread.index()].number,
            first: block.first,
            last: block.last,
            place: BlockJson::new(self.trace, block),
            verdicts: self.verdicts(position),
        };
        BlockComparisonJson {
            foretrace: VERSION,
            trace: self.file,
            property: "serializability",
            context_switches: self.context_switches,
            atomic: self.atomic,
            events: self.trace.events.len(),
            models: self.counts(),
            blocks: self.blocks.all().iter().enumerate().map(of_block).collect(),
        }
    }

    /// The report for people.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let names = Names::new(self.trace);
        let blocks = super::style::plural(self.blocks.all().len() as u64, "block");
        writeln!(
            out,
            "{}: {} events, {blocks} by --atomic {}{}",
            self.file,
            self.trace.events.len(),
            self.atomic,
            super::within_words(self.context_switches)
        )?;
        if let Some(folder) = names.folder() {
            writeln!(out, "paths are below {folder}")?;
        }
        writeln!(out, "\n{:<8}{:>10}{:>10}{:>10}{:>11}", "model", "violated", "holds", "proved", "undecided")?;
        let counts = self.counts();
        for OfModel { model, violated, holds, proved, limit, .. } in &counts {
            writeln!(out, "{:<8}{violated:>10}{holds:>10}{proved:>10}{limit:>11}", model.to_string())?;
        }
        for OfModel { model, not_within, .. } in counts.iter().filter(|of| of.not_within > 0) {
            writeln!(out, "{model}: {not_within} more not violated within so few context switches")?;
        }
        self.write_differences(&names, out)
    }

    /// The places whose blocks one model calls violated and another does not.
    fn write_differences(&self, names: &Names<'t>, out: &mut dyn Write) -> io::Result<()> {
        type Difference = (BlockName, Vec<Said>);
        let mut places: IndexMap<Difference, (&Block, usize), FxBuildHasher> = IndexMap::default();
        for (position, block) in self.blocks.all().iter().enumerate() {
            let verdicts = self.verdicts(position);
            let violated = verdicts.iter().filter(|said| **said == Said::Violated).count();
            if violated == 0 || violated == verdicts.len() {
                continue;
            }
            let loc = self.trace.event(block.first).loc.filter(|_| block.kind != BlockKind::Thread);
            let name = BlockName { kind: block.kind, label: block.label, loc };
            places.entry((name, verdicts)).or_insert((block, 0)).1 += 1;
        }
        if places.is_empty() {
            return writeln!(out, "\nno block is violated in one model and not in another");
        }
        writeln!(out, "\nBlocks that not every model calls violated")?;
        for ((name, verdicts), (block, count)) in places.iter().take(MOST_DIFFERENCES) {
            let of = |wanted: &dyn Fn(Said) -> bool| {
                let all = self.said.iter().zip(verdicts).filter(|(_, said)| wanted(**said));
                all.map(|((model, _), _)| model.to_string()).collect::<Vec<_>>().join(", ")
            };
            let violated = of(&|said| said == Said::Violated);
            let safe = of(&|said| matches!(said, Said::Holds | Said::Proved));
            let open = of(&|said| said == Said::Limit);
            let beyond = of(&|said| said == Said::NotWithin);
            let mut line = format!("   {}: violated in {violated}", in_words(self.trace, *name));
            let parts = [("not in", safe), ("not within so few context switches in", beyond), ("undecided in", open)];
            for (words, models) in parts.iter().filter(|(_, models)| !models.is_empty()) {
                line.push_str(&format!("; {words} {models}"));
            }
            let more = if *count > 1 { format!("; {count} blocks like it") } else { String::new() };
            line.push_str(&format!(" (events {} to {}{more})", block.first, block.last));
            writeln!(out, "{}", wrapped(&names.short(&line), "      "))?;
        }
        match places.len().saturating_sub(MOST_DIFFERENCES) {
            0 => Ok(()),
            more => writeln!(out, "   and {more} more places (--format json lists every block)"),
        }
    }
}

/// Whether a count that few reports have is left out.
fn is_none(count: &usize) -> bool {
    *count == 0
}

//! `foretrace explain --block`: why a whole block can or cannot be violated.

use super::atomic::Asked;
use super::choices::Format;
use super::outcome::Outcome;
use super::outcome::say;
use anyhow::bail;
use foretrace::explain::explain_block;
use foretrace::options::Options;
use foretrace::report::{BlockExplanationReport, BlockReport};
use foretrace::serializability::{AskedBlocks, Bounds, Method};
use foretrace_serializability::{Choices, Decision};
use foretrace_trace::{Block, Blocks, EventId, Feasibility, Independence, Trace};
use std::io::{BufWriter, Write};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Explains the block that `text` names.
pub fn run(text: &str, asked: &Asked, options: &Options, format: Format, stop: &AtomicBool) -> anyhow::Result<Outcome> {
    let Asked { trace, observed, file, .. } = asked;
    let question = options.question;
    if question.feasibility != Feasibility::Prefix || question.independence != Independence::Conflict {
        bail!(
            "--block asks about prefixes and conflicts only: found --feasibility or --independence, expected neither"
        );
    }
    let blocks = asked.atomic.blocks(trace);
    let named = named(trace, &blocks, text);
    let Some(block) = named.first().copied() else {
        bail!(
            "found no block `{text}` in {file} (--atomic {}), expected events (10-14), one event, a label, or a place (bank.c:31)",
            asked.atomic
        );
    };
    if let [_, others @ ..] = &named[..]
        && !others.is_empty()
    {
        let Block { first, last, .. } = blocks.all()[block];
        say(format_args!("note: blocks of this name besides the one at {first}-{last}: {}", others.len()));
    }
    let asked_blocks = AskedBlocks {
        trace,
        observed,
        blocks: &blocks,
        wanted: &|_| true,
        choices: Choices { context_switches: options.context_switches, ..Choices::new(question.model) },
        method: Method::Both,
        observed_only: false,
    };
    let deadline = options.budget.and_then(|left| Instant::now().checked_add(left));
    let bounds = Bounds { of_block: Some(options.timeout), deadline, work: None, stop };
    let explanation = explain_block(&asked_blocks, block, options, &bounds)?;
    let mut report = BlockReport::new(file, trace, asked.atomic, &blocks, question.model);
    report.add(explanation.judgement.clone(), explanation.observed);
    if let Some(paths) = &explanation.other_paths {
        report.set_other_paths(block, paths.clone());
    }
    let switches = options.context_switches;
    let report = BlockExplanationReport::new((trace, observed), question.model, switches, report, &explanation);
    let mut out = BufWriter::new(anstream::stdout().lock());
    match format {
        Format::Text => report.write_text(&mut out)?,
        Format::Json => report.write_json(&mut out)?,
    }
    out.flush()?;
    Ok(match explanation.judgement.decision {
        Decision::Violated(_) => Outcome::Found,
        Decision::Proved | Decision::Holds => Outcome::Fine,
        Decision::NotWithin(_) | Decision::NotObserved | Decision::Limit | Decision::Refused(_) => Outcome::Undecided,
    })
}

/// The blocks that have a name: by their events, by an event that they begin with or else hold, by label, by place.
fn named(trace: &Trace, blocks: &Blocks, text: &str) -> Vec<usize> {
    let all = |is: &dyn Fn(&Block) -> bool| -> Vec<usize> {
        let numbered = blocks.all().iter().enumerate();
        numbered.filter(|(_, block)| is(block)).map(|(position, _)| position).collect()
    };
    let event = |text: &str| text.trim().parse().ok().map(EventId);
    if let Some((first, last)) = text.split_once('-').and_then(|(first, last)| event(first).zip(event(last))) {
        return all(&|block| (block.first, block.last) == (first, last));
    }
    if let Some(event) = event(text) {
        let begun = all(&|block| block.first == event);
        let known = trace.events.get(event.index());
        let inner = || known.and_then(|one| blocks.innermost(one.thread, event, event));
        // Of blocks that begin there the innermost comes last.
        return begun.last().copied().or_else(inner).into_iter().collect();
    }
    let is_label = |block: &Block| block.label.is_some_and(|label| trace.names.text(label) == text);
    let labelled = all(&is_label);
    if !labelled.is_empty() {
        return labelled;
    }
    let is_there =
        |place: &str| place == text || place.ends_with(&format!("/{text}")) || place.starts_with(&format!("{text}:"));
    let is_at = |block: &Block| trace.loc(block.first).is_some_and(is_there);
    all(&is_at)
}

//! `foretrace serializability`: whole blocks, over all their variables.

use super::Outcome;
use super::asking::{MODELS, ended_early, may_read_on, stop_on_ctrl_c};
use super::atomic::{Asked, AtomicArgs};
use super::choices::{FORMATS, Format, one_of, seconds};
use super::progress::Bar;
use super::since_start;
use anyhow::bail;
use foretrace::options::strongest_model;
use foretrace::predict::Progress;
use foretrace::report::{BlockReport, BlockTotals, WitnessDir};
use foretrace_serializability::{Choices, Decision, Judge, Judgement, observed};
use foretrace_trace::{Model, Observed, Trace, VarId};
use foretrace_walker::Pattern;
use rustc_hash::FxHashMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Find the atomic blocks whose conflict-serializability other schedules violate
///
/// A block is violated where a path of conflicts and program order leads from one of its accesses through other threads and back
/// to a later one, over any number of variables. Each block is proved, explored to the end, violated with a schedule that was
/// checked, or left undecided at the limit. A violation is told of the innermost block that has it.
#[derive(clap::Args)]
#[command(after_help = "\
Exit codes: 0 no block can be violated, 1 one can, 2 error, 3 none was found but not every block was decided.

Examples:
  foretrace serializability trace.jsonl
  foretrace serializability bank.foretrace --vars 'queue*' --witness-dir witnesses
  foretrace serializability trace.jsonl --model avp --context-switches 5 --format json
  foretrace replay witnesses/block-10-38-14.json -- ./bank")]
pub struct Args {
    /// The trace, in any format that foretrace reads, or the folder of a recording
    trace: PathBuf,

    #[command(flatten)]
    atomic: AtomicArgs,

    /// What a read returns in another schedule [default: the strongest that the trace's data allows]
    #[arg(long, value_parser = one_of(MODELS))]
    model: Option<Model>,

    /// Only variables whose names fit this pattern, in which * stands for anything
    #[arg(long, value_name = "PATTERN")]
    vars: Option<String>,

    /// Explore only schedules with at most this many context switches within a block's segment
    #[arg(long, value_name = "K")]
    context_switches: Option<u32>,

    /// Only say which blocks the recorded order itself violates
    #[arg(long, conflicts_with_all = ["model", "context_switches"])]
    observed_only: bool,

    /// Explore the whole trace for each block, not its segment
    #[arg(long)]
    no_segment: bool,

    /// Prove nothing without exploring
    #[arg(long)]
    no_static_check: bool,

    /// Explore every interleaving, not one of each equivalence class
    #[arg(long)]
    no_reduction: bool,

    /// Explore without trying likely schedules first
    #[arg(long)]
    no_hunt: bool,

    /// Time limit of one block
    #[arg(long, value_name = "SECS", default_value = "10", value_parser = seconds)]
    block_limit: Duration,

    /// Time limit of the whole run, from its start
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    time_limit: Option<Duration>,

    /// How to report
    #[arg(long, default_value = "text", value_parser = one_of(FORMATS))]
    format: Format,

    /// Write a file for each violation that is shown into this folder: `block-FIRST-REMOTE-SECOND.json`
    #[arg(long, value_name = "DIR")]
    witness_dir: Option<PathBuf>,
}

/// Judges every block.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let stop = stop_on_ctrl_c()?;
    let may_read = || may_read_on(args.time_limit, &stop);
    let Some(asked) = args.atomic.read_within(&args.trace, &may_read)? else {
        return Ok(ended_early("reading the trace"));
    };
    let choices = choices(args, &asked.trace)?;
    let blocks = asked.atomic.blocks(&asked.trace);
    if blocks.is_empty() {
        return Err(args.atomic.nothing_to_judge(&asked, &args.trace));
    }
    let Asked { trace, observed: run, atomic, file, .. } = asked;
    let pattern = args.vars.as_deref().map(Pattern::new);
    let wanted = |var: VarId| pattern.as_ref().is_none_or(|pattern| pattern.fits(trace.vars[var.index()].shown()));
    let go_on = || !stop.load(Ordering::Relaxed) && args.time_limit.is_none_or(|limit| since_start() < limit);
    let shown: FxHashMap<usize, foretrace_trace::EventId> =
        observed(&trace, &blocks, &wanted).into_iter().map(|one| (one.block, one.end)).collect();
    let judge = Judge::new(&trace, &run, &blocks, &wanted, choices.clone())?;
    let mut report = BlockReport::new(&file, &trace, atomic, &blocks, choices.model);
    let mut bar = Bar::on_terminal();
    let mut progress = Progress { candidates: blocks.all().len() as u64, ..Progress::default() };
    for block in 0..blocks.all().len() {
        let judgement = judged(args, &judge, block, shown.get(&block).copied(), &go_on, (&trace, &run))?;
        progress.done += 1;
        progress.feasible += u64::from(matches!(judgement.decision, Decision::Violated(_)));
        if let Some(bar) = &mut bar {
            bar.show(&progress);
        }
        report.add(judgement, shown.contains_key(&block));
    }
    drop(bar);
    let totals = report.finish(&|block| judge.inside(block).to_vec());
    if let Some(folder) = &args.witness_dir {
        let folder = WitnessDir::create(folder)?;
        report.write_witnesses(&folder)?;
    }
    write(args.format, &report, &totals)?;
    Ok(match (totals.violated, totals.limit) {
        (1.., _) => Outcome::Found,
        (0, 1..) => Outcome::Undecided,
        (0, 0) => Outcome::Fine,
    })
}

/// What is found of one block; first by the recorded order, where that shows it.
fn judged(
    args: &Args,
    judge: &Judge<'_>,
    block: usize,
    end: Option<foretrace_trace::EventId>,
    go_on: &dyn Fn() -> bool,
    (trace, run): (&Trace, &Observed),
) -> anyhow::Result<Judgement> {
    let _ = (trace, run);
    if let Some(end) = end {
        let decision = judge.in_recorded_order(block, end);
        if matches!(decision, Decision::Violated(_)) {
            return Ok(judge.known(block, decision));
        }
    }
    if args.observed_only {
        return Ok(judge.known(block, Decision::Holds));
    }
    let judgement = judge.judge(block, go_on);
    if let Decision::Refused(reason) = &judgement.decision {
        bail!("internal error: the schedule found for block {block} fails the check: {reason}");
    }
    Ok(judgement)
}

fn choices(args: &Args, trace: &Trace) -> anyhow::Result<Choices> {
    let model = args.model.unwrap_or(strongest_model(trace.data));
    if trace.data < model.needs() {
        bail!("--model {model} needs a trace with more data, found data: {}", trace.data.name());
    }
    Ok(Choices {
        model,
        segment: !args.no_segment,
        static_check: !args.no_static_check,
        reduction: !args.no_reduction,
        hunt: !args.no_hunt,
        context_switches: args.context_switches,
        block_limit: Some(args.block_limit),
    })
}

fn write(format: Format, report: &BlockReport<'_>, totals: &BlockTotals) -> io::Result<()> {
    match format {
        Format::Text => {
            let mut out = io::BufWriter::new(anstream::stdout().lock());
            report.write_text(totals, &mut out)?;
            out.flush()
        }
        Format::Json => {
            let mut out = io::BufWriter::new(io::stdout().lock());
            serde_json::to_writer_pretty(&mut out, &report.json(totals))?;
            writeln!(out)?;
            out.flush()
        }
    }
}

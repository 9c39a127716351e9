//! `foretrace serializability`: whole blocks, over all their variables.

use super::asking::{MODELS, SwitchBound, ended_early, may_read_on, stop_on_ctrl_c};
use super::atomic::{Asked, AtomicArgs};
use super::choices::{FORMATS, Format, one_of, seconds};
use super::outcome::Outcome;
use super::oversee::{End, Hearer, oversee};
use super::progress::Bar;
use super::property::{self, METHODS};
use super::{serializability_stream, serializability_window};
use anyhow::bail;
use foretrace::options::strongest_model;
use foretrace::predict::Progress;
use foretrace::report::{BlockReport, BlockTotals, WitnessDir};
use foretrace::serializability::{AskedBlocks, Method, OtherPaths, decide_blocks, on_other_paths};
use foretrace_serializability::{Choices, Decision, Judgement};
use foretrace_trace::{Model, Trace, VarId};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

/// Find the atomic blocks whose conflict-serializability other schedules violate
///
/// A block is violated if a path of conflicts and program order leads from one of its accesses through other threads and back
/// to a later one, over any number of variables. Each block is proved, explored to the end, violated with a schedule that was
/// checked, or left undecided at the limit. A violation is reported for the innermost block that has it.
#[derive(clap::Args)]
#[command(after_help = "\
Exit codes: 0 no block can be violated, 1 one can, 2 error, 3 none was found, but not every block was decided, or only \
within --context-switches.

Examples:
  foretrace serializability trace.jsonl
  foretrace serializability bank.foretrace --vars 'queue*' --witness-dir witnesses
  foretrace serializability trace.jsonl --model avp --context-switches 5 --format json
  zcat huge.std.gz | foretrace serializability - --observed-only --stream
  zcat huge.std.gz | foretrace serializability - --window 20000
  foretrace replay witnesses/block-10-38-14.json -- ./bank")]
pub struct Args {
    /// The trace, in any format that foretrace reads, or the folder of a recording
    trace: PathBuf,

    #[command(flatten)]
    atomic: AtomicArgs,

    /// What a read returns in another schedule [default: the strongest that the trace's data allows]
    #[arg(long, value_parser = one_of(MODELS))]
    model: Option<Model>,

    /// Look only at variables whose names fit this pattern, in which * stands for any text
    #[arg(long, value_name = "PATTERN")]
    vars: Option<String>,

    #[command(flatten)]
    bound: SwitchBound,

    /// Only say which blocks the recorded order itself violates
    #[arg(long, conflicts_with_all = ["model", "context_switches"])]
    observed_only: bool,

    /// With --observed-only: do not read the whole trace first, but say which blocks are violated as their events come, from a file or a
    /// pipe (`-`). Memory grows with variables and threads, not with events. Lines are checked, but not the values of reads
    #[arg(long, requires = "observed_only", conflicts_with_all = ["witness_dir", "benign"])]
    stream: bool,

    /// Do not read the whole trace first, but decide each block once no later event can violate it, on at most N events that are kept, from a
    /// file or a pipe (`-`). Violations are said at once. A block whose events do not fit counts as not violated within the window
    #[arg(long, value_name = "N", conflicts_with_all = ["observed_only", "witness_dir", "benign", "no_segment"],
          value_parser = clap::value_parser!(u64).range(256..))]
    window: Option<u64>,

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

    /// Who decides what the static check and likely schedules leave open. Verdicts stay the same
    #[arg(long, default_value = "both", value_parser = one_of(METHODS))]
    decide: Method,

    /// Conflicts on variables whose names fit this pattern are harmless, such as statistics counters: cycles of harmless conflicts come
    /// last; may be given more than once
    #[arg(long, value_name = "PATTERN")]
    benign: Vec<String>,

    /// Time limit of one block
    #[arg(long, value_name = "SECS", default_value = "10", value_parser = seconds)]
    block_limit: Duration,

    /// Time limit of the whole run, from its start
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    time_limit: Option<Duration>,

    /// How to report
    #[arg(long, default_value = "text", value_parser = one_of(FORMATS))]
    format: Format,

    /// Write a file for each reported violation into this folder: `block-FIRST-REMOTE-SECOND.json`
    #[arg(long, value_name = "DIR")]
    witness_dir: Option<PathBuf>,
}

/// How blocks are judged and reported.
pub struct How<'a> {
    pub choices: Choices,
    pub method: Method,
    pub observed_only: bool,
    pub vars: Option<&'a str>,
    pub benign: &'a [String],
    pub block_limit: Option<Duration>,
    pub time_limit: Option<Duration>,
    pub format: Format,
    pub witness_dir: Option<&'a Path>,
}

/// Judges every block.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let stop = stop_on_ctrl_c()?;
    if args.stream {
        let asked = serializability_stream::Asked {
            path: &args.trace,
            atomic: args.atomic.plain()?,
            vars: args.vars.as_deref(),
            format: args.format,
            time_limit: args.time_limit,
        };
        return serializability_stream::watch(&asked, &stop);
    }
    if let Some(window) = args.window {
        let asked = serializability_window::Asked {
            path: args.trace.clone(),
            atomic: args.atomic.plain()?,
            vars: args.vars.clone(),
            model: args.model,
            choices: choices_in(args, args.model.unwrap_or(Model::Avp)),
            method: args.decide,
            window,
            format: args.format,
            block_limit: args.block_limit,
            time_limit: args.time_limit,
        };
        return serializability_window::watch(&asked, &stop);
    }
    let may_read = || may_read_on(args.time_limit, &stop);
    let Some(asked) = args.atomic.read_within(&args.trace, &may_read)? else {
        return Ok(ended_early("reading the trace"));
    };
    let how = How {
        choices: choices(args, &asked.trace)?,
        method: args.decide,
        observed_only: args.observed_only,
        vars: args.vars.as_deref(),
        benign: &args.benign,
        block_limit: Some(args.block_limit),
        time_limit: args.time_limit,
        format: args.format,
        witness_dir: args.witness_dir.as_deref(),
    };
    args.atomic.some_block(&asked, &args.trace)?;
    judge_all(&asked, &how, &stop)
}

/// Judges every block of a trace that was read, and reports.
pub fn judge_all(asked: &Asked, how: &How<'_>, stop: &AtomicBool) -> anyhow::Result<Outcome> {
    let Asked { trace, observed, atomic, file, .. } = asked;
    let blocks = atomic.blocks(trace);
    let patterns: Vec<String> = how.vars.iter().map(|vars| vars.to_string()).collect();
    let (fitting, benign) = (property::fitting(trace, &patterns), property::fitting(trace, how.benign));
    let report = BlockReport::new(file, trace, *atomic, &blocks, how.choices.model);
    let report = report.within(how.choices.context_switches);
    let report = report.with_benign(|var| property::is_among(&benign, var));
    let bounds = property::bounds(how.block_limit, how.time_limit, stop);
    let (choices, method, observed_only) = (how.choices.clone(), how.method, how.observed_only);
    let work = |messages: SyncSender<Told>| {
        let wanted = |var: VarId| patterns.is_empty() || property::is_among(&fitting, var);
        let asked = AskedBlocks { trace, observed, blocks: &blocks, wanted: &wanted, choices, method, observed_only };
        let mut safe = Vec::new();
        decide_blocks(&asked, &bounds, &mut |judge, judgement, observed| {
            let inside = judge.inside(judgement.block).to_vec();
            safe.extend(judgement.is_safe().then_some(judgement.block));
            drop(messages.send(Told::Judged(Box::new(Judged { judgement, observed, inside }))));
            Ok(())
        })?;
        on_other_paths(&asked, &safe, &bounds, &mut |block, paths| drop(messages.send(Told::OtherPaths(block, paths))))
    };
    let listener = Listener {
        report,
        how,
        bar: Bar::on_terminal(),
        progress: Progress { candidates: blocks.all().len() as u64, ..Progress::default() },
        inside: Vec::new(),
    };
    oversee((how.time_limit, stop), work, listener)
}

/// What is told while blocks are decided: first of each block a judgement, in order, then of those that are safe what other paths may do.
enum Told {
    Judged(Box<Judged>),
    OtherPaths(usize, OtherPaths),
}

/// What was found of a block.
struct Judged {
    judgement: Judgement,
    observed: bool,
    inside: Vec<usize>,
}

/// Takes what is found of blocks, and reports.
struct Listener<'a, 't> {
    report: BlockReport<'t>,
    how: &'a How<'a>,
    bar: Option<Bar>,
    progress: Progress,
    /// Per block, those right inside of it.
    inside: Vec<Vec<usize>>,
}

impl Hearer<Told, anyhow::Result<()>> for Listener<'_, '_> {
    fn hear(&mut self, told: Told) -> anyhow::Result<()> {
        let Judged { judgement, observed, inside } = match told {
            Told::Judged(judged) => *judged,
            Told::OtherPaths(block, paths) => {
                self.report.set_other_paths(block, paths);
                return Ok(());
            }
        };
        self.progress.done += 1;
        self.progress.feasible += u64::from(matches!(judgement.decision, Decision::Violated(_)));
        if let Some(bar) = &mut self.bar {
            bar.show(&self.progress);
        }
        self.inside.push(inside);
        self.report.add(judgement, observed);
        Ok(())
    }

    fn finish(mut self, end: anyhow::Result<End<anyhow::Result<()>>>) -> anyhow::Result<Outcome> {
        drop(self.bar.take());
        match end? {
            End::Done(result) => result?,
            End::Overdue => {
                for block in self.inside.len()..self.progress.candidates as usize {
                    self.inside.push(Vec::new());
                    self.report.add(Judgement::not_reached(block), false);
                }
            }
        }
        let totals = self.report.finish(&|block| self.inside[block].clone());
        if let Some(folder) = self.how.witness_dir {
            let folder = WitnessDir::create(folder)?;
            self.report.write_witnesses(&folder)?;
        }
        write(self.how.format, &self.report, &totals)?;
        Ok(match (self.report.has_found(), totals.limit + totals.not_within) {
            (true, _) => Outcome::Found,
            (false, 1..) => Outcome::Undecided,
            (false, 0) => Outcome::Fine,
        })
    }
}

/// How blocks are judged by options.
fn choices(args: &Args, trace: &Trace) -> anyhow::Result<Choices> {
    let model = args.model.unwrap_or(strongest_model(trace.data));
    if trace.data < model.needs() {
        bail!("--model {model} needs a trace with more data, found data: {}", trace.data.name());
    }
    Ok(choices_in(args, model))
}

fn choices_in(args: &Args, model: Model) -> Choices {
    Choices {
        segment: !args.no_segment,
        static_check: !args.no_static_check,
        reduction: !args.no_reduction,
        hunt: !args.no_hunt,
        context_switches: args.bound.context_switches,
        ..Choices::new(model)
    }
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

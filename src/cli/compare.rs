//! `foretrace compare`: the models side by side.

use super::asking::{
    ATOMICS, CANDIDATE_SETS, FEASIBILITIES, INDEPENDENCES, TimeLimits, must_fit, say_no_transactions, stop_on_ctrl_c,
};
use super::choices::{FORMATS, Format, one_of};
use super::progress::Bar;
use super::{Outcome, files};
use foretrace::compare::compare;
use foretrace::options::{CandidateSet, Options, Per};
use foretrace::recorder::Folder;
use foretrace::report::{ComparisonReport, Subject};
use foretrace_trace::{Atomic, Feasibility, Independence, Trace};
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// Show what each model makes of a trace's candidates, and why `ctp` refutes what another allows
///
/// Per transaction: all candidates; those that are left after must-happen-before (ordered) and after cut-points (without
/// data); and those that are feasible under each model that the trace's data allows. Then where a model and ctp disagree,
/// with what refutes each candidate that ctp refutes: `explain` says more.
#[derive(clap::Args)]
#[command(after_help = "\
Exit codes: 0 every model decided every candidate, 2 error, 3 not everything decided.

Examples:
  foretrace compare trace.jsonl
  foretrace compare trace.jsonl --atomic lock-regions --candidates all --times
  foretrace compare trace.jsonl --independence guarded --format json")]
pub struct Args {
    /// The trace, in any format that foretrace reads, or the folder of a recording
    trace: PathBuf,

    /// Whether the violation may end the run
    #[arg(long, default_value = "prefix", value_parser = one_of(FEASIBILITIES))]
    feasibility: Feasibility,

    /// When the order of two accesses makes no difference; cam and avp know no values and are asked about conflicts
    #[arg(long, default_value = "conflict", value_parser = one_of(INDEPENDENCES))]
    independence: Independence,

    /// What counts as a transaction
    #[arg(long, default_value = "marked", value_parser = one_of(ATOMICS))]
    atomic: Atomic,

    /// Which triples of accesses are decided
    #[arg(long, default_value = "adjacent", value_parser = one_of(CANDIDATE_SETS))]
    candidates: CandidateSet,

    /// Of how many candidates that ctp refutes and another model does not the reason is looked for
    #[arg(long, value_name = "N", default_value = "100")]
    reasons: usize,

    /// Worker threads, each with its own solver [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,

    /// Say how long the filters and each model took
    #[arg(long)]
    times: bool,

    #[command(flatten)]
    limits: TimeLimits,

    /// How to report
    #[arg(long, default_value = "text", value_parser = one_of(FORMATS))]
    format: Format,

    /// The solver's random seed
    #[arg(long, value_name = "N", default_value = "0")]
    seed: u32,
}

/// Compares.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let (trace, observed) = files::read_trace(&args.trace)?;
    let options = options(args, &trace)?;
    let transactions = options.atomic.transactions(&trace);
    if transactions.is_empty() {
        say_no_transactions(&trace, options.atomic);
    }
    let file = Folder::trace_of(&args.trace).display().to_string();
    let subject = Subject { file: &file, trace: &trace, transactions: &transactions, options: &options };
    let stop = stop_on_ctrl_c()?;
    let bar = Bar::on_terminal();
    let comparison = compare(&trace, &observed, &transactions, &options, args.reasons, &stop, &mut |progress| {
        if let Some(bar) = &bar {
            bar.show(progress);
        }
    })?;
    drop(bar);
    let report = ComparisonReport::new(subject, &observed, &comparison);
    let mut out = BufWriter::new(anstream::stdout().lock());
    match args.format {
        Format::Text => report.write_text(&mut out)?,
        Format::Json => report.write_json(&mut out)?,
    }
    out.flush()?;
    Ok(if comparison.is_complete() { Outcome::Fine } else { Outcome::Undecided })
}

fn options(args: &Args, trace: &Trace) -> anyhow::Result<Options> {
    let mut options = Options::new(trace.data);
    options.question.feasibility = args.feasibility;
    options.question.independence = args.independence;
    must_fit(options.question, trace)?;
    options.atomic = args.atomic;
    options.candidates = args.candidates;
    options.per = Per::Event;
    options.jobs = args.jobs.map_or(options.jobs, usize::from);
    options.times = args.times;
    options.timeout = args.limits.timeout;
    options.budget = args.limits.budget;
    options.seed = args.seed;
    Ok(options)
}

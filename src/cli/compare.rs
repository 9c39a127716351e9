//! `foretrace compare`: the models side by side.

use super::asking::{
    CANDIDATE_SETS, FEASIBILITIES, INDEPENDENCES, SwitchBound, TimeLimits, ended_early, may_read_on, must_fit,
    stop_on_ctrl_c,
};
use super::atomic;
use super::atomic::AtomicArgs;
use super::choices::{Choice, FORMATS, Format, one_of};
use super::outcome::{Outcome, say};
use super::oversee::{End, Hearer, oversee};
use super::progress::Bar;
use super::property::{self, Property};
use anyhow::bail;
use foretrace::compare::{Asked, Comparison, Contest, Disagreement, Listener, MODELS, compare};
use foretrace::options::{CandidateSet, Options, Per};
use foretrace::predict::Progress;
use foretrace::report::{BlockComparison, ComparisonJson, ComparisonText, Subject};
use foretrace::serializability::{AskedBlocks, Method, decide_blocks};
use foretrace_serializability::Choices;
use foretrace_trace::{Feasibility, Independence, Model, Observed, Question, Trace};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::SyncSender;

/// Show the verdicts of each model on a trace's candidates, and why `ctp` refutes what another model allows
///
/// The table has for each transaction the number of all candidates, of those that must-happen-before does not refute (ordered), of
/// those that cut-points do not refute either (without data), and of those that are feasible under each model that the trace's data
/// allows. Then come the candidates on which a model and ctp disagree, with the reason why ctp refutes them: `explain` says more.
#[derive(clap::Args)]
#[command(after_help = "\
Exit codes: 0 every model decided every candidate, 2 error, 3 not everything decided, or only within --context-switches.

Examples:
  foretrace compare trace.jsonl
  foretrace compare trace.jsonl --atomic sections --candidates all --times
  foretrace compare trace.jsonl --property serializability
  foretrace compare trace.jsonl --models none --candidates all
  foretrace compare trace.jsonl --independence guarded --format json")]
pub struct Args {
    /// The trace, in any format that foretrace reads, or the folder of a recording
    trace: PathBuf,

    /// Whether the run may end with the violation
    #[arg(long, default_value = "prefix", value_parser = one_of(FEASIBILITIES))]
    feasibility: Feasibility,

    /// When the order of two accesses makes no difference; cam and avp know no values and are asked about conflicts
    #[arg(long, default_value = "conflict", value_parser = one_of(INDEPENDENCES))]
    independence: Independence,

    #[command(flatten)]
    atomic: AtomicArgs,

    /// What is compared
    #[arg(long, default_value = "triples", value_parser = one_of(COMPARED))]
    property: Property,

    /// Which triples of accesses are decided
    #[arg(long, default_value = "adjacent", value_parser = one_of(CANDIDATE_SETS))]
    candidates: CandidateSet,

    /// The models to ask, separated by commas; `none` shows only what orders and locks refute [default: all that the
    /// trace's data allows]
    #[arg(long, value_delimiter = ',', value_parser = one_of(ASKED))]
    models: Option<Vec<Option<Model>>>,

    /// Explain at most N of the candidates that ctp refutes and another model allows
    #[arg(long, value_name = "N", default_value = "10")]
    reasons: usize,

    /// Worker threads, each with its own solver [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,

    /// Say how long the filters and each model took
    #[arg(long)]
    times: bool,

    #[command(flatten)]
    bound: SwitchBound,

    #[command(flatten)]
    limits: TimeLimits,

    /// How to report
    #[arg(long, default_value = "text", value_parser = one_of(FORMATS))]
    format: Format,

    /// The solver's random seed
    #[arg(long, value_name = "N", default_value = "0")]
    seed: u32,
}

/// The values of `--models`.
const ASKED: &[Choice<Option<Model>>] = &[
    ("cam", "any value, and guards need not hold", Some(Model::Cam)),
    ("ctp", "the value written last; guards must hold (needs expressions)", Some(Model::Ctp)),
    ("mcm", "the recorded value (needs values)", Some(Model::Mcm)),
    ("avp", "the value of the same write as in the recorded order", Some(Model::Avp)),
    ("none", "no model: only what orders and locks refute", None),
];

/// The values of `--property`.
const COMPARED: &[Choice<Property>] = &[
    ("triples", "candidates: three accesses of one variable", Property::Triples),
    ("serializability", "whole blocks, over all their variables", Property::Serializability),
];

/// Whole blocks in every model that is asked.
fn blocks(args: &Args, asked: &atomic::Asked, stop: &AtomicBool) -> anyhow::Result<Outcome> {
    let atomic::Asked { trace, observed, file, .. } = asked;
    if args.feasibility != Feasibility::Prefix || args.independence != Independence::Conflict {
        bail!(
            "--property serializability decides prefixes and conflicts only: found --feasibility or --independence, expected neither"
        );
    }
    args.atomic.some_block(asked, &args.trace)?;
    let blocks = asked.atomic.blocks(trace);
    let models: Vec<Model> = match &args.models {
        Some(named) => named.iter().copied().flatten().collect(),
        None => MODELS.into_iter().filter(|model| model.needs() <= trace.data).collect(),
    };
    let comparison = BlockComparison::new(file, trace, asked.atomic, &blocks);
    let mut comparison = comparison.within(args.bound.context_switches);
    let bounds = property::bounds(Some(args.limits.query_timeout), args.limits.time_limit, stop);
    for model in models {
        must_fit(Question { model, independence: args.independence, feasibility: args.feasibility }, trace)?;
        let asked = AskedBlocks {
            trace,
            observed,
            blocks: &blocks,
            wanted: &|_| true,
            choices: Choices { context_switches: args.bound.context_switches, ..Choices::new(model) },
            method: Method::Both,
            observed_only: false,
        };
        comparison.begin(model);
        decide_blocks(&asked, &bounds, &mut |_, judgement, _| {
            comparison.add(&judgement);
            Ok(())
        })?;
    }
    let mut out = BufWriter::new(anstream::stdout().lock());
    match args.format {
        Format::Text => comparison.write_text(&mut out)?,
        Format::Json => {
            serde_json::to_writer_pretty(&mut out, &comparison.json())?;
            writeln!(out)?;
        }
    }
    out.flush()?;
    Ok(if comparison.is_complete() { Outcome::Fine } else { Outcome::Undecided })
}

/// Compares.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let stop = stop_on_ctrl_c()?;
    let go_on = || may_read_on(args.limits.time_limit, &stop);
    let Some(asked) = args.atomic.read_within(&args.trace, &go_on)? else {
        return Ok(ended_early("reading the trace"));
    };
    if args.property == Property::Serializability {
        return blocks(args, &asked, &stop);
    }
    let mut options = options(args, &asked.trace)?;
    options.atomic = asked.atomic;
    args.atomic.something_to_judge(&asked, &args.trace)?;
    let transactions = options.atomic.transactions(&asked.trace);
    let atomic::Asked { trace, observed, file, .. } = asked;
    let subject = Subject { file: &file, trace: &trace, transactions: &transactions, options: &options };
    let contest = contest(args, &trace)?;
    let report = Report::start(args.format, subject, &contest, &observed)?;
    let reporter = Reporter { report, bar: Bar::on_terminal(), so_far: None };
    let (transactions, options, contest, reasons) = (&transactions[..], &options, &contest, args.reasons);
    let asked = Asked { trace: &trace, observed: &observed, transactions, options, contest, reasons };
    let work = |messages| compare(asked, &stop, &mut Speaker(messages));
    oversee((args.limits.time_limit, &stop), work, reporter)
}

/// The models that are asked.
fn contest(args: &Args, trace: &Trace) -> anyhow::Result<Contest> {
    let Some(named) = &args.models else { return Ok(Contest::new(trace, &MODELS)) };
    let models: Vec<Model> = named.iter().copied().flatten().collect();
    if models.len() != named.len() && named.len() > 1 {
        bail!("--models: found `none` with another model, expected it alone");
    }
    for model in &models {
        must_fit(
            Question { model: *model, independence: Independence::Conflict, feasibility: args.feasibility },
            trace,
        )?;
    }
    Ok(Contest::new(trace, &models))
}

/// The report in either format.
enum Report<'t> {
    Text(ComparisonText<'t>),
    Json(ComparisonJson<'t, BufWriter<std::io::StdoutLock<'static>>>),
}

impl<'t> Report<'t> {
    fn start(
        format: Format,
        subject: Subject<'t>,
        contest: &'t Contest,
        observed: &'t Observed,
    ) -> io::Result<Report<'t>> {
        Ok(match format {
            Format::Text => Report::Text(ComparisonText::new(subject, contest, observed)),
            Format::Json => {
                let out = BufWriter::new(std::io::stdout().lock());
                Report::Json(ComparisonJson::start(subject, contest, observed, out)?)
            }
        })
    }

    fn finish(self, comparison: &Comparison) -> io::Result<()> {
        match self {
            Report::Json(report) => report.finish(comparison),
            Report::Text(report) => {
                let mut out = BufWriter::new(anstream::stdout().lock());
                report.write(comparison, &mut out)?;
                out.flush()
            }
        }
    }
}

/// What is heard of the work.
enum Message {
    Disagreement(Box<Disagreement>),
    Progress(Progress),
    SoFar(Box<Comparison>),
}

/// Tells of the work.
struct Speaker(SyncSender<Message>);

impl Listener for Speaker {
    fn disagreement(&mut self, one: &Disagreement) -> anyhow::Result<()> {
        Ok(self.0.send(Message::Disagreement(Box::new(one.clone())))?)
    }

    fn progress(&mut self, progress: &Progress) {
        let _ = self.0.send(Message::Progress(*progress)); // if nobody listens the run has ended
    }

    fn so_far(&mut self, comparison: &Comparison) {
        let _ = self.0.send(Message::SoFar(Box::new(comparison.clone())));
    }
}

/// Takes the disagreements.
struct Reporter<'t> {
    report: Report<'t>,
    bar: Option<Bar>,
    so_far: Option<Box<Comparison>>,
}

impl Hearer<Message, anyhow::Result<Comparison>> for Reporter<'_> {
    fn hear(&mut self, message: Message) -> anyhow::Result<()> {
        match message {
            Message::Disagreement(one) => match &mut self.report {
                Report::Text(report) => report.add(&one),
                Report::Json(report) => report.add(&one)?,
            },
            Message::Progress(progress) => {
                if let Some(bar) = &self.bar {
                    bar.show(&progress);
                }
            }
            Message::SoFar(comparison) => self.so_far = Some(comparison),
        }
        Ok(())
    }

    fn finish(self, end: anyhow::Result<End<anyhow::Result<Comparison>>>) -> anyhow::Result<Outcome> {
        drop(self.bar);
        let comparison = match (end?, self.so_far) {
            (End::Done(comparison), _) => comparison?,
            (End::Overdue, None) => return Ok(ended_early("comparing the first candidates")),
            (End::Overdue, Some(mut comparison)) => {
                say("note: the limit was reached in the middle of a block, which the table leaves out");
                comparison.sum();
                comparison.interrupted = true;
                *comparison
            }
        };
        self.report.finish(&comparison)?;
        Ok(if comparison.is_complete() { Outcome::Fine } else { Outcome::Undecided })
    }
}

fn options(args: &Args, trace: &Trace) -> anyhow::Result<Options> {
    let mut options = Options::new(trace.data);
    options.question.feasibility = args.feasibility;
    options.question.independence = args.independence;
    must_fit(options.question, trace)?;
    options.candidates = args.candidates;
    options.context_switches = args.bound.context_switches;
    options.per = Per::Event;
    options.jobs = args.jobs.map_or(options.jobs, usize::from);
    options.times = args.times;
    args.limits.apply(&mut options);
    options.seed = args.seed;
    Ok(options)
}

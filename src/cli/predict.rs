//! `foretrace predict`: the main job.

use super::asking::{
    CANDIDATE_SETS, FILTERS, PERS, QuestionArgs, TimeLimits, ended_early, may_read_on, stop_on_ctrl_c,
};
use super::atomic::Asked;
use super::block_repair::{Wanted, block_repairs};
use super::choices::{Choice, Format, one_of};
use super::enforced::{Enforced, ran_along};
use super::files::source_lines;
use super::outcome::{Outcome, is_closed_pipe, since_start};
use super::oversee::{End, Hearer, oversee};
use super::patched::{proposed, write_first};
use super::predict_history::{self, HistoryArgs};
use super::predict_messages::{Message, Speaker};
use super::predict_repair::{Runs, Seeker};
use super::progress::Bar;
use super::property::{self, PROPERTIES, Property};
use super::serializability::{How, judge_all};
use anyhow::{Context, bail};
use foretrace::blocks::NamedBlocks;
use foretrace::candidates::Class;
use foretrace::options::{CandidateSet, Options, Order, Per, Strategy};
use foretrace::predict::{Counted, Progress, Totals, predict};
use foretrace::recorder::{Plan, Program, SourcePlaces};
use foretrace::report::{
    AnnotationReport, BlockRepair, BlockReport, JsonReport, NotRepaired, PredictedRepair, RepairTargets, Subject,
    TextReport, UsesReport, WitnessDir, write_predicted,
};
use foretrace::serializability::{AskedBlocks, Beyond, Method, beyond_triples};
use foretrace::use_after_free::uses_after_free;
use foretrace::verdict::{Decider, Decision, Verdict};
use foretrace_encodings::paper;
use foretrace_serializability::Choices;
use foretrace_trace::{Atomic, Blocks, Feasibility, Independence, Observed, Question};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::ffi::OsString;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Find the atomicity violations that other schedules of a trace's run lead to
///
/// Decides every candidate: two accesses of one transaction with another thread's access in between. Each one that can
/// happen comes with a schedule that was checked. Each one that cannot happen is proved so for all values and
/// branches. Tries, waits with a time limit, and locks that are taken on some ways only do not count.
/// What only the path of this run forbids is off the path: another path may show it.
#[derive(clap::Args)]
#[command(after_help = "\
Exit codes: 0 nothing that counts can happen on this path, 1 something can, 2 error, 3 nothing found, but not everything decided, or only within --context-switches.

Examples:
  foretrace predict trace.jsonl
  foretrace predict trace.jsonl.zst --atomic sections --jobs 4 --time-limit 60
  foretrace predict trace.jsonl --model mcm --feasibility complete
  foretrace predict trace.jsonl --candidates all --format json > report.json
  foretrace predict trace.jsonl --format github
  foretrace predict trace.jsonl --property triples
  foretrace predict trace.jsonl --context-switches 2
  foretrace predict trace.jsonl --property linearizability --spec stack
  foretrace predict bank.foretrace --repair -- ./bank
  foretrace predict bank.foretrace --repair --patch fix.patch
  foretrace predict trace.jsonl --witness-dir witnesses")]
pub struct Args {
    /// The trace, in any format that foretrace reads, or the folder of a recording
    trace: PathBuf,

    #[command(flatten)]
    question: QuestionArgs,

    /// What is looked for
    #[arg(long, default_value = "both", value_parser = one_of(PROPERTIES))]
    property: Property,

    #[command(flatten)]
    history: HistoryArgs,

    /// Conflicts on variables whose names fit this pattern are harmless in violations of whole blocks; may be given more than once
    #[arg(long, value_name = "PATTERN")]
    benign: Vec<String>,

    /// Which triples of accesses are decided
    #[arg(long, default_value = "adjacent", value_parser = one_of(CANDIDATE_SETS))]
    candidates: CandidateSet,

    /// When a class (the candidates of three source locations) is done [default: location; event with --candidates all or
    /// --strategy paper]
    #[arg(long, value_parser = one_of(PERS))]
    per: Option<Per>,

    /// How candidates are decided. Verdicts stay the same
    #[arg(long, default_value = "demand", value_parser = one_of(STRATEGIES))]
    strategy: Strategy,

    /// Switch a filter off; may be given more than once. Verdicts stay the same
    #[arg(long, value_name = "FILTER", value_parser = one_of(FILTERS))]
    without: Vec<Decider>,

    /// Worker threads, each with its own solver [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,

    /// Say how long the run and each stage took
    #[arg(long)]
    times: bool,

    #[command(flatten)]
    limits: TimeLimits,

    /// How to report: grouped by source location, worst first; every candidate, streamed; or as annotations of source lines
    #[arg(long, default_value = "text", value_parser = one_of(PREDICT_FORMATS))]
    format: PredictFormat,

    /// How the solver decides the order of events; verdicts do not depend on it
    #[arg(long, default_value = "auto", value_parser = one_of(ORDERS))]
    order: Order,

    /// Show every class in full, also those of whole threads
    #[arg(long)]
    all: bool,

    /// Show all classes that are off the path of the run, with their schedules (text); with --repair, seek repairs for them, too, and for
    /// whole blocks by which no run fails
    #[arg(long)]
    off_path: bool,

    /// Write a file for each witness into this folder: `witness-FIRST-REMOTE-SECOND.json`; and for each class off the path
    /// one with the schedule of the candidate that the report shows: `off-path-FIRST-REMOTE-SECOND.json`
    #[arg(long, value_name = "DIR")]
    witness_dir: Option<PathBuf>,

    /// Look for the code that must be atomic so that the violations cannot happen, and for a lock that keeps it so. For each repair
    /// foretrace predicts again with that lock, and says what that proves. What is off the path gets a repair if the program fails by it
    #[arg(long)]
    repair: bool,

    /// For how many variables and blocks repairs are sought
    #[arg(long, value_name = "N", default_value = "10", requires = "repair")]
    most_repairs: usize,

    /// With a program after `--`: how often it runs along a violation's schedule as it is, and how often with the repair's code kept whole
    #[arg(long, value_name = "N", default_value = "20", requires = "command", value_parser = clap::value_parser!(u32).range(1..))]
    repair_runs: u32,

    /// Write the first repair that a simple change of the source makes into this file as a diff: a proposal
    #[arg(long, value_name = "FILE", requires = "repair")]
    patch: Option<PathBuf>,

    /// Write each solver query into this folder as SMT-LIB 2
    #[arg(long, value_name = "DIR")]
    dump_smt2: Option<PathBuf>,

    /// The solver's random seed
    #[arg(long, value_name = "N", default_value = "0")]
    seed: u32,

    /// With --repair: the program that was recorded, and its arguments, to try the repairs on
    #[arg(last = true, requires = "repair", value_name = "PROG")]
    command: Vec<OsString>,
}

/// How `predict` reports.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PredictFormat {
    /// One that all commands have.
    Shared(Format),
    /// Annotations of GitHub Actions.
    Github,
}

const PREDICT_FORMATS: &[Choice<PredictFormat>] = &[
    ("text", "for people", PredictFormat::Shared(Format::Text)),
    ("json", "for programs", PredictFormat::Shared(Format::Json)),
    ("github", "annotations of GitHub Actions: a warning for each class that can happen", PredictFormat::Github),
];

impl PredictFormat {
    /// The format of reports about properties that have no annotations.
    fn of_all_properties(self, property: Property) -> anyhow::Result<Format> {
        match self {
            PredictFormat::Shared(format) => Ok(format),
            PredictFormat::Github => {
                let found = PROPERTIES.iter().find(|(_, _, value)| *value == property).map_or("", |(name, _, _)| name);
                bail!("--format github is for --property both or triples, found --property {found}")
            }
        }
    }
}

const STRATEGIES: &[Choice<Strategy>] = &[
    ("demand", "filters, then one solver that learns only what the candidates need", Strategy::Demand),
    (
        "paper",
        "as published: a formula of the whole trace for each (ctp, prefix; no shared locks, no parts)",
        Strategy::Paper,
    ),
];

const ORDERS: &[Choice<Order>] = &[
    ("auto", "what is fastest", Order::Auto),
    ("idl", "difference logic in Z3: the reference", Order::Idl),
    ("order", "an ordering theory in Z3", Order::Order),
    ("sat", "the ordering theory in a SAT solver, with tables of values", Order::Sat),
];

/// Predicts and reports.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let stop = stop_on_ctrl_c()?;
    let go_on = || may_read_on(args.limits.time_limit, &stop);
    let Some(asked) = args.question.read_within(&args.trace, &go_on)? else {
        return Ok(ended_early("reading the trace"));
    };
    if args.property == Property::Linearizability {
        if args.repair {
            bail!("--repair needs --property both or triples, found --property linearizability");
        }
        let how = predict_history::How {
            args: &args.history,
            time_limit: args.limits.time_limit,
            format: args.format.of_all_properties(args.property)?,
            witness_dir: args.witness_dir.as_deref(),
        };
        return predict_history::run(&args.question.options(&asked)?, &asked, &how, &stop);
    }
    args.history.refuse()?;
    if args.format == PredictFormat::Github && args.repair {
        bail!("--format github has no repairs, found --repair; expected --format text or json");
    }
    if args.property == Property::Serializability {
        if args.repair {
            bail!("--repair needs --property both or triples, found --property serializability");
        }
        return blocks_alone(args, &asked, &stop);
    }
    let mut options = options(args, &asked)?;
    let no_block = args.question.something_to_judge(&asked, &args.trace).err();
    let transactions = options.atomic.transactions(&asked.trace);
    let Asked { trace, observed, file, .. } = asked;
    options.blocks = Some(Arc::new(NamedBlocks::new(&trace, options.atomic)));
    let subject = Subject { file: &file, trace: &trace, transactions: &transactions, options: &options };
    if let Some(no_block) = no_block {
        // A use after free needs no block.
        let asks_for_uses = args.property == Property::Both;
        if !asks_for_uses || uses(args, subject, &observed, &stop)?.is_none() {
            return Err(no_block);
        }
    }
    if let Some(folder) = &options.dump_smt2 {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let takes_refuted = args.format == PredictFormat::Shared(Format::Text) || args.repair;
    let work = |messages| {
        predict(&trace, &observed, &transactions, &options, &stop, &mut Speaker::new(messages, takes_refuted))
    };
    let blocks = options.atomic.blocks(&trace);
    let program = program(args)?;
    let run = program.as_ref().map(|program| |plan: &Plan| ran_along(program, RUN_LIMIT, plan));
    let runs = run.as_ref().map(|run| Runs {
        enforced: Enforced { recording: &args.trace, run },
        times: args.repair_runs,
        observed: &observed,
    });
    let look = |targets: Option<RepairTargets>| {
        let blocks = match args.property {
            Property::Both => beyond(args, subject, &observed, &blocks, &stop)?,
            _ => None,
        };
        let uses = match args.property {
            Property::Both => uses(args, subject, &observed, &stop)?,
            _ => None,
        };
        let is_feasible = targets.as_ref().is_some_and(|targets| targets.has_feasible(subject));
        let repairs = |targets: RepairTargets| {
            let left = args.limits.time_limit.map(|limit| limit.saturating_sub(since_start()));
            let targets = targets.all(subject);
            let seeker = Seeker::new(subject, &targets, &stop, left, runs.as_ref());
            seeker.only_proved(!args.off_path).for_patch(args.patch.is_some()).repairs(args.most_repairs)
        };
        let mut repairs = targets.map(repairs).transpose()?;
        if let (Some(file), Some((repairs, _))) = (&args.patch, &mut repairs) {
            repairs.iter_mut().for_each(|repair| repair.patch = Some(proposed(subject, repair)));
            write_first(repairs.iter().filter_map(|repair| repair.patch.as_ref()), file)?;
        }
        let of_blocks = match (&blocks, &repairs) {
            (Some((report, _)), Some(_)) => {
                let limit = args.limits.time_limit;
                let go_on = || !stop.load(Ordering::Relaxed) && limit.is_none_or(|limit| since_start() < limit);
                // A program that is right may begin again where it has read something old. Only runs tell that from a bug.
                let only_failing = !args.off_path && !is_feasible;
                let wanted = Wanted { most: args.most_repairs, only_proved: !args.off_path, only_failing };
                block_repairs((subject, &observed), report, wanted, (runs.as_ref(), &go_on))?
            }
            _ => (Vec::new(), NotRepaired::default()),
        };
        let repairs = repairs.map(|(repairs, none)| {
            let (of_blocks, none_of_blocks) = of_blocks;
            Repaired { repairs, of_blocks, none: none.and(none_of_blocks) }
        });
        Ok(Looked { blocks, uses, repairs })
    };
    oversee((args.limits.time_limit, &stop), work, Listener::new(args, subject, Box::new(look))?)
}

/// What the exit code says.
fn outcome(found: bool, totals: &Totals) -> Outcome {
    let undecided = totals.interrupted || totals.unreached + unknown(totals) > 0;
    match (found, undecided) {
        (true, _) => Outcome::Found,
        (false, true) => Outcome::Undecided,
        (false, false) => Outcome::Fine,
    }
}

/// What whole blocks show that no triple does, where the question is one that can be asked of blocks.
fn beyond<'t>(
    args: &Args,
    subject: Subject<'t>,
    observed: &Observed,
    blocks: &'t Blocks,
    stop: &AtomicBool,
) -> anyhow::Result<Option<(BlockReport<'t>, Beyond)>> {
    let Subject { file, trace, options, .. } = subject;
    let Question { model, feasibility, .. } = options.question;
    if feasibility != Feasibility::Prefix || options.strategy != Strategy::Demand {
        return Ok(None);
    }
    let asked = AskedBlocks {
        trace,
        observed,
        blocks,
        wanted: &|_| true,
        choices: Choices { context_switches: options.context_switches, ..Choices::new(model) },
        method: Method::Both,
        observed_only: false,
    };
    let benign = property::fitting(trace, &args.benign);
    let report = BlockReport::new(file, trace, options.atomic, blocks, model).within(options.context_switches);
    let report = report.with_benign(move |var| property::is_among(&benign, var));
    let with_threads = options.all || options.atomic != Atomic::Auto;
    let mut report = report.without_threads(!with_threads);
    let bounds = property::bounds(None, args.limits.time_limit, stop);
    let found = beyond_triples(&asked, with_threads, &bounds, &mut |found| {
        report.add_beyond(found);
        Ok(())
    })?;
    if let Some(folder) = args.witness_dir.as_deref().filter(|_| !report.is_empty()) {
        report.write_witnesses(&WitnessDir::create(folder)?)?;
    }
    Ok(Some((report, found)))
}

/// What is used after it was freed; nothing where no order of a `free` and an access is open.
fn uses<'t>(
    args: &Args,
    subject: Subject<'t>,
    observed: &Observed,
    stop: &AtomicBool,
) -> anyhow::Result<Option<UsesReport<'t>>> {
    let Subject { trace, options, .. } = subject;
    let deadline = property::bounds(None, args.limits.time_limit, stop).deadline;
    let mut report = UsesReport::new(subject).with_source(source_lines(subject.file));
    let counted = uses_after_free(trace, observed, options, deadline, stop, &mut |found| {
        report.add(found);
        Ok(())
    })?;
    let report = report.finish(counted);
    if let Some(folder) = args.witness_dir.as_deref().filter(|_| report.has_found()) {
        report.write_witnesses(&WitnessDir::create(folder)?)?;
    }
    Ok(Some(report).filter(|_| counted.places > 0))
}

/// Blocks and no triples.
fn blocks_alone(args: &Args, asked: &Asked, stop: &AtomicBool) -> anyhow::Result<Outcome> {
    let options = args.question.options(asked)?;
    let Question { model, feasibility, independence } = options.question;
    if feasibility != Feasibility::Prefix || independence != Independence::Conflict {
        bail!(
            "--property serializability decides prefixes and conflicts only: found --feasibility or --independence, expected neither"
        );
    }
    let how = How {
        choices: Choices { context_switches: options.context_switches, ..Choices::new(model) },
        method: Method::Both,
        observed_only: false,
        vars: None,
        benign: &args.benign,
        block_limit: Some(args.limits.query_timeout),
        time_limit: args.limits.time_limit,
        format: args.format.of_all_properties(args.property)?,
        witness_dir: args.witness_dir.as_deref(),
    };
    args.question.some_block(asked, &args.trace)?;
    judge_all(asked, &how, stop)
}

/// After how long a run of the program counts as hung, and is killed.
const RUN_LIMIT: Duration = Duration::from_secs(60);

/// The program to try repairs on, where it is the one that was recorded.
fn program(args: &Args) -> anyhow::Result<Option<Program>> {
    if args.command.is_empty() {
        return Ok(None);
    }
    if !args.trace.is_dir() {
        bail!("{}: found no folder, expected the recording of the program after `--`", args.trace.display());
    }
    let program = Program::find(&args.command)?;
    program.check()?;
    program.check_recorded_as(&args.trace)?;
    Ok(Some(program))
}

fn unknown(totals: &Totals) -> u64 {
    totals.decided_by.iter().map(|(_, tally)| tally.unknown).sum()
}

/// The options of the run, where they fit each other and the trace.
fn options(args: &Args, asked: &Asked) -> anyhow::Result<Options> {
    let mut options = args.question.options(asked)?;
    if args.strategy == Strategy::Paper {
        paper::supports(&asked.trace, options.question)?;
        if !matches!(args.order, Order::Auto | Order::Idl) {
            bail!("--order is for --strategy demand, found --strategy paper, which has difference logic");
        }
        if options.context_switches.is_some() {
            bail!(
                "--context-switches is for --strategy demand, found --strategy paper, whose formula has no such bound"
            );
        }
        if args.dump_smt2.is_some() {
            bail!("--dump-smt2 writes the queries of --strategy demand, found --strategy paper");
        }
    }
    options.candidates = args.candidates;
    options.strategy = args.strategy;
    options.per = args.per.unwrap_or(match (args.candidates, args.strategy) {
        (CandidateSet::Adjacent, Strategy::Demand) => Per::Location,
        _ => Per::Event,
    });
    options.without = args.without.iter().copied().collect();
    options.jobs = args.jobs.map_or(options.jobs, usize::from);
    args.limits.apply(&mut options);
    options.dump_smt2 = args.dump_smt2.clone();
    options.order = args.order;
    options.seed = args.seed;
    options.times = args.times;
    options.all = args.all;
    options.off_path = true;
    Ok(options)
}

/// The report in its format.
enum Report<'t> {
    Text(Box<TextReport<'t>>),
    Json(JsonReport<'t, BufWriter<std::io::StdoutLock<'static>>>),
    Github(AnnotationReport<'t>),
}

/// Takes the decisions: saves the witnesses, reports.
struct Listener<'t> {
    subject: Subject<'t>,
    report: Report<'t>,
    witnesses: Option<WitnessDir>,
    /// Of each class that is off the path the candidate that the report shows; its schedule gets a file in the end.
    off_path: IndexMap<Class, Box<Decision>, FxBuildHasher>,
    /// What repairs are sought for, where they are.
    targets: Option<RepairTargets>,
    bar: Option<Bar>,
    found: bool,
    progress: Progress,
    counted: Counted,
    /// Once the run is over.
    totals: Option<Box<Totals>>,
    /// What is to be looked at then.
    look: Option<Look<'t>>,
}

/// What is looked at once all candidates are decided.
#[derive(Default)]
struct Looked<'t> {
    /// What whole blocks show, where that was asked for.
    blocks: Option<(BlockReport<'t>, Beyond)>,
    /// What is used after it was freed, where that was asked for.
    uses: Option<UsesReport<'t>>,
    /// The repairs, where they are sought.
    repairs: Option<Repaired>,
}

/// Repairs of what was found.
struct Repaired {
    /// Of three accesses.
    repairs: Vec<PredictedRepair>,
    /// Of whole blocks.
    of_blocks: Vec<BlockRepair>,
    /// What has none.
    none: NotRepaired,
}

/// Looks at it.
type Look<'t> = Box<dyn FnOnce(Option<RepairTargets>) -> anyhow::Result<Looked<'t>> + 't>;

impl<'t> Listener<'t> {
    fn new(args: &Args, subject: Subject<'t>, look: Look<'t>) -> anyhow::Result<Listener<'t>> {
        let report = match args.format {
            PredictFormat::Shared(Format::Text) => {
                let report = TextReport::new(subject).with_off_path(args.off_path);
                Report::Text(Box::new(report.with_source(source_lines(subject.file))))
            }
            PredictFormat::Github => Report::Github(AnnotationReport::new(subject)),
            PredictFormat::Shared(Format::Json) => {
                Report::Json(JsonReport::start(subject, BufWriter::new(std::io::stdout().lock()))?)
            }
        };
        let mut witnesses = args.witness_dir.as_deref().map(WitnessDir::create).transpose()?;
        let places = SourcePlaces::of_trace(Path::new(subject.file));
        if let (Some(folder), Some(places)) = (&mut witnesses, places) {
            folder.name_places(Box::new(places));
        }
        Ok(Listener {
            subject,
            report,
            witnesses,
            off_path: IndexMap::default(),
            targets: args.repair.then(RepairTargets::default),
            bar: Bar::on_terminal(),
            found: false,
            progress: Progress::default(),
            counted: Counted::default(),
            totals: None,
            look: Some(look),
        })
    }

    fn write(mut self, totals: &Totals, Looked { blocks, uses, repairs }: Looked<'t>) -> anyhow::Result<()> {
        drop(self.bar);
        if let Some(folder) = &mut self.witnesses {
            self.off_path.values().try_for_each(|decision| folder.save(self.subject, decision).map(|_| ()))?;
        }
        match self.report {
            Report::Json(report) => {
                let blocks = blocks.as_ref().map(|(report, beyond)| report.beyond_json(beyond));
                let repairs = repairs.as_ref().map(|all| (all.repairs.as_slice(), all.of_blocks.as_slice(), all.none));
                report.finish(totals, (blocks, uses.as_ref().map(UsesReport::json)), repairs)?
            }
            Report::Github(report) => {
                let mut out = BufWriter::new(std::io::stdout().lock());
                report.write(totals, blocks.as_ref(), uses.as_ref(), &mut out)?;
                out.flush()?;
            }
            Report::Text(mut report) => {
                report.set_blocks(blocks);
                report.set_uses(uses);
                let mut out = BufWriter::new(anstream::stdout().lock());
                report.write(totals, &mut out)?;
                if let Some(Repaired { repairs, of_blocks, none }) = &repairs {
                    write_predicted(self.subject, repairs, of_blocks, *none, &mut out)?;
                }
                out.flush()?;
            }
        }
        Ok(())
    }

    /// Writes a decision's schedule to a file; of a class that is off the path only the best one, in the end.
    fn save(&mut self, decision: &Decision) -> anyhow::Result<()> {
        let Some(folder) = &mut self.witnesses else { return Ok(()) };
        let Some(off_path) = decision.off_path.as_ref().filter(|_| self.subject.options.per == Per::Location) else {
            folder.save(self.subject, decision)?;
            return Ok(());
        };
        let class = self.subject.class(decision.triple);
        let is_better = |known: &Decision| self.subject.off_path_rank(decision) < self.subject.off_path_rank(known);
        if off_path.run().is_some() && self.off_path.get(&class).is_none_or(|known| is_better(known)) {
            self.off_path.insert(class, Box::new(decision.clone()));
        }
        Ok(())
    }

    fn take(&mut self, decision: &Decision) -> anyhow::Result<()> {
        if let Verdict::Feasible(witness) = &decision.verdict
            && !self.found
        {
            let observed = self.subject.is_observed(decision.triple, witness);
            self.found = self.subject.is_found(decision.triple, observed);
        }
        self.counted.count(decision);
        self.save(decision)?;
        if let Some(targets) = &mut self.targets {
            targets.add(self.subject, decision);
        }
        match &mut self.report {
            Report::Text(report) => report.add(decision),
            Report::Json(report) => report.add(decision)?,
            Report::Github(report) => report.add(decision),
        }
        Ok(())
    }

    fn show(&mut self, progress: Progress) {
        self.progress = progress;
        if let Some(bar) = &self.bar {
            bar.show(&progress);
        }
    }

    /// What the run came to: where it has not ended in time, what was heard of it.
    fn totals(&mut self, end: End<anyhow::Result<Totals>>) -> anyhow::Result<Totals> {
        if let End::Done(totals) = end {
            return totals;
        }
        if let Some(totals) = self.totals.take() {
            return Ok(*totals);
        }
        let counted = std::mem::take(&mut self.counted);
        Ok(counted.totals_of_unended(&self.progress, self.subject.transactions.len()))
    }
}

impl Hearer<Message, anyhow::Result<Totals>> for Listener<'_> {
    fn hear(&mut self, message: Message) -> anyhow::Result<()> {
        match message {
            Message::Decision(decision) => self.take(&decision)?,
            Message::Refuted(triple, by, count) => {
                self.counted.count_refuted(by, count);
                if let Report::Text(report) = &mut self.report {
                    report.add_refuted(triple, count);
                }
                if let Some(targets) = &mut self.targets {
                    targets.add_refuted(self.subject, triple, count);
                }
            }
            Message::Progress(progress) => self.show(progress),
            Message::Finished(totals) => self.totals = Some(totals),
        }
        Ok(())
    }

    fn finish(mut self, end: anyhow::Result<End<anyhow::Result<Totals>>>) -> anyhow::Result<Outcome> {
        let mut found = self.found;
        let is_overdue = matches!(end, Ok(End::Overdue));
        let mut are_uses_open = false;
        let written = end.and_then(|end| self.totals(end)).and_then(|totals| {
            let look = self.look.take().filter(|_| !is_overdue);
            let looked = look.map(|look| look(self.targets.take())).transpose()?.unwrap_or_default();
            found |= looked.blocks.as_ref().is_some_and(|(report, _)| report.has_found());
            found |= looked.uses.as_ref().is_some_and(UsesReport::has_found);
            are_uses_open = looked.uses.as_ref().is_some_and(UsesReport::is_undecided);
            self.write(&totals, looked).map(|()| totals)
        });
        match written {
            Err(error) if found && is_closed_pipe(&error) => Ok(Outcome::Found),
            Ok(_) if (is_overdue || are_uses_open) && !found => Ok(Outcome::Undecided),
            written => Ok(outcome(found, &written?)),
        }
    }
}

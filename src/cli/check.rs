//! `foretrace check`: is a trace valid, can a schedule of it happen?

use super::asking::{FEASIBILITIES, MODELS, TimeLimit, ended_early, may_read_on};
use super::choices::one_of;
use super::files;
use super::linearizable::with_meaning;
use super::outcome::Outcome;
use super::specification::Specification;
use foretrace::options::strongest_model;
use foretrace::report::{SavedKind, SavedOffPath, SavedSchedule, SavedWitness, act, as_what};
use foretrace_checker::{
    CheckError, Checker, Interruption, OtherWay, PerformedOperations, PerformedStep, Run, Step, UseAfterFree,
    ViolationPath, run_schedule,
};
use foretrace_linearizability::{Verdict, read_order};
use foretrace_trace::{Block, EventId, Feasibility, Independence, Model, Observed, Question, Trace};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Check that a trace is valid, or that schedules of it can happen
///
/// A trace is valid if every event is enabled in the recorded order and every recorded value follows. `check` runs a schedule
/// event by event, and shows what its reads return and where it fails.
#[derive(clap::Args)]
#[command(after_help = "\
A schedule is a JSON array of event indices, such as [0, 1, 4, 2], or a file of `predict --witness-dir`. Of such a file foretrace also checks that its triple happens.

Exit codes: 0 valid, and every schedule is feasible; 1 a schedule is not; 2 the trace or a file is not valid.

Examples:
  foretrace check trace.jsonl
  foretrace check trace.jsonl schedule.json --model mcm
  foretrace check trace.jsonl witnesses/*.json --quiet")]
pub struct Args {
    /// The trace, in any format that foretrace reads
    trace: PathBuf,

    /// Schedules of the trace
    #[arg(value_name = "SCHEDULE")]
    schedules: Vec<PathBuf>,

    /// What a read returns [default: as the witness says, else the strongest that the trace's data allows]
    #[arg(long, value_parser = one_of(MODELS))]
    model: Option<Model>,

    /// Whether a schedule may leave out events [default: as the witness says, else prefix]
    #[arg(long, value_parser = one_of(FEASIBILITIES))]
    feasibility: Option<Feasibility>,

    /// Only say how each schedule ends
    #[arg(short, long)]
    quiet: bool,

    #[command(flatten)]
    limit: TimeLimit,
}

/// Checks.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let never = AtomicBool::new(false);
    let go_on = || may_read_on(args.limit.time_limit, &never);
    let Some((trace, observed)) = files::read_trace_within(&args.trace, &go_on)? else {
        return Ok(ended_early("reading the trace"));
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.schedules.is_empty() {
        let (events, threads) = (trace.events.len(), trace.threads.len());
        writeln!(out, "{}: valid; {events} events of {threads} threads", args.trace.display())?;
    }
    let mut outcome = Outcome::Fine;
    for path in &args.schedules {
        if !go_on() {
            writeln!(out, "the limit was reached: {} and what follows was not checked", path.display())?;
            outcome = if outcome == Outcome::Found { outcome } else { Outcome::Undecided };
            break;
        }
        if let Err(obstacle) = check_one(args, &trace, &observed, path, &mut out)? {
            writeln!(out, "{}: not feasible: {obstacle}", path.display())?;
            outcome = Outcome::Found;
        }
    }
    out.flush()?;
    Ok(outcome)
}

/// Runs one schedule and shows it; the inner result says whether it is feasible.
fn check_one(
    args: &Args,
    trace: &Trace,
    observed: &Observed,
    path: &Path,
    out: &mut dyn Write,
) -> anyhow::Result<Result<(), String>> {
    let schedule = files::read_schedule(path)?;
    let question = question(args, trace, &schedule);
    let events = schedule.events();
    // What is off the path before remote holds where tries may come out the other way.
    let opened = if is_before_remote(&schedule) { trace.with_open_tries() } else { None };
    let trace = opened.as_ref().unwrap_or(trace);
    let run = match run_schedule(trace, observed, question.model, &events) {
        Ok(run) => run,
        Err(CheckError::Step(bad)) => {
            let before = run_schedule(trace, observed, question.model, &events[..bad.step])?;
            show(args, trace, path, &before, out)?;
            return Ok(Err(format!("model {}, {bad}", question.model)));
        }
        Err(error) => return Err(error.into()),
    };
    show(args, trace, path, &run, out)?;
    if question.feasibility == Feasibility::Complete && !run.complete {
        let (found, expected) = (events.len(), trace.events.len());
        return Ok(Err(format!("complete feasibility asks for all {expected} events, found {found}")));
    }
    let shown = match &schedule {
        SavedSchedule::Plain(_) => String::new(),
        SavedSchedule::Witness(witness) => match check_claim(trace, observed, question, witness, &events)? {
            Ok(shown) => format!(", and {shown}"),
            Err(reason) => return Ok(Err(reason)),
        },
    };
    let kind = if run.complete { "complete execution" } else { "prefix" };
    writeln!(out, "{}: feasible {kind} in model {}{shown}", path.display(), question.model)?;
    Ok(Ok(()))
}

fn is_before_remote(schedule: &SavedSchedule) -> bool {
    let SavedSchedule::Witness(witness) = schedule else { return false };
    witness.off_path.is_some_and(|kind| matches!(kind, SavedOffPath::BeforeRemote | SavedOffPath::Unasked))
}

/// Whether a schedule shows what its witness claims: how that is said, or why not.
fn check_claim(
    trace: &Trace,
    observed: &Observed,
    question: Question,
    witness: &SavedWitness,
    schedule: &[EventId],
) -> anyhow::Result<Result<String, String>> {
    let transactions = witness.atomic.transactions(trace);
    let question = match witness.kind {
        SavedKind::Triple => question,
        SavedKind::Block | SavedKind::History | SavedKind::UseAfterFree | SavedKind::OtherWay => {
            Question { independence: Independence::Conflict, ..question }
        }
    };
    let checker = Checker::new(trace, observed, &transactions, question)?;
    let triple = witness.triple();
    let ends_at_remote = witness.ends_at_remote || witness.off_path == Some(SavedOffPath::AfterRemote);
    let (checked, shown) = match witness.kind {
        SavedKind::Block => match saved_path(trace, witness) {
            Ok(path) => {
                (checker.check(path, schedule).map(drop), "it holds the violation path of the block".to_string())
            }
            Err(reason) => return Ok(Err(reason)),
        },
        SavedKind::UseAfterFree => (
            checker.check(UseAfterFree { free: triple.remote, access: triple.second }, schedule).map(drop),
            "memory is used in it after it was freed".to_string(),
        ),
        SavedKind::OtherWay => {
            let Some(branch) = witness.branch else { return Ok(Err("the witness names no branch".to_string())) };
            let shown = format!("then branch {branch} goes the other way");
            (checker.check(OtherWay { branch }, schedule).map(drop), shown)
        }
        SavedKind::History => return check_history(&checker, trace, witness, schedule),
        SavedKind::Triple if ends_at_remote => (
            checker.check(Interruption(triple), schedule).map(drop),
            format!("{triple} happens up to its remote access"),
        ),
        SavedKind::Triple => (checker.check(triple, schedule).map(drop), format!("{triple} happens in it")),
    };
    Ok(checked.map(|()| shown).map_err(|error| error.to_string()))
}

/// Whether a schedule performs the operations that its witness tells, and their history is not linearizable.
fn check_history(
    checker: &Checker<'_>,
    trace: &Trace,
    witness: &SavedWitness,
    schedule: &[EventId],
) -> anyhow::Result<Result<String, String>> {
    let steps = witness.performed.iter().map(|step| PerformedStep {
        event: step.event,
        result: step.result.clone(),
        given_by: step.given_by,
    });
    let is_departure = witness.off_path == Some(SavedOffPath::AfterEnd);
    let last = witness.performed.last().filter(|_| is_departure).map(|step| step.event);
    let end = schedule.iter().position(|event| Some(*event) == last).map_or(schedule.len(), |place| place + 1);
    if let Err(error) = checker.check(PerformedOperations { steps: steps.collect() }, &schedule[..end]) {
        return Ok(Err(error.to_string()));
    }
    if is_departure {
        return Ok(Ok("the program is to go on elsewhere after it".to_string()));
    }
    let Some(specification) = Specification::of_witness(witness, &|| true)? else {
        return Ok(Err("the witness names no known specification".to_string()));
    };
    let result = |event: EventId| witness.performed.iter().find(|step| step.event == event)?.result.clone();
    let history = with_meaning(&witness.meaning, read_order(trace, schedule.iter().copied(), result));
    let name = as_what(specification.name());
    Ok(match specification.check_by_search(&history) {
        Ok(Verdict::NotLinearizable) => Ok(format!("its history is not linearizable as {name}")),
        Ok(Verdict::Linearizable) => Err(format!("its history is linearizable as {name}")),
        Ok(Verdict::Unknown) => Err(format!("its history is left open: as {name}")),
        Err(error) => Err(error.to_string()),
    })
}

/// The violation path that a witness tells.
fn saved_path(trace: &Trace, witness: &SavedWitness) -> Result<ViolationPath, String> {
    let blocks = witness.atomic.blocks(trace);
    let is_it = |block: &&Block| Some(block.first) == witness.block.first && Some(block.last) == witness.block.last;
    let block = blocks.all().iter().find(is_it).ok_or("the trace has no block that begins and ends there")?;
    let events: Vec<EventId> = witness.path.iter().map(|step| step.event).collect();
    if let Some(missing) = events.iter().find(|event| event.index() >= trace.events.len()) {
        return Err(format!("the path has event {missing}, which the trace does not have"));
    }
    let path = ViolationPath::through(trace, *block, events);
    path.ok_or_else(|| "two accesses of the path do not lead to each other".to_string())
}

/// What is asked: by the options, else by the witness, else by default.
fn question(args: &Args, trace: &Trace, schedule: &SavedSchedule) -> Question {
    let asked = match schedule {
        SavedSchedule::Witness(witness) => witness.question(),
        SavedSchedule::Plain(_) => Question {
            model: strongest_model(trace.data),
            feasibility: Feasibility::Prefix,
            independence: Independence::Conflict,
        },
    };
    Question {
        model: args.model.unwrap_or(asked.model),
        feasibility: args.feasibility.unwrap_or(asked.feasibility),
        ..asked
    }
}

fn show(args: &Args, trace: &Trace, path: &Path, run: &Run, out: &mut dyn Write) -> io::Result<()> {
    if args.quiet {
        return Ok(());
    }
    writeln!(out, "{}:", path.display())?;
    run.steps(trace).iter().enumerate().try_for_each(|(number, step)| write_step(trace, number, step, out))
}

fn write_step(trace: &Trace, number: usize, step: &Step, out: &mut dyn Write) -> io::Result<()> {
    let thread = trace.threads[trace.event(step.event).thread.index()].number;
    let loc = trace.loc(step.event).unwrap_or_default();
    let line = format!("{number:>6}  event {:<6}  thread {thread:<3}  {:<40}  {loc}", step.event, act(trace, step));
    writeln!(out, "{}", line.trim_end())
}

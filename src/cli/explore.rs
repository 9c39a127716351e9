//! `foretrace explore`: all interleavings of a litmus program, or of a real one (`explore_program`).

use super::asking::stop_on_ctrl_c;
use super::atomic::OperationArgs;
use super::choices::{FORMATS, Format, one_of, seconds};
use super::files::{self, write_trace};
use super::histories::{Failure, Judge, Judged};
use super::linearizable::{MeaningArgs, SPECS};
use super::outcome::{Outcome, since_start};
use anyhow::{Context, bail};
use foretrace::litmus::{self, Execution, Exploring, Options};
use foretrace_explore::Ended;
use foretrace_linearizability::{Limits, Spec};
use serde::Serialize;
use std::ffi::OsString;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Run a program in every interleaving, up to equivalence
///
/// Two interleavings are equivalent when each thread does the same, and all accesses and synchronisation that depend on each other
/// come in the same order. The command runs one of each class, by dynamic partial-order reduction. If a thread of a litmus program
/// fails, the others go on. A real program is one that foretrace built; the command runs it once for each class, or a little more often.
///
/// With --spec an interleaving also fails if the history of its operations is not linearizable. Operations of real programs are marked,
/// or --operations names them. Interleavings of a litmus program then differ, too, if an operation ends before another begins in one
/// of them only.
#[derive(clap::Args)]
#[command(after_help = "\
Exit codes: 0 no interleaving fails, 1 one fails or comes to a deadlock, 2 error, 3 none fails, but not all were explored.

Examples:
  foretrace explore -- ./bank
  foretrace explore --context-switches 2 --time-limit 60 --save runs -- ./bank
  foretrace explore --spec set --operations 'Set::*' --save runs --passing -- ./client
  foretrace explore examples/litmus/bank.lit
  foretrace explore examples/objects/stack.lit --spec stack
  foretrace explore program.lit --save runs
  foretrace explore program.lit --save runs --passing --format json")]
pub struct Args {
    /// A litmus program
    #[arg(required_unless_present = "command", conflicts_with = "command")]
    program: Option<PathBuf>,

    /// The specification that the program's operations should follow
    #[arg(long, value_parser = one_of(SPECS))]
    pub(super) spec: Option<Spec>,

    #[command(flatten)]
    pub(super) names: MeaningArgs,

    #[command(flatten)]
    pub(super) operations: OperationArgs,

    /// Keep each interleaving that fails in this folder: `failing-1.jsonl`, …; of a real program a recording,
    /// `failing-1.foretrace`, …
    #[arg(long, value_name = "DIR")]
    pub(super) save: Option<PathBuf>,

    /// Keep interleavings that pass, too: `passing-1.jsonl` or `passing-1.foretrace`, …
    #[arg(long, requires = "save")]
    pub(super) passing: bool,

    /// Keep at most this many of each kind
    #[arg(long, value_name = "N", default_value = "100")]
    pub(super) most: u64,

    /// Stop at the first interleaving that fails
    #[arg(long)]
    pub(super) first: bool,

    /// Cut an interleaving off after this many events
    #[arg(long, value_name = "N", default_value_t = Options::default().max_steps, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) max_steps: u32,

    /// Of a real program: only interleavings with at most K interruptions. An interruption takes the turn from a thread that
    /// could go on
    #[arg(long, value_name = "K", requires = "command")]
    pub(super) context_switches: Option<u32>,

    /// Of a real program: make at most N runs
    #[arg(long, value_name = "N", requires = "command", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) runs: Option<u64>,

    /// Time limit of the command
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    pub(super) time_limit: Option<Duration>,

    /// How to report
    #[arg(long, default_value = "text", value_parser = one_of(FORMATS))]
    pub(super) format: Format,

    /// A real program and its arguments
    #[arg(last = true, value_name = "PROG")]
    pub(super) command: Vec<OsString>,
}

/// What programs read.
#[derive(Serialize, Default)]
struct Report {
    foretrace: u32,
    program: String,
    /// Whether all interleavings were explored.
    complete: bool,
    interleavings: u64,
    finished: u64,
    failed: u64,
    deadlocks: u64,
    cut_off: u64,
    /// Given up half-way, since an equivalent one had been explored.
    redundant: u64,
    steps: u64,
    failures: Vec<Failing>,
}

/// Interleavings that end in the same way.
#[derive(Serialize)]
struct Failing {
    what: String,
    interleavings: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<String>,
    /// A small part of the first one's history that is not linearizable.
    #[serde(skip)]
    picture: Option<String>,
}

/// Explores.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let stop = stop_on_ctrl_c()?;
    let path = args.program.as_ref().context("found no program, expected a litmus program, or `--` and a program")?;
    let program = files::litmus_program(path)?;
    if !args.names.is_empty() || !args.operations.is_empty() {
        bail!("--operations, --operation-names and --empty are for real programs, found {}", path.display());
    }
    let judge = Judge::new(args.spec, &program).with_context(|| path.display().to_string())?;
    if let Some(folder) = &args.save {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let mut report = Report { foretrace: 1, program: path.display().to_string(), ..Report::default() };
    let mut failed: anyhow::Result<()> = Ok(());
    let may_go_on = || !stop.load(Ordering::Relaxed) && args.time_limit.is_none_or(|limit| since_start() < limit);
    let limits = Limits { go_on: &may_go_on };
    let exploring = Exploring { real_time: judge.needs_real_time(), ..Exploring::all(args.max_steps) };
    let explored = litmus::explore(&program, exploring, &mut |_| may_go_on(), &mut |execution| match judge
        .judge(&execution, limits)
        .and_then(|judged| report.add(args, &execution, judged))
    {
        Ok(fails) if fails && args.first => ControlFlow::Break(()),
        Ok(_) => ControlFlow::Continue(()),
        Err(error) => {
            failed = Err(error);
            ControlFlow::Break(())
        }
    });
    failed?;
    report.complete = explored.ended == Ended::Complete && report.cut_off == 0;
    report.interleavings = explored.tally.executions;
    report.redundant = explored.tally.redundant;
    report.steps = explored.tally.steps;
    let mut out = io::BufWriter::new(io::stdout().lock());
    match args.format {
        Format::Text => report.write_text(explored.ended, &mut out)?,
        Format::Json => {
            serde_json::to_writer_pretty(&mut out, &report)?;
            writeln!(out)?;
        }
    }
    out.flush()?;
    Ok(match report.failures.is_empty() {
        false => Outcome::Found,
        true if report.complete => Outcome::Fine,
        true => Outcome::Undecided,
    })
}

impl Report {
    /// Counts an interleaving and writes its trace; whether it fails.
    fn add(&mut self, args: &Args, execution: &Execution, judged: Judged) -> anyhow::Result<bool> {
        let (kind, number) = match &judged {
            Judged::Open => {
                self.cut_off += 1;
                return Ok(false);
            }
            Judged::Passes => {
                self.finished += 1;
                ("passing", self.finished)
            }
            Judged::Fails(failure) => {
                *(if failure.is_deadlock { &mut self.deadlocks } else { &mut self.failed }) += 1;
                ("failing", self.failed + self.deadlocks)
            }
        };
        let fails = matches!(judged, Judged::Fails(_));
        let path = args.save.as_ref().filter(|_| (fails || args.passing) && number <= args.most);
        let path = path.map(|folder| folder.join(format!("{kind}-{number}.jsonl")));
        if let Some(path) = &path {
            write_trace(&execution.trace, Some(path), None)?;
        }
        if let Judged::Fails(failure) = judged {
            self.add_failure(failure, path.as_deref());
        }
        Ok(fails)
    }

    fn add_failure(&mut self, failure: Failure, path: Option<&Path>) {
        let Failure { what, picture, .. } = failure;
        match self.failures.iter_mut().find(|failing| failing.what == what) {
            Some(failing) => failing.interleavings += 1,
            None => {
                let trace = path.map(|path| path.display().to_string());
                self.failures.push(Failing { what, interleavings: 1, trace, picture });
            }
        }
    }

    fn write_text(&self, ended: Ended, out: &mut dyn Write) -> io::Result<()> {
        for failing in &self.failures {
            let Failing { what, interleavings, trace, picture } = failing;
            let plural = if *interleavings == 1 { "" } else { "s" };
            writeln!(out, "{what}\n  in {interleavings} interleaving{plural}")?;
            if let Some(trace) = trace {
                writeln!(out, "  the first one: {trace}")?;
            }
            for line in picture.iter().flat_map(|picture| picture.lines()) {
                writeln!(out, "    {line}")?;
            }
        }
        let Report { interleavings, finished, failed, deadlocks, cut_off, redundant, steps, .. } = self;
        writeln!(
            out,
            "{interleavings} interleavings up to equivalence: {finished} finished, {failed} failed, {deadlocks} in a deadlock, \
             {cut_off} cut off"
        )?;
        writeln!(
            out,
            "explored in {steps} steps; {redundant} interleavings were given up half-way as equivalent to others"
        )?;
        match ended {
            Ended::Complete => Ok(()),
            Ended::Stopped => writeln!(out, "stopped at the first that fails: there may be more"),
            Ended::Limit => writeln!(out, "the limit was reached: there are more"),
        }
    }
}

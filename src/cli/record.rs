//! `foretrace record`: run a program and leave its trace.

use super::choices::{Choice, one_of};
use super::on_signal::OnSignal;
use super::outcome::{Outcome, say};
use super::record_live::Live;
use super::trace::WalkArgs;
use super::walk::{Found, NOTHING, Or};
use anyhow::{Context, bail};
use foretrace::recorder::{Ended, Ending, Folder, Mode, Program, RecordingScope, Run, Scheduler, Scheduling, Sources};
use foretrace_walker::Programs;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Run a program that `foretrace cc` built, and write the trace of the run
///
/// Passes on the program's output and exit status, and sends it the signals that this command gets. If the program aborts, crashes
/// or is killed, the trace holds the run up to that point and ends with the failure.
#[derive(clap::Args)]
#[command(after_help = "\
Exit codes: that of the program (128 + N if signal N ended it), even if no trace was made; 128 + N if signal N came while the trace was made; with --runs: 1 if a run failed, else 0, 128 + N if signal N stopped them; 2 error.

Examples:
  foretrace cc -o bank bank.c
  foretrace record -- ./bank
  foretrace record -o runs --serial --seed 1 --runs 100 -- ./bank 10
  foretrace record -o runs --scheduler pos --runs 100 -- ./bank 10
  foretrace record --live --parallel -- ./server
  foretrace record -o bank.foretrace --parallel --atomic functions -- ./bank")]
pub struct Args {
    /// The folder for the recording; `trace.jsonl.zst` in it is the trace [default: PROGRAM.foretrace]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// One thread at a time, scheduled at random by --seed: the same seed gives the same run [the default]
    #[arg(long, conflicts_with = "parallel")]
    serial: bool,

    /// The threads run as the machine schedules them
    #[arg(long)]
    parallel: bool,

    /// The seed of the serial scheduler
    #[arg(long, value_name = "N", default_value = "0", conflicts_with = "parallel")]
    seed: u64,

    /// Which thread runs next in a serial recording
    #[arg(long, value_name = "WHICH", default_value = "turns", conflicts_with = "parallel", value_parser = one_of(SCHEDULERS))]
    scheduler: Scheduler,

    /// For --scheduler pct: the number of orders that a failure is assumed to need
    #[arg(long, value_name = "N", default_value = "3", conflicts_with = "parallel", value_parser = clap::value_parser!(u64).range(1..=33))]
    depth: u64,

    /// Run this many seeds from --seed on, and keep the failing runs, each in a separate folder: DIR/seed-N. Ctrl-C ends the run and all others
    #[arg(long, value_name = "N", conflicts_with = "parallel", value_parser = clap::value_parser!(u64).range(1..))]
    runs: Option<u64>,

    /// Stop recording when the logs have this many bytes, such as 2G; the program runs on. Making the trace takes about 16
    /// times as much memory
    #[arg(long, value_name = "BYTES", default_value = "512M", value_parser = bytes)]
    max_size: u64,

    /// Keep only the last events of each thread: at least N, at most about twice as many. The trace starts where the logs of all
    /// threads do; it cannot be replayed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    window: Option<u64>,

    /// Record nothing until the program switches recording on, with FORETRACE_RECORD_ON() of foretrace.h or --switch-signal
    #[arg(long)]
    paused: bool,

    /// A signal that switches recording off and on, such as USR2
    #[arg(long, value_name = "SIGNAL", value_parser = signal)]
    switch_signal: Option<i32>,

    /// Say which violations can happen in the run so far, as it goes on. Each is said once; `foretrace predict` shows the schedules
    #[arg(long, conflicts_with_all = ["window", "runs"])]
    live: bool,

    #[command(flatten)]
    walk: WalkArgs,

    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROG")]
    command: Vec<OsString>,
}

/// The values of `--scheduler`.
const SCHEDULERS: &[Choice<Scheduler>] = &[
    ("turns", "a random thread for up to 50 records: cheap", Scheduler::Turns),
    ("random", "a random thread before each record", Scheduler::Random),
    ("round-robin", "one after the other, each for the same random number of records", Scheduler::RoundRobin),
    ("pct", "the thread of highest priority, which changes at --depth minus 1 random moments", Scheduler::Pct),
    ("pos", "the thread whose next record has the highest priority; drawn again after each conflict", Scheduler::Pos),
    ("urw", "a random thread, the likelier the more records it has left in an earlier run of --runs", Scheduler::Urw),
    ("order", "the first thread until it waits, then one thread after the other in a random order", Scheduler::Order),
];

impl Args {
    /// How threads take turns; `steps` are the records of each in an earlier run.
    fn scheduled(&self, seed: u64, steps: &[u64]) -> Mode {
        match self.scheduler {
            Scheduler::Turns => Mode::Serial(seed),
            scheduler => {
                let depth = (scheduler == Scheduler::Pct).then_some(self.depth);
                Mode::Scheduled(Scheduling { seed, scheduler, depth, steps: steps.to_vec(), ends_of_turns: Vec::new() })
            }
        }
    }
}

/// Fewer bytes do not hold the logs of a few threads.
const SMALLEST: u64 = 64 << 10;

/// A signal by its name or number.
fn signal(text: &str) -> Result<i32, String> {
    let upper = text.to_ascii_uppercase();
    let name = if upper.starts_with("SIG") { upper } else { format!("SIG{upper}") };
    let named = name.parse::<nix::sys::signal::Signal>().map(|signal| signal as i32).ok();
    let number = || text.parse().ok().filter(|number| (1..=64).contains(number));
    named.or_else(number).ok_or_else(|| format!("found {text}, expected a signal, such as USR2"))
}

/// A number of bytes, with K, M or G.
fn bytes(text: &str) -> Result<u64, String> {
    let wrong = || format!("found {text}, expected a number of bytes, such as 500M");
    let (digits, unit) = match text.find(|c: char| !c.is_ascii_digit()) {
        Some(end) => text.split_at(end),
        None => (text, ""),
    };
    let factor = match unit.to_ascii_uppercase().as_str() {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return Err(wrong()),
    };
    digits.parse::<u64>().ok().and_then(|number| number.checked_mul(factor)).ok_or_else(wrong)
}

/// Runs and records.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    if args.max_size < SMALLEST {
        bail!("--max-size: found {} bytes, expected at least {SMALLEST}", args.max_size);
    }
    let program = Program::find(&args.command)?;
    program.check()?;
    args.walk.walking()?; // what cannot be walked for is said before the program runs
    let folder = args.output.clone().unwrap_or_else(|| default_folder(&program));
    match args.runs {
        Some(runs) => many(args, &program, &folder, runs),
        None => {
            let mode = if args.parallel { Mode::Parallel } else { args.scheduled(args.seed, &[]) };
            let ending = record(args, &program, &folder, mode)?;
            Ok(Outcome::Status(ending.shell_status()))
        }
    }
}

fn default_folder(program: &Program) -> PathBuf {
    let mut name = program.path.file_name().unwrap_or_default().to_os_string();
    name.push(".foretrace");
    name.into()
}

/// One run: recorded, and made a trace.
fn record(args: &Args, program: &Program, path: &Path, mode: Mode) -> anyhow::Result<Ending> {
    let folder = Folder::create(path)?;
    let live = args.live.then(|| Live::begin(folder.path(), args.walk.walking()?.options)).transpose()?;
    let ending = run_recorded(args, program, &folder, mode)?.ending;
    live.map(Live::end).transpose()?;
    let walked = walk(args, &folder, told_without_trace(program, path, ending));
    keep_sources(&folder);
    match walked {
        Ok((walked, found)) => {
            let trace = path.join("trace.jsonl.zst");
            say(format_args!("foretrace: {} {ending}; {walked}: {}", name(program), trace.display()));
            if found == Found::Nothing {
                say(format_args!("foretrace: note: {NOTHING}"));
            }
        }
        Err(error) => say_no_trace(&told_without_trace(program, path, ending), &error),
    }
    Ok(ending)
}

/// Keeps the source for `replay --edited`, which alone needs it.
fn keep_sources(folder: &Folder) {
    if let Err(error) = Sources::keep(folder.path(), &Programs::default()) {
        say(format_args!("foretrace: the source of the program is not kept: {error}"));
    }
}

/// Makes a trace of the recording. A signal ends this command meanwhile: all is kept that a trace is made from.
fn walk(args: &Args, folder: &Folder, without_trace: String) -> anyhow::Result<(String, Found)> {
    let _stopped = OnSignal::call(move |signal| {
        say(&without_trace);
        std::process::exit(Ending::Signal(signal).shell_status().into())
    })?;
    args.walk.walk(folder.path(), &folder.trace(), Or::Write)
}

/// The exit status stays the program's own.
fn say_no_trace(without_trace: &str, error: &anyhow::Error) {
    say(format_args!("error: {error:#}"));
    say(without_trace);
}

fn told_without_trace(program: &Program, path: &Path, ending: Ending) -> String {
    let (name, path) = (name(program), path.display());
    format!("foretrace: {name} {ending}; its recording has no trace, `foretrace trace {path}` makes one: {path}")
}

fn name(program: &Program) -> String {
    program.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Runs the program and completes its logs.
fn run_recorded(args: &Args, program: &Program, folder: &Folder, mode: Mode) -> anyhow::Result<Ended> {
    let part = RecordingScope { window: args.window, paused: args.paused, switch: args.switch_signal };
    let max_bytes = Some(args.max_size);
    let run =
        Run { program, mode, folder, max_bytes, part, time_limit: None, quiet: false, recording: None, apart: None };
    Ok(run.record_among_others()?)
}

/// Many runs, of which those that fail are kept. A signal ends them all. The run that it came to is kept if it did not end well, since that run may
/// have hung; it does not count.
fn many(args: &Args, program: &Program, path: &Path, runs: u64) -> anyhow::Result<Outcome> {
    let mut failed = 0_u64;
    let mut steps = Vec::new();
    for seed in (args.seed..).take(usize::try_from(runs)?) {
        let place = path.join(format!("seed-{seed}"));
        let folder = Folder::create(&place)?;
        let Ended { ending, signal } = run_recorded(args, program, &folder, args.scheduled(seed, &steps))?;
        if steps.is_empty() {
            steps = Scheduling::steps_of(folder.path());
        }
        if ending == Ending::Code(0) {
            std::fs::remove_dir_all(folder.path()).with_context(|| place.display().to_string())?;
            match signal {
                Some(signal) => return Ok(stopped(signal, failed, seed - args.seed)),
                None => continue,
            }
        }
        failed += u64::from(signal.is_none());
        let walked = walk(args, &folder, told_without_trace(program, &place, ending));
        keep_sources(&folder);
        match walked {
            Ok((walked, _)) => {
                say(format_args!("foretrace: seed {seed}: {} {ending}; {walked}: {}", name(program), place.display()))
            }
            Err(error) => say_no_trace(&told_without_trace(program, &place, ending), &error),
        }
        if let Some(signal) = signal {
            return Ok(stopped(signal, failed, seed - args.seed));
        }
    }
    say(format_args!("foretrace: {failed} of {runs} runs failed"));
    Ok(if failed > 0 { Outcome::Found } else { Outcome::Fine })
}

/// The end of runs of which so many were done when a signal came.
fn stopped(signal: i32, failed: u64, done: u64) -> Outcome {
    say(format_args!("foretrace: stopped by a signal: {failed} of {done} runs failed"));
    Outcome::Status(Ending::Signal(signal).shell_status())
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_have_units() {
        assert_eq!(bytes("512"), Ok(512));
        assert_eq!(bytes("3k"), Ok(3072));
        assert_eq!(bytes("2G"), Ok(2 << 30));
        for wrong in ["", "M", "1.5M", "1T", "99999999999999999999", "-1", "99999999999999G"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}

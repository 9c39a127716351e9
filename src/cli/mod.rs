//! The command line: one file per command. Here is what they share: exit codes, messages, reading and writing files.

mod asking;
mod atomic;
mod block_repair;
mod cargo;
mod cargo_tests;
mod cc;
mod check;
mod choices;
mod compare;
mod completions;
mod convert;
mod cutpoints;
mod enforced;
mod explain;
mod explain_block;
mod explore;
mod explore_history;
mod explore_program;
mod files;
mod histories;
mod info;
mod kept_whole;
mod linearizable;
mod man;
mod oversee;
mod patched;
mod predict;
mod predict_history;
mod predict_repair;
mod progress;
mod property;
mod record;
mod record_live;
mod repair;
mod repair_program;
mod replay;
mod replayed;
mod replayed_history;
mod run;
mod schedules;
mod serializability;
mod serializability_stream;
mod serializability_watch;
mod serializability_window;
mod specification;
mod test;
mod test_litmus;
mod test_repair;
mod tested;
mod trace;
mod unfinished;
mod walk;
mod why;

use clap::{CommandFactory, Parser, Subcommand};
use foretrace_trace::printable;
use std::io::Write;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How a command ended where it did what was asked of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outcome {
    /// Nothing was found, all is well.
    Fine,
    /// A violation can happen, or the schedule is no feasible prefix.
    Found,
    /// Nothing was found, but not everything was decided.
    Undecided,
    /// As another program ended.
    Status(u8),
}

impl Outcome {
    fn code(self) -> u8 {
        match self {
            Outcome::Fine => 0,
            Outcome::Found => 1,
            Outcome::Undecided => 3,
            Outcome::Status(status) => status,
        }
    }
}

/// Wrong usage, bad input, or a defect of foretrace.
const FAILURE: u8 = 2;

/// Predicts atomicity violations from the trace of one run, and proves each with a schedule.
#[derive(Parser)]
#[command(name = "foretrace", version, max_term_width = 100, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Exit codes:
  0  nothing was found: no violation can happen on this trace's path, the trace is valid, the schedule is feasible
  1  something was found: a violation can happen; the schedule is not a feasible prefix
  2  wrong usage, bad input, or an internal error
  3  nothing was found, but not everything was decided (time limit, Ctrl-C)

Environment:
  FORETRACE_LOG  what is logged to stderr, such as `info` or `foretrace_solve=debug`
  NO_COLOR       no colours, also on a terminal

Examples:
  foretrace cc -o bank bank.c
  foretrace test -- ./bank
  foretrace record -o bank.foretrace -- ./bank
  foretrace predict bank.foretrace --witness-dir witnesses
  foretrace replay witnesses/witness-10-38-14.json -- ./bank
  foretrace run examples/litmus/bank.lit --seed 1 -o bank.jsonl
  foretrace predict bank.jsonl --atomic sections --format json
  foretrace explain bank.jsonl 15 40 16
  foretrace compare bank.jsonl";

#[derive(Subcommand)]
enum Command {
    Predict(Box<predict::Args>),
    Explain(explain::Args),
    Compare(compare::Args),
    Repair(repair::Args),
    #[command(name = "cutpoints")]
    CutPoints(cutpoints::Args),
    Schedules(schedules::Args),
    Why(why::Args),
    Linearizable(linearizable::Args),
    Serializability(serializability::Args),
    Cc(cc::Args),
    #[command(name = "c++")]
    Cxx(cc::CxxArgs),
    Cargo(cargo::Args),
    Record(record::Args),
    Trace(trace::Args),
    Replay(replay::Args),
    Test(Box<test::Args>),
    Run(run::Args),
    Explore(explore::Args),
    Convert(convert::Args),
    Info(info::Args),
    Check(check::Args),
    Completions(completions::Args),
    #[command(hide = true)]
    Man(man::Args),
}

/// Runs the command that the arguments name.
pub fn main() -> ExitCode {
    let by_name = cc::run_by_name(std::env::args_os()).or_else(|| cargo::run_by_name(std::env::args_os()));
    if let Some(result) = by_name {
        return code_of(result);
    }
    since_start();
    let cli = Cli::parse();
    start_logging();
    // If stdout closes early, do not report success: the reader has not seen the verdict.
    let unheard = match cli.command {
        Command::Predict(_)
        | Command::Explain(_)
        | Command::Serializability(_)
        | Command::Explore(_)
        | Command::Compare(_)
        | Command::Repair(_)
        | Command::Why(_)
        | Command::Linearizable(_)
        | Command::Check(_)
        | Command::Replay(_)
        | Command::Test(_) => Outcome::Undecided,
        _ => Outcome::Fine,
    };
    let result = match cli.command {
        Command::Cc(args) if args.asks_for_help() => help_of("cc"),
        Command::Cxx(args) if args.asks_for_help() => help_of("c++"),
        Command::Cargo(args) if args.asks_for_help() => help_of("cargo"),
        Command::Cc(args) => return code_of(cc::run(args)),
        Command::Cxx(args) => return code_of(cc::run_cxx(args)),
        Command::Cargo(args) => return code_of(cargo::run(args)),
        Command::Predict(args) => predict::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Repair(args) => repair::run(&args),
        Command::CutPoints(args) => cutpoints::run(&args),
        Command::Schedules(args) => schedules::run(&args),
        Command::Why(args) => why::run(&args),
        Command::Linearizable(args) => linearizable::run(&args),
        Command::Serializability(args) => serializability::run(&args),
        Command::Record(args) => record::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Test(args) => test::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Explore(args) if args.command.is_empty() => explore::run(&args),
        Command::Explore(args) => explore_program::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    };
    match result {
        Err(error) if is_closed_pipe(&error) => unheard.code().into(),
        result => exit_code(result).into(),
    }
}

/// The exit code of a command; says what went wrong.
fn exit_code(result: anyhow::Result<Outcome>) -> u8 {
    match result {
        Ok(outcome) => outcome.code(),
        // Who asks for this of an error of closed output has not heard that all is well.
        Err(error) if is_closed_pipe(&error) => Outcome::Undecided.code(),
        Err(error) => {
            complain(&error);
            FAILURE
        }
    }
}

/// Shows the help of a command that takes another tool's arguments.
fn help_of(name: &str) -> anyhow::Result<Outcome> {
    let mut cli = Cli::command();
    cli.build();
    let command = cli.find_subcommand_mut(name).expect("a command of ours");
    command.print_long_help()?;
    Ok(Outcome::Fine)
}

/// The time since the command started.
fn since_start() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// The exit code of a compiler, or of one that could not run.
fn code_of(result: anyhow::Result<ExitCode>) -> ExitCode {
    result.unwrap_or_else(|error| {
        complain(&error);
        ExitCode::from(FAILURE)
    })
}

/// Messages of the libraries go to stderr, as `FORETRACE_LOG` says; warnings by default.
fn start_logging() {
    let filter = tracing_subscriber::EnvFilter::builder()
        .with_default_directive(tracing::level_filters::LevelFilter::WARN.into())
        .with_env_var("FORETRACE_LOG")
        .from_env_lossy();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(files::colour_on_stderr())
        .without_time()
        .log_internal_errors(false) // stderr may be full
        .init();
}

/// Whether the reader of our output closed it early, as `head` does.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let kind = |cause: &(dyn std::error::Error + 'static)| {
        let json = || cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind).or_else(json)
    };
    error.chain().any(|cause| kind(cause) == Some(std::io::ErrorKind::BrokenPipe))
}

/// Writes a message to stderr. If stderr is closed, the run goes on.
fn say(message: impl std::fmt::Display) {
    let _ = writeln!(anstream::stderr(), "{message}");
}

/// The one message of a failed run.
fn complain(error: &anyhow::Error) {
    let style = anstyle::AnsiColor::Red.on_default().bold();
    let mut message = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !message.ends_with(&cause) {
            let separator = if message.is_empty() { "" } else { ": " };
            message = format!("{message}{separator}{cause}"); // some errors show their cause themselves
        }
    }
    let lines: Vec<_> = message.split('\n').map(printable).collect();
    say(format_args!("{style}error{style:#}: {}", lines.join("\n")));
}

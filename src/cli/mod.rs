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
mod delays;
mod enforced;
mod explain;
mod explain_block;
mod explore;
mod explore_history;
mod explore_program;
mod files;
mod histories;
mod info;
mod input;
mod kept_whole;
mod linearizable;
mod man;
mod native;
mod on_signal;
mod outcome;
mod oversee;
mod patched;
mod predict;
mod predict_history;
mod predict_messages;
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
mod shell;
mod specification;
mod test;
mod test_litmus;
mod test_repair;
mod tested;
mod too_early;
mod trace;
mod unfinished;
mod walk;
mod why;

use clap::{CommandFactory, Parser, Subcommand};
use outcome::{Outcome, code_of, exit_code, is_closed_pipe, since_start};
use std::process::ExitCode;

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
        Command::Completions(args) => completions::run(&args, Cli::command()),
        Command::Man(args) => man::run(&args, Cli::command()),
    };
    match result {
        Err(error) if is_closed_pipe(&error) => unheard.code().into(),
        result => exit_code(result).into(),
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

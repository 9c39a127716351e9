//! `foretrace run`: from a litmus program to a trace.

use super::choices::{Choice, one_of};
use super::files::{self, write_trace};
use super::outcome::{Outcome, say};
use anyhow::bail;
use foretrace::litmus::{self, FileError, Options, Scheduler};
use std::path::PathBuf;

/// Run a litmus program under a seeded random scheduler and write its trace
///
/// The language is described in docs/litmus.md; examples/litmus has programs to start from.
#[derive(clap::Args)]
#[command(after_help = "\
Exit codes: 0 the run finished, 1 it failed or came to a deadlock, 2 error, 3 it was cut off. The trace is written in any case but 2.

Examples:
  foretrace run examples/litmus/bank.lit --seed 1 -o bank.jsonl
  foretrace run examples/litmus/bank.lit --schedule serial | head -3
  foretrace run program.lit --seed 7 -o trace.jsonl.zst")]
pub struct Args {
    /// The program
    program: PathBuf,

    /// The seed of the random scheduler: the same seed gives the same run
    #[arg(long, value_name = "N", default_value = "0")]
    seed: u64,

    /// Which thread takes the next step
    #[arg(long, default_value = "random", value_parser = one_of(SCHEDULES))]
    schedule: Schedule,

    /// Cut the run off after this many events
    #[arg(long, value_name = "N", default_value_t = Options::default().max_steps)]
    max_steps: u32,

    /// The file for the trace; its name says the format, as for `convert` [default: stdout, JSON Lines]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Who takes the next step.
#[derive(Clone, Copy)]
enum Schedule {
    Random,
    Serial,
}

const SCHEDULES: &[Choice<Schedule>] = &[
    ("random", "at every step any thread that can, as the seed says", Schedule::Random),
    ("serial", "one thread after the other, each for as long as it can", Schedule::Serial),
];

/// Runs the program and writes the trace.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let scheduler = match args.schedule {
        Schedule::Random => Scheduler::Random(args.seed),
        Schedule::Serial => Scheduler::Serial,
    };
    let options = Options { scheduler, max_steps: args.max_steps };
    let run = match litmus::run_file(&args.program, &options, files::colour_on_stderr()) {
        Ok(run) => run,
        Err(FileError::Invalid(shown)) => bail!("not a litmus program\n{}", shown.trim_end()),
        Err(error) => return Err(error.into()),
    };
    write_trace(&run.trace, args.output.as_deref(), None)?;
    if run.outcome != litmus::Outcome::Finished {
        say(format_args!("{}: {}", args.program.display(), run.outcome));
    }
    Ok(match run.outcome {
        litmus::Outcome::Finished => Outcome::Fine,
        litmus::Outcome::AssertionFailed(_) | litmus::Outcome::Error(_) | litmus::Outcome::Deadlock(_) => {
            Outcome::Found
        }
        litmus::Outcome::StepLimit => Outcome::Undecided,
    })
}

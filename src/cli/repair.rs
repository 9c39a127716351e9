//! `foretrace repair`: which code must be atomic for failing runs not to happen.

use super::asking::{TimeLimit, ended_early, may_read_on, stop_on_ctrl_c};
use super::atomic::AtomicArgs;
use super::choices::{FORMATS, Format, one_of};
use super::linearizable::SPECS;
use super::outcome::Outcome;
use super::oversee::{AtOnce, oversee};
use super::repair_program::{self, Asked};
use anyhow::bail;
use foretrace::litmus::Options;
use foretrace::report::RepairReport;
use foretrace_linearizability::Spec;
use foretrace_repair::{Limits, Operations, Repairs, repairs};
use foretrace_trace::{Atomic, Trace};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;

/// Say which code must be atomic so that the failing runs cannot happen
///
/// A repair is a set of atomic sections that no run with the same conflicts keeps whole. The command finds all optimal repairs: those
/// that contain no other. Repairs that forbid fewer of the passing runs come first, then shorter ones.
///
/// A litmus program is explored, and the first repair of what fails is kept whole when it is explored again, until nothing fails.
#[derive(clap::Args)]
#[command(after_help = "\
A section lies within one operation: from call to return, else a mark, else a function; --atomic chooses others. A repair \
rules out each of the failing runs.

Exit codes: 0 no run needs a repair, 1 repairs were found, 2 error, 3 the limit was reached before any was found, \
or no section repairs the program.

Examples:
  foretrace repair failing.foretrace
  foretrace repair failing.jsonl --passing run-1.jsonl --passing run-2.jsonl
  foretrace repair failing-*.jsonl --passing passing-*.jsonl --atomic functions --format json
  foretrace repair examples/objects/stack.lit --spec stack")]
pub struct Args {
    /// Traces or recordings of failing runs, or one litmus program (`*.lit`)
    #[arg(required = true, value_name = "FAILING")]
    failing: Vec<PathBuf>,

    /// Traces or recordings of runs that passed
    #[arg(long, value_name = "TRACE", num_args = 1..)]
    passing: Vec<PathBuf>,

    /// The specification that the operations of a litmus program should follow
    #[arg(long, value_parser = one_of(SPECS))]
    spec: Option<Spec>,

    /// Of a litmus program: repair at most this many failing interleavings in a round, and rank by as many that pass
    #[arg(long, value_name = "N", default_value_t = 500)]
    most_traces: usize,

    /// Of a litmus program: cut an interleaving off after this many events
    #[arg(long, value_name = "N", default_value_t = Options::default().max_steps)]
    max_steps: u32,

    /// The text shows at most this many repairs
    #[arg(long, value_name = "N", default_value_t = 10)]
    most: usize,

    /// Consider at most this many repairs together
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    max_repairs: usize,

    /// How to show it
    #[arg(long, default_value = "text", value_parser = one_of(FORMATS))]
    format: Format,

    #[command(flatten)]
    atomic: AtomicArgs,

    #[command(flatten)]
    limit: TimeLimit,
}

/// Finds the repairs.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    if args.failing.iter().any(|path| repair_program::is_program(path)) {
        let [program] = args.failing.as_slice() else {
            bail!("expected one litmus program, or traces and recordings; found {} files", args.failing.len());
        };
        if !args.passing.is_empty() || !args.atomic.is_auto() {
            bail!(
                "--passing and --atomic are for traces, found a litmus program: its operations and its own runs count"
            );
        }
        let Args { spec, most_traces, max_steps, max_repairs, most, format, ref limit, .. } = *args;
        let time_limit = limit.time_limit;
        let asked = Asked { spec, most_traces, max_steps, max_repairs, most, format, time_limit };
        return repair_program::run(asked, program);
    }
    if args.spec.is_some() {
        bail!("--spec is for litmus programs, found {}", args.failing[0].display());
    }
    let stop = stop_on_ctrl_c()?;
    let go_on = || may_read_on(args.limit.time_limit, &stop);
    let read = |path: &Path| args.atomic.read_within(path, &go_on);
    let mut sets: [(Vec<String>, Vec<Trace>); 2] = Default::default();
    let mut chosen = None;
    for (set, paths) in sets.iter_mut().zip([&args.failing, &args.passing]) {
        for path in paths {
            let Some(asked) = read(path)? else { return Ok(ended_early("reading the traces")) };
            if !args.atomic.is_auto() {
                chosen = Some(asked.atomic);
            }
            set.0.push(path.display().to_string());
            set.1.push(asked.trace);
        }
    }
    let [failing, passing] = &sets;
    let may_go_on = || go_on() && !stop.load(Ordering::Relaxed);
    let most = args.max_repairs.max(1);
    let work = |_: SyncSender<()>| repairs(&failing.1, &passing.1, chosen, Limits { repairs: most, go_on: &may_go_on });
    let report = |found: Repairs| {
        let atomic: Atomic = found.chosen.unwrap_or_else(|| Operations::default_choice(&failing.1[0]));
        let report = RepairReport { failing: (&failing.0, &failing.1), passing: &passing.0, atomic, repairs: &found };
        let mut out = io::BufWriter::new(io::stdout().lock());
        match args.format {
            Format::Json => report.write_json(&mut out)?,
            Format::Text => report.write_text(args.most, &mut out)?,
        }
        out.flush()?;
        Ok(match (found.ranked.is_empty(), found.complete) {
            (false, _) => Outcome::Found,
            (true, true) => Outcome::Fine,
            (true, false) => Outcome::Undecided,
        })
    };
    oversee((args.limit.time_limit, &stop), work, AtOnce("looking for repairs", report))
}

//! `foretrace schedules`: a schedule for each cut-point, to run the program along.

use super::asking::{TimeLimit, ended_early, may_read_on, stop_on_ctrl_c};
use super::atomic::AtomicArgs;
use super::choices::{FORMATS, Format, one_of};
use super::cutpoints::find;
use super::outcome::{Outcome, say};
use foretrace::cutpoints::{CutPoint, Ends, Schedule, Synthesizer};
use foretrace::recorder::SourcePlaces;
use foretrace::report::{Unproved, WitnessDir};
use foretrace_trace::Triple;
use serde::Serialize;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Make an unproved schedule for each class of cut-points, without a solver, for `replay` to try on the program
///
/// Locks and other synchronisation of the trace allow each schedule. Values and branches are left out, and the file says so: only a run
/// of the program along the schedule shows whether it can happen. After Sorrentino, Farzan, Madhusudan, PENELOPE, FSE 2010, section 4.2.
#[derive(clap::Args)]
#[command(after_help = "\
Exit codes: 0 each class has its schedule or a reason why not, 2 error, 3 a limit was reached before.

Examples:
  foretrace schedules bank.foretrace -o schedules
  foretrace replay schedules/schedule-10-38-14.json -- ./bank")]
pub struct Args {
    /// The trace, in any format that foretrace reads, or the folder of a recording
    trace: PathBuf,

    /// The folder that the schedules go to
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,

    #[command(flatten)]
    atomic: AtomicArgs,

    /// A schedule for each pair of locksets of a class, not only for the first that has one
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    limit: TimeLimit,

    /// How to report
    #[arg(long, default_value = "text", value_parser = one_of(FORMATS))]
    format: Format,
}

/// What became of a cut-point.
#[derive(Serialize)]
struct Made {
    #[serde(flatten)]
    triple: Triple,
    class: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    switches: Option<[usize; 2]>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    ends_at_remote: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    why_not: Option<String>,
}

/// Makes them.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let stop = stop_on_ctrl_c()?;
    let go_on = || may_read_on(args.limit.time_limit, &stop);
    let Some(asked) = args.atomic.read_within(&args.trace, &go_on)? else {
        return Ok(ended_early("reading the trace"));
    };
    let Some((blocks, found)) = find(&args.atomic, &asked, &args.trace, &go_on)? else {
        return Ok(ended_early("looking for cut-points"));
    };
    let mut folder = WitnessDir::create(&args.output)?;
    if let Some(places) = SourcePlaces::of_trace(Path::new(&asked.file)) {
        folder.name_places(Box::new(places));
    }
    let synthesizer = Synthesizer::new(&asked.trace, &asked.observed);
    let mut made = Vec::new();
    let mut is_whole = found.is_whole;
    for class in found.all.chunk_by(|one, other| one.class == other.class) {
        if !go_on() {
            is_whole = false;
            break;
        }
        for point in class {
            let schedule = synthesizer.synthesize(point);
            let is_last = !args.all && schedule.is_ok();
            let file = schedule.as_ref().ok().map(|schedule| {
                let unproved = Unproved {
                    triple: point.triple,
                    pattern: point.pattern,
                    atomic: asked.atomic,
                    block: blocks.all()[point.block],
                    events: &schedule.events,
                    ends_at_remote: schedule.ends == Ends::AtRemote,
                };
                folder.save_unproved((&asked.file, &asked.trace), &unproved)
            });
            made.push(outcome(point, schedule.map_err(|why| why.to_string()), file.transpose()?));
            if is_last {
                break;
            }
        }
    }
    report(args, &asked.file, &made, is_whole)?;
    Ok(if is_whole { Outcome::Fine } else { Outcome::Undecided })
}

fn outcome(point: &CutPoint, schedule: Result<Schedule, String>, file: Option<PathBuf>) -> Made {
    let made = schedule.as_ref().ok();
    Made {
        triple: point.triple,
        class: point.class,
        file,
        events: made.map(|schedule| schedule.events.len()),
        switches: made.map(|schedule| schedule.switches),
        ends_at_remote: made.is_some_and(|schedule| schedule.ends == Ends::AtRemote),
        why_not: schedule.err(),
    }
}

/// The report for programs; its schema is `schemas/schedules.schema.json`.
#[derive(Serialize)]
struct Report<'a> {
    foretrace: u32,
    trace: &'a str,
    whole: bool,
    schedules: &'a [Made],
}

fn report(args: &Args, file: &str, made: &[Made], is_whole: bool) -> io::Result<()> {
    let mut out = BufWriter::new(anstream::stdout().lock());
    match args.format {
        Format::Json => {
            let report = Report { foretrace: 1, trace: file, whole: is_whole, schedules: made };
            serde_json::to_writer(&mut out, &report)?;
            writeln!(out)?;
        }
        Format::Text => made.iter().try_for_each(|made| write_line(made, &mut out))?,
    }
    let written = made.iter().filter(|made| made.file.is_some()).count();
    let end = if is_whole { "" } else { "; stopped before the end" };
    say(format_args!("foretrace: {written} schedules, not proved{end}: {}", args.output.display()));
    out.flush()
}

fn write_line(made: &Made, out: &mut dyn Write) -> io::Result<()> {
    let (Some(file), Some(events), Some([before, after])) = (&made.file, made.events, made.switches) else {
        let why = made.why_not.as_deref().unwrap_or("unknown");
        return writeln!(out, "{}: no schedule: {why}", made.triple);
    };
    let end = if made.ends_at_remote { ", ends with the remote access" } else { "" };
    writeln!(out, "{}: {events} events, {after} context switches (of {before}){end}", file.display())
}

//! `foretrace cutpoints`: where transactions can be interrupted, as far as locks say.

use super::asking::{TimeLimit, ended_early, may_read_on, stop_on_ctrl_c};
use super::atomic::{Asked, AtomicArgs};
use super::choices::{FORMATS, Format, one_of};
use super::outcome::Outcome;
use foretrace::cutpoints::{CutPoint, CutPoints, Taken, Then};
use foretrace::report::{BlockJson, Names};
use foretrace_trace::{Atomic, Blocks, EventId, Pattern, Trace, Triple};
use serde::Serialize;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// Show where locks and orders of threads let transactions be interrupted, without values and without a solver
///
/// One line for each class: threads, variable, three places of the source, pattern, kind of block. An interruption that is not listed
/// is impossible. One that is listed may be impossible, since values and branches are not looked at. `predict` decides, and `schedules` makes
/// schedules to run the program along. After Sorrentino, Farzan, Madhusudan, PENELOPE, FSE 2010.
#[derive(clap::Args)]
#[command(after_help = "\
Exit codes: 0 all cut-points are listed, 2 error, 3 a limit was reached before.

Examples:
  foretrace cutpoints trace.jsonl
  foretrace cutpoints bank.foretrace --atomic functions --all
  foretrace cutpoints trace.jsonl --format json")]
pub struct Args {
    /// The trace, in any format that foretrace reads, or the folder of a recording
    trace: PathBuf,

    #[command(flatten)]
    atomic: AtomicArgs,

    /// List all classes, and each pair of locksets of a class, not only the first
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    limit: TimeLimit,

    /// How to report
    #[arg(long, default_value = "text", value_parser = one_of(FORMATS))]
    format: Format,
}

/// Classes that text lists unless all are asked for.
const MOST_LISTED: usize = 50;

/// Lists them.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let stop = stop_on_ctrl_c()?;
    let go_on = || may_read_on(args.limit.time_limit, &stop);
    let Some(asked) = args.atomic.read_within(&args.trace, &go_on)? else {
        return Ok(ended_early("reading the trace"));
    };
    let Some((blocks, found)) = find(&args.atomic, &asked, &args.trace, &go_on)? else {
        return Ok(ended_early("looking for cut-points"));
    };
    let mut out = BufWriter::new(anstream::stdout().lock());
    match args.format {
        Format::Text => write_text(args, &asked, &blocks, &found, &mut out)?,
        Format::Json => write_json(&asked, &blocks, &found, &mut out)?,
    }
    out.flush()?;
    Ok(if found.is_whole { Outcome::Fine } else { Outcome::Undecided })
}

/// The blocks and cut-points of a trace that has blocks; nothing where the command may not go on.
pub fn find(
    atomic: &AtomicArgs,
    asked: &Asked,
    path: &std::path::Path,
    go_on: &dyn Fn() -> bool,
) -> anyhow::Result<Option<(Blocks, CutPoints)>> {
    atomic.something_to_judge(asked, path)?;
    let blocks = asked.atomic.blocks(&asked.trace);
    if !go_on() {
        return Ok(None);
    }
    let found = CutPoints::within(&asked.trace, &blocks, go_on);
    Ok(Some((blocks, found)))
}

fn write_text(args: &Args, asked: &Asked, blocks: &Blocks, found: &CutPoints, out: &mut dyn Write) -> io::Result<()> {
    let classes = found.representatives().count();
    let names = Names::new(&asked.trace);
    writeln!(
        out,
        "{}: {} events of {} threads, blocks by --atomic {}",
        asked.file,
        asked.trace.events.len(),
        asked.trace.threads.len(),
        asked.atomic
    )?;
    writeln!(
        out,
        "{classes} classes with {} cut-points; not proved: values and branches are left out",
        found.all.len()
    )?;
    if let Some(folder) = names.folder() {
        writeln!(out, "places are below {folder}")?;
    }
    let most = if args.all { usize::MAX } else { MOST_LISTED };
    for class in found.all.chunk_by(|one, other| one.class == other.class).take(most) {
        let shown = if args.all { class } else { &class[..1] };
        shown.iter().try_for_each(|point| write_point(&names, blocks, point, class.len(), out))?;
    }
    if classes > most {
        writeln!(out, "and {} classes more (--all and --format json list them)", classes - most)?;
    }
    if !found.is_whole {
        writeln!(out, "stopped before the end: more cut-points may exist")?;
    }
    Ok(())
}

fn write_point(names: &Names, blocks: &Blocks, point: &CutPoint, of: usize, out: &mut dyn Write) -> io::Result<()> {
    let (trace, Triple { first, remote, second }) = (names.trace(), point.triple);
    let place = |event| names.loc(event).unwrap_or_else(|| format!("event {event}").into());
    let places = [first, remote, second].map(place);
    let block = &blocks.all()[point.block];
    let label = block.label.map_or(String::new(), |label| format!(" `{}`", names.label(label)));
    let [own, other] = point.threads.map(|thread| names.thread(thread));
    writeln!(out, "{:>4}. {} on {}: {}", point.class + 1, point.pattern, names.var(point.var), places.join(", "))?;
    writeln!(
        out,
        "      {}{label} of {own} stands still after event {}{}, {other} gets to event {remote}{}",
        block.kind.name(),
        point.stop,
        holding(trace, &point.held[0]),
        holding(trace, &point.held[1])
    )?;
    let shown = format!("shown: {}", point.triple);
    let more = if of > 1 { format!("; {of} pairs of locksets") } else { String::new() };
    let observed = if point.is_observed() { "; the recorded order has it" } else { "" };
    let then = match point.then {
        Then::Second => "",
        Then::LockedOut => "; then each thread waits for a lock of the other, and neither gets on",
    };
    writeln!(out, "      {shown}{more}{observed}{then}")
}

fn holding(trace: &Trace, held: &[Taken]) -> String {
    if held.is_empty() {
        return String::new();
    }
    format!(" (holding {})", lock_names(trace, held).join(", "))
}

fn lock_names<'t>(trace: &'t Trace, held: &[Taken]) -> Vec<&'t str> {
    held.iter().map(|taken| &*trace.syncs[taken.lock.index()].key).collect()
}

/// The report for programs; its schema is `schemas/cutpoints.schema.json`.
#[derive(Serialize)]
struct Report<'t> {
    foretrace: u32,
    trace: &'t str,
    events: usize,
    threads: usize,
    atomic: Atomic,
    classes: usize,
    whole: bool,
    cut_points: Vec<PointJson<'t>>,
}

#[derive(Serialize)]
struct PointJson<'t> {
    class: u32,
    #[serde(flatten)]
    triple: Triple,
    pattern: Pattern,
    stop: EventId,
    var: &'t str,
    threads: [u64; 2],
    places: [Option<&'t str>; 3],
    block: BlockJson<'t>,
    held: [Vec<&'t str>; 2],
    then: &'static str,
    observed: bool,
}

fn write_json(asked: &Asked, blocks: &Blocks, found: &CutPoints, out: &mut dyn Write) -> io::Result<()> {
    let trace = &asked.trace;
    let point = |point: &CutPoint| {
        let block = &blocks.all()[point.block];
        PointJson {
            class: point.class,
            triple: point.triple,
            pattern: point.pattern,
            stop: point.stop,
            var: &trace.vars[point.var.index()].key,
            threads: point.threads.map(|thread| trace.threads[thread.index()].number),
            places: [point.triple.first, point.triple.remote, point.triple.second].map(|event| trace.loc(event)),
            block: BlockJson::new(trace, block),
            held: [lock_names(trace, &point.held[0]), lock_names(trace, &point.held[1])],
            then: point.then_name(),
            observed: point.is_observed(),
        }
    };
    let report = Report {
        foretrace: 1,
        trace: &asked.file,
        events: trace.events.len(),
        threads: trace.threads.len(),
        atomic: asked.atomic,
        classes: found.representatives().count(),
        whole: found.is_whole,
        cut_points: found.all.iter().map(point).collect(),
    };
    serde_json::to_writer(&mut *out, &report)?;
    writeln!(out)
}

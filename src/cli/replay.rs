//! `foretrace replay`: make a witness happen on the real program.

use super::choices::{FORMATS, Format, one_of, seconds};
use super::{Outcome, files};
use anyhow::{Context, bail};
use foretrace::recorder::{
    Difference, Ending, Event, Folder, Mode, Part, Plan, Program, Replayed, Run, What, fix_addresses, judge, ops,
    run_plan,
};
use foretrace::report::SavedSchedule;
use foretrace_walker::log::Record;
use foretrace_walker::program::Program as Recorded;
use indexmap::IndexMap;
use serde::Serialize;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Make a witness happen on the program that its trace was recorded from
///
/// The threads run one at a time, in the order of the witness; then the program runs on to its end. What is shown:
/// whether the three accesses happened, what they read and wrote, and how the program ended.
#[derive(clap::Args)]
#[command(after_help = "\
Exit codes: 0 the program followed the schedule (and the triple happened), every time; 1 not; 2 error.

Examples:
  foretrace predict bank.foretrace --witness-dir witnesses
  foretrace replay witnesses/witness-10-38-14.json -- ./bank
  foretrace replay witnesses/witness-10-38-14.json --times 100 -- ./bank
  foretrace replay witnesses/witness-10-38-14.json --gdb -- ./bank
  foretrace replay bank.foretrace -- ./bank")]
pub struct Args {
    /// A file of `predict --witness-dir`, or the folder of a recording, whose own schedule is then replayed
    witness: PathBuf,

    /// Replay so many times and count; the program's output is thrown away
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    times: u32,

    /// Stop under gdb where the remote thread is about to make its access, with all other threads held
    #[arg(long, conflicts_with_all = ["times", "format", "time_limit"])]
    gdb: bool,

    /// After how long a program counts as hung, and is killed
    #[arg(long, value_name = "SECS", default_value = "60", value_parser = seconds)]
    time_limit: Duration,

    /// Keep the logs of the (last) replay in this folder
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// How to report
    #[arg(long, default_value = "text", value_parser = one_of(FORMATS))]
    format: Format,

    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROG")]
    command: Vec<OsString>,
}

/// Replays.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let program = Program::find(&args.command)?;
    program.check()?;
    let (plan, recording) = plan(args)?;
    if let Some(recording) = &recording {
        program.check_recorded_as(recording)?;
        Recorded::open(recording)?; // refuses libraries that were built anew since
    }
    let kept = tempfile::tempdir().context("cannot make a temporary folder")?;
    let folder = args.output.clone().unwrap_or_else(|| kept.path().join("replay"));
    if args.gdb {
        return under_gdb(&plan, &program, &Folder::create(&folder)?);
    }
    let quiet = args.times > 1 || args.format == Format::Json;
    let mut tally = Tally::default();
    let mut positions = Positions::default();
    for _ in 0..args.times {
        let folder = Folder::create(&folder)?;
        let ending = run_plan(&plan, &program, &folder, args.time_limit, quiet)?;
        positions.learn(folder.path())?;
        tally.add(judge(&plan, &folder, ending, |record| positions.of_event(record))?);
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    match args.format {
        Format::Text => tally.write_text(&plan, &positions, &mut out)?,
        Format::Json => {
            serde_json::to_writer_pretty(&mut out, &tally.json(&plan, &positions))?;
            writeln!(out)?;
        }
    }
    out.flush()?;
    Ok(if tally.followed == args.times { Outcome::Fine } else { Outcome::Found })
}

/// What to do, and the recording that it comes from, where it is known.
fn plan(args: &Args) -> anyhow::Result<(Plan, Option<PathBuf>)> {
    let name = || args.witness.display().to_string();
    if args.witness.is_dir() {
        return Ok((Plan::of_recording(&args.witness)?, Some(args.witness.clone())));
    }
    let SavedSchedule::Witness(witness) = files::read_schedule(&args.witness)? else {
        bail!("{}: found a plain schedule, expected a witness of `foretrace predict --witness-dir`", name());
    };
    let recording = Path::new(&witness.trace).parent().filter(|folder| folder.join("modules").is_file());
    Ok((Plan::of_witness(&witness).with_context(name)?, recording.map(Path::to_path_buf)))
}

/// For gdb: the program's own frame, which stands above those of the runtime. A gdb without Python shows the runtime's.
const SELECT_OWN_FRAME: &str = r#"python exec("frame = gdb.newest_frame()\nwhile frame.older() and 'foretrace_' in str(frame.name()): frame = frame.older()\nframe.select()")"#;

/// Hands the program to gdb, which stops before the remote access.
fn under_gdb(plan: &Plan, program: &Program, folder: &Folder) -> anyhow::Result<Outcome> {
    let Some([_, (path, at), _]) = &plan.triple else {
        bail!("--gdb needs a witness: a recording has no remote access")
    };
    let mode = Mode::Replay(plan.write_schedule(folder)?);
    let run = Run { program, mode, folder, max_bytes: None, part: Part::default(), time_limit: None, quiet: false };
    fix_addresses();
    let mut gdb = Command::new("gdb");
    gdb.args(["-q", "-ex", "set breakpoint pending on", "-ex", "set confirm off", "-ex", "break foretrace_at_remote"]);
    gdb.args(["-ex", "set startup-with-shell off", "-ex", "run", "-ex", SELECT_OWN_FRAME, "-ex", "frame", "--args"]);
    gdb.arg(&program.path).args(&program.arguments);
    gdb.envs(run.environment()).env("FORETRACE_REMOTE", format!("{path} {at}"));
    let status = gdb.status().context("cannot start gdb, which --gdb needs")?;
    Ok(Outcome::Status(Ending::from(status).shell_status()))
}

/// Where in the source the records of the replayed program are.
#[derive(Default)]
struct Positions(Option<Recorded>);

impl Positions {
    /// Reads what the program says of itself, the first time.
    fn learn(&mut self, folder: &Path) -> anyhow::Result<()> {
        if self.0.is_none() {
            self.0 = Some(Recorded::open(folder)?);
        }
        Ok(())
    }

    /// What a trace has as the position of an access, where that follows from its record alone.
    fn of_event(&self, record: &Record) -> Option<String> {
        let own = !self.0.as_ref()?.is_in_library(record.site());
        self.location(record).filter(|_| own)
    }

    /// Where an access is; of what was not compiled for recording nothing is known.
    fn location(&self, record: &Record) -> Option<String> {
        let position = self.0.as_ref()?.position(record.site()).filter(|_| record.kind.size() > 0)?;
        Some(format!("{}:{}:{}", position.file, position.line, position.column))
    }
}

/// What came of one or more replays.
#[derive(Default)]
struct Tally {
    times: u32,
    followed: u32,
    endings: IndexMap<Ending, u32>,
    /// The last that followed, and the first that did not.
    good: Option<Replayed>,
    bad: Option<Replayed>,
}

#[derive(Serialize)]
struct TallyJson {
    foretrace: u32,
    times: u32,
    followed: u32,
    endings: Vec<EndingJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    triple: Option<Vec<AccessJson>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<LeftJson>,
}

#[derive(Serialize)]
struct EndingJson {
    #[serde(flatten)]
    ending: Ending,
    times: u32,
}

#[derive(Serialize)]
struct AccessJson {
    thread: String,
    at: u64,
    op: &'static str,
    read: Option<u64>,
    written: Option<u64>,
    loc: Option<String>,
}

#[derive(Serialize)]
struct LeftJson {
    thread: String,
    at: u64,
    expected: String,
    found: Option<String>,
    out_of_turn: bool,
    reason: Option<String>,
}

impl Tally {
    fn add(&mut self, replayed: Replayed) {
        self.times += 1;
        *self.endings.entry(replayed.ending).or_default() += 1;
        if replayed.followed() {
            self.followed += 1;
            self.good = Some(replayed);
        } else {
            self.bad.get_or_insert(replayed);
        }
    }

    fn write_text(&self, plan: &Plan, positions: &Positions, out: &mut dyn Write) -> io::Result<()> {
        let asked = if plan.triple.is_some() { ", and the triple happened" } else { "" };
        let (turns, events) = (plan.turns.len(), plan.expected.len());
        if let Some(good) = &self.good {
            writeln!(out, "followed the schedule ({events} events in {turns} turns){asked}")?;
            write_triple(good, positions, out)?;
        }
        if let Some(bad) = &self.bad {
            write_bad(bad, positions, out)?;
        }
        if self.times > 1 {
            writeln!(out, "{} of {} replays did so", self.followed, self.times)?;
        }
        for (ending, count) in &self.endings {
            let times = if self.times > 1 { format!(" ({count} times)") } else { String::new() };
            writeln!(out, "the program {ending}{times}")?;
        }
        Ok(())
    }

    fn json(&self, plan: &Plan, positions: &Positions) -> TallyJson {
        let accesses = |replayed: &Replayed| -> Option<Vec<AccessJson>> {
            let triple = replayed.triple.as_ref()?;
            triple.iter().map(|event| Some(access_json(event.as_ref()?, positions))).collect()
        };
        debug_assert_eq!(plan.triple.is_some(), self.good.iter().chain(&self.bad).all(|one| one.triple.is_some()));
        TallyJson {
            foretrace: 1,
            times: self.times,
            followed: self.followed,
            endings: self.endings.iter().map(|(ending, times)| EndingJson { ending: *ending, times: *times }).collect(),
            triple: self.good.as_ref().or(self.bad.as_ref()).and_then(accesses),
            left: self.bad.as_ref().and_then(|bad| left_json(bad, positions)),
        }
    }
}

fn access_json(event: &Event, positions: &Positions) -> AccessJson {
    AccessJson {
        thread: event.path.clone(),
        at: event.record.at,
        op: ops(event.record.kind)[0],
        read: event.read(),
        written: event.written(),
        loc: positions.location(&event.record),
    }
}

fn left_json(bad: &Replayed, positions: &Positions) -> Option<LeftJson> {
    let Difference { expected, found, out_of_turn } = bad.difference.as_ref()?;
    Some(LeftJson {
        thread: expected.path.clone(),
        at: expected.at,
        expected: told(&expected.what),
        found: found.as_ref().map(|event| shown(event, positions)),
        out_of_turn: *out_of_turn,
        reason: bad.left.clone(),
    })
}

fn write_triple(replayed: &Replayed, positions: &Positions, out: &mut dyn Write) -> io::Result<()> {
    for (name, event) in ["first", "remote", "second"].iter().zip(replayed.triple.iter().flatten()) {
        let what = event.as_ref().map_or("did not happen".to_string(), |event| shown(event, positions));
        writeln!(out, "  {name:<8}{what}")?;
    }
    Ok(())
}

fn write_bad(bad: &Replayed, positions: &Positions, out: &mut dyn Write) -> io::Result<()> {
    match &bad.difference {
        Some(difference) => write_difference(difference, bad.left.as_deref(), positions, out),
        None if bad.left.is_some() => {
            writeln!(out, "left the schedule, though all its events came in their order")?;
            write_reason(bad.left.as_deref(), out)?;
            write_triple(bad, positions, out)
        }
        None => {
            writeln!(
                out,
                "followed the schedule, but the triple did not happen: its accesses are of different memory"
            )?;
            write_triple(bad, positions, out)
        }
    }
}

fn write_difference(
    difference: &Difference,
    left: Option<&str>,
    positions: &Positions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Difference { expected, found, out_of_turn } = difference;
    writeln!(out, "left the schedule at event {} of thread {}", expected.at, expected.path)?;
    writeln!(out, "  expected  {}", told(&expected.what))?;
    match found {
        Some(event) if *out_of_turn => writeln!(out, "  found     it out of turn: {}", shown(event, positions))?,
        Some(event) => {
            let same = told(&expected.what) == ops(event.record.kind)[0];
            let elsewhere = if same { ", at another place in the code" } else { "" };
            writeln!(out, "  found     {}{elsewhere}", shown(event, positions))?
        }
        None => writeln!(out, "  found     nothing: the thread did not come so far")?,
    }
    write_reason(left, out)
}

fn write_reason(left: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    left.map_or(Ok(()), |reason| writeln!(out, "  because   {reason}"))
}

/// An expected event for people.
fn told(what: &What) -> String {
    match what {
        What::Told(op, Some(loc)) => format!("{op} at {loc}"),
        What::Told(op, None) => op.clone(),
        What::Seen(kind, _) => ops(*kind)[0].to_string(),
    }
}

/// An event of a log for people.
fn shown(event: &Event, positions: &Positions) -> String {
    let loc = positions.location(&event.record).map(|loc| format!(" at {loc}")).unwrap_or_default();
    let value = match (event.read(), event.written()) {
        (Some(old), Some(new)) => format!(" {old}, then {new}"),
        (Some(value), None) | (None, Some(value)) => format!(" {value}"),
        (None, None) => String::new(),
    };
    format!("thread {}: {}{value}{loc}", event.path, ops(event.record.kind)[0])
}

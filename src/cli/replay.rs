//! `foretrace replay`: make a witness happen on the real program.

use super::choices::{FORMATS, Format, one_of, seconds};
use super::files;
use super::outcome::{Outcome, say};
use super::replayed::{Seen, Tally, unmatched};
use super::replayed_history::Histories;
use anyhow::{Context, bail};
use foretrace::recorder::{
    Ended, Ending, Folder, Foreground, Matched, Mode, Plan, Positions, Program, RecordingScope, Run, ThreadNames,
    differences, environment_of, fill, fix_addresses, is_of_number, judge, notes, plan_of_edited, recorded_ending,
    run_plan, use_after_free_in_words,
};
use foretrace::report::{SavedAccesses, SavedKind, SavedOffPath, SavedSchedule, SavedWitness};
use foretrace_walker::log::{Record, open_logs};
use foretrace_walker::program::Program as Recorded;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Make a witness happen on the program that its trace was recorded from
///
/// The threads run one at a time, in the order of the witness; then the program runs on to its end. If the program
/// leaves that order, replay steers it towards the triple: first, then remote, then second. The report says how the program
/// ended, whether the three accesses happened, and what they read and wrote. For a witness of a history it says whether the history of
/// the run is linearizable.
#[derive(clap::Args)]
#[command(after_help = "\
Exit codes: 0 the triple happened every time (for a recording: the program followed its schedule; for a history off the path: the history was not linearizable), 1 it did not, 2 error.

Examples:
  foretrace predict bank.foretrace --witness-dir witnesses
  foretrace replay witnesses/witness-10-38-14.json -- ./bank
  foretrace replay witnesses/witness-10-38-14.json --times 100 -- ./bank
  foretrace replay witnesses/witness-10-38-14.json --gdb -- ./bank
  foretrace replay bank.foretrace -- ./bank
  foretrace replay witnesses/witness-10-38-14.json --edited --times 10 -- ./bank")]
pub struct Args {
    /// A file of `predict --witness-dir`, or the folder of a recording, to replay its own schedule
    witness: PathBuf,

    /// Replay N times and count the outcomes, without the program's output
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    times: u32,

    /// Stop under gdb just before the remote access, with all other threads held
    #[arg(long, conflicts_with_all = ["times", "format", "time_limit"])]
    gdb: bool,

    /// Try the witness on another build of the program: find its places in the edited source, and steer the program
    /// to them
    #[arg(long, conflicts_with_all = ["exactly", "gdb"])]
    edited: bool,

    /// Count only replays that follow the witness to the letter
    #[arg(long)]
    exactly: bool,

    /// A program that takes longer counts as hung, and is killed
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
    let Asked { plan, moved, history, own_places } = match plan(args, &program)? {
        Ok(asked) => asked,
        Err(missing) => return missing_place(&missing, args.format),
    };
    let recorded = plan.recording.as_deref().and_then(recorded_ending);
    let (mut positions, mut threads) = (Positions::default(), None);
    if let Some(recording) = plan.recording.as_ref().filter(|_| !args.edited) {
        program.check_recorded_as(recording)?;
        let opened = Recorded::open(recording)?; // refuses libraries that were built again since
        threads = ThreadNames::of_opened(&opened, recording).ok();
        positions = Positions::of_recording(opened, recording);
        differences(recording, &program).iter().for_each(|line| say(format_args!("foretrace: {line}")));
    } else if plan.recording.is_none() {
        say(format_args!("foretrace: {NOT_THERE}"));
    }
    let kept = tempfile::tempdir().context("cannot make a temporary folder")?;
    let folder = args.output.clone().unwrap_or_else(|| kept.path().join("replay"));
    if args.gdb {
        return under_gdb(&plan, &program, &Folder::create(&folder)?);
    }
    let quiet = args.times > 1 || args.format != Format::Text;
    let mut tally = Tally::default();
    let (mut number, mut other) = (None, None);
    let mut histories =
        history.as_deref().map(|witness| Histories::new(witness, plan.recording.as_deref())).transpose()?;
    let mut stopped = None;
    for _ in 0..args.times {
        let folder = Folder::create(&folder)?;
        let Ended { ending, signal } = run_plan(&plan, &program, &folder, args.time_limit, quiet)?;
        // One run alone is reported as it is; of several, the one that a signal came to says nothing.
        if let Some(signal) = signal.filter(|_| args.times > 1) {
            stopped = Some(Ending::Signal(signal).shell_status());
            break;
        }
        positions.learn(folder.path())?;
        for note in notes(folder.path()) {
            (if is_of_number(&note) { &mut number } else { &mut other }).get_or_insert(note);
        }
        tally.add(judge(&plan, &folder, ending, |record| positions.of_event(record))?);
        use_after_free_in_words(folder.path(), &open_logs(folder.path())?)?
            .into_iter()
            .for_each(|used| tally.add_use(used));
        if let Some(histories) = &mut histories {
            histories.add(folder.path())?;
        }
    }
    if let Some(status) = stopped {
        say(format_args!("foretrace: stopped by a signal after {} of {} runs", tally.times(), args.times));
        if tally.times() == 0 {
            return Ok(Outcome::Status(status));
        }
    }
    let threads = threads.unwrap_or_else(|| ThreadNames::of_replay(&plan, &folder));
    let known = Known { positions, threads, own_places };
    let mut out = io::BufWriter::new(io::stdout().lock());
    match args.format {
        Format::Text => {
            tally.write_text(&moved, &plan, recorded, &known, &mut out)?;
            histories.iter().try_for_each(|histories| histories.write_text(&mut out))?;
        }
        Format::Json => {
            let judged = histories.as_ref().map(|histories| histories.judged);
            serde_json::to_writer_pretty(&mut out, &tally.json(&moved, recorded, judged, &known))?;
            writeln!(out)?;
        }
    }
    out.flush()?;
    // Threads have other numbers in each run. That matters only where the program went another way.
    if let Some(note) = other.or(number.filter(|_| tally.to_the_letter() < args.times)) {
        say(format_args!(
            "foretrace: what came from outside could not be given again: {}",
            known.threads.in_line(&note)
        ));
    }
    if let Some(status) = stopped {
        return Ok(Outcome::Status(status));
    }
    let off_path = history.filter(|witness| witness.off_path == Some(SavedOffPath::AfterEnd)).and(histories);
    let good = match off_path {
        // Only the program can tell what it gives off the path.
        Some(histories) => histories.judged.not_linearizable,
        None if args.exactly => tally.to_the_letter(),
        None => tally.reached(),
    };
    Ok(if good == args.times { Outcome::Fine } else { Outcome::Found })
}

/// What is said where a witness's recording is gone.
const NOT_THERE: &str = "the recording is not where the witness names its trace: the program gets its environment, clocks \
    and random numbers from this run, not from the recording";

/// What is asked of the program.
struct Asked {
    plan: Plan,
    /// Places of a witness that are elsewhere in an edited program.
    moved: Vec<String>,
    /// The witness, where it is one of a history.
    history: Option<Box<SavedWitness>>,
    /// Where the witness's accesses are, as the program's own code has it.
    own_places: Option<[Option<String>; 3]>,
}

/// What to do; or which place of a witness has no match in an edited program.
fn plan(args: &Args, program: &Program) -> anyhow::Result<Result<Asked, String>> {
    let name = || args.witness.display().to_string();
    if args.witness.is_dir() {
        if args.edited {
            bail!("{}: --edited needs a witness, found the folder of a recording", name());
        }
        if args.gdb {
            bail!("--gdb needs a witness: a recording has no remote access");
        }
        return Ok(Ok(Asked {
            plan: Plan::of_recording(&args.witness)?,
            moved: Vec::new(),
            history: None,
            own_places: None,
        }));
    }
    let SavedSchedule::Witness(witness) = files::read_schedule(&args.witness)? else {
        bail!("{}: found a plain schedule, expected a witness of `foretrace predict --witness-dir`", name());
    };
    let of_what = match witness.kind {
        SavedKind::Triple => None,
        SavedKind::Block => Some("a block"),
        SavedKind::History => Some("a history"),
        SavedKind::UseAfterFree => Some("a use after free"),
        SavedKind::OtherWay => Some("a branch that goes the other way"),
    };
    if let Some(what) = of_what.filter(|_| args.edited || args.gdb) {
        bail!("{}: --edited and --gdb need a witness of a triple, found one of {what}", name());
    }
    let found = recording_of(&args.witness, Path::new(&witness.trace));
    let recording = found.as_deref();
    if !args.edited {
        let plan = Plan::of_witness(&witness, recording).with_context(name)?;
        let of_triple = (witness.kind == SavedKind::Triple).then_some(witness.accesses.as_deref()).flatten();
        let own_places = of_triple
            .map(|SavedAccesses { first, remote, second }| [first, remote, second].map(|access| access.loc.clone()));
        let history = (witness.kind == SavedKind::History).then(|| Box::new(witness));
        return Ok(Ok(Asked { plan, moved: Vec::new(), history, own_places }));
    }
    Ok(match plan_of_edited(&witness, program, recording).with_context(name)? {
        Matched::All(plan, moved) => Ok(Asked { plan: *plan, moved, history: None, own_places: None }),
        Matched::Missing(which) => Err(which),
    })
}

/// The folder of the recording that a witness names: seen from here, or from a folder that the witness is in, as it may have been
/// predicted elsewhere.
fn recording_of(witness: &Path, trace: &Path) -> Option<PathBuf> {
    let witness = std::path::absolute(witness).ok()?;
    let from = std::iter::once(Path::new("")).chain(witness.ancestors().skip(1));
    let folders = from.filter_map(|start| Some(start.join(trace).parent()?.to_path_buf()));
    folders.into_iter().find(|folder| folder.join("modules").is_file())
}

/// A place of the witness is not in the edited program, so the program is not run.
fn missing_place(missing: &str, format: Format) -> anyhow::Result<Outcome> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match format {
        Format::Text => writeln!(out, "did not reach the triple: {missing}; the program was not run")?,
        Format::Json => {
            serde_json::to_writer_pretty(&mut out, &unmatched(missing))?;
            writeln!(out)?;
        }
    }
    out.flush()?;
    Ok(Outcome::Found)
}

/// For gdb: the frame of the program's own code that is about to make the access, above those of the runtime, and of the libraries whose
/// headers it uses. If all of it is a library's, the one above the runtime. A gdb without Python shows the runtime's.
const SELECT_OWN_FRAME: &str = r#"python exec("""
frame = gdb.newest_frame()
while frame.older() and 'foretrace_' in str(frame.name()): frame = frame.older()
libraries = ('/usr/include/', '/usr/lib/', '/include/c++/', '/rustc/', '/rustlib/', '/registry/src/')
def is_own(frame):
    table = frame.find_sal().symtab
    return table is not None and not any(part in table.fullname() for part in libraries)
own = frame
while own and not is_own(own): own = own.older()
(own or frame).select()
""")"#;

/// Hands the program to gdb, which stops before the remote access.
fn under_gdb(plan: &Plan, program: &Program, folder: &Folder) -> anyhow::Result<Outcome> {
    let mode = Mode::Replay(plan.write_schedule(folder)?);
    let (part, recording) = (RecordingScope::default(), plan.recording.as_deref());
    let run =
        Run { program, mode, folder, max_bytes: None, part, time_limit: None, quiet: false, recording, apart: None };
    let mut told = run.environment();
    told.extend(run.others().context("cannot prepare what other programs did")?);
    told.push(("FORETRACE_STOP", "1".into()));
    fill(&mut told);
    let inherited = || std::env::vars_os().collect();
    let environment: Vec<(OsString, OsString)> = recording.and_then(environment_of).unwrap_or_else(inherited);
    fix_addresses();
    let mut words: Vec<OsString> =
        ["-q", "-ex", "set breakpoint pending on", "-ex", "set confirm off", "-ex", "break foretrace_at_remote"]
            .map(OsString::from)
            .into();
    words.extend(without_gdb(&environment));
    let run = ["-ex", "set startup-with-shell off", "-ex", "run", "-ex", SELECT_OWN_FRAME, "-ex", "frame", "--args"];
    words.extend(run.map(OsString::from));
    words.push(program.path.clone().into());
    words.extend(program.arguments.iter().cloned());
    let told = told.into_iter().map(|(name, value)| (OsString::from(name), value));
    let environment = environment.into_iter().chain(told).collect();
    let gdb = Foreground { path: "gdb".into(), arguments: words, environment, is_quiet: false };
    let ended = gdb.run(None).context("cannot start gdb, which --gdb needs")?;
    Ok(Outcome::Status(ended.map_or(Ending::Hang, Ending::from).shell_status()))
}

/// Variables that gdb adds to the program's environment, which would move the program's stack.
const OF_GDB: [&str; 2] = ["LINES", "COLUMNS"];

/// Commands that give gdb's own variables the values of the recording.
fn without_gdb(environment: &[(OsString, OsString)]) -> Vec<OsString> {
    let command = |name: &str| match environment.iter().find(|(other, _)| other == name) {
        Some((_, value)) => {
            [OsStr::new("set environment "), OsStr::new(name), OsStr::new("="), value].into_iter().collect()
        }
        None => OsString::from(format!("unset environment {name}")),
    };
    OF_GDB.into_iter().flat_map(|name| ["-ex".into(), command(name)]).collect()
}

/// What is known of the replays.
struct Known {
    positions: Positions,
    threads: ThreadNames,
    own_places: Option<[Option<String>; 3]>,
}

impl Seen for Known {
    fn location(&self, record: &Record) -> Option<String> {
        self.positions.location(record)
    }

    fn threads(&self) -> &ThreadNames {
        &self.threads
    }

    fn own_places(&self) -> Option<&[Option<String>; 3]> {
        self.own_places.as_ref()
    }
}

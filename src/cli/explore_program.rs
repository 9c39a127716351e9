//! `foretrace explore -- PROG`: every interleaving of a real program, each by a run.

use super::asking::stop_on_ctrl_c;
use super::choices::Format;
use super::explore::Args;
use super::explore_history::{ByHistory, Histories, ONE_OF_EACH};
use super::input;
use super::outcome::{Outcome, since_start};
use super::progress::Spinner;
use super::shell::{command_of, quoted};
use anyhow::{Context, bail};
use foretrace::recorder::{Program, WalkedBy};
use foretrace::report::plural;
use foretrace::testing::{
    Baseline, Bounds, Explored, Failing, Interleaving, Kept, Predict, Settings, TestError, explore_program,
};
use foretrace_linearizability::{Limits, Spec};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A run that takes longer counts as hung.
const RUN_LIMIT: Duration = Duration::from_secs(60);

/// Explores.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    if args.spec.is_none() && (!args.names.is_empty() || !args.operations.is_empty()) {
        bail!("--operations, --operation-names and --empty say what histories mean: expected --spec");
    }
    let stop = stop_on_ctrl_c()?;
    let program = Program::find(&args.command)?;
    program.check()?;
    if let Some(folder) = &args.save {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let settings = settings(program, args, &stop)?;
    let bounds = Bounds {
        events: u64::from(args.max_steps),
        runs: args.runs.unwrap_or(u64::MAX),
        interruptions: args.context_switches,
    };
    stop_in_time(args.time_limit, &stop);
    let work = tempfile::tempdir().context("cannot make a temporary folder")?;
    let spinner = Spinner::on_terminal();
    let mut saved = Saved { args, failing: 0, passing: 0 };
    let mut histories = Histories::new(args)?;
    let mut judged: anyhow::Result<()> = Ok(());
    let go_on = || !stop.load(Ordering::Relaxed);
    let mut each = |interleaving: &Interleaving<'_>| {
        let history = match &mut histories {
            Some(histories) if !interleaving.fails => {
                histories.judge(interleaving.recording, Limits { go_on: &go_on }).unwrap_or_else(|error| {
                    judged = Err(error);
                    None
                })
            }
            _ => None,
        };
        if judged.is_err() {
            return Ok::<Kept, _>(ControlFlow::Break(None));
        }
        let fails = interleaving.fails || history.is_some();
        let kept = saved.keep(interleaving, fails)?;
        if let (Some(histories), Some(failure)) = (&mut histories, history) {
            histories.add(failure, kept.clone());
        }
        Ok(match args.first && fails {
            true => ControlFlow::Break(kept),
            false => ControlFlow::Continue(kept),
        })
    };
    let mut progress = |explored: &Explored| {
        let failing = explored.failing_classes();
        spinner.say(format!("{} explored, {failing} of them fail, {} runs", classes(explored.classes), explored.runs));
    };
    let explored = explore_program((&settings, &Baseline::default()), bounds, work.path(), &mut each, &mut progress)?;
    drop(spinner);
    judged?;
    let found = Found::new(explored, histories);
    let command = command_of(&args.command) + &input::redirection(settings.input.as_deref(), None);
    let mut out = io::BufWriter::new(io::stdout().lock());
    match args.format {
        Format::Text => write_text(&found, args, &command, &mut out)?,
        Format::Json => {
            serde_json::to_writer_pretty(&mut out, &to_json(&found, &command))?;
            writeln!(out)?;
        }
    }
    out.flush()?;
    Ok(match (found.failed() > 0, found.is_complete()) {
        (true, _) => Outcome::Found,
        (false, true) => Outcome::Fine,
        (false, false) => Outcome::Undecided,
    })
}

/// What was found: by how runs ended, and by their histories.
struct Found {
    explored: Explored,
    by_history: Vec<ByHistory>,
    /// Histories that could not be decided, where there is a specification.
    open: Option<u64>,
}

impl Found {
    fn new(mut explored: Explored, histories: Option<Histories<'_>>) -> Found {
        let Some(histories) = histories else { return Found { explored, by_history: Vec::new(), open: None } };
        explored.passed -= histories.failing_classes();
        explored.doubts.push(ONE_OF_EACH.to_string());
        if histories.open > 0 {
            explored.doubts.push(format!("{} could not be decided", plural(histories.open, "history")));
        }
        Found { explored, by_history: histories.failing, open: Some(histories.open) }
    }

    /// How many classes fail.
    fn failed(&self) -> u64 {
        let by_history: u64 = self.by_history.iter().map(|failing| failing.classes).sum();
        self.explored.failing_classes() + by_history
    }

    /// Whether all interleavings were explored, and all that could fail was looked at.
    fn is_complete(&self) -> bool {
        self.explored.complete && self.explored.not_taken == 0 && self.open.is_none()
    }
}

fn settings(program: Program, args: &Args, stop: &Arc<AtomicBool>) -> anyhow::Result<Settings> {
    let walked_by =
        WalkedBy { atomic: "auto".to_string(), include: None, focus: None, operations: None, inside: BTreeMap::new() };
    Ok(Settings {
        program,
        harness: None,
        directory: None,
        variables: Vec::new(),
        input: input::file()?,
        seed: 0,
        runs: 0,
        jobs: 1,
        time: args.time_limit,
        stop_after: None,
        run_limit: Some(RUN_LIMIT),
        released: None,
        predict_limit: RUN_LIMIT,
        predict: Predict::Precise,
        walk: foretrace_walker::Options::default(),
        walked_by,
        watch: Vec::new(),
        fail_when: None,
        compare_output: false,
        pass_status: 0,
        sandbox: false,
        memory: None,
        replays: 0,
        stop: stop.clone(),
    })
}

/// Ends the run that is under way when the time is over, too.
fn stop_in_time(limit: Option<Duration>, stop: &Arc<AtomicBool>) {
    let (Some(limit), stop) = (limit, stop.clone()) else { return };
    std::thread::spawn(move || {
        std::thread::sleep(limit.saturating_sub(since_start()));
        stop.store(true, Ordering::SeqCst);
    });
}

/// Recordings that are kept.
struct Saved<'a> {
    args: &'a Args,
    failing: u64,
    passing: u64,
}

impl Saved<'_> {
    fn keep(&mut self, interleaving: &Interleaving<'_>, fails: bool) -> Result<Option<PathBuf>, TestError> {
        let (kind, number) = match fails {
            true => ("failing", &mut self.failing),
            false => ("passing", &mut self.passing),
        };
        *number += 1;
        let wanted = (fails || self.args.passing) && *number <= self.args.most;
        let Some(folder) = self.args.save.as_ref().filter(|_| wanted) else { return Ok(None) };
        let kept = folder.join(format!("{kind}-{number}.foretrace"));
        interleaving.keep(&kept)?;
        Ok(Some(kept))
    }
}

fn classes(number: u64) -> String {
    if number == 1 { "1 class of interleavings".to_string() } else { format!("{number} classes of interleavings") }
}

fn write_text(found: &Found, args: &Args, command: &str, out: &mut dyn Write) -> io::Result<()> {
    let Found { explored, by_history, .. } = found;
    for Failing { failure, cycle, late, classes: number, kept, .. } in &explored.failing {
        writeln!(out, "{failure}\n  in {}", classes(*number))?;
        cycle.iter().chain(late).try_for_each(|line| writeln!(out, "  {line}"))?;
        if let Some(kept) = kept {
            writeln!(out, "  replay the first one: foretrace replay {} -- {command}", quoted(kept))?;
        }
    }
    for ByHistory { what, picture, classes: number, kept } in by_history {
        writeln!(out, "{what}\n  in {}", classes(*number))?;
        picture.iter().flat_map(|picture| picture.lines()).try_for_each(|line| writeln!(out, "    {line}"))?;
        if let Some(kept) = kept {
            let meaning = format!("{}{}", args.operations.words(), args.names.words());
            let spec = args.spec.map_or("", Spec::name);
            writeln!(out, "  the first one: foretrace linearizable {} --spec {spec}{meaning}", quoted(kept))?;
        }
    }
    let Explored { passed, cut_off, redundant, left, .. } = explored;
    let failed = found.failed();
    writeln!(out, "{}: {passed} passed, {failed} failed, {cut_off} cut off", classes(explored.classes))?;
    let runs = plural(explored.runs, "run");
    writeln!(out, "explored by {runs} of the program; {redundant} interleavings were equivalent to others")?;
    if *left > 0 {
        writeln!(out, "left: {left} (runs that did not follow the order that was forced)")?;
    }
    if explored.loops > 0 {
        let loops = plural(explored.loops, "loop");
        writeln!(out, "threads waited in {loops}: each took no step there until another thread changed what it reads")?;
    }
    write_verdict(found, args.context_switches, out)
}

/// Reasons that the text shows.
const MOST_DOUBTS: usize = 5;

fn write_verdict(found: &Found, bound: Option<u32>, out: &mut dyn Write) -> io::Result<()> {
    let explored = &found.explored;
    if found.open.is_some() && explored.complete {
        writeln!(
            out,
            "all classes of interleavings were explored{}",
            if bound.is_some() { " within the bound" } else { "" }
        )?;
        return explored.doubts.iter().try_for_each(|why| writeln!(out, "not certain to be all histories: {why}"));
    }
    match bound.filter(|_| explored.complete && explored.not_taken > 0) {
        Some(most) => {
            return writeln!(out, "all with at most {} were explored", plural(u64::from(most), "interruption"));
        }
        None if explored.complete => return writeln!(out, "all were explored"),
        None => {}
    }
    let mut doubts = explored.doubts.iter();
    doubts.by_ref().take(MOST_DOUBTS).try_for_each(|why| writeln!(out, "not certain to be all: {why}"))?;
    if doubts.len() > 0 {
        writeln!(out, "and {} (--format json lists them)", plural(doubts.len() as u64, "more reason"))?;
    }
    match (explored.is_stopped, explored.doubts.is_empty()) {
        (true, _) => writeln!(out, "stopped at the first that fails: there may be more"),
        (false, true) => writeln!(out, "not all were explored"),
        (false, false) => Ok(()),
    }
}

fn to_json(found: &Found, command: &str) -> Value {
    let Found { explored, by_history, open } = found;
    let of_history = |failing: &ByHistory| {
        json!({
            "kind": "not-linearizable", "what": failing.what, "interleavings": failing.classes, "cycle": [], "late": [],
            "recording": failing.kept.as_deref().map(Path::to_string_lossy),
        })
    };
    let one = |failing: &Failing| {
        json!({
            "kind": failing.failure.kind(), "what": failing.failure.to_string(), "interleavings": failing.classes,
            "cycle": failing.cycle, "late": failing.late, "recording": failing.kept.as_deref().map(Path::to_string_lossy),
        })
    };
    let mut report = json!({
        "foretrace": 1, "command": command, "complete": found.is_complete(),
        "complete_within_bound": explored.complete, "interleavings": explored.classes, "passed": explored.passed,
        "failed": found.failed(), "cut_off": explored.cut_off, "redundant": explored.redundant,
        "runs": explored.runs, "left": explored.left, "waiting_loops": explored.loops, "doubts": explored.doubts,
        "failures": explored.failing.iter().map(one).chain(by_history.iter().map(of_history)).collect::<Vec<_>>(),
    });
    if let Some(open) = open {
        report["undecided_histories"] = json!(open);
    }
    report
}

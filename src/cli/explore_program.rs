//! `foretrace explore -- PROG`: every interleaving of a real program, each by a run.

use super::asking::stop_on_ctrl_c;
use super::choices::Format;
use super::explore::Args;
use super::progress::Spinner;
use super::test::input;
use super::{Outcome, since_start};
use anyhow::Context;
use foretrace::recorder::{Program, WalkedBy};
use foretrace::report::plural;
use foretrace::testing::{Baseline, Bounds, Explored, Failing, Interleaving, Kept, Predict, Settings, explore_program};
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
    let mut each = |interleaving: &Interleaving<'_>| {
        let kept = saved.keep(interleaving)?;
        Ok::<Kept, _>(match args.first && interleaving.fails {
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
    let command = args.command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let mut out = io::BufWriter::new(io::stdout().lock());
    match args.format {
        Format::Text => write_text(&explored, args, &command, &mut out)?,
        Format::Json => {
            serde_json::to_writer_pretty(&mut out, &to_json(&explored, &command))?;
            writeln!(out)?;
        }
    }
    out.flush()?;
    Ok(match (explored.failing.is_empty(), explored.complete && explored.not_taken == 0) {
        (false, _) => Outcome::Found,
        (true, true) => Outcome::Fine,
        (true, false) => Outcome::Undecided,
    })
}

fn settings(program: Program, args: &Args, stop: &Arc<AtomicBool>) -> anyhow::Result<Settings> {
    let walked_by =
        WalkedBy { atomic: "auto".to_string(), include: None, focus: None, operations: None, inside: BTreeMap::new() };
    Ok(Settings {
        program,
        harness: None,
        directory: None,
        variables: Vec::new(),
        input: input()?,
        seed: 0,
        runs: 0,
        jobs: 1,
        time: args.time_limit,
        stop_after: None,
        run_limit: Some(RUN_LIMIT),
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
    fn keep(&mut self, interleaving: &Interleaving<'_>) -> Result<Option<PathBuf>, foretrace::testing::TestError> {
        let (kind, number) = match interleaving.fails {
            true => ("failing", &mut self.failing),
            false => ("passing", &mut self.passing),
        };
        *number += 1;
        let wanted = (interleaving.fails || self.args.passing) && *number <= self.args.most;
        let Some(folder) = self.args.save.as_ref().filter(|_| wanted) else { return Ok(None) };
        let kept = folder.join(format!("{kind}-{number}.foretrace"));
        interleaving.keep(&kept)?;
        Ok(Some(kept))
    }
}

fn classes(number: u64) -> String {
    if number == 1 { "1 class of interleavings".to_string() } else { format!("{number} classes of interleavings") }
}

fn write_text(explored: &Explored, args: &Args, command: &str, out: &mut dyn Write) -> io::Result<()> {
    for Failing { failure, cycle, classes: number, kept, .. } in &explored.failing {
        writeln!(out, "{failure}\n  in {}", classes(*number))?;
        cycle.iter().try_for_each(|line| writeln!(out, "  {line}"))?;
        if let Some(kept) = kept {
            writeln!(out, "  replay the first one: foretrace replay {} -- {command}", kept.display())?;
        }
    }
    let Explored { passed, cut_off, redundant, left, .. } = explored;
    let failed = explored.failing_classes();
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
    write_verdict(explored, args.context_switches, out)
}

/// Reasons that the text shows.
const MOST_DOUBTS: usize = 5;

fn write_verdict(explored: &Explored, bound: Option<u32>, out: &mut dyn Write) -> io::Result<()> {
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

fn to_json(explored: &Explored, command: &str) -> Value {
    let one = |failing: &Failing| {
        json!({
            "kind": failing.failure.kind(), "what": failing.failure.to_string(), "interleavings": failing.classes,
            "cycle": failing.cycle, "recording": failing.kept.as_deref().map(Path::to_string_lossy),
        })
    };
    json!({
        "foretrace": 1, "command": command, "complete": explored.complete && explored.not_taken == 0,
        "complete_within_bound": explored.complete, "interleavings": explored.classes, "passed": explored.passed,
        "failed": explored.failing_classes(), "cut_off": explored.cut_off, "redundant": explored.redundant,
        "runs": explored.runs, "left": explored.left, "waiting_loops": explored.loops, "doubts": explored.doubts,
        "failures": explored.failing.iter().map(one).collect::<Vec<_>>(),
    })
}

//! Litmus programs: the same loop in the interpreter, and every schedule of the program as the truth to compare with.

use super::attempt::{Access, Attempt, Rank};
use super::judge::{Cause, Failure};
use super::predicting::variable_of;
use super::report::{Find, Report};
use super::settings::TestError;
use super::story;
use foretrace_analysis::blocks::NamedBlocks;
use foretrace_analysis::options::Options;
use foretrace_analysis::predict::{Sink, predict};
use foretrace_analysis::verdict::{Decision, Verdict};
use foretrace_harness::Ending;
use foretrace_litmus::{self as litmus, Outcome, Program, Run};
use foretrace_report::thread_name;
use foretrace_trace::{Trace, Triple, observe};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What came of a litmus program.
pub struct LitmusReport {
    /// The loop's part.
    pub report: Report,
    /// How many schedules of the program were run.
    pub schedules: u64,
    /// Whether these are all.
    pub is_whole: bool,
    /// How many of them fail.
    pub failing: u64,
    /// How many different failures they show.
    pub failures: usize,
}

/// Random runs.
const SEEDS: u64 = 20;
/// Passing runs of them that are analysed.
const ANALYSED: usize = 3;
/// Events of a run.
const MOST_STEPS: u32 = 20_000;
/// Schedules of the program that are run.
const MOST_SCHEDULES: u64 = 1_000_000;

/// Tests a litmus program.
///
/// # Errors
/// The analysis fails.
pub fn test_litmus(
    program: &Program,
    source: &str,
    time: Duration,
    stop: &AtomicBool,
) -> Result<LitmusReport, TestError> {
    let start = Instant::now();
    let mut report = Report::default();
    let mut passing = Vec::new();
    let mut finds = Finds { start, runs: 0, all: Vec::new() };
    for seed in 0..SEEDS {
        let run = litmus::run(program, &litmus::Options { max_steps: MOST_STEPS, ..litmus::Options::seed(seed) });
        match failure(&run) {
            Some(failure) => {
                report.recorded.failed += 1;
                finds.add(failure, seed, None);
            }
            None => {
                report.recorded.passed += 1;
                passing.push((seed, run.trace));
            }
        }
        finds.runs += 1;
    }
    for (seed, trace) in passing.into_iter().take(ANALYSED) {
        try_schedules(program, (seed, &trace), source, stop, &mut finds, &mut report)?;
    }
    let (mut failing, mut kinds) = (0, BTreeMap::new());
    let mut runs = 0_u64;
    let mut go_on = || {
        runs += 1;
        runs <= MOST_SCHEDULES && start.elapsed() < time && !stop.load(Ordering::Relaxed)
    };
    let (schedules, is_whole) = litmus::run_all(program, MOST_STEPS, &mut go_on, &mut |run| {
        if let Some(failure) = failure(run) {
            failing += 1;
            kinds.entry(failure.to_string()).or_insert(failure);
        }
    });
    let failures = kinds.len();
    kinds.into_values().for_each(|failure| finds.add(failure, 0, None));
    report.finds = finds.all;
    report.times.all = start.elapsed();
    Ok(LitmusReport { report, schedules, is_whole, failing, failures })
}

/// How a run failed.
fn failure(run: &Run) -> Option<Failure> {
    match &run.outcome {
        Outcome::Finished | Outcome::StepLimit => None,
        Outcome::AssertionFailed(failure) | Outcome::Error(failure) => {
            let message = format!("`{}` at {}: {}", failure.thread, failure.loc, failure.reason);
            Some(Failure { cause: Cause::Assertion, message: Some(message), place: None })
        }
        Outcome::Deadlock(blocked) => {
            let waits = |one: &litmus::Blocked| format!("`{}` waits for {}", one.thread, one.waits_for);
            let message = blocked.iter().map(waits).collect::<Vec<_>>().join(", ");
            Some(Failure { cause: Cause::Ended(Ending::Deadlock), message: Some(message), place: None })
        }
    }
}

/// Different failures, each once.
struct Finds {
    start: Instant,
    runs: u64,
    all: Vec<Find>,
}

impl Finds {
    fn add(&mut self, failure: Failure, seed: u64, shown: Option<&Attempt>) {
        let at = self.all.iter().position(|find| find.failure == failure);
        let at = at.unwrap_or_else(|| {
            self.all.push(Find::new(failure, seed, self.runs, self.start.elapsed()));
            self.all.len() - 1
        });
        let find = &mut self.all[at];
        if let Some(attempt) = shown.filter(|_| find.title.is_none()) {
            find.attempts.push(attempt.clone());
            find.title = Some(story::title(attempt));
            find.story = story::lines(attempt, None);
        }
    }
}

/// Keeps the decisions that have a schedule.
#[derive(Default)]
struct WithSchedules(Vec<Decision>);

impl Sink for WithSchedules {
    fn decision(&mut self, decision: &Decision) -> anyhow::Result<()> {
        self.0.push(decision.clone());
        Ok(())
    }
}

/// Predicts from a run that passed, and runs the program along each schedule.
fn try_schedules(
    program: &Program,
    (seed, trace): (u64, &Trace),
    source: &str,
    stop: &AtomicBool,
    finds: &mut Finds,
    report: &mut Report,
) -> Result<(), TestError> {
    let Ok(observed) = observe(trace) else { return Ok(()) };
    let mut options = Options::new(trace.data);
    let transactions = options.atomic.transactions(trace);
    if transactions.is_empty() {
        return Ok(());
    }
    options.off_path = true;
    options.budget = Some(Duration::from_secs(5));
    options.blocks = Some(Arc::new(NamedBlocks::new(trace, options.atomic)));
    let mut decided = WithSchedules::default();
    let predicted = predict(trace, &observed, &transactions, &options, stop, &mut decided);
    predicted.map_err(|error| TestError::Analysis(format!("{error:#}")))?;
    for decision in &decided.0 {
        let (kind, schedule) = match (&decision.verdict, &decision.off_path) {
            (Verdict::Feasible(witness), _) => (super::Kind::Proved, witness.schedule()),
            (Verdict::Infeasible, Some(off_path)) => match off_path.schedule() {
                Some(schedule) => (super::Kind::BeforeRemote, schedule),
                None => continue,
            },
            _ => continue,
        };
        let threads: Vec<usize> = schedule.iter().map(|event| trace.event(*event).thread.index()).collect();
        let run = litmus::run_along(program, &threads, MOST_STEPS);
        finds.runs += 1;
        *report.tried.entry(kind.name().into()).or_default() += 1;
        match failure(&run) {
            Some(failure) => {
                report.harmless.failed += 1;
                let attempt = attempt(kind, trace, decision, source, seed);
                finds.add(failure, seed, Some(&attempt));
            }
            None => report.harmless.same += 1,
        }
    }
    Ok(())
}

fn attempt(kind: super::Kind, trace: &Trace, decision: &Decision, source: &str, seed: u64) -> Attempt {
    let Triple { first, remote, second } = decision.triple;
    let access = |event| {
        let loc = trace.loc(event).unwrap_or_default();
        let place = loc.rsplit_once(':').map_or(loc, |(place, _)| place);
        let line = place.rsplit_once(':').and_then(|(_, line)| line.parse::<usize>().ok());
        let text = line.and_then(|line| source.lines().nth(line.checked_sub(1)?)).map(|text| text.trim().to_string());
        let thread = thread_name(trace, trace.event(event).thread);
        Access { thread, function: String::new(), place: place.to_string(), text, is_of_library: false }
    };
    Attempt {
        kind,
        class: String::new(),
        variable: variable_of(trace, first).to_string(),
        pattern: decision.pattern,
        accesses: [access(first), access(remote), access(second)],
        also: Vec::new(),
        to_make: None,
        cycle: None,
        witness: PathBuf::new(),
        recording: PathBuf::new(),
        seed,
        rank: Rank::default(),
    }
}

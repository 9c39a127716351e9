//! Every interleaving of a program up to equivalence, each by a run of the program.
//!
//! No state of the program is stored: a state is the steps that lead to it (P. Godefroid, "Model checking for programming languages
//! using VeriSoft", POPL 1997). The program runs along these steps, forced one by one, and then goes on by itself; its logs show
//! what each thread does next. The search is that of `foretrace-explore`, as for litmus programs.

mod bare;
mod channel_calls;
mod clocks;
mod coverage;
mod execution;
mod executions;
mod given_back;
mod holds;
mod machine;
mod objects;
mod outcomes;
mod reversals;
mod schedule;
mod spin;
mod state;

use super::baseline::Baseline;
use super::judge::{Cause, Failure};
use super::kept::copy;
use super::observation::Observation;
use super::predicting::own_lines;
use super::settings::{Settings, TestError};
use execution::Execution;
use executions::Executions;
use foretrace_explore::{Ended, Tally, bounded, explore};
use foretrace_harness::{Ending, Folder, Positions, STDERR, ThreadNames, deadlock_in_words};
use foretrace_walker::Options;
use rustc_hash::FxHashSet;
use schedule::{Onward, TURN};
use spin::Loop;
use state::{End, State};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How far a program is explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Events of a run.
    pub events: u64,
    /// Runs.
    pub runs: u64,
    /// How often a thread may be interrupted that could go on; without it all orders are explored, up to equivalence.
    pub interruptions: Option<u32>,
}

/// What came of an exploration.
#[derive(Default)]
pub struct Explored {
    /// Different classes of interleavings that came to their ends.
    pub classes: u64,
    /// Those that passed.
    pub passed: u64,
    /// Those that were cut off, as they had too many events.
    pub cut_off: u64,
    /// Those that were given up half-way, since an equivalent one had been explored.
    pub redundant: u64,
    /// Steps that were not taken, as they would be an interruption too many.
    pub not_taken: u64,
    /// How often the program ran.
    pub runs: u64,
    /// How long all runs took together.
    pub running: Duration,
    /// Runs that left the order that was forced.
    pub left: u64,
    /// Loops in which a thread waited for another.
    pub loops: u64,
    /// Failures, each once.
    pub failing: Vec<Failing>,
    /// What keeps it from being complete.
    pub doubts: Vec<String>,
    /// Whether all interleavings were explored, within the bound on interruptions if there is one.
    pub complete: bool,
    /// Whether the caller wanted no more.
    pub is_stopped: bool,
}

/// Interleavings that fail in the same way.
pub struct Failing {
    /// How.
    pub failure: Failure,
    /// Who waits for whom, in a deadlock.
    pub cycle: Vec<String>,
    /// Which waits ended by their time limits.
    pub late: Vec<String>,
    /// How many classes.
    pub classes: u64,
    /// Where the first one is kept.
    pub kept: Option<PathBuf>,
    /// What was seen of the first one, if a run of it came to its end.
    pub seen: Option<Observation>,
    /// By which failures count as the same.
    signature: String,
}

/// An interleaving that came to its end.
pub struct Interleaving<'e> {
    /// Whether it failed.
    pub fails: bool,
    /// The folder of its recording, for as long as the caller looks at it.
    pub recording: &'e Path,
}

impl Interleaving<'_> {
    /// Keeps the recording in a folder, which holds nothing else.
    ///
    /// # Errors
    /// Something else is there, or a file cannot be written.
    pub fn keep(&self, folder: &Path) -> Result<(), TestError> {
        let failed = |error| TestError::Io(folder.to_path_buf(), error);
        Folder::create(folder)?;
        let mut part = folder.as_os_str().to_os_string();
        part.push(".part");
        let part = PathBuf::from(part);
        copy(self.recording, &part)?;
        std::fs::remove_dir_all(folder).and_then(|()| std::fs::rename(&part, folder)).map_err(failed)
    }
}

impl Explored {
    /// How many classes fail.
    pub fn failing_classes(&self) -> u64 {
        self.failing.iter().map(|failing| failing.classes).sum()
    }
}

/// What the caller does with an interleaving: where it kept the recording, if it did; and whether to go on.
pub type Kept = ControlFlow<Option<PathBuf>, Option<PathBuf>>;

/// Runs a program in every interleaving up to equivalence. `work` is a folder for the runs. `baseline` is what passing runs write, if that
/// is known: such lines are not taken for lines of failures. `each` sees every class once, `progress` how many classes, failing ones and
/// runs there were.
///
/// # Errors
/// The program cannot be run, or `each` fails.
pub fn explore_program(
    (settings, baseline): (&Settings, &Baseline),
    bounds: Bounds,
    work: &Path,
    each: &mut dyn FnMut(&Interleaving<'_>) -> Result<Kept, TestError>,
    progress: &mut dyn FnMut(&Explored),
) -> Result<Explored, TestError> {
    let onward = Onward { turn: TURN, all: bounds.events, second: this_second() };
    let shared = Rc::new(RefCell::new(Executions::new((settings, baseline), work, onward, bounds.runs)));
    let mut collected = Collected { walk: settings.walk.clone(), ..Collected::default() };
    let (tally, ended) = match State::start(shared.clone()) {
        Some(start) => {
            let runs = |explored: &mut Explored| explored.runs = shared.borrow().runs;
            let mut at_end = |state: &State<'_>| {
                let flow = collected.add(state, each);
                let failing = std::mem::take(&mut shared.borrow_mut().failing);
                let flow = collected.add_runs(failing, each, flow);
                runs(&mut collected.explored);
                progress(&collected.explored);
                flow
            };
            let mut go_on = |_: &Tally| !shared.borrow().is_at_end();
            match bounds.interruptions {
                None => explore(&start, true, &mut go_on, &mut |state, _| at_end(state)),
                Some(most) => bounded(&start, most, &mut go_on, &mut |state, _| at_end(state)),
            }
        }
        None => (Tally::default(), Ended::Limit),
    };
    let mut shared = shared.borrow_mut();
    if ended == Ended::Complete && shared.doubts.is_empty() {
        shared.doubt_code_not_built();
    }
    let failing = std::mem::take(&mut shared.failing);
    let is_stopped = collected.add_runs(failing, each, ControlFlow::Continue(())).is_break();
    collected.count_those_not_reached();
    if let Some(error) = shared.error.take().or(collected.error) {
        return Err(error);
    }
    let mut explored = collected.explored;
    explored.runs = shared.runs;
    explored.running = shared.running;
    explored.left = shared.left;
    explored.loops = shared.loops.values().filter(|known| **known != Loop::Passes).count() as u64;
    explored.doubts.extend(shared.doubts.iter().cloned());
    explored.redundant += tally.redundant;
    explored.not_taken = tally.cut;
    explored.is_stopped = is_stopped || ended == Ended::Stopped;
    let is_whole = explored.left == 0 && explored.cut_off == 0 && explored.doubts.is_empty();
    explored.complete = ended == Ended::Complete && !shared.is_at_end() && is_whole;
    Ok(explored)
}

/// Runs a program so that two places of its code come in an order that no run before has shown, once for each such pair. `each` and
/// `progress` are as for [`explore_program`]; `classes` counts the runs that followed their order.
///
/// # Errors
/// The program cannot be run, or `each` fails.
pub fn reverse_program(
    (settings, baseline): (&Settings, &Baseline),
    bounds: Bounds,
    work: &Path,
    each: &mut dyn FnMut(&Interleaving<'_>) -> Result<Kept, TestError>,
    progress: &mut dyn FnMut(&Explored),
) -> Result<Explored, TestError> {
    let onward = Onward { turn: TURN, all: bounds.events, second: this_second() };
    let mut executions = Executions::new((settings, baseline), work, onward, bounds.runs);
    let mut collected = Collected { walk: settings.walk.clone(), ..Collected::default() };
    coverage::cover(&mut executions, &mut |run, late| {
        collected.explored.classes += 1;
        collected.late = late;
        let flow = match run.is_cut {
            true => ControlFlow::Continue(()),
            false => collected.take(run, run.failure.clone(), each),
        };
        progress(&collected.explored);
        flow
    });
    if let Some(error) = executions.error.take().or(collected.error) {
        return Err(error);
    }
    let Executions { runs, running, left, .. } = executions;
    Ok(Explored { runs, running, left, ..collected.explored })
}

/// The failure of a run that these threads keep from its end: they wait in loops.
fn spinning(run: &Execution, threads: &[String]) -> Result<Failure, TestError> {
    let names = ThreadNames::of_recording(&run.place.join("recording"))?;
    let waiting: Vec<String> = threads.iter().map(|path| names.full(path)).collect();
    let verb = if waiting.len() == 1 { "waits in a loop" } else { "wait in loops" };
    let message = format!("{} {verb} for what no other thread does any more", waiting.join(" and "));
    Ok(Failure { cause: Cause::Ended(Ending::Hang), message: Some(message), place: None })
}

/// Which waits ended by their time limits in a run; of waits that have no record, that of the thread `other`.
fn late_waits(run: &Execution, other: Option<&str>) -> Result<Vec<String>, TestError> {
    let threads: BTreeSet<&str> = run.late.iter().map(String::as_str).chain(other).collect();
    if threads.is_empty() {
        return Ok(Vec::new());
    }
    let names = ThreadNames::of_recording(&run.place.join("recording"))?;
    Ok(threads.into_iter().map(|path| format!("a wait of {} ended by its time limit", names.full(path))).collect())
}

#[derive(Default)]
struct Collected {
    /// How traces of failing runs are made.
    walk: Options,
    explored: Explored,
    seen: FxHashSet<u128>,
    error: Option<TestError>,
    /// The thread whose wait in the kernel ends by its limit in the run at hand, where that is known.
    late: Option<String>,
}

impl Collected {
    fn add(
        &mut self,
        state: &State<'_>,
        each: &mut dyn FnMut(&Interleaving<'_>) -> Result<Kept, TestError>,
    ) -> ControlFlow<()> {
        let end = state.end();
        if matches!(end, End::Unknown) {
            return ControlFlow::Continue(());
        }
        if !self.seen.insert(state.class()) {
            self.explored.redundant += 1;
            return ControlFlow::Continue(());
        }
        self.explored.classes += 1;
        let (run, failure) = match end {
            End::Unknown => return ControlFlow::Continue(()),
            End::Cut => {
                self.explored.cut_off += 1;
                return ControlFlow::Continue(());
            }
            End::Spins(run, threads) => match spinning(&run, &threads) {
                Ok(failure) => (run, Some(failure)),
                Err(error) => {
                    self.error = Some(error);
                    return ControlFlow::Break(());
                }
            },
            End::Whole(run) => {
                let failure = run.failure.clone();
                (run, failure)
            }
        };
        self.take(&run, failure, each)
    }

    fn take(
        &mut self,
        run: &Execution,
        failure: Option<Failure>,
        each: &mut dyn FnMut(&Interleaving<'_>) -> Result<Kept, TestError>,
    ) -> ControlFlow<()> {
        match self.keep(run, failure, each) {
            Ok(flow) => flow,
            Err(error) => {
                self.error = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    /// Adds runs that failed in ways that no interleaving has shown so far; `flow` says whether the search goes on.
    fn add_runs(
        &mut self,
        runs: Vec<Rc<Execution>>,
        each: &mut dyn FnMut(&Interleaving<'_>) -> Result<Kept, TestError>,
        flow: ControlFlow<()>,
    ) -> ControlFlow<()> {
        for run in runs {
            flow?;
            let known =
                |failure: &Failure| self.explored.failing.iter().any(|one| one.signature == signature(&run, failure));
            let Some(failure) = run.failure.clone().filter(|failure| !known(failure)) else { continue };
            self.take(&run, Some(failure), each)?;
            if let Some(last) = self.explored.failing.last_mut() {
                last.classes = 0; // those that the search comes to are counted
            }
        }
        flow
    }

    /// Failures of runs whose interleavings the search did not come to are of one class at least.
    fn count_those_not_reached(&mut self) {
        for failing in self.explored.failing.iter_mut().filter(|failing| failing.classes == 0) {
            failing.classes = 1;
            self.explored.classes += 1;
        }
    }

    fn keep(
        &mut self,
        run: &Execution,
        failure: Option<Failure>,
        each: &mut dyn FnMut(&Interleaving<'_>) -> Result<Kept, TestError>,
    ) -> Result<ControlFlow<()>, TestError> {
        let recording = run.place.join("recording");
        let kept = each(&Interleaving { fails: failure.is_some(), recording: &recording })?;
        let (flow, kept) = match kept {
            ControlFlow::Continue(kept) => (ControlFlow::Continue(()), kept),
            ControlFlow::Break(kept) => (ControlFlow::Break(()), kept),
        };
        match failure {
            None => self.explored.passed += 1,
            Some(failure) => self.add_failure(run, failure, &recording, kept)?,
        }
        Ok(flow)
    }

    fn add_failure(
        &mut self,
        run: &Execution,
        failure: Failure,
        recording: &Path,
        kept: Option<PathBuf>,
    ) -> Result<(), TestError> {
        let signature = signature(run, &failure);
        if let Some(known) = self.explored.failing.iter_mut().find(|failing| failing.signature == signature) {
            known.classes += 1;
            return Ok(());
        }
        let cycle = match failure.cause == Cause::Ended(Ending::Deadlock) {
            false => Vec::new(),
            true => {
                let output = run.place.join("output");
                let mut positions = Positions::default();
                positions.learn(recording)?;
                let lines = own_lines(recording, &self.walk);
                deadlock_in_words(&output, recording, (&positions, &lines))?
            }
        };
        let late = late_waits(run, self.late.as_deref())?;
        self.explored.failing.push(Failing {
            failure,
            cycle,
            late,
            classes: 1,
            kept,
            seen: run.seen.clone(),
            signature,
        });
        Ok(())
    }
}

/// By which failures of runs count as the same: deadlocks by who waits for whom.
fn signature(run: &Execution, failure: &Failure) -> String {
    match failure.cause {
        Cause::Ended(Ending::Deadlock) => {
            std::fs::read_to_string(run.place.join("output").join(STDERR)).unwrap_or_default()
        }
        _ => format!("{:?}", failure.signature()),
    }
}

/// By the clock of the machine, since 1970.
fn this_second() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_secs().max(1))
}

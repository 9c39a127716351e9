//! Runs the program: natively, recorded with a seed, or along a schedule; each run in a process with its output in files.

use super::observation::Observation;
use super::settings::{Settings, TestError};
use foretrace_harness::{
    Apart, Cut, Ending, Folder, Mode, Plan, RecordError, RecordingScope, Run, STDERR, Scheduler, Scheduling,
    is_deadlock, use_after_free_in_words,
};
use foretrace_walker::log::{Log, open_logs};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Runs the program of a test.
pub struct Runner<'s> {
    settings: &'s Settings,
    limit: Mutex<Duration>,
    /// How long a run may go on after its limit, with no thread held.
    released: Mutex<Duration>,
    /// Whether a run has hung.
    hangs: AtomicBool,
    /// Records of each thread in the first recorded run, by which some schedulers choose.
    steps: OnceLock<Vec<u64>>,
}

/// A run that was made.
pub struct Ran {
    /// What was seen of it.
    pub seen: Observation,
    /// Its logs.
    pub folder: Folder,
    /// The folder with what it wrote.
    pub output: PathBuf,
    /// How long it took.
    pub took: Duration,
    /// Whether it came to its limit under the controller, and then went on without it.
    pub released: bool,
    /// Whether a sleep was over before its time, since it let other threads run.
    pub has_slept: bool,
    /// What the runtime said of work that may go on at the same time and that the trace does not show so, and of processes without a trace.
    pub said: Vec<String>,
}

/// A run that was made without recording it.
pub struct Unrecorded {
    /// What was seen of it.
    pub seen: Observation,
    /// How long it took.
    pub took: Duration,
    /// The files that it wrote, and the ports and paths of its sockets.
    pub names: BTreeSet<String>,
}

/// Before anything is known a run may take so long, and at most one part in so many of all time, but in any case a short while.
const FIRST_LIMIT: Duration = Duration::from_secs(60);
const PART_OF_TIME: u32 = 6;
const SHORT: Duration = Duration::from_secs(2);
/// A recorded run may take so many times as long as one that is not recorded.
const RECORDED_TIMES_AS_LONG: u32 = 1000;
/// Before a recorded run has passed, none counts as hung before.
const SHORTEST_FIRST_LIMIT: Duration = Duration::from_secs(10);
/// No run counts as hung before, where the test has time for it.
const SHORTEST_LIMIT: Duration = Duration::from_secs(5);
/// A run counts as hung that takes so many times as long as recorded ones.
const TIMES_AS_LONG: u32 = 20;
/// Once its threads are let go, a run may take so many times as long as one that is not recorded, and a while.
const RELEASED_TIMES_AS_LONG: u32 = 10;
const SHORTEST_RELEASED: Duration = Duration::from_secs(1);

impl<'s> Runner<'s> {
    /// For a test.
    pub fn new(settings: &'s Settings) -> Runner<'s> {
        let first = settings.time.map_or(FIRST_LIMIT, |time| FIRST_LIMIT.min((time / PART_OF_TIME).max(SHORT)));
        let limit = Mutex::new(settings.run_limit.unwrap_or(first));
        let released = Mutex::new(settings.released.unwrap_or(SHORTEST_RELEASED));
        Runner { settings, limit, released, hangs: AtomicBool::default(), steps: OnceLock::new() }
    }

    /// After how long a run counts as hung.
    pub fn limit(&self) -> Duration {
        value(&self.limit)
    }

    /// Takes up what a test that was stopped has learned: how long its slowest run without recording took and its slowest recorded one, and the
    /// records of each thread.
    pub fn take_up(&self, slowest_unrecorded: Duration, slowest: Duration, steps: &[u64]) {
        if !slowest_unrecorded.is_zero() {
            self.learn_unrecorded(slowest_unrecorded);
        }
        if !slowest.is_zero() {
            self.learn(slowest);
        }
        if !steps.is_empty() {
            self.steps.get_or_init(|| steps.to_vec());
        }
    }

    /// Records of each thread in the first recorded run.
    pub fn steps(&self) -> &[u64] {
        self.steps.get().map_or(&[], Vec::as_slice)
    }

    /// Runs without recording passed, and took at most so long.
    pub fn learn_unrecorded(&self, slowest: Duration) {
        let part = self.settings.time.map_or(FIRST_LIMIT, |time| time / PART_OF_TIME).max(SHORT);
        self.limit_to((slowest * RECORDED_TIMES_AS_LONG).clamp(SHORTEST_FIRST_LIMIT.min(part), FIRST_LIMIT));
        *self.released.lock().unwrap_or_else(PoisonError::into_inner) =
            slowest * RELEASED_TIMES_AS_LONG + SHORTEST_RELEASED;
    }

    /// A recorded run passed and took so long.
    pub fn learn(&self, slowest: Duration) {
        let part = self.settings.time.map_or(FIRST_LIMIT, |time| FIRST_LIMIT.min(time / PART_OF_TIME).max(SHORT));
        let shortest = if self.hangs.load(Ordering::Relaxed) { SHORT } else { SHORTEST_LIMIT.min(part) };
        let longest = part.max(slowest * 2);
        self.limit_to((slowest * TIMES_AS_LONG).clamp(shortest, longest));
    }

    /// A hang is known: others are not waited for as long.
    pub fn learn_hang(&self, slowest: Duration) {
        self.hangs.store(true, Ordering::Relaxed);
        self.limit_to((slowest * TIMES_AS_LONG).max(SHORT).min(self.limit()));
    }

    /// How long a run may go on after its limit, with no thread held.
    pub fn released(&self) -> Duration {
        value(&self.released)
    }

    /// Whether a run gets about as long, once its threads are let go, as it may need then: not where its limit is far shorter than that.
    pub fn lets_end(&self) -> bool {
        self.settings.run_limit.is_some() || self.released() / 2 <= self.limit()
    }

    /// How long a run takes at most.
    pub fn longest(&self) -> Duration {
        let limit = self.limit();
        limit + value(&self.released).min(limit)
    }

    /// So much time is left for replays of a run that hangs: each takes a part of it at most, so that some come to their end.
    pub fn limit_replays(&self, left: Duration) {
        let released = value(&self.released).min(self.limit());
        let each = (left / 3).saturating_mul(2).saturating_sub(released);
        self.limit_to(each.clamp(SHORT.min(self.limit()), self.limit()));
    }

    /// A run counts as hung after this, where the user did not say when.
    pub fn limit_to(&self, limit: Duration) {
        if self.settings.run_limit.is_none() {
            *self.limit.lock().unwrap_or_else(PoisonError::into_inner) = limit;
        }
    }

    /// Records a run in a folder, with the scheduler's seed.
    pub fn record(&self, seed: u64, place: &Path) -> Result<Ran, TestError> {
        let mode = match way(seed) {
            Way::Turns(_) => Mode::Serial(seed),
            Way::By(scheduler) => {
                let steps = self.steps.get().cloned().unwrap_or_default();
                Mode::Scheduled(Scheduling { seed, scheduler, steps, ..Scheduling::default() })
            }
        };
        let (ran, _) = self.run(|_| Ok(mode), place, None)?;
        if seed == self.settings.seed {
            self.steps.get_or_init(|| Scheduling::steps_of(ran.folder.path()));
        }
        Ok(ran)
    }

    /// Records a run of one thread after the other, where others may go on after records with these headers, too: of each thread,
    /// by number.
    pub fn record_turns(&self, seed: u64, ends: &[Vec<u64>], place: &Path) -> Result<Ran, TestError> {
        let scheduler = Scheduler::Order;
        let scheduling = Scheduling { seed, scheduler, ends_of_turns: ends.to_vec(), ..Scheduling::default() };
        self.run(|_| Ok(Mode::Scheduled(scheduling)), place, None).map(|(ran, _)| ran)
    }

    /// Runs the program along a plan.
    pub fn replay(&self, plan: &Plan, place: &Path) -> Result<Ran, TestError> {
        let mode = |folder: &Folder| Ok(Mode::Replay(plan.write_schedule(folder)?));
        self.run(mode, place, plan.recording.as_deref()).map(|(ran, _)| ran)
    }

    /// Runs the program along a schedule as the runtime reads it; it gets its clocks and random numbers from a recording. The logs of
    /// the run are in memory already.
    pub fn along(&self, schedule: &str, place: &Path, recording: Option<&Path>) -> Result<(Ran, Vec<Log>), TestError> {
        let write = |folder: &Folder| {
            let path = folder.path().join("schedule");
            std::fs::write(&path, schedule).map_err(|error| TestError::Io(path.clone(), error))?;
            Ok(Mode::Replay(path))
        };
        self.run(write, place, recording)
    }

    /// Runs the program without recording it.
    pub fn run_unrecorded(&self, place: &Path) -> Result<Unrecorded, TestError> {
        let apart = self.apart(place, None, None)?;
        let start = Instant::now();
        let ending = apart.run_unrecorded(&self.settings.program, self.limit())?;
        let (seen, took) = (self.observe(ending, &apart), start.elapsed());
        Ok(Unrecorded { seen, took, names: apart.names_outside() })
    }

    /// How the program runs, with its files in a folder.
    fn apart(
        &self,
        place: &Path,
        longest_turn: Option<u64>,
        release_after: Option<Duration>,
    ) -> Result<Apart, TestError> {
        let sandbox = self.settings.sandbox.then(|| emptied(place.join("directory"))).transpose()?;
        Ok(Apart {
            output: made(place.join("output"))?,
            input: self.settings.input.clone(),
            directory: sandbox.or_else(|| self.settings.directory.clone()),
            variables: self.settings.variables.clone(),
            harness: self.settings.harness.clone(),
            memory: self.settings.memory,
            longest_turn,
            release_after,
            stop: self.settings.stop.clone(),
        })
    }

    fn observe(&self, ending: Ending, apart: &Apart) -> Observation {
        let directory = apart.directory.as_deref().unwrap_or(Path::new("."));
        Observation::read(ending, &apart.output, directory, &self.settings.watch)
    }

    fn run(
        &self,
        mode: impl FnOnce(&Folder) -> Result<Mode, TestError>,
        place: &Path,
        recording: Option<&Path>,
    ) -> Result<(Ran, Vec<Log>), TestError> {
        let folder = Folder::create(&place.join("recording"))?;
        let mode = mode(&folder)?;
        // What hangs under the controller must hang without it, too: else it is the controller that makes it hang.
        let limit = self.limit();
        let apart = self.apart(place, longest_turn(&mode), Some(limit))?;
        let run = Run {
            program: &self.settings.program,
            mode,
            folder: &folder,
            max_bytes: Some(MOST_LOGS),
            part: RecordingScope::default(),
            time_limit: Some(self.longest()),
            quiet: true,
            recording,
            apart: Some(&apart),
        };
        let start = Instant::now();
        let ending = run.record()?;
        let took = start.elapsed();
        if folder.path().join(REFUSED).is_file() {
            return Err(TestError::Record(RecordError::Cut(Cut::Refused)));
        }
        if !folder.path().join("modules").is_file() {
            let started = self.settings.harness.as_ref().unwrap_or(&self.settings.program);
            return Err(TestError::NothingRecorded(started.path.clone()));
        }
        let logs = open_logs(folder.path())?;
        let ending = if is_deadlock(&logs) { Ending::Deadlock } else { ending };
        let is_late = folder.path().join(LATE).is_file();
        let used_after_free = use_after_free_in_words(folder.path(), &logs)?;
        let seen = Observation { is_late, used_after_free, ..self.observe(ending, &apart) };
        let released = folder.path().join(RELEASED).is_file();
        let has_slept = folder.path().join(SLEPT).is_file();
        let said = what_is_not_seen(&apart.output);
        Ok((Ran { seen, folder, output: apart.output, took, released, has_slept, said }, logs))
    }
}

/// The file in a recording's folder that says that the run went on without the controller.
const RELEASED: &str = "released";

/// The file that says that a sleep was over before its time, since it let other threads run.
pub const SLEPT: &str = "slept";

/// The file that says that the runtime ended the program, which did what cannot be recorded.
const REFUSED: &str = "refused";

/// Lines of the runtime that begin so tell what its traces do not show.
const NOT_SEEN: &str = "foretrace: OpenMP: ";
/// Lines of the runtime that end so name processes of the program.
const NOT_RECORDED: &str = " are not recorded";

/// What such lines say.
fn what_is_not_seen(output: &Path) -> Vec<String> {
    let errors = std::fs::read_to_string(output.join(STDERR)).unwrap_or_default(); // as an extra
    let of_openmp = errors.lines().find_map(|line| line.strip_prefix(NOT_SEEN)).map(|said| format!("OpenMP: {said}"));
    let said = |line: &str| Some(line.strip_prefix("foretrace: ")?.strip_suffix(NOT_RECORDED)?.to_string());
    let others =
        errors.lines().find_map(said).map(|who| format!("{who}{NOT_RECORDED}: failures in them may be missed"));
    of_openmp.into_iter().chain(others).collect()
}

/// The file that says that a wait ended at its limit while the controller held back threads that could have gone on.
const LATE: &str = "late";

fn value(duration: &Mutex<Duration>) -> Duration {
    *duration.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Who schedules a recorded run.
#[derive(Clone, Copy)]
enum Way {
    /// Random turns of at most so many counted records.
    Turns(u64),
    /// A scheduler that searches.
    By(Scheduler),
}

/// The ways of recorded runs, by seed. Runs of long turns, and of one thread after the other, mostly pass. Schedulers that search find
/// failures that take more than one interruption (`docs/recorder.md` compares them).
const WAYS: [Way; 10] = [
    Way::Turns(50),
    Way::By(Scheduler::Urw),
    Way::By(Scheduler::Order),
    Way::By(Scheduler::Pct),
    Way::Turns(3),
    Way::By(Scheduler::Random),
    Way::By(Scheduler::Urw),
    Way::By(Scheduler::Order),
    Way::By(Scheduler::Pos),
    Way::By(Scheduler::Pct),
];

fn way(seed: u64) -> Way {
    WAYS[(seed % WAYS.len() as u64) as usize]
}

fn longest_turn(mode: &Mode) -> Option<u64> {
    match mode {
        Mode::Serial(seed) => match way(*seed) {
            Way::Turns(records) => Some(records),
            Way::By(_) => None,
        },
        _ => None,
    }
}

/// Whether in a recorded run with this seed one thread goes on after the other, so that what it writes is usual. Turns of whatever length may end
/// where an interruption does harm.
pub fn is_usual(seed: u64) -> bool {
    matches!(way(seed), Way::By(Scheduler::Order))
}

/// Whether a recorded run with this seed goes by a scheduler that searches. Its output says nothing where that of usual runs varies: orders
/// that no other run has are what it looks for.
pub fn is_search(seed: u64) -> bool {
    matches!(way(seed), Way::By(scheduler) if scheduler != Scheduler::Order)
}

/// Seeds far from those of other recorded runs, in whose runs one thread goes on after the other.
pub fn seeds_of_serial_runs(seed: u64) -> impl Iterator<Item = u64> {
    const FAR: u64 = 1 << 32;
    let far = (0..).map(move |number: u64| seed.wrapping_add(FAR).wrapping_add(number));
    far.filter(|seed| is_usual(*seed))
}

/// Most bytes of the logs of a run.
pub const MOST_LOGS: u64 = 64 << 20;

fn emptied(path: PathBuf) -> Result<PathBuf, TestError> {
    if path.is_dir() {
        std::fs::remove_dir_all(&path).map_err(|error| TestError::Io(path.clone(), error))?;
    }
    made(path)
}

fn made(path: PathBuf) -> Result<PathBuf, TestError> {
    std::fs::create_dir_all(&path).map_err(|error| TestError::Io(path.clone(), error))?;
    Ok(path)
}

/// Whether the user has stopped a run.
pub fn is_stopped(error: &TestError) -> bool {
    let of_run = |error: &RecordError| matches!(error, RecordError::Cut(Cut::Stopped));
    match error {
        TestError::Record(error) => of_run(error),
        TestError::Replay(foretrace_harness::ReplayError::Record(error)) => of_run(error),
        _ => false,
    }
}

/// Why a run was cut off at a limit of memory or output.
pub fn cut_of(error: &TestError) -> Option<foretrace_harness::Cut> {
    match error {
        TestError::Record(RecordError::Cut(cut)) => Some(*cut),
        TestError::Replay(foretrace_harness::ReplayError::Record(RecordError::Cut(cut))) => Some(*cut),
        _ => None,
    }
}

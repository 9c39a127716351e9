//! The settings of a test, and their errors.

use foretrace_harness::{FolderError, Program, RecordError, ReplayError, Variables, WalkedBy};
use foretrace_report::{ScheduleError, WitnessFileError};
use foretrace_walker::WalkError;
use regex::Regex;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Which schedules are tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Predict {
    /// Those that the solver proves, or that only the path of the recorded run forbids.
    Precise,
    /// Those of cut-points: two accesses that another thread's access may come between, by locks alone.
    CutPoints,
    /// Both.
    Both,
}

/// What a test is asked to do.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The program.
    pub program: Program,
    /// The command that starts it and says whether the run was good.
    pub harness: Option<Program>,
    /// The folder that it runs in; else ours.
    pub directory: Option<PathBuf>,
    /// Variables of its environment beside ours.
    pub variables: Variables,
    /// What the program reads.
    pub input: Option<PathBuf>,
    /// The seed of the first recorded run.
    pub seed: u64,
    /// Most runs that are recorded.
    pub runs: u64,
    /// How many runs at a time.
    pub jobs: usize,
    /// After how long no more is tried.
    pub time: Option<Duration>,
    /// After how many different failures no more is tried.
    pub stop_after: Option<usize>,
    /// After how long a run counts as hung; by default much longer than recorded runs take.
    pub run_limit: Option<Duration>,
    /// How long a run may then go on with no thread held; by default for a short while.
    pub released: Option<Duration>,
    /// How long one recorded run may be analysed.
    pub predict_limit: Duration,
    /// Which schedules are tried.
    pub predict: Predict,
    /// What is meant to be atomic.
    pub walk: foretrace_walker::Options,
    /// The same as recordings note it.
    pub walked_by: WalkedBy,
    /// Files that the program writes and that are compared.
    pub watch: Vec<PathBuf>,
    /// A run whose output fits this fails.
    pub fail_when: Option<Regex>,
    /// Whether what the program writes is compared.
    pub compare_output: bool,
    /// The exit status of good runs.
    pub pass_status: i32,
    /// Whether each run gets a folder.
    pub sandbox: bool,
    /// Most bytes of memory of a run.
    pub memory: Option<u64>,
    /// How often what failed is replayed.
    pub replays: u32,
    /// Set when the user wants no more.
    pub stop: Arc<AtomicBool>,
}

fn last_seen(threads: &[String]) -> String {
    if threads.is_empty() { String::new() } else { format!(" ({})", threads.join(", ")) }
}

/// Why a program cannot be tested.
#[derive(Debug, thiserror::Error)]
pub enum TestError {
    /// No run ends in time; where its threads were last.
    #[error(
        "the program did not end within {} s{}: give it an end, or a longer --run-limit or --time", .0.as_secs(), last_seen(.1)
    )]
    Endless(Duration, Vec<String>),
    /// It is stopped by a limit before anything is known of it.
    #[error("no run came to its end: the program {0}")]
    Cut(foretrace_harness::Cut),
    /// Not even a native run of the harness passes, in which nothing is recorded.
    #[error("nothing was recorded: {0} did not start the program, or the program was not built by foretrace")]
    NothingRecorded(PathBuf),
    /// A run cannot be recorded.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A schedule cannot be forced.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// A folder fails.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A recording cannot be made a trace.
    #[error(transparent)]
    Walk(#[from] WalkError),
    /// A witness cannot be written.
    #[error(transparent)]
    Witness(#[from] WitnessFileError),
    /// A witness cannot be read.
    #[error("{path}", path = .0.display())]
    Schedule(PathBuf, #[source] ScheduleError),
    /// A file fails.
    #[error("{path}", path = .0.display())]
    Io(PathBuf, #[source] io::Error),
    /// The analysis fails.
    #[error("{0}")]
    Analysis(String),
    /// There is no test to go on with, or it is one of something else.
    #[error("--resume: {path}: {0}", path = .1.display())]
    Resume(String, PathBuf),
    /// The analysis takes longer than it may.
    #[error("the analysis of a recorded run takes too long")]
    Late,
}

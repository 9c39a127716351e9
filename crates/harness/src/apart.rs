//! Runs of a program without a terminal: in a process group, with its output in files, cut off at limits, and ended together with all
//! processes that it started.

use super::ending::{Cut, Ending};
use super::error::{LaunchError, RecordError};
use super::outside::Variables;
use super::program::Program;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The file that takes what a program writes to its standard output.
pub const STDOUT: &str = "stdout";
/// The file for its standard error.
pub const STDERR: &str = "stderr";

/// The variable that names the file for the names of what a run meets outside.
const NAMES_VARIABLE: &str = "FORETRACE_NAMES";

/// How a program runs apart from the terminal.
#[derive(Clone, Debug)]
pub struct Apart {
    /// The folder that takes its output, as [`STDOUT`] and [`STDERR`].
    pub output: PathBuf,
    /// The file that it reads as its standard input; else that is empty.
    pub input: Option<PathBuf>,
    /// The folder that it runs in; else ours.
    pub directory: Option<PathBuf>,
    /// Variables of its environment beside ours.
    pub variables: Variables,
    /// The command that starts the program and says by its exit status whether the run was good.
    pub harness: Option<Program>,
    /// Most bytes of memory of the program.
    pub memory: Option<u64>,
    /// Of a serial recording: most counted records of a turn; else 50.
    pub longest_turn: Option<u64>,
    /// After how long under the controller a run goes on without it.
    pub release_after: Option<Duration>,
    /// Set when the user wants no more.
    pub stop: Arc<AtomicBool>,
}

/// How such a run ended.
pub(super) enum End {
    /// By itself.
    Ended(ExitStatus),
    /// It took longer than it may.
    Late,
    /// For another reason.
    Cut(Cut),
}

/// Most bytes that a program may write in a run.
const MOST_OUTPUT: u64 = 64 << 20;
/// Between two looks at a program that has just started, and at one that runs on.
const SHORTEST_NAP: Duration = Duration::from_micros(300);
const LONGEST_NAP: Duration = Duration::from_millis(10);
/// Memory and output are looked at as often as this.
const MEASURED_EVERY: Duration = Duration::from_millis(30);

impl Apart {
    /// Runs a program without recording it.
    ///
    /// # Errors
    /// It does not start, or is cut off.
    pub fn run_unrecorded(&self, program: &Program, limit: Duration) -> Result<Ending, RecordError> {
        let started = self.harness.as_ref().unwrap_or(program);
        let failed = |source| LaunchError { path: started.path.clone(), source };
        let spawn = |mut command: Command| command.env(NAMES_VARIABLE, self.names()).spawn();
        let mut child = self.command(program).and_then(spawn).map_err(failed)?;
        match self.wait(&mut child, Some(limit)).map_err(failed)? {
            End::Ended(status) => Ok(status.into()),
            End::Late => Ok(Ending::Hang),
            End::Cut(cut) => Err(RecordError::Cut(cut)),
        }
    }

    /// The files that an unrecorded run wrote, and the ports and paths of its sockets.
    pub fn names_outside(&self) -> BTreeSet<String> {
        let lines = std::fs::read(self.names()).unwrap_or_default(); // there is none where it wrote nothing
        String::from_utf8_lossy(&lines).lines().map(str::to_string).collect()
    }

    fn names(&self) -> PathBuf {
        self.output.join("names")
    }

    /// The command that runs a program.
    pub(super) fn command(&self, program: &Program) -> io::Result<Command> {
        let mut command = match &self.harness {
            None => Command::new(&program.path),
            Some(harness) => {
                let mut command = Command::new(&harness.path);
                command.args(&harness.arguments).arg(&program.path);
                command
            }
        };
        command.args(&program.arguments).process_group(0);
        match &self.input {
            Some(file) => command.stdin(File::open(file)?),
            None => command.stdin(Stdio::null()),
        };
        command.stdout(File::create(self.output.join(STDOUT))?).stderr(File::create(self.output.join(STDERR))?);
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        command.envs(self.variables.iter().cloned());
        Ok(command)
    }

    /// Waits for a program; whatever it started ends with it.
    pub(super) fn wait(&self, child: &mut Child, limit: Option<Duration>) -> io::Result<End> {
        let end = self.wait_for_one(child, limit);
        let _ = killpg(Pid::from_raw(child.id() as i32), Signal::SIGKILL); // mostly nothing is left of the group
        child.wait()?;
        end
    }

    fn wait_for_one(&self, child: &mut Child, limit: Option<Duration>) -> io::Result<End> {
        let start = Instant::now();
        let (mut nap, mut measured) = (SHORTEST_NAP, start);
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(End::Ended(status));
            }
            if self.stop.load(Ordering::Relaxed) {
                return Ok(End::Cut(Cut::Stopped));
            }
            if limit.is_some_and(|limit| start.elapsed() >= limit) {
                return Ok(End::Late);
            }
            if measured.elapsed() >= MEASURED_EVERY {
                measured = Instant::now();
                if let Some(cut) = self.too_much(child.id()) {
                    return Ok(End::Cut(cut));
                }
            }
            std::thread::sleep(nap);
            nap = (nap * 5 / 4).min(LONGEST_NAP);
        }
    }

    fn too_much(&self, process: u32) -> Option<Cut> {
        let written = |name: &str| std::fs::metadata(self.output.join(name)).map_or(0, |file| file.len());
        if written(STDOUT) + written(STDERR) > MOST_OUTPUT {
            return Some(Cut::Output(MOST_OUTPUT));
        }
        let most = self.memory?;
        (resident(process)? > most).then_some(Cut::Memory(most))
    }
}

/// Bytes of memory that are a process's alone: mapped files, such as logs, do not count.
fn resident(process: u32) -> Option<u64> {
    const PAGE: u64 = 4096;
    let text = std::fs::read_to_string(Path::new("/proc").join(process.to_string()).join("statm")).ok()?;
    let mut words = text.split_whitespace().skip(1).map(|word| word.parse::<u64>().ok());
    let (resident, shared) = (words.next()??, words.next()??);
    Some(resident.saturating_sub(shared) * PAGE)
}

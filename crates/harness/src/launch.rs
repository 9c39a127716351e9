//! Starts an instrumented program. Its environment says what to record, and its addresses do not vary.

use super::apart::{Apart, End, STDERR};
use super::ending::Ending;
use super::error::{LaunchError, RecordError, ReplayError};
use super::folder::{Folder, Recording};
use super::foreground::Foreground;
use super::others;
use super::outside;
use super::process_number;
use super::program::Program;
use super::scheduling::Scheduling;
use super::wait::Signals;
use foretrace_walker::finish_logs;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// How threads are scheduled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Mode {
    /// One at a time, as a seeded random scheduler says.
    Serial(u64),
    /// One at a time, as another scheduler says.
    Scheduled(Scheduling),
    /// As the machine does.
    Parallel,
    /// One at a time, along the schedule in this file.
    Replay(PathBuf),
}

impl Mode {
    /// Its name in the environment and in `recording.json`.
    pub fn name(&self) -> &'static str {
        match self {
            Mode::Serial(_) | Mode::Scheduled(_) => "serial",
            Mode::Parallel => "parallel",
            Mode::Replay(_) => "replay",
        }
    }

    /// The scheduler's seed.
    pub fn seed(&self) -> Option<u64> {
        match self {
            Mode::Serial(seed) => Some(*seed),
            Mode::Scheduled(scheduling) => Some(scheduling.seed),
            Mode::Parallel | Mode::Replay(_) => None,
        }
    }

    /// The scheduler, where it is not the usual one.
    pub fn scheduling(&self) -> Option<&Scheduling> {
        match self {
            Mode::Scheduled(scheduling) => Some(scheduling),
            _ => None,
        }
    }
}

/// Which part of a run is recorded; by default all of it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RecordingScope {
    /// At least so many events of each thread, the last ones.
    pub window: Option<u64>,
    /// Nothing until recording is switched on.
    pub paused: bool,
    /// This signal switches recording off and on.
    pub switch: Option<i32>,
}

/// A run to be.
#[derive(Clone, Debug)]
pub struct Run<'r> {
    /// What runs.
    pub program: &'r Program,
    /// How its threads take turns.
    pub mode: Mode,
    /// Where the logs go.
    pub folder: &'r Folder,
    /// Most bytes of all logs together.
    pub max_bytes: Option<u64>,
    /// Which part of the run is recorded.
    pub part: RecordingScope,
    /// Kill it after so long.
    pub time_limit: Option<Duration>,
    /// Whether what it prints is shown.
    pub quiet: bool,
    /// The recording whose environment, clocks and random numbers the program gets again.
    pub recording: Option<&'r Path>,
    /// Where nobody watches it: how it runs apart from the terminal.
    pub apart: Option<&'r Apart>,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ended {
    /// How the program ended.
    pub ending: Ending,
    /// The signal by which the user wanted an end. The program may have gone on, and ended by itself.
    pub signal: Option<i32>,
}

/// Where a program runs.
enum Surroundings<'r> {
    /// On our terminal, while we hold signals for it.
    Terminal(Signals),
    /// Without one.
    Apart(&'r Apart),
}

impl Run<'_> {
    /// Variables of the environment by which the runtime is told; see `docs/recording.md`.
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        let mut variables =
            vec![("FORETRACE_MODE", self.mode.name().into()), ("FORETRACE_DIR", self.folder.path().into())];
        variables.extend(self.max_bytes.map(|bytes| ("FORETRACE_MAX_BYTES", bytes.to_string().into())));
        variables.extend(self.part.window.map(|events| ("FORETRACE_WINDOW", events.to_string().into())));
        variables.extend(self.part.paused.then(|| ("FORETRACE_PAUSED", "1".into())));
        variables.extend(self.part.switch.map(|signal| ("FORETRACE_SWITCH", signal.to_string().into())));
        match &self.mode {
            Mode::Serial(seed) => variables.push(("FORETRACE_SEED", seed.to_string().into())),
            Mode::Scheduled(scheduling) => variables.extend(scheduling.environment()),
            Mode::Replay(schedule) => variables.push(("FORETRACE_SCHEDULE", schedule.into())),
            Mode::Parallel => {}
        }
        let longest_turn = self.apart.and_then(|apart| apart.longest_turn);
        variables.extend(longest_turn.map(|records| ("FORETRACE_LONGEST_TURN", records.to_string().into())));
        let release = self.apart.and_then(|apart| apart.release_after).map(|after| after.as_millis().to_string());
        variables.extend(release.map(|milliseconds| ("FORETRACE_RELEASE_AFTER", milliseconds.into())));
        variables.extend(self.recording.map(|folder| ("FORETRACE_OUTSIDE", folder.into())));
        variables
    }

    /// What its folder says of it; `exit` is how it ended.
    fn description(&self, exit: Option<Ending>) -> Recording {
        let (program, mode) = (self.program, &self.mode);
        let lossy = |text: &std::ffi::OsString| text.to_string_lossy().into_owned();
        Recording {
            foretrace: 1,
            program: program.path.clone(),
            arguments: program.arguments.iter().map(lossy).collect(),
            directory: std::env::current_dir().unwrap_or_default(),
            mode: mode.name().to_string(),
            seed: mode.seed(),
            scheduler: mode.scheduling().map(|scheduling| scheduling.scheduler.name().to_string()),
            depth: mode.scheduling().and_then(|scheduling| scheduling.depth),
            steps: mode.scheduling().map_or_else(Vec::new, |scheduling| scheduling.steps.clone()),
            max_bytes: self.max_bytes,
            exit,
        }
    }

    /// Runs the program to its end and leaves its logs complete, with what was run and how it ended. Where it does not even
    /// start, the folder goes.
    pub fn record(&self) -> Result<Ending, RecordError> {
        self.record_among_others().map(|ended| ended.ending)
    }

    /// The same of one run of several, which a signal ends all.
    pub fn record_among_others(&self) -> Result<Ended, RecordError> {
        let failed = |source| LaunchError { path: self.started().to_path_buf(), source };
        let surroundings = match self.apart {
            Some(apart) => Surroundings::Apart(apart),
            None => Surroundings::Terminal(Signals::hold().map_err(failed)?), // until the logs are complete
        };
        let recorded = self.recording.and_then(outside::environment_of);
        let environment = recorded.unwrap_or_else(|| self.inherited());
        let described = self.folder.describe(&self.description(None));
        let described = described.and_then(|()| outside::keep_environment(self.folder, &environment));
        let described = described.map_err(RecordError::from);
        let ending = described.and_then(|()| self.run(&environment, &surroundings));
        let ending = ending.inspect_err(|_| self.folder.discard())?;
        let signal = match &surroundings {
            Surroundings::Terminal(held) => held.came().map_err(failed)?.map(|signal| signal as i32),
            Surroundings::Apart(_) => None,
        };
        let has_harness = self.apart.is_some_and(|apart| apart.harness.is_some());
        if !has_harness && signal.is_none() && !self.folder.has_begun() {
            self.folder.discard();
            return Err(RecordError::NotBegun { path: self.program.path.clone(), ending, wrote: self.first_error() });
        }
        self.folder.describe(&self.description(Some(ending)))?;
        finish_logs(self.folder.path())?;
        Ok(Ended { ending, signal })
    }

    /// What a program that nobody watches wrote first to its standard error.
    fn first_error(&self) -> String {
        let text = self.apart.and_then(|apart| std::fs::read(apart.output.join(STDERR)).ok()).unwrap_or_default();
        String::from_utf8_lossy(&text).lines().next().unwrap_or_default().to_string()
    }

    /// Our environment, and what this program has beside it.
    fn inherited(&self) -> outside::Variables {
        let own = self.apart.map_or(&[][..], |apart| &apart.variables);
        let ours = std::env::vars_os().filter(|(name, _)| own.iter().all(|(other, _)| other != name));
        ours.chain(own.iter().cloned()).collect()
    }

    /// Runs the program to its end.
    fn run(
        &self,
        environment: &[(OsString, OsString)],
        surroundings: &Surroundings<'_>,
    ) -> Result<Ending, RecordError> {
        fix_addresses();
        let failed = |source| LaunchError { path: self.started().to_path_buf(), source };
        let mut told = self.environment();
        told.extend(self.others().map_err(failed)?);
        if self.apart.is_none_or(|apart| apart.harness.is_none()) {
            told.push(("FORETRACE_PARENT", std::process::id().to_string().into())); // it ends with us
        }
        outside::fill(&mut told);
        let told = told.into_iter().map(|(name, value)| (OsString::from(name), value));
        let environment = environment.iter().cloned().chain(told).collect();
        let number = self.replayed().and_then(process_number::recorded);
        match surroundings {
            Surroundings::Terminal(held) => {
                let program = self.foreground(environment);
                let status = program.run_while(held, number, self.time_limit).map_err(failed)?;
                Ok(status.map_or(Ending::Hang, Ending::from))
            }
            Surroundings::Apart(apart) => {
                let mut command = apart.command(self.program).map_err(failed)?;
                command.env_clear().envs(environment);
                let mut child = process_number::with(number, || command.spawn()).map_err(failed)?;
                match apart.wait(&mut child, self.time_limit).map_err(failed)? {
                    End::Ended(status) => Ok(status.into()),
                    End::Late => Ok(Ending::Hang),
                    End::Cut(cut) => Err(RecordError::Cut(cut)),
                }
            }
        }
    }

    /// The recording that is replayed, where we start the program ourselves.
    fn replayed(&self) -> Option<&Path> {
        let is_ours = self.apart.is_none_or(|apart| apart.harness.is_none());
        self.recording.filter(|_| is_ours && matches!(self.mode, Mode::Replay(_)))
    }

    /// The variable that names what a replay gets in place of other programs, if there were any. A harness starts them itself.
    ///
    /// # Errors
    /// The recording cannot be read, or the file of what they did not be written.
    pub fn others(&self) -> io::Result<Option<(&'static str, OsString)>> {
        let file = match self.replayed() {
            Some(recording) => others::write(recording, self.folder)?,
            None => None,
        };
        Ok(file.map(|file| ("FORETRACE_SOCKETS", file.into())))
    }

    /// What is started: the program, or its harness.
    fn started(&self) -> &Path {
        let harness = self.apart.and_then(|apart| apart.harness.as_ref());
        &harness.unwrap_or(self.program).path
    }

    /// The program on our terminal.
    fn foreground(&self, environment: BTreeMap<OsString, OsString>) -> Foreground {
        let Program { path, arguments } = self.program;
        Foreground { path: path.into(), arguments: arguments.clone(), environment, is_quiet: self.quiet }
    }
}

/// Lets the program say in a folder what is loaded where, without running it.
pub fn list_modules(program: &Program, folder: &std::path::Path) -> Result<(), ReplayError> {
    fix_addresses();
    let mut command = Command::new(&program.path);
    command.args(&program.arguments).env("FORETRACE_MODE", "modules").env("FORETRACE_DIR", folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let failed = |source| RecordError::from(LaunchError { path: program.path.clone(), source });
    let status = command.status().map_err(failed)?;
    match folder.join("modules").is_file() {
        true => Ok(()),
        false => Err(ReplayError::NoModules(program.path.clone(), status.into())),
    }
}

/// Makes the programs that we start have the same addresses in every run, as debuggers do.
pub fn fix_addresses() {
    use nix::sys::personality::{Persona, get, set};
    // Where it is forbidden, as in some containers, addresses vary: replay then finds its events by their place in the code.
    let _ = get().and_then(|old| set(old | Persona::ADDR_NO_RANDOMIZE));
}

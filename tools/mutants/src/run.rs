//! Runs tests, each in its own process: once without a change, to see what it reaches, then for the changes that it reaches.

use crate::Options;
use crate::area::Area;
use crate::compile::Binary;
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A test, what it reaches and how long it takes.
#[derive(Clone, Debug)]
pub struct Test {
    /// `PACKAGE/TARGET NAME`.
    pub name: String,
    /// Its time without a change.
    pub time: Duration,
    /// The numbers of the changes that it reaches.
    pub reached: BTreeSet<u32>,
    command: Started,
}

/// The same in a file.
#[derive(Serialize, Deserialize)]
struct Ran {
    fingerprint: u64,
    name: String,
    seconds: f64,
    reached: BTreeSet<u32>,
}

#[derive(Clone, Debug)]
struct Started {
    binary: Binary,
    test: String,
    memory: u64,
}

/// How a test ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// It passed.
    Passed,
    /// It failed, or crashed.
    Failed,
    /// It was stopped.
    TooLong,
}

impl Binary {
    /// The folder and the variables that cargo gives to a test.
    fn place(&self, command: &mut Command) {
        command
            .current_dir(&self.package)
            .env("CARGO_MANIFEST_DIR", &self.package)
            .env("LD_LIBRARY_PATH", &self.libraries);
        if let Some(seeds) = self.seeds {
            command.env("FORETRACE_SEEDS", seeds.to_string());
        }
    }
}

impl Started {
    /// The same cases each time, and no notes about failed ones.
    fn command(&self) -> Command {
        let mut command = Command::new("sh");
        let script = format!("ulimit -v {}; ulimit -c 0; exec \"$0\" --exact \"$1\"", self.memory * 1024);
        command.args(["-c", &script]).arg(&self.binary.file).arg(&self.test);
        self.binary.place(&mut command);
        command.env("PROPTEST_RNG_SEED", "20261121").env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true");
        command.env_remove("FORETRACE_MUTANT").env_remove("FORETRACE_MUTANTS_REACHED");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        command
    }
}

fn wait(mut command: Command, limit: Duration) -> Result<End> {
    let begin = Instant::now();
    let mut child = command.spawn().context("sh does not start")?;
    let mut pause = Duration::from_millis(1);
    let end = loop {
        if let Some(status) = child.try_wait()? {
            break if status.success() { End::Passed } else { End::Failed };
        }
        if begin.elapsed() > limit {
            break End::TooLong;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    if end != End::Passed {
        // Its own children, too.
        let group = format!("-{}", child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let _ = child.wait();
    }
    Ok(end)
}

/// The names of a binary's tests but those that are ignored.
fn names(binary: &Binary) -> Result<Vec<String>> {
    let listed = |ignored: bool| -> Result<BTreeSet<String>> {
        let mut command = Command::new(&binary.file);
        command.args(["--list", "--format", "terse"]);
        binary.place(&mut command);
        if ignored {
            command.arg("--ignored");
        }
        let output = command.output().with_context(|| binary.name.clone())?;
        ensure!(
            output.status.success(),
            "{} does not list its tests: {}",
            binary.name,
            String::from_utf8_lossy(&output.stderr)
        );
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
    };
    let ignored = listed(true)?;
    Ok(listed(false)?.difference(&ignored).cloned().collect())
}

/// Runs each test once without a change, if it has not run with the same fingerprint before. They come fastest first; and those that take too long,
/// by their names. A test that took too long when the files were others is not run.
pub fn reach(
    area: &Area,
    binaries: &[Binary],
    fingerprint: u64,
    place: &Path,
    options: &Options,
) -> Result<(Vec<Test>, Vec<String>)> {
    let kept = place.join("tests.jsonl");
    let text = std::fs::read_to_string(&kept).unwrap_or_default();
    let known = text.lines().filter_map(|line| serde_json::from_str::<Ran>(line).ok());
    let known: BTreeMap<String, Ran> = known.map(|ran| (ran.name.clone(), ran)).collect();
    let is_too_long = |seconds: f64| options.longest.is_some_and(|longest| seconds > longest as f64);
    let file = std::fs::OpenOptions::new().create(true).append(true).open(&kept)?;
    let kept = Mutex::new(file);
    let mut started = Vec::new();
    for binary in binaries {
        for test in names(binary)?.into_iter().filter(|test| !area.skipped.contains(test)) {
            let name = format!("{} {test}", binary.name);
            started.push((name, Started { binary: binary.clone(), test, memory: area.memory }));
        }
    }
    let tests = Mutex::new(Vec::new());
    let too_long = Mutex::new(Vec::new());
    in_parallel(&started, options.jobs, |nth, (name, command)| {
        let add = |ran: &Ran| {
            if is_too_long(ran.seconds) {
                return too_long.lock().expect("no thread panics").push(name.clone());
            }
            let time = Duration::from_secs_f64(ran.seconds);
            let test = Test { name: name.clone(), time, reached: ran.reached.clone(), command: command.clone() };
            tests.lock().expect("no thread panics").push(test);
        };
        if let Some(ran) = known.get(name).filter(|ran| ran.fingerprint == fingerprint || is_too_long(ran.seconds)) {
            add(ran);
            return Ok(());
        }
        let file = place.join(format!("reached-{nth}"));
        let _ = std::fs::remove_file(&file);
        let mut run = command.command();
        run.env("FORETRACE_MUTANTS_REACHED", &file);
        let begin = Instant::now();
        let end = wait(run, Duration::from_secs(3600))?;
        ensure!(end == End::Passed, "{name} fails without a change");
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let _ = std::fs::remove_file(&file);
        let reached = text.lines().filter_map(|line| line.parse().ok()).collect();
        let ran = Ran { fingerprint, name: name.clone(), seconds: begin.elapsed().as_secs_f64(), reached };
        let line = serde_json::to_string(&ran)? + "\n";
        kept.lock().expect("no thread panics").write_all(line.as_bytes())?;
        add(&ran);
        Ok(())
    })?;
    let mut tests = tests.into_inner().expect("no thread panics");
    tests.sort_by(|a, b| (a.time, &a.name).cmp(&(b.time, &b.name)));
    let mut too_long = too_long.into_inner().expect("no thread panics");
    too_long.sort();
    Ok((tests, too_long))
}

/// The first test that notices a change, and how. A change may make a test run for ever: ten times its time and five seconds end it.
pub fn notice(tests: &[Test], change: u32) -> Result<Option<(&Test, End)>> {
    for test in tests.iter().filter(|test| test.reached.contains(&change)) {
        let mut run = test.command.command();
        run.env("FORETRACE_MUTANT", change.to_string());
        match wait(run, test.time * 10 + Duration::from_secs(5))? {
            End::Passed => {}
            end => return Ok(Some((test, end))),
        }
    }
    Ok(None)
}

/// Calls `work` for each of `all`, by so many threads. The first error ends it.
pub fn in_parallel<T: Sync>(all: &[T], jobs: usize, work: impl Fn(usize, &T) -> Result<()> + Sync) -> Result<()> {
    let next = Mutex::new(0);
    let failed = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let mut place = next.lock().expect("no thread panics");
                    let nth = *place;
                    *place += 1;
                    drop(place);
                    if nth >= all.len() || failed.lock().expect("no thread panics").is_some() {
                        return;
                    }
                    if let Err(error) = work(nth, &all[nth]) {
                        failed.lock().expect("no thread panics").get_or_insert(error);
                    }
                }
            });
        }
    });
    failed.into_inner().expect("no thread panics").map_or(Ok(()), Err)
}

//! `foretrace test`: record, predict, run, judge.

use super::asking::stop_on_ctrl_c;
use super::atomic::AtomicArgs;
use super::cargo_tests::{self, CargoTest};
use super::choices::{Choice, FORMATS, Format, one_of, seconds};
use super::input;
use super::outcome::{Outcome, say, since_start};
use super::patched::write_first;
use super::progress::Spinner;
use super::shell::command_of;
use super::test_repair::Repairer;
use super::tested::{Tested, junit, write_again, write_again_json, write_json, write_sum, write_text};
use anyhow::{Context, bail};
use foretrace::recorder::{BACKTRACE, Program, Variables};
use foretrace::report::plural;
use foretrace::testing::{self, Campaign, Predict, Report, Settings, State, Workplace, free_memory, run_again};
use regex::Regex;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Find what goes wrong in a program under other schedules
///
/// Records runs of a program that `foretrace cc`, `c++` or `cargo` built, predicts what other schedules lead to, runs the
/// program along each of these schedules, and says what really fails: by exit status, signal, deadlock, hang, a sanitizer's
/// report, or output that differs from that of passing runs. Each failure is kept with a schedule that `foretrace replay`
/// repeats. The program reads nothing from a terminal: its input is the file that is redirected to this command, or empty.
#[derive(clap::Args)]
#[command(after_help = "\
Exit codes: 0 nothing failed and all was tried, 1 something fails, 2 error, 3 nothing failed, but not all was tried or judged.

Examples:
  foretrace test -- ./bank 10
  foretrace test --time 300 --jobs 2 --junit report.xml -- ./server-test
  foretrace test --cargo
  foretrace test --cargo -- --package pool --test ledger
  foretrace test --harness ./check.sh -- ./sort input.txt
  foretrace test --resume -- ./bank 10
  foretrace test --again bank.finds -- ./bank 10
  foretrace test --repair -- ./bank 10
  foretrace test examples/litmus/bank.lit")]
pub struct Args {
    /// A litmus program, in place of PROG; with --cargo: only tests whose names contain one of these
    #[arg(value_name = "LITMUS")]
    words: Vec<String>,

    /// Build the tests of a Rust project and test each by itself; what follows `--` goes to `cargo test`
    #[arg(long, conflicts_with_all = ["harness", "again"])]
    cargo: bool,

    /// A command that starts the program, whose words are added to it, and says by its exit status whether the run was good
    #[arg(long, value_name = "CMD")]
    harness: Option<PathBuf>,

    /// Run what an earlier test kept in this folder, on a build that may be a new one
    #[arg(long, value_name = "DIR")]
    again: Option<PathBuf>,

    /// Keep what fails in this folder [default: PROG.finds]
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,

    /// Go on with the test of the same build that a limit or Ctrl-C has stopped; what it tried is not tried again
    #[arg(long, conflicts_with = "again")]
    resume: bool,

    /// Stop after this time [default: 60; with --cargo 30 a test, at least 60 and at most 600]
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    time: Option<Duration>,

    /// Stop after this number of different failures
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    stop_after: Option<u16>,

    /// Record at most this number of runs, and explore interleavings by as many at most
    #[arg(long, value_name = "N", default_value = "400", value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,

    /// The seed of the first recorded run
    #[arg(long, value_name = "N", default_value = "0", value_parser = clap::value_parser!(u64).range(..=u64::from(u32::MAX)))]
    seed: u64,

    /// Runs at a time [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,

    /// Which schedules are tried
    #[arg(long, default_value = "both", value_parser = one_of(PREDICTS))]
    predict: Predict,

    /// How long one recorded run may be analysed
    #[arg(long, value_name = "SECS", default_value = "10", value_parser = seconds)]
    predict_limit: Duration,

    /// A run that takes longer counts as hung [default: 20 times as long as recorded runs take, but at least 5 seconds]
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    run_limit: Option<Duration>,

    #[command(flatten)]
    atomic: AtomicArgs,

    /// A file that the program writes, and that is compared as its output is; may be given more than once
    #[arg(long, value_name = "FILE")]
    watch: Vec<PathBuf>,

    /// A run fails if a line of its output fits this
    #[arg(long, value_name = "REGEX", value_parser = regex)]
    fail_when: Option<Regex>,

    /// Do not compare what the program writes with what passing runs write
    #[arg(long)]
    ignore_output: bool,

    /// The exit status of good runs
    #[arg(long, value_name = "N", default_value = "0")]
    pass_status: i32,

    /// Run in an empty folder each time, for programs that write files
    #[arg(long)]
    sandbox: bool,

    /// Stop a run that takes more memory, in megabytes [default: a half of what is free, shared by all jobs]
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..1 << 40))]
    memory: Option<u64>,

    /// The number of replays of each failure at the end, which show how certain it is
    #[arg(long, value_name = "N", default_value = "20")]
    replays: u16,

    /// Say for each failure which code would have to be atomic for it not to happen, and run the program with that code kept whole
    #[arg(long, conflicts_with = "again")]
    repair: bool,

    /// Write the first repair that a simple change of the source makes into this file as a diff: a proposal
    #[arg(long, value_name = "FILE", requires = "repair")]
    patch: Option<PathBuf>,

    /// How to report
    #[arg(long, default_value = "text", value_parser = one_of(FORMATS))]
    format: Format,

    /// Also report as JUnit's XML, for continuous integration
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// The program and its arguments
    #[arg(last = true, value_name = "PROG")]
    command: Vec<OsString>,
}

const PREDICTS: &[Choice<Predict>] = &[
    ("both", "precise ones first, then those of cut-points", Predict::Both),
    ("precise", "those that are proved, or that only the path of a recorded run forbids", Predict::Precise),
    ("cutpoints", "those that locks allow", Predict::CutPoints),
];

fn regex(text: &str) -> Result<Regex, String> {
    Regex::new(text).map_err(|error| format!("expected a regular expression: {error}"))
}

/// Tests.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let stop = stop_on_ctrl_c()?;
    if args.cargo {
        let tests = cargo_tests::build(&args.command, &args.words)?;
        return run_all(args, tests.into_iter().map(Subject::from).collect(), &stop);
    }
    if let Some((file, more)) = args.words.split_first() {
        if !args.command.is_empty() || !more.is_empty() {
            bail!("expected one litmus program, or `--` and a program; found {file} and more");
        }
        if args.resume {
            bail!("--resume is for recorded programs, found a litmus program: run its test again");
        }
        if args.repair {
            bail!(
                "--repair is for recorded programs, found a litmus program: foretrace explore and repair are for those"
            );
        }
        return super::test_litmus::run(Path::new(file), args.time(1), args.format, &stop);
    }
    if args.command.is_empty() {
        bail!("expected a program: foretrace test -- PROG ARGS");
    }
    let program = Program::find(&args.command)?;
    program.check()?;
    match &args.again {
        Some(folder) => again(args, folder, program, &stop),
        None => {
            let name = program.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            run_all(args, vec![Subject { name, program, directory: None, variables: Vec::new() }], &stop)
        }
    }
}

/// A program that is tested.
struct Subject {
    name: String,
    program: Program,
    /// The folder that it runs in; else ours.
    directory: Option<PathBuf>,
    /// Variables of its environment beside ours.
    variables: Variables,
}

impl From<CargoTest> for Subject {
    fn from(CargoTest { name, program, directory, variables }: CargoTest) -> Subject {
        Subject { name, program, directory: Some(directory), variables }
    }
}

type Stop = std::sync::Arc<std::sync::atomic::AtomicBool>;

fn settings(args: &Args, subject: &Subject, time: Duration, stop: &Stop) -> anyhow::Result<Settings> {
    let walking = args.atomic.walking(None)?;
    let harness =
        args.harness.as_ref().map(|harness| Program::find(&[harness.clone().into_os_string()])).transpose()?;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut jobs = args.jobs.map_or(processors, usize::from);
    if !args.watch.is_empty() && !args.sandbox && jobs > 1 {
        if args.jobs.is_some() {
            say("foretrace: --watch without --sandbox: one run at a time, since all write the same files");
        }
        jobs = 1;
    }
    let memory =
        args.memory.map(|megabytes| megabytes << 20).or_else(|| free_memory().map(|free| free / 2 / jobs as u64));
    Ok(Settings {
        program: subject.program.clone(),
        harness,
        directory: subject.directory.clone(),
        variables: without_backtraces(&subject.variables),
        input: input::file()?,
        seed: args.seed,
        runs: args.runs,
        jobs,
        time: Some(time),
        stop_after: args.stop_after.map(usize::from),
        run_limit: args.run_limit,
        released: None,
        predict_limit: args.predict_limit,
        predict: args.predict,
        walk: walking.options,
        walked_by: walking.by,
        watch: args.watch.clone(),
        fail_when: args.fail_when.clone(),
        compare_output: !args.ignore_output,
        pass_status: args.pass_status,
        sandbox: args.sandbox,
        memory,
        replays: u32::from(args.replays),
        stop: stop.clone(),
    })
}

/// The variables of a program's runs. Nobody sees the backtrace that Rust writes of a panic, and a recording of it has many times the
/// events of the run.
fn without_backtraces(variables: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    let mut all = variables.to_vec();
    let is_wanted = std::env::var_os(BACKTRACE).is_some_and(|value| value != "0");
    if is_wanted && all.iter().all(|(name, _)| name != BACKTRACE) {
        all.push((BACKTRACE.into(), "0".into()));
    }
    all
}

/// Tests programs one after the other, each with its share of the time. What is left then goes to those that their share has stopped.
fn run_all(args: &Args, programs: Vec<Subject>, stop: &Stop) -> anyhow::Result<Outcome> {
    let count = programs.len();
    let all = args.time(count);
    if args.cargo && args.time.is_none() {
        say(format_args!("foretrace: {count} tests, {} seconds in all (--time)", all.as_secs()));
    }
    let end = all + since_start(); // with --cargo it was built before
    let share = |others: usize| end.saturating_sub(since_start()) / u32::try_from(others).unwrap_or(u32::MAX);
    let is_stopped = || stop.load(std::sync::atomic::Ordering::Relaxed);
    let mut tester = Tester { args, is_of_many: count > 1, stop, spinner: Spinner::on_terminal(), shown: 0 };
    let (mut tested, mut waiting) = (Vec::new(), Vec::new());
    for (nth, program) in programs.iter().enumerate() {
        if is_stopped() {
            break;
        }
        if args.cargo && nth > 0 && share(1).is_zero() {
            let left = plural((count - nth) as u64, "test");
            say(format_args!("foretrace: time is over, {left} not begun (go on: --resume; more: --time)"));
            break;
        }
        let time = if args.cargo { share(count - nth).max(SHORTEST_SHARE) } else { all };
        let one = tester.test(program, time, args.resume)?;
        match count > 1 && one.is_cut_off {
            true => waiting.push(nth),
            false => tester.show(&one)?,
        }
        tested.push(one);
    }
    waiting.sort_by_key(|at| tested[*at].error.is_some()); // those that have come to nothing may need more than there is
    for (nth, &at) in waiting.iter().enumerate() {
        let left = share(1);
        if left >= SHORTEST_SHARE && !is_stopped() {
            let is_kept = tested[at].error.is_none();
            let time = share(waiting.len() - nth).max(FURTHER_SHARE).min(left);
            let further = tester.test(&programs[at], time, is_kept)?;
            // What came to nothing now says less than what is known.
            if further.error.is_none() || !is_kept {
                tested[at] = further;
            }
        }
        tester.show(&tested[at])?;
    }
    drop(tester);
    let (tested, folders): (Vec<Tested>, Vec<PathBuf>) = tested.into_iter().map(|one| (one.tested, one.folder)).unzip();
    if tested.is_empty() {
        bail!("found no test to run");
    }
    let mut out = io::BufWriter::new(anstream::stdout().lock());
    match args.format {
        Format::Text if count > 1 => write_sum(&tested, count, &mut out)?,
        Format::Text => {}
        Format::Json => write_json(&tested, &mut out)?,
    }
    out.flush()?;
    if let Some(file) = &args.patch {
        let repairs = tested.iter().flat_map(|tested| &tested.repairs);
        write_first(repairs.filter_map(|repair| repair.patch.as_ref()), file)?;
    }
    if let Some(file) = &args.junit {
        let text = junit(&tested)?;
        foretrace::report::write_whole(file, |out| out.write_all(text.as_bytes()))
            .with_context(|| file.display().to_string())?;
    }
    let failed = tested.iter().any(|tested| !tested.report.finds.is_empty());
    let complete = tested.len() == count && tested.iter().all(|tested| tested.report.is_complete());
    if complete {
        folders.iter().try_for_each(|folder| testing::forget(folder))?;
    }
    Ok(match (failed, complete) {
        (true, _) => Outcome::Found,
        (false, true) => Outcome::Fine,
        (false, false) => Outcome::Undecided,
    })
}

/// What tests one program after the other.
struct Tester<'a> {
    args: &'a Args,
    is_of_many: bool,
    stop: &'a Stop,
    spinner: Spinner,
    /// How many reports were shown.
    shown: usize,
}

/// A test, and where it is kept.
struct Part {
    tested: Tested,
    folder: PathBuf,
    /// Why it came to nothing, if it did: then there is nothing to go on from.
    error: Option<String>,
    /// Whether nothing failed so far, and more time would help.
    is_cut_off: bool,
}

impl Tester<'_> {
    /// Tests the program for so long, or goes on with what is kept of its test.
    fn test(&self, program: &Subject, time: Duration, resume: bool) -> anyhow::Result<Part> {
        let args = self.args;
        let started = Instant::now();
        let until = started + time;
        // Repairs are sought in what is left.
        let settings = settings(args, program, if args.repair { time * 2 / 3 } else { time }, self.stop)?;
        let Subject { name, directory, .. } = program;
        let redirection = input::redirection(settings.input.as_deref(), directory.as_deref());
        let command = shown_command(&program.program, args) + &redirection;
        let work = Workplace::new(&settings)?;
        let folder = save_folder(args, name, self.is_of_many);
        let subject = testing::Tested::by(&settings)?;
        let state = match resume && (!args.cargo || testing::is_kept(&folder)) {
            true => testing::go_on_from(&folder, &subject, &work)?,
            false => State::new(settings.seed),
        };
        let mut show = |progress| self.spinner.show(name, &progress);
        let (mut report, state, error) = match Campaign::run(&settings, &work, state, &mut show) {
            Err(error) if self.is_of_many => {
                let note = format!("{:#}", anyhow::Error::from(error));
                let mut report = Report { ended_early: true, notes: vec![note.clone()], ..Report::default() };
                report.times.all = started.elapsed();
                (report, None, Some(note))
            }
            tested => tested.map(|(report, state)| (report, Some(state), None))?,
        };
        if input::is_from_pipe() {
            report.notes.push(input::OF_PIPE.to_string());
        }
        let repairs = match args.repair {
            true => {
                let asked = (&args.atomic, args.patch.is_some());
                Repairer::new(&settings, &report, asked, &work.place("repairs")).repairs(until)
            }
            false => Vec::new(),
        };
        if !report.finds.is_empty() {
            report.keep(&folder)?;
        }
        let is_cut_off = report.finds.is_empty() && !report.is_complete() && started.elapsed() > time / 2;
        match state {
            Some(state) if args.cargo || !report.is_complete() => {
                testing::keep_unfinished(state, &subject, &work, &folder)?;
            }
            Some(_) => testing::forget(&folder)?,
            None => {}
        }
        let tested = Tested { name: name.clone(), command, directory: directory.clone(), report, repairs };
        Ok(Part { tested, folder, error, is_cut_off })
    }

    /// Shows what came of a test, to people.
    fn show(&mut self, Part { tested, error, .. }: &Part) -> io::Result<()> {
        if let Some(error) = error {
            say(format_args!("foretrace: {}: {error}", tested.name));
        }
        if self.args.format != Format::Text {
            return Ok(());
        }
        let (nth, is_of_many) = (self.shown, self.is_of_many);
        self.shown += 1;
        let mut out = anstream::stdout().lock();
        self.spinner.aside(|| write_text(nth, is_of_many, tested, &mut out).and_then(|()| out.flush()))
    }
}

impl Args {
    /// The time for so many programs.
    fn time(&self, count: usize) -> Duration {
        let of_tests =
            u32::try_from(count).map_or(MOST_TIME, |count| (DEFAULT_SHARE.saturating_mul(count)).min(MOST_TIME));
        self.time.unwrap_or(if self.cargo { of_tests.max(DEFAULT_TIME) } else { DEFAULT_TIME })
    }
}

/// Without `--time` a test takes this long.
const DEFAULT_TIME: Duration = Duration::from_secs(60);
/// With `--cargo` each test has this much, and no less than that in all.
const DEFAULT_SHARE: Duration = Duration::from_secs(30);
/// But they take no more than this in all.
const MOST_TIME: Duration = Duration::from_secs(600);

/// No test of a project gets less time.
const SHORTEST_SHARE: Duration = Duration::from_secs(2);
/// A test that goes on gets so much, as long as it is there: little more than before would bring as little.
const FURTHER_SHARE: Duration = Duration::from_secs(10);

/// The folder for what fails.
fn save_folder(args: &Args, name: &str, many: bool) -> PathBuf {
    let plain = name.replace("::", ".").replace(['/', ' '], "-");
    match &args.save {
        Some(folder) if many => folder.join(plain),
        Some(folder) => folder.clone(),
        None => PathBuf::from(format!("{plain}.finds")),
    }
}

/// The program as people call it.
fn shown_command(program: &Program, args: &Args) -> String {
    match args.cargo {
        true => {
            command_of(std::iter::once(program.path.as_os_str()).chain(program.arguments.iter().map(AsRef::as_ref)))
        }
        false => command_of(&args.command),
    }
}

/// Runs what is kept on a build that may be a new one.
fn again(args: &Args, folder: &Path, program: Program, stop: &Stop) -> anyhow::Result<Outcome> {
    let subject = Subject { name: String::new(), program, directory: None, variables: Vec::new() };
    let settings = settings(args, &subject, args.time(1), stop)?;
    let work = Workplace::new(&settings)?;
    let results = run_again(folder, &settings, &work, &mut |_, _| {})?;
    let mut out = io::BufWriter::new(anstream::stdout().lock());
    match args.format {
        Format::Text => write_again(&results, &mut out)?,
        Format::Json => write_again_json(&results, &mut out)?,
    }
    out.flush()?;
    use foretrace::testing::AgainOutcome::{Fails, NotReached};
    let any = |is: fn(&foretrace::testing::AgainOutcome) -> bool| results.iter().any(|result| is(&result.outcome));
    Ok(match (any(|outcome| matches!(outcome, Fails(..))), any(|outcome| matches!(outcome, NotReached(_)))) {
        (true, _) => Outcome::Found,
        (false, true) => Outcome::Undecided,
        (false, false) => Outcome::Fine,
    })
}

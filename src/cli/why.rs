//! `foretrace why`: the post-mortem of one failing run, by running the program again.

use super::asking::{ended_early, may_read_on, stop_on_ctrl_c};
use super::atomic::{Asked, AtomicArgs};
use super::choices::{FORMATS, Format, one_of, seconds};
use super::delays::{WithWrite, fails_by_other, with_write};
use super::enforced::{Enforced, ran_along, run_along};
use super::kept_whole::{Failed, Tried, Tries};
use super::outcome::{Outcome, say};
use super::too_early::{read_too_early, too_early};
use super::unfinished::unfinished;
use anyhow::bail;
use foretrace::recorder::{Ending, Folder, Plan, Program, differences, recorded_ending, run_plan};
use foretrace::report::{Delays, Gone, Switches, TooEarly, Violation, WhyReport};
use foretrace_repair::{Limits, Repairs, Switch, minimize, repairs, switches, with_switches};
use foretrace_trace::{Atomic, EventId, Trace};
use foretrace_walker::program::Program as Recorded;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Say why a recorded run failed, by running the program again
///
/// For each violation that the failing run shows, the program runs along the same schedule, but with the violated code kept whole.
/// A violation that removes the failure this way is its cause; the others are listed as not the cause. Then context switches are
/// taken out of the schedule as long as the program still fails: the failure needs those that remain.
#[derive(clap::Args)]
#[command(after_help = "\
Exit codes: 0 a cause was found; 1 none of the violations is the cause by itself; 2 error; 3 the limit was reached.

Examples:
  foretrace record --seed 7 -o failing.foretrace -- ./bank
  foretrace why failing.foretrace -- ./bank
  foretrace why failing.foretrace --passing run-*.foretrace --times 100 -- ./bank")]
pub struct Args {
    /// The folder of a recording whose run failed
    recording: PathBuf,

    /// Recordings or traces of runs that passed: violations that they also show are tried last
    #[arg(long, value_name = "TRACE", num_args = 1..)]
    passing: Vec<PathBuf>,

    /// How often each schedule is tried
    #[arg(long, value_name = "N", default_value = "20", value_parser = clap::value_parser!(u32).range(1..))]
    times: u32,

    /// How many violations are tried
    #[arg(long, value_name = "N", default_value_t = 10)]
    most: usize,

    /// At most this many runs of the program to find the context switches; 0 leaves that out
    #[arg(long, value_name = "N", default_value_t = 300)]
    switch_runs: u32,

    /// A run of the program that takes longer counts as hung, and is killed
    #[arg(long, value_name = "SECS", default_value = "60", value_parser = seconds)]
    run_limit: Duration,

    /// Time limit of the command, from its start; the report has what was found by then
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    time_limit: Option<Duration>,

    /// How to report
    #[arg(long, default_value = "text", value_parser = one_of(FORMATS))]
    format: Format,

    #[command(flatten)]
    atomic: AtomicArgs,

    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROG")]
    command: Vec<OsString>,
}

/// Finds the cause.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let stop = stop_on_ctrl_c()?;
    let go_on = || may_read_on(args.time_limit, &stop) && !stop.load(Ordering::Relaxed);
    let name = args.recording.display().to_string();
    let program = Program::find(&args.command)?;
    program.check()?;
    let recorded = failed_ending(&args.recording)?;
    program.check_recorded_as(&args.recording)?;
    Recorded::open(&args.recording)?; // refuses libraries that were built again since
    differences(&args.recording, &program).iter().for_each(|line| say(format_args!("foretrace: {line}")));
    let read = |path: &Path| args.atomic.read_within(path, &go_on);
    let Some(asked) = read(&args.recording)? else { return Ok(ended_early("reading the recording")) };
    let mut passing: Vec<Trace> = Vec::new();
    for path in &args.passing {
        let Some(asked) = read(path)? else { return Ok(ended_early("reading the passing traces")) };
        passing.push(asked.trace);
    }
    let chosen: Option<Atomic> = (!args.atomic.is_auto()).then_some(asked.atomic);
    let runs = Runs { args, program: &program, recorded, go_on: &go_on };

    let again = runs.failures(&Plan::of_recording(&args.recording)?)?;
    let limits = Limits { repairs: 20_000, go_on: &go_on };
    let of = |chosen| repairs(std::slice::from_ref(&asked.trace), &passing, chosen, limits);
    let mut tried = Vec::new();
    let within = runs.violations(&asked, of(chosen), passing.len(), &mut tried)?;
    let is_small_cause = |(violation, _): &(Violation, _)| violation.is_cause(args.times) && !violation.is_of_turns();
    if within.is_none() && !tried.iter().any(is_small_cause) && go_on() {
        // Functions are what is tried first. What is wrong may lie in a thread's own function.
        runs.violations(&asked, of(Some(Atomic::Auto)), passing.len(), &mut tried)?;
    }
    let unfinished = match tried.iter().any(|(violation, _)| violation.is_cause(args.times)) {
        true => Vec::new(),
        false => runs.trying(|tries| unfinished(&asked.trace, tries))?,
    };
    let is_in =
        |violation: &Violation, event| violation.cycle.iter().any(|link| link.from == event || link.to == event);
    // A cause explains a write in its cycle. All turns of a loop as one may just keep the write from coming earlier still.
    let is_known = |write, read| -> anyhow::Result<bool> {
        let early = TooEarly { write, read, passed: 0, harmless: None };
        for (violation, along) in tried.iter().filter(|(violation, _)| violation.is_cause(args.times)) {
            let (true, Some(along)) = (is_in(violation, write) && is_in(violation, read), along) else { continue };
            let with = |tries: &Tries<'_>| with_write(&asked.trace, tries, (violation, along), &early);
            if !violation.is_of_turns() || runs.trying(with)? != WithWrite::Fails {
                return Ok(true);
            }
        }
        Ok(false)
    };
    let mut too_early = runs.trying(|tries| too_early(&asked.trace, tries, &is_known))?;
    runs.find_delays(&asked.trace, &mut tried, &mut too_early)?;
    let any = tried.iter().any(|(violation, _)| violation.is_cause(args.times))
        || unfinished.iter().any(|one| one.is_cause(args.times))
        || too_early.iter().any(|one| one.is_cause(args.times));
    let read_early = if any { Vec::new() } else { runs.trying(|tries| read_too_early(&asked.trace, tries))? };
    let complete = go_on();
    let violations = runs.with_smaller_causes(&asked.trace, tried);
    let switches = if again > 0 && args.switch_runs > 0 { runs.switches(&asked)? } else { None };
    let report = WhyReport {
        recording: &name,
        trace: &asked.trace,
        ending: recorded.to_string(),
        times: args.times,
        again,
        violations,
        unfinished,
        too_early,
        read_early,
        complete,
        switches,
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    match args.format {
        Format::Json => report.write_json(&mut out)?,
        Format::Text => report.write_text(&mut out)?,
    }
    out.flush()?;
    Ok(match (report.has_cause(), go_on()) {
        (true, _) => Outcome::Fine,
        (false, true) => Outcome::Found,
        (false, false) => Outcome::Undecided,
    })
}

/// How the recorded run failed.
fn failed_ending(recording: &Path) -> anyhow::Result<Ending> {
    let name = recording.display();
    if !recording.is_dir() {
        bail!("{name}: found no folder, expected a recording of `foretrace record`");
    }
    match recorded_ending(recording) {
        Some(Ending::Code(0)) => bail!("{name}: found a run that exited with status 0, expected one that failed"),
        Some(ending) => Ok(ending),
        None => bail!("{name}: found a recording that does not say how its run ended, expected one that failed"),
    }
}

/// Runs of the program.
struct Runs<'a> {
    args: &'a Args,
    program: &'a Program,
    recorded: Ending,
    go_on: &'a dyn Fn() -> bool,
}

impl Runs<'_> {
    /// How a run along a plan ends.
    fn run(&self, plan: &Plan) -> anyhow::Result<Ending> {
        Ok(run_along(self.program, self.args.run_limit, plan)?.ending)
    }

    /// How often the program fails along a plan, as it failed when it was recorded.
    fn failures(&self, plan: &Plan) -> anyhow::Result<u32> {
        let mut failures = 0;
        for _ in 0..self.args.times {
            if !(self.go_on)() {
                break;
            }
            failures += u32::from(self.run(plan)? == self.recorded);
        }
        Ok(failures)
    }

    fn plan(&self, asked: &Asked, order: &[EventId]) -> anyhow::Result<Plan> {
        Ok(Plan::of_order(&asked.trace, order, &self.args.recording)?)
    }

    /// Tries repairs that were not tried before, the best ones first; says what they lie in.
    fn violations(
        &self,
        asked: &Asked,
        found: Repairs,
        passing: usize,
        violations: &mut Vec<(Violation, Option<Tried>)>,
    ) -> anyhow::Result<Option<Atomic>> {
        let failed = Failed { trace: &asked.trace, observed: &asked.observed, chosen: found.chosen };
        for ranked in found.ranked {
            if violations.len() == self.args.most || !(self.go_on)() {
                break;
            }
            if violations.iter().any(|(known, _)| known.sections == ranked.repair) {
                continue;
            }
            let tried = self.trying(|tries| tries.tried(failed, &ranked))?;
            if !(self.go_on)() {
                break; // not all of its runs were made
            }
            let gone = tried.as_ref().map(|Tried { endings, .. }| Gone { passed: endings.passed, left: endings.left });
            let forbids = (ranked.forbids.len(), passing);
            let violation =
                Violation { sections: ranked.repair, cycle: ranked.cycle, forbids, gone, smaller: None, delays: None };
            violations.push((violation, tried));
        }
        Ok(found.chosen)
    }

    /// Finds the causes that are none beside another one: code that only makes threads meet in another order, and writes that do no harm where
    /// the code of another cause is whole.
    fn find_delays(
        &self,
        trace: &Trace,
        violations: &mut [(Violation, Option<Tried>)],
        too_early: &mut [TooEarly],
    ) -> anyhow::Result<()> {
        let times = self.args.times;
        for number in 0..violations.len() {
            let (violation, Some(tried)) = &violations[number] else { continue };
            if !violation.is_cause(times) {
                continue;
            }
            let mut delays = None;
            for (place, (other, of_other)) in violations.iter().enumerate().filter(|(place, _)| *place != number) {
                let Some(of_other) = of_other.as_ref().filter(|_| other.is_cause(times)) else { continue };
                if self.trying(|tries| fails_by_other(tries, (violation, tried), (other, of_other)))? {
                    delays = Some(Delays::Violation(place));
                    break;
                }
            }
            for (place, early) in too_early.iter_mut().enumerate() {
                if delays.is_some() || !early.is_cause(times) {
                    continue;
                }
                match self.trying(|tries| with_write(trace, tries, (violation, tried), early))? {
                    WithWrite::Fails => delays = Some(Delays::TooEarly(place)),
                    WithWrite::Passes => early.harmless = Some(number),
                    WithWrite::Unknown => {}
                }
            }
            violations[number].0.delays = delays;
        }
        Ok(())
    }

    /// Tries with runs of the program.
    fn trying<T>(&self, with: impl FnOnce(&Tries<'_>) -> anyhow::Result<T>) -> anyhow::Result<T> {
        let run = |plan: &Plan| ran_along(self.program, self.args.run_limit, plan);
        let run_into = |plan: &Plan, place: &Path| self.run_into(plan, place);
        with(&Tries {
            enforced: Enforced { recording: &self.args.recording, run: &run },
            run_into: &run_into,
            times: self.args.times,
            atomic: &self.args.atomic,
            go_on: self.go_on,
        })
    }

    /// How a run along a plan ends, with its recording.
    fn run_into(&self, plan: &Plan, place: &Path) -> anyhow::Result<Option<(PathBuf, bool)>> {
        let folder = Folder::create(place)?;
        let ending = run_plan(plan, self.program, &folder, self.args.run_limit, true)?.ending;
        Ok(Some((folder.path().to_path_buf(), ending == Ending::Code(0))))
    }

    /// The violations. One whose code goes on from turn to turn of a loop is no cause by itself where its schedule does not come to a smaller
    /// cause, or keeps that whole.
    fn with_smaller_causes(&self, trace: &Trace, tried: Vec<(Violation, Option<Tried>)>) -> Vec<Violation> {
        let times = self.args.times;
        let smaller = |(violation, along): &(Violation, Option<Tried>)| {
            let along = along.as_ref().filter(|_| violation.is_of_turns() && violation.removes_failure(times))?;
            let is_kept = |other: &Violation| {
                other.is_cause(times) && !other.is_of_turns() && along.is_without(trace, &other.cycle)
            };
            tried.iter().position(|(other, _)| is_kept(other))
        };
        let smaller: Vec<Option<usize>> = tried.iter().map(smaller).collect();
        let violations = tried.into_iter().zip(smaller);
        violations.map(|((violation, _), smaller)| Violation { smaller, ..violation }).collect()
    }

    /// The context switches that the failure takes.
    fn switches(&self, asked: &Asked) -> anyhow::Result<Option<Switches>> {
        let all = switches(&asked.trace, &asked.observed)?;
        let mut runs = 0;
        let mut error = None;
        let plan_of = |kept: &[Switch]| -> anyhow::Result<Plan> {
            let order = with_switches(&asked.trace, &asked.observed, &kept.iter().copied().collect())?;
            self.plan(asked, &order)
        };
        let mut fails = |kept: &[Switch]| {
            if runs >= self.args.switch_runs || !(self.go_on)() {
                return None;
            }
            runs += 1;
            let ending = plan_of(kept).and_then(|plan| self.run(&plan));
            ending.map_err(|found| error = Some(found)).ok().map(|ending| ending == self.recorded)
        };
        // Where the recorded order, with each of its switches, does not fail, nothing can be told.
        let left = match fails(&all) {
            Some(true) => Some(minimize(&all, fails)),
            _ => None,
        };
        if let Some(error) = error {
            return Err(error);
        }
        let Some(left) = left else { return Ok(None) };
        let fails = self.failures(&plan_of(&left)?)?;
        Ok(Some(Switches { recorded: all.len(), left, runs, fails }))
    }
}

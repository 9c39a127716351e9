//! What `foretrace test` reports: as text, as JSON, and as JUnit's XML.

use super::shell::quoted;
use super::test_repair::FoundRepair;
use foretrace::report::{below_project, plural, wrapped_at};
use foretrace::testing::{Again, AgainOutcome, Exploration, Find, Report, is_of_library};
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};
use serde::Serialize;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A program that was tested.
pub struct Tested {
    /// Its name.
    pub name: String,
    /// How people call it.
    pub command: String,
    /// The folder that it runs in; else ours.
    pub directory: Option<PathBuf>,
    /// What came of it.
    pub report: Report,
    /// Of each failure, which code would have to be atomic; empty where that was not asked.
    pub repairs: Vec<FoundRepair>,
}

impl Tested {
    /// Whether no run was recorded in the time there was, of a program that is run.
    fn has_no_run(&self) -> bool {
        let recorded = self.report.recorded;
        recorded.passed + recorded.failed == 0 && self.report.all_tried() == 0 && !self.command.is_empty()
    }

    /// The command that repeats a failure.
    fn replay_of(&self, find: &Find) -> String {
        let replay = |schedule: &Path| format!("foretrace replay {} -- {}", quoted(schedule), self.command);
        let is_ours = |directory: &Path| std::env::current_dir().is_ok_and(|ours| ours == directory);
        match self.directory.as_deref().filter(|directory| !is_ours(directory)) {
            None => replay(&find.schedule),
            Some(directory) => {
                let schedule = std::path::absolute(&find.schedule).unwrap_or_else(|_| find.schedule.clone());
                format!("cd {} && {}", quoted(directory), replay(&schedule))
            }
        }
    }
}

/// Widest line of the report.
const WIDEST: usize = 100;
/// Other schedules that lead to a failure and are listed.
const MOST_OTHERS: usize = 3;
/// Places that are listed of several.
const FEW: usize = 5;

const HEAD: anstyle::Style = anstyle::Style::new().bold();

/// Writes what people read of a test, with its name if it is one of many.
pub fn write_text(nth: usize, is_one_of_many: bool, tested: &Tested, out: &mut dyn Write) -> io::Result<()> {
    if is_one_of_many {
        writeln!(out, "{}{HEAD}{}{HEAD:#}", if nth > 0 { "\n" } else { "" }, tested.name)?;
    }
    write_one(tested, out)
}

/// Writes what came of many tests, the last line of a long report.
pub fn write_sum(tested: &[Tested], count: usize, out: &mut dyn Write) -> io::Result<()> {
    let (failing, others): (Vec<&Tested>, Vec<&Tested>) = tested.iter().partition(|one| !one.report.finds.is_empty());
    let (without_run, others): (Vec<&Tested>, Vec<&Tested>) = others.into_iter().partition(|one| one.has_no_run());
    let open = others.iter().filter(|one| !one.report.is_complete()).count();
    let parts = [
        (failing.len(), if failing.len() == 1 { "fails" } else { "fail" }),
        (others.len() - open, "without a failure"),
        (open, "without a failure so far, not all was tried"),
        (count - tested.len() + without_run.len(), "not tested"),
    ];
    let parts = parts.iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{number} {what}"));
    let head = format!("{count} tests: {}", parts.collect::<Vec<_>>().join("; "));
    writeln!(out, "\n{HEAD}{head}{HEAD:#}")?;
    failing.iter().try_for_each(|one| writeln!(out, "  {} fails", one.name))
}

fn write_one(tested: &Tested, out: &mut dyn Write) -> io::Result<()> {
    let report = &tested.report;
    match report.finds.len() {
        0 if report.fails_unrecorded() => {
            writeln!(out, "nothing failed in recorded runs; without recording, the program failed")?
        }
        0 if report.is_endless_unrecorded() => {
            writeln!(out, "nothing failed in recorded runs; without recording, the program did not end in time")?
        }
        0 if report.output_is_open => {
            writeln!(out, "nothing failed for certain: a run that passed wrote what hardly any other wrote")?
        }
        0 if tested.has_no_run() => writeln!(out, "not tested: no recorded run came to its end in time")?,
        0 => writeln!(out, "nothing failed")?,
        1 => writeln!(out, "1 failure")?,
        many => {
            writeln!(out, "{many} failures")?;
            for (number, find) in report.finds.iter().enumerate() {
                let title = find.title.as_deref().unwrap_or("a recorded run");
                let line = format!("  {}. {}; {title}", number + 1, cut(&find.failure.to_string(), 40));
                writeln!(out, "{}", cut(&line, WIDEST))?;
            }
        }
    }
    for (number, find) in report.finds.iter().enumerate() {
        write_find(number + 1, find, tested, out)?;
        if let Some(repair) = tested.repairs.get(number) {
            repair.lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
        }
    }
    if !report.finds.is_empty() {
        writeln!(out)?;
    }
    write_totals(tested, out)
}

fn write_find(number: usize, find: &Find, tested: &Tested, out: &mut dyn Write) -> io::Result<()> {
    let headline = cut(&format!("{number}. {}", find.failure), WIDEST);
    writeln!(out, "\n{HEAD}{headline}{HEAD:#}")?;
    if let Some(place) = &find.failure.place {
        let did = if find.failure.is_panic() { "panicked" } else { "used" };
        writeln!(out, "   {did} at {}", cut(below_project(place), WIDEST - 15))?;
    }
    match &find.title {
        Some(title) => writeln!(out, "{}", told(title, 3))?,
        None if tested.command.is_empty() => writeln!(out, "   a run failed by itself")?,
        None => writeln!(out, "   a recorded run failed by itself (seed {})", find.seed)?,
    }
    for line in &find.story {
        writeln!(out, "{}", told(line, 5))?;
    }
    let rate = match find.replays {
        Some((failed, times)) => format!("fails in {failed} of {times} replays"),
        None if tested.command.is_empty() => return Ok(()), // of a litmus program
        None => "replay it".to_string(),
    };
    writeln!(out, "   {rate}: {}", tested.replay_of(find))?;
    if !find.others.is_empty() {
        let more = find.others.len();
        writeln!(out, "   {more} more {} to the same failure:", if more == 1 { "way" } else { "ways" })?;
        for other in find.others.iter().take(MOST_OTHERS) {
            writeln!(out, "{}", told(other, 5))?;
        }
        if more > MOST_OTHERS {
            writeln!(out, "     and {} more", more - MOST_OTHERS)?;
        }
    }
    Ok(())
}

fn write_totals(tested: &Tested, out: &mut dyn Write) -> io::Result<()> {
    let report = &tested.report;
    let harmless = &report.harmless;
    let (recorded, tried) = (report.recorded, report.all_tried());
    let runs = recorded.passed + recorded.failed;
    let failed = match recorded.failed {
        0 => String::new(),
        failed => format!(", {failed} of them failed"),
    };
    let seconds = report.times.all.as_secs_f64();
    let not_reached = tried.saturating_sub(harmless.failed + harmless.same);
    let were = if not_reached == 1 { "was" } else { "were" };
    let proved = match harmless.proved_not_reached {
        0 => String::new(),
        proved => format!(" ({proved} of them proved)"),
    };
    let totals = format!(
        "{} recorded{failed}; {} tried: {} failed, {} had no effect, {not_reached} {were} not reached{proved}; {seconds:.1} s",
        plural(runs, "run"),
        plural(tried, "schedule"),
        harmless.failed,
        harmless.same,
    );
    writeln!(out, "{}", told(&totals, 0))?;
    let more = if tested.command.is_empty() { "more: --time" } else { "go on: --resume" };
    if report.has_all_interleavings() {
        // what was not tried would show no other
    } else if report.left > 0 {
        let are_left = if report.left == 1 { "is left" } else { "are left" };
        let left = plural(report.left as u64, "schedule");
        writeln!(out, "not all was tried: {left} {are_left} ({more})")?;
    } else if tested.has_no_run() {
        writeln!(out, "not all was tried: the runs take longer than the time there was ({more})")?;
    } else if report.ended_early {
        writeln!(out, "not all was tried: a limit was reached before the recorded runs brought nothing new ({more})")?;
    }
    if !report.open_checks.is_empty() {
        writeln!(out, "not all was tried: the solver has not decided whether these checks can fail ({more})")?;
        write_few(report.open_checks.iter(), out)?;
    }
    if report.without_trace > 0 {
        let gave = plural(report.without_trace, "recorded run");
        writeln!(out, "not all was tried: {gave} gave no trace, so nothing was predicted from them")?;
    }
    if report.left == 0 && !report.ended_early && report.explored.as_ref().is_some_and(|explored| explored.is_cut_off) {
        writeln!(out, "not all was tried: there was no time to explore all interleavings ({more})")?;
    }
    if let Some(explored) = &report.explored {
        write_explored(explored, out)?;
    }
    write_one_way(report, out)?;
    report.notes.iter().try_for_each(|note| writeln!(out, "note: {note}"))
}

/// What exploring came to.
fn write_explored(explored: &Exploration, out: &mut dyn Write) -> io::Result<()> {
    let Exploration { reversed, classes, runs, complete, fails, doubts, .. } = explored;
    let last = if *fails && *runs == 0 { ": the last one fails" } else { "" };
    writeln!(
        out,
        "held threads, and reversed pairs of accesses that had come in one order only, by {}{last}",
        plural(*reversed, "run")
    )?;
    if *runs == 0 {
        return Ok(());
    }
    let classes = match classes {
        1 => "1 class of interleavings".to_string(),
        many => format!("{many} classes of interleavings"),
    };
    let all = match (fails, complete) {
        (true, _) => "the last one fails",
        (false, true) => "all there are",
        (false, false) => "not all",
    };
    writeln!(out, "explored {classes} by {}: {all}", plural(*runs, "run"))?;
    doubts.iter().take(1).try_for_each(|why| writeln!(out, "  not certain to be all: {why}"))
}

/// What no recorded run has executed is told where nothing failed: no schedule of these runs comes there. Branches in code of libraries
/// tell people nothing.
fn write_one_way(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let own: Vec<_> = report.one_way.iter().filter(|(place, _)| !is_of_library(place)).collect();
    if own.is_empty() || !report.finds.is_empty() {
        return Ok(());
    }
    writeln!(out, "in the recorded runs that were analysed these branches on shared memory went one way only:")?;
    write_few(own.iter().map(|(place, text)| format!("{place}  {}", text.as_deref().unwrap_or_default())), out)
}

/// The first of these, a line each, and how many more there are.
fn write_few(lines: impl ExactSizeIterator<Item = impl AsRef<str>>, out: &mut dyn Write) -> io::Result<()> {
    let more = lines.len().saturating_sub(FEW);
    for line in lines.take(FEW) {
        writeln!(out, "  {}", cut(line.as_ref(), WIDEST - 2))?;
    }
    if more > 0 { writeln!(out, "  and {more} more") } else { Ok(()) }
}

/// A line that begins after so many spaces. Of a row of a table the end may go, which is source. A sentence goes on in the next line: its
/// end may be the place that people look for.
fn told(line: &str, indent: usize) -> String {
    let is_row = line.trim_start().contains("  ");
    let line = format!("{:indent$}{line}", "");
    if is_row {
        return cut(&line, WIDEST);
    }
    let after = line.len() - line.trim_start().len() + 2;
    wrapped_at(WIDEST, &line, &" ".repeat(after))
}

/// A line of at most so many characters.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_string();
    }
    let kept: String = text.chars().take(most - 1).collect();
    kept.trim_end_matches('…').to_string() + "…"
}

#[derive(Serialize)]
struct TestedJson<'t> {
    name: &'t str,
    command: &'t str,
    finds: Vec<FindJson<'t>>,
    runs: Value,
    schedules: Value,
    left: usize,
    complete: bool,
    trace: Value,
    seconds: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    explored: Option<Value>,
    one_way_branches: Vec<Value>,
    open_checks: &'t [String],
    notes: &'t [String],
}

#[derive(Serialize)]
struct FindJson<'t> {
    kind: &'static str,
    failure: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'t str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'t str>,
    story: &'t [String],
    others: &'t [String],
    schedule: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replays: Option<Value>,
    turns: Value,
    after_runs: u64,
    after_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    repair: Option<&'t Value>,
}

/// Writes what programs read; its schema is `schemas/test.schema.json`.
pub fn write_json(tested: &[Tested], out: &mut dyn Write) -> io::Result<()> {
    let tests: Vec<TestedJson<'_>> = tested.iter().map(tested_json).collect();
    serde_json::to_writer_pretty(&mut *out, &json!({ "foretrace": 1, "tests": tests }))?;
    writeln!(out)
}

fn tested_json(tested: &Tested) -> TestedJson<'_> {
    let report = &tested.report;
    let (harmless, times, size) = (&report.harmless, &report.times, &report.size);
    TestedJson {
        name: &tested.name,
        command: &tested.command,
        finds: report
            .finds
            .iter()
            .enumerate()
            .map(|(number, find)| find_json(find, tested.repairs.get(number)))
            .collect(),
        runs: json!({ "passed": report.recorded.passed, "failed": report.recorded.failed }),
        schedules: json!({
            "tried": report.all_tried(), "by_kind": report.tried, "already": harmless.already,
            "impossible": harmless.impossible, "not_reached": harmless.not_reached,
            "proved_not_reached": harmless.proved_not_reached, "reached": harmless.reached,
            "same": harmless.same, "failed": harmless.failed, "turns": report.switches,
        }),
        left: report.left,
        complete: report.is_complete(),
        trace: json!({
            "threads": size.threads, "variables": size.variables, "locks": size.locks, "events": size.events,
            "switches": size.switches,
        }),
        seconds: json!({
            "all": times.all.as_secs_f64(), "recorded_run": times.recorded.as_secs_f64(),
            "schedule": times.schedule.as_secs_f64(), "predicting": times.predicting.as_secs_f64(),
            "running": times.running.as_secs_f64(),
        }),
        explored: report.explored.as_ref().map(explored_json),
        open_checks: &report.open_checks,
        one_way_branches: report.one_way.iter().map(|(place, text)| json!({"place": place, "text": text})).collect(),
        notes: &report.notes,
    }
}

fn explored_json(explored: &Exploration) -> Value {
    let Exploration { reversed, classes, runs, complete, fails, doubts, .. } = explored;
    json!({ "reversing_runs": reversed, "classes": classes, "runs": runs, "complete": complete, "fails": fails, "doubts": doubts })
}

fn find_json<'t>(find: &'t Find, repair: Option<&'t FoundRepair>) -> FindJson<'t> {
    FindJson {
        kind: find.failure.kind(),
        failure: find.failure.to_string(),
        message: find.failure.message.as_deref(),
        title: find.title.as_deref(),
        story: &find.story,
        others: &find.others,
        schedule: find.schedule.display().to_string(),
        known: find.kind().map(|kind| kind.name()),
        replays: find.replays.map(|(failed, times)| json!({ "failed": failed, "times": times })),
        turns: json!({ "found": find.turns.0, "shortened": find.turns.1 }),
        after_runs: find.after_runs,
        after_seconds: find.after.as_secs_f64(),
        repair: repair.map(|repair| &repair.json),
    }
}

/// The report as JUnit has it: each program is a test suite, each failure a test case, with its replays.
pub fn junit(tested: &[Tested]) -> anyhow::Result<String> {
    let mut whole = quick_junit::Report::new("foretrace test");
    for one in tested {
        let mut suite = TestSuite::new(one.name.as_str());
        suite.set_time(one.report.times.all);
        if one.report.finds.is_empty() {
            let status = match one.report.is_complete() {
                true => TestCaseStatus::success(),
                false => TestCaseStatus::skipped(),
            };
            suite.add_test_case(TestCase::new(one.name.as_str(), status));
        }
        for (number, find) in one.report.finds.iter().enumerate() {
            suite.add_test_case(junit_case(find, one.repairs.get(number), one));
        }
        whole.add_test_suite(suite);
    }
    Ok(whole.to_string()?)
}

fn junit_case(find: &Find, repair: Option<&FoundRepair>, tested: &Tested) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_message(find.failure.to_string()).set_type(find.failure.kind());
    let replay = tested.replay_of(find);
    let rate = find.replays.map(|(failed, times)| format!("fails in {failed} of {times} replays"));
    let lines: Vec<&str> = find
        .story
        .iter()
        .map(String::as_str)
        .chain([replay.as_str()])
        .chain(rate.as_deref())
        .chain(repair.iter().flat_map(|repair| repair.lines.iter().map(String::as_str)))
        .collect();
    status.set_description(lines.join("\n"));
    let name = find.title.clone().unwrap_or_else(|| format!("recorded run with seed {}", find.seed));
    TestCase::new(name, status)
}

/// Writes what came of kept failures on another build.
pub fn write_again(results: &[Again], out: &mut dyn Write) -> io::Result<()> {
    for again in results {
        let what = again.title.as_deref().unwrap_or("a recorded run");
        match &again.outcome {
            AgainOutcome::Fails(how, failed, times) => {
                writeln!(out, "still fails, {failed} of {times} times: {how}")?;
            }
            AgainOutcome::Reached(reached, times) => {
                writeln!(
                    out,
                    "reached {reached} of {times} times, and nothing fails any more: it was {}",
                    again.failure
                )?;
            }
            AgainOutcome::NotReached(why) => writeln!(out, "not reached any more: {why}; it was {}", again.failure)?,
        }
        writeln!(out, "   {what} ({})", again.schedule.display())?;
    }
    Ok(())
}

/// The same for programs.
pub fn write_again_json(results: &[Again], out: &mut dyn Write) -> io::Result<()> {
    let one = |again: &Again| {
        let (outcome, failed, times, detail) = match &again.outcome {
            AgainOutcome::Fails(how, failed, times) => ("fails", Some(*failed), Some(*times), Some(how.as_str())),
            AgainOutcome::Reached(_, times) => ("reached", Some(0), Some(*times), None),
            AgainOutcome::NotReached(why) => ("not-reached", None, None, Some(why.as_str())),
        };
        json!({
            "schedule": again.schedule.display().to_string(), "was": again.failure, "title": again.title,
            "outcome": outcome, "failed": failed, "times": times, "detail": detail,
        })
    };
    let again: Vec<Value> = results.iter().map(one).collect();
    serde_json::to_writer_pretty(&mut *out, &json!({ "foretrace": 1, "again": again }))?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::{Tested, WIDEST, cut, told, write_sum, write_text};
    use foretrace::testing::Report;

    #[test]
    fn a_line_that_is_cut_ends_with_one_mark() {
        assert_eq!(cut("Cache<…>::get", 8), "Cache<…");
        assert_eq!(cut("as it is", 8), "as it is");
    }

    /// The place where a thread waits comes last.
    #[test]
    fn a_sentence_goes_on_in_the_next_line_and_a_row_is_cut() {
        let sentence = "thread 2 (diner) holds the lock it took at table.c:12 and waits for the lock that thread 3 took at table.c:12, \
            after table.c:12";
        let lines = told(sentence, 5);
        assert!(lines.lines().all(|line| line.chars().count() <= WIDEST), "{lines}");
        let (first, second) = lines.split_once("\n       ").expect("two lines");
        assert_eq!(format!("{first} {second}").trim_start(), sentence);
        let row = told(&format!("thread 2  reads 1  table.c:12  {}", "head = next; ".repeat(9)), 5);
        assert!(row.ends_with('…') && row.chars().count() == WIDEST, "{row}");
    }
    /// Who reads "nothing failed" takes the program for tested.
    #[test]
    fn a_program_of_which_no_run_was_recorded_counts_as_not_tested() {
        let mut report = Report { ended_early: true, ..Report::default() };
        let mut told = |recorded: u64| {
            report.recorded.passed = recorded;
            let [name, command] = ["queue::mpmc", "queue mpmc"].map(str::to_string);
            let tested = [Tested { name, command, directory: None, report: report.clone(), repairs: Vec::new() }];
            let mut out = Vec::new();
            write_text(0, true, &tested[0], &mut out).expect("into memory");
            write_sum(&tested, 2, &mut out).expect("into memory");
            String::from_utf8(out).expect("text")
        };
        let without = told(0);
        assert!(without.contains("not tested: no recorded run came to its end in time"), "{without}");
        assert!(without.contains("2 tests: 2 not tested"), "{without}");
        let with = told(3);
        assert!(with.contains("nothing failed\n") && with.contains("not all was tried; 1 not tested"), "{with}");
    }
}

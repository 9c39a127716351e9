//! `foretrace test` on small programs: bugs that it was not tuned to are found with no option, right twins give nothing, and what a test can
//! meet of bad input ends in one message.

#[path = "../recorder/support.rs"]
#[allow(dead_code)] // the other tests use the rest
mod support;

mod cargo;
mod exploring;
mod input;
mod locks;
mod meeting;
mod openmp;
mod other_ways;
mod outcomes;
mod repairs;
mod resume;
mod sleeping;
mod stories;
#[path = "../litmus/synchronised.rs"]
mod synchronised;
mod used_after_free;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use support::{Ran, Workshop, foretrace, ran};

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/testing/programs").join(name)
}

/// Builds a program of this folder with these macros.
fn built_with(name: &str, macros: &str) -> Workshop {
    let workshop = Workshop::empty();
    std::fs::copy(source(name), workshop.path(name)).expect("copied");
    let driver = if name.ends_with(".cpp") { "c++ -std=c++20" } else { "cc -std=gnu17" };
    workshop.make(&format!("foretrace {driver} -w -g -O1 -pthread {macros} {name} -o program"));
    workshop
}

/// Builds a program of this folder, or of the examples, and removes its marks.
fn built(source: &Path) -> Workshop {
    let workshop = Workshop::empty();
    let is_cpp = source.extension().is_some_and(|extension| extension == "cpp");
    let (driver, standard) = if is_cpp { ("c++", "-std=c++20") } else { ("cc", "-std=gnu17") };
    let text = std::fs::read_to_string(source).expect("the source is there");
    let name = source.file_name().expect("a file").to_string_lossy().into_owned();
    let plain: Vec<&str> =
        text.lines().map(|line| if line.contains("FORETRACE_ATOMIC_") { "" } else { line }).collect();
    std::fs::write(workshop.path(&name), plain.join("\n")).expect("written");
    workshop.make(&format!("foretrace {driver} {standard} -w -g -O1 -pthread {name} -o program"));
    workshop
}

/// Tests the program of a workshop.
fn test(workshop: &Workshop, options: &str) -> Ran {
    let program = workshop.path("program");
    let mut command = foretrace();
    command.current_dir(program.parent().expect("in a folder")).arg("test").args(options.split_whitespace());
    ran(command.args(["--replays", "3", "--", "./program"]))
}

/// The report of a test, which must be what its schema says.
fn report(workshop: &Workshop, options: &str) -> Value {
    let run = test(workshop, &format!("--format json {options}"));
    let report: Value = serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.err));
    fits(&report, "test.schema.json");
    report
}

/// It is what one of the schemas says.
fn fits(json: &Value, schema: &str) {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas").join(schema);
    let schema = serde_json::from_str(&std::fs::read_to_string(schema).expect("shipped")).expect("JSON");
    let validator = jsonschema::draft202012::new(&schema).expect("a schema");
    let errors: Vec<String> = validator.iter_errors(json).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{json:#}");
}

/// All failures of a report as one text.
fn failures(report: &Value) -> String {
    let finds = report["tests"][0]["finds"].as_array().expect("finds");
    finds.iter().map(|find| find["failure"].as_str().expect("a failure").to_string() + "\n").collect()
}

/// The bug is found without any option, in few runs, and its schedule fails again.
fn finds(file: &Path, failure: &str) -> Value {
    let workshop = built(file);
    let report = report(&workshop, "");
    assert!(failures(&report).contains(failure), "{report:#}");
    let find = &report["tests"][0]["finds"][0];
    assert_eq!(find["replays"]["failed"], find["replays"]["times"], "{report:#}");
    let schedule = workshop.path(find["schedule"].as_str().expect("a schedule"));
    let replayed = ran(foretrace().arg("replay").arg(schedule).arg("--").arg(workshop.path("program")));
    assert!(replayed.out.contains("failed:"), "{}{}", replayed.out, replayed.err);
    report
}

#[test]
fn a_cache_that_is_filled_twice() {
    finds(&source("lazy-cache.c"), "exit status 1");
}

#[test]
fn a_queue_that_is_asked_and_then_popped() {
    finds(&source("job-queue.cpp"), "Assertion `!jobs.empty()' failed");
}

#[test]
fn a_thread_that_writes_only_if_it_comes_first() {
    finds(&source("maximum.c"), "exit status 1");
}

/// In each run that passes, the late thread finds nothing and leaves: only the code of the other thread says that both may book.
#[test]
fn a_thread_that_takes_another_way_since_it_comes_late() {
    let workshop = built(&source("seat-taken.c"));
    let report = report(&workshop, "--runs 1 --seed 2");
    assert!(failures(&report).contains("exit status 1"), "{report:#}");
    let find = &report["tests"][0]["finds"][0];
    assert_eq!(find["known"], "same-code", "{report:#}");
    assert_eq!(find["replays"]["failed"], find["replays"]["times"], "{report:#}");
    // The schedule was shortened to nothing: another build is steered to its places all the same.
    let schedule = workshop.path(find["schedule"].as_str().expect("a schedule"));
    let replay = |edited: &[&str]| {
        ran(foretrace().arg("replay").args(edited).arg(&schedule).arg("--").arg(workshop.path("program"))).out
    };
    assert!(replay(&[]).contains("reached the triple"), "{}", replay(&[]));
    workshop.make("foretrace cc -std=gnu17 -w -g -O0 -pthread seat-taken.c -o program");
    assert!(replay(&["--edited"]).contains("reached the triple"), "{}", replay(&["--edited"]));
}

/// A test framework does much before threads start: runs are not cut off before these do.
#[test]
fn a_program_that_does_much_before_its_threads_start_is_explored() {
    let report = report(&built_with("long-start.c", "-DSTEPS=60000 -DRIGHT"), "");
    let explored = &report["tests"][0]["explored"];
    assert_eq!((&explored["complete"], failures(&report).as_str()), (&Value::from(true), ""), "{report:#}");
    assert!(explored["classes"].as_u64().is_some_and(|classes| classes >= 2), "{report:#}");
}

#[test]
fn an_observer_that_is_asked_once_is_there() {
    let report = report(&built_with("observers.cpp", "-DRIGHT"), "");
    assert_eq!(failures(&report), "", "{report:#}");
}

/// One run is enough: of the many lost updates, that one is tried first that changes the sum.
#[test]
fn an_update_that_makes_a_difference_comes_first() {
    let options = "--runs 1 --predict precise";
    let report = report(&built_with("rare-part.c", ""), options);
    assert!(failures(&report).contains("error: 0 and not 3"), "{report:#}");
    assert_eq!(report["tests"][0]["finds"][0]["known"], "proved", "{report:#}");
    let right = test(&built_with("rare-part.c", "-DRIGHT"), options);
    assert_ne!(right.status, Some(1), "{}{}", right.out, right.err);
}

/// Servers, caches and pools as people write them.
#[test]
fn usual_programs_fail_and_their_right_twins_do_not() {
    for (name, failure) in [
        ("echo-server.c", "exit status 1"),
        ("batch-logger.c", "lines were lost"),
        ("tickets.cpp", "is sold twice"),
        ("ray-tracer.cpp", "hits and"),
    ] {
        let wrong = test(&built_with(name, ""), "--time 60 --stop-after 1");
        assert_eq!(wrong.status, Some(1), "{name}: {}{}", wrong.out, wrong.err);
        assert!(wrong.out.contains(failure), "{name}: {}", wrong.out);
        let right = test(&built_with(name, "-DRIGHT"), "--time 2");
        assert!(matches!(right.status, Some(0 | 3)), "{name}: {}{}", right.out, right.err);
        assert!(right.out.starts_with("nothing failed"), "{name}: {}", right.out);
    }
}

/// A count that the program asks for is its own business, also if the library keeps it.
#[test]
fn a_count_of_owners_that_is_asked_before_another_owner_goes() {
    let workshop = Workshop::of_crate("asked-count");
    let program = workshop.path("program");
    let tested = |arguments: &[&str]| {
        ran(foretrace()
            .args(["test", "--stop-after", "1", "--replays", "3", "--save"])
            .arg(workshop.path("finds"))
            .arg("--")
            .arg(&program)
            .args(arguments))
    };
    let wrong = tested(&["wrong"]);
    assert!(wrong.status == Some(1) && wrong.out.contains("it was alive"), "{}{}", wrong.out, wrong.err);
    assert_ne!(tested(&[]).status, Some(1));
}

/// No lock is held where the condition changes: chance alone hardly ever puts that between a look and its wait.
#[test]
fn a_signal_that_comes_before_the_wait() {
    let report = finds(&source("drain.c"), "deadlock");
    let story = report["tests"][0]["finds"][0]["story"].to_string();
    for told in [
        "thread 1 (main) waits for the end of thread ",
        "waits for a signal that no thread sends, after drain.c:",
        "thread 1 (main) gave the last signal before that wait, at drain.c:",
    ] {
        assert!(story.contains(told), "{told}: {story}");
    }
}

/// No schedule of the run that passed violates the update: the reader would abort before it gives its lock back. That is the failure.
#[test]
fn a_block_off_the_path_leads_to_the_failure() {
    let workshop = built(&source("two-stage.c"));
    let here = workshop.path("program").parent().expect("in a folder").to_path_buf();
    let run = |arguments: &str| ran(foretrace().current_dir(&here).args(arguments.split_whitespace()));
    let schedules = (0..20).find_map(|seed| {
        let recorded = run(&format!("record --seed {seed} -o run{seed} -- ./program"));
        run(&format!("predict run{seed} --witness-dir witnesses{seed}"));
        let files = std::fs::read_dir(here.join(format!("witnesses{seed}"))).ok()?;
        let files: Vec<_> = files.map(|file| file.expect("listed").path().display().to_string()).collect();
        (recorded.status == Some(0) && !files.is_empty()).then_some(files)
    });
    let replays: Vec<String> = schedules
        .expect("a run that passes and has blocks off its path")
        .iter()
        .inspect(|file| assert!(file.contains("off-path-block-"), "{file}"))
        .map(|file| run(&format!("replay {file} -- ./program")).out)
        .collect();
    assert!(replays.iter().any(|out| out.contains("failed: the program was ended by SIGABRT")), "{replays:#?}");
}

/// A recorded run fails by itself. `why` takes what is kept of it, and makes its trace if that is not there.
#[test]
fn why_takes_a_recording_that_a_test_has_kept() {
    let workshop = built(&source("stock-refill.c"));
    let report = report(&workshop, "--seed 1 --runs 5 --stop-after 1");
    assert_eq!(report["tests"][0]["schedules"]["by_kind"]["observed"], 1, "it failed by itself: {report:#}");
    let kept = workshop.path("program.finds/recordings/seed-1");
    std::fs::remove_file(kept.join("trace.jsonl.zst")).expect("its analysis left it");
    let why = ran(foretrace().arg("why").arg(&kept).args(["--times", "3", "--"]).arg(workshop.path("program")));
    assert!(why.out.contains("cause 1: not atomic: stock-refill.c:12–21 in refill"), "{}{}", why.out, why.err);
    assert!(kept.join("trace.jsonl.zst").is_file(), "{}", why.err);
}

/// Both looks at the stock see little: only the code from the first look to the refill, made atomic, keeps the run from failing.
#[test]
fn a_run_that_failed_by_itself_is_repaired() {
    let report = report(&built(&source("stock-refill.c")), "--seed 1 --runs 5 --stop-after 1 --repair");
    let find = &report["tests"][0]["finds"][0];
    let section = &find["repair"]["sections"][0];
    assert_eq!((&section["lines"][0]["first"], &section["lines"][0]["last"]), (&12.into(), &21.into()), "{report:#}");
    let runs = &find["repair"]["runs"];
    assert_eq!((&runs["failed"], &runs["passed"]), (&0.into(), &3.into()), "{report:#}");
}

/// A right program passes; the report says that its lock is code that foretrace does not see.
#[test]
fn code_that_is_not_seen_is_told() {
    for (locked, is_told) in [("-DLOCKED=1", true), ("-DLOCKED=0", false)] {
        let workshop = Workshop::build(&support::source("assembly-lock.c"), &[locked]);
        let report = report(&workshop, "--runs 10");
        let notes = report["tests"][0]["notes"].as_array().expect("notes").iter();
        let told = notes.filter(|note| note.as_str().is_some_and(|note| note.ends_with("unseen: assembly")));
        assert_eq!(told.count(), usize::from(is_told), "{locked}: {report:#}");
    }
}

/// The trace of a run that failed by itself is made in a folder that goes away with the test.
#[test]
fn no_temporary_folder_is_named_where_a_repair_is_sought() {
    let run = test(&built(&source("stock-refill.c")), "--seed 1 --runs 5 --stop-after 1 --repair");
    assert!(run.out.contains("make atomic: stock-refill.c:12–21 in refill"), "{}{}", run.out, run.err);
    for folder in [std::env::temp_dir().display().to_string(), "/dev/shm".to_string()] {
        assert!(!run.err.contains(&folder) && !run.out.contains(&folder), "{}{}", run.out, run.err);
    }
}

/// The reader comes between the updates of two fields: all of both updates has to be atomic.
#[test]
fn a_whole_block_is_repaired() {
    let report = report(&built(&source("two-stage.c")), "--seed 1 --stop-after 1 --repair");
    let repair = &report["tests"][0]["finds"][0]["repair"];
    let section = &repair["sections"][0];
    let lines = (&section["lines"][0]["first"], &section["lines"][0]["last"]);
    assert_eq!(lines, (&12.into(), &15.into()), "{report:#}");
    assert!(repair["path"].as_array().is_some_and(|path| path.len() > 2), "{report:#}");
    assert_eq!((&repair["runs"]["failed"], &repair["runs"]["passed"]), (&0.into(), &3.into()), "{report:#}");
}

/// The first way to this failure goes through two turns of a loop: whole turns of the check alone do not remove it.
#[test]
fn a_repair_that_does_not_help_is_said_to() {
    let told = |name: &str, seed: &str| {
        let run = test(&built(&source(name)), &format!("--stop-after 1 --repair {seed}"));
        (run.out.split_whitespace().collect::<Vec<_>>().join(" "), run.err)
    };
    // With the first seeds a recorded run fails by itself.
    let (text, errors) = told("budget-in-loop.c", "--seed 45");
    assert!(text.contains("with the section kept whole 3 of 3: this alone does not mend it"), "{text}{errors}");
    // What another thread may do that came to the same code is no violation of the trace: a run that failed so is repaired.
    let (text, errors) = told("budget-in-loop.c", "--seed 5");
    assert!(text.contains("make atomic: budget-in-loop.c:11–13"), "{text}{errors}");
    assert!(text.contains("with the section kept whole it failed 0 of 3 times"), "{text}{errors}");
    // Where a function does both, its calls are the section.
    let (text, errors) = told("budget.c", "--seed 5");
    assert!(text.contains("make atomic: budget.c:19, all turns as one"), "{text}{errors}");
    assert!(text.contains("with the section kept whole 0 of 3"), "{text}{errors}");
}

#[test]
fn what_is_told_of_a_failure_happens_in_its_replays() {
    let workshop = built(&source("maximum.c"));
    let report = report(&workshop, "");
    let schedule = report["tests"][0]["finds"][0]["schedule"].as_str().expect("kept");
    let mut command = foretrace();
    command.current_dir(workshop.path("program").parent().expect("in a folder"));
    let replay = ran(command.args(["replay", schedule, "--", "./program"]));
    let reached = ["and the triple happened", "reached the triple"];
    assert!(reached.iter().any(|words| replay.out.contains(words)), "{}", replay.out);
}

/// One of 70 orders opens the safe. No schedule without a solver aims at it, and few recorded runs come to it.
#[test]
fn an_order_of_many_turns_is_found_by_exploring() {
    let workshop = built_with("combination.c", "-DTURNS=4 -DOPENS=361");
    let found = report(&workshop, "--predict cutpoints --runs 35");
    assert!(failures(&found).contains("error: the safe is open"), "{found:#}");
    assert_eq!(found["tests"][0]["explored"]["fails"], true, "{found:#}");
    let find = &found["tests"][0]["finds"][0];
    assert_eq!(find["replays"]["failed"], find["replays"]["times"], "{found:#}");
    assert!(find["story"].as_array().is_some_and(|story| !story.is_empty()), "{found:#}");
    let right = built_with("combination.c", "-DTURNS=3 -DOPENS=0");
    let run = test(&right, "");
    assert_eq!(run.status, Some(0), "{}{}", run.out, run.err);
    assert!(run.out.contains("explored 20 classes of interleavings by 20 runs: all there are"), "{}", run.out);
    assert!(test(&right, "--runs 9").out.contains("runs: not all"));
}

/// The reader has to come between the writes of one thread, which few recorded runs show.
#[test]
fn a_pair_of_accesses_in_the_other_order() {
    let reorder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/testing/shapes/reorder.c");
    let report = report(&built(&reorder), "--predict cutpoints --runs 40");
    assert!(failures(&report).contains("bug"), "{report:#}");
    let explored = &report["tests"][0]["explored"];
    assert!(explored["fails"] == true && explored["runs"] == 0, "{report:#}");
    assert!(explored["reversing_runs"].as_u64() < Some(20), "{report:#}");
}

/// A run at its time limit is told, but is no failure where no replay comes to its limit.
#[test]
fn a_run_that_is_slow_once_does_not_hang() {
    let run = test(&built_with("hangs-once.c", ""), "--run-limit 1 --jobs 1");
    assert_eq!(run.status, Some(3), "{}{}", run.out, run.err);
    assert!(run.out.contains("nothing failed") && run.out.contains("its replays came to their ends"), "{}", run.out);
}

/// All that one thread does has to come between two reads of another one. Each order of two places alone is harmless, or needs another one first.
#[test]
fn a_whole_operation_comes_between_two_calls() {
    let report = report(&built(&source("generation.cpp")), "--predict cutpoints --runs 25");
    assert!(failures(&report).contains("deadlock"), "{report:#}");
    let explored = &report["tests"][0]["explored"];
    assert!(explored["fails"] == true && explored["runs"] == 0, "{report:#}");
    assert!(explored["reversing_runs"].as_u64() < Some(25), "{report:#}");
    let right = test(&built_with("generation.cpp", "-DRIGHT"), "");
    assert_eq!(right.status, Some(0), "{}{}", right.out, right.err);
}

#[test]
fn two_fields_that_change_together() {
    finds(&source("two-stage.c"), "error: 1 and 0");
}

#[test]
fn a_lock_that_takes_three_interruptions() {
    let report = report(&built(&source("peterson.c")), "--stop-after 1");
    assert!(failures(&report).contains("error: both are inside"), "{report:#}");
    let find = &report["tests"][0]["finds"][0];
    assert_eq!(find["replays"]["failed"], find["replays"]["times"], "{report:#}");
    assert!(find["story"].as_array().is_some_and(|story| !story.is_empty()), "{report:#}");
}

#[test]
fn a_pool_each_access_of_which_is_locked() {
    let pool = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/programs/pool.c");
    let report = finds(&pool, "FAIL: lost requests");
    assert!(report["tests"][0]["finds"][0]["title"].as_str().is_some(), "{report:#}");
}

#[test]
fn examples_without_their_marks() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/programs");
    finds(&examples.join("bank/bank.c"), "exit status 1");
    finds(&examples.join("string-buffer/string-buffer.cpp"), "SIGABRT");
}

#[test]
fn a_deadlock_names_who_waits_for_whom() {
    // No handler of a signal gives back a lock, so it does not matter that one may be called.
    for option in ["", "-DHANDLER"] {
        let report = report(&built_with("transfer.c", option), "");
        assert!(failures(&report).contains("deadlock"), "{option}: {report:#}");
        let story = report["tests"][0]["finds"][0]["story"].to_string();
        assert!(
            story.contains("holds the lock it took at transfer.c:") && story.contains("waits for the lock that"),
            "{option}: {story}"
        );
    }
}

/// The loop hangs in most runs, the first recorded one among them. No run waits for its limit: that would take a minute.
#[test]
fn threads_that_wait_for_each_other_in_the_kernel_are_a_deadlock() {
    for (option, channel) in [("", "an eventfd"), ("-DPIPE", "a pipe")] {
        let workshop = built_with("wake-lost.c", option);
        let start = Instant::now();
        let report = report(&workshop, "--stop-after 1");
        assert!(failures(&report).contains("deadlock"), "{report:#}");
        let story = report["tests"][0]["finds"][0]["story"].to_string();
        assert!(story.contains(&format!("waits for a write to {channel} that no thread makes")), "{story}");
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    }
}

/// Both threads have made the write that is to come in between, the first one before the second one was there.
#[test]
fn a_thread_that_took_the_other_way_when_the_two_met() {
    let workshop = built(&source("permits-left.c"));
    let report = report(&workshop, "--runs 1 --seed 6");
    assert!(failures(&report).contains("exit status 1"), "{report:#}");
    let find = &report["tests"][0]["finds"][0];
    assert_eq!(find["known"], "same-code", "{report:#}");
    assert_eq!(find["replays"]["failed"], find["replays"]["times"], "{report:#}");
}

/// A child process, a timer and a child's child wake a thread while all threads wait.
#[test]
fn what_others_wake_is_no_deadlock() {
    let workshop = built(&source("woken-from-outside-right.c"));
    for seed in ["1", "2", "3"] {
        let program = workshop.path("program");
        let run =
            ran(foretrace().args(["record", "--seed", seed, "-o"]).arg(workshop.path(seed)).arg("--").arg(program));
        assert_eq!(run.status, Some(0), "{}{}", run.out, run.err);
    }
}

#[test]
fn right_twins_give_nothing() {
    let names = ["job-queue-right.cpp", "counter-right.c", "two-stage-right.c", "peterson-right.c"];
    let others =
        ["polite-waiters-right.c", "token-right.c", "drain-right.c", "seat-taken-right.c", "permits-left-right.c"];
    for name in names.into_iter().chain(others) {
        let run = test(&built(&source(name)), "--runs 120");
        assert_eq!(
            (run.status, run.out.lines().next()),
            (Some(0), Some("nothing failed")),
            "{name}: {}{}",
            run.out,
            run.err
        );
    }
}

/// Two threads count under a lock; no run comes to the limit, and each comes to the turn that is even and to the one that is odd.
const LIMIT: &str = "#include <pthread.h>
static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *odd)
{
    pthread_mutex_lock(&lock);
    if (++count > 5)
        count = 0;
    if (count % 2)
        *(int *)odd = 1;
    pthread_mutex_unlock(&lock);
    return odd;
}
int main(void)
{
    int odd[2] = {0, 0};
    pthread_t thread;
    pthread_create(&thread, 0, work, odd);
    work(odd + 1);
    pthread_join(thread, 0);
    return odd[0] + odd[1] == 1 ? 0 : 1;
}
";

#[test]
fn branches_that_go_one_way_are_told_where_nothing_fails() {
    let workshop = Workshop::empty();
    std::fs::write(workshop.path("limit.c"), LIMIT).expect("written");
    workshop.make("foretrace cc -g -pthread limit.c -o program");
    let report = report(&workshop, "");
    let branches = report["tests"][0]["one_way_branches"].as_array().expect("a list");
    let [branch] = &branches[..] else { panic!("{branches:?}") };
    assert!(branch["place"].as_str().is_some_and(|place| place.contains("limit.c:7:")), "{branch}");
    assert_eq!(branch["text"], "if (++count > 5)");
    let told = || {
        let run = test(&workshop, "");
        assert!(run.out.contains("went one way only") && run.out.contains("limit.c:7:"), "{}", run.out);
    };
    told();
    // A build in a folder beside the source's, as by CMake: its code is the program's, too.
    workshop.make("mkdir build && cd build && foretrace cc -g -pthread \"$OLDPWD/limit.c\" -o ../program");
    told();
}

#[test]
fn what_is_kept_is_run_again_on_a_new_build() {
    let file = source("lazy-cache.c");
    let workshop = built(&file);
    let found = test(&workshop, "--junit report.xml");
    assert_eq!(found.status, Some(1), "{}", found.err);
    let junit = std::fs::read_to_string(workshop.path("report.xml")).expect("written");
    assert!(junit.contains("<failure message=\"exit status 1"), "{junit}");
    let again = test(&workshop, "--again program.finds");
    assert!(
        again.status == Some(1) && again.out.starts_with("still fails, 5 of 5 times"),
        "{}{}",
        again.out,
        again.err
    );
    let text = std::fs::read_to_string(&file).expect("there");
    let right = text.replace(
        "slots[key % SLOTS] = entry;",
        "if (!slots[key % SLOTS]) slots[key % SLOTS] = entry; entry = slots[key % SLOTS];",
    );
    std::fs::write(workshop.path("lazy-cache.c"), format!("/* edited */\n{right}")).expect("written");
    workshop.make("foretrace cc -w -g -O1 -pthread lazy-cache.c -o program");
    let again = test(&workshop, "--again program.finds");
    assert_ne!(again.status, Some(1), "{}{}", again.out, again.err);
    assert!(!again.out.contains("still fails"), "{}", again.out);
}

#[test]
fn a_program_without_an_end_gives_one_message() {
    let run = test(&built(&source("endless.c")), "--run-limit 1");
    assert_eq!(run.status, Some(2), "{}", run.out);
    assert!(run.err.contains("the program did not end within 1 s (thread 1 (main) after endless.c:"), "{}", run.err);
}

/// No run ends before all time is over, so that each run under way is stopped.
#[test]
fn time_is_over_for_runs_that_may_take_longer() {
    let workshop = built(&source("endless.c"));
    let start = Instant::now();
    let run = test(&workshop, "--time 3 --run-limit 60");
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
    assert_eq!(run.status, Some(2), "{}", run.out);
    assert!(run.err.contains("the program did not end within 3 s: give it an end"), "{}", run.err);
}

/// Under the controller the program goes on for ever. By itself the right one ends, and the wrong one does not always.
#[test]
fn a_hang_that_the_controller_makes_is_none_of_the_program() {
    let (right, wrong) = (built_with("parallel-only.c", ""), built_with("parallel-only.c", "-DWRONG"));
    let options = "--run-limit 1 --time 8";
    let run = test(&right, options);
    assert_eq!(run.status, Some(3), "{}{}", run.out, run.err);
    assert!(run.out.starts_with("nothing failed") && run.out.contains("a run was let go after 1 s"), "{}", run.out);
    let run = test(&wrong, "--run-limit 1 --time 20 --stop-after 1");
    assert_eq!(run.status, Some(1), "{}{}", run.out, run.err);
    assert!(run.out.contains("1. hangs"), "{}", run.out);
}

/// Runs without recording only take their limit; a recorded run ends, and says why.
#[test]
fn a_program_that_always_comes_to_a_deadlock_is_said_to() {
    let run = test(&built(&source("missed-signal.c")), "--run-limit 1");
    assert_eq!(run.status, Some(1), "{}{}", run.out, run.err);
    assert!(run.out.contains("1. deadlock"), "{}{}", run.out, run.err);
}

/// The logs of a run that asks for ever are long: the test reads no more of them than its time allows, and finds the hang.
#[test]
fn a_thread_that_asks_for_ever_is_found_in_time() {
    let workshop = built_with("polled-readers.c", "-DRIGHT=0");
    let start = Instant::now();
    let run = test(&workshop, "--time 10");
    assert!(run.status == Some(1) && run.out.contains("1. hangs"), "{}{}", run.out, run.err);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

/// A signal that is handled after the program looked and before it waits is lost.
#[test]
fn a_signal_comes_right_before_a_pause() {
    let run = test(&built_with("reload-flag.c", ""), "--run-limit 1 --stop-after 1");
    assert_eq!(run.status, Some(1), "{}{}", run.out, run.err);
    assert!(run.out.contains("1. hangs") && run.out.contains("fails in 3 of 3 replays"), "{}", run.out);
    let right = test(&built_with("reload-flag.c", "-DRIGHT"), "--runs 30");
    assert_eq!(right.status, Some(0), "{}{}", right.out, right.err);
}

#[test]
fn a_program_that_always_fails_is_said_to() {
    let run = test(&built(&source("always-fails.c")), "");
    assert_eq!(run.status, Some(1), "{}", run.err);
    assert!(run.out.contains("error: the count is there") && run.out.contains("recorded runs failed"), "{}", run.out);
    let passes = test(&built(&source("always-fails.c")), "--pass-status 1");
    assert_eq!(passes.status, Some(0), "{}{}", passes.out, passes.err);
}

#[test]
fn memory_is_limited() {
    let run = test(&built(&source("greedy.c")), "--memory 100");
    assert_eq!(run.status, Some(2), "{}", run.out);
    assert!(run.err.contains("took more than 100 MB of memory"), "{}", run.err);
}

#[test]
fn runs_do_not_meet_in_a_sandbox_and_their_children_end() {
    let workshop = built(&source("children.c"));
    let start = Instant::now();
    let report = report(&workshop, "--sandbox --watch result --jobs 2");
    assert!(!failures(&report).contains("exit status 2"), "{report:#}");
    assert!(failures(&report).contains("the result differs from that of passing runs"), "{report:#}");
    let notes = report["tests"][0]["notes"].to_string();
    assert!(notes.contains("processes that this one forks are not recorded"), "{report:#}");
    assert!(start.elapsed() < Duration::from_secs(300), "children are not waited for");
    let left = Command::new("pgrep").arg("-f").arg(workshop.path("program")).output();
    assert!(left.is_ok_and(|left| left.stdout.is_empty()), "a child lives on");
}

#[test]
fn a_harness_says_what_is_wrong() {
    let workshop = built(&source("children.c"));
    let script = "#!/bin/sh\n\"$@\" || exit 3\ngrep -q \"^2\" result\n";
    workshop.make(&format!("printf '%s' '{script}' > check.sh && chmod +x check.sh"));
    let report = report(&workshop, "--sandbox --harness ./check.sh");
    assert!(report["tests"][0]["runs"]["passed"].as_u64().is_some_and(|passed| passed > 0), "{report:#}");
    assert!(failures(&report).contains("exit status 1"), "an update is lost: {report:#}");
}

/// Two runs at a time are in each other's way; in folders of their own they are not.
#[test]
fn a_harness_that_fails_without_recording_hints_at_files() {
    let workshop = built(&source("counter-right.c"));
    let script = "#!/bin/sh\n\"$@\" || exit 1\nmkdir own || exit 3\nsleep 0.2\nrmdir own\n";
    workshop.make(&format!("printf '%s' '{script}' > alone.sh && chmod +x alone.sh"));
    for (options, hints) in [("", true), ("--sandbox", false)] {
        let report = report(&workshop, &format!("--jobs 2 --runs 4 --time 15 --harness ./alone.sh {options}"));
        let notes = report["tests"][0]["notes"].to_string();
        assert_eq!(notes.contains("--sandbox"), hints, "{report:#}");
        assert_eq!(notes.contains("failed without recording"), hints, "{report:#}");
    }
}

#[test]
fn litmus_programs_are_tried_under_every_schedule() {
    let litmus = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/litmus");
    let run = |name: &str| ran(foretrace().arg("test").arg("--time").arg("3").arg(litmus.join(name)));
    let bank = run("bank.lit");
    assert_eq!(bank.status, Some(1), "{}{}", bank.out, bank.err);
    assert!(bank.out.contains("lost update on balance"), "{}", bank.out);
    let flags = run("flags.lit");
    assert!(flags.out.contains("the program has 28 schedules, of which 3 fail"), "{}", flags.out);
    let fine = run("fig1a.lit");
    assert!(fine.status == Some(0) && fine.out.starts_with("nothing failed"), "{}", fine.out);
    let missing = run("no-such.lit");
    assert!(missing.status == Some(2) && missing.err.contains("no-such.lit"), "{}", missing.err);
}

#[test]
fn wrong_words_end_in_one_message() {
    for (words, message) in [
        ("test", "expected a program: foretrace test -- PROG ARGS"),
        ("test -- ./no-such-program", "no-such-program: not found"),
        ("test -- /bin/true", "not built by foretrace"),
        ("test --fail-when ( -- /bin/true", "expected a regular expression"),
    ] {
        let run = ran(foretrace().args(words.split(' ')));
        assert!(run.status == Some(2) && run.err.contains(message), "{words}: {}", run.err);
    }
}

/// There are 12,870 orders.
#[test]
fn exploring_that_time_cuts_off_is_not_all() {
    let workshop = built_with("combination.c", "-DTURNS=8 -DOPENS=0");
    let run = test(&workshop, "--time 4 --runs 5000");
    assert_eq!(run.status, Some(3), "{}{}", run.out, run.err);
    assert!(run.out.contains("not all was tried"), "{}", run.out);
}

//! `foretrace explore -- PROG`: as many classes of interleavings as the same litmus program has, each run of a failing class
//! again, bugs that need interruptions, deadlocks, loops that wait, and right twins, of which all is explored.

use super::synchronised::Synchronised;
use super::{built_with as program, failures, report as tested, support};
use foretrace::litmus;
use serde_json::Value;
use std::ops::ControlFlow;
use std::path::Path;
use support::{Ran, Workshop, foretrace, ran};

fn explore(workshop: &Workshop, options: &str) -> Ran {
    let folder = workshop.path("program");
    let mut command = foretrace();
    command.current_dir(folder.parent().expect("in a folder")).arg("explore").args(options.split_whitespace());
    ran(command.args(["--", "./program"]))
}

/// The exit status and the report, which must be what its schema says.
fn report(workshop: &Workshop, options: &str) -> (i32, Value) {
    let run = explore(workshop, &format!("--format json {options}"));
    let report: Value = serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.err));
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/program-exploration.schema.json");
    let schema = serde_json::from_str(&std::fs::read_to_string(schema).expect("shipped")).expect("JSON");
    let validator = jsonschema::draft202012::new(&schema).expect("a schema");
    let errors: Vec<String> = validator.iter_errors(&report).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{report:#}");
    (run.status.expect("an exit status"), report)
}

/// Classes of a litmus program, and how many of them do not finish.
fn of_litmus(source: &str) -> (u64, u64) {
    let program = litmus::parse(source).expect("a program");
    let mut failing = 0;
    let explored = litmus::explore(&program, litmus::Exploring::all(10_000), &mut |_| true, &mut |execution| {
        failing += u64::from(execution.outcome != litmus::Outcome::Finished);
        ControlFlow::Continue(())
    });
    (explored.tally.executions, failing)
}

/// The program has the classes of the litmus program, all of which are explored; the report.
fn same_classes(workshop: &Workshop, source: &str) -> Value {
    let (classes, failing) = of_litmus(source);
    let (status, report) = report(workshop, "");
    assert_eq!(report["interleavings"], classes, "{report:#}");
    assert_eq!(report["failed"], failing, "{report:#}");
    assert_eq!(report["complete"], true, "{report:#}");
    assert_eq!(status, i32::from(failing > 0));
    report
}

#[test]
fn readers_of_a_program_have_the_classes_of_the_litmus_program() {
    let source = "shared x: int = 0; thread W { x = 1; } thread A { let a = x; } thread B { let a = x; } thread C { let a = x; }";
    same_classes(&program("readers.c", "-DREADERS=3"), source);
}

#[test]
fn the_last_zero_of_a_program_has_the_classes_of_the_litmus_program() {
    let source = "shared a: int[4] = 0;
        thread S { let i = 3; let go = a[i] != 0; while (go) { i = i - 1; go = a[i] != 0; } }
        thread A { a[1] = a[0] + 1; } thread B { a[2] = a[1] + 1; } thread C { a[3] = a[2] + 1; }";
    same_classes(&program("last-zero.c", "-DSETTERS=3"), source);
}

/// No log has a place within a library that foretrace did not build, nor between two calls of it: there another thread may go on, too.
#[test]
fn code_that_foretrace_did_not_build_may_have_more_orders() {
    let workshop = Workshop::empty();
    let library = "int take(int *a) { return __atomic_fetch_add(a, 1, __ATOMIC_SEQ_CST); }\n";
    let program = "#include <pthread.h>\nint take(int *);\nstatic int a, b;\n\
                   static void *f(void *x) { b = 1; take(&a); return x; }\n\
                   int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); f(0); pthread_join(t, 0); return b - 1; }\n";
    std::fs::write(workshop.path("library.c"), library).expect("written");
    std::fs::write(workshop.path("program.c"), program).expect("written");
    workshop.make("cc -O1 -shared -fPIC -o liblib.so library.c");
    workshop.make("foretrace cc -g -pthread -o program program.c -L. -llib -Wl,-rpath,'$ORIGIN'");
    let (status, explored) = report(&workshop, "");
    assert_eq!((status, &explored["complete"]), (3, &Value::Bool(false)), "{explored:#}");
    assert!(explored["doubts"].to_string().contains("code that foretrace did not build"), "{explored:#}");
    let test = tested(&workshop, "");
    assert_eq!(test["tests"][0]["explored"]["complete"], false, "{test:#}");
}

/// Each gets what those before it left, so who comes first is a class of its own: of `read`, `readv`, functions of streams, of a `read` that
/// finds nothing left, of `lseek`, `fseek`, `rewind` and `ungetc`, of descriptors that `dup` and its like made, and of standard input.
#[test]
fn readers_of_one_position_have_a_class_for_each_order_of_coming() {
    for how in 0..=25 {
        let newest = 18; // of the later ones the wrong program alone, which shows both orders
        for fails in (if how < newest { 0 } else { 1 })..=1 {
            let (status, report) = report(&program("shared-position.c", &format!("-DHOW={how} -DFAILS={fails}")), "");
            assert_eq!(report["interleavings"], 2, "{how}: {report:#}");
            assert_eq!(report["failed"], fails, "{how}: {report:#}");
            assert_eq!(report["complete"], true, "{how}: {report:#}");
            assert_eq!(status, fails, "{how}");
        }
    }
}

/// Each takes until nothing is left: two calls find a byte, by either thread each, and then each thread finds nothing, in either order.
#[test]
fn readers_who_take_all_have_a_class_for_each_order_of_calls() {
    for how in ["", "-DSTREAM"] {
        for (fails, failed) in [("", 0), ("-DFAILS", 4)] {
            let (status, report) = report(&program("shared-lines.c", &format!("{how} {fails}")), "");
            assert_eq!(report["interleavings"], 8, "{how} {fails}: {report:#}");
            assert_eq!(report["failed"], failed, "{how} {fails}: {report:#}");
            assert_eq!(report["complete"], true, "{how} {fails}: {report:#}");
            assert_eq!(status, i32::from(failed > 0), "{how} {fails}");
        }
    }
}

/// One of 70 orders changes what is printed. That counts where all runs print the same, and not where what they print varies anyway.
#[test]
fn output_counts_where_nothing_varies_by_itself() {
    let options = "--predict cutpoints --runs 35";
    let steady = tested(&program("combination.c", "-DTURNS=4 -DOPENS=361 -DPRINTS=1"), options);
    let told = "the output differs from that of passing runs: the safe is open";
    assert!(failures(&steady).contains(told), "{steady:#}");
    assert_eq!(steady["tests"][0]["explored"]["fails"], true, "{steady:#}");
    let find = &steady["tests"][0]["finds"][0];
    assert_eq!(find["replays"]["failed"], find["replays"]["times"], "{steady:#}");
    let varying = tested(&program("combination.c", "-DTURNS=3 -DOPENS=0 -DPRINTS=2"), options);
    assert_eq!(failures(&varying), "", "{varying:#}");
    assert_eq!(varying["tests"][0]["explored"]["complete"], true, "{varying:#}");
}

/// Threads leave a barrier in no order, and come to its next round in no order with those that leave.
#[test]
fn rounds_of_a_barrier_have_a_class_for_each_order_of_coming() {
    for fails in [0, 1] {
        let (status, report) = report(&program("rounds.c", &format!("-DFAILS={fails}")), "");
        assert_eq!(report["interleavings"], 4, "{report:#}");
        assert_eq!(report["failed"], fails, "{report:#}");
        assert_eq!(report["complete"], true, "{report:#}");
        assert_eq!(status, fails);
    }
}

#[test]
fn philosophers_come_to_one_deadlock_whose_cycle_is_told() {
    let dine = |one: &str, other: &str| format!("lock({one}); lock({other}); unlock({other}); unlock({one});");
    let source = |last: String| {
        let (first, second) = (dine("a", "b"), dine("b", "c"));
        format!("mutex a; mutex b; mutex c; thread A {{ {first} }} thread B {{ {second} }} thread C {{ {last} }}")
    };
    let report = same_classes(&program("philosophers.c", "-DSEATS=3 -DCAREFUL=0"), &source(dine("c", "a")));
    let failure = &report["failures"][0];
    assert_eq!(failure["kind"], "deadlocks", "{report:#}");
    let cycle = failure["cycle"].to_string();
    for (thread, owner) in [(2, 3), (3, 4), (4, 2)] {
        let line = format!("and waits for the lock that thread {owner} took");
        assert!(cycle.contains(&format!("thread {thread} (dine) holds")) && cycle.contains(&line), "{cycle}");
    }
    same_classes(&program("philosophers.c", "-DSEATS=3 -DCAREFUL=1"), &source(dine("a", "c")));
}

#[test]
fn a_bug_of_two_interruptions_is_kept_and_replayed() {
    let workshop = program("flags.c", "-DHASTY=1");
    let (status, report) = report(&workshop, "--save runs --passing");
    assert_eq!(status, 1, "{report:#}");
    assert_eq!(report["complete"], true, "{report:#}");
    let failure = &report["failures"][0];
    assert!(failure["what"].as_str().expect("text").contains("both are inside"), "{report:#}");
    let kept = workshop.path(failure["recording"].as_str().expect("it is kept"));
    let replayed = ran(foretrace().arg("replay").arg(&kept).arg("--").arg(workshop.path("program")));
    assert_eq!(replayed.status, Some(0), "{}{}", replayed.out, replayed.err);
    assert!(replayed.err.contains("both are inside"), "{}{}", replayed.out, replayed.err);
    let passing = workshop.path("runs/passing-1.foretrace");
    let repaired = ran(foretrace().arg("repair").arg(&kept).arg("--passing").arg(passing));
    assert_eq!(repaired.status, Some(1), "{}{}", repaired.out, repaired.err);
    for (most, status) in [(0, 3), (1, 3), (2, 1)] {
        let bounded = explore(&workshop, &format!("--context-switches {most}"));
        assert_eq!(bounded.status, Some(status), "{most}: {}{}", bounded.out, bounded.err);
        let plural = if most == 1 { "" } else { "s" };
        let all = format!("all with at most {most} interruption{plural} were explored");
        assert!(bounded.out.contains(&all), "{}", bounded.out);
    }
    let first = explore(&workshop, "--first");
    assert!(first.status == Some(1) && first.out.contains("there may be more"), "{}", first.out);
}

#[test]
fn the_right_twins_are_explored_to_the_end() {
    let (status, flags) = report(&program("flags.c", "-DHASTY=0"), "");
    assert_eq!((status, &flags["complete"]), (0, &Value::Bool(true)), "{flags:#}");
    let (status, mailbox) = report(&program("mailbox.c", "-DLOSES=0"), "");
    assert_eq!((status, &mailbox["complete"]), (0, &Value::Bool(true)), "{mailbox:#}");
}

/// The program may end before a thread has done anything. What that thread could have done before the end is explored, too.
#[test]
fn a_thread_that_is_not_waited_for_may_come_before_the_end() {
    for (macros, fails) in [("", false), ("-DHASTY", true), ("-DLATE", true), ("-DEARLY_END", true)] {
        let (status, report) = report(&program("unjoined.c", macros), "");
        assert_eq!(report["complete"], true, "{macros}: {report:#}");
        assert_ne!(report["passed"], 0, "{macros}: {report:#}");
        assert_eq!(report["failed"] != 0, fails, "{macros}: {report:#}");
        assert_eq!(status, i32::from(fails), "{macros}: {report:#}");
    }
}

/// What a thread does alone has one order: it makes no classes, however much it is.
#[test]
fn much_work_before_and_after_the_threads_changes_no_class() {
    for (macros, fails) in [("", true), ("-DRIGHT", false)] {
        let explored = |steps: u32| {
            let (status, report) =
                report(&program("long-start.c", &format!("-DSTEPS={steps} {macros}")), "--max-steps 1000000");
            assert_eq!((status, &report["complete"]), (i32::from(fails), &Value::from(true)), "{report:#}");
            (report["interleavings"].clone(), report["failed"].clone())
        };
        assert_eq!(explored(1), explored(40_000));
    }
}

#[test]
fn a_waiter_that_no_signal_wakes_sleeps_for_ever() {
    let (status, report) = report(&program("mailbox.c", "-DLOSES=1"), "");
    assert_eq!(status, 1, "{report:#}");
    let kinds: Vec<&Value> = report["failures"].as_array().expect("failures").iter().map(|one| &one["kind"]).collect();
    assert!(!kinds.is_empty() && kinds.iter().all(|kind| *kind == "deadlocks"), "{report:#}");
}

#[test]
fn loops_that_wait_do_not_keep_exploration_from_its_end() {
    let (status, wrong) = report(&program("turns.c", "-DRIGHT=0"), "");
    assert_eq!(status, 1, "{wrong:#}");
    assert_eq!(wrong["complete"], true, "{wrong:#}");
    let (status, right) = report(&program("turns.c", "-DRIGHT=1"), "");
    assert_eq!((status, &right["complete"]), (0, &Value::Bool(true)), "{right:#}");
    assert_eq!(right["waiting_loops"], 1, "{right:#}");
}

#[test]
fn what_is_not_explored_is_said() {
    let workshop = program("flags.c", "-DHASTY=0");
    let few = explore(&workshop, "--runs 1");
    assert!(few.status == Some(3) && few.out.contains("not all were explored"), "{}", few.out);
    let cut = explore(&workshop, "--max-steps 5");
    assert!(cut.status == Some(3) && cut.out.contains("cut off"), "{}", cut.out);
    let tried = explore(&program("tried-count.c", ""), "");
    assert_ne!(tried.status, Some(0), "{}", tried.out);
}

/// Random programs in C have as many classes, and as many of them in a deadlock, as the same litmus programs, of which no schedule is lost.
#[test]
fn random_programs_have_the_classes_of_the_litmus_programs() {
    let count = std::env::var("FORETRACE_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(8);
    for seed in 0..count {
        let random = Synchronised::new(seed);
        let source = random.litmus();
        let (classes, failing) = of_litmus(&source);
        let workshop = Workshop::empty();
        std::fs::write(workshop.path("program.c"), random.c()).expect("written");
        workshop.make("foretrace cc -std=gnu17 -O1 -pthread program.c -o program");
        let (status, report) = report(&workshop, "");
        let found = (report["interleavings"].as_u64(), report["failed"].as_u64(), &report["complete"]);
        let program = random.c();
        assert_eq!(
            found,
            (Some(classes), Some(failing), &Value::Bool(true)),
            "{seed}\n{source}\n{program}\n{report:#}"
        );
        assert_eq!(status, i32::from(failing > 0), "{seed}");
    }
}

#[test]
fn threads_that_meet_in_files_are_not_called_explored() {
    for defines in ["", "-DNAMES"] {
        let (status, report) = report(&program("file-counter.c", defines), "");
        assert!(status == 3 || report["failed"] != 0, "{report:#}");
        assert_eq!(report["complete"], false, "{report:#}");
        assert!(report["doubts"].to_string().contains("files"), "{report:#}");
    }
    let (status, first) = report(&program("first-file.c", ""), "");
    assert!(status == 3 && first["doubts"].to_string().contains("files"), "{first:#}");
    let (status, own) = report(&program("file-counter.c", "-DOWN"), "");
    assert_eq!((status, &own["complete"]), (0, &Value::Bool(true)), "{own:#}");
}

/// Another thread may free a block before a semaphore or a lock in it is used, though it touches nothing else there.
#[test]
fn a_free_comes_before_and_after_uses_of_what_waits_in_the_block() {
    for name in ["job-done.c", "locked-account.c"] {
        let (status, wrong) = report(&program(name, ""), "");
        assert_eq!((status, &wrong["complete"]), (1, &Value::Bool(true)), "{name}: {wrong:#}");
        let (status, right) = report(&program(name, "-DRIGHT"), "");
        assert_eq!((status, &right["complete"]), (0, &Value::Bool(true)), "{name}: {right:#}");
    }
}

/// A child process runs unrecorded, so its orders are not among those explored.
#[test]
fn a_program_with_child_processes_is_not_called_explored() {
    let (status, report) = report(&program("shared-with-child.c", ""), "");
    assert_eq!((status, &report["complete"]), (3, &Value::Bool(false)), "{report:#}");
    assert!(report["doubts"].to_string().contains("forked processes, which run unrecorded"), "{report:#}");
    let (status, closed) = self::report(&program("shared-with-child.c", "-DCLOSED"), "");
    assert_eq!((status, &closed["complete"]), (0, &Value::Bool(true)), "{closed:#}");
}

/// A run may end before the timer's signal, which could come at any place.
#[test]
fn a_program_that_sets_a_timer_is_not_called_explored() {
    let (status, report) = report(&program("late-alarm.c", ""), "");
    assert_eq!((status, &report["complete"]), (3, &Value::Bool(false)), "{report:#}");
    assert!(report["doubts"].to_string().contains("signals arrive"), "{report:#}");
}

#[test]
fn a_loop_that_gives_up_is_no_wait() {
    let (status, report) = report(&program("gives-up.c", "-DROUNDS=3000"), "--first");
    assert_eq!(status, 1, "{report:#}");
    assert!(report["failures"][0]["what"].to_string().contains("ready"), "{report:#}");
    let (status, right) = self::report(&program("gives-up.c", "-DROUNDS=1000000000"), "");
    assert_eq!((status, &right["complete"]), (0, &Value::Bool(true)), "{right:#}");
}

/// So does one that asks under a lock and gives it back, unless it gives up after some turns.
#[test]
fn a_loop_that_asks_under_a_lock_waits() {
    let (status, right) = report(&program("polls.c", ""), "--runs 100");
    assert_eq!((status, &right["complete"], &right["waiting_loops"]), (0, &true.into(), &1.into()), "{right:#}");
    let (status, early) = report(&program("polls.c", "-DEARLY"), "--runs 400");
    assert_eq!((status, &early["waiting_loops"]), (1, &1.into()), "{early:#}");
    let (status, few) = report(&program("polls.c", "-DROUNDS=5"), "--first");
    assert_eq!(status, 1, "{few:#}");
    assert!(few["failures"][0]["what"].to_string().contains("sum == 3"), "{few:#}");
}

/// Where it asks under the lock that the others need, they get it between two rounds; only where no thread will end the wait is it a hang.
#[test]
fn a_loop_that_asks_under_a_lock_lets_others_take_it() {
    for (options, classes, fails) in [("-DRIGHT=1", 6, 0), ("-DRIGHT=0", 4, 1)] {
        let (status, report) = report(&program("polled-readers.c", options), "");
        assert_eq!((status, &report["complete"]), (fails, &true.into()), "{report:#}");
        assert_eq!((&report["interleavings"], &report["failed"]), (&classes.into(), &fails.into()), "{report:#}");
    }
}

/// A `poll` ends by a limit of more than a second only if no other thread can go on: the answer was held back, not missing.
#[test]
fn a_poll_with_a_long_limit_waits_for_threads() {
    for (options, fails) in [("-DLIMIT=2000", 0), ("-DLIMIT=2000 -DLOST", 1), ("-DLIMIT=300", 1)] {
        let (_, report) = report(&program("polled-answer.c", options), "--first");
        assert_eq!(report["failed"], fails, "{options}: {report:#}");
    }
}

/// The first write comes before the first read or poll of the reader, where that waits, and the second write before the second. A read that does not wait comes
/// before both writes, between them or after them. Polls and reads make four calls: the second write comes before one of the first three.
#[test]
fn messages_have_a_class_for_each_order_of_calls() {
    for (options, classes) in [("", 2), ("-DSOCKET", 2), ("-DLOOK", 3), ("-DPOLL", 3), ("-DPOLL -DSOCKET", 3)] {
        let (status, report) = report(&program("messages-between.c", options), "");
        assert_eq!((status, &report["complete"]), (0, &true.into()), "{options}: {report:#}");
        assert_eq!(report["interleavings"], classes, "{options}: {report:#}");
    }
    let (status, report) = report(&program("messages-between.c", "-DMORE"), "");
    assert_eq!((status, &report["failed"]), (1, &report["interleavings"]), "{report:#}");
}

/// Both reports come after the first write; the second write comes before them, between them or after them. With `EPOLLET` it comes between them, or there
/// is one report for both writes, and nobody can go on.
#[test]
fn writes_are_reported_once_or_as_long_as_nobody_reads() {
    for (options, classes, failed) in [("-DLEVEL", 3, 0), ("", 2, 1)] {
        let (_, report) = report(&program("reports-once.c", options), "");
        assert_eq!(
            (&report["interleavings"], &report["failed"]),
            (&classes.into(), &failed.into()),
            "{options}: {report:#}"
        );
        assert!(failed > 0 || report["complete"] == true, "{options}: {report:#}");
    }
}

/// The time of a wait that its limit ends has passed, also where clocks stand still: a loop that looks at them ends.
#[test]
fn a_loop_that_polls_until_a_clock_says_so_ends() {
    let (status, report) = report(&program("poll-by-clock.c", ""), "");
    assert_eq!((status, &report["complete"]), (1, &true.into()), "{report:#}");
    assert_eq!((&report["interleavings"], &report["failed"]), (&2.into(), &1.into()), "{report:#}");
}

/// A turn that writes what is there already changes nothing; one that changes something is no wait, and no hang either.
#[test]
fn a_loop_that_writes_the_same_waits() {
    let (status, report) = report(&program("busy-wait.c", ""), "");
    assert_eq!((status, &report["complete"], &report["waiting_loops"]), (0, &true.into(), &1.into()), "{report:#}");
    let (status, changing) = self::report(&program("busy-wait.c", "-DCHANGES"), "--runs 30 --max-steps 3000");
    assert_eq!((status, &changing["failed"], &changing["waiting_loops"]), (3, &0.into(), &0.into()), "{changing:#}");
}

/// Code that is not recorded ends a wait. Where the thread then joins the other one all is explored; where it first looks at what that
/// one changes, the report says that not all may be.
#[test]
fn a_wait_may_end_by_code_that_is_not_recorded() {
    let explored = |flags: &str| {
        let workshop = Workshop::empty();
        let source = support::source("../../testing/programs/unrecorded-flag.c");
        std::fs::copy(source, workshop.path("flag.c")).expect("copied");
        workshop.make("cc -O1 -DPLAIN -c flag.c -o plain.o");
        workshop.make(&format!("foretrace cc -std=gnu17 -O1 -pthread {flags} flag.c plain.o -o program"));
        report(&workshop, "")
    };
    for flags in ["", "-DSPINS"] {
        let (status, joins) = explored(flags);
        assert_eq!((status, &joins["complete"], &joins["passed"]), (0, &true.into(), &1.into()), "{joins:#}");
    }
    let (status, shares) = explored("-DSHARES");
    assert!(status == 3 && shares["doubts"].to_string().contains("not recorded"), "{shares:#}");
}

#[test]
fn a_thread_that_sleeps_in_a_futex_waits() {
    for (flags, status) in [("", 0), ("-DHASTY", 1)] {
        let workshop = Workshop::empty();
        let source = support::source("../../testing/programs/atomic-wait.cpp");
        std::fs::copy(source, workshop.path("wait.cpp")).expect("copied");
        workshop.make(&format!("foretrace c++ -std=c++20 -O0 -pthread {flags} wait.cpp -o program"));
        let (found, report) = report(&workshop, "--time-limit 50");
        assert_eq!(found, status, "{report:#}");
        assert_eq!(report["complete"], true, "{report:#}");
        assert!(report["waiting_loops"].as_u64() > Some(0), "{report:#}");
    }
}

/// An update that writes what is there already changes nothing, and does not wake others that do the same.
#[test]
fn loops_that_mark_that_they_wait_do_wait() {
    for (flags, status) in [("", 0), ("-DHASTY", 1)] {
        let (found, report) = report(&program("marks.c", flags), "");
        assert_eq!((found, &report["complete"]), (status, &true.into()), "{flags}: {report:#}");
        let waits = report["waiting_loops"].as_u64() > Some(0); // a hasty one never goes round twice
        assert_eq!(waits, status == 0, "{flags}: {report:#}");
    }
}

/// There is one order, and no more runs than those of the first round are needed to know that.
#[test]
fn a_program_of_one_thread_needs_few_runs() {
    let workshop = Workshop::empty();
    let source = "static volatile int seen;\nint main(void) { seen = 1; return seen != 1; }\n";
    std::fs::write(workshop.path("alone.c"), source).expect("written");
    workshop.make("foretrace cc -w -g alone.c -o program");
    let alone = tested(&workshop, "");
    let test = &alone["tests"][0];
    assert_eq!((&test["runs"]["passed"], &test["complete"]), (&5.into(), &true.into()), "{alone:#}");
    assert_eq!(failures(&alone), "", "{alone:#}");
}

/// So does one with a second thread and next to nothing that both touch, as each test of Rust's framework.
#[test]
fn a_program_with_hardly_more_than_one_order_needs_few_runs() {
    let workshop = Workshop::empty();
    let source = "#include <pthread.h>\nstatic int sum;\n\
        static void *work(void *unused) { sum = 36; return unused; }\n\
        int main(void) { pthread_t thread; pthread_create(&thread, 0, work, 0); pthread_join(thread, 0); return sum != 36; }\n";
    std::fs::write(workshop.path("one-order.c"), source).expect("written");
    workshop.make("foretrace cc -w -g -pthread one-order.c -o program");
    let report = tested(&workshop, "");
    let test = &report["tests"][0];
    assert!(test["runs"]["passed"].as_u64().is_some_and(|passed| passed <= 15), "{report:#}");
    assert_eq!((failures(&report).as_str(), &test["complete"]), ("", &true.into()), "{report:#}");
}

/// A wait may end by its limit at any moment, unless that is far away: then it waits for a thread. A wait that has ended so and gets its mutex back
/// after another thread has signalled is not explored.
#[test]
fn a_time_limit_is_a_choice_of_the_schedule() {
    for (flags, status, is_all) in [("", 3, false), ("-DSTRICT", 1, false), ("-DSTRICT -DSECONDS=3", 0, true)] {
        let (found, report) = report(&program("timed.c", flags), "");
        assert_eq!((found, &report["complete"]), (status, &is_all.into()), "{flags}: {report:#}");
        assert_eq!(report["doubts"].to_string().contains("the limit of a wait"), !is_all, "{flags}: {report:#}");
    }
}

/// A thread that goes on again and again by a time limit keeps the others from nothing, and a run that fails is told, wherever it stands.
#[test]
fn a_time_limit_that_passes_again_and_again_hides_no_failure() {
    let (status, wrong) = report(&program("batches.c", "-DEMPTY"), "--runs 60");
    assert_eq!(status, 1, "{wrong:#}");
    let (status, right) = report(&program("batches.c", ""), "--runs 60");
    assert_ne!(status, 1, "{right:#}");
    assert!(right["passed"].as_u64() > Some(0), "{right:#}");
}

#[test]
fn mistakes_end_in_one_message() {
    let workshop = Workshop::empty();
    std::fs::write(workshop.path("plain.c"), "int main(void) { return 0; }\n").expect("written");
    workshop.make("cc plain.c -o program");
    let plain = explore(&workshop, "");
    assert_eq!((plain.status, &*plain.out), (Some(2), ""), "{}", plain.err);
    let both = ran(foretrace().args(["explore", "a.lit", "--", "./program"]));
    assert_eq!(both.status, Some(2), "{}", both.err);
    let of_litmus = ran(foretrace().args(["explore", "a.lit", "--runs", "3"]));
    assert_eq!(of_litmus.status, Some(2), "{}", of_litmus.err);
}

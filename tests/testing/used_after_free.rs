//! Memory that is used after its free: named in runs that fail, a failure by itself, and predicted from a run without one.

use super::support::ran;
use super::{built_with, failures, fits, foretrace, report, test};
use serde_json::Value;

/// No three accesses of one variable show a `free`; the report says who used the memory, and who had freed it.
#[test]
fn memory_that_is_used_after_its_free_is_named() {
    let wrong = report(&built_with("timers.c", "-DSAFE=0"), "");
    let find = &wrong["tests"][0]["finds"][0];
    let story = find["story"].to_string();
    for told in ["reads timer.", "timers.c:26", "timers.c:39", "freed: thread 2 uses memory that thread 3 has freed"] {
        assert!(story.contains(told), "{told}: {wrong:#}");
    }
    assert_eq!(find["replays"]["failed"], find["replays"]["times"], "{wrong:#}");
    let right = report(&built_with("timers.c", "-DSAFE=1"), "");
    assert_eq!(right["tests"][0]["finds"].as_array().map(Vec::len), Some(0), "{right:#}");
}

/// The memory of a handler is given out again before it is called, so that the run that fails shows an access of another block.
#[test]
fn memory_that_is_given_out_again_before_its_use_is_named() {
    let wrong = report(&built_with("event-bus.cpp", ""), "--time 20 --stop-after 1");
    let find = &wrong["tests"][0]["finds"][0];
    assert_eq!(find["failure"], "SIGSEGV", "{wrong:#}");
    assert!(
        find["title"].as_str().is_some_and(|title| title.contains("is used after its memory was freed")),
        "{find:#}"
    );
    assert!(find["story"].to_string().contains("event-bus.cpp:25"), "{find:#}");
    let right = report(&built_with("event-bus.cpp", "-DRIGHT"), "--time 5");
    assert_eq!(failures(&right), "", "{right:#}");
}

/// The lock of a freed member refuses the call, and has no event in that run. The program ends by that, and the title says why.
#[test]
fn a_lock_that_refuses_since_it_was_freed_is_named() {
    let wrong = report(&built_with("refused-lock.c", ""), "");
    let finds = wrong["tests"][0]["finds"].as_array().expect("finds");
    let refused = finds.iter().find(|find| find["failure"] == "exit status 1: no lock").expect("it fails so, too");
    assert_eq!(refused["title"], "member.lock is used after its memory was freed", "{refused:#}");
    assert!(refused["story"].to_string().contains("(talk)   takes member.lock"), "{refused:#}");
    assert!(finds.iter().all(|find| find["title"].is_string()), "{wrong:#}");
    let right = report(&built_with("refused-lock.c", "-DRIGHT"), "");
    assert_eq!(right["tests"][0]["finds"].as_array().map(Vec::len), Some(0), "{right:#}");
}

/// Freed memory mostly holds what it held; in a controlled run it does not, and the use alone is a failure. The right twin waits for readers.
#[test]
fn memory_that_is_used_after_it_was_freed() {
    let wrong = test(&built_with("freed.c", ""), "--stop-after 1");
    let is_told = ["an impossible limit", "use after free"].iter().any(|failure| wrong.out.contains(failure));
    assert!(wrong.status == Some(1) && is_told, "{}{}", wrong.out, wrong.err);
    let right = test(&built_with("freed.c", "-DRIGHT"), "");
    assert_eq!((right.status, right.out.lines().next()), (Some(0), Some("nothing failed")), "{}", right.out);
}

/// Nothing but the look itself conflicts with the `free`, and who looks goes on without what it saw. A thread that is held before the look finds it.
#[test]
fn a_thread_is_held_before_it_looks_into_what_another_one_frees() {
    let options = "--predict cutpoints --stop-after 1";
    let wrong = report(&built_with("popped-node.c", ""), options);
    let explored = &wrong["tests"][0]["explored"];
    assert!(failures(&wrong).contains("use after free"), "{wrong:#}");
    assert!(explored["fails"] == true && explored["runs"] == 0, "{wrong:#}");
    let right = report(&built_with("popped-node.c", "-DRIGHT"), options);
    assert!(failures(&right).is_empty() && right["tests"][0]["explored"]["complete"] == true, "{right:#}");
}

/// Nothing comes of the use: the program prints the same and ends with 0.
#[test]
fn a_use_after_free_is_a_failure_whatever_comes_of_it() {
    for name in
        ["session-table.c", "buffer-owners.c", "closed-queue.cpp", "locked-account.c", "job-done.c", "round.cpp"]
    {
        let wrong = test(&built_with(name, ""), "--time 60 --stop-after 1");
        assert_eq!(wrong.status, Some(1), "{name}: {}{}", wrong.out, wrong.err);
        assert!(
            wrong.out.contains("1. use after free: ") && wrong.out.contains("fails in 3 of 3"),
            "{name}: {}",
            wrong.out
        );
        let right = test(&built_with(name, "-DRIGHT"), "");
        assert_eq!(
            (right.status, right.out.lines().next()),
            (Some(0), Some("nothing failed")),
            "{name}: {}",
            right.out
        );
    }
}

/// The recorded run uses the session before it is freed. The witness is checked, and the program follows it.
#[test]
fn a_use_after_free_is_predicted_from_a_run_without_one() {
    let workshop = built_with("session-table.c", "");
    workshop.make("foretrace record -o run -- ./program");
    let predict = |options: &[&str]| {
        let folder = workshop.path("run");
        ran(foretrace().arg("predict").arg(folder).arg("--witness-dir").arg(workshop.path("witnesses")).args(options))
    };
    let text = predict(&[]);
    assert_eq!(text.status, Some(1), "{}{}", text.out, text.err);
    assert!(text.out.contains("F1. thread 2 (reader) reads session.owner"), "{}", text.out);
    let report: Value = serde_json::from_str(&predict(&["--format", "json"]).out).expect("a report");
    let found = &report["uses_after_free"]["found"];
    assert_eq!(found.as_array().map(Vec::len), Some(1), "{report:#}");
    assert_eq!(found[0]["observed"], false, "{report:#}");
    let (free, access) = (found[0]["free"].as_u64().expect("an event"), found[0]["access"].as_u64().expect("an event"));
    let witness = workshop.path("witnesses").join(format!("use-after-free-{free}-{access}.json"));
    let saved: Value = serde_json::from_str(&std::fs::read_to_string(&witness).expect("written")).expect("JSON");
    fits(&saved, "use-after-free-witness.schema.json");
    fits(&report, "report.schema.json");
    let checked = ran(foretrace().arg("check").arg(workshop.path("run")).arg(&witness).arg("-q"));
    assert_eq!(checked.status, Some(0), "{}{}", checked.out, checked.err);
    let replayed = ran(foretrace()
        .args(["replay", "--exactly", "--times", "3"])
        .arg(&witness)
        .arg("--")
        .arg(workshop.path("program")));
    assert_eq!(replayed.status, Some(0), "{}{}", replayed.out, replayed.err);
    let told = "use after free: thread 2 (reader) reads freed memory at session-table.c:23, 3 of 3 times";
    assert!(replayed.out.contains(told), "{}", replayed.out);
    assert!(predict(&["--format", "github"]).out.contains("title=use after free::"));
    let alone = predict(&["--property", "triples"]);
    assert!(!alone.out.contains("F1."), "{}", alone.out);
    let right = built_with("session-table.c", "-DRIGHT");
    right.make("foretrace record -o run -- ./program");
    let right = ran(foretrace().arg("predict").arg(right.path("run")));
    assert!(!right.out.contains("F1."), "{}", right.out);
}

/// No thread but the one that uses the memory touches it; the other one only frees it.
#[test]
fn memory_that_one_thread_alone_uses_is_predicted_to_be_freed_before() {
    let predicted = |name: &str, flags: &str| {
        let workshop = built_with(name, flags);
        workshop.make("foretrace record -o run -- ./program");
        let predict = |options: &[&str]| {
            let witnesses = workshop.path("witnesses");
            let run = workshop.path("run");
            ran(foretrace().arg("predict").arg(run).arg("--witness-dir").arg(witnesses).args(options))
        };
        let report: Value = serde_json::from_str(&predict(&["--format", "json"]).out).expect("a report");
        assert!(report["candidates"].is_array(), "{name} {flags}: {report:#}");
        let uses = &report["uses_after_free"]; // nothing where every order is known
        assert!(uses.is_null() || uses["undecided"] == 0, "{name} {flags}: {uses:#}");
        let found = uses["found"].as_array().cloned().unwrap_or_default();
        (workshop, found)
    };
    // The last one has no block to judge, but a use: its thread sleeps before it frees.
    for name in ["borrowed-buffer.c", "told-too-early.cpp", "one-use.c"] {
        let (workshop, found) = predicted(name, "");
        assert!(!found.is_empty(), "{name}");
        for found in found {
            assert_eq!(found["observed"], false, "{name}: {found:#}");
            let witness = format!("witnesses/use-after-free-{}-{}.json", found["free"], found["access"]);
            let replayed = ran(&mut workshop.shell(&format!("foretrace replay --times 3 {witness} -- ./program")));
            assert_eq!(replayed.status, Some(0), "{name}: {}{}", replayed.out, replayed.err);
            assert!(replayed.out.contains("use after free: thread 2"), "{name}: {}", replayed.out);
        }
    }
    for (name, flags) in [
        ("borrowed-buffer.c", "-DJOIN"),
        ("borrowed-buffer.c", "-DPOST"),
        ("borrowed-buffer.c", "-DLOCK"),
        ("told-too-early.cpp", "-DRIGHT"),
        ("one-use.c", "-DRIGHT"),
    ] {
        let (_, found) = predicted(name, flags);
        assert!(found.is_empty(), "{name} {flags}: {found:#?}");
    }
}

/// What a thread hands over to be freed is another block in another schedule, or nothing: then the recorded one is not freed.
#[test]
fn a_block_is_freed_only_by_who_has_its_address() {
    let workshop = built_with("freed-nothing.c", "");
    for seed in [0, 4, 5] {
        workshop.make(&format!("foretrace record --seed {seed} -o run{seed} -- ./program"));
        let predicted = ran(&mut workshop.shell(&format!("foretrace predict run{seed} --format json")));
        let report: Value = serde_json::from_str(&predicted.out).expect("a report");
        let uses = &report["uses_after_free"];
        let found = uses["found"].as_array().map_or(0, Vec::len);
        assert!(found == 0 && (uses.is_null() || uses["undecided"] == 0), "seed {seed}: {uses:#}");
    }
}

/// A buffer of a thousand words, which one thread alone touches: sixteen words stand for all, and the early `free` is found.
#[test]
fn ends_of_a_large_buffer_stand_for_it_all() {
    for (flags, is_early) in [("", true), ("-DRIGHT", false)] {
        let workshop = built_with("large-page.c", flags);
        workshop.make("foretrace record -o run -- ./program");
        let predicted = ran(foretrace().arg("predict").arg(workshop.path("run")).args(["--format", "json"]));
        let report: Value = serde_json::from_str(&predicted.out).expect("a report");
        assert_eq!(predicted.status, Some(i32::from(is_early)), "{flags}: {}{}", predicted.out, predicted.err);
        assert!(report["events"].as_u64().is_some_and(|events| events < 200), "{flags}: {report:#}");
        let found = report["uses_after_free"]["found"].as_array().map_or(0, Vec::len);
        assert_eq!(found > 0, is_early, "{flags}: {report:#}");
    }
}

/// A use of unmapped memory ends the program there: the access has no effect, and the schedule was followed to its end.
#[test]
fn a_use_of_unmapped_memory_is_reached_where_the_program_ends() {
    let witnesses = |flags: &str| {
        let workshop = built_with("unmapped-page.c", flags);
        workshop.make("foretrace record --seed 0 -o run -- ./program");
        let script = "foretrace predict run --witness-dir w >/dev/null; ls w | grep -c use-after-free";
        let count = ran(&mut workshop.shell(script)).out;
        (workshop, count.trim().to_string())
    };
    let (workshop, count) = witnesses("");
    assert_eq!(count, "1");
    let replayed =
        ran(&mut workshop.shell("foretrace replay --exactly --times 3 w/use-after-free-*.json -- ./program"));
    assert_eq!(replayed.status, Some(0), "{}{}", replayed.out, replayed.err);
    assert!(replayed.out.contains("ended by SIGSEGV") && replayed.out.contains("to the letter"), "{}", replayed.out);
    assert_eq!(witnesses("-DRIGHT").1, "0");
}

/// The allocator marks freed blocks with a number that it draws in each process. A read of it is the same in all runs, and a block that is
/// freed twice is still noticed.
#[test]
fn freed_memory_holds_the_same_in_each_run() {
    let workshop = built_with("freed-word.c", "");
    let record = |words: &[&str]| {
        let mut command = foretrace();
        command.current_dir(workshop.path("")).args(["record", "-o", "run", "--", "./program"]).args(words);
        ran(&mut command)
    };
    let (first, second) = (record(&[]), record(&[]));
    assert_eq!(first.status, Some(0), "{}{}", first.out, first.err);
    assert!(first.out.starts_with("a5a5a5a5a5a5a5a5\n"), "{}", first.out);
    assert_eq!(first.out, second.out);
    let twice = record(&["twice"]);
    assert!(twice.err.contains("SIGABRT"), "{}{}", twice.out, twice.err);
}

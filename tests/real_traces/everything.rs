//! The main job on every real trace of moderate size.

use crate::support::{Real, all_files, corpus, filters, verdicts};
use assert_cmd::Command;
use foretrace::options::{CandidateSet, Per};
use foretrace::verdict::Verdict;
use foretrace_checker::check;
use foretrace_trace::Pattern;

/// Larger traces may leave candidates undecided at the default limits.
const MOST_EVENTS: usize = 2_100;

#[test]
fn every_trace_is_decided_with_checked_schedules() {
    let mut feasible = 0;
    for path in all_files() {
        let real = Real::at(&path);
        if real.trace.events.len() > MOST_EVENTS {
            continue;
        }
        let options = real.options();
        let transactions = real.transactions();
        let (decisions, totals) = real.predict(&options);
        assert_eq!(totals.unreached, 0, "{}", real.name);
        verdicts(&real.name, &decisions); // none is unknown
        for decision in &decisions {
            let Verdict::Feasible(witness) = &decision.verdict else { continue };
            let (trace, schedule) = (&real.trace, witness.schedule());
            check(trace, &real.observed, &transactions, options.question, decision.triple, schedule)
                .unwrap_or_else(|error| panic!("{}: {}: {error}", real.name, decision.triple));
            feasible += 1;
        }
    }
    assert!(feasible > 50, "only {feasible} feasible candidates in all traces");
}

/// Filters decide most candidates of real traces: the solver alone must come to the same verdicts.
#[test]
fn the_solver_alone_comes_to_the_same_verdicts() {
    let mut by_solver = [0; 2];
    for name in [
        "bank-seed1.thread.jsonl",
        "bank-seed1.cs.jsonl",
        "bank-fail.thread.jsonl",
        "cpp-par.cs.jsonl",
        "hard-par.cs.jsonl",
        "pbzip2-d-p2-seed1.cs.jsonl",
        "rustbank-seed1.list.jsonl",
    ] {
        let real = Real::named(name);
        let mut options = real.options();
        options.per = Per::Event;
        let with_filters = verdicts(name, &real.predict(&options).0);
        options.without = filters().collect();
        let alone = verdicts(name, &real.predict(&options).0);
        assert_eq!(with_filters, alone, "{name}");
        alone.values().for_each(|feasible| by_solver[usize::from(!feasible)] += 1);
    }
    assert!(by_solver[0] >= 15 && by_solver[1] >= 60, "too few feasible and infeasible ones: {by_solver:?}");
}

/// `get_balance` (bank.c:19) and `set_balance` (bank.c:25) lock the account each on their own, so another depositor's
/// `set_balance` fits between. In this run none did: it ended well.
#[test]
fn the_lost_update_of_the_bank_is_found_from_a_passing_run() {
    let real = Real::named("bank-seed1.thread.jsonl");
    let at = |event| real.trace.loc(event).unwrap_or_default();
    let (decisions, _) = real.predict(&real.options());
    let found = decisions.iter().find(|decision| {
        let triple = decision.triple;
        [at(triple.first), at(triple.remote), at(triple.second)] == ["bank.c:19", "bank.c:25", "bank.c:25"]
            && matches!(decision.verdict, Verdict::Feasible(_))
    });
    let found = found.expect("the lost update is feasible");
    assert_eq!(found.pattern, Pattern::Rww);
    assert_eq!(found.guarded, Some(true), "the other deposit is lost, whatever its amount");
}

/// What a critical section of the bank touches is guarded by its lock everywhere.
#[test]
fn critical_sections_of_the_bank_are_atomic() {
    for name in ["bank-seed1.cs.jsonl", "bank-fail.cs.jsonl", "bank-n4-seed1.cs.jsonl"] {
        let real = Real::named(name);
        let mut options = real.options();
        options.candidates = CandidateSet::All;
        options.per = Per::Event;
        let verdicts = verdicts(name, &real.predict(&options).0);
        assert!(verdicts.len() >= 4, "{name} has candidates");
        assert!(verdicts.values().all(|feasible| !feasible), "{name}: {verdicts:?}");
    }
}

#[test]
fn the_number_of_jobs_changes_no_verdict() {
    for name in ["hard-par.thread.jsonl", "rustbank-seed1.list.jsonl", "pbzip2-p3-par.fn.jsonl"] {
        let real = Real::named(name);
        let mut options = real.options();
        options.jobs = 1;
        let one = verdicts(name, &real.predict(&options).0);
        options.jobs = 2;
        let two = verdicts(name, &real.predict(&options).0);
        assert_eq!(one, two, "{name}");
        assert!(!one.is_empty());
    }
}

/// The report of a run of the command, without its times.
fn report(trace: &str, options: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_foretrace"));
    let path = corpus().join(trace);
    let output = command.arg("predict").arg(path).args(["--format", "json"]).args(options).output();
    let text = String::from_utf8(output.expect("the command runs").stdout).expect("UTF-8");
    let mut parts = text.split("\"seconds\":");
    let mut timeless = parts.next().expect("a report").to_string();
    for part in parts {
        timeless.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit() || ".e-+".contains(c)));
    }
    timeless
}

/// Questions of this trace come near the bounds on the solver's work, which once were times.
#[test]
fn ten_runs_write_the_same_bytes() {
    for jobs in ["1", "2"] {
        for atomic in ["auto", "threads"] {
            let options = ["--jobs", jobs, "--atomic", atomic];
            let first = report("mixed-seed3.cs.jsonl", &options);
            assert_eq!(first.contains("\"decided_by\":\"smt\""), atomic == "threads", "whether the solver is asked");
            for run in 2..=10 {
                assert!(report("mixed-seed3.cs.jsonl", &options) == first, "run {run} with {options:?}");
            }
        }
    }
}

#[test]
fn two_runs_write_the_same_bytes() {
    for trace in ["hard-par.thread.jsonl", "rustbank-seed1.list.jsonl", "pbzip2-p2-seed1.fn.jsonl"] {
        let (one, two) = (report(trace, &["--jobs", "2"]), report(trace, &["--jobs", "2"]));
        assert!(one.contains("\"decided_by\":\"smt\""), "{trace} asks the solver");
        assert!(one == two, "{trace}:\n{one}\n{two}");
    }
}

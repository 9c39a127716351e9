//! What people read: help, reports, tables. After a wanted change: `INSTA_UPDATE=always cargo test --test cli`.

use crate::support::{Folder, LOST_UPDATE, foretrace_in, repository};
use foretrace::filters::FilterReport;
use foretrace::options::Options;
use foretrace::predict::{OffPathCounts, Tally, Totals};
use foretrace::report::{Subject, TextReport};
use foretrace::verdict::{Decider, Decision, Limit, RestsOn, Verdict};
use foretrace_checker::check;
use foretrace_trace::{EventId, Pattern, Trace, Triple, observe};
use std::path::Path;
use std::time::Duration;

#[test]
fn help_of_every_command() {
    for command in ["", "predict", "explain", "compare", "run", "convert", "info", "check", "completions"] {
        let run = foretrace_in(repository(), &format!("{command} --help"));
        assert_eq!(run.code, Some(0));
        assert!(run.stdout.contains("Examples:"), "{command} shows no examples");
        insta::assert_snapshot!(format!("help-{}", if command.is_empty() { "all" } else { command }), run.stdout);
    }
}

#[test]
fn info() {
    let folder = Folder::with("counter.jsonl", LOST_UPDATE);
    insta::assert_snapshot!(folder.foretrace("info counter.jsonl").stdout);
}

#[test]
fn check_of_a_schedule_that_fails() {
    let folder = Folder::with("counter.jsonl", LOST_UPDATE);
    folder.add("schedule.json", "[4, 5, 0, 1, 6, 7, 7]");
    insta::assert_snapshot!(folder.foretrace("check counter.jsonl schedule.json").stdout);
}

/// Decisions made by hand: what can happen is run through the checker, as everywhere.
struct ByHand {
    trace: Trace,
    options: Options,
    decisions: Vec<Decision>,
}

impl ByHand {
    fn new(trace: Trace) -> ByHand {
        let options = Options::new(trace.data);
        ByHand { trace, options, decisions: Vec::new() }
    }

    fn feasible(&mut self, [first, remote, second]: [u32; 3], schedule: &[u32]) {
        let triple = triple(first, remote, second);
        let schedule: Vec<EventId> = schedule.iter().copied().map(EventId).collect();
        let observed = observe(&self.trace).expect("the trace is valid");
        let transactions = self.options.atomic.transactions(&self.trace);
        let witness = check(&self.trace, &observed, &transactions, self.options.question, triple, &schedule);
        let witness = witness.expect("the schedule is a witness");
        let pattern = witness.pattern();
        let rests_on = RestsOn::of_run(witness.run());
        let guarded = witness.guarded_dependent();
        let verdict = Verdict::Feasible(Box::new(witness));
        self.decisions.push(Decision {
            triple,
            pattern,
            verdict,
            decided_by: Decider::Smt,
            off_path: None,
            rests_on,
            guarded,
        });
    }

    fn other(&mut self, [first, remote, second]: [u32; 3], verdict: Verdict, rests_on: Option<RestsOn>) {
        let triple = triple(first, remote, second);
        let pattern = triple.patterns(&self.trace).next().unwrap_or(Pattern::Rww);
        self.decisions.push(Decision {
            triple,
            pattern,
            verdict,
            decided_by: Decider::Smt,
            off_path: None,
            rests_on,
            guarded: None,
        });
    }

    fn report(&self) -> String {
        let transactions = self.options.atomic.transactions(&self.trace);
        let subject =
            Subject { file: "trace.jsonl", trace: &self.trace, transactions: &transactions, options: &self.options };
        let mut report = TextReport::new(subject);
        self.decisions.iter().for_each(|decision| report.add(decision));
        let of = |test: fn(&Verdict) -> bool| self.decisions.iter().filter(|d| test(&d.verdict)).count() as u64;
        let tally = Tally {
            feasible: of(|verdict| matches!(verdict, Verdict::Feasible(_))),
            infeasible: of(|verdict| matches!(verdict, Verdict::Infeasible)),
            unknown: of(|verdict| matches!(verdict, Verdict::Unknown(_))),
            time: Duration::from_millis(1234),
        };
        let totals = Totals {
            off_path: OffPathCounts::default(),
            transactions: transactions.len(),
            candidates: self.decisions.len() as u64 + 5,
            classes: self.decisions.len(),
            decided_by: vec![(Decider::Smt, tally)],
            filters: FilterReport::default(),
            skipped: 3,
            unreached: 2,
            elapsed: Duration::from_millis(2345),
            interrupted: true,
        };
        let mut plain = anstream::StripStream::new(Vec::new());
        report.write(&totals, &mut plain).expect("memory takes everything");
        String::from_utf8(plain.into_inner()).expect("the report is UTF-8")
    }
}

fn triple(first: u32, remote: u32, second: u32) -> Triple {
    Triple { first: EventId(first), remote: EventId(remote), second: EventId(second) }
}

fn read(text: &str) -> Trace {
    foretrace_trace::read_from(text.as_bytes(), "trace.jsonl").expect("the trace is valid")
}

#[test]
fn report_of_the_bank() {
    let path = Path::new("examples/traces/bank-seed1.thread.jsonl");
    let mut bank = ByHand::new(foretrace_trace::read(&repository().join(path)).expect("the trace is shipped"));
    // Thread 3 reads the balance; thread 2 deposits; thread 3 writes what it made of the old balance.
    let until_remote: Vec<u32> = (0..=12).chain(30..=41).collect();
    let update: Vec<u32> = until_remote.iter().copied().chain([13, 14]).collect();
    bank.feasible([10, 38, 14], &update);
    // The plain race on the heap, with the counter of operations read in between.
    let race: Vec<u32> = (0..=18).chain([24, 25]).chain(30..=45).chain([26]).collect();
    bank.feasible([25, 45, 26], &race);
    bank.other([15, 40, 16], Verdict::Infeasible, None);
    bank.other([46, 55, 47], Verdict::Unknown(Limit::Timeout), None);
    bank.other([34, 14, 38], Verdict::Infeasible, Some(RestsOn::Pin));
    insta::assert_snapshot!(bank.report());
}

#[test]
fn use_after_free_comes_first() {
    let trace = r#"{"foretrace": 1, "data": "symbolic", "vars": {"p": {"sort": "Int", "init": 7}, "n": {"sort": "Int", "init": 0}}}
{"t": 1, "op": "begin", "label": "use"}
{"t": 1, "op": "read", "var": "n", "dst": "a", "value": 0, "loc": "u.c:1"}
{"t": 1, "op": "write", "var": "n", "expr": "5", "value": 5, "loc": "u.c:2"}
{"t": 1, "op": "read", "var": "p", "dst": "b", "value": 7, "loc": "u.c:3"}
{"t": 1, "op": "read", "var": "p", "dst": "c", "value": 7, "loc": "u.c:4"}
{"t": 1, "op": "end", "label": "use"}
{"t": 2, "op": "write", "var": "n", "expr": "9", "value": 9, "loc": "v.c:1"}
{"t": 2, "op": "write", "var": "p", "expr": "0", "value": 0, "loc": "v.c:2"}
{"t": 2, "op": "free", "vars": ["p"], "loc": "v.c:3"}
"#;
    let mut both = ByHand::new(read(trace));
    both.feasible([1, 6, 2], &[0, 1, 6, 2]);
    both.feasible([3, 7, 4], &[0, 1, 2, 3, 6, 7, 8, 4]);
    let report = both.report();
    let (freed, update) = (report.find("use after free: u.c:4 (event 4)"), report.find("\n2. lost update on n"));
    assert!(freed.is_some() && freed < update, "{report}");
    insta::assert_snapshot!(report);
}

#[test]
fn a_schedule_past_unrecorded_code_says_so() {
    let trace = r#"{"foretrace": 1, "data": "symbolic", "vars": {"n": {"sort": {"BitVec": 64}, "init": 0}, "buffer": {"sort": "Int", "init": 0}}, "threads": {"1": {"name": "main"}, "2": {"name": "worker"}}}
{"t": 1, "op": "begin"}
{"t": 1, "op": "read", "var": "n", "dst": "a", "value": 0}
{"t": 2, "op": "write", "var": "buffer", "value": 3, "external": true}
{"t": 2, "op": "write", "var": "n", "expr": "(_ bv18446744073709551615 64)", "value": 18446744073709551615}
{"t": 1, "op": "read", "var": "n", "dst": "b", "value": 18446744073709551615}
"#;
    let mut external = ByHand::new(read(trace));
    external.feasible([1, 3, 4], &[0, 1, 2, 3, 4]);
    let report = external.report();
    assert!(report.contains("a write or free by code that was not recorded"), "{report}");
    insta::assert_snapshot!(report);
}

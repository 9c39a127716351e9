//! What synthetic traces do not show: shapes that real programs give to traces.

use crate::support::{Real, text, verdicts};
use assert_cmd::Command;
use foretrace::blocks::NamedBlocks;
use foretrace::candidates::Candidates;
use foretrace::options::{CandidateSet, Per};
use foretrace::verdict::{Decider, Decision, Verdict};
use foretrace_encodings::{Atom, Encoder, Rule, Rules, TraceView, constant_reads};
use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_trace::{
    Data, EventId, Format, Layout, Op, Sort, ThreadId, TraceBuilder, Triple, Value, read_from, write_to,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How large the encoding of a question is.
struct Size {
    constraints: usize,
    /// Those about conditions, by event.
    conditions: BTreeMap<EventId, usize>,
    /// Conditions that speak of a value, not only of where one comes from.
    of_values: BTreeSet<EventId>,
}

/// Encodes a candidate of the trace on its own.
fn encode(real: &Real, triple: Triple) -> Size {
    let trace_index = TraceIndex::new(&real.trace);
    let clocks = MustHappenBefore::new(&real.trace, &trace_index);
    let view = TraceView { trace: &real.trace, trace_index: &trace_index, observed: &real.observed, clocks: &clocks };
    let constants = constant_reads(view);
    let mut encoder = Encoder::new(view, Rules::for_question(real.options().question), &constants);
    encoder.query(triple, None);
    let mut size =
        Size { constraints: encoder.constraints().len(), conditions: BTreeMap::new(), of_values: BTreeSet::new() };
    for constraint in encoder.constraints().iter().filter(|c| matches!(c.rule(), Rule::Guards | Rule::Pins)) {
        *size.conditions.entry(constraint.about).or_default() += 1;
        let leaves = encoder.build().terms.leaves(constraint.term);
        if leaves.iter().any(|atom| matches!(atom, Atom::Value { .. })) {
            size.of_values.insert(constraint.about);
        }
    }
    size
}

/// The candidate whose accesses stand last: all of the trace comes before them.
fn last_candidate(real: &Real) -> Triple {
    let trace_index = TraceIndex::new(&real.trace);
    let transactions = real.transactions();
    let candidates = Candidates::new(&real.trace, &trace_index, &transactions);
    let triples = candidates.triples(CandidateSet::Adjacent);
    triples.max_by_key(|triple| triple.remote.min(triple.second)).expect("the trace has candidates")
}

/// The assumes over a value that one event reads.
fn assumes_over(real: &Real, read: EventId) -> BTreeSet<EventId> {
    let terms = &real.trace.terms;
    let asks = |expr| terms.leaves(expr).iter().any(|local| local.definition == read);
    real.trace.iter().filter(|(_, event)| event.op.condition().is_some_and(asks)).map(|(id, _)| id).collect()
}

/// pbzip2 fills a vector of `NumBufferedBlocksMax` elements, 996 here: as many branches on one read.
#[test]
fn a_thousand_assumes_after_one_read() {
    let name = "pbzip2-p2-seed1.fn.jsonl";
    let original = text(name);
    let real = Real::from_text(name, &original);
    let bound = real.find(|id| assumes_over(&real, id).len() > 1_000);
    let as_recorded = encode(&real, last_candidate(&real));
    let about = |size: &Size| -> usize {
        assumes_over(&real, bound).iter().filter_map(|assume| size.conditions.get(assume)).sum()
    };
    assert_eq!(about(&as_recorded), 0, "only one thread writes the bound, so each branch is decided");

    // Now another thread counts the bound up at any time, so that its value is open. What is asked then: that it is above
    // and not 0, and not too large, before there is memory; that it is not 1 and not 2 after the first two elements, which
    // other threads use; and of all the rest what they come to, that it is 996.
    let events = real.trace.events.len();
    let more = original
        + "{\"t\":99,\"op\":\"read\",\"var\":\"NumBufferedBlocksMax\",\"dst\":\"a\"}\n\
           {\"t\":99,\"op\":\"write\",\"var\":\"NumBufferedBlocksMax\",\"expr\":\"(bvadd a #x0000000000000001)\"}\n";
    let open = Real::from_text("a bound that changes", &more);
    assert_eq!(open.trace.events.len(), events + 2);
    let size = encode(&open, last_candidate(&open));
    assert_eq!(about(&size), 6);
    assert!(size.constraints < as_recorded.constraints + 300, "{} and {}", size.constraints, as_recorded.constraints);
    verdicts("a bound that changes", &open.predict(&open.options()).0);
}

/// The same with a loop that counts up, and with a body that others notice: each turn asks for one bound at most.
#[test]
fn a_loop_over_a_bound_that_others_change() {
    const TURNS: usize = 1_000;
    let trace = |body: bool| {
        let mut trace = TraceBuilder::new(Data::Symbolic);
        trace.int_var("n", 0).int_var("x", 0);
        trace.read(2, "n", "a");
        trace.write(2, "n", "(+ a 1000)");
        trace.write(2, "x", "1");
        trace.begin(1);
        trace.read(1, "x", "first");
        trace.read(1, "n", "r");
        for turn in 0..TURNS {
            trace.assume(1, &format!("(< {turn} r)"));
            if body {
                trace.read(1, "x", "y");
            }
        }
        trace.assume(1, &format!("(not (< {TURNS} r))"));
        trace.read(1, "x", "second");
        trace.end(1);
        let (trace, observed) = trace.finish().expect("the trace is valid");
        Real { name: "a loop".into(), trace, observed }
    };
    for (body, most) in [(false, 2), (true, TURNS + 1)] {
        let real = trace(body);
        let last = real.trace.events.len() as u32 - 2;
        let size = encode(&real, Triple { first: EventId(4), remote: EventId(2), second: EventId(last) });
        let conditions: usize = size.conditions.values().sum();
        assert!(conditions <= most, "{conditions} conditions of {}", TURNS + 1);
        assert!(size.constraints < 40 + 4 * if body { TURNS } else { 0 }, "{} constraints", size.constraints);
    }
}

/// pbzip2 keeps mutexes and buffers behind pointers, reads them again before each use, and uses them as addresses, which
/// pins what was read.
#[test]
fn pointers_read_again_and_pinned_each_time() {
    let real = Real::named("pbzip2-p2-seed1.fn.jsonl");
    let size = encode(&real, last_candidate(&real));
    let terms = &real.trace.terms;
    let is_pointer = |value: &Value| value.sort() == Sort::BitVec(64) && value.to_integer() > (1u64 << 40).into();
    let pins: BTreeSet<EventId> = real
        .trace
        .iter()
        .filter(|(_, event)| {
            let Some(condition) = event.op.condition() else { return false };
            let mut constants = terms.reachable(&[condition]).into_iter().filter_map(|term| terms.as_const(term));
            terms.leaves(condition).len() == 1 && constants.any(is_pointer)
        })
        .map(|(id, _)| id)
        .collect();
    assert!(pins.len() > 150, "{} pins", pins.len());
    let asked: usize = pins.iter().filter_map(|pin| size.conditions.get(pin)).sum();
    assert!(asked * 4 < pins.len(), "{asked} constraints for {} pins", pins.len());
    let of_values: Vec<_> = pins.intersection(&size.of_values).collect();
    assert!(of_values.is_empty(), "a pointer is a matter of who wrote it, not of arithmetic: {of_values:?}");
}

/// The body of a thread as one transaction: hundreds of accesses to few variables.
#[test]
fn transactions_of_hundreds_of_accesses() {
    for (name, candidates) in [("bank-n40-seed1.thread.jsonl", 20_000), ("mixed-seed3.thread.jsonl", 2_000)] {
        let real = Real::named(name);
        let trace_index = TraceIndex::new(&real.trace);
        let transactions = real.transactions();
        let groups = Candidates::new(&real.trace, &trace_index, &transactions);
        let largest = transactions
            .iter()
            .map(|transaction| groups.groups(transaction).iter().map(|group| group.accesses.len()).sum::<usize>());
        assert!(largest.max() > Some(150), "{name}");
        let (decisions, totals) = real.predict(&real.options());
        assert!(totals.candidates > candidates, "{name}: {}", totals.candidates);
        assert_eq!(totals.unreached, 0, "{name}");
        let verdicts = verdicts(name, &decisions);
        assert_eq!(verdicts.len() as u64 + totals.skipped, totals.candidates, "{name}");
        assert!(verdicts.values().any(|feasible| *feasible), "{name}");
    }
}

/// In `rustbank`, std's mutexes are words that threads compare and swap: there is no lock event.
///
/// `deposit` locks `bal` to read it, gives it back, and locks it again to write `v + amt`; it loads and stores `ops`; it
/// locks `q` to count up. Two threads run it. So these can be torn, and nothing else:
/// - `bal` between its two sections, by the other thread's write: the lost update;
/// - `bal`'s lock word between the same sections, by each of the other thread's four changes to it;
/// - `ops` between load and store, by the other thread's store.
///
/// All else is inside of a section, or touched by `main` before it forks and after it joins only.
#[test]
fn mutual_exclusion_by_compare_and_swap() {
    let name = "rustbank-seed1.list.jsonl";
    let real = Real::named(name);
    let word = "heap@main.rs:10+16"; // of the mutex `bal`
    let of = |thread: u64, var: &str| -> Vec<EventId> {
        let transactions = real.transactions();
        let its = |id: EventId, t: ThreadId| transactions.iter().any(|transaction| transaction.contains(t, id));
        let wanted = |id: EventId| {
            let event = real.trace.event(id);
            let number = real.trace.threads[event.thread.index()].number;
            number == thread
                && its(id, event.thread)
                && event.op.var().is_some_and(|v| *real.trace.vars[v.index()].key == *var)
        };
        real.trace.iter().map(|(id, _)| id).filter(|id| wanted(*id)).collect()
    };
    let mut expected: BTreeSet<Triple> = BTreeSet::new();
    for (own, other) in [(2, 3), (3, 2)] {
        let [lock_again, unlock] = [of(own, word)[2], of(own, word)[1]];
        for remote in of(other, word) {
            expected.insert(Triple { first: unlock, remote, second: lock_again });
        }
        for var in ["heap@main.rs:10+24", "heap@main.rs:10+32"] {
            let (mine, others) = (of(own, var), of(other, var));
            assert_eq!((mine.len(), others.len()), (2, 2), "a read and a write of {var}");
            expected.insert(Triple { first: mine[0], remote: others[1], second: mine[1] });
        }
    }
    assert_eq!(expected.len(), 12);
    let mut options = real.options();
    options.per = Per::Event;
    let verdicts = verdicts(name, &real.predict(&options).0);
    assert_eq!(verdicts.len(), 66);
    let feasible: BTreeSet<Triple> = verdicts.into_iter().filter(|(_, feasible)| *feasible).map(|(t, _)| t).collect();
    assert_eq!(feasible, expected);
}

/// 64-bit words that a floating-point number cannot hold come out as they went in: `2⁶⁴ − 59` in place of the address of
/// the mutex `OutMutex` of pbzip2.
#[test]
fn words_beyond_floating_point_stay_exact() {
    const ADDRESS: &str = "93824992883408";
    const WORD: &str = "18446744073709551557";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("pbzip2.jsonl");
    let changed = text("pbzip2-p2-seed1.fn.jsonl").replace(ADDRESS, WORD);
    std::fs::write(&path, &changed).expect("the folder takes files");
    let real = Real::at(&path);

    let mut binary = Vec::new();
    write_to(&mut binary, &real.trace, Format { layout: Layout::Binary, compressed: false }).expect("memory");
    let mut json = Vec::new();
    let back = read_from(binary.as_slice(), "binary").expect("what we wrote");
    write_to(&mut json, &back, Format { layout: Layout::Jsonl, compressed: false }).expect("memory");
    let json = String::from_utf8(json).expect("UTF-8");
    let value = format!("\"value\":{WORD}");
    let count = |text: &str| text.replace(": ", ":").matches(&value).count();
    assert!(count(&changed) > 20, "{}", count(&changed));
    assert_eq!(count(&json), count(&changed));

    let witnesses = folder.path().join("witnesses");
    let mut command = Command::new(env!("CARGO_BIN_EXE_foretrace"));
    let output = command.arg("predict").arg(&path).arg("--witness-dir").arg(&witnesses).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let mut found = 0;
    for entry in std::fs::read_dir(witnesses).expect("witnesses").flatten() {
        let witness = std::fs::read_to_string(entry.path()).expect("a text file");
        found += witness.matches(WORD).count();
        let rounded = "1844674407370955"; // any other number that starts so was rounded
        let other = witness.match_indices(rounded).filter(|(at, _)| !witness[*at..].starts_with(WORD)).count();
        assert_eq!(other, 0, "{}", entry.path().display());
    }
    assert!(found > 0, "no witness reads the pointer");
}

/// Every prefix of a valid trace is one: a recorder that was killed, a disk that was full.
#[test]
fn runs_cut_off_in_the_middle() {
    for (name, cuts) in [
        ("bank-seed1.thread.jsonl", usize::MAX),
        ("bank-seed1.cs.jsonl", usize::MAX),
        ("cpp-par.cs.jsonl", 40),
        ("hard-par.thread.jsonl", 25),
        ("rustbank-seed1.list.jsonl", 25),
        ("pbzip2-d-p2-seed1.cs.jsonl", 40),
        ("mixed-seed3.thread.jsonl", 8),
        ("pbzip2-p2-seed1.fn.jsonl", 8),
    ] {
        let text = text(name);
        let lines: Vec<&str> = text.lines().collect();
        let events = lines.len() - 1;
        let step = events.div_ceil(cuts).max(1);
        for kept in (0..=events).step_by(step) {
            let real = Real::from_text(&format!("{name} up to {kept}"), &lines[..=kept].join("\n"));
            assert_eq!(real.trace.events.len(), kept);
            let (decisions, totals) = real.predict(&real.options());
            assert_eq!(totals.unreached, 0, "{}", real.name);
            verdicts(&real.name, &decisions);
        }
    }
}

/// The run in which the bank's own check found the lost update ends with `fail`; the violation is found from it, too.
#[test]
fn a_run_that_failed() {
    let real = Real::named("bank-fail.thread.jsonl");
    assert!(matches!(real.trace.events.last().map(|event| &event.op), Some(Op::Fail { .. })));
    let at = |event| real.trace.loc(event).unwrap_or_default();
    let is_lost_update = |decision: &&Decision| {
        let triple = decision.triple;
        [at(triple.first), at(triple.remote), at(triple.second)] == ["bank.c:19", "bank.c:25", "bank.c:25"]
    };
    let (decisions, _) = real.predict(&real.options());
    let found: Vec<&Decision> = decisions.iter().filter(is_lost_update).collect();
    assert!(found.iter().any(|decision| matches!(decision.verdict, Verdict::Feasible(_))));
}

/// Two programs whose classes have hundreds of candidates that cannot happen, and some that can. Three threads fill a buffer of eight places and
/// three empty it, and these count without a lock: an item has the place that it had in the run. Three threads take and free bits of a map
/// without any lock.
#[test]
fn few_questions_find_a_candidate_that_can_happen() {
    for (name, most) in [("consumers-seed3.jsonl.zst", 4), ("bitmap-seed3.jsonl.zst", 12)] {
        let real = Real::named(name);
        let mut options = real.options();
        options.blocks = Some(Arc::new(NamedBlocks::new(&real.trace, options.atomic)));
        let (decisions, totals) = real.predict(&options);
        assert_eq!(totals.unreached, 0, "{name}");
        assert!(verdicts(name, &decisions).values().any(|feasible| *feasible), "{name}");
        let asked = decisions.iter().filter(|decision| decision.decided_by == Decider::Smt).count();
        assert!((1..=most).contains(&asked), "{name}: the solver was asked about {asked} candidates");
    }
}

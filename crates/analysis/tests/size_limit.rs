//! Questions that are too large: they are not decided, and after two in a row of a class its others are not asked.

use foretrace_analysis::options::Options;
use foretrace_analysis::predict::{Sink, predict};
use foretrace_analysis::verdict::{Decider, Decision, Verdict};
use foretrace_solve::Limit;
use foretrace_trace::{Atomic, Data, Observed, SyncKind, Trace, TraceBuilder, Triple};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Candidates of the class.
const TURNS: usize = 12;

/// A thread reads and writes a variable in each turn of a loop, under a lock that another thread holds for its only write. So no
/// candidate can happen, and each is a larger question than those before.
fn loop_under_a_lock() -> (Trace, Observed) {
    let mut b = TraceBuilder::new(Data::Symbolic);
    b.sync("m", SyncKind::Mutex { recursive: false });
    b.int_var("x", 0);
    b.acquire(2, "m");
    b.write(2, "x", "7").at("loop.c:3:1");
    b.release(2, "m");
    for turn in 0..TURNS {
        let name = format!("x{turn}");
        b.begin(1);
        b.acquire(1, "m");
        b.read(1, "x", &name).at("loop.c:1:1");
        b.write(1, "x", &format!("(+ {name} 1)")).at("loop.c:2:1");
        b.release(1, "m");
        b.end(1);
    }
    b.finish().expect("a valid trace")
}

#[derive(Default)]
struct Found {
    impossible: BTreeSet<Triple>,
    too_large: BTreeSet<Triple>,
}

impl Sink for Found {
    fn decision(&mut self, decision: &Decision) -> anyhow::Result<()> {
        match &decision.verdict {
            Verdict::Infeasible => assert!(self.impossible.insert(decision.triple), "decided twice"),
            Verdict::Unknown(Limit::Size) => assert!(self.too_large.insert(decision.triple), "decided twice"),
            other => panic!("{}: {other:?}", decision.triple),
        }
        Ok(())
    }

    fn takes_refuted(&self) -> bool {
        true
    }
}

/// The verdicts that a session with room for so many terms gives, and the number of candidates that it was asked about.
fn found(most_terms: Option<usize>) -> (Found, usize) {
    let (trace, observed) = loop_under_a_lock();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("size-limit-{most_terms:?}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut options = Options::new(trace.data);
    options.without.extend(Decider::ALL.into_iter().filter(|decider| *decider != Decider::Smt));
    options.dump_smt2 = Some(folder.clone());
    options.jobs = 1;
    options.most_terms = most_terms.unwrap_or(options.most_terms);
    let mut found = Found::default();
    let transactions = Atomic::Marked.transactions(&trace);
    predict(&trace, &observed, &transactions, &options, &AtomicBool::new(false), &mut found).expect("no error");
    let asked = std::fs::read_dir(&folder).expect("a folder").count();
    std::fs::remove_dir_all(&folder).expect("removed");
    (found, asked)
}

#[test]
fn after_two_questions_that_are_too_large_the_class_is_left() {
    let (all, asked) = found(None);
    assert_eq!((all.impossible.len(), all.too_large.len(), asked), (TURNS, 0, TURNS));
    let (none, asked) = found(Some(0));
    assert_eq!((none.impossible.len(), none.too_large.len(), asked), (0, TURNS, 2));
    let mut partly = 0;
    for most_terms in (100..4000).step_by(100) {
        let (some, asked) = found(Some(most_terms));
        let decided = some.impossible.len();
        assert_eq!(decided + some.too_large.len(), TURNS, "{most_terms} terms: none is lost");
        assert!(asked <= decided + 2, "{most_terms} terms: {asked} are asked about, and {decided} decided");
        partly += usize::from(decided > 0 && asked < TURNS);
    }
    assert!(partly > 0, "no number of terms tells the candidates apart");
}

//! One small script per rule family, read and reviewed by people: `golden/*.smt2`.
//!
//! `FORETRACE_BLESS=1` writes them anew. That the verdict noted here is right is asked of two solvers in the root
//! crate's `tests/cvc5.rs`.

use foretrace_encodings::{Encoder, Reads, Rules, TraceView, constant_reads, smtlib};
use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_trace::{
    Data, EventId, Feasibility, Independence, Model, Pattern, Question, SyncKind, TraceBuilder, Triple, Value,
};
use std::path::Path;

/// What is asked, besides the trace: in which model, of which three events.
struct Asked {
    model: Model,
    feasibility: Feasibility,
    pattern: Option<Pattern>,
    triple: [u32; 3],
}

/// The question whether a prefix holds the three events in this order.
fn prefix(model: Model, triple: [u32; 3]) -> Asked {
    Asked { model, feasibility: Feasibility::Prefix, pattern: None, triple }
}

fn script(trace: TraceBuilder, asked: &Asked) -> String {
    let (trace, observed) = trace.finish().expect("the trace is valid");
    let trace_index = TraceIndex::new(&trace);
    let clocks = MustHappenBefore::new(&trace, &trace_index);
    let view = TraceView { trace: &trace, trace_index: &trace_index, observed: &observed, clocks: &clocks };
    let independence = if asked.pattern.is_some() { Independence::Guarded } else { Independence::Conflict };
    let rules = Rules::for_question(Question { model: asked.model, feasibility: asked.feasibility, independence });
    let constants = if rules.reads == Reads::Latest { constant_reads(view) } else { Default::default() };
    let mut encoder = Encoder::new(view, rules, &constants);
    let [first, remote, second] = asked.triple.map(EventId);
    let query = encoder.query(Triple { first, remote, second }, asked.pattern);
    smtlib::script(&encoder, &query)
}

/// Holds the script against `golden/NAME.smt2`.
fn check(name: &str, trace: TraceBuilder, asked: &Asked) {
    let found = script(trace, asked);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(format!("{name}.smt2"));
    if std::env::var_os("FORETRACE_BLESS").is_some() {
        std::fs::write(&path, &found).expect("the folder can be written");
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == golden, "{name}.smt2 differs (FORETRACE_BLESS=1 writes it anew); now it is\n{found}");
}

/// A child's events come after its fork and before its join, a depart after all arrives of its round.
#[test]
fn program_order() {
    let mut trace = TraceBuilder::new(Data::None);
    trace.fork(1, 2);
    trace.fork(1, 3);
    trace.put(3, "y", None);
    trace.put(1, "x", None); // f
    trace.arrive(2, "b", 1);
    trace.arrive(1, "b", 1);
    trace.depart(2, "b", 1);
    trace.depart(1, "b", 1);
    trace.join(1, 3);
    trace.saw(1, "x", None); // s
    trace.put(2, "x", None); // r
    check("program-order", trace, &prefix(Model::Cam, [3, 10, 9]));
}

/// Reads that their thread goes on from return the recorded value: here of one of two writes, or the initial one.
#[test]
fn reads_from() {
    let value = |value: i64| Some(Value::int(value));
    let mut trace = TraceBuilder::new(Data::Concrete);
    trace.int_var("x", 0).int_var("y", 0);
    trace.saw(1, "x", value(0)); // f: must read the initial value
    trace.put(1, "y", value(1));
    trace.saw(2, "y", value(1)); // may read 1 from either write of it
    trace.put(2, "x", value(5)); // r
    trace.put(3, "y", value(1));
    trace.put(3, "y", value(2));
    trace.put(1, "x", value(6)); // s
    check("reads-from", trace, &prefix(Model::Mcm, [0, 3, 6]));
}

/// A condition on a value that is computed stays as it is; one on a value that only constants give becomes a choice of
/// the writes that fulfil it.
#[test]
fn guards() {
    let mut trace = TraceBuilder::new(Data::Symbolic);
    trace.int_var("x", 0).int_var("y", 0).int_var("n", 0);
    trace.read(1, "x", "a"); // f
    trace.write(1, "y", "(+ a 1)");
    trace.write(3, "n", "1");
    trace.write(3, "n", "2");
    trace.read(2, "n", "k");
    trace.assume(2, "(> k 0)"); // 1 and 2 do, the initial 0 does not
    trace.read(2, "y", "b");
    trace.write_if(2, "x", "7", "(>= b 1)"); // r
    trace.write(1, "x", "(+ a 1)"); // s
    check("guards", trace, &prefix(Model::Ctp, [0, 7, 8]));
}

/// A pin binds only under `pins`, so that a solver can be asked whether a verdict rests on it.
#[test]
fn pins() {
    let mut trace = TraceBuilder::new(Data::Symbolic);
    trace.int_var("p", 4).int_var("x", 0);
    trace.read(1, "x", ""); // f
    trace.read(2, "p", "a");
    trace.pin(2, "(= a 4)");
    trace.write(2, "x", "1"); // r: only before p changes
    trace.write(1, "p", "5");
    trace.write(1, "x", "2"); // s
    check("pins", trace, &prefix(Model::Ctp, [0, 3, 5]));
}

/// Regions of a mutex do not overlap; the last one of thread 1 is never closed, so nothing comes after it.
#[test]
fn locks() {
    let mut trace = TraceBuilder::new(Data::None);
    trace.acquire(1, "m");
    trace.saw(1, "x", None); // f
    trace.release(1, "m");
    trace.acquire(2, "m");
    trace.put(2, "x", None); // r
    trace.release(2, "m");
    trace.acquire(1, "m");
    trace.put(1, "x", None); // s
    check("locks", trace, &prefix(Model::Cam, [1, 4, 7]));
}

/// Two threads may share a rwlock, an exclusive holder shuts out both; a failed try needs that somebody has it.
#[test]
fn shared_locks() {
    let mut trace = TraceBuilder::new(Data::None);
    trace.sync("l", SyncKind::Rwlock);
    trace.acquire(2, "l");
    trace.busy(3, "l");
    trace.release(2, "l");
    trace.acquire_shared(1, "l");
    trace.acquire_shared(2, "l");
    trace.saw(1, "x", None); // f
    trace.saw(1, "x", None); // s
    trace.release_shared(1, "l");
    trace.release_shared(2, "l");
    trace.put(3, "x", None); // r
    check("shared-locks", trace, &prefix(Model::Cam, [5, 9, 6]));
}

/// Every wake takes a signal of its own, or a broadcast, between its wait and itself.
#[test]
fn condition_variables() {
    let mut trace = TraceBuilder::new(Data::None);
    trace.acquire(1, "m");
    trace.wait(1, "c", "m");
    trace.acquire(2, "m");
    trace.wait(2, "c", "m");
    trace.signal(3, "c");
    trace.broadcast(3, "c");
    trace.wake(1, "c", "m", None);
    trace.saw(1, "x", None); // f
    trace.release(1, "m");
    trace.wake(2, "c", "m", None);
    trace.put(2, "x", None); // r
    trace.release(2, "m");
    trace.saw(1, "x", None); // s
    check("condition-variables", trace, &prefix(Model::Cam, [7, 10, 12]));
}

/// Who goes past an initialisation comes after its end; an attempt that failed is over before the one that did not begins, if the
/// prefix holds both.
#[test]
fn once() {
    let mut trace = TraceBuilder::new(Data::None);
    trace.once_begin(2, "o");
    trace.put(2, "x", None); // r
    trace.once_fail(2, "o");
    trace.once_begin(1, "o");
    trace.once_end(1, "o");
    trace.once_pass(3, "o");
    trace.saw(3, "x", None); // f
    trace.saw(3, "x", None); // s
    check("once", trace, &prefix(Model::Cam, [6, 1, 7]));
}

/// Every down takes what was there from the start (0) or a post before it (1 and 2, in observed order).
#[test]
fn semaphores() {
    let mut trace = TraceBuilder::new(Data::None);
    trace.sync("q", SyncKind::Semaphore { init: 1 });
    trace.down(1, "q");
    trace.saw(1, "x", None); // f
    trace.post(2, "q"); // which it has not taken
    trace.down(2, "q");
    trace.put(2, "x", None); // r
    trace.post(2, "q");
    trace.down(1, "q");
    trace.put(1, "x", None); // s
    check("semaphores", trace, &prefix(Model::Cam, [1, 4, 7]));
}

/// Each thread takes what it gives back, and one was there from the start: a lock.
#[test]
fn semaphores_that_are_locks() {
    let mut trace = TraceBuilder::new(Data::None);
    trace.sync("q", SyncKind::Semaphore { init: 1 });
    trace.down(1, "q");
    trace.saw(1, "x", None); // f
    trace.post(1, "q");
    trace.down(2, "q");
    trace.put(2, "x", None); // r
    trace.post(2, "q");
    trace.down(1, "q");
    trace.put(1, "x", None); // s
    check("semaphores-that-are-locks", trace, &prefix(Model::Cam, [1, 4, 7]));
}

/// The plainest lost update: with r in between, both threads turn 0 into 1, so that the order of r and s does not
/// matter and nothing is violated.
#[test]
fn guarded_independence() {
    let mut trace = TraceBuilder::new(Data::Symbolic);
    trace.int_var("x", 0);
    trace.read(1, "x", "a"); // f
    trace.write(1, "x", "(+ a 1)"); // s
    trace.read(2, "x", "b");
    trace.write(2, "x", "(+ b 1)"); // r
    let asked = Asked { pattern: Some(Pattern::Rww), ..prefix(Model::Ctp, [0, 3, 1]) };
    check("guarded-independence", trace, &asked);
}

/// Wide accesses: the parts of one step have one place. Where s is not the last part of its step, the prefix ends inside
/// of that one, and of no other.
#[test]
fn steps_of_parts() {
    let mut trace = TraceBuilder::new(Data::None);
    trace.saw(1, "low", None).part(1, 2); // f
    trace.saw(1, "high", None).part(2, 2);
    trace.put(2, "low", None).part(1, 2); // r
    trace.put(2, "high", None).part(2, 2);
    trace.saw(1, "low", None).part(1, 2); // s
    trace.saw(1, "high", None).part(2, 2);
    check("steps-of-parts", trace, &prefix(Model::Avp, [0, 2, 4]));
}

/// Thread 1 reads twice and then goes the way of equal values.
fn two_equal_reads() -> TraceBuilder {
    let mut trace = TraceBuilder::new(Data::Symbolic);
    trace.int_var("x", 0);
    trace.read(1, "x", "a"); // f
    trace.read(1, "x", "b"); // s
    trace.assume(1, "(= a b)");
    trace.write(2, "x", "1"); // r
    trace
}

/// A prefix may end before the condition that fails.
#[test]
fn in_a_prefix() {
    check("prefix", two_equal_reads(), &prefix(Model::Ctp, [0, 3, 1]));
}

/// An execution of all events may not.
#[test]
fn in_a_complete_execution() {
    let asked = Asked { feasibility: Feasibility::Complete, ..prefix(Model::Ctp, [0, 3, 1]) };
    check("complete", two_equal_reads(), &asked);
}

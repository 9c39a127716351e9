//! Which writes a π-function keeps, and which reads are constant.

use foretrace_encodings::{Pi, TraceView, constant_reads};
use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_trace::strategies::{Shape, random_trace};
use foretrace_trace::{Data, EventId, Op, TraceBuilder, Value};

/// Calls `test` with the facts of a trace.
fn with_facts<T>(trace: TraceBuilder, test: impl FnOnce(TraceView<'_>) -> T) -> T {
    let (trace, observed) = trace.finish().expect("the trace is valid");
    let trace_index = TraceIndex::new(&trace);
    let clocks = MustHappenBefore::new(&trace, &trace_index);
    test(TraceView { trace: &trace, trace_index: &trace_index, observed: &observed, clocks: &clocks })
}

/// Whether the initial value and which writes may be what the access finds.
fn sources(trace: TraceBuilder, at: EventId) -> (bool, Vec<u32>) {
    let pi = with_facts(trace, |view| Pi::new(view, at));
    (pi.initial, pi.writes.iter().map(|write| write.0).collect())
}

fn symbolic() -> TraceBuilder {
    let mut trace = TraceBuilder::new(Data::Symbolic);
    trace.int_var("x", 0).int_var("y", 0);
    trace
}

/// The values of the constant reads, by event.
fn constants(trace: TraceBuilder) -> Vec<(u32, i64)> {
    let found = with_facts(trace, constant_reads);
    let mut found: Vec<(u32, i64)> = found
        .into_iter()
        .map(|(read, value)| (read.0, i64::try_from(value.to_integer()).expect("a small value")))
        .collect();
    found.sort_unstable();
    found
}

#[test]
fn concurrent_writes_and_the_initial_value_are_kept() {
    let mut trace = symbolic();
    trace.write(2, "x", "1");
    trace.write(3, "x", "2");
    trace.write(3, "y", "3"); // of another variable
    let read = trace.read(1, "x", "a").id();
    assert_eq!(sources(trace, read), (true, vec![0, 1]));
}

#[test]
fn of_the_own_thread_only_the_latest_write_before_is_kept() {
    let mut trace = symbolic();
    trace.write(1, "x", "1");
    trace.write(1, "x", "2");
    trace.write(2, "x", "5");
    let read = trace.read(1, "x", "a").id();
    trace.write(1, "x", "3"); // comes after
    assert_eq!(sources(trace, read), (false, vec![1, 2]));
}

#[test]
fn writes_that_come_after_or_that_another_comes_between_are_not_kept() {
    let mut trace = symbolic();
    trace.write(1, "x", "1"); // 1 comes between this and whatever the child does
    trace.write(1, "x", "2");
    trace.fork(1, 2);
    trace.write(2, "x", "3");
    trace.write(1, "x", "4");
    let read = trace.read(2, "x", "a").id();
    trace.join(1, 2);
    trace.write(1, "x", "5"); // after the child's end
    // Neither can the parent's write 1 be the latest: the child's own write 3 comes between.
    assert_eq!(sources(trace, read), (false, vec![3, 4]));
}

#[test]
fn concurrent_writes_before_a_join_are_all_kept() {
    let mut trace = symbolic();
    trace.fork(1, 2);
    trace.fork(1, 3);
    trace.write(2, "x", "1");
    trace.write(3, "x", "2");
    trace.join(1, 2);
    trace.join(1, 3);
    let read = trace.read(1, "x", "a").id();
    assert_eq!(sources(trace, read), (false, vec![2, 3]));
}

#[test]
fn an_rmw_does_not_read_from_itself() {
    let mut trace = symbolic();
    trace.write(2, "x", "1");
    let rmw = trace.rmw(1, "x", "a", "(+ a 1)").id();
    assert_eq!(sources(trace, rmw), (true, vec![0]));
}

/// The definition: a write that need not come after the access, and that no other one must come between.
fn sources_by_definition(view: TraceView<'_>, at: EventId) -> (bool, Vec<EventId>) {
    let var = view.trace.event(at).op.var();
    let (clocks, writes_it) = (view.clocks, |op: &Op| op.writes() && op.var() == var);
    let all: Vec<EventId> = view.trace.iter().filter(|(_, event)| writes_it(&event.op)).map(|(id, _)| id).collect();
    let hidden_by = |write: &EventId, other: &EventId| clocks.before(*write, *other) && clocks.before(*other, at);
    let possible = |write: &&EventId| {
        **write != at && !clocks.before(at, **write) && !all.iter().any(|other| hidden_by(write, other))
    };
    (!all.iter().any(|write| clocks.before(*write, at)), all.iter().filter(possible).copied().collect())
}

#[test]
fn what_is_kept_on_random_traces_is_what_the_definition_says() {
    let (mut several, mut left_out) = (0, 0);
    for seed in 0..300 {
        let (trace, observed) = random_trace(seed, &Shape { events: 60, ..Shape::default() });
        let trace_index = TraceIndex::new(&trace);
        let clocks = MustHappenBefore::new(&trace, &trace_index);
        let view = TraceView { trace: &trace, trace_index: &trace_index, observed: &observed, clocks: &clocks };
        for (at, event) in trace.iter() {
            let Some(var) = event.op.var() else { continue };
            let pi = Pi::new(view, at);
            several += usize::from(pi.writes.len() > 1);
            left_out += trace_index.writes[var.index()].len() - pi.writes.len();
            assert_eq!((pi.initial, pi.writes), sources_by_definition(view, at), "seed {seed}, event {at}");
        }
    }
    assert!(several > 100 && left_out > 100, "{several} with several writes, {left_out} writes left out");
}

#[test]
fn a_read_is_constant_when_all_its_sources_give_one_value() {
    let mut trace = symbolic();
    trace.write(2, "x", "0"); // what x holds anyhow
    trace.read(1, "x", "a"); // 1
    trace.read(1, "y", "b"); // 2: 0 or 7
    trace.write(2, "y", "7");
    assert_eq!(constants(trace), [(1, 0)]);
}

#[test]
fn what_is_computed_from_constants_is_constant() {
    let mut trace = symbolic();
    trace.write(1, "x", "2");
    trace.read(1, "x", "a"); // 1
    trace.write(1, "y", "(+ a 3)");
    trace.read(1, "y", "b"); // 3
    assert_eq!(constants(trace), [(1, 2), (3, 5)]);
}

#[test]
fn a_write_that_depends_on_an_open_read_makes_nothing_constant() {
    let mut trace = symbolic();
    trace.read(1, "x", "a"); // 0 or 1
    trace.write(1, "y", "(- a a)"); // always 0, but that takes arithmetic
    trace.read(1, "y", "b");
    trace.write(2, "x", "1");
    assert_eq!(constants(trace), []);
}

/// Two rmws that could read from each other are not constant, although the recorded order would give one value.
#[test]
fn a_cycle_of_sources_is_not_constant() {
    let mut trace = symbolic();
    trace.rmw(1, "x", "a", "(+ a 1)");
    trace.rmw(2, "x", "b", "(+ b 1)");
    assert_eq!(constants(trace), []);
}

#[test]
fn constants_may_have_any_sort() {
    let mut trace = TraceBuilder::new(Data::Symbolic);
    trace.var("w", Value::word(64, u64::MAX.into()));
    trace.read(1, "w", "a");
    trace.read(2, "w", "b");
    assert_eq!(
        with_facts(trace, constant_reads).into_values().collect::<Vec<_>>(),
        [Value::word(64, u64::MAX.into()), Value::word(64, u64::MAX.into()),]
    );
}

//! Traces with tries, and what is left of them when tries are open.

use crate::{Data, Event, Op, Trace, TraceBuilder, WakeCause, binary, jsonl};

fn ops(trace: &Trace) -> String {
    let kind = |event: &Event| match &event.op {
        Op::Free { vars, syncs, .. } if vars.is_empty() && syncs.is_empty() => "-",
        op => op.kind(),
    };
    trace.events.iter().map(kind).collect::<Vec<_>>().join(" ")
}

fn opened(build: impl Fn(&mut TraceBuilder)) -> Trace {
    let mut builder = TraceBuilder::new(Data::None);
    build(&mut builder);
    builder.build().expect("a trace").with_open_tries().expect("it has tries")
}

#[test]
fn a_try_takes_its_release_with_it_and_no_other() {
    let trace = opened(|trace| {
        trace.acquire(1, "m").tried();
        trace.release(1, "m");
        trace.acquire(1, "m");
        trace.release(1, "m");
        trace.acquire(2, "m");
        trace.release(2, "m");
    });
    assert_eq!(ops(&trace), "- - acquire release acquire release");
}

#[test]
fn a_share_that_was_tried_goes_with_its_release_and_its_failed_tries() {
    let trace = opened(|trace| {
        trace.acquire_shared(1, "l").tried();
        trace.busy(2, "l");
        trace.release_shared(1, "l");
        trace.acquire_shared(1, "l");
        trace.release_shared(1, "l");
    });
    assert_eq!(ops(&trace), "- - - acquire_shared release_shared");
}

#[test]
fn a_failed_try_needs_no_holder() {
    let trace = opened(|trace| {
        trace.acquire(1, "m");
        trace.busy(2, "m").tried();
        trace.busy(2, "m");
    });
    assert_eq!(ops(&trace), "acquire - busy");
}

#[test]
fn other_calls_that_were_tried_wait_for_nothing() {
    let trace = opened(|trace| {
        trace.fork(1, 2);
        trace.post(2, "s");
        trace.post(2, "s");
        trace.arrive(2, "b", 1);
        trace.down(1, "s").tried();
        trace.down(1, "s");
        trace.arrive(1, "b", 1);
        trace.depart(1, "b", 1).tried();
        trace.depart(2, "b", 1);
        trace.join(1, 2).tried();
    });
    assert_eq!(ops(&trace), "fork post post arrive - down arrive - depart -");
}

#[test]
fn a_trace_without_tries_is_not_made_again() {
    let mut builder = TraceBuilder::new(Data::None);
    builder.acquire(1, "m");
    builder.release(1, "m");
    assert!(builder.build().expect("a trace").with_open_tries().is_none());
}

#[test]
fn a_wait_without_a_time_limit_keeps_its_signal() {
    let trace = opened(|trace| {
        trace.acquire(1, "n").tried();
        trace.acquire(1, "m");
        trace.wait(1, "c", "m");
        trace.signal(2, "c");
        trace.wake(1, "c", "m", None);
    });
    assert_eq!(ops(&trace), "- acquire wait signal wake");
    assert!(matches!(trace.events[4].op, Op::Wake { cause: None, .. }));
}

#[test]
fn a_failed_try_of_a_lock_that_a_try_took_needs_no_holder() {
    let trace = opened(|trace| {
        trace.acquire(1, "m").tried();
        trace.busy(2, "m");
        trace.acquire(1, "n");
        trace.busy(2, "n");
    });
    assert_eq!(ops(&trace), "- - acquire busy");
}

#[test]
fn a_wait_with_a_time_limit_needs_no_signal_but_its_lock() {
    let trace = opened(|trace| {
        trace.acquire(1, "m");
        trace.wait(1, "c", "m");
        trace.signal(2, "c");
        trace.wake(1, "c", "m", None).tried();
        trace.release(1, "m");
    });
    assert_eq!(ops(&trace), "acquire wait signal wake release");
    assert!(matches!(trace.events[3].op, Op::Wake { cause: Some(WakeCause::Timeout), by: None, .. }));
}

#[test]
fn a_wait_with_a_lock_that_was_tried_goes_with_it() {
    let trace = opened(|trace| {
        trace.acquire(1, "m").tried();
        trace.wait(1, "c", "m");
        trace.signal(2, "c");
        trace.wake(1, "c", "m", None);
        trace.release(1, "m");
    });
    assert_eq!(ops(&trace), "- - signal - -");
}

#[test]
fn a_try_is_kept_in_files_and_belongs_to_few_kinds() {
    let line = r#"{"t":1,"op":"acquire","lock":"m","try":true}"#;
    let text = format!("{{\"foretrace\":1,\"data\":\"none\"}}\n{line}\n");
    let (trace, _) = jsonl::read(text.as_bytes()).expect("a trace");
    assert!(trace.events[0].tried);
    let mut written = Vec::new();
    jsonl::write(&mut written, &trace).expect("memory");
    assert!(String::from_utf8_lossy(&written).contains(line));
    let mut written = Vec::new();
    binary::write(&mut written, &trace).expect("memory");
    assert!(binary::read(&written[..]).expect("a trace").0.events[0].tried);
    let wrong = text.replace("acquire", "release");
    let error = jsonl::read(wrong.as_bytes()).expect_err("a release is no try").to_string();
    assert!(error.contains("`try` on `release` events"), "{error}");
}

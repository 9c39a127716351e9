//! Which stretches of a thread each choice of transactions makes.

use crate::{Atomic, Data, EventId, NoCandidate, Pattern, SyncKind, TraceBuilder, Triple};

/// Thread number, first and last event of each transaction.
fn found(atomic: Atomic, make: impl FnOnce(&mut TraceBuilder)) -> Vec<(u64, u32, u32)> {
    let mut builder = TraceBuilder::new(Data::None);
    make(&mut builder);
    let (trace, _) = builder.finish().expect("an execution");
    let show = |t: crate::Transaction| (trace.threads[t.thread.index()].number, t.first.0, t.last.0);
    atomic.transactions(&trace).into_iter().map(show).collect()
}

#[test]
fn marked_ones_are_the_outermost_and_may_be_cut_off() {
    let transactions = found(Atomic::Marked, |b| {
        b.begin(1);
        b.begin(2);
        b.begin(1);
        b.end(1);
        b.saw(1, "x", None);
        b.end(1);
        b.saw(1, "x", None);
        b.saw(2, "x", None);
    });
    assert_eq!(transactions, [(1, 0, 5), (2, 1, 7)]);
}

#[test]
fn lock_regions_are_outermost_and_have_no_wait() {
    let transactions = found(Atomic::LockRegions, |b| {
        b.sync("r", SyncKind::Mutex { recursive: true }).sync("rw", SyncKind::Rwlock);
        b.acquire(1, "m"); // 0
        b.acquire(1, "r");
        b.acquire(1, "r");
        b.release(1, "m"); // hand over hand
        b.release(1, "r");
        b.release(1, "r"); // 5
        b.saw(1, "x", None);
        b.acquire_shared(2, "rw"); // 7
        b.acquire_shared(2, "rw");
        b.release_shared(2, "rw");
        b.release_shared(2, "rw"); // 10
        b.acquire(3, "m"); // 11
        b.wait(3, "c", "m");
        b.broadcast(1, "c");
        b.wake(3, "c", "m", None);
        b.saw(3, "x", None);
        b.release(3, "m"); // 16
        b.acquire(2, "m"); // 17
        b.saw(2, "x", None); // 18
        b.saw(1, "x", None);
    });
    assert_eq!(transactions, [(1, 0, 5), (2, 7, 10), (2, 17, 18)]);
}

#[test]
fn operations_go_from_call_to_return() {
    let mut b = TraceBuilder::new(Data::None);
    b.call(1, "push");
    b.call(2, "pop");
    b.call(1, "grow");
    b.ret(1, "grow");
    b.ret(1, "push");
    b.call(1, "peek");
    b.saw(2, "x", None);
    let (trace, _) = b.finish().expect("an execution");
    let transactions = Atomic::Operations.transactions(&trace);
    let shown: Vec<_> =
        transactions.iter().map(|t| (t.first.0, t.last.0, t.label.map(|label| trace.names.text(label)))).collect();
    assert_eq!(shown, [(0, 4, Some("push")), (1, 6, Some("pop")), (5, 5, Some("peek"))]);
}

#[test]
fn threads_are_their_whole_bodies() {
    let transactions = found(Atomic::Threads, |b| {
        b.saw(2, "x", None);
        b.fork(1, 3);
        b.saw(2, "x", None);
        b.fork(1, 4);
        b.join(1, 4);
    });
    assert_eq!(transactions, [(2, 0, 2), (1, 1, 4)]);
}

#[test]
fn a_triple_that_is_no_candidate_says_why() {
    let mut b = TraceBuilder::new(Data::None);
    b.begin(1);
    b.saw(1, "x", None); // 1
    b.saw(1, "y", None);
    b.saw(1, "x", None); // 3
    b.end(1);
    b.put(1, "x", None); // 5
    b.put(2, "x", None); // 6
    b.put(2, "x", None).external(); // 7
    b.saw(2, "x", None); // 8
    let (trace, _) = b.finish().expect("an execution");
    let transactions = Atomic::Marked.transactions(&trace);
    let judge = |first, remote, second| {
        let triple = Triple { first: EventId(first), remote: EventId(remote), second: EventId(second) };
        triple.candidate(&trace, &transactions)
    };
    assert_eq!(judge(1, 6, 3), Ok(Pattern::Rwr));
    assert_eq!(judge(1, 8, 3), Err(NoCandidate::NoPattern));
    assert_eq!(judge(1, 6, 2), Err(NoCandidate::OtherVariable));
    assert_eq!(judge(0, 6, 4), Err(NoCandidate::OtherVariable));
    assert_eq!(judge(1, 5, 3), Err(NoCandidate::SameThread));
    assert_eq!(judge(1, 7, 3), Err(NoCandidate::External(EventId(7))));
    assert_eq!(judge(1, 6, 5), Err(NoCandidate::NotOneTransaction));
    assert_eq!(judge(3, 6, 1), Err(NoCandidate::NotOneTransaction));
    assert_eq!(judge(1, 6, 1), Err(NoCandidate::NotOneTransaction));
    assert_eq!(judge(1, 6, 6), Err(NoCandidate::NotOneTransaction));
    assert_eq!(judge(1, 99, 3), Err(NoCandidate::NoEvent(EventId(99))));
}

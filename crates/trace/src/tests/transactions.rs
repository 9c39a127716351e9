//! Which stretches of a thread each choice of transactions makes.

use crate::candidates::{blocks_by_definition, candidates};
use crate::{
    Atomic, BlockKind, Data, EventId, Format, Layout, NoCandidate, Op, Pattern, SyncKind, Trace, TraceBuilder, Triple,
    read_from, write_to,
};

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
fn sections_are_outermost_and_a_wait_ends_one() {
    let transactions = found(Atomic::Sections, |b| {
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
    assert_eq!(transactions, [(1, 0, 5), (2, 7, 10), (3, 11, 12), (3, 14, 16), (2, 17, 18)]);
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

/// Two threads that read, write, and open and close blocks inside each other, as a seed says.
fn nested(seed: u64) -> Trace {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = |limit: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % limit
    };
    let mut builder = TraceBuilder::new(Data::None);
    let mut depth = [0_u64; 2];
    let mut kinds = Vec::new();
    for _ in 0..24 {
        let thread = below(2) + 1;
        let open = &mut depth[thread as usize - 1];
        match below(6) {
            0 | 1 if *open < 4 => {
                *open += 1;
                builder.begin(thread);
                kinds.push(BlockKind::ALL[below(5) as usize]);
            }
            2 if *open > 0 => {
                *open -= 1;
                builder.end(thread);
            }
            3 => drop(builder.put(thread, "x", None)),
            _ => drop(builder.saw(thread, "x", None)),
        }
    }
    let mut trace = builder.build().expect("a valid trace");
    let begins = trace.events.iter_mut().filter_map(|event| match &mut event.op {
        Op::Begin { kind, .. } => Some(kind),
        _ => None,
    });
    begins.zip(kinds).for_each(|(kind, chosen)| *kind = chosen);
    trace
}

#[test]
fn candidates_depend_on_outermost_blocks_and_belong_to_the_innermost() {
    let mut deep = 0;
    for seed in 0..2_000 {
        let trace = nested(seed);
        let has_marks = trace.events.iter().any(|event| matches!(event.op, Op::Begin { kind: BlockKind::Mark, .. }));
        let by_definition = blocks_by_definition(&trace);
        if by_definition.is_empty() {
            continue;
        }
        let blocks = Atomic::Auto.blocks(&trace);
        let outermost = Atomic::Auto.transactions(&trace);
        for triple in candidates(&trace, &outermost) {
            let block = blocks.innermost(trace.event(triple.first).thread, triple.first, triple.second);
            let block = block.map(|position| blocks.all()[position]).expect("a candidate has a block");
            let holds = |(thread, first, last): &&(_, _, _)| {
                *thread == block.thread && *first <= triple.first && triple.second <= *last
            };
            let expected = by_definition.iter().rfind(holds).map(|(_, first, last)| (*first, *last));
            assert_eq!(Some((block.first, block.last)), expected, "seed {seed}: {triple}");
            deep += usize::from(!outermost.iter().any(|outer| outer.first == block.first));
        }
        // Without what is inside the outermost blocks' ends, the candidates are the same.
        let inner = blocks.all().iter().filter(|block| outermost.iter().all(|outer| outer.first != block.first));
        let mut without = trace.clone();
        for inner in inner.filter(|_| has_marks) {
            if let Op::Begin { kind, .. } = &mut without.events[inner.first.index()].op {
                *kind = BlockKind::Loop; // which is none where there are marks
            }
        }
        assert_eq!(candidates(&without, &Atomic::Auto.transactions(&without)), candidates(&trace, &outermost));
    }
    assert!(deep > 1_000, "{deep} candidates in inner blocks");
}

#[test]
fn a_trace_without_blocks_has_threads_between_forks_and_joins_and_their_sections() {
    let mut b = TraceBuilder::new(Data::None);
    b.saw(1, "x", None); // 0
    b.fork(1, 2);
    b.saw(1, "x", None); // 2
    b.acquire(1, "m");
    b.saw(1, "x", None); // 4
    b.saw(1, "x", None); // 5
    b.release(1, "m");
    b.put(2, "x", None); // 7
    b.join(1, 2);
    b.saw(1, "x", None); // 9
    let (trace, _) = b.finish().expect("an execution");
    let blocks = Atomic::Auto.blocks(&trace);
    let shown: Vec<_> = blocks.all().iter().map(|b| (b.kind.name(), b.first.0, b.last.0, b.height)).collect();
    let expected =
        [("thread", 0, 0, 0), ("thread", 2, 6, 1), ("section", 3, 6, 0), ("thread", 7, 7, 0), ("thread", 9, 9, 0)];
    assert_eq!(shown, expected);
}

#[test]
fn kinds_of_blocks_are_kept_in_every_form() {
    for seed in 0..20 {
        let trace = nested(seed);
        for format in [Format::JSONL, Format { layout: Layout::Binary, ..Format::JSONL }] {
            let mut bytes = Vec::new();
            write_to(&mut bytes, &trace, format).expect("memory");
            let read = read_from(&bytes[..], "memory").expect("what was written");
            assert_eq!(read.events, trace.events, "seed {seed}");
        }
    }
}

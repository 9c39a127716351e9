//! Semaphores: which downs wait for other threads, against all orders of the same steps; and what that does to repairs.

use foretrace_repair::{Downs, Guard, Limits, NoGuard, guarded, repairs};
use foretrace_trace::random::Random;
use foretrace_trace::{Data, EventId, Op, SyncKind, Trace, TraceBuilder};
use std::collections::BTreeSet;

/// A down or a post of a semaphore, with the event of the trace.
type Step = (EventId, usize, bool);

/// The steps of each thread, and the first counts.
fn steps(trace: &Trace) -> (Vec<Vec<Step>>, Vec<i64>) {
    let mut threads = vec![Vec::new(); trace.threads.len()];
    for (id, event) in trace.iter() {
        match event.op {
            Op::Post { sem } => threads[event.thread.index()].push((id, sem.index(), true)),
            Op::Down { sem } => threads[event.thread.index()].push((id, sem.index(), false)),
            _ => {}
        }
    }
    let first = |kind: &SyncKind| if let SyncKind::Semaphore { init } = kind { *init as i64 } else { 0 };
    (threads, trace.syncs.iter().map(|sync| first(&sync.kind)).collect())
}

/// Per event what comes before it in all orders of all steps, by trying each.
struct AllOrders {
    threads: Vec<Vec<Step>>,
    before: Vec<Option<BTreeSet<EventId>>>,
    /// Per down whether in every order another thread has posted before on its semaphore.
    needs_others: Vec<bool>,
}

impl AllOrders {
    fn of(trace: &Trace) -> AllOrders {
        let (threads, mut counts) = steps(trace);
        let events = trace.events.len();
        let mut all = AllOrders { threads, before: vec![None; events], needs_others: vec![true; events] };
        all.go_on(&mut counts, &mut Vec::new());
        all
    }

    fn go_on(&mut self, counts: &mut Vec<i64>, order: &mut Vec<(usize, Step)>) {
        let mut at = vec![0; self.threads.len()];
        order.iter().for_each(|(thread, _)| at[*thread] += 1);
        if order.len() == self.threads.iter().map(Vec::len).sum::<usize>() {
            for (place, (thread, (event, sem, _))) in order.iter().enumerate() {
                let before: BTreeSet<EventId> = order[..place].iter().map(|(_, (other, ..))| *other).collect();
                let known = self.before[event.index()].take();
                self.before[event.index()] = Some(known.map_or(before.clone(), |known| &known & &before));
                self.needs_others[event.index()] &=
                    order[..place].iter().any(|(other, (_, of, is_post))| other != thread && of == sem && *is_post);
            }
        }
        for (thread, next) in at.into_iter().enumerate() {
            let Some((event, sem, is_post)) = self.threads[thread].get(next).copied() else { continue };
            if !is_post && counts[sem] == 0 {
                continue;
            }
            let change = if is_post { 1 } else { -1 };
            counts[sem] += change;
            order.push((thread, (event, sem, is_post)));
            self.go_on(counts, order);
            order.pop();
            counts[sem] -= change;
        }
    }
}

/// Two or three threads that post and take as the counts allow.
fn random_trace(seed: u64) -> Trace {
    let mut random = Random::new(seed);
    let (threads, semaphores) = (2 + random.below(2), 1 + random.below(2));
    let mut builder = TraceBuilder::new(Data::None);
    let mut counts: Vec<u64> = Vec::new();
    for sem in 0..semaphores {
        counts.push(random.below(2) as u64);
        builder.sync(&format!("s{sem}"), SyncKind::Semaphore { init: counts[sem] });
    }
    for _ in 0..4 + random.below(4) {
        let (thread, sem) = (1 + random.below(threads) as u64, random.below(semaphores));
        let name = format!("s{sem}");
        if counts[sem] > 0 && random.below(2) == 0 {
            counts[sem] -= 1;
            builder.down(thread, &name);
        } else {
            counts[sem] += 1;
            builder.post(thread, &name);
        }
    }
    builder.build().expect("the trace is valid")
}

#[test]
fn posts_that_a_down_waits_for_come_first_in_all_orders() {
    let (mut named, mut waiting, mut free) = (0, 0, 0);
    for seed in 1..=400 {
        let trace = random_trace(seed);
        let (orders, downs) = (AllOrders::of(&trace), Downs::new(&trace));
        for (id, event) in trace.iter().filter(|(_, event)| matches!(event.op, Op::Down { .. })) {
            let before = orders.before[id.index()].as_ref().expect("the recorded order is one");
            let Some(posts) = downs.posts(id) else {
                free += 1;
                continue;
            };
            assert!(orders.needs_others[id.index()], "seed {seed}: event {} of {trace:#?}", id.index());
            waiting += 1;
            for post in posts {
                let post_event = trace.event(*post);
                assert!(post_event.op.kind() == "post" && post_event.thread != event.thread, "seed {seed}");
                assert!(before.contains(post), "seed {seed}: {} before {} of {trace:#?}", post.index(), id.index());
                named += 1;
            }
        }
    }
    assert!(named > 100 && waiting > 100 && free > 100, "{named} posts, {waiting} downs that wait, {free} others");
}

fn of_operations(builder: TraceBuilder) -> Vec<Vec<String>> {
    let found = repairs(&[builder.build().expect("the trace is valid")], &[], None, Limits::NONE);
    found.ranked.iter().map(|ranked| ranked.repair.iter().map(ToString::to_string).collect()).collect()
}

/// `f` writes, asks another thread and waits for its answer: while it waits, the other one writes. No section can hold that.
#[test]
fn no_section_holds_a_down_that_needs_the_post_of_another_thread() {
    let mut builder = TraceBuilder::new(Data::None);
    builder.call(1, "f");
    builder.put(1, "x", None);
    builder.post(1, "question");
    builder.call(2, "g");
    builder.down(2, "question");
    builder.put(2, "x", None);
    builder.post(2, "answer");
    builder.ret(2, "g");
    builder.down(1, "answer");
    builder.put(1, "x", None);
    builder.ret(1, "f");
    assert_eq!(of_operations(builder), Vec::<Vec<String>>::new());
}

/// The same with a semaphore as a mutex, given back between the writes: the section that holds both is the repair.
#[test]
fn a_section_holds_downs_of_a_semaphore_that_is_a_mutex() {
    let mut builder = TraceBuilder::new(Data::None);
    builder.sync("mutex", SyncKind::Semaphore { init: 1 });
    builder.call(1, "f");
    let writes = |builder: &mut TraceBuilder, thread| {
        builder.down(thread, "mutex");
        builder.put(thread, "x", None);
        builder.post(thread, "mutex");
    };
    writes(&mut builder, 1);
    builder.call(2, "g");
    writes(&mut builder, 2);
    builder.ret(2, "g");
    writes(&mut builder, 1);
    builder.ret(1, "f");
    assert_eq!(of_operations(builder), [["accesses 1–2 in f"]]);
}

/// A lock is not held where the thread needs another one's post, and is where its own post gives it.
#[test]
fn a_lock_is_held_on_over_downs_of_a_mutex_alone() {
    for waits in [true, false] {
        let mut builder = TraceBuilder::new(Data::None);
        builder.sync("s", SyncKind::Semaphore { init: u64::from(!waits) });
        builder.saw(1, "x", None);
        if waits {
            builder.post(2, "s");
        }
        builder.down(1, "s");
        builder.put(1, "x", None);
        builder.post(1, "s");
        builder.put(2, "x", None);
        let trace = builder.build().expect("the trace is valid");
        let of_x: Vec<EventId> = trace.iter().filter(|(_, event)| event.op.var().is_some()).map(|(id, _)| id).collect();
        let var = trace.event(of_x[0]).op.var().expect("an access");
        let made = guarded(&trace, Guard { lock: None, stretches: &[(of_x[0], of_x[1])], vars: &[var] });
        assert_eq!(made.err(), waits.then_some(NoGuard::Waits));
    }
}

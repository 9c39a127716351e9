//! The dependences of a schedule are those of the relation, pair by pair.

use super::*;
use foretrace_serializability::Relation;
use foretrace_trace::strategies::{Shape, random_trace};
use foretrace_trace::{Atomic, Data, SyncId, TraceBuilder, candidates};

/// Whether two steps must keep their order, by the definition.
fn keep_order(trace: &Trace, triple: Triple, earlier: EventId, later: EventId) -> bool {
    let [one, other] = [earlier, later].map(|event| trace.event(event));
    let depend = |(own, own_mode): (u32, Mode), (theirs, their_mode): (u32, Mode)| {
        own == theirs && own_mode.coarse().relation(their_mode.coarse()) != Relation::Independent
    };
    let used = |op: &Op| -> Vec<(u32, Mode)> {
        let (freed, objects): (&[_], &[_]) =
            if let Op::Free { vars, syncs, .. } = op { (vars, syncs) } else { (&[], &[]) };
        let of_events = uses(op).into_iter().flatten().map(|(object, mode)| (number(trace, object), mode));
        let objects = objects.iter().map(|sync| (number(trace, Object::Sync(*sync)), Mode::Any));
        of_events.chain(freed.iter().map(|var| (var.0, Mode::Write))).chain(objects).collect()
    };
    let in_triple = |event| [triple.first, triple.remote, triple.second].contains(&event);
    one.thread == other.thread
        || matches!(one.op, Op::Fork { child } if child == other.thread)
        || matches!(other.op, Op::Join { child } if child == one.thread)
        || in_triple(earlier) && in_triple(later)
        || used(&one.op).iter().any(|own| used(&other.op).iter().any(|theirs| depend(*own, *theirs)))
}

/// Per step the steps that it comes after, a bit each.
fn closure(steps: usize, sources: impl Fn(usize) -> Vec<usize>) -> Vec<u128> {
    let mut all = vec![0_u128; steps];
    for step in 0..steps {
        all[step] = sources(step).into_iter().fold(0, |known, source| known | all[source] | 1 << source);
    }
    all
}

#[test]
fn they_are_the_closure_of_the_relation() {
    let (mut checked, mut missing) = (0, 0);
    for seed in 0..400 {
        let (trace, _) = random_trace(seed, &Shape { events: 20, ..Shape::default() });
        let transactions = Atomic::Auto.transactions(&trace);
        // Parts of one step have their own test.
        if trace.events.len() > 128 || trace.events.iter().any(|event| event.part.is_some()) {
            continue;
        }
        let schedule: Vec<EventId> = trace.iter().map(|(event, _)| event).collect();
        for triple in candidates(&trace, &transactions).into_iter().take(3) {
            let dependences = Dependences::new(&trace, triple, &schedule);
            let found = closure(schedule.len(), |step| {
                dependences.of_step(step as u32).map(|source| source as usize).collect()
            });
            let expected = closure(schedule.len(), |step| {
                (0..step).filter(|source| keep_order(&trace, triple, schedule[*source], schedule[step])).collect()
            });
            assert_eq!(found, expected, "seed {seed}, {triple:?}");
            checked += 1;
            missing += expected.iter().enumerate().filter(|(step, known)| known.count_ones() < *step as u32).count();
        }
    }
    assert!(
        checked > 200 && missing > 200,
        "{checked} schedules, {missing} steps that do not come after all before them"
    );
}

#[test]
fn rounds_of_a_barrier_and_memory_given_back_keep_their_order() {
    let mut b = TraceBuilder::new(Data::None);
    b.put(1, "x", None); // 0
    b.saw(2, "x", None); // 1
    b.free(1, &["x"]); // 2
    let trace = b.build().expect("well formed");
    let none = Triple { first: EventId(0), remote: EventId(0), second: EventId(0) };
    let dependences = Dependences::new(&trace, none, &[0, 1, 2].map(EventId));
    assert_eq!(dependences.of_step(1).collect::<Vec<u32>>(), [0]);
    let mut before: Vec<u32> = dependences.of_step(2).collect();
    before.sort_unstable();
    before.dedup();
    assert_eq!(before, [0, 1]);
    let round = |round| number(&trace, Object::Round(SyncId(0), round));
    assert_eq!(round(0), round(1));
}

//! Orders with sections kept whole and with fewer switches, and the least part that fails.

use foretrace_repair::{Limits, kept_whole, minimize, repairs, stretches_of, switches, with_switches};
use foretrace_trace::{Data, EventId, Observed, Trace, TraceBuilder};
use rustc_hash::FxHashSet;

/// Thread 1 reads and writes under the lock, in two holds; thread 2 comes in between, and thread 2 has a hold that
/// thread 1 must wait for.
fn two_holds() -> (Trace, Observed) {
    let mut builder = TraceBuilder::new(Data::None);
    for (thread, op) in [(1, "call"), (1, "read"), (2, "call"), (2, "take"), (2, "write"), (2, "give"), (2, "ret")] {
        match op {
            "call" => builder.call(thread, "f"),
            "ret" => builder.ret(thread, "f"),
            "take" => builder.acquire(thread, "m"),
            "give" => builder.release(thread, "m"),
            "read" => builder.saw(thread, "x", None).at("a.c:1"),
            _ => builder.put(thread, "x", None).at("a.c:2"),
        };
    }
    builder.acquire(1, "m");
    builder.put(1, "x", None).at("a.c:2");
    builder.release(1, "m");
    builder.ret(1, "f");
    builder.finish().expect("the trace is valid")
}

fn numbers(order: &[EventId]) -> Vec<u32> {
    order.iter().map(|event| event.0).collect()
}

#[test]
fn a_thread_in_a_section_goes_on_before_others() {
    let (trace, observed) = two_holds();
    let found = repairs(std::slice::from_ref(&trace), &[], None, Limits::NONE);
    let stretches = stretches_of(&trace, None, &found.ranked[0].repair);
    assert_eq!(stretches, [(EventId(1), EventId(8))]);
    let order = kept_whole(&trace, &observed, &[], &stretches).expect("cam needs no data");
    assert_eq!(numbers(&order), [0, 1, 7, 8, 2, 9, 3, 4, 5, 6, 10]);
    let place = |event: u32| order.iter().position(|other| other.0 == event).expect("all events are there");
    assert!(place(8) < place(4), "{order:?}");
    assert_eq!(order.len(), trace.events.len());
}

#[test]
fn switches_are_where_a_thread_could_have_gone_on() {
    let (trace, observed) = two_holds();
    let all = switches(&trace, &observed).expect("cam needs no data");
    assert_eq!(all.iter().map(|switch| (switch.after.0, switch.to.0)).collect::<Vec<_>>(), [(1, 2)]);
    let none = with_switches(&trace, &observed, &FxHashSet::default()).expect("cam needs no data");
    assert_eq!(numbers(&none), [0, 1, 7, 8, 9, 10, 2, 3, 4, 5, 6]);
    let same = with_switches(&trace, &observed, &all.into_iter().collect()).expect("cam needs no data");
    assert_eq!(numbers(&same), (0..11).collect::<Vec<u32>>());
}

#[test]
fn the_least_part_is_found() {
    let all: Vec<u32> = (0..40).collect();
    let mut asked = 0;
    let least = minimize(&all, |part| {
        asked += 1;
        Some(part.contains(&7) && part.contains(&31))
    });
    assert_eq!(least, [7, 31]);
    assert!(asked < 60, "{asked}");
    assert_eq!(minimize(&all, |_| Some(true)), Vec::<u32>::new());
    assert_eq!(minimize(&all, |_| None), all);
}

//! Sections where the calls that lead to accesses are known: lines of the innermost function whose call holds both ends.

use foretrace_repair::{Functions, Limits, Sections, repairs};
use foretrace_trace::{Atomic, BlockKind, CallStacksBuilder, Data, EventId, Op, Trace, TraceBuilder};
use std::sync::Arc;

/// A step: the thread, whether it writes, its place, and the calls that lead to it, each with its number, function and place.
type Step<'a> = (u64, bool, &'a str, &'a [(u32, &'a str, &'a str)]);

/// A trace of accesses of one variable, with its calls. Calls with the same number are the same call.
fn made(steps: &[Step<'_>]) -> Trace {
    let mut builder = TraceBuilder::new(Data::None);
    for (thread, writes, place, _) in steps {
        if *writes { builder.put(*thread, "x", None) } else { builder.saw(*thread, "x", None) }.at(place);
    }
    let (mut trace, _) = builder.finish().expect("the trace is valid");
    let mut stacks = CallStacksBuilder::default();
    let mut known: Vec<((usize, u32), u32)> = Vec::new();
    for (index, (_, _, _, calls)) in steps.iter().enumerate() {
        let event = &mut trace.events[index];
        event.at = Some(index as u64);
        let mut caller = None;
        for (number, function, place) in *calls {
            let key = (event.thread.index(), *number);
            let call = known.iter().find(|(other, _)| *other == key).map(|(_, call)| *call);
            caller = Some(call.unwrap_or_else(|| {
                let call = stacks.call(caller, function, (!place.is_empty()).then_some(*place));
                known.push((key, call));
                call
            }));
        }
        stacks.note(event.thread, index as u64, caller);
    }
    trace.call_stacks = Some(Arc::new(stacks.finish()));
    trace
}

/// All repairs of one trace, in words.
fn named(trace: &Trace) -> Vec<String> {
    let found = repairs(std::slice::from_ref(trace), &[], Some(Atomic::Threads), Limits::NONE);
    let words = |repair: &Vec<foretrace_repair::Section>| {
        repair.iter().map(ToString::to_string).collect::<Vec<String>>().join(" and ")
    };
    let mut all: Vec<String> = found.ranked.iter().map(|ranked| words(&ranked.repair)).collect();
    all.sort();
    all
}

const WORK: (u32, &str, &str) = (0, "work", "");
const DEPOSIT: (u32, &str, &str) = (1, "deposit", "bank.c:30:5");

#[test]
fn both_ends_in_functions_that_one_calls_are_lines_of_that_one() {
    let get: &[_] = &[WORK, DEPOSIT, (2, "get", "bank.c:20:13")];
    let set: &[_] = &[WORK, DEPOSIT, (3, "set", "bank.c:21:5")];
    let wrong = [(1, false, "bank.h:5:9", get), (2, true, "bank.c:40:1", &[WORK][..]), (1, true, "bank.h:9:9", set)];
    let trace = made(&wrong);
    assert_eq!(named(&trace), ["bank.c:20–21 in deposit"]);
    // With the other thread first nothing has to be kept whole.
    assert_eq!(named(&made(&[wrong[1], wrong[0], wrong[2]])), [] as [&str; 0]);
}

#[test]
fn both_ends_in_one_call_stay_there() {
    let add: &[_] = &[WORK, DEPOSIT, (2, "add", "bank.c:20:13")];
    let trace = made(&[(1, false, "bank.h:5:9", add), (2, true, "bank.c:40:1", &[WORK]), (1, true, "bank.h:9:9", add)]);
    assert_eq!(named(&trace), ["bank.h:5–9 in add"]);
}

/// The whole thread is no function that has a name in a trace without calls either.
#[test]
fn two_calls_of_the_threads_own_function_are_its_lines() {
    let calls: [&[_]; 2] = [&[WORK, (1, "get", "bank.c:30:5")], &[WORK, (2, "get", "bank.c:33:5")]];
    let trace = made(&[
        (1, false, "bank.h:5:9", calls[0]),
        (2, true, "bank.c:40:1", &[WORK]),
        (1, false, "bank.h:5:9", calls[1]),
    ]);
    assert_eq!(named(&trace), ["bank.c:30–33"]);
}

/// What a call in a turn of a loop does is its section in each turn. All turns as one are named only where both ends lie in other turns.
#[test]
fn each_turn_has_a_section_of_its_own() {
    let turn = |number| [WORK, (number, "add", "bank.c:30:5")];
    let (first, second) = (turn(1), turn(2));
    let steps: [Step<'_>; 5] = [
        (1, false, "bank.h:5:9", &first),
        (2, true, "bank.c:40:1", &[WORK]),
        (1, true, "bank.h:9:9", &first),
        (1, false, "bank.h:5:9", &second),
        (1, true, "bank.h:9:9", &second),
    ];
    let trace = made(&steps);
    assert_eq!(named(&trace), ["bank.h:5–9 in add"]);
    let found = repairs(std::slice::from_ref(&trace), &[], Some(Atomic::Threads), Limits::NONE);
    let stretches = Sections::new(&trace, Some(Atomic::Threads)).stretches(&found.ranked[0].repair);
    assert_eq!(stretches.iter().map(|(first, last)| (first.0, last.0)).collect::<Vec<_>>(), [(0, 2), (3, 4)]);
    let between: [Step<'_>; 5] = [steps[0], steps[2], steps[1], steps[3], steps[4]];
    assert_eq!(named(&made(&between)), ["bank.c:30, all turns as one"]);
}

/// The name of the function around an event, its events, and whether it is its thread.
fn around(trace: &Trace, event: u32) -> Option<(String, u32, u32, bool)> {
    let found = Functions::new(trace).around(EventId(event))?;
    Some((found.name, found.first.0, found.last.0, found.is_thread))
}

/// `get` is inlined, or a function without a block: no trace without its calls shows it.
#[test]
fn the_function_around_an_event_is_that_of_its_innermost_call() {
    let get: &[_] = &[WORK, DEPOSIT, (2, "get", "bank.c:20:13")];
    let trace = made(&[
        (1, false, "bank.c:5:9", &[WORK]),
        (1, false, "bank.c:20:9", &[WORK, DEPOSIT]),
        (1, false, "bank.h:5:9", get),
        (2, true, "bank.c:40:1", &[WORK]),
        (1, true, "bank.h:6:9", get),
        (1, true, "bank.c:21:9", &[WORK, DEPOSIT]),
        (1, true, "bank.c:6:9", &[WORK]),
    ]);
    let named = |name: &str, first, last, is_thread| Some((name.to_string(), first, last, is_thread));
    assert_eq!(around(&trace, 4), named("get", 2, 4, false));
    assert_eq!(around(&trace, 1), named("deposit", 1, 5, false));
    assert_eq!(around(&trace, 6), named("work", 0, 6, true));
    assert_eq!(around(&Trace { call_stacks: None, ..trace }, 4), None);
}

/// A mark within the call is what the user meant; one around the call is not the innermost.
#[test]
fn marks_within_the_call_come_before_it_and_without_calls_blocks_do() {
    let mut builder = TraceBuilder::new(Data::None);
    builder.begin(1);
    builder.begin(1);
    builder.put(1, "x", None);
    builder.begin(1);
    builder.put(1, "x", None);
    for _ in 0..3 {
        builder.end(1);
    }
    let (mut trace, _) = builder.finish().expect("the trace is valid");
    for (begin, name, kind) in
        [(0, "outer", BlockKind::Mark), (1, "deposit", BlockKind::Function), (3, "inner", BlockKind::Mark)]
    {
        trace.events[begin].op = Op::Begin { label: Some(trace.names.intern(name)), kind };
    }
    let named = |name: &str, first, last| Some((name.to_string(), first, last, false));
    let blocks = [around(&trace, 2), around(&trace, 4)];
    assert_eq!(blocks, [named("deposit", 1, 6), named("inner", 3, 5)]);
    let mut stacks = CallStacksBuilder::default();
    let main = stacks.call(None, "main", None);
    let deposit = stacks.call(Some(main), "deposit", Some("bank.c:30:5"));
    for (index, event) in trace.events.iter_mut().enumerate() {
        event.at = Some(index as u64);
        stacks.note(event.thread, index as u64, Some(if (1..7).contains(&index) { deposit } else { main }));
    }
    trace.call_stacks = Some(Arc::new(stacks.finish()));
    assert_eq!([around(&trace, 2), around(&trace, 4)], blocks);
}

/// What a thread checks, and waits for ever; where the signal came before the check, nothing came in between.
#[test]
fn a_wait_without_end_comes_after_the_signals_that_it_missed() {
    let made = |is_between: bool| {
        let mut builder = TraceBuilder::new(Data::None);
        let opens = |builder: &mut TraceBuilder| {
            builder.put(1, "open", None).at("gate.c:20:1");
            builder.broadcast(1, "opened").at("gate.c:21:1");
        };
        if !is_between {
            opens(&mut builder);
        }
        builder.saw(2, "open", None).at("gate.c:5:1");
        if is_between {
            opens(&mut builder);
        }
        builder.acquire(2, "lock").at("gate.c:6:1");
        builder.wait(2, "opened", "lock").at("gate.c:7:1");
        builder.finish().expect("the trace is valid").0
    };
    assert_eq!(named(&made(true)), ["gate.c:5–7"]);
    assert_eq!(named(&made(false)), [] as [&str; 0]);
}

//! The figures of "Root Causing Linearizability Violations" (CAV 2020).

use foretrace_repair::{Eliminators, Limits, Operations, Relation, Section, eliminators, repairs};
use foretrace_trace::{Atomic, Data, Trace, TraceBuilder};

/// A trace of operations: `(thread, what)`, where what is `call METHOD`, `ret METHOD`, `r VAR LINE`, `w VAR LINE` or
/// `u VAR LINE` (an atomic update).
fn trace(steps: &[(u64, &str)]) -> Trace {
    let mut builder = TraceBuilder::new(Data::None);
    for (thread, step) in steps {
        let words: Vec<&str> = step.split(' ').collect();
        let added = match words[0] {
            "call" => builder.call(*thread, words[1]),
            "ret" => builder.ret(*thread, words[1]),
            "r" => builder.saw(*thread, words[1], None),
            "w" => builder.put(*thread, words[1], None),
            _ => builder.swapped(*thread, words[1], None),
        };
        if let Some(line) = words.get(2) {
            added.at(&format!("stack.c:{line}"));
        }
    }
    builder.build().expect("the trace is valid")
}

/// The pushes of Fig. 1 take an index (line 2) and fill the slot (line 3); a pop reads the range (line 6), then each
/// slot (line 8), empties it (line 9), and goes on downwards until the slot was not empty.
fn pushed_up_to_the_pop() -> Vec<(u64, &'static str)> {
    vec![
        (2, "call push"),
        (2, "u range 2"),
        (2, "w items[0] 3"),
        (2, "ret push"),
        (1, "call push"),
        (1, "u range 2"),
        (2, "call pop"),
        (2, "r range 6"),
        (2, "r items[1] 8"),
        (2, "w items[1] 9"),
        (2, "r items[0] 8"),
    ]
}

/// Fig. 2: the push of the first thread is interrupted, and both pops return what the second thread pushed.
fn failing() -> Trace {
    let mut steps = pushed_up_to_the_pop();
    steps.extend([
        (3, "call pop"),
        (3, "r range 6"),
        (3, "r items[1] 8"),
        (3, "w items[1] 9"),
        (3, "r items[0] 8"),
        (2, "w items[0] 9"),
        (2, "ret pop"),
        (3, "w items[0] 9"),
        (3, "ret pop"),
        (1, "w items[1] 3"),
        (1, "ret push"),
    ]);
    trace(&steps)
}

/// The run of section 2 that is linearizable: the pop of the third thread comes after both others.
fn passing() -> Trace {
    let mut steps = pushed_up_to_the_pop();
    steps.extend([
        (2, "w items[0] 9"),
        (2, "ret pop"),
        (1, "w items[1] 3"),
        (1, "ret push"),
        (3, "call pop"),
        (3, "r range 6"),
        (3, "r items[1] 8"),
        (3, "w items[1] 9"),
        (3, "ret pop"),
    ]);
    trace(&steps)
}

fn texts(repair: &[Section]) -> Vec<String> {
    repair.iter().map(ToString::to_string).collect()
}

#[test]
fn the_stack_has_two_repairs_and_the_pops_is_first() {
    let found = repairs(&[failing()], &[passing()], None, Limits::NONE);
    let shown: Vec<_> = found.ranked.iter().map(|ranked| (texts(&ranked.repair), ranked.forbids.len())).collect();
    let expected = [("stack.c:8–9 in pop", 0), ("stack.c:2–3 in push", 1)];
    assert_eq!(shown, expected.map(|(text, forbids)| (vec![text.to_string()], forbids)));
    assert!(found.complete && found.serializable.is_empty());
}

/// The cycles are what Fig. 2 draws between the two boxes.
#[test]
fn the_stacks_cycles_are_of_conflicts_that_interrupt_the_section() {
    let trace = failing();
    let found = repairs(std::slice::from_ref(&trace), &[], None, Limits::NONE);
    for ranked in &found.ranked {
        assert!(ranked.cycle.len() >= 3, "{ranked:?}");
        for (link, next) in ranked.cycle.iter().zip(ranked.cycle.iter().cycle().skip(1)) {
            assert_eq!(link.to, next.from);
        }
        let threads: Vec<_> = ranked.cycle.iter().map(|link| trace.event(link.from).thread).collect();
        assert!(threads.iter().any(|thread| *thread != threads[0]));
    }
}

/// A stack without the bug: each pop reads and empties in one step of its own.
#[test]
fn a_serial_run_needs_no_repair() {
    let mut steps = pushed_up_to_the_pop();
    steps.extend([(2, "w items[0] 9"), (2, "ret pop"), (1, "w items[2] 3"), (1, "ret push")]);
    let found = repairs(&[trace(&steps)], &[], None, Limits::NONE);
    assert!(found.ranked.is_empty());
    assert_eq!(found.serializable, [0]);
}

/// Fig. 4: n threads, each with k accesses that conflict with k accesses of the next thread; in each thread those that
/// the edges leave from come before those that edges end at.
fn figure_4(n: usize, k: usize) -> Trace {
    let mut builder = TraceBuilder::new(Data::None);
    let name = |thread: usize, edge: usize| format!("x{thread}.{edge}");
    (0..n).for_each(|thread| {
        builder.call(thread as u64 + 1, "operation");
    });
    for thread in 0..n {
        (0..k).for_each(|edge| {
            builder.put(thread as u64 + 1, &name(thread, edge), None);
        });
    }
    for thread in 0..n {
        (0..k).for_each(|edge| {
            builder.saw(thread as u64 + 1, &name((thread + n - 1) % n, edge), None);
        });
    }
    (0..n).for_each(|thread| {
        builder.ret(thread as u64 + 1, "operation");
    });
    builder.build().expect("the trace is valid")
}

fn of_operations(trace: &Trace) -> Eliminators {
    let relation = Relation::new(trace);
    let operations = Operations::new(trace, &relation, Atomic::Operations);
    eliminators(&relation, &operations, Limits::NONE)
}

#[test]
fn figure_4_has_k_to_the_n_optimal_repairs_of_n_segments() {
    for (n, k) in [(2, 1), (2, 2), (2, 5), (3, 1), (3, 2), (3, 4), (4, 2), (4, 3), (5, 2)] {
        let trace = figure_4(n, k);
        assert_eq!(Relation::new(&trace).conflicts(), (n * k) as u64);
        let found = of_operations(&trace);
        assert!(found.complete);
        assert_eq!(found.sets.len(), k.pow(n as u32), "n = {n}, k = {k}");
        assert!(found.sets.iter().all(|set| set.len() == n), "n = {n}, k = {k}");
    }
}

#[test]
fn a_limit_leaves_eliminators_and_says_that_some_are_missing() {
    let trace = figure_4(3, 4);
    let relation = Relation::new(&trace);
    let operations = Operations::new(&trace, &relation, Atomic::Operations);
    let found = eliminators(&relation, &operations, Limits { repairs: 5, ..Limits::NONE });
    assert!(!found.complete && (1..=5).contains(&found.sets.len()));
}

/// The shape of Fig. 3 and its Examples 1 and 2: the same two intervals are on several cycles by different edges, and
/// of their critical segments one is in all others.
#[test]
fn of_several_edges_between_two_intervals_the_tightest_is_left() {
    let trace = trace(&[
        (1, "call f"),
        (2, "call g"),
        (1, "w a 1"),
        (1, "w b 2"),
        (2, "r a 11"),
        (2, "r b 12"),
        (2, "w c 13"),
        (2, "w d 14"),
        (1, "r c 3"),
        (1, "r d 4"),
        (1, "ret f"),
        (2, "ret g"),
    ]);
    let found = repairs(&[trace], &[], None, Limits::NONE);
    assert_eq!(found.ranked.len(), 1);
    assert_eq!(texts(&found.ranked[0].repair), ["stack.c:2–3 in f"]);
}

/// Two failing runs that different sections eliminate: both are needed, and where they overlap they become one.
#[test]
fn repairs_of_several_traces_are_merged() {
    let lost = |lines: [u32; 3]| {
        let [read, again, write] = lines.map(|line| line.to_string());
        let steps = [
            (1, "call f".to_string()),
            (2, "call g".to_string()),
            (1, format!("r x {read}")),
            (2, "w x 90".to_string()),
            (1, format!("w x {again}")),
            (1, format!("w y {write}")),
            (1, "ret f".to_string()),
            (2, "ret g".to_string()),
        ];
        let steps: Vec<(u64, &str)> = steps.iter().map(|(thread, step)| (*thread, step.as_str())).collect();
        trace(&steps)
    };
    let first = lost([10, 12, 13]);
    let apart = repairs(&[first.clone(), lost([20, 22, 23])], &[], None, Limits::NONE);
    assert_eq!(apart.ranked.len(), 1);
    assert_eq!(texts(&apart.ranked[0].repair), ["stack.c:10–12 in f", "stack.c:20–22 in f"]);
    let overlapping = repairs(&[first.clone(), lost([11, 15, 16])], &[], None, Limits::NONE);
    assert_eq!(texts(&overlapping.ranked[0].repair), ["stack.c:10–15 in f"]);
    let within = repairs(&[first, lost([10, 12, 16])], &[], None, Limits::NONE);
    assert_eq!(texts(&within.ranked[0].repair), ["stack.c:10–12 in f"]);
}

/// A cycle that needs a section in each of two threads, which run the same code: sections that overlap are one.
#[test]
fn sections_of_one_cycle_that_overlap_are_one() {
    let crossed = trace(&[
        (1, "call f"),
        (2, "call f"),
        (1, "r x 10"),
        (2, "w y 12"),
        (2, "w x 14"),
        (1, "w y 12"),
        (1, "ret f"),
        (2, "ret f"),
    ]);
    let found = repairs(&[crossed], &[], None, Limits::NONE);
    let shown: Vec<_> = found.ranked.iter().map(|ranked| texts(&ranked.repair)).collect();
    assert_eq!(shown, [["stack.c:10–14 in f"]]);
}

/// One lost update within a turn of a loop, one from a turn to the next: the first is in the code of the second.
#[test]
fn a_segment_over_two_turns_contains_the_one_within_a_turn() {
    let turns = trace(&[
        (1, "call f"),
        (1, "r x 8"),
        (1, "w x 9"),
        (2, "call g"),
        (2, "w x 90"),
        (2, "ret g"),
        (1, "r x 8"),
        (1, "w x 9"),
        (1, "ret f"),
    ]);
    let found = repairs(std::slice::from_ref(&turns), &[], None, Limits::NONE);
    assert_eq!(texts(&found.ranked[0].repair), ["stack.c:8–9 in f, all turns as one"]);
    let within = trace(&[
        (1, "call f"),
        (1, "r x 8"),
        (2, "call g"),
        (2, "w x 90"),
        (2, "ret g"),
        (1, "w x 9"),
        (1, "r x 8"),
        (1, "w x 9"),
        (1, "ret f"),
    ]);
    let found = repairs(&[within], &[turns], None, Limits::NONE);
    assert_eq!(texts(&found.ranked[0].repair), ["stack.c:8–9 in f"]);
    assert!(found.ranked[0].forbids.is_empty());
}

/// A section cannot hold a join: the thread that it waits for has to go on meanwhile.
#[test]
fn no_section_holds_a_join() {
    let mut builder = TraceBuilder::new(Data::None);
    builder.call(1, "f");
    builder.put(1, "x", None);
    builder.fork(1, 2);
    builder.call(2, "g");
    builder.put(2, "x", None);
    builder.ret(2, "g");
    builder.join(1, 2);
    builder.put(1, "x", None);
    builder.ret(1, "f");
    let found = of_operations(&builder.build().expect("the trace is valid"));
    assert!(found.sets.is_empty());
}

/// What an operation has from a function further up in its file, which the compiler put in, is no end of its lines.
#[test]
fn a_section_has_no_lines_of_a_function_further_up() {
    let mut steps = Vec::new();
    for (thread, node) in [(1, "w node1 13"), (2, "w node2 13")] {
        steps.extend([(thread, "call insert"), (thread, "r head 24"), (thread, "r head 37"), (thread, node)]);
    }
    for thread in [1, 2] {
        steps.extend([(thread, "w head 43"), (thread, "ret insert 46")]);
    }
    let found = repairs(&[trace(&steps)], &[], None, Limits::NONE);
    let shown: Vec<_> = found.ranked.iter().map(|ranked| texts(&ranked.repair)).collect();
    assert_eq!(shown, [["stack.c:37–43 in insert"]]);
}

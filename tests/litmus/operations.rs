//! Operations on concurrent objects: their events, and that exploration keeps every history.

use crate::support::{accepted, program};
use foretrace::litmus::{self, Exploring, Options, Outcome, run_all};
use foretrace_linearizability::{History, read_trace};
use foretrace_trace::Trace;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::ControlFlow;

/// The calls and returns of a serial run.
fn events(source: &str) -> Vec<String> {
    let run = accepted(litmus::run(&program(source), &Options::serial()));
    assert_eq!(run.outcome, Outcome::Finished);
    let history = read_trace(&run.trace);
    history.operations.iter().map(|operation| format!("{}: {operation}", operation.process)).collect()
}

#[test]
fn a_call_of_an_operation_has_arguments_and_a_result() {
    let source = "
        shared top: int = 0;
        shared held: bv8;
        operation \"s\" fn push(v: int, flag: bool) { top = v; if (flag) { return; } top = -v; }
        operation \"s\" fn pop() -> int empty 0 { let t = top; top = 0; return t; }
        operation fn mark(w: bv8) -> bool { held = w; return w == 0xff; }
        thread A { push(3, true); let t = pop(); t = pop(); push(t - 7, false); let m = mark(0xff); }
    ";
    assert_eq!(
        events(source),
        [
            "A#1: s.push(3, true)",
            "A#1: s.pop() → 3",
            "A#1: s.pop() → empty",
            "A#1: s.push(-7, false)",
            "A#1: mark(255) → true",
        ]
    );
}

#[test]
fn an_operation_in_an_atomic_block_of_another_function_nests() {
    let source = "
        shared x: int = 0;
        fn twice() -> int { atomic \"twice\" { let a = add(1); return add(a); } }
        operation fn add(n: int) -> int { atomic { x = x + n; return x; } }
        thread A { let r = twice(); }
    ";
    assert_eq!(events(source), ["A#1: add(1) → 1", "A#1: add(1) → 2"]);
}

#[test]
fn operation_and_empty_stay_names() {
    let source = "
        shared empty: int = 0;
        fn operation(empty2: int) -> int { return empty2; }
        thread A { empty = operation(2); }
    ";
    assert_eq!(events(source), Vec::<String>::new());
}

#[test]
fn mistakes_in_operations_are_named() {
    for (source, expected) in [
        ("operation thread A { }", "expected `fn`"),
        ("operation fn f() empty 3 { } thread A { f(); }", "expected `{`"),
        ("fn f() -> int empty 3 { return 3; } thread A { f(); }", "expected `{`"),
        ("operation fn f() -> int empty true { return 3; } thread A { f(); }", "expected int, found bool"),
    ] {
        let errors = litmus::parse(source).expect_err(source).render("t.lit", source, false);
        assert!(errors.contains(expected), "{source}\n{errors}");
    }
}

/// What operations gave, and which of them ended before which began.
fn key(history: &History) -> (Vec<String>, BTreeSet<(usize, usize)>) {
    let mut order: Vec<usize> = (0..history.operations.len()).collect();
    order.sort_by_key(|place| (&history.operations[*place].process, history.operations[*place].call));
    let of = |place: usize| &history.operations[order[place]];
    let all = 0..order.len();
    let shown = all.clone().map(|place| format!("{}: {}", of(place).process, of(place))).collect();
    let before = |a: usize, b: usize| of(a).ret < of(b).call;
    let pairs = all.clone().flat_map(|a| all.clone().map(move |b| (a, b))).filter(|(a, b)| before(*a, *b)).collect();
    (shown, pairs)
}

type Histories = BTreeSet<(Vec<String>, BTreeSet<(usize, usize)>)>;

/// The histories of every schedule, of all that there are.
fn all_histories(source: &str) -> (Histories, u64) {
    let mut histories = Histories::new();
    let (runs, all) = run_all(&program(source), 1000, &mut || true, &mut |run| {
        assert_eq!(run.outcome, Outcome::Finished);
        histories.insert(key(&read_trace(&run.trace)));
    });
    assert!(all);
    (histories, runs)
}

/// Those that exploration keeps; how many interleavings it runs.
fn kept_histories(source: &str, real_time: bool) -> (Histories, u64) {
    let program = program(source);
    let mut histories = Histories::new();
    let exploring = Exploring { real_time, ..Exploring::all(1000) };
    let explored = litmus::explore(&program, exploring, &mut |_| true, &mut |execution| {
        histories.insert(key(&read_trace(&execution.trace)));
        ControlFlow::Continue(())
    });
    assert_eq!(explored.ended, foretrace_explore::Ended::Complete);
    (histories, explored.tally.executions)
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Two or three threads with one to three operations in all, on one or two objects, that read, write and count, some in a lock.
fn random_program(seed: u64) -> String {
    let mut random = Random(seed);
    let mut source = "shared x: int = 0;\nshared y: int = 0;\nmutex m;\n".to_string();
    let threads = 2 + random.below(2);
    let mut clients = String::new();
    let mut left = 3;
    for thread in 0..threads {
        let _ = write!(clients, "thread T{thread} {{ ");
        for number in 0..1 + random.below(2) {
            if left == 0 {
                break;
            }
            left -= 1;
            let object = ["", "\"p\" ", "\"q\" "][random.below(3) as usize];
            // Three threads have no lock: the schedules must be few enough to run each.
            let body = match random.below(if threads == 2 { 6 } else { 5 }) {
                0 => "return 0;",
                1 => "return x;",
                2 => "x = x + 1; return 0;",
                3 => "let a = x; y = a + 1; return a;",
                4 => "return fetch_add(y, 1);",
                _ => "lock(m); x = y + 1; unlock(m); return 1;",
            };
            let _ = writeln!(source, "operation {object}fn f{thread}_{number}() -> int {{ {body} }}");
            let _ = write!(clients, "let r{number} = f{thread}_{number}(); ");
        }
        clients.push_str("}\n");
    }
    source + &clients
}

/// Of all schedules, one after the other, exploration keeps every history: what each operation gave, and what came before what.
#[test]
fn exploration_keeps_every_history_of_all_schedules() {
    let (mut with_losses, mut programs, mut schedules, mut classes) = (0, 0, 0, 0);
    for seed in 0..60 {
        let source = random_program(seed);
        let (all, runs) = all_histories(&source);
        let (kept, executions) = kept_histories(&source, true);
        assert!(executions >= kept.len() as u64 && executions <= runs, "{source}");
        let with_locality = by_object(&all);
        assert_eq!(by_object(&kept), with_locality, "{source}");
        let (without, _) = kept_histories(&source, false);
        with_losses += u64::from(by_object(&without) != with_locality);
        (programs, schedules, classes) = (programs + 1, schedules + runs, classes + executions);
    }
    // Without real-time order the reduction loses histories: the comparison can tell.
    assert!(with_losses > programs / 2, "{with_losses} of {programs}");
    assert!(classes * 10 < schedules, "{classes} classes of {schedules} schedules");
}

/// Histories by what the operations gave and by the order among operations of one object: linearizability is local (Herlihy and
/// Wing, TOPLAS 1990, theorem 1), so the order between objects does not matter.
fn by_object(histories: &Histories) -> Histories {
    let object = |shown: &str| shown.split_once(": ").map(|(_, call)| call.split('f').next().unwrap_or("").to_string());
    let narrow = |(shown, pairs): &(Vec<String>, BTreeSet<(usize, usize)>)| {
        let same = |(a, b): &&(usize, usize)| object(&shown[*a]) == object(&shown[*b]);
        (shown.clone(), pairs.iter().filter(same).copied().collect())
    };
    histories.iter().map(narrow).collect()
}

/// Two operations without accesses: one before the other, either way, or both at the same time.
#[test]
fn two_operations_have_three_orders() {
    let source = "operation fn f() { } thread A { f(); } thread B { f(); }";
    assert_eq!(kept_histories(source, true).1, 3);
    assert_eq!(kept_histories(source, false).1, 1);
    let two = "operation \"a\" fn f() { } operation \"b\" fn g() { } thread A { f(); } thread B { g(); }";
    assert_eq!(kept_histories(two, true).1, 1, "operations of different objects");
}

/// The recorded order of every trace that is explored is valid, calls and returns among it.
#[test]
fn explored_traces_are_valid() {
    let source = random_program(7);
    let program = program(&source);
    let mut seen = 0;
    let exploring = Exploring { real_time: true, ..Exploring::all(1000) };
    let valid = |trace: &Trace| foretrace_trace::validate(trace).unwrap_or_else(|invalid| panic!("{invalid}"));
    litmus::explore(&program, exploring, &mut |_| true, &mut |execution| {
        valid(&execution.trace);
        seen += 1;
        ControlFlow::Continue(())
    });
    assert!(seen > 1);
}

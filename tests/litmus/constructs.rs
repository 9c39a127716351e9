//! The events that accesses, expressions and control make.

use crate::support::{check, serial, shown};
use foretrace::litmus::{Options, Outcome, run};
use foretrace_trace::{Data, Sort, SyncKind, Value};

#[test]
fn header_lists_what_was_declared() {
    let run = serial(
        "shared x: int = -3; shared ok: bool = true; shared w: bv8 = -1; shared a: int[2] = [4, 5]; shared z: bv64;
         mutex m; recursive mutex r; rwlock q; condvar c; semaphore s = 2; barrier b(3); once o;
         thread T { x = 1; } thread U { }",
    );
    let trace = run.trace;
    let vars: Vec<_> = trace.vars.iter().map(|var| (&*var.key, var.sort.unwrap(), var.init.clone().unwrap())).collect();
    let expected = [
        ("x", Sort::Int, Value::int(-3)),
        ("ok", Sort::Bool, Value::Bool(true)),
        ("w", Sort::BitVec(8), Value::word(8, 255u8.into())),
        ("a[0]", Sort::Int, Value::int(4)),
        ("a[1]", Sort::Int, Value::int(5)),
        ("z", Sort::BitVec(64), Value::word(64, 0u8.into())),
    ];
    assert_eq!(vars, expected);
    let syncs: Vec<_> = trace.syncs.iter().map(|sync| (&*sync.key, sync.kind)).collect();
    let expected = [
        ("m", SyncKind::Mutex { recursive: false }),
        ("r", SyncKind::Mutex { recursive: true }),
        ("q", SyncKind::Rwlock),
        ("c", SyncKind::Condvar),
        ("s", SyncKind::Semaphore { init: 2 }),
        ("b", SyncKind::Barrier { parties: Some(3) }),
        ("o", SyncKind::Once),
    ];
    assert_eq!(syncs, expected);
    let threads: Vec<_> = trace.threads.iter().map(|thread| (thread.number, thread.name.as_deref().unwrap())).collect();
    assert_eq!(threads, [(1, "T"), (2, "U")]);
    assert_eq!((trace.data, trace.program.as_deref()), (Data::Symbolic, Some("program.lit")));
}

#[test]
fn every_use_is_a_read_from_left_to_right() {
    check(
        "shared x: int = 2; shared y: int = 3; thread T { let r = x + y * x; y = r - 1; }",
        &[
            "T: read x into x: 2",
            "T: read y into y: 3",
            "T: read x into x.2: 2",
            "T: write (- (+ x (* y x.2)) 1) to y: 7",
        ],
    );
}

#[test]
fn locals_that_hold_a_read_name_it() {
    check(
        "shared x: int; thread T { let a = x; let b = a; b = x; x = a + b; }",
        &["T: read x into a: 0", "T: read x into b: 0", "T: write (+ a b) to x: 0"],
    );
}

#[test]
fn names_that_terms_use_otherwise_are_changed() {
    check(
        "shared x: bool; thread T { let and = x; let ite = x; x = and ^ ite; }",
        &["T: read x into and.2: false", "T: read x into ite.2: false", "T: write (xor and.2 ite.2) to x: false"],
    );
}

#[test]
fn large_locals_become_lets() {
    // Each round adds two nodes to the term, which is named when it has more than twelve: after the sixth round.
    let run = serial(
        "shared x: int = 1; shared y: int;
         thread T { let sum = 0; let i = 0; while (i < 7) { sum = sum + x; i = i + 1; } y = sum; }",
    );
    let events = shown(&run.trace);
    assert_eq!(
        events[5..],
        [
            "T: read x into x.6: 1",
            "T: let sum = (+ (+ (+ (+ (+ (+ 0 x) x.2) x.3) x.4) x.5) x.6)",
            "T: read x into x.7: 1",
            "T: write (+ sum x.7) to y: 7",
        ]
    );
}

#[test]
fn arguments_that_are_large_become_lets() {
    check(
        "shared x: int = 1;
         fn f(n: int) -> int { return n + n; }
         thread T { let a = x; x = f(a + a + a + a + a + a + a); }",
        &["T: read x into a: 1", "T: let n = (+ (+ (+ (+ (+ (+ a a) a) a) a) a) a)", "T: write (+ n n) to x: 14"],
    );
}

#[test]
fn both_ways_of_a_branch() {
    let source = "shared x: int = 1; thread T {
        if (x > 5) { x = 2; } else if (!(x == 7)) { x = 3; } else { x = 4; }
        if (x == 9) { x = 5; }
    }";
    check(
        source,
        &[
            "T: read x into x: 1",
            "T: assume (not (> x 5))",
            "T: read x into x.2: 1",
            "T: assume (not (= x.2 7))",
            "T: write 3 to x: 3",
            "T: read x into x.3: 3",
            "T: assume (not (= x.3 9))",
        ],
    );
}

#[test]
fn a_negation_that_fails_is_assumed_without_it() {
    check(
        "shared ok: bool = true; thread T { if (!ok) { ok = false; } }",
        &["T: read ok into ok: true", "T: assume ok"],
    );
}

#[test]
fn loops_decide_each_round_and_constants_decide_nothing() {
    check(
        "shared n: int = 2; thread T { let i = 0; while (i < n) { i = i + 1; } while (i < 4) { i = i + 1; } n = i; }",
        &[
            "T: read n into n: 2",
            "T: assume (< 0 n)",
            "T: read n into n.2: 2",
            "T: assume (< 1 n.2)",
            "T: read n into n.3: 2",
            "T: assume (not (< 2 n.3))",
            "T: write 4 to n: 4",
        ],
    );
}

#[test]
fn lazy_operators_read_the_right_side_only_if_needed() {
    check(
        "shared p: bool = false; shared q: bool = true;
         thread T { let r = p && q; let s = q || p; let t = p || q; let u = q && p; p = r | s | t | u; }",
        &[
            "T: read p into p: false",
            "T: assume (not p)",
            "T: read q into q: true",
            "T: assume q",
            "T: read p into p.2: false",
            "T: assume (not p.2)",
            "T: read q into q.2: true",
            "T: read q into q.3: true",
            "T: assume q.3",
            "T: read p into p.3: false",
            "T: write (or (or true q.2) p.3) to p: true",
        ],
    );
}

#[test]
fn lazy_operators_on_locals_are_one_term() {
    check(
        "shared p: bool; thread T { let r = p; let s = p; if (r && !s || s) { p = true; } }",
        &["T: read p into r: false", "T: read p into s: false", "T: assume (not (or (and r (not s)) s))"],
    );
}

#[test]
fn symbolic_indices_are_pinned() {
    check(
        "shared a: int[3] = [5, 6, 7]; shared i: int = 1;
         thread T { let k = i; a[k] = a[k + 1] + a[0]; }",
        &[
            "T: read i into k: 1",
            "T: pin (= k 1)",
            "T: pin (= (+ k 1) 2)",
            "T: read a[2] into a: 7",
            "T: read a[0] into a.2: 5",
            "T: write (+ a a.2) to a[1]: 12",
        ],
    );
}

#[test]
fn an_index_out_of_range_fails() {
    let run = serial("shared a: int[3]; shared i: int = 3; thread T { a[0] = 1; a[i] = 2; }");
    assert_eq!(
        shown(&run.trace),
        [
            "T: write 1 to a[0]: 1",
            "T: read i into i: 3",
            "T: pin (= i 3)",
            "T: fail index 3 of `a`, which has 3 elements",
        ]
    );
    let Outcome::Error(failure) = run.outcome else { panic!("{}", run.outcome) };
    assert_eq!((failure.event.0, &*failure.loc), (3, "program.lit:1:61"));
    let run = serial("shared a: int[3]; thread T { a[-1] = 1; }");
    assert_eq!(shown(&run.trace), ["T: fail index -1 of `a`, which has 3 elements"]);
}

#[test]
fn assertions_assume_what_they_found() {
    check("shared x: int; thread T { assert(x == 0); assert(true); }", &["T: read x into x: 0", "T: assume (= x 0)"]);
    let run = serial("shared x: int; thread T { assert(x\n > 0); x = 1; } thread U { x = 2; }");
    assert_eq!(
        shown(&run.trace),
        ["T: read x into x: 0", "T: assume (not (> x 0))", "T: fail assertion failed: x > 0",]
    );
    let Outcome::AssertionFailed(failure) = run.outcome else { panic!("{}", run.outcome) };
    assert_eq!((&*failure.thread, &*failure.loc), ("T", "program.lit:1:27"));
    let run = serial("thread T { assert(false, \"never here\"); }");
    assert_eq!(shown(&run.trace), ["T: fail never here"]);
}

#[test]
fn atomic_blocks_end_where_they_are_left() {
    check(
        "shared x: int;
         fn f() -> int { atomic \"outer\" { atomic { return x; } } }
         thread T { f(); atomic { return; } x = 2; }",
        &["T: begin outer", "T: begin", "T: read x into x: 0", "T: end", "T: end outer", "T: begin", "T: end"],
    );
}

#[test]
fn functions_call_and_recur() {
    check(
        "shared x: int = 3;
         fn factorial(n: int) -> int { if (n <= 1) { return 1; } return n * factorial(n - 1); }
         thread T { x = factorial(3); let r = x; x = factorial(r - 1); }",
        &[
            "T: write 6 to x: 6",
            "T: read x into r: 6",
            "T: assume (not (<= (- r 1) 1))",
            "T: assume (not (<= (- (- r 1) 1) 1))",
            "T: assume (not (<= (- (- (- r 1) 1) 1) 1))",
            "T: assume (not (<= (- (- (- (- r 1) 1) 1) 1) 1))",
            "T: assume (<= (- (- (- (- (- r 1) 1) 1) 1) 1) 1)",
            // The result of factorial(3) is the first with more than twelve nodes.
            "T: let factorial = (* (- (- (- r 1) 1) 1) (* (- (- (- (- r 1) 1) 1) 1) 1))",
            "T: write (* (- r 1) (* (- (- r 1) 1) factorial)) to x: 120",
        ],
    );
}

#[test]
fn compare_and_swap() {
    check(
        "shared x: int = 1; shared y: int = 1;
         thread T { let a = y; if (cas(x, a, a + 1)) { y = 5; } if (cas(x, a, 9)) { y = 6; } }",
        &[
            "T: read y into a: 1",
            "T: rmw x into x, (+ a 1): 1 to 2 if (= x a)",
            "T: write 5 to y: 5",
            "T: read x into x.2: 2 if (not (= x.2 a))",
            "T: assume (not (= x.2 a))",
        ],
    );
}

#[test]
fn updates() {
    check(
        "shared x: int = 1; shared w: bv4[2] = 15;
         thread T { let a = fetch_add(x, 2); let b = exchange(x, a); fetch_add(w[1], 1); x = b; }",
        &[
            "T: rmw x into a, (+ a 2): 1 to 3",
            "T: rmw x into b, a: 3 to 1",
            "T: rmw w[1] into w, (bvadd w (_ bv1 4)): 15 to 0",
            "T: write b to x: 3",
        ],
    );
}

#[test]
fn free_names_all_elements() {
    check("shared x: int; shared a: int[2]; thread T { free(x); free(a); }", &["T: free x", "T: free a[0] a[1]"]);
}

/// The value that an expression without shared variables has, as it is written to a variable of this type.
fn value(sort: &str, expression: &str) -> String {
    let run = serial(&format!("shared v: {sort}; thread T {{ v = {expression}; }}"));
    let foretrace_trace::Op::Write { value: Some(value), .. } = run.trace.events[0].op else { panic!("no write") };
    run.trace.value(value).to_string()
}

#[test]
fn integers_are_mathematical() {
    assert_eq!(value("int", "-7 / 2"), "-4");
    assert_eq!(value("int", "-7 % 2"), "1");
    assert_eq!(value("int", "1 - 2 - 3 * 4"), "-13");
    assert_eq!(value("int", "5 / 0"), "0");
    assert_eq!(value("int", "18446744073709551615 + 1"), "18446744073709551616");
    assert_eq!(value("int", "ite(2 < 1, 3, -(4))"), "-4");
}

#[test]
fn words_wrap_and_are_unsigned() {
    assert_eq!(value("bv8", "200 + 100"), "44");
    assert_eq!(value("bv8", "-1"), "255");
    assert_eq!(value("bv8", "0xf0 >> 4"), "15");
    assert_eq!(value("bv8", "ashr(0xf0, 4)"), "255");
    assert_eq!(value("bv8", "0xf9 / 2"), "124");
    assert_eq!(value("bv8", "sdiv(-7, 2)"), "253");
    assert_eq!(value("bv8", "~0b1010 & 0x0f | 1 << 7"), "133");
    assert_eq!(value("bv8", "5 / 0"), "255");
    let comparisons = "fn w(n: bv4) -> bv4 { return n; } shared v: bool;";
    let first = |expression: &str| {
        let run = serial(&format!("{comparisons} thread T {{ v = {expression}; }}"));
        shown(&run.trace).remove(0)
    };
    assert_eq!(first("w(15) < 1"), "T: write false to v: false");
    assert_eq!(first("slt(w(15), 1)"), "T: write true to v: true");
}

#[test]
fn words_change_their_width() {
    check(
        "shared v: bv8 = 0x90; shared w: bv16; thread T {
            let r = v;
            w = zero_extend(r, 16);
            w = sign_extend(r, 16);
            v = zero_extend(truncate(r, 5), 8);
        }",
        &[
            "T: read v into r: 144",
            "T: write ((_ zero_extend 8) r) to w: 144",
            "T: write ((_ sign_extend 8) r) to w: 65424",
            "T: write ((_ zero_extend 3) ((_ extract 4 0) r)) to v: 16",
        ],
    );
}

#[test]
fn locations_name_file_line_and_column() {
    let program = foretrace::litmus::parse("shared x: int;\nthread T {\n  atomic {\n    x = x + 1;\n  }\n}\n").unwrap();
    let trace = run(&program.named("some/file.lit"), &Options::serial()).trace;
    let locations: Vec<_> = trace.iter().map(|(event, _)| trace.loc(event).unwrap()).collect();
    assert_eq!(locations, ["some/file.lit:3:3", "some/file.lit:4:9", "some/file.lit:4:5", "some/file.lit:5:3"]);
    assert_eq!(trace.program.as_deref(), Some("some/file.lit"));
}

//! The shapes of the Penelope paper, each with a twin that differs in what decides; and the constructs that it leaves out.

use foretrace_checker::{Checker, Interruption};
use foretrace_cutpoints::{CutPoint, CutPoints, Ends, Middle, Schedule, Synthesizer, Then};
use foretrace_trace::{
    Atomic, Data, EventId, Feasibility, Independence, Model, Observed, Pattern, Question, SyncKind, Trace, TraceBuilder,
};

/// A trace without data, from lines like `1 acquire m`. Each event is at a place of its own.
fn trace(syncs: &[(&str, SyncKind)], text: &str) -> Trace {
    let mut builder = TraceBuilder::new(Data::None);
    for (key, kind) in syncs {
        builder.sync(key, *kind);
    }
    for (line, words) in text.lines().map(str::trim).filter(|line| !line.is_empty()).enumerate() {
        let words: Vec<&str> = words.split(' ').collect();
        let thread = words[0].parse().expect("a thread");
        let name = words.get(2).copied().unwrap_or_default();
        let added = match words[1] {
            "begin" => builder.begin(thread),
            "end" => builder.end(thread),
            "read" => builder.saw(thread, name, None),
            "write" => builder.put(thread, name, None),
            "acquire" => builder.acquire(thread, name),
            "release" => builder.release(thread, name),
            "share" => builder.acquire_shared(thread, name),
            "unshare" => builder.release_shared(thread, name),
            "fork" => builder.fork(thread, name.parse().expect("a thread")),
            "join" => builder.join(thread, name.parse().expect("a thread")),
            "arrive" => builder.arrive(thread, name, 1),
            "depart" => builder.depart(thread, name, 1),
            "post" => builder.post(thread, name),
            "down" => builder.down(thread, name),
            "wait" => builder.wait(thread, name, "m"),
            "wake" => builder.wake(thread, name, "m", None),
            "signal" => builder.signal(thread, name),
            "once" => builder.once_begin(thread, name),
            "done" => builder.once_end(thread, name),
            "pass" => builder.once_pass(thread, name),
            other => panic!("{other}"),
        };
        added.at(&format!("f.c:{line}"));
    }
    builder.build().expect("a valid trace")
}

const MUTEX: SyncKind = SyncKind::Mutex { recursive: false };

/// Locks l1 to l3 and m.
fn locks() -> Vec<(&'static str, SyncKind)> {
    ["l1", "l2", "l3", "m"].into_iter().map(|lock| (lock, MUTEX)).collect()
}

fn cut_points(trace: &Trace) -> Vec<CutPoint> {
    CutPoints::in_trace(trace, &Atomic::Marked.blocks(trace)).all
}

fn schedule_of(trace: &Trace, point: &CutPoint) -> Schedule {
    let observed = Observed::default();
    let schedule = Synthesizer::new(trace, &observed).synthesize(point).expect("a schedule");
    let question =
        Question { model: Model::Cam, feasibility: Feasibility::Prefix, independence: Independence::Conflict };
    let transactions = Atomic::Marked.transactions(trace);
    let checker = Checker::new(trace, &observed, &transactions, question).expect("free reads");
    match schedule.ends {
        Ends::AtSecond => drop(checker.check(point.triple, &schedule.events).expect("it shows the triple")),
        Ends::AtRemote => drop(checker.check(Interruption(point.triple), &schedule.events).expect("it interrupts")),
    }
    schedule
}

/// Section 2, figure 1: `addAll` reads the size of a vector under its lock, and again.
#[test]
fn add_all_is_interrupted_between_its_two_sections() {
    let add_all = trace(
        &locks(),
        "1 begin\n1 acquire m\n1 read size\n1 release m\n1 acquire m\n1 read size\n1 release m\n1 end
         2 acquire m\n2 write size\n2 release m",
    );
    let found = cut_points(&add_all);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].pattern, found[0].then), (Pattern::Rwr, Then::Second));
    schedule_of(&add_all, &found[0]);
    let in_one = trace(
        &locks(),
        "1 begin\n1 acquire m\n1 read size\n1 read size\n1 release m\n1 end\n2 acquire m\n2 write size\n2 release m",
    );
    assert_eq!(cut_points(&in_one), []);
}

/// Section 3.1: the five patterns, and no other.
#[test]
fn there_are_five_patterns() {
    for first in ["read", "write"] {
        for remote in ["read", "write"] {
            for second in ["read", "write"] {
                let all = trace(&[], &format!("1 begin\n1 {first} x\n1 {second} x\n1 end\n2 {remote} x"));
                let name: Vec<char> = [first, remote, second].iter().filter_map(|op| op.chars().next()).collect();
                let name = format!("{}-{}-{}", name[0], name[1], name[2]).to_uppercase();
                let expected = Pattern::ALL.into_iter().find(|pattern| pattern.to_string() == name);
                let found: Vec<Pattern> = cut_points(&all).iter().map(|point| point.pattern).collect();
                assert_eq!(found, Vec::from_iter(expected), "{name}");
            }
        }
    }
}

/// Section 3.2: at A thread 1 holds l1, at B also l2, at C l3 after l2. What another thread may hold at its access decides where it
/// fits; what it took since decides, too.
#[test]
fn locksets_and_acquisition_histories_decide() {
    let program =
        "1 begin\n1 read x\n1 acquire l1\n1 acquire l2\n1 read y\n1 release l2\n1 acquire l3\n1 read z\n1 release l3
         1 release l1\n1 end";
    let with = |other: &str, var: &str| {
        let first = program.replace("1 begin\n1 read x", "1 begin").replace("1 read y", "1 write y\n1 write y");
        let first = first.replace("1 read z", "1 write z\n1 write z");
        let all = trace(&locks(), &format!("{first}\n{}", other.replace("VAR", var)));
        !cut_points(&all).is_empty()
    };
    let holds_l2 = "2 acquire l2\n2 write VAR\n2 release l2";
    assert!(!with(holds_l2, "y") && with(holds_l2, "z"), "B holds l2, C does not");
    // At C l1 is held and l2 was taken since. Who holds l2 and took l1 since never meets it.
    let crossed = "2 acquire l2\n2 acquire l1\n2 release l1\n2 write VAR\n2 release l2";
    assert!(!with(crossed, "z"), "each took the other's lock after its own");
    let before = "2 acquire l1\n2 release l1\n2 acquire l2\n2 write VAR\n2 release l2";
    assert!(with(before, "z"), "l1 was taken before l2");
}

/// Section 4.2.1: thread 1 holds l1 at the cut-point and took l2 since; thread 2 holds l2 at its access. So thread 1 gives l2 back
/// before thread 2 takes it.
#[test]
fn the_weave_orders_the_last_release_before_the_take_that_stays() {
    let weave = trace(
        &locks(),
        "1 begin\n1 acquire l1\n1 acquire l2\n1 release l2\n1 write x\n1 write x\n1 release l1\n1 end
         2 acquire l3\n2 release l3\n2 acquire l2\n2 write x\n2 release l2",
    );
    let found = cut_points(&weave);
    assert_eq!(found.len(), 1);
    let schedule = schedule_of(&weave, &found[0]);
    let place = |event: u32| schedule.events.iter().position(|other| *other == EventId(event));
    assert!(place(3) < place(10), "{schedule:?}");
}

/// Section 4.2.2: other threads follow the observed order, and stop where they last hold no lock.
#[test]
fn region_one_is_the_observed_order_and_holds_no_lock_at_its_end() {
    let all = trace(
        &locks(),
        "3 write a\n3 acquire l3\n3 release l3\n1 begin\n3 acquire l3\n1 write x\n2 write b\n1 write x\n3 write a\n3 release l3
         1 end\n2 write x",
    );
    let found = cut_points(&all);
    assert_eq!(found.len(), 1);
    let schedule = Synthesizer::new(&all, &Observed::default()).with_middle(&found[0], Middle::Alone).expect("made");
    assert_eq!(schedule.events, [0, 1, 2, 3, 5, 6, 11, 7].map(EventId), "{schedule:?}");
    assert_eq!(schedule.regions, [5, 6]);
}

/// Section 4.2.1: creation and barriers rule cut-points out.
#[test]
fn creation_join_and_barriers_order_threads() {
    let pair = "1 begin\n1 write x\n1 write x\n1 end";
    let cases = [
        (format!("{pair}\n1 fork 2\n2 write x"), 0),
        (format!("1 fork 2\n{pair}\n2 write x"), 1),
        (format!("1 fork 2\n2 write x\n1 join 2\n{pair}"), 0),
        (format!("1 fork 2\n2 write x\n{pair}\n1 join 2"), 1),
        (format!("{pair}\n1 arrive b\n2 arrive b\n2 depart b\n2 write x\n1 depart b"), 0),
        (format!("1 arrive b\n2 arrive b\n2 depart b\n2 write x\n1 depart b\n{pair}"), 1),
    ];
    for (text, expected) in cases {
        let all = trace(&[("b", SyncKind::Barrier { parties: None })], &text);
        let found = cut_points(&all);
        assert_eq!(found.len(), expected, "{text}");
        found.iter().for_each(|point| drop(schedule_of(&all, point)));
    }
}

/// The paper lets the run "proceed to execute e2 eventually". Where each thread then waits for the other it does not.
#[test]
fn a_transaction_that_cannot_go_on_is_said_to_be_locked_out() {
    let text = "1 begin\n1 acquire l1\n1 write x\n1 acquire l2\n1 release l2\n1 release l1\n1 write x\n1 end
         2 acquire l2\n2 write x\n2 acquire l1\n2 release l1\n2 release l2";
    let shut = trace(&locks(), text);
    let found = cut_points(&shut);
    assert!(found.iter().any(|point| point.then == Then::LockedOut), "{found:?}");
    assert!(found.iter().any(|point| point.then == Then::Second), "after l1 is given back it can: {found:?}");
    for point in &found {
        let schedule = schedule_of(&shut, point);
        assert_eq!(schedule.ends == Ends::AtSecond, point.then == Then::Second);
    }
    let only = trace(&locks(), &text.replace("1 release l2\n1 release l1\n1 write x", "1 write x\n1 release l2"));
    let found = cut_points(&only);
    assert_eq!(found.iter().map(|point| point.then).collect::<Vec<_>>(), [Then::LockedOut]);
    assert_eq!(schedule_of(&only, &found[0]).ends, Ends::AtRemote);
    let free = trace(&locks(), &text.replace("2 acquire l1\n2 release l1\n", ""));
    assert!(cut_points(&free).iter().all(|point| point.then == Then::Second));
}

/// Section 4.2.3: accesses that no other thread shares, and reads, cost no context switches.
#[test]
fn fewer_context_switches() {
    let interleaved = "1 read own1\n2 read own2\n".repeat(5) + &"1 read s\n2 read s\n".repeat(5);
    let all = trace(&[], &format!("3 write s\n{interleaved}1 begin\n1 write x\n1 write x\n1 end\n2 write x"));
    let schedule = schedule_of(&all, &cut_points(&all)[0]);
    assert!(schedule.switches[0] >= 20 && schedule.switches[1] <= 4, "{schedule:?}");
    let writes = interleaved.replace("read s", "write s");
    let all = trace(&[], &format!("3 write s\n{writes}1 begin\n1 write x\n1 write x\n1 end\n2 write x"));
    let found = cut_points(&all);
    let last = found.iter().find(|point| all.vars[point.var.index()].shown() == "x").expect("one on x");
    let schedule = schedule_of(&all, last);
    assert!(schedule.switches[1] >= 9, "writes stay in the observed order: {schedule:?}");
}

/// What the paper leaves out: what a thread waits for comes before, or there is no schedule.
#[test]
fn constructs_that_the_paper_leaves_out_hold() {
    let syncs = [
        ("m", MUTEX),
        ("s", SyncKind::Semaphore { init: 0 }),
        ("c", SyncKind::Condvar),
        ("o", SyncKind::Once),
        ("rw", SyncKind::Rwlock),
        ("r", SyncKind::Mutex { recursive: true }),
    ];
    let pair = "1 write x\n1 write x\n1 end";
    // Each remote access waits for what thread 3 does, which the observed order has after the transaction.
    let cases = [
        (format!("1 begin\n{pair}\n3 post s\n2 down s\n2 write x"), true),
        (
            format!(
                "2 acquire m\n2 wait c\n1 begin\n{pair}\n3 acquire m\n3 signal c\n3 release m\n2 wake c\n2 write x"
            ),
            true,
        ),
        (format!("1 begin\n{pair}\n3 once o\n3 done o\n2 pass o\n2 write x"), true),
        (format!("1 begin\n1 share rw\n{pair}\n1 unshare rw\n2 share rw\n2 write x\n2 unshare rw"), true),
        (
            format!(
                "1 begin\n1 acquire r\n1 acquire r\n1 release r\n{pair}\n1 release r\n2 acquire r\n2 write x\n2 release r"
            ),
            false,
        ),
        (
            format!(
                "1 begin\n1 acquire r\n1 acquire r\n1 release r\n1 release r\n{pair}\n2 acquire r\n2 write x\n2 release r"
            ),
            true,
        ),
        (format!("1 begin\n1 acquire rw\n{pair}\n1 release rw\n2 share rw\n2 write x\n2 unshare rw"), false),
        // The transaction itself gives what the remote access waits for, after its second access: clocks do not know, schedules do.
        (format!("1 begin\n{pair}\n1 post s\n2 down s\n2 write x"), false),
    ];
    for (text, can) in cases {
        let all = trace(&syncs, &text);
        let observed = Observed::default();
        let synthesizer = Synthesizer::new(&all, &observed);
        let found = cut_points(&all);
        let made: Vec<_> = found.iter().filter(|point| synthesizer.synthesize(point).is_ok()).collect();
        made.iter().for_each(|point| drop(schedule_of(&all, point)));
        assert_eq!(!made.is_empty(), can, "{text}");
    }
}

//! Locks of one word that several threads may share.

use super::Case;
use crate::verdict::Decider::EarlyRefutation;
use foretrace_trace::TraceBuilder;

/// Comes in as a reader, who looks and then counts one more, and says so by the number of its turn.
fn comes_to_read(b: &mut TraceBuilder, thread: u64, turn: usize, condition: &str) {
    let (seen, found) = (format!("s{turn}"), format!("r{turn}"));
    b.read(thread, "y", &seen);
    b.assume(thread, &format!("({condition} {seen} 0)"));
    b.rmw_if(thread, "y", &found, &format!("(+ {seen} 1)"), &format!("(= {found} {seen})")).at_place("comes");
}

fn leaves_after_reading(b: &mut TraceBuilder, thread: u64, turn: usize) {
    b.rmw(thread, "y", &format!("l{turn}"), &format!("(- l{turn} 1)")).at_place("leaves");
}

fn comes_to_write(b: &mut TraceBuilder, thread: u64, turn: usize) {
    b.rmw_if(thread, "y", &format!("w{turn}"), "(- 1)", &format!("(= w{turn} 0)")).at_place("takes");
}

/// Three threads read x twice, and two others write it twice, three times each. What is refuted: that a write comes between two reads of
/// one turn, that a read comes between two writes, and that a write of another writer does; and for reads and reads, which may always be.
fn refuted(condition: &str, gives: impl Fn(&mut TraceBuilder, u64)) -> [bool; 3] {
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    let case = Case::new(|b| {
        for turn in 0..15 {
            let thread = 2 + turn as u64 % 5;
            if thread < 5 {
                comes_to_read(b, thread, turn, condition);
                reads.push([0, 1].map(|nth| b.read(thread, "x", &format!("x{turn}{nth}")).id().0));
                leaves_after_reading(b, thread, turn);
            } else {
                comes_to_write(b, thread, turn);
                writes.push([0, 1].map(|nth| b.write(thread, "x", &nth.to_string()).id().0));
                gives(b, thread);
            }
        }
    });
    let refutes = |around: &[u32; 2], between: u32| case.refutes(EarlyRefutation, [around[0], between, around[1]]);
    [refutes(&reads[0], writes[1][0]), refutes(&writes[0], reads[5][0]), refutes(&writes[0], writes[3][0])]
}

fn gives_back(b: &mut TraceBuilder, thread: u64) {
    b.write(thread, "y", "0").at_place("gives");
}

#[test]
fn readers_and_writers_of_one_word_exclude_each_other() {
    assert_eq!(refuted(">=", gives_back), [true; 3]);
}

#[test]
fn a_reader_who_does_not_look_whether_a_writer_is_there_is_let_in() {
    assert_eq!(refuted("<=", gives_back), [false; 3]); // the count may get lower than -1, and is 0 again
}

#[test]
fn a_writer_who_gives_back_what_readers_have_counted_lets_others_in() {
    let spoils = |b: &mut TraceBuilder, thread: u64| {
        gives_back(b, thread);
        b.write(thread, "y", "0").at_place("gives again");
    };
    assert_eq!(refuted(">=", spoils), [false; 3]);
}

/// Who adds one and finds a writer takes it back: that writer's word is far below zero, or others find the lock free meanwhile. What a thread
/// has found decides whether it is inside.
#[test]
fn who_comes_in_vain_is_not_inside() {
    let (far, [first, in_vain, second], inside) = comes_in_vain(100);
    assert!(!far.refutes(EarlyRefutation, [first, in_vain, second]));
    for [one, other] in &inside {
        assert!(far.refutes(EarlyRefutation, [*one, first, *other]));
        assert!(far.refutes(EarlyRefutation, [first, *one, second]));
    }
    let (near, [first, _, second], inside) = comes_in_vain(1);
    assert!(inside.iter().all(|[one, other]| !near.refutes(EarlyRefutation, [*one, first, *other])));
    assert!(inside.iter().all(|[one, _]| !near.refutes(EarlyRefutation, [first, *one, second])));
}

/// Two readers' turns, and a writer's with a third one in vain meanwhile; the writes of x in that turn, and the reads of each turn.
fn comes_in_vain(writer: i64) -> (Case, [u32; 3], Vec<[u32; 2]>) {
    let mut writes = Vec::new();
    let mut inside = Vec::new();
    let case = Case::new(|b| {
        for (turn, thread) in [2, 3, 2, 3].into_iter().enumerate() {
            b.rmw(thread, "y", &format!("c{turn}"), &format!("(+ c{turn} 1)")).at_place("adds");
            b.assume(thread, &format!("(>= c{turn} 0)"));
            inside.push([0, 1].map(|nth| b.read(thread, "x", &format!("x{turn}{nth}")).id().0));
            leaves_after_reading(b, thread, turn);
        }
        b.rmw_if(4, "y", "w", &format!("(- {writer})"), "(= w 0)").at_place("takes");
        writes.push(b.write(4, "x", "1").id().0);
        b.rmw(2, "y", "c5", "(+ c5 1)").at_place("adds");
        b.assume(2, "(< c5 0)");
        writes.push(b.write(2, "x", "7").id().0);
        leaves_after_reading(b, 2, 5);
        writes.push(b.write(4, "x", "2").id().0);
        b.rmw(4, "y", "g", &format!("(+ g {writer})")).at_place("gives");
    });
    let [first, in_vain, second] = writes[..] else { panic!("three writes") };
    (case, [first, in_vain, second], inside)
}

/// Two threads, one after the other, look for a word that is not above 0, count it up, write x twice and count it down; their writes of x.
fn two_turns(b: &mut TraceBuilder) -> [[u32; 2]; 2] {
    [2, 3].map(|thread| {
        b.read(thread, "y", "seen");
        b.assume(thread, "(<= seen 0)");
        b.rmw_if(thread, "y", "found", "(+ seen 1)", "(= found seen)").at_place("takes");
        let writes = [0, 1].map(|nth| b.write(thread, "x", &nth.to_string()).id().0);
        b.rmw(thread, "y", "left", "(- left 1)").at_place("gives");
        writes
    })
}

/// Main sets the word up in two steps. Only the last one is what the threads find, and code that is not recorded may write at any time.
#[test]
fn threads_find_what_was_written_last_before_them() {
    let refutes = |set_up: &dyn Fn(&mut TraceBuilder), unseen: bool| {
        let mut writes = [[0; 2]; 2];
        let case = Case::new(|b| {
            set_up(b);
            b.fork(1, 2);
            b.fork(1, 3);
            if unseen {
                b.write(4, "y", "0").external();
            }
            writes = two_turns(b);
        });
        case.refutes(EarlyRefutation, [writes[0][0], writes[1][0], writes[0][1]])
    };
    let in_two_steps = |last: &'static str| {
        move |b: &mut TraceBuilder| {
            b.write(1, "y", "5");
            b.write(1, "y", last);
        }
    };
    assert!(refutes(&|_| {}, false) && refutes(&in_two_steps("0"), false));
    assert!(!refutes(&in_two_steps("(- 1)"), false), "both find a place");
    assert!(!refutes(&|_| {}, true));
}

/// Main sets the word up, and does so again when the threads already run: then both can be inside.
#[test]
fn what_is_written_when_threads_run_does_not_come_first() {
    let refutes = |sets_up_again: bool| {
        let mut writes = [[0; 2]; 2];
        let case = Case::new(|b| {
            b.write(1, "y", "0");
            b.fork(1, 2);
            b.fork(1, 3);
            if sets_up_again {
                b.write(1, "y", "0");
            }
            writes = two_turns(b);
        });
        case.refutes(EarlyRefutation, [writes[0][0], writes[1][0], writes[0][1]])
    };
    assert!(refutes(false));
    assert!(!refutes(true));
}

/// A third thread writes a 1, and both threads find it, never the 0 that is there at first. They keep nobody out: they leave the 1, or put it
/// back at once.
#[test]
fn what_is_there_at_first_does_not_matter_to_who_finds_something_else() {
    let refutes = |left: &str| {
        let mut writes = Vec::new();
        let case = Case::new(|b| {
            b.write(4, "y", "1").at_place("opens");
            for (turn, thread) in [2, 3].into_iter().enumerate() {
                b.rmw_if(thread, "y", &format!("w{turn}"), left, &format!("(= w{turn} 1)")).at_place("takes");
                if left == "0" {
                    b.write(thread, "y", "1").at_place("lets others in");
                }
                writes.push([0, 1].map(|nth| b.write(thread, "x", &nth.to_string()).id().0));
                b.write(thread, "y", "1").at_place("gives");
            }
        });
        case.refutes(EarlyRefutation, [writes[0][0], writes[1][0], writes[0][1]])
    };
    assert!(!refutes("1") && !refutes("0"));
}

/// A thread that has looked and found the lock free does not own it before it takes it.
#[test]
fn who_looks_is_not_inside_yet() {
    let mut writes = Vec::new();
    let case = Case::new(|b| {
        for thread in [2, 3] {
            b.read(thread, "y", "seen");
            b.assume(thread, "(<= seen 0)");
            let before = b.write(thread, "x", "7").id().0;
            b.rmw_if(thread, "y", "found", "(+ seen 1)", "(= found seen)").at_place("takes");
            b.assume(thread, "(>= seen (- 5))");
            let [first, second] = [0, 1].map(|nth| b.write(thread, "x", &nth.to_string()).id().0);
            writes.push([before, first, second]);
            b.rmw(thread, "y", &format!("l{thread}"), &format!("(- l{thread} 1)")).at_place("gives");
        }
    });
    let [[_, first, second], [before, inside, _]] = writes[..] else { panic!("two threads") };
    assert!(case.refutes(EarlyRefutation, [first, inside, second]));
    assert!(!case.refutes(EarlyRefutation, [first, before, second]));
}

/// A count may have more values than are looked at, or one more than there are bits for.
#[test]
fn a_count_of_many_values_excludes_nothing() {
    for last in [64, 1000] {
        let mut writes = Vec::new();
        let case = Case::new(|b| {
            for (turn, thread) in [2, 3, 2, 3].into_iter().enumerate() {
                let stored = format!("(ite (= c{turn} {last}) 0 (+ c{turn} 1))");
                b.rmw(thread, "y", &format!("c{turn}"), &stored).at_place("adds");
                b.assume(thread, &format!("(< c{turn} {last})"));
                writes.push([0, 1].map(|nth| b.write(thread, "x", &nth.to_string()).id().0));
            }
        });
        assert!(!case.refutes(EarlyRefutation, [writes[0][0], writes[1][0], writes[0][1]]));
    }
}

/// Any number of threads count up and down: no value keeps anyone out.
#[test]
fn a_count_that_nobody_asks_about_excludes_nothing() {
    let mut reads = Vec::new();
    let case = Case::new(|b| {
        for (turn, thread) in [2, 3, 2, 3].into_iter().enumerate() {
            b.rmw(thread, "y", &format!("c{turn}"), &format!("(+ c{turn} 1)")).at_place("adds");
            reads.push(b.write(thread, "x", &turn.to_string()).id().0);
            reads.push(b.write(thread, "x", &turn.to_string()).id().0);
            leaves_after_reading(b, thread, turn);
        }
    });
    assert!(!case.refutes(EarlyRefutation, [reads[0], reads[2], reads[1]]));
}

//! Random traces of locks that programs make of variables, right in most parts and wrong in some.

use crate::{Data, Observed, SyncKind, Trace, TraceBuilder};

/// A function that picks one of so many choices. The seed decides what it picks.
fn picker(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut left = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 4;
    move |choices| {
        let picked = left % choices;
        left = (left / choices) ^ (left.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 9);
        picked
    }
}

/// Threads that test a flag and set it, use a variable and give the flag back: right in most parts, wrong in some.
pub fn random_flags(seed: u64) -> (Trace, Observed) {
    let mut left = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8;
    let mut pick = |choices: u64| {
        let picked = left % choices;
        left /= choices;
        picked
    };
    let mut builder = TraceBuilder::new(Data::Symbolic);
    builder.int_var("flag", 0);
    builder.int_var("x", 0);
    for lock in ["m", "n"] {
        builder.sync(lock, SyncKind::Mutex { recursive: false });
    }
    let starts_owned = pick(3) == 0;
    if starts_owned {
        builder.write(1, "flag", "1");
        builder.write(1, "x", "7");
        builder.fork(1, 2);
        if pick(3) > 0 {
            builder.fork(1, 3);
        }
        builder.write(1, "flag", "0");
    }
    for thread in [2, 3] {
        let (locks, name) = (["m", "m", "m", "n"], format!("f{thread}"));
        let (taking, giving) = (locks[pick(4) as usize], locks[pick(4) as usize]);
        if pick(8) == 0 {
            builder.write(thread, "flag", "0");
        }
        builder.acquire(thread, taking);
        builder.read(thread, "flag", &name);
        match pick(7) {
            0 => {}
            1 => drop(builder.assume(thread, &format!("(< {name} 2)"))),
            2 => drop(builder.assume(thread, &format!("(distinct {name} 1)"))),
            3 => drop(builder.pin(thread, &format!("(= {name} 0)"))),
            _ => drop(builder.assume(thread, &format!("(= {name} 0)"))),
        }
        if pick(6) == 0 {
            builder.release(thread, taking);
            builder.acquire(thread, taking);
        }
        builder.write(thread, "flag", if pick(5) == 0 { "2" } else { "1" });
        builder.write(thread, "x", &thread.to_string());
        builder.release(thread, taking);
        builder.read(thread, "x", &format!("x{thread}"));
        let is_locked = pick(4) > 0;
        if is_locked {
            builder.acquire(thread, giving);
        }
        builder.write(thread, "flag", "0");
        builder.write(thread, "x", "5");
        if is_locked {
            builder.release(thread, giving);
        }
    }
    builder.finish().expect("a valid trace")
}

/// Threads that take a variable as a lock by an rmw, use a variable and give the lock back: right in most parts, wrong in some.
pub fn random_word_locks(seed: u64) -> (Trace, Observed) {
    let mut pick = picker(seed);
    let mut builder = TraceBuilder::new(Data::Symbolic);
    let mut value = if pick(6) == 0 { 3 } else { 0 };
    builder.int_var("lock", value);
    builder.int_var("x", 0);
    if pick(8) > 0 {
        builder.write(1, "lock", "0");
        value = 0;
    }
    if pick(6) > 0 {
        builder.fork(1, 2);
        builder.fork(1, 3);
    }
    let is_exchange = pick(3) > 0;
    // What each thread does next; a step of 0 takes the lock.
    let mut steps = [0, 0];
    for number in 0..12 {
        let at = pick(2) as usize;
        let (thread, name) = (at as u64 + 2, format!("l{number}"));
        steps[at] += 1;
        match steps[at] {
            1 => {
                let found = value;
                let taken = if pick(5) == 0 { 2 } else { 1 };
                let (stored, left) = match pick(8) {
                    0 => ("0".to_string(), 0),
                    1 => (format!("(ite (= {name} 0) {taken} {name})"), if found == 0 { taken } else { found }),
                    2 => (format!("(ite (= {name} 2) 0 {taken})"), if found == 2 { 0 } else { taken }),
                    _ => (taken.to_string(), taken),
                };
                let free = format!("(= {name} 0)");
                if is_exchange {
                    value = left;
                    builder.rmw(thread, "lock", &name, &stored);
                    match pick(8) {
                        0 => {}
                        1 if found < 2 => drop(builder.assume(thread, &format!("(< {name} 2)"))),
                        _ if found == 0 => drop(builder.assume(thread, &free)),
                        _ => drop(builder.assume(thread, &format!("(not {free})"))),
                    }
                } else if found == 0 {
                    value = taken;
                    builder.rmw_if(thread, "lock", &name, &taken.to_string(), &free);
                } else {
                    builder.read_if(thread, "lock", &name, &format!("(not {free})"));
                }
                if found != 0 && pick(8) > 0 {
                    steps[at] = if pick(4) == 0 { 5 } else { 0 }; // it tries again, or gives up
                }
            }
            2 => drop(builder.write(thread, "x", &thread.to_string())),
            3 => drop(builder.read(thread, "x", &format!("x{number}"))),
            4 => {
                match pick(8) {
                    0 => {
                        builder.rmw(thread, "lock", &name, &format!("(- {name} 1)"));
                        value -= 1;
                        if value == 0 {
                            builder.assume(thread, &format!("(= {name} 1)"));
                        } else {
                            builder.assume(thread, &format!("(distinct {name} 1)"));
                            builder.write(thread, "lock", "0");
                            value = 0;
                        }
                    }
                    1 => {
                        builder.rmw(thread, "lock", &name, "0");
                        value = 0;
                    }
                    2 => {
                        builder.write(thread, "lock", "2");
                        value = 2;
                    }
                    _ => {
                        builder.write(thread, "lock", "0");
                        value = 0;
                    }
                }
                steps[at] = if pick(2) == 0 { 0 } else { 4 };
            }
            5 => drop(builder.write(thread, "x", "5")),
            _ => {}
        }
    }
    builder.finish().expect("a valid trace")
}

/// Threads that take tickets and wait for their turns, use a variable and give the turn on: right in most parts, wrong in some.
pub fn random_ticket_locks(seed: u64) -> (Trace, Observed) {
    let mut pick = picker(seed);
    let mut builder = TraceBuilder::new(Data::Symbolic);
    let (mut next, mut serving) = (if pick(6) == 0 { 3 } else { 0 }, 0);
    builder.int_var("next", next);
    builder.int_var("serving", serving);
    builder.int_var("x", 0);
    if pick(4) > 0 {
        (next, serving) = (1, 1);
        builder.write(1, "next", "1");
        builder.write(1, "serving", "1");
    }
    if pick(6) > 0 {
        builder.fork(1, 2);
        builder.fork(1, 3);
    }
    let usual_step = if pick(5) == 0 { 0 } else { 1 };
    // What each thread does next; a step of 0 takes a ticket, one of 1 waits for its turn.
    let (mut steps, mut tickets) = ([0, 0], [(String::new(), 0), (String::new(), 0)]);
    for number in 0..14 {
        let at = pick(2) as usize;
        let (thread, name) = (at as u64 + 2, format!("l{number}"));
        let (ticket, own) = tickets[at].clone();
        steps[at] += 1;
        match steps[at] {
            1 => {
                tickets[at] = (name.clone(), next);
                match pick(12) {
                    0 => {
                        builder.rmw(thread, "next", &name, &format!("(+ 2 {name})"));
                        next += 2;
                    }
                    1 => {
                        builder.read(thread, "next", &name);
                    }
                    2 => {
                        builder.rmw(thread, "next", &name, "1");
                        next = 1;
                    }
                    _ => {
                        builder.rmw(thread, "next", &name, &format!("(+ {name} {usual_step})"));
                        next += usual_step;
                    }
                }
            }
            2 => {
                builder.read(thread, "serving", &name);
                let is_turn = serving == own;
                match pick(10) {
                    0 => {}
                    1 if is_turn => drop(builder.pin(thread, &format!("(= {name} {ticket})"))),
                    2 if is_turn => drop(builder.assume(thread, &format!("(>= {name} {ticket})"))),
                    3 if is_turn => drop(builder.assume(thread, &format!("(and (= {ticket} {name}) (>= {name} 0))"))),
                    _ if is_turn => drop(builder.assume(thread, &format!("(= {name} {ticket})"))),
                    _ => drop(builder.assume(thread, &format!("(distinct {name} {ticket})"))),
                }
                if !is_turn && pick(8) > 0 {
                    steps[at] = if pick(6) == 0 { 5 } else { 1 }; // it looks again, or gives up
                }
            }
            3 => drop(builder.write(thread, "x", &thread.to_string())),
            4 => drop(builder.read(thread, "x", &format!("x{number}"))),
            5 => {
                match pick(8) {
                    0 => {
                        builder.write(thread, "serving", "1");
                        serving = 1;
                    }
                    1 | 2 => {
                        builder.rmw(thread, "serving", &name, &format!("(+ {name} 1)"));
                        serving += 1;
                    }
                    _ => {
                        builder.write(thread, "serving", &format!("(+ {ticket} 1)"));
                        serving = own + 1;
                    }
                }
                steps[at] = match pick(6) {
                    0 => 1, // it waits for a ticket again that it has used
                    1 => 4, // it gives the turn on twice
                    _ => 0,
                };
            }
            _ => drop(builder.write(thread, "x", "5")),
        }
    }
    builder.finish().expect("a valid trace")
}

/// Threads that read a word and change it by compare-and-swap, as readers and writers of a lock, or by adding: right in most parts, wrong in some.
pub fn random_shared_words(seed: u64) -> (Trace, Observed) {
    let mut pick = picker(seed);
    let mut builder = TraceBuilder::new(Data::Symbolic);
    let mut value: i64 = if pick(6) == 0 { 1 } else { 0 };
    builder.int_var("word", value);
    builder.int_var("x", 0);
    if pick(3) == 0 {
        value = 0;
        builder.write(1, "word", "0").at_place("init");
    }
    if pick(6) > 0 {
        for thread in [2, 3, 4] {
            builder.fork(1, thread);
        }
    }
    let most = pick(3) as i64; // how many readers there may be, from 1 on
    let is_wrong = |pick: &mut dyn FnMut(u64) -> u64| pick(9) == 0;
    // What each thread does next: a step of 0 comes in, as a reader or a writer; and as what it is inside.
    let (mut steps, mut writes) = ([0; 3], [false; 3]);
    let threads = if pick(3) == 0 { 3 } else { 2 };
    for number in 0..14 {
        let at = pick(threads) as usize;
        let (thread, name, seen) = (at as u64 + 2, format!("l{number}"), format!("s{number}"));
        steps[at] += 1;
        match steps[at] {
            1 => {
                writes[at] = pick(2) == 0;
                let may = if writes[at] { value == 0 } else { value >= 0 && value <= most };
                let is_in = match (writes[at], pick(4)) {
                    (true, 0) => {
                        // An exchange that finds somebody inside spoils the word.
                        builder.rmw(thread, "word", &name, "(- 1)").at_place("exchange");
                        let free = format!("(= {name} 0)");
                        let told = if may { free } else { format!("(not {free})") };
                        if !is_wrong(&mut pick) {
                            builder.assume(thread, &told);
                        }
                        value = -1;
                        may
                    }
                    (true, _) if value == 0 => {
                        builder.rmw_if(thread, "word", &name, "(- 1)", &format!("(= {name} 0)")).at_place("writer");
                        value = -1;
                        true
                    }
                    (false, 0) if may || is_wrong(&mut pick) => {
                        builder.rmw(thread, "word", &name, &format!("(+ {name} 1)")).at_place("adds");
                        if may {
                            builder.assume(thread, &format!("(and (>= {name} 0) (<= {name} {most}))"));
                        }
                        value += 1;
                        may
                    }
                    (false, _) if may => {
                        builder.read(thread, "word", &seen);
                        if !is_wrong(&mut pick) {
                            builder.assume(thread, &format!("(>= {seen} 0)"));
                        }
                        builder.assume(thread, &format!("(<= {seen} {most})"));
                        let same = format!("(= {name} {seen})");
                        builder.rmw_if(thread, "word", &name, &format!("(+ {seen} 1)"), &same).at_place("reader");
                        value += 1;
                        true
                    }
                    _ => {
                        builder.read(thread, "word", &seen);
                        false
                    }
                };
                if !is_in {
                    steps[at] = 0;
                }
            }
            2 => drop(builder.write(thread, "x", &thread.to_string())),
            3 => drop(builder.read(thread, "x", &format!("x{number}"))),
            4 => {
                if writes[at] != is_wrong(&mut pick) {
                    builder.write(thread, "word", "0").at_place("gives");
                    value = 0;
                } else {
                    builder.rmw(thread, "word", &name, &format!("(- {name} 1)")).at_place("leaves");
                    value -= 1;
                }
                steps[at] = if is_wrong(&mut pick) { 3 } else { 0 };
            }
            _ => {}
        }
    }
    builder.finish().expect("a valid trace")
}

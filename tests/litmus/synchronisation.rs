//! The events that synchronisation makes.

use crate::support::{check, serial};
use foretrace::litmus::Outcome;

#[test]
fn locks() {
    check(
        "mutex m; recursive mutex r; thread T { lock(m); lock(r); lock(r); unlock(r); unlock(r); unlock(m); }",
        &["T: acquire m", "T: acquire r", "T: acquire r", "T: release r", "T: release r", "T: release m"],
    );
}

#[test]
fn a_lock_that_is_held_blocks() {
    check(
        "mutex m; mutex n; thread T { spawn U; lock(m); spawn V; join U; unlock(m); }
         thread U { } thread V { lock(m); unlock(m); }",
        &["T: fork U", "T: acquire m", "T: fork V", "T: join U", "T: release m", "V: acquire m", "V: release m"],
    );
}

#[test]
fn try_locks() {
    let source = "mutex m; recursive mutex r; rwlock q; semaphore go = 0; shared x: int;
        thread T {
            if (trylock(m)) { x = 1; }
            if (!trylock(m)) { x = 2; }
            if (trylock(r) & trylock(r)) { x = 3; }
            read_lock(q);
            if (!try_write_lock(q)) { x = 4; }
            post(go);
            down(go);
        }
        thread U { if (!trylock(m)) { x = 5; } if (!try_write_lock(q)) { x = 6; } }";
    check(
        source,
        &[
            "T: acquire m",
            "T: write 1 to x: 1",
            // What the thread itself holds is no matter of other threads: no event.
            "T: write 2 to x: 2",
            "T: acquire r",
            "T: acquire r",
            "T: write 3 to x: 3",
            "T: acquire_shared q",
            "T: write 4 to x: 4",
            "T: post go",
            "T: down go",
            "U: busy m",
            "U: write 5 to x: 5",
            "U: busy q",
            "U: write 6 to x: 6",
        ],
    );
}

#[test]
fn rwlocks() {
    check(
        "rwlock q; semaphore s = 0;
         thread T { read_lock(q); down(s); read_unlock(q); }
         thread U { read_lock(q); read_lock(q); read_unlock(q); read_unlock(q); post(s);
             write_lock(q); write_unlock(q); }",
        &[
            "T: acquire_shared q",
            "U: acquire_shared q",
            "U: acquire_shared q",
            "U: release_shared q",
            "U: release_shared q",
            "U: post s",
            "T: down s",
            "T: release_shared q",
            "U: acquire q",
            "U: release q",
        ],
    );
}

#[test]
fn condition_variables() {
    check(
        "mutex m; condvar c; shared n: int;
         thread T { lock(m); wait(c, m); n = 1; unlock(m); }
         thread U { lock(m); wait(c, m); n = 2; unlock(m); }
         thread V { signal(c); broadcast(c); signal(c); }",
        &[
            "T: acquire m",
            "T: wait c m",
            "U: acquire m",
            "U: wait c m",
            "V: signal c",
            "V: broadcast c",
            "V: signal c",
            "T: wake c m, by 4",
            "T: write 1 to n: 1",
            "T: release m",
            "U: wake c m, by 5",
            "U: write 2 to n: 2",
            "U: release m",
        ],
    );
}

#[test]
fn a_wait_gives_back_all_levels_of_a_recursive_mutex() {
    check(
        "recursive mutex m; condvar c;
         thread T { lock(m); lock(m); wait(c, m); unlock(m); unlock(m); }
         thread U { lock(m); signal(c); unlock(m); }",
        &[
            "T: acquire m",
            "T: acquire m",
            "T: wait c m",
            "U: acquire m",
            "U: signal c",
            "U: release m",
            "T: wake c m, by 4",
            "T: release m",
            "T: release m",
        ],
    );
}

#[test]
fn waits_time_out_or_are_signalled() {
    check(
        "mutex m; condvar c; shared x: int;
         thread T { lock(m); if (wait_timeout(c, m)) { x = 1; } if (wait_timeout(c, m)) { x = 2; } unlock(m); }
         thread U { lock(m); signal(c); unlock(m); }",
        &[
            "T: acquire m",
            "T: wait c m",
            "U: acquire m",
            "U: signal c",
            "U: release m",
            "T: wake c m, by 3",
            "T: write 1 to x: 1",
            "T: wait c m",
            "T: wake c m, Timeout",
            "T: release m",
        ],
    );
}

#[test]
fn semaphores() {
    check(
        "semaphore s = 1; thread T { down(s); down(s); } thread U { post(s); }",
        &["T: down s", "U: post s", "T: down s"],
    );
}

#[test]
fn what_happens_once_is_begun_again_after_a_failure_alone() {
    check(
        "once o; thread T { if (once_begin(o)) { once_fail(o); } if (once_begin(o)) { once_end(o); } }
         thread U { if (once_begin(o)) { once_end(o); } }",
        &["T: once_begin o", "T: once_fail o", "T: once_begin o", "T: once_end o", "U: once_pass o"],
    );
    let run = serial("once o; thread T { if (once_begin(o)) { if (once_begin(o)) { once_end(o); } } }");
    let Outcome::Deadlock(blocked) = &run.outcome else { panic!("{}", run.outcome) };
    assert_eq!(&*blocked[0].waits_for, "the initialisation of `o`, which is its own");
    let run = serial("once o; thread T { once_end(o); }");
    assert!(
        run.outcome.to_string().contains("once_end of `o`, which the thread does not initialise"),
        "{}",
        run.outcome
    );
}

#[test]
fn barriers_count_their_rounds() {
    check(
        "barrier b(2); thread T { await(b); await(b); } thread U { await(b); await(b); }",
        &[
            "T: arrive b 0",
            "U: arrive b 0",
            "U: depart b 0",
            "U: arrive b 1",
            "T: depart b 0",
            "T: arrive b 1",
            "T: depart b 1",
            "U: depart b 1",
        ],
    );
}

#[test]
fn spawn_and_join() {
    check(
        "shared x: int; thread T { x = 1; spawn U; x = 2; join U; x = 4; } thread U { x = 3; }",
        &[
            "T: write 1 to x: 1",
            "T: fork U",
            "T: write 2 to x: 2",
            "U: write 3 to x: 3",
            "T: join U",
            "T: write 4 to x: 4",
        ],
    );
}

//! A deadlock: every thread waits, and nothing can wake one. The runtime says so, and ends the process like a failure.

use core::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use crate::controller::thread_turn::State;
use crate::controller::{onward, release, stuck, waking};
use crate::log;
use crate::mode;
use crate::record::{Kind, fail};
use crate::sys::{self, EDEADLK};
use crate::text::say;
use crate::threads::{self, Thread};
use crate::waiting::Wait;

/// After this many ticks without a thread that can run, the controller says so.
const PATIENCE: usize = 400;
/// How many looks in a row must find each thread waiting for another. A thread may wake another between two looks.
const LOOKS: usize = 20;

static STUCK: AtomicUsize = AtomicUsize::new(0);
static IDLE: AtomicUsize = AtomicUsize::new(0);
static SAID: AtomicBool = AtomicBool::new(false);

/// Every tick of the watchdog in which no thread has the turn.
pub(super) fn look() {
    if IDLE.load(Relaxed) > 0 {
        stay_idle();
    } else {
        look_for_ever();
    }
}

/// Every tick in which a thread has it.
pub(super) fn somebody_runs() {
    STUCK.store(0, Relaxed);
    IDLE.store(0, Relaxed);
}

/// Looks for a deadlock where no thread has the turn: threads that sleep in the kernel may wait for each other.
fn look_for_ever() {
    let looks = if stuck::all_are() { STUCK.load(Relaxed) + 1 } else { 0 };
    STUCK.store(looks, Relaxed);
    if looks == LOOKS {
        deadlock();
    }
}

/// All threads wait. What else can wake one is looked at with every tick.
pub(super) fn nobody_runs() {
    if waking::possible() {
        IDLE.store(1, Relaxed);
    } else {
        deadlock();
    }
}

/// One more tick in which all threads wait. The program may be right, so it goes on as long as something can wake a thread.
fn stay_idle() {
    if !waking::possible() {
        deadlock();
    }
    if IDLE.fetch_add(1, Relaxed) == PATIENCE && !SAID.swap(true, Relaxed) {
        say(format_args!("every thread waits; only a signal, a timer or a thread of a library can wake one"));
        if release::is_of_test() {
            say_who_waits(); // if the run hangs, its story says so
        }
    }
}

/// The threads that wait, but for those that sleep in the kernel, and what each waits for.
fn waiting() -> impl Iterator<Item = (&'static Thread, usize)> {
    // SAFETY: the waiter's frame is alive: its thread waits.
    let key = |thread: &Thread| unsafe { thread.wait.load(SeqCst).as_ref() }.map_or(0, |waiter| waiter.key());
    let blocked = threads::all().filter(|thread| thread.turn.state.get() == State::Blocked);
    blocked.map(move |thread| (thread, key(thread)))
}

fn say_who_waits() {
    for (thread, key) in waiting() {
        let path = thread.path();
        let path = core::str::from_utf8(path.bytes()).unwrap_or("?");
        let number = thread.number.get();
        match threads::all().find(|other| other.end_key() == key) {
            None => say(format_args!("  thread {path} (number {number}) waits for {key:#x}")),
            Some(other) => {
                let other = other.path();
                let other = core::str::from_utf8(other.bytes()).unwrap_or("?");
                say(format_args!("  thread {path} (number {number}) waits for the end of thread {other}"));
            }
        }
    }
}

/// Says it, records it, and ends the process like a failure.
fn deadlock() -> ! {
    say(format_args!("deadlock: every thread waits"));
    waiting().for_each(|(thread, key)| log::refused(thread, 0, key, EDEADLK));
    say_who_waits();
    let asleep = || threads::all().filter(|thread| thread.turn.state.get() == State::Outside);
    for thread in asleep() {
        let path = thread.path();
        let path = core::str::from_utf8(path.bytes()).unwrap_or("?");
        let file = stuck::awaited(thread).unwrap_or(-1);
        let what = if stuck::is_pipe(file) { "pipe" } else { "eventfd" };
        say(format_args!("  thread {path} (number {}) waits for {what} {file}", thread.number.get()));
    }
    if let Some(thread) = waiting().map(|(thread, _)| thread).chain(asleep()).next() {
        log::sync(thread, Kind::Fail, 0, fail::DEADLOCK, 0);
    }
    onward::report(false);
    keep_comers();
    sys::die_by(sys::SIGABRT)
}

/// Writes the paths of the threads for which others wait that came later, a line each, to the file `comers`. No record says that they
/// wait, so a replay has to let them come.
fn keep_comers() {
    let waiter = |thread: &&'static Thread| {
        // SAFETY: the waiter's frame is alive: its thread waits.
        let wait = unsafe { thread.wait.load(SeqCst).as_ref() };
        thread.turn.state.get() == State::Blocked && wait.is_some_and(Wait::comes_first)
    };
    if !threads::all().any(|thread| waiter(&thread)) {
        return;
    }
    let Ok(file) = sys::open(mode::file(b"/comers\0").bytes(), sys::CREATE) else { return };
    for thread in threads::all().filter(waiter) {
        let path = thread.path();
        sys::write(file, path.bytes());
        sys::write(file, b"\n");
    }
    sys::close(file);
}

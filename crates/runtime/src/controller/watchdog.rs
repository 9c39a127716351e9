//! A thread of ours that looks every few milliseconds whether the thread with the turn makes use of it.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use crate::controller::{self, LOCK, State, controlled, dispatch, release, replay, steer, stuck, waking};
use crate::feed::others;
use crate::hooks::held;
use crate::interpose::{real, signals};
use crate::log;
use crate::record::{Kind, fail};
use crate::sys;
use crate::text::{Text, say};
use crate::threads::{self, Thread};

const TICK: i64 = 5_000_000;
/// After so many ticks without a thread that could run it is said.
const PATIENCE: usize = 400;

/// Ticks that a thread may spend in a function of a lock: it may wait for one that takes the lock in another way.
const PATIENCE_WITH_LOCKS: usize = 20;

/// How many looks in a row must find each thread waiting for another. A thread may wake another between two looks.
const LOOKS: usize = 20;

static STUCK: AtomicUsize = AtomicUsize::new(0);
static SAME: AtomicUsize = AtomicUsize::new(0);
static LAST: AtomicPtr<Thread> = AtomicPtr::new(core::ptr::null_mut());
static LAST_COUNT: AtomicU64 = AtomicU64::new(0);
static IDLE: AtomicUsize = AtomicUsize::new(0);
static SAID: AtomicBool = AtomicBool::new(false);

pub fn start() {
    let mut pthread = 0;
    let before = signals::block_all();
    let mut create = || real::pthread_create(&mut pthread, core::ptr::null(), watch, core::ptr::null_mut());
    let failed = threads::known().map_or(0, |thread| thread.quietly(&mut create));
    signals::set_mask(before);
    if failed != 0 {
        say(format_args!("no thread for the watchdog (error {failed}): a thread that sleeps will stop all others"));
    }
}

unsafe extern "C" fn watch(_: *mut c_void) -> *mut c_void {
    threads::leave();
    let start = sys::now(sys::CLOCK_MONOTONIC);
    while controlled() || others::playing() {
        sys::sleep(TICK);
        others::go_on();
        LOCK.lock();
        let over = threads::all().all(|thread| thread.turn.state.get() == State::Done);
        if !over && controlled() {
            look();
        }
        LOCK.unlock();
        if over {
            break; // the last thread of a process ends it, and that must not be this one
        }
        if release::is_due(start) {
            release::all();
        }
    }
    core::ptr::null_mut()
}

/// One look; the controller's lock is held.
fn look() {
    let Some(thread) = controller::running() else {
        if replay::nobody_runs() || steer::nobody_runs() {
            dispatch();
        } else if IDLE.load(Relaxed) > 0 {
            stay_idle();
        } else {
            look_for_ever();
        }
        return;
    };
    STUCK.store(0, Relaxed);
    replay::somebody_runs();
    IDLE.store(0, Relaxed);
    let count = thread.count();
    let this = core::ptr::from_ref(thread).cast_mut();
    let same = LAST.swap(this, Relaxed) == this && LAST_COUNT.swap(count, Relaxed) == count;
    SAME.store(if same { SAME.load(Relaxed) + 1 } else { 0 }, Relaxed);
    let spins = SAME.load(Relaxed) > PATIENCE_WITH_LOCKS && thread.in_lock.is_inside();
    if same && (spins || sleeps(thread.tid.load(Relaxed))) {
        held::keep(thread);
        controller::take_turn(thread);
    }
}

/// Whether the kernel says so.
fn sleeps(tid: c_int) -> bool {
    let path = Text::<64>::formatted(format_args!("/proc/self/task/{tid}/stat\0"));
    let Ok(file) = sys::open(path.bytes(), sys::READ_ONLY) else { return false };
    let mut text = [0u8; 256];
    let length = sys::read(file, &mut text);
    sys::close(file);
    // The state is the letter after the name in brackets, which may hold brackets itself.
    let end = text[..length].iter().rposition(|&byte| byte == b')');
    end.and_then(|end| text.get(end + 2)) == Some(&b'S')
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
pub fn nobody_runs() {
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
    }
}

/// Says it, records it, and ends the process like a failure.
fn deadlock() -> ! {
    say(format_args!("deadlock: every thread waits"));
    let waiting = || threads::all().filter(|thread| thread.turn.state.get() == State::Blocked);
    for thread in waiting() {
        let path = thread.path();
        let path = core::str::from_utf8(path.bytes()).unwrap_or("?");
        // SAFETY: the waiter's frame is alive: its thread waits.
        let key = unsafe { thread.waiter.load(SeqCst).as_ref() }.map_or(0, |waiter| waiter.key());
        say(format_args!("  thread {path} (number {}) waits for {key:#x}", thread.number.get()));
    }
    let asleep = || threads::all().filter(|thread| thread.turn.state.get() == State::Outside);
    for thread in asleep() {
        let path = thread.path();
        let path = core::str::from_utf8(path.bytes()).unwrap_or("?");
        let file = stuck::awaited(thread).unwrap_or(-1);
        say(format_args!("  thread {path} (number {}) waits for descriptor {file}", thread.number.get()));
    }
    if let Some(thread) = waiting().chain(asleep()).next() {
        log::sync(thread, Kind::Fail, 0, fail::DEADLOCK, 0);
    }
    controller::report_waits();
    sys::die_by(sys::SIGABRT)
}

//! Who has the turn, and what all parts of the controller share.

use core::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use crate::controller::thread_turn::State;
use crate::lock::Lock;
use crate::mode;
use crate::sys;
use crate::threads::{self, Thread};

/// What becomes of an access.
pub enum Next {
    /// It is made.
    Go,
    /// The thread is held before it.
    Hold,
    /// It is the remote access, and a debugger wants to stop here.
    Stop,
}

/// What to do next.
pub(super) enum Choice {
    /// This thread runs until it has so many counted records.
    Run(&'static Thread, u64),
    /// The same, and then up to so many records that are not counted.
    RunBeyond(&'static Thread, u64, u64),
    /// Somebody will come.
    Wait,
    /// Nobody can.
    Nobody,
}

pub(super) static CONTROLLED: AtomicBool = AtomicBool::new(false);
pub(super) static REPLAY: AtomicBool = AtomicBool::new(false);
pub(super) static LOCK: Lock = Lock::new();
/// Who has the turn; null if no thread has it.
pub(super) static RUNNING: AtomicPtr<Thread> = AtomicPtr::new(core::ptr::null_mut());
/// The kernel's number of a thread that gave its last turn away and is about to go; 0 if none.
pub(super) static LEAVING: AtomicI32 = AtomicI32::new(0);
pub(super) static LAST: AtomicUsize = AtomicUsize::new(0);
/// Where the turn of the running thread ends.
pub(super) static UNTIL: AtomicU64 = AtomicU64::new(0);

/// Whether turns are given at all.
#[inline(always)]
pub fn controlled() -> bool {
    CONTROLLED.load(SeqCst)
}

/// Whether a schedule was given.
pub fn replaying() -> bool {
    REPLAY.load(Relaxed)
}

/// Who has the turn.
pub(super) fn running() -> Option<&'static Thread> {
    // SAFETY: threads are never freed.
    unsafe { RUNNING.load(SeqCst).as_ref() }
}

pub(super) fn has_turn(thread: &Thread) -> bool {
    core::ptr::eq(RUNNING.load(SeqCst), thread)
}

pub(super) fn ready(thread: &Thread) -> bool {
    thread.turn.state.get() == State::Ready && !has_turn(thread)
}

/// Of threads that wait up to a limit, the one whose limit comes first.
pub(super) fn earliest(waiting: impl Iterator<Item = &'static Thread>) -> Option<&'static Thread> {
    waiting.min_by_key(|thread| (thread.turn.deadline.get(), thread.number.get()))
}

/// A blocked thread runs to give up its wait.
pub(super) fn give_up(thread: &'static Thread, records: u64) -> Choice {
    thread.turn.timed_out.set(true);
    Choice::Run(thread, thread.count() + records)
}

/// A blocked thread runs since its wait ends for no reason. Its limit has not come.
pub(super) fn wake_for_nothing(thread: &'static Thread, records: u64) -> Choice {
    thread.turn.for_nothing.set(true);
    give_up(thread, records)
}

/// The same of a wait whose time limit passed while threads that could go on were held back, which the file `late` says.
pub(super) fn give_up_late(thread: &'static Thread, records: u64) -> Choice {
    mode::write_file(b"/late\0", format_args!("{}\n", thread.number.get()));
    give_up(thread, records)
}

/// Nobody is held back any more.
pub fn release_all() {
    if !controlled() {
        return;
    }
    LOCK.lock();
    CONTROLLED.store(false, SeqCst);
    for thread in threads::all() {
        thread.limit.store(u64::MAX, Relaxed);
        open(thread);
    }
    LOCK.unlock();
}

pub(super) fn open(thread: &Thread) {
    thread.turn.gate.fetch_add(1, SeqCst);
    // A thread that goes to sleep says so first, and does not sleep if the gate changed since it looked.
    if thread.turn.sleeps.load(SeqCst) {
        sys::futex_wake(&raw const thread.turn.gate, 1);
    }
}

/// A child process has one thread, which no thread holds back.
pub fn abandon() {
    CONTROLLED.store(false, SeqCst);
}

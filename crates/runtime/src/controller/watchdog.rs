//! A thread of ours that looks every few milliseconds whether the thread with the turn makes use of it.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering::Relaxed};

use crate::controller::limits::TICK;
use crate::controller::thread_turn::State;
use crate::controller::turns::{LOCK, controlled, running};
use crate::controller::{deadlock, dispatch, hold, release, replay, steer, take_turn};
use crate::feed::others;
use crate::hooks::held;
use crate::interpose::real;
use crate::interpose::signals::state;
use crate::lock;
use crate::patience::loses_turn;
use crate::sys;
use crate::text::{Text, say};
use crate::threads::{self, Thread};

static SAME: AtomicUsize = AtomicUsize::new(0);
static LAST: AtomicPtr<Thread> = AtomicPtr::new(core::ptr::null_mut());
static LAST_COUNT: AtomicU64 = AtomicU64::new(0);

/// The first thread is there: the watchdog gives it the turn.
pub fn start() {
    if !controlled() {
        return;
    }
    let mut pthread = 0;
    let before = state::block_all();
    let mut attributes = [0; 7];
    sys::set_stack_apart(&mut attributes);
    let attributes = attributes.as_ptr().cast();
    let mut create = || real::pthread_create(&mut pthread, attributes, watch, core::ptr::null_mut());
    let failed = threads::known().map_or(0, |thread| thread.quietly(&mut create));
    state::set_mask(before);
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
    let Some(thread) = running() else {
        if replay::nobody_runs() || steer::nobody_runs() || hold::nobody_runs() {
            dispatch();
        } else {
            deadlock::look();
        }
        return;
    };
    replay::somebody_runs();
    deadlock::somebody_runs();
    let count = thread.count();
    let this = core::ptr::from_ref(thread).cast_mut();
    let same = LAST.swap(this, Relaxed) == this && LAST_COUNT.swap(count, Relaxed) == count;
    let ticks = if same { SAME.load(Relaxed) + 1 } else { 0 };
    SAME.store(ticks, Relaxed);
    let sleeps = || sleeps_or_has_ended(thread.tid.load(Relaxed));
    if loses_turn(ticks, thread.in_lock.is_inside(), sleeps, lock::is_awaiting) {
        held::keep(thread);
        take_turn(thread);
    }
}

/// Whether the kernel says so. A thread can end by the system call alone, which the runtime does not see.
fn sleeps_or_has_ended(tid: c_int) -> bool {
    let path = Text::<64>::formatted(format_args!("/proc/self/task/{tid}/stat\0"));
    let file = match sys::open(path.bytes(), sys::READ_ONLY) {
        Ok(file) => file,
        Err(error) => return error == sys::ENOENT,
    };
    let mut text = [0u8; 256];
    let length = sys::read(file, &mut text);
    sys::close(file);
    // The state is the letter after the name in brackets, which may hold brackets itself.
    let end = text[..length].iter().rposition(|&byte| byte == b')');
    end.and_then(|end| text.get(end + 2)) == Some(&b'S')
}

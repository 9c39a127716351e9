//! What happens once: `pthread_once`, `call_once`, and the guards of C++ local statics.
//!
//! The states are those of the library, so that code which looks at them itself goes on working.

use core::ffi::c_int;
use core::sync::atomic::{
    AtomicI32, AtomicU8,
    Ordering::{Acquire, Release},
};

use super::initialisers::Entry;
use super::{interpose, tracked};
use crate::current::current;
use crate::hooks;
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::log;
use crate::mode;
use crate::record::Kind;
use crate::threads::{self, Thread};
use crate::waiting::{self, Bucket, Waiter};

const NEW: i32 = 0;
const RUNNING: i32 = 1;
const DONE: i32 = 2;

fn state(object: usize) -> &'static AtomicI32 {
    // SAFETY: the program's object.
    unsafe { &*(object as *const AtomicI32) }
}

/// How an initialisation ended.
fn over(made: bool) -> Kind {
    if made { Kind::OnceEnd } else { Kind::OnceFail }
}

/// Waits until somebody is through with the object, whose bucket is locked.
fn wait(thread: Option<&'static Thread>, bucket: &Bucket, object: usize) {
    let Some(thread) = thread else {
        bucket.unlock();
        crate::sys::sleep(100_000);
        return;
    };
    let waiter = Waiter::new(thread, object);
    bucket.push(&waiter);
    bucket.unlock();
    waiting::wait_to_end(&waiter, None);
}

/// Whether this thread is to run the initialiser.
fn enter(thread: Option<&'static Thread>, object: usize, place: usize) -> bool {
    loop {
        let bucket = waiting::lock(object);
        match state(object).load(Acquire) {
            NEW => {
                state(object).store(RUNNING, Release);
                if let Some(thread) = thread {
                    log::sync(thread, Kind::OnceBegin, place, object as u64, 0);
                }
                bucket.unlock();
                return true;
            }
            DONE => {
                if let Some(thread) = thread {
                    log::sync(thread, Kind::OncePass, place, object as u64, 0);
                }
                bucket.unlock();
                return false;
            }
            _ => wait(thread, bucket, object),
        }
    }
}

fn leave(thread: Option<&'static Thread>, object: usize, place: usize, next: i32) {
    let bucket = waiting::lock(object);
    state(object).store(next, Release);
    if let Some(thread) = thread {
        log::sync(thread, over(next == DONE), place, object as u64, 0);
    }
    bucket.release_all(object, 0);
    bucket.unlock();
}

/// Exceptions pass through: [`unwound`] then finds what is left behind.
unsafe extern "C" fn once(object: usize, initialise: extern "C" fn(), place: usize) -> c_int {
    let thread = tracked();
    if let Some(thread) = thread {
        thread.begin();
    }
    let mine = enter(thread, object, place);
    if let Some(thread) = thread {
        if mine {
            thread.once.push(Entry { object, place, frame: (&raw const mine) as usize });
        }
        thread.end();
    }
    if mine {
        initialise();
        finish(thread, object, place);
    }
    0
}

fn finish(thread: Option<&'static Thread>, object: usize, place: usize) {
    if let Some(thread) = thread {
        thread.once.pop();
        thread.begin();
    }
    leave(thread, object, place, DONE);
    if let Some(thread) = thread {
        thread.end();
    }
}

/// An exception arrived in a frame whose callees are all below this address: initialisers that were called from there
/// are over, and may be tried again.
#[inline(always)]
pub fn unwound(stack: usize) {
    if let Some(thread) = threads::known()
        && thread.once.depth.get() != 0
    {
        give_up_below(thread, stack);
    }
}

#[cold]
#[inline(never)]
fn give_up_below(thread: &'static Thread, stack: usize) {
    while let Some(entry) = thread.once.last().filter(|entry| entry.frame < stack) {
        thread.once.pop();
        thread.begin();
        leave(Some(thread), entry.object, entry.place, NEW);
        thread.end();
    }
}

/// Bytes of a guard: the first says that the object is there, the second that somebody makes it.
fn guard_bytes(guard: usize) -> (&'static AtomicU8, &'static AtomicU8) {
    // SAFETY: the program's guard, of 8 bytes.
    unsafe { (&*(guard as *const AtomicU8), &*((guard + 1) as *const AtomicU8)) }
}

/// The thread, inside of a hook; guards are ours whether recording is on or not.
fn begin() -> Option<&'static Thread> {
    let thread = if mode::get() == mode::OFF { None } else { current() };
    if let Some(thread) = thread {
        thread.begin();
    }
    thread
}

fn end(thread: Option<&'static Thread>) {
    if let Some(thread) = thread {
        thread.end();
    }
}

extern "C" fn guard_acquire(guard: usize, place: usize) -> c_int {
    let thread = begin();
    let (there, pending) = guard_bytes(guard);
    let mine = loop {
        let bucket = waiting::lock(guard);
        if there.load(Acquire) != 0 {
            if let Some(thread) = thread {
                log::sync(thread, Kind::OncePass, place, guard as u64, 0);
            }
            bucket.unlock();
            break false;
        }
        if pending.swap(1, Acquire) == 0 {
            if let Some(thread) = thread {
                log::sync(thread, Kind::OnceBegin, place, guard as u64, 0);
            }
            bucket.unlock();
            break true;
        }
        wait(thread, bucket, guard);
    };
    end(thread);
    c_int::from(mine)
}

fn guard_leave(guard: usize, place: usize, made: bool) {
    let thread = begin();
    let (there, pending) = guard_bytes(guard);
    let bucket = waiting::lock(guard);
    if made {
        match thread {
            // Instrumented code reads this byte before it comes here.
            Some(thread) => hooks::store_byte(thread, guard, 1),
            None => there.store(1, Release),
        }
    }
    pending.store(0, Release);
    if let Some(thread) = thread {
        log::sync(thread, over(made), place, guard as u64, 0);
    }
    bucket.release_all(guard, 0);
    bucket.unlock();
    end(thread);
}

extern "C" fn guard_release(guard: usize, place: usize) {
    guard_leave(guard, place, true);
}

extern "C" fn guard_abort(guard: usize, place: usize) {
    guard_leave(guard, place, false);
}

interpose! {
    pthread_once "rdx" => once, off pthread_once;
    __pthread_once "rdx" => once, off pthread_once;
    call_once "rdx" => once, off pthread_once;
    __cxa_guard_acquire "rsi" => guard_acquire;
    __cxa_guard_release "rsi" => guard_release;
    __cxa_guard_abort "rsi" => guard_abort;
}

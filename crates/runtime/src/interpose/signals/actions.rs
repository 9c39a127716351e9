//! `sigaction` and `signal`: what the program wants of a signal.

use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::state::{Action, DEFAULT, FATAL, IGNORE, ON_STACK, RESTART, SIGNALS, WISHES, bit, install};
use crate::interpose::{real, tracked};
use crate::sys::{self, EINVAL};

const ERROR: usize = usize::MAX;

/// `sigaction`.
#[unsafe(no_mangle)]
unsafe extern "C" fn sigaction(signal: c_int, new: *const c_void, old: *mut c_void) -> c_int {
    let library = 32..34; // signals that the library keeps for itself
    if !(1..SIGNALS as c_int).contains(&signal) || library.contains(&signal) || tracked().is_none() {
        return real::sigaction(signal, new, old);
    }
    let before = current(signal);
    if !new.is_null() {
        // SAFETY: the program's pointer.
        let result = unsafe { set(signal, *new.cast()) };
        if result != 0 {
            return result;
        }
    }
    if !old.is_null() {
        // SAFETY: the program's pointer.
        unsafe { *old.cast() = before };
    }
    0
}

/// What the program believes to be installed.
fn current(signal: c_int) -> Action {
    let mut action = Action::new(DEFAULT, 0);
    real::sigaction(signal, core::ptr::null(), (&raw mut action).cast());
    let wish = &WISHES[signal as usize];
    if wish.ours.load(Acquire) {
        action.handler = wish.handler.load(Acquire);
        action.flags = wish.flags.load(Relaxed);
        action.mask[0] = wish.mask.load(Relaxed);
    }
    action
}

fn set(signal: c_int, new: Action) -> c_int {
    let wish = &WISHES[signal as usize];
    wish.mask.store(new.mask[0], Relaxed);
    wish.flags.store(new.flags, Relaxed);
    wish.handler.store(new.handler, Release);
    match new.handler {
        IGNORE => plain(signal, &new),
        DEFAULT if FATAL.contains(&signal) => install(signal, ON_STACK, [0; 16]),
        DEFAULT => plain(signal, &new),
        _ => install(signal, new.flags, new.mask),
    }
}

fn plain(signal: c_int, action: &Action) -> c_int {
    WISHES[signal as usize].ours.store(false, Release);
    real::sigaction(signal, core::ptr::from_ref(action).cast(), core::ptr::null_mut())
}

/// `signal`, as BSD has it.
#[unsafe(no_mangle)]
unsafe extern "C" fn signal(number: c_int, handler: usize) -> usize {
    if !(1..SIGNALS as c_int).contains(&number) {
        sys::set_errno(EINVAL);
        return ERROR;
    }
    let mut new = Action::new(handler, RESTART);
    new.mask[0] = bit(number);
    let mut old = Action::new(DEFAULT, 0);
    // SAFETY: two actions.
    if unsafe { sigaction(number, (&raw const new).cast(), (&raw mut old).cast()) } != 0 {
        return ERROR;
    }
    old.handler
}

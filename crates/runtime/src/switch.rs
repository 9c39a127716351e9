//! Recording is switched off and on while the program runs.

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering::SeqCst};

use crate::interpose::signals::state;
use crate::log::window;
use crate::mode::{self, PAUSED, RECORDING};
use crate::{order, ownership};

/// Recording is switched by one at a time.
static SWITCHING: AtomicBool = AtomicBool::new(false);

/// Records from here on. A switch within a switch has no effect.
pub fn switch_on() {
    if SWITCHING.swap(true, SeqCst) {
        return;
    }
    if mode::get() == PAUSED {
        window::switched_on(order::next());
        mode::change(PAUSED, RECORDING);
    }
    SWITCHING.store(false, SeqCst);
}

/// Records nothing from here on.
pub fn switch_off() {
    window::become_partial();
    ownership::end(); // others write meanwhile, and nobody says so
    mode::change(RECORDING, PAUSED);
}

/// From here on this signal switches recording off and on.
pub fn listen(signal: c_int) {
    state::call_directly(signal, switch as *const () as usize);
}

extern "C" fn switch(_: c_int) {
    match mode::get() {
        PAUSED => switch_on(),
        _ => switch_off(),
    }
}

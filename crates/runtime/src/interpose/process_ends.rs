//! Where the recording of a process ends: after its last destructor, and in its children.

use super::signals::state;
use crate::controller;
use crate::hooks::occupied::Occupied;
use crate::log;
use crate::mode;
use crate::ownership;
use crate::record::{Kind, stop};
use crate::sys;
use crate::threads;

/// Makes a child process leave the recording before any code of the program runs in it, such as what `pthread_atfork` registers. A child
/// has only one of its parent's threads, so it must not wait for a turn.
pub fn prepare() {
    // SAFETY: handlers that stay as long as the process.
    unsafe { sys::__register_atfork(None, None, Some(child_starts), core::ptr::null_mut()) };
}

/// The process is a child of the recorded one.
pub(super) extern "C" fn child_starts() {
    if mode::get() != mode::OFF {
        ownership::end();
        mode::set(mode::OFF);
        controller::abandon();
        state::abandon();
    }
}

/// After the program's last destructor.
pub extern "C" fn finish() {
    if mode::get() == mode::OFF || !mode::ready() {
        return;
    }
    if let Some(thread) = threads::known() {
        thread.occupy();
        if mode::get() == mode::RECORDING {
            if controller::explores() {
                controller::stop_at_limit(thread); // others may go on before the end of the program
            }
            log::sync(thread, Kind::Exit, 0, thread.number.get(), 0);
        }
        log::close(thread, stop::END);
        controller::before_end(thread);
    }
    controller::finish();
}

/// Last of all that runs in a program.
#[used]
#[unsafe(link_section = ".fini_array.00001")]
static FINISH: extern "C" fn() = finish;

//! Signals. Handlers of the program are wrapped, so that the log says when they run and none runs inside of a hook;
//! those that would end the process are written down before they do.
//!
//! A signal that arrives inside of a hook is deferred to the hook's end, with all others blocked until then. A fault of the program's own
//! access there cannot wait: the access is undone (see `hooks::access`), and begun again if a handler repairs the cause.

mod actions;
mod deferred;
mod faults;
mod handling;
mod stack;
pub mod state;

pub use deferred::Deferred;
pub use stack::{thread_ends, thread_starts};

use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering::{Acquire, Relaxed};

use super::{arrivals, pending, real};
use crate::controller::{self, ANY_THREAD};
use crate::hooks::held;
use crate::mode;
use crate::siginfo::{CODE, FAULT_ADDRESS, TO_THREAD};
use crate::sys::{self, call};
use crate::threads::{self, Thread};
use handling::{again, call_handler, die, handle, is_time, synchronous};
use state::{Action, DEFAULT, FATAL, Handling, IGNORE, ON_STACK, WISHES, bit, install, set_mask};

static HANDLING: Handling =
    Handling { arrived, deliver: handling::deliver, come_again: handling::come_again, come_late: handling::come_late };

/// Installs what writes the end of the process down.
pub fn process_starts() {
    state::prepare(&HANDLING);
    for signal in FATAL {
        let mut before = Action::new(DEFAULT, 0);
        real::sigaction(signal, core::ptr::null(), (&raw mut before).cast());
        if before.handler == DEFAULT {
            install(signal, ON_STACK, [0; 16]);
        }
    }
}

/// Where a `ucontext_t` has the mask of blocked signals.
const CONTEXT_MASK: usize = 296;

/// Our handler, of all signals. Those of the program may jump out of it.
unsafe extern "C" fn arrived(signal: c_int, information: *mut c_void, context: *mut c_void) {
    let error = sys::errno();
    let thread = threads::known().filter(|_| mode::get() != mode::OFF);
    // SAFETY: the kernel's arguments, all through.
    unsafe {
        match thread {
            None => unrecorded(signal, information, context),
            Some(thread) if comes_elsewhere(thread, signal, information) => {}
            Some(thread) if goes_to_other(thread, signal, information) => {}
            Some(thread) if !thread.occupied() && is_time(thread, signal, synchronous(signal, information)) => {
                if synchronous(signal, information) {
                    held::faulted(thread, *information.cast::<u64>().add(FAULT_ADDRESS));
                }
                handle(thread, signal, information, context);
            }
            Some(thread) if synchronous(signal, information) => faults::fault(thread, signal, information, context),
            Some(thread) if !thread.occupied() => controller::take_away(thread.number.get(), information),
            Some(thread) => defer(thread, signal, information, context),
        }
    }
    sys::set_errno(error);
}

/// Whether a signal came from outside of the program in a replay that has such signals where the recording had them. It is over then.
///
/// # Safety
/// The kernel's description of a signal.
unsafe fn comes_elsewhere(thread: &'static Thread, signal: c_int, information: *const c_void) -> bool {
    if !controller::replaying() || !controller::following() {
        return false;
    }
    // SAFETY: the caller's promise.
    let code = unsafe { *information.cast::<c_int>().add(CODE) };
    let is_handled = WISHES[signal as usize].handler.load(Acquire) > IGNORE;
    let is_prodded = code == TO_THREAD && controller::due_alarm(thread) == Some(signal);
    if !is_handled || FATAL.contains(&signal) || !(arrivals::is_of_kernel(code) || is_prodded) {
        return false;
    }
    let comes_here = !thread.occupied() && controller::begin_alarm(thread, signal);
    if !(comes_here && again(thread, signal)) {
        // SAFETY: the caller's promise.
        unsafe { controller::take_away(ANY_THREAD, information) };
    }
    true
}

/// Whether another thread handles this signal to the process in the schedule that a replay follows. It gets the signal, then.
///
/// # Safety
/// The kernel's description of a signal.
unsafe fn goes_to_other(thread: &'static Thread, signal: c_int, information: *const c_void) -> bool {
    if !controller::replaying() || WISHES[signal as usize].handler.load(Acquire) <= IGNORE {
        return false;
    }
    // SAFETY: the caller's promise.
    let code = unsafe { *information.cast::<c_int>().add(CODE) };
    let other = if arrivals::may_go_to_process(code) { controller::other_handler(thread, signal) } else { None };
    let Some(other) = other else { return false };
    let (process, to) = (call!(GETPID, 0), other.tid.load(Relaxed));
    // The kernel lets a thread pass on what was queued; of what `kill` sent only that it came, not its `si_code`.
    call!(RT_TGSIGQUEUEINFO, process, to, signal, information) == 0 || call!(TGKILL, process, to, signal) == 0
}

/// A thread that is not recorded: the program's handler, or what would happen without us.
unsafe fn unrecorded(signal: c_int, information: *mut c_void, context: *mut c_void) {
    if WISHES[signal as usize].handler.load(Acquire) > IGNORE {
        // SAFETY: the kernel's arguments.
        return unsafe { call_handler(signal, information, context) };
    }
    // SAFETY: as above.
    die(signal, unsafe { synchronous(signal, information) });
}

/// A signal inside of a hook waits for its end; no other comes before that. The kernel may have begun to give several at once: it begins
/// with the last one, whose mask is that of a handler of the one before. Those wait in the kernel.
unsafe fn defer(thread: &'static Thread, signal: c_int, information: *mut c_void, context: *mut c_void) {
    let deferred = &thread.deferred;
    let mut blocked = FATAL.iter().fold(u64::MAX, |mask, &other| mask & !bit(other));
    // SAFETY: what the kernel gave, of these sizes; the thread's own memory.
    unsafe {
        if deferred.signal.get() == 0 {
            deferred.signal.set(signal);
            *deferred.information.get() = *information.cast();
            *deferred.context.get() = *context.cast();
        } else {
            blocked |= bit(signal);
            set_mask(blocked);
            pending::put(thread, signal, &*information.cast());
        }
        deferred.mask.set(core::mem::replace(&mut *mask_of(context), blocked));
    }
    thread.pending.set(true);
}

/// The mask of blocked signals, which the kernel sets when our handler returns.
unsafe fn mask_of(context: *mut c_void) -> *mut u64 {
    // SAFETY: the caller's `ucontext_t`.
    unsafe { context.cast::<u8>().add(CONTEXT_MASK).cast() }
}

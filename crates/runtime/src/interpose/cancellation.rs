//! When a thread that was cancelled begins to unwind.

use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::sent::{CANCELLATION, down};
use crate::controller::stop_at_limit;
use crate::log;
use crate::record::Kind;
use crate::sys::{self, NEXT};
use crate::threads::Thread;

/// Where the C library keeps, in a thread's descriptor, how far its cancellation is; 0 where that is not known.
static STATE: AtomicUsize = AtomicUsize::new(0);

/// Before the first thread.
pub fn prepare() {
    // SAFETY: a string; what is found are three numbers for debuggers, of a field its bits, how many there are, and its offset.
    unsafe {
        let field = sys::dlsym(NEXT, c"_thread_db_pthread_cancelhandling".as_ptr()).cast::<u32>();
        if let Some(&[32, 1, offset]) = field.cast::<[u32; 3]>().as_ref() {
            STATE.store(offset as usize, Relaxed);
        }
    }
}

/// Whether this thread, which somebody cancelled, unwinds because of that.
fn is_unwinding() -> bool {
    const DISABLED: u32 = 1;
    const CANCELLED: u32 = 8;
    const EXITING: u32 = 16;
    let offset = STATE.load(Relaxed);
    if offset == 0 {
        return true; // from the first moment at which it could
    }
    // SAFETY: the library's own description of the thread that runs here.
    let state = unsafe { ((sys::pthread_self() + offset) as *const u32).read_volatile() };
    state & (DISABLED | CANCELLED | EXITING) == CANCELLED | EXITING
}

/// A thread that was cancelled is about to write a record: if it unwinds, that comes after the cancellation. In the log this looks like a
/// signal handler without code, since it can come between any two instructions.
#[cold]
#[inline(never)]
pub fn notice(thread: &'static Thread) {
    if thread.cancellation.noticed.get() || !is_unwinding() {
        return;
    }
    thread.cancellation.noticed.set(true);
    log::sync(thread, Kind::HandlerBegin, 0, 0, 0);
    stop_at_limit(thread);
    down(thread, thread.number.get(), CANCELLATION, 0);
    stop_at_limit(thread);
    log::sync(thread, Kind::HandlerEnd, 0, 0, 0);
    stop_at_limit(thread);
}

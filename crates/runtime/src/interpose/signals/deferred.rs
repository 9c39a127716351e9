//! A signal that waits for the end of a hook, and what else a thread keeps of signals: plain data.

use core::cell::{Cell, UnsafeCell};
use core::ffi::c_int;

/// Words of a `ucontext_t`.
pub(super) const CONTEXT_WORDS: usize = 121;

/// A signal that waits, and what else a thread keeps.
#[repr(C)]
pub struct Deferred {
    /// The signal that waits, or 0.
    pub(super) signal: Cell<c_int>,
    pub(super) information: UnsafeCell<[u64; 16]>,
    pub(super) context: UnsafeCell<[u64; CONTEXT_WORDS]>,
    pub(super) mask: Cell<u64>,
    pub(super) interruptions: Cell<u32>,
    /// One more than the records that the thread had made when the latest handler ended; 0 before the first.
    handled_after: Cell<u64>,
    /// An address in the frame that runs the outermost handler, 0 if none runs.
    pub(super) handler: Cell<usize>,
    pub(super) stack: Cell<*mut u8>,
}

impl Deferred {
    /// Handlers that ran and do not restart calls.
    pub fn interruptions(&self) -> u32 {
        self.interruptions.get()
    }

    /// A handler has ended. The thread has made this number of records.
    pub(super) fn handled(&self, records: u64) {
        self.handled_after.set(records + 1);
    }

    /// Whether the thread, which has made this number of records, did nothing since a handler ended.
    pub fn has_just_handled(&self, records: u64) -> bool {
        self.handled_after.get() == records + 1
    }

    /// A jump to a frame with this stack pointer: whether it leaves all handlers.
    pub fn leave_handlers(&self, stack: usize) -> bool {
        let leaves = self.handler.get() != 0 && stack > self.handler.get();
        if leaves {
            self.handler.set(0);
        }
        leaves
    }
}

// SAFETY: a thread's own.
unsafe impl Sync for Deferred {}

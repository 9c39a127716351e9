//! What a thread accesses by itself: plain data.

use core::cell::Cell;
use core::sync::atomic::{
    AtomicBool, AtomicU32,
    Ordering::{Relaxed, SeqCst},
    compiler_fence,
};

use crate::record::COMPUTABLE;
use crate::record::own::{ADDRESS, HEADER, LINE_BITS, NUMBER, OWNER};

/// Bytes of a line.
pub(super) const LINE: u64 = 1 << LINE_BITS;
/// The number of a thread that owns nothing any more.
pub(super) const NO_OWNER: u32 = OWNER - 2;
/// Threads may own memory.
pub(super) static READY: AtomicBool = AtomicBool::new(false);

/// Whether threads may own memory.
pub fn ready() -> bool {
    READY.load(Relaxed)
}

/// What a thread accesses by itself.
#[repr(C)]
pub struct Own {
    /// Header of the record that it would have, marked as computable; 0 if it does nothing of the kind.
    header: Cell<u64>,
    address: Cell<u64>,
    /// Its number in owner words.
    pub(super) number: AtomicU32,
}

const _: () = {
    assert!(core::mem::offset_of!(Own, header) == HEADER);
    assert!(core::mem::offset_of!(Own, address) == ADDRESS);
    assert!(core::mem::offset_of!(Own, number) == NUMBER);
};

impl Own {
    /// The thread has its number.
    pub fn start(&self, number: u64) {
        self.number.store(if ready() { number as u32 } else { NO_OWNER }, Relaxed);
    }

    /// Says what is accessed from now on.
    #[inline(always)]
    pub fn begin(&self, header: u64, address: u64) {
        self.address.set(address);
        compiler_fence(SeqCst);
        self.header.set(header);
        compiler_fence(SeqCst);
    }

    /// Whether it still is: a fault of the access ends it.
    #[inline(always)]
    pub fn goes_on(&self, header: u64) -> bool {
        compiler_fence(SeqCst);
        self.header.get() == header
    }

    /// It is over.
    #[inline(always)]
    pub fn end(&self) {
        compiler_fence(SeqCst);
        self.header.set(0);
        compiler_fence(SeqCst);
    }

    /// Header and address of the access that is under way.
    pub fn under_way(&self) -> Option<(u64, u64)> {
        let header = self.header.get();
        (header != 0).then(|| (header & !COMPUTABLE, self.address.get()))
    }

    /// For other threads: the line that is accessed, if any.
    pub(super) fn line(&self) -> Option<u64> {
        // SAFETY: words that another thread writes.
        let header = unsafe { self.header.as_ptr().read_volatile() };
        compiler_fence(SeqCst);
        // SAFETY: as above.
        (header != 0).then(|| unsafe { self.address.as_ptr().read_volatile() } & !(LINE - 1))
    }
}

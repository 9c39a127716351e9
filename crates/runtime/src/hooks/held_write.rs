//! The write that a thread is about to make, as [`held`](super::held) keeps it: plain data.

use core::cell::Cell;
use core::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::sys::{self, PAGE};

/// A write that is not recorded yet. The thread's own, but for what [`keep`] reads and sets.
pub struct Held {
    /// 0: there is none.
    pub(super) bytes: AtomicU64,
    pub(super) address: AtomicU64,
    pub(super) place: AtomicU64,
    /// What it wrote, where that is known already.
    pub(super) value: AtomicU64,
    pub(super) known: AtomicBool,
    /// What was there before, where that is to be recorded; null otherwise.
    pub(super) before: Cell<*const u8>,
    /// Room for it, and how much.
    room: Cell<*mut u8>,
    room_bytes: Cell<usize>,
}

/// A write, taken out.
#[derive(Clone, Copy)]
pub struct Write {
    pub address: u64,
    pub bytes: u64,
    pub place: u64,
    pub(super) value: Option<u64>,
}

impl Write {
    pub const fn new(address: u64, bytes: u64, place: u64) -> Write {
        Write { address, bytes, place, value: None }
    }
}

impl Held {
    /// Whether there is none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.bytes.load(Relaxed) == 0
    }

    /// Puts a write in.
    #[inline(always)]
    pub fn hold(&self, write: Write) {
        self.address.store(write.address, Relaxed);
        self.place.store(write.place, Relaxed);
        self.known.store(false, Relaxed);
        self.bytes.store(write.bytes, Release);
    }

    /// Keeps what is there now. The write is held already: should its memory be none, this is where that shows.
    pub fn keep_before(&self) {
        let (bytes, address) = (self.bytes.load(Relaxed) as usize, self.address.load(Relaxed));
        if bytes > self.room_bytes.get() {
            if !self.room.get().is_null() {
                sys::unmap(self.room.get(), self.room_bytes.get());
            }
            let size = bytes.next_multiple_of(PAGE);
            let room = sys::map(size).unwrap_or_else(|| sys::die_by(sys::SIGABRT));
            self.room.set(room);
            self.room_bytes.set(size);
        }
        // SAFETY: the program is about to write there; there is room.
        unsafe { sys::memmove(self.room.get().cast(), address as *const _, bytes) };
        self.before.set(self.room.get());
    }

    /// Undoes [`take`](Held::take).
    pub fn put_back(&self, write: Write) {
        self.hold(write);
        if let Some(value) = write.value {
            self.value.store(value, Relaxed);
            self.known.store(true, Relaxed);
        }
    }

    /// Takes the write out.
    pub fn take(&self) -> Option<Write> {
        let bytes = self.bytes.swap(0, Acquire);
        let value = self.known.load(Acquire).then(|| self.value.load(Relaxed));
        (bytes > 0).then(|| Write {
            address: self.address.load(Relaxed),
            bytes,
            place: self.place.load(Relaxed),
            value,
        })
    }
}

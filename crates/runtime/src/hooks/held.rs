//! The write that a thread of a program of gcc's is about to make.
//!
//! gcc's hooks come before the access. At the thread's next event the written value is read back, and only then the write is recorded. If
//! one thread runs at a time, no other thread can have come in between.

use core::sync::atomic::{
    Ordering::{Acquire, Relaxed, Release},
    compiler_fence,
};

use super::held_write::Write;
use super::under_way::{enter, leave, reflect};
use super::word::{Word, by_size};
use crate::log::{self, put, seal};
use crate::record::{Kind, piece, stamp};
use crate::threads::Thread;

fn peek<W: Word>(address: u64) -> u64 {
    // SAFETY: the thread has written there, and sleeps.
    unsafe { W::read(address) }
}

/// The thread sleeps in the kernel, and others run meanwhile: what it wrote is what is there now.
pub fn keep(thread: &Thread) {
    let held = &thread.held;
    let (bytes, address) = (held.bytes.load(Acquire), held.address.load(Relaxed));
    if !matches!(bytes, 1 | 2 | 4 | 8) || held.known.load(Relaxed) {
        return;
    }
    let value = by_size!(bytes, peek(address));
    held.value.store(value, Relaxed);
    held.known.store(true, Release);
}

/// Records the write that the thread has made, if there is one. The thread is inside of a hook.
#[cold]
#[inline(never)]
pub fn settle(thread: &'static Thread) {
    let Some(write) = thread.held.take() else { return };
    let mut done = 0;
    while done < write.bytes {
        let bytes = piece(write.address + done, write.bytes - done);
        let value = write.value.filter(|_| bytes == write.bytes);
        let piece = Write { address: write.address + done, bytes, value, ..write };
        let before = thread.held.before.get();
        let before = (!before.is_null()).then(|| before.wrapping_add(done as usize));
        by_size!(piece.bytes, written(thread, piece, before));
        done += bytes;
    }
    thread.held.before.set(core::ptr::null());
}

/// Records a write of what is there now, unless another value is known, and what it replaced, where that was kept.
fn written<W: Word>(thread: &'static Thread, write: Write, before: Option<*const u8>) {
    let Write { address, place, value, .. } = write;
    let kind = if before.is_some() { W::REPLACE } else { W::STORE };
    let record = log::reserve_ordered(thread, kind.words());
    put(record, 1, address);
    seal(record, kind, place);
    let (record, order) = enter(thread, record, (address, W::BYTES), false);
    // SAFETY: memory that the program has just written.
    let value = value.unwrap_or_else(|| unsafe { W::read(address) });
    reflect::<W>(address, value);
    let (record, order) = leave(thread, record, order, (address, W::BYTES));
    put(record, 2, value);
    if let Some(before) = before {
        // SAFETY: a copy of what was there.
        put(record, 3, unsafe { W::read(before as u64) });
    }
    put(record, kind.words() - 1, order);
    thread.counted();
}

/// A fault at this address: if it was the write's own, it never took effect, which is what the log says then.
pub fn faulted(thread: &'static Thread, at: u64) {
    let (address, bytes) = (thread.held.address.load(Relaxed), thread.held.bytes.load(Relaxed));
    if at.wrapping_sub(address) >= bytes {
        return;
    }
    thread.held.bytes.store(0, Relaxed);
    thread.held.before.set(core::ptr::null());
    let kind = Kind::store(piece(address, bytes));
    let record = log::reserve_ordered(thread, kind.words());
    put(record, 1, address);
    put(record, kind.words() - 1, stamp(0, thread.count()));
    compiler_fence(Release);
    seal(record, kind, thread.held.place.load(Relaxed));
    thread.counted();
}

//! The critical section of a recorded access, under the lock of its lines.

use core::sync::atomic::{Ordering::SeqCst, compiler_fence};

use super::word::Word;
use crate::record::stamp;
use crate::threads::Thread;
use crate::{log, order, ownership};

/// Under the lock: the stamp of the access that is being recorded, and where its record is from now on.
#[inline(always)]
pub fn enter(thread: &'static Thread, record: *mut u64, (address, bytes): (u64, u64), claims: bool) -> (*mut u64, u64) {
    order::lock(address, bytes);
    ownership::open(thread, address, bytes, claims);
    let order = order::next();
    let record = if order >= order::STOPPED { log::retract(thread, record) } else { record };
    compiler_fence(SeqCst);
    thread.inflight.set(record);
    compiler_fence(SeqCst);
    (record, stamp(order, thread.count()))
}

/// Notes what memory holds after a recorded access, under its lock.
#[inline(always)]
pub fn reflect<W: Word>(address: u64, value: u64) {
    if ownership::covers(address) {
        // SAFETY: what is covered has a mirror.
        unsafe { W::write(ownership::mirror(address), value) };
    }
}

/// Ends the critical section of [`enter`]: the record and stamp that count, which are others if the access faulted and
/// a handler of the program repaired what was wrong.
#[inline(always)]
pub fn leave(thread: &'static Thread, record: *mut u64, order: u64, bytes: (u64, u64)) -> (*mut u64, u64) {
    compiler_fence(SeqCst);
    let now = thread.inflight.replace(core::ptr::null_mut());
    compiler_fence(SeqCst);
    order::unlock(bytes.0, bytes.1);
    if now == record { (record, order) } else { (now, again(now)) }
}

/// The record and stamp that count by now, as in [`leave`].
#[inline(always)]
pub fn current(thread: &'static Thread, record: *mut u64, order: u64) -> (*mut u64, u64) {
    compiler_fence(SeqCst);
    let now = thread.inflight.get();
    if now == record { (record, order) } else { (now, again(now)) }
}

#[cold]
fn again(record: *mut u64) -> u64 {
    log::stamp_of(record)
}

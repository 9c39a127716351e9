//! A fault inside of a hook: the current access did not take effect, and begins again if a handler of the program repairs the cause.

use core::ffi::{c_int, c_void};

use super::handling::handle;
use crate::hooks::held;
use crate::hooks::occupied::Occupied;
use crate::log;
use crate::order;
use crate::ownership;
use crate::record::{Kind, stamp};
use crate::siginfo::FAULT_ADDRESS;
use crate::threads::Thread;

/// A fault inside of a hook: of the program's access, or of an interposed function that got a wrong pointer.
pub(super) unsafe fn fault(thread: &'static Thread, signal: c_int, information: *mut c_void, context: *mut c_void) {
    // SAFETY: the kernel's arguments.
    held::faulted(thread, unsafe { *information.cast::<u64>().add(FAULT_ADDRESS) });
    note_own(thread);
    let record = thread.inflight.replace(core::ptr::null_mut());
    let access = (!record.is_null()).then(|| undo(thread, record));
    thread.busy.set(false);
    // SAFETY: the kernel's arguments.
    unsafe { handle(thread, signal, information, context) };
    thread.occupy();
    if let Some((address, bytes)) = access
        && !thread.failed.get()
    {
        redo(thread, record, address, bytes);
    }
}

/// An access without a record has to have one, since it did not take effect. Should a handler repair what was wrong, the
/// hook sees that and begins again.
fn note_own(thread: &'static Thread) {
    let Some((header, address)) = thread.own.under_way() else { return };
    let kind = Kind::from_header(header).unwrap_or(Kind::Load1);
    let record = log::reserve_ordered(thread, kind.words());
    log::put(record, 1, address);
    log::put(record, kind.words() - 1, stamp(0, thread.count()));
    log::seal(record, kind, header);
    thread.counted();
    thread.own.end();
}

/// An access did not take effect: its record stays, without an order. What it touches.
fn undo(thread: &Thread, record: *mut u64) -> (u64, u64) {
    // SAFETY: the record of the access under way: its header and address are written.
    let (header, address) = unsafe { (record.read_volatile(), record.add(1).read_volatile()) };
    let kind = Kind::from_header(header).unwrap_or(Kind::Load1);
    let bytes = kind.size().max(1) as u64;
    log::put(record, kind.words() - 1, stamp(0, thread.count()));
    thread.counted();
    order::unlock(address, bytes);
    (address, bytes)
}

/// It is about to be tried again: with a record of its own, since the handler may have written some.
fn redo(thread: &'static Thread, record: *mut u64, address: u64, bytes: u64) {
    let copy = log::repeat(thread, record);
    order::lock(address, bytes);
    ownership::open(thread, address, bytes, false);
    let order = order::next();
    let copy = if order < order::STOPPED { copy } else { log::retract(thread, copy) };
    log::set_stamp(copy, stamp(order, thread.count()));
    thread.inflight.set(copy);
}

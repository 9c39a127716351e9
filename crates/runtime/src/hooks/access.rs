//! Accesses to memory: performed here, each with its number in one step under the lock of its cache line.
//!
//! The record's address and header are written before the access, so that one that crashes is the last thing in the
//! log; its order and value only with it. While [`Thread::inflight`] is set the fault handler knows that there is an
//! access to undo (see `interpose::signals`).
//!
//! An access of a line that the thread owns (see `ownership`), at a site where the tools can compute address and value,
//! is left out of the log: it is performed and counted.

use core::sync::atomic::Ordering::Relaxed;

use super::under_way::{current, enter, leave, reflect};
use super::word::{Word, combine, mask};
use super::{follow, recording};
use crate::controller;
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::log::{self, put, seal, window};
use crate::mode;
use crate::ownership;
use crate::record::COMPUTABLE;
use crate::threads::{self, Thread};

/// Whether the tools can compute what an access at this site does.
#[inline(always)]
fn is_computable(site: u64) -> bool {
    site & COMPUTABLE != 0
}

#[inline(always)]
pub(super) fn load<W: Word>(thread: &'static Thread, address: u64, site: u64) -> u64 {
    let record = log::reserve_ordered(thread, 4);
    put(record, 1, address);
    seal(record, W::LOAD, site);
    let (record, order) = enter(thread, record, (address, W::BYTES), is_computable(site));
    // SAFETY: the program's access.
    let value = unsafe { W::read(address) };
    reflect::<W>(address, value);
    let (record, order) = leave(thread, record, order, (address, W::BYTES));
    put(record, 2, value);
    put(record, 3, order);
    thread.counted();
    value
}

#[inline(always)]
pub(super) fn store<W: Word>(thread: &'static Thread, address: u64, value: u64, site: u64) {
    if window::partial() {
        return replace::<W>(thread, address, value, site);
    }
    let record = log::reserve_ordered(thread, 4);
    put(record, 1, address);
    put(record, 2, value);
    seal(record, W::STORE, site);
    let (record, order) = enter(thread, record, (address, W::BYTES), is_computable(site));
    put(record, 3, order); // before the effect: who sees the value finds it in the log, whatever becomes of us
    // SAFETY: the program's access.
    unsafe { W::write(address, value) };
    reflect::<W>(address, value);
    leave(thread, record, order, (address, W::BYTES));
    thread.counted();
}

/// A write that also records what was there.
#[inline(never)]
fn replace<W: Word>(thread: &'static Thread, address: u64, value: u64, site: u64) {
    let record = log::reserve_ordered(thread, 5);
    put(record, 1, address);
    put(record, 2, value);
    seal(record, W::REPLACE, site);
    let (record, order) = enter(thread, record, (address, W::BYTES), false);
    // SAFETY: the program is about to write there.
    let before = unsafe { W::read(address) };
    let (record, order) = current(thread, record, order);
    put(record, 3, before);
    put(record, 4, order); // before the effect, as in `store`
    // SAFETY: the program's access.
    unsafe { W::write(address, value) };
    reflect::<W>(address, value);
    leave(thread, record, order, (address, W::BYTES));
    thread.counted();
}

/// A write by code that was not built by us: what it left behind, if nothing else has changed it since.
#[inline(always)]
pub(super) fn note<W: Word>(thread: &'static Thread, address: u64, site: u64) {
    let record = log::reserve_ordered(thread, 4);
    put(record, 1, address);
    seal(record, W::STORE, site);
    let (record, order) = enter(thread, record, (address, W::BYTES), false);
    // SAFETY: the program's memory.
    let value = unsafe { W::read(address) };
    reflect::<W>(address, value);
    let (record, order) = leave(thread, record, order, (address, W::BYTES));
    put(record, 2, value);
    put(record, 3, order);
    thread.counted();
}

/// A read-modify-write; `expected` is what a failure records.
#[inline(always)]
fn update<W: Word>(
    thread: &'static Thread,
    address: u64,
    expected: u64,
    site: u64,
    change: impl Fn(u64) -> Option<u64>,
) -> u64 {
    let record = log::reserve_ordered(thread, 5);
    put(record, 1, address);
    seal(record, W::UPDATE, site);
    let (record, order) = enter(thread, record, (address, W::BYTES), false);
    let old = loop {
        // SAFETY: the program's access. Code that is not instrumented may interfere: hence the exchange.
        let old = unsafe { W::read(address) };
        let (record, order) = current(thread, record, order);
        put(record, 2, old);
        let Some(new) = change(old) else {
            put(record, 3, expected);
            seal(record, W::FAILED, site);
            put(record, 4, order);
            reflect::<W>(address, old);
            break old;
        };
        put(record, 3, new);
        put(record, 4, order);
        // SAFETY: as above.
        if unsafe { W::exchange(address, old, new) } {
            reflect::<W>(address, new);
            break old;
        }
    };
    leave(thread, record, order, (address, W::BYTES));
    thread.counted();
    if controller::watching() && change(old).is_none() {
        controller::failed(thread, thread.count() - 1);
    }
    old
}

/// The same with recording off.
fn update_unrecorded<W: Word>(address: u64, change: impl Fn(u64) -> Option<u64>) -> u64 {
    loop {
        // SAFETY: the program's access.
        let old = unsafe { W::read(address) };
        // SAFETY: as above.
        if change(old).is_none_or(|new| unsafe { W::exchange(address, old, new) }) {
            return old;
        }
    }
}

/// The thread, if this access may be left out; it has said so then. `place` is the site with kind and flag.
#[inline(always)]
fn begin_own<W: Word>(address: u64, place: u64) -> Option<&'static Thread> {
    if !is_computable(place) || !address.is_multiple_of(W::BYTES) {
        return None;
    }
    let thread = threads::owner()?;
    thread.own.begin(place, address);
    if !ownership::is_own(thread, address) || thread.count() >= thread.limit.load(Relaxed) {
        thread.own.end();
        return None;
    }
    Some(thread)
}

/// It took effect.
#[inline(always)]
fn end_own(thread: &'static Thread) {
    thread.counted();
    thread.own.end();
    if thread.pending.get() {
        thread.end();
    }
}

/// A read without a record, if that is possible.
#[inline(always)]
pub(super) fn load_own<W: Word>(address: u64, place: u64) -> Option<u64> {
    let thread = begin_own::<W>(address, place)?;
    // SAFETY: the program's access; its mirror.
    let (value, known) = unsafe { (W::read(address), W::read(ownership::mirror(address))) };
    if value != known || !thread.own.goes_on(place) {
        thread.own.end();
        return None;
    }
    end_own(thread);
    Some(value)
}

/// A write without a record, if that is possible; whether it was.
#[inline(always)]
pub(super) fn store_own<W: Word>(address: u64, value: u64, place: u64) -> bool {
    let Some(thread) = begin_own::<W>(address, place) else { return false };
    // SAFETY: the program's access; its mirror.
    unsafe {
        W::write(address, value);
        if !thread.own.goes_on(place) {
            return false;
        }
        W::write(ownership::mirror(address), value);
    }
    end_own(thread);
    true
}

#[inline(never)]
pub fn load_hook<W: Word>(address: u64, site: u64) -> u64 {
    // SAFETY: the program's access.
    let Some(thread) = recording() else { return unsafe { W::read(address) } };
    thread.begin_access(W::LOAD, site, address, W::BYTES);
    let value = load::<W>(thread, address, site);
    thread.end();
    value
}

#[inline(never)]
pub fn store_hook<W: Word>(address: u64, value: u64, site: u64) {
    // SAFETY: the program's access.
    let Some(thread) = recording() else { return unsafe { W::write(address, value) } };
    thread.begin_access(W::STORE, site, address, W::BYTES);
    store::<W>(thread, address, value & mask::<W>(), site);
    thread.end();
}

#[inline(always)]
pub fn update_hook<W: Word>(address: u64, expected: u64, site: u64, change: impl Fn(u64) -> Option<u64>) -> u64 {
    let Some(thread) = recording() else { return update_unrecorded::<W>(address, change) };
    thread.begin_access(W::UPDATE, site, address, W::BYTES);
    let old = update::<W>(thread, address, expected, site, change);
    thread.end();
    old
}

// What is exported is small, so that it is cheap where nothing is recorded.
macro_rules! hooks {
    ($word:ty, $load:ident, $store:ident, $update:ident, $cas:ident) => {
        /// A read.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $load(address: u64, site: u64) -> u64 {
            if let Some(value) = load_own::<$word>(address, site) {
                return value;
            }
            if mode::get() == mode::OFF {
                // SAFETY: the program's access.
                return unsafe { <$word>::read(address) };
            }
            load_hook::<$word>(address, site)
        }

        /// A write.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $store(address: u64, value: u64, site: u64) {
            if store_own::<$word>(address, value, site) {
                return;
            }
            if mode::get() == mode::OFF {
                // SAFETY: the program's access.
                return unsafe { <$word>::write(address, value) };
            }
            store_hook::<$word>(address, value, site);
        }

        /// An atomic read-modify-write.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $update(address: u64, operand: u64, op: u64, site: u64) -> u64 {
            let operand = operand & mask::<$word>();
            update_hook::<$word>(address, 0, site, |old| Some(combine::<$word>(op, old, operand)))
        }

        /// A compare-and-swap.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $cas(address: u64, expected: u64, desired: u64, site: u64) -> u64 {
            let (expected, desired) = (expected & mask::<$word>(), desired & mask::<$word>());
            update_hook::<$word>(address, expected, site, |old| (old == expected).then_some(desired))
        }
    };
}

hooks!(u8, __foretrace_load1, __foretrace_store1, __foretrace_update1, __foretrace_cas1);
hooks!(u16, __foretrace_load2, __foretrace_store2, __foretrace_update2, __foretrace_cas2);
hooks!(u32, __foretrace_load4, __foretrace_store4, __foretrace_update4, __foretrace_cas4);
hooks!(u64, __foretrace_load8, __foretrace_store8, __foretrace_update8, __foretrace_cas8);

/// Called by inlined accesses: a signal waits for their end.
#[unsafe(no_mangle)]
pub extern "C" fn __foretrace_deliver() {
    if let Some(thread) = threads::owner() {
        thread.end();
    }
}

/// A write of a byte by an interposed function; the thread is inside of it.
pub fn store_byte(thread: &'static Thread, address: usize, value: u8) {
    if mode::get() == mode::PAUSED {
        // SAFETY: the caller's access.
        return unsafe { u8::write(address as u64, u64::from(value)) };
    }
    follow(thread);
    store::<u8>(thread, address as u64, u64::from(value), 0);
}

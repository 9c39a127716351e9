//! Accesses of memory in pieces of 1, 2, 4 or 8 bytes: copies, and what other hooks do.

use super::access::{load, load_own, note, store, store_own};
use super::recording;
use super::word::{Word, by_size};
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::record::{COMPUTABLE, header, piece_of_copy, piece_of_set};
use crate::sys;
use crate::threads::Thread;
fn load_counted<W: Word>(thread: &'static Thread, address: u64, site: u64) -> u64 {
    load_own::<W>(address, header(W::LOAD, site) | site & COMPUTABLE).unwrap_or_else(|| {
        thread.begin_access(W::LOAD, site, address, W::BYTES);
        let value = load::<W>(thread, address, site);
        thread.end();
        value
    })
}

fn store_counted<W: Word>(thread: &'static Thread, address: u64, value: u64, site: u64) {
    if !store_own::<W>(address, value, header(W::STORE, site) | site & COMPUTABLE) {
        thread.begin_access(W::STORE, site, address, W::BYTES);
        store::<W>(thread, address, value, site);
        thread.end();
    }
}

/// Reads a piece of 1, 2, 4 or 8 bytes; the thread is inside of a hook.
pub fn load_piece(thread: &'static Thread, address: u64, bytes: u64, site: u64) -> u64 {
    by_size!(bytes, load(thread, address, site))
}

/// Writes such a piece.
pub(super) fn store_piece(thread: &'static Thread, address: u64, value: u64, bytes: u64, site: u64) {
    by_size!(bytes, store(thread, address, value, site))
}

/// Reads a piece of 1, 2, 4 or 8 bytes; the thread is not inside of a hook.
fn load_piece_counted(thread: &'static Thread, address: u64, bytes: u64, site: u64) -> u64 {
    by_size!(bytes, load_counted(thread, address, site))
}

/// Writes such a piece.
fn store_piece_counted(thread: &'static Thread, address: u64, value: u64, bytes: u64, site: u64) {
    by_size!(bytes, store_counted(thread, address, value, site))
}

/// Notes that a piece was written; the thread is inside of a hook.
pub(super) fn note_piece(thread: &'static Thread, address: u64, bytes: u64, site: u64) {
    by_size!(bytes, note(thread, address, site))
}

/// Both halves of a piece are counted, so each asks the controller; the thread is not inside of a hook.
pub(super) fn copy_piece(thread: &'static Thread, to: u64, from: u64, bytes: u64, site: u64) {
    let value = load_piece_counted(thread, from, bytes, site);
    store_piece_counted(thread, to, value, bytes, site);
}

/// memmove.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __foretrace_copy(to: u64, from: u64, length: u64, site: u64) {
    let Some(thread) = recording() else {
        // SAFETY: the program's access.
        unsafe { sys::memmove(to as _, from as _, length as usize) };
        return;
    };
    let mut done = 0;
    while done < length {
        let (offset, bytes) = piece_of_copy(to, from, length, done);
        copy_piece(thread, to + offset, from + offset, bytes, site);
        done += bytes;
    }
}

/// memset.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __foretrace_set(to: u64, byte: u64, length: u64, site: u64) {
    let Some(thread) = recording() else {
        // SAFETY: the program's access.
        unsafe { sys::memset(to as _, byte as i32, length as usize) };
        return;
    };
    let value = (byte & 0xff) * 0x0101_0101_0101_0101;
    let mut done = 0;
    while done < length {
        let bytes = piece_of_set(to, length, done);
        store_piece_counted(thread, to + done, value & (u64::MAX >> (64 - 8 * bytes)), bytes, site);
        done += bytes;
    }
}

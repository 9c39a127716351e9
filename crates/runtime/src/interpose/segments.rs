//! System V shared memory.

use core::ffi::{c_int, c_void};

use super::mappings::{Piece, SEGMENTS, mapped, unmapped};
use super::{interpose, real, tracked};
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::log;
use crate::record::Kind;
use crate::sys::call;

/// The bytes of a segment.
fn size_of_segment(id: c_int) -> u64 {
    const STATUS: c_int = 2;
    const SIZE: usize = 6; // in words
    let mut segment = [0u64; 16];
    if call!(SHMCTL, id, STATUS, segment.as_mut_ptr()) < 0 { 0 } else { segment[SIZE] }
}

extern "C" fn shmat_(id: c_int, at: *const c_void, flags: c_int, place: usize) -> usize {
    const FAILED: usize = usize::MAX;
    let address = real::shmat(id, at, flags);
    if let Some(thread) = tracked().filter(|_| address != FAILED) {
        thread.begin_apart();
        let bytes = size_of_segment(id);
        log::sync(thread, Kind::Allocate, place, address as u64, bytes);
        mapped(thread, address as u64, Piece { file: (SEGMENTS, id as u64), offset: 0, bytes }, place);
        thread.end();
    }
    address
}

extern "C" fn shmdt_(address: usize, _: usize) -> c_int {
    if let Some(thread) = tracked() {
        thread.occupy();
        unmapped(address as u64);
        thread.end();
    }
    real::shmdt(address)
}

interpose! {
    shmat "rcx" => shmat_;
    shmdt "rsi" => shmdt_;
}

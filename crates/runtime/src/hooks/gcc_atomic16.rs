//! Atomic accesses of 16 bytes, as gcc's `-fsanitize=thread` calls them. (Those of code that clang built: `pair.rs`.)
//!
//! Records have 8 bytes at most, and two of them are not one step: so an access is recorded as a critical section, of a lock at
//! its address, and is one, too. No thread is stopped inside of it.

use core::arch::asm;

use super::{access, pieces, recording};
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::interpose::interpose;
use crate::log;
use crate::record::{ATOMIC_PLACE, Kind};
use crate::waiting;

const HALF: u64 = 8;

/// Compares and swaps; what was there.
///
/// # Safety
/// An address of 16 bytes, aligned, and a processor that has the instruction.
pub(super) unsafe fn swap(address: u64, old: u128, new: u128) -> u128 {
    let (low, high): (u64, u64);
    // SAFETY: the caller's promise. The compiler has rbx for itself.
    unsafe {
        asm!("xchg rbx, rsi", "lock cmpxchg16b [rdi]", "mov rbx, rsi", in("rdi") address,
            inout("rsi") new as u64 => _, in("rcx") (new >> 64) as u64, inout("rax") old as u64 => low,
            inout("rdx") (old >> 64) as u64 => high, options(nostack));
    }
    u128::from(high) << 64 | u128::from(low)
}

/// Makes of what is there, in one step, what `change` makes of it; what was there.
fn update(address: u64, change: impl Fn(u128) -> Option<u128>, look: impl Fn() -> u128) -> u128 {
    loop {
        let old = look();
        // SAFETY: the program's access, aligned as its type is; what else has operations of that type needs the instruction too.
        if unsafe { swap(address, old, change(old).unwrap_or(old)) } == old {
            return old;
        }
    }
}

/// What is there.
pub(super) fn peek(address: u64) -> u128 {
    // SAFETY: the program's access, as above.
    unsafe { swap(address, 0, 0) }
}

/// The same as `update`, with records of what was read, where that is part of it, and of what was written.
fn recorded(address: u64, place: u64, reads: bool, change: impl Fn(u128) -> Option<u128>) -> u128 {
    let Some(thread) = recording() else { return update(address, change, || peek(address)) };
    peek(address); // outside of the hook a fault is the program's own
    let halves = [address, address + HALF];
    thread.begin_access(Kind::Update8, place | ATOMIC_PLACE, address, 2 * HALF);
    let bucket = waiting::lock(address as usize);
    log::sync(thread, Kind::Acquire, place as usize, address, 0);
    let load = || {
        let [low, high] = halves.map(|half| pieces::load_piece(thread, half, HALF, place | ATOMIC_PLACE));
        u128::from(high) << 64 | u128::from(low)
    };
    let old = update(address, &change, || if reads { load() } else { peek(address) });
    if change(old).is_some() {
        halves.into_iter().for_each(|half| pieces::note_piece(thread, half, HALF, place | ATOMIC_PLACE));
    }
    log::sync(thread, Kind::Release, place as usize, address, 0);
    bucket.unlock();
    thread.end();
    old
}

extern "C" fn load(address: u64, _order: u64, place: u64) -> u128 {
    recorded(address, place, true, |_| None)
}

extern "C" fn store(address: u64, value: u128, _order: u64, place: u64) {
    recorded(address, place, false, |_| Some(value));
}

extern "C" fn exchange(address: u64, value: u128, _order: u64, place: u64) -> u128 {
    recorded(address, place, true, |_| Some(value))
}

extern "C" fn add(address: u64, operand: u128, _order: u64, place: u64) -> u128 {
    recorded(address, place, true, |old| Some(old.wrapping_add(operand)))
}

extern "C" fn sub(address: u64, operand: u128, _order: u64, place: u64) -> u128 {
    recorded(address, place, true, |old| Some(old.wrapping_sub(operand)))
}

extern "C" fn and(address: u64, operand: u128, _order: u64, place: u64) -> u128 {
    recorded(address, place, true, |old| Some(old & operand))
}

extern "C" fn nand(address: u64, operand: u128, _order: u64, place: u64) -> u128 {
    recorded(address, place, true, |old| Some(!(old & operand)))
}

extern "C" fn or(address: u64, operand: u128, _order: u64, place: u64) -> u128 {
    recorded(address, place, true, |old| Some(old | operand))
}

extern "C" fn xor(address: u64, operand: u128, _order: u64, place: u64) -> u128 {
    recorded(address, place, true, |old| Some(old ^ operand))
}

/// Compares with what `expected` points to, which gets what was found if that is something else. The place comes where the
/// order of failures was.
extern "C" fn cas(address: u64, expected: *const u128, desired: u128, _order: u64, place: u64) -> u64 {
    // SAFETY: the program's pointer.
    let wanted = unsafe { expected.read() };
    let found = swap_if(address, wanted, desired, place);
    if found != wanted {
        let (low, high) = (expected as u64, expected as u64 + HALF);
        access::store_hook::<u64>(low, found as u64, place | ATOMIC_PLACE);
        access::store_hook::<u64>(high, (found >> 64) as u64, place | ATOMIC_PLACE);
    }
    u64::from(found == wanted)
}

/// The place comes where the order was.
extern "C" fn swap_if(address: u64, expected: u128, desired: u128, place: u64) -> u128 {
    recorded(address, place, true, |old| (old == expected).then_some(desired))
}

interpose! {
    __tsan_atomic128_load "rdx" => load;
    __tsan_atomic128_store "r8" => store;
    __tsan_atomic128_exchange "r8" => exchange;
    __tsan_atomic128_fetch_add "r8" => add;
    __tsan_atomic128_fetch_sub "r8" => sub;
    __tsan_atomic128_fetch_and "r8" => and;
    __tsan_atomic128_fetch_nand "r8" => nand;
    __tsan_atomic128_fetch_or "r8" => or;
    __tsan_atomic128_fetch_xor "r8" => xor;
    __tsan_atomic128_compare_exchange_strong "r9" => cas;
    __tsan_atomic128_compare_exchange_weak "r9" => cas;
    __tsan_atomic128_compare_exchange_val "r9" => swap_if;
}

//! What gcc's `-fsanitize=thread` calls: for programs that are built without clang.
//!
//! Plain accesses are announced: a read is recorded with what is there, a write when it has happened (see
//! [`held`]). Atomic ones are made here, as any other access of ours. Places are return addresses.

use core::sync::atomic::{AtomicBool, Ordering::Relaxed, Ordering::SeqCst, fence};

use super::held_write::Write;
use super::word::{self, Word};
use super::{access, between, pieces, recording};
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::interpose::interpose;
use crate::log::{self, window};
use crate::record::{ATOMIC_PLACE, Kind, piece};
use crate::sys;
use crate::threads::Thread;

/// Some code of the program was built this way.
static PRESENT: AtomicBool = AtomicBool::new(false);

/// Called before `main` for each source file.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_init() {
    PRESENT.store(true, Relaxed);
}

/// Where the stack of the running thread is, if such code is there: the variables on it are not recorded one by one.
pub fn stack(thread: &'static Thread) -> Option<(u64, u64)> {
    if PRESENT.load(Relaxed) { thread.quietly(sys::own_stack) } else { None }
}

extern "C" fn entered(caller: u64, place: u64) {
    if let Some(thread) = recording() {
        thread.occupy();
        log::write(thread, Kind::Called, place, [caller]);
        thread.end();
    }
}

extern "C" fn left(place: u64) {
    if let Some(thread) = recording() {
        thread.occupy();
        log::write(thread, Kind::Returned, place, []);
        thread.end();
    }
}

fn read(address: u64, bytes: u64, place: u64) {
    let Some(thread) = recording() else { return };
    // In the copy of a struct the write was announced, and happens after this.
    let to_come = thread.held.take();
    let is_copy = |write: &Write| write.bytes == bytes && between::nothing_is_written(write.place, place);
    let (to_come, happened) = if to_come.as_ref().is_some_and(is_copy) { (to_come, None) } else { (None, to_come) };
    if let Some(write) = happened {
        thread.held.put_back(write);
    }
    thread.begin_access(Kind::load(bytes), place, address, bytes);
    let mut done = 0;
    while done < bytes {
        let piece = piece(address + done, bytes - done);
        pieces::load_piece(thread, address + done, piece, place);
        done += piece;
    }
    if let Some(write) = to_come {
        thread.held.hold(write);
    }
    thread.end();
}

fn write(address: u64, bytes: u64, place: u64) {
    let Some(thread) = recording() else { return };
    thread.begin_access(Kind::store(bytes), place, address, bytes);
    if bytes > 0 {
        thread.held.hold(Write::new(address, bytes, place));
        if window::partial() {
            thread.held.keep_before();
        }
    }
    thread.end();
}

extern "C" fn read_n<const BYTES: u64>(address: u64, place: u64) {
    read(address, BYTES, place);
}

extern "C" fn write_n<const BYTES: u64>(address: u64, place: u64) {
    write(address, BYTES, place);
}

extern "C" fn read_range(address: u64, bytes: u64, place: u64) {
    read(address, bytes, place);
}

extern "C" fn write_range(address: u64, bytes: u64, place: u64) {
    write(address, bytes, place);
}

/// A constructor or destructor is about to change the kind of an object.
extern "C" fn vptr_update(address: u64, _: u64, place: u64) {
    write(address, 8, place);
}

interpose! {
    __tsan_func_entry "rsi" => entered;
    __tsan_func_exit "rdi" => left;
    __tsan_vptr_read "rsi" => read_n::<8>;
    __tsan_vptr_update "rdx" => vptr_update;
    __tsan_read_range "rdx" => read_range;
    __tsan_write_range "rdx" => write_range;
}

macro_rules! plain {
    ($($bytes:literal: $($read:ident)* , $($write:ident)*;)*) => {
        $(interpose! {
            $($read "rsi" => read_n::<$bytes>;)*
            $($write "rsi" => write_n::<$bytes>;)*
        })*
    };
}

plain! {
    1: __tsan_read1 __tsan_volatile_read1, __tsan_write1 __tsan_volatile_write1;
    2: __tsan_read2 __tsan_unaligned_read2 __tsan_volatile_read2 __tsan_unaligned_volatile_read2,
       __tsan_write2 __tsan_unaligned_write2 __tsan_volatile_write2 __tsan_unaligned_volatile_write2;
    4: __tsan_read4 __tsan_unaligned_read4 __tsan_volatile_read4 __tsan_unaligned_volatile_read4,
       __tsan_write4 __tsan_unaligned_write4 __tsan_volatile_write4 __tsan_unaligned_volatile_write4;
    8: __tsan_read8 __tsan_unaligned_read8 __tsan_volatile_read8 __tsan_unaligned_volatile_read8,
       __tsan_write8 __tsan_unaligned_write8 __tsan_volatile_write8 __tsan_unaligned_volatile_write8;
    16: __tsan_read16 __tsan_unaligned_read16 __tsan_volatile_read16 __tsan_unaligned_volatile_read16,
        __tsan_write16 __tsan_unaligned_write16 __tsan_volatile_write16 __tsan_unaligned_volatile_write16;
}

extern "C" fn atomic_load<W: Word>(address: u64, _order: u64, place: u64) -> u64 {
    access::load_hook::<W>(address, place | ATOMIC_PLACE)
}

extern "C" fn atomic_store<W: Word>(address: u64, value: u64, _order: u64, place: u64) {
    access::store_hook::<W>(address, value, place | ATOMIC_PLACE);
}

/// `OP` is an operation of [`word::combine`].
extern "C" fn atomic_update<W: Word, const OP: u64>(address: u64, operand: u64, _order: u64, place: u64) -> u64 {
    let operand = operand & word::mask::<W>();
    access::update_hook::<W>(address, 0, place | ATOMIC_PLACE, |old| Some(word::combine::<W>(OP, old, operand)))
}

/// Compares with what `expected` points to, which gets what was found if that is something else.
extern "C" fn atomic_cas<W: Word>(
    address: u64,
    expected: u64,
    desired: u64,
    _order: u64,
    _failure: u64,
    place: u64,
) -> u64 {
    // SAFETY: the program's pointer.
    let wanted = unsafe { W::read(expected) };
    let found = atomic_swap_if::<W>(address, wanted, desired, 0, 0, place);
    if found != wanted {
        access::store_hook::<W>(expected, found, place | ATOMIC_PLACE);
    }
    u64::from(found == wanted)
}

extern "C" fn atomic_swap_if<W: Word>(
    address: u64,
    expected: u64,
    desired: u64,
    _order: u64,
    _failure: u64,
    place: u64,
) -> u64 {
    let (expected, desired) = (expected & word::mask::<W>(), desired & word::mask::<W>());
    access::update_hook::<W>(address, expected, place | ATOMIC_PLACE, |old| (old == expected).then_some(desired))
}

macro_rules! atomics {
    ($($word:ty: $load:ident $store:ident $exchange:ident $add:ident $sub:ident $and:ident $nand:ident $or:ident $xor:ident
        $strong:ident $weak:ident $value:ident;)*) => {
        $(interpose! {
            $load "rdx" => atomic_load::<$word>;
            $store "rcx" => atomic_store::<$word>;
            $exchange "rcx" => atomic_update::<$word, 0>;
            $add "rcx" => atomic_update::<$word, 1>;
            $sub "rcx" => atomic_update::<$word, 2>;
            $and "rcx" => atomic_update::<$word, 3>;
            $nand "rcx" => atomic_update::<$word, 4>;
            $or "rcx" => atomic_update::<$word, 5>;
            $xor "rcx" => atomic_update::<$word, 6>;
            $strong "r9" => atomic_cas::<$word>;
            $weak "r9" => atomic_cas::<$word>;
            $value "r9" => atomic_swap_if::<$word>;
        })*
    };
}

atomics! {
    u8: __tsan_atomic8_load __tsan_atomic8_store __tsan_atomic8_exchange __tsan_atomic8_fetch_add
        __tsan_atomic8_fetch_sub __tsan_atomic8_fetch_and __tsan_atomic8_fetch_nand __tsan_atomic8_fetch_or
        __tsan_atomic8_fetch_xor __tsan_atomic8_compare_exchange_strong __tsan_atomic8_compare_exchange_weak
        __tsan_atomic8_compare_exchange_val;
    u16: __tsan_atomic16_load __tsan_atomic16_store __tsan_atomic16_exchange __tsan_atomic16_fetch_add
        __tsan_atomic16_fetch_sub __tsan_atomic16_fetch_and __tsan_atomic16_fetch_nand __tsan_atomic16_fetch_or
        __tsan_atomic16_fetch_xor __tsan_atomic16_compare_exchange_strong __tsan_atomic16_compare_exchange_weak
        __tsan_atomic16_compare_exchange_val;
    u32: __tsan_atomic32_load __tsan_atomic32_store __tsan_atomic32_exchange __tsan_atomic32_fetch_add
        __tsan_atomic32_fetch_sub __tsan_atomic32_fetch_and __tsan_atomic32_fetch_nand __tsan_atomic32_fetch_or
        __tsan_atomic32_fetch_xor __tsan_atomic32_compare_exchange_strong __tsan_atomic32_compare_exchange_weak
        __tsan_atomic32_compare_exchange_val;
    u64: __tsan_atomic64_load __tsan_atomic64_store __tsan_atomic64_exchange __tsan_atomic64_fetch_add
        __tsan_atomic64_fetch_sub __tsan_atomic64_fetch_and __tsan_atomic64_fetch_nand __tsan_atomic64_fetch_or
        __tsan_atomic64_fetch_xor __tsan_atomic64_compare_exchange_strong __tsan_atomic64_compare_exchange_weak
        __tsan_atomic64_compare_exchange_val;
}

/// A fence: threads are sequentially consistent between their events anyway.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_atomic_thread_fence(_order: i32) {
    fence(SeqCst);
}

/// A fence against the thread's own signal handlers, which run between events.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_atomic_signal_fence(_order: i32) {}

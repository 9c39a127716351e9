//! Memory in one size: how it is read and written, and what records of that size are called.

use core::arch::asm;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst};

use crate::record::Kind;

/// A size. Each read and write is one instruction, at any alignment.
pub trait Word: Copy {
    const BYTES: u64;
    const LOAD: Kind;
    const STORE: Kind;
    const REPLACE: Kind;
    const UPDATE: Kind;
    const FAILED: Kind;
    unsafe fn read(address: u64) -> u64;
    unsafe fn write(address: u64, value: u64);
    unsafe fn exchange(address: u64, old: u64, new: u64) -> bool;
    fn signed(value: u64) -> i64;
}

macro_rules! word {
    ($int:ty, $signed:ty, $atomic:ty, $bytes:literal, $load:literal, $store:literal, $register:ident, $kinds:expr) => {
        impl Word for $int {
            const BYTES: u64 = $bytes;
            const LOAD: Kind = $kinds.0;
            const STORE: Kind = $kinds.1;
            const REPLACE: Kind = $kinds.4;
            const UPDATE: Kind = $kinds.2;
            const FAILED: Kind = $kinds.3;

            #[inline(always)]
            unsafe fn read(address: u64) -> u64 {
                let value: u64;
                // SAFETY: the program's access.
                unsafe { asm!($load, out(reg) value, in(reg) address, options(nostack, preserves_flags)) };
                value
            }

            #[inline(always)]
            unsafe fn write(address: u64, value: u64) {
                // SAFETY: the program's access.
                unsafe { asm!($store, in($register) value as $int, in(reg) address, options(nostack, preserves_flags)) }
            }

            #[inline(always)]
            unsafe fn exchange(address: u64, old: u64, new: u64) -> bool {
                // SAFETY: the program's access; x86 does it at any alignment.
                let atomic = unsafe { &*(address as *const $atomic) };
                atomic.compare_exchange(old as $int, new as $int, SeqCst, SeqCst).is_ok()
            }

            fn signed(value: u64) -> i64 {
                i64::from(value as $signed)
            }
        }
    };
}

word!(
    u8,
    i8,
    AtomicU8,
    1,
    "movzx {0:e}, byte ptr [{1}]",
    "mov byte ptr [{1}], {0}",
    reg_byte,
    (Kind::Load1, Kind::Store1, Kind::Update1, Kind::Failed1, Kind::Replace1)
);
word!(
    u16,
    i16,
    AtomicU16,
    2,
    "movzx {0:e}, word ptr [{1}]",
    "mov word ptr [{1}], {0:x}",
    reg,
    (Kind::Load2, Kind::Store2, Kind::Update2, Kind::Failed2, Kind::Replace2)
);
word!(
    u32,
    i32,
    AtomicU32,
    4,
    "mov {0:e}, dword ptr [{1}]",
    "mov dword ptr [{1}], {0:e}",
    reg,
    (Kind::Load4, Kind::Store4, Kind::Update4, Kind::Failed4, Kind::Replace4)
);
word!(
    u64,
    i64,
    AtomicU64,
    8,
    "mov {0}, qword ptr [{1}]",
    "mov qword ptr [{1}], {0}",
    reg,
    (Kind::Load8, Kind::Store8, Kind::Update8, Kind::Failed8, Kind::Replace8)
);

/// Calls the function for words of so many bytes: 1, 2, 4 or 8.
macro_rules! by_size {
    ($bytes:expr, $function:ident($($argument:expr),*)) => {
        match $bytes {
            1 => $function::<u8>($($argument),*),
            2 => $function::<u16>($($argument),*),
            4 => $function::<u32>($($argument),*),
            _ => $function::<u64>($($argument),*),
        }
    };
}
pub(super) use by_size;

/// What an update makes of the old value, by the position of its operation in the side-car's `UpdateOp`; an integer of any width,
/// with what it is as a signed one.
macro_rules! combined {
    ($op:expr, $old:expr, $operand:expr, $signed:expr) => {{
        let (old, operand, signed) = ($old, $operand, $signed);
        let by = |keep: bool| if keep { old } else { operand };
        match $op {
            0 => operand,
            1 => old.wrapping_add(operand),
            2 => old.wrapping_sub(operand),
            3 => old & operand,
            4 => !(old & operand),
            5 => old | operand,
            6 => old ^ operand,
            7 => by(signed(old) > signed(operand)),
            8 => by(signed(old) < signed(operand)),
            9 => by(old > operand),
            _ => by(old < operand),
        }
    }};
}
pub(super) use combined;

/// The same of a word.
#[inline(always)]
pub fn combine<W: Word>(op: u64, old: u64, operand: u64) -> u64 {
    combined!(op, old, operand, W::signed) & mask::<W>()
}

pub fn mask<W: Word>() -> u64 {
    u64::MAX >> (64 - 8 * W::BYTES)
}

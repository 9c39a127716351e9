//! Atomic accesses of 16 bytes by instrumented code: performed here in one step, with a record for each half, which have orders one
//! after the other.

use core::arch::asm;
use core::arch::x86_64::__m128i;

use super::gcc_atomic16::{peek, swap};
use super::recording;
use super::under_way::reflect;
use super::word::combined;
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::log::{self, put, seal, window};
use crate::order;
use crate::ownership;
use crate::record::{Kind, atomic16, stamp};
use crate::threads::Thread;

const BYTES: u64 = 16;
const HALF: u64 = 8;

/// An integer of 16 bytes as programs get it.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Halves {
    low: u64,
    high: u64,
}

fn whole(low: u64, high: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

fn halves(value: u128) -> [u64; 2] {
    [value as u64, (value >> 64) as u64]
}

/// Reads in one step.
fn read(address: u64) -> u128 {
    let value: __m128i;
    // SAFETY: the program's access, aligned as its type is. Processors that have `cmpxchg16b` and AVX do this in one step; of
    // recorded code the lock of the line keeps us apart in any case.
    unsafe {
        asm!("movdqa {}, [{}]", out(xmm_reg) value, in(reg) address, options(nostack, readonly, preserves_flags))
    };
    // SAFETY: 16 bytes each.
    unsafe { core::mem::transmute(value) }
}

/// An access: what [`pair`] says, and its operands.
struct Access {
    what: u64,
    first: u128,
    second: u128,
}

impl Access {
    /// What is there. A read needs no right to write.
    fn look(&self, address: u64) -> u128 {
        if self.what == atomic16::LOAD { read(address) } else { peek(address) }
    }

    /// What it makes of what is there, if it writes.
    fn change(&self, old: u128) -> Option<u128> {
        match self.what {
            atomic16::LOAD => None,
            atomic16::STORE => Some(self.first),
            atomic16::COMPARE_AND_SWAP => (old == self.first).then_some(self.second),
            update => Some(combined!(update - atomic16::UPDATE, old, self.first, |value: u128| value as i128)),
        }
    }

    /// The kind of its records, and the two words after the address, of each half.
    fn record(&self, old: u128) -> (Kind, [[u64; 2]; 2]) {
        let new = self.change(old);
        let (kind, (first, second)) = match (self.what, new) {
            (atomic16::LOAD, _) => (Kind::Load8, (old, 0)),
            (atomic16::STORE, _) if window::partial() => (Kind::Replace8, (self.first, old)),
            (atomic16::STORE, _) => (Kind::Store8, (self.first, 0)),
            (_, Some(new)) => (Kind::Update8, (old, new)),
            (_, None) => (Kind::Failed8, (old, self.first)),
        };
        let (first, second) = (halves(first), halves(second));
        (kind, [[first[0], second[0]], [first[1], second[1]]])
    }
}

/// Performs an access; what was there. `look` is called with what is there before each attempt.
fn perform(address: u64, access: &Access, mut look: impl FnMut(u128)) -> u128 {
    let mut old = access.look(address);
    loop {
        look(old);
        let Some(new) = access.change(old) else { return old };
        // SAFETY: the program's access, aligned as its type is.
        let found = unsafe { swap(address, old, new) };
        if found == old {
            return old;
        }
        old = found;
    }
}

fn recorded(thread: &'static Thread, address: u64, access: &Access, site: u64) -> u128 {
    access.look(address); // outside of the hook a fault is the program's own
    thread.begin_access(Kind::Update8, site, address, BYTES);
    let words = access.record(0).0.words(); // the same whether a compare-and-swap succeeds
    let room = log::reserve_together(thread, 2, 2 * words);
    order::lock(address, BYTES);
    ownership::open(thread, address, BYTES, false);
    let order = order::next_many(2);
    if order >= order::STOPPED {
        log::retract(thread, room);
    }
    let count = thread.count();
    let old = perform(address, access, |old| {
        if order < order::STOPPED {
            let (kind, halves) = access.record(old);
            write(room, kind, [address, site], [order, count], halves);
        }
    });
    let now = access.change(old).unwrap_or(old);
    for (half, offset) in halves(now).into_iter().zip([0, HALF]) {
        reflect::<u64>(address + offset, half);
    }
    order::unlock(address, BYTES);
    thread.counted();
    thread.counted();
    thread.end();
    old
}

/// Writes both records, the headers last, and of these the first one last: without it there is none.
fn write(room: *mut u64, kind: Kind, [address, site]: [u64; 2], [order, count]: [u64; 2], halves: [[u64; 2]; 2]) {
    let words = kind.words();
    for (index, [first, second]) in [(1, halves[1]), (0, halves[0])] {
        let record = room.wrapping_add(index as usize * words);
        put(record, 1, address + index * HALF);
        put(record, 2, first);
        if words > 4 {
            put(record, 3, second);
        }
        put(record, words - 1, stamp(order + index, count + index));
        seal(record, kind, site);
    }
}

/// An atomic access of 16 bytes: which, where, two words, of a compare-and-swap two more, and the site.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __foretrace_pair(
    what: u64,
    address: u64,
    a: u64,
    b: u64,
    c: u64,
    d: u64,
    site: u64,
) -> Halves {
    let access = Access { what, first: whole(a, b), second: whole(c, d) };
    let old = match recording() {
        Some(thread) => recorded(thread, address, &access, site),
        None => perform(address, &access, |_| {}),
    };
    let [low, high] = halves(old);
    Halves { low, high }
}

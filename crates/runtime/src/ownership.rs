//! Which memory only one thread touches: its accesses there need neither lock nor record.
//!
//! Each cache line has an owner word: no owner, a thread, or shared. A thread becomes the owner by a recorded access, under the
//! lock of the line. From then on it accesses the line without records (see `hooks::access`), until another thread needs the line. That
//! thread takes the line away, waits until no access of the owner is under way there, and records its own access. So the
//! unrecorded accesses of an owner come after all earlier records of other threads that touch the line, and before all later ones.
//!
//! The owner needs no atomic instruction, since the thief does the work. The owner announces what it is about to access, then checks
//! whether it still owns the line. The thief takes the line, makes every thread pass a barrier, then checks what the owner has
//! announced. One of the two sees the other.
//!
//! A mirror of memory holds for each byte what the last hooked access left there. Where memory differs from the mirror, code without
//! hooks has written, and a read is recorded. The walker knows the mirror too, so a read that agrees with it says nothing new.

pub mod own;

use core::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
};

use crate::order;
use crate::record::own::{LINE_BITS, MIRROR, OWNER, OWNERS, SKEW};
use crate::sys::{self, call};
use crate::threads::{self, Thread};
use own::{LINE, NO_OWNER, READY};

/// Parts of the address space that have owners and mirrors, by their bits from this one on: where programs, their heaps,
/// libraries and stacks are as long as the kernel does not randomise addresses.
const PART_BITS: u32 = 41;
const PARTS: [u64; 3] = [0, 42, 63];
const OWNERS_BYTES: u64 = 1 << 43;
const GROUP: u64 = 4096;

/// The parts in use, a bit for each: none while accesses are all recorded.
static PARTS_IN_USE: AtomicU64 = AtomicU64::new(0);

/// In an owner word in place of a number. Above the number stands how often the line was taken away.
const NOBODY: u32 = 0;
/// It is being taken away.
const MOVING: u32 = OWNER - 1;
/// It changes hands too often: all accesses are recorded, until one thread makes many in a row.
const SHARED: u32 = OWNER;
/// It has another address, too: all accesses are recorded, always.
const NEVER: u32 = OWNER - 3;
const THEFT: u32 = 1 << 24;
const MOST_THEFTS: u32 = 3;
/// So many times in a row a thread accesses a shared line before it owns it again: about what taking it away costs.
const ALONE: u32 = 256;

/// Makes room for owners and mirrors. Where the system does not let us, every access is recorded.
pub fn start() {
    if !sys::prepare_barrier() || !sys::map_at(OWNERS, OWNERS_BYTES) {
        return;
    }
    let mut parts = 0;
    for part in PARTS {
        if sys::map_at(part << PART_BITS ^ MIRROR, (1 << PART_BITS) + SKEW) {
            parts |= 1 << part;
        }
    }
    PARTS_IN_USE.store(parts, SeqCst);
    READY.store(true, SeqCst);
}

/// From now on nothing is left out.
pub fn end() {
    READY.store(false, SeqCst);
    PARTS_IN_USE.store(0, SeqCst);
    threads::all().for_each(|thread| thread.own.number.store(NO_OWNER, SeqCst));
}

/// Whether memory there has an owner and a mirror.
#[inline(always)]
pub fn covers(address: u64) -> bool {
    let part = address >> PART_BITS;
    part < u64::from(u64::BITS) && PARTS_IN_USE.load(Relaxed) >> part & 1 != 0
}

/// Where the mirror of an address is that is covered.
#[inline(always)]
pub fn mirror(address: u64) -> u64 {
    (address ^ MIRROR) + SKEW
}

/// Whether an access lies in one line.
#[inline(always)]
pub fn in_one_line(address: u64, bytes: u64) -> bool {
    address % LINE + bytes <= LINE
}

#[inline(always)]
fn owner(address: u64) -> &'static AtomicU32 {
    let offset = address >> (LINE_BITS - 2) & (OWNERS_BYTES - 1) & !3;
    // SAFETY: every address that a process can have has its word, mapped for good.
    unsafe { &*((OWNERS + offset) as *const AtomicU32) }
}

/// Whether the line of an address is a thread's own: then it is covered.
#[inline(always)]
pub fn is_own(thread: &Thread, address: u64) -> bool {
    owner(address).load(Relaxed) & OWNER == thread.own.number.load(Relaxed)
}

/// Before a recorded access, under the lock of its lines: afterwards no other thread owns any of them. With `claims` the
/// thread then owns one that had no owner.
#[inline(always)]
pub fn open(thread: &'static Thread, address: u64, bytes: u64, claims: bool) {
    if !covers(address) {
        return;
    }
    open_line(thread, address, claims);
    if !in_one_line(address, bytes) && covers(address + bytes - 1) {
        open_line(thread, address + bytes - 1, claims);
    }
}

#[inline(always)]
fn open_line(thread: &'static Thread, address: u64, claims: bool) {
    let word = owner(address).load(Acquire);
    let by = word & OWNER;
    if by == SHARED {
        if order::times_in_a_row(address, thread.number.get()) >= ALONE && claims {
            change(address, word, word & !OWNER | thread.number.get() as u32);
        }
        return;
    }
    if by == thread.number.get() as u32 || by == NOBODY && !claims {
        return;
    }
    open_other(thread, address, claims);
}

#[cold]
#[inline(never)]
fn open_other(thread: &'static Thread, address: u64, claims: bool) {
    loop {
        let word = owner(address).load(Acquire);
        match word & OWNER {
            NOBODY if !claims => return,
            NOBODY if word / THEFT >= MOST_THEFTS => {
                if change(address, word, SHARED) {
                    return;
                }
            }
            NOBODY => {
                if change(address, word, word | thread.number.get() as u32) {
                    return;
                }
            }
            SHARED | NEVER => return,
            MOVING => {
                call!(SCHED_YIELD, 0);
            }
            by if u64::from(by) == thread.number.get() => return,
            by => take_away(thread, address, by),
        }
    }
}

fn change(address: u64, from: u32, to: u32) -> bool {
    owner(address).compare_exchange(from, to, AcqRel, Relaxed).is_ok()
}

/// Takes a line from its owner; with all that it owns of the lines around it, if one of them was taken last time.
fn take_away(thread: &'static Thread, address: u64, by: u32) {
    let group = address & !(GROUP - 1);
    let neighbours = thread.stolen.replace(group).abs_diff(group) <= GROUP;
    let line = address & !(LINE - 1);
    let mut taken = 0u64;
    for index in 0..GROUP / LINE {
        let other = group + index * LINE;
        let word = owner(other).load(Relaxed);
        let wanted = other == line || neighbours;
        if wanted && word & OWNER == by && change(other, word, word & !OWNER | MOVING) {
            taken |= 1 << index;
        }
    }
    if taken == 0 {
        return;
    }
    sys::barrier_everywhere();
    wait_until_gone(by, group, taken);
    for index in (0..GROUP / LINE).filter(|index| taken >> index & 1 != 0) {
        let other = group + index * LINE;
        let word = owner(other).load(Relaxed) & !OWNER;
        let counted = if other == line { word.saturating_add(THEFT) } else { word };
        owner(other).store(counted, Release);
    }
}

/// Waits until an owner accesses none of these lines of a group.
fn wait_until_gone(by: u32, group: u64, taken: u64) {
    const SPINS: u32 = 1000;
    let Some(owner) = threads::by_number(u64::from(by)) else { return };
    let inside = |line: u64| line & !(GROUP - 1) == group && taken >> ((line - group) / LINE) & 1 != 0;
    let mut spins = 0;
    while owner.own.line().is_some_and(inside) {
        core::hint::spin_loop();
        spins += 1;
        if spins > SPINS {
            call!(SCHED_YIELD, 0);
        }
    }
}

/// Memory came into being that may have other addresses: no thread ever owns it.
pub fn give_up(address: u64, bytes: u64) {
    if !covers(address) || !covers(address + bytes) {
        return;
    }
    let mut line = address & !(LINE - 1);
    while line < address + bytes {
        owner(line).store(NEVER, Release);
        line += LINE;
    }
}

/// Memory came into being: whose lines it has before does not matter any more.
pub fn renew(address: u64, bytes: u64) {
    const MOST: u64 = 64 << 10;
    if bytes > MOST || !covers(address) || !covers(address + bytes) {
        return;
    }
    let mut line = address.next_multiple_of(LINE);
    while line + LINE <= address + bytes {
        let word = owner(line).load(Relaxed);
        if word != NOBODY && matches!(word & OWNER, SHARED | NOBODY) {
            change(line, word, NOBODY);
        }
        line += LINE;
    }
}

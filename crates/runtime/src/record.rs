//! The log of a recorded thread: its layout, shared by the runtime that writes and the tools that read.
//!
//! A log is a file of little-endian 64-bit words: [`FileHeader`], then records one after the other. A record starts with its header word,
//! which is written last. (The header of an access is written before the access, and its order after it.) So a log is whole up to its first
//! zero header, whatever became of the process. A header holds the record's [`Kind`] in its top 8 bits. The 56 bits below say where in the
//! program the record comes from: for instrumented code a [`Site`], for interposed functions the address that they return to.
//!
//! Records that are *ordered* end with a [`stamp`]: a sequence number, unique in the process, from 1, and the lower bits of the thread's
//! count before the record. The records of all threads, sorted by the sequence number, are in the order in which they took effect. The
//! number is zero for an access that crashed and never took effect. (If a handler of the program repairs the cause, the handler's records
//! follow, and the access has a second record with an order.)
//!
//! An access of memory that only its own thread touches may be *left out*, if its address and value can be computed: it has no record. It
//! took effect after the ordered record of its thread before it, and before all later records of other threads that touch its memory. These
//! are *counted*: ordered records except those of the allocator (records of order zero count, too), and accesses that were left out. A
//! schedule can stop a thread at the k-th of them, from 0 (`at` of the trace format). [`FileHeader::count`] is their number so far. The
//! stamps show how many accesses were left out before each record. An access that was left out reads what the last access before it left at
//! each of its bytes, or zero if there was none.

mod kind;

pub use kind::Kind;

/// First word of a log file.
pub const MAGIC: u64 = u64::from_le_bytes(*b"ftlog\0\0\x03");

/// The words that a log file starts with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct FileHeader {
    /// [`MAGIC`], which holds the format's version in its last byte.
    pub magic: u64,
    /// The thread's number in this process, from 1 in order of creation.
    pub thread: u64,
    /// The number of the thread that created it, 0 for the first.
    pub parent: u64,
    /// Which child of its parent it is, from 1; 0 for the first thread.
    pub nth: u64,
    /// The address of its start function, 0 for the first thread.
    pub start: u64,
    /// Counted things that the thread did, kept up to date while it runs.
    pub count: u64,
    /// For later versions.
    pub reserved: [u64; 2],
}

/// Words of [`FileHeader`].
pub const HEADER_WORDS: usize = 8;

/// A place in instrumented code: an instruction or a function (its entry) of a compilation unit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Site(pub u64);

impl Site {
    /// Bits of the number within the unit.
    pub const LOCAL_BITS: u32 = 24;

    /// The site of this number in this unit.
    pub const fn new(unit: u32, local: u32) -> Site {
        Site((unit as u64) << Site::LOCAL_BITS | local as u64)
    }

    /// The compilation unit, a hash of what it was made from.
    pub const fn unit(self) -> u32 {
        (self.0 >> Site::LOCAL_BITS) as u32
    }

    /// The number within the unit.
    pub const fn local(self) -> u32 {
        self.0 as u32 & ((1 << Site::LOCAL_BITS) - 1)
    }
}

/// The word of [`FileHeader`] that is its count.
pub const COUNT_WORD: usize = 5;

/// In the site that a hook is given, above it: the tools can compute the address of the access, and what it writes. Between
/// the two the hook of a single access is then given the [`Kind`] of its record.
pub const COMPUTABLE: u64 = 1 << 63;

/// In the size of a block that was allocated: it holds what a freed one left there, and not zeros.
pub const LEFT_OVER: u64 = 1 << 63;

/// Bits of a stamp that are the order.
pub const ORDER_BITS: u32 = 47;
/// How many counted things may be between two ordered records without a `Skip`.
pub const MOST_LEFT_OUT: u64 = 0xffff;
const COUNT_SHIFT: u32 = 48;

/// The last word of an ordered record of a thread that did `count` counted things before. It is never 0, so that a record
/// that was not finished can be told from one without effect.
pub const fn stamp(order: u64, count: u64) -> u64 {
    let without_effect = (order == 0) as u64;
    count << COUNT_SHIFT | without_effect << ORDER_BITS | order
}

/// The order in a stamp.
#[inline]
pub const fn order_of(stamp: u64) -> u64 {
    stamp & ((1 << ORDER_BITS) - 1)
}

/// The count in a stamp, of a thread that has done `least` counted things at least, and not many more. Nothing where the
/// stamp was never written.
#[inline]
pub const fn count_of(stamp: u64, least: u64) -> Option<u64> {
    if stamp == 0 {
        return None;
    }
    Some(least + ((stamp >> COUNT_SHIFT).wrapping_sub(least) & MOST_LEFT_OUT))
}

/// Bytes of the next piece at an address with so many left to go: a power of two, aligned.
pub const fn piece(address: u64, left: u64) -> u64 {
    let aligned = if address.trailing_zeros() < 3 { 1 << address.trailing_zeros() } else { 8 };
    if left >= aligned { aligned } else { 1 << left.ilog2() }
}

/// The next piece of a copy of `length` bytes when so many are done: its offset and how many bytes it has.
pub const fn piece_of_copy(to: u64, from: u64, length: u64, done: u64) -> (u64, u64) {
    let left = length - done;
    if to > from && to - from < length {
        let bytes = piece(to.wrapping_add(left), left);
        return (left - bytes, bytes);
    }
    (done, piece(to.wrapping_add(done), left))
}

/// How many bytes the next piece of a set of `length` bytes has when so many are done.
pub const fn piece_of_set(to: u64, length: u64, done: u64) -> u64 {
    piece(to.wrapping_add(done), length - done)
}

/// What code that is inlined into programs knows of the runtime, to access a thread's own memory.
pub mod own {
    /// Where owner words start: four bytes for each line that there may be.
    pub const OWNERS: u64 = 1 << 44;
    /// Bits of an address within a line.
    pub const LINE_BITS: u32 = 6;
    /// Of an owner word, the number of the thread.
    pub const OWNER: u32 = (1 << 24) - 1;
    /// The mirror of an address has this bit the other way round, and lies [`SKEW`] bytes further.
    pub const MIRROR: u64 = 1 << 45;
    /// Makes the low bits of an address and its mirror differ: processors guess by them which store a load waits for.
    pub const SKEW: u64 = 0x840;

    /// In a thread: the site of the access that is under way, as hooks get it.
    pub const HEADER: usize = 0;
    /// Its address.
    pub const ADDRESS: usize = 8;
    /// The thread's number in owner words, 4 bytes.
    pub const NUMBER: usize = 16;
    /// Not 0 if a signal waits, 1 byte.
    pub const PENDING: usize = 24;
    /// At this count the thread has to ask the controller.
    pub const LIMIT: usize = 32;
    /// Where it counts.
    pub const COUNTER: usize = 40;
}

/// Bits of a header below its kind.
pub const PLACE_BITS: u32 = 56;

/// The header word of a record.
pub const fn header(kind: Kind, place: u64) -> u64 {
    (kind as u64) << PLACE_BITS | place & ((1 << PLACE_BITS) - 1)
}

/// Set in the place of accesses by code with gcc's hooks that the hook performed: the atomic ones. The rest is the address that
/// the hook returned to.
pub const ATOMIC_PLACE: u64 = 1 << (PLACE_BITS - 1);

/// What the hook for atomic accesses of 16 bytes is asked for.
pub mod atomic16 {
    /// A read.
    pub const LOAD: u64 = 0;
    /// A write.
    pub const STORE: u64 = 1;
    /// A compare-and-swap.
    pub const COMPARE_AND_SWAP: u64 = 2;
    /// The first read-modify-write; the others follow in the order of the side-car's `UpdateOp`.
    pub const UPDATE: u64 = 3;
}

/// In a schedule, in place of the number of a signal: a thread unwinds here since it was cancelled.
pub const BY_CANCELLATION: u64 = 128;

/// In a schedule, with the number of a signal: the program sent it.
pub const SENT: u64 = 256;

/// Semaphores from this address on are pipes and event counters, 16 bytes for each in the order of their first use; no
/// memory has such an address.
pub const CHANNELS: u64 = 0x7100_0000_0000_0000;

/// Barriers from this address on, 16 bytes for each channel: calls on a pipe or queue meet the calls before them there. A `Depart` has up
/// to two rounds, the second in the upper half of its word, 0 for none. They are orders of this run's path alone.
pub const MESSAGES: u64 = 0x7a00_0000_0000_0000;
/// Where such barriers end.
pub const MESSAGES_END: u64 = 0x7b00_0000_0000_0000;

/// Locks from this number on: those whose functions have no parameter for the lock. No memory has such an address either.
pub const LOCKS: u64 = 0x7600_0000_0000_0000;

/// The objects at which the threads of an OpenMP team meet: 16 of these numbers for each team, from 1.
pub const TEAMS: u64 = 0x7700_0000_0000_0000;

/// Something sent to other programs is an `Arrive` at this object, and input from them a `Depart`. The round is the number of what was
/// sent, or the last one that what comes may depend on.
pub const OUTSIDE: u64 = 0x7200_0000_0000_0000;

/// Semaphores from this address on are signals to threads of the program: 128 for each thread, in the order of their numbers, after those
/// to the process. Each signal has 16 bytes; signal 0 is cancellation.
pub const NOTICES: u64 = 0x7300_0000_0000_0000;

/// Semaphores from this address on are those of System V, 16 bytes for each number of each set.
pub const SEMAPHORES: u64 = 0x7400_0000_0000_0000;

/// Rwlocks from this address on are locks of open files, 16 bytes for each file.
pub const FILE_LOCKS: u64 = 0x7500_0000_0000_0000;

/// A `Busy` of an object from this address on means that a thread tried to join another one, which had not ended as far as it could see.
/// The distance from this address is that thread's number.
pub const TRIED_JOINS: u64 = 0x7800_0000_0000_0000;
/// Where such objects end.
pub const TRIED_JOINS_END: u64 = 0x7900_0000_0000_0000;

/// In the second word of what takes a lock, counts a semaphore down, wakes or joins: the call might have come back without it. A
/// `Wake` that no signal caused does not have it.
pub const TRIED: u64 = 1 << 62;

/// The mark of a call that might have come back without what it did.
pub const fn tried_if(tried: bool) -> u64 {
    if tried { TRIED } else { 0 }
}

/// In the second word of `ReadLock`: readers leave the lock to a writer who waits.
pub const AFTER_WRITERS: u64 = 1 << 61;

/// Second word of a `Wake` by time-out.
pub const WOKEN_BY_TIMEOUT: u64 = 0;
/// Second word of a `Wake` for no reason.
pub const WOKEN_SPURIOUSLY: u64 = u64::MAX;

/// Second word of `Unseen`: the address of what the object is called, 0 for anything, and what the call does to the object if not everything.
pub mod object {
    /// The call only looks: it changes nothing.
    pub const LOOKS: u64 = 1 << 61;
    /// The call only adds to the object, and does not see what others add.
    pub const ADDS: u64 = 1 << 62;
    /// A signal may come of the call, at any place of the program.
    pub const INTERRUPTS: u64 = 1 << 60;

    /// What the object is called.
    pub const fn name(word: u64) -> u64 {
        word & !(LOOKS | ADDS | INTERRUPTS)
    }

    /// Whether the call does only some of what can be done to the object.
    pub const fn is_partial(word: u64) -> bool {
        word & (LOOKS | ADDS) != 0
    }

    /// Whether two calls of one object may order the threads that made them.
    pub const fn order(one: u64, other: u64) -> bool {
        let (one, other) = (one & !INTERRUPTS, other & !INTERRUPTS);
        name(one) == name(other) && (one != other || !is_partial(one))
    }
}

/// Second word of `Acquire`.
pub mod nature {
    /// The holder may take it again.
    pub const RECURSIVE: u64 = 1;
    /// The end of its holder gives it back.
    pub const ROBUST: u64 = 2;
    /// The holder before ended, and this one is told.
    pub const OWNER_DIED: u64 = 4;
}

/// Second word of `CallValue`.
pub mod given {
    /// A signed integer.
    pub const INTEGER: u64 = 0;
    /// The operation ended in a way that gives no result, as by an exception. The first word says nothing.
    pub const UNKNOWN: u64 = 1;
    /// A truth value.
    pub const TRUTH: u64 = 2;
    /// Nothing, as what an empty container gives. The first word says nothing.
    pub const NOTHING: u64 = 3;
}

/// First word of `Fail`.
pub mod fail {
    /// The program called `abort`.
    pub const ABORT: u64 = 1;
    /// An assertion failed: the detail is the address of its text.
    pub const ASSERT: u64 = 2;
    /// A signal that ends the process: the detail is its number; of `SIGSEGV` the access before it is the one.
    pub const SIGNAL: u64 = 3;
    /// An exception without a handler.
    pub const TERMINATE: u64 = 4;
    /// Every thread waits for another one (serial recording and replay).
    pub const DEADLOCK: u64 = 5;
}

/// First word of `Cut`.
pub mod cut {
    /// Only the last events of each thread are kept.
    pub const WINDOW: u64 = 1;
    /// Recording was switched on.
    pub const SWITCH: u64 = 2;
}

/// First word of `Stop`.
pub mod stop {
    /// The thread or the process ended; nothing is missing.
    pub const END: u64 = 1;
    /// The size limit was reached.
    pub const LIMIT: u64 = 2;
    /// The disk is full.
    pub const DISK: u64 = 3;
    /// The run took long under the controller, which then let all threads go.
    pub const RELEASED: u64 = 4;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_keep_kind_and_place() {
        let site = Site::new(0xdead_beef, 0x00ab_cdef);
        let word = header(Kind::Load4, site.0);
        assert_eq!(Kind::from_header(word), Some(Kind::Load4));
        assert_eq!((site.unit(), site.local()), (0xdead_beef, 0x00ab_cdef));
        assert_eq!(word & ((1 << PLACE_BITS) - 1), site.0);
        assert_eq!(Kind::from_header(0), None);
    }

    #[test]
    fn stamps_keep_order_and_count() {
        for count in [0, 5, 0xffff, 0x1_0000, 0x1234_5678] {
            for before in [0, 1, 0xffff] {
                let least = u64::saturating_sub(count, before);
                assert_eq!((order_of(stamp(7, count)), count_of(stamp(7, count), least)), (7, Some(count)));
                assert_eq!((order_of(stamp(0, count)), count_of(stamp(0, count), least)), (0, Some(count)));
            }
        }
        assert_eq!(count_of(0, 5), None);
    }

    #[test]
    fn pieces_copy_every_byte_once_and_none_too_early() {
        for (to, from) in [(0x1003, 0x2000), (0x1003, 0x1001), (0x1001, 0x1006), (0x1000, 0x1000)] {
            for length in 0..40 {
                let mut memory: std::vec::Vec<u64> = (0x1000..0x2100).collect();
                let mut done = 0;
                while done < length {
                    let (offset, bytes) = piece_of_copy(to, from, length, done);
                    assert!((to + offset).is_multiple_of(bytes) && [1, 2, 4, 8].contains(&bytes));
                    let read = (from + offset - 0x1000) as usize..(from + offset + bytes - 0x1000) as usize;
                    memory.copy_within(read, (to + offset - 0x1000) as usize);
                    done += bytes;
                }
                assert_eq!(done, length);
                let copied = &memory[(to - 0x1000) as usize..(to + length - 0x1000) as usize];
                assert!(copied.iter().copied().eq(from..from + length), "{to:x} {from:x} {length}");
            }
        }
    }
}

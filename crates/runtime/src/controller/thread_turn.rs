//! What the controller keeps of a thread: plain data.

use core::cell::Cell;
use core::sync::atomic::{AtomicBool, AtomicU32};

use crate::controller::repeating::Repeating;
use crate::controller::spinning::Spinning;
use crate::sys::Timespec;

/// What a thread does that has not got the turn.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// It could run.
    Ready = 0,
    /// It waits for something.
    Blocked,
    /// It sleeps in the kernel, or runs without the turn up to its next counted record.
    Outside,
    /// It ended.
    Done,
}

/// Before what a thread waits for its turn.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Stands {
    /// Whatever it does up to its next record.
    #[expect(dead_code, reason = "threads start as zeroed memory")]
    Anywhere = 0,
    /// A counted record.
    BeforeCounted,
    /// A record that is not counted.
    BeforeApart,
}

/// What a thread is about to do: no bytes, where it is no access of memory.
#[derive(Clone, Copy, Default)]
pub struct Pending {
    pub(super) address: u64,
    pub(super) bytes: u64,
    pub(super) writes: bool,
}

impl Pending {
    /// Whether the order of the two may matter. Operations of locks and threads are not told apart.
    pub(super) fn races(self, other: Pending) -> bool {
        match (self.bytes, other.bytes) {
            (0, 0) => true,
            (0, _) | (_, 0) => false,
            _ => {
                let overlap = self.address < other.address + other.bytes && other.address < self.address + self.bytes;
                overlap && (self.writes || other.writes)
            }
        }
    }
}

/// What is kept of a thread. All but the gate and who sleeps there is touched under the controller's lock.
pub struct Turn {
    pub(super) state: Cell<State>,
    /// Changes with every turn that the thread gets.
    pub(super) gate: AtomicU32,
    /// Whether it sleeps at the gate, or is about to.
    pub(super) sleeps: AtomicBool,
    /// When a blocked thread gives up, by the monotonic clock.
    pub(super) deadline: Cell<Option<Timespec>>,
    /// That moment has passed.
    pub(super) expired: Cell<bool>,
    /// It got the turn to give up.
    pub(super) timed_out: Cell<bool>,
    /// It got the turn though its limit has not come.
    pub(super) for_nothing: Cell<bool>,
    /// It waits in the kernel for a signal, which another thread or nobody sends.
    pub(super) listens: Cell<bool>,
    /// Its last wait ended by its limit, and no other thread has gone on since.
    pub(super) is_late: Cell<bool>,
    /// It stands before an access of the triple that it must not make yet.
    pub(super) held: Cell<bool>,
    /// Where its turn ends it may still write so many records that are not counted, those counted that it wrote there before.
    pub(super) beyond: Cell<u64>,
    /// Before what it waits for its turn.
    pub(super) stands: Cell<Stands>,
    /// One more than the count at which it last was given a signal from outside.
    pub(super) alarmed: Cell<u64>,
    /// The same of a signal that the program sent.
    pub(super) handled: Cell<u64>,
    /// The higher, the sooner it runs, where priorities decide; 0 where none was drawn yet.
    pub(super) priority: Cell<u64>,
    /// What it is about to do.
    pub(super) pending: Cell<Pending>,
    /// How often others are still chosen before it.
    pub(super) passed_over: Cell<u64>,
    /// Whether it does the same again and again.
    pub(super) repeating: Repeating,
    pub(super) spinning: Spinning,
}

//! What the threads of a parallel region share, and what each keeps for OpenMP: plain data.

use core::cell::Cell;
use core::ffi::c_int;

use crate::record::TEAMS;

/// Loops that threads of one team can be in at a time: none is ahead of another by more, or waits.
pub const AT_ONCE: usize = 8;

/// What the threads of a parallel region share. Touched under the lock of its bucket.
pub struct Team {
    /// Its number, from 1.
    pub(super) number: u64,
    /// How many threads it has.
    pub(super) size: u32,
    /// The team and place of the thread that made it.
    pub(super) outer: TeamPosition,
    pub(super) run: usize,
    pub(super) count: usize,
    pub(super) arguments: *const usize,
    /// Who has arrived at the barrier, and which round it is.
    pub(super) arrived: Cell<u32>,
    pub(super) round: Cell<u64>,
    /// How many `single`s have been taken.
    pub(super) singles: Cell<u64>,
    /// What a `copyprivate` hands on.
    pub(super) handed: Cell<usize>,
    /// Tasks that are threads and were not joined yet.
    pub(super) tasks: Cell<u32>,
    pub(super) loops: [Loop; AT_ONCE],
    /// What the thread that made it had come to before.
    pub(super) before: Cell<(u64, u64)>,
}

/// Where a thread stands.
#[derive(Clone, Copy, Default)]
pub struct TeamPosition {
    pub(super) team: Option<&'static Team>,
    pub(super) index: u32,
}

/// What a thread keeps for OpenMP; its own.
pub struct Own {
    pub(super) place: Cell<TeamPosition>,
    /// How many `single`s and loops it came to in its team.
    pub(super) singles: Cell<u64>,
    pub(super) loops: Cell<u64>,
    pub(super) turns: Turns,
    /// Tasks that it made and that were not waited for.
    pub(super) tasks: Cell<*mut Task>,
    /// What `num_threads` asks for, 0 if nothing.
    pub(super) wanted: Cell<u32>,
}

/// The kinds of objects of a team, in the low bits of their addresses.
pub(super) const BARRIER: u64 = 0;
pub(super) const ORDERED: u64 = 2;
pub(super) const REDUCTION: u64 = 4;

impl Team {
    /// Address of an object of the team.
    pub(super) fn object(&self, kind: u64) -> u64 {
        TEAMS + self.number * 16 + kind
    }

    pub(super) fn key(&self) -> usize {
        self.object(BARRIER) as usize
    }
}

/// A loop whose turns are given away as threads ask for them.
pub struct Loop {
    /// Which of the team's loops it is, from 1.
    pub(super) number: Cell<u64>,
    /// Pieces that were given away, or more; turns; how many of them are a piece.
    pub(super) given: Cell<u64>,
    pub(super) turns: Cell<u64>,
    pub(super) piece: Cell<u64>,
    /// Threads that found nothing left.
    pub(super) through: Cell<u32>,
    /// The turn whose `ordered` part is next.
    pub(super) ordered: Cell<u64>,
    /// In a replay, a bit for each piece that is taken.
    pub(super) taken: Cell<*mut u8>,
}

/// The loop that a thread is in: its own.
pub struct Turns {
    pub(super) low: Cell<i64>,
    pub(super) step: Cell<i64>,
    /// The turn that it is at, counted from 0, and the first that it has not got.
    pub(super) at: Cell<u64>,
    pub(super) end: Cell<u64>,
    pub(super) is_ordered: Cell<bool>,
}

/// What is kept of a task before what the compiler knows of it.
#[repr(C, align(16))]
pub struct Task {
    pub(super) pthread: usize,
    /// The task that its maker made before.
    pub(super) before: *mut Task,
    pub(super) place: TeamPosition,
    pub(super) number: c_int,
}

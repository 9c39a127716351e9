//! The time as the program knows it. In a replay that is the time of the recording. It goes on from the last value that was given, and from
//! the end of a wait that ends by its limit: a machine may be as slow as that. It never goes back, also where threads look at clocks in
//! another order than in the recording. Where orders are explored time stands still, so that it is
//! the same in each run of an order: it goes on where a wait ends by its limit, where a thread sleeps, and a little with each look at a clock.

use core::ffi::c_int;
use core::sync::atomic::{
    AtomicBool, AtomicI64,
    Ordering::{Relaxed, SeqCst},
};

use crate::sys::{self, Deadline, Timespec};

const CLOCKS: usize = 12;
/// Of real time, monotonic, raw, boot time, TAI.
const TELL_TIME: [c_int; 5] = [0, 1, 4, 7, 11];
const SECOND: i64 = 1_000_000_000;

/// Per clock, how far the program's time is before the real one, in nanoseconds.
static SHIFT: [AtomicI64; CLOCKS] = [const { AtomicI64::new(0) }; CLOCKS];
/// Per clock, the latest moment that the program has seen; 0 if none was given from the recording.
static LATEST: [AtomicI64; CLOCKS] = [const { AtomicI64::new(0) }; CLOCKS];

/// Clocks that say what others do, up to a tick late, and those others.
const COARSE: [(c_int, usize); 2] = [(5, 0), (6, 1)];
/// A tick where the kernel has the fewest, in nanoseconds.
const TICK: i64 = 10_000_000;

/// The places of a coarse clock itself, and of the clock that it follows.
fn coarse(clock: c_int) -> Option<(usize, usize)> {
    COARSE.iter().find(|(coarse, _)| *coarse == clock).map(|(coarse, fine)| (*coarse as usize, *fine))
}

/// Clocks that tell the time; coarse ones tell the same as the others. Those of processor time have other numbers.
fn index(clock: c_int) -> Option<usize> {
    const PROCESSOR: [c_int; 2] = [2, 3];
    if let Some((_, fine)) = coarse(clock) {
        return Some(fine);
    }
    usize::try_from(clock).ok().filter(|index| *index < CLOCKS && !PROCESSOR.contains(&clock))
}

/// A span, or what has passed since the clock's zero, in nanoseconds.
pub fn nanoseconds(time: Timespec) -> i64 {
    time.seconds.saturating_mul(SECOND).saturating_add(time.nanoseconds)
}

/// The span of this many nanoseconds.
pub fn timespec(nanoseconds: i64) -> Timespec {
    Timespec { seconds: nanoseconds.div_euclid(SECOND), nanoseconds: nanoseconds.rem_euclid(SECOND) }
}

/// Whether the program's time is another than the real one.
pub fn shifted(clock: c_int) -> bool {
    index(clock).is_some_and(|index| LATEST[index].load(Relaxed) != 0)
}

/// Whether time goes on only as the program's own calls say.
static STANDS: AtomicBool = AtomicBool::new(false);
/// How far that time has come, and the looks at clocks since it was passed on, in nanoseconds.
static PASSED: AtomicI64 = AtomicI64::new(0);
static LOOKS: AtomicI64 = AtomicI64::new(0);

/// All clocks stand still at this second.
pub fn stand_at(second: u64) {
    let at = (second as i64).saturating_mul(SECOND);
    LATEST.iter().for_each(|latest| latest.store(at, SeqCst));
    STANDS.store(true, SeqCst);
}

/// What a look at a clock gives where time stands still. The first look takes a microsecond, and each one takes a microsecond longer than the one
/// before. So a loop that waits until a moment is over comes to its end.
pub fn looked(clock: c_int) -> Option<Timespec> {
    const LONGER: i64 = 1000;
    if !stands_still() || index(clock).is_none() {
        return None;
    }
    PASSED.fetch_add(LOOKS.fetch_add(LONGER, Relaxed) + LONGER, Relaxed);
    Some(now(clock))
}

/// The time goes on to the end of a wait, where it stands still; whether it does.
pub fn pass_to(deadline: Deadline) -> bool {
    let left = nanoseconds(deadline.at).saturating_sub(nanoseconds(now(deadline.clock)));
    pass(timespec(left.max(0)))
}

/// The time of all clocks goes on to the end of a wait, whatever the real one says: by so many nanoseconds, if the wait's clock tells the time.
pub fn jump_to(deadline: Deadline) -> Option<i64> {
    index(deadline.clock)?;
    let left = nanoseconds(deadline.at).saturating_sub(nanoseconds(now(deadline.clock)));
    for clock in TELL_TIME {
        let Some(index) = index(clock).filter(|_| left > 0) else { continue };
        let at = nanoseconds(now(clock)).saturating_add(left);
        LATEST[index].fetch_max(at, SeqCst);
        SHIFT[index].store(at.saturating_sub(nanoseconds(sys::now(clock))), Relaxed);
    }
    Some(left.max(0))
}

/// How far the time has come that stands still, in nanoseconds.
pub fn passed() -> i64 {
    PASSED.load(Relaxed)
}

/// Whether the time stands still, but for what passes here.
pub fn stands_still() -> bool {
    STANDS.load(Relaxed)
}

/// The time goes on by so much, where it stands still; whether it does.
pub fn pass(span: Timespec) -> bool {
    let stands = stands_still();
    let passed = nanoseconds(span).max(0);
    if stands && passed > 0 {
        PASSED.fetch_add(passed, Relaxed);
        LOOKS.store(0, Relaxed);
    }
    stands
}

/// What the program takes for now.
pub fn now(clock: c_int) -> Timespec {
    if stands_still()
        && let Some(index) = index(clock)
    {
        return timespec(LATEST[index].load(Relaxed).saturating_add(PASSED.load(Relaxed)));
    }
    let real = sys::now(clock);
    match index(clock).filter(|_| shifted(clock)) {
        Some(index) => {
            let passed = nanoseconds(real).saturating_add(SHIFT[index].load(Relaxed));
            timespec(passed.max(LATEST[index].load(Relaxed)))
        }
        None => real,
    }
}

/// The recording's value is given: time goes on from there.
pub fn given(clock: c_int, at: Timespec) {
    let Some(index) = index(clock).filter(|_| !stands_still()) else { return };
    let at = nanoseconds(at);
    if let Some((own, _)) = coarse(clock) {
        LATEST[own].fetch_max(at, SeqCst);
    }
    if LATEST[index].fetch_max(at, SeqCst) < at {
        SHIFT[index].store(at.saturating_sub(nanoseconds(sys::now(clock))), Relaxed);
    }
}

/// The moment, or one right after the latest that the program has seen where that is later. Who looks later sees a later moment.
pub fn not_before_latest(clock: c_int, at: Timespec) -> Timespec {
    let Some(latest) = index(clock).map(|index| LATEST[index].load(Relaxed)) else { return at };
    let latest = coarse(clock).map_or(latest, |(own, _)| LATEST[own].load(Relaxed).max(latest - TICK));
    if nanoseconds(at) < latest { timespec(latest.saturating_add(1)) } else { at }
}

impl Deadline {
    /// The same moment by the monotonic clock of the system. The program's own clocks may be those of a recording.
    pub fn monotonic(self) -> Timespec {
        if self.clock == sys::CLOCK_MONOTONIC && !shifted(self.clock) {
            return self.at;
        }
        sys::now(sys::CLOCK_MONOTONIC).plus(self.at.since(now(self.clock)))
    }
}

/// The same moment by the real clock.
pub fn real(deadline: Deadline) -> Deadline {
    if !shifted(deadline.clock) {
        return deadline;
    }
    Deadline { clock: sys::CLOCK_MONOTONIC, at: deadline.monotonic() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `Condvar::wait_timeout_while` of Rust does: it waits for what is left, and ends when more than all has passed.
    #[test]
    fn a_loop_that_waits_for_what_is_left_ends() {
        const CLOCK: c_int = sys::CLOCK_MONOTONIC;
        const SPAN: i64 = 5_000_000;
        stand_at(100);
        let looks = || nanoseconds(looked(CLOCK).expect("time stands still"));
        let begun = looks();
        let mut rounds = 0;
        while looks() - begun <= SPAN {
            let left = SPAN - (nanoseconds(now(CLOCK)) - begun);
            assert!(pass_to(Deadline { clock: CLOCK, at: timespec(nanoseconds(now(CLOCK)) + left) }));
            rounds += 1;
            assert!(rounds < 3, "it goes on and on");
        }
    }
}

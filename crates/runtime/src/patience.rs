//! How long the controller waits for a thread that has the turn and makes no record. It looks every few milliseconds: a tick.

/// Ticks that a thread may spend in a function of a lock: it may wait for one that takes the lock in another way.
const PATIENCE_WITH_LOCKS: usize = 20;

/// Ticks that it may wait for what another thread is about to do without the program: on a machine with much to do that takes long.
const PATIENCE_WITH_OTHERS: usize = 400;

/// Whether a thread loses the turn that has made no record for so many ticks: it spins in a function of a lock, or it sleeps, and not for
/// what another thread is about to do without the program. That is asked after the kernel: the thread may wait for the very lock that is
/// held during a look.
pub fn loses_turn(
    ticks: usize,
    is_in_lock: bool,
    sleeps: impl FnOnce() -> bool,
    awaits_others: impl FnOnce() -> bool,
) -> bool {
    let spins = is_in_lock && ticks > PATIENCE_WITH_LOCKS;
    ticks > 0 && (spins || sleeps() && !(ticks < PATIENCE_WITH_OTHERS && awaits_others()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a thread that does this loses the turn after so many ticks.
    fn loses(ticks: usize, is_in_lock: bool, sleeps: bool, awaits_others: bool) -> bool {
        loses_turn(ticks, is_in_lock, || sleeps, || awaits_others)
    }

    #[test]
    fn who_sleeps_loses_the_turn_but_not_who_waits_for_the_runtime() {
        assert!(!loses(0, false, true, false), "it has just made a record");
        assert!(loses(1, false, true, false));
        assert!(!loses(1, false, false, false), "it runs");
        for ticks in [1, PATIENCE_WITH_OTHERS - 1] {
            assert!(!loses(ticks, false, true, true), "{ticks}: another thread is about to wake it");
        }
        assert!(loses(PATIENCE_WITH_OTHERS, false, true, true), "nobody has come");
    }

    #[test]
    fn who_spins_in_a_lock_loses_the_turn_in_the_end() {
        assert!(!loses(PATIENCE_WITH_LOCKS, true, false, false));
        assert!(loses(PATIENCE_WITH_LOCKS + 1, true, false, false));
        assert!(loses(PATIENCE_WITH_LOCKS + 1, true, true, true), "it may be one of several who wait");
        assert!(!loses(PATIENCE_WITH_OTHERS, false, false, false), "it computes");
    }

    /// The lock of the runtime that a look holds is what the thread begins to wait for while the look asks the kernel.
    #[test]
    fn who_begins_to_wait_for_the_runtime_during_a_look_keeps_the_turn() {
        let waits = core::cell::Cell::new(false);
        let sleeps = || {
            waits.set(true);
            true
        };
        assert!(!loses_turn(1, false, sleeps, || waits.get()));
    }
}

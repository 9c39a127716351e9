//! Threads that run as the machine schedules them: one that does the same again and again lets others go first.
//!
//! It may wait for another thread in a loop. With fewer turns of the loop the log is short. The thread is looked at from time to time; meanwhile
//! all that it does is recorded. A loop that ends by itself gets slower by ten seconds at most.

use core::sync::atomic::Ordering::Relaxed;

use super::rounds;
use crate::threads::Thread;

/// Counted records until the first look. Until the next look it is twice as many each time, up to `LONGEST`.
const SHORTEST: u64 = 1 << 14;
const LONGEST: u64 = 1 << 20;
/// Counted records of a look, and how many of them must be the same as those a round before.
const LOOK: u64 = 512;
const SAME: u64 = 400;
/// Counted records until it rests again.
const AGAIN: u64 = 16;

/// A thread begins.
pub fn begin(thread: &Thread) {
    thread.turn.spinning.between.set(SHORTEST);
    thread.limit.store(thread.count() + SHORTEST, Relaxed);
}

/// Before a counted record at the thread's limit.
pub fn look(thread: &Thread) {
    let spinning = &thread.turn.spinning;
    let count = thread.count();
    if spinning.ends.get() == 0 {
        rounds::look(thread);
        spinning.ends.set(count + LOOK);
        thread.limit.store(0, Relaxed); // nothing is left out
    } else if count >= spinning.ends.get() {
        if rounds::look(thread).was_for(SAME) {
            spinning.rest();
            spinning.ends.set(count + AGAIN);
        } else {
            let between = spinning.between.get();
            spinning.between.set((2 * between).min(LONGEST));
            spinning.ends.set(0);
            spinning.goes_on();
            thread.limit.store(count + between, Relaxed);
        }
    }
}

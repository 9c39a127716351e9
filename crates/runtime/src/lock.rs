//! A lock of 4 bytes that neither allocates nor calls the C library.

use core::sync::atomic::{
    AtomicU32, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::sys;

const FREE: u32 = 0;
const HELD: u32 = 1;
const AWAITED: u32 = 2;
const SPINS: u32 = 100;

/// Threads that wait for what another thread is about to do, whatever the program does.
static AWAITING: AtomicUsize = AtomicUsize::new(0);

/// Waits for what another thread is about to do without the program: the controller is not to take the turn for that.
pub fn await_others<T>(wait: impl FnOnce() -> T) -> T {
    AWAITING.fetch_add(1, Relaxed);
    let result = wait();
    AWAITING.fetch_sub(1, Relaxed);
    result
}

/// Whether a thread waits so.
pub fn is_awaiting() -> bool {
    AWAITING.load(Relaxed) > 0
}

/// A lock; who holds it gives it back soon.
pub struct Lock(AtomicU32);

impl Lock {
    pub const fn new() -> Lock {
        Lock(AtomicU32::new(FREE))
    }

    #[inline(always)]
    pub fn lock(&self) {
        if self.0.compare_exchange(FREE, HELD, Acquire, Relaxed).is_err() {
            self.wait();
        }
    }

    #[cold]
    #[inline(never)]
    fn wait(&self) {
        for _ in 0..SPINS {
            core::hint::spin_loop();
            if self.0.load(Relaxed) == FREE && self.0.compare_exchange(FREE, HELD, Acquire, Relaxed).is_ok() {
                return;
            }
        }
        while self.0.swap(AWAITED, Acquire) != FREE {
            await_others(|| sys::futex_wait(&self.0, AWAITED, None));
        }
    }

    /// Whether the lock is taken now, after a wait for its holder, who may never give it back: a tenth of a second at least.
    pub fn is_taken_soon(&self) -> bool {
        const YIELDS: u32 = 200;
        const SLEEPS: u32 = 1000;
        const NANOSECONDS: i64 = 100_000;
        (0..YIELDS + SLEEPS).any(|turn| {
            let is_taken = self.0.compare_exchange(FREE, HELD, Acquire, Relaxed).is_ok();
            match is_taken {
                true => {}
                false if turn < YIELDS => drop(sys::call!(SCHED_YIELD, 0)),
                false => sys::sleep(NANOSECONDS),
            }
            is_taken
        })
    }

    #[inline(always)]
    pub fn unlock(&self) {
        if self.0.swap(FREE, Release) == AWAITED {
            self.wake();
        }
    }

    #[cold]
    #[inline(never)]
    fn wake(&self) {
        sys::futex_wake(&self.0, 1);
    }
}

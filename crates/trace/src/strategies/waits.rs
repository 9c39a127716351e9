//! Random traces of threads that wait for signals and broadcasts of others.

use crate::random::Random;
use crate::{Data, Observed, SyncKind, Trace, TraceBuilder};

/// A thread that waits, between its steps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waiter {
    Away,
    Holding,
    Waiting,
    /// A signal or broadcast has released it.
    Released,
}

/// Two threads with a lock each wait for one condition; others signal and broadcast it, and write what the first ones read. A semaphore lets
/// threads come after a wake, or wait after a broadcast.
pub fn random_waits(seed: u64) -> (Trace, Observed) {
    let mut random = Random::new(seed);
    let mut builder = TraceBuilder::new(Data::Symbolic);
    let locks = ["m", "n"];
    for lock in locks {
        builder.sync(lock, SyncKind::Mutex { recursive: false });
    }
    builder.sync("c", SyncKind::Condvar);
    builder.sync("s", SyncKind::Semaphore { init: 0 });
    builder.int_var("x", 0);
    let mut waiters = [Waiter::Away; 2];
    let (mut posts, mut wakes) = (0, 0);
    for _ in 0..18 {
        if wakes >= 2 && random.percent(40) {
            break;
        }
        let chosen = random.below(4);
        let thread = 1 + chosen as u64;
        if chosen < 2 {
            let lock = locks[chosen];
            waiters[chosen] = match waiters[chosen] {
                Waiter::Away if random.percent(20) && posts > 0 => {
                    posts -= 1;
                    builder.down(thread, "s");
                    Waiter::Away
                }
                Waiter::Away => {
                    builder.acquire(thread, lock);
                    Waiter::Holding
                }
                Waiter::Holding if random.percent(80) => {
                    builder.wait(thread, "c", lock);
                    Waiter::Waiting
                }
                Waiter::Holding => {
                    builder.release(thread, lock);
                    Waiter::Away
                }
                Waiter::Waiting => Waiter::Waiting,
                Waiter::Released => {
                    wakes += 1;
                    builder.wake(thread, "c", lock, None);
                    if random.percent(30) {
                        posts += 1;
                        builder.post(thread, "s");
                    }
                    builder.read(thread, "x", "a");
                    Waiter::Holding
                }
            };
            continue;
        }
        let waiting: Vec<usize> = (0..2).filter(|waiter| waiters[*waiter] == Waiter::Waiting).collect();
        match random.below(8) {
            0..=2 => {
                builder.signal(thread, "c");
                if let Some(released) = random.pick(&waiting) {
                    waiters[*released] = Waiter::Released;
                }
            }
            3 | 4 => {
                builder.broadcast(thread, "c");
                waiting.iter().for_each(|waiter| waiters[*waiter] = Waiter::Released);
            }
            5 if posts > 0 => {
                posts -= 1;
                builder.down(thread, "s");
            }
            5 => {
                posts += 1;
                builder.post(thread, "s");
            }
            _ => {
                builder.begin(thread);
                builder.write(thread, "x", "1");
                builder.write(thread, "x", "2");
                builder.end(thread);
            }
        }
    }
    builder.read(1 + random.below(4) as u64, "x", "b");
    builder.finish().expect("a valid trace")
}

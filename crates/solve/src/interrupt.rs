//! Stopping a solver from outside: a call of it does not look at flags.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;
use std::time::Duration;

/// How often the flag is looked at.
const POLL: Duration = Duration::from_millis(20);

/// Does `work`, and interrupts this thread's solver for as long as `stop` is set meanwhile.
pub fn interruptible<T>(stop: &AtomicBool, work: impl FnOnce() -> T) -> T {
    let context = z3::Context::thread_local();
    let handle = context.handle();
    watched(stop, || handle.interrupt(), work)
}

/// Does `work`, and `when_stopped` again and again for as long as `stop` is set meanwhile.
pub(super) fn watched<T>(stop: &AtomicBool, when_stopped: impl Fn() + Sync, work: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                if stop.load(Ordering::Relaxed) {
                    when_stopped();
                }
                std::thread::park_timeout(POLL);
            }
        });
        let _end = EndOfWatch { done: &done, watch: watch.thread() };
        work()
    })
}

/// Ends the watch when it goes out of scope, also in a panic.
struct EndOfWatch<'a> {
    done: &'a AtomicBool,
    watch: &'a Thread,
}

impl Drop for EndOfWatch<'_> {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        self.watch.unpark();
    }
}

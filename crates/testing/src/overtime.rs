//! Looks at the clock beside what is done, so that all of it ends when it is late.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How often the clock is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Does something, and sets `stop` when it is late.
pub fn while_not<T>(is_late: &(dyn Fn() -> bool + Sync), stop: &AtomicBool, act: impl FnOnce() -> T) -> T {
    std::thread::scope(|scope| {
        let (running, ended) = channel::<()>();
        scope.spawn(move || {
            while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if is_late() {
                    stop.store(true, Ordering::SeqCst);
                }
            }
        });
        let done = act();
        drop(running);
        done
    })
}

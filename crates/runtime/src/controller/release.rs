//! A run that takes long under the controller: it lets all threads go, so that the program shows whether it ends by itself. If the program
//! still hangs then, the controller is not the cause.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::log;
use crate::mode;
use crate::record::stop;
use crate::sys::{self, Timespec};

/// The milliseconds after which it lets go; 0 if it never does.
static AFTER: AtomicU64 = AtomicU64::new(0);

pub fn prepare(milliseconds: u64) {
    AFTER.store(milliseconds, Relaxed);
}

/// Whether a run that started then takes so long.
pub fn is_due(start: Timespec) -> bool {
    let after = AFTER.load(Relaxed);
    let span = Timespec { seconds: (after / 1000) as i64, nanoseconds: (after % 1000 * 1_000_000) as i64 };
    after > 0 && sys::now(sys::CLOCK_MONOTONIC) >= start.plus(span)
}

/// Whether the run is one of a test, which says when to let go.
pub fn is_of_test() -> bool {
    AFTER.load(Relaxed) > 0
}

/// Lets all threads go, and says so to those who look at the folder.
pub fn all() {
    mode::write_file(b"/released\0", format_args!("after {} ms\n", AFTER.load(Relaxed)));
    log::stop(stop::RELEASED, format_args!("the run takes long"));
}

//! A run that takes long under the controller: nobody is held any more, so that the program shows whether it ends by itself. What then still
//! hangs is no doing of the controller.

use core::fmt::Arguments;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::log;
use crate::mode;
use crate::record::stop;
use crate::sys::{self, Timespec};
use crate::text::Text;

/// After so many milliseconds; 0 where that never happens.
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

/// Lets all threads go, and says so to those who look at the folder.
pub fn all() {
    note(format_args!("after {} ms\n", AFTER.load(Relaxed)));
    log::stop(stop::RELEASED, format_args!("the run takes long"));
}

fn note(arguments: Arguments) {
    let mut path = Text::<4200>::new();
    path.push(mode::directory());
    path.push(b"/released\0");
    if let Ok(file) = sys::open(path.bytes(), sys::CREATE) {
        sys::write(file, Text::<100>::of(arguments).bytes());
        sys::close(file);
    }
}

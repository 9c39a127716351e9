//! The thread that runs here. The first that asks starts the recording.

use crate::adopt::adopt;
use crate::mode;
use crate::start;
use crate::threads::{Here, Thread, here};

/// The thread that runs here, if it is one to record.
#[inline(always)]
pub fn current() -> Option<&'static Thread> {
    match here() {
        Here::Recorded(thread) => Some(thread),
        Here::Not { is_known } => unknown(is_known),
    }
}

#[cold]
#[inline(never)]
fn unknown(is_known: bool) -> Option<&'static Thread> {
    if is_known {
        return None;
    }
    if !mode::ready() {
        start::initialise();
        return if mode::get() == mode::OFF || !mode::ready() { None } else { current() };
    }
    (mode::get() != mode::OFF).then(adopt)
}

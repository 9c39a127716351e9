//! The clocks that a program reads: in a replay it gets what it got in the recording.

use core::ffi::c_int;

use super::{Key, Source, call, keep, stored};
use crate::controller::{self, clocks_are_as_recorded};
use crate::hooks::occupied::Occupied;
use crate::program_time::{given, looked, not_before_latest, now, shifted};
use crate::sys::Timespec;
use crate::threads::{Here, here};

/// Reads a clock by `source`; the result is that of a call that fills `to`. Threads get what they got in the recording, unless they come in
/// another order and one has seen a later moment: time never goes back.
pub fn read(source: Source, clock: c_int, to: &mut Timespec, real: impl FnOnce(&mut Timespec) -> i64) -> i64 {
    let place = core::ptr::from_mut(to).cast::<u8>();
    let mut was_real = false;
    let key = Key::new(source, clock.rem_euclid(256) as u8);
    if let Some(at) = looked(clock) {
        if let Here::Recorded(thread) = here() {
            thread.occupy();
            controller::time_went_on(thread);
            thread.end();
        }
        *to = at;
        keep(key, 0, place, size_of::<Timespec>());
        return 0;
    }
    let length = |_| size_of::<Timespec>();
    let result = call(key, place, size_of::<Timespec>(), length, || {
        was_real = true;
        // SAFETY: the caller's memory, which nobody else uses meanwhile.
        let to = unsafe { &mut *place.cast::<Timespec>() };
        let result = real(to);
        if result >= 0 && shifted(clock) {
            *to = now(clock);
        }
        result
    });
    if stored::fed() && result >= 0 {
        // SAFETY: as above.
        let to = unsafe { &mut *place.cast::<Timespec>() };
        if !was_real && !clocks_are_as_recorded() {
            *to = not_before_latest(clock, *to);
        }
        if !was_real || shifted(clock) {
            given(clock, *to);
        }
    }
    result
}

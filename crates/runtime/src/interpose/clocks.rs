//! Reading clocks. What they say comes from outside: it is kept, and a replay gives it again (`feed`).

use core::ffi::{c_int, c_void};

use super::{interpose, real, sleep};
use crate::feed::{self, Source, clock};
use crate::sys::{self, CLOCK_REALTIME, Timespec};

/// The clock that `time` reads.
const CLOCK_REALTIME_COARSE: c_int = 5;
/// The only base that `timespec_get` must know.
const TIME_UTC: c_int = 1;

/// `struct timeval`.
#[repr(C)]
struct Timeval {
    seconds: i64,
    microseconds: i64,
}

pub extern "C" fn clock_gettime_(clock: c_int, to: *mut Timespec, _: usize) -> c_int {
    let read = |to: *mut Timespec| {
        sleep::sleep_the_rest();
        real::clock_gettime(clock, to)
    };
    // SAFETY: the program's pointer; a null one is the library's business.
    match unsafe { to.as_mut() } {
        Some(to) => clock::read(Source::Clock, clock, to, |to| i64::from(read(to))) as c_int,
        None => read(to),
    }
}

pub extern "C" fn gettimeofday_(to: *mut c_void, zone: *mut c_void, _: usize) -> c_int {
    if !zone.is_null() || to.is_null() {
        sleep::sleep_the_rest();
        let result = real::gettimeofday(to, zone);
        if result != 0 || to.is_null() {
            return result;
        }
    }
    let mut at = Timespec { seconds: 0, nanoseconds: 0 };
    clock::read(Source::TimeOfDay, CLOCK_REALTIME, &mut at, |at| {
        sleep::sleep_the_rest();
        i64::from(real::clock_gettime(CLOCK_REALTIME, at))
    });
    // SAFETY: the program's pointer.
    unsafe { *to.cast() = Timeval { seconds: at.seconds, microseconds: at.nanoseconds / 1000 } };
    0
}

pub extern "C" fn time_(to: *mut i64, _: usize) -> i64 {
    let mut at = Timespec { seconds: 0, nanoseconds: 0 };
    clock::read(Source::Time, CLOCK_REALTIME_COARSE, &mut at, |at| {
        sleep::sleep_the_rest();
        at.seconds = real::time(core::ptr::null_mut());
        0
    });
    // SAFETY: the program's pointer, or null.
    if let Some(to) = unsafe { to.as_mut() } {
        *to = at.seconds;
    }
    at.seconds
}

extern "C" fn timespec_get_(to: *mut Timespec, base: c_int, _: usize) -> c_int {
    match base {
        TIME_UTC if clock_gettime_(CLOCK_REALTIME, to, 0) == 0 => base,
        _ => 0,
    }
}

extern "C" fn clock_(_: usize) -> i64 {
    feed::value(Source::ProcessorTime, 0, real::clock)
}

/// What an instruction read that differs from run to run: instrumented code calls this after `rdtsc` and its kin.
#[unsafe(no_mangle)]
extern "C" fn __foretrace_outside(value: u64, detail: u64) -> u64 {
    feed::value(Source::Instruction, detail as u8, || value as i64) as u64
}

extern "C" fn getpid_(_: usize) -> c_int {
    feed::number(0, || i64::from(real::getpid())) as c_int
}

extern "C" fn getppid_(_: usize) -> c_int {
    feed::number(1, || i64::from(real::getppid())) as c_int
}

extern "C" fn gettid_(_: usize) -> c_int {
    feed::number(2, || i64::from(sys::gettid())) as c_int
}

interpose! {
    clock_gettime "rdx" => clock_gettime_, off clock_gettime;
    gettimeofday "rdx" => gettimeofday_, off gettimeofday;
    time "rsi" => time_, off time;
    timespec_get "rdx" => timespec_get_;
    clock "rdi" => clock_, off clock;
    getpid "rdi" => getpid_, off getpid;
    getppid "rdi" => getppid_, off getppid;
    gettid "rdi" => gettid_;
}

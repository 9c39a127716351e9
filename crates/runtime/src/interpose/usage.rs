//! What the kernel says of the machine's and the program's use of processors, memory and file systems. It is kept, and a replay gives it again
//! (`feed`).

use core::ffi::{c_char, c_int, c_void};

use super::{interpose, real};
use crate::feed::{self, Key, Source};

/// The size of `struct rusage`.
const RUSAGE: usize = 144;
/// The size of `struct tms`.
const TMS: usize = 32;
/// The size of `struct sysinfo` and of `struct statvfs`.
const SYSINFO: usize = 112;
/// The size of `struct statfs`.
const STATFS: usize = 120;

/// A call that fills so many bytes at `to`, if that is not null.
fn filled(detail: u8, to: *mut c_void, bytes: usize, real: impl FnOnce() -> i64) -> i64 {
    let room = if to.is_null() { 0 } else { bytes };
    feed::call(Key::new(Source::Usage, detail), to.cast(), room, |_| bytes, real)
}

extern "C" fn getrusage_(who: c_int, to: *mut c_void, _: usize) -> c_int {
    filled(0, to, RUSAGE, || i64::from(real::getrusage(who, to))) as c_int
}

extern "C" fn times_(to: *mut c_void, _: usize) -> i64 {
    filled(1, to, TMS, || real::times(to))
}

extern "C" fn sysinfo_(to: *mut c_void, _: usize) -> c_int {
    filled(2, to, SYSINFO, || i64::from(real::sysinfo(to))) as c_int
}

extern "C" fn statvfs_(path: *const c_char, to: *mut c_void, _: usize) -> c_int {
    filled(3, to, SYSINFO, || i64::from(real::statvfs(path, to))) as c_int
}

extern "C" fn fstatvfs_(file: c_int, to: *mut c_void, _: usize) -> c_int {
    filled(3, to, SYSINFO, || i64::from(real::fstatvfs(file, to))) as c_int
}

extern "C" fn statfs_(path: *const c_char, to: *mut c_void, _: usize) -> c_int {
    filled(7, to, STATFS, || i64::from(real::statfs(path, to))) as c_int
}

extern "C" fn fstatfs_(file: c_int, to: *mut c_void, _: usize) -> c_int {
    filled(7, to, STATFS, || i64::from(real::fstatfs(file, to))) as c_int
}

extern "C" fn getloadavg_(to: *mut c_void, count: c_int, _: usize) -> c_int {
    let length = |result: i64| result.max(0) as usize * size_of::<f64>();
    let (key, room) = (Key::new(Source::Usage, 4), count.max(0) as usize * size_of::<f64>());
    feed::call(key, to.cast(), room, length, || i64::from(real::getloadavg(to, count))) as c_int
}

/// The processor on which the thread runs.
extern "C" fn sched_getcpu_(_: usize) -> c_int {
    feed::value(Source::Usage, 5, || i64::from(real::sched_getcpu())) as c_int
}

unsafe extern "C" fn getcpu_(processor: *mut u32, node: *mut u32, _: usize) -> c_int {
    let mut both = [0u32; 2];
    let real = |to: *mut u32| i64::from(real::getcpu(to, to.wrapping_add(1)));
    let to = both.as_mut_ptr();
    let result = filled(6, to.cast(), size_of_val(&both), || real(to)) as c_int;
    // SAFETY: the program's pointers, or null.
    for (to, value) in unsafe { [processor.as_mut(), node.as_mut()] }.into_iter().zip(both) {
        if let Some(to) = to.filter(|_| result == 0) {
            *to = value;
        }
    }
    result
}

interpose! {
    getrusage "rdx" => getrusage_, off getrusage;
    times "rsi" => times_, off times;
    sysinfo "rsi" => sysinfo_;
    statvfs "rdx" => statvfs_;
    statvfs64 "rdx" => statvfs_;
    fstatvfs "rdx" => fstatvfs_;
    fstatvfs64 "rdx" => fstatvfs_;
    statfs "rdx" => statfs_;
    statfs64 "rdx" => statfs_;
    fstatfs "rdx" => fstatfs_;
    fstatfs64 "rdx" => fstatfs_;
    getloadavg "rdx" => getloadavg_;
    sched_getcpu "rdi" => sched_getcpu_, off sched_getcpu;
    getcpu "rdx" => getcpu_;
}

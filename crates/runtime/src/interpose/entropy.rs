//! Random bytes: of the kernel, of the C library, of the devices, of C++. They are kept, and a replay gives them again (`feed`).

use core::ffi::{c_int, c_void};

use super::{interpose, real};
use crate::feed::{self, Key, Source};

const ANY: Key = Key::new(Source::Random, 0);
const ARC4: Key = Key::new(Source::Arc4Random, 0);
pub const DEVICE: Key = Key::new(Source::Device, 0);

pub extern "C" fn getrandom_(to: *mut c_void, bytes: usize, flags: u32, _: usize) -> isize {
    let length = |result: i64| usize::try_from(result).unwrap_or(0);
    feed::call(ANY, to.cast(), bytes, length, || real::getrandom(to, bytes, flags) as i64) as isize
}

extern "C" fn getentropy_(to: *mut c_void, bytes: usize, _: usize) -> c_int {
    feed::call(ANY, to.cast(), bytes, |_| bytes, || i64::from(real::getentropy(to, bytes))) as c_int
}

extern "C" fn arc4random_(_: usize) -> u32 {
    feed::value(Source::Arc4Random, 1, || i64::from(real::arc4random())) as u32
}

extern "C" fn arc4random_uniform_(bound: u32, _: usize) -> u32 {
    feed::value(Source::Arc4Random, 2, || i64::from(real::arc4random_uniform(bound))) as u32
}

extern "C" fn arc4random_buf_(to: *mut c_void, bytes: usize, _: usize) {
    let fill = || {
        real::arc4random_buf(to, bytes);
        0
    };
    feed::call(ARC4, to.cast(), bytes, |_| bytes, fill);
}

/// `std::random_device`, which may ask the processor.
extern "C" fn random_device(device: *mut c_void, _: usize) -> u32 {
    feed::value(Source::Device, 1, || i64::from(real::_ZNSt13random_device9_M_getvalEv(device))) as u32
}

/// Reads from a device of random bytes.
pub fn read_device(file: c_int, to: *mut c_void, bytes: usize) -> isize {
    let length = |result: i64| usize::try_from(result).unwrap_or(0);
    feed::call(DEVICE, to.cast(), bytes, length, || real::read(file, to, bytes) as i64) as isize
}

interpose! {
    getrandom "rcx" => getrandom_, off getrandom;
    getentropy "rdx" => getentropy_;
    arc4random "rdi" => arc4random_;
    arc4random_uniform "rsi" => arc4random_uniform_;
    arc4random_buf "rdx" => arc4random_buf_;
    _ZNSt13random_device9_M_getvalEv "rsi" => random_device;
}

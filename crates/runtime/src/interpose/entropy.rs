//! Random bytes: of the kernel, of the C library, of the devices, of C++. They are kept, and a replay gives them again (`feed`).

use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{
    AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

use super::{channels, interpose, real};
use crate::feed::{self, Key, Source};

const ANY: Key = Key::new(Source::Random, 0);
const ARC4: Key = Key::new(Source::Arc4Random, 0);
const DEVICE: Key = Key::new(Source::Device, 0);

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

/// Streams that read such a device; 0 where there is none.
static STREAMS: [AtomicUsize; 8] = [const { AtomicUsize::new(0) }; 8];
/// How many there are.
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn is_device(stream: *mut c_void) -> bool {
    COUNT.load(Acquire) > 0 && STREAMS.iter().any(|known| known.load(Relaxed) == stream as usize)
}

fn remember(stream: *mut c_void) -> *mut c_void {
    if !stream.is_null() && super::tracked().is_some() && channels::is_random(real::fileno(stream)) {
        let is_free = |known: &&AtomicUsize| known.compare_exchange(0, stream as usize, Release, Relaxed).is_ok();
        if STREAMS.iter().find(is_free).is_some() {
            COUNT.fetch_add(1, Release);
        }
    }
    stream
}

extern "C" fn fopen_(path: *const c_char, how: *const c_char, _: usize) -> *mut c_void {
    remember(real::fopen(path, how))
}

extern "C" fn fopen64_(path: *const c_char, how: *const c_char, _: usize) -> *mut c_void {
    remember(real::fopen64(path, how))
}

extern "C" fn fclose_(stream: *mut c_void, _: usize) -> c_int {
    let is_it = |known: &&AtomicUsize| known.compare_exchange(stream as usize, 0, Release, Relaxed).is_ok();
    if COUNT.load(Acquire) > 0 && STREAMS.iter().find(is_it).is_some() {
        COUNT.fetch_sub(1, Release);
    }
    real::fclose(stream)
}

extern "C" fn fread_(to: *mut c_void, size: usize, count: usize, stream: *mut c_void, _: usize) -> usize {
    let read = || real::fread(to, size, count, stream);
    if !is_device(stream) {
        return read();
    }
    let length = |result: i64| (result as usize).saturating_mul(size);
    feed::call_and_replace(DEVICE, to.cast(), size.saturating_mul(count), length, || read() as i64) as usize
}

extern "C" fn fgetc_(stream: *mut c_void, _: usize) -> c_int {
    if !is_device(stream) {
        return real::fgetc(stream);
    }
    let key = Key::new(Source::Device, 2);
    feed::call_and_replace(key, core::ptr::null_mut(), 0, |_| 0, || i64::from(real::fgetc(stream))) as c_int
}

interpose! {
    getrandom "rcx" => getrandom_, off getrandom;
    getentropy "rdx" => getentropy_;
    arc4random "rdi" => arc4random_;
    arc4random_uniform "rsi" => arc4random_uniform_;
    arc4random_buf "rdx" => arc4random_buf_;
    _ZNSt13random_device9_M_getvalEv "rsi" => random_device;
    fopen "rdx" => fopen_;
    fopen64 "rdx" => fopen64_;
    fclose "rsi" => fclose_;
    fread "r8" => fread_, off fread;
    fgetc "rsi" => fgetc_, off fgetc;
    getc "rsi" => fgetc_, off fgetc;
}

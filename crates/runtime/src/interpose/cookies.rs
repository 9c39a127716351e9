//! Streams of the program's own functions (`fopencookie`). The library calls these under the stream's lock, which is no event: their calls
//! are unseen.

use core::cell::UnsafeCell;
use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Relaxed, Release},
};

use super::unseen::{STREAM_LOCKS, What};
use super::unseen_calls;
use super::{interpose, real};
use crate::sys::CookieFunctions;
use crate::text::say;

/// Most such streams at a time.
const MOST: usize = 64;

const NONE: CookieFunctions = CookieFunctions { read: None, write: None, seek: None, close: None };

/// A stream: the program's cookie and functions.
struct Stream {
    is_taken: AtomicBool,
    own: UnsafeCell<(usize, CookieFunctions)>,
}

// SAFETY: who took it writes it, before the library knows of it.
unsafe impl Sync for Stream {}

static STREAMS: [Stream; MOST] =
    [const { Stream { is_taken: AtomicBool::new(false), own: UnsafeCell::new((0, NONE)) } }; MOST];
static SAID: AtomicBool = AtomicBool::new(false);

/// The program's cookie and functions of a stream.
///
/// # Safety
/// The address of one of ours, which the library holds as its cookie.
unsafe fn own(stream: usize) -> (usize, CookieFunctions) {
    // SAFETY: the caller's promise.
    unsafe { *(*(stream as *const Stream)).own.get() }
}

/// One of the program's functions.
fn calling<R>(call: impl FnOnce() -> R) -> R {
    unseen_calls::around(What::named(c"fopencookie", STREAM_LOCKS), 0, call)
}

unsafe extern "C" fn read(stream: usize, to: *mut c_char, bytes: usize) -> isize {
    // SAFETY: the library's call, of a stream that has this function.
    let (cookie, functions) = unsafe { own(stream) };
    // SAFETY: as above.
    functions.read.map_or(0, |read| calling(|| unsafe { read(cookie, to, bytes) }))
}

unsafe extern "C" fn write(stream: usize, from: *const c_char, bytes: usize) -> isize {
    // SAFETY: the library's call, of a stream that has this function.
    let (cookie, functions) = unsafe { own(stream) };
    // SAFETY: as above.
    functions.write.map_or(0, |write| calling(|| unsafe { write(cookie, from, bytes) }))
}

unsafe extern "C" fn seek(stream: usize, to: *mut i64, from: c_int) -> c_int {
    // SAFETY: the library's call, of a stream that has this function.
    let (cookie, functions) = unsafe { own(stream) };
    // SAFETY: as above.
    functions.seek.map_or(-1, |seek| calling(|| unsafe { seek(cookie, to, from) }))
}

unsafe extern "C" fn close(stream: usize) -> c_int {
    // SAFETY: the library's last call of this stream.
    let (cookie, functions) = unsafe { own(stream) };
    // SAFETY: as above.
    let result = functions.close.map_or(0, |close| calling(|| unsafe { close(cookie) }));
    // SAFETY: as above.
    unsafe { (*(stream as *const Stream)).is_taken.store(false, Release) };
    result
}

/// Opens such a stream, with our functions in place of those that the program has.
extern "C" fn fopencookie_(cookie: usize, how: *const c_char, functions: CookieFunctions, _: usize) -> *mut c_void {
    let is_free = |stream: &&Stream| stream.is_taken.compare_exchange(false, true, Acquire, Relaxed).is_ok();
    let Some(stream) = STREAMS.iter().find(is_free) else {
        if !SAID.swap(true, Relaxed) {
            say(format_args!(
                "more than {MOST} streams of fopencookie: orders by the locks of the others are not seen"
            ));
        }
        return real::fopencookie(cookie, how, functions);
    };
    // SAFETY: nobody else has it.
    unsafe { *stream.own.get() = (cookie, functions) };
    let ours = CookieFunctions {
        read: functions.read.map(|_| read as _),
        write: functions.write.map(|_| write as _),
        seek: functions.seek.map(|_| seek as _),
        close: Some(close),
    };
    let opened = real::fopencookie(core::ptr::from_ref(stream) as usize, how, ours);
    if opened.is_null() {
        stream.is_taken.store(false, Release);
    }
    opened
}

interpose! {
    fopencookie "rdx" => fopencookie_;
}

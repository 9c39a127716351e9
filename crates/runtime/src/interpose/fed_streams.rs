//! Streams of `stdio` whose bytes a replay gives again: of files in which the kernel says how things stand, and standard input from a terminal
//! or a pipe. The library reads behind its buffers, where nobody can step in. So these streams are streams of our functions
//! (`fopencookie`), which read the same descriptors as programs do by `read`.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{
    AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

use super::ends::{End, end};
use super::socket_pair::is_terminal;
use super::{interpose, kernel_files, real, sockets, tracked};
use crate::feed::sockets::Call;
use crate::hooks::occupied::Occupied;
use crate::sys::{self, CookieFunctions, call};

/// Most such streams at a time.
const MOST: usize = 32;

/// The streams; 0 where there is none. A stream's descriptor is in the same place of the next array.
static STREAMS: [AtomicUsize; MOST] = [const { AtomicUsize::new(0) }; MOST];
static FILES: [AtomicUsize; MOST] = [const { AtomicUsize::new(0) }; MOST];
/// How many places were ever taken.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// Says that a place is about to have a stream.
const RESERVED: usize = 1;

unsafe extern "C" fn read(place: usize, to: *mut c_char, bytes: usize) -> isize {
    let file = FILES[place].load(Relaxed) as c_int;
    let read = || real::read(file, to.cast(), bytes);
    match tracked() {
        None => read(),
        Some(thread) if matches!(end(file), Some(End::Input)) => {
            sockets::receive(thread, file, &[[to as usize, bytes]], Call::Input, read)
        }
        Some(_) => kernel_files::reading(file, to.cast(), bytes, read, |given| pass(file, given)),
    }
}

/// Goes on in a file by what was given in place of its bytes.
fn pass(file: c_int, given: isize) {
    const ON: usize = 1;
    call!(LSEEK, file, given.max(0), ON);
}

unsafe extern "C" fn seek(place: usize, to: *mut i64, from: c_int) -> c_int {
    let file = FILES[place].load(Relaxed) as c_int;
    // SAFETY: the library's number.
    let at = call!(LSEEK, file, unsafe { *to }, from);
    if at < 0 {
        sys::set_errno(-at as c_int);
        return -1;
    }
    // SAFETY: as above.
    unsafe { *to = at as i64 };
    0
}

unsafe extern "C" fn close(place: usize) -> c_int {
    let file = FILES[place].load(Relaxed) as c_int;
    STREAMS[place].store(0, Release);
    let result = call!(CLOSE, file);
    if result < 0 {
        sys::set_errno(-result as c_int);
    }
    result.max(-1) as c_int
}

/// A stream that reads this descriptor.
fn open(file: c_int, how: &CStr) -> Option<*mut c_void> {
    let is_free = |place: &usize| STREAMS[*place].compare_exchange(0, RESERVED, Acquire, Relaxed).is_ok();
    let place = (0..MOST).find(is_free)?;
    FILES[place].store(file as usize, Relaxed);
    let functions = CookieFunctions { read: Some(read), write: None, seek: Some(seek), close: Some(close) };
    let stream = real::fopencookie(place, how.as_ptr(), functions);
    STREAMS[place].store(stream as usize, Release);
    TAKEN.fetch_max(place + 1, Release);
    (!stream.is_null()).then_some(stream)
}

/// The descriptor of one of our streams.
fn descriptor(stream: *mut c_void) -> Option<c_int> {
    let taken = TAKEN.load(Acquire);
    let place = STREAMS[..taken].iter().position(|known| known.load(Relaxed) == stream as usize)?;
    Some(FILES[place].load(Relaxed) as c_int)
}

/// The descriptor that a stream leads to.
pub fn file(stream: *mut c_void) -> c_int {
    descriptor(stream).unwrap_or_else(|| real::fileno(stream))
}

/// A stream that the library opened, or ours in its place.
pub fn opened(stream: *mut c_void, how: *const c_char) -> *mut c_void {
    const DUPLICATE: usize = 1030; // F_DUPFD_CLOEXEC
    const DESCRIPTOR: usize = 112; // after 14 words, in each version of the library
    if stream.is_null() || how.is_null() || tracked().is_none() {
        return stream;
    }
    // SAFETY: the program's string.
    let how = unsafe { CStr::from_ptr(how) };
    let number = real::fileno(stream);
    let only_reads = how.to_bytes().first() == Some(&b'r') && !how.to_bytes().contains(&b'+');
    let is_fed = || kernel_files::is_one(number) || matches!(end(number), Some(End::Input));
    if !only_reads || !is_fed() {
        return stream;
    }
    // The library's stream goes, and closes another descriptor: this one may not be free in between, when another thread could get it.
    // SAFETY: where streams of the library have their descriptor.
    let descriptor = unsafe { &mut *stream.byte_add(DESCRIPTOR).cast::<c_int>() };
    let other = call!(FCNTL, number, DUPLICATE, 0) as c_int;
    if other < 0 || *descriptor != number {
        sys::close(other);
        return stream;
    }
    *descriptor = other;
    real::fclose(stream);
    open(number, how).unwrap_or_else(|| real::fdopen(number, how.as_ptr()))
}

/// After the runtime's own start, and before the constructors of C++.
#[used]
#[unsafe(link_section = ".init_array.00002")]
static STANDARD_INPUT: extern "C" fn() = standard_input;

/// Where other programs or people write standard input, the library's variable leads to a stream of ours from now on. The stream is there in any
/// case: a replay whose standard input is something else has its memory at the same addresses.
extern "C" fn standard_input() {
    const BY_LINES: c_int = 1;
    let Some(thread) = tracked() else { return };
    thread.occupy(); // its memory is not the program's
    let stream = open(0, c"r").filter(|_| matches!(end(0), Some(End::Input)));
    if let Some(stream) = stream {
        if is_terminal(0) {
            real::setvbuf(stream, core::ptr::null_mut(), BY_LINES, 0); // then reading shows what was printed
        }
        // SAFETY: the library's variable, before the program runs.
        unsafe { (&raw mut sys::stdin).write_volatile(stream) };
    }
    thread.end();
}

/// The C library cannot open a stream of ours again (2.36 crashes). So ours goes on with the other file.
extern "C" fn freopen_(path: *const c_char, how: *const c_char, stream: *mut c_void, _: usize) -> *mut c_void {
    let Some(number) = descriptor(stream) else { return real::freopen64(path, how, stream) };
    if path.is_null() {
        return stream; // for another way to read it
    }
    let other = real::fopen64(path, how);
    if other.is_null() {
        let error = sys::errno();
        real::fclose(stream);
        sys::set_errno(error);
        return other;
    }
    // SAFETY: the program's string.
    if unsafe { CStr::from_ptr(how) }.to_bytes().iter().any(|byte| b"wa+".contains(byte)) {
        real::fclose(stream);
        return other; // ours only reads
    }
    call!(DUP3, real::fileno(other), number, 0);
    real::fclose(other);
    real::__fpurge(stream);
    real::clearerr(stream);
    stream
}

extern "C" fn fileno_(stream: *mut c_void, _: usize) -> c_int {
    file(stream)
}

interpose! {
    freopen "rcx" => freopen_, off freopen;
    freopen64 "rcx" => freopen_, off freopen64;
    fileno "rsi" => fileno_, off fileno;
    fileno_unlocked "rsi" => fileno_, off fileno;
}

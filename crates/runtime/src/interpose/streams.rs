//! Streams of `stdio`. Threads that read one stream of a file meet there as those who read one descriptor do: each gets what those before it
//! left. Other streams lead elsewhere: to random bytes, which a replay gives again, or to a pipe or socket. What is read of those may come
//! after what other threads did, and is unseen: the library writes and reads behind its buffers.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{
    AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

use super::channel::OfFile;
use super::ends::{End, end};
use super::entropy::DEVICE;
use super::files::Naming;
use super::unseen::{self, What, has_threads};
use super::unseen_calls;
use super::{channels, fed_streams, files, interpose, real, tracked};
use crate::feed::{self, Key, Source};
use crate::sys;

/// Most streams that are known at a time.
const MOST: usize = 64;
/// In the low bit of a stream's address: it reads a device of random bytes.
const IS_DEVICE: usize = 1;

/// The streams, with that bit; 0 where there is none.
static STREAMS: [AtomicUsize; MOST] = [const { AtomicUsize::new(0) }; MOST];
/// How many there are.
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn has(word: usize) -> bool {
    COUNT.load(Acquire) > 0 && STREAMS.iter().any(|known| known.load(Relaxed) == word)
}

fn is_device(stream: *mut c_void) -> bool {
    has(stream as usize | IS_DEVICE)
}

fn remember(stream: *mut c_void) -> *mut c_void {
    if stream.is_null() || super::tracked().is_none() {
        return stream;
    }
    let word = match end(real::fileno(stream)) {
        Some(End::Random) => stream as usize | IS_DEVICE,
        Some(End::Channel(..) | End::Socket | End::Unseen) => stream as usize,
        _ => return stream,
    };
    let is_free = |known: &&AtomicUsize| known.compare_exchange(0, word, Release, Relaxed).is_ok();
    if STREAMS.iter().find(is_free).is_some() {
        COUNT.fetch_add(1, Release);
    }
    stream
}

/// It may lead to a file that others write, too.
fn opened(stream: *mut c_void, place: usize) -> *mut c_void {
    if !stream.is_null() {
        files::opened(c"fopen", fed_streams::file(stream), place);
    }
    stream
}

/// With `x` a stream is opened only if there is no such file.
fn opening(path: *const c_char, how: *const c_char, place: usize, call: impl FnOnce() -> *mut c_void) -> *mut c_void {
    // SAFETY: the program's string.
    let how = if how.is_null() { &[] } else { unsafe { CStr::from_ptr(how) }.to_bytes() };
    let naming = match how {
        _ if how.contains(&b'x') => Naming::Alone,
        [b'w' | b'a', ..] => Naming::Makes,
        _ => Naming::Finds,
    };
    files::by_name(c"fopen", (files::HERE, path), naming, place, call, |stream| stream.is_null())
}

fn forget(stream: *mut c_void) {
    for word in [stream as usize, stream as usize | IS_DEVICE] {
        let is_it = |known: &&AtomicUsize| known.compare_exchange(word, 0, Release, Relaxed).is_ok();
        if COUNT.load(Acquire) > 0 && STREAMS.iter().find(is_it).is_some() {
            COUNT.fetch_sub(1, Release);
        }
    }
}

/// A stream is about to be read from.
fn before_reading(stream: *mut c_void, name: &'static CStr) {
    if feed::others::notes_streams()
        && matches!(end(real::fileno(stream)), Some(End::Input))
        && let Some(thread) = tracked()
    {
        feed::others::note_stream(thread, name);
    }
}

/// Where the bucket has the order of reads from the file that a stream leads to.
fn file_of(stream: *mut c_void) -> Option<usize> {
    let error = sys::errno();
    let end = end(fed_streams::file(stream)); // an error where it leads to memory
    sys::set_errno(error);
    match end {
        Some(End::File(key)) => Some(key),
        _ => None,
    }
}

/// Reads from a stream.
pub fn reading<R>(stream: *mut c_void, name: &'static CStr, place: usize, read: impl FnOnce() -> R) -> R {
    before_reading(stream, name);
    if let Some(thread) = tracked().filter(|_| has_threads())
        && let Some(key) = file_of(stream)
    {
        return OfFile { thread, key, place }.in_turn(read);
    }
    let read = read();
    if has(stream as usize) {
        unseen_calls::mark_here(What::anything(name), place);
    }
    read
}

/// Moves the position of a stream, or puts a byte back: others read on from there.
fn moving<R>(stream: *mut c_void, place: usize, moves: impl FnOnce() -> R) -> R {
    match tracked().filter(|_| has_threads()).and_then(|thread| Some((thread, file_of(stream)?))) {
        Some((thread, key)) => OfFile { thread, key, place }.in_turn(moves),
        None => moves(),
    }
}

pub fn standard_input() -> *mut c_void {
    // SAFETY: the library's variable, which programs may set as they like.
    unsafe { (&raw const sys::stdin).read_volatile() }
}

extern "C" fn fopen_(path: *const c_char, how: *const c_char, place: usize) -> *mut c_void {
    opened(remember(fed_streams::opened(opening(path, how, place, || real::fopen(path, how)), how)), place)
}

extern "C" fn fopen64_(path: *const c_char, how: *const c_char, place: usize) -> *mut c_void {
    opened(remember(fed_streams::opened(opening(path, how, place, || real::fopen64(path, how)), how)), place)
}

extern "C" fn fdopen_(file: c_int, how: *const c_char, _: usize) -> *mut c_void {
    remember(fed_streams::opened(real::fdopen(file, how), how))
}

extern "C" fn fclose_(stream: *mut c_void, _: usize) -> c_int {
    forget(stream);
    if let Some(thread) = tracked() {
        let error = sys::errno();
        channels::closed(thread, fed_streams::file(stream));
        sys::set_errno(error);
    }
    real::fclose(stream)
}

extern "C" fn pclose_(stream: *mut c_void, place: usize) -> c_int {
    forget(stream);
    unseen_calls::around(What::named(c"pclose", unseen::PROCESSES), place, || real::pclose(stream))
}

pub extern "C" fn fread_(to: *mut c_void, size: usize, count: usize, stream: *mut c_void, place: usize) -> usize {
    let read = || real::fread(to, size, count, stream);
    if is_device(stream) {
        let length = |result: i64| (result as usize).saturating_mul(size);
        return feed::call_and_replace(DEVICE, to.cast(), size.saturating_mul(count), length, || read() as i64)
            as usize;
    }
    reading(stream, c"fread", place, read)
}

extern "C" fn fgetc_(stream: *mut c_void, place: usize) -> c_int {
    if is_device(stream) {
        let key = Key::new(Source::Device, 2);
        return feed::call_and_replace(key, core::ptr::null_mut(), 0, |_| 0, || i64::from(real::fgetc(stream)))
            as c_int;
    }
    reading(stream, c"fgetc", place, || real::fgetc(stream))
}

extern "C" fn getchar_(place: usize) -> c_int {
    fgetc_(standard_input(), place)
}

extern "C" fn getchar_unlocked_(place: usize) -> c_int {
    fgetc_unlocked_(standard_input(), place)
}

extern "C" fn fgetc_unlocked_(stream: *mut c_void, place: usize) -> c_int {
    reading(stream, c"fgetc", place, || real::fgetc_unlocked(stream))
}

pub extern "C" fn fgets_unlocked_(to: *mut c_char, bytes: c_int, stream: *mut c_void, place: usize) -> *mut c_char {
    reading(stream, c"fgets", place, || real::fgets_unlocked(to, bytes, stream))
}

pub extern "C" fn fread_unlocked_(
    to: *mut c_void,
    size: usize,
    count: usize,
    stream: *mut c_void,
    place: usize,
) -> usize {
    if is_device(stream) {
        return fread_(to, size, count, stream, place);
    }
    reading(stream, c"fread", place, || real::fread_unlocked(to, size, count, stream))
}

extern "C" fn fgetwc_(stream: *mut c_void, place: usize) -> u32 {
    reading(stream, c"fgetwc", place, || real::fgetwc(stream))
}

extern "C" fn getwchar_(place: usize) -> u32 {
    fgetwc_(standard_input(), place)
}

extern "C" fn fgetwc_unlocked_(stream: *mut c_void, place: usize) -> u32 {
    reading(stream, c"fgetwc", place, || real::fgetwc_unlocked(stream))
}

extern "C" fn getwchar_unlocked_(place: usize) -> u32 {
    fgetwc_unlocked_(standard_input(), place)
}

pub extern "C" fn fgetws_unlocked_(to: *mut c_void, count: c_int, stream: *mut c_void, place: usize) -> *mut c_void {
    reading(stream, c"fgetws", place, || real::fgetws_unlocked(to, count, stream))
}

pub extern "C" fn fgetws_(to: *mut c_void, count: c_int, stream: *mut c_void, place: usize) -> *mut c_void {
    reading(stream, c"fgetws", place, || real::fgetws(to, count, stream))
}

extern "C" fn ungetc_(byte: c_int, stream: *mut c_void, place: usize) -> c_int {
    moving(stream, place, || real::ungetc(byte, stream))
}

extern "C" fn fseek_(stream: *mut c_void, by: i64, from: c_int, place: usize) -> c_int {
    moving(stream, place, || real::fseek(stream, by, from))
}

extern "C" fn fsetpos_(stream: *mut c_void, position: *const c_void, place: usize) -> c_int {
    moving(stream, place, || real::fsetpos(stream, position))
}

extern "C" fn rewind_(stream: *mut c_void, place: usize) {
    moving(stream, place, || real::rewind(stream));
}

pub extern "C" fn fgets_(to: *mut c_char, bytes: c_int, stream: *mut c_void, place: usize) -> *mut c_char {
    reading(stream, c"fgets", place, || real::fgets(to, bytes, stream))
}

extern "C" fn getline_(line: usize, bytes: usize, stream: *mut c_void, place: usize) -> isize {
    reading(stream, c"getline", place, || real::getline(line, bytes, stream))
}

extern "C" fn getdelim_(line: usize, bytes: usize, end: c_int, stream: *mut c_void, place: usize) -> isize {
    reading(stream, c"getdelim", place, || real::getdelim(line, bytes, end, stream))
}

interpose! {
    fopen "rdx" => fopen_;
    fopen64 "rdx" => fopen64_;
    fdopen "rdx" => fdopen_;
    fclose "rsi" => fclose_;
    pclose "rsi" => pclose_;
    fread "r8" => fread_, off fread;
    fgetc "rsi" => fgetc_, off fgetc;
    getc "rsi" => fgetc_, off fgetc;
    getchar "rdi" => getchar_;
    getchar_unlocked "rdi" => getchar_unlocked_;
    fgetc_unlocked "rsi" => fgetc_unlocked_, off fgetc_unlocked;
    getc_unlocked "rsi" => fgetc_unlocked_, off fgetc_unlocked;
    fgets_unlocked "rcx" => fgets_unlocked_, off fgets_unlocked;
    fread_unlocked "r8" => fread_unlocked_, off fread_unlocked;
    fgetwc "rsi" => fgetwc_, off fgetwc;
    getwc "rsi" => fgetwc_, off fgetwc;
    getwchar "rdi" => getwchar_;
    fgetwc_unlocked "rsi" => fgetwc_unlocked_, off fgetwc_unlocked;
    getwc_unlocked "rsi" => fgetwc_unlocked_, off fgetwc_unlocked;
    getwchar_unlocked "rdi" => getwchar_unlocked_;
    fgetws "rcx" => fgetws_, off fgetws;
    fgetws_unlocked "rcx" => fgetws_unlocked_, off fgetws_unlocked;
    ungetc "rdx" => ungetc_, off ungetc;
    fseek "rcx" => fseek_, off fseek;
    fseeko "rcx" => fseek_, off fseek;
    fseeko64 "rcx" => fseek_, off fseek;
    fsetpos "rdx" => fsetpos_, off fsetpos;
    fsetpos64 "rdx" => fsetpos_, off fsetpos;
    rewind "rsi" => rewind_, off rewind;
    fgets "rcx" => fgets_, off fgets;
    getline "rcx" => getline_, off getline;
    getdelim "r8" => getdelim_, off getdelim;
    __getdelim "r8" => getdelim_, off getdelim;
}

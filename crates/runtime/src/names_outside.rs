//! Files that the program writes, and ports and paths that it gives its sockets: another run of it that goes on at the same time meets
//! them, too. A file that `FORETRACE_NAMES` names gets a line for each, recorded or not.

use core::cell::UnsafeCell;
use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Release},
};

use crate::sys::{self, call};
use crate::text::Text;

/// Where the lines go, with a zero byte at its end.
struct Lines(UnsafeCell<Text<4096>>);

// SAFETY: written once, before anybody reads it.
unsafe impl Sync for Lines {}

static LINES: Lines = Lines(UnsafeCell::new(Text::new()));
static IS_WANTED: AtomicBool = AtomicBool::new(false);

/// Lines go to that file from here on. Called before the program begins.
pub fn prepare(path: &[u8]) {
    // SAFETY: nobody reads it yet.
    let lines = unsafe { &mut *LINES.0.get() };
    lines.push(path);
    lines.push(b"\0");
    IS_WANTED.store(lines.bytes().len() == path.len() + 1, Release);
}

/// Whether anybody asks.
#[inline]
pub fn are_wanted() -> bool {
    IS_WANTED.load(Acquire)
}

/// A descriptor of a regular file was opened.
pub fn opened(file: c_int) {
    const GET_FLAGS: c_int = 3;
    let flags = call!(FCNTL, file, GET_FLAGS);
    if flags < 0 || flags & 3 == 0 {
        return;
    }
    tell_of(file);
}

/// A file of this name, in this folder, was there already, so the program did not make it.
pub fn refused((folder, path): (c_int, *const c_char)) {
    const NAME_ONLY: c_int = 0o10_000_000;
    let error = sys::errno();
    let file = call!(OPENAT, folder, path, NAME_ONLY, 0) as c_int;
    if file >= 0 {
        tell_of(file);
        sys::close(file);
    }
    sys::set_errno(error);
}

/// Tells the name of what is open. Another run may have removed it since.
fn tell_of(file: c_int) {
    const REMOVED: &[u8] = b" (deleted)";
    let link = Text::<64>::formatted(format_args!("/proc/self/fd/{file}\0"));
    let mut path = [0u8; 4096];
    let length = call!(READLINK, link.bytes().as_ptr(), path.as_mut_ptr(), path.len());
    let path = &path[..length.max(0) as usize];
    tell(b"", path.strip_suffix(REMOVED).unwrap_or(path));
}

/// A socket was to get an address.
pub fn bound(address: *const c_void, length: u32) {
    const LOCAL: u16 = 1;
    const IP4: u16 = 2;
    const IP6: u16 = 10;
    if !are_wanted() || address.is_null() || length < 4 {
        return;
    }
    // SAFETY: the program's address; the kernel could read it.
    let bytes = unsafe { core::slice::from_raw_parts(address.cast::<u8>(), length as usize) };
    match u16::from_ne_bytes([bytes[0], bytes[1]]) {
        LOCAL => {
            tell(b"socket ", bytes[2..].split(|byte| *byte == 0).find(|name| !name.is_empty()).unwrap_or_default())
        }
        IP4 | IP6 => match u16::from_be_bytes([bytes[2], bytes[3]]) {
            0 => {} // the kernel chooses one that is free
            port => tell(b"", Text::<16>::formatted(format_args!("port {port}")).bytes()),
        },
        _ => {}
    }
}

fn tell(what: &[u8], name: &[u8]) {
    if name.is_empty() {
        return;
    }
    let error = sys::errno();
    // SAFETY: written before the program began.
    let path = unsafe { &*LINES.0.get() }.bytes();
    if let Ok(file) = sys::open(path, sys::APPEND) {
        let mut line = Text::<4200>::new();
        line.push(what);
        line.push(name);
        line.push(b"\n");
        sys::write(file, line.bytes());
        sys::close(file);
    }
    sys::set_errno(error);
}

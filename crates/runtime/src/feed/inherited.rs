//! The descriptors that a program was started with. A shell may leave some open for the programs that it starts. So a replay may have others
//! than its recording had, and then files and sockets get other numbers. A replay closes those that the recording did not have, and has
//! `/dev/null` for those that are missing.

use core::ffi::c_int;

use super::stored;
use crate::mode;
use crate::sys::{self, call};

/// Standard input, output and errors come before it.
const FIRST: c_int = 3;
/// The runtime's own come later.
const END: c_int = 512;

/// A bit for each descriptor.
type Open = [u8; END as usize / 8];

const NONE: Open = [0; END as usize / 8];

const NAME: &[u8] = b"/descriptors\0";

/// The program starts: what is open now it inherited. `recorded` is whether there is a recording to go by.
pub fn prepare(recorded: bool) {
    if let Some(recorded) = recorded.then(of_recording).flatten() {
        give(&recorded);
    }
    if let Ok(file) = sys::open(mode::file(NAME).bytes(), sys::CREATE) {
        let mut open = now();
        set(&mut open, file, false);
        sys::write(file, &open);
        sys::close(file);
    }
}

fn of_recording() -> Option<Open> {
    let mut open = NONE;
    let file = sys::open(stored::file(NAME).bytes(), sys::READ_ONLY).ok()?;
    let read = sys::read(file, &mut open);
    sys::close(file);
    (read == open.len()).then_some(open)
}

fn now() -> Open {
    const GET_FLAGS: usize = 1;
    let mut open = NONE;
    (FIRST..END).for_each(|file| set(&mut open, file, call!(FCNTL, file, GET_FLAGS) >= 0));
    open
}

/// Makes the descriptors those of the recording.
fn give(recorded: &Open) {
    let open = now();
    for file in (FIRST..END).filter(|file| has(&open, *file) && !has(recorded, *file)) {
        sys::close(file);
    }
    for file in (FIRST..END).filter(|file| has(recorded, *file) && !has(&open, *file)) {
        if let Ok(nothing) = sys::open(b"/dev/null\0", sys::READ_ONLY)
            && nothing != file
        {
            call!(DUP3, nothing, file, 0);
            sys::close(nothing);
        }
    }
}

fn has(open: &Open, file: c_int) -> bool {
    open[file as usize / 8] >> (file % 8) & 1 != 0
}

fn set(open: &mut Open, file: c_int, is_open: bool) {
    let (byte, bit) = (file as usize / 8, 1 << (file % 8));
    open[byte] = if is_open { open[byte] | bit } else { open[byte] & !bit };
}

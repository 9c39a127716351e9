//! What functions read that pass bytes on to the system, and what those wrote that bring some.

use super::{Call, each_piece, strings};
use crate::hooks::pieces::note_piece;
use crate::library::Function;
use crate::sys;

/// Before the call.
pub fn reads(call: Call, function: Function, [a, b, c]: [u64; 3]) {
    match function {
        Function::Fwrite => call.read_all(a, b.wrapping_mul(c)),
        Function::Fputs | Function::Puts => {
            strings::text(call, a, u64::MAX);
        }
        _ => call.read_all(b, c),
    }
}

/// After the call, which gave `result`.
pub fn wrote(call: Call, function: Function, result: u64, [a, b, c]: [u64; 3]) {
    const TIME: u64 = 16;
    const BROKEN_DOWN_TIME: u64 = 56;
    const EVENT: u64 = 12;
    let positive = |result: i64| u64::try_from(result).unwrap_or(0);
    let (long, int) = (positive(result as i64), positive(i64::from(result as i32)));
    let printed = if (result as i32) < 0 { 0 } else { int + 1 };
    let (address, length) = match function {
        Function::Read | Function::Pread | Function::Recv | Function::Recvfrom => (b, long.min(c)),
        Function::Fread => (a, result.wrapping_mul(b)),
        Function::Fgets | Function::Getcwd if result != 0 => (a, text_length(a) + 1),
        Function::Getline => return line(call, result as i64, a, b),
        Function::Sprintf | Function::Vsprintf => (a, printed),
        Function::Snprintf | Function::Vsnprintf => (a, printed.min(b)),
        Function::Time if a != 0 => (a, 8),
        Function::Gettimeofday if a != 0 => (a, TIME),
        Function::ClockGettime if result as i32 == 0 => (b, TIME),
        Function::LocaltimeR | Function::GmtimeR if result != 0 => (b, BROKEN_DOWN_TIME),
        Function::Pipe if result as i32 == 0 => (a, 8),
        Function::Poll => return polled(call, a, b),
        Function::EpollWait => (b, int * EVENT),
        _ => return,
    };
    note(call, address, length);
}

fn note(call: Call, address: u64, length: u64) {
    each_piece(address, length, |at, bytes| {
        call.thread.begin_access(crate::record::Kind::store(bytes), call.site, at, bytes);
        note_piece(call.thread, at, bytes, call.site);
        call.thread.end();
    });
}

fn text_length(text: u64) -> u64 {
    // SAFETY: the library has just put a text there.
    unsafe { sys::strlen(text as *const _) as u64 }
}

/// `getline` may have got new memory.
fn line(call: Call, result: i64, place: u64, size: u64) {
    note(call, place, 8);
    note(call, size, 8);
    // SAFETY: the program's pointer, which the library has just written.
    let text = unsafe { (place as *const u64).read_volatile() };
    if let Ok(length) = u64::try_from(result) {
        note(call, text, length + 1);
    }
}

/// Of each `struct pollfd` what happened.
fn polled(call: Call, array: u64, count: u64) {
    const SIZE: u64 = 8;
    const HAPPENED: u64 = 6;
    (0..count).for_each(|index| note(call, array + index * SIZE + HAPPENED, 2));
}

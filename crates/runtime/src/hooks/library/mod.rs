//! Functions of the C library, performed or noted here, so that the log has their reads and writes.

mod call;
mod effects;
mod formats;
mod memory;
mod messages;
mod notes;
mod plain;
mod sort;
mod strings;
mod tokens;
mod wide;

use super::pieces::{__foretrace_copy, __foretrace_set};
use super::recording;
use crate::library::Function;
use call::{Arguments, Call, WIDE};
pub use effects::created;

/// Performs the function at this position.
///
/// # Safety
/// The program's call, which is as the C library wants it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __foretrace_library(function: u64, a: u64, b: u64, c: u64, d: u64, e: u64, site: u64) -> u64 {
    let Some(function) = Function::at(function) else { return 0 };
    let arguments = [a, b, c, d, e];
    match recording() {
        Some(thread) => perform(Call { thread, site }, function, arguments),
        // SAFETY: the caller's promise.
        None => unsafe { plain::perform(function, arguments) },
    }
}

fn perform(call: Call, function: Function, arguments: Arguments) -> u64 {
    let [a, b, c, _, _] = arguments;
    match function {
        Function::Memcpy | Function::Memmove | Function::Mempcpy => {
            // SAFETY: the program's access.
            unsafe { __foretrace_copy(a, b, c, call.site) };
            if function == Function::Mempcpy { a + c } else { a }
        }
        Function::Memset => {
            // SAFETY: as above.
            unsafe { __foretrace_set(a, b, c, call.site) };
            a
        }
        Function::Wmemcpy | Function::Wmemmove | Function::Wmempcpy => {
            // SAFETY: as above.
            unsafe { __foretrace_copy(a, b, c * WIDE, call.site) };
            if function == Function::Wmempcpy { a + c * WIDE } else { a }
        }
        Function::Wmemset => {
            (0..c).for_each(|index| call.write(a + index * WIDE, b & u64::from(u32::MAX), WIDE));
            a
        }
        Function::Strtok => tokens::next(call, a, b, plain::rest_of_strtok()),
        Function::StrtokR => tokens::next(call, a, b, c),
        Function::Strsep => tokens::separate(call, a, b),
        Function::Qsort | Function::QsortR => sort::qsort(call, function, arguments),
        Function::Bsearch => sort::bsearch(call, arguments),
        _ => strings::perform(call, function, arguments),
    }
}

/// Notes what the function at this position is about to read.
#[unsafe(no_mangle)]
pub extern "C" fn __foretrace_reads(function: u64, a: u64, b: u64, c: u64, d: u64, e: u64, f: u64, site: u64) {
    if let (Some(thread), Some(function)) = (recording(), Function::at(function)) {
        let (call, arguments) = (Call { thread, site }, [a, b, c, d, e, f]);
        match function.effects() {
            Some(effects) => effects::reads(call, function, arguments, effects),
            None => notes::reads(call, function, arguments),
        }
    }
}

/// Notes what it has written.
#[unsafe(no_mangle)]
pub extern "C" fn __foretrace_wrote(
    function: u64,
    result: u64,
    a: u64,
    b: u64,
    c: u64,
    d: u64,
    e: u64,
    f: u64,
    site: u64,
) {
    if let (Some(thread), Some(function)) = (recording(), Function::at(function)) {
        let (call, arguments) = (Call { thread, site }, [a, b, c, d, e, f]);
        match (function.scans_list(), function.effects()) {
            (Some(format), _) => formats::scanned_list(call, result, arguments[format], arguments[format + 1]),
            (None, Some(effects)) => effects::wrote(call, function, result, arguments, effects),
            (None, None) => notes::wrote(call, function, result, arguments),
        }
    }
}

/// Notes a text that is about to be printed, if the format says that this variable argument is one. It comes after the argument `before`.
#[unsafe(no_mangle)]
pub extern "C" fn __foretrace_printed(format: u64, index: u64, text: u64, before: u64, site: u64) {
    if let Some(thread) = recording() {
        formats::printed(Call { thread, site }, format, index, text, before);
    }
}

/// Notes the texts that are about to be printed, by a format and the `va_list` that has its arguments.
#[unsafe(no_mangle)]
pub extern "C" fn __foretrace_printed_list(format: u64, list: u64, site: u64) {
    if let Some(thread) = recording() {
        formats::printed_list(Call { thread, site }, format, list);
    }
}

/// Notes what was written to where this variable argument points, by what the format says and how many were written.
#[unsafe(no_mangle)]
pub extern "C" fn __foretrace_scanned(result: u64, format: u64, index: u64, place: u64, site: u64) {
    if let Some(thread) = recording() {
        formats::scanned(Call { thread, site }, result, format, index, place);
    }
}

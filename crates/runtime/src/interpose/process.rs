//! How the process ends, divides, and loads more code.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::Ordering::Relaxed;

use super::process_ends::child_starts;
use super::unseen::{self, What};
use super::unseen_calls;
use super::{interpose, real, tracked};
use crate::controller;
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::log;
use crate::mode;
use crate::modules;
use crate::record::{Kind, fail};
use crate::sys::{self, DlAddress};
use crate::text::say;

/// Records the failure that ends the run, once.
pub fn fail(why: u64, detail: u64, place: usize) {
    let Some(thread) = tracked() else { return };
    if thread.failed.replace(true) {
        return;
    }
    thread.begin();
    log::sync(thread, Kind::Fail, place, why, detail);
    controller::report_waits();
    thread.end();
}

extern "C" fn abort_(place: usize) -> ! {
    fail(if in_terminate(place) { fail::TERMINATE } else { fail::ABORT }, 0, place);
    controller::finish();
    real::abort()
}

/// Whether this is where the C++ library gives up, since an exception has no handler.
fn in_terminate(place: usize) -> bool {
    let mut found = DlAddress {
        file: core::ptr::null(),
        base: core::ptr::null_mut(),
        symbol: core::ptr::null(),
        address: core::ptr::null_mut(),
    };
    // SAFETY: room for the answer.
    if unsafe { sys::dladdr(place as *const c_void, &mut found) } == 0 {
        return false;
    }
    // SAFETY: strings of the loader, or null.
    let text = |text: *const c_char| if text.is_null() { &[][..] } else { unsafe { CStr::from_ptr(text) }.to_bytes() };
    let has = |text: &[u8], part: &[u8]| text.windows(part.len()).any(|window| window == part);
    let (file, symbol) = (text(found.file), text(found.symbol));
    has(file, b"/libstdc++.so") || has(file, b"/libc++abi.so") || has(symbol, b"terminate")
}

extern "C" fn assert_fail(
    text: *const c_char,
    file: *const c_char,
    line: u32,
    function: *const c_char,
    place: usize,
) -> ! {
    fail(fail::ASSERT, text as u64, place);
    real::__assert_fail(text, file, line, function)
}

extern "C" fn exit_now(code: c_int, _: usize) -> ! {
    if tracked().is_some() {
        controller::finish();
    }
    real::_exit(code)
}

extern "C" fn fork_(place: usize) -> c_int {
    let recorded = mode::get() != mode::OFF;
    divides(c"fork", place);
    let result = real::fork();
    if result == 0 {
        child_starts(); // unless it was told already
    } else if recorded {
        divided(result);
    }
    result
}

/// A call of this name is about to divide the process.
pub(super) fn divides(name: &'static CStr, place: usize) {
    if let Some(thread) = tracked().filter(|_| unseen::has_threads()) {
        unseen::mark(thread, What::anything(name), place); // the child sees what other threads have done by then
    }
}

/// The recorded process has a child of this number, if it has.
pub(super) fn divided(child: c_int) {
    if child > 0 && !mode::STARTED_PROCESSES.swap(true, Relaxed) {
        mode::write_file(b"/forked\0", format_args!("{child}\n"));
        say(format_args!("processes that this one forks are not recorded"));
    }
}

extern "C" fn dlopen_(name: *const c_char, flags: c_int, place: usize) -> *mut c_void {
    let thread = tracked();
    let library = unseen_calls::around(What::named(c"dlopen", c"the loader"), place, || real::dlopen(name, flags));
    if let Some(thread) = thread {
        thread.occupy();
        modules::write();
        thread.end();
    }
    library
}

interpose! {
    abort "rdi" => abort_;
    __assert_fail "r8" => assert_fail;
    _exit "rsi" => exit_now;
    _Exit "rsi" => exit_now;
    fork "rdi" => fork_;
    vfork "rdi" => fork_; // a child that shared our memory would write into the logs of its parent
    dlopen "rdx" => dlopen_;
}

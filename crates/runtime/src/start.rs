//! Start-up: what the environment says of this process, before anything of the program runs.

use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::adopt::adopt;
use crate::feed::{inherited, others, stored};
use crate::interpose::{cancellation, descriptors, process_ends, real, signals, thread_ends};
use crate::log::window;
use crate::mode::{self, OFF, PAUSED, RECORDING};
use crate::sys::{self, call};
use crate::text::{number, say};
use crate::{controller, log, modules, names_outside, ownership, switch, threads};

static STARTED: AtomicU32 = AtomicU32::new(0);

/// First of all that runs in a program: before the constructors of C++.
#[used]
#[unsafe(link_section = ".init_array.00001")]
static INITIALISE: extern "C" fn() = initialise_early;

extern "C" fn initialise_early() {
    if !mode::ready() {
        initialise();
    }
}

/// Reads the environment and starts recording if it says so. Only the first caller does; others wait for it. As long as the C library has
/// no environment, it does nothing.
#[cold]
#[inline(never)]
pub fn initialise() {
    // SAFETY: the C library's variable. One thread runs as long as it is not set: what runs this early (`.preinit_array`, as of sanitizers)
    // is nothing of the program's.
    if unsafe { sys::environ.is_null() } {
        return;
    }
    if STARTED.swap(1, Relaxed) != 0 {
        while !mode::ready() {
            call!(SCHED_YIELD, 0);
        }
        return;
    }
    threads::leave(); // what is called below may come back to our hooks
    real::resolve();
    let mode = settings();
    if mode == RECORDING || mode == PAUSED {
        one_path_for_any_number_of_threads();
    }
    threads::forget_left();
    mode::settle(mode);
    if mode == RECORDING || mode == PAUSED {
        adopt();
        controller::start();
    }
}

/// Libraries and inlined code take another path, without atomic operations and locks, as long as the C library says that no thread was
/// ever created. With a controller there is one from the start, its own; so a program is told the same in any mode.
///
/// The C library prepares itself for threads when it creates one while that byte is set (the signal of `setuid` gets its handler there).
/// So one is created first, which ends at once.
fn one_path_for_any_number_of_threads() {
    unsafe extern "C" fn nothing(_: *mut c_void) -> *mut c_void {
        core::ptr::null_mut()
    }
    let mut pthread = 0;
    if real::pthread_create(&mut pthread, core::ptr::null(), nothing, core::ptr::null_mut()) == 0 {
        real::pthread_join(pthread, core::ptr::null_mut());
    }
    // SAFETY: a byte of the C library that programs read; before 2.32 there is none.
    unsafe {
        let told = sys::dlsym(core::ptr::null_mut(), c"__libc_single_threaded".as_ptr()).cast::<u8>();
        if !told.is_null() {
            told.write_volatile(0);
        }
    }
}

fn settings() -> u8 {
    if let Some(lines) = take(c"FORETRACE_NAMES") {
        names_outside::prepare(lines);
    }
    let Some(mode) = take(c"FORETRACE_MODE") else { return OFF };
    let controlled = match mode {
        b"modules" => say_modules_and_end(),
        b"parallel" => None,
        b"serial" => Some(controller::Policy::Serial),
        b"replay" => Some(controller::Policy::Replay),
        _ => return off("FORETRACE_MODE is neither parallel, serial nor replay"),
    };
    let Some(directory) = take(c"FORETRACE_DIR") else { return off("FORETRACE_DIR is not set") };
    if !mode::set_directory(directory) || !threads::prepare() {
        return off("FORETRACE_DIR is too long, or there is no memory");
    }
    descriptors::keep_outputs();
    if let Some(bytes) = take(c"FORETRACE_MAX_BYTES") {
        let Some(bytes) = number(bytes) else { return off("FORETRACE_MAX_BYTES is no number") };
        log::set_limit(bytes);
    }
    if let Some(records) = take(c"FORETRACE_LONGEST_TURN") {
        let Some(records) = number(records) else { return off("FORETRACE_LONGEST_TURN is no number") };
        controller::set_longest_turn(records);
    }
    if let Some(milliseconds) = take(c"FORETRACE_RELEASE_AFTER") {
        let Some(milliseconds) = number(milliseconds) else { return off("FORETRACE_RELEASE_AFTER is no number") };
        controller::release_after(milliseconds);
    }
    let settings = controller::Settings {
        seed: take(c"FORETRACE_SEED"),
        scheduler: take(c"FORETRACE_SCHEDULER"),
        depth: take(c"FORETRACE_DEPTH"),
        steps: take(c"FORETRACE_STEPS"),
        ends_of_turns: take(c"FORETRACE_ENDS_OF_TURNS"),
    };
    let (schedule, stop) = (take(c"FORETRACE_SCHEDULE"), take(c"FORETRACE_STOP"));
    if let Some(policy) = controlled
        && let Err(why) = controller::prepare(policy, &settings, schedule, stop.is_some())
    {
        return off(why);
    }
    let paused = match parts() {
        Ok(paused) => paused,
        Err(why) => return off(why),
    };
    // Where a controller gives turns, records say where they end; and where not all is recorded, all that is must be.
    let leaves_out = match take(c"FORETRACE_LEAVE_OUT") {
        None => controlled.is_none(),
        Some(said) => said != b"0" && mode != b"replay",
    };
    if leaves_out && !window::partial() {
        ownership::start();
    }
    if let Some(recording) = take(c"FORETRACE_OUTSIDE") {
        stored::prepare(recording);
    }
    inherited::prepare(stored::fed());
    if let Some(deeds) = take(c"FORETRACE_SOCKETS") {
        others::prepare(deeds);
    }
    if let Some(parent) = take(c"FORETRACE_PARENT").and_then(number) {
        sys::end_with_parent(parent);
    }
    // These make the stack begin at the same address in every run.
    take(c"FORETRACE_FILL");
    take(c"FORETRACE_EVEN");
    thread_ends::prepare();
    cancellation::prepare();
    descriptors::keep_inherited_pipes();
    process_ends::prepare();
    modules::write();
    signals::process_starts();
    if paused { PAUSED } else { RECORDING }
}

/// What is loaded where is all that was asked for: the program ends before it begins.
fn say_modules_and_end() -> ! {
    let written = take(c"FORETRACE_DIR").is_some_and(mode::set_directory);
    if written {
        modules::write();
    }
    call!(EXIT_GROUP, i32::from(!written));
    sys::die_by(sys::SIGABRT)
}

/// Which part of the run is recorded; whether it starts later.
fn parts() -> Result<bool, &'static str> {
    let (window, paused, signal) = (take(c"FORETRACE_WINDOW"), take(c"FORETRACE_PAUSED"), take(c"FORETRACE_SWITCH"));
    let events = window.map(number).unwrap_or(Some(0)).ok_or("FORETRACE_WINDOW is no number")?;
    window::prepare(events, paused.is_some());
    if let Some(signal) = signal {
        let signal =
            number(signal).filter(|signal| (1..=64).contains(signal)).ok_or("FORETRACE_SWITCH is no signal")?;
        switch::listen(signal as i32);
    }
    Ok(paused.is_some())
}

fn off(why: &str) -> u8 {
    say(format_args!("nothing is recorded: {why}"));
    OFF
}

/// The value of a variable, which is removed.
fn take(name: &CStr) -> Option<&'static [u8]> {
    // SAFETY: a list of strings with a null pointer at its end; nobody else changes it this early.
    unsafe {
        let mut entry = sys::environ;
        while !entry.is_null() && !(*entry).is_null() {
            let text = CStr::from_ptr(*entry).to_bytes();
            if let Some(value) = text.strip_prefix(name.to_bytes()).and_then(|rest| rest.strip_prefix(b"=")) {
                remove(entry);
                return Some(value);
            }
            entry = entry.add(1);
        }
    }
    None
}

/// # Safety
/// An entry of a list of strings with a null pointer at its end.
unsafe fn remove(mut entry: *mut *mut core::ffi::c_char) {
    // SAFETY: the caller's promise.
    unsafe {
        while !(*entry).is_null() {
            *entry = *entry.add(1);
            entry = entry.add(1);
        }
    }
}

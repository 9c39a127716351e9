//! Sleeping. If one thread runs at a time, a thread that sleeps lets the others run instead. It really sleeps only if no other thread can
//! run. In the runs of a test it does not even then, if nothing else can come meanwhile: the program's clocks go on instead. Who let others run
//! has slept when it looks at a clock: it sleeps the rest then. Another thread that looks at a clock does the same, if nobody else can go on.

use core::cell::Cell;
use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};

use super::{interpose, real, threads, tracked};
use crate::controller;
use crate::feed::interruption::sleeping;
use crate::hooks::occupied::Occupied;
use crate::mode;
use crate::program_time;
use crate::sys::{self, Deadline, EINTR, Timespec};
use crate::threads::Thread;

const NOTHING: Timespec = Timespec { seconds: 0, nanoseconds: 0 };

/// The thread, if somebody else gets its turn now; false if it should sleep.
fn yielded() -> bool {
    let Some(thread) = tracked().filter(|_| controller::controlled()) else { return false };
    thread.occupy();
    let yielded = controller::yield_turn(thread);
    controller::time_went_on(thread);
    thread.end();
    yielded
}

/// Sleeps in the kernel, without the turn.
fn really<R>(sleep: impl FnOnce() -> R) -> R {
    let thread: Option<&'static Thread> = tracked().filter(|_| controller::controlled());
    if let Some(thread) = thread {
        thread.occupy();
        controller::outside(thread);
        thread.end();
    }
    sleep()
}

/// The same of a call in which a thread that is cancelled ends, before it sleeps or meanwhile.
fn yielded_or_cancelled() -> bool {
    let thread = tracked();
    if let Some(thread) = thread {
        threads::cancellation_point_apart(thread);
    }
    let yielded = yielded();
    if let Some(thread) = thread.filter(|_| yielded) {
        threads::cancellation_point_apart(thread);
    }
    yielded
}

/// Says that a sleep was over before its time, since it let others run. What waits for others by sleeping may fail so.
fn note_cut_short() {
    static IS_NOTED: AtomicBool = AtomicBool::new(false);
    if !IS_NOTED.swap(true, Relaxed) {
        mode::write_file(b"/slept\0", format_args!("\n"));
    }
}

/// The end of a sleep, by the monotonic clock of the system and by that of the program.
#[derive(Clone, Copy)]
struct End {
    real: Timespec,
    program: Timespec,
}

/// The latest end of a sleep that a thread did not wait for, by the program's monotonic clock, in nanoseconds.
static LATEST_END: AtomicI64 = AtomicI64::new(0);

impl End {
    /// That of a sleep which begins now.
    fn of(span: Timespec) -> End {
        let program = program_time::now(sys::CLOCK_MONOTONIC).plus(span);
        End { real: sys::now(sys::CLOCK_MONOTONIC).plus(span), program }
    }

    /// The thread owes the rest of this sleep.
    fn owe(self) {
        if let Some(thread) = tracked() {
            thread.sleeps_until.set(self.real);
            LATEST_END.fetch_max(program_time::nanoseconds(self.program), Relaxed);
        }
    }
}

/// Sleeps what the thread owes of its last sleep, and what is left of others' sleeps that are over, if the thread is alone: it looks at a clock now.
pub fn sleep_the_rest() {
    let Some(thread) = tracked() else { return };
    let until = thread.sleeps_until.replace(NOTHING);
    if program_time::nanoseconds(until) != 0 {
        sleep_at_most(i64::MAX, until.since(sys::now(sys::CLOCK_MONOTONIC)));
    }
    let now = program_time::nanoseconds(program_time::now(sys::CLOCK_MONOTONIC));
    let left_of_others = LATEST_END.load(Relaxed).saturating_sub(now);
    if left_of_others > 0 && is_alone(thread) {
        sleep_at_most(MOST_OF_OTHERS, program_time::timespec(left_of_others));
    }
}

/// Nanoseconds of others' sleeps that a thread really sleeps: without recording, others need not have come to the end of a longer one.
const MOST_OF_OTHERS: i64 = 1_000_000_000;

/// Sleeps, or skips, what is left. If it is more nanoseconds than these, it only skips.
fn sleep_at_most(most: i64, left: Timespec) {
    let nanoseconds = program_time::nanoseconds(left);
    if nanoseconds > 0 && !is_skipped(left, false) && nanoseconds <= most {
        really(|| real::nanosleep(&raw const left, core::ptr::null_mut()));
    }
}

fn is_alone(thread: &'static Thread) -> bool {
    thread.occupy();
    let is_alone = controller::is_alone(thread);
    thread.end();
    is_alone
}

/// A sleep that a handler may end; `left`, if the program wants it, gets what is left then.
fn interruptible(left: *mut Timespec, sleep: impl Fn(*mut Timespec) -> c_int) -> c_int {
    let Some(thread) = tracked() else { return sleep(left) };
    let rest = Cell::new(NOTHING);
    let result = sleeping(thread, &rest, || sleep(rest.as_ptr()));
    if result < 0 && sys::errno() == EINTR && !left.is_null() {
        // SAFETY: the program's pointer.
        unsafe { *left = rest.get() };
    }
    result
}

pub(super) extern "C" fn nanosleep_(span: *const Timespec, left: *mut Timespec, _: usize) -> c_int {
    interruptible(left, |left| sleep_for(span, left))
}

fn sleep_for(span: *const Timespec, left: *mut Timespec) -> c_int {
    // SAFETY: the program's pointer.
    let asked = unsafe { span.as_ref() };
    let passed = asked.is_some_and(|span| program_time::pass(*span));
    let end = asked.filter(|_| !passed).map(|span| End::of(*span));
    if yielded_or_cancelled() {
        note_cut_short();
        end.into_iter().for_each(End::owe);
        return 0;
    }
    if asked.is_some_and(|span| is_skipped(*span, passed)) {
        return 0;
    }
    really(|| real::nanosleep(span, left))
}

/// Skips the sleep of a thread that is alone, if its run is one of a test. A loop that waits for what never comes soon sleeps again.
fn is_skipped(span: Timespec, passed: bool) -> bool {
    let is_one = (0..1_000_000_000).contains(&span.nanoseconds) && span.seconds >= 0; // else the call says what is wrong
    let Some(thread) = tracked().filter(|_| is_one) else { return false };
    thread.occupy();
    let skips = controller::skips_sleep(thread);
    if skips && !passed {
        let at = program_time::now(sys::CLOCK_MONOTONIC).plus(span);
        program_time::jump_to(Deadline { clock: sys::CLOCK_MONOTONIC, at });
    }
    thread.end();
    skips
}

const AT_A_MOMENT: c_int = 1; // TIMER_ABSTIME

/// Gives an error number.
pub(super) extern "C" fn clock_nanosleep_(
    by: c_int,
    flags: c_int,
    span: *const Timespec,
    left: *mut Timespec,
) -> c_int {
    let left = if flags & AT_A_MOMENT == 0 { left } else { core::ptr::null_mut() };
    let before = sys::errno();
    let slept = interruptible(left, |left| match sleep_by(by, flags, span, left) {
        0 => 0,
        error => {
            sys::set_errno(error);
            -1
        }
    });
    let error = if slept == 0 { 0 } else { sys::errno() };
    sys::set_errno(before);
    error
}

fn sleep_by(by: c_int, flags: c_int, span: *const Timespec, left: *mut Timespec) -> c_int {
    // SAFETY: the program's pointer.
    let asked = unsafe { span.as_ref() };
    let passed = asked.is_some_and(|at| match flags & AT_A_MOMENT {
        0 => program_time::pass(*at),
        _ => program_time::pass_to(Deadline { clock: by, at: *at }),
    });
    let end = asked.filter(|_| !passed).map(|at| match flags & AT_A_MOMENT {
        0 => End::of(*at),
        _ => End::of(Deadline { clock: by, at: *at }.monotonic().since(sys::now(sys::CLOCK_MONOTONIC))),
    });
    if yielded_or_cancelled() {
        note_cut_short();
        end.into_iter().for_each(End::owe);
        return 0;
    }
    if flags & AT_A_MOMENT == 0 || !program_time::shifted(by) {
        return really(|| real::clock_nanosleep(by, flags, span, left));
    }
    // SAFETY: the program's pointer.
    let Deadline { clock, at } = program_time::real(Deadline { clock: by, at: unsafe { *span } });
    really(|| real::clock_nanosleep(clock, flags, &raw const at, left))
}

extern "C" fn usleep_(microseconds: u32, _: usize) -> c_int {
    let (seconds, rest) = (microseconds / 1_000_000, microseconds % 1_000_000);
    let span = Timespec { seconds: i64::from(seconds), nanoseconds: i64::from(rest) * 1000 };
    nanosleep_(&raw const span, core::ptr::null_mut(), 0)
}

extern "C" fn sleep_(seconds: u32, _: usize) -> u32 {
    let mut left = Timespec { seconds: i64::from(seconds), nanoseconds: 0 };
    let before = sys::errno();
    if nanosleep_(&raw const left, &raw mut left, 0) == 0 {
        sys::set_errno(before);
        return 0;
    }
    left.seconds as u32
}

extern "C" fn thrd_sleep_(span: *const Timespec, left: *mut Timespec, _: usize) -> c_int {
    match nanosleep_(span, left, 0) {
        0 => 0,
        _ if sys::errno() == EINTR => -1,
        _ => -2,
    }
}

pub(super) extern "C" fn sched_yield_(_: usize) -> c_int {
    if yielded() { 0 } else { real::sched_yield() }
}

extern "C" fn thrd_yield_(_: usize) {
    sched_yield_(0);
}

interpose! {
    nanosleep "rdx" => nanosleep_;
    clock_nanosleep "r8" => clock_nanosleep_;
    usleep "rsi" => usleep_;
    sleep "rsi" => sleep_;
    thrd_sleep "rdx" => thrd_sleep_;
    sched_yield "rdi" => sched_yield_;
    pthread_yield "rdi" => sched_yield_;
    thrd_yield "rdi" => thrd_yield_;
}

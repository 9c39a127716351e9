//! Signals and cancellation within the program: the sender's earlier events come before the receiver's later ones.
//!
//! Each is a semaphore: sending posts it. A thread takes one down when it handles a signal, takes it by `sigwait` or `signalfd`, or begins
//! to unwind. Signals to a thread and those to the process have separate semaphores. A signal that the program did not send has no `Post`,
//! so handling it is no `Down`.

use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering::Relaxed;

use super::arrivals::arrived;
use super::sent::{CANCELLATION, PROCESS, key, object};
use super::unseen::{PROCESSES, What};
use super::{channel, interpose, real, tracked, unseen_calls};
use crate::controller;
use crate::feed;
use crate::feed::interruption::{Interruption, ended_as_recorded, interruptible};
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::log;
use crate::record::Kind;
use crate::siginfo::CODE;
use crate::sys::{self, EAGAIN, EINTR, Timespec, call};
use crate::threads::{self, Thread};
use crate::waiting;

/// About to be sent to a thread, or the process.
fn post(sender: &'static Thread, to: u64, number: u64, place: usize) {
    sender.begin();
    if number != CANCELLATION {
        channel::signal_sent(sender, place);
    }
    let bucket = waiting::lock(key(to, number));
    let kept = bucket.object_or_new(key(to, number));
    let [_, count, _] = kept.words.get();
    log::sync(sender, Kind::Post, place, object(to, number), count);
    kept.words.set([1, count + 1, 0]);
    bucket.unlock();
    sender.end();
}

/// It was not sent after all.
fn take_back(sender: &'static Thread, to: u64, number: u64, place: usize) {
    let error = sys::errno();
    sender.begin();
    let bucket = waiting::lock(key(to, number));
    if let Some(kept) = bucket.object(key(to, number)) {
        let [known, count, rest] = kept.words.get();
        let count = count.saturating_sub(1);
        log::sync(sender, Kind::SemaphoreInit, place, object(to, number), count);
        kept.words.set([known, count, rest]);
    }
    bucket.unlock();
    sender.end();
    sys::set_errno(error);
}

/// Sends a notice by `send`, whose result says whether it did.
fn send(to: Option<u64>, number: c_int, place: usize, send: impl FnOnce() -> c_int) -> c_int {
    let Some((thread, to)) = tracked().zip(to).filter(|_| number > 0) else { return send() };
    post(thread, to, number as u64, place);
    let result = send();
    if result != 0 {
        take_back(thread, to, number as u64, place);
    }
    result
}

fn number_of(pthread: usize) -> Option<u64> {
    threads::by_pthread(pthread).map(|thread| thread.number.get())
}

/// A thread is about to be cancelled.
pub fn cancelling(thread: &'static Thread, other: &'static Thread, place: usize) {
    post(thread, other.number.get(), CANCELLATION, place);
    other.cancellation.sent.store(true, Relaxed);
}

extern "C" fn pthread_kill_(pthread: usize, signal: c_int, place: usize) -> c_int {
    send(number_of(pthread), signal, place, || real::pthread_kill(pthread, signal))
}

extern "C" fn pthread_sigqueue_(pthread: usize, signal: c_int, value: usize, place: usize) -> c_int {
    send(number_of(pthread), signal, place, || real::pthread_sigqueue(pthread, signal, value))
}

/// The thread that the kernel knows by this number.
fn by_tid(tid: c_int) -> Option<u64> {
    threads::all().find(|other| other.tid.load(Relaxed) == tid).map(|other| other.number.get())
}

pub extern "C" fn tgkill_(process: c_int, thread: c_int, signal: c_int, place: usize) -> c_int {
    send(by_tid(thread), signal, place, || real::tgkill(process, thread, signal))
}

/// The calls below are none of the library's, but of `syscall`.
pub fn tkill_(thread: c_int, signal: c_int, place: usize) -> c_int {
    send(by_tid(thread), signal, place, || answer(call!(TKILL, thread, signal)))
}

/// `rt_sigqueueinfo`.
pub fn queue_to_process(process: c_int, signal: c_int, information: usize) -> c_int {
    to_process(process, signal, 0, || answer(call!(RT_SIGQUEUEINFO, process, signal, information)))
}

/// `rt_tgsigqueueinfo`.
pub fn queue_to_thread(process: c_int, thread: c_int, signal: c_int, information: usize) -> c_int {
    send(by_tid(thread), signal, 0, || answer(call!(RT_TGSIGQUEUEINFO, process, thread, signal, information)))
}

/// What the library makes of the kernel's answer.
fn answer(result: isize) -> c_int {
    if result < 0 {
        sys::set_errno(-result as c_int);
        return -1;
    }
    result as c_int
}

/// To this process, as a member of a group too; to others it may tell anything.
fn to_process(process: c_int, signal: c_int, place: usize, call: impl FnOnce() -> c_int) -> c_int {
    if process > 0 && process != call!(GETPID, 0) as c_int {
        unseen_calls::mark_here(What::named(c"kill", PROCESSES), place);
        return call();
    }
    send(Some(PROCESS), signal, place, call)
}

pub extern "C" fn kill_(process: c_int, signal: c_int, place: usize) -> c_int {
    to_process(process, signal, place, || real::kill(process, signal))
}

extern "C" fn killpg_(group: c_int, signal: c_int, place: usize) -> c_int {
    to_process(-group, signal, place, || real::killpg(group, signal))
}

extern "C" fn sigqueue_(process: c_int, signal: c_int, value: usize, place: usize) -> c_int {
    to_process(process, signal, place, || real::sigqueue(process, signal, value))
}

/// `siginfo_t`.
type Information = [u32; 32];

/// Waits to a limit; -1 and `EAGAIN` where nothing came.
fn wait_until(set: *const c_void, to: *mut Information, at: *const Timespec, place: usize) -> c_int {
    let Some(thread) = tracked() else { return real::sigtimedwait(set, to.cast(), at) };
    let within = |limit: *const Timespec| {
        let signal = real::sigtimedwait(set, to.cast(), limit);
        if signal < 0 && sys::errno() == EAGAIN { 0 } else { signal }
    };
    controller::before_taking(thread);
    let wait = |interruption: Interruption, to_limit: bool| {
        let signal = if to_limit { interruption.sleep(thread, || within(at)) } else { 0 };
        if signal != 0 {
            return signal;
        }
        thread.begin();
        let signal = within(&raw const NONE); // now that no other thread of a controlled run goes on
        if signal == 0 {
            channel::no_signal(thread, place);
        }
        thread.end();
        signal
    };
    let signal = interruptible(|interruption| feed::limited(|to_limit| wait(interruption, to_limit)));
    if signal != 0 {
        return signal;
    }
    sys::set_errno(EAGAIN);
    -1
}

static NONE: Timespec = Timespec { seconds: 0, nanoseconds: 0 };

fn wait_for(set: *const c_void, information: *mut Information, at: *const Timespec, place: usize) -> c_int {
    let mut own: Information = [0; 32];
    let to = if information.is_null() { &raw mut own } else { information };
    let signal = if at.is_null() {
        controller::listens(tracked(), true);
        let wait = || real::sigtimedwait(set, to.cast(), at);
        let signal = tracked().map_or_else(wait, |thread| ended_as_recorded(thread, wait));
        controller::listens(tracked(), false);
        signal
    } else {
        wait_until(set, to, at, place)
    };
    if signal > 0
        && let Some(thread) = tracked()
    {
        // SAFETY: the library wrote it.
        arrived(thread, signal, unsafe { (*to)[CODE] } as c_int, place);
    }
    signal
}

extern "C" fn sigwaitinfo_(set: *const c_void, information: *mut Information, place: usize) -> c_int {
    wait_for(set, information, core::ptr::null(), place)
}

#[rustfmt::skip]
extern "C" fn sigtimedwait_(set: *const c_void, information: *mut Information, at: *const Timespec, place: usize) -> c_int {
    wait_for(set, information, at, place)
}

unsafe extern "C" fn sigwait_(set: *const c_void, signal: *mut c_int, place: usize) -> c_int {
    let before = sys::errno();
    loop {
        let found = wait_for(set, core::ptr::null_mut(), core::ptr::null(), place);
        let error = sys::errno();
        if found > 0 || error != EINTR {
            sys::set_errno(before);
            if found > 0 {
                // SAFETY: the program's pointer.
                unsafe { *signal = found };
            }
            return if found > 0 { 0 } else { error };
        }
    }
}

interpose! {
    pthread_kill "rdx" => pthread_kill_;
    pthread_sigqueue "rcx" => pthread_sigqueue_;
    tgkill "rcx" => tgkill_;
    kill "rdx" => kill_;
    killpg "rdx" => killpg_;
    sigqueue "rcx" => sigqueue_;
    sigwait "rdx" => sigwait_;
    sigwaitinfo "rdx" => sigwaitinfo_;
    sigtimedwait "rcx" => sigtimedwait_;
}

//! Signals and cancellation within the program: the sender's earlier events come before the receiver's later ones.
//!
//! Each is a semaphore: sending posts it. A thread takes one down when it handles a signal, takes it by `sigwait` or `signalfd`, or begins
//! to unwind. Signals to a thread and those to the process have separate semaphores. A signal that the program did not send has no `Post`,
//! so handling it is no `Down`.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::unseen::{self, PROCESSES, TIMERS, What};
use super::{channel, interpose, real, tracked};
use crate::controller;
use crate::feed;
use crate::log;
use crate::record::{Kind, NOTICES};
use crate::sys::{self, EAGAIN, EINTR, NEXT, Timespec, call};
use crate::threads::{self, Thread};
use crate::waiting;

/// In place of the number of a signal.
const CANCELLATION: u64 = 0;
/// In place of the number of a thread.
const PROCESS: u64 = 0;
/// The first signal of which each one sent arrives; of others several may arrive as one.
const QUEUED: u64 = 34;

/// Where the log has it.
fn object(thread: u64, number: u64) -> u64 {
    NOTICES + (thread << 7 | number) * 16
}

/// Where the runtime keeps what was sent: apart from all addresses, and from channels.
fn key(thread: u64, number: u64) -> usize {
    3 << 61 | (object(thread, number) - NOTICES) as usize
}

/// About to be sent to a thread, or the process.
fn post(sender: &'static Thread, to: u64, number: u64, place: usize) {
    sender.begin();
    if number != CANCELLATION {
        channel::signal_sent(sender, place);
    }
    let bucket = waiting::lock(key(to, number));
    let kept = bucket.object_or_new(key(to, number));
    let [known, count, _] = kept.words.get();
    let _step = log::together(sender, 2);
    if known == 0 {
        log::sync(sender, Kind::SemaphoreInit, place, object(to, number), 0);
    }
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

/// One of those sent arrived, if any was. The thread is inside of a hook.
fn down(receiver: &'static Thread, to: u64, number: u64, place: usize) -> bool {
    let bucket = waiting::lock(key(to, number));
    let kept = bucket.object(key(to, number)).filter(|kept| kept.words.get()[1] > 0);
    if let Some(kept) = kept {
        let count = kept.words.get()[1] - 1;
        let _step = log::together(receiver, 2);
        log::sync(receiver, Kind::Down, place, object(to, number), count);
        if count > 0 && number < QUEUED && number != CANCELLATION {
            // The others arrived with it: what is sent from now on makes the next one.
            log::sync(receiver, Kind::SemaphoreInit, place, object(to, number), 0);
        }
        kept.words.set([1, if number < QUEUED { 0 } else { count }, 0]);
    }
    bucket.unlock();
    kept.is_some()
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

/// Where the C library keeps, in a thread's descriptor, how far its cancellation is; 0 where that is not known.
static STATE: AtomicUsize = AtomicUsize::new(0);

/// Before the first thread.
pub fn prepare() {
    // SAFETY: a string; what is found are three numbers for debuggers, of a field its bits, how many there are, and its offset.
    unsafe {
        let field = sys::dlsym(NEXT, c"_thread_db_pthread_cancelhandling".as_ptr()).cast::<u32>();
        if let Some(&[32, 1, offset]) = field.cast::<[u32; 3]>().as_ref() {
            STATE.store(offset as usize, Relaxed);
        }
    }
}

/// Whether this thread, which somebody cancelled, unwinds because of that.
fn is_unwinding() -> bool {
    const DISABLED: u32 = 1;
    const CANCELLED: u32 = 8;
    const EXITING: u32 = 16;
    let offset = STATE.load(Relaxed);
    if offset == 0 {
        return true; // from the first moment at which it could
    }
    // SAFETY: the library's own description of the thread that runs here.
    let state = unsafe { ((sys::pthread_self() + offset) as *const u32).read_volatile() };
    state & (DISABLED | CANCELLED | EXITING) == CANCELLED | EXITING
}

/// A thread that was cancelled is about to write a record: if it unwinds, that comes after the cancellation. In the log this looks like a
/// signal handler without code, since it can come between any two instructions.
#[cold]
#[inline(never)]
pub fn notice_cancellation(thread: &'static Thread) {
    if thread.cancellation.noticed.get() || !is_unwinding() {
        return;
    }
    thread.cancellation.noticed.set(true);
    log::sync(thread, Kind::HandlerBegin, 0, 0, 0);
    thread.stop_at_limit();
    down(thread, thread.number.get(), CANCELLATION, 0);
    thread.stop_at_limit();
    log::sync(thread, Kind::HandlerEnd, 0, 0, 0);
    thread.stop_at_limit();
}

/// What `siginfo_t` says of a signal that went to one thread.
pub const TO_THREAD: c_int = -6;
const SENT_BY_KILL: c_int = 0;
const QUEUED_BY_CALL: c_int = -1;

/// Whether a signal may have been sent to the process as a whole.
pub fn may_go_to_process(code: c_int) -> bool {
    matches!(code, SENT_BY_KILL | QUEUED_BY_CALL)
}

/// Whether the kernel sent a signal that is no fault: for a timer, a child process, a queue, input.
pub fn is_of_kernel(code: c_int) -> bool {
    !matches!(code, SENT_BY_KILL | QUEUED_BY_CALL | TO_THREAD)
}

/// A signal arrived, with what the kernel says of it (`siginfo_t`, or its first words). No hook is under way. Whether it is one that the
/// program sent.
pub fn arrived(thread: &'static Thread, signal: c_int, code: c_int, place: usize) -> bool {
    const OF_TIMER: c_int = -2;
    const OF_MESSAGE_QUEUE: c_int = -3;
    const OF_ASYNCHRONOUS_IO: c_int = -4;
    const CHILD: c_int = 17;
    const ALARMS: [c_int; 3] = [14, 26, 27];
    const INPUT: c_int = 29;
    match code {
        SENT_BY_KILL | QUEUED_BY_CALL | TO_THREAD => {
            thread.begin();
            let number = signal as u64;
            let was_sent = down(thread, thread.number.get(), number, place) || down(thread, PROCESS, number, place);
            thread.end();
            return was_sent;
        }
        OF_TIMER => unseen::mark(thread, What::named(c"a timer's signal", TIMERS), place),
        OF_MESSAGE_QUEUE => unseen::mark(thread, What::anything(c"a message queue's signal"), place),
        OF_ASYNCHRONOUS_IO => {
            unseen::mark(thread, What::named(c"a signal of asynchronous input and output", unseen::ASYNCHRONOUS), place)
        }
        _ if ALARMS.contains(&signal) => unseen::mark(thread, What::named(c"a timer's signal", TIMERS), place),
        _ if signal == CHILD => unseen::mark(thread, What::named(c"a signal of a child process", PROCESSES), place),
        _ if signal == INPUT => unseen::mark(thread, What::anything(c"a signal of input"), place),
        _ => {} // what the thread itself did
    }
    false
}

/// Where `siginfo_t` says who sent the signal, in words of 32 bits.
pub const CODE: usize = 2;

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
        unseen::mark_here(What::named(c"kill", PROCESSES), place);
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
    let signal = feed::limited(|to_limit| {
        let signal = if to_limit { within(at) } else { 0 };
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
    });
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
    let signal = if at.is_null() { real::sigtimedwait(set, to.cast(), at) } else { wait_until(set, to, at, place) };
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

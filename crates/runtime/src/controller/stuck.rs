//! Whether threads that sleep in the kernel can ever wake. A thread that waits without a timeout for event counters, which no other process
//! has, wakes by the program's own threads alone.

use core::ffi::c_int;
use core::sync::atomic::Ordering::Relaxed;

use crate::controller::thread_turn::State;
use crate::controller::waking;
use crate::interpose::poll::waits_in_poll;
use crate::sys::{self, call, number};
use crate::text::{Text, number as decimal};
use crate::threads::{self, Thread};

/// Descriptors that are looked at for sockets, through which another process may have got an event counter.
const DESCRIPTORS: c_int = 1024;

/// Whether each thread waits for another of them, and at least one of them in the kernel.
pub fn all_are() -> bool {
    let alive = || threads::all().filter(|thread| thread.turn.state.get() != State::Done);
    let waits = |thread: &Thread| match thread.turn.state.get() {
        State::Blocked => thread.turn.deadline.get().is_none(),
        State::Outside => awaited(thread).is_some(),
        State::Ready | State::Done => false,
    };
    let is_outside = |thread: &Thread| thread.turn.state.get() == State::Outside;
    let no_other = || !waking::by_others() && !alive().any(has_children) && !has_sockets();
    alive().any(is_outside) && alive().all(waits) && no_other()
}

/// The event counter for which a thread waits without a timeout; of several one.
pub fn awaited(thread: &Thread) -> Option<c_int> {
    let mut text = [0u8; 256];
    let path = Text::<64>::formatted(format_args!("/proc/self/task/{}/syscall\0", thread.tid.load(Relaxed)));
    let read = sys::contents(path.bytes(), &mut text)?;
    let mut words = read.split(|&byte| byte == b' ');
    let call = decimal(words.next()?)? as usize; // the word "running" is no number
    let mut argument = || words.next().and_then(hexadecimal);
    let [first, second, third, fourth] = [argument()?, argument()?, argument()?, argument()?];
    let for_ever = |timeout: u64| (timeout as c_int) < 0;
    let files = || {
        // SAFETY: the kernel has taken this array of the caller, which sleeps in the call.
        unsafe { waits_in_poll(first as usize, second as usize) }
    };
    match call {
        number::READ => is_event_counter(first as c_int).then_some(first as c_int),
        number::POLL if for_ever(third) => files().all_counters(),
        number::PPOLL if third == 0 => files().all_counters(),
        number::EPOLL_WAIT | number::EPOLL_PWAIT if for_ever(fourth) => counters_of_epoll(first as c_int),
        _ => None,
    }
}

/// Descriptors of a call of `poll`; negative ones do not count.
pub trait Files: Iterator<Item = c_int> + Sized {
    /// One of them, where all are event counters.
    fn all_counters(mut self) -> Option<c_int> {
        self.try_fold(None, |_, file| counter_behind(file).map(Some)).flatten()
    }
}

/// The event counter that a descriptor is, or that makes an `epoll` ready.
fn counter_behind(file: c_int) -> Option<c_int> {
    if link_of(file, |name| name == b"anon_inode:[eventpoll]") {
        return counters_of_epoll(file);
    }
    is_event_counter(file).then_some(file)
}

impl<I: Iterator<Item = c_int>> Files for I {}

/// One of the descriptors that an `epoll` watches, where all are event counters.
fn counters_of_epoll(epoll: c_int) -> Option<c_int> {
    let mut text = [0u8; 2048];
    let size = text.len();
    let read = sys::contents(Text::<64>::formatted(format_args!("/proc/self/fdinfo/{epoll}\0")).bytes(), &mut text)?;
    if read.len() == size {
        return None; // there may be more
    }
    let watched = read.split(|&byte| byte == b'\n').filter_map(|line| line.strip_prefix(b"tfd:"));
    watched.map(|line| first_number(line.trim_ascii_start()).unwrap_or(-1)).all_counters()
}

fn first_number(text: &[u8]) -> Option<c_int> {
    decimal(text.split(|byte| !byte.is_ascii_digit()).next()?).map(|number| number as c_int)
}

fn is_event_counter(file: c_int) -> bool {
    link_of(file, |name| name == b"anon_inode:[eventfd]")
}

/// Asks of what is behind a descriptor, by the name that the kernel gives it; no where nothing is.
fn link_of(file: c_int, ask: impl Fn(&[u8]) -> bool) -> bool {
    let path = Text::<64>::formatted(format_args!("/proc/self/fd/{file}\0"));
    let mut name = [0u8; 64];
    let length = call!(READLINK, path.bytes().as_ptr(), name.as_mut_ptr(), name.len());
    length > 0 && ask(&name[..length as usize])
}

/// Whether a child may have an event counter of ours; also where the kernel does not say.
fn has_children(thread: &Thread) -> bool {
    let path = Text::<64>::formatted(format_args!("/proc/self/task/{}/children\0", thread.tid.load(Relaxed)));
    sys::contents(path.bytes(), &mut [0u8; 16]).is_none_or(|text| !text.is_empty())
}

fn has_sockets() -> bool {
    (0..DESCRIPTORS).any(|file| link_of(file, |name| name.starts_with(b"socket:")))
}

/// A number as `0x1f`.
fn hexadecimal(text: &[u8]) -> Option<u64> {
    let digits = text.strip_prefix(b"0x").filter(|digits| !digits.is_empty())?;
    digits.iter().try_fold(0u64, |number, &digit| {
        let digit = (digit as char).to_digit(16)?;
        number.checked_mul(16)?.checked_add(u64::from(digit))
    })
}

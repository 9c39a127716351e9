//! Waiting for several descriptors at once: what a thread does after one is ready comes after what made it ready.
//!
//! A channel that is ready holds something: one is taken from its semaphore and put back at once. What `epoll` reports is not the descriptor
//! but a number that the program chose, so which descriptors stand for it is kept here.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicI32, AtomicU64, Ordering::Relaxed};

use super::channels::{self, End};
use super::unseen::{self, TIMERS, What};
use super::{interpose, outside, real, tracked};
use crate::lock::Lock;
use crate::sys::{self, Timespec};
use crate::threads::Thread;

/// `struct pollfd`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Poll {
    pub file: c_int,
    pub events: i16,
    pub found: i16,
}

/// The descriptors of an array that a thread gave to `poll`.
///
/// # Safety
/// The array has this many entries, and stays as long as the iterator is used.
pub unsafe fn waits_in_poll(files: usize, count: usize) -> impl Iterator<Item = c_int> {
    let files = files as *const Poll;
    // SAFETY: as the caller says.
    (0..count).map(move |index| unsafe { (*files.add(index)).file }).filter(|file| *file >= 0)
}

/// There is something to read.
pub const READABLE: i16 = 1;
/// A write would not wait.
pub const WRITABLE: i16 = 4;

impl Poll {
    pub fn new(file: c_int, events: i16) -> Poll {
        Poll { file, events, found: 0 }
    }
}

/// `struct epoll_event`.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Event {
    events: u32,
    data: u64,
}

/// Something can be read, an error or the other side's end included.
const READY: u32 = 1 | 2 | 8 | 16 | 0x2000;

/// A descriptor can be read from.
fn ready(thread: &'static Thread, name: &'static core::ffi::CStr, file: c_int, place: usize) {
    match channels::end(file) {
        Some(End::Channel(key, _)) => channels::seen(thread, key, name, place),
        Some(End::Socket) => outside::ready(thread, file, place),
        Some(End::Timer) => unseen::mark(thread, What::of(name, TIMERS), place),
        Some(End::Signals | End::Unseen) => unseen::mark(thread, What::anything(name), place),
        Some(End::File(_) | End::Random) | None => {}
    }
}

unsafe fn polled(files: *const Poll, count: u64, found: c_int, place: usize) {
    let Some(thread) = tracked().filter(|_| found > 0) else { return };
    let error = sys::errno();
    for index in 0..count as usize {
        // SAFETY: the program's array of so many.
        let poll = unsafe { *files.add(index) };
        if poll.file >= 0 && poll.found as u32 & READY != 0 {
            ready(thread, c"poll", poll.file, place);
        }
    }
    sys::set_errno(error);
}

unsafe extern "C" fn poll_(files: *mut c_void, count: u64, timeout: c_int, place: usize) -> c_int {
    let found = real::poll(files, count, timeout);
    // SAFETY: the program's array.
    unsafe { polled(files.cast(), count, found, place) };
    found
}

#[rustfmt::skip]
unsafe extern "C" fn ppoll_(files: *mut c_void, count: u64, timeout: *const Timespec, mask: *const c_void, place: usize) -> c_int {
    let found = real::ppoll(files, count, timeout, mask);
    // SAFETY: the program's array.
    unsafe { polled(files.cast(), count, found, place) };
    found
}

unsafe fn selected(most: c_int, reading: *const u64, found: c_int, place: usize) {
    let Some(thread) = tracked().filter(|_| found > 0 && !reading.is_null()) else { return };
    let error = sys::errno();
    for file in 0..most.max(0) {
        // SAFETY: the program's set, which has a bit for each.
        if unsafe { *reading.add(file as usize / 64) } >> (file % 64) & 1 != 0 {
            ready(thread, c"select", file, place);
        }
    }
    sys::set_errno(error);
}

unsafe extern "C" fn select_(
    most: c_int,
    reading: *mut c_void,
    writing: *mut c_void,
    other: *mut c_void,
    timeout: *mut c_void,
    place: usize,
) -> c_int {
    let found = real::select(most, reading, writing, other, timeout);
    // SAFETY: the program's set.
    unsafe { selected(most, reading.cast(), found, place) };
    found
}

unsafe extern "C" fn pselect_(
    most: c_int,
    reading: *mut c_void,
    writing: *mut c_void,
    other: *mut c_void,
    timeout: *const c_void,
    mask: *const c_void,
) -> c_int {
    let found = real::pselect(most, reading, writing, other, timeout, mask);
    // SAFETY: the program's set.
    unsafe { selected(most, reading.cast(), found, 0) };
    found
}

/// A descriptor that an `epoll` watches; no room is left where all are in use.
struct Watch {
    /// The descriptor of the `epoll` plus one, 0 where this is free.
    epoll: AtomicI32,
    file: AtomicI32,
    data: AtomicU64,
}

const WATCHED: usize = 1024;
static WATCHES: [Watch; WATCHED] =
    [const { Watch { epoll: AtomicI32::new(0), file: AtomicI32::new(0), data: AtomicU64::new(0) } }; WATCHED];
static LOCK: Lock = Lock::new();

unsafe extern "C" fn epoll_ctl_(epoll: c_int, what: c_int, file: c_int, event: *mut c_void, place: usize) -> c_int {
    const DELETE: c_int = 2;
    let _ = place;
    let result = real::epoll_ctl(epoll, what, file, event);
    if let Some(thread) = tracked().filter(|_| result == 0) {
        thread.occupy();
        LOCK.lock();
        let is_this = |watch: &&Watch| watch.epoll.load(Relaxed) == epoll + 1 && watch.file.load(Relaxed) == file;
        let known = WATCHES.iter().find(is_this);
        if what == DELETE {
            known.inspect(|watch| watch.epoll.store(0, Relaxed));
        } else if let Some(watch) = known.or_else(|| WATCHES.iter().find(|watch| watch.epoll.load(Relaxed) == 0)) {
            watch.file.store(file, Relaxed);
            // SAFETY: the program's event.
            watch.data.store(unsafe { (*event.cast::<Event>()).data }, Relaxed);
            watch.epoll.store(epoll + 1, Relaxed);
        }
        LOCK.unlock();
        thread.end();
    }
    result
}

/// A descriptor is closed: no `epoll` watches it any more, and it watches none.
pub fn closed(thread: &'static Thread, file: c_int) {
    thread.occupy();
    LOCK.lock();
    let of_file = |watch: &&Watch| {
        let epoll = watch.epoll.load(Relaxed);
        epoll == file + 1 || epoll != 0 && watch.file.load(Relaxed) == file
    };
    WATCHES.iter().filter(of_file).for_each(|watch| watch.epoll.store(0, Relaxed));
    LOCK.unlock();
    thread.end();
}

/// The descriptors that stand for this number.
fn watched(epoll: c_int, data: u64) -> impl Iterator<Item = c_int> {
    let of_data = move |watch: &&Watch| watch.epoll.load(Relaxed) == epoll + 1 && watch.data.load(Relaxed) == data;
    WATCHES.iter().filter(of_data).map(|watch| watch.file.load(Relaxed))
}

unsafe fn reported(epoll: c_int, events: *const Event, found: c_int, place: usize) {
    let Some(thread) = tracked() else { return };
    let error = sys::errno();
    for index in 0..found.max(0) as usize {
        // SAFETY: the kernel wrote so many.
        let Event { events, data } = unsafe { *events.add(index) };
        if events & READY == 0 {
            continue;
        }
        if watched(epoll, data).next().is_none() {
            unseen::mark(thread, What::anything(c"epoll_wait"), place);
        }
        watched(epoll, data).for_each(|file| ready(thread, c"epoll_wait", file, place));
    }
    sys::set_errno(error);
}

unsafe extern "C" fn epoll_wait_(
    epoll: c_int,
    events: *mut c_void,
    most: c_int,
    timeout: c_int,
    place: usize,
) -> c_int {
    let found = real::epoll_wait(epoll, events, most, timeout);
    // SAFETY: the program's array.
    unsafe { reported(epoll, events.cast(), found, place) };
    found
}

unsafe extern "C" fn epoll_pwait_(
    epoll: c_int,
    events: *mut c_void,
    most: c_int,
    timeout: c_int,
    mask: *const c_void,
    place: usize,
) -> c_int {
    let found = real::epoll_pwait(epoll, events, most, timeout, mask);
    // SAFETY: the program's array.
    unsafe { reported(epoll, events.cast(), found, place) };
    found
}

unsafe extern "C" fn epoll_pwait2_(
    epoll: c_int,
    events: *mut c_void,
    most: c_int,
    timeout: *const c_void,
    mask: *const c_void,
    place: usize,
) -> c_int {
    let found = real::epoll_pwait2(epoll, events, most, timeout, mask);
    // SAFETY: the program's array.
    unsafe { reported(epoll, events.cast(), found, place) };
    found
}

interpose! {
    poll "rcx" => poll_;
    ppoll "r8" => ppoll_;
    select "r9" => select_;
    pselect "r11" => pselect_; // no register is left for the place
    epoll_ctl "r8" => epoll_ctl_;
    epoll_wait "r8" => epoll_wait_;
    epoll_pwait "r9" => epoll_pwait_;
    epoll_pwait2 "r9" => epoll_pwait2_;
}

//! Waiting for several descriptors by `epoll`. It reports not the descriptor but a number that the program chose, so this module keeps the
//! descriptors of each number.
//!
//! A report comes after the `epoll_ctl` that asked for it (`asked.rs`), and some come once for each write (`edges.rs`).

use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering::Relaxed};

use super::asked::Asked;
use super::channel;
use super::edges::{self, Edges};
use super::poll::{Poll, READABLE};
use super::polling::{self, Limit, Look, READY, Waiting, by_script, listened_to, looking, of_milliseconds, outside_of};
use super::sockets::{self, Script};
use super::{interpose, real, tracked};
use crate::feed::sockets::Ready;
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::lock::Lock;
use crate::sys;
use crate::threads::Thread;

/// `struct epoll_event`.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Event {
    events: u32,
    data: u64,
}

/// A descriptor that an `epoll` watches; no room is left where all are in use.
struct Watch {
    /// The descriptor of the `epoll` plus one, 0 where this is free.
    epoll: AtomicI32,
    file: AtomicI32,
    data: AtomicU64,
    /// The key of the channel whose messages, or of the signals, that it waits for, 0 where it waits for something else.
    channel: AtomicUsize,
    asked: Asked,
}

impl Watch {
    const fn free() -> Watch {
        let (epoll, file) = (AtomicI32::new(0), AtomicI32::new(0));
        Watch { epoll, file, data: AtomicU64::new(0), channel: AtomicUsize::new(0), asked: Asked::nothing() }
    }

    /// The writes to its channel that it has not reported.
    fn edges(&self) -> &'static Edges {
        let distance = core::ptr::from_ref(self).addr() - WATCHES.as_ptr().addr();
        edges::at(distance / size_of::<Watch>())
    }

    /// It watches nothing any more.
    fn forget(&self) {
        self.epoll.store(0, Relaxed);
        self.edges().forget();
    }
}

static WATCHES: [Watch; edges::MOST] = [const { Watch::free() }; edges::MOST];
static LOCK: Lock = Lock::new();

pub(super) unsafe extern "C" fn epoll_ctl_(
    epoll: c_int,
    what: c_int,
    file: c_int,
    event: *mut c_void,
    place: usize,
) -> c_int {
    const ADD: c_int = 1;
    const DELETE: c_int = 2;
    let Some(thread) = tracked() else { return real::epoll_ctl(epoll, what, file, event) };
    // SAFETY: the program's event.
    let event_given = unsafe { event.cast::<Event>().as_ref() }.filter(|_| what != DELETE);
    thread.begin();
    LOCK.lock();
    let is_this = |watch: &&Watch| watch.epoll.load(Relaxed) == epoll + 1 && watch.file.load(Relaxed) == file;
    let known = WATCHES.iter().find(is_this);
    let new = || WATCHES.iter().find(|watch| watch.epoll.load(Relaxed) == 0).filter(|_| what == ADD);
    let watch = known.or_else(new);
    let before = watch.filter(|_| known.is_some()).map(|watch| (watch.data.load(Relaxed), watch.channel.load(Relaxed)));
    // Another thread may be told at once.
    if let Some((watch, Event { events, data })) = watch.zip(event_given.copied()) {
        watch.asked.ask(thread, events, known.is_none(), place);
        let read_from = listened_to(file).filter(|_| events & READY != 0);
        if let Some(key) = polling::channel(file).filter(|_| events & READY != 0) {
            channel::asked_for(thread, key, (watch.edges(), events), place);
        }
        watch.file.store(file, Relaxed);
        watch.data.store(data, Relaxed);
        watch.channel.store(read_from.unwrap_or(0), Relaxed);
        watch.epoll.store(epoll + 1, Relaxed);
    }
    let result = real::epoll_ctl(epoll, what, file, event);
    let error = sys::errno();
    match (watch, before) {
        (Some(watch), None) if result != 0 => watch.forget(),
        (Some(watch), _) if result == 0 && what == DELETE => watch.forget(),
        (Some(watch), Some((data, channel))) if result != 0 => {
            watch.data.store(data, Relaxed);
            watch.channel.store(channel, Relaxed);
        }
        _ => {}
    }
    LOCK.unlock();
    thread.end();
    sys::set_errno(error);
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
    WATCHES.iter().filter(of_file).for_each(Watch::forget);
    LOCK.unlock();
    thread.end();
}

/// What is watched under this number.
fn watches(epoll: c_int, data: u64) -> impl Iterator<Item = &'static Watch> {
    let of_data = move |watch: &&Watch| watch.epoll.load(Relaxed) == epoll + 1 && watch.data.load(Relaxed) == data;
    WATCHES.iter().filter(of_data)
}

/// The descriptors that stand for this number.
fn watched(epoll: c_int, data: u64) -> impl Iterator<Item = c_int> {
    watches(epoll, data).map(|watch| watch.file.load(Relaxed))
}

/// The channels that an `epoll` waits for, without those whose number stands in an event.
fn not_reported(epoll: c_int, found: &[Event]) -> impl Iterator<Item = (usize, &'static Edges)> {
    let is_silent = move |watch: &&Watch| {
        let data = watch.data.load(Relaxed);
        let is_asked = watch.epoll.load(Relaxed) == epoll + 1 && !watch.asked.is_off();
        is_asked && !found.iter().any(|event| { event.data } == data)
    };
    let silent = WATCHES.iter().filter(is_silent).map(|watch| (watch.channel.load(Relaxed), watch.edges()));
    silent.filter(|(channel, _)| *channel != 0)
}

/// What the kernel reported.
unsafe fn events_at<'e>(events: *mut c_void, found: c_int) -> &'e [Event] {
    match found {
        ..=0 => &[],
        // SAFETY: the kernel wrote so many.
        _ => unsafe { core::slice::from_raw_parts(events.cast(), found as usize) },
    }
}

fn record_events(look: &mut Look, epoll: c_int, events: &[Event]) {
    for Event { events, data } in events.iter().copied() {
        for watch in watches(epoll, data) {
            look.reported((&watch.asked, watch.edges()), watch.file.load(Relaxed), events);
        }
        if events & READY != 0 && watches(epoll, data).next().is_none() {
            look.unknown();
        }
    }
    not_reported(epoll, events).for_each(|(channel, edges)| look.is_empty(channel, Some(edges)));
}

/// Waits for an `epoll` by `wait`, which sleeps until it is ready and takes nothing from it; `all` does all in one call.
unsafe fn epoll_by(
    (epoll, events, most): (c_int, *mut c_void, c_int),
    (limit, place): (Limit, usize),
    wait: impl Fn(*mut c_void) -> c_int,
    all: impl Fn() -> c_int,
) -> c_int {
    let files = WATCHES.iter().filter(|watch| watch.epoll.load(Relaxed) == epoll + 1);
    let looking = looking(files.map(|watch| watch.file.load(Relaxed)));
    let Some(thread) = looking.filter(|_| most > 0) else {
        let found = limit.ended(all());
        if let Some(thread) = tracked().filter(|_| found > 0) {
            let error = sys::errno();
            let mut look = Look::begin(thread, c"epoll_wait", place);
            // SAFETY: the program's array.
            record_events(&mut look, epoll, unsafe { events_at(events, found) });
            look.end();
            sys::set_errno(error);
        }
        return found;
    };
    let taken = Cell::new(0);
    let look = || {
        // SAFETY: what is left of the program's array.
        let rest = unsafe { events.cast::<Event>().add(taken.get() as usize) };
        if taken.get() == most {
            return most;
        }
        let found = real::epoll_wait(epoll, rest.cast(), most - taken.get(), 0);
        if found < 0 {
            return if taken.get() > 0 { taken.get() } else { found };
        }
        // SAFETY: the program's array, of which the kernel has written so much.
        taken.set(unsafe { merged(events.cast(), taken.get() as usize, found as usize) } as c_int);
        taken.get()
    };
    let script = sockets::script(thread);
    let look = || {
        let found = look();
        // SAFETY: the program's array, of which the kernel has written so much.
        by_script(&script).map_or(found, |script| unsafe { reports(script, epoll, (events.cast(), most), found) })
    };
    let found = Waiting { thread, name: c"epoll_wait", place, limit }.wait_and_look(
        || {
            let real = || wait(core::ptr::from_mut(&mut Poll::new(epoll, READABLE)).cast());
            by_script(&script).map_or_else(real, Script::wait)
        },
        look,
        // SAFETY: as above.
        |found| {
            not_reported(epoll, unsafe { events_at(events, found) })
                .all(|(key, edges)| channel::is_empty(key, Some(edges)))
        },
        // SAFETY: as above.
        |look, found| record_events(look, epoll, unsafe { events_at(events, found) }),
    );
    let as_ready = |event: &Event| {
        let data = event.data;
        let file = watched(epoll, data).next().unwrap_or(-1);
        Ready { data, socket: outside_of(file), file, events: event.events }
    };
    // SAFETY: as above.
    sockets::keep_ready(thread, found, unsafe { events_at(events, found) }.iter().map(as_ready));
    found
}

/// Reports what the recording has: how many events, 0 if something is missing.
///
/// # Safety
/// The program's array with room for `most` events, of which the kernel has written `found`.
unsafe fn reports(script: &Script, epoll: c_int, (events, most): (*mut Event, c_int), found: c_int) -> c_int {
    // SAFETY: the caller's promise.
    let events = unsafe { core::slice::from_raw_parts_mut(events, most as usize) };
    let mut count = found.max(0) as usize;
    let is_of = |data: u64| move |event: &Event| { event.data } == data;
    let is_ready = |ready: &Ready| events[..count].iter().any(is_of(data_of(epoll, ready)));
    let Some(ready) = script.report(&is_ready) else { return 0 };
    let mut at = 0;
    for ready in ready.take(events.len()) {
        let data = data_of(epoll, &ready);
        match events[at..count.max(at)].iter().position(is_of(data)) {
            Some(index) => events.swap(at, at + index),
            None => {
                if at < count && count < events.len() {
                    events[count] = events[at];
                    count += 1;
                }
                events[at] = Event { events: ready.events, data };
            }
        }
        at += 1;
    }
    at as c_int
}

/// The number by which the program knows a descriptor that was reported.
fn data_of(epoll: c_int, ready: &Ready) -> u64 {
    let is_it = |watch: &&Watch| watch.epoll.load(Relaxed) == epoll + 1 && watch.file.load(Relaxed) == ready.file;
    WATCHES.iter().find(is_it).map_or(ready.data, |watch| watch.data.load(Relaxed))
}

/// Of `more` events after the first `count`, those stay that are not there yet. How many there are then.
unsafe fn merged(events: *mut Event, count: usize, more: usize) -> usize {
    let mut end = count;
    for index in count..count + more {
        // SAFETY: the caller's array of so many.
        let event = unsafe { *events.add(index) };
        // SAFETY: as above.
        let known = (0..count).find(|known| unsafe { (*events.add(*known)).data } == { event.data });
        // SAFETY: as above.
        unsafe {
            match known {
                Some(known) => (*events.add(known)).events |= event.events,
                None => {
                    *events.add(end) = event;
                    end += 1;
                }
            }
        }
    }
    end
}

pub(super) unsafe extern "C" fn epoll_wait_(
    epoll: c_int,
    events: *mut c_void,
    most: c_int,
    timeout: c_int,
    place: usize,
) -> c_int {
    let all = || real::epoll_wait(epoll, events, most, timeout);
    // SAFETY: the program's array.
    unsafe {
        epoll_by(
            (epoll, events, most),
            (Limit::after_milliseconds(timeout), place),
            |itself| real::poll(itself, 1, timeout),
            all,
        )
    }
}

pub(super) unsafe extern "C" fn epoll_pwait_(
    epoll: c_int,
    events: *mut c_void,
    most: c_int,
    timeout: c_int,
    mask: *const c_void,
    place: usize,
) -> c_int {
    let all = || real::epoll_pwait(epoll, events, most, timeout, mask);
    // Who waits by `ppoll` gets the same signals while it waits.
    let span = of_milliseconds(timeout);
    let span = if timeout < 0 { core::ptr::null() } else { &raw const span };
    let wait = |itself| real::ppoll(itself, 1, span, mask.cast());
    // SAFETY: the program's array.
    unsafe { epoll_by((epoll, events, most), (Limit::after_milliseconds(timeout), place), wait, all) }
}

pub(super) unsafe extern "C" fn epoll_pwait2_(
    epoll: c_int,
    events: *mut c_void,
    most: c_int,
    timeout: *const c_void,
    mask: *const c_void,
    place: usize,
) -> c_int {
    let all = || real::epoll_pwait2(epoll, events, most, timeout, mask);
    let wait = |itself| real::ppoll(itself, 1, timeout.cast(), mask.cast());
    // SAFETY: the program's array.
    unsafe { epoll_by((epoll, events, most), (Limit::after_span(timeout.cast()), place), wait, all) }
}

interpose! {
    epoll_ctl "r8" => epoll_ctl_;
    epoll_wait "r8" => epoll_wait_;
    epoll_pwait "r9" => epoll_pwait_;
    epoll_pwait2 "r9" => epoll_pwait2_;
}

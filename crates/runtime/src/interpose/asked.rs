//! What a thread does after `epoll_wait` has reported a descriptor to it comes after the `epoll_ctl` that asked for the report. With
//! `EPOLLONESHOT` each request is good for one report: so threads hand on what belongs to a descriptor.
//!
//! The requests for a descriptor are semaphores among the channels, one for each kind of event. `epoll_ctl` posts those of the kinds that it
//! begins to ask for, and a report takes one of each kind that it names. It puts it back unless the request was for one report alone: then it
//! takes all.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use super::channel::{Channel, record};
use super::unseen::has_threads;
use crate::lock::Lock;
use crate::log;
use crate::record::{Kind, TRIED};
use crate::threads::Thread;

const ONE_SHOT: u32 = 1 << 30;
/// The events of each kind: to read, to write, and others. Errors and the other side's end are of none: they are always reported.
const KINDS: [u32; 3] = [1 | 0x40, 4 | 0x100, 2 | 0x80 | 0x200 | 0x400 | 0x2000];
/// In place of a thread's number.
const SEVERAL: u64 = u64::MAX;

/// The requests for reports of one descriptor.
pub(super) struct Asked {
    kinds: [Requests; KINDS.len()],
    one_shot: AtomicBool,
}

/// Those for events of one kind.
struct Requests {
    /// The semaphore's number plus one; 0 where nothing needs an order.
    semaphore: AtomicU64,
    count: AtomicU64,
    /// The number of the thread that asked.
    by: AtomicU64,
    /// Whether the latest request asks for such events.
    are_wanted: AtomicBool,
}

/// Held while requests are counted and recorded.
static LOCK: Lock = Lock::new();

impl Asked {
    pub(super) const fn nothing() -> Asked {
        Asked { kinds: [const { Requests::none() }; KINDS.len()], one_shot: AtomicBool::new(false) }
    }

    /// A descriptor is about to be watched, or in another way. The thread is inside of a hook.
    pub(super) fn ask(&self, thread: &'static Thread, events: u32, is_first: bool, place: usize) {
        let one_shot = events & ONE_SHOT != 0;
        LOCK.lock();
        for (kind, requests) in KINDS.into_iter().zip(&self.kinds) {
            if is_first {
                requests.forget();
            }
            requests.ask(thread, (events & kind != 0, one_shot), place);
        }
        self.one_shot.store(one_shot, Relaxed);
        LOCK.unlock();
    }

    /// The descriptor was reported with these events: records it by `record`. The thread is inside of a hook.
    pub(super) fn is_reported(
        &self,
        thread: &'static Thread,
        events: u32,
        place: usize,
        record: impl FnOnce(&Reported<'_>),
    ) {
        LOCK.lock();
        let one_shot = self.one_shot.load(Relaxed);
        let is_named = |kind: u32| events & kind != 0;
        let names_any = KINDS.into_iter().any(is_named);
        let is_taken =
            |at: usize| (one_shot || !names_any || is_named(KINDS[at])) && self.kinds[at].orders(thread, one_shot);
        let kinds = [is_taken(0), is_taken(1), is_taken(2)];
        record(&Reported { asked: self, thread, kinds, one_shot, place });
        LOCK.unlock();
    }

    /// Whether no report is asked for until the next call of `epoll_ctl`.
    pub(super) fn is_off(&self) -> bool {
        self.kinds
            .iter()
            .all(|kind| !kind.are_wanted.load(Relaxed) || kind.are_known() && kind.count.load(Relaxed) == 0)
    }
}

/// The requests that a report is an answer to.
pub(super) struct Reported<'a> {
    asked: &'a Asked,
    thread: &'static Thread,
    kinds: [bool; KINDS.len()],
    one_shot: bool,
    place: usize,
}

impl Reported<'_> {
    fn requests(&self) -> impl Iterator<Item = &Requests> {
        self.asked.kinds.iter().zip(self.kinds).filter(|(_, is_taken)| *is_taken).map(|(requests, _)| requests)
    }

    /// How many records it takes.
    pub fn records(&self) -> u64 {
        self.requests().count() as u64 * (1 + u64::from(!self.one_shot))
    }

    pub fn take(&self) {
        for requests in self.requests() {
            // Something else might have been reported.
            record(self.thread, Kind::Down, &requests.channel(), TRIED, self.place);
            if self.one_shot {
                requests.count.store(0, Relaxed);
            }
        }
    }

    /// Puts back what stays asked for.
    pub fn put_back(&self) {
        for requests in self.requests().filter(|_| !self.one_shot) {
            record(self.thread, Kind::Post, &requests.channel(), 0, self.place);
        }
    }
}

impl Requests {
    const fn none() -> Requests {
        let (semaphore, count, by) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        Requests { semaphore, count, by, are_wanted: AtomicBool::new(false) }
    }

    fn forget(&self) {
        self.semaphore.store(0, Relaxed);
        self.count.store(0, Relaxed);
        self.are_wanted.store(false, Relaxed);
    }

    fn are_known(&self) -> bool {
        self.semaphore.load(Relaxed) != 0
    }

    fn ask(&self, thread: &'static Thread, (is_wanted, one_shot): (bool, bool), place: usize) {
        let was_wanted = self.are_wanted.swap(is_wanted, Relaxed);
        let is_known = self.are_known();
        let was_asked = is_known && self.count.load(Relaxed) > 0;
        // What is done before there are other threads needs no order.
        let needs_order = is_known || is_wanted && (one_shot || !was_wanted && has_threads());
        let is_the_same = was_asked == is_wanted && !(is_wanted && one_shot);
        if needs_order && !is_the_same {
            self.by.store(if is_known { SEVERAL } else { thread.number.get() }, Relaxed);
            self.change(thread, (is_known, was_asked, is_wanted), place);
        }
    }

    /// Two requests are good for one report, too.
    fn change(&self, thread: &'static Thread, (is_known, was, is): (bool, bool, bool), place: usize) {
        let semaphore = if is_known { self.channel() } else { Channel::new(0) };
        let _step = log::together(thread, u64::from(was) + u64::from(is));
        if !is_known {
            self.semaphore.store(semaphore.number() + 1, Relaxed);
        }
        if was {
            record(thread, Kind::Down, &semaphore, TRIED, place);
        }
        if is {
            record(thread, Kind::Post, &semaphore, 0, place);
        }
        self.count.store(u64::from(is), Relaxed);
    }

    fn channel(&self) -> Channel {
        Channel::of_number(self.semaphore.load(Relaxed) - 1)
    }

    /// Whether a report to this thread is ordered after a request.
    fn orders(&self, thread: &'static Thread, one_shot: bool) -> bool {
        let needs_order = one_shot || self.by.load(Relaxed) != thread.number.get();
        needs_order && self.are_known() && self.count.load(Relaxed) > 0
    }
}

//! What a thread does after `epoll_wait` has reported a descriptor to it comes after the `epoll_ctl` that asked for the report. With
//! `EPOLLONESHOT` each request is good for one report: so threads hand on what belongs to a descriptor.
//!
//! The requests for a descriptor are a semaphore among the channels. `epoll_ctl` posts it, and a report takes one. It puts it back unless the
//! request was for one report alone.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use super::channel::{Channel, record};
use super::unseen::has_threads;
use crate::lock::Lock;
use crate::log;
use crate::record::{Kind, TRIED};
use crate::threads::Thread;

const ONE_SHOT: u32 = 1 << 30;
/// Errors and the other side's end, which are always reported, and how to report.
const NO_INTEREST: u32 = 8 | 16 | 0xf000_0000;
/// In place of a thread's number.
const SEVERAL: u64 = u64::MAX;

/// The requests for reports of one descriptor.
pub(super) struct Asked {
    /// The semaphore's number plus one; 0 where nothing needs an order.
    semaphore: AtomicU64,
    count: AtomicU64,
    one_shot: AtomicBool,
    /// The number of the thread that asked.
    by: AtomicU64,
}

/// Held while requests are counted and recorded.
static LOCK: Lock = Lock::new();

impl Asked {
    pub(super) const fn nothing() -> Asked {
        let (semaphore, count, by) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        Asked { semaphore, count, one_shot: AtomicBool::new(false), by }
    }

    /// A descriptor is about to be watched, or in another way. The thread is inside of a hook.
    pub(super) fn ask(&self, thread: &'static Thread, events: u32, is_first: bool, place: usize) {
        let (one_shot, is_wanted) = (events & ONE_SHOT != 0, events & !NO_INTEREST != 0);
        LOCK.lock();
        if is_first {
            self.semaphore.store(0, Relaxed);
            self.count.store(0, Relaxed);
        }
        let is_known = self.semaphore.load(Relaxed) != 0;
        let was_asked = is_known && self.count.load(Relaxed) > 0;
        let by = if is_first || !is_known { thread.number.get() } else { SEVERAL };
        // What is done before there are other threads needs no order.
        let needs_order = is_known || one_shot || !is_wanted || is_first && has_threads();
        if needs_order && !(was_asked && is_wanted && !one_shot) {
            self.by.store(by, Relaxed);
            self.change(thread, (is_known, was_asked, is_wanted), place);
        }
        self.one_shot.store(one_shot, Relaxed);
        LOCK.unlock();
    }

    /// Two requests are good for one report, too.
    fn change(&self, thread: &'static Thread, (is_known, was, is): (bool, bool, bool), place: usize) {
        let semaphore = if is_known { self.channel() } else { Channel::new(0) };
        let _step = log::together(thread, u64::from(!is_known) + u64::from(was) + u64::from(is));
        if !is_known {
            record(thread, Kind::SemaphoreInit, &semaphore, 0, place);
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

    /// The descriptor was reported. The thread is inside of a hook.
    pub(super) fn is_reported(&self, thread: &'static Thread, place: usize) {
        LOCK.lock();
        let one_shot = self.one_shot.load(Relaxed);
        let needs_order = one_shot || self.by.load(Relaxed) != thread.number.get();
        if needs_order && self.semaphore.load(Relaxed) != 0 && self.count.load(Relaxed) > 0 {
            let semaphore = self.channel();
            let _step = log::together(thread, 1 + u64::from(!one_shot));
            record(thread, Kind::Down, &semaphore, TRIED, place); // something else might have been reported
            if one_shot {
                self.count.store(0, Relaxed);
            } else {
                record(thread, Kind::Post, &semaphore, 0, place);
            }
        }
        LOCK.unlock();
    }

    /// Whether no report is asked for until the next call of `epoll_ctl`.
    pub(super) fn is_off(&self) -> bool {
        self.semaphore.load(Relaxed) != 0 && self.count.load(Relaxed) == 0
    }
}

//! Reads of pipes and event counters.

use core::ffi::c_int;

use super::channel::{Taken, down_locked, found_empty_locked};
use super::ends::waits;
use super::poll::sleep_until_readable;
use super::real;
use super::unseen::{self, What};
use crate::controller;
use crate::feed::interruption::{Interruption, interruptible};
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::sys::{self, call};
use crate::threads::Thread;
use crate::waiting;

/// A call that reads from a channel.
pub struct Reading<'p> {
    pub thread: &'static Thread,
    pub file: c_int,
    /// Where the bytes go, and how many at most (`struct iovec`).
    pub parts: &'p [[usize; 2]],
    pub key: usize,
    /// Whether it takes all that was written.
    pub all: bool,
    pub place: usize,
}

impl Reading<'_> {
    pub fn read(&self) -> isize {
        if self.asked() == 0 || !waits(self.file) {
            return self.read_at_once();
        }
        interruptible(|interruption| {
            controller::before_taking(self.thread);
            self.read_and_record(interruption) as c_int // the kernel reads no more at a time
        }) as isize
    }

    /// Reads and records in one step: else of two readers the one whose bytes come later might be recorded first.
    fn read_and_record(&self, interruption: Interruption) -> isize {
        let Reading { thread, file, .. } = *self;
        let interruptions = thread.deferred.interruptions();
        loop {
            let before = sys::errno();
            if interruption.sleep(thread, || sleep_until_readable(file)) < 0 {
                if interruption.ends_call() || thread.deferred.interruptions() != interruptions {
                    sys::set_errno(sys::EINTR);
                    return -1;
                }
                sys::set_errno(before);
                continue; // polling goes on after no signal, reading after some
            }
            match self.take(true) {
                error if error == -(sys::EAGAIN as isize) => continue, // somebody else was served
                error if error < 0 => {
                    sys::set_errno(-error as c_int);
                    return -1;
                }
                read => {
                    sys::set_errno(before);
                    return read;
                }
            }
        }
    }

    /// Reads without waiting. In a replay the thread waits for its turn before: what is there depends on the others.
    fn read_at_once(&self) -> isize {
        real::pthread_testcancel(); // as the library's call does
        let read = self.take(false);
        if read < 0 {
            sys::set_errno(-read as c_int);
            return -1;
        }
        read
    }

    /// Reads what is there, in one step with its record; the negative error of the kernel.
    fn take(&self, waits: bool) -> isize {
        let Reading { thread, file, parts, key, place, .. } = *self;
        thread.begin();
        let bucket = waiting::lock(key);
        let read = match call!(PREADV2, file, parts.as_ptr(), parts.len(), -1isize, -1isize, NO_WAIT) {
            error if error == -(sys::EOPNOTSUPP as isize) => call!(READV, file, parts.as_ptr(), parts.len()),
            read => read,
        };
        let is_known = read <= 0 || down_locked(thread, bucket, (key, self.taken(read, waits)), place);
        if !waits && read == -(sys::EAGAIN as isize) {
            found_empty_locked(thread, (bucket, key), None, place);
        }
        bucket.unlock();
        thread.end();
        if !is_known {
            unseen::mark(thread, What::anything(c"read"), place);
        }
        read
    }

    fn asked(&self) -> usize {
        self.parts.iter().map(|[_, bytes]| bytes).sum()
    }

    fn taken(&self, read: isize, waits: bool) -> Taken {
        let left_nothing = self.all || (read as usize) < self.asked();
        Taken { bytes: read as u64, all: self.all, left_nothing, waits }
    }
}

/// `RWF_NOWAIT`.
const NO_WAIT: usize = 8;

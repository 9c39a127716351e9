//! Waiting for several descriptors at once: what a thread does after one is ready comes after what made it ready.
//!
//! A channel that is ready holds something: one is taken from its semaphore and put back at once. A channel that was waited for and not
//! reported held nothing: what is written next comes after the wait, since else it would have been reported.
//!
//! A call sleeps in the kernel until something is ready, looks again when it has the turn, and is recorded in the same hook. So what it reports
//! is what was ready there, in a replay too.

use core::ffi::{CStr, c_int, c_void};

use super::asked::Asked;
use super::channel::{self, Around, SIGNALS_KEY};
use super::edges::Edges;
use super::ends::{End, end};
use super::poll::{Poll, waits_in_poll};
use super::signal_files;
use super::socket_pair::inode;
use super::sockets::{self, Script};
use super::unseen::{self, TIMERS, What};
use super::{interpose, real, socket_order, tracked};
use crate::controller;
use crate::feed;
use crate::feed::interruption::{Interruption, interruptible};
use crate::feed::sockets::Ready;
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::log;
use crate::program_time;
use crate::sys::{self, Deadline, Timespec, call};
use crate::threads::Thread;

/// Something can be read, an error or the other side's end included.
pub(super) const READY: u32 = 1 | 2 | 8 | 16 | 0x2000;

/// What a call found out about its descriptors, recorded as it goes through them. The thread is inside of a hook.
pub(super) struct Look {
    thread: &'static Thread,
    name: &'static CStr,
    place: usize,
    /// Calls that may order threads in a way that the trace does not show: of timers, of anything.
    unseen: [bool; 2],
}

impl Look {
    /// Begins to look.
    pub(super) fn begin(thread: &'static Thread, name: &'static CStr, place: usize) -> Look {
        thread.begin();
        Look { thread, name, place, unseen: [false; 2] }
    }

    /// A replay may let other threads go on between what is said of two descriptors, as its schedule says.
    fn stop_in_replay(&self) {
        if controller::replaying() {
            controller::stop_at_limit(self.thread);
        }
    }

    /// A descriptor can be read from.
    pub(super) fn ready(&mut self, file: c_int) {
        self.stop_in_replay();
        match end(file) {
            Some(End::Channel(key, _)) => self.seen(key, &Around { records: 0, before: &|| {}, after: &|| {} }),
            Some(End::Socket) => socket_order::ready(self.thread, file, self.place),
            Some(End::Timer) => self.unseen[0] = true,
            Some(End::Signals) => self.unseen[1] |= !signal_files::ready(self.thread, file, self.place),
            Some(End::Unseen) => self.unseen[1] = true,
            Some(End::File(_) | End::Random | End::Input) | None => {}
        }
    }

    fn seen(&mut self, channel: usize, around: &Around<'_>) {
        self.unseen[1] |= !channel::seen(self.thread, channel, around, self.place);
    }

    /// A descriptor was reported with these events, after it was asked for. A replay does both when the call comes back.
    pub(super) fn reported(&mut self, (asked, edges): (&Asked, &Edges), file: c_int, events: u32) {
        let channel = channel(file).filter(|_| events & READY != 0);
        self.stop_in_replay();
        asked.is_reported(self.thread, events, self.place, |reported| {
            let records = reported.records();
            match channel {
                Some(key) => {
                    let (before, after) = (&|| reported.take(), &|| reported.put_back());
                    let around = Around { records, before, after };
                    if edges.are_kept() {
                        self.unseen[1] |= !channel::reported(self.thread, key, (edges, &around), self.place);
                    } else {
                        self.seen(key, &around);
                    }
                }
                None => {
                    let _step = log::together(self.thread, records);
                    reported.take();
                    reported.put_back();
                }
            }
        });
        if channel.is_none() && events & READY != 0 {
            self.ready(file);
        }
    }

    /// Something is ready of which nothing here knows what it is.
    pub(super) fn unknown(&mut self) {
        self.unseen[1] = true;
    }

    /// A descriptor was waited for and cannot be read from.
    pub(super) fn not_ready(&mut self, file: c_int) {
        if let Some(key) = listened_to(file) {
            self.is_empty(key, None);
        }
    }

    /// The same of a channel, whose writes may be reported once.
    pub(super) fn is_empty(&mut self, channel: usize, edges: Option<&Edges>) {
        self.stop_in_replay();
        channel::found_empty(self.thread, channel, edges, self.place);
    }

    /// Ends it.
    pub(super) fn end(self) {
        self.thread.end();
        if self.unseen[0] {
            unseen::mark(self.thread, What::named(self.name, TIMERS), self.place);
        }
        if self.unseen[1] {
            unseen::mark(self.thread, What::anything(self.name), self.place);
        }
    }
}

/// The channel behind a descriptor.
pub(super) fn channel(file: c_int) -> Option<usize> {
    match end(file)? {
        End::Channel(key, _) => Some(key),
        _ => None,
    }
}

/// The channel whose next message comes after a wait that did not report the descriptor; of signals the one of them all.
pub(super) fn listened_to(file: c_int) -> Option<usize> {
    match end(file)? {
        End::Channel(key, _) => Some(key),
        End::Signals => Some(SIGNALS_KEY),
        _ => None,
    }
}

/// Whether a descriptor leads to what other threads or programs write or send.
fn is_looked_at(file: c_int) -> bool {
    matches!(end(file), Some(End::Channel(..) | End::Socket | End::Input | End::Signals))
}

/// The inode of what other programs may be behind, else 0.
pub(super) fn outside_of(file: c_int) -> u64 {
    let is_outside = file >= 0 && matches!(end(file), Some(End::Socket | End::Input));
    if is_outside { inode(file) } else { 0 }
}

/// In `--parallel` runs a write is recorded before it is made: after so many looks it counts as one that came later.
const LOOKS: usize = 4;

/// Nanoseconds between two looks of a wait whose limit is over.
const LOOK_AGAIN: i64 = 5_000_000;

/// How long a call waits at most.
#[derive(Clone, Copy)]
pub(super) struct Limit {
    /// Whether it waits, and not for ever.
    is_there: bool,
    /// Where the program's time stands still: when the limit is over.
    end: Option<Deadline>,
}

impl Limit {
    /// After this time, if there is a limit.
    pub fn after(span: Option<Timespec>) -> Limit {
        let span = span.filter(|span| (span.seconds, span.nanoseconds) > (0, 0));
        let at = |span: Timespec| program_time::now(sys::CLOCK_MONOTONIC).plus(span);
        let stands = span.filter(|_| program_time::stands_still());
        let end = stands.map(|span| Deadline { clock: sys::CLOCK_MONOTONIC, at: at(span) });
        Limit { is_there: span.is_some(), end }
    }

    /// After the span there, if the pointer is not null.
    ///
    /// # Safety
    /// The program's span, or null.
    pub unsafe fn after_span(span: *const Timespec) -> Limit {
        // SAFETY: the caller's promise.
        Limit::after(unsafe { span.as_ref() }.copied())
    }

    /// After so many milliseconds, which are negative where there is no limit.
    pub fn after_milliseconds(milliseconds: c_int) -> Limit {
        Limit::after((milliseconds > 0).then(|| of_milliseconds(milliseconds)))
    }

    /// What the wait found: nothing if the limit ended it. Then the time has gone on, where it stands still else.
    pub fn ended(self, found: c_int) -> c_int {
        if let Some(end) = self.end.filter(|_| found == 0) {
            program_time::pass_to(end);
        }
        found
    }
}

pub(super) fn of_milliseconds(milliseconds: c_int) -> Timespec {
    Timespec { seconds: i64::from(milliseconds / 1000), nanoseconds: i64::from(milliseconds % 1000) * 1_000_000 }
}

/// A call that waits for descriptors: who makes it, its name, its place, and its limit of time.
pub(super) struct Waiting {
    pub thread: &'static Thread,
    pub name: &'static CStr,
    pub place: usize,
    pub limit: Limit,
}

impl Waiting {
    /// Waits by `wait`, then looks by `look`, which does not wait, until that finds something or the limit is over. What came of it is
    /// recorded by `record`, all while no other thread of a controlled run goes on. `is_settled` says whether nothing is missing that was
    /// written.
    pub fn wait_and_look(
        &self,
        wait: impl Fn() -> c_int,
        look: impl Fn() -> c_int,
        is_settled: impl Fn(c_int) -> bool,
        record: impl Fn(&mut Look, c_int),
    ) -> c_int {
        controller::before_taking(self.thread);
        let since = sys::now(sys::CLOCK_MONOTONIC);
        let once = |interruption: Interruption, to_limit: bool| loop {
            let woken = if to_limit { interruption.sleep(self.thread, &wait) } else { 0 };
            if woken < 0 {
                return woken;
            }
            if woken == 0 && controller::waits_beyond_limit(self.thread, since) {
                sys::sleep(LOOK_AGAIN); // what is left of the limit may be nothing
                continue;
            }
            let mut looking = Look::begin(self.thread, self.name, self.place);
            let mut found = look();
            for _ in 1..LOOKS {
                if found < 0 || is_settled(found) {
                    break;
                }
                call!(SCHED_YIELD, 0);
                found = look();
            }
            if found == 0 && woken > 0 {
                self.thread.end(); // somebody else was served
                continue;
            }
            let error = sys::errno();
            if found >= 0 {
                record(&mut looking, found);
            }
            self.limit.ended(found);
            looking.end();
            sys::set_errno(error);
            return found;
        };
        interruptible(|interruption| match self.limit.is_there {
            true => feed::limited(|to_limit| once(interruption, to_limit)),
            false => once(interruption, true),
        })
    }
}

/// The thread that calls, if one of the descriptors leads to what other threads write.
pub(super) fn looking(mut files: impl Iterator<Item = c_int>) -> Option<&'static Thread> {
    tracked().filter(|_| files.any(is_looked_at))
}

unsafe fn poll_by((files, count): (*mut c_void, u64), limit: Limit, place: usize, wait: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's array of so many, here and below.
    let all = || unsafe { waits_in_poll(files as usize, count as usize) };
    let entries = || (0..count as usize).map(|index| unsafe { *files.cast::<Poll>().add(index) });
    let is_silent = |poll: &Poll| poll.file >= 0 && poll.events as u32 & READY != 0 && poll.found as u32 & READY == 0;
    let is_ready = |poll: &Poll| poll.file >= 0 && poll.found as u32 & READY != 0;
    let Some(thread) = looking(all()) else {
        let found = limit.ended(wait());
        if let Some(thread) = tracked().filter(|_| found > 0) {
            let error = sys::errno();
            let mut look = Look::begin(thread, c"poll", place);
            entries().filter(is_ready).for_each(|poll| look.ready(poll.file));
            look.end();
            sys::set_errno(error);
        }
        return found;
    };
    let script = sockets::script(thread);
    let look = || {
        let found = real::poll(files, count, 0);
        // SAFETY: the program's array.
        by_script(&script).map_or(found, |script| unsafe { poll_reports(script, files.cast(), count as usize) })
    };
    let found = Waiting { thread, name: c"poll", place, limit }.wait_and_look(
        || by_script(&script).map_or_else(&wait, Script::wait),
        look,
        |_| entries().filter(is_silent).all(|poll| channel(poll.file).is_none_or(|key| channel::is_empty(key, None))),
        |look, _| {
            entries().filter(is_ready).for_each(|poll| look.ready(poll.file));
            entries().filter(is_silent).for_each(|poll| look.not_ready(poll.file));
        },
    );
    let reported = entries().enumerate().filter(|(_, poll)| poll.found != 0);
    let as_ready = |(index, poll): (usize, Poll)| Ready {
        data: index as u64,
        socket: outside_of(poll.file),
        file: poll.file,
        events: poll.found as u32,
    };
    sockets::keep_ready(thread, found, reported.map(as_ready));
    found
}

/// The script of a call, while it is what counts.
pub(super) fn by_script(script: &Option<Script>) -> Option<&Script> {
    script.as_ref().filter(|script| script.holds())
}

/// Reports by `poll` what the recording has: how many descriptors, 0 if something is missing.
///
/// # Safety
/// The program's array of so many, in which the kernel has reported.
unsafe fn poll_reports(script: &Script, files: *mut Poll, count: usize) -> c_int {
    // SAFETY: the caller's promise.
    let files = unsafe { core::slice::from_raw_parts_mut(files, count) };
    let is_ready = |ready: &Ready| files.get(ready.data as usize).is_some_and(|poll| poll.found != 0);
    let Some(ready) = script.report(&is_ready) else { return 0 };
    files.iter_mut().for_each(|poll| poll.found = 0);
    for ready in ready {
        if let Some(poll) = files.get_mut(ready.data as usize) {
            poll.found = ready.events as i16;
        }
    }
    script.result().max(0)
}

pub(super) unsafe extern "C" fn poll_(files: *mut c_void, count: u64, timeout: c_int, place: usize) -> c_int {
    // SAFETY: the program's array.
    unsafe { poll_by((files, count), Limit::after_milliseconds(timeout), place, || real::poll(files, count, timeout)) }
}

#[rustfmt::skip]
pub(super) unsafe extern "C" fn ppoll_(files: *mut c_void, count: u64, timeout: *const Timespec, mask: *const c_void, place: usize) -> c_int {
    // SAFETY: the program's array.
    unsafe { poll_by((files, count), Limit::after_span(timeout), place, || real::ppoll(files, count, timeout, mask)) }
}

/// The bits of an `fd_set`.
const SET_BITS: usize = 1024;
type Set = [u64; SET_BITS / 64];

/// The three sets of a call of `select`.
struct Sets {
    most: c_int,
    sets: [*mut c_void; 3],
    asked: [Set; 3],
}

/// What is in the program's set of the descriptors below `most`; nothing of larger sets.
unsafe fn asked(most: c_int, reading: *const c_void) -> Set {
    let mut set = [0; SET_BITS / 64];
    let words = (most.max(0) as usize).div_ceil(64);
    if !reading.is_null() && words <= set.len() {
        // SAFETY: the program's set has this many words.
        set[..words].copy_from_slice(unsafe { core::slice::from_raw_parts(reading.cast(), words) });
    }
    set
}

impl Sets {
    /// The program's sets of the descriptors below `most`.
    ///
    /// # Safety
    /// Each set is null or has a bit for each of those.
    unsafe fn up_to(most: c_int, sets: [*mut c_void; 3]) -> Sets {
        // SAFETY: the caller's promise.
        Sets { most, sets, asked: sets.map(|set| unsafe { asked(most, set) }) }
    }

    /// As the program gave them.
    fn restore(&self) {
        for (to, asked) in self.sets.into_iter().zip(&self.asked).filter(|(to, _)| !to.is_null()) {
            let words = (self.most.max(0) as usize).div_ceil(64).min(asked.len());
            // SAFETY: the program's set has this many words.
            unsafe { core::ptr::copy_nonoverlapping(asked.as_ptr(), to.cast(), words) };
        }
    }

    /// In which of the sets the last call has reported a descriptor, a bit for each.
    fn found(&self, file: c_int) -> u32 {
        let bit = |set: &*mut c_void| match set.is_null() {
            true => 0,
            // SAFETY: the program's set has a bit for it.
            false => unsafe { *set.cast::<u64>().add(file as usize / 64) >> (file % 64) & 1 },
        };
        self.sets.iter().enumerate().map(|(index, set)| (bit(set) as u32) << index).sum()
    }

    /// Reports what the recording has: the call's result, 0 if something is missing.
    fn report(&self, script: &Script) -> c_int {
        let is_known = |ready: &Ready| (0..self.most).contains(&ready.file);
        let Some(ready) = script.report(&|ready| is_known(ready) && self.found(ready.file) != 0) else { return 0 };
        let words = (self.most.max(0) as usize).div_ceil(64);
        for set in self.sets.iter().filter(|set| !set.is_null()) {
            // SAFETY: the program's set has these words.
            unsafe { set.cast::<u64>().write_bytes(0, words) };
        }
        for Ready { file, events, .. } in ready.filter(is_known) {
            for (_, set) in
                self.sets.iter().enumerate().filter(|(index, set)| events >> index & 1 != 0 && !set.is_null())
            {
                // SAFETY: as above.
                unsafe { *set.cast::<u64>().add(file as usize / 64) |= 1 << (file % 64) };
            }
        }
        script.result().max(0)
    }

    /// The descriptors to read from that the program asked for, and whether the last call found each ready.
    fn reading(&self) -> impl Iterator<Item = (c_int, bool)> {
        // SAFETY: the program's set.
        let found = unsafe { asked(self.most, self.sets[0]) };
        let has = |set: &Set, file: usize| set[file / 64] >> (file % 64) & 1 != 0;
        let of_asked = move |file: &usize| has(&self.asked[0], *file);
        (0..SET_BITS).filter(of_asked).map(move |file| (file as c_int, has(&found, file)))
    }
}

/// Like [`poll_by`], of `wait` and of a look without a wait.
unsafe fn select_by(all: &Sets, limit: Limit, place: usize, wait: impl Fn() -> c_int) -> c_int {
    let (most, sets) = (all.most, all.sets);
    let Some(thread) = looking(all.reading().map(|(file, _)| file)).filter(|_| most as usize <= SET_BITS) else {
        let found = limit.ended(wait());
        if let Some(thread) = tracked().filter(|_| found > 0) {
            let error = sys::errno();
            let mut look = Look::begin(thread, c"select", place);
            all.reading().filter(|(_, is_ready)| *is_ready).for_each(|(file, _)| look.ready(file));
            look.end();
            sys::set_errno(error);
        }
        return found;
    };
    let look = || {
        let mut none = [0u64; 2];
        all.restore();
        real::select(most, sets[0], sets[1], sets[2], (&raw mut none).cast())
    };
    let script = sockets::script(thread);
    let look = || {
        let found = look();
        by_script(&script).map_or(found, |script| all.report(script))
    };
    let again = || {
        let real = || {
            all.restore();
            wait()
        };
        by_script(&script).map_or_else(real, Script::wait)
    };
    let silent = || all.reading().filter(|(_, is_ready)| !is_ready).map(|(file, _)| file);
    let found = Waiting { thread, name: c"select", place, limit }.wait_and_look(
        again,
        look,
        |_| silent().all(|file| channel(file).is_none_or(|key| channel::is_empty(key, None))),
        |look, _| {
            all.reading().filter(|(_, is_ready)| *is_ready).for_each(|(file, _)| look.ready(file));
            silent().for_each(|file| look.not_ready(file));
        },
    );
    let with_outside = |ready: Ready| Ready { socket: outside_of(ready.file), ..ready };
    let as_ready = |file: c_int| Ready { data: 0, socket: 0, file, events: all.found(file) };
    sockets::keep_ready(thread, found, (0..most).map(as_ready).filter(|ready| ready.events != 0).map(with_outside));
    found
}

unsafe extern "C" fn select_(
    most: c_int,
    reading: *mut c_void,
    writing: *mut c_void,
    other: *mut c_void,
    timeout: *mut c_void,
    place: usize,
) -> c_int {
    let wait = || real::select(most, reading, writing, other, timeout);
    // SAFETY: the program's sets, and its seconds and microseconds.
    unsafe {
        let limit = timeout.cast::<[i64; 2]>().as_ref();
        let limit =
            limit.map(|[seconds, micros]| Timespec { seconds: *seconds, nanoseconds: micros.saturating_mul(1000) });
        select_by(&Sets::up_to(most, [reading, writing, other]), Limit::after(limit), place, wait)
    }
}

unsafe extern "C" fn pselect_(
    most: c_int,
    reading: *mut c_void,
    writing: *mut c_void,
    other: *mut c_void,
    timeout: *const c_void,
    mask: *const c_void,
) -> c_int {
    let wait = || real::pselect(most, reading, writing, other, timeout, mask);
    // SAFETY: the program's sets.
    unsafe { select_by(&Sets::up_to(most, [reading, writing, other]), Limit::after_span(timeout.cast()), 0, wait) }
}

interpose! {
    poll "rcx" => poll_;
    ppoll "r8" => ppoll_;
    select "r9" => select_;
    pselect "r11" => pselect_; // no register is left for the place
}

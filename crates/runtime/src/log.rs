//! The log of a thread: a file, mapped piece by piece, whole whatever becomes of the process.

mod file;
mod thread_log;
pub mod window;

use file::{Mapped, STOP_WORDS, Trouble, extend, extend_by_least, shorten, touch, turn_over};
pub use file::{allocate, limit, set_limit};
pub use thread_log::Log;

use core::ffi::c_int;
use core::fmt::Arguments;
use core::sync::atomic::{AtomicU64, Ordering::SeqCst, compiler_fence};

use crate::controller::{release_all, replaying};
use crate::mode;
use crate::order;
use crate::ownership;
use crate::record::{Kind, MOST_LEFT_OUT, cut, header, stamp, stop};
use crate::sys::{self, PAGE};
use crate::text::say;
use crate::threads::Thread;

const WORD: usize = size_of::<u64>();

/// Why recording stopped, 0 while it goes on.
static STOPPED: AtomicU64 = AtomicU64::new(0);

/// Space for a record. It is the thread's before anything is written.
#[inline(always)]
pub fn reserve(thread: &'static Thread, words: usize) -> *mut u64 {
    let record = thread.log.cursor.get();
    let next = record.wrapping_add(words);
    if next > thread.log.end.get() {
        return grow(thread, words);
    }
    thread.log.cursor.set(next);
    record
}

/// Space for an ordered record. It tells how many accesses were left out before it.
#[inline(always)]
pub fn reserve_ordered(thread: &'static Thread, words: usize) -> *mut u64 {
    reserve_together(thread, 1, words)
}

/// Space for ordered records, so many of them counted, one after the other, `words` in all.
#[inline(always)]
pub fn reserve_together(thread: &'static Thread, records: u64, words: usize) -> *mut u64 {
    let count = thread.count();
    if count - thread.log.told.get() > MOST_LEFT_OUT {
        write(thread, Kind::Skip, 0, [count]);
    }
    thread.log.told.set(count + records);
    reserve(thread, words)
}

/// Writes a word of a record that was reserved.
#[inline(always)]
pub fn put(record: *mut u64, index: usize, word: u64) {
    // SAFETY: `reserve` gave at least that much; volatile, so that writes reach the file in this order.
    unsafe { record.add(index).write_volatile(word) }
}

/// Writes the header, which makes the record count.
#[inline(always)]
pub fn seal(record: *mut u64, kind: Kind, place: u64) {
    compiler_fence(SeqCst);
    put(record, 0, header(kind, place));
}

/// Where the next record of a thread goes.
pub fn next(thread: &Thread) -> *const u64 {
    thread.log.cursor.get()
}

/// What a thread, which does not run, has written since its next record went there; nothing if its log is mapped elsewhere by now.
pub fn written_since(thread: &Thread, from: *const u64) -> Option<&[u64]> {
    let log = &thread.log;
    let is_there = log.piece.get().cast_const().cast() <= from && from <= log.cursor.get().cast_const();
    let words = (log.cursor.get() as usize).wrapping_sub(from as usize) / WORD;
    // SAFETY: the piece is mapped up to the cursor, and its thread does not write.
    (is_there && !from.is_null()).then(|| unsafe { core::slice::from_raw_parts(from, words) })
}

/// The last word of a record whose order is written.
pub fn stamp_of(record: *mut u64) -> u64 {
    // SAFETY: a record with a header.
    unsafe { record.add(words_of(record) - 1).read_volatile() }
}

/// Writes that word.
pub fn set_stamp(record: *mut u64, stamp: u64) {
    put(record, words_of(record) - 1, stamp);
}

/// How long a record with a header is.
fn words_of(record: *mut u64) -> usize {
    // SAFETY: as above.
    Kind::from_header(unsafe { record.read_volatile() }).map_or(1, Kind::words)
}

/// The same record once more, without an order so far.
pub fn repeat(thread: &'static Thread, record: *mut u64) -> *mut u64 {
    let words = words_of(record);
    let copy = reserve_ordered(thread, words);
    for index in (0..words - 1).rev() {
        // SAFETY: a record with a header.
        put(copy, index, unsafe { record.add(index).read_volatile() });
    }
    copy
}

/// A record without an order.
#[inline(always)]
pub fn write<const N: usize>(thread: &'static Thread, kind: Kind, place: u64, words: [u64; N]) {
    let record = reserve(thread, N + 1);
    for (index, word) in words.into_iter().enumerate() {
        put(record, index + 1, word);
    }
    seal(record, kind, place);
}

/// A synchronisation record: two words and its order, which it returns.
pub fn sync(thread: &'static Thread, kind: Kind, place: usize, object: u64, extra: u64) -> u64 {
    ordered(thread, kind, place, [object, extra])
}

/// A call for an object of synchronisation that failed by this error, which says nothing of who holds it.
pub fn refused(thread: &'static Thread, place: usize, object: usize, error: c_int) {
    sync(thread, Kind::Refused, place, object as u64, error as u64);
}

/// Makes the next so many records of the thread one step, until the result is dropped: no event has a place between them. Nothing in
/// the step may wait for another thread.
#[must_use]
pub fn together(thread: &'static Thread, records: u64) -> Together {
    let first = order::next_many(records);
    thread.together.set((first, first + records));
    Together(thread)
}

/// The step of [`together`].
pub struct Together(&'static Thread);

impl Drop for Together {
    fn drop(&mut self) {
        self.0.together.set((0, 0));
    }
}

/// The order of the thread's next record.
fn next_order(thread: &'static Thread) -> u64 {
    let (next, end) = thread.together.get();
    if next == end {
        return order::next();
    }
    thread.together.set((next + 1, end));
    next
}

/// A record that is no access: so many words and its order, which it returns.
pub fn ordered<const N: usize>(thread: &'static Thread, kind: Kind, place: usize, words: [u64; N]) -> u64 {
    debug_assert_eq!(kind.words(), N + 2);
    let (object, extra) = (words[0], words[1]);
    if thread.part.is_behind() {
        catch_up(thread);
    }
    if mode::get() == mode::PAUSED {
        thread.count_in(None); // its log ends here
        thread.part.note(kind, object, extra);
        thread.recorded(kind);
        return next_order(thread);
    }
    let record = reserve_together(thread, u64::from(kind.counted()), N + 2);
    let order = next_order(thread);
    if order >= order::STOPPED {
        retract(thread, record);
    } else {
        for (index, word) in words.into_iter().enumerate() {
            put(record, index + 1, word);
        }
        put(record, N + 1, stamp(order, thread.count()));
        seal(record, kind, place as u64);
    }
    thread.part.note(kind, object, extra); // not before there is room for it: that may take a new file, which tells what is open
    thread.recorded(kind);
    order
}

/// Takes a record back whose order came too late, and ends the log there; what is left goes to the place returned.
#[cold]
#[inline(never)]
pub fn retract(thread: &'static Thread, record: *mut u64) -> *mut u64 {
    let log = &thread.log;
    if log.closed.get() {
        return record;
    }
    let words = (log.cursor.get() as usize - record as usize) / WORD;
    let mut copy = [0u64; 10];
    for (index, word) in copy.iter_mut().enumerate().take(words) {
        // SAFETY: the record that was just reserved.
        *word = unsafe { record.add(index).read_volatile() };
        put(record, index, 0);
    }
    log.cursor.set(record);
    close(thread, STOPPED.load(SeqCst));
    let nowhere = reserve(thread, words);
    for (index, word) in copy.into_iter().enumerate().take(words) {
        put(nowhere, index, word);
    }
    nowhere
}

/// More space, or the space where records are forgotten.
#[cold]
#[inline(never)]
fn grow(thread: &'static Thread, words: usize) -> *mut u64 {
    let log = &thread.log;
    if !log.closed.get() && log.touched.get() < log.piece_bytes.get() {
        touch(log);
        return reserve(thread, words);
    }
    if !log.closed.get() {
        if STOPPED.load(SeqCst) == 0 {
            if thread.part.is_full(thread.count()) && thread.inflight.get().is_null() {
                turn_over(thread);
            }
            match extend(thread).or_else(|_| extend_by_least(thread)) {
                Ok(mapped) => {
                    begin_piece(thread, mapped);
                    return reserve(thread, words);
                }
                Err(Trouble::Limit(bytes)) => stop_at(bytes),
                Err(Trouble::System(error)) => stop_by(error),
            }
        }
        close(thread, STOPPED.load(SeqCst));
    }
    log.cursor.set(log.piece.get().cast());
    let record = log.cursor.get();
    log.cursor.set(record.wrapping_add(words));
    record
}

/// A piece is there. The first of a log that does not begin with the thread says what the thread has open.
fn begin_piece(thread: &'static Thread, mapped: Mapped) {
    let why = if mapped.is_first { thread.log.begins.replace(0) } else { 0 };
    if why != 0 {
        write_start(thread, why);
    }
    if let Some(counter) = mapped.counter {
        thread.count_in(Some(counter));
    }
}

/// The first records of a log that does not begin with the thread.
fn write_start(thread: &'static Thread, why: u64) {
    let open = thread.part.open();
    let order = if why == cut::SWITCH { window::when_switched_on() } else { order::next() };
    write(thread, Kind::Cut, 0, [why, order, u64::from(open.known().is_none())]);
    for open in open.known().unwrap_or_default() {
        write(thread, Kind::Open, 0, [open.kind, open.object, open.extra, open.recursive]);
    }
    write(thread, Kind::Skip, 0, [thread.count()]);
}

/// Recording was switched on again since the thread's last record: its log begins again. The thread is inside of a hook.
pub fn begin_anew(thread: &'static Thread) {
    thread.part.catch_up();
    file::begin_anew(thread);
}

/// The same before a record, also of a thread that sleeps while another reports of it: no handler runs meanwhile.
#[cold]
#[inline(never)]
fn catch_up(thread: &'static Thread) {
    let was_busy = thread.busy.replace(true);
    compiler_fence(SeqCst);
    begin_anew(thread);
    compiler_fence(SeqCst);
    thread.busy.set(was_busy);
}

fn stop_at(bytes: u64) {
    if replaying() {
        return stop(stop::LIMIT, format_args!("the logs of the replay reached {bytes} bytes"));
    }
    stop(stop::LIMIT, format_args!("the logs reached {bytes} bytes (more: --max-size; the run's end: --window)"));
}

fn stop_by(error: i32) {
    match error {
        sys::ENOSPC | sys::EDQUOT => stop(stop::DISK, format_args!("the disk is full")),
        _ => stop(stop::DISK, format_args!("a log cannot be written (error {error})")),
    }
}

/// Ends a log with its `Stop`; from then on records of the thread go nowhere.
pub fn close(thread: &'static Thread, why: u64) {
    let log = &thread.log;
    if log.closed.replace(true) {
        return;
    }
    if !log.piece.get().is_null() {
        let at = log.cursor.get(); // before `end`, after which there is room for this
        put(at, 1, why);
        seal(at, Kind::Stop, 0);
        log.cursor.set(at.wrapping_add(STOP_WORDS));
        thread.count_in(None);
        shorten(thread);
        sys::unmap(log.piece.get(), log.piece_bytes.get());
    }
    let nowhere = sys::map(PAGE).unwrap_or_else(|| sys::die_by(sys::SIGABRT));
    log.piece.set(nowhere);
    log.piece_bytes.set(PAGE);
    log.touched.set(PAGE);
    log.cursor.set(nowhere.cast());
    log.end.set(nowhere.wrapping_add(PAGE).cast());
}

/// Ends the log of a thread that comes to a hook after recording stopped. The thread is inside of the hook.
pub fn close_stopped(thread: &'static Thread) {
    close(thread, STOPPED.load(SeqCst));
}

/// Stops recording in all threads; the program goes on.
#[cold]
pub fn stop(why: u64, message: Arguments) {
    if STOPPED.compare_exchange(0, why, SeqCst, SeqCst).is_err() {
        return;
    }
    order::stop();
    ownership::end();
    mode::set(mode::STOPPED);
    say(format_args!("recording stopped: {message}; the program goes on unrecorded"));
    release_all();
}

//! The file of a log: mapped piece by piece, within what all logs may take; and the files that come one after the other.

use core::sync::atomic::{
    AtomicU64,
    Ordering::{Relaxed, SeqCst},
};

use super::thread_log::Log;
use super::window;
use crate::mode;
use crate::record::{COUNT_WORD, FileHeader, HEADER_WORDS, Kind, MAGIC, cut};
use crate::sys::{self, PAGE, call};
use crate::text::Text;
use crate::threads::Thread;

const FIRST_BYTES: usize = 256 << 10;
const LAST_BYTES: usize = 16 << 20;
/// Pages come so many bytes at a time: fewer faults, and little that is never used.
const TOUCH_BYTES: usize = 1 << 20;
/// What a log ends with has room after each piece.
pub(super) const STOP_WORDS: usize = Kind::Stop.words();
/// Where there is no room for more.
const LEAST_BYTES: usize = 16 << 10;

/// Of all logs together.
static BYTES: AtomicU64 = AtomicU64::new(0);
static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);

pub fn set_limit(bytes: u64) {
    LIMIT.store(bytes, Relaxed);
}

/// Most bytes of all logs together.
pub fn limit() -> u64 {
    LIMIT.load(Relaxed)
}

/// Makes more of the piece usable.
pub(super) fn touch(log: &Log) {
    let before = log.touched.get();
    let bytes = (log.piece_bytes.get() - before).min(TOUCH_BYTES);
    sys::touch(log.piece.get().wrapping_add(before), bytes);
    log.touched.set(before + bytes);
    log.end.set(log.piece.get().wrapping_add(before + bytes).cast::<u64>().wrapping_sub(STOP_WORDS));
}

/// Why there is no next piece.
pub(super) enum Trouble {
    /// All logs together have so many bytes.
    Limit(u64),
    /// An error of the system.
    System(i32),
}

/// What is new with a piece.
pub(super) struct Mapped {
    /// It is the first of its file.
    pub is_first: bool,
    /// Where the file counts what the thread does.
    pub counter: Option<&'static AtomicU64>,
}

/// Maps the next piece of the file. The last page of the piece before is its first.
pub(super) fn extend(thread: &'static Thread) -> Result<Mapped, Trouble> {
    let log = &thread.log;
    let used = used_bytes(log);
    let offset = used & !(PAGE as u64 - 1);
    let first_bytes = window::piece_bytes(FIRST_BYTES);
    let bytes = if log.next_bytes.get() == 0 { first_bytes } else { log.next_bytes.get() };
    let (bytes, added) = account(log, offset, bytes)?;
    let file = sys::open(path(thread).bytes(), sys::READ_WRITE).map_err(Trouble::System)?;
    let first = log.file_bytes.get() == 0;
    let piece = allocate(file, log.file_bytes.get(), added)
        .and_then(|()| sys::map_shared(file, bytes, offset).ok_or(sys::ENOMEM));
    let has_head = first && !window::partial(); // where nothing is left out nobody asks for the count
    let head = if has_head && piece.is_ok() { sys::map_shared(file, PAGE, 0) } else { None };
    sys::close(file);
    let piece = match piece {
        Ok(_) if has_head && head.is_none() => Err(sys::ENOMEM),
        piece => piece,
    };
    let piece = piece.map_err(|error| {
        BYTES.fetch_sub(added, SeqCst);
        Trouble::System(error)
    })?;
    if !log.piece.get().is_null() && thread.inflight.get().is_null() {
        sys::unmap(log.piece.get(), log.piece_bytes.get());
    }
    log.piece.set(piece);
    log.piece_bytes.set(bytes);
    log.piece_offset.set(offset);
    log.file_bytes.set(offset + bytes as u64);
    log.next_bytes.set((bytes * 4).min(window::piece_bytes(LAST_BYTES)));
    log.cursor.set(piece.wrapping_add((used - offset) as usize).cast());
    if first {
        log.end.set(piece.wrapping_add(PAGE).cast());
        write_header(thread); // before anything that takes time: a log without one tells nothing
    }
    log.touched.set(0);
    touch(log);
    // SAFETY: a word of the header, in a mapping of its own that stays.
    let counter = head.map(|head| unsafe { &*head.cast::<AtomicU64>().add(COUNT_WORD) });
    Ok(Mapped { is_first: first, counter })
}

/// Writes the header at the beginning of the first piece, which has room for it.
fn write_header(thread: &'static Thread) {
    let start = thread.start.get().map_or(0, |start| start as usize as u64);
    let file = FileHeader {
        magic: MAGIC,
        thread: thread.number.get(),
        parent: thread.parent.get(),
        nth: thread.nth.get(),
        start,
        count: thread.count(),
        reserved: [0; 2],
    };
    // SAFETY: plain words, as many as the header has.
    let words: [u64; HEADER_WORDS] = unsafe { core::mem::transmute(file) };
    let at = thread.log.cursor.get();
    thread.log.cursor.set(at.wrapping_add(HEADER_WORDS));
    for (index, word) in words.into_iter().enumerate().rev() {
        // SAFETY: within the first page of the piece; volatile, so that writes reach the file in this order.
        unsafe { at.add(index).write_volatile(word) };
    }
}

/// The file becomes the one before; the one before that goes.
pub(super) fn turn_over(thread: &'static Thread) {
    let log = &thread.log;
    end_file(thread);
    let (path, older) = (path(thread), older(thread));
    call!(RENAME, path.bytes().as_ptr(), older.bytes().as_ptr());
    BYTES.fetch_sub(log.older_bytes.replace(log.file_bytes.replace(0)), SeqCst);
    log.begins.set(cut::WINDOW);
    thread.part.begin_file(thread.count());
}

/// What the thread's log holds is forgotten; it begins again.
pub(super) fn begin_anew(thread: &'static Thread) {
    let log = &thread.log;
    if log.closed.get() {
        return;
    }
    end_file(thread);
    let (path, older) = (path(thread), older(thread));
    call!(UNLINK, path.bytes().as_ptr());
    call!(UNLINK, older.bytes().as_ptr());
    BYTES.fetch_sub(log.older_bytes.replace(0) + log.file_bytes.replace(0), SeqCst);
    log.begins.set(cut::SWITCH);
    thread.count_in(None);
    thread.part.begin_file(thread.count());
}

/// Nothing more goes to the file.
fn end_file(thread: &Thread) {
    let log = &thread.log;
    if log.piece.get().is_null() {
        return;
    }
    let used = used_bytes(log);
    if call!(TRUNCATE, path(thread).bytes().as_ptr(), used) == 0 {
        let kept = used.next_multiple_of(PAGE as u64);
        BYTES.fetch_sub(log.file_bytes.replace(kept) - kept, SeqCst);
    }
    sys::unmap(log.piece.get(), log.piece_bytes.get());
    log.piece.set(core::ptr::null_mut());
    log.piece_bytes.set(0);
    log.touched.set(0);
    log.piece_offset.set(0);
    log.cursor.set(core::ptr::null_mut());
    log.end.set(core::ptr::null_mut());
    log.next_bytes.set(0);
}

/// The same where there is no room for as much.
pub(super) fn extend_by_least(thread: &'static Thread) -> Result<Mapped, Trouble> {
    thread.log.next_bytes.set(LEAST_BYTES);
    extend(thread)
}

/// Takes a piece's bytes from what is left of the limit: how long the piece is, and how many bytes the file grows.
fn account(log: &Log, offset: u64, bytes: usize) -> Result<(usize, u64), Trouble> {
    let overlap = log.file_bytes.get() - offset;
    let limit = LIMIT.load(Relaxed);
    let mut grant = Err(Trouble::Limit(limit));
    let _ = BYTES.fetch_update(SeqCst, SeqCst, |before| {
        let left = limit.saturating_sub(before) & !(PAGE as u64 - 1);
        // Near the limit pieces get smaller, so that something is left for other threads.
        let added = (bytes as u64 - overlap).min((left / 4).next_multiple_of(PAGE as u64)).min(left);
        grant = if added == 0 { Err(Trouble::Limit(limit)) } else { Ok(((overlap + added) as usize, added)) };
        grant.is_ok().then(|| before + added)
    });
    grant
}

/// Makes room on the disk, so that it is noticed here when there is none.
pub fn allocate(file: i32, from: u64, bytes: u64) -> Result<(), i32> {
    const UNSUPPORTED: isize = -95;
    loop {
        match call!(FALLOCATE, file, 0, from, bytes) {
            0 => return Ok(()),
            error if error == -(sys::EINTR as isize) => {}
            UNSUPPORTED => return fill(file, from, bytes),
            error => return Err(-error as i32),
        }
    }
}

/// The same where the file system cannot: writes zeroes.
fn fill(file: i32, from: u64, bytes: u64) -> Result<(), i32> {
    static ZEROES: [u8; 64 << 10] = [0; 64 << 10];
    let mut at = from;
    while at < from + bytes {
        let count = (from + bytes - at).min(ZEROES.len() as u64);
        match call!(PWRITE, file, ZEROES.as_ptr(), count, at) {
            written if written > 0 => at += written as u64,
            error if error == -(sys::EINTR as isize) => {}
            error => return Err(-error as i32),
        }
    }
    Ok(())
}

fn used_bytes(log: &Log) -> u64 {
    log.piece_offset.get() + (log.cursor.get() as usize - log.piece.get() as usize) as u64
}

fn path(thread: &Thread) -> Text<4200> {
    file(thread, "log")
}

/// The file before the current one.
fn older(thread: &Thread) -> Text<4200> {
    file(thread, "old")
}

fn file(thread: &Thread, kind: &str) -> Text<4200> {
    mode::file(Text::<40>::formatted(format_args!("/thread-{}.{kind}\0", thread.number.get())).bytes())
}

/// Gives back what the file has beyond its records.
pub(super) fn shorten(thread: &Thread) {
    let used = used_bytes(&thread.log);
    if call!(TRUNCATE, path(thread).bytes().as_ptr(), used) == 0 {
        BYTES.fetch_sub(thread.log.file_bytes.get() - used.next_multiple_of(PAGE as u64), SeqCst);
    }
}

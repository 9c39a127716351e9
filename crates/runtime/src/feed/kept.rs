//! Keeps what came from outside: a file of each thread, mapped piece by piece, whole whatever becomes of the process.

use core::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Relaxed, SeqCst},
    compiler_fence,
};

use super::key::{Key, file_of};
use crate::log::{self, window};
use crate::mode;
use crate::outside::{FILLER, HEAD_WORDS, KEY_SHIFT, WORD, words_for};
use crate::sys::{self, PAGE};
use crate::text::say;
use crate::threads::Thread;

const LARGEST_PIECE: usize = 1 << 20;

/// Of all files together. They may be as large as the logs.
static BYTES: AtomicU64 = AtomicU64::new(0);
/// Nothing more is kept.
static STOPPED: AtomicBool = AtomicBool::new(false);

/// Whether entries are kept now.
pub(super) fn keeps() -> bool {
    !STOPPED.load(Relaxed) && !window::partial() && mode::get() == mode::RECORDING
}

/// Appends an entry.
pub(super) fn keep(thread: &Thread, key: Key, result: i64, data: *const u8, bytes: usize) {
    // SAFETY: the caller's bytes; without any, the pointer is not looked at.
    let data = if bytes == 0 { &[][..] } else { unsafe { core::slice::from_raw_parts(data, bytes) } };
    keep_parts(thread, key, result, data, [].into_iter());
}

/// Appends an entry whose data lies in several places.
pub(super) fn keep_parts<'d>(
    thread: &Thread,
    key: Key,
    result: i64,
    head: &[u8],
    parts: impl Iterator<Item = &'d [u8]> + Clone,
) {
    if !keeps() {
        return;
    }
    let bytes = head.len() + parts.clone().map(<[u8]>::len).sum::<usize>();
    let words = words_for(bytes);
    let Some(entry) = reserve(thread, words) else { return };
    // SAFETY: so many words are reserved, and each part fits.
    unsafe {
        entry.add(1).write_volatile(result as u64);
        let mut to = entry.add(HEAD_WORDS).cast::<u8>();
        sys::memmove(to.cast(), head.as_ptr().cast(), head.len());
        to = to.add(head.len());
        for part in parts {
            sys::memmove(to.cast(), part.as_ptr().cast(), part.len());
            to = to.add(part.len());
        }
        compiler_fence(SeqCst);
        entry.write_volatile(u64::from(key.0) << KEY_SHIFT | bytes as u64);
    }
}

fn reserve(thread: &Thread, words: usize) -> Option<*mut u64> {
    let kept = &thread.feed.kept;
    let left = (kept.end.get() as usize - kept.cursor.get() as usize) / WORD;
    if left < words {
        if left > 0 {
            let header = u64::from(FILLER) << KEY_SHIFT | ((left - 1) * WORD) as u64;
            // SAFETY: words of the piece.
            unsafe { kept.cursor.get().write_volatile(header) };
        }
        extend(thread, words * WORD)?;
    }
    let entry = kept.cursor.get();
    kept.cursor.set(entry.wrapping_add(words));
    Some(entry)
}

/// Maps the next piece of the file, with room for so many bytes at least.
fn extend(thread: &Thread, least: usize) -> Option<()> {
    let kept = &thread.feed.kept;
    let offset = kept.file_bytes.get();
    let bytes = (kept.piece_bytes.get() * 4).clamp(PAGE, LARGEST_PIECE).max(least.next_multiple_of(PAGE));
    if BYTES.fetch_add(bytes as u64, SeqCst) + bytes as u64 > log::limit() {
        return stop("its files reached the size limit of the logs");
    }
    let Ok(file) = sys::open(file_of(mode::directory(), thread).bytes(), sys::READ_WRITE) else {
        return stop("a file cannot be written");
    };
    let piece = log::allocate(file, offset, bytes as u64).ok().and_then(|()| sys::map_shared(file, bytes, offset));
    sys::close(file);
    let Some(piece) = piece else { return stop("the disk is full") };
    if !kept.piece.get().is_null() {
        sys::unmap(kept.piece.get(), kept.piece_bytes.get());
    }
    kept.piece.set(piece);
    kept.piece_bytes.set(bytes);
    kept.file_bytes.set(offset + bytes as u64);
    kept.cursor.set(piece.cast());
    kept.end.set(piece.wrapping_add(bytes).cast());
    Some(())
}

fn stop(why: &str) -> Option<()> {
    if !STOPPED.swap(true, Relaxed) {
        say(format_args!("what comes from outside is not kept any more, and a replay may differ from here: {why}"));
    }
    None
}

//! Gives a thread what the recording has of it.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::key::{ERROR_BYTES, Key, file_of, note};
use super::thread_feed::{NextEntry, Stored};
use crate::outside::{FILLER, HEAD_WORDS, KEY_SHIFT, LENGTH, WORD, words_for};
use crate::sys;
use crate::text::Text;
use crate::threads::Thread;

/// The recording's folder.
struct Folder(UnsafeCell<Text<4096>>);

// SAFETY: written once, before other threads are there.
unsafe impl Sync for Folder {}

static FOLDER: Folder = Folder(UnsafeCell::new(Text::new()));
static FED: AtomicBool = AtomicBool::new(false);

/// Whether a recording's values are given.
#[inline]
pub fn fed() -> bool {
    FED.load(Relaxed)
}

/// Values are given from the recording in this folder.
pub fn prepare(folder: &[u8]) {
    // SAFETY: nobody reads it yet.
    unsafe { (*FOLDER.0.get()).push(folder) };
    FED.store(true, Relaxed);
}

/// A file of this name in the recording; the name ends with a zero byte.
pub fn file(name: &[u8]) -> Text<4200> {
    let mut path = Text::new();
    // SAFETY: written before other threads are there.
    path.push(unsafe { (*FOLDER.0.get()).bytes() });
    path.push(name);
    path
}

/// The next value of a kind, if there is one that fits.
pub(super) fn give(thread: &Thread, key: Key, to: *mut u8, room: usize, length: &impl Fn(i64) -> usize) -> Option<i64> {
    let (place, result, data, bytes) = take(thread, key)?;
    let fits = if result < 0 { bytes == ERROR_BYTES } else { bytes == length(result).min(room) };
    if !fits {
        place.over.set(true);
        note(thread, format_args!("{} asked for another number of bytes than in the recording", key.name()));
        return None;
    }
    place.calls.set(place.calls.get() + 1);
    if result < 0 {
        // SAFETY: as many bytes as an error has.
        sys::set_errno(unsafe { data.cast::<i32>().read_unaligned() });
    } else if bytes > 0 {
        // SAFETY: the program's memory, which has this room.
        unsafe { sys::memmove(to.cast(), data.cast(), bytes) };
    }
    Some(result)
}

/// The next entry of a kind, if there is one: its result and its data.
pub(super) fn entry(thread: &Thread, key: Key) -> Option<(i64, &'static [u8])> {
    let (place, result, data, bytes) = take(thread, key)?;
    place.calls.set(place.calls.get() + 1);
    // SAFETY: within the mapping, which stays.
    Some((result, unsafe { core::slice::from_raw_parts(data, bytes) }))
}

/// Takes the next entry of a kind, with its place among the kinds.
fn take(thread: &Thread, key: Key) -> Option<(&NextEntry, i64, *const u8, usize)> {
    if !fed() {
        return None;
    }
    let stored = &thread.feed.stored;
    if !stored.opened.replace(true) {
        open(stored, thread);
    }
    let place = stored.places.iter().find(|place| [0, key.0].contains(&place.key.get()))?;
    place.key.set(key.0);
    if place.over.get() {
        return None;
    }
    let Some((result, data, bytes)) = next(stored, place) else {
        let calls = place.calls.get();
        place.over.set(true);
        note(thread, format_args!("{} was called more than the {calls} times of the recording", key.name()));
        return None;
    };
    Some((place, result, data, bytes))
}

/// The next entry of a kind: its result and its data.
fn next(stored: &Stored, place: &NextEntry) -> Option<(i64, *const u8, usize)> {
    let word = |index: usize| -> Option<u64> {
        // SAFETY: within the mapping.
        (index < stored.count.get()).then(|| unsafe { stored.words.get().add(index).read() })
    };
    loop {
        let at = place.word.get();
        let header = word(at).filter(|header| *header != 0)?;
        let (key, bytes) = ((header >> KEY_SHIFT) as u16, (header & LENGTH) as usize);
        let words = if key == FILLER { 1 + bytes / WORD } else { words_for(bytes) };
        let end = at.checked_add(words).filter(|end| *end <= stored.count.get())?;
        place.word.set(end);
        if key == place.key.get() {
            let data = stored.words.get().wrapping_add(at + HEAD_WORDS);
            return Some((word(at + 1)? as i64, data.cast(), bytes));
        }
    }
}

fn open(stored: &Stored, thread: &Thread) {
    // SAFETY: written before other threads are there.
    let folder = unsafe { (*FOLDER.0.get()).bytes() };
    let Ok(file) = sys::open(file_of(folder, thread).bytes(), sys::READ_ONLY) else { return };
    let bytes = sys::size(file).unwrap_or(0);
    if bytes > 0
        && let Some(memory) = sys::map_private(file, bytes)
    {
        stored.words.set(memory.cast());
        stored.count.set(bytes / WORD);
    }
    sys::close(file);
}

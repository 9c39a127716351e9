//! Reads what the runtime kept of a program's input from outside: a file of each thread (`docs/recording.md`).

use foretrace_runtime::outside::{FILLER, HEAD_WORDS, KEY_SHIFT, LENGTH, WORD, words_for};
use std::fs;
use std::io;
use std::path::Path;

/// What a call gave.
pub struct Kept<'f> {
    /// The kind of the call.
    pub source: u8,
    /// Which one of this kind.
    pub detail: u8,
    /// Its result.
    pub result: i64,
    /// Its data.
    pub data: &'f [u8],
}

/// The files of all threads of a recording; none before there is a recording.
pub fn files_of(recording: &Path) -> io::Result<Vec<Vec<u8>>> {
    let files = match fs::read_dir(recording) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()), // the first run that explores
        files => files?,
    };
    let mut all = Vec::new();
    for file in files {
        let file = file?;
        if file.file_name().to_string_lossy().starts_with("outside-") {
            all.push(fs::read(file.path())?);
        }
    }
    Ok(all)
}

/// The entries of a file, as far as it is whole.
pub fn kept(bytes: &[u8]) -> impl Iterator<Item = Kept<'_>> {
    let word = |index: usize| {
        let bytes = bytes.get(index * WORD..(index + 1) * WORD)?;
        bytes.try_into().ok().map(u64::from_ne_bytes)
    };
    let mut at = 0;
    let entries = std::iter::from_fn(move || {
        let header = word(at).filter(|header| *header != 0)?;
        let (key, length) = ((header >> KEY_SHIFT) as u16, (header & LENGTH) as usize);
        let data = (at + HEAD_WORDS) * WORD;
        let data = data.checked_add(length).and_then(|end| bytes.get(data..end));
        let entry = word(at + 1).zip(data).filter(|_| key != FILLER);
        at += if key == FILLER { 1 + length / WORD } else { words_for(length) };
        let [source, detail] = key.to_be_bytes();
        Some(entry.map(|(result, data)| Kept { source, detail, result: result as i64, data }))
    });
    entries.flatten()
}

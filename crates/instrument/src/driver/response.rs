//! Response files: `@file` on a command line stands for the words in the file.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Files in files deeper than this are taken as they stand.
const DEEPEST: u32 = 16;

/// The words with every response file expanded; what cannot be read stays as it is, as compilers have it.
pub fn expand(words: Vec<OsString>) -> Vec<OsString> {
    expand_to(words, DEEPEST)
}

fn expand_to(words: Vec<OsString>, depth: u32) -> Vec<OsString> {
    let mut expanded = Vec::with_capacity(words.len());
    for word in words {
        let file = word.as_bytes().strip_prefix(b"@").filter(|_| depth > 0);
        match file.map(|file| std::fs::read(OsStr::from_bytes(file))) {
            Some(Ok(text)) => expanded.extend(expand_to(split(&text), depth - 1)),
            _ => expanded.push(word),
        }
    }
    expanded
}

/// Words as GNU tools write them: between blanks, with quotes and backslashes.
fn split(text: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', None | Some(b'"')) => word.get_or_insert_default().extend(bytes.next()),
            (byte, Some(open)) if byte == open => quote = None,
            (b'"' | b'\'', None) => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (byte, None) if byte.is_ascii_whitespace() => words.extend(word.take()),
            (byte, _) => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from_vec).collect()
}

/// Words as the text of a response file.
pub fn join(words: &[OsString]) -> Vec<u8> {
    let mut text = Vec::new();
    for word in words {
        text.push(b'"');
        for byte in word.as_bytes() {
            if matches!(byte, b'"' | b'\\') {
                text.push(b'\\');
            }
            text.push(*byte);
        }
        text.extend(b"\"\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_response_file() {
        let words = ["-DX=\"a b\"", "it's", "back\\slash", "", "-o", "two\nlines", "ä"].map(OsString::from).to_vec();
        assert_eq!(split(&join(&words)), words);
    }

    #[test]
    fn quotes_and_blanks_are_those_of_gnu_tools() {
        let words = split(b"  -c 'a b'\t\"c\\\"d\" e\\ f\n\n''g ");
        assert_eq!(words, ["-c", "a b", "c\"d", "e f", "g"]);
    }

    #[test]
    fn files_in_files_are_expanded_and_missing_ones_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let (inner, outer) = (folder.path().join("inner"), folder.path().join("outer"));
        std::fs::write(&inner, "x y").expect("written");
        std::fs::write(&outer, format!("a @{} b", inner.display())).expect("written");
        let words = expand(vec![format!("@{}", outer.display()).into(), "@none".into()]);
        assert_eq!(words, ["a", "x", "y", "b", "@none"]);
    }
}

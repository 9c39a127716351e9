//! Commands as a shell reads them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The words of a command, those quoted that a shell would not take as they are.
pub fn command_of<'a>(words: impl IntoIterator<Item = &'a OsStr>) -> String {
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// One word of a command, not its first one: there a shell takes `NAME=VALUE` for a variable. The operating system passes no word with a NUL,
/// the only one that no quotes can hold.
pub fn quoted(word: &OsStr) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./:,+@%=".contains(byte);
    let text = word.to_string_lossy();
    if !text.is_empty() && word.as_bytes().iter().all(is_plain) {
        return text.into_owned();
    }
    let bytes = shlex::bytes::try_quote(word.as_bytes());
    bytes.map_or(text.clone(), |bytes| String::from_utf8_lossy(&bytes).into_owned().into()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_a_shell_would_split_or_expand_are_quoted() {
        let words = ["./pool it", "--size=3", "it's", "*", ""];
        let command = command_of(words.map(OsStr::new));
        assert_eq!(shlex::split(&command).expect("a command"), words);
        assert!(command.contains(" --size=3 "), "{command}");
    }
}

//! Commands as a shell reads them.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Words that follow the name of a command, those quoted that a shell would not take as they are.
pub fn command_of(words: impl IntoIterator<Item = impl AsRef<OsStr>>) -> String {
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// One word that follows the name of a command; in place of the name a shell would take `NAME=VALUE` for a variable.
pub fn quoted(word: impl AsRef<OsStr>) -> String {
    let bytes = word.as_ref().as_bytes();
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./:,+@%=".contains(byte);
    let shown = match !bytes.is_empty() && bytes.iter().all(is_plain) {
        true => Cow::Borrowed(bytes),
        // Only a NUL cannot be quoted, and no argument or path has one.
        false => shlex::bytes::try_quote(bytes).unwrap_or(Cow::Borrowed(bytes)),
    };
    String::from_utf8_lossy(&shown).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_a_shell_would_split_or_expand_are_quoted() {
        let words = ["./pool it", "--size=3", "it's", "*", ""];
        let command = command_of(words);
        assert_eq!(shlex::split(&command).expect("a command"), words);
        assert!(command.contains(" --size=3 "), "{command}");
    }
}

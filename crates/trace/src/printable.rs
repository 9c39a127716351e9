//! Text from a trace as a terminal may show it: control characters could move the cursor, rename the window or hide text.

use std::borrow::Cow;

/// Whether a character acts on a terminal, or on the order in which text is shown, instead of being shown.
fn is_command(c: char) -> bool {
    let reorders = matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    c.is_control() || reorders
}

/// The character that stands for a command, with as many bytes in UTF-8.
fn stand_in(c: char) -> char {
    match c.len_utf8() {
        1 => '?',
        2 => '¿',
        _ => char::REPLACEMENT_CHARACTER,
    }
}

/// The same text with a mark in place of each control character; it has as many bytes as before.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_command) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if is_command(c) { stand_in(c) } else { c }).collect())
}

/// The same for a text of its own.
pub(crate) fn make_printable(text: &mut Box<str>) {
    if let Cow::Owned(clean) = printable(text) {
        *text = clean.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_become_marks_of_the_same_length() {
        for (text, shown) in [
            ("bank.c:3", "bank.c:3"),
            ("a\u{1b}[2Jb\u{7}", "a?[2Jb?"),
            ("line\nbreak\u{7f}", "line?break?"),
            ("\u{9b}31m", "¿31m"),
            ("x\u{202e}y", "x\u{fffd}y"),
            ("größe", "größe"),
        ] {
            assert_eq!(printable(text), shown);
            assert_eq!(printable(text).len(), text.len());
        }
    }
}

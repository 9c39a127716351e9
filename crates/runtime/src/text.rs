//! Short texts without an allocator: paths, lines of files, messages.

use core::fmt::{Arguments, Write};

use crate::sys;

/// A text of at most `N` bytes; what is beyond is cut off.
pub struct Text<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Text<N> {
    pub const fn new() -> Text<N> {
        Text { bytes: [0; N], length: 0 }
    }

    pub fn formatted(arguments: Arguments) -> Text<N> {
        let mut text = Text::new();
        let _ = text.write_fmt(arguments);
        text
    }

    pub fn push(&mut self, bytes: &[u8]) {
        let taken = bytes.len().min(N - self.length);
        self.bytes[self.length..self.length + taken].copy_from_slice(&bytes[..taken]);
        self.length += taken;
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl<const N: usize> Write for Text<N> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.push(text.as_bytes());
        Ok(())
    }
}

/// A line on standard error.
pub fn say(arguments: Arguments) {
    sys::write(2, Text::<1024>::formatted(format_args!("foretrace: {arguments}\n")).bytes());
}

/// A decimal number and nothing else.
pub fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0u64, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

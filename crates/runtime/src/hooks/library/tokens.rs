//! Functions that cut a text into tokens and keep, in a variable, where the rest begins.

use super::call::Call;
use super::strings;

/// Bytes of a pointer.
const POINTER: u64 = 8;

/// A set of bytes.
#[derive(Clone, Copy, Default)]
struct Bytes([u64; 4]);

impl Bytes {
    /// Those of a text, which is read.
    fn of_text(call: Call, text: u64) -> Bytes {
        let mut set = Bytes::default();
        strings::each_of_text(call, text, |byte| set.0[usize::from(byte / 64)] |= 1 << (byte % 64));
        set
    }

    fn has(self, byte: u8) -> bool {
        self.0[usize::from(byte / 64)] >> (byte % 64) & 1 == 1
    }
}

/// `strtok_r`: the next token of `text`, or of the rest that `place` keeps; null if there is none.
pub fn next(call: Call, text: u64, delimiters: u64, place: u64) -> u64 {
    let start = if text == 0 { call.read(place, POINTER) } else { text };
    let delimiters = Bytes::of_text(call, delimiters);
    let (before, first) = strings::find(call, start, |byte| byte == 0 || !delimiters.has(byte));
    let token = start + before;
    if first == 0 {
        call.write(place, token, POINTER);
        return 0;
    }
    let rest = cut(call, token, delimiters);
    let rest = if rest.ends_text { rest.end } else { rest.end + 1 };
    call.write(place, rest, POINTER);
    token
}

/// `strsep`: the text that `place` points to, up to the next delimiter.
pub fn separate(call: Call, place: u64, delimiters: u64) -> u64 {
    let token = call.read(place, POINTER);
    if token == 0 {
        return 0;
    }
    let delimiters = Bytes::of_text(call, delimiters);
    let rest = cut(call, token, delimiters);
    let rest = if rest.ends_text { 0 } else { rest.end + 1 };
    call.write(place, rest, POINTER);
    token
}

/// Where a token ends, and whether the text ends there.
struct Cut {
    end: u64,
    ends_text: bool,
}

/// Ends a token at the next delimiter.
fn cut(call: Call, token: u64, delimiters: Bytes) -> Cut {
    let (length, byte) = strings::find(call, token, |byte| byte == 0 || delimiters.has(byte));
    let end = token + length;
    if byte != 0 {
        call.write(end, 0, 1);
    }
    Cut { end, ends_text: byte == 0 }
}

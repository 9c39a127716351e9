//! What the formats of `printf` and `scanf` say of their variable arguments.

use super::{Call, notes, strings};
use crate::sys;

/// What one conversion of a format does with its argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Conversion {
    letter: u8,
    /// The letters before it: `hh`, `h`, `l`, `ll`, `L`, `j`, `z`, `t`; none as a zero.
    length: [u8; 2],
    width: Option<u64>,
    precision: Precision,
    /// `scanf` gets the memory itself (`%ms`).
    allocates: bool,
}

/// How many bytes of a text are printed at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Precision {
    All,
    Given(u64),
    /// The argument before says it.
    Argument,
}

/// Which language a format is written in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    Print,
    Scan,
}

/// A format, as far as it is read.
struct Reader<'a> {
    format: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> u8 {
        self.format.get(self.at).copied().unwrap_or(0)
    }

    fn take(&mut self, wanted: impl Fn(u8) -> bool) -> Option<u8> {
        let byte = self.peek();
        (byte != 0 && wanted(byte)).then(|| {
            self.at += 1;
            byte
        })
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = None;
        while let Some(digit) = self.take(|byte| byte.is_ascii_digit()) {
            number = Some(number.unwrap_or(0_u64).saturating_mul(10).saturating_add(u64::from(digit - b'0')));
        }
        number
    }

    /// A number that a `$` follows: which argument is meant.
    fn position(&mut self) -> Option<u64> {
        let start = self.at;
        let number = self.number().filter(|_| self.peek() == b'$');
        self.at = if number.is_some() { self.at + 1 } else { start };
        number
    }

    /// The set of `%[…]`.
    fn set(&mut self) {
        self.take(|byte| byte == b'^');
        self.take(|byte| byte == b']');
        while self.take(|byte| byte != b']').is_some() {}
        self.take(|byte| byte == b']');
    }
}

/// The conversion that the variable argument of this number belongs to, if it is not a width or precision.
fn conversion(format: &[u8], language: Language, index: u64) -> Option<Conversion> {
    let mut reader = Reader { format, at: 0 };
    let mut arguments = 0;
    while reader.at < format.len() {
        if reader.take(|byte| byte == b'%').is_none() {
            reader.at += 1;
            continue;
        }
        let position = reader.position();
        let mut suppressed = false;
        let mut allocates = false;
        let mut precision = Precision::All;
        let width;
        match language {
            Language::Print => {
                while reader.take(|byte| b"-+ #0'I".contains(&byte)).is_some() {}
                width = star(&mut reader, &mut arguments, index)?;
                if reader.take(|byte| byte == b'.').is_some() {
                    let before = arguments;
                    let number = star(&mut reader, &mut arguments, index)?;
                    precision = match number {
                        _ if arguments > before => Precision::Argument,
                        number => Precision::Given(number.unwrap_or(0)),
                    };
                }
            }
            Language::Scan => {
                suppressed = reader.take(|byte| byte == b'*').is_some();
                reader.take(|byte| byte == b'\'');
                width = reader.number();
                allocates = reader.take(|byte| byte == b'm').is_some();
            }
        }
        let mut length = [0; 2];
        for letter in &mut length {
            *letter = reader.take(|byte| b"hlLqjzt".contains(&byte)).unwrap_or(0);
        }
        let letter = reader.take(|_| true)?;
        if letter == b'[' {
            reader.set();
        }
        let takes_none = suppressed || letter == b'%' || language == Language::Print && letter == b'm';
        let number = position.map_or(arguments, |position| position.saturating_sub(1));
        if !takes_none {
            if number == index {
                return Some(Conversion { letter, length, width, precision, allocates });
            }
            arguments += 1;
        }
    }
    None
}

/// A number, or the argument that has it. None if that argument is the one of this number.
#[allow(clippy::option_option, reason = "the outer one ends the search")]
fn star(reader: &mut Reader, arguments: &mut u64, index: u64) -> Option<Option<u64>> {
    if reader.take(|byte| byte == b'*').is_none() {
        return Some(reader.number());
    }
    let number = reader.position().map_or(*arguments, |position| position.saturating_sub(1));
    *arguments += 1;
    (number != index).then_some(None)
}

/// A format of the program.
fn format_at(format: u64) -> &'static [u8] {
    // SAFETY: the program's text, which lives at least as long as the call.
    unsafe { core::slice::from_raw_parts(format as *const u8, sys::strlen(format as *const _)) }
}

/// A text that is about to be printed.
pub fn printed(call: Call, format: u64, index: u64, text: u64, before: u64) {
    let Some(conversion) = conversion(format_at(format), Language::Print, index) else { return };
    if conversion.letter != b's' || conversion.length[0] == b'l' || text == 0 {
        return;
    }
    let most = match conversion.precision {
        Precision::All => u64::MAX,
        Precision::Given(most) => most,
        Precision::Argument => u64::try_from(before as i32).unwrap_or(u64::MAX),
    };
    strings::text(call, text, most);
}

/// What was written to where an argument points, of which `result` were written.
pub fn scanned(call: Call, result: u64, format: u64, index: u64, place: u64) {
    let Some(conversion) = conversion(format_at(format), Language::Scan, index) else { return };
    let written = u64::try_from(result as i32).unwrap_or(0);
    if index >= written && conversion.letter != b'n' {
        return;
    }
    notes::note(call, place, size(conversion, place));
}

/// How many bytes a conversion of `scanf` writes to a place.
fn size(conversion: Conversion, place: u64) -> u64 {
    const POINTER: u64 = 8;
    const WIDE: u64 = 4;
    let [first, second] = conversion.length;
    let is_wide = first == b'l';
    match conversion.letter {
        _ if conversion.allocates => POINTER,
        b'c' => conversion.width.unwrap_or(1) * if is_wide { WIDE } else { 1 },
        b's' | b'[' if is_wide => WIDE,
        b's' | b'[' => notes::text_length(place) + 1,
        b'C' | b'S' => WIDE,
        b'p' => POINTER,
        b'a' | b'e' | b'f' | b'g' | b'A' | b'E' | b'F' | b'G' => match first {
            b'l' => 8,
            b'L' => 10,
            _ => 4,
        },
        _ => match (first, second) {
            (b'h', b'h') => 1,
            (b'h', _) => 2,
            (0, _) => 4,
            _ => 8,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(format: &str, language: Language) -> String {
        (0..8)
            .map(|index| {
                conversion(format.as_bytes(), language, index).map_or('-', |conversion| conversion.letter as char)
            })
            .collect()
    }

    #[test]
    fn arguments_belong_to_conversions() {
        assert_eq!(letters("a %d of %s: %5.2f%%\n", Language::Print), "dsf-----");
        assert_eq!(letters("%*s|%-*.*s|%m %s", Language::Print), "-s--ss--");
        assert_eq!(letters("%2$s %1$d", Language::Print), "ds------");
        assert_eq!(letters("%", Language::Print), "--------");
        assert_eq!(letters("%d %*s %[^]x] %n", Language::Scan), "d[n-----");
        assert_eq!(letters("%lu,%hhd %ms", Language::Scan), "uds-----");
    }

    #[test]
    fn precisions_are_numbers_or_arguments() {
        let precision = |format: &str, index| {
            conversion(format.as_bytes(), Language::Print, index).expect("a conversion").precision
        };
        assert_eq!(precision("%s", 0), Precision::All);
        assert_eq!(precision("%.3s", 0), Precision::Given(3));
        assert_eq!(precision("%.s", 0), Precision::Given(0));
        assert_eq!(precision("%d %.*s", 2), Precision::Argument);
    }

    #[test]
    fn sizes_are_those_of_the_types() {
        let size = |format: &str| size(conversion(format.as_bytes(), Language::Scan, 0).expect("one"), 0);
        let found = ["%d", "%hhd", "%hd", "%ld", "%lld", "%zu", "%f", "%lf", "%Lf", "%c", "%7c", "%p", "%ms"].map(size);
        assert_eq!(found, [4, 1, 2, 8, 8, 8, 4, 8, 10, 1, 7, 8, 8]);
    }
}

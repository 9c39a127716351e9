//! What the formats of `printf` and `scanf` say of their variable arguments.

use super::call::Call;
use super::{memory, strings};
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

/// What becomes of a variable argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Use {
    /// It is a width or a precision.
    Number,
    Converted(Conversion),
}

/// Visits the variable arguments in the order in which a format names them, by number, until one visit says that it is enough.
fn each_argument(format: &[u8], language: Language, mut visit: impl FnMut(u64, Use) -> bool) {
    let mut reader = Reader { format, at: 0 };
    let mut arguments = Arguments { given: 0, visit: &mut visit, enough: false };
    while reader.at < format.len() && !arguments.enough {
        if reader.take(|byte| byte == b'%').is_none() {
            reader.at += 1;
            continue;
        }
        let position = reader.position();
        let (mut suppressed, mut allocates, mut precision) = (false, false, Precision::All);
        let width = match language {
            Language::Print => {
                while reader.take(|byte| b"-+ #0'I".contains(&byte)).is_some() {}
                let (width, _) = arguments.number(&mut reader);
                if reader.take(|byte| byte == b'.').is_some() {
                    precision = match arguments.number(&mut reader) {
                        (_, true) => Precision::Argument,
                        (number, false) => Precision::Given(number.unwrap_or(0)),
                    };
                }
                width
            }
            Language::Scan => {
                suppressed = reader.take(|byte| byte == b'*').is_some();
                reader.take(|byte| byte == b'\'');
                let width = reader.number();
                allocates = reader.take(|byte| byte == b'm').is_some();
                width
            }
        };
        let mut length = [0; 2];
        for letter in &mut length {
            *letter = reader.take(|byte| b"hlLqjzt".contains(&byte)).unwrap_or(0);
        }
        let Some(letter) = reader.take(|_| true) else { return };
        if letter == b'[' {
            reader.set();
        }
        let takes_none = suppressed || letter == b'%' || language == Language::Print && letter == b'm';
        if !takes_none {
            arguments.see(position, Use::Converted(Conversion { letter, length, width, precision, allocates }));
        }
    }
}

/// The variable arguments that a format has named so far.
struct Arguments<'a> {
    given: u64,
    visit: &'a mut dyn FnMut(u64, Use) -> bool,
    enough: bool,
}

impl Arguments<'_> {
    /// The next one, or that at a position, which counts from 1.
    fn see(&mut self, position: Option<u64>, used: Use) {
        let number = position.map_or(self.given, |position| position.saturating_sub(1));
        self.given += u64::from(position.is_none());
        self.enough = self.enough || (self.visit)(number, used);
    }

    /// A number in the format; and whether an argument has it instead.
    fn number(&mut self, reader: &mut Reader) -> (Option<u64>, bool) {
        if reader.take(|byte| byte == b'*').is_none() {
            return (reader.number(), false);
        }
        let position = reader.position();
        self.see(position, Use::Number);
        (None, true)
    }
}

/// The conversion of the variable argument of this number, if it has one.
fn conversion(format: &[u8], language: Language, index: u64) -> Option<Conversion> {
    let mut found = None;
    each_argument(format, language, |number, used| {
        if number == index {
            found = Some(used);
        }
        number == index
    });
    match found? {
        Use::Converted(conversion) => Some(conversion),
        Use::Number => None,
    }
}

/// A format of the program.
fn format_at(format: u64) -> &'static [u8] {
    // SAFETY: the program's text, which lives at least as long as the call.
    unsafe { core::slice::from_raw_parts(format as *const u8, sys::strlen(format as *const _)) }
}

/// A text that is about to be printed.
pub fn printed(call: Call, format: u64, index: u64, text: u64, before: u64) {
    if let Some(conversion) = conversion(format_at(format), Language::Print, index) {
        read_text(call, conversion, text, before as i32);
    }
}

/// Reads the text that a conversion prints; an argument before it may say how many bytes at most.
fn read_text(call: Call, conversion: Conversion, text: u64, before: i32) {
    if conversion.letter != b's' || conversion.length[0] == b'l' || text == 0 {
        return;
    }
    let most = match conversion.precision {
        Precision::All => u64::MAX,
        Precision::Given(most) => most,
        Precision::Argument => u64::try_from(before).unwrap_or(u64::MAX),
    };
    strings::text(call, text, most);
}

/// Texts that are about to be printed from a list of arguments. A format with positions is left out.
pub fn printed_list(call: Call, format: u64, list: u64) {
    let format = format_at(format);
    if format.contains(&b'$') {
        return;
    }
    // SAFETY: the program's list, which this does not change.
    let mut list = unsafe { (list as *const List).read() };
    let mut before = 0;
    each_argument(format, Language::Print, |_, used| {
        match used {
            Use::Number => before = list.word() as i32,
            Use::Converted(conversion) => match (conversion.letter, conversion.length[0]) {
                (b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G', b'L') => list.skip_long_double(),
                (b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G', _) => list.skip_double(),
                _ => read_text(call, conversion, list.word(), before),
            },
        }
        false
    });
}

/// A `va_list` ("System V Application Binary Interface, AMD64 Architecture Processor Supplement", section 3.5.7).
#[repr(C)]
#[derive(Clone, Copy)]
struct List {
    general: u32,
    floating: u32,
    overflow: u64,
    saved: u64,
}

impl List {
    const GENERAL_END: u32 = 48;
    const FLOATING_END: u32 = 176;

    /// The next integer or pointer.
    fn word(&mut self) -> u64 {
        let place = if self.general < List::GENERAL_END {
            self.general += 8;
            self.saved + u64::from(self.general) - 8
        } else {
            self.overflow += 8;
            self.overflow - 8
        };
        // SAFETY: an argument of the program's call.
        unsafe { (place as *const u64).read() }
    }

    fn skip_double(&mut self) {
        if self.floating < List::FLOATING_END {
            self.floating += 16;
        } else {
            self.overflow += 8;
        }
    }

    fn skip_long_double(&mut self) {
        self.overflow = self.overflow.next_multiple_of(16) + 16;
    }
}

/// What was written to where the arguments of a list point, of which `result` were written. A format with positions is left out. The library has read
/// another copy of the list: this one is as it was before the call.
pub fn scanned_list(call: Call, result: u64, format: u64, list: u64) {
    let format = format_at(format);
    if format.contains(&b'$') {
        return;
    }
    // SAFETY: the program's list.
    let mut list = unsafe { (list as *const List).read() };
    let written = u64::try_from(result as i32).unwrap_or(0);
    each_argument(format, Language::Scan, |index, used| {
        let place = list.word();
        if let Use::Converted(conversion) = used
            && (index < written || conversion.letter == b'n')
        {
            memory::note(call, place, size(conversion, place));
        }
        false
    });
}

/// What was written to where an argument points, of which `result` were written.
pub fn scanned(call: Call, result: u64, format: u64, index: u64, place: u64) {
    let Some(conversion) = conversion(format_at(format), Language::Scan, index) else { return };
    let written = u64::try_from(result as i32).unwrap_or(0);
    if index >= written && conversion.letter != b'n' {
        return;
    }
    memory::note(call, place, size(conversion, place));
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
        b's' | b'[' => memory::text_length(place) + 1,
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
    fn a_list_gives_registers_first() {
        let (saved, overflow): (Vec<u64>, [u64; 4]) = ((0..22).collect(), [100, 101, 102, 103]);
        let mut list =
            List { general: 32, floating: 160, overflow: overflow.as_ptr() as u64, saved: saved.as_ptr() as u64 };
        assert_eq!([list.word(), list.word(), list.word()], [4, 5, 100]);
        list.skip_double();
        assert_eq!(list.word(), 101);
        list.skip_double();
        assert_eq!(list.word(), 103);
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

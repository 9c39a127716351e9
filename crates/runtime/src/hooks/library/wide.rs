//! What functions read of texts of wide characters.

use super::call::{Call, WIDE};
use super::memory::wide_text;
use super::plain;
use crate::library::Function;

/// Reads what a function does, if it is one of these.
pub fn reads(call: Call, function: Function, [a, b, c]: [u64; 3]) -> bool {
    const ENDLESS: u64 = u64::MAX;
    let wanted = b as u32;
    match function {
        Function::Wcslen | Function::Wcsrchr => wide_text(call, a, ENDLESS),
        Function::Wcsnlen => wide_text(call, a, b),
        Function::Wcpncpy => wide_text(call, b, c),
        Function::Wcschr => up_to(call, a, ENDLESS, |character| character == wanted || character == 0),
        Function::Wmemchr => up_to(call, a, c, |character| character == wanted),
        Function::Wcscmp | Function::Wcscoll => compares(call, [a, b], ENDLESS, true, |character| character),
        Function::Wcsncmp => compares(call, [a, b], c, true, |character| character),
        Function::Wmemcmp => compares(call, [a, b], c, false, |character| character),
        Function::Wcscasecmp => compares(call, [a, b], ENDLESS, true, folded),
        Function::Wcsncasecmp => compares(call, [a, b], c, true, folded),
        Function::Wcsspn | Function::Wcscspn | Function::Wcspbrk => {
            wide_text(call, b, ENDLESS);
            let goes_on_in_set = function == Function::Wcsspn;
            up_to(call, a, ENDLESS, |character| character == 0 || has(b, character) != goes_on_in_set);
        }
        Function::Wcsstr => {
            wide_text(call, b, ENDLESS);
            wide_text(call, a, end_of_match(a, b));
        }
        Function::Wcstol | Function::Wcstoul | Function::Wcstod => {
            wide_text(call, a, plain::length_of_wide_number(function, a, c) + 1);
        }
        _ => return false,
    }
    true
}

fn up_to(call: Call, text: u64, most: u64, stops: impl Fn(u32) -> bool) {
    let _ = (0..most).find(|index| stops(call.read(text + index * WIDE, WIDE) as u32));
}

/// Reads two texts up to where they differ.
fn compares(call: Call, texts: [u64; 2], most: u64, ends: bool, as_compared: impl Fn(u32) -> u32) {
    let _ = (0..most).find(|index| {
        let [one, other] = texts.map(|text| as_compared(call.read(text + index * WIDE, WIDE) as u32));
        one != other || ends && one == 0
    });
}

fn folded(character: u32) -> u32 {
    u8::try_from(character).map_or(character, |byte| u32::from(byte.to_ascii_lowercase()))
}

fn character(text: u64, index: u64) -> u32 {
    // SAFETY: the program's text, up to its end.
    unsafe { ((text + index * WIDE) as *const u32).read_volatile() }
}

fn has(set: u64, wanted: u32) -> bool {
    (0..).map(|index| character(set, index)).take_while(|one| *one != 0).any(|one| one == wanted)
}

/// How many characters of a text are looked at to find another one in it.
fn end_of_match(text: u64, part: u64) -> u64 {
    for start in 0.. {
        let differs = (0..).find(|at| character(part, *at) == 0 || character(text, start + at) != character(part, *at));
        let at = differs.unwrap_or(0);
        if character(part, at) == 0 {
            return start + at;
        }
        if character(text, start + at) == 0 {
            return start + at + 1;
        }
    }
    0
}

//! Strings and memory. A first look finds the bytes that the function depends on; only these are then read and recorded.

use super::call::{Arguments, Call, each_piece};
use super::memory::text_length;
use super::plain;
use crate::library::Function;
use crate::record::piece;
use crate::sys;

/// Bytes of the widest piece.
const WIDEST: u64 = 8;
/// No program has memory below.
const FIRST_PAGE: u64 = 4096;

pub fn perform(call: Call, function: Function, [a, b, c, d, e]: Arguments) -> u64 {
    const ENDLESS: u64 = u64::MAX;
    let same = |byte: u8| byte;
    match function {
        Function::Strlen => text(call, a, ENDLESS),
        Function::Strnlen => text(call, a, b),
        Function::Strcpy => {
            copy_text(call, a, b, ENDLESS);
            a
        }
        Function::Stpcpy => a + copy_text(call, a, b, ENDLESS),
        Function::Strncpy => {
            copy_and_fill(call, a, b, c);
            a
        }
        Function::Stpncpy => a + copy_and_fill(call, a, b, c),
        Function::Memccpy => {
            let at = copy_until(call, a, b, d, |byte| byte == c as u8);
            if at < d { a + at + 1 } else { 0 }
        }
        Function::Strcat => {
            let end = a + text(call, a, ENDLESS);
            copy_text(call, end, b, ENDLESS);
            a
        }
        Function::Strncat => {
            let end = a + text(call, a, ENDLESS);
            if copy_text(call, end, b, c) == c {
                call.write(end + c, 0, 1);
            }
            a
        }
        Function::Strlcpy => put_within(call, a, b, c),
        Function::Strlcat => {
            let length = text(call, a, c);
            length + put_within(call, a + length, b, c - length)
        }
        Function::Strdup => duplicate(call, a, ENDLESS),
        Function::Strndup => duplicate(call, a, b),
        Function::Memchr => found(a, c, scan(call, a, c, |byte| byte == b as u8, |_, _, _| {})),
        Function::Strchr => first_in_text(call, a, b as u8),
        Function::Strchrnul => a + scan(call, a, ENDLESS, |byte| byte == b as u8 || byte == 0, |_, _, _| {}),
        Function::Strrchr => last_in_text(call, a, b as u8),
        Function::Memcmp | Function::Bcmp => compare(call, a, b, c, false, same),
        Function::Strcmp => compare(call, a, b, ENDLESS, true, same),
        Function::Strncmp => compare(call, a, b, c, true, same),
        Function::Strcasecmp => compare(call, a, b, ENDLESS, true, folded),
        Function::Strncasecmp => compare(call, a, b, c, true, folded),
        Function::Strstr | Function::Strspn | Function::Strcspn | Function::Strpbrk => {
            // SAFETY: the program's call.
            let result = unsafe { plain::perform(function, [a, b, c, d, e]) };
            read_searched(call, function, (a, b), result);
            result
        }
        _ => parse(call, function, a, b, c),
    }
}

/// Reads up to a byte where `stops` holds, at most so many. Where that is, or `most`.
fn scan(call: Call, address: u64, most: u64, stops: impl Fn(u8) -> bool, mut each: impl FnMut(u64, u64, u64)) -> u64 {
    let mut done = 0;
    while done < most {
        let at = address.wrapping_add(done);
        let bytes = piece(done, ahead(at, most - done, |byte, _| stops(byte)));
        let value = call.read(at, bytes);
        let end = (0..bytes).find(|index| stops(byte_of(value, *index)));
        each(done, value, end.map_or(bytes, |end| end + 1));
        if let Some(end) = end {
            return done + end;
        }
        done += bytes;
    }
    most
}

/// `strlcpy`: the text is read as a whole, and as much of it written as there is room for.
fn put_within(call: Call, to: u64, from: u64, room: u64) -> u64 {
    let length = text_length(from);
    if length < room {
        return copy_text(call, to, from, u64::MAX);
    }
    let kept = room.saturating_sub(1);
    copy_text(call, to, from, kept);
    if room > 0 {
        call.write(to + kept, 0, 1);
    }
    kept + text(call, from + kept, u64::MAX)
}

/// Reads two texts up to where they differ but for the case of letters.
pub fn compares_folded(call: Call, one: u64, other: u64, most: u64) {
    compare(call, one, other, most, true, folded);
}

fn byte_of(value: u64, index: u64) -> u8 {
    (value >> (8 * index)) as u8
}

/// How many bytes up to one that stops, as it looks now, at most `most` and as many as a piece has.
fn ahead(address: u64, most: u64, stops: impl Fn(u8, u64) -> bool) -> u64 {
    if address < FIRST_PAGE {
        return 1; // the read itself is to crash
    }
    // SAFETY: the program's memory up to the byte that stops.
    let look = |index: u64| unsafe { ((address + index) as *const u8).read_volatile() };
    let most = most.min(WIDEST);
    (0..most).find(|index| stops(look(*index), *index)).map_or(most, |index| index + 1)
}

/// Reads a text of at most so many bytes; its length.
pub fn text(call: Call, address: u64, most: u64) -> u64 {
    scan(call, address, most, |byte| byte == 0, |_, _, _| {})
}

/// Reads a text, byte by byte but for its end.
pub fn each_of_text(call: Call, address: u64, mut visit: impl FnMut(u8)) {
    scan(
        call,
        address,
        u64::MAX,
        |byte| byte == 0,
        |_, value, bytes| {
            (0..bytes).map(|index| byte_of(value, index)).filter(|byte| *byte != 0).for_each(&mut visit);
        },
    );
}

/// Reads up to a byte where `stops` holds: where it is, and the byte.
pub fn find(call: Call, address: u64, stops: impl Fn(u8) -> bool) -> (u64, u8) {
    let mut last = 0;
    let at = scan(call, address, u64::MAX, stops, |_, value, bytes| last = byte_of(value, bytes - 1));
    (at, last)
}

/// Copies a text of at most so many bytes, with its end if that is among them; its length.
fn copy_text(call: Call, to: u64, from: u64, most: u64) -> u64 {
    copy_until(call, to, from, most, |byte| byte == 0)
}

/// The same to just so many bytes, with zeros after the text.
fn copy_and_fill(call: Call, to: u64, from: u64, count: u64) -> u64 {
    let length = copy_text(call, to, from, count);
    let done = count.min(length + 1);
    each_piece(to + done, count - done, |at, bytes| call.write(at, 0, bytes));
    length
}

/// Copies up to a byte where `stops` holds, with that byte, at most so many. Where that is, or `most`.
fn copy_until(call: Call, to: u64, from: u64, most: u64, stops: impl Fn(u8) -> bool) -> u64 {
    scan(call, from, most, stops, |done, value, bytes| {
        if bytes.is_power_of_two() {
            let mask = u64::MAX >> (64 - 8 * bytes);
            return call.write(to + done, value & mask, bytes);
        }
        (0..bytes).for_each(|index| call.write(to + done + index, u64::from(byte_of(value, index)), 1));
    })
}

unsafe extern "C" {
    /// Ours, which records.
    fn malloc(bytes: usize) -> *mut u8;
}

fn duplicate(call: Call, from: u64, most: u64) -> u64 {
    // SAFETY: the program's text.
    let length = unsafe { sys::strnlen(from as *const _, most as usize) } as u64;
    // SAFETY: as the program would.
    let to = unsafe { malloc(length as usize + 1) } as u64;
    if to == 0 {
        return 0;
    }
    // Of a text without an end within `most` nothing more is read.
    let room = if length < most { length + 1 } else { length };
    let copied = copy_text(call, to, from, room);
    if copied == room {
        call.write(to + length, 0, 1);
    }
    to
}

/// The address of what was found, null if it was not.
fn found(address: u64, most: u64, at: u64) -> u64 {
    if at < most { address + at } else { 0 }
}

fn first_in_text(call: Call, address: u64, wanted: u8) -> u64 {
    let (at, last) = find(call, address, |byte| byte == wanted || byte == 0);
    if last == wanted { address + at } else { 0 }
}

fn last_in_text(call: Call, address: u64, wanted: u8) -> u64 {
    let mut last = 0;
    scan(
        call,
        address,
        u64::MAX,
        |byte| byte == 0,
        |done, value, bytes| {
            if let Some(index) = (0..bytes).rev().find(|index| byte_of(value, *index) == wanted) {
                last = address + done + index;
            }
        },
    );
    last
}

fn folded(byte: u8) -> u8 {
    // SAFETY: any byte will do.
    unsafe { sys::tolower(i32::from(byte)) as u8 }
}

/// Reads pairs of pieces up to the first bytes that differ, or that end both texts; their difference.
fn compare(call: Call, one: u64, other: u64, most: u64, texts: bool, fold: impl Fn(u8) -> u8) -> u64 {
    let mut done = 0;
    while done < most {
        let (a, b) = (one.wrapping_add(done), other.wrapping_add(done));
        let bytes = ahead(a, if b < FIRST_PAGE { 1 } else { most - done }, |byte, index| {
            if b < FIRST_PAGE {
                return true;
            }
            // SAFETY: the program's memory, as far as the two are the same.
            let second = unsafe { ((b + index) as *const u8).read_volatile() };
            fold(byte) != fold(second) || texts && byte == 0
        });
        let bytes = piece(done, bytes);
        let (first, second) = (call.read(a, bytes), call.read(b, bytes));
        for index in 0..bytes {
            let (x, y) = (byte_of(first, index), byte_of(second, index));
            if fold(x) != fold(y) || texts && x == 0 {
                return (i32::from(fold(x)) - i32::from(fold(y))) as u64;
            }
        }
        done += bytes;
    }
    0
}

/// What a search has read, by what it found.
fn read_searched(call: Call, function: Function, (whole, part): (u64, u64), result: u64) {
    let part_length = text(call, part, u64::MAX);
    match function {
        Function::Strspn | Function::Strcspn => call.read_all(whole, result + 1),
        _ if result == 0 => {
            text(call, whole, u64::MAX);
        }
        Function::Strstr => call.read_all(whole, result - whole + part_length),
        _ => call.read_all(whole, result - whole + 1),
    }
}

/// Reads a number from a copy of its text.
fn parse(call: Call, function: Function, address: u64, end: u64, base: u64) -> u64 {
    const LONGEST: usize = 256;
    let (reader, base, end) = match function {
        Function::Atoi | Function::Atol | Function::Atoll => (Function::Strtol, 10, 0),
        Function::Atof => (Function::Strtod, 0, 0),
        _ => (function, base, end),
    };
    let (result, length) = parsed(reader, address, base);
    let read = length.max(before_number(address)) + 1;
    let (mut copy, mut filled) = ([0u8; LONGEST + 1], 0);
    each_piece(address, read, |at, bytes| {
        let value = call.read(at, bytes);
        for index in 0..bytes {
            if filled < LONGEST {
                copy[filled] = byte_of(value, index);
            }
            filled += 1;
        }
    });
    let (result, length) =
        if filled <= LONGEST { parsed(reader, copy.as_ptr() as u64, base) } else { (result, length) };
    if end != 0 {
        call.write(end, address + length, WIDEST);
    }
    if function == Function::Atoi { result as i32 as u64 } else { result }
}

/// A number, and how many bytes it has.
fn parsed(reader: Function, address: u64, base: u64) -> (u64, u64) {
    let mut end = address;
    // SAFETY: the program's text, or our copy, and a place for an address.
    let result = unsafe { plain::parse(reader, address, &raw mut end, base) };
    (result, end - address)
}

/// Bytes before a number that are looked at in any case.
fn before_number(address: u64) -> u64 {
    // SAFETY: the program's text, up to its first byte that is neither.
    let look = |index: u64| unsafe { ((address + index) as *const u8).read_volatile() };
    let mut at = 0;
    while matches!(look(at), b' ' | b'\t'..=b'\r') {
        at += 1;
    }
    at + u64::from(matches!(look(at), b'+' | b'-'))
}

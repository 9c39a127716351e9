//! What functions read and write of which a line in the table says it all, and the few that need more words.

use super::call::{Call, Noted, WIDE};
use super::memory::{INT, POINTER, note, text_length, vectors, wide_length, wide_text};
use super::messages::{address_of_socket, keep_room, received, sent};
use super::{plain, strings, wide};
use crate::library::{Effects, Function, Part, When};
use crate::threads::Thread;

/// Bytes of `struct mmsghdr`, and where in it the length of the message is.
const MESSAGE: u64 = 64;
const LENGTH_OF_MESSAGE: u64 = 56;

/// What is under way is a call that creates a thread.
const CREATES: u64 = 1 << 63;

/// Before the call.
pub fn reads(call: Call, function: Function, arguments: Noted, effects: Effects) {
    let [a, b, c, d, e, _] = arguments;
    match function {
        Function::Accept | Function::Accept4 | Function::Getsockname | Function::Getpeername => keep_room(call, c),
        Function::PthreadCreate | Function::ThrdCreate => call.thread.noted.set([call.site, a, CREATES]),
        Function::Sendmsg => sent(call, b),
        Function::Pwritev => vectors(b, c, u64::MAX, |address, length| call.read_all(address, length)),
        Function::Recvmmsg => {} // each of its messages has room of its own, see `received`
        Function::Sendmmsg => (0..c).for_each(|index| sent(call, b + index * MESSAGE)),
        Function::Iconv => before_conversion(call, [b, c, d, e]),
        Function::StrcasecmpL => strings::compares_folded(call, a, b, u64::MAX),
        Function::StrncasecmpL => strings::compares_folded(call, a, b, c),
        _ if wide::reads(call, function, [a, b, c]) => {}
        _ => effects.reads.iter().for_each(|part| read(call, function, arguments, *part)),
    }
}

/// A thread was created, and the call that is under way has written its name. The new thread finds it: the write comes before its start.
pub fn created(thread: &'static Thread, name: u64) {
    let [site, place, what] = thread.noted.get();
    if (place, what) == (name, CREATES) {
        thread.noted.set([0; 3]);
        note(Call { thread, site }, name, POINTER);
    }
}

fn read(call: Call, function: Function, arguments: Noted, part: Part) {
    let address = arguments[part.argument()];
    if address == 0 {
        return;
    }
    match part {
        Part::At(_, offset, bytes) => call.read_all(address + offset, bytes),
        Part::Text(_) => _ = strings::text(call, address, u64::MAX),
        Part::Wide(_) => wide_text(call, address, u64::MAX),
        Part::Counted(_, count, bytes) => call.read_all(address, arguments[count] * bytes),
        Part::Number(_) => call.read_all(address, plain::length_of_number(function, address, arguments[2]) + 1),
        _ => {}
    }
}

/// After the call, which gave `result`.
pub fn wrote(call: Call, function: Function, result: u64, arguments: Noted, effects: Effects) {
    let int = i64::from(result as i32);
    let has_written = match effects.when {
        When::Always => true,
        When::Zero => int == 0,
        When::Something => result != 0,
        When::Positive => int > 0,
        When::NotNegative => int >= 0,
    };
    let [a, b, c, d, e, _] = arguments;
    match function {
        _ if !has_written => {}
        Function::Getaddrinfo => found_addresses(call, d),
        Function::Regexec => matched(call, a, c, d),
        Function::Wcsdup => note(call, result, (wide_length(result) + 1) * WIDE),
        Function::Preadv2 if int > 0 => vectors(b, c, result, |address, length| note(call, address, length)),
        Function::Recvmmsg => (0..u64::try_from(int).unwrap_or(0)).for_each(|index| {
            let message = b + index * MESSAGE;
            note(call, message + LENGTH_OF_MESSAGE, INT);
            // SAFETY: the program's array, which the kernel has just written.
            received(call, message, unsafe { u64::from(*((message + LENGTH_OF_MESSAGE) as *const u32)) }, None);
        }),
        Function::Sendmmsg => (0..u64::try_from(int).unwrap_or(0))
            .for_each(|index| note(call, b + index * MESSAGE + LENGTH_OF_MESSAGE, INT)),
        Function::Iconv => converted(call, [b, c, d, e]),
        _ => effects.writes.iter().for_each(|part| written(call, result, arguments, *part)),
    }
}

fn written(call: Call, result: u64, arguments: Noted, part: Part) {
    let address = arguments[part.argument()];
    if address == 0 {
        return;
    }
    let count = u64::try_from(result as i64).unwrap_or(0);
    match part {
        Part::At(_, offset, bytes) => note(call, address + offset, bytes),
        Part::Text(_) => note(call, address, text_length(address) + 1),
        Part::Wide(_) => note(call, address, (wide_length(address) + 1) * WIDE),
        Part::Counted(_, most, bytes) => note(call, address, arguments[most] * bytes),
        Part::Given(_, bytes) => note(call, address, u64::try_from(result as i32).unwrap_or(0) * bytes),
        Part::GivenAtMost(_, most, bytes, more) => note(call, address, (count + more).min(arguments[most]) * bytes),
        Part::Address(_, length) => address_of_socket(call, address, arguments[length]),
        Part::Entry(_, bytes, buffer, texts, lists) => {
            // SAFETY: the program's variable, which the library has just written.
            if unsafe { *(arguments[buffer + 2] as *const u64) } == address {
                entry(
                    call,
                    address,
                    bytes,
                    arguments[buffer]..arguments[buffer] + arguments[buffer + 1],
                    (texts, lists),
                );
            }
        }
        Part::Number(_) | Part::Special(_) => {}
    }
}

/// An entry of a data base, and what it points to in its buffer.
fn entry(call: Call, at: u64, bytes: u64, buffer: core::ops::Range<u64>, (texts, lists): (&[u64], &[u64])) {
    // SAFETY: what the library has just written.
    let pointer = |at: u64| unsafe { *(at as *const u64) };
    let text = |address: u64| {
        if buffer.contains(&address) {
            note(call, address, text_length(address) + 1);
        }
    };
    note(call, at, bytes);
    texts.iter().for_each(|offset| text(pointer(at + offset)));
    for list in lists.iter().map(|offset| pointer(at + offset)).filter(|list| buffer.contains(list)) {
        let length = (0..).find(|index| pointer(list + index * POINTER) == 0).unwrap_or(0);
        note(call, list, (length + 1) * POINTER);
        (0..length).for_each(|index| text(pointer(list + index * POINTER)));
    }
}

/// The list that `getaddrinfo` made.
fn found_addresses(call: Call, place: u64) {
    const ENTRY: u64 = 48;
    const LENGTH: u64 = 16;
    const ADDRESS: u64 = 24;
    const NAME: u64 = 32;
    const NEXT: u64 = 40;
    // SAFETY: what the library has just written.
    let word = |at: u64| unsafe { *(at as *const u64) };
    note(call, place, POINTER);
    let mut entry = word(place);
    while entry != 0 {
        note(call, entry, ENTRY);
        note(call, word(entry + ADDRESS), word(entry + LENGTH) & u64::from(u32::MAX));
        if word(entry + NAME) != 0 {
            note(call, word(entry + NAME), text_length(word(entry + NAME)) + 1);
        }
        entry = word(entry + NEXT);
    }
}

/// Where a regular expression fits, unless it was compiled without that.
fn matched(call: Call, expression: u64, count: u64, places: u64) {
    const FLAGS: u64 = 56;
    const WITHOUT: u8 = 1 << 5;
    const PLACE: u64 = 8;
    // SAFETY: the program's expression, which the library has just read.
    let flags = unsafe { *((expression + FLAGS) as *const u8) };
    if flags & WITHOUT == 0 && places != 0 {
        note(call, places, count * PLACE);
    }
}

/// What is to be converted, and where to: the call changes the variables that say so.
fn before_conversion(call: Call, [from, left, to, room]: [u64; 4]) {
    let [from, left, to, _] = [from, left, to, room].map(|at| if at == 0 { 0 } else { call.read(at, POINTER) });
    if from != 0 {
        call.read_all(from, left);
    }
    call.thread.noted.set([call.site, to, 0]);
}

fn converted(call: Call, places: [u64; 4]) {
    let [_, _, to, _] = places;
    if let ([site, start, _], true) = (call.thread.noted.get(), to != 0)
        && site == call.site
    {
        // SAFETY: the program's variable, which the library has just written.
        let end = unsafe { *(to as *const u64) };
        note(call, start, end.saturating_sub(start));
    }
    places.into_iter().filter(|at| *at != 0).for_each(|at| note(call, at, POINTER));
}

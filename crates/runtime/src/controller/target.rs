//! What a replay steers towards: the three accesses of a triple, as the schedule's file names them.
//!
//! A line `first <path> <at> <times> <op> <place>…`: the thread, the position of its record (`-` where it is not known), how often
//! the thread was at the place before (`3`, or `3+` where it may have been more often), `read`, `write` or `rmw`, and the places
//! in the code, each a number or `<from>-<to>`, both inclusive, in hexadecimal. `remote` and `second` likewise.

use crate::record::{Kind, PLACE_BITS};
use crate::sys::{self, PAGE};
use crate::text::number;

/// An access that a thread is about to make.
#[derive(Clone, Copy)]
pub struct Access {
    pub kind: Kind,
    pub place: u64,
    pub address: u64,
    pub bytes: u64,
}

/// What an access does to its memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Op {
    Read,
    Write,
    Both,
}

/// One of the three accesses.
#[derive(Clone, Copy)]
pub struct Target {
    /// The thread that made it when it was recorded.
    pub path: &'static [u8],
    /// Its position in the log of that thread.
    pub at: Option<u64>,
    /// How often the thread was there before.
    pub times: u64,
    /// Whether `times` is exact.
    pub exact: bool,
    op: Op,
    places: &'static [(u64, u64)],
}

/// Which of the three a line of the schedule names, and what is left of the line.
pub fn role(line: &'static [u8]) -> Option<(usize, &'static [u8])> {
    let space = line.iter().position(|&byte| byte == b' ')?;
    let role = [&b"first"[..], b"remote", b"second"].into_iter().position(|name| name == &line[..space])?;
    Some((role, &line[space + 1..]))
}

/// The access that the rest of a line describes.
pub fn parse(line: &'static [u8]) -> Option<Target> {
    let mut words = line.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
    let path = words.next()?;
    let at = match words.next()? {
        b"-" => None,
        at => Some(number(at)?),
    };
    let times = words.next()?;
    let lower_bound = times.strip_suffix(b"+");
    let (times, exact) = (number(lower_bound.unwrap_or(times))?, lower_bound.is_none());
    let op = match words.next()? {
        b"read" => Op::Read,
        b"write" => Op::Write,
        b"rmw" => Op::Both,
        _ => return None,
    };
    let count = words.clone().count();
    let memory = sys::map((count * size_of::<(u64, u64)>()).max(PAGE))?.cast::<(u64, u64)>();
    for (index, word) in words.enumerate() {
        // SAFETY: there is room for all of them.
        unsafe { memory.add(index).write(places(word)?) };
    }
    // SAFETY: written just now, never freed.
    Some(Target { path, at, times, exact, op, places: unsafe { core::slice::from_raw_parts(memory, count) } })
}

fn places(word: &[u8]) -> Option<(u64, u64)> {
    match word.iter().position(|&byte| byte == b'-') {
        Some(dash) => Some((hexadecimal(&word[..dash])?, hexadecimal(&word[dash + 1..])?)),
        None => hexadecimal(word).map(|place| (place, place)),
    }
}

fn hexadecimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 16 {
        return None;
    }
    text.iter().try_fold(0, |number, &digit| Some(number << 4 | u64::from(char::from(digit).to_digit(16)?)))
}

impl Target {
    /// Whether it is known where in the code the access is.
    pub fn has_places(&self) -> bool {
        !self.places.is_empty()
    }

    /// Whether an access is at the place of this one, and does what this one does.
    pub fn fits(&self, access: &Access) -> bool {
        let place = access.place & ((1 << PLACE_BITS) - 1);
        self.does(access.kind) && self.places.iter().any(|(from, to)| (*from..=*to).contains(&place))
    }

    fn does(&self, kind: Kind) -> bool {
        if !kind.is_load() && !kind.is_store() {
            return true; // an atomic update: whether a compare-and-swap writes shows when it is done
        }
        match self.op {
            Op::Read => kind.is_load(),
            Op::Write => kind.is_store(),
            Op::Both => false,
        }
    }

    /// Whether an atomic update that failed, and only read, is not what was wanted.
    pub fn writes(&self) -> bool {
        self.op != Op::Read
    }
}

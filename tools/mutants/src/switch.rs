//! Which change is chosen. `foretrace-mutants` puts this file into each crate that it changes.

use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

const NONE: u32 = u32::MAX;
const REACHING: u32 = u32::MAX - 1;
const NOT_ASKED: u32 = u32::MAX - 2;

static CHOSEN: AtomicU32 = AtomicU32::new(NOT_ASKED);
static REACHED: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// Whether this change is chosen. `FORETRACE_MUTANT` is its number. With `FORETRACE_MUTANTS_REACHED` no change is, and each that is asked for
/// is noted in that file.
#[inline]
pub fn is(number: u32) -> bool {
    let chosen = CHOSEN.load(Ordering::Relaxed);
    if chosen < NOT_ASKED { chosen == number } else { chosen != NONE && asked(number) }
}

#[cold]
fn asked(number: u32) -> bool {
    let reached = std::env::var_os("FORETRACE_MUTANTS_REACHED");
    if CHOSEN.load(Ordering::Relaxed) == NOT_ASKED {
        let chosen = std::env::var("FORETRACE_MUTANT").ok().and_then(|text| text.parse().ok());
        CHOSEN.store(chosen.unwrap_or(if reached.is_some() { REACHING } else { NONE }), Ordering::Relaxed);
        return is(number);
    }
    let mut noted = REACHED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let (word, bit) = (number as usize / 64, 1 << (number % 64));
    if noted.len() <= word {
        noted.resize(word + 1, 0);
    }
    if noted[word] & bit == 0 {
        noted[word] |= bit;
        let file = std::fs::OpenOptions::new().create(true).append(true).open(reached.expect("it is set"));
        file.and_then(|mut file| file.write_all(format!("{number}\n").as_bytes())).expect("the file can be written");
    }
    false
}

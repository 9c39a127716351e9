//! Where compare-and-swaps of 16 bytes wrote. Such a swap reads in one step and writes in a later one, so writes of fewer bytes there take the lock
//! that it holds meanwhile.

use crate::log::Record;
use foretrace_runtime::record::Kind;
use rustc_hash::{FxHashMap, FxHashSet};

const HALF: u64 = 8;
const WHOLE: u64 = 16;

/// The last read-modify-write of 8 bytes that a thread made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Half {
    at: u64,
    place: u64,
    address: u64,
}

/// The addresses of such swaps. Two read-modify-writes of one instruction beside each other count, too: a lock that orders nothing does no harm.
#[derive(Default, Debug)]
pub struct WideSwaps {
    last: FxHashMap<u32, Half>,
    all: FxHashSet<u64>,
}

impl WideSwaps {
    /// A thread made this access.
    pub fn see(&mut self, thread: u32, record: &Record) {
        if record.kind != Kind::Update8 {
            return;
        }
        let half = Half { at: record.at, place: record.place, address: record.words[0] };
        if half.address % WHOLE != HALF {
            self.last.insert(thread, half);
            return;
        }
        let low = Half { at: half.at.wrapping_sub(1), address: half.address - HALF, ..half };
        if self.last.get(&thread) == Some(&low) {
            self.all.insert(low.address);
        }
    }

    /// The address of a swap that covers a byte of these.
    pub fn covering(&self, address: u64, size: u32) -> Option<u64> {
        if self.all.is_empty() {
            return None;
        }
        let whole = |address: u64| address - address % WHOLE;
        let last = address.saturating_add(u64::from(size).saturating_sub(1));
        [whole(address), whole(last)].into_iter().find(|address| self.all.contains(address))
    }
}

//! Accesses whose values in the log may be others than the program saw.
//!
//! gcc's hooks come before a plain access, and a write is recorded after it: where exactly the access was is known only as
//! between two events of its thread. In a serial run nothing else happens there. In a parallel run another thread may
//! have accessed the same memory at that time; such pairs are counted here.

use crate::log::{Log, Record, Records};
use crate::order::Turns;
use crate::program::Program;
use foretrace_runtime::record::ATOMIC_PLACE;
use rustc_hash::FxHashMap;

/// The latest moment of accesses by two threads, those whose moments are the latest.
#[derive(Clone, Copy, Default)]
struct Latest([(usize, u64); 2]);

impl Latest {
    /// Threads count from 1 here.
    fn note(&mut self, thread: usize, moment: u64) {
        let [first, second] = &mut self.0;
        if first.0 == thread {
            first.1 = first.1.max(moment);
        } else if second.0 == thread || second.1 < moment {
            *second = (thread, second.1.max(moment));
        }
        if second.1 > first.1 {
            self.0.swap(0, 1);
        }
    }

    /// The latest by another thread.
    fn of_others(&self, thread: usize) -> u64 {
        self.0.iter().find(|(by, _)| *by != thread).map_or(0, |(_, moment)| *moment)
    }
}

/// What happened to a byte: until when reads of it may last, and when it was last written.
#[derive(Clone, Copy, Default)]
struct Byte {
    reads: Latest,
    writes: Latest,
}

/// How many accesses of code without side-car may have come at the same time as another thread's.
pub(crate) fn count(program: &Program, logs: &[Log]) -> u64 {
    let mut bytes: FxHashMap<u64, Byte> = FxHashMap::default();
    let mut threads: Vec<Walked<'_>> = logs.iter().map(|log| Walked::new(log.records())).collect();
    let mut turns = Turns::new(logs);
    let mut races = 0;
    while let Some((thread, until)) = turns.next() {
        while let Some(record) = threads[thread].records.peek() {
            match record.order() {
                Some(order) if order >= until => {
                    turns.wait(thread, order);
                    break;
                }
                Some(order) if order > 0 => {
                    races += u64::from(threads[thread].access(program, thread + 1, &record, &mut bytes))
                }
                _ => {}
            }
            threads[thread].records.pass(record.kind);
        }
    }
    races
}

/// A thread on its way.
struct Walked<'a> {
    records: Records<'a>,
    /// Place and order of its last ordered record.
    last: (u64, u64),
    /// The order of the one before that of another place.
    before: u64,
}

impl<'a> Walked<'a> {
    fn new(records: Records<'a>) -> Walked<'a> {
        Walked { records, last: (0, 0), before: 0 }
    }

    /// Notes an ordered record; whether it may have come at the same time as another one.
    fn access(&mut self, program: &Program, thread: usize, record: &Record, bytes: &mut FxHashMap<u64, Byte>) -> bool {
        let order = record.order().unwrap_or(0);
        if record.place != self.last.0 {
            self.before = self.last.1;
        }
        self.last = (record.place, order);
        let size = record.kind.size() as u64;
        if size == 0 {
            return false;
        }
        let is_exact = record.place & ATOMIC_PLACE != 0 || program.find(record.site()).is_some();
        let reads_only = record.kind.is_load();
        let from = if is_exact || reads_only { order } else { self.before };
        let to = if is_exact || !reads_only { order } else { self.end_of(record) };
        let mut races = false;
        for address in record.words[0]..record.words[0].saturating_add(size) {
            let byte = bytes.entry(address).or_default();
            if reads_only {
                byte.reads.note(thread, to);
            } else {
                races |= byte.reads.of_others(thread) > from || byte.writes.of_others(thread) > from;
                byte.writes.note(thread, to);
            }
        }
        races
    }

    /// The thread's next event of another place: by then a read is over.
    fn end_of(&self, record: &Record) -> u64 {
        let mut later = self.records.clone();
        let next = later.find(|other| other.place != record.place && other.order().is_some_and(|order| order > 0));
        next.and_then(|next| next.order()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_of_other_threads() {
        let mut latest = Latest::default();
        for (thread, moment) in [(1, 5), (2, 3), (1, 4), (3, 9), (2, 7)] {
            latest.note(thread, moment);
        }
        assert_eq!((latest.of_others(3), latest.of_others(2), latest.of_others(1)), (7, 9, 9));
    }
}

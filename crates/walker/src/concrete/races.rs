//! Accesses whose values in the log may be others than the program saw.
//!
//! gcc's hooks come before a plain access, and a write is recorded after it: where exactly the access was is known only as
//! between two events of its thread. In a serial run nothing else happens there. In a parallel run another thread may
//! have accessed the same memory at that time; such pairs are counted here.

use crate::log::{Log, Record, Records};
use crate::order::Turns;
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
///
/// `is_exact` says whether a record's order is that of the access itself.
pub(crate) fn count(logs: &[Log], is_exact: impl Fn(&Record) -> bool) -> u64 {
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
                    let is_exact = is_exact(&record);
                    races += u64::from(threads[thread].access(thread + 1, &record, is_exact, &mut bytes));
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
    fn access(&mut self, thread: usize, record: &Record, is_exact: bool, bytes: &mut FxHashMap<u64, Byte>) -> bool {
        let order = record.order().unwrap_or(0);
        if record.place != self.last.0 {
            self.before = self.last.1;
        }
        self.last = (record.place, order);
        let size = record.kind.size() as u64;
        if size == 0 {
            return false;
        }
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
    use foretrace_runtime::record::{Kind, MAGIC, header, stop};

    const X: u64 = 0x1000;
    const Y: u64 = 0x2000;

    /// Records of two threads, each with its kind, place, object and order.
    fn races(threads: [&[(Kind, u64, u64, u64)]; 2], exact: u64) -> u64 {
        let folder = tempfile::tempdir().unwrap();
        let log = |(number, records): (u64, &&[(Kind, u64, u64, u64)])| {
            let mut words = vec![MAGIC, number, 0, number - 1, 0, 0, 0, 0];
            records.iter().for_each(|(kind, place, object, order)| {
                words.extend([header(*kind, *place), *object, 0, *order]);
            });
            words.extend([header(Kind::Stop, 0), stop::END]);
            let path = folder.path().join(format!("thread-{number}.log"));
            std::fs::write(&path, words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>()).unwrap();
            Log::open(&path).unwrap()
        };
        let logs: Vec<Log> = (1..).zip(&threads).map(log).collect();
        count(&logs, |record| record.place == exact)
    }

    #[test]
    fn a_write_that_may_come_between_hook_and_read_races() {
        let reader = [(Kind::Load4, 11, X, 1), (Kind::Load4, 12, Y, 5)];
        // Between its events 2 and 3 the other thread writes, and the first reads between 1 and 5.
        let writer = [(Kind::Load4, 21, Y, 2), (Kind::Store4, 22, X, 3)];
        assert_eq!(races([&reader, &writer], 0), 1);
        let later = [(Kind::Load4, 21, Y, 6), (Kind::Store4, 22, X, 7)];
        assert_eq!(races([&reader, &later], 0), 0);
        let elsewhere = [(Kind::Load4, 21, Y, 2), (Kind::Store4, 22, X + 4, 3)];
        assert_eq!(races([&reader, &elsewhere], 0), 0);
    }

    #[test]
    fn two_writes_race_where_either_may_have_been_last() {
        let first = [(Kind::Load4, 11, Y, 1), (Kind::Store4, 12, X, 4)];
        let second = [(Kind::Load4, 21, Y, 2), (Kind::Store4, 22, X, 5)];
        assert_eq!(races([&first, &second], 0), 1);
        let after = [(Kind::Load4, 21, Y, 4 + 1), (Kind::Store4, 22, X, 6)];
        assert_eq!(races([&first, &after], 0), 0);
    }

    #[test]
    fn locks_and_atomic_accesses_keep_values_exact() {
        let guarded = |from: u64, access| {
            [(Kind::Acquire, 31, Y, from), (access, 32, X, from + 1), (Kind::Release, 33, Y, from + 2)]
        };
        assert_eq!(races([&guarded(1, Kind::Load4), &guarded(4, Kind::Store4)], 0), 0);
        // Made by its hook, at its very moment: before the other's hook, or while that has not read yet.
        let reader = [(Kind::Load4, 11, X, 2), (Kind::Load4, 12, Y, 5)];
        assert_eq!(races([&reader, &[(Kind::Store4, 22, X, 1)]], 22), 0);
        assert_eq!(races([&reader, &[(Kind::Store4, 22, X, 3)]], 22), 1);
    }

    #[test]
    fn the_latest_of_other_threads() {
        let mut latest = Latest::default();
        for (thread, moment) in [(1, 5), (2, 3), (1, 4), (3, 9), (2, 7)] {
            latest.note(thread, moment);
        }
        assert_eq!((latest.of_others(3), latest.of_others(2), latest.of_others(1)), (7, 9, 9));
    }
}

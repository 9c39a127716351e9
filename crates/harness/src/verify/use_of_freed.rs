//! Whether a run used memory after its `free`, as a schedule asks for.

use super::{Events, UseOfFreed};
use foretrace_runtime::record::Kind;
use foretrace_walker::log::Record;

impl Events {
    /// Whether memory was freed only after its use, which a use after free should not be. A use by a function of the library, or by a call that
    /// refused, has no record of its own, so that nothing is known.
    pub fn is_freed_late(&self, use_: &UseOfFreed) -> bool {
        let access = self.at(&use_.access.0, use_.access.1);
        let is_refused = self.apart(&use_.access, Kind::Refused).next().is_some();
        let Some(access) = access.filter(|_| !is_refused) else { return false };
        let address = (access.record.kind.size() > 0).then_some(access.record.words[0]);
        self.freed(use_, address).is_none_or(|freed| freed > access.order())
    }

    /// Whether a use after free took no effect since its memory was freed: it ended in a fault, as where memory was unmapped, and is in the log as
    /// was expected; or a call refused an object that is none any more.
    pub fn failed(&self, use_: &UseOfFreed, is_expected: impl Fn(&Record) -> bool) -> bool {
        let faulted = self.record(&use_.access).filter(|record| record.kind.size() > 0 && record.order() == Some(0));
        let refused = || self.apart(&use_.access, Kind::Refused).next();
        faulted.filter(is_expected).or_else(refused).is_some_and(|used| self.freed(use_, Some(used.words[0])).is_some())
    }

    /// The order of the last `free` there, of memory that holds the address if one is given.
    fn freed(&self, use_: &UseOfFreed, address: Option<u64>) -> Option<u64> {
        let holds = |freed: &Record, address: u64| {
            let start = freed.words[0];
            start <= address && self.length(freed).is_none_or(|bytes| address - start < bytes)
        };
        let freed = self.apart(&use_.free, Kind::Free);
        let freed = freed.filter(|freed| address.is_none_or(|address| holds(freed, address)));
        freed.filter_map(|freed| freed.order()).max()
    }

    /// How much memory a `free` gives back, as its allocation says if it does not.
    fn length(&self, freed: &Record) -> Option<u64> {
        let is_its = |record: &&Record| {
            record.kind == Kind::Allocate && record.words[0] == freed.words[0] && record.order() < freed.order()
        };
        let allocated = || self.apart.values().flatten().filter(is_its).max_by_key(|record| record.order());
        Some(freed.words[1]).filter(|bytes| *bytes > 0).or_else(|| Some(allocated()?.allocated()))
    }

    /// Records of a kind that are not counted, at a position of a thread.
    fn apart(&self, (path, at): &(String, u64), kind: Kind) -> impl Iterator<Item = Record> {
        let records = self.apart.get(path).into_iter().flatten().copied();
        records.filter(move |record| record.kind == kind && record.at == *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretrace_walker::Aliases;
    use rustc_hash::FxHashMap;

    fn record(kind: Kind, at: u64, words: [u64; 4]) -> Record {
        Record { kind, place: 7, words, at }
    }

    #[test]
    fn a_use_comes_after_all_that_is_freed_before_it() {
        let late_at = |address: u64, at: u64, orders: &[u64]| {
            let used = vec![record(Kind::Store4, 0, [address, 5, 4, 0])];
            let freed = orders.iter().map(|order| record(Kind::Free, 1, [0x500, 0, *order, 0]));
            let allocated = record(Kind::Allocate, 0, [0x500, 16, 1, 0]);
            let threads = [("0.1".to_string(), used)].into_iter().collect();
            let apart = [("0".to_string(), freed.chain([allocated]).collect())].into_iter().collect();
            let events = Events { threads, apart, aliases: Aliases::default() };
            events.is_freed_late(&UseOfFreed { free: ("0".to_string(), 1), access: ("0.1".to_string(), at) })
        };
        let late = |at: u64, orders: &[u64]| late_at(0x500, at, orders);
        assert!(!late(0, &[3]) && !late(0, &[2, 3]) && !late_at(0x50c, 0, &[3]));
        assert!(late_at(0x400, 0, &[3]) && late_at(0x510, 0, &[3]), "other memory is freed");
        assert!(late(0, &[5]) && late(0, &[3, 5]), "it is freed afterwards");
        assert!(late(0, &[]), "it is never freed");
        assert!(!late(7, &[5]), "the use has no record");
    }

    #[test]
    fn a_call_that_refuses_a_freed_object_is_the_use() {
        let failed = |object: u64| {
            let (freed, refused) =
                (record(Kind::Free, 1, [0x500, 16, 4, 0]), record(Kind::Refused, 3, [object, 22, 8, 0]));
            let apart = [("0", freed), ("0.1", refused)].map(|(path, one)| (path.to_string(), vec![one]));
            let (threads, aliases) = (FxHashMap::default(), Aliases::default());
            let events = Events { threads, apart: apart.into_iter().collect(), aliases };
            events.failed(&UseOfFreed { free: ("0".to_string(), 1), access: ("0.1".to_string(), 3) }, |_| false)
        };
        assert!(failed(0x508) && !failed(0x510));
    }
}

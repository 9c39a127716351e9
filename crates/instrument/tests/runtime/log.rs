//! Reads logs, and checks that what they say could have happened in the order that they give.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use foretrace_runtime::record::{
    HEADER_WORDS, Kind, LEFT_OVER, MAGIC, MESSAGES, MESSAGES_END, PLACE_BITS, TRIED, WOKEN_BY_TIMEOUT,
    WOKEN_SPURIOUSLY, order_of,
};

/// A record: its words without the header, and without the order if it has one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    pub thread: u64,
    pub kind: Kind,
    pub place: u64,
    pub words: Vec<u64>,
    pub order: Option<u64>,
}

/// The logs of all threads, by number.
#[derive(PartialEq, Eq)]
pub struct Recording(BTreeMap<u64, Vec<Record>>);

impl Recording {
    pub fn read(folder: &Path) -> Recording {
        let mut threads = BTreeMap::new();
        for file in std::fs::read_dir(folder).expect("a folder") {
            let path = file.expect("a file").path();
            if path.extension().is_some_and(|extension| extension == "log") {
                let bytes = std::fs::read(&path).expect("a log");
                let words: Vec<u64> =
                    bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
                if words.first().is_none_or(|first| *first == 0) {
                    continue; // the process ended before the thread began
                }
                assert_eq!(words[0], MAGIC);
                threads.insert(words[1], records(words[1], &words[HEADER_WORDS..]));
            }
        }
        Recording(threads)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn all(&self) -> impl Iterator<Item = &Record> {
        self.0.values().flatten()
    }

    pub fn count(&self, kind: Kind) -> usize {
        self.all().filter(|record| record.kind == kind).count()
    }

    /// The one record of a kind.
    pub fn only(&self, kind: Kind) -> &Record {
        assert_eq!(self.count(kind), 1, "{kind:?}");
        self.all().find(|record| record.kind == kind).unwrap()
    }

    /// What took effect at a site.
    pub fn at(&self, site: u64) -> impl Iterator<Item = &Record> {
        self.all().filter(move |record| record.place == site && record.order != Some(0))
    }

    /// The access of a thread that never took effect.
    pub fn without_effect(&self, thread: u64) -> Option<Kind> {
        self.0[&thread].iter().find(|record| record.order == Some(0)).map(|record| record.kind)
    }

    /// Whether all logs end with this kind.
    pub fn ends_with(&self, kind: Kind) -> bool {
        self.0.values().all(|records| records.last().is_some_and(|last| last.kind == kind))
    }

    /// Why each log ends.
    pub fn stops(&self) -> impl Iterator<Item = u64> {
        self.all().filter(|record| record.kind == Kind::Stop).map(|record| record.words[0])
    }

    /// Checks that the records in their order are an execution; how many reads there are.
    pub fn check(&self) -> usize {
        for records in self.0.values() {
            let orders: Vec<u64> =
                records.iter().filter_map(|record| record.order).filter(|&order| order != 0).collect();
            assert!(orders.is_sorted(), "a thread's records are in order");
        }
        let mut ordered: Vec<&Record> =
            self.all().filter(|record| record.order.is_some_and(|order| order != 0)).collect();
        ordered.sort_by_key(|record| record.order);
        assert!(ordered.windows(2).all(|pair| pair[0].order < pair[1].order), "orders are unique");
        let mut world = World::default();
        ordered.iter().for_each(|record| world.step(record));
        world.reads
    }
}

fn records(thread: u64, mut words: &[u64]) -> Vec<Record> {
    let mut records = Vec::new();
    while let Some(&header) = words.first().filter(|&&header| header != 0) {
        let kind = Kind::from_header(header).unwrap_or_else(|| panic!("no header: {header:#x}"));
        let Some(record) = words.get(1..kind.words()) else { break };
        let (content, order) = match record.split_last() {
            Some((&stamp, content)) if kind.ordered() => (content, Some(order_of(stamp))),
            _ => (record, None),
        };
        let place = header & ((1 << PLACE_BITS) - 1);
        records.push(Record { thread, kind, place, words: content.to_vec(), order });
        words = &words[kind.words()..];
        if kind == Kind::Stop {
            break;
        }
    }
    records
}

impl Record {
    /// The second word without the mark of calls that might have come back without what they did.
    fn without_mark(&self) -> u64 {
        match self.kind {
            Kind::Acquire | Kind::ReadLock | Kind::WriteLock | Kind::Down | Kind::Join => self.words[1] & !TRIED,
            Kind::Wake if self.words[1] != WOKEN_SPURIOUSLY => self.words[1] & !TRIED,
            _ => self.words[1],
        }
    }
}

/// What memory and objects are at a moment.
#[derive(Default)]
struct World {
    bytes: HashMap<u64, u8>,
    reads: usize,
    /// Holder and depth.
    mutexes: HashMap<u64, (u64, u64)>,
    readers: HashMap<u64, u64>,
    semaphores: HashMap<u64, u64>,
    /// By thread: condition, mutex, order of what released it.
    waiting: HashMap<u64, (u64, u64, Option<u64>)>,
    /// By barrier and round.
    arrived: HashMap<(u64, u64), u64>,
    parties: HashMap<u64, u64>,
    initialised: Vec<u64>,
    forked: Vec<u64>,
    ended: Vec<u64>,
}

impl World {
    fn step(&mut self, record: &Record) {
        let (thread, object) = (record.thread, record.words[0]);
        let extra = record.without_mark();
        match record.kind {
            kind if kind.size() > 0 => self.access(record),
            Kind::Allocate => drop((object..object + (extra & !LEFT_OVER)).map(|at| self.bytes.remove(&at)).count()),
            Kind::Acquire => {
                let depth = match self.mutexes.get(&object) {
                    None => 1,
                    Some(&(holder, depth)) => {
                        assert!(holder == thread && extra == 1, "{record:?}");
                        depth + 1
                    }
                };
                self.mutexes.insert(object, (thread, depth));
            }
            Kind::WriteLock => {
                assert!(self.free(object), "{record:?}");
                self.mutexes.insert(object, (thread, 1));
            }
            Kind::Release | Kind::WriteUnlock => self.give_back(record, object),
            Kind::Busy => assert!(extra != 0 || !self.free(object), "{record:?}"),
            Kind::ReadLock => {
                assert!(!self.mutexes.contains_key(&object), "{record:?}");
                *self.readers.entry(object).or_default() += 1;
            }
            Kind::ReadUnlock => *self.readers.get_mut(&object).expect("a reader") -= 1,
            Kind::OnceBegin => {
                assert!(self.free(object) && !self.initialised.contains(&object), "{record:?}");
                self.mutexes.insert(object, (thread, 1));
            }
            Kind::OnceEnd | Kind::OnceFail => {
                self.give_back(record, object);
                if record.kind == Kind::OnceEnd {
                    self.initialised.push(object);
                }
            }
            Kind::OncePass => assert!(self.initialised.contains(&object), "{record:?}"),
            Kind::SemaphoreInit => drop(self.semaphores.insert(object, extra)),
            Kind::Post => {
                let before = self.semaphores.insert(object, extra + 1);
                assert!(before.is_none_or(|before| before == extra), "{record:?}"); // the first record says what it holds
            }
            Kind::Down => {
                let before = self.semaphores.insert(object, extra);
                assert!(before.is_none_or(|before| before == extra + 1), "{record:?}");
            }
            Kind::BarrierInit => drop(self.parties.insert(object, extra)),
            // The order of calls on a channel, and of signals: no barrier has parties there.
            Kind::Arrive | Kind::Depart if (MESSAGES..MESSAGES_END).contains(&object) => {}
            Kind::Arrive => *self.arrived.entry((object, extra)).or_default() += 1,
            Kind::Depart => assert_eq!(self.arrived[&(object, extra)], self.parties[&object], "{record:?}"),
            Kind::Fork => self.forked.push(object),
            Kind::Start => assert!(object == thread && self.forked.contains(&thread), "{record:?}"),
            Kind::Exit => self.ended.push(thread),
            Kind::Join => assert!(self.ended.contains(&object), "{record:?}"),
            _ => self.condition(record),
        }
    }

    fn free(&self, object: u64) -> bool {
        !self.mutexes.contains_key(&object) && self.readers.get(&object).is_none_or(|&readers| readers == 0)
    }

    fn give_back(&mut self, record: &Record, object: u64) {
        let (holder, depth) = self.mutexes.remove(&object).expect("a holder");
        assert_eq!(holder, record.thread, "{record:?}");
        if depth > 1 {
            self.mutexes.insert(object, (holder, depth - 1));
        }
    }

    fn condition(&mut self, record: &Record) {
        let (condition, extra) = (record.words[0], record.without_mark());
        match record.kind {
            Kind::Wait => {
                self.give_back(record, extra);
                self.waiting.insert(record.thread, (condition, extra, None));
            }
            Kind::Wake => {
                let (waited, mutex, by) = self.waiting.remove(&record.thread).expect("a wait");
                assert!(waited == condition && self.free(mutex), "{record:?}");
                assert!(matches!(extra, WOKEN_BY_TIMEOUT | WOKEN_SPURIOUSLY) || by == Some(extra), "{record:?}");
                self.mutexes.insert(mutex, (record.thread, 1));
            }
            Kind::Signal => {
                let mut free =
                    self.waiting.iter_mut().filter(|(_, waiter)| waiter.0 == condition && waiter.2.is_none());
                match extra {
                    0 => assert!(free.next().is_none(), "{record:?}"),
                    _ => free.find(|(thread, _)| **thread == extra).expect("it waits").1.2 = record.order,
                }
            }
            Kind::Broadcast => {
                let free = self.waiting.values_mut().filter(|waiter| waiter.0 == condition && waiter.2.is_none());
                assert_eq!(free.map(|waiter| waiter.2 = record.order).count() as u64, extra, "{record:?}");
            }
            _ => {}
        }
    }

    /// Every read finds what the last write before it left.
    fn access(&mut self, record: &Record) {
        let address = record.words[0];
        let store = record.kind.is_store();
        let updates = matches!(record.kind, Kind::Update1 | Kind::Update2 | Kind::Update4 | Kind::Update8);
        self.reads += usize::from(!store);
        for index in 0..record.kind.size() as u64 {
            let byte = |word: u64| (word >> (8 * index)) as u8;
            let before = self.bytes.get(&(address + index)).copied();
            if !store {
                assert!(before.is_none_or(|before| before == byte(record.words[1])), "{record:?}: {before:?}");
            }
            let after = if updates { record.words[2] } else { record.words[1] };
            self.bytes.insert(address + index, byte(after));
        }
    }
}

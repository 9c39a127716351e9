//! One execution of a program: its steps in the order in which they took effect, as its logs show them.

use super::channel_calls::{OnChannel, on_channel, takes_from};
use super::objects::Objects;
use crate::judge::Failure;
use crate::observation::Observation;
use foretrace_harness::{Ending, Folder, WAITS};
use foretrace_runtime::record::{Kind, TRIED, TRIED_JOINS, WOKEN_BY_TIMEOUT, fail};
use foretrace_walker::log::{Log, Record, thread_paths};
use foretrace_walker::program::Writer;
use rustc_hash::{FxHashMap, FxHasher};
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

/// Threads by their place in the tree of threads, which is the same in every execution.
#[derive(Default)]
pub struct Threads {
    paths: Vec<String>,
    by_path: FxHashMap<String, usize>,
}

impl Threads {
    /// The number of a thread.
    pub fn number(&mut self, path: &str) -> usize {
        if let Some(known) = self.by_path.get(path) {
            return *known;
        }
        self.paths.push(path.to_string());
        self.by_path.insert(path.to_string(), self.paths.len() - 1);
        self.paths.len() - 1
    }

    /// The place of a thread.
    pub fn path(&self, thread: usize) -> &str {
        &self.paths[thread]
    }

    /// How many are known.
    pub fn len(&self) -> usize {
        self.paths.len()
    }
}

/// A step: a counted record that took effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Taken {
    /// The thread.
    pub thread: usize,
    /// What is counted that the thread did before.
    pub at: u64,
    /// What it did.
    pub kind: Kind,
    /// Where in the code.
    pub place: u64,
    /// The words of its record.
    pub words: [u64; 4],
    /// The thread that it starts, joins, wakes, or finds not to have ended.
    pub other: Option<usize>,
    /// The memory that its thread gives back right after it, by [`Objects::freed`].
    pub frees: u32,
    /// What it is to the calls on pipes and their like.
    pub on_channel: OnChannel,
    /// The semaphore that the call counts down which it begins, if it does.
    pub takes_from: Option<u64>,
}

impl Taken {
    /// Whether it is an access that wrote.
    pub fn writes(&self) -> bool {
        let failed = matches!(self.kind, Kind::Failed1 | Kind::Failed2 | Kind::Failed4 | Kind::Failed8);
        self.kind.size() > 0 && !self.kind.is_load() && !failed
    }

    /// Whether it is a read-modify-write that writes what it finds.
    pub fn leaves_all_as_it_is(&self) -> bool {
        let updates = matches!(self.kind, Kind::Update1 | Kind::Update2 | Kind::Update4 | Kind::Update8);
        updates && self.words[1] == self.words[2]
    }

    /// Whether a wait for a condition ends here by its limit.
    pub fn is_late(&self) -> bool {
        self.kind == Kind::Wake && self.words[1] == WOKEN_BY_TIMEOUT
    }

    /// Whether both are the same step: what a thread does next, whatever it finds there.
    pub fn is_same(&self, other: &Taken) -> bool {
        let is_same_size = self.kind.size() == other.kind.size() && self.kind.size() > 0;
        let is_same_kind = self.kind == other.kind || is_same_size || self.tries() && other.tries();
        let place = |one: &Taken| (one.thread, one.at, one.place, one.object());
        is_same_kind && place(self) == place(other)
    }

    /// Whether it might have come back without what it did, or did.
    fn tries(&self) -> bool {
        use Kind::{Acquire, Busy, Down, Join, ReadLock, WriteLock};
        let is_tried = self.words[1] & TRIED != 0;
        self.kind == Busy || is_tried && matches!(self.kind, Acquire | WriteLock | ReadLock | Join | Down)
    }

    /// What it is about, where that does not depend on the state.
    fn object(&self) -> u64 {
        match (self.kind, self.other) {
            (Kind::Busy | Kind::Join, Some(other)) => end_of(other),
            (kind, _) if kind.size() > 0 || (Kind::Acquire..=Kind::BarrierInit).contains(&kind) => self.words[0],
            _ => 0,
        }
    }
}

/// A step of a thread at a place, of a word that is read, written or locked, for tests.
#[cfg(test)]
pub fn step(thread: usize, kind: Kind, place: u64, word: u64, value: u64) -> Taken {
    Taken {
        thread,
        at: 0,
        kind,
        place,
        words: [word, value, 0, 0],
        other: None,
        frees: 0,
        on_channel: OnChannel::No,
        takes_from: None,
    }
}

/// The object that the end of a thread is, for those that ask whether it has ended.
pub fn end_of(thread: usize) -> u64 {
    TRIED_JOINS + thread as u64
}

/// The order of the steps up to some step, as a number.
pub type Order = u64;

/// The order that a step of a thread makes of one; `wakes` is the thread that a signal wakes.
pub fn order_after(order: Order, thread: usize, wakes: Option<usize>) -> Order {
    let mut hasher = FxHasher::default();
    (order, thread, wakes).hash(&mut hasher);
    hasher.finish()
}

/// Memory that is given back: its address, the order of that, and how many bytes, or 0 where only the allocator knows.
type GivenBack = (u64, u64, u64);

/// An execution.
pub struct Execution {
    /// Its steps.
    pub steps: Vec<Taken>,
    /// Of each step, whether its thread was last in a function that the program's writer wrote, the standard library's left out.
    pub in_written: Vec<bool>,
    /// Of each thread, which steps are its own.
    pub of_thread: Vec<Vec<u32>>,
    /// What threads wait for at its end, by address.
    pub waits: FxHashMap<usize, u64>,
    /// Threads of which a wait for a condition ended by its time limit, by their paths.
    pub late: Vec<String>,
    /// Whether a thread slept in the kernel, for ever as far as its schedule knows, before a step that it should take.
    pub sleeps: bool,
    /// Whether it was cut off, since it had as many events as it may.
    pub is_cut: bool,
    /// Whether it mapped memory a second time.
    pub has_aliases: bool,
    /// How it ended.
    pub ending: Ending,
    /// How it failed, if it did.
    pub failure: Option<Failure>,
    /// What was seen of it from outside, if it failed.
    pub seen: Option<Observation>,
    /// The folder with its recording and its output, which goes with it.
    pub place: PathBuf,
    /// How many steps there are up to the last one that starts a thread.
    pub last_start: usize,
    orders: Vec<Order>,
}

impl Execution {
    /// Reads the logs of a run, and what else it has left in its folder. `writer` says who wrote the function that a place lies in.
    pub fn read(
        (folder, logs): (&Folder, &[Log]),
        ending: Ending,
        place: &Path,
        (threads, objects): (&mut Threads, &mut Objects),
        writer: &mut dyn FnMut(u64) -> Option<Writer>,
    ) -> Execution {
        let paths = thread_paths(logs);
        let numbers: Vec<usize> = paths.iter().map(|path| threads.number(path)).collect();
        let by_number: FxHashMap<u64, usize> =
            logs.iter().map(|log| log.header().thread).zip(numbers.iter().copied()).collect();
        let mut steps: Vec<(u64, Taken, bool)> = Vec::new();
        let mut blocks: Vec<(u64, Record)> = Vec::new();
        // After which steps threads give memory back.
        let mut gives_back: Vec<(usize, Vec<GivenBack>)> = Vec::new();
        let mut has_aliases = false;
        for ((thread, path), log) in numbers.iter().zip(&paths).zip(logs) {
            let mut freed: Vec<GivenBack> = Vec::new();
            let mut started = 0;
            let own = steps.len();
            let mut in_written = true;
            for record in log.records() {
                if (Kind::Enter0..=Kind::Enter4).contains(&record.kind) {
                    in_written = writer(record.place).map_or(in_written, |writer| writer == Writer::Program);
                }
                if !record.kind.ordered() {
                    continue;
                }
                if matches!(record.kind, Kind::Allocate | Kind::Free) {
                    blocks.push((record.order().unwrap_or(0), record));
                }
                if record.kind == Kind::Free {
                    freed.push((record.words[0], record.order().unwrap_or(0), record.words[1]));
                }
                has_aliases |= record.kind == Kind::Alias;
                started += u64::from(record.kind == Kind::Fork);
                if !record.kind.counted() {
                    continue;
                }
                if steps.len() > own && !freed.is_empty() {
                    gives_back.push((steps.len() - 1, std::mem::take(&mut freed)));
                }
                let order = record.order().unwrap_or(0);
                let is_deadlock = record.kind == Kind::Fail && record.words[0] == fail::DEADLOCK;
                if order == 0 || is_deadlock {
                    continue;
                }
                let other = match record.kind {
                    // A thread that had done nothing when the program ended has no log.
                    Kind::Fork => {
                        let child = by_number.get(&record.words[0]).copied();
                        Some(child.unwrap_or_else(|| threads.number(&format!("{path}.{started}"))))
                    }
                    Kind::Join => by_number.get(&record.words[0]).copied(),
                    Kind::Signal => by_number.get(&record.words[1]).copied(),
                    Kind::Busy => record.words[0].checked_sub(TRIED_JOINS).and_then(|own| by_number.get(&own).copied()),
                    _ => None,
                };
                let (kind, place, words) = (record.kind, record.place, record.words);
                if let Some(writer) = writer(record.place).filter(|_| record.kind.size() > 0) {
                    in_written = writer == Writer::Program;
                }
                let (at, on_channel, takes_from) = (record.at, OnChannel::No, None);
                let step = Taken { thread: *thread, at, kind, place, words, other, frees: 0, on_channel, takes_from };
                steps.push((order, step, in_written));
            }
            if steps.len() > own && !freed.is_empty() {
                gives_back.push((steps.len() - 1, freed));
            }
            let of_thread: Vec<(Kind, u64)> =
                steps[own..].iter().map(|(_, step, _)| (step.kind, step.words[0])).collect();
            for (index, (_, step, _)) in steps[own..].iter_mut().enumerate() {
                let before = index.checked_sub(1).map(|before| of_thread[before]);
                step.on_channel = on_channel(before, of_thread[index], of_thread.get(index + 1).copied());
                if step.on_channel == OnChannel::Moves {
                    step.takes_from = takes_from(&of_thread[index + 1..]);
                }
            }
        }
        let sizes = sizes(blocks);
        for (last, freed) in gives_back {
            let of_allocator = |address, order| sizes.get(&(address, order)).copied().unwrap_or(0);
            let size =
                |(address, order, bytes)| (address, if bytes > 0 { bytes } else { of_allocator(address, order) });
            steps[last].1.frees = objects.frees(freed.into_iter().map(size).collect());
        }
        steps.sort_by_key(|(order, ..)| *order);
        let in_written = steps.iter().map(|(.., in_written)| *in_written).collect();
        let steps: Vec<Taken> = steps.into_iter().map(|(_, step, _)| step).collect();
        let mut of_thread = vec![Vec::new(); threads.len()];
        let mut orders = vec![0];
        for (index, step) in steps.iter().enumerate() {
            of_thread[step.thread].push(index as u32);
            let wakes = step.other.filter(|_| step.kind == Kind::Signal);
            orders.push(order_after(orders[index], step.thread, wakes));
        }
        let late: BTreeSet<usize> = steps.iter().filter(|step| step.is_late()).map(|step| step.thread).collect();
        let late = late.into_iter().map(|thread| threads.path(thread).to_string()).collect();
        let text = std::fs::read_to_string(folder.path().join(WAITS)).unwrap_or_default();
        let waits = text.lines().filter_map(|line| {
            let (path, object) = line.split_once(" 0x")?;
            Some((threads.number(path), u64::from_str_radix(object, 16).ok()?))
        });
        let waits = waits.collect();
        let sleeps = folder.replay_verdict().is_some_and(|verdict| verdict.contains("sleeps in the kernel"));
        let is_cut = text.lines().any(|line| line == "cut");
        let last_start = steps.iter().rposition(|step| step.kind == Kind::Fork).map_or(0, |last| last + 1);
        Execution {
            steps,
            in_written,
            of_thread,
            waits,
            late,
            sleeps,
            is_cut,
            has_aliases,
            ending,
            failure: None,
            seen: None,
            place: place.to_path_buf(),
            last_start,
            orders,
        }
    }

    /// One of these steps, for tests.
    #[cfg(test)]
    pub fn of_steps(steps: Vec<Taken>, in_written: Vec<bool>) -> Execution {
        Execution {
            in_written,
            of_thread: Vec::new(),
            waits: FxHashMap::default(),
            late: Vec::new(),
            sleeps: false,
            is_cut: false,
            has_aliases: false,
            ending: Ending::Code(0),
            failure: None,
            seen: None,
            place: PathBuf::new(),
            last_start: 0,
            orders: Vec::new(),
            steps,
        }
    }

    /// The order of the first steps, so many.
    pub fn order(&self, steps: usize) -> Option<Order> {
        self.orders.get(steps).copied()
    }

    /// The step of a thread after so many of its steps.
    pub fn next_of(&self, thread: usize, done: u32) -> Option<usize> {
        self.of_thread.get(thread)?.get(done as usize).map(|index| *index as usize)
    }

    /// Whether it begins with these steps.
    pub fn begins_with(&self, steps: &[Taken]) -> bool {
        let same = |(own, other): (&Taken, &Taken)| own.is_same(other) && own.kind == other.kind;
        self.steps.len() >= steps.len() && self.steps.iter().zip(steps).all(same)
    }
}

/// How many bytes each piece of memory has that the allocator gets back, by its address and the order of that. All that the allocator
/// did, with its orders.
fn sizes(mut all: Vec<(u64, Record)>) -> FxHashMap<(u64, u64), u64> {
    all.sort_unstable_by_key(|(order, _)| *order);
    let (mut live, mut sizes) = (FxHashMap::default(), FxHashMap::default());
    for (order, record) in all {
        let address = record.words[0];
        if record.kind == Kind::Allocate {
            live.insert(address, record.allocated());
        } else if let Some(bytes) = live.remove(&address) {
            sizes.insert((address, order), bytes);
        }
    }
    sizes
}

impl Drop for Execution {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.place); // it lies in a temporary folder, which goes, too
    }
}

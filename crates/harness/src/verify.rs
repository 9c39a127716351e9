//! Compares the logs of a replay with the steps that its schedule expects.

mod use_of_freed;

use super::schedule::{Beside, Clocks, End, Handler};
use foretrace_report::{SavedKind, SavedStep, SavedWitness};
use foretrace_runtime::record::{BY_CANCELLATION, Kind, SENT, WOKEN_BY_TIMEOUT, fail};
use foretrace_runtime::{access_kinds, code_kinds};
use foretrace_walker::log::{Log, Record, open_logs, thread_paths};
use foretrace_walker::{Aliases, WalkError};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::path::Path;

/// A step that a program is expected to take.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expected {
    /// The thread, by its place in the tree of threads.
    pub path: String,
    /// The position of its record in the log of the thread.
    pub at: u64,
    /// What it is.
    pub what: What,
}

/// What is known of an expected step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum What {
    /// Its name in the trace format, and where in the source it is.
    Told(String, Option<String>),
    /// Its record's kind and place.
    Seen(Kind, u64),
}

impl What {
    /// Whether it joins a thread.
    pub fn is_join(&self) -> bool {
        match self {
            What::Told(op, _) => op == "join",
            What::Seen(kind, _) => *kind == Kind::Join,
        }
    }
}

/// A step of a schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The thread, by its place in the tree of threads.
    pub path: String,
    /// What is counted that the thread did before.
    pub at: u64,
    /// The allocator's records are not counted. This is how many of them the thread has written by then, since its last counted record.
    /// [`ALL_APART`] stands for all that another run has up to the next counted one.
    pub apart: Option<u64>,
}

/// What the log says of a wait in which a deadlock ends the run.
const EDEADLK: u64 = nix::libc::EDEADLK as u64;

/// See [`Step::apart`].
pub const ALL_APART: u64 = u64::MAX;

impl Step {
    /// Where the thread stands after it.
    pub fn end(&self) -> End {
        match self.apart {
            None => End::at(self.at),
            Some(beyond) => End { until: self.at.saturating_sub(1), beyond },
        }
    }
}

/// Where memory is freed, and where it is used afterwards: threads, by their places in the tree of threads, and what is counted that they
/// did before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UseOfFreed {
    free: (String, u64),
    access: (String, u64),
}

impl UseOfFreed {
    /// What a witness is about; nothing where it is no use after free, or not of a real program.
    pub fn of_witness(witness: &SavedWitness) -> Option<UseOfFreed> {
        let of_kind = witness.kind == SavedKind::UseAfterFree;
        let place = |step: &SavedStep| Some((step.path.clone()?, step.at?));
        let access = place(witness.schedule.last().filter(|_| of_kind)?)?;
        let is_free = |step: &&SavedStep| step.op == "free" && step.path.as_ref() != Some(&access.0);
        Some(UseOfFreed { free: place(witness.schedule.iter().rfind(is_free)?)?, access })
    }
}

/// A record of a replayed run that took effect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// The thread.
    pub path: String,
    /// What the log holds.
    pub record: Record,
    /// The address by which its memory counts: other mappings of it have others.
    start: u64,
    /// How many bytes it accesses.
    size: u64,
}

impl Event {
    /// The bytes that an access touches.
    fn bytes(&self) -> Range<u64> {
        self.start..self.start.saturating_add(self.size)
    }

    /// The bytes that each of some accesses touches.
    pub fn common_bytes<'e>(events: impl IntoIterator<Item = &'e Event>) -> Range<u64> {
        events
            .into_iter()
            .map(Event::bytes)
            .fold(0..u64::MAX, |all, own| all.start.max(own.start)..all.end.min(own.end))
    }

    /// The part of a value that it read or wrote which is in some bytes, and how many bytes these are. Nothing if some of these are no
    /// bytes of the value.
    pub fn part(&self, value: u64, bytes: &Range<u64>) -> Option<(u64, u64)> {
        let length = self.record.kind.size() as u64;
        let before = bytes.start.checked_sub(self.start)?;
        let wanted = bytes
            .end
            .checked_sub(bytes.start)
            .filter(|wanted| *wanted > 0 && before.saturating_add(*wanted) <= length)?;
        let shifted = value.checked_shr(u32::try_from(before * 8).ok()?)?;
        let mask = if wanted >= 8 { u64::MAX } else { (1 << (wanted * 8)) - 1 };
        Some((shifted & mask, wanted))
    }

    fn is(&self, op: &str) -> bool {
        ops(self.record.kind).contains(&op)
    }

    fn order(&self) -> u64 {
        self.record.order().unwrap_or(0)
    }

    /// What it read.
    pub fn read(&self) -> Option<u64> {
        let kind = self.record.kind;
        (kind.size() > 0 && !kind.is_store()).then_some(self.record.words[1])
    }

    /// What it wrote.
    pub fn written(&self) -> Option<u64> {
        match self.record.kind {
            kind if kind.is_store() => Some(self.record.words[1]),
            Kind::Update1 | Kind::Update2 | Kind::Update4 | Kind::Update8 => Some(self.record.words[2]),
            _ => None,
        }
    }
}

/// The first event that is not as expected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// What was expected.
    pub expected: Expected,
    /// What is there instead; nothing where the thread did not come so far.
    pub found: Option<Event>,
    /// Whether it is the right event, but at another time than the schedule says.
    pub out_of_turn: bool,
}

/// Two accesses of a thread by their positions in its log, and how another thread's access between them is called in the trace format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Between {
    /// The thread of the two, by its place in the tree of threads.
    pub path: String,
    /// The position of the first.
    pub first: u64,
    /// The position of the second.
    pub second: u64,
    /// The other thread's operation.
    pub op: String,
}

/// The events of a run that was recorded or replayed.
pub struct Events {
    /// The counted records.
    threads: FxHashMap<String, Vec<Record>>,
    /// Those of the allocator and of mappings, which are not counted.
    apart: FxHashMap<String, Vec<Record>>,
    aliases: Aliases,
}

impl Events {
    /// Reads the logs of a folder.
    pub fn read(folder: &Path) -> Result<Events, WalkError> {
        let logs = open_logs(folder)?;
        let paths = thread_paths(&logs);
        let records = |counted: bool| -> FxHashMap<String, Vec<Record>> {
            let wanted = move |record: &Record| record.kind.ordered() && record.kind.counted() == counted;
            let of_log = move |log: &Log| log.records().filter(wanted).collect();
            paths.iter().cloned().zip(logs.iter().map(of_log)).collect()
        };
        let apart = records(false);
        Ok(Events { aliases: aliases(&apart), threads: records(true), apart })
    }

    /// The event at a position of a thread, if it took effect.
    pub fn at(&self, path: &str, at: u64) -> Option<Event> {
        let records = self.threads.get(path)?;
        let index = records.binary_search_by_key(&at, |record| record.at).ok()?;
        let record = records[index];
        let half = record.kind.size() as u64;
        let is_pair = records.get(index + 1).is_some_and(|next| is_other_half(&record, next));
        let size = if is_pair { 2 * half } else { half };
        let start = self.aliases.first(record.words[0]);
        (record.order() != Some(0)).then(|| Event { path: path.to_string(), record, start, size })
    }

    /// The record at a position of a thread.
    fn record(&self, (path, at): &(String, u64)) -> Option<Record> {
        let records = self.threads.get(path)?;
        records.binary_search_by_key(at, |record| record.at).ok().map(|index| records[index])
    }

    /// What the accesses of a triple are in this run, which the runtime says happened there; nothing where the logs disagree.
    pub fn reached(&self, places: &[(String, u64); 3], ops: [&str; 3]) -> Option<[Option<Event>; 3]> {
        let triple = places.each_ref().map(|(path, at)| self.at(path, *at));
        let as_asked = triple.iter().zip(ops).all(|(event, op)| event.as_ref().is_some_and(|event| event.is(op)));
        (as_asked && places[0].0 == places[2].0 && triple_happened(&triple)).then_some(triple)
    }

    /// How many records took effect after all of some events; 0 where one of them did not.
    pub fn after(&self, these: &[Option<Event>]) -> usize {
        let orders = these.iter().map(|event| event.as_ref().map(Event::order));
        let Some(last) = orders.collect::<Option<Vec<u64>>>().and_then(|orders| orders.into_iter().max()) else {
            return 0;
        };
        let later = |record: &&Record| record.order().is_some_and(|order| order > last);
        self.threads.values().flatten().filter(later).count()
    }

    /// Whether an access of another thread, of a kind that is asked for, came between two accesses to the same memory.
    pub fn came_between(&self, between: &Between) -> bool {
        let access = |at: u64| self.at(&between.path, at);
        let (Some(first), Some(second)) = (access(between.first), access(between.second)) else { return false };
        self.threads.iter().filter(|(path, _)| **path != between.path).any(|(path, records)| {
            let in_turn = |record: &&Record| {
                record.order().is_some_and(|order| first.order() < order && order < second.order())
                    && ops(record.kind).contains(&&*between.op)
            };
            records.iter().filter(in_turn).any(|record| {
                let remote = self.at(path, record.at);
                triple_happened(&[Some(first.clone()), remote, Some(second.clone())])
            })
        })
    }

    /// Whether the run ended since all threads waited for each other.
    pub fn deadlocked(&self) -> bool {
        let mut records = self.threads.values().flatten();
        records.any(|record| record.kind == Kind::Fail && record.words[0] == fail::DEADLOCK)
    }

    /// How many records in the end say that the run ended in a deadlock: one of each wait, and that it failed. An earlier call that was
    /// refused with the same error is one of the program's steps.
    pub fn of_deadlock(&self) -> usize {
        if !self.deadlocked() {
            return 0;
        }
        let mut records: Vec<&Record> = self.threads.values().flatten().collect();
        records.sort_by_key(|record| std::cmp::Reverse(record.order()));
        let is_wait = |record: &Record| record.kind == Kind::Refused && record.words[1] == EDEADLK;
        records.iter().take_while(|record| record.kind == Kind::Fail || is_wait(record)).count()
    }

    /// What the recording says beside the steps.
    pub fn beside(&self) -> Beside {
        Beside { handlers: self.handlers(), late: self.late(), clocks: Clocks::Later }
    }

    /// Where handlers of signals began, and where threads began to unwind since they were cancelled, of each thread in order.
    fn handlers(&self) -> Vec<Handler> {
        let of_thread = |(path, records): (&String, &Vec<Record>)| -> Vec<Handler> {
            let following = records.iter().skip(1).map(Some).chain([None]);
            let begun = records.iter().zip(following).filter(|(record, _)| record.kind == Kind::HandlerBegin);
            let cause = |record: &Record, next| match record.words[0] {
                0 => BY_CANCELLATION,
                _ => sent_or_from_outside(record, next),
            };
            begun.map(|(record, next)| (path.clone(), record.at, cause(record, next))).collect()
        };
        let mut handlers: Vec<Handler> = self.threads.iter().flat_map(of_thread).collect();
        handlers.sort();
        handlers
    }

    /// Where waits for conditions ended by their limits.
    fn late(&self) -> Vec<(String, u64)> {
        let is_late = |record: &&Record| record.kind == Kind::Wake && record.words[1] == WOKEN_BY_TIMEOUT;
        let of_thread = |(path, records): (&String, &Vec<Record>)| -> Vec<(String, u64)> {
            records.iter().filter(is_late).map(|record| (path.clone(), record.at)).collect()
        };
        let mut late: Vec<(String, u64)> = self.threads.iter().flat_map(of_thread).collect();
        late.sort();
        late
    }

    /// All events in the order in which they took effect, as what another run should do.
    pub fn as_expected(&self) -> Vec<Expected> {
        let mut events: Vec<(u64, Expected)> = Vec::new();
        for (path, records) in &self.threads {
            let steps = records.iter().filter(|record| is_step(path, record));
            events.extend(steps.map(|record| {
                let what = What::Seen(record.kind, record.place);
                (record.order().unwrap_or(0), Expected { path: path.clone(), at: record.at, what })
            }));
        }
        events.sort_by_key(|(order, _)| *order);
        events.into_iter().map(|(_, expected)| expected).collect()
    }

    /// All steps in the order in which they took effect, those of the allocator among them.
    pub fn steps(&self) -> Vec<Step> {
        let mut steps: Vec<(u64, Step)> = Vec::new();
        for (path, records) in &self.threads {
            let effective = records.iter().filter(|record| is_step(path, record));
            let step = |record: &Record| Step { path: path.clone(), at: record.at, apart: None };
            steps.extend(effective.map(|record| (record.order().unwrap_or(0), step(record))));
        }
        for (path, records) in &self.apart {
            for together in records.chunk_by(|one, other| one.at == other.at) {
                let apart = (1..together.len() as u64).chain([ALL_APART]);
                let step = |apart, at| Step { path: path.clone(), at, apart: Some(apart) };
                let step = |(record, apart): (&Record, u64)| (record.order().unwrap_or(0), step(apart, record.at));
                // Nothing holds a thread before its first counted record, or the one after its start.
                let is_held = |record: &Record| record.at > u64::from(is_from_elsewhere(path));
                steps.extend(together.iter().zip(apart).filter(|(record, _)| is_held(record)).map(step));
            }
        }
        steps.sort_by_key(|(order, _)| *order);
        steps.into_iter().map(|(_, step)| step).collect()
    }

    /// The first of the expected steps that did not happen as expected, in the expected order. `location` says
    /// where in the source an access is, if that is known.
    pub fn first_difference(
        &self,
        expected: &[Expected],
        after_free: Option<&UseOfFreed>,
        location: impl Fn(&Record) -> Option<String>,
    ) -> Option<Difference> {
        let mut last = 0;
        for step in expected {
            let is_use = |use_: &&UseOfFreed| (&use_.access.0, use_.access.1) == (&step.path, step.at);
            let is_expected = |record: &Record| fits(step, record, &location);
            if after_free.filter(is_use).is_some_and(|use_| self.failed(use_, is_expected)) {
                continue;
            }
            let found = self.at(&step.path, step.at);
            let fits = found.as_ref().is_some_and(|event| fits(step, &event.record, &location));
            let order = found.as_ref().map_or(0, Event::order);
            if !fits || order < last {
                return Some(Difference { expected: step.clone(), found, out_of_turn: fits });
            }
            last = last.max(order);
        }
        None
    }
}

/// Whether a run ended since all threads waited for each other.
///
/// # Errors
/// Its logs cannot be read.
pub fn deadlocked(folder: &Path) -> Result<bool, WalkError> {
    Ok(is_deadlock(&open_logs(folder)?))
}

/// The same of logs that were opened.
pub fn is_deadlock(logs: &[Log]) -> bool {
    logs.iter().any(Log::ends_in_deadlock)
}

/// Which memory has several addresses.
fn aliases(apart: &FxHashMap<String, Vec<Record>>) -> Aliases {
    let mut mapped: Vec<&Record> = apart.values().flatten().filter(|record| record.kind == Kind::Alias).collect();
    mapped.sort_by_key(|record| record.order());
    let mut aliases = Aliases::default();
    for record in mapped {
        aliases.add(record.words[0], record.words[1], record.words[2]);
    }
    aliases
}

/// Whether a record took effect where a schedule can say when.
fn is_step(path: &str, record: &Record) -> bool {
    record.order() != Some(0) && !(record.kind == Kind::Unseen && is_start_of_another(path, record.at))
}

/// Whether an unseen event says that a thread has come that a library started. Nothing holds it there: it comes when the library likes, also
/// within a call of another thread.
fn is_start_of_another(path: &str, at: u64) -> bool {
    at == 0 && is_from_elsewhere(path)
}

/// Whether no recorded thread created this one, which is not the first.
fn is_from_elsewhere(path: &str) -> bool {
    path != "0" && !path.contains('.')
}

/// The steps of a witness that have a record of their own.
pub fn expected_of(steps: &[SavedStep]) -> Vec<Expected> {
    let with_record = made(steps).filter(|step| has_record(&step.op));
    let expected = with_record.filter_map(|step| {
        let what = What::Told(step.op.clone(), step.loc.clone());
        Some(Expected { path: step.path.clone()?, at: step.at?, what })
    });
    expected.collect()
}

/// The steps of a witness at which turns can end.
pub fn steps_of(steps: &[SavedStep]) -> Vec<Step> {
    let with_record = made(steps).filter(|step| has_record(&step.op) || step.op == "free");
    let steps = with_record.filter_map(|step| {
        // Which of the allocator's records it is, is not known.
        let apart = (step.op == "free").then_some(ALL_APART);
        Some(Step { path: step.path.clone()?, at: step.at?, apart })
    });
    steps.collect()
}

/// The steps of a witness that a schedule can order, each call once: an update of 16 bytes is one record with several events, and a call on a
/// descriptor may wait for several things, and takes what is there. The program makes it where the last of them stands.
fn made(steps: &[SavedStep]) -> impl Iterator<Item = &SavedStep> {
    let mut last = FxHashMap::default();
    for (index, step) in steps.iter().enumerate().filter(|(_, step)| is_access(&step.op)) {
        last.insert((&step.path, step.at), index);
    }
    let is_start = |step: &SavedStep| {
        let start = step.path.as_deref().zip(step.at).filter(|(path, at)| is_start_of_another(path, *at));
        step.op == "unseen" && start.is_some()
    };
    let goes_on = goes_on(steps);
    let is_last = move |(index, step): &(usize, &SavedStep)| {
        !goes_on[*index]
            && (!is_access(&step.op) || step.at.is_none() || last.get(&(&step.path, step.at)) == Some(index))
    };
    steps.iter().enumerate().filter(is_last).map(|(_, step)| step).filter(move |step| !is_start(step))
}

/// Of each step, whether a call on a descriptor goes on with the next one of its thread: nothing keeps it between them, and it may come later.
fn goes_on(steps: &[SavedStep]) -> Vec<bool> {
    let mut goes_on = vec![false; steps.len()];
    let mut next_of: FxHashMap<&Option<String>, &SavedStep> = FxHashMap::default();
    for (index, step) in steps.iter().enumerate().rev() {
        let next = next_of.insert(&step.path, step);
        let is_of_call = |next: &&SavedStep| {
            let follows = step.at.zip(next.at).is_some_and(|(at, next)| at <= next && next <= at + 1);
            matches!(&*next.op, "depart" | "arrive") && follows && step.loc.is_some() && next.loc == step.loc
        };
        goes_on[index] = matches!(&*step.op, "down" | "depart") && next.filter(is_of_call).is_some();
    }
    goes_on
}

/// Whether events of this kind read or write memory.
fn is_access(op: &str) -> bool {
    matches!(op, "read" | "write" | "rmw")
}

/// Whether events of this kind are records of the log; the others happen between two of them.
pub fn has_record(op: &str) -> bool {
    !matches!(op, "assume" | "let" | "begin" | "end" | "free" | "fail" | "call" | "return")
}

fn fits(step: &Expected, record: &Record, location: &impl Fn(&Record) -> Option<String>) -> bool {
    match &step.what {
        What::Seen(kind, place) => *kind == record.kind && is_same_place(*kind, *place, record.place),
        What::Told(op, loc) => {
            let elsewhere = || match (loc, location(record)) {
                (Some(loc), Some(found)) => *loc != found,
                _ => false,
            };
            ops(record.kind).contains(&op.as_str()) && !elsewhere()
        }
    }
}

/// Whether two places of records of a kind are one. The address that an interposed function returns to may be in a library that was
/// loaded elsewhere this time, at another page.
fn is_same_place(kind: Kind, one: u64, other: u64) -> bool {
    const PAGE: u64 = 4096;
    one == other || kind.size() == 0 && one % PAGE == other % PAGE
}

/// Whether a record is of the upper half of the same update of 16 bytes: all of its events have the position of the lower half's.
pub(super) fn is_other_half(lower: &Record, next: &Record) -> bool {
    let orders = [lower, next].map(|record| record.order().unwrap_or(0));
    (next.kind, next.place) == (Kind::Update8, lower.place)
        && lower.kind == Kind::Update8
        && next.words[0] == lower.words[0].wrapping_add(8)
        && orders[1] == orders[0] + 1
}

/// The signal of a handler, with [`SENT`] if the program sent it; 0 for a fault of the thread.
fn sent_or_from_outside(begin: &Record, next: Option<&Record>) -> u64 {
    let signal = begin.words[0];
    let was_sent = next.is_some_and(|next| next.kind == Kind::Down);
    let is_fault = [nix::libc::SIGSEGV, nix::libc::SIGBUS, nix::libc::SIGFPE, nix::libc::SIGILL, nix::libc::SIGABRT]
        .contains(&(signal as i32));
    if was_sent { SENT | signal } else { signal * u64::from(!is_fault) }
}

/// What a record can be in a trace.
pub fn ops(kind: Kind) -> &'static [&'static str] {
    match kind {
        access_kinds!() => ops_of_access(kind),
        Kind::Acquire | Kind::WriteLock => &["acquire"],
        Kind::Release | Kind::WriteUnlock => &["release"],
        Kind::ReadLock => &["acquire_shared"],
        Kind::ReadUnlock => &["release_shared"],
        Kind::Busy => &["busy"],
        Kind::Wait => &["wait"],
        Kind::Wake => &["wake"],
        Kind::Signal => &["signal"],
        Kind::Broadcast => &["broadcast"],
        Kind::Post => &["post"],
        Kind::Down => &["down"],
        Kind::Arrive => &["arrive"],
        Kind::Depart => &["depart"],
        Kind::OnceBegin => &["once_begin"],
        Kind::OnceEnd => &["once_end"],
        Kind::OncePass => &["once_pass"],
        Kind::OnceFail => &["once_fail"],
        Kind::Fork => &["fork"],
        Kind::Join => &["join"],
        Kind::Start => &["start of the thread"],
        Kind::Exit => &["end of the thread", "release"], // of a robust mutex
        Kind::Allocate => &["allocation"],
        Kind::Free => &["free"],
        Kind::AtomicBegin => &["begin"],
        Kind::AtomicEnd => &["end"],
        Kind::CallBegin => &["call"],
        Kind::CallEnd => &["return"],
        Kind::CallValue => &["argument or result of an operation"],
        Kind::Fail => &["fail"],
        Kind::Unseen => &["unseen"],
        Kind::SemaphoreInit
        | Kind::BarrierInit
        | Kind::Alias
        | Kind::Refused
        | Kind::HandlerBegin
        | Kind::HandlerEnd => &["another event"],
        code_kinds!() => &["another event"],
    }
}

fn ops_of_access(kind: Kind) -> &'static [&'static str] {
    match kind {
        kind if kind.is_load() => &["read"],
        kind if kind.is_store() => &["write"],
        Kind::Failed1 | Kind::Failed2 | Kind::Failed4 | Kind::Failed8 => &["read"],
        _ => &["rmw", "read", "write"], // an `Update`
    }
}

/// Whether the accesses of a triple happened, one after the other on the same memory.
pub fn triple_happened(triple: &[Option<Event>; 3]) -> bool {
    let [Some(first), Some(remote), Some(second)] = triple else { return false };
    let overlap = |a: &Event, b: &Event| a.bytes().start < b.bytes().end && b.bytes().start < a.bytes().end;
    let in_turn = first.order() < remote.order() && remote.order() < second.order();
    in_turn && overlap(first, remote) && overlap(remote, second)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: Kind, at: u64, words: [u64; 4]) -> Record {
        Record { kind, place: 7, words, at }
    }

    fn events() -> Events {
        let first = vec![
            record(Kind::Load4, 0, [0x100, 5, 1, 0]),
            record(Kind::Store4, 1, [0x100, 6, 3, 0]),
            record(Kind::Load4, 2, [0x200, 0, 0, 0]), // crashed
        ];
        let second = vec![record(Kind::Update4, 0, [0x100, 5, 9, 2])];
        let threads = [("0".to_string(), first), ("0.1".to_string(), second)].into_iter().collect();
        Events { threads, apart: FxHashMap::default(), aliases: Aliases::default() }
    }

    fn told(path: &str, at: u64, op: &str) -> Expected {
        Expected { path: path.to_string(), at, what: What::Told(op.to_string(), Some("a.c:1".to_string())) }
    }

    fn difference(expected: &[Expected], location: &str) -> Option<Difference> {
        events().first_difference(expected, None, |_| Some(location.to_string()))
    }

    /// A call of thread 0.1 waits for descriptors, and another one writes between what it waits for.
    #[test]
    fn one_call_is_made_where_its_last_step_stands() {
        let step = |path: &str, at: u64, op: &str, line: u32| {
            serde_json::from_value(
                serde_json::json!({ "event": at, "path": path, "at": at, "op": op, "loc": format!("a.c:{line}") }),
            )
        };
        let steps: Vec<SavedStep> = [
            step("0.1", 4, "down", 1),
            step("0.1", 5, "depart", 1),
            step("0", 7, "arrive", 9),
            step("0.1", 6, "depart", 1),
            step("0.1", 7, "arrive", 1),
            step("0.1", 8, "arrive", 2),
        ]
        .map(|step| step.expect("a step"))
        .into();
        let ends: Vec<(String, u64)> = steps_of(&steps).into_iter().map(|step| (step.path, step.at)).collect();
        assert_eq!(ends, [("0", 7), ("0.1", 7), ("0.1", 8)].map(|(path, at)| (path.to_string(), at)));
    }

    /// A narrow access at 0x104 meets a wide one at 0x100, whose upper half is what counts.
    #[test]
    fn a_wide_value_is_told_by_the_bytes_that_count() {
        let event = |kind: Kind, start: u64| {
            let record = record(kind, 0, [start, 0, 1, 0]);
            Event { path: "0".to_string(), record, start, size: kind.size() as u64 }
        };
        let (wide, narrow) = (event(Kind::Store8, 0x100), event(Kind::Load4, 0x104));
        let common = Event::common_bytes([&wide, &narrow]);
        assert_eq!(common, 0x104..0x108);
        assert_eq!(wide.part(0x1_0000_0003, &common), Some((1, 4)));
        assert_eq!(narrow.part(7, &common), Some((7, 4)));
        assert_eq!(wide.part(u64::MAX, &(0x100..0x108)), Some((u64::MAX, 8)));
        assert_eq!(narrow.part(7, &(0x100..0x108)), None);
        assert_eq!(narrow.part(7, &Event::common_bytes([&narrow, &event(Kind::Store1, 0x200)])), None);
    }

    #[test]
    fn what_followed_and_what_did_not() {
        let right = [told("0", 0, "read"), told("0.1", 0, "rmw"), told("0", 1, "write")];
        assert_eq!(difference(&right, "a.c:1"), None);
        assert_eq!(difference(&right, "a.c:2").map(|d| d.expected), Some(right[0].clone()));
        let late = [right[0].clone(), right[2].clone(), right[1].clone()];
        assert!(difference(&late, "a.c:1").is_some_and(|d| d.out_of_turn && d.expected == right[1]));
        let other = difference(&[told("0", 1, "read")], "a.c:1").expect("a write stands there");
        assert_eq!((other.out_of_turn, other.found.and_then(|event| event.written())), (false, Some(6)));
        assert!(difference(&[told("0", 2, "read")], "a.c:1").is_some_and(|d| d.found.is_none()), "it crashed");
        assert!(difference(&[told("0.2", 0, "read")], "a.c:1").is_some_and(|d| d.found.is_none()));
    }

    #[test]
    fn a_run_is_as_its_own_log_says() {
        let expected = events().as_expected();
        assert_eq!(
            expected.iter().map(|step| (&*step.path, step.at)).collect::<Vec<_>>(),
            [("0", 0), ("0.1", 0), ("0", 1)]
        );
        assert_eq!(difference(&expected, "anywhere"), None);
    }

    #[test]
    fn a_triple_is_three_accesses_of_the_same_bytes_in_order() {
        let at = |path: &str, at| events().at(path, at);
        assert!(triple_happened(&[at("0", 0), at("0.1", 0), at("0", 1)]));
        assert!(!triple_happened(&[at("0", 1), at("0.1", 0), at("0", 0)]));
        assert!(!triple_happened(&[at("0", 0), at("0.1", 0), at("0", 2)]));
    }

    #[test]
    fn an_update_of_16_bytes_meets_accesses_of_both_halves() {
        let halves = |orders: [u64; 2]| {
            let half = |at, order| record(Kind::Update8, at, [0x100 + 8 * at, 0, 1, order]);
            let upper = |order| record(Kind::Store8, 0, [0x108, 0, order, 0]);
            let first = vec![half(0, orders[0]), half(1, orders[1])];
            let mut last = first.clone();
            last.iter_mut().for_each(|record| record.words[3] += 10);
            let threads = [("0", first), ("0.1", vec![upper(5)]), ("0.2", last)];
            let threads = threads.map(|(path, all)| (path.to_string(), all)).into_iter().collect();
            let events = Events { threads, apart: FxHashMap::default(), aliases: Aliases::default() };
            triple_happened(&[("0", 0), ("0.1", 0), ("0.2", 0)].map(|(path, at)| events.at(path, at)))
        };
        assert!(halves([1, 2]));
        assert!(!halves([1, 3]), "two updates");
    }

    #[test]
    fn steps_of_the_allocator_stand_between_counted_ones() {
        let own = vec![record(Kind::Load4, 0, [0x100, 5, 1, 0]), record(Kind::Load4, 1, [0x100, 5, 5, 0])];
        let freed = |at, order| record(Kind::Free, at, [0x500, 0, order, 0]);
        let name = "0".to_string();
        let threads = [(name.clone(), own)].into_iter().collect();
        let apart = [(name, vec![freed(0, 7), freed(1, 2), freed(1, 3), freed(2, 6)])].into_iter().collect();
        let events = Events { threads, apart, aliases: Aliases::default() };
        let steps = events.steps();
        let ends: Vec<(u64, u64)> = steps.iter().map(|step| (step.end().until, step.end().beyond)).collect();
        assert_eq!(ends, [(0, 0), (0, 1), (0, ALL_APART), (1, 0), (1, ALL_APART)]);
        assert_eq!(events.as_expected().len(), 2, "how often a thread allocates is no step");
    }
}

//! Whether a run ended in a deadlock, and which thread waits for which: the runtime's report, with the locks that the logs show.

use super::apart::STDERR;
use super::comers::comers;
use super::ending::Ending;
use super::folder::Folder;
use super::own_lines::OwnLines;
use super::positions::Positions;
use super::thread_names::ThreadNames;
use super::verify::deadlocked;
use foretrace_report::below_project;
use foretrace_runtime::lock_calls::as_recorded;
use foretrace_runtime::record::Kind;
use foretrace_walker::WalkError;
use foretrace_walker::log::{Record, open_logs, thread_paths};
use std::collections::BTreeMap;
use std::path::Path;

/// A thread that waits in a deadlock.
struct Waiting {
    path: String,
    what: Awaited,
}

/// What a thread waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Awaited {
    /// A lock or its like, at this address.
    Object(u64),
    /// The end of the thread with this path.
    End(String),
    /// An event counter or a pipe, as the runtime calls it.
    Channel(&'static str),
}

/// A lock that a thread holds.
struct Held {
    path: String,
    object: u64,
    /// Together with other readers.
    for_reading: bool,
    /// Where the thread took it.
    place: Option<String>,
}

/// A signal of a condition variable.
struct Signalled {
    object: u64,
    order: u64,
    path: String,
    place: Option<String>,
}

/// Says who waits for whom, a line each, and for a signal also who gave the last one before that wait; nothing where the run did not end so.
///
/// # Errors
/// The logs cannot be read.
pub fn deadlock_in_words(
    output: &Path,
    recording: &Path,
    places: (&Positions, &OwnLines),
) -> Result<Vec<String>, WalkError> {
    let text = std::fs::read_to_string(output.join(STDERR)).unwrap_or_default();
    let all: Vec<Waiting> = text.lines().filter_map(waiting).collect();
    if all.is_empty() {
        return Ok(Vec::new());
    }
    let objects = all.iter().filter_map(|waiting| match waiting.what {
        Awaited::Object(object) => Some(object),
        _ => None,
    });
    let Ends { held, last, kinds, signals, waits } = ends(recording, places, &objects.collect::<Vec<u64>>())?;
    let names = ThreadNames::of_recording(recording)?;
    let place = |held: &Held| {
        let reading = if held.for_reading { " for reading" } else { "" };
        reading.to_string() + &held.place.as_ref().map(|place| format!(" at {place}")).unwrap_or_default()
    };
    let comers = comers(recording);
    let is_comer = |other: &&Waiting, object: u64| {
        matches!(other.what, Awaited::Object(awaited) if awaited == object) && comers.contains(&other.path)
    };
    let line = |waiting: &Waiting| {
        let own =
            held.iter().filter(|held| held.path == waiting.path).map(|held| format!("the lock it took{}", place(held)));
        let own: Vec<String> = own.collect();
        let holds = if own.is_empty() { String::new() } else { format!("holds {} and ", own.join(" and ")) };
        let awaited = match &waiting.what {
            Awaited::Channel(channel) => format!("a write to {channel} that no thread makes"),
            Awaited::End(path) => format!("the end of {}", names.short(path)),
            Awaited::Object(object) => match held.iter().find(|held| held.object == *object) {
                Some(owner) if owner.for_reading && !comers.contains(&waiting.path) => {
                    let writer = all.iter().find(|other| is_comer(other, *object));
                    let writer = writer.map_or("a thread".to_string(), |writer| names.short(&writer.path));
                    let is_own = held.iter().any(|held| held.object == *object && held.path == waiting.path);
                    let lock = if is_own { "that lock" } else { "a lock" };
                    format!("{lock} behind {writer}, which waits to write")
                }
                Some(owner) if owner.path == waiting.path => "a lock that it holds itself".to_string(),
                Some(owner) => format!("the lock that {} took{}", names.short(&owner.path), place(owner)),
                None => awaited_of(kinds.get(object).copied()).to_string(),
            },
        };
        let at = last.get(&waiting.path).map(|place| format!(", after {place}")).unwrap_or_default();
        format!("{} {holds}waits for {awaited}{at}", names.full(&waiting.path))
    };
    // A signal that comes before the wait is lost: that thread should have waited until it is seen, or the other one have looked in time.
    let signal = |waiting: &Waiting| {
        let Awaited::Object(object) = waiting.what else { return None };
        let since = waits.get(&(waiting.path.clone(), object))?;
        let mut before = signals.iter().filter(|signal| signal.object == object && signal.path != waiting.path);
        let last = before.by_ref().max_by_key(|signal| signal.order).filter(|last| last.order < *since)?;
        let place = last.place.as_ref().map(|place| format!(", at {place}")).unwrap_or_default();
        Some(format!("  {} gave the last signal before that wait{place}", names.full(&last.path)))
    };
    Ok(all.iter().flat_map(|waiting| std::iter::once(line(waiting)).chain(signal(waiting))).collect())
}

/// What a thread waits for at an object that no thread holds. The kind is that of a record that names the object.
fn awaited_of(kind: Option<Kind>) -> &'static str {
    match kind {
        Some(Kind::Wait | Kind::Signal | Kind::Broadcast) => "a signal that no thread sends",
        Some(Kind::SemaphoreInit | Kind::Post | Kind::Down) => "a post that no thread makes",
        Some(Kind::BarrierInit | Kind::Arrive) => "the others at a barrier",
        Some(Kind::OnceBegin) => "the end of an initialisation",
        Some(kind) if kind.size() > 0 => "a wake-up that no thread gives",
        _ => "a signal, a barrier or the end of a thread",
    }
}

/// A line of the runtime: `  thread 0.1 (number 2) waits for 0x5555`, `waits for eventfd 3`, `waits for pipe 3`, or `waits for the end of thread 0.2`.
fn waiting(line: &str) -> Option<Waiting> {
    let line = line.strip_prefix("foretrace:").unwrap_or(line).trim_start();
    let (path, rest) = line.strip_prefix("thread ")?.split_once(' ')?;
    let (_, object) = rest.split_once(" waits for ")?;
    let object = object.trim();
    let what = if object.starts_with("eventfd ") {
        Awaited::Channel("an eventfd")
    } else if object.starts_with("pipe ") {
        Awaited::Channel("a pipe")
    } else if let Some(path) = object.strip_prefix("the end of thread ") {
        Awaited::End(path.to_string())
    } else {
        Awaited::Object(as_recorded(usize::from_str_radix(object.strip_prefix("0x")?, 16).ok()?) as u64)
    };
    Some(Waiting { path: path.to_string(), what })
}

/// The program's own line that each thread came to last in a run, with the name of the thread, in the order of threads' paths.
///
/// # Errors
/// The logs cannot be read.
pub fn last_places(recording: &Path, places: (&Positions, &OwnLines)) -> Result<Vec<(String, String)>, WalkError> {
    let names = ThreadNames::of_recording(recording)?;
    let last = ends(recording, places, &[])?.last.into_iter();
    Ok(last.map(|(path, place)| (names.full(&path), place)).collect())
}

/// Where threads are at the end of a run.
struct Ends {
    held: Vec<Held>,
    /// By thread, the last line of the program's own.
    last: BTreeMap<String, String>,
    /// By object that is no lock, what some record of it says; of accesses, those of the objects that were asked for.
    kinds: BTreeMap<u64, Kind>,
    /// Signals of objects that were asked for.
    signals: Vec<Signalled>,
    /// By thread and condition variable, the order of the last wait.
    waits: BTreeMap<(String, u64), u64>,
}

fn ends(recording: &Path, (positions, lines): (&Positions, &OwnLines), objects: &[u64]) -> Result<Ends, WalkError> {
    let logs = open_logs(recording)?;
    let (mut all, mut last, mut kinds) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    let (mut signals, mut waits) = (Vec::new(), BTreeMap::new());
    let line = |record: Record| positions.line_of(&record).map(|place| below_project(&place).to_string());
    for (path, log) in thread_paths(&logs).into_iter().zip(&logs) {
        /// A record, and that of the program's own at it or before.
        type Placed = (Record, Option<Record>);
        type Taken = (u64, bool, Placed); // the lock, and whether for reading
        let place = |(record, own): Placed| lines.at(&path, record.at).map(str::to_string).or_else(|| line(own?));
        let mut own: Vec<Taken> = Vec::new();
        let mut given_back: Vec<(u64, Taken)> = Vec::new(); // by condition variable
        let mut last_own = None;
        let take_out = |own: &mut Vec<Taken>, object: u64| {
            own.iter().rposition(|(taken, ..)| *taken == object).map(|at| own.remove(at))
        };
        for record in log.records().filter(|record| record.order() != Some(0)) {
            last_own = if positions.is_written(&record) { Some(record) } else { last_own };
            let (object, order, here) = (record.words[0], record.order().unwrap_or(0), (record, last_own));
            if matches!(record.kind, Kind::Signal | Kind::Broadcast) && objects.contains(&object) {
                signals.push(Signalled { object, order, path: path.clone(), place: place(here) });
            }
            match record.kind {
                Kind::Acquire | Kind::WriteLock => own.push((record.words[0], false, here)),
                Kind::ReadLock => own.push((record.words[0], true, here)),
                Kind::Release | Kind::WriteUnlock | Kind::ReadUnlock => _ = take_out(&mut own, record.words[0]),
                Kind::Signal
                | Kind::Broadcast
                | Kind::SemaphoreInit
                | Kind::Post
                | Kind::Down
                | Kind::BarrierInit
                | Kind::Arrive
                | Kind::OnceBegin => _ = kinds.insert(record.words[0], record.kind),
                Kind::Wait => {
                    kinds.insert(object, record.kind);
                    waits.insert((path.clone(), object), order);
                    let mutex = take_out(&mut own, record.words[1]);
                    given_back.extend(mutex.map(|mutex| (record.words[0], mutex)));
                }
                Kind::Wake => {
                    let at = given_back.iter().rposition(|(cond, _)| *cond == record.words[0]);
                    own.extend(at.map(|at| given_back.remove(at).1));
                }
                kind if kind.size() > 0 && objects.contains(&record.words[0]) => {
                    kinds.entry(record.words[0]).or_insert(kind);
                }
                _ => {}
            }
        }
        let later = lines.last(&path).filter(|(at, _)| last_own.is_none_or(|own| own.at < *at));
        let last_place = later.map(|(_, line)| line.to_string()).or_else(|| line(last_own?));
        last.extend(last_place.map(|place| (path.clone(), place)));
        let held = |(object, for_reading, taken)| Held { path: path.clone(), object, for_reading, place: place(taken) };
        all.extend(own.into_iter().map(held));
    }
    Ok(Ends { held: all, last, kinds, signals, waits })
}

/// How the run of a recording ended, if that is known: the runtime ends a deadlock by a signal.
pub fn recorded_ending(recording: &Path) -> Option<Ending> {
    let ending = Folder::recorded_ending(recording)?;
    let is_deadlock = matches!(ending, Ending::Signal(_)) && deadlocked(recording).unwrap_or(false);
    Some(if is_deadlock { Ending::Deadlock } else { ending })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_runtime_are_read() {
        let found = waiting("foretrace:   thread 0.1 (number 2) waits for 0x5555deadbeef").expect("one of its lines");
        assert_eq!((&*found.path, found.what), ("0.1", Awaited::Object(0x5555_dead_beef)));
        let found = waiting("thread 0.1 (number 2) waits for 0x4000555500001230").expect("one of its lines");
        assert_eq!(found.what, Awaited::Object(0x5555_0000_1230));
        let found = waiting("foretrace:   thread 0.2 (number 3) waits for eventfd 3").expect("one of its lines");
        assert_eq!((&*found.path, found.what), ("0.2", Awaited::Channel("an eventfd")));
        let found = waiting("foretrace:   thread 0.2 (number 3) waits for pipe 3").expect("one of its lines");
        assert_eq!((&*found.path, found.what), ("0.2", Awaited::Channel("a pipe")));
        let found =
            waiting("foretrace:   thread 0 (number 1) waits for the end of thread 0.2").expect("one of its lines");
        assert_eq!((&*found.path, found.what), ("0", Awaited::End("0.2".to_string())));
        assert!(waiting("thread 0.1 says hello").is_none());
    }
}

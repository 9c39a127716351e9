//! Recordings that do not begin with the run: where their traces begin, and with what.
//!
//! The logs of some threads begin later than others. Before the latest of these moments events of some thread are missing, and with them
//! order that they made: so the trace begins there, for all threads. At that moment each thread takes what it has open: its locks, before
//! any thread goes on (a barrier holds the threads back); the wait that it is in; its marked transactions.

use crate::error::WalkError;
use crate::initials::Initials;
use crate::interpret::{Thread, Walk};
use crate::log::{Log, Record};
use crate::world::World;
use foretrace_runtime::open::{Open, OpenSet};
use foretrace_runtime::record::Kind;
use foretrace_trace::{Op, Problem, SyncKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// Unknown values are given by what no read found; by cell. No read may find it in any other order of the events either: that would be
/// a value that memory never had.
pub(crate) fn choose_initials(world: &mut World<'_>) -> Result<FxHashMap<u32, u64>, WalkError> {
    let Initials { unknown, found } = std::mem::take(&mut world.initials);
    let mut chosen = FxHashMap::default();
    for cell in unknown {
        let largest = u64::MAX >> (64 - 8 * world.cells.all[cell as usize].piece.size);
        let is_new = |value: &u64| found.get(&cell).is_none_or(|found| !found.contains(value));
        let Some(value) = (0..=largest).rev().find(is_new) else {
            match world.begins_later {
                true => return Err(WalkError::NoInitial),
                false => continue, // a byte that held everything that a byte can hold: zero is as good
            }
        };
        world.initial[cell as usize] = Some(value);
        chosen.insert(cell, value);
    }
    Ok(chosen)
}

/// Where a trace begins that does not begin with the run.
pub(crate) struct Start {
    /// What each thread has open.
    open: Vec<Vec<Open>>,
    /// Whether each thread had begun.
    pub begun: Vec<bool>,
}

/// Makes all logs begin where they are whole; nothing where that is with the run.
pub(crate) fn find(logs: &mut [Log]) -> Result<Option<Start>, WalkError> {
    let order = logs.iter().filter_map(|log| log.cut()).map(|cut| cut.words[1]).max();
    let Some(order) = order else { return Ok(None) };
    let mut start = Start { open: Vec::new(), begun: Vec::new() };
    for log in logs.iter_mut() {
        let mut open = OpenSet::default();
        let mut begins = log.records();
        let mut records = log.records();
        while let Some(record) = records.next() {
            match record.order() {
                Some(at) if at >= order => break,
                Some(0) => continue,
                Some(_) => open.note(record.kind, record.words[0], record.words[1]),
                None if matches!(record.kind, Kind::Cut | Kind::Open) => note_start(&mut open, &record),
                None => continue,
            }
            begins = records.clone();
        }
        let begun = begins.byte() > log.records().byte();
        let lost = log.cut().is_some_and(|cut| cut.words[2] != 0);
        let goes_on = begins.peek().is_some_and(|record| record.kind != Kind::Stop);
        let open = match open.known().filter(|_| !lost) {
            // Of a thread that does nothing more it does not matter, and may be long past.
            _ if !goes_on => Vec::new(),
            Some(open) => open.to_vec(),
            None => return Err(WalkError::ManyOpen { path: log.path().to_path_buf() }),
        };
        start.open.push(open);
        start.begun.push(begun);
        let begins = begins.position();
        log.start_at(begins);
    }
    Ok(Some(start))
}

/// What a log says at its start.
fn note_start(open: &mut OpenSet, record: &Record) {
    if record.kind == Kind::Open {
        let [kind, object, extra, recursive] = record.words;
        open.push(Open { kind, object, extra, recursive });
    }
}

/// Takes what the threads have open.
pub(crate) fn take_open<'a>(
    world: &mut World<'a>,
    threads: &mut [Thread<'a>],
    logs: &[Log],
    start: &Start,
) -> Result<(), Problem> {
    let takes_lock = |open: &&Open| open.kind != Kind::Wait as u64 && open.kind != Kind::AtomicBegin as u64;
    let mut locked = false;
    for (thread, open) in threads.iter_mut().zip(&start.open) {
        for open in open.iter().filter(takes_lock) {
            take(world, thread, record(open))?;
            locked = true;
        }
    }
    if locked {
        hold_back(world, threads, logs)?;
    }
    for (thread, open) in threads.iter_mut().zip(&start.open) {
        for open in open.iter().filter(|open| !takes_lock(open)) {
            if open.kind == Kind::Wait as u64 {
                let mutex =
                    Open { kind: Kind::Acquire as u64, object: open.extra, extra: open.recursive, recursive: 0 };
                take(world, thread, record(&mutex))?;
            }
            take(world, thread, record(open))?;
        }
    }
    Ok(())
}

/// The record that something open began with.
fn record(open: &Open) -> Record {
    let kind = Kind::from_header(open.kind << foretrace_runtime::record::PLACE_BITS).unwrap_or(Kind::Cut);
    Record { kind, place: 0, words: [open.object, open.extra, 0, 0], at: 0 }
}

fn take<'a>(world: &mut World<'a>, thread: &mut Thread<'a>, record: Record) -> Result<(), Problem> {
    let program = world.program;
    Walk { world, thread, program, until: u64::MAX }.synchronise_now(record)
}

/// No thread goes on before all have what they hold.
fn hold_back(world: &mut World<'_>, threads: &[Thread<'_>], logs: &[Log]) -> Result<(), Problem> {
    let forks = logs.iter().flat_map(|log| log.records()).filter(|record| record.kind == Kind::Fork);
    let later: FxHashSet<u64> = forks.map(|record| record.words[0]).collect();
    let there = || threads.iter().filter(|thread| !later.contains(&thread.number) && thread.has_records());
    let barrier = world.draft.assembler.declare_sync("start of the recording", SyncKind::Barrier { parties: None })?;
    for thread in there() {
        world.push(thread.source(), Op::Arrive { barrier, round: 0 });
    }
    for thread in there() {
        world.push(thread.source(), Op::Depart { barrier, round: 0 });
    }
    Ok(())
}

//! Code that removes a failure when it is kept whole, but only because threads then meet in another order: another cause makes the program fail
//! all the same, once a thread is held until it comes about.

use super::enforced::Enforced;
use super::kept_whole::{Tried, Tries, first_interrupted};
use super::unfinished::Plans;
use anyhow::Context;
use foretrace::report::{TooEarly, Violation};
use foretrace_repair::{Whole, stretches_of};
use foretrace_trace::{EventId, Op, SyncId, ThreadId, Trace};
use std::path::Path;

/// Places that a thread is held at, the last one first.
const MOST: usize = 4;

/// A violation, and what became of the program with its code kept whole.
pub type Kept<'a> = (&'a Violation, &'a Tried);

/// What the program does with code kept whole where an early write comes before the failing thread goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WithWrite {
    /// It fails: the code only delays the failing thread.
    Fails,
    /// It passes: the write does no harm then.
    Passes,
    /// No run was found in which the write comes before the failing thread goes on.
    Unknown,
}

/// Runs of a program with code kept whole, in which a thread is held.
struct Held<'a> {
    tries: &'a Tries<'a>,
    kept: Kept<'a>,
    folder: &'a Path,
    /// A run that passes.
    passing: &'a Path,
    trace: &'a Trace,
}

impl Held<'_> {
    fn stretches(&self, trace: &Trace) -> Vec<Whole> {
        let (violation, tried) = self.kept;
        stretches_of(trace, tried.chosen, &violation.sections)
    }

    /// A run in which a thread goes on at an event as far as it can, if all executions of the code are whole in it: whether it passed, and its trace.
    fn run(&self, number: usize, until: EventId, thread: ThreadId) -> anyhow::Result<Option<(bool, Trace)>> {
        let enforced = Enforced { recording: self.passing, run: self.tries.enforced.run };
        let Some(plans) = Plans::first(self.trace, &enforced, (until, thread))? else { return Ok(None) };
        let place = self.folder.join(format!("held-{number}"));
        let Some((run, passed)) = (self.tries.run_into)(&plans.onward(), &place)? else { return Ok(None) };
        self.tries.atomic.first_trace_unsaid(&run)?;
        let Some(asked) = self.tries.atomic.read_within(&run, self.tries.go_on)? else { return Ok(None) };
        let is_whole = first_interrupted(&asked.trace, &self.stretches(&asked.trace)).is_none();
        Ok(is_whole.then_some((passed, asked.trace)))
    }
}

/// Makes a run that passes with code kept whole, to hold threads in.
fn holding<T>(
    tries: &Tries<'_>,
    kept: Kept<'_>,
    with: impl FnOnce(&Held<'_>) -> anyhow::Result<T>,
) -> anyhow::Result<Option<T>> {
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let place = folder.path().join("passing");
    let Some((passing, true)) = (tries.run_into)(&kept.1.along.plan, &place)? else { return Ok(None) };
    tries.atomic.first_trace_unsaid(&passing)?;
    let Some(asked) = tries.atomic.read_within(&passing, tries.go_on)? else { return Ok(None) };
    with(&Held { tries, kept, folder: folder.path(), passing: &passing, trace: &asked.trace }).map(Some)
}

/// What the program does with code kept whole, if the failing thread is held at what it does with the written variable until the early write
/// has come.
pub fn with_write(failing: &Trace, tries: &Tries<'_>, kept: Kept<'_>, early: &TooEarly) -> anyhow::Result<WithWrite> {
    let found = holding(tries, kept, |held| {
        let Some(Meeting { write, before, .. }) = Meeting::of(failing, early, held.trace) else {
            return Ok(WithWrite::Unknown);
        };
        let whole = held.stretches(held.trace);
        let is_inside = |event: &EventId| whole.iter().any(|(first, last)| first < event && event <= last);
        let mut found = WithWrite::Unknown;
        let places = before.into_iter().map(|access| before_locks(held.trace, access));
        for (number, place) in places.filter(|place| !is_inside(place)).take(MOST).enumerate() {
            if !(tries.go_on)() {
                break;
            }
            match held.run(number, place, held.trace.event(write).thread)? {
                Some((false, _)) => return Ok(WithWrite::Fails),
                Some((true, trace)) if Meeting::of(failing, early, &trace).is_some_and(|meeting| meeting.is_early) => {
                    found = WithWrite::Passes;
                }
                _ => {}
            }
        }
        Ok(found)
    })?;
    Ok(found.unwrap_or(WithWrite::Unknown))
}

/// Whether the program fails with code kept whole where the code of another cause is interrupted.
pub fn fails_by_other(tries: &Tries<'_>, kept: Kept<'_>, (other, of_other): Kept<'_>) -> anyhow::Result<bool> {
    let found = holding(tries, kept, |held| {
        let mut stretches = stretches_of(held.trace, of_other.chosen, &other.sections);
        stretches.sort_unstable();
        let threads = (0..held.trace.threads.len()).map(ThreadId::from_index);
        let thread = |stretch: &Whole| held.trace.event(stretch.0).thread;
        // Another thread comes in before the last event, or before the locks are taken that are held there.
        let place = |stretch: &Whole| {
            Some(before_locks(held.trace, stretch.1)).filter(|id| *id > stretch.0).unwrap_or(stretch.1)
        };
        let places = stretches.iter().rev().flat_map(|stretch| {
            let others = threads.clone().filter(|other| *other != thread(stretch));
            others
                .filter(|other| stretches.iter().any(|one| thread(one) == *other))
                .map(|other| (place(stretch), other))
        });
        for (number, (until, other)) in places.take(MOST).enumerate() {
            if !(tries.go_on)() {
                break;
            }
            if let Some((false, _)) = held.run(number, until, other)? {
                return Ok(true);
            }
        }
        Ok(false)
    })?;
    Ok(found.unwrap_or(false))
}

/// Where a thread takes the first of the locks that it holds at an event; the event if it holds none.
fn before_locks(trace: &Trace, event: EventId) -> EventId {
    let thread = trace.event(event).thread;
    let mut released: Vec<SyncId> = Vec::new();
    let mut start = event;
    for id in (0..event.0).rev().map(EventId).filter(|id| trace.event(*id).thread == thread) {
        match trace.event(id).op {
            Op::Release { lock } | Op::ReleaseShared { lock } => released.push(lock),
            Op::Acquire { lock } | Op::AcquireShared { lock } => match released.iter().position(|one| *one == lock) {
                Some(known) => drop(released.swap_remove(known)),
                None => start = id,
            },
            _ => {}
        }
    }
    start
}

/// Where, in another run, the writing thread does an early write, and the thread that read it accesses the same variable.
struct Meeting {
    write: EventId,
    /// The accesses before the write, the last one first.
    before: Vec<EventId>,
    /// Whether there are accesses after it.
    is_early: bool,
}

impl Meeting {
    fn of(failing: &Trace, early: &TooEarly, trace: &Trace) -> Option<Meeting> {
        let thread = |event: EventId| -> Option<ThreadId> {
            let path = failing.threads[failing.event(event).thread.index()].path.as_deref()?;
            let found = trace.threads.iter().position(|thread| thread.path.as_deref() == Some(path))?;
            Some(ThreadId::from_index(found))
        };
        fn var(trace: &Trace, event: EventId) -> Option<&str> {
            trace.event(event).op.var().map(|var| trace.vars[var.index()].shown())
        }
        let (writer, reader, wanted) = (thread(early.write)?, thread(early.read)?, var(failing, early.write)?);
        let accesses = |thread: ThreadId| {
            let all = trace.iter().rev().filter(move |(_, event)| event.thread == thread);
            all.map(|(id, _)| id).filter(|id| var(trace, *id) == Some(wanted))
        };
        let is_same = |id: &EventId| trace.event(*id).op.writes() && trace.loc(*id) == failing.loc(early.write);
        let write = accesses(writer).find(is_same)?;
        let before = accesses(reader).filter(|access| *access < write).collect();
        Some(Meeting { write, before, is_early: accesses(reader).any(|access| access > write) })
    }
}

//! A schedule that reaches a cut-point, near the observed order: the paper's three regions.
//!
//! Source: Sorrentino, Farzan, Madhusudan, *PENELOPE*, FSE 2010, section 4.2. Region I is the observed order up to the earlier of
//! the two threads' last points without locks, each other thread cut at its own last such point. In region II the other of the two
//! threads comes to its point. Region III weaves the two to the cut-point, as locksets and acquisition histories ask. (The
//! paper says that the thread of region II has its point earlier; the figure and the proof need it later.)
//!
//! The schedules also keep orders that the paper leaves out: each event is taken by the step semantics of the trace, and an event that
//! waits for another thread (a fork, join, barrier, signal, post) lets that thread go ahead. So each schedule is a prefix in the model of
//! free reads (`cam`). Only the program can show whether its values allow the schedule.

mod observed;
mod switches;
mod weave;
mod why_not;

use crate::cut_point::CutPoint;
use crate::lock_log::LockLog;
use crate::locks::LockStates;
use crate::scan::shared_variables;
use foretrace_index::TraceIndex;
use foretrace_trace::{EventId, Model, Observed, Semantics, ThreadId, Trace};
use switches::Switches;
use weave::{Guard, Weaver};
pub use why_not::WhyNot;

/// How region II is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, PartialOrd, Ord)]
pub enum Middle {
    /// The thread alone, as the paper has it; other threads only where it waits for them.
    #[default]
    Alone,
    /// All threads but the one that is at its point, in the observed order.
    Together,
}

/// How far a schedule goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Ends {
    /// With the second access.
    AtSecond,
    /// With the remote access: no way to the second one was found after it.
    AtRemote,
}

/// An order of events that has the interruption: a prefix of the trace in the model of free reads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// The events, in order.
    pub events: Vec<EventId>,
    /// How far it goes.
    pub ends: Ends,
    /// How many of the events region I has, and how many regions I and II have, before context switches were saved.
    pub regions: [usize; 2],
    /// Context switches of the regions as they were made, and of `events`.
    pub switches: [usize; 2],
    /// How region II was made.
    pub middle: Middle,
}

/// Makes schedules for cut-points of one trace.
pub struct Synthesizer<'t> {
    trace: &'t Trace,
    semantics: Semantics<'t>,
    trace_index: TraceIndex,
    states: LockStates,
    log: LockLog,
    switches: Switches,
}

impl<'t> Synthesizer<'t> {
    /// For a valid trace.
    ///
    /// # Panics
    /// Never: free reads can be asked of every trace.
    pub fn new(trace: &'t Trace, observed: &'t Observed) -> Synthesizer<'t> {
        let semantics = Semantics::new(trace, observed, Model::Cam).expect("free reads need no values");
        let mut states = LockStates::new();
        let log = LockLog::new(trace, &mut states);
        let switches = Switches::new(trace, &shared_variables(trace), &log);
        Synthesizer { trace, semantics, trace_index: TraceIndex::new(trace), states, log, switches }
    }

    /// A schedule that reaches the cut-point, region II alone where that can be, else together.
    ///
    /// # Errors
    /// Why there is none with region II alone.
    pub fn synthesize(&self, point: &CutPoint) -> Result<Schedule, WhyNot> {
        let alone = self.with_middle(point, Middle::Alone);
        match &alone {
            Ok(schedule) if schedule.ends == Ends::AtSecond => alone,
            _ => match self.with_middle(point, Middle::Together) {
                Ok(schedule) if alone.is_err() || schedule.ends == Ends::AtSecond => Ok(schedule),
                _ => alone,
            },
        }
    }

    /// A schedule whose region II is made in this way.
    ///
    /// # Errors
    /// Why there is none.
    pub fn with_middle(&self, point: &CutPoint, middle: Middle) -> Result<Schedule, WhyNot> {
        let (events, regions, ends) = self.whole(point, middle)?;
        let fewer = self.switches.save(self.trace, &events);
        let before = switches::count(self.trace, &events);
        let after = switches::count(self.trace, &fewer);
        let events = if after < before && self.is_prefix(&fewer).is_ok() { fewer } else { events };
        self.is_prefix(&events)?;
        let switches = [before, after.min(before)];
        Ok(Schedule { events, ends, regions, switches, middle })
    }

    fn is_prefix(&self, events: &[EventId]) -> Result<(), WhyNot> {
        let run = self.semantics.run(events, |_, _| {});
        run.map(drop).map_err(|bad| WhyNot::Refused(bad.to_string()))
    }

    /// The three regions, the remote access, and the way to the second one.
    fn whole(&self, point: &CutPoint, middle: Middle) -> Result<(Vec<EventId>, [usize; 2], Ends), WhyNot> {
        let [local, remote] = point.threads;
        let (remote_from, remote_to) = self.trace_index.step(self.trace, point.triple.remote);
        let until = |event: EventId| self.trace_index.position(event) + 1;
        let cut = [(local, until(point.stop)), (remote, until(remote_from) - 1)];
        let free = cut.map(|(thread, events)| self.unlocked_until(thread, events));
        let mut weaver = Weaver::new(self.trace, &self.semantics, &self.trace_index, &self.log);
        cut.iter().for_each(|(thread, events)| weaver.limit(*thread, *events));

        let [early, late] = self.by_time([local, remote], free);
        weaver.follow(self.region_one((early.0, early.1), (late.0, late.1)));
        let first = weaver.len();
        if middle == Middle::Together {
            weaver.follow_until((early.0, early.1), (late.0, late.1));
        }
        weaver.advance(early.0, early.1)?;
        weaver.advance(late.0, late.1)?;
        let second = weaver.len();

        let guards = self.guards(cut, free);
        weaver.guard(guards);
        weaver.advance(local, cut[0].1)?;
        weaver.advance(remote, cut[1].1)?;
        weaver.guard(Vec::new());
        weaver.limit(remote, until(remote_to));
        weaver.advance(remote, until(remote_to))?;

        weaver.limit(remote, usize::MAX);
        weaver.limit(local, until(point.triple.second));
        let interrupted = weaver.len();
        let ends = match self.go_on(&mut weaver, point) {
            Ok(()) => Ends::AtSecond,
            Err(_) => {
                weaver.cut_to(interrupted);
                Ends::AtRemote
            }
        };
        Ok((weaver.into_events(), [first, second], ends))
    }

    /// From the remote access to the second one: first the remote thread gives back what the other needs.
    fn go_on(&self, weaver: &mut Weaver<'_, 't>, point: &CutPoint) -> Result<(), WhyNot> {
        let [local, remote] = point.threads;
        if let Some(release) = self.needed_release(point) {
            weaver.advance(remote, self.trace_index.position(release) + 1)?;
        }
        weaver.advance(local, self.trace_index.position(point.triple.second) + 1)
    }

    /// How many of a thread's first `events` there are up to where it last holds no lock.
    fn unlocked_until(&self, thread: ThreadId, events: usize) -> usize {
        let own = &self.trace_index.threads[thread.index()];
        let Some(last) = events.checked_sub(1).map(|last| own[last]) else { return 0 };
        self.log.last_take_from_nothing(thread, last).map_or(events, |take| self.trace_index.position(take))
    }

    /// The two threads with their points without locks, the earlier point first.
    fn by_time(&self, threads: [ThreadId; 2], free: [usize; 2]) -> [(ThreadId, usize); 2] {
        let [one, other] = [(threads[0], free[0]), (threads[1], free[1])];
        if self.last_of(one) <= self.last_of(other) { [one, other] } else { [other, one] }
    }

    /// The last of so many events of a thread.
    fn last_of(&self, (thread, events): (ThreadId, usize)) -> Option<EventId> {
        events.checked_sub(1).map(|last| self.trace_index.threads[thread.index()][last])
    }
}

/// A schedule for one cut-point; [`Synthesizer`] where there are many.
///
/// # Errors
/// Why there is none.
pub fn synthesize(trace: &Trace, observed: &Observed, point: &CutPoint) -> Result<Schedule, WhyNot> {
    Synthesizer::new(trace, observed).synthesize(point)
}

impl Synthesizer<'_> {
    /// Which takes wait for the other thread: it must have given a lock back for the last time before its cut-point when the
    /// thread takes it for the rest of the way to its own.
    ///
    /// (The paper's text orders the last release of the lock that is held; the lock that is given back must be meant.)
    fn guards(&self, cut: [(ThreadId, usize); 2], free: [usize; 2]) -> Vec<Guard> {
        let [one, other] = [0, 1].map(|which| self.range(cut[which], free[which]));
        let mut guards = one.guards_against(&other, &self.trace_index);
        guards.extend(other.guards_against(&one, &self.trace_index));
        guards
    }

    fn range(&self, (thread, to): (ThreadId, usize), from: usize) -> Stretch<'_> {
        let own = &self.trace_index.threads[thread.index()];
        let first = from.checked_sub(1).map(|last| own[last]);
        let last = to.checked_sub(1).map(|last| own[last]);
        Stretch { thread, entries: self.log.within(thread, first, last) }
    }

    /// The release with which the remote thread has given back, after its access, all that the other needs before its second one.
    fn needed_release(&self, point: &CutPoint) -> Option<EventId> {
        let [local, remote] = point.threads;
        let needed = self.log.taken_between(local, point.stop, point.triple.second);
        let (held, _) = self.log.states_at(remote, point.triple.remote);
        let releases = self.log.releases_after(remote, point.triple.remote, self.states.get(held)).into_iter();
        let needed = releases.filter(|(_, given)| needed.iter().any(|taken| taken.excludes(*given)));
        needed.map(|(event, _)| event).max()
    }
}

/// The changes of a thread's locks from its last point without locks to its cut-point.
struct Stretch<'l> {
    thread: ThreadId,
    entries: &'l [crate::lock_log::Entry],
}

impl Stretch<'_> {
    fn guards_against(&self, other: &Stretch<'_>, trace_index: &TraceIndex) -> Vec<Guard> {
        let mut guards = Vec::new();
        for (taken, event) in LockLog::held_at_end(self.entries) {
            let last = LockLog::last_release(other.entries, taken);
            guards.extend(
                last.map(|release| Guard { take: event, needs: (other.thread, trace_index.position(release) + 1) }),
            );
        }
        guards
    }
}

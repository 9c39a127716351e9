//! Fewer context switches: what does not interfere with other threads changes places.
//!
//! Source: Sorrentino, Farzan, Madhusudan, *PENELOPE*, FSE 2010, section 4.2.3. Escape analysis: an event that touches nothing
//! another thread touches waits until its thread's next event that does. Blocks of reads: between two events that change
//! something shared, each thread reads in one go.

use crate::lock_log::LockLog;
use foretrace_trace::{EventId, Op, SyncId, ThreadId, Trace};

/// How an event may interfere with other threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reach {
    /// Not at all.
    Own,
    /// With those that write what it reads.
    Reads,
    /// With any.
    Shared,
}

/// What each event of a trace is to the others.
pub(super) struct Switches(Vec<Reach>);

impl Switches {
    pub fn new(trace: &Trace, is_shared: &[bool], log: &LockLog) -> Switches {
        let is_contended = contended(trace, log);
        let mut reaches: Vec<Reach> =
            trace.events.iter().map(|event| reach(&event.op, is_shared, &is_contended)).collect();
        // The parts of one step stay together: what one of them is, all are.
        let mut start = vec![0; trace.threads.len()];
        for (index, event) in trace.events.iter().enumerate() {
            match event.part {
                Some((1, _)) => start[event.thread.index()] = index,
                Some(_) => reaches[start[event.thread.index()]..=index].fill(Reach::Shared),
                None => {}
            }
        }
        for event in trace.events.iter().enumerate().filter(|(_, event)| event.part.is_some()) {
            reaches[event.0] = Reach::Shared;
        }
        Switches(reaches)
    }

    /// The same events with fewer switches, if there is such an order near this one.
    pub fn save(&self, trace: &Trace, events: &[EventId]) -> Vec<EventId> {
        let later = self.with_own_events_late(trace, events);
        self.with_reads_together(trace, &later)
    }

    /// Each thread's own events right before its next one that others may notice; those after its last such event right after that.
    fn with_own_events_late(&self, trace: &Trace, events: &[EventId]) -> Vec<EventId> {
        let thread = |event: &EventId| trace.event(*event).thread.index();
        let is_own = |event: &EventId| self.0[event.index()] == Reach::Own;
        let mut last: Vec<Option<EventId>> = vec![None; trace.threads.len()];
        events.iter().filter(|event| !is_own(event)).for_each(|event| last[thread(event)] = Some(*event));
        let mut tails: Vec<Vec<EventId>> = vec![Vec::new(); trace.threads.len()];
        for event in events.iter().filter(|event| last[thread(event)].is_none_or(|last| **event > last)) {
            tails[thread(event)].push(*event);
        }
        let mut kept: Vec<Vec<EventId>> = vec![Vec::new(); trace.threads.len()];
        let mut out = Vec::with_capacity(events.len());
        for event in events {
            let own = thread(event);
            match last[own] {
                Some(last) if *event > last => {}
                Some(last) => {
                    kept[own].push(*event);
                    if !is_own(event) {
                        out.append(&mut kept[own]);
                    }
                    if *event == last {
                        out.append(&mut tails[own]);
                    }
                }
                None => out.append(&mut tails[own]),
            }
        }
        out
    }

    /// In each stretch without a change of anything shared, one thread after the other.
    fn with_reads_together(&self, trace: &Trace, events: &[EventId]) -> Vec<EventId> {
        let thread = |event: &EventId| trace.event(*event).thread;
        let mut out: Vec<EventId> = Vec::with_capacity(events.len());
        let mut at = 0;
        while at < events.len() {
            let quiet = events[at..].iter().take_while(|event| self.0[event.index()] != Reach::Shared).count();
            let next = events.get(at + quiet);
            let (before, after) = (out.last().map(thread), next.map(thread));
            let mut stretch = events[at..at + quiet].to_vec();
            if after.is_some() {
                let rank = order_of_threads(&stretch, thread, before, after);
                stretch.sort_by_key(|event| rank.iter().position(|other| *other == thread(event)));
            }
            out.extend(stretch);
            out.extend(next);
            at += quiet + 1;
        }
        out
    }
}

/// The threads of a stretch: the one that ran before it first, the one that runs after it last.
fn order_of_threads(
    stretch: &[EventId],
    thread: impl Fn(&EventId) -> ThreadId,
    before: Option<ThreadId>,
    after: Option<ThreadId>,
) -> Vec<ThreadId> {
    let mut threads: Vec<ThreadId> = Vec::new();
    for event in stretch {
        let own = thread(event);
        if !threads.contains(&own) {
            threads.push(own);
        }
    }
    let place = |thread: &ThreadId| match () {
        () if Some(*thread) == before => 0,
        () if Some(*thread) == after => 2,
        () => 1,
    };
    threads.sort_by_key(place);
    threads
}

/// How often another thread goes on than before.
pub(super) fn count(trace: &Trace, events: &[EventId]) -> usize {
    events.windows(2).filter(|pair| trace.event(pair[0]).thread != trace.event(pair[1]).thread).count()
}

/// Per synchronisation object, whether two threads use it.
fn contended(trace: &Trace, log: &LockLog) -> Vec<bool> {
    let mut users: Vec<Option<ThreadId>> = vec![None; trace.syncs.len()];
    let mut is_contended = vec![false; trace.syncs.len()];
    for thread in (0..trace.threads.len()).map(ThreadId::from_index) {
        for entry in log.of_thread(thread) {
            let lock = entry.change.taken().lock;
            let user = users[lock.index()].get_or_insert(thread);
            is_contended[lock.index()] |= *user != thread;
        }
    }
    for event in &trace.events {
        if let Op::Busy { lock } = event.op {
            is_contended[lock.index()] = true;
        }
    }
    is_contended
}

fn reach(op: &Op, is_shared: &[bool], is_contended: &[bool]) -> Reach {
    let of_lock = |lock: SyncId| if is_contended[lock.index()] { Reach::Shared } else { Reach::Own };
    match *op {
        Op::Read { var, .. } | Op::Write { var, .. } | Op::Rmw { var, .. } if !is_shared[var.index()] => Reach::Own,
        Op::Read { .. } => Reach::Reads,
        Op::Begin { .. } | Op::End { .. } | Op::Let { .. } | Op::Assume { .. } => Reach::Own,
        Op::Acquire { lock } | Op::Release { lock } | Op::AcquireShared { lock } | Op::ReleaseShared { lock } => {
            of_lock(lock)
        }
        _ => Reach::Shared,
    }
}

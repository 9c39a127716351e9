//! Searches for schedules by which thread signals which, for models in which values do not count.
//!
//! A *stretch* leads a thread from one point without a lock to the next such point. A thread can finish a stretch whatever the others
//! do, as long as they stand at such points. So the search moves threads by stretches. It branches over the order of the stretches that
//! signal, and over the thread that each signal releases. It takes all other stretches as soon as they can be taken.
//!
//! It first goes where no thread loses a signal that it needs ([`WakeSearch::targets`]). It proves nothing: its schedule may fail for
//! another reason, and it gives up after a bounded number of steps.

use super::locksets::Locksets;
use foretrace_index::{TraceIndex, Waiting};
use foretrace_trace::{EventId, Op, SyncId, ThreadId, Trace};
use rustc_hash::FxHashMap;

mod search;
mod targets;
#[cfg(test)]
mod tests;

/// The stretches that a trace's threads go by.
#[derive(Debug)]
pub(super) struct WakeSearch {
    threads: Vec<Vec<Stretch>>,
    /// Per thread: the thread and the stretch that start it.
    starts: Vec<Option<(usize, usize)>>,
    /// Per condition variable, thread, and number of its stretches: what they have of it.
    sums: Vec<Vec<Vec<Sum>>>,
}

/// A stretch of a thread's events, from the end of the one before it.
#[derive(Debug)]
struct Stretch {
    /// How many events the thread has done after it.
    to: u32,
    acts: Vec<Act>,
}

/// What concerns other threads. Condition variables are numbers of those that somebody waits on for a signal.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// The last of its stretch.
    Wait {
        cond: usize,
    },
    /// The first of its stretch.
    Wake {
        cond: usize,
        needs_signal: bool,
    },
    Signal {
        cond: usize,
        event: EventId,
    },
    Broadcast {
        cond: usize,
    },
    Fork {
        child: usize,
    },
    Join {
        child: usize,
    },
}

/// How much of a condition variable.
#[derive(Clone, Copy, Default, Debug)]
struct Sum {
    /// Wakes that need a signal.
    wakes: u32,
    /// Signals; a broadcast counts once.
    signals: u32,
}

/// So many events of a thread, and how many of its stretches they hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ThreadPoint {
    events: u32,
    stretches: usize,
}

/// A candidate, by places at which its threads hold no lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal {
    local: usize,
    remote: usize,
    after_first: ThreadPoint,
    before_remote: ThreadPoint,
    after_remote: ThreadPoint,
    before_second: ThreadPoint,
    /// The condition variable of a wake between the last place and second.
    last_wake: Option<usize>,
}

/// A thread goes on until it has done so many events.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Leg {
    pub(super) thread: ThreadId,
    pub(super) to: u32,
    /// Whom its signals release, where somebody waits.
    pub(super) releases: Vec<(EventId, ThreadId)>,
}

impl Stretch {
    /// The condition variable of which it needs a signal before it starts.
    fn needs_signal(&self) -> Option<usize> {
        match self.acts.first() {
            Some(Act::Wake { cond, needs_signal: true }) => Some(*cond),
            _ => None,
        }
    }

    /// The condition variable on which its thread waits after it.
    fn waits_on(&self) -> Option<usize> {
        match self.acts.last() {
            Some(Act::Wait { cond }) => Some(*cond),
            _ => None,
        }
    }
}

impl WakeSearch {
    /// Cuts a trace's threads into stretches; nothing where no thread waits for a signal, or where there is too much of them.
    pub(super) fn new(trace: &Trace, trace_index: &TraceIndex, locksets: &Locksets) -> Option<WakeSearch> {
        let acts = Acts::new(trace, trace_index);
        let threads: Vec<Vec<Stretch>> = (0..trace.threads.len())
            .map(|thread| stretches(&trace_index.threads[thread], &acts, |at| locksets.unlocked_after(thread, at)))
            .collect();
        let fits = threads.len() <= u64::BITS as usize && threads.iter().all(|own| own.len() < usize::from(u16::MAX));
        if acts.conds.is_empty() || !fits {
            return None;
        }
        let mut starts = vec![None; threads.len()];
        for (thread, own) in threads.iter().enumerate() {
            for (number, act) in
                own.iter().enumerate().flat_map(|(number, one)| one.acts.iter().map(move |act| (number, act)))
            {
                if let Act::Fork { child } = act {
                    starts[*child] = Some((thread, number));
                }
            }
        }
        let sums = (0..acts.conds.len()).map(|cond| threads.iter().map(|own| sums(own, cond)).collect()).collect();
        Some(WakeSearch { threads, starts, sums })
    }

    /// The places of a candidate, where there are some; `upto` is a later access of remote's thread that is to come before second,
    /// too, if it can.
    pub(super) fn goal(
        &self,
        trace: &Trace,
        trace_index: &TraceIndex,
        locksets: &Locksets,
        [first, remote, upto, second]: [EventId; 4],
    ) -> Option<Goal> {
        let position = |event: EventId| trace_index.position[event.index()];
        let [local, other] = [first, remote].map(|event| trace.event(event).thread.index());
        let before = |thread, event| locksets.unlocked_before(thread, position(event)).unwrap_or(0);
        let after = |thread, event| Some(self.place(thread, locksets.unlocked_after(thread, position(event))?));
        let after_first = after(local, first)?;
        let before_second = self.place(local, before(local, second));
        if after_first.events > before_second.events {
            return None;
        }
        let next = self.threads[local].get(before_second.stretches);
        let last_wake = next.filter(|_| before_second.events < position(second)).and_then(Stretch::needs_signal);
        let before_remote = self.place(other, before(other, remote));
        let after_remote = self.before_next_wake(other, after(other, remote)?, after(other, upto)?);
        Some(Goal { local, remote: other, after_first, before_remote, after_remote, before_second, last_wake })
    }

    fn place(&self, thread: usize, events: u32) -> ThreadPoint {
        ThreadPoint { events, stretches: self.threads[thread].partition_point(|stretch| stretch.to <= events) }
    }

    /// How far a thread gets from a place on, up to another, before it needs a signal.
    fn before_next_wake(&self, thread: usize, from: ThreadPoint, upto: ThreadPoint) -> ThreadPoint {
        let between = from.stretches..upto.stretches.max(from.stretches);
        match self.threads[thread][between].iter().position(|stretch| stretch.needs_signal().is_some()) {
            Some(0) => from,
            Some(more) => self.place(thread, self.threads[thread][from.stretches + more - 1].to),
            None => upto,
        }
    }
}

/// What the events of a trace do that concerns other threads.
struct Acts<'a> {
    trace: &'a Trace,
    /// The condition variables on which somebody waits for a signal, by object.
    conds: FxHashMap<usize, usize>,
    /// The wakes without one.
    unsignalled: Vec<EventId>,
}

impl<'a> Acts<'a> {
    fn new(trace: &'a Trace, trace_index: &TraceIndex) -> Acts<'a> {
        let (signalled, others): (Vec<&Waiting>, Vec<&Waiting>) =
            trace_index.waitings.iter().partition(|waiting| waiting.needs_signal);
        let mut conds = FxHashMap::default();
        for waiting in signalled {
            let new = conds.len();
            conds.entry(waiting.cond.index()).or_insert(new);
        }
        Acts { trace, conds, unsignalled: others.into_iter().map(|waiting| waiting.wake).collect() }
    }

    fn act_of(&self, event: EventId) -> Option<Act> {
        let cond = |cond: SyncId| self.conds.get(&cond.index()).copied();
        match self.trace.event(event).op {
            Op::Wait { cond: of, .. } => Some(Act::Wait { cond: cond(of)? }),
            Op::Wake { cond: of, .. } => {
                let needs_signal = self.unsignalled.binary_search(&event).is_err();
                Some(Act::Wake { cond: cond(of)?, needs_signal })
            }
            Op::Signal { cond: of } => Some(Act::Signal { cond: cond(of)?, event }),
            Op::Broadcast { cond: of } => Some(Act::Broadcast { cond: cond(of)? }),
            Op::Fork { child } => Some(Act::Fork { child: child.index() }),
            Op::Join { child } => Some(Act::Join { child: child.index() }),
            _ => None,
        }
    }
}

/// Cuts a thread's events; `unlocked_after` tells when it holds no lock again.
fn stretches(own: &[EventId], acts: &Acts<'_>, unlocked_after: impl Fn(u32) -> Option<u32>) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    for (position, event) in (0..).zip(own) {
        let Some(act) = acts.act_of(*event) else { continue };
        let to = match act {
            Act::Wait { .. } => position + 1, // what it gives back is not held
            _ => unlocked_after(position).unwrap_or(own.len() as u32),
        };
        match stretches.last_mut().filter(|last| position < last.to) {
            Some(last) => {
                last.to = to;
                last.acts.push(act);
            }
            None => stretches.push(Stretch { to, acts: vec![act] }),
        }
    }
    stretches
}

/// What a thread's first stretches have of a condition variable, for each number of them.
fn sums(own: &[Stretch], of: usize) -> Vec<Sum> {
    let mut sum = Sum::default();
    let mut sums = vec![sum];
    for stretch in own {
        for act in &stretch.acts {
            match act {
                Act::Wake { cond, needs_signal: true } if *cond == of => sum.wakes += 1,
                Act::Signal { cond, .. } | Act::Broadcast { cond } if *cond == of => sum.signals += 1,
                _ => {}
            }
        }
        sums.push(sum);
    }
    sums
}

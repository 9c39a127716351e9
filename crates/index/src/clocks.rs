//! Must-happen-before by vector clocks: orders that hold in every prefix of every model.
//!
//! Source: the vectors of TAS, section II.B, without read-after-write edges. Edges are program order, fork to child, child to join, every
//! arrive of a round to its departs, an initialisation's end to the threads that pass it, and a signal to a wake that no other signal can
//! cause.

use crate::trace_index::TraceIndex;
use foretrace_trace::{EventId, Trace};
use rustc_hash::FxHashMap;

/// Answers whether an event stands before another in every prefix that holds the latter.
///
/// A clock row is kept only where a thread learns something of another, so memory grows with those points times the
/// number of threads, not with events times threads.
#[derive(Clone, Debug)]
pub struct MustHappenBefore {
    rows: Vec<Box<[u32]>>,
    row_of: Vec<u32>,
    /// Per thread: from which of its positions on which row holds.
    changes: Vec<Vec<(u32, u32)>>,
    /// Per thread: how many events it has.
    lengths: Vec<u32>,
    thread_of: Vec<u32>,
    position: Vec<u32>,
}

impl MustHappenBefore {
    /// The orders of a valid trace.
    pub fn new(trace: &Trace, trace_index: &TraceIndex) -> MustHappenBefore {
        MustHappenBefore::with_edges(trace, trace_index, &[])
    }

    /// The orders that hold whatever events come after the trace, and `extra` ones: no order by a signal, since another one
    /// may come.
    pub fn lasting(trace: &Trace, trace_index: &TraceIndex, extra: &[(EventId, EventId)]) -> MustHappenBefore {
        let mut incoming = sources(trace, trace_index);
        for (from, to) in extra {
            incoming.entry(*to).or_default().push(*from);
        }
        MustHappenBefore::from_edges(trace, trace_index, &incoming)
    }

    /// Only the orders of threads: for whoever must name the reason of every other order.
    pub fn of_threads(trace: &Trace, trace_index: &TraceIndex) -> MustHappenBefore {
        MustHappenBefore::from_edges(trace, trace_index, &Incoming::default())
    }

    /// The same orders and `extra` ones: pairs of events (earlier, later) that hold in every prefix with the later, each
    /// also an order of the trace.
    pub fn with_edges(trace: &Trace, trace_index: &TraceIndex, extra: &[(EventId, EventId)]) -> MustHappenBefore {
        let mut incoming = sources(trace, trace_index);
        let first = MustHappenBefore::from_edges(trace, trace_index, &incoming);
        let signals = only_signals(trace, trace_index, &first);
        if signals.is_empty() && extra.is_empty() {
            return first;
        }
        for (from, to) in signals.iter().chain(extra) {
            incoming.entry(*to).or_default().push(*from);
        }
        MustHappenBefore::from_edges(trace, trace_index, &incoming)
    }

    /// The same orders of a trace with one more thread, whose events come after all others there and have no order with them.
    pub fn beside(&self, events: usize) -> MustHappenBefore {
        let mut beside = self.clone();
        let thread = beside.lengths.len() as u32;
        beside.rows = beside.rows.into_iter().map(|row| row.iter().copied().chain([0]).collect()).collect();
        beside.row_of.extend(std::iter::repeat_n(0, events));
        beside.changes.push(Vec::new());
        beside.lengths.push(events as u32);
        beside.thread_of.extend(std::iter::repeat_n(thread, events));
        beside.position.extend(0..events as u32);
        beside
    }

    /// Whether `a` comes before `b` in every prefix that holds `b`.
    pub fn before(&self, a: EventId, b: EventId) -> bool {
        let (thread, position) = (self.thread_of[a.index()], self.position[a.index()]);
        if thread == self.thread_of[b.index()] {
            return position < self.position[b.index()];
        }
        self.seen(b, thread as usize) > position
    }

    /// How many events of `thread` (an index) come before `event` in every prefix that holds `event`.
    pub fn seen(&self, event: EventId, thread: usize) -> u32 {
        if self.thread_of[event.index()] as usize == thread {
            return self.position[event.index()];
        }
        self.rows[self.row_of[event.index()] as usize][thread]
    }

    /// Which row of clocks an event has: events of a thread with the same one know the same of other threads.
    pub fn row(&self, event: EventId) -> u32 {
        self.row_of[event.index()]
    }

    /// The position of the first event of `thread` (an index) that every prefix has after `event`; how many events the
    /// thread has, where there is none.
    pub fn first_after(&self, event: EventId, thread: usize) -> u32 {
        let (own, position) = (self.thread_of[event.index()] as usize, self.position[event.index()]);
        if own == thread {
            return position + 1;
        }
        let changes = &self.changes[thread];
        let after = changes.partition_point(|(_, row)| self.rows[*row as usize][own] <= position);
        changes.get(after).map_or(self.lengths[thread], |(from, _)| *from)
    }

    /// What an event's thread learns of others right before it: of each that it learns more of, how many events come before.
    pub fn learned(&self, event: EventId) -> impl Iterator<Item = (usize, u32)> + '_ {
        let (own, position) = (self.thread_of[event.index()] as usize, self.position[event.index()]);
        let changes = &self.changes[own];
        let at = changes.binary_search_by_key(&position, |(from, _)| *from).ok();
        let rows = at.map(|at| (at.checked_sub(1).map_or(0, |before| changes[before].1), changes[at].1));
        rows.into_iter().flat_map(move |(before, after)| {
            let (before, after) = (&self.rows[before as usize], &self.rows[after as usize]);
            let more = before.iter().zip(after).enumerate().filter(|(_, (before, after))| before < after);
            more.map(|(thread, (_, events))| (thread, *events)).filter(move |(thread, _)| *thread != own)
        })
    }

    fn from_edges(trace: &Trace, trace_index: &TraceIndex, incoming: &Incoming) -> MustHappenBefore {
        let threads = trace.threads.len();
        let mut clocks = MustHappenBefore {
            rows: vec![vec![0; threads].into_boxed_slice()],
            row_of: Vec::with_capacity(trace.events.len()),
            changes: vec![Vec::new(); threads],
            lengths: trace_index.threads.iter().map(|own| own.len() as u32).collect(),
            thread_of: trace.events.iter().map(|e| e.thread.0).collect(),
            position: trace_index.position.clone(),
        };
        let mut current = vec![0u32; threads]; // per thread: its row
        for (id, event) in trace.iter() {
            let thread = event.thread.index();
            if let Some(sources) = incoming.get(&id)
                && let Some(row) = clocks.joined(current[thread], thread, sources)
            {
                current[thread] = clocks.rows.len() as u32;
                clocks.changes[thread].push((clocks.position[id.index()], current[thread]));
                clocks.rows.push(row);
            }
            clocks.row_of.push(current[thread]);
        }
        clocks
    }

    /// The row with what `sources` know added, where that is more.
    fn joined(&self, row: u32, own: usize, sources: &[EventId]) -> Option<Box<[u32]>> {
        let mut joined: Option<Box<[u32]>> = None;
        for source in sources {
            let thread = self.thread_of[source.index()] as usize;
            if thread == own {
                continue;
            }
            let known = &self.rows[self.row_of[source.index()] as usize];
            let target = joined.get_or_insert_with(|| self.rows[row as usize].clone());
            for (slot, other) in target.iter_mut().zip(known.iter()) {
                *slot = (*slot).max(*other);
            }
            target[thread] = target[thread].max(self.position[source.index()] + 1);
        }
        joined.filter(|joined| **joined != *self.rows[row as usize])
    }
}

/// Per event, where there are any: events of other threads that come before it.
type Incoming = FxHashMap<EventId, Vec<EventId>>;

/// The orders by fork, join, barriers and initialisations.
fn sources(trace: &Trace, trace_index: &TraceIndex) -> Incoming {
    let mut sources = Incoming::default();
    for (thread, fork) in trace_index.fork.iter().enumerate() {
        if let (Some(fork), Some(first)) = (fork, trace_index.threads[thread].first()) {
            sources.entry(*first).or_default().push(*fork);
        }
    }
    for (id, _) in trace.iter() {
        let before = trace_index.waits_for(trace, id);
        if !before.is_empty() {
            sources.entry(id).or_default().extend(before);
        }
    }
    sources
}

/// Signals that are the only ones to cause some wake, with that wake.
fn only_signals(trace: &Trace, trace_index: &TraceIndex, clocks: &MustHappenBefore) -> Vec<(EventId, EventId)> {
    let mut edges = Vec::new();
    for waiting in trace_index.waitings.iter().filter(|w| w.needs_signal) {
        let thread = trace.event(waiting.wake).thread;
        let mut possible = trace_index.signals[waiting.cond.index()].iter().filter(|signal| {
            trace.event(**signal).thread != thread
                && !clocks.before(**signal, waiting.wait)
                && !clocks.before(waiting.wake, **signal)
        });
        if let (Some(signal), None) = (possible.next(), possible.next()) {
            edges.push((*signal, waiting.wake));
        }
    }
    edges
}

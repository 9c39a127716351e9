//! The signals of wakes: each wake needs one signal that comes after its wait and serves no other wake.
//!
//! A broadcast counts for each thread that could wait. Three rules, from one wake to all together:
//! - A wake needs a signal of another thread since its wait, and so did each wake of its thread before it.
//! - If n wakes come before a wake, at least n signals come before it.
//! - The threads that give these signals must themselves be woken before, by signals of another condition variable. Every prefix has at
//!   least the wakes that the cheapest way to share the signals out needs.
//!
//! A thread that signals while it holds the waiters' lock wakes no thread before it releases that lock.

use super::enabling_sets::{Edges, add_enabling_orders};
use super::regions::{RegionsByThread, region_around};
use foretrace_index::{MustHappenBefore, TraceIndex, Waiting};
use foretrace_trace::{EventId, Op, SyncId, Trace};
use std::collections::BTreeMap;

/// Steps of one rule for one condition variable beyond which it is left out.
const MOST_STEPS: usize = 1 << 20;

/// The condition variables of a trace on which threads wait.
pub struct Signals<'a> {
    trace: &'a Trace,
    trace_index: &'a TraceIndex,
    conds: Vec<Cond>,
}

/// One of them.
struct Cond {
    /// What needs a signal.
    waitings: Vec<Waiting>,
    /// Its signals, and each broadcast as often as it counts.
    tokens: Vec<Token>,
}

/// A signal that wakes one thread.
#[derive(Clone, Copy)]
struct Token {
    signal: EventId,
    /// What of its thread comes before the wake: the signal, or the end of its critical section.
    ready: EventId,
}

impl<'a> Signals<'a> {
    /// Those of a valid trace with these regions.
    pub fn new(trace: &'a Trace, trace_index: &'a TraceIndex, regions: &RegionsByThread) -> Signals<'a> {
        let mut by_cond: BTreeMap<usize, Vec<Waiting>> = BTreeMap::new();
        for waiting in trace_index.waitings.iter().filter(|waiting| waiting.needs_signal) {
            by_cond.entry(waiting.cond.index()).or_default().push(*waiting);
        }
        let cond = |(cond, waitings): (usize, Vec<Waiting>)| {
            let mut threads: Vec<_> = waitings.iter().map(|waiting| trace.event(waiting.wake).thread).collect();
            threads.sort_unstable();
            threads.dedup();
            let worth = |signal: &EventId| match trace.event(*signal).op {
                Op::Broadcast { .. } => threads.len(),
                _ => 1,
            };
            let lock = lock_of_all(trace, &waitings);
            let tokens = trace_index.signals[cond].iter().flat_map(|signal| {
                let ready = ready(trace, regions, *signal, lock);
                std::iter::repeat_n(ready.map(|ready| Token { signal: *signal, ready }), worth(signal)).flatten()
            });
            Cond { tokens: tokens.collect(), waitings }
        };
        Signals { trace, trace_index, conds: by_cond.into_iter().map(cond).collect() }
    }

    /// The orders that follow from orders that hold already.
    pub fn orders(&self, clocks: &MustHappenBefore, edges: &mut Edges) {
        let wakes: usize = self.conds.iter().map(|cond| cond.waitings.len()).sum();
        for cond in &self.conds {
            let pairs = wakes.saturating_mul(cond.waitings.len() + cond.tokens.len());
            if pairs <= MOST_STEPS {
                self.of_each(cond, clocks, edges);
                self.of_all(cond, clocks, edges);
                if pairs.saturating_mul(cond.waitings.len()) <= MOST_STEPS {
                    self.of_signallers(cond, clocks, edges);
                }
            }
        }
    }

    /// A wake needs a signal since its wait, and its thread as many as it had wakes.
    fn of_each(&self, cond: &Cond, clocks: &MustHappenBefore, edges: &mut Edges) {
        let view = (self.trace, self.trace_index, clocks);
        let mut finished = vec![0; self.trace.threads.len()];
        for Waiting { wait, wake, .. } in &cond.waitings {
            let thread = self.trace.event(*wake).thread;
            finished[thread.index()] += 1;
            let mut possible = self.possible(cond, *wake, clocks);
            possible.retain(|token| self.trace.event(token.signal).thread != thread);
            possible.dedup_by_key(|token| token.signal); // a broadcast counts once for a thread
            add_enabling_orders(view, &ready_of(&possible), finished[thread.index()], *wake, edges);
            possible.retain(|token| !clocks.before(token.signal, *wait));
            add_enabling_orders(view, &ready_of(&possible), 1, *wake, edges);
        }
    }

    /// As many signals as wakes.
    fn of_all(&self, cond: &Cond, clocks: &MustHappenBefore, edges: &mut Edges) {
        for waker in self.conds.iter().flat_map(|cond| &cond.waitings) {
            let count = cond.up_to(waker.wake, clocks);
            let possible = self.possible(cond, waker.wake, clocks);
            add_enabling_orders((self.trace, self.trace_index, clocks), &ready_of(&possible), count, waker.wake, edges);
        }
    }

    /// As many signals of other condition variables as the signallers need together.
    fn of_signallers(&self, cond: &Cond, clocks: &MustHappenBefore, edges: &mut Edges) {
        for wake in cond.waitings.iter().map(|waiting| waiting.wake) {
            let count = cond.up_to(wake, clocks);
            let possible = ready_of(&self.possible(cond, wake, clocks));
            for other in self.conds.iter().filter(|other| !std::ptr::eq(*other, cond)) {
                let Some(needed) = self.needed_of(other, &possible, count, wake, clocks) else { continue };
                let possible = ready_of(&self.possible(other, wake, clocks));
                add_enabling_orders((self.trace, self.trace_index, clocks), &possible, needed, wake, edges);
            }
        }
    }

    /// How many wakes on `other` come before `wake` at the least, whichever `count` of the signals do.
    fn needed_of(
        &self,
        other: &Cond,
        signals: &[EventId],
        count: usize,
        wake: EventId,
        clocks: &MustHappenBefore,
    ) -> Option<usize> {
        // The least for each number of signals, from the threads looked at so far.
        let mut least: Vec<Option<usize>> = vec![None; count + 1];
        least[0] = Some(0);
        for thread in 0..self.trace.threads.len() {
            let of_thread = |event: &EventId| self.trace.event(*event).thread.index() == thread;
            let own: Vec<EventId> =
                other.waitings.iter().map(|waiting| waiting.wake).filter(|wake| of_thread(wake)).collect();
            let known = own.iter().filter(|one| **one == wake || clocks.before(**one, wake)).count();
            let woken = |signal: &EventId| known.max(own.partition_point(|one| one < signal));
            let costs: Vec<usize> =
                std::iter::once(known).chain(signals.iter().filter(|one| of_thread(one)).map(woken)).collect();
            if costs.len() == 1 {
                least.iter_mut().flatten().for_each(|sum| *sum += known);
                continue;
            }
            let best = |wanted: usize| {
                let ways = costs
                    .iter()
                    .enumerate()
                    .filter_map(|(given, cost)| least[wanted.saturating_sub(given)].map(|sum| sum + cost));
                ways.min()
            };
            least = (0..=count).map(best).collect();
        }
        least[count]
    }

    /// The signals that do not come too late for the wake in every prefix.
    fn possible(&self, cond: &Cond, wake: EventId, clocks: &MustHappenBefore) -> Vec<Token> {
        cond.tokens.iter().copied().filter(|token| !clocks.before(wake, token.ready)).collect()
    }
}

fn ready_of(tokens: &[Token]) -> Vec<EventId> {
    tokens.iter().map(|token| token.ready).collect()
}

/// The lock that all these wakes take, if it is one.
fn lock_of_all(trace: &Trace, waitings: &[Waiting]) -> Option<SyncId> {
    let lock = |waiting: &Waiting| match trace.event(waiting.wake).op {
        Op::Wake { lock, .. } => Some(lock),
        _ => None,
    };
    let first = lock(waitings.first()?);
    waitings.iter().all(|waiting| lock(waiting) == first).then_some(first?)
}

/// What comes before any wake by this signal; nothing where there is none, as its thread never gives the lock back.
fn ready(trace: &Trace, regions: &RegionsByThread, signal: EventId, lock: Option<SyncId>) -> Option<EventId> {
    let of_thread = lock.and_then(|lock| regions[lock.index()].get(trace.event(signal).thread.index()));
    let around = of_thread.and_then(|regions| region_around(regions, signal));
    around.map_or(Some(signal), |region| region.end)
}

impl Cond {
    /// How many of its wakes come before this one, or are it.
    fn up_to(&self, wake: EventId, clocks: &MustHappenBefore) -> usize {
        self.waitings.iter().filter(|one| one.wake == wake || clocks.before(one.wake, wake)).count()
    }
}

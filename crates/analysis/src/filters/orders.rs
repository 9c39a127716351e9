//! Orders between events that hold in every prefix of a model: the clocks of must-happen-before, closed under what reads,
//! locks and semaphores force.
//!
//! Each rule has the form "in every prefix that holds b, a comes before b". So rules can be applied to each other's results until no
//! order is new. Stopping early loses orders, never soundness.

use super::enabling_sets::{Edges, add_enabling_orders, edge};
use super::forced_reads::{ForcedRead, ReadRule, Reads};
use super::regions::RegionsByThread;
use super::signals::Signals;
use foretrace_index::{MustHappenBefore, Region, TraceIndex};
use foretrace_trace::{EventId, Feasibility, SyncKind, Trace};
use rustc_hash::{FxHashMap, FxHashSet};

/// Times that the rules are applied to each other's results: at least, and at most where the trace is short.
const ROUNDS: (usize, usize) = (6, 64);
/// Events looked at in all rounds beyond the least.
const MOST_EVENTS: usize = 1 << 20;
/// Pairs of downs and posts of one semaphore beyond which its rule is left out.
const MOST_PAIRS: usize = 1 << 20;

/// Orders that hold in every prefix of a model.
#[derive(Debug)]
pub struct Orders {
    /// They, as clocks.
    pub clocks: MustHappenBefore,
    /// Reads with a single source.
    pub reads: Vec<ForcedRead>,
}

impl Orders {
    /// The orders of a model with this rule for reads.
    pub fn new(
        trace: &Trace,
        trace_index: &TraceIndex,
        reads: &Reads<'_>,
        rule: ReadRule,
        feasibility: Feasibility,
    ) -> Orders {
        Orders::within(trace, trace_index, reads, rule, feasibility, &|| true)
    }

    /// The same as long as `go_on` agrees: stopped early it finds fewer.
    pub fn within(
        trace: &Trace,
        trace_index: &TraceIndex,
        reads: &Reads<'_>,
        rule: ReadRule,
        feasibility: Feasibility,
        go_on: &dyn Fn() -> bool,
    ) -> Orders {
        let regions = reads.regions();
        let signals = Signals::new(trace, trace_index, regions);
        let mut orders = Orders { clocks: MustHappenBefore::new(trace, trace_index), reads: Vec::new() };
        let mut edges: Edges = Vec::new();
        let mut known: FxHashSet<(EventId, EventId)> = FxHashSet::default();
        for _ in 0..(MOST_EVENTS / trace.events.len().max(1)).clamp(ROUNDS.0, ROUNDS.1) {
            if !go_on() {
                break;
            }
            let rules = Rules { trace, trace_index, regions, clocks: &orders.clocks, feasibility };
            let forced = reads.forced(rule, &orders.clocks);
            let mut new = forced.edges;
            if go_on() {
                rules.locks(&mut new);
            }
            if go_on() {
                rules.semaphores(&mut new);
            }
            if go_on() {
                signals.orders(&orders.clocks, &mut new);
            }
            if feasibility == Feasibility::Complete {
                rules.reads_of_complete_runs(&forced.reads, &mut new);
            }
            orders.reads = forced.reads;
            // Each is an order of the recorded run, too, since that is a prefix.
            new.retain(|(from, to)| from < to && !orders.clocks.before(*from, *to) && known.insert((*from, *to)));
            if new.is_empty() {
                break;
            }
            edges.extend(new);
            orders.clocks = MustHappenBefore::with_edges(trace, trace_index, &edges);
        }
        orders
    }
}

/// The rules, over the orders found so far.
struct Rules<'a> {
    trace: &'a Trace,
    trace_index: &'a TraceIndex,
    regions: &'a RegionsByThread,
    clocks: &'a MustHappenBefore,
    feasibility: Feasibility,
}

impl Rules<'_> {
    /// Where region A is open before an event b inside of region B of the same lock, A ends before b: the two do not overlap,
    /// and B's end does not come before A's start, since b does not come after B's end.
    fn locks(&self, edges: &mut Edges) {
        for (thread, own) in self.trace_index.threads.iter().enumerate() {
            for by_thread in self.regions.iter().filter(|by_thread| !by_thread.is_empty()) {
                for region in &by_thread[thread] {
                    self.region(own, *region, by_thread, edges);
                }
            }
        }
    }

    fn region(&self, own: &[EventId], region: Region, by_thread: &[Vec<Region>], edges: &mut Edges) {
        let start = self.trace_index.position(region.start);
        let end = region.end.map_or(own.len() - 1, |end| self.trace_index.position(end));
        for (other, regions) in by_thread.iter().enumerate() {
            if regions.is_empty() || other == region.thread.index() {
                continue;
            }
            // With all events in the run, what holds at the region's end holds for its start.
            if self.feasibility == Feasibility::Complete {
                self.end_before(regions, region, other, own[end], region.start, edges);
            }
            let mut position = start;
            while position <= end {
                let event = own[position];
                self.end_before(regions, region, other, event, event, edges);
                let seen = self.clocks.seen(event, other);
                let gains = |e: &EventId| self.clocks.seen(*e, other) <= seen;
                position += own[position..=end].partition_point(gains).max(1);
            }
        }
    }

    /// An edge from the end of the last region of thread `other` that is open before `event`, to `target`.
    fn end_before(
        &self,
        regions: &[Region],
        region: Region,
        other: usize,
        event: EventId,
        target: EventId,
        edges: &mut Edges,
    ) {
        let seen = self.clocks.seen(event, other) as usize;
        let open = regions.partition_point(|r| self.trace_index.position(r.start) < seen);
        let Some(last) = regions[..open].iter().rev().find(|r| r.excludes(&region)) else { return };
        if let Some(end) = last.end
            && !self.clocks.before(end, target)
        {
            edges.extend(edge(self.trace, self.trace_index, end, target));
        }
    }

    /// A down needs one post more than there are downs before it, less the first count.
    fn semaphores(&self, edges: &mut Edges) {
        for (sync, object) in self.trace.syncs.iter().enumerate() {
            let SyncKind::Semaphore { init } = object.kind else { continue };
            if !self.trace_index.regions[sync].is_empty() {
                continue; // it is a lock
            }
            let (posts, downs) = (&self.trace_index.posts[sync], &self.trace_index.downs[sync]);
            let most = downs.len().max(posts.len());
            if downs.len().saturating_mul(most) > MOST_PAIRS {
                continue;
            }
            for down in downs {
                let earlier = downs.iter().filter(|other| self.clocks.before(**other, *down)).count() as u64;
                let possible: Vec<EventId> =
                    posts.iter().copied().filter(|post| !self.clocks.before(*down, *post)).collect();
                let needed = (earlier + 1).saturating_sub(init) as usize;
                add_enabling_orders(self.view(), &possible, needed, *down, edges);
            }
        }
    }

    fn view(&self) -> (&Trace, &TraceIndex, &MustHappenBefore) {
        (self.trace, self.trace_index, self.clocks)
    }

    /// In a run of all events every other write comes before a read's only source or after the read.
    fn reads_of_complete_runs(&self, reads: &[ForcedRead], edges: &mut Edges) {
        let mut writes: FxHashMap<(u32, u32), Vec<EventId>> = FxHashMap::default();
        for (var, all) in self.trace_index.writes.iter().enumerate() {
            for write in all {
                writes.entry((var as u32, self.trace.event(*write).thread.0)).or_default().push(*write);
            }
        }
        for forced in reads {
            let Some(var) = self.trace.event(forced.read).op.var() else { continue };
            for thread in 0..self.trace.threads.len() as u32 {
                let Some(writes) = writes.get(&(var.0, thread)) else { continue };
                self.around(forced, writes, edges);
            }
        }
    }

    /// The same for the writes of one thread.
    fn around(&self, forced: &ForcedRead, writes: &[EventId], edges: &mut Edges) {
        let after_source = match forced.source {
            None => 0,
            Some(source) => writes.partition_point(|write| !self.clocks.before(source, *write)),
        };
        let mut add = |from: EventId, to: EventId| {
            if from != to && !self.clocks.before(from, to) {
                edges.extend(edge(self.trace, self.trace_index, from, to));
            }
        };
        if let Some(next) = writes[after_source..].iter().find(|write| **write != forced.read) {
            add(forced.read, *next);
        }
        let before_read = writes.partition_point(|write| self.clocks.before(*write, forced.read));
        if let (Some(source), Some(last)) = (forced.source, writes[..before_read].last()) {
            add(*last, source);
        }
    }
}

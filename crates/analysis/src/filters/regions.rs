//! Critical sections of each lock, by thread.

use foretrace_index::{Region, TraceIndex};
use foretrace_trace::{EventId, Trace};

/// Regions of each lock by thread, in program order.
pub type RegionsByThread = Vec<Vec<Vec<Region>>>;

/// Per lock and thread (an index): its regions, in program order.
pub fn regions_by_thread(trace: &Trace, trace_index: &TraceIndex) -> RegionsByThread {
    let split = |regions: &Vec<Region>| {
        let mut by_thread = vec![Vec::new(); if regions.is_empty() { 0 } else { trace.threads.len() }];
        for region in regions {
            by_thread[region.thread.index()].push(*region);
        }
        by_thread
    };
    trace_index.regions.iter().map(split).collect()
}

/// The one of these regions, in program order, that an event is in.
pub fn region_around(regions: &[Region], event: EventId) -> Option<Region> {
    let started = regions.partition_point(|region| region.start <= event);
    regions[..started].last().copied().filter(|region| region.end.is_none_or(|end| event <= end))
}

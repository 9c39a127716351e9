//! The shortest violation path of a schedule (section II.D). The checker says whether a schedule holds it.

use crate::accesses::Accesses;
use foretrace_checker::{Link, ViolationPath};
use foretrace_trace::{Block, EventId, Trace};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Where the longest part at the end of a schedule begins that has at most `most` context switches.
fn start_of_few(trace: &Trace, schedule: &[EventId], most: u32) -> usize {
    let switches = |at: &usize| trace.event(schedule[*at - 1]).thread != trace.event(schedule[*at]).thread;
    (1..schedule.len()).rev().filter(switches).nth(most as usize).unwrap_or(0)
}

/// The shortest path of the block in a schedule that comes back at `end`; `begin` is where the block inside begins that
/// holds `end`: the path must start before that, else it is that block's. With a bound, only paths with at most so many context
/// switches between their first and their last access.
pub fn shortest_path(
    trace: &Trace,
    accesses: &Accesses,
    block: &Block,
    begin: Option<EventId>,
    schedule: &[EventId],
    end: EventId,
    most_switches: Option<u32>,
) -> Option<ViolationPath> {
    let to = schedule.iter().position(|event| *event == end)?;
    let schedule = &schedule[most_switches.map_or(0, |most| start_of_few(trace, &schedule[..=to], most))..];
    let to = schedule.iter().position(|event| *event == end)?;
    let starts = |event: EventId| is_own(trace, block, event) && begin.is_none_or(|begin| event < begin);
    let from = schedule.iter().position(|event| accesses.count(*event) && starts(*event))?;
    let window = schedule.get(from..=to)?;
    // What is not reached yet, the latest first; a breadth-first search backwards from the end.
    let mut left: Vec<EventId> = window[..window.len() - 1].iter().rev().copied().collect();
    left.retain(|event| accesses.count(*event) && (starts(*event) || trace.event(*event).thread != block.thread));
    let place: FxHashMap<EventId, usize> = window.iter().enumerate().map(|(at, event)| (*event, at)).collect();
    let mut next: FxHashMap<EventId, (EventId, Link)> = FxHashMap::default();
    let mut queue = VecDeque::from([end]);
    while let Some(event) = queue.pop_front() {
        let mut start = None;
        left.retain(|earlier| {
            let link = Link::between(trace, *earlier, event).filter(|link| event != end || *link != Link::ProgramOrder);
            let link = link.filter(|_| place[earlier] < place[&event]);
            let own = starts(*earlier);
            let Some(link) = link.filter(|_| !(own && event == end)) else { return true };
            next.insert(*earlier, (event, link));
            if own {
                start = start.or(Some(*earlier));
            } else {
                queue.push_back(*earlier);
            }
            false
        });
        if let Some(start) = start {
            return Some(follow(*block, &next, start, end));
        }
    }
    None
}

fn is_own(trace: &Trace, block: &Block, event: EventId) -> bool {
    trace.event(event).thread == block.thread && block.first <= event && event <= block.last
}

fn follow(block: Block, next: &FxHashMap<EventId, (EventId, Link)>, start: EventId, end: EventId) -> ViolationPath {
    let mut path = ViolationPath { block, events: vec![start], links: Vec::new() };
    let mut at = start;
    while let Some((to, link)) = next.get(&at).filter(|_| at != end) {
        path.links.push(*link);
        path.events.push(*to);
        at = *to;
    }
    path
}

//! The shortest violation path of a schedule (section II.D). The checker says whether a schedule holds it.

use crate::accesses::Accesses;
use foretrace_checker::{Link, ViolationPath};
use foretrace_trace::{Block, EventId, ThreadId, Trace, VarId};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Where the longest part at the end of a schedule begins that has at most `most` context switches.
fn start_of_few(trace: &Trace, schedule: &[EventId], most: u32) -> usize {
    let switches = |at: &usize| trace.event(schedule[*at - 1]).thread != trace.event(schedule[*at]).thread;
    (1..schedule.len()).rev().filter(switches).nth(most as usize).unwrap_or(0)
}

/// The shortest path of the block in a schedule that comes back at `end`. `begin` is where the inner block begins that holds `end`. The
/// path must start before `begin`, or else it is a path of the inner block. With a bound, only paths with at most so many context switches
/// between their first and their last access.
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
    let counts =
        |event: &EventId| accesses.count(*event) && (starts(*event) || trace.event(*event).thread != block.thread);
    // A breadth-first search backwards from the end; of what leads to an event, the latest first.
    let mut left = Left::new(trace, window, &counts);
    let mut next: FxHashMap<EventId, (EventId, Link)> = FxHashMap::default();
    let mut queue = VecDeque::from([window.len() - 1]);
    while let Some(at) = queue.pop_front() {
        let event = window[at];
        let earlier = match event == end {
            true => left.conflicting(at, |place| starts(window[place])),
            false => left.leading_to(at),
        };
        let mut start = None;
        for place in earlier {
            let Some(link) = Link::between(trace, window[place], event) else { continue };
            next.insert(window[place], (event, link));
            if starts(window[place]) {
                start = start.or(Some(window[place]));
            } else {
                queue.push_back(place);
            }
        }
        if let Some(start) = start {
            return Some(follow(*block, &next, start, end));
        }
    }
    None
}

/// Accesses that the search has not come to, by what leads from them to others. Each is looked at a few times in all: what comes before an
/// access of its thread or variable that was reached is reached with it.
struct Left<'a> {
    trace: &'a Trace,
    window: &'a [EventId],
    is_reached: Vec<bool>,
    /// By thread, by variable those that write, and those that only read: places in the window, and how many are done.
    of_thread: FxHashMap<ThreadId, Places>,
    writes: FxHashMap<VarId, Places>,
    reads: FxHashMap<VarId, Places>,
}

/// Places in a window, in order.
#[derive(Default)]
struct Places {
    all: Vec<usize>,
    done: usize,
}

impl Places {
    /// Those before this one that were not taken before.
    fn take_before(&mut self, place: usize) -> &[usize] {
        let from = self.done;
        self.done = from.max(self.all.partition_point(|one| *one < place));
        &self.all[from..self.done]
    }
}

impl<'a> Left<'a> {
    /// All that counts in a window, but its last event.
    fn new(trace: &'a Trace, window: &'a [EventId], counts: &dyn Fn(&EventId) -> bool) -> Left<'a> {
        let (is_reached, of_thread, writes, reads) =
            (vec![false; window.len()], FxHashMap::default(), FxHashMap::default(), FxHashMap::default());
        let mut left = Left { trace, window, is_reached, of_thread, writes, reads };
        for (place, event) in window[..window.len() - 1].iter().enumerate().filter(|(_, event)| counts(event)) {
            let event = trace.event(*event);
            left.of_thread.entry(event.thread).or_default().all.push(place);
            if let Some(var) = event.op.var() {
                let by_var = if event.op.writes() { &mut left.writes } else { &mut left.reads };
                by_var.entry(var).or_default().all.push(place);
            }
        }
        left
    }

    /// What comes before an event in its thread, or conflicts with it, the latest first: reached from here on.
    fn leading_to(&mut self, place: usize) -> Vec<usize> {
        let event = self.trace.event(self.window[place]);
        let mut earlier: Vec<usize> = Vec::new();
        earlier.extend(self.of_thread.get_mut(&event.thread).into_iter().flat_map(|places| places.take_before(place)));
        if let Some(var) = event.op.var() {
            earlier.extend(self.writes.get_mut(&var).into_iter().flat_map(|places| places.take_before(place)));
            if event.op.writes() {
                earlier.extend(self.reads.get_mut(&var).into_iter().flat_map(|places| places.take_before(place)));
            }
        }
        self.reach(earlier)
    }

    /// What conflicts with an event, but for what is left out and may be reached later.
    fn conflicting(&mut self, place: usize, is_left_out: impl Fn(usize) -> bool) -> Vec<usize> {
        let event = self.trace.event(self.window[place]);
        let of = |by_var: &FxHashMap<VarId, Places>| {
            let places = event.op.var().and_then(|var| by_var.get(&var));
            places.map_or_else(Vec::new, |places| places.all.clone())
        };
        let mut earlier = of(&self.writes);
        if event.op.writes() {
            earlier.extend(of(&self.reads));
        }
        earlier.retain(|one| self.trace.event(self.window[*one]).thread != event.thread && !is_left_out(*one));
        self.reach(earlier)
    }

    fn reach(&mut self, mut places: Vec<usize>) -> Vec<usize> {
        places.retain(|place| !std::mem::replace(&mut self.is_reached[*place], true));
        places.sort_unstable_by(|one, other| other.cmp(one));
        places
    }
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

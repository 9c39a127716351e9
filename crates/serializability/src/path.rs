//! Violation paths (section II.D): from a block's access by conflicts and program order through other threads back to a later one.

use crate::accesses::Accesses;
use foretrace_checker::context_switches;
use foretrace_trace::{Block, EventId, Trace, VarId};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// How a path goes from one access to the next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Link {
    /// In the same thread, later.
    ProgramOrder,
    /// They access this variable, and one writes.
    Conflict(VarId),
}

/// A shortest violation path of a schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ViolationPath {
    /// Its accesses: the first and last ones are the block's.
    pub events: Vec<EventId>,
    /// How each leads to the next.
    pub links: Vec<Link>,
}

/// Where the longest part at the end of a schedule begins that has at most `most` context switches.
fn start_of_few(trace: &Trace, schedule: &[EventId], most: u32) -> usize {
    let switches = |at: &usize| trace.event(schedule[*at - 1]).thread != trace.event(schedule[*at]).thread;
    (1..schedule.len()).rev().filter(switches).nth(most as usize).unwrap_or(0)
}

/// What kind of path it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum PathKind {
    /// Over several variables: no triple of accesses shows it.
    SeveralVariables,
    /// Through several accesses of other threads, all of one variable.
    SeveralAccesses,
    /// One access of another thread between two of the block: a triple.
    Triple,
}

impl ViolationPath {
    /// The shortest path of the block in a schedule that comes back at `end`; `begin` is where the block inside begins that
    /// holds `end`: the path must start before that, else it is that block's. With a bound, only paths with at most so many context
    /// switches between their first and their last access.
    pub fn shortest(
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
                let link = link(trace, *earlier, event).filter(|link| event != end || *link != Link::ProgramOrder);
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
                return Some(follow(&next, start, end));
            }
        }
        None
    }

    /// The path through these accesses, where each leads to the next.
    pub fn through(trace: &Trace, events: Vec<EventId>) -> Option<ViolationPath> {
        let links = events.windows(2).map(|pair| link(trace, pair[0], pair[1])).collect::<Option<_>>()?;
        Some(ViolationPath { events, links })
    }

    /// How many context switches a schedule has between the path's first and last access.
    pub fn context_switches(&self, trace: &Trace, schedule: &[EventId]) -> u32 {
        let place = |event: Option<&EventId>| event.and_then(|event| schedule.iter().position(|other| other == event));
        match (place(self.events.first()), place(self.events.last())) {
            (Some(from), Some(to)) if from <= to => context_switches(trace, &schedule[from..=to]),
            _ => u32::MAX,
        }
    }

    /// What kind of path it is.
    pub fn kind(&self) -> PathKind {
        let mut vars: Vec<VarId> = self.vars();
        vars.dedup();
        match (vars.len(), self.events.len()) {
            (1, 3) => PathKind::Triple,
            (1, _) => PathKind::SeveralAccesses,
            _ => PathKind::SeveralVariables,
        }
    }

    /// The variables of its conflicts, in order of their numbers.
    pub fn vars(&self) -> Vec<VarId> {
        let conflict = |link: &Link| match link {
            Link::Conflict(var) => Some(*var),
            Link::ProgramOrder => None,
        };
        let mut vars: Vec<VarId> = self.links.iter().filter_map(conflict).collect();
        vars.sort_unstable();
        vars.dedup();
        vars
    }

    /// Whether the path is one of this schedule, by the definition: each link holds, it leaves the block and comes back.
    pub fn is_shown_by(&self, trace: &Trace, block: &Block, schedule: &[EventId]) -> bool {
        let place: FxHashMap<EventId, usize> = schedule.iter().enumerate().map(|(at, event)| (*event, at)).collect();
        let (Some(first), Some(last)) = (self.events.first(), self.events.last()) else { return false };
        let links = self.events.windows(2).zip(&self.links).all(|(pair, link)| {
            let in_order = place.get(&pair[0]).zip(place.get(&pair[1])).is_some_and(|(from, to)| from < to);
            let [one, other] = [pair[0], pair[1]].map(|event| trace.event(event));
            in_order
                && match link {
                    Link::ProgramOrder => one.thread == other.thread,
                    Link::Conflict(var) => {
                        one.op.var() == Some(*var)
                            && other.op.var() == Some(*var)
                            && (one.op.writes() || other.op.writes())
                    }
                }
        });
        let leaves = self.events.iter().any(|event| !is_own(trace, block, *event));
        links && leaves && is_own(trace, block, *first) && is_own(trace, block, *last)
    }
}

fn is_own(trace: &Trace, block: &Block, event: EventId) -> bool {
    trace.event(event).thread == block.thread && block.first <= event && event <= block.last
}

/// How an access leads to a later one, if it does.
fn link(trace: &Trace, one: EventId, other: EventId) -> Option<Link> {
    let [one, other] = [one, other].map(|event| trace.event(event));
    if one.thread == other.thread {
        return Some(Link::ProgramOrder);
    }
    let var = one.op.var().filter(|var| other.op.var() == Some(*var))?;
    (one.op.writes() || other.op.writes()).then_some(Link::Conflict(var))
}

fn follow(next: &FxHashMap<EventId, (EventId, Link)>, start: EventId, end: EventId) -> ViolationPath {
    let mut path = ViolationPath { events: vec![start], links: Vec::new() };
    let mut at = start;
    while let Some((to, link)) = next.get(&at).filter(|_| at != end) {
        path.links.push(*link);
        path.events.push(*to);
        at = *to;
    }
    path
}

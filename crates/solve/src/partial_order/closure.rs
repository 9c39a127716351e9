//! What the events of each thread know of every other thread, kept closed as orders are added.
//!
//! For two threads this is a staircase: a stair says that, from one position on, the events of one thread come after the first n events of
//! the other. There is a stair only where n grows. So adding an order costs a look at pairs of threads, not at the events after it.
//!
//! Source: collective sparse segment trees (Tunç, Deshmukh, Çirisci, Enea and Pavlogiannis, *CSSTs: A Dynamic Data Structure
//! for Partial Orders in Concurrent Execution Analysis*), with sorted stairs that can be taken back in place of the trees.

use std::ops::Range;

/// An edge, by its position.
pub(super) type EdgeId = u32;

/// No number.
pub(crate) const NONE: u32 = u32::MAX;

/// An event: its thread and its position there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Point {
    pub(super) thread: u32,
    pub(super) position: u32,
}

/// From this position on so many events are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stair {
    position: u32,
    events: u32,
}

/// What one thread knows of another: stairs, each higher than those before it.
#[derive(Clone)]
struct Staircase {
    stairs: Vec<Stair>,
    last_change: u32,
}

impl Default for Staircase {
    fn default() -> Staircase {
        Staircase { stairs: Vec::new(), last_change: NONE }
    }
}

/// A stair that was added by an edge, how many it replaced, and the change of the same staircase before this one.
struct Change {
    knower: u32,
    known: u32,
    stair: Stair,
    edge: EdgeId,
    replaced: u32,
    before: u32,
}

/// Events of a thread, at some positions, came to know of events of another thread, at some positions there. Some of them may have known
/// some of these before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Gain {
    pub(crate) knower: u32,
    pub(crate) positions: Range<u32>,
    pub(crate) known: u32,
    pub(crate) events: Range<u32>,
}

/// A partial order of events, in which those of one thread are ordered.
#[derive(Default)]
pub(super) struct Closure {
    /// Per thread, what it knows of each thread; threads at the end of which nothing is known may be missing.
    knowledge: Vec<Vec<Staircase>>,
    changes: Vec<Change>,
    replaced: Vec<Stair>,
    /// What the edge being added told.
    news: Vec<(u32, u32)>,
}

impl Closure {
    /// No order yet, of so many threads.
    pub(super) fn new(threads: usize) -> Closure {
        Closure { knowledge: vec![Vec::new(); threads], ..Closure::default() }
    }

    /// How many events of the thread come before an event, or are it.
    pub(super) fn events_before(&self, at: Point, thread: u32) -> u32 {
        if at.thread == thread {
            return at.position + 1;
        }
        let Some(Staircase { stairs, .. }) = self.knowledge[at.thread as usize].get(thread as usize) else { return 0 };
        let above = stairs.partition_point(|stair| stair.position <= at.position);
        above.checked_sub(1).map_or(0, |last| stairs[last].events)
    }

    /// Whether one event comes before the other, or is it.
    pub(super) fn reaches(&self, from: Point, to: Point) -> bool {
        self.events_before(to, from.thread) > from.position
    }

    /// From here on one event comes before another one of another thread that does not come before it.
    pub(super) fn add(&mut self, from: Point, to: Point, edge: EdgeId, gains: &mut Vec<Gain>) {
        let mut news = std::mem::take(&mut self.news);
        let threads = 0..self.knowledge.len() as u32;
        news.extend(threads.clone().filter(|thread| *thread != to.thread).filter_map(|thread| {
            let events = self.events_before(from, thread);
            (events > self.events_before(to, thread)).then_some((thread, events))
        }));
        for knower in threads.filter(|thread| *thread != from.thread) {
            if let Some(position) = self.first_after(to, knower) {
                for (known, events) in news.iter().filter(|(known, _)| *known != knower) {
                    gains.extend(self.raise(knower, *known, Stair { position, events: *events }, edge));
                }
            }
        }
        news.clear();
        self.news = news;
    }

    /// The first position of the thread that an event comes before, or is at.
    pub(super) fn first_after(&self, event: Point, thread: u32) -> Option<u32> {
        if event.thread == thread {
            return Some(event.position);
        }
        let Staircase { stairs, .. } = self.knowledge[thread as usize].get(event.thread as usize)?;
        let first = stairs.partition_point(|stair| stair.events <= event.position);
        stairs.get(first).map(|stair| stair.position)
    }

    /// Adds a stair, unless there is one as high.
    fn raise(&mut self, knower: u32, known: u32, stair: Stair, edge: EdgeId) -> Option<Gain> {
        let row = &mut self.knowledge[knower as usize];
        if row.len() <= known as usize {
            row.resize(known as usize + 1, Staircase::default());
        }
        let Staircase { stairs, last_change } = &mut row[known as usize];
        let begin = stairs.partition_point(|other| other.position < stair.position);
        let (below, above) = stairs.split_at(begin);
        let old = match above.first().filter(|other| other.position == stair.position).or(below.last()) {
            Some(Stair { events, .. }) if *events >= stair.events => return None,
            Some(Stair { events, .. }) => *events,
            None => 0,
        };
        let lower = above.partition_point(|other| other.events <= stair.events);
        let end = above.get(lower).map_or(u32::MAX, |next| next.position);
        self.replaced.extend_from_slice(&above[..lower]);
        stairs.splice(begin..begin + lower, [stair]);
        let before = std::mem::replace(last_change, self.changes.len() as u32);
        self.changes.push(Change { knower, known, stair, edge, replaced: lower as u32, before });
        Some(Gain { knower, positions: stair.position..end, known, events: old..stair.events })
    }

    /// How often anything changed.
    pub(super) fn changes(&self) -> usize {
        self.changes.len()
    }

    /// Takes back all changes but the first ones.
    pub(super) fn take_back(&mut self, kept: usize) {
        for Change { knower, known, stair, replaced, before, .. } in self.changes.drain(kept..).rev() {
            let Staircase { stairs, last_change } = &mut self.knowledge[knower as usize][known as usize];
            let begin = stairs.partition_point(|other| other.position < stair.position);
            let replaced = self.replaced.len() - replaced as usize;
            stairs.splice(begin..=begin, self.replaced.drain(replaced..));
            *last_change = before;
        }
    }

    /// The edge by which one event was first known to come before another one of another thread.
    pub(super) fn first_cause(&self, from: Point, to: Point) -> Option<EdgeId> {
        let staircase = self.knowledge[to.thread as usize].get(from.thread as usize)?;
        let (mut found, mut next) = (None, staircase.last_change);
        while next != NONE {
            let Change { stair, edge, before, .. } = &self.changes[next as usize];
            if stair.position <= to.position && stair.events > from.position {
                found = Some(*edge);
            }
            next = *before;
        }
        found
    }
}

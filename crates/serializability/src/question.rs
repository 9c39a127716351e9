//! The question to a solver about a block: where its violation paths can leave it, what they can visit, and where they can come back.
//!
//! Of the segment's accesses only some take part: by conflicts and program order alone, a path must be able to lead there and back. The
//! size of the question is bounded, since its constraints grow with the pairs of accesses that conflict.

use crate::accesses::Accesses;
use crate::attempt::Attempts;
use crate::segment::Segment;
use foretrace_index::TraceIndex;
use foretrace_trace::{Block, EventId, Trace, VarId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Most pairs of accesses of one variable in a question.
const MOST_PAIRS: u64 = 400_000;

/// Most accesses of other threads in a question.
const MOST_ACCESSES: usize = 6_000;

/// A question about some of a block's violation paths. Together the questions of a block ask for all of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question {
    /// The block's accesses at which a path may leave it.
    pub starts: Vec<EventId>,
    /// Accesses of other threads that it may visit, in recorded order.
    pub through: Vec<EventId>,
    /// The block's accesses at which it may come back.
    pub ends: Vec<EventId>,
    /// The end, where that is part of a step of several events: the interleaving may end inside of that step.
    pub last: Option<EventId>,
    /// An event of the block that the interleaving holds, too: the compare-exchange that confirms what was read at the end.
    pub then: Option<EventId>,
}

/// Makes questions about blocks of one trace.
pub struct Questioner<'a> {
    pub trace: &'a Trace,
    pub trace_index: &'a TraceIndex,
    pub accesses: &'a Accesses,
}

/// An access of another thread that a path may visit.
#[derive(Clone, Copy)]
struct RemoteAccess {
    event: EventId,
    thread: usize,
    position: u32,
    var: VarId,
    writes: bool,
}

impl Questioner<'_> {
    /// The questions about a block. `part` names, for accesses in a block inside, where that one begins.
    pub fn about_block(
        &self,
        block: &Block,
        segment: &Segment,
        part: &FxHashMap<EventId, EventId>,
    ) -> Option<Vec<Question>> {
        if segment.is_proved {
            return Some(Vec::new());
        }
        let mut ends: BTreeMap<(Option<EventId>, Option<EventId>), Vec<EventId>> = BTreeMap::new();
        for end in &segment.entering {
            let (first, last) = self.trace_index.step(self.trace, *end);
            let inside = (first != last || self.trace.event(*end).part.is_some()).then_some(*end);
            ends.entry((part.get(end).copied(), inside)).or_default().push(*end);
        }
        let all = self.places(block, segment)?;
        let mut questions = Vec::new();
        for ((begin, last), ends) in ends {
            let may_leave = |start: &EventId| begin.is_none_or(|begin| *start < begin);
            let starts: Vec<EventId> = segment.leaving.iter().copied().filter(may_leave).collect();
            if starts.is_empty() {
                continue;
            }
            let through = self.between(&all, &starts, &ends);
            if !through.is_empty() {
                let question = Question { starts, through, ends, last, then: None };
                questions.push(Some(question).filter(|question| question.is_small(self.trace))?);
            }
        }
        Some(questions)
    }

    /// The accesses of other threads in the segment, in recorded order.
    fn places(&self, block: &Block, segment: &Segment) -> Option<Vec<RemoteAccess>> {
        let mut places = Vec::new();
        let threads = self.trace_index.threads.iter().enumerate();
        for (thread, events) in threads.filter(|(thread, _)| *thread != block.thread.index()) {
            let range = segment.range.upper[thread] as usize..segment.range.lower[thread] as usize;
            for event in events.get(range)? {
                let op = &self.trace.event(*event).op;
                let Some(var) = op.var().filter(|_| self.accesses.count(*event)) else { continue };
                let position = self.trace_index.position(*event) as u32;
                places.push(RemoteAccess { event: *event, thread, position, var, writes: op.writes() });
            }
        }
        places.sort_unstable_by_key(|place| place.event);
        Some(places)
    }

    /// Those to which a path can lead from the starts, and from which one can come to the ends.
    fn between(&self, all: &[RemoteAccess], starts: &[EventId], ends: &[EventId]) -> Vec<EventId> {
        let reached = self.reached(all, starts, |place, known| place.position >= known, u32::min, u32::MAX);
        let useful = self.reached(
            all,
            ends,
            |place, known| known > place.position,
            |known, position| known.max(position + 1),
            0,
        );
        let is_on =
            |place: &&RemoteAccess| reached[place.thread] <= place.position && place.position < useful[place.thread];
        let on: Vec<RemoteAccess> = all.iter().filter(is_on).copied().collect();
        // What conflicts with nothing else takes no path anywhere that program order does not.
        let mut kinds: FxHashMap<VarId, Kinds> = FxHashMap::default();
        for place in &on {
            kinds.entry(place.var).or_default().add(place.thread, place.writes);
        }
        for event in starts.iter().chain(ends) {
            let op = &self.trace.event(*event).op;
            let Some(var) = op.var() else { continue };
            kinds.entry(var).or_default().add(usize::MAX, op.writes());
        }
        let conflicts = |place: &&RemoteAccess| kinds[&place.var].conflicts(place.thread, place.writes);
        on.iter().filter(conflicts).map(|place| place.event).collect()
    }

    /// Per thread the bound of what conflicts and program order lead to from these accesses of the block.
    fn reached(
        &self,
        all: &[RemoteAccess],
        from: &[EventId],
        is_in: impl Fn(&RemoteAccess, u32) -> bool,
        extend: impl Fn(u32, u32) -> u32,
        nothing: u32,
    ) -> Vec<u32> {
        let mut kinds: FxHashMap<VarId, Kinds> = FxHashMap::default();
        for event in from {
            let op = &self.trace.event(*event).op;
            let Some(var) = op.var() else { continue };
            kinds.entry(var).or_default().add(usize::MAX, op.writes());
        }
        let mut bounds = vec![nothing; self.trace_index.threads.len()];
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for place in all {
                let known = bounds[place.thread];
                let conflicts =
                    || kinds.get(&place.var).is_some_and(|kinds| kinds.conflicts(place.thread, place.writes));
                if !is_in(place, known) {
                    if !conflicts() {
                        continue;
                    }
                    bounds[place.thread] = extend(known, place.position);
                }
                changed |= kinds.entry(place.var).or_default().add(place.thread, place.writes);
            }
        }
        bounds
    }
}

/// Which threads read and write a variable: none, one, or several.
#[derive(Clone, Copy, Default)]
struct Kinds {
    readers: Threads,
    writers: Threads,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Threads {
    #[default]
    None,
    One(usize),
    Several,
}

impl Threads {
    fn add(&mut self, thread: usize) -> bool {
        let next = match *self {
            Threads::None => Threads::One(thread),
            Threads::One(other) if other != thread => Threads::Several,
            same => same,
        };
        let changed = next != *self;
        *self = next;
        changed
    }

    fn has_other(self, thread: usize) -> bool {
        match self {
            Threads::None => false,
            Threads::One(other) => other != thread,
            Threads::Several => true,
        }
    }
}

impl Kinds {
    /// Whether that is new.
    fn add(&mut self, thread: usize, writes: bool) -> bool {
        if writes { self.writers.add(thread) } else { self.readers.add(thread) }
    }

    fn conflicts(&self, thread: usize, writes: bool) -> bool {
        self.writers.has_other(thread) || (writes && self.readers.has_other(thread))
    }
}

impl Question {
    /// The same question about paths with an effect alone: without what failed attempts read, and to what an attempt reads only
    /// where that is confirmed.
    pub(crate) fn with_effect(&self, attempts: &Attempts) -> Vec<Question> {
        let lasting = |all: &[EventId]| -> Vec<EventId> {
            all.iter().copied().filter(|access| !attempts.is_dropped(*access)).collect()
        };
        let mut ends: BTreeMap<Option<EventId>, Vec<EventId>> = BTreeMap::new();
        for end in lasting(&self.ends) {
            ends.entry(attempts.confirmed_by(end)).or_default().push(end);
        }
        let starts = lasting(&self.starts);
        let of = |(then, ends): (Option<EventId>, Vec<EventId>)| Question {
            starts: starts.clone(),
            through: self.through.clone(),
            ends,
            last: self.last.filter(|_| then.is_none()),
            then,
        };
        let questions = ends.into_iter().map(of);
        questions
            .filter(|question| question.starts.first() < question.ends.last() && !question.starts.is_empty())
            .collect()
    }

    /// Whether a solver can be asked in reasonable time.
    fn is_small(&self, trace: &Trace) -> bool {
        let mut of_var: FxHashMap<VarId, u64> = FxHashMap::default();
        let all = self.starts.iter().chain(&self.through).chain(&self.ends);
        all.filter_map(|event| trace.event(*event).op.var()).for_each(|var| *of_var.entry(var).or_default() += 1);
        self.through.len() <= MOST_ACCESSES && of_var.values().map(|count| count * count).sum::<u64>() <= MOST_PAIRS
    }
}

//! All optimal trace eliminators of one trace (Definitions 3 and 6, Theorem 4), as segments of its threads.
//!
//! The paper enumerates the simple chordless cycles of the trace's graph in which the events of each operation are
//! strongly connected. Such a cycle visits each thread at most once (Lemma 4). It enters a thread at one step and leaves
//! it at another; where it leaves earlier than it enters, the stretch between is a critical segment. The rest of the
//! cycle goes forward in the order of the trace, which vector clocks know. So this module enumerates critical segments
//! `(leave, enter)` with a forward path from each `leave` to the next `enter`, and of the steps that a path can leave
//! from only the latest. What it leaves out contains a segment that it finds; a test compares with both of the paper's
//! algorithms, of section 5.2 and of section 6.1.
//!
//! Repairs of one segment take time linear in the trace. For a fixed number of threads all take polynomial time.

use crate::operations::Operations;
use crate::relation::{Position, Relation};
use crate::subsumption::{Contains, keep_optimal};
use foretrace_trace::{EventId, ThreadId};
use rustc_hash::FxHashSet;

/// A stretch of one thread's steps that another thread interrupted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Segment {
    /// The thread.
    pub thread: ThreadId,
    /// Its first step, where the cycle leaves the thread.
    pub first: EventId,
    /// Its last step, where the cycle enters the thread.
    pub last: EventId,
}

impl Contains for Segment {
    fn contains(&self, other: &Segment) -> bool {
        self.thread == other.thread && self.first <= other.first && other.last <= self.last
    }
}

/// When to stop.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// The most sets of segments that are looked at together.
    pub repairs: usize,
    /// Asked now and then whether to go on.
    pub go_on: &'a dyn Fn() -> bool,
}

impl Limits<'_> {
    /// No limit but for memory.
    pub const NONE: Limits<'static> = Limits { repairs: usize::MAX, go_on: &|| true };
}

/// The optimal eliminators of a trace. Each is a set of segments in the order in which a cycle visits them.
pub struct Eliminators {
    /// All that were found.
    pub sets: Vec<Vec<Segment>>,
    /// Whether these are all. If not, each eliminates the trace, but smaller ones may be missing.
    pub complete: bool,
}

/// Finds the optimal eliminators of a trace. There is none if and only if the trace is conflict serializable.
pub fn eliminators(relation: &Relation, operations: &Operations, limits: Limits<'_>) -> Eliminators {
    let mut search = Search::new(relation, operations, limits);
    search.single_segments();
    let singles = search.found.len();
    search.several_segments();
    let complete = !search.stopped;
    let mut several: Vec<Vec<Segment>> = search.found.split_off(singles);
    keep_optimal(&mut several); // no single segment is within one of these: the search stops before
    let mut sets = search.found;
    sets.extend(several);
    Eliminators { sets, complete }
}

/// A segment by positions.
#[derive(Clone, Copy)]
struct SegmentPositions {
    thread: usize,
    leave: Position,
    enter: Position,
}

struct Search<'a> {
    relation: &'a Relation,
    operations: &'a Operations,
    limits: Limits<'a>,
    /// Per thread and other thread, the positions at which the thread learns of more steps of the other.
    learns: Vec<Vec<Vec<Position>>>,
    /// Per thread and position, the first position at or after which a segment that eliminates by itself ends, among
    /// those that start at this position or later.
    bound: Vec<Vec<Position>>,
    found: Vec<Vec<Segment>>,
    seen: FxHashSet<Vec<Segment>>,
    stopped: bool,
    steps_taken: u64,
}

impl<'a> Search<'a> {
    fn new(relation: &'a Relation, operations: &'a Operations, limits: Limits<'a>) -> Search<'a> {
        let threads = relation.threads();
        let mut learns = vec![vec![Vec::new(); threads]; threads];
        for (thread, learns) in learns.iter_mut().enumerate() {
            let mut known = vec![0; threads];
            for (position, step) in relation.steps[thread].iter().enumerate() {
                for (other, known) in known.iter_mut().enumerate().filter(|(other, _)| *other != thread) {
                    let now = relation.known(*step, other);
                    if now > *known {
                        *known = now;
                        learns[other].push(position as Position);
                    }
                }
            }
        }
        let bound = relation.steps.iter().map(|steps| vec![Position::MAX; steps.len()]).collect();
        Search {
            relation,
            operations,
            limits,
            learns,
            bound,
            found: Vec::new(),
            seen: FxHashSet::default(),
            stopped: false,
            steps_taken: 0,
        }
    }

    fn segment(&self, part: SegmentPositions) -> Segment {
        let steps = &self.relation.steps[part.thread];
        let thread = ThreadId::from_index(part.thread);
        Segment { thread, first: steps[part.leave as usize], last: steps[part.enter as usize] }
    }

    /// Segments that eliminate by themselves: another thread's steps came in between, after the first, before the last.
    fn single_segments(&mut self) {
        for number in 0..self.operations.len() {
            let operation = self.operations.get(number as u32);
            let thread = operation.thread.index();
            let mut minimal: Vec<SegmentPositions> = Vec::new();
            for enter in operation.first..=operation.last {
                let returned = self.relation.returned(self.relation.steps[thread][enter as usize]);
                let Some(leave) = returned.checked_sub(1).filter(|leave| *leave >= operation.first) else { continue };
                // Later ends come later: a new one is minimal if it starts later than all before.
                if minimal.last().is_none_or(|last| leave > last.leave) {
                    minimal.push(SegmentPositions { thread, leave, enter });
                }
            }
            let mut next = minimal.len();
            let mut end = Position::MAX;
            for position in (operation.first..=operation.last).rev() {
                while next > 0 && minimal[next - 1].leave >= position {
                    next -= 1;
                    end = minimal[next].enter;
                }
                self.bound[thread][position as usize] = end;
            }
            let segments: Vec<Segment> = minimal.into_iter().map(|part| self.segment(part)).collect();
            self.found.extend(segments.into_iter().map(|segment| vec![segment]));
        }
    }

    /// Cycles of two segments and more. The first segment is in the thread with the lowest number.
    fn several_segments(&mut self) {
        for number in 0..self.operations.len() {
            let operation = self.operations.get(number as u32);
            let thread = operation.thread.index();
            for next in thread + 1..self.relation.threads() {
                let learns = self.between(thread, next, operation.first, operation.last);
                for at in learns {
                    let enter = self.learns[thread][next][at];
                    // Where the cycle leaves the first thread is known at its end only.
                    let open = SegmentPositions { thread, leave: Position::MAX, enter };
                    self.extend(open, next);
                    if self.stopped {
                        return;
                    }
                }
            }
        }
    }

    /// The positions after `after` and up to `last` at which a thread learns of another, as places in its list.
    fn between(&self, thread: usize, other: usize, after: Position, last: Position) -> std::ops::Range<usize> {
        let learns = &self.learns[thread][other];
        learns.partition_point(|position| *position <= after)..learns.partition_point(|position| *position <= last)
    }

    /// All ways on from a first segment into thread `next`, by a stack of what is left to try.
    fn extend(&mut self, first: SegmentPositions, next: usize) {
        struct Level {
            part: SegmentPositions,
            /// Where to go on to, and the places in the lists of what is learnt that are left to try there.
            threads: Vec<usize>,
            /// The next segments that are left to try.
            parts: Vec<SegmentPositions>,
        }
        let mut stack = vec![Level { part: first, threads: vec![next], parts: Vec::new() }];
        while let Some(level) = stack.last_mut() {
            self.steps_taken += 1;
            if self.steps_taken.is_multiple_of(1 << 14) && !(self.limits.go_on)() {
                self.stopped = true;
                return;
            }
            if let Some(part) = level.parts.pop() {
                let visited: Vec<SegmentPositions> = stack.iter().map(|level| level.part).chain([part]).collect();
                self.close(&visited);
                if self.stopped {
                    return;
                }
                let free = |thread: &usize| visited.iter().all(|part| part.thread != *thread);
                let threads = (first.thread + 1..self.relation.threads()).filter(free).collect();
                stack.push(Level { part, threads, parts: Vec::new() });
            } else if let Some(thread) = level.threads.pop() {
                level.parts = self.parts_after(level.part, thread);
            } else {
                stack.pop();
            }
        }
    }

    /// The segments of another thread from which a path leads forward to where this one is entered.
    fn parts_after(&self, part: SegmentPositions, thread: usize) -> Vec<SegmentPositions> {
        let step = self.relation.steps[part.thread][part.enter as usize];
        let is_new = self.learns[part.thread][thread].binary_search(&part.enter).is_ok();
        let Some(leave) = self.relation.known(step, thread).checked_sub(1).filter(|_| is_new) else {
            return Vec::new();
        };
        let Some(operation) = self.operations.operation_at(thread, leave) else { return Vec::new() };
        let last = self.operations.get(operation).last;
        let bound = self.bound[thread][leave as usize];
        let enters = self.entries(thread, leave, last).into_iter().take_while(|enter| *enter < bound);
        enters.map(|enter| SegmentPositions { thread, leave, enter }).collect()
    }

    /// The positions after `leave` at which a thread learns of any other.
    fn entries(&self, thread: usize, leave: Position, last: Position) -> Vec<Position> {
        let others = (0..self.relation.threads()).filter(|other| *other != thread);
        let mut all: Vec<Position> = others
            .flat_map(|other| {
                let range = self.between(thread, other, leave, last);
                self.learns[thread][other][range].iter().copied()
            })
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Notes a cycle if a path leads from the first segment's thread to where the last one is entered.
    fn close(&mut self, parts: &[SegmentPositions]) {
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return };
        let step = self.relation.steps[last.thread][last.enter as usize];
        if self.learns[last.thread][first.thread].binary_search(&last.enter).is_err() {
            return;
        }
        let Some(leave) = self.relation.known(step, first.thread).checked_sub(1) else { return };
        let operation = self.operations.operation_at(first.thread, leave);
        let is_one = leave < first.enter && operation == self.operations.operation_at(first.thread, first.enter);
        if operation.is_none() || !is_one || first.enter >= self.bound[first.thread][leave as usize] {
            return;
        }
        let mut set: Vec<Segment> = vec![self.segment(SegmentPositions { leave, ..*first })];
        // The search goes against the order of the trace.
        set.extend(parts[1..].iter().rev().map(|part| self.segment(*part)));
        if self.seen.insert(set.clone()) {
            self.found.push(set);
            self.stopped |= self.found.len() >= self.limits.repairs;
        }
    }
}

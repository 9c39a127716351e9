//! Synchronisation that is on some ways through the code only: `if (shared) lock(); x++; if (shared) unlock();`.
//!
//! Another path of the program makes the same accesses without it, so it orders them on this path alone. Such locks and joins are marked
//! like tries. The criterion is dynamic control dependence (Xin and Zhang, "Online Detection of Dynamic Control Dependence", ISSTA 2007): a
//! branch on shared memory is open from where the ways part to where they meet again.

use crate::expression::Expressions;
use foretrace_instrument::sidecar::BlockId;
use foretrace_trace::{Event, EventId, Node, Op, SyncId, TermId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The branches on shared memory that a thread is in the middle of, and what it synchronised there.
#[derive(Default)]
pub(crate) struct Decisions {
    open: Vec<Decision>,
    /// How many there were so far.
    made: u64,
    /// What is held, or was waited for, and under how many open decisions that was.
    under: Vec<(Taken, usize)>,
    /// Per lock that was given back, how many decisions there had been by then.
    given_back: FxHashMap<SyncId, u64>,
}

struct Decision {
    number: u64,
    /// How many frames the thread had.
    frames: usize,
    /// Where the ways meet; none for the end of the function.
    meet: Option<BlockId>,
    condition: TermId,
}

/// A lock that was taken, or a join.
#[derive(Clone, Copy)]
struct Taken {
    event: EventId,
    /// None for a join.
    lock: Option<SyncId>,
}

/// Synchronisation under a decision, and what the thread did with it after the ways met.
pub(crate) struct Detour {
    event: EventId,
    lock: Option<SyncId>,
    thread: ThreadId,
    /// The decisions that came to an end, innermost last.
    conditions: Vec<TermId>,
    /// Events from where the ways met to where the lock was given back.
    from: EventId,
    until: Option<EventId>,
}

impl Decisions {
    /// A branch on shared memory: the ways meet in a block of the innermost of so many frames.
    pub fn decide(&mut self, frames: usize, meet: Option<BlockId>, condition: TermId) {
        // Each turn of a loop decides whether there is another: that is one decision, until the loop ends.
        if self.open.last().is_some_and(|last| (last.frames, last.meet) == (frames, meet)) {
            return;
        }
        self.made += 1;
        self.open.push(Decision { number: self.made, frames, meet, condition });
    }

    /// Whether the innermost of so many frames comes to where ways meet: from which decision on they are over.
    #[inline]
    pub fn met(&self, frames: usize, block: BlockId) -> Option<usize> {
        if self.open.is_empty() {
            return None;
        }
        self.open.iter().position(|decision| decision.frames == frames && decision.meet == Some(block))
    }

    /// From which decision on they are over when only so many frames are left.
    #[inline]
    pub fn left(&self, frames: usize) -> Option<usize> {
        let last = self.open.last()?;
        (last.frames > frames).then(|| self.open.partition_point(|decision| decision.frames <= frames))
    }

    /// Decisions are over; tells what was synchronised under them, before the next event.
    pub fn close(&mut self, first: usize, thread: ThreadId, next: EventId) -> Vec<Detour> {
        let closed: Vec<TermId> = self.open.drain(first..).map(|decision| decision.condition).collect();
        let still = self.under.partition_point(|(_, decisions)| *decisions <= first);
        let detours = self.under.drain(still..).map(|(taken, decisions)| {
            let conditions = closed[..decisions - first].to_vec();
            Detour { event: taken.event, lock: taken.lock, thread, conditions, from: next, until: None }
        });
        detours.collect()
    }

    /// A lock was taken, or (no lock) another thread joined.
    pub fn taken(&mut self, event: EventId, lock: Option<SyncId>) {
        let Some(last) = self.open.last() else { return };
        // Given back under the same decision, it would be held on the other way, too.
        let given_back = lock.and_then(|lock| self.given_back.get(&lock)).copied().unwrap_or(0);
        if last.number > given_back {
            self.under.push((Taken { event, lock }, self.open.len()));
        }
    }

    /// A lock was given back.
    pub fn given_back(&mut self, lock: SyncId) {
        if self.made == 0 {
            return;
        }
        self.given_back.insert(lock, self.made);
        if let Some(position) = self.under.iter().rposition(|(taken, _)| taken.lock == Some(lock)) {
            self.under.remove(position);
        }
    }

    /// The thread goes on somewhere else: nothing is known of what it was about to do.
    pub fn forget(&mut self) {
        *self = Decisions { made: self.made, ..Decisions::default() };
    }
}

/// All detours of a walk.
#[derive(Default)]
pub(crate) struct Detours(Vec<Detour>);

impl Detours {
    pub fn add(&mut self, detours: Vec<Detour>) {
        self.0.extend(detours);
    }

    /// A thread gives a lock back.
    pub fn given_back(&mut self, thread: ThreadId, lock: SyncId, next: EventId) {
        let is_open =
            |detour: &&mut Detour| detour.until.is_none() && (detour.thread, detour.lock) == (thread, Some(lock));
        if let Some(detour) = self.0.iter_mut().rfind(is_open) {
            detour.until = Some(next);
        }
    }

    /// Marks what a thread synchronised on one way only and relied on where all ways had met. A decision counts if another thread could
    /// have made it another one: if what it read was written after the first thread began another.
    pub fn mark(&self, events: &mut [Event], expressions: &Expressions) {
        if self.0.is_empty() {
            return;
        }
        let first_fork = events.iter().position(|event| matches!(event.op, Op::Fork { .. })).unwrap_or(events.len());
        let is_write = |event: &&Event| matches!(event.op, Op::Write { .. } | Op::Rmw { .. });
        let written: FxHashSet<_> =
            events[first_fork..].iter().filter(is_write).filter_map(|event| event.op.var()).collect();
        let is_open = |condition: &TermId| {
            let reads = expressions.terms.reachable(&[*condition]).into_iter().filter_map(|term| {
                match expressions.terms.node(term) {
                    Node::Leaf(local) => events.get(local.definition.index())?.op.var(),
                    _ => None,
                }
            });
            reads.into_iter().any(|var| written.contains(&var))
        };
        let relied_on = |detour: &&Detour| {
            let until = detour.until.map_or(events.len(), EventId::index);
            let is_access = |event: &Event| event.thread == detour.thread && event.op.var().is_some();
            events[detour.from.index()..until].iter().any(is_access)
        };
        let marked = self.0.iter().filter(|detour| detour.conditions.iter().any(is_open)).filter(relied_on);
        let marked: Vec<EventId> = marked.map(|detour| detour.event).collect();
        for event in marked {
            events[event.index()].tried = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: Option<SyncId> = Some(SyncId(0));

    fn event(number: usize) -> EventId {
        EventId::from_index(number)
    }

    fn term() -> TermId {
        let mut expressions = Expressions::default();
        expressions.literal(8, 1)
    }

    /// What is known to be under decisions when the ways have met in block 5.
    fn detours(decisions: &mut Decisions) -> Vec<(usize, usize)> {
        let first = decisions.met(1, 5).expect("a decision is open");
        let detours = decisions.close(first, ThreadId(0), event(9));
        detours.iter().map(|detour| (detour.event.index(), detour.conditions.len())).collect()
    }

    #[test]
    fn a_lock_that_outlives_its_decision_is_a_detour() {
        let mut decisions = Decisions::default();
        decisions.taken(event(0), LOCK); // before any decision
        decisions.decide(1, Some(5), term());
        decisions.decide(2, Some(3), term());
        decisions.taken(event(1), Some(SyncId(1)));
        assert_eq!(decisions.left(1), Some(1), "the function of the second decision returns");
        assert_eq!(detours(&mut decisions), [(1, 2)]);
        assert!(decisions.met(1, 5).is_none());
    }

    #[test]
    fn a_lock_that_is_given_back_under_its_decision_is_none() {
        let mut decisions = Decisions::default();
        decisions.decide(1, Some(5), term());
        decisions.taken(event(1), LOCK);
        decisions.given_back(SyncId(0));
        assert_eq!(detours(&mut decisions), []);
    }

    /// `lock(); if (c) { unlock(); …; lock(); } x++; unlock();`
    #[test]
    fn a_lock_that_is_held_on_the_other_way_is_none() {
        let mut decisions = Decisions::default();
        decisions.taken(event(0), LOCK);
        decisions.decide(1, Some(5), term());
        decisions.given_back(SyncId(0));
        decisions.taken(event(1), LOCK);
        assert_eq!(detours(&mut decisions), []);
        decisions.given_back(SyncId(0));
        decisions.decide(1, Some(5), term());
        decisions.taken(event(2), LOCK);
        assert_eq!(detours(&mut decisions), [(2, 1)]);
    }

    #[test]
    fn turns_of_a_loop_are_one_decision() {
        let mut decisions = Decisions::default();
        decisions.decide(1, Some(5), term());
        decisions.taken(event(0), None);
        decisions.decide(1, Some(5), term());
        decisions.taken(event(1), None);
        assert_eq!(detours(&mut decisions), [(0, 1), (1, 1)]);
    }
}

//! What starts and joins of threads put in order: a thread's part up to a start comes before all of the started thread, and a joined
//! thread before what the joining one does next. No schedule changes the first. The program may have ways around a join.

use rustc_hash::FxHashMap;

/// With more threads nothing of several threads counts as ordered: clocks take a number for each pair.
const MOST_THREADS: usize = 5000;

/// A part of a thread between two starts of others, from 1; later parts of a thread have larger numbers.
pub(crate) type PartId = u32;

/// Which parts of threads come before which others, at a point of the run.
#[derive(Default)]
pub(crate) struct ThreadOrder {
    /// The thread of each part, from 1.
    threads: Vec<u32>,
    /// Per thread, the part that it is in; 0 before its start.
    now: Vec<PartId>,
    /// Per thread, of each thread the last part that comes before all of it.
    known: Vec<Vec<PartId>>,
    /// Who joined each thread.
    joined: FxHashMap<u32, u32>,
    /// A part of which it was asked last whether all others are over for it, and the answer: any start or join makes it old.
    alone: Option<(PartId, bool)>,
}

impl ThreadOrder {
    /// The part that a thread is in now.
    #[inline]
    pub fn now(&mut self, thread: u32) -> PartId {
        match self.now.get(thread as usize) {
            Some(part) if *part != 0 => *part,
            _ => self.begin(thread, Vec::new()),
        }
    }

    #[cold]
    fn begin(&mut self, thread: u32, known: Vec<PartId>) -> PartId {
        let index = thread as usize;
        if self.now.len() <= index {
            self.now.resize(index + 1, 0);
            self.known.resize(index + 1, Vec::new());
        }
        self.known[index] = known;
        self.next_part(thread)
    }

    fn next_part(&mut self, thread: u32) -> PartId {
        self.threads.push(thread);
        let part = self.threads.len() as PartId;
        self.now[thread as usize] = part;
        self.alone = None;
        part
    }

    /// The thread of a part.
    #[inline]
    pub fn thread_of(&self, part: PartId) -> u32 {
        self.threads[part as usize - 1]
    }

    /// A thread starts another one.
    pub fn starts(&mut self, thread: u32, child: u32) {
        let part = self.now(thread);
        let mut known = self.known[thread as usize].clone();
        note(&mut known, thread, part);
        self.begin(child, known);
        self.next_part(thread);
    }

    /// A thread has waited for the end of another one.
    pub fn joins(&mut self, thread: u32, other: u32) {
        self.joined.entry(other).or_insert(thread);
        self.alone = None;
    }

    /// Whether a part comes before all that the thread of the other part, which it is in now, does from here on, by starts alone.
    #[inline]
    pub fn is_before(&self, part: PartId, now: PartId) -> bool {
        let (thread, later) = (self.thread_of(part), self.thread_of(now));
        thread == later || self.is_known(thread, part, later)
    }

    #[cold]
    fn is_known(&self, thread: u32, part: PartId, later: u32) -> bool {
        self.now.len() <= MOST_THREADS
            && self.known[later as usize].get(thread as usize).is_some_and(|known| *known >= part)
    }

    /// The same by starts and joins.
    pub fn is_over(&self, part: PartId, now: PartId) -> bool {
        let later = self.thread_of(now);
        let by = |thread: &u32| self.joined.get(thread).copied();
        self.is_before(part, now)
            || std::iter::successors(by(&self.thread_of(part)), by).take(self.joined.len()).any(|by| by == later)
    }

    /// Whether all that other threads did so far is over for the thread of this part.
    pub fn are_all_over(&mut self, now: PartId) -> bool {
        if let Some((_, answer)) = self.alone.filter(|(part, _)| *part == now) {
            return answer;
        }
        let mut others = self.now.iter().filter(|part| **part != 0 && **part != now);
        let answer = others.all(|part| self.is_over(*part, now));
        self.alone = Some((now, answer));
        answer
    }
}

fn note(known: &mut Vec<PartId>, thread: u32, part: PartId) {
    let index = thread as usize;
    if known.len() <= index {
        known.resize(index + 1, 0);
    }
    known[index] = known[index].max(part);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_and_joins_put_parts_of_threads_in_order() {
        let mut order = ThreadOrder::default();
        let before = order.now(1);
        order.starts(1, 2);
        let (meanwhile, child) = (order.now(1), order.now(2));
        assert!(order.is_before(before, child), "what comes before the start");
        assert!(!order.is_before(meanwhile, child) && !order.is_before(child, meanwhile), "both go on");
        order.starts(2, 3);
        let (grandchild, last) = (order.now(3), order.now(2));
        assert!(order.is_before(before, grandchild) && order.is_before(child, grandchild));
        assert!(!order.is_before(last, grandchild));
        assert!(!order.are_all_over(meanwhile));
        order.joins(1, 2);
        assert!(order.is_over(last, meanwhile) && order.is_over(child, meanwhile));
        assert!(!order.is_before(last, meanwhile), "there may be a way around the join");
        assert!(!order.is_over(grandchild, meanwhile) && !order.are_all_over(meanwhile), "the third thread goes on");
        order.joins(2, 3);
        assert!(order.is_over(grandchild, meanwhile) && order.are_all_over(meanwhile));
    }

    #[test]
    fn a_thread_that_nobody_was_seen_to_start_comes_after_nothing() {
        let mut order = ThreadOrder::default();
        let (one, other) = (order.now(1), order.now(2));
        assert!(!order.is_before(one, other) && !order.is_before(other, one));
    }
}

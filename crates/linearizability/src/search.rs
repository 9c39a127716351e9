//! Linearizability by search, with memoisation.
//!
//! After Wing and Gong, "Testing and verifying concurrent objects", JPDC 1993, as Lowe improved it, "Testing for
//! linearizability", Concurrency and Computation 2017: events stand in a list; the search takes the first operation that
//! may come next out of it, and remembers which operations were taken in which state. It keeps its own stack.
//!
//! *Lemma.* If an operation may come next, fits, and [only looks](Step::only_looks), the search need not try others in its place.
//! *Proof.* In any order of the rest, move it to the front. Real time allows that, since it may come next. It fits there, and
//! the others find the states that they found. (The tests hold the search against all orders.)
//!
//! *Lemma.* Of two operations that do and gave the same and may both come next, the search need not try the one that returns later. *Proof.*
//! In an order that begins with it, let the two change places. Both may come at the first place. At the other one, the one that returns later may
//! stand where the other could. All others find the states that they found.

use crate::limits::Limits;
use crate::model::{Act, Ret, Step};
use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::Hash;

/// Whether some order fits; `None` where the limit was reached.
///
/// `after` gives the state after an operation, if it can give there what it gave.
pub fn search<S: Clone + Eq + Hash>(
    steps: &[Step],
    initial: S,
    after: impl Fn(&S, Act, Ret) -> Option<S>,
    limits: Limits<'_>,
) -> Option<bool> {
    let mut search = Search::new(steps, initial);
    let mut turns: u64 = 0;
    while let Some(at) = search.at {
        turns += 1;
        if turns.is_multiple_of(1 << 12) && !(limits.go_on)() {
            return None;
        }
        match search.entries[at] {
            Entry::Call(operation) => search.call(at, operation, &after, steps),
            Entry::Return => {
                if !search.back(steps) {
                    return Some(false);
                }
            }
        }
        if search.returns == 0 {
            return Some(true);
        }
    }
    Some(search.returns == 0)
}

#[derive(Clone, Copy)]
enum Entry {
    Call(usize),
    Return,
}

/// The key of what was tried: all operations before `first` are taken, those of `ahead` as well, and the state.
type Key<S> = (u32, Box<[u32]>, S);

struct Search<S> {
    entries: Vec<Entry>,
    /// Per entry its neighbours among those that are left; the last place stands for both ends.
    next: Vec<usize>,
    previous: Vec<usize>,
    /// Per operation its entries.
    call: Vec<usize>,
    ret: Vec<Option<usize>>,
    /// Per operation those that stand in for it while they are left.
    before: Vec<Box<[u32]>>,
    /// Per operation its rank: those that returned come first, by their calls.
    rank: Vec<u32>,
    /// All of lower rank are taken.
    first: u32,
    /// The others that are taken, by rank.
    ahead: Vec<u32>,
    /// How many returns are left.
    returns: usize,
    state: S,
    /// What was taken, and the state before.
    taken: Vec<(usize, S)>,
    seen: FxHashSet<Key<S>>,
    at: Option<usize>,
}

impl<S: Clone + Eq + Hash> Search<S> {
    fn new(steps: &[Step], initial: S) -> Search<S> {
        let mut events: Vec<(u64, usize, Entry)> = Vec::with_capacity(2 * steps.len());
        for (number, step) in steps.iter().enumerate() {
            events.push((step.from, number, Entry::Call(number)));
            if step.is_complete() {
                events.push((step.to, number, Entry::Return));
            }
        }
        events.sort_by_key(|(time, ..)| *time);
        let end = events.len();
        let mut call = vec![0; steps.len()];
        let mut ret = vec![None; steps.len()];
        for (at, (_, number, entry)) in events.iter().enumerate() {
            match entry {
                Entry::Call(_) => call[*number] = at,
                Entry::Return => ret[*number] = Some(at),
            }
        }
        let mut by_rank: Vec<usize> = (0..steps.len()).collect();
        by_rank.sort_by_key(|number| (!steps[*number].is_complete(), steps[*number].from));
        let mut rank = vec![0; steps.len()];
        by_rank.iter().enumerate().for_each(|(place, number)| rank[*number] = place as u32);
        Search {
            before: stand_ins(steps),
            next: (1..=end).chain([0]).collect(),
            previous: std::iter::once(end).chain(0..end).collect(),
            returns: ret.iter().flatten().count(),
            entries: events.into_iter().map(|(.., entry)| entry).collect(),
            call,
            ret,
            rank,
            first: 0,
            ahead: Vec::new(),
            state: initial,
            taken: Vec::new(),
            seen: FxHashSet::default(),
            at: (end > 0).then_some(0),
        }
    }

    fn head(&self) -> Option<usize> {
        let end = self.entries.len();
        Some(self.next[end]).filter(|at| *at != end)
    }

    fn after_entry(&self, at: usize) -> Option<usize> {
        Some(self.next[at]).filter(|next| *next != self.entries.len())
    }

    /// Takes an operation if its result fits and this was not tried; else goes on to the next entry.
    fn call(&mut self, at: usize, operation: usize, after: &impl Fn(&S, Act, Ret) -> Option<S>, steps: &[Step]) {
        let step = &steps[operation];
        if self.before[operation].iter().any(|other| !self.is_taken(*other as usize)) {
            self.at = self.after_entry(at);
            return;
        }
        if let Some(state) = after(&self.state, step.act, step.ret) {
            self.mark(operation);
            let key = (self.first, self.ahead.clone().into_boxed_slice(), state.clone());
            if self.seen.insert(key) {
                self.taken.push((operation, std::mem::replace(&mut self.state, state)));
                self.unlink(at);
                if let Some(ret) = self.ret[operation] {
                    self.unlink(ret);
                    self.returns -= 1;
                }
                self.at = self.head();
                return;
            }
            self.unmark(operation);
        }
        self.at = self.after_entry(at);
    }

    /// Gives back what was taken last, and goes on after the last that has alternatives; whether there was any.
    fn back(&mut self, steps: &[Step]) -> bool {
        while let Some((operation, state)) = self.taken.pop() {
            self.state = state;
            self.unmark(operation);
            if let Some(ret) = self.ret[operation] {
                self.link(ret);
                self.returns += 1;
            }
            self.link(self.call[operation]);
            if !steps[operation].only_looks() {
                self.at = self.after_entry(self.call[operation]);
                return true;
            }
        }
        false
    }

    fn is_taken(&self, operation: usize) -> bool {
        let rank = self.rank[operation];
        rank < self.first || self.ahead.binary_search(&rank).is_ok()
    }

    fn unlink(&mut self, at: usize) {
        let (previous, next) = (self.previous[at], self.next[at]);
        self.next[previous] = next;
        self.previous[next] = previous;
    }

    /// Undoes `unlink`, in reverse order.
    fn link(&mut self, at: usize) {
        let (previous, next) = (self.previous[at], self.next[at]);
        self.next[previous] = at;
        self.previous[next] = at;
    }

    fn mark(&mut self, operation: usize) {
        let rank = self.rank[operation];
        let place = self.ahead.partition_point(|other| *other < rank);
        self.ahead.insert(place, rank);
        let done = self.ahead.iter().zip(self.first..).take_while(|(rank, first)| **rank == *first).count();
        self.ahead.drain(..done);
        self.first += done as u32;
    }

    fn unmark(&mut self, operation: usize) {
        let rank = self.rank[operation];
        if rank < self.first {
            self.ahead.splice(0..0, rank + 1..self.first);
            self.first = rank;
        } else if let Ok(place) = self.ahead.binary_search(&rank) {
            self.ahead.remove(place);
        }
    }
}

/// Per operation the others that do and gave the same, were called before it and not over by then, and return no later: if it may
/// come next, so may they.
pub(crate) fn stand_ins(steps: &[Step]) -> Vec<Box<[u32]>> {
    let mut by_call: Vec<usize> = (0..steps.len()).collect();
    by_call.sort_by_key(|number| steps[*number].from);
    let mut open: FxHashMap<(Act, Ret), Vec<u32>> = FxHashMap::default();
    let mut all = vec![Box::default(); steps.len()];
    for number in by_call {
        let Step { act, ret, from, to, .. } = steps[number];
        let same = open.entry((act, ret)).or_default();
        same.retain(|other| steps[*other as usize].to > from);
        all[number] = same.iter().copied().filter(|other| steps[*other as usize].to <= to).collect();
        if to == u64::MAX {
            same.retain(|other| steps[*other as usize].to < to); // the latest of those that never return stands for the others
        }
        same.push(number as u32);
    }
    all
}

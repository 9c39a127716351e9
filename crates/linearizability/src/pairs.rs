//! Queues whose values may be equal: a search for which put goes with which take.
//!
//! If that is known, values are as good as different, and the history is linearizable if and only if (see [`crate::distinct`]) the
//! pairs have one order that real time allows for the puts as well as for the takes, no take returns before its put is
//! called, and each operation that found the queue empty has a moment at which no value must be in it. So the search chooses
//! the pairs in the order in which they pass through the queue, and remembers which puts and takes it has chosen. What lies in
//! the queue between, and in which order, it need not know: it does not try orders of puts that show themselves only when the
//! values are taken.

use crate::limits::Limits;
use crate::model::{Act, Id, Ret, Step};
use rustc_hash::FxHashSet;

/// Whether a queue's history is linearizable; `None` where it has operations of another kind, or the limit was reached.
pub fn queue(steps: &[Step], limits: Limits<'_>) -> Option<bool> {
    let mut search = Search::new(steps)?;
    let mut open: Vec<Vec<Pair>> = vec![search.choices()];
    let mut turns: u64 = 0;
    while let Some(choices) = open.last_mut() {
        turns += 1;
        if turns.is_multiple_of(1 << 10) && !(limits.go_on)() {
            return None;
        }
        if search.takes.is_all_chosen() && search.can_be_empty() {
            return Some(true);
        }
        match choices.pop() {
            Some(pair) => {
                if search.choose(pair) {
                    open.push(search.choices());
                } else {
                    search.give_back();
                }
            }
            None => {
                open.pop();
                search.give_back();
            }
        }
    }
    Some(false)
}

/// A put and a take.
type Pair = (usize, usize);

/// Moments between two events.
type Stretch = (u64, u64);

/// An operation that found the queue empty, and when it may have been so.
type Before = (usize, Vec<Stretch>);

struct Search {
    puts: Side,
    takes: Side,
    /// Operations that found the queue empty: when they were called and returned.
    empty: Vec<Stretch>,
    /// Per operation that found the queue empty, when it may have been so.
    free: Vec<Vec<Stretch>>,
    /// The pairs that are chosen, with what `free` was where that changed it.
    chosen: Vec<(Pair, Vec<Before>)>,
    seen: FxHashSet<Box<[u64]>>,
}

impl Search {
    fn new(steps: &[Step]) -> Option<Search> {
        let (mut puts, mut takes, mut empty) = (Vec::new(), Vec::new(), Vec::new());
        for step in steps {
            let operation = |value| Operation { value, call: step.from, ret: step.to };
            match (step.act, step.ret) {
                (Act::PushBack(value), _) => puts.push(operation(value)),
                (Act::PopFront, Ret::Value(value)) if step.is_complete() => takes.push(operation(value)),
                (Act::PopFront, Ret::Nothing) if step.is_complete() => empty.push((step.from, step.to)),
                (_, Ret::Unknown) if step.only_looks() => {} // a put that found no room, or a look that shows nothing
                _ => return None,
            }
        }
        let free = empty.iter().map(|stretch| vec![*stretch]).collect();
        let (puts, takes) = (Side::new(puts), Side::new(takes));
        Some(Search { puts, takes, empty, free, chosen: Vec::new(), seen: FxHashSet::default() })
    }

    /// The pairs that may come next; the one whose operations return first is last.
    fn choices(&self) -> Vec<Pair> {
        let mut all: Vec<Pair> = Vec::new();
        let puts: Vec<usize> = self.puts.next().collect();
        for take in self.takes.next() {
            let taken = self.takes.all[take];
            let fits = |put: &Operation| put.value == taken.value && put.call < taken.ret;
            all.extend(puts.iter().filter(|put| fits(&self.puts.all[**put])).map(|put| (*put, take)));
        }
        all.sort_unstable_by_key(|(put, take)| std::cmp::Reverse((self.takes.all[*take].ret, self.puts.all[*put].ret)));
        all
    }

    /// Chooses a pair; whether that may lead to an order, and was not tried.
    fn choose(&mut self, (put, take): Pair) -> bool {
        let full = (self.puts.all[put].ret, self.takes.all[take].call);
        self.puts.choose(put);
        self.takes.choose(take);
        let mut changed = Vec::new();
        for (number, (call, ret)) in self.empty.iter().enumerate() {
            if full.0 < full.1 && full.0 < *ret && *call < full.1 {
                let rest = without(&self.free[number], full);
                changed.push((number, std::mem::replace(&mut self.free[number], rest)));
            }
        }
        let is_open = changed.iter().all(|(number, _)| !self.free[*number].is_empty());
        self.chosen.push(((put, take), changed));
        is_open && self.is_new()
    }

    /// Gives the last pair back, if there is one.
    fn give_back(&mut self) {
        let Some(((put, take), changed)) = self.chosen.pop() else { return };
        self.puts.give_back(put);
        self.takes.give_back(take);
        changed.into_iter().for_each(|(number, free)| self.free[number] = free);
    }

    fn is_new(&mut self) -> bool {
        let mut key = Vec::new();
        self.puts.write_key(&mut key);
        self.takes.write_key(&mut key);
        // What is left of the others is not changed any more.
        let earliest = self.puts.earliest_return();
        for (number, (call, ret)) in self.empty.iter().enumerate() {
            if *ret > earliest && self.free[number] != [(*call, *ret)] {
                key.extend([number as u64, self.free[number].len() as u64]);
                key.extend(self.free[number].iter().flat_map(|(from, to)| [*from, *to]));
            }
        }
        self.seen.insert(key.into_boxed_slice())
    }

    /// Whether the values that nothing takes leave a moment to each operation that found the queue empty.
    fn can_be_empty(&self) -> bool {
        let earliest = self.puts.earliest_return();
        self.free.iter().all(|free| free.iter().any(|(from, _)| *from < earliest))
    }
}

/// What is left of stretches of time.
fn without(stretches: &[Stretch], full: Stretch) -> Vec<Stretch> {
    let parts = stretches.iter().flat_map(|(from, to)| [(*from, full.0.min(*to)), (full.1.max(*from), *to)]);
    parts.filter(|(from, to)| from < to).collect()
}

/// A put or a take: its value, when it was called, and when it returned.
#[derive(Clone, Copy)]
struct Operation {
    value: Id,
    call: u64,
    ret: u64,
}

/// The puts or the takes, and which of them are chosen.
struct Side {
    /// Those that returned, by when they were called; then the others.
    all: Vec<Operation>,
    complete: usize,
    /// All before this one are chosen.
    first: usize,
    /// The others that are, in order.
    ahead: Vec<usize>,
}

impl Side {
    fn new(mut all: Vec<Operation>) -> Side {
        all.sort_unstable_by_key(|operation| (operation.ret == u64::MAX, operation.call));
        let complete = all.partition_point(|operation| operation.ret != u64::MAX);
        Side { all, complete, first: 0, ahead: Vec::new() }
    }

    fn is_all_chosen(&self) -> bool {
        self.first == self.all.len()
    }

    fn is_left(&self, at: &usize) -> bool {
        *at >= self.first && self.ahead.binary_search(at).is_err()
    }

    /// When the first of the others returned.
    fn earliest_return(&self) -> u64 {
        let mut earliest = u64::MAX;
        for at in (self.first..self.complete).filter(|at| self.is_left(at)) {
            if self.all[at].call > earliest {
                break;
            }
            earliest = earliest.min(self.all[at].ret);
        }
        earliest
    }

    /// Those before which real time puts no other one.
    fn next(&self) -> impl Iterator<Item = usize> {
        let earliest = self.earliest_return();
        let is_called = move |at: &usize| self.all[*at].call < earliest;
        let complete = (self.first..self.complete).filter(|at| self.is_left(at)).take_while(is_called);
        let open = (self.complete.max(self.first)..self.all.len()).filter(|at| self.is_left(at)).filter(is_called);
        complete.chain(open)
    }

    fn choose(&mut self, at: usize) {
        let place = self.ahead.partition_point(|other| *other < at);
        self.ahead.insert(place, at);
        let done = self.ahead.iter().zip(self.first..).take_while(|(at, first)| **at == *first).count();
        self.ahead.drain(..done);
        self.first += done;
    }

    fn give_back(&mut self, at: usize) {
        if at < self.first {
            self.ahead.splice(0..0, at + 1..self.first);
            self.first = at;
        } else if let Ok(place) = self.ahead.binary_search(&at) {
            self.ahead.remove(place);
        }
    }

    fn write_key(&self, key: &mut Vec<u64>) {
        key.extend([self.first as u64, self.ahead.len() as u64]);
        key.extend(self.ahead.iter().map(|at| *at as u64));
    }
}

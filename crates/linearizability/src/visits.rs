//! Queues whose values may be equal: a search for the order in which values pass the front.
//!
//! Each value at the front has a *visit*: its put, the looks that saw it, and the take that ended it. If visits have one order that real time
//! allows for the puts, and one for the looks and takes (the *views*), values are as good as different. So the search chooses visits in the
//! order in which they pass, and remembers which puts and views it has chosen. What lies in the queue between, and in which order, it need not
//! know: it does not try orders of puts that show themselves only when the values are taken.
//!
//! *Lemma.* Let each put have the latest call among the puts up to it as its moment, and each view the latest of its own call, that of
//! the views up to it, and the moment of its visit's put. An operation that found the queue empty comes after all that was chosen
//! before it and before all that is chosen later, so no later moment is before its own. The choice is a linearization if and only if
//! each moment lies before the return of its operation. *Proof.* In any linearization with this order of visits, each operation comes no earlier than its moment, since all that
//! the moment is a maximum of come before it. Conversely the moments (in the order of the choice where they are equal) lie between call and
//! return, keep puts and views in order, and put each value in before it is seen.
//!
//! So the two latest moments, of puts and of views, are all that a search has to know of its past. It leaves out choices that another one
//! of equal effect can stand in for: one that returns no later, and whose call moves the moment no further.

use crate::limits::Limits;
use crate::model::{Act, Id, Ret, Step};
use rustc_hash::FxHashSet;

/// Whether a queue's history is linearizable; `None` where it has operations of another kind, or the limit was reached.
pub fn queue(steps: &[Step], limits: Limits<'_>) -> Option<bool> {
    let mut search = Search::new(steps)?;
    let mut open: Vec<Vec<Choice>> = vec![search.choices()];
    let mut turns: u64 = 0;
    while let Some(choices) = open.last_mut() {
        turns += 1;
        if turns.is_multiple_of(1 << 10) && !(limits.go_on)() {
            return None;
        }
        if search.views.is_all_chosen() {
            return Some(true);
        }
        match choices.pop() {
            Some(choice) => {
                if search.choose(choice) {
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

/// What comes next.
#[derive(Clone, Copy)]
enum Choice {
    /// The value of this put comes to the front.
    Put(usize),
    /// A look or take.
    View(usize),
}

/// What a choice changed: the choice, and what was before.
struct Undo {
    choice: Choice,
    front: Option<usize>,
    moments: (u64, u64),
}

struct Search {
    puts: Side,
    views: Side,
    /// The put whose value is at the front.
    front: Option<usize>,
    /// The moments of the latest put and the latest view.
    moments: (u64, u64),
    /// How many operations that found the queue empty are left.
    empty: usize,
    chosen: Vec<Undo>,
    seen: FxHashSet<Box<[u64]>>,
}

impl Search {
    fn new(steps: &[Step]) -> Option<Search> {
        let (mut puts, mut views) = (Vec::new(), Vec::new());
        for step in steps {
            let operation = |sees| Operation { sees, call: step.from, ret: step.to };
            match (step.act, step.ret) {
                (Act::PushBack(value), _) => puts.push(operation(Sees::Taken(value))),
                (Act::PopFront, Ret::Value(value)) if step.is_complete() => views.push(operation(Sees::Taken(value))),
                (Act::PeekFront, Ret::Value(value)) if step.is_complete() => views.push(operation(Sees::Front(value))),
                (Act::PopFront | Act::PeekFront, Ret::Nothing) if step.is_complete() => {
                    views.push(operation(Sees::Empty));
                }
                (_, Ret::Unknown) if step.only_looks() => {} // a put that found no room, or a look that shows nothing
                _ => return None,
            }
        }
        let empty = views.iter().filter(|view| view.sees == Sees::Empty).count();
        let (puts, views) = (Side::new(puts), Side::new(views));
        Some(Search {
            puts,
            views,
            front: None,
            moments: (0, 0),
            empty,
            chosen: Vec::new(),
            seen: FxHashSet::default(),
        })
    }

    /// What may come next; what returns first is last.
    fn choices(&self) -> Vec<Choice> {
        let views: Vec<usize> = self.views.next().collect();
        match self.front {
            Some(front) => self.views_of(self.puts.all[front].sees.value(), &views),
            None => self.found_empty(&views).map_or_else(|| self.fronts(&views), |view| vec![Choice::View(view)]),
        }
    }

    /// An operation that found the queue empty, where it may come next: it changes nothing, so that nothing else need be tried.
    fn found_empty(&self, views: &[usize]) -> Option<usize> {
        let earliest = self.puts.earliest_return().min(self.views.earliest_return());
        let may_come = |view: &&usize| {
            let view = &self.views.all[**view];
            view.sees == Sees::Empty && self.moments.0.max(self.moments.1).max(view.call) < earliest
        };
        views.iter().find(may_come).copied()
    }

    /// The puts whose values may come to the front.
    fn fronts(&self, views: &[usize]) -> Vec<Choice> {
        let mut all: Vec<(u64, u64, usize)> = Vec::new();
        for put in without_doubles(&self.puts, self.moments.0) {
            let Operation { sees, call, ret } = self.puts.all[put];
            let moment = self.moments.0.max(self.moments.1).max(call);
            let sees_it = |view: &&usize| {
                let view = &self.views.all[**view];
                view.sees != Sees::Empty && view.sees.value() == sees.value() && moment.max(view.call) < view.ret
            };
            let first = views.iter().filter(sees_it).map(|view| self.views.all[*view].ret).min();
            all.extend(first.map(|first| (first, ret, put)));
        }
        all.sort_unstable_by_key(|one| std::cmp::Reverse(*one));
        all.into_iter().map(|(.., put)| Choice::Put(put)).collect()
    }

    /// The views that may see the value at the front next. A look that moves no moment which others depend on need not have others in its
    /// place.
    fn views_of(&self, value: Id, views: &[usize]) -> Vec<Choice> {
        let latest = self.moments.0.max(self.moments.1);
        let looks = |view: &&usize| self.views.all[**view].sees == Sees::Front(value);
        let is_free = |view: &&usize| self.empty == 0 || self.views.all[**view].call <= latest;
        if let Some(look) = views.iter().filter(looks).find(is_free) {
            return vec![Choice::View(*look)];
        }
        let mut all: Vec<usize> = without_doubles(&self.views, latest);
        all.retain(|view| self.views.all[*view].sees != Sees::Empty && self.views.all[*view].sees.value() == value);
        all.sort_unstable_by_key(|view| std::cmp::Reverse(self.views.all[*view].ret));
        all.into_iter().map(Choice::View).collect()
    }

    /// Makes a choice; whether that may lead to a linearization, and was not tried.
    fn choose(&mut self, choice: Choice) -> bool {
        self.chosen.push(Undo { choice, front: self.front, moments: self.moments });
        let (put, view) = self.moments;
        match choice {
            Choice::Put(at) => {
                self.moments.0 = put.max(self.puts.all[at].call);
                self.front = Some(at);
                self.puts.choose(at);
            }
            Choice::View(at) => {
                let Operation { sees, call, .. } = self.views.all[at];
                self.moments.1 = put.max(view).max(call);
                match sees {
                    Sees::Taken(_) => self.front = None,
                    Sees::Front(_) => {}
                    Sees::Empty => {
                        self.moments.0 = self.moments.1;
                        self.empty -= 1;
                    }
                }
                self.views.choose(at);
            }
        }
        let (put, view) = self.moments;
        put < self.puts.earliest_return() && put.max(view) < self.views.earliest_return() && self.is_new()
    }

    /// Gives the last choice back, if there is one.
    fn give_back(&mut self) {
        let Some(Undo { choice, front, moments }) = self.chosen.pop() else { return };
        (self.front, self.moments) = (front, moments);
        match choice {
            Choice::Put(at) => self.puts.give_back(at),
            Choice::View(at) => {
                self.empty += usize::from(self.views.all[at].sees == Sees::Empty);
                self.views.give_back(at);
            }
        }
    }

    fn is_new(&mut self) -> bool {
        let mut key = vec![self.front.map_or(0, |put| put as u64 + 1), self.moments.0, self.moments.1];
        self.puts.write_key(&mut key);
        self.views.write_key(&mut key);
        self.seen.insert(key.into_boxed_slice())
    }
}

/// Those that may come next, but of two with the same effect one where it can stand in for the other.
fn without_doubles(side: &Side, latest: u64) -> Vec<usize> {
    let next: Vec<usize> = side.next().collect();
    let stands_in = |one: usize, other: usize| {
        let (first, second) = (&side.all[one], &side.all[other]);
        let is_no_worse = first.sees == second.sees && first.ret <= second.ret && first.call <= latest.max(second.call);
        let is_equal = first.ret == second.ret && second.call <= latest.max(first.call);
        is_no_worse && !(is_equal && one > other) && one != other
    };
    next.iter().copied().filter(|one| !next.iter().any(|other| stands_in(*other, *one))).collect()
}

/// What an operation puts in or sees.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sees {
    /// A value that it puts in, or takes.
    Taken(Id),
    /// A value that it looks at.
    Front(Id),
    /// That the queue is empty.
    Empty,
}

impl Sees {
    fn value(self) -> Id {
        match self {
            Sees::Taken(value) | Sees::Front(value) => value,
            Sees::Empty => Id::MAX,
        }
    }
}

/// A put or a view: when it was called, and when it returned.
#[derive(Clone, Copy)]
struct Operation {
    sees: Sees,
    call: u64,
    ret: u64,
}

/// The puts or the views, and which of them are chosen.
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

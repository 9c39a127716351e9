//! Control states of a search: which operations are taken. What may come next depends on nothing else, so each is looked at once.

use crate::model::Step;
use crate::search::stand_ins;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Which operations are taken: all before the first number, and these others, by rank.
type Taken = (u32, Rc<[u32]>);

/// Operations, each with the control state after it.
pub(crate) type Moves = Rc<[(u32, u32)]>;

/// The control states that were met.
pub(crate) struct Controls {
    /// The operations by rank: those that returned come first, by their calls.
    by_rank: Vec<u32>,
    /// Per rank when the operation was called, and when it returned.
    times: Vec<(u64, u64)>,
    /// How many returned.
    complete: u32,
    /// Per rank the ranks of those that stand in for it while they are left.
    before: Vec<Box<[u32]>>,
    numbers: FxHashMap<Taken, u32>,
    all: Vec<Control>,
}

struct Control {
    taken: Taken,
    /// When the latest of those was called.
    latest: u64,
    /// When the first of those that are left returns, and what may come next; once that was asked.
    next: Option<(u64, Moves)>,
}

impl Controls {
    /// None yet but the first one, in which nothing is taken.
    pub(crate) fn new(steps: &[Step]) -> (Controls, u32) {
        let mut by_rank: Vec<u32> = (0..steps.len() as u32).collect();
        by_rank.sort_by_key(|number| (!steps[*number as usize].is_complete(), steps[*number as usize].from));
        let mut rank = vec![0; steps.len()];
        by_rank.iter().zip(0..).for_each(|(number, place)| rank[*number as usize] = place);
        let before = stand_ins(steps);
        let of_ranks = |others: &[u32]| others.iter().map(|other| rank[*other as usize]).collect();
        let mut controls = Controls {
            times: by_rank.iter().map(|number| (steps[*number as usize].from, steps[*number as usize].to)).collect(),
            complete: steps.iter().filter(|step| step.is_complete()).count() as u32,
            before: by_rank.iter().map(|number| of_ranks(&before[*number as usize])).collect(),
            by_rank,
            numbers: FxHashMap::default(),
            all: Vec::new(),
        };
        let start = controls.number((0, Rc::default()), 0);
        (controls, start)
    }

    /// Whether all that returned are taken.
    pub(crate) fn is_done(&self, control: u32) -> bool {
        self.all[control as usize].taken.0 >= self.complete
    }

    /// When the latest call of those that are taken was.
    pub(crate) fn latest(&self, control: u32) -> u64 {
        self.all[control as usize].latest
    }

    /// When the first of those that are left returns.
    pub(crate) fn earliest(&mut self, control: u32) -> u64 {
        self.look_ahead(control).0
    }

    /// What may come next; what returns first is first.
    pub(crate) fn next(&mut self, control: u32) -> Moves {
        self.look_ahead(control).1
    }

    fn number(&mut self, taken: Taken, latest: u64) -> u32 {
        let number = self.all.len() as u32;
        let known = *self.numbers.entry(taken.clone()).or_insert(number);
        if known == number {
            self.all.push(Control { taken, latest, next: None });
        }
        known
    }

    fn look_ahead(&mut self, control: u32) -> (u64, Moves) {
        let Control { taken, latest, next } = &self.all[control as usize];
        if let Some(known) = next {
            return known.clone();
        }
        let (latest, (first, ahead)) = (*latest, taken.clone());
        let is_left = |rank: u32| rank >= first && ahead.binary_search(&rank).is_err();
        let (mut earliest, mut left) = (u64::MAX, Vec::new());
        for rank in (first..self.complete).filter(|rank| is_left(*rank)) {
            let (call, ret) = self.times[rank as usize];
            if call > earliest {
                break;
            }
            earliest = earliest.min(ret);
            left.push(rank);
        }
        left.extend((self.complete.max(first)..self.times.len() as u32).filter(|rank| is_left(*rank)));
        left.retain(|rank| {
            let has_stand_in = self.before[*rank as usize].iter().any(|other| is_left(*other));
            self.times[*rank as usize].0 < earliest && !has_stand_in
        });
        left.sort_by_key(|rank| self.times[*rank as usize].1);
        let after = |rank: &u32| {
            let latest = latest.max(self.times[*rank as usize].0);
            (self.by_rank[*rank as usize], self.number(with(first, &ahead, *rank), latest))
        };
        let moves: Moves = left.iter().map(after).collect();
        self.all[control as usize].next = Some((earliest, moves.clone()));
        (earliest, moves)
    }
}

/// Takes one more.
fn with(first: u32, ahead: &[u32], rank: u32) -> Taken {
    let place = ahead.partition_point(|other| *other < rank);
    let mut more = Vec::with_capacity(ahead.len() + 1);
    more.extend_from_slice(&ahead[..place]);
    more.push(rank);
    more.extend_from_slice(&ahead[place..]);
    let done = more.iter().zip(first..).take_while(|(rank, first)| **rank == *first).count();
    (first + done as u32, more[done..].into())
}

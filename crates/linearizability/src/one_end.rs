//! One end of a deque: what it can do by itself, and where it needs the other end.
//!
//! What is put at an end and taken there again lies on a stack (`levels.rs`), on top of what comes from the other end or goes
//! there.

use crate::controls::{Controls, Moves};
use crate::levels::Levels;
use crate::limits::{Limits, Turns};
use crate::model::{Act, Id, Ret, Step};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::rc::Rc;

/// What an operation does at its end.
#[derive(Clone, Copy)]
enum Move {
    Put(Id),
    /// Takes this value; without a value what there is, if there is something.
    Take(Option<Id>),
    Look(Id),
    /// Neither changes nor shows anything.
    Nothing,
    /// Finds the deque empty.
    FindNone,
}

fn move_of(step: &Step) -> Option<Move> {
    Some(match (step.act, step.ret) {
        (Act::PushFront(value) | Act::PushBack(value), _) => Move::Put(value),
        (Act::PopFront | Act::PopBack, Ret::Value(value)) => Move::Take(Some(value)),
        (Act::PopFront | Act::PopBack, Ret::Unknown) => Move::Take(None),
        (Act::PeekFront | Act::PeekBack, Ret::Value(value)) => Move::Look(value),
        (Act::PeekFront | Act::PeekBack, Ret::Unknown) => Move::Nothing, // a put that found no room, or a look that shows nothing
        (Act::PopFront | Act::PopBack | Act::PeekFront | Act::PeekBack, Ret::Nothing) => Move::FindNone,
        _ => return None,
    })
}

/// A point in an end's order at which its stack is empty.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    /// Which operations are taken.
    control: u32,
    /// A value that the last operation looked at: it has taken it, and puts it next.
    held: Option<Id>,
}

impl Place {
    fn without_value(control: u32) -> Place {
        Place { control, held: None }
    }
}

/// What an end does together with the other one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum With {
    /// It puts a value that the other end takes.
    Put(Id),
    /// It takes a value that the other end put: this one, or any.
    Take(Option<Id>),
    /// An operation of both, by its position, finds the deque empty.
    FindNone(usize),
    /// An operation of this end alone may find the deque empty.
    MayFindNone,
    /// It does nothing while an operation of the other end may find the deque empty.
    BeEmpty,
}

/// A move that needs the other end.
pub(crate) struct Crossing {
    pub(crate) with: With,
    /// When the first operation returned that was not taken before.
    pub(crate) earliest: u64,
    /// When the last operation was called that is taken then.
    pub(crate) latest: u64,
    pub(crate) after: Place,
}

pub(crate) struct OneEnd<'a> {
    moves: Vec<Move>,
    /// Per operation when it was called, and its position in the history.
    calls: Vec<(u64, usize)>,
    controls: Controls,
    levels: Levels,
    crossings: FxHashMap<Place, Rc<[Crossing]>>,
    /// From where the rest cannot be done.
    dead: FxHashSet<Place>,
    pub(crate) turns: Turns<'a>,
}

impl<'a> OneEnd<'a> {
    /// An end with these operations, and where it begins; nothing if it does not know one of them.
    pub(crate) fn new(steps: &[Step], limits: Limits<'a>) -> Option<(OneEnd<'a>, Place)> {
        let moves = steps.iter().map(move_of).collect::<Option<_>>()?;
        let (controls, start) = Controls::new(steps);
        let end = OneEnd {
            moves,
            calls: steps.iter().map(|step| (step.from, step.operation)).collect(),
            controls,
            levels: Levels::default(),
            crossings: FxHashMap::default(),
            dead: FxHashSet::default(),
            turns: Turns::new(limits),
        };
        Some((end, Place::without_value(start)))
    }

    /// What may come next with this value on top of the stack: all, or one look that fits and was called no later than what is taken. Such a look may
    /// come first in any order of the rest: it hinders neither this end nor, by when it was called, the other one.
    fn next(&mut self, control: u32, top: Option<Id>) -> (Moves, Range<usize>) {
        let latest = self.controls.latest(control);
        let next = self.controls.next(control);
        let look = next.iter().position(|(operation, _)| {
            let looks = match self.moves[*operation as usize] {
                Move::Look(value) => top == Some(value),
                Move::Nothing => true,
                Move::Put(_) | Move::Take(_) | Move::FindNone => false,
            };
            looks && self.calls[*operation as usize].0 <= latest
        });
        let all = look.map_or(0..next.len(), |look| look..look + 1);
        (next, all)
    }

    /// Adds the places to which a value leads that was put there, in this control state: it is taken, or looked at.
    fn above(&mut self, value: Id, control: u32, into: &mut Vec<Place>) {
        let level = self.levels.level(Some(value), control);
        while self.turns.go_on() {
            let Some((level, control)) = self.levels.next() else { break };
            self.go_on(level, control);
        }
        let (taken, looked_at) = self.levels.left(level);
        into.extend(taken.iter().copied().map(Place::without_value));
        into.extend(looked_at.iter().map(|control| Place { control: *control, held: Some(value) }));
    }

    /// All that may come next on this level.
    fn go_on(&mut self, level: u32, control: u32) {
        let top = self.levels.value(level);
        let (next, all) = self.next(control, top);
        for (operation, after) in &next[all] {
            match self.moves[*operation as usize] {
                Move::Put(value) => self.levels.put(value, *after, level),
                Move::Take(value) if value.is_none() || value == top => self.levels.take(level, *after),
                Move::Look(value) if Some(value) == top => self.levels.look(level, *after),
                Move::Nothing => self.levels.reach(level, *after),
                Move::Take(_) | Move::Look(_) | Move::FindNone => {}
            }
        }
    }

    /// Adds the places to which a value leads that is put and taken here, or an operation that does nothing.
    fn step(&mut self, place: Place, into: &mut Vec<Place>) {
        if let Some(value) = place.held {
            self.above(value, place.control, into);
            return;
        }
        let (next, all) = self.next(place.control, None);
        for (operation, after) in &next[all] {
            match self.moves[*operation as usize] {
                Move::Put(value) => self.above(value, *after, into),
                Move::Nothing => into.push(Place::without_value(*after)),
                Move::Take(_) | Move::Look(_) | Move::FindNone => {}
            }
        }
    }

    /// The moves with the other end that may come next, after any that this end makes by itself.
    pub(crate) fn crossings(&mut self, place: Place) -> Rc<[Crossing]> {
        if let Some(known) = self.crossings.get(&place) {
            return known.clone();
        }
        let (mut seen, mut open, mut next) = (FxHashSet::from_iter([place]), vec![place], Vec::new());
        let mut all = Vec::new();
        while let Some(place) = open.pop() {
            self.cross(place, &mut all);
            self.step(place, &mut next);
            open.extend(next.drain(..).filter(|place| seen.insert(*place)));
        }
        let all: Rc<[Crossing]> = all.into();
        self.crossings.insert(place, all.clone());
        all
    }

    /// Adds the moves with the other end that may come at this place.
    fn cross(&mut self, place: Place, into: &mut Vec<Crossing>) {
        let earliest = self.controls.earliest(place.control);
        let mut add = |controls: &Controls, with: With, after: Place| {
            into.push(Crossing { with, earliest, latest: controls.latest(after.control), after });
        };
        if let Some(value) = place.held {
            add(&self.controls, With::Put(value), Place::without_value(place.control));
            return;
        }
        add(&self.controls, With::BeEmpty, place);
        let (next, all) = self.next(place.control, None);
        for (operation, after) in &next[all] {
            let free = Place::without_value(*after);
            match self.moves[*operation as usize] {
                Move::Put(value) => add(&self.controls, With::Put(value), free),
                Move::Take(value) => {
                    add(&self.controls, With::Take(value), free);
                    if value.is_none() {
                        add(&self.controls, With::MayFindNone, free);
                    }
                }
                Move::Look(value) => {
                    add(&self.controls, With::Take(Some(value)), Place { control: *after, held: Some(value) });
                }
                Move::FindNone => add(&self.controls, With::FindNone(self.calls[*operation as usize].1), free),
                Move::Nothing => {}
            }
        }
    }

    /// Whether the rest can be done without the other end, if what is put may stay.
    pub(crate) fn can_finish(&mut self, place: Place) -> bool {
        let (mut seen, mut open, mut next) = (FxHashSet::from_iter([place]), vec![place], Vec::new());
        while let Some(place) = open.pop() {
            if self.controls.is_done(place.control) {
                return true;
            }
            if self.dead.contains(&place) {
                continue;
            }
            self.step(place, &mut next);
            self.leave(place, &mut next);
            open.extend(next.drain(..).filter(|place| seen.insert(*place)));
        }
        self.dead.extend(seen);
        false
    }

    /// Adds the places to which a value leads that is put and stays.
    fn leave(&mut self, place: Place, into: &mut Vec<Place>) {
        if place.held.is_some() {
            into.push(Place::without_value(place.control));
            return;
        }
        let (next, all) = self.next(place.control, None);
        let puts = next[all].iter().filter(|(operation, _)| matches!(self.moves[*operation as usize], Move::Put(_)));
        into.extend(puts.map(|(_, after)| Place::without_value(*after)));
    }
}

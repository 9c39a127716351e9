//! The numbers of objects, and what an access of memory uses: a variable is four bytes; of narrower accesses their bytes are
//! objects, too.

use foretrace_explore::{Mode, Use};
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::collections::BTreeMap;
use std::ops::Range;

/// Bytes of a variable.
const VARIABLE: u64 = 4;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Object {
    Variable(u64),
    Byte(u64),
    Synchronisation(u64),
    /// The order in which threads come to a barrier.
    Arrivals(u64),
    /// A round of a barrier.
    Round(u64, u64),
}

/// Who accesses a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Users {
    One(usize),
    Several,
}

/// The variables of so many bytes, counted from address 0 on.
fn variables(address: u64, bytes: u64) -> Range<u64> {
    address / VARIABLE..address.saturating_add(bytes).div_ceil(VARIABLE)
}

/// Objects by number, the same in every execution.
#[derive(Default)]
pub struct Objects {
    numbers: FxHashMap<Object, u32>,
    /// Of the variables that executions have shown so far.
    users: BTreeMap<u64, Users>,
    /// The same of locks, conditions, semaphores and their like, by address.
    users_of_synchronisation: BTreeMap<u64, Users>,
    /// Pieces of memory that are given back together: address and bytes of each.
    freed: IndexSet<Vec<(u64, u64)>, FxBuildHasher>,
}

fn note(all: &mut BTreeMap<u64, Users>, key: u64, thread: usize) {
    let users = all.entry(key).or_insert(Users::One(thread));
    if *users != Users::One(thread) {
        *users = Users::Several;
    }
}

impl Objects {
    fn number(&mut self, object: Object) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(object).or_insert(next)
    }

    /// The use of a lock, a condition, a semaphore or their like, by address.
    pub fn synchronisation(&mut self, address: u64, mode: Mode) -> Use {
        Use { object: self.number(Object::Synchronisation(address)), mode }
    }

    /// The uses of a thread that comes to a round of a barrier. Which thread comes last makes a difference: it gets the special result.
    pub fn arrival(&mut self, barrier: u64, round: u64) -> Vec<Use> {
        vec![
            self.synchronisation(barrier, Mode::Read),
            Use { object: self.number(Object::Arrivals(barrier)), mode: Mode::Any },
            Use { object: self.number(Object::Round(barrier, round)), mode: Mode::Arrive },
        ]
    }

    /// The uses of a thread that leaves a round of a barrier: it comes after those that came to this round, and in no order with others.
    pub fn departure(&mut self, barrier: u64, round: u64) -> Vec<Use> {
        let round = Use { object: self.number(Object::Round(barrier, round)), mode: Mode::Depart };
        vec![self.synchronisation(barrier, Mode::Read), round]
    }

    /// A thread accesses so many bytes in some execution.
    pub fn see(&mut self, thread: usize, address: u64, bytes: u64) {
        for variable in variables(address, bytes) {
            note(&mut self.users, variable, thread);
        }
    }

    /// A thread uses a lock, a condition, a semaphore or their like in some execution.
    pub fn see_synchronisation(&mut self, thread: usize, address: u64) {
        note(&mut self.users_of_synchronisation, address, thread);
    }

    /// Whether several threads access memory in the executions so far.
    pub fn is_shared(&self, address: u64, bytes: u64) -> bool {
        variables(address, bytes).any(|variable| self.users.get(&variable) == Some(&Users::Several))
    }

    /// A number for pieces of memory that are given back together; 0 for none.
    pub fn frees(&mut self, pieces: Vec<(u64, u64)>) -> u32 {
        if pieces.is_empty() {
            return 0;
        }
        self.freed.insert_full(pieces).0 as u32 + 1
    }

    /// Address and bytes of each piece of memory that is given back with this number.
    pub fn pieces(&self, frees: u32) -> &[(u64, u64)] {
        let pieces = (frees as usize).checked_sub(1).and_then(|index| self.freed.get_index(index));
        pieces.map_or(&[], Vec::as_slice)
    }

    /// What giving them back is to other threads: a write of what these access there, and a use of their locks and the like,
    /// as far as executions have shown.
    pub fn freed(&mut self, frees: u32, by: usize) -> Vec<Use> {
        let is_of_others = |users: &Users| *users != Users::One(by);
        let mut uses = Vec::new();
        for (address, bytes) in self.pieces(frees) {
            let seen = self.users.range(variables(*address, *bytes)).filter(|(_, users)| is_of_others(users));
            uses.extend(seen.map(|(variable, _)| (Object::Variable(variable * VARIABLE), Mode::Write)));
            let within = *address..address.saturating_add(*bytes);
            let seen = self.users_of_synchronisation.range(within).filter(|(_, users)| is_of_others(users));
            uses.extend(seen.map(|(address, _)| (Object::Synchronisation(*address), Mode::Any)));
        }
        uses.into_iter().map(|(object, mode)| Use { object: self.number(object), mode }).collect()
    }

    /// The uses of an access to so many bytes.
    pub fn access(&mut self, address: u64, bytes: u64, writes: bool) -> Vec<Use> {
        let end = address.saturating_add(bytes);
        let (whole, part) = if writes { (Mode::Write, Mode::WritePart) } else { (Mode::Read, Mode::ReadPart) };
        let mut uses = Vec::new();
        let mut variable = address - address % VARIABLE;
        while variable < end {
            let (from, to) = (address.max(variable), end.min(variable.saturating_add(VARIABLE)));
            let object = self.number(Object::Variable(variable));
            if to - from == VARIABLE {
                uses.push(Use { object, mode: whole });
            } else {
                uses.push(Use { object, mode: part });
                uses.extend((from..to).map(|byte| Use { object: self.number(Object::Byte(byte)), mode: whole }));
            }
            variable = variable.saturating_add(VARIABLE);
        }
        uses
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretrace_explore::{Action, Relation};

    fn relation(one: (u64, u64, bool), other: (u64, u64, bool)) -> Relation {
        let mut objects = Objects::default();
        let mut action = |(address, bytes, writes)| Action::new(objects.access(address, bytes, writes).into());
        let (one, other) = (action(one), action(other));
        one.relation(&other)
    }

    /// Two accesses depend on each other where they share a byte and one of them writes: every pair of small accesses.
    #[test]
    fn accesses_depend_on_each_other_where_they_share_a_written_byte() {
        let sizes = [1, 2, 4, 8];
        let all = || (0..10).flat_map(move |at| sizes.into_iter().map(move |bytes| (at, bytes)));
        for (at, bytes) in all() {
            for (other_at, other_bytes) in all() {
                let shares = at < other_at + other_bytes && other_at < at + bytes;
                for (writes, other_writes) in [(false, false), (false, true), (true, false), (true, true)] {
                    let expected =
                        if shares && (writes || other_writes) { Relation::Race } else { Relation::Independent };
                    let found = relation((at, bytes, writes), (other_at, other_bytes, other_writes));
                    assert_eq!(found, expected, "{bytes} bytes at {at}, {other_bytes} at {other_at}");
                }
            }
        }
    }
}

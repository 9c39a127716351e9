//! The levels of a stack: values, each with the control state in which it was put.
//!
//! A history of a stack is a pushdown system: which operations are taken is its control state, and each operation that may come next puts a value on
//! top, takes it, or looks at it. Whether a control state is reachable with any contents is decided in polynomial time in the number of control
//! states (Bouajjani, Esparza, Maler, "Reachability Analysis of Pushdown Automata", CONCUR 1997). That number grows with how many operations overlap,
//! not with the orders in which values may lie in the stack. The levels are tabulated as Reps, Horwitz and Sagiv do ("Precise Interprocedural Dataflow
//! Analysis via Graph Reachability", POPL 1995): what can happen above a level, and in which control states it is taken, does not depend on
//! what lies below. So each level is looked at once for all contents below it.
//!
//! *Lemma.* A level and a control state are reached together if and only if some order of the operations leads to that control state with that level's
//! value on top, unchanged since it was put. *Proof.* By induction on the order, and on when the two were reached. A put leads to a new level. A look
//! stays on its level. A take leads back to each level on which this one was put; there what was on top is on top again.

use crate::model::Id;
use rustc_hash::{FxHashMap, FxHashSet};

/// A value in the stack.
struct Level {
    /// The value; nothing stands for the bottom.
    value: Option<Id>,
    /// The levels on which it was put.
    below: Vec<u32>,
    /// The control states in which it was taken.
    taken: Vec<u32>,
    /// Those in which it had just been looked at.
    looked_at: Vec<u32>,
}

/// All levels that were met, and the control states with which they were reached.
#[derive(Default)]
pub(crate) struct Levels {
    all: Vec<Level>,
    /// By value and the control state in which it was put.
    known: FxHashMap<(Option<Id>, u32), u32>,
    reached: FxHashSet<(u32, u32)>,
    /// What was reached and not yet looked at.
    open: Vec<(u32, u32)>,
}

impl Levels {
    /// A level and a control state that were reached, from which nobody has gone on yet.
    pub(crate) fn next(&mut self) -> Option<(u32, u32)> {
        self.open.pop()
    }

    /// The value of a level.
    pub(crate) fn value(&self, level: u32) -> Option<Id> {
        self.all[level as usize].value
    }

    /// The control states in which a level's value was taken, and those in which it had just been looked at.
    pub(crate) fn left(&self, level: u32) -> (&[u32], &[u32]) {
        let Level { taken, looked_at, .. } = &self.all[level as usize];
        (taken, looked_at)
    }

    pub(crate) fn reach(&mut self, level: u32, control: u32) {
        if self.reached.insert((level, control)) {
            self.open.push((level, control));
        }
    }

    /// The level of a value that was put and led to this control state; it is reached there.
    pub(crate) fn level(&mut self, value: Option<Id>, control: u32) -> u32 {
        let number = self.all.len() as u32;
        let level = *self.known.entry((value, control)).or_insert(number);
        if level == number {
            self.all.push(Level { value, below: Vec::new(), taken: Vec::new(), looked_at: Vec::new() });
            self.reach(level, control);
        }
        level
    }

    /// A value is put on a level, which leads to this control state.
    pub(crate) fn put(&mut self, value: Id, control: u32, below: u32) {
        let level = self.level(Some(value), control);
        let Level { below: all_below, taken, .. } = &mut self.all[level as usize];
        if !all_below.contains(&below) {
            all_below.push(below);
            for control in taken.clone() {
                self.reach(below, control);
            }
        }
    }

    /// A level's value is taken, which leads to this control state.
    pub(crate) fn take(&mut self, level: u32, control: u32) {
        let Level { below, taken, .. } = &mut self.all[level as usize];
        if !taken.contains(&control) {
            taken.push(control);
            for below in below.clone() {
                self.reach(below, control);
            }
        }
    }

    /// A level's value is looked at, which leads to this control state.
    pub(crate) fn look(&mut self, level: u32, control: u32) {
        let looked_at = &mut self.all[level as usize].looked_at;
        if !looked_at.contains(&control) {
            looked_at.push(control);
        }
        self.reach(level, control);
    }
}

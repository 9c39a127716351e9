//! Stacks whose values may be equal: a search that need not know what lies below the top.
//!
//! A history of a stack is a pushdown system: which operations are taken is its control state, and each operation that may come next puts a value on
//! top, takes it, or looks at it. Whether a control state is reachable with any contents is decided in polynomial time in the number of control
//! states (Bouajjani, Esparza, Maler, "Reachability Analysis of Pushdown Automata", CONCUR 1997). That number grows with how many operations overlap,
//! not with the orders in which values may lie in the stack. The search tabulates as Reps, Horwitz and Sagiv do ("Precise Interprocedural Dataflow Analysis
//! via Graph Reachability", POPL 1995): a *level* is a value and the control state in which it was put. What can happen above it, and in which
//! control states it is taken, does not depend on what lies below. So each level is looked at once for all contents below it.
//!
//! *Lemma.* A pair of level and control state is reached if and only if some order of the operations leads to that control state with that level's value on top,
//! unchanged since it was put. *Proof.* By induction on the order, and on when the pair was reached. A put leads to a new level. A look keeps level and
//! control state's other parts. A take leads back to each level from which this one was put; there what was on top is on top again. (The lemmas of
//! [`search`](mod@crate::search) about looks and stand-ins hold here as well: they speak of what may come next and of the top.)

use crate::controls::Controls;
use crate::limits::Limits;
use crate::model::{Act, Id, Ret, Step};
use rustc_hash::{FxHashMap, FxHashSet};

/// Whether a stack's history is linearizable; `None` where it has operations of another kind, or the limit was reached.
pub fn stack(steps: &[Step], limits: Limits<'_>) -> Option<bool> {
    let mut search = Search::new(steps)?;
    let mut turns: u64 = 0;
    while let Some((level, control)) = search.open.pop() {
        turns += 1;
        if turns.is_multiple_of(1 << 10) && !(limits.go_on)() {
            return None;
        }
        if search.controls.is_done(control) {
            return Some(true);
        }
        search.go_on(level, control);
    }
    Some(false)
}

/// What an operation does.
#[derive(Clone, Copy)]
enum Move {
    Put(Id),
    /// Takes a value, or finds that there is none.
    Take(Ret),
    /// Looks at a value, or finds that there is none.
    Look(Ret),
}

fn move_of(step: &Step) -> Option<Move> {
    Some(match step.act {
        Act::PushBack(value) => Move::Put(value),
        Act::PopBack => Move::Take(step.ret),
        Act::PeekBack => Move::Look(step.ret),
        _ => return None,
    })
}

/// Whether an operation gives what it gave with this on top.
fn fits(ret: Ret, top: Option<Id>) -> bool {
    ret == Ret::Unknown || ret == top.map_or(Ret::Nothing, Ret::Value)
}

/// A value in the stack.
struct Level {
    /// The value; nothing stands for the bottom.
    value: Option<Id>,
    /// The levels on which it was put.
    below: Vec<u32>,
    /// The control states in which it was taken.
    taken: Vec<u32>,
}

struct Search {
    moves: Vec<Move>,
    controls: Controls,
    levels: Vec<Level>,
    /// The levels by value and the control state in which it was put.
    known: FxHashMap<(Id, u32), u32>,
    reached: FxHashSet<(u32, u32)>,
    /// What was reached and not yet looked at.
    open: Vec<(u32, u32)>,
}

impl Search {
    fn new(steps: &[Step]) -> Option<Search> {
        let moves: Vec<Move> = steps.iter().map(move_of).collect::<Option<_>>()?;
        let (controls, start) = Controls::new(steps);
        let bottom = Level { value: None, below: Vec::new(), taken: Vec::new() };
        let mut search = Search {
            moves,
            controls,
            levels: vec![bottom],
            known: FxHashMap::default(),
            reached: FxHashSet::default(),
            open: Vec::new(),
        };
        search.reach(0, start);
        Some(search)
    }

    fn reach(&mut self, level: u32, control: u32) {
        if self.reached.insert((level, control)) {
            self.open.push((level, control));
        }
    }

    /// All that may come next.
    fn go_on(&mut self, level: u32, control: u32) {
        let top = self.levels[level as usize].value;
        let next = self.controls.next(control);
        let looks = |operation: u32| match self.moves[operation as usize] {
            Move::Look(ret) => fits(ret, top),
            Move::Take(ret) => top.is_none() && fits(ret, None) && ret != Ret::Unknown,
            Move::Put(_) => false,
        };
        if let Some((_, after)) = next.iter().find(|(operation, _)| looks(*operation)) {
            self.reach(level, *after);
            return;
        }
        for (operation, after) in next.iter().rev() {
            match (self.moves[*operation as usize], top) {
                (Move::Put(value), _) => self.put(value, *after, level),
                (Move::Take(ret), Some(_)) if fits(ret, top) => self.take(level, *after),
                (Move::Take(ret), None) if fits(ret, top) => self.reach(level, *after),
                _ => {}
            }
        }
    }

    fn put(&mut self, value: Id, control: u32, below: u32) {
        let number = self.levels.len() as u32;
        let level = *self.known.entry((value, control)).or_insert(number);
        if level == number {
            self.levels.push(Level { value: Some(value), below: Vec::new(), taken: Vec::new() });
        }
        let Level { below: all_below, taken, .. } = &mut self.levels[level as usize];
        if !all_below.contains(&below) {
            all_below.push(below);
            for control in taken.clone() {
                self.reach(below, control);
            }
        }
        self.reach(level, control);
    }

    fn take(&mut self, level: u32, control: u32) {
        let Level { below, taken, .. } = &mut self.levels[level as usize];
        if !taken.contains(&control) {
            taken.push(control);
            for below in below.clone() {
                self.reach(below, control);
            }
        }
    }
}

//! Stacks whose values may be equal: a search that need not know what lies below the top.
//!
//! It goes from level to level (`levels.rs`) until all operations are taken that returned. (The lemmas of
//! [`search`](mod@crate::search) about looks and stand-ins hold here as well: they speak of what may come next and of the top.)

use crate::controls::Controls;
use crate::levels::Levels;
use crate::limits::Limits;
use crate::model::{Act, Id, Ret, Step};

/// Whether a stack's history is linearizable; `None` where it has operations of another kind, or the limit was reached.
pub fn stack(steps: &[Step], limits: Limits<'_>) -> Option<bool> {
    let mut search = Search::new(steps)?;
    let mut turns: u64 = 0;
    while let Some((level, control)) = search.levels.next() {
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

struct Search {
    moves: Vec<Move>,
    controls: Controls,
    levels: Levels,
}

impl Search {
    fn new(steps: &[Step]) -> Option<Search> {
        let moves: Vec<Move> = steps.iter().map(move_of).collect::<Option<_>>()?;
        let (controls, start) = Controls::new(steps);
        let mut levels = Levels::default();
        levels.level(None, start);
        Some(Search { moves, controls, levels })
    }

    /// All that may come next.
    fn go_on(&mut self, level: u32, control: u32) {
        let top = self.levels.value(level);
        let next = self.controls.next(control);
        let looks = |operation: u32| match self.moves[operation as usize] {
            Move::Look(ret) => fits(ret, top),
            Move::Take(ret) => top.is_none() && fits(ret, None) && ret != Ret::Unknown,
            Move::Put(_) => false,
        };
        if let Some((_, after)) = next.iter().find(|(operation, _)| looks(*operation)) {
            self.levels.reach(level, *after);
            return;
        }
        for (operation, after) in next.iter().rev() {
            match (self.moves[*operation as usize], top) {
                (Move::Put(value), _) => self.levels.put(value, *after, level),
                (Move::Take(ret), Some(_)) if fits(ret, top) => self.levels.take(level, *after),
                (Move::Take(ret), None) if fits(ret, top) => self.levels.reach(level, *after),
                _ => {}
            }
        }
    }
}

//! Deques whose values may be equal: a search that remembers why it failed.
//!
//! The order of two puts shows only when the values are taken, long after it was chosen. A search that remembers whole states repeats all that
//! comes between for each order of all other values. This one takes operations as [`search`](mod@crate::search) does. But it remembers only
//! states that failed, and of their values only the outermost ones, which it has looked at (`Seen`): whatever lies between, the rest fails.
//! It can still take exponential time, where many values may lie in either order, and may be taken in either order.
//!
//! *Lemma.* Let the search have failed after some operations, with some contents, and have seen `front` values at the front and `back` at the back,
//! at most all of them. Then no order of the rest fits, whatever the contents are, if they begin with the same `front` values, end
//! with the same `back` values, and have no fewer than these together. If it has seen `all`, the contents must be the same. *Proof.* By induction on the
//! rest. Real time alone says which operations may come next. One that did not fit shows that by the outermost value, or by there being none; both
//! count as seen. One that fitted does so here as well, by the same values, and leaves contents that match what was seen after it
//! (`Seen::before`). There the rest fails. What a look sees does not count: without it, an order of the rest that fits would be one of what is left
//! after the look. (The lemmas of [`search`](mod@crate::search) about looks and stand-ins hold here as well.)

use crate::controls::{Controls, Moves};
use crate::limits::Limits;
use crate::model::{Act, Id, Ret, Step};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;
use std::ops::Range;

/// Whether a deque's history is linearizable; `None` where it has operations of another kind, or the limit was reached.
pub fn deque(steps: &[Step], limits: Limits<'_>) -> Option<bool> {
    let mut search = Search::new(steps)?;
    let mut turns: u64 = 0;
    while let Some(frame) = search.frames.last() {
        if search.controls.is_done(frame.control) {
            return Some(true);
        }
        turns += 1;
        if turns.is_multiple_of(1 << 12) && !(limits.go_on)() {
            return None;
        }
        search.go_on();
    }
    Some(false)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Front,
    Back,
}

/// What an operation does.
#[derive(Clone, Copy)]
enum Move {
    Put(End, Id),
    /// Takes a value, or finds that there is none.
    Take(End, Ret),
    /// Looks at a value, or finds that there is none.
    Look(End, Ret),
}

fn move_of(step: &Step) -> Option<Move> {
    Some(match step.act {
        Act::PushFront(value) => Move::Put(End::Front, value),
        Act::PushBack(value) => Move::Put(End::Back, value),
        Act::PopFront => Move::Take(End::Front, step.ret),
        Act::PopBack => Move::Take(End::Back, step.ret),
        Act::PeekFront => Move::Look(End::Front, step.ret),
        Act::PeekBack => Move::Look(End::Back, step.ret),
        _ => return None,
    })
}

/// What an operation did that was taken.
#[derive(Clone, Copy)]
enum Did {
    Put(End),
    Took(End, Id),
    /// Took nothing, since there was none.
    FoundNone,
    /// Nothing: it only looks.
    Nothing,
}

/// What a search has seen of the contents.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Seen {
    front: usize,
    back: usize,
    all: bool,
}

impl Seen {
    const ALL: Seen = Seen { front: 0, back: 0, all: true };

    /// The outermost value; of no contents that there is none.
    fn outermost(end: End, contents: usize) -> Seen {
        match (contents, end) {
            (0, _) => Seen::ALL,
            (_, End::Front) => Seen { front: 1, ..Seen::default() },
            (_, End::Back) => Seen { back: 1, ..Seen::default() },
        }
    }

    /// What two looks have seen together, of a deque with this many values.
    fn and(self, other: Seen, contents: usize) -> Seen {
        let (front, back) = (self.front.max(other.front), self.back.max(other.back));
        match self.all || other.all || front + back > contents {
            true => Seen::ALL,
            false => Seen { front, back, all: false },
        }
    }

    /// What was seen before an operation, from what was seen after it.
    fn before(self, did: Did) -> Seen {
        if self.all {
            return Seen::ALL;
        }
        let (near, far) = match did {
            Did::Put(End::Front) | Did::Took(End::Front, _) => (self.front, self.back),
            _ => (self.back, self.front),
        };
        let (near, far) = match did {
            Did::Put(_) => (near.saturating_sub(1), far),
            Did::Took(..) => (near + 1, far),
            Did::FoundNone => return Seen::ALL,
            Did::Nothing => return self,
        };
        match did {
            Did::Put(End::Front) | Did::Took(End::Front, _) => Seen { front: near, back: far, all: false },
            _ => Seen { front: far, back: near, all: false },
        }
    }

    /// Adds the values that were seen; whether there are as many.
    fn write(self, contents: &VecDeque<Id>, values: &mut Vec<Id>) -> bool {
        let Seen { front, back, all } = self;
        let rest = if all { Some(0) } else { contents.len().checked_sub(front + back) };
        let Some(rest) = rest else { return false };
        let front = if all { contents.len() } else { front };
        values.extend(contents.range(..front).chain(contents.range(front + rest..)));
        true
    }
}

/// Contents with which the rest fails: by what was seen of them, these values.
type Failures = Vec<(Seen, FxHashSet<Box<[Id]>>)>;

/// A control state on the way to the present one.
struct Frame {
    control: u32,
    moves: Moves,
    /// Which of the moves are left to try.
    left: Range<usize>,
    /// What led here.
    did: Did,
    /// What was seen of the contents since.
    seen: Seen,
}

struct Search {
    moves: Vec<Move>,
    controls: Controls,
    contents: VecDeque<Id>,
    frames: Vec<Frame>,
    /// Per control state.
    failures: Vec<Failures>,
    values: Vec<Id>,
}

impl Search {
    fn new(steps: &[Step]) -> Option<Search> {
        let moves: Vec<Move> = steps.iter().map(move_of).collect::<Option<_>>()?;
        let (controls, start) = Controls::new(steps);
        let mut search = Search {
            moves,
            controls,
            contents: VecDeque::new(),
            frames: Vec::new(),
            failures: Vec::new(),
            values: Vec::new(),
        };
        search.enter(start, Did::Nothing);
        Some(search)
    }

    /// Comes to a control state. If a look fits, it is the only move to try.
    fn enter(&mut self, control: u32, did: Did) {
        let moves = self.controls.next(control);
        let look = moves.iter().position(|(operation, _)| self.looks(self.moves[*operation as usize]));
        let left = look.map_or(0..moves.len(), |look| look..look + 1);
        self.frames.push(Frame { control, moves, left, did, seen: Seen::default() });
    }

    /// Makes the next move, if it fits and the rest is not known to fail; goes back where no move is left.
    fn go_on(&mut self) {
        let Some(frame) = self.frames.last_mut() else { return };
        let contents = self.contents.len();
        let Some((operation, after)) = frame.left.next().map(|place| frame.moves[place]) else {
            self.fail();
            return;
        };
        match self.perform(self.moves[operation as usize]) {
            Err(end) => self.has_seen(Seen::outermost(end, contents)),
            Ok(did) => match self.known_failure(after) {
                Some(seen) => {
                    self.undo(did);
                    self.has_seen(seen.before(did));
                }
                None => self.enter(after, did),
            },
        }
    }

    /// No order of the rest fits: remembers that, and goes back.
    fn fail(&mut self) {
        let Some(Frame { control, did, seen, .. }) = self.frames.pop() else { return };
        self.remember(control, seen);
        self.undo(did);
        self.has_seen(seen.before(did));
    }

    fn has_seen(&mut self, seen: Seen) {
        if let Some(frame) = self.frames.last_mut() {
            frame.seen = frame.seen.and(seen, self.contents.len());
        }
    }

    fn remember(&mut self, control: u32, seen: Seen) {
        let mut values = Vec::new();
        seen.write(&self.contents, &mut values);
        if self.failures.len() <= control as usize {
            self.failures.resize_with(control as usize + 1, Vec::new);
        }
        let failures = &mut self.failures[control as usize];
        let place = failures.iter().position(|(other, _)| *other == seen).unwrap_or_else(|| {
            failures.push((seen, FxHashSet::default()));
            failures.len() - 1
        });
        failures[place].1.insert(values.into_boxed_slice());
    }

    /// What had been seen when the same rest failed with contents like these.
    fn known_failure(&mut self, control: u32) -> Option<Seen> {
        let (contents, values) = (&self.contents, &mut self.values);
        let mut is_like = |(seen, all): &&(Seen, FxHashSet<Box<[Id]>>)| {
            values.clear();
            seen.write(contents, values) && all.contains(values.as_slice())
        };
        self.failures.get(control as usize)?.iter().find(|one| is_like(one)).map(|(seen, _)| *seen)
    }

    /// Whether an operation fits and changes nothing.
    fn looks(&self, what: Move) -> bool {
        match what {
            Move::Put(..) => false,
            Move::Take(_, ret) => ret == Ret::Nothing && self.contents.is_empty(),
            Move::Look(_, Ret::Unknown) => true,
            Move::Look(end, ret) => ret == self.outermost(end).map_or(Ret::Nothing, Ret::Value),
        }
    }

    fn outermost(&self, end: End) -> Option<Id> {
        match end {
            End::Front => self.contents.front().copied(),
            End::Back => self.contents.back().copied(),
        }
    }

    /// Does what an operation does if that gives what it gave; else the end at which it does not.
    fn perform(&mut self, what: Move) -> Result<Did, End> {
        let (end, ret) = match what {
            Move::Put(end, value) => {
                self.put(end, value);
                return Ok(Did::Put(end));
            }
            Move::Look(_, Ret::Unknown) => return Ok(Did::Nothing), // a put that found no room, or a look that shows nothing
            Move::Take(end, ret) | Move::Look(end, ret) => (end, ret),
        };
        let found = self.outermost(end);
        if ret != Ret::Unknown && ret != found.map_or(Ret::Nothing, Ret::Value) {
            return Err(end);
        }
        Ok(match (what, found) {
            (Move::Take(_, Ret::Unknown), None) => Did::FoundNone,
            (Move::Take(..), Some(value)) => {
                self.take(end);
                Did::Took(end, value)
            }
            _ => Did::Nothing,
        })
    }

    fn undo(&mut self, did: Did) {
        match did {
            Did::Put(end) => self.take(end),
            Did::Took(end, value) => self.put(end, value),
            Did::FoundNone | Did::Nothing => {}
        }
    }

    fn put(&mut self, end: End, value: Id) {
        match end {
            End::Front => self.contents.push_front(value),
            End::Back => self.contents.push_back(value),
        }
    }

    fn take(&mut self, end: End) {
        match end {
            End::Front => self.contents.pop_front(),
            End::Back => self.contents.pop_back(),
        };
    }
}

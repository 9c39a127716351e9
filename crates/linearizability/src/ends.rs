//! Deques whose values may be equal: a search that takes each end by itself.
//!
//! A search for one order of all operations repeats the orders of one end for each order of the other. But most of what happens at one end does not
//! matter at the other: a value that is taken at the end where it was put lies on that end's stack (`one_end.rs`). Any other
//! value that is taken *crosses* the deque; one that is not taken *stays*. A look at a value takes it and puts it again. (A stack is a deque that is
//! used at one end.)
//!
//! *Lemma.* An order of each end's operations belongs to a run of the deque if and only if, for some choice of the puts and takes that cross, (1)
//! between one crossing and the next, each end takes all that it puts, as a stack does; (2) where one end puts at its k-th crossing, the other takes
//! the same value at its k-th; (3) each end puts what stays after its last crossing. *Proof.* In a run, let a value leave where it was put, say at
//! the front. Had the front put a crossing value meanwhile, this would lie before it, and could not leave at the back; a crossing value that the
//! front took would lie behind it. The same holds of a value that stays. That shows (1) and (3). Two values that cross one way keep their order. Two
//! that cross in opposite directions are never there together: each would lie in the way of the other. That shows (2). The other way round, order
//! both ends so that each crossing value is put before it is taken. Then the contents are, from the front: the front's stack, what crosses, all one
//! way, and the back's stack; and while something crosses at an end, that end's stack is empty. So each take finds its value outermost. What stays
//! lies below a stack.
//!
//! *Real time.* Operations come in this order: those of each end in theirs, and each crossing's put before its take. Moments between call and return
//! exist for it if and only if none is called after the return of one that comes later. For operations of one end the control states see to that.
//! For operations of two ends it is enough to compare, at each crossing, the last call up to the put with the first return from the take on: what is
//! before an earlier crossing at one end is before this one, too. An operation that finds the deque empty comes after all that both ends have done,
//! and before the rest; it belongs to both ends.
//!
//! So a pair of places, one at each end, says all that matters for the rest. There are at most as many as control states of one end times those of
//! the other. The lemmas of [`search`](mod@crate::search) about looks and stand-ins hold for each end by itself where no call comes later than it
//! would have: then the other end has no less time.

use crate::limits::{Limits, Turns};
use crate::model::{Act, Ret, Step};
use crate::one_end::{Crossing, OneEnd, With};
use rustc_hash::FxHashSet;

/// Whether a deque's history is linearizable; `None` where it has operations of another kind, or the limit was reached.
pub fn deque(steps: &[Step], limits: Limits<'_>) -> Option<bool> {
    let of_end = |is_back: bool| {
        let is_own = |act| matches!(act, Act::PushBack(_) | Act::PopBack | Act::PeekBack) == is_back;
        let own = steps.iter().filter(|step| step.ret == Ret::Nothing || is_own(step.act));
        OneEnd::new(&own.copied().collect::<Vec<_>>(), limits)
    };
    let (mut front, front_start) = of_end(false)?;
    let (mut back, back_start) = of_end(true)?;
    let mut seen = FxHashSet::from_iter([(front_start, back_start)]);
    let mut open = vec![(front_start, back_start)];
    let mut turns = Turns::new(limits);
    while let Some((at_front, at_back)) = open.pop() {
        if front.can_finish(at_front) && back.can_finish(at_back) {
            return Some(true);
        }
        let (of_front, of_back) = (front.crossings(at_front), back.crossings(at_back));
        for one in of_front.iter().rev() {
            let fitting = of_back.iter().rev().filter(|other| turns.go_on() && fit(one, other));
            open.extend(fitting.map(|other| (one.after, other.after)).filter(|pair| seen.insert(*pair)));
        }
        if turns.are_over || front.turns.are_over || back.turns.are_over {
            return None;
        }
    }
    Some(false)
}

/// Whether moves of the two ends may cross.
fn fit(one: &Crossing, other: &Crossing) -> bool {
    let (before, after) = (one.latest < other.earliest, other.latest < one.earliest);
    match (one.with, other.with) {
        (With::Put(value), With::Take(taken)) => before && taken.is_none_or(|taken| taken == value),
        (With::Take(taken), With::Put(value)) => after && taken.is_none_or(|taken| taken == value),
        (With::FindNone(one), With::FindNone(other)) => before && after && one == other,
        (With::MayFindNone, With::BeEmpty) | (With::BeEmpty, With::MayFindNone) => before && after,
        _ => false,
    }
}

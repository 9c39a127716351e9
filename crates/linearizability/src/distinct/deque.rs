//! Deques that are used as a stack or as a queue.

use super::queue::queue;
use super::stack::stack;
use crate::model::{Act, Step};

/// Whether the history of a deque is linearizable that is used as a stack or as a queue, from either end.
pub fn deque(steps: &[Step]) -> Option<bool> {
    let mirrored = |step: &Step| {
        let act = match step.act {
            Act::PushFront(value) => Act::PushBack(value),
            Act::PushBack(value) => Act::PushFront(value),
            Act::PopFront => Act::PopBack,
            Act::PopBack => Act::PopFront,
            other => other,
        };
        Step { act, ..*step }
    };
    let by_one_end = |steps: &[Step]| stack(steps).or_else(|| queue(steps));
    by_one_end(steps).or_else(|| by_one_end(&steps.iter().map(mirrored).collect::<Vec<_>>()))
}

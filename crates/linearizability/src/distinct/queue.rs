//! Queues. The history is linearizable if and only if no value is taken that was not put in, none is taken twice or
//! before it is put in, no two values are put in and taken in opposite orders, and no operation finds the queue empty while
//! values must be in it all the time (Bouajjani, Emmi, Enea, Hamza, "On Reducing Linearizability to State Reachability",
//! ICALP 2015; Emmi and Enea, "Sound, complete, and tractable linearizability monitoring for concurrent collections",
//! POPL 2018).

use super::container::{Container, Read, read};
use crate::model::{Act, Step};

/// Whether a queue's history is linearizable, where the check applies.
pub fn queue(steps: &[Step]) -> Option<bool> {
    let put = |act| if let Act::PushBack(value) = act { Some(value) } else { None };
    match read(steps, put, Act::PopFront) {
        Read::Other => None,
        Read::Bad => Some(false),
        Read::Container(container) => Some(in_order(&container) && container.can_be_empty()),
    }
}

/// Whether no value is put in after another (the other's put returned before it was called) and taken before it.
fn in_order(container: &Container) -> bool {
    let mut by_return: Vec<(u64, u64)> = container.lives.iter().map(|life| (life.put.1, life.take.0)).collect();
    by_return.sort_unstable();
    let mut earlier = by_return.into_iter().peekable();
    let mut latest_take = 0;
    // By when putting them in was called.
    container.lives.iter().all(|life| {
        while let Some((_, take)) = earlier.next_if(|(returned, _)| *returned < life.put.0) {
            latest_take = latest_take.max(take);
        }
        latest_take <= life.take.1
    })
}

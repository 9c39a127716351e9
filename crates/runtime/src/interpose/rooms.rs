//! Queues that hold few messages: a thread that sends takes room, and one that receives gives it back. The messages and the room are two
//! semaphores, and a call that sends or receives changes both in one step.

use super::channel::{Channel, Message, Taken, down_locked, get, post_locked, put, record};
use super::unseen::{self, What};
use crate::controller;
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::record::{Kind, tried_if};
use crate::threads::Thread;
use crate::waiting::{self, Both, Bucket};

/// The room of a queue.
#[derive(Clone, Copy)]
pub struct Room {
    /// Where the bucket has it.
    pub key: usize,
    /// How many messages fit now.
    pub left: u64,
}

/// Sends a message by `send`, which does not wait and says whether it did, to a queue with this room; all in one step. `tried` is whether the
/// call might have come back without it.
pub fn send(
    thread: &'static Thread,
    (key, room): (usize, Room),
    (message, tried): (Message, bool),
    place: usize,
    send: impl FnOnce() -> bool,
) -> bool {
    thread.begin();
    let mut both = waiting::lock_both(key, room.key);
    let is_sent = send();
    if is_sent {
        post_locked(thread, (both.of_one, key), message, place);
        both = let_others_go_on(thread, both, (key, room.key));
        change_room(thread, (both.of_other, room), place, |room| {
            room.writes = room.writes.saturating_sub(1);
            (Kind::Down, room.writes | tried_if(tried))
        });
    }
    both.unlock();
    thread.end();
    is_sent
}

/// Receives a message by `receive`, which does not wait and says whether it did, and frees its room; all in one step. What is known of the room
/// begins with the first thread that sends: who receives first is the schedule's choice, and must not have a record more for that.
pub fn receive(
    thread: &'static Thread,
    (key, room): (usize, Room),
    taken: Taken,
    place: usize,
    receive: impl FnOnce() -> bool,
) -> bool {
    thread.begin();
    let mut both = waiting::lock_both(key, room.key);
    let is_received = receive();
    let is_known = !is_received || down_locked(thread, both.of_one, (key, taken), place);
    if is_received && get(both.of_other, room.key).is_some() {
        both = let_others_go_on(thread, both, (key, room.key));
        change_room(thread, (both.of_other, room), place, |room| {
            room.writes += 1;
            (Kind::Post, room.writes - 1)
        });
    }
    both.unlock();
    thread.end();
    if !is_known {
        unseen::mark(thread, What::anything(c"mq_receive"), place);
    }
    is_received
}

/// A replay may let other threads go on between what is recorded of messages and of room, as its schedule says: in a parallel recording they
/// did other things meanwhile.
fn let_others_go_on(thread: &'static Thread, both: Both, (key, room): (usize, usize)) -> Both {
    if !controller::replaying() {
        return both;
    }
    both.unlock();
    controller::stop_at_limit(thread);
    waiting::lock_both(key, room)
}

fn change_room(
    thread: &'static Thread,
    (bucket, room): (&Bucket, Room),
    place: usize,
    change: impl FnOnce(&mut Channel) -> (Kind, u64),
) {
    let mut channel = get(bucket, room.key).unwrap_or_else(|| {
        let mut new = Channel::new(0);
        new.writes = room.left;
        new
    });
    let (kind, count) = change(&mut channel);
    record(thread, kind, &channel, count, place);
    put(bucket, room.key, &channel);
}

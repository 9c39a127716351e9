//! What random threads set out to do: short idioms of concurrent programs, a few in each trace.

use super::shape::Topic;
use crate::op::WakeCause;
use crate::random::Random;

const TOPICS: [(usize, Topic); 13] = [
    (4, Topic::Mutex),
    (2, Topic::Recursive),
    (3, Topic::Rwlock),
    (4, Topic::Condvar),
    (3, Topic::Semaphore),
    (2, Topic::Barrier),
    (3, Topic::Once),
    (3, Topic::Threads),
    (1, Topic::Operations),
    (3, Topic::Parts),
    (1, Topic::Memory),
    (2, Topic::External),
    (3, Topic::Swaps),
];

/// One or two topics.
pub(super) fn topics(random: &mut Random) -> Vec<Topic> {
    (0..1 + random.below(2)).filter_map(|_| random.weighted(&TOPICS)).collect()
}

/// One thing that a thread is to do next. Expressions and variables are chosen when it does it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    Begin,
    End,
    Read,
    /// With a guard.
    ReadIf,
    Write,
    /// With a guard.
    WriteIf,
    External,
    Rmw,
    /// With a guard.
    Swap,
    Let,
    Assume,
    /// A name keeps the value that was seen.
    Pin,
    Acquire(&'static str),
    Release(&'static str),
    Share,
    Unshare,
    Busy(&'static str),
    Wait(&'static str),
    Wake(&'static str, Option<WakeCause>),
    Signal,
    Broadcast,
    Post,
    Down,
    Arrive,
    Depart,
    /// Begins an initialisation, or goes past it where it is done.
    Once,
    /// Ends it, if this thread is at it; perhaps because it failed.
    OnceOver,
    Fork(u64),
    Join(u64),
    Call(&'static str),
    Return(&'static str),
    Free,
    Fail,
    /// So many parts in one step.
    Parts(u32),
}

/// A few steps to do one after the other.
pub(super) fn idiom(random: &mut Random, topics: &[Topic], threads: u64) -> Vec<Step> {
    let topic = random.pick(topics).copied();
    match topic.filter(|_| random.percent(50)) {
        Some(topic) => of_topic(random, topic, topics, threads),
        None => plain(random),
    }
}

/// One or two accesses, perhaps with a condition on them.
fn plain(random: &mut Random) -> Vec<Step> {
    let choices: [&[Step]; 14] = [
        &[Step::Read],
        &[Step::Write],
        &[Step::Write],
        &[Step::Read, Step::Write],
        &[Step::Read, Step::Write],
        &[Step::Read, Step::Assume, Step::Write],
        &[Step::Read, Step::Assume],
        &[Step::Read, Step::Pin, Step::Write],
        &[Step::Read, Step::Pin],
        &[Step::Read, Step::Let, Step::Assume],
        &[Step::Write, Step::Read],
        &[Step::Rmw],
        &[Step::Read, Step::WriteIf],
        &[Step::ReadIf],
    ];
    random.pick(&choices).map_or(vec![], |steps| steps.to_vec())
}

fn of_topic(random: &mut Random, topic: Topic, topics: &[Topic], threads: u64) -> Vec<Step> {
    match topic {
        Topic::Mutex => locked(random, "m"),
        Topic::Recursive => locked(random, "r"),
        Topic::Rwlock if random.percent(45) => locked(random, "l"),
        Topic::Rwlock => {
            let inside = if random.percent(20) { vec![Step::Share, Step::Read, Step::Unshare] } else { plain(random) };
            [vec![Step::Share], inside, vec![Step::Unshare]].concat()
        }
        Topic::Condvar => condvar(random, if topics.contains(&Topic::Recursive) { "r" } else { "m" }),
        Topic::Semaphore if random.percent(45) => vec![Step::Post],
        Topic::Semaphore => vec![Step::Down],
        Topic::Barrier => vec![Step::Arrive, Step::Depart],
        Topic::Once => [vec![Step::Once], plain(random), vec![Step::OnceOver]].concat(),
        Topic::Threads => {
            let other = random.below(threads as usize) as u64 + 1;
            vec![if random.percent(50) { Step::Fork(other) } else { Step::Join(other) }]
        }
        Topic::Operations => {
            let method = if random.percent(50) { "push" } else { "pop" };
            [vec![Step::Call(method)], plain(random), vec![Step::Return(method)]].concat()
        }
        Topic::Parts => vec![Step::Parts(2 + random.below(2) as u32)],
        Topic::Memory => vec![Step::Free],
        Topic::External => vec![Step::External],
        Topic::Swaps => vec![Step::Swap],
    }
}

/// A critical section, a failed try of one, or a nest.
fn locked(random: &mut Random, lock: &'static str) -> Vec<Step> {
    if random.percent(12) {
        return vec![Step::Busy(lock)];
    }
    let nested = random.percent(if lock == "r" { 50 } else { 10 });
    let inner = if lock == "r" { "r" } else { "n" };
    let inside = if nested {
        [vec![Step::Acquire(inner)], plain(random), vec![Step::Release(inner)]].concat()
    } else {
        plain(random)
    };
    [vec![Step::Acquire(lock)], inside, vec![Step::Release(lock)]].concat()
}

/// One that waits or one that wakes others.
fn condvar(random: &mut Random, lock: &'static str) -> Vec<Step> {
    let causes = [(6, None), (1, Some(WakeCause::Timeout)), (1, Some(WakeCause::Spurious))];
    let cause = random.weighted(&causes).unwrap_or(None);
    let signal = if random.percent(75) { Step::Signal } else { Step::Broadcast };
    match random.below(6) {
        0 => vec![Step::Acquire(lock), Step::Wait(lock), Step::Wake(lock, cause), Step::Release(lock)],
        1 | 2 => vec![Step::Acquire(lock), Step::Wait(lock), Step::Wake(lock, cause)],
        3 => vec![Step::Acquire(lock), Step::Write, signal, Step::Release(lock)],
        _ => vec![signal],
    }
}

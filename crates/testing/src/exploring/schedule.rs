//! The schedule of an execution: steps that are forced, and how the run goes on after them.

use super::execution::{Taken, Threads};
use foretrace_runtime::record::Kind;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Counted events after which another thread gets its turn, past the steps that are forced.
pub const TURN: u64 = 500;

/// A step to force after those of an execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Forced {
    /// The thread that takes it.
    pub thread: usize,
    /// The thread that it wakes, if it signals a condition for which several wait.
    pub wakes: Option<usize>,
}

/// What follows the steps of a schedule, before the run goes on as it likes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Then {
    /// One step more.
    Step(Forced),
    /// A wait of this thread for a condition ends by its limit; no signal of the steps reaches it.
    Late(usize),
    /// This thread stands still until no other can go on, or until they have made so many records.
    Hold(usize, u64),
}

/// How a run goes on after its schedule: a turn has so many events, and the whole run; and the second at which its clocks stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Onward {
    pub turn: u64,
    pub all: u64,
    pub second: u64,
}

/// The schedule as the runtime reads it: these steps, and what follows them.
pub fn schedule(steps: &[Taken], next: Option<Then>, onward: Onward, threads: &Threads) -> String {
    let (forced, held) = match next {
        Some(Then::Step(forced)) => (Some(forced), String::new()),
        Some(Then::Late(thread)) => (Some(Forced { thread, wakes: None }), String::new()),
        Some(Then::Hold(thread, records)) => (None, format!(" hold {} {records}", threads.path(thread))),
        None => (None, String::new()),
    };
    let next_at = |thread: usize| steps.iter().rev().find(|step| step.thread == thread).map_or(0, |step| step.at + 1);
    let forced = forced.map(|forced| (forced, next_at(forced.thread)));
    let taken = steps.iter().map(|step| (step.thread, step.at)).chain(forced.map(|(forced, at)| (forced.thread, at)));
    let mut turns: Vec<(usize, u64, u64)> = Vec::new();
    for (thread, at) in taken {
        match turns.last_mut().filter(|(last, ..)| *last == thread) {
            Some((_, _, until)) => *until = at,
            None => turns.push((thread, at, at)),
        }
    }
    let mut text = String::new();
    // A thread goes on up to its next counted record, so that the order of allocations follows from that of the steps.
    for (thread, first, until) in turns {
        let _ = writeln!(text, "{} {until} {first} {}", threads.path(thread), u64::MAX);
    }
    for step in steps.iter().filter(|step| step.kind == Kind::Join) {
        let _ = writeln!(text, "join {} {}", threads.path(step.thread), step.at);
    }
    let last = forced.filter(|_| matches!(next, Some(Then::Late(_)))).map(|(forced, at)| (forced.thread, at));
    let late = steps.iter().filter(|step| step.is_late()).map(|step| (step.thread, step.at)).chain(last);
    let late: BTreeSet<(&str, u64)> = late.map(|(thread, at)| (threads.path(thread), at)).collect();
    for (path, at) in late {
        let _ = writeln!(text, "late {path} {at}");
    }
    let woken = steps.iter().filter(|step| step.kind == Kind::Signal).map(|step| (step.thread, step.at, step.other));
    for (thread, at, wakes) in woken.chain(forced.map(|(forced, at)| (forced.thread, at, forced.wakes))) {
        if let Some(wakes) = wakes {
            let _ = writeln!(text, "wake {} {at} {}", threads.path(thread), threads.path(wakes));
        }
    }
    let _ = writeln!(text, "then {} {} {}{held}", onward.turn, onward.all, onward.second);
    text
}

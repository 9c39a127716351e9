//! Decides whether locks keep the transaction's thread from reaching its second access.
//!
//! The paper rolls the remote access back and lets the run proceed "eventually". The run cannot proceed if both threads then wait for each
//! other's lock. The condition is the backward one of Kahlon and Gupta, *An Automata-Theoretic Approach for Model Checking Threads for LTL
//! Properties*, LICS 2006: what each thread takes before it gives back a lock that it holds at the cut-point.

use crate::lock_log::LockLog;
use crate::locks::{Change, LockState, LockStates, Taken};
use foretrace_trace::{EventId, ThreadId};
use rustc_hash::FxHashMap;

/// What the transaction's thread takes between the cut-point and its second access.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Future {
    /// All of it.
    taken: Vec<Taken>,
    /// Per lock held at the cut-point: what it takes before it gives that back.
    while_held: Vec<(Taken, Vec<Taken>)>,
}

/// A future as a number.
pub(crate) type FutureId = u32;

/// It takes no lock.
const FREE: FutureId = 0;
/// It does too much to look at: nothing is said of it.
const UNKNOWN: FutureId = 1;

/// Changes that are looked at before a future is unknown.
const MOST_CHANGES: usize = 32;

/// All futures that occur.
#[derive(Debug)]
pub(crate) struct Futures {
    futures: Vec<Future>,
    numbers: FxHashMap<Future, FutureId>,
}

impl Futures {
    pub fn new() -> Futures {
        let numbers = FxHashMap::from_iter([(Future::default(), FREE)]);
        Futures { futures: vec![Future::default(), Future::default()], numbers }
    }

    /// What `thread` takes after `from` and before `second`.
    pub fn between(
        &mut self,
        (log, states): (&LockLog, &LockStates),
        thread: ThreadId,
        from: EventId,
        second: EventId,
    ) -> FutureId {
        let later = log.after(thread, from);
        let changes = later.iter().take(MOST_CHANGES + 1).take_while(|entry| entry.event < second).count();
        if changes > MOST_CHANGES {
            return UNKNOWN;
        }
        let (held, _) = log.states_at(thread, from);
        let mut future = Future::default();
        future.while_held.extend(states.get(held).0.iter().map(|held| (held.taken, Vec::new())));
        let mut is_held = vec![true; future.while_held.len()];
        for entry in &later[..changes] {
            match entry.change {
                Change::Take(taken) => {
                    future.taken.push(taken);
                    let while_held = future.while_held.iter_mut().zip(&is_held).filter(|(_, held)| **held);
                    while_held.for_each(|((_, since), _)| since.push(taken));
                }
                Change::Give(taken) => {
                    let place = future.while_held.iter().position(|(held, _)| *held == taken);
                    place.into_iter().for_each(|place| is_held[place] = false);
                }
            }
        }
        if future.taken.is_empty() {
            return FREE;
        }
        sort(&mut future.taken);
        future.while_held.retain_mut(|(_, since)| {
            sort(since);
            !since.is_empty()
        });
        let new = self.futures.len() as FutureId;
        let number = *self.numbers.entry(future.clone()).or_insert(new);
        if number == new {
            self.futures.push(future);
        }
        number
    }

    /// Whether the thread never gets to its second access. That is so if it needs a lock that the remote thread holds at its access and
    /// never gives back. It is also so if the remote thread gives the lock back only after taking one that the first thread holds until
    /// then.
    pub fn is_shut(&self, future: FutureId, ahead: &LockState) -> bool {
        let future = &self.futures[future as usize];
        ahead.0.iter().any(|theirs| {
            let needs = |taken: &[Taken]| taken.iter().any(|taken| taken.excludes(theirs.taken));
            let needed_by_them = |mine: Taken| theirs.history.iter().any(|taken| taken.excludes(mine));
            theirs.for_ever && needs(&future.taken)
                || future.while_held.iter().any(|(mine, since)| needs(since) && needed_by_them(*mine))
        })
    }
}

fn sort(taken: &mut Vec<Taken>) {
    taken.sort_unstable();
    taken.dedup();
}

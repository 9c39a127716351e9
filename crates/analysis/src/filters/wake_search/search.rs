//! The search for which thread signals which: depth first, each state once.

use super::{Act, Goal, Leg, Stretch, WakeSearch};
use foretrace_trace::{EventId, ThreadId};
use rustc_hash::FxHashSet;
use std::cmp::Reverse;

/// States of one search.
const MOST_STATES: usize = 1 << 13;

/// How far the threads are.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    /// How many of its stretches each has done.
    done: Box<[u16]>,
    /// The threads that wait and were released, as bits.
    released: u64,
    stage: Stage,
}

/// How far the candidate is.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Stage {
    Start,
    FirstDone,
    RemoteDone,
}

/// A state with the way to it.
struct Node {
    state: State,
    /// The one before it.
    from: Option<usize>,
    legs: Vec<Leg>,
}

/// A stretch that may come next, with whom its signals release.
struct Choice {
    thread: usize,
    releases: Vec<(EventId, ThreadId)>,
    worth: Worth,
    /// The thread's need of the signal, or what is left of signals that no thread needs: the more, the earlier.
    measure: Reverse<i64>,
}

/// What speaks for a choice, best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    /// Somebody needs the signal.
    Needed,
    /// It is lost, but there are enough of them.
    Spare,
    /// Somebody is released that does not need to be.
    Unasked,
    /// It is lost, and may be missed.
    Lost,
    /// Its thread is not needed so far.
    Beyond,
}

impl WakeSearch {
    /// What brings a candidate's thread up to the last place before second, in a schedule that shows the candidate.
    pub(in super::super) fn legs(&self, goal: &Goal) -> Option<Vec<Leg>> {
        let targets = self.targets(goal)?;
        Search { by: self, goal, targets }.run()
    }
}

struct Search<'s> {
    by: &'s WakeSearch,
    goal: &'s Goal,
    targets: Vec<usize>,
}

impl Search<'_> {
    fn run(&self) -> Option<Vec<Leg>> {
        let done = vec![0; self.by.threads.len()].into();
        let state = State { done, released: 0, stage: Stage::Start };
        let mut nodes = vec![Node { state, from: None, legs: Vec::new() }];
        let mut seen = FxHashSet::default();
        let mut stack = vec![0];
        while let Some(number) = stack.pop() {
            self.go_on(&mut nodes[number]);
            let state = nodes[number].state.clone();
            if self.is_reached(&state) {
                return Some(way(&nodes, number));
            }
            if nodes.len() > MOST_STATES {
                return None;
            }
            if !seen.insert(state.clone()) {
                continue;
            }
            for choice in self.choices(&state).into_iter().rev() {
                let mut next = Node { state: state.clone(), from: Some(number), legs: Vec::new() };
                self.take(&mut next, choice.thread, choice.releases);
                stack.push(nodes.len());
                nodes.push(next);
            }
        }
        None
    }

    fn is_reached(&self, state: &State) -> bool {
        state.stage == Stage::RemoteDone
            && usize::from(state.done[self.goal.local]) == self.goal.before_second.stretches
            && (self.goal.last_wake.is_none() || is_released(state, self.goal.local))
    }

    /// Takes all that takes nothing from others.
    fn go_on(&self, node: &mut Node) {
        let signals = |act: &Act| matches!(act, Act::Signal { .. } | Act::Broadcast { .. });
        loop {
            let quiet = self.ready(&node.state).find(|(_, stretch)| !stretch.acts.iter().any(signals));
            match quiet.map(|(thread, _)| thread) {
                Some(thread) => self.take(node, thread, Vec::new()),
                None if self.pass(node) => {}
                None => return,
            }
        }
    }

    /// Passes first or remote, where its thread is there.
    fn pass(&self, node: &mut Node) -> bool {
        let (thread, place, next) = match node.state.stage {
            Stage::Start => (self.goal.local, self.goal.after_first, Stage::FirstDone),
            Stage::FirstDone => (self.goal.remote, self.goal.after_remote, Stage::RemoteDone),
            Stage::RemoteDone => return false,
        };
        let is_there = usize::from(node.state.done[thread]) >= place.stretches;
        if is_there {
            node.legs.push(Leg { thread: ThreadId::from_index(thread), to: place.events, releases: Vec::new() });
            node.state.stage = next;
        }
        is_there
    }

    /// The threads that can go on, with what comes next of them.
    fn ready(&self, state: &State) -> impl Iterator<Item = (usize, &Stretch)> {
        let next = |thread: usize| {
            let done = usize::from(state.done[thread]);
            let stretch = self.by.threads[thread].get(done).filter(|_| done < self.limit(state.stage, thread))?;
            let started = self.by.starts[thread].is_none_or(|(by, number)| usize::from(state.done[by]) > number);
            let can = |act: &Act| match act {
                Act::Wake { needs_signal: true, .. } => is_released(state, thread),
                Act::Join { child } => usize::from(state.done[*child]) == self.by.threads[*child].len(),
                _ => true,
            };
            (started && stretch.acts.iter().all(can)).then_some((thread, stretch))
        };
        (0..self.by.threads.len()).filter_map(next)
    }

    /// How many stretches a thread may have done now.
    fn limit(&self, stage: Stage, thread: usize) -> usize {
        let (local, remote) = (thread == self.goal.local, thread == self.goal.remote);
        match stage {
            Stage::Start if local => self.goal.after_first.stretches,
            Stage::Start if remote => self.goal.before_remote.stretches,
            Stage::FirstDone if remote => self.goal.after_remote.stretches,
            _ if local => self.goal.before_second.stretches,
            _ => usize::MAX,
        }
    }

    /// Takes a thread's next stretch.
    fn take(&self, node: &mut Node, thread: usize, releases: Vec<(EventId, ThreadId)>) {
        let stretch = &self.by.threads[thread][usize::from(node.state.done[thread])];
        for act in &stretch.acts {
            match act {
                Act::Wake { .. } => node.state.released &= !(1 << thread),
                Act::Broadcast { cond } => {
                    let waiters = self.waiters(&node.state, *cond).fold(0, |waiters, one| waiters | 1 << one);
                    node.state.released |= waiters;
                }
                Act::Join { child } => {
                    let thread = ThreadId::from_index(*child);
                    node.legs.push(Leg { thread, to: u32::MAX, releases: Vec::new() });
                }
                Act::Signal { .. } | Act::Wait { .. } | Act::Fork { .. } => {}
            }
        }
        releases.iter().for_each(|(_, one)| node.state.released |= 1 << one.index());
        node.state.done[thread] += 1;
        node.legs.push(Leg { thread: ThreadId::from_index(thread), to: stretch.to, releases });
    }

    /// The threads that wait for a signal.
    fn waiters(&self, state: &State, cond: usize) -> impl Iterator<Item = usize> {
        let waits_on = move |thread: usize| {
            let last = usize::from(state.done[thread]).checked_sub(1)?;
            self.by.threads[thread][last].waits_on().filter(|_| !is_released(state, thread))
        };
        (0..self.by.threads.len()).filter(move |thread| waits_on(*thread) == Some(cond))
    }

    /// The stretches that may come next, the best first.
    fn choices(&self, state: &State) -> Vec<Choice> {
        let mut choices = Vec::new();
        for (thread, stretch) in self.ready(state) {
            self.add_choices(state, thread, stretch, &mut choices);
        }
        choices.sort_by_key(|choice: &Choice| (choice.worth, choice.measure));
        choices
    }

    /// The ways to take a stretch: the first signal for which somebody waits releases any that does, those after it whoever needs it
    /// most.
    fn add_choices(&self, state: &State, thread: usize, stretch: &Stretch, choices: &mut Vec<Choice>) {
        let signals = stretch.acts.iter().filter_map(|act| match act {
            Act::Signal { cond, event } => Some((*cond, *event)),
            _ => None,
        });
        let signals: Vec<(usize, EventId)> = signals.collect();
        let beyond = usize::from(state.done[thread]) >= self.targets[thread];
        let Some(leading) = signals.iter().position(|(cond, _)| self.waiters(state, *cond).next().is_some()) else {
            let (worth, measure) = self.without_release(state, stretch);
            let worth = if beyond { Worth::Beyond } else { worth };
            choices.push(Choice { thread, releases: Vec::new(), worth, measure: Reverse(measure) });
            return;
        };
        for waiter in self.waiters(state, signals[leading].0) {
            let mut releases = vec![(signals[leading].1, ThreadId::from_index(waiter))];
            for (cond, event) in &signals[leading + 1..] {
                let is_free = |one: &usize| releases.iter().all(|(_, other)| other.index() != *one);
                let neediest = self.waiters(state, *cond).filter(is_free).max_by_key(|one| self.need(state, *one));
                releases.extend(neediest.map(|one| (*event, ThreadId::from_index(one))));
            }
            let need = self.need(state, waiter);
            let worth = match need > 0 {
                _ if beyond => Worth::Beyond,
                true => Worth::Needed,
                false => Worth::Unasked,
            };
            choices.push(Choice { thread, releases, worth, measure: Reverse(need) });
        }
    }

    /// What a stretch is worth whose signals no thread waits for.
    fn without_release(&self, state: &State, stretch: &Stretch) -> (Worth, i64) {
        let reaches = |act: &Act| matches!(act, Act::Broadcast { cond } if self.waiters(state, *cond).next().is_some());
        let slack = |act: &Act| match act {
            Act::Signal { cond, .. } => Some(self.slack(state, *cond)),
            _ => None,
        };
        if stretch.acts.iter().any(reaches) {
            return (Worth::Needed, 0);
        }
        let slack = stretch.acts.iter().filter_map(slack).min().unwrap_or(0);
        (if slack > 0 { Worth::Spare } else { Worth::Lost }, slack)
    }

    /// How many signals a thread still needs.
    fn need(&self, state: &State, thread: usize) -> i64 {
        let done = usize::from(state.done[thread]);
        let last = i64::from(thread == self.goal.local && self.goal.last_wake.is_some());
        i64::from(self.by.wakes(thread, self.targets[thread].max(done)) - self.by.wakes(thread, done)) + last
    }

    /// How many signals more there will be than are needed.
    fn slack(&self, state: &State, cond: usize) -> i64 {
        let sums = self.by.sums[cond].iter().zip(&state.done).zip(&self.targets);
        let of_thread = |((sums, done), target): ((&Vec<super::Sum>, &u16), &usize)| {
            let [from, to] = [sums[usize::from(*done)], sums[usize::from(*done).max(*target)]];
            i64::from(to.signals - from.signals) - i64::from(to.wakes - from.wakes)
        };
        sums.map(of_thread).sum::<i64>() - i64::from(self.goal.last_wake == Some(cond))
    }
}

fn is_released(state: &State, thread: usize) -> bool {
    state.released >> thread & 1 == 1
}

/// The legs from the start to a node.
fn way(nodes: &[Node], last: usize) -> Vec<Leg> {
    let mut back: Vec<usize> = std::iter::successors(Some(last), |number| nodes[*number].from).collect();
    back.reverse();
    back.into_iter().flat_map(|number| nodes[number].legs.iter().cloned()).collect()
}

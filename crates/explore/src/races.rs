//! The steps taken so far and what happens before what among them; which of them race with a step to come.

use crate::action::{Action, Relation};
use crate::step::Step;
use crate::threads::ThreadSet;

/// The steps of the interleaving that is being explored.
pub struct History {
    pub steps: Vec<Step>,
    /// Per object, the steps that use it.
    users: Vec<Vec<u32>>,
    /// Per thread, its steps.
    of_thread: Vec<Vec<u32>>,
    /// Per thread, the step that started it.
    started_by: Vec<Option<u32>>,
    nothing: Box<[u32]>,
}

impl History {
    pub fn new(threads: usize) -> History {
        History {
            steps: Vec::new(),
            users: Vec::new(),
            of_thread: vec![Vec::new(); threads],
            started_by: vec![None; threads],
            nothing: vec![0; threads].into(),
        }
    }

    /// How many steps of each thread come before the thread's next step by what it did so far.
    fn clock(&self, thread: usize) -> &[u32] {
        match self.of_thread[thread].last().or(self.started_by[thread].as_ref()) {
            Some(step) => &self.steps[*step as usize].clock,
            None => &self.nothing,
        }
    }

    /// Whether a step comes before whatever has this clock.
    fn is_before(&self, step: usize, clock: &[u32]) -> bool {
        let Step { thread, number, .. } = self.steps[step];
        clock[thread] > number
    }

    /// Adds a step.
    pub fn push(&mut self, thread: usize, choice: usize, action: Action) {
        let mut clock: Box<[u32]> = self.clock(thread).into();
        let mut join = |other: &[u32]| clock.iter_mut().zip(other).for_each(|(own, other)| *own = (*own).max(*other));
        for own in action.uses.iter() {
            if self.users.len() <= own.object as usize {
                self.users.resize(own.object as usize + 1, Vec::new());
            }
            for user in &self.users[own.object as usize] {
                let step = &self.steps[*user as usize];
                if step.action.relation(&action) != Relation::Independent {
                    join(&step.clock);
                }
            }
        }
        if let Some(joined) = action.joins {
            join(self.clock(joined));
        }
        let number = self.of_thread[thread].len() as u32;
        clock[thread] = number + 1;
        let index = self.steps.len() as u32;
        for (at, own) in action.uses.iter().enumerate() {
            if action.uses[..at].iter().all(|earlier| earlier.object != own.object) {
                self.users[own.object as usize].push(index);
            }
        }
        if let Some(child) = action.starts {
            self.started_by[child] = Some(index);
        }
        self.of_thread[thread].push(index);
        self.steps.push(Step { thread, number, choice, action, clock });
    }

    /// Takes the last step back.
    pub fn pop(&mut self) {
        let Some(step) = self.steps.pop() else { return };
        let index = self.steps.len() as u32;
        self.of_thread[step.thread].pop();
        for own in step.action.uses.iter() {
            let users = &mut self.users[own.object as usize];
            if users.last() == Some(&index) {
                users.pop();
            }
        }
        if let Some(child) = step.action.starts {
            self.started_by[child] = None;
        }
    }

    /// The steps that race with a thread's next one, the latest first: it could come before each of them, and that matters.
    pub fn races(&self, thread: usize, next: &Action) -> Vec<usize> {
        let clock = self.clock(thread);
        let mut racing: Vec<usize> = next
            .uses
            .iter()
            .flat_map(|own| self.users.get(own.object as usize).map_or(&[][..], Vec::as_slice))
            .map(|user| *user as usize)
            .filter(|user| self.steps[*user].thread != thread && !self.is_before(*user, clock))
            .filter(|user| self.steps[*user].action.relation(next) == Relation::Race)
            .collect();
        racing.sort_unstable_by(|a, b| b.cmp(a));
        racing.dedup();
        racing
    }

    /// Whether a step comes before another in every equivalent interleaving.
    pub fn ordered(&self, step: usize, other: usize) -> bool {
        self.is_before(step, &self.steps[other].clock)
    }

    /// The threads that can take the first step of what reverses a race (the initials of Abdulla and others, section 4). What reverses it
    /// is the steps after `step` that do not depend on it, then the thread's next one.
    pub fn initials(&self, step: usize, thread: usize, next: &Action) -> ThreadSet {
        let mut initials = ThreadSet::new(self.of_thread.len());
        let mut seen = ThreadSet::new(self.of_thread.len());
        let mut after: Vec<usize> = Vec::new();
        for other in step + 1..self.steps.len() {
            let clock = &self.steps[other].clock;
            if self.is_before(step, clock) {
                continue;
            }
            let by = self.steps[other].thread;
            if !seen.has(by) {
                seen.add(by);
                if !after.iter().any(|earlier| self.is_before(*earlier, clock)) {
                    initials.add(by);
                }
            }
            after.push(other);
        }
        let clock = self.clock(thread);
        let depends = |earlier: &usize| {
            let relation = self.steps[*earlier].action.relation(next);
            self.is_before(*earlier, clock) || relation != Relation::Independent
        };
        if !seen.has(thread) && !after.iter().any(depends) {
            initials.add(thread);
        }
        initials
    }
}

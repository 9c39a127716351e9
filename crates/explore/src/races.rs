//! The steps taken so far and what happens before what among them; which of them race with a step to come.

use crate::action::{Action, Relation};
use crate::step::Step;
use crate::threads::ThreadSet;

/// The steps of the interleaving that is being explored.
pub struct History {
    pub steps: Vec<Step>,
    /// Per object, the steps that use it, by thread.
    users: Vec<Users>,
    /// Per thread, its steps.
    of_thread: Vec<Vec<u32>>,
    /// Per thread, the step that started it.
    started_by: Vec<Option<u32>>,
    nothing: Box<[u32]>,
}

/// The steps that use an object: of each thread that does, in order.
#[derive(Clone, Default)]
struct Users(Vec<(usize, Vec<u32>)>);

impl Users {
    fn push(&mut self, thread: usize, step: u32) {
        match self.0.iter_mut().find(|(known, _)| *known == thread) {
            Some((_, steps)) => steps.push(step),
            None => self.0.push((thread, vec![step])),
        }
    }

    /// Takes a step back, if it was the last one of its thread.
    fn pop(&mut self, thread: usize, step: u32) {
        if let Some((_, steps)) = self.0.iter_mut().find(|(known, _)| *known == thread)
            && steps.last() == Some(&step)
        {
            steps.pop();
        }
    }

    /// The steps of each other thread, latest first.
    fn of_others(&self, thread: usize) -> impl Iterator<Item = impl Iterator<Item = usize>> {
        let others = self.0.iter().filter(move |(own, _)| *own != thread);
        others.map(|(_, steps)| steps.iter().rev().map(|step| *step as usize))
    }
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
        for own in action.uses.iter() {
            if self.users.len() <= own.object as usize {
                self.users.resize(own.object as usize + 1, Users::default());
            }
            for steps in self.users[own.object as usize].of_others(thread) {
                // What came before a step of that thread that is known to come before came before, too: earlier steps add nothing.
                let mut unknown = steps.take_while(|user| !self.is_before(*user, &clock));
                let depends = |user: &usize| self.steps[*user].action.relation(&action) != Relation::Independent;
                let latest = unknown.find(depends);
                if let Some(latest) = latest {
                    join(&mut clock, &self.steps[latest].clock);
                }
            }
        }
        if let Some(joined) = action.joins {
            join(&mut clock, self.clock(joined));
        }
        let number = self.of_thread[thread].len() as u32;
        clock[thread] = number + 1;
        let index = self.steps.len() as u32;
        for (at, own) in action.uses.iter().enumerate() {
            if action.uses[..at].iter().all(|earlier| earlier.object != own.object) {
                self.users[own.object as usize].push(thread, index);
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
            self.users[own.object as usize].pop(step.thread, index);
        }
        if let Some(child) = step.action.starts {
            self.started_by[child] = None;
        }
    }

    /// The steps that race with a thread's next one, the latest first: it could come before each of them, and that matters.
    pub fn races(&self, thread: usize, next: &Action) -> Vec<usize> {
        let clock = self.clock(thread);
        let users = next.uses.iter().filter_map(|own| self.users.get(own.object as usize));
        let unordered = users.flat_map(|users| users.of_others(thread)).flat_map(|steps| {
            steps.take_while(|user| !self.is_before(*user, clock)) // all earlier ones of its thread come before
        });
        let mut racing: Vec<usize> =
            unordered.filter(|user| self.steps[*user].action.relation(next) == Relation::Race).collect();
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

/// Makes a clock one that knows what the other one knows, too.
fn join(clock: &mut [u32], other: &[u32]) {
    clock.iter_mut().zip(other).for_each(|(own, other)| *own = (*own).max(*other));
}

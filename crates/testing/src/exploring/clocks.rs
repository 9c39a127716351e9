//! Classes of interleavings as numbers: two are equivalent where they have the same steps with the same steps before each, by program
//! order and dependence.

use foretrace_explore::{Action, Mode, Relation};
use rustc_hash::FxHashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// How many steps of each thread come before something, up to the last thread of which one does: equal clocks are equal lists.
pub type Clock = Vec<u32>;

/// What comes before what among the steps taken so far.
#[derive(Clone, Default)]
pub struct Clocks {
    threads: FxHashMap<usize, Clock>,
    /// By object, for each way to use it, what comes before the uses or is one of them.
    objects: FxHashMap<u32, Vec<(Mode, Clock)>>,
    class: u128,
}

/// What comes before the other comes before this, too.
pub fn join(clock: &mut Clock, other: &Clock) {
    clock.resize(clock.len().max(other.len()), 0);
    clock.iter_mut().zip(other).for_each(|(own, other)| *own = (*own).max(*other));
}

/// One more step of a thread comes before it.
pub fn take_step(clock: &mut Clock, thread: usize) {
    clock.resize(clock.len().max(thread + 1), 0);
    clock[thread] += 1;
}

impl Clocks {
    /// A thread takes a step; `wakes` tells choices apart.
    pub fn push(&mut self, thread: usize, action: &Action, wakes: Option<usize>) {
        let mut clock = self.threads.get(&thread).cloned().unwrap_or_default();
        for own in action.uses.iter() {
            for (mode, before) in self.objects.get(&own.object).into_iter().flatten() {
                if mode.relation(own.mode) != Relation::Independent {
                    join(&mut clock, before);
                }
            }
        }
        if let Some(joined) = action.joins.and_then(|joined| self.threads.get(&joined)) {
            join(&mut clock, joined);
        }
        take_step(&mut clock, thread);
        for own in action.uses.iter() {
            let users = self.objects.entry(own.object).or_default();
            match users.iter_mut().find(|(mode, _)| *mode == own.mode) {
                Some((_, known)) => join(known, &clock),
                None => users.push((own.mode, clock.clone())),
            }
        }
        if let Some(child) = action.starts {
            self.threads.insert(child, clock.clone());
        }
        let uses: Vec<(u32, Mode)> = action.uses.iter().map(|own| (own.object, own.mode)).collect();
        let half = |salt: u64| {
            let mut hasher = DefaultHasher::new();
            (salt, thread, &clock, &uses, wakes).hash(&mut hasher);
            u128::from(hasher.finish())
        };
        self.class = self.class.wrapping_add(half(1) << 64 | half(2));
        self.threads.insert(thread, clock);
    }

    /// The class so far, the same for equivalent interleavings.
    pub fn class(&self) -> u128 {
        self.class
    }
}

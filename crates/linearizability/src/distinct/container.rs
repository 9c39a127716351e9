//! The summary of a history of a container: when each value was put in and taken out.

use crate::model::{Act, Id, Ret, Step};
use rustc_hash::FxHashMap;

/// A value's life in a container.
#[derive(Clone, Copy)]
pub(super) struct Life {
    /// When putting it in was called, and when that returned.
    pub(super) put: (u64, u64),
    /// When taking it out was called, and when that returned; `u64::MAX` where nothing took it.
    pub(super) take: (u64, u64),
}

/// The values of a container that all are put in once, and the times of those that found it empty.
pub(super) struct Container {
    pub(super) lives: Vec<Life>,
    empty: Vec<(u64, u64)>,
}

/// What a history of a container comes to.
pub(super) enum Read {
    /// The check does not apply.
    Other,
    /// It is not linearizable: a value is taken twice, or was never put in, or taken before it was put in.
    Bad,
    /// It does.
    Container(Container),
}

pub(super) fn read(steps: &[Step], put: fn(Act) -> Option<Id>, take: Act) -> Read {
    let mut lives: FxHashMap<Id, Life> = FxHashMap::default();
    let mut open: FxHashMap<Id, bool> = FxHashMap::default();
    for step in steps {
        if let Some(value) = put(step.act) {
            let life = Life { put: (step.from, step.to), take: (u64::MAX, u64::MAX) };
            if lives.insert(value, life).is_some() {
                return Read::Other;
            }
            open.insert(value, !step.is_complete());
        } else if step.act != take || !step.is_complete() || step.ret == Ret::Unknown {
            return Read::Other;
        }
    }
    let mut empty = Vec::new();
    for step in steps.iter().filter(|step| step.act == take) {
        match step.ret {
            Ret::Value(value) => match lives.get_mut(&value) {
                Some(life) if life.take.0 == u64::MAX => life.take = (step.from, step.to),
                _ => return Read::Bad,
            },
            _ => empty.push((step.from, step.to)),
        }
    }
    let never_happened = |value: &Id, life: &Life| life.take.0 == u64::MAX && open.get(value) == Some(&true);
    lives.retain(|value, life| !never_happened(value, life));
    let mut lives: Vec<Life> = lives.into_values().collect();
    if lives.iter().any(|life| life.take.1 < life.put.0) {
        return Read::Bad;
    }
    lives.sort_unstable_by_key(|life| life.put);
    Read::Container(Container { lives, empty })
}

impl Container {
    /// Whether each operation that found the container empty has a moment at which no value must be in it. A value must
    /// be in it from when putting it in returned to when taking it out was called.
    pub(super) fn can_be_empty(&self) -> bool {
        let mut full: Vec<(u64, u64)> = self.lives.iter().map(|life| (life.put.1, life.take.0)).collect();
        full.retain(|(from, to)| from < to);
        full.sort_unstable();
        let mut merged: Vec<(u64, u64)> = Vec::new();
        for (from, to) in full {
            match merged.last_mut() {
                Some(last) if from < last.1 => last.1 = last.1.max(to),
                _ => merged.push((from, to)),
            }
        }
        self.empty.iter().all(|(from, to)| {
            let around = merged.partition_point(|(start, _)| start < from).checked_sub(1).map(|place| merged[place]);
            around.is_none_or(|(_, end)| end < *to)
        })
    }
}

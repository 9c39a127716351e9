//! Registers. A write and the reads of its value form a cluster. The *zone* of a cluster is between the earliest return and
//! the latest call of its operations: forward if the return comes first, then the register must have the value all that
//! time; else backward, then one moment in the zone is enough. The history is linearizable if and only if no read returns
//! before its write is called, no two forward zones overlap, and no backward zone is within a forward one (Gibbons and
//! Korach, "Testing shared memories", SIAM Journal on Computing 1997).

use crate::model::{Act, Id, Ret, Step};
use rustc_hash::FxHashMap;

/// Whether a register's history is linearizable, where the check applies.
pub fn register(steps: &[Step], initial: Id) -> Option<bool> {
    // The initial value is written before all.
    let mut writes: FxHashMap<Id, (u64, u64)> = FxHashMap::default();
    writes.insert(initial, (0, 0));
    for step in steps {
        match step.act {
            Act::Read => {}
            Act::Write(value) => {
                if writes.insert(value, (step.from + 1, time(step.to))).is_some() {
                    return None;
                }
            }
            _ => return None,
        }
    }
    // Per value the earliest return and the latest call, and whether a read saw it.
    let mut zones: FxHashMap<Id, (u64, u64, bool)> = FxHashMap::default();
    zones.extend(writes.iter().map(|(value, (from, to))| (*value, (*to, *from, false))));
    for step in steps.iter().filter(|step| step.act == Act::Read && step.is_complete()) {
        let Ret::Value(value) = step.ret else { continue };
        let (Some(zone), Some(write)) = (zones.get_mut(&value), writes.get(&value)) else { return Some(false) };
        if time(step.to) < write.0 {
            return Some(false);
        }
        *zone = (zone.0.min(time(step.to)), zone.1.max(step.from + 1), true);
    }
    // A write that never returned and that no read saw may not have happened.
    zones.retain(|_, (ret, _, seen)| *seen || *ret != u64::MAX);
    let mut forward: Vec<(u64, u64)> = Vec::new();
    let mut backward: Vec<(u64, u64)> = Vec::new();
    for (ret, call, _) in zones.into_values() {
        if ret < call { forward.push((ret, call)) } else { backward.push((call, ret)) }
    }
    forward.sort_unstable();
    let apart = forward.windows(2).all(|pair| pair[0].1 < pair[1].0);
    let fits = backward.iter().all(|(from, to)| {
        let before = forward.partition_point(|(start, _)| start < from).checked_sub(1);
        before.is_none_or(|place| forward[place].1 < *to)
    });
    Some(apart && fits)
}

/// Times are moved by one, since the initial write is at 0.
fn time(moment: u64) -> u64 {
    moment.saturating_add(1)
}

//! A small part of a history that shows that it is not linearizable.
//!
//! Each step leaves out what a linearizable history can always do without: what comes later; an operation that changes
//! nothing and only looks; all operations of one value. So a part that is not linearizable proves it of the whole.

use crate::check::{Verdict, check};
use crate::history::History;
use crate::limits::Limits;
use crate::model::{Act, BadOperation, Id, Ret, Spec, Step, compile};
use crate::value::Value;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// A part of a history that is not linearizable, from which nothing more can be left out. `None` if the history is linearizable, or if the
/// limit was reached before that was known.
pub fn minimal(
    history: &History,
    spec: Spec,
    initial: Option<&Value>,
    limits: Limits<'_>,
) -> Result<Option<History>, BadOperation> {
    let whole = check(history, spec, initial, limits)?;
    if whole.verdict != Verdict::NotLinearizable {
        return Ok(None);
    }
    // The first value of a register must not change with what is left out.
    let is_nil = |value: &Value| *value == Value::Nil;
    let reads_nil = history.operations.iter().any(|op| op.args.is_empty() && op.result.as_ref().is_some_and(is_nil));
    let first = initial.cloned().unwrap_or(if reads_nil { Value::Nil } else { Value::Int(0) });
    let is_bad = |part: &History| {
        check(part, spec, Some(&first), limits).is_ok_and(|checked| checked.verdict == Verdict::NotLinearizable)
    };
    let mut part = history.part(&whole.violating);
    if part.operations.len() > LARGE {
        // Each prefix of a large history costs as much as the whole; halves of its values cost less and less.
        let groups = removable(&part, spec, &first)?;
        part = without_groups(part, groups, &is_bad, limits);
    }
    part = shortest_prefix(part, &is_bad);
    loop {
        let before = part.operations.len();
        let groups = removable(&part, spec, &first)?;
        part = without_groups(part, groups, &is_bad, limits);
        if part.operations.len() == before || !(limits.go_on)() {
            return Ok(Some(part));
        }
    }
}

/// Operations above which values are left out before the shortest prefix is sought.
const LARGE: usize = 20_000;

/// Up to the earliest return that makes it fail: what fails goes on to fail.
fn shortest_prefix(history: History, is_bad: &dyn Fn(&History) -> bool) -> History {
    let mut moments: Vec<u64> = history.operations.iter().map(|op| op.ret).filter(|ret| *ret != u64::MAX).collect();
    moments.sort_unstable();
    let (mut low, mut high) = (0, moments.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if is_bad(&history.until(moments[middle])) { high = middle } else { low = middle + 1 }
    }
    let prefix = moments.get(low).map(|moment| history.until(*moment));
    prefix.filter(|prefix| is_bad(prefix)).unwrap_or(history)
}

/// Groups of operations that can be left out together, as positions.
fn removable(history: &History, spec: Spec, first: &Value) -> Result<Vec<Vec<usize>>, BadOperation> {
    let compiled = compile(history, spec, Some(first))?;
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for part in &compiled.parts {
        let mut values: IndexMap<Id, Vec<usize>, FxBuildHasher> = IndexMap::default();
        for step in &part.steps {
            match value_of(step) {
                Removal::Alone => groups.push(vec![step.operation]),
                Removal::Value(value) => values.entry(value).or_default().push(step.operation),
                Removal::Needed => {}
            }
        }
        groups.extend(values.into_iter().map(|(_, own)| own));
    }
    Ok(groups)
}

enum Removal {
    /// It can be left out by itself.
    Alone,
    /// It can be left out with all operations of this value.
    Value(Id),
    /// It cannot be left out.
    Needed,
}

fn value_of(step: &Step) -> Removal {
    if !step.is_complete() {
        // It may not have happened; one that changes something is kept, since others may rest on it.
        return match step.act {
            Act::Read | Act::Count | Act::Get | Act::Contains | Act::PeekBack | Act::PeekFront | Act::PeekMin => {
                Removal::Alone
            }
            Act::PushBack(value) | Act::PushFront(value) | Act::Offer(value) => Removal::Value(value),
            _ => Removal::Needed,
        };
    }
    match (step.act, step.ret) {
        _ if step.only_looks() => Removal::Alone,
        (Act::PushBack(value) | Act::PushFront(value) | Act::Offer(value), _) => Removal::Value(value),
        (Act::PopBack | Act::PopFront | Act::PopMin, Ret::Value(value)) => Removal::Value(value),
        // What a register's write sets, a compare-and-set or a read of it may rest on.
        _ => Removal::Needed,
    }
}

/// Leaves out groups as long as what remains fails: first many at once, then each.
fn without_groups(
    history: History,
    mut groups: Vec<Vec<usize>>,
    is_bad: &dyn Fn(&History) -> bool,
    limits: Limits<'_>,
) -> History {
    let mut left_out = vec![false; history.operations.len()];
    let remaining = |left_out: &[bool]| {
        let kept: Vec<usize> = (0..left_out.len()).filter(|place| !left_out[*place]).collect();
        history.part(&kept)
    };
    let mut size = groups.len().div_ceil(2).max(1);
    loop {
        let mut kept = Vec::with_capacity(groups.len());
        for chunk in groups.chunks(size) {
            chunk.iter().flatten().for_each(|operation| left_out[*operation] = true);
            if !((limits.go_on)() && is_bad(&remaining(&left_out))) {
                chunk.iter().flatten().for_each(|operation| left_out[*operation] = false);
                kept.extend_from_slice(chunk);
            }
        }
        groups = kept;
        if size == 1 || !(limits.go_on)() {
            return remaining(&left_out);
        }
        size = size.div_ceil(2);
    }
}

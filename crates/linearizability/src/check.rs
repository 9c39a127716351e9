//! Judges a history: object by object, key by key, by the fastest check that applies.

use crate::distinct;
use crate::ends;
use crate::history::History;
use crate::limits::Limits;
use crate::model::{BadOperation, Compiled, ObjectHistory, Spec, State, compile};
use crate::pushdown;
use crate::search::search;
use crate::value::Value;
use crate::visits;
use rustc_hash::FxHashSet;

/// Whether a history is linearizable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It is.
    Linearizable,
    /// It is not.
    NotLinearizable,
    /// The limit was reached, or a specification by examples does not say enough.
    Unknown,
}

/// A verdict, and what it is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checked {
    /// The verdict on the whole history: the worst of its objects and keys.
    pub verdict: Verdict,
    /// The operations of the first object or key that is not linearizable, by their positions.
    pub violating: Vec<usize>,
    /// How many objects and keys were judged by themselves.
    pub parts: usize,
}

/// Judges a history against a specification. `initial` is the first value of a register: without it `nil` where a read
/// gave nothing, else 0.
pub fn check(
    history: &History,
    spec: Spec,
    initial: Option<&Value>,
    limits: Limits<'_>,
) -> Result<Checked, BadOperation> {
    let compiled = compile(history, spec, initial)?;
    let unclear = unclear_objects(history);
    let mut verdict = Verdict::Linearizable;
    for part in &compiled.parts {
        if is_unclear(history, &unclear, part) {
            verdict = Verdict::Unknown;
            continue;
        }
        match judge(part, spec, &compiled, limits) {
            Some(true) => {}
            Some(false) => {
                let violating = part.steps.iter().map(|step| step.operation).collect();
                return Ok(Checked { verdict: Verdict::NotLinearizable, violating, parts: compiled.parts.len() });
            }
            None => verdict = Verdict::Unknown,
        }
    }
    Ok(Checked { verdict, violating: Vec::new(), parts: compiled.parts.len() })
}

/// The objects of which some argument of an operation is not known.
fn unclear_objects(history: &History) -> FxHashSet<Option<&str>> {
    let unclear = history.operations.iter().filter(|operation| operation.has_unknown_argument());
    unclear.map(|operation| operation.object.as_deref()).collect()
}

fn is_unclear(history: &History, unclear: &FxHashSet<Option<&str>>, part: &ObjectHistory) -> bool {
    let first = part.steps.first().map(|step| &history.operations[step.operation]);
    first.is_some_and(|operation| unclear.contains(&operation.object.as_deref()))
}

fn judge(part: &ObjectHistory, spec: Spec, compiled: &Compiled, limits: Limits<'_>) -> Option<bool> {
    let fast = match spec {
        Spec::Register => distinct::register(&part.steps, compiled.initial),
        Spec::Queue => distinct::queue(&part.steps).or_else(|| visits::queue(&part.steps, limits)),
        Spec::Stack => distinct::stack(&part.steps).or_else(|| pushdown::stack(&part.steps, limits)),
        Spec::Deque => distinct::deque(&part.steps).or_else(|| ends::deque(&part.steps, limits)),
        _ => None,
    };
    fast.or_else(|| by_search(part, spec, compiled, limits))
}

fn by_search(part: &ObjectHistory, spec: Spec, compiled: &Compiled, limits: Limits<'_>) -> Option<bool> {
    search(&part.steps, State::initial(spec, compiled.initial), |state, act, ret| state.after(act, ret), limits)
}

/// The same by search alone, object by object and key by key: what the fast checks are compared with.
pub fn check_by_search(
    history: &History,
    spec: Spec,
    initial: Option<&Value>,
    limits: Limits<'_>,
) -> Result<Verdict, BadOperation> {
    let compiled = compile(history, spec, initial)?;
    let unclear = unclear_objects(history);
    let mut verdict = Verdict::Linearizable;
    for part in &compiled.parts {
        if is_unclear(history, &unclear, part) {
            verdict = Verdict::Unknown;
            continue;
        }
        match by_search(part, spec, &compiled, limits) {
            Some(true) => {}
            Some(false) => return Ok(Verdict::NotLinearizable),
            None => verdict = Verdict::Unknown,
        }
    }
    Ok(verdict)
}

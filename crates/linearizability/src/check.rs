//! Judges a history: object by object, key by key, by the fastest check that applies.

use crate::distinct;
use crate::history::{History, Operation};
use crate::limits::Limits;
use crate::model::{BadOperation, Compiled, Part, Spec, State, compile};
use crate::pairs;
use crate::search::search;
use crate::value::Value;

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
    let mut verdict = Verdict::Linearizable;
    for part in &compiled.parts {
        if is_unclear(history, part) {
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

/// Whether some argument of an operation of the same object is not known.
fn is_unclear(history: &History, part: &Part) -> bool {
    let object = part.steps.first().and_then(|step| history.operations[step.operation].object.as_ref());
    let mut own = history.operations.iter().filter(|operation| operation.object.as_ref() == object);
    own.any(Operation::has_unknown_argument)
}

fn judge(part: &Part, spec: Spec, compiled: &Compiled, limits: Limits<'_>) -> Option<bool> {
    let fast = match spec {
        Spec::Register => distinct::register(&part.steps, compiled.initial),
        Spec::Queue => distinct::queue(&part.steps).or_else(|| pairs::queue(&part.steps, limits)),
        Spec::Stack => distinct::stack(&part.steps),
        Spec::Deque => distinct::deque(&part.steps),
        _ => None,
    };
    fast.or_else(|| by_search(part, spec, compiled, limits))
}

fn by_search(part: &Part, spec: Spec, compiled: &Compiled, limits: Limits<'_>) -> Option<bool> {
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
    let mut verdict = Verdict::Linearizable;
    for part in &compiled.parts {
        if is_unclear(history, part) {
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

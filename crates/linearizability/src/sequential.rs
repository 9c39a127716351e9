//! Objects that are their own specification: what their operations give when they run one after the other.

use crate::check::{Checked, Verdict};
use crate::history::{History, Operation};
use crate::limits::Limits;
use crate::model::{Act, Ret, Step};
use crate::search::search;
use crate::value::Value;
use rustc_hash::FxHashMap;
use std::cell::Cell;

/// What sequential runs of an object show, as a tree of operations: below each the ones that may come next.
#[derive(Default, Debug)]
pub struct Sequential {
    /// Per node, by method and arguments, the results that runs show, with the node after each.
    nodes: Vec<FxHashMap<Call, Vec<(Value, u32)>>>,
}

/// A method and its arguments.
type Call = (String, Vec<Value>);

/// What an operation gave, if that and what it was given is known.
fn known_result(operation: &Operation) -> Option<&Value> {
    let result = operation.result.as_ref().filter(|result| **result != Value::Unknown);
    result.filter(|_| !operation.has_unknown_argument())
}

/// Two operations of a run that is meant to be sequential overlap.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("found {first} and {second} at the same time, expected a sequential run")]
pub struct NotSequential {
    /// An operation.
    pub first: String,
    /// One that was called before it returned.
    pub second: String,
}

impl Sequential {
    /// Adds a run. Each of its objects is an example.
    pub fn add(&mut self, run: &History) -> Result<(), NotSequential> {
        if self.nodes.is_empty() {
            self.nodes.push(FxHashMap::default());
        }
        let mut at: FxHashMap<Option<&str>, (Option<u32>, Option<&Operation>)> = FxHashMap::default();
        for operation in &run.operations {
            let (node, last) = at.entry(operation.object.as_deref()).or_insert((Some(0), None));
            if let Some(last) = last.filter(|last| last.ret > operation.call) {
                return Err(NotSequential { first: last.to_string(), second: operation.to_string() });
            }
            let Some(result) = known_result(operation) else {
                *node = None; // what it did is not known, so what follows is no example
                continue;
            };
            *node = node.map(|node| self.enter(node, operation, result));
            *last = Some(operation);
        }
        Ok(())
    }

    fn enter(&mut self, node: u32, operation: &Operation, result: &Value) -> u32 {
        let new = self.nodes.len() as u32;
        let results = self.nodes[node as usize].entry((operation.method.clone(), operation.args.clone())).or_default();
        if let Some((_, known)) = results.iter().find(|(known, _)| known == result) {
            return *known;
        }
        results.push((result.clone(), new));
        self.nodes.push(FxHashMap::default());
        new
    }

    /// Judges a history: it is linearizable if the runs show its operations in an order that fits. Where none does, and an
    /// operation came at a point at which no run shows what it gives, the runs do not say enough.
    pub fn check(&self, history: &History, limits: Limits<'_>) -> Checked {
        let mut objects: Vec<(Option<&str>, Vec<usize>)> = Vec::new();
        for (number, operation) in history.operations.iter().enumerate() {
            let object = operation.object.as_deref();
            match objects.iter_mut().find(|(other, _)| *other == object) {
                Some((_, own)) => own.push(number),
                None => objects.push((object, vec![number])),
            }
        }
        let parts = objects.len();
        let mut verdict = Verdict::Linearizable;
        for (_, operations) in objects {
            match self.judge(history, &operations, limits) {
                Verdict::Linearizable => {}
                Verdict::Unknown => verdict = Verdict::Unknown,
                Verdict::NotLinearizable => {
                    return Checked { verdict: Verdict::NotLinearizable, violating: operations, parts };
                }
            }
        }
        Checked { verdict, violating: Vec::new(), parts }
    }

    fn judge(&self, history: &History, operations: &[usize], limits: Limits<'_>) -> Verdict {
        if operations.iter().any(|number| history.operations[*number].has_unknown_argument()) {
            return Verdict::Unknown;
        }
        let step = |number: &usize| {
            let operation = &history.operations[*number];
            let act = Act::Opaque(*number as u32);
            Step { act, ret: Ret::Unknown, from: operation.call, to: operation.ret, operation: *number }
        };
        let steps: Vec<Step> = operations.iter().map(step).collect();
        let says_enough = Cell::new(true);
        let after = |node: &u32, act: Act, _| {
            let Act::Opaque(number) = act else { return None };
            let operation = &history.operations[number as usize];
            let results = self.nodes.get(*node as usize)?.get(&(operation.method.clone(), operation.args.clone()));
            let Some(results) = results else {
                says_enough.set(false);
                return None;
            };
            match operation.result.as_ref().filter(|result| **result != Value::Unknown) {
                Some(result) => results.iter().find(|(known, _)| known == result).map(|(_, next)| *next),
                None => {
                    says_enough.set(says_enough.get() && results.len() == 1);
                    results.first().map(|(_, next)| *next)
                }
            }
        };
        match search(&steps, 0, after, limits) {
            Some(true) => Verdict::Linearizable,
            Some(false) if says_enough.get() => Verdict::NotLinearizable,
            _ => Verdict::Unknown,
        }
    }
}

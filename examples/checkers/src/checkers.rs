//! The public checker, as its documentation says to use it: keys are checked by themselves.

use crate::objects::{Done, Object};
use porcupine_rs::{Model, Operation};
use std::marker::PhantomData;

/// An operation: process, key, what it did, when it was called and returned.
#[derive(Clone)]
pub struct Typed {
    pub process: u32,
    pub key: i64,
    pub done: Done,
    pub call: i64,
    pub ret: i64,
}

/// An object for porcupine-rs.
#[derive(Clone)]
pub struct Porcupine<O>(PhantomData<O>);

impl<O: Object> Model for Porcupine<O> {
    type State = O::State;
    type Op = (i64, Done);
    type Metadata = ();

    fn partition_operations(history: &[Operation<Self>]) -> Vec<Vec<Operation<Self>>> {
        if !O::HAS_KEYS {
            return vec![history.to_vec()];
        }
        let mut parts: std::collections::BTreeMap<i64, Vec<Operation<Self>>> = std::collections::BTreeMap::new();
        for operation in history {
            parts.entry(operation.op.0).or_default().push(operation.clone());
        }
        parts.into_values().collect()
    }

    fn init() -> O::State {
        O::first()
    }

    fn step(state: &O::State, op: &(i64, Done)) -> (bool, O::State) {
        match O::after(state, &op.1) {
            Some(next) => (true, next),
            None => (false, state.clone()),
        }
    }
}

/// The history as porcupine-rs takes it.
pub fn for_porcupine<O: Object>(history: &[Typed]) -> Vec<Operation<Porcupine<O>>> {
    let operation = |typed: &Typed| Operation {
        client_id: Some(typed.process),
        call_time: typed.call,
        return_time: typed.ret,
        op: (typed.key, typed.done.clone()),
        metadata: None,
    };
    history.iter().map(operation).collect()
}

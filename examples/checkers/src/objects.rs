//! The objects once more, as users of the public checkers write them: typed operations, and a step per object.

use foretrace_linearizability::{Operation, Spec, Value};
use std::fmt::Debug;
use std::hash::Hash;

/// An operation with what it gave.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Done {
    /// Gave a value, or nothing.
    Read(Option<i64>),
    /// Set a value.
    Write(i64),
    /// Compared with the first value, set the second; whether it did.
    Cas(i64, i64, bool),
    /// Added; no result.
    Add(i64),
    /// Added; the old number.
    FetchAdd(i64, i64),
    /// Put a value at an end.
    Put(End, i64),
    /// Took the value at an end.
    Take(End, Option<i64>),
    /// Looked at the value at an end.
    Peek(End, Option<i64>),
    /// Put the key there; whether it was not.
    Insert(bool),
    /// Took the key away; whether it was there.
    Remove(bool),
    /// Whether the key is there.
    Contains(bool),
}

/// Where a container puts a value, or takes one from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// The first place.
    Front,
    /// The last place.
    Back,
    /// The place of the least value.
    Least,
}

/// An object as the checkers take it.
pub trait Object: Clone + Send + Sync + 'static {
    /// What it remembers.
    type State: Clone + Send + Sync + Debug + Hash + Eq;
    /// Whether operations with different first arguments are of different objects.
    const HAS_KEYS: bool = false;
    /// Before the first operation.
    fn first() -> Self::State;
    /// The state after an operation, if it can give there what it gave.
    fn after(state: &Self::State, done: &Done) -> Option<Self::State>;
}

/// A register, from zero on.
#[derive(Clone)]
pub struct Register;

impl Object for Register {
    type State = i64;

    fn first() -> i64 {
        0
    }

    fn after(state: &i64, done: &Done) -> Option<i64> {
        match *done {
            Done::Read(value) => (value == Some(*state)).then_some(*state),
            Done::Write(value) => Some(value),
            Done::Cas(old, new, did) => ((*state == old) == did).then_some(if did { new } else { *state }),
            _ => None,
        }
    }
}

/// A counter, from zero on.
#[derive(Clone)]
pub struct Counter;

impl Object for Counter {
    type State = i64;

    fn first() -> i64 {
        0
    }

    fn after(state: &i64, done: &Done) -> Option<i64> {
        match *done {
            Done::Read(value) => (value == Some(*state)).then_some(*state),
            Done::Add(more) => Some(state + more),
            Done::FetchAdd(more, old) => (old == *state).then_some(state + more),
            _ => None,
        }
    }
}

/// A stack, queue, deque or priority queue: operations say at which end they work.
#[derive(Clone)]
pub struct Container;

impl Object for Container {
    type State = Vec<i64>;

    fn first() -> Vec<i64> {
        Vec::new()
    }

    fn after(state: &Vec<i64>, done: &Done) -> Option<Vec<i64>> {
        match *done {
            Done::Put(end, value) => {
                let place = match end {
                    End::Front => 0,
                    End::Back => state.len(),
                    End::Least => state.partition_point(|other| *other < value), // kept in order
                };
                let mut next = state.clone();
                next.insert(place, value);
                Some(next)
            }
            Done::Take(end, value) => {
                let is_it = at(state, end) == value;
                is_it.then(|| match (end, value) {
                    (_, None) => state.clone(),
                    (End::Back, _) => state[..state.len() - 1].to_vec(),
                    _ => state[1..].to_vec(),
                })
            }
            Done::Peek(end, value) => (at(state, end) == value).then(|| state.clone()),
            _ => None,
        }
    }
}

fn at(state: &[i64], end: End) -> Option<i64> {
    if end == End::Back { state.last().copied() } else { state.first().copied() }
}

/// One key of a set or map: its value, if it is there.
#[derive(Clone)]
pub struct Key;

impl Object for Key {
    type State = Option<i64>;
    const HAS_KEYS: bool = true;

    fn first() -> Option<i64> {
        None
    }

    fn after(state: &Option<i64>, done: &Done) -> Option<Option<i64>> {
        match *done {
            Done::Read(value) => (value == *state).then_some(*state),
            Done::Write(value) => Some(Some(value)),
            Done::Insert(was_not) => (was_not == state.is_none()).then_some(state.or(Some(0))),
            Done::Remove(was) => (was == state.is_some()).then_some(None),
            Done::Contains(is) => (is == state.is_some()).then_some(*state),
            _ => None,
        }
    }
}

fn int(value: &Value) -> Option<i64> {
    if let Value::Int(value) = value { Some(*value) } else { None }
}

/// The key, if the object has any, and the operation as a checker takes it.
pub fn done(operation: &Operation, spec: Spec) -> (i64, Done) {
    let args: Vec<i64> = operation.args.iter().filter_map(int).collect();
    let result = operation.result.as_ref().expect("it returned");
    let (value, is) = (int(result), *result == Value::Bool(true));
    let has_keys = matches!(spec, Spec::Set | Spec::Map);
    let key = if has_keys { args[0] } else { 0 };
    let done = match (operation.method.as_str(), has_keys) {
        ("read" | "get", _) => Done::Read(value),
        ("write", _) => Done::Write(args[0]),
        ("put", _) => Done::Write(args[1]),
        ("cas", _) => Done::Cas(args[0], args[1], is),
        ("add", true) => Done::Insert(is),
        ("add", false) => Done::Add(args[0]),
        ("fetch_add", _) => Done::FetchAdd(args[0], value.expect("a number")),
        ("push" | "enqueue" | "push_back", _) => Done::Put(End::Back, args[0]),
        ("push_front", _) => Done::Put(End::Front, args[0]),
        ("insert", _) => Done::Put(End::Least, args[0]),
        ("pop" | "pop_back", _) => Done::Take(End::Back, value),
        ("dequeue" | "pop_front", _) => Done::Take(End::Front, value),
        ("delete_min", _) => Done::Take(End::Least, value),
        ("peek_front", _) => Done::Peek(End::Front, value),
        ("peek_back", _) => Done::Peek(End::Back, value),
        ("peek", _) => Done::Peek(if spec == Spec::Stack { End::Back } else { End::Front }, value),
        ("min", _) => Done::Peek(End::Least, value),
        ("remove", _) => Done::Remove(is),
        ("contains", _) => Done::Contains(is),
        (method, _) => panic!("{method}"),
    };
    (key, done)
}

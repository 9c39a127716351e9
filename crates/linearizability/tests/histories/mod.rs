//! Random histories of every object, and the objects once more in the plainest way. The comparison with other checkers
//! (`examples/checkers`) uses this file, too.

use foretrace_linearizability::{History, Operation, Spec, Value};
use foretrace_trace::random::Random;
use std::collections::VecDeque;

/// An object, written once more in the plainest way.
#[derive(Clone, Default)]
pub struct Plain {
    values: VecDeque<i64>,
    pairs: Vec<(i64, i64)>,
    number: i64,
}

fn int(value: Option<i64>) -> Value {
    value.map_or(Value::Nil, Value::Int)
}

impl Plain {
    /// What an operation gives.
    pub fn run(&mut self, spec: Spec, method: &str, args: &[i64]) -> Value {
        let place = args.first().and_then(|key| self.pairs.iter().position(|(other, _)| other == key));
        match (spec, method) {
            (Spec::Register | Spec::Counter, "read") => return Value::Int(self.number),
            (Spec::Register, "write") => self.number = args[0],
            (Spec::Register, "cas") => {
                let fits = self.number == args[0];
                self.number = if fits { args[1] } else { self.number };
                return Value::Bool(fits);
            }
            (Spec::Counter, "add") => self.number += args[0],
            (Spec::Counter, "fetch_add") => {
                self.number += args[0];
                return Value::Int(self.number - args[0]);
            }
            (Spec::Stack, "push") | (Spec::Queue, "enqueue") | (Spec::Deque, "push_back") => {
                self.values.push_back(args[0]);
            }
            (Spec::Deque, "push_front") => self.values.push_front(args[0]),
            (Spec::Stack, "pop") | (Spec::Deque, "pop_back") => return int(self.values.pop_back()),
            (Spec::Queue, "dequeue") | (Spec::Deque, "pop_front") => return int(self.values.pop_front()),
            (Spec::Stack, "peek") => return int(self.values.back().copied()),
            (Spec::Queue, "peek") | (Spec::Deque, "peek_front") => return int(self.values.front().copied()),
            (Spec::Deque, "peek_back") => return int(self.values.back().copied()),
            (Spec::PriorityQueue, "insert") => self.values.push_back(args[0]),
            (Spec::PriorityQueue, "min") => return int(self.values.iter().min().copied()),
            (Spec::PriorityQueue, "delete_min") => {
                let least = self.values.iter().min().copied();
                let place = self.values.iter().position(|value| Some(*value) == least);
                place.map(|place| self.values.remove(place));
                return int(least);
            }
            (Spec::Set, "add") => {
                if place.is_none() {
                    self.pairs.push((args[0], 0));
                }
                return Value::Bool(place.is_none());
            }
            (Spec::Set | Spec::Map, "contains") => return Value::Bool(place.is_some()),
            (Spec::Set | Spec::Map, "remove") => {
                place.map(|place| self.pairs.remove(place));
                return Value::Bool(place.is_some());
            }
            (Spec::Map, "put") => match place {
                Some(place) => self.pairs[place].1 = args[1],
                None => self.pairs.push((args[0], args[1])),
            },
            (Spec::Map, "get") => return int(place.map(|place| self.pairs[place].1)),
            _ => panic!("{method} of {spec:?}"),
        }
        Value::Nil
    }
}

fn methods(spec: Spec) -> &'static [(&'static str, usize)] {
    match spec {
        Spec::Register => &[("read", 0), ("read", 0), ("write", 1), ("cas", 2)],
        Spec::Counter => &[("read", 0), ("add", 1), ("fetch_add", 1)],
        Spec::Stack => &[("push", 1), ("push", 1), ("pop", 0), ("pop", 0), ("peek", 0)],
        Spec::Queue => &[("enqueue", 1), ("enqueue", 1), ("dequeue", 0), ("dequeue", 0), ("peek", 0)],
        Spec::Deque => &[
            ("push_front", 1),
            ("push_back", 1),
            ("push_front", 1),
            ("push_back", 1),
            ("pop_front", 0),
            ("pop_back", 0),
            ("pop_front", 0),
            ("pop_back", 0),
            ("peek_front", 0),
            ("peek_back", 0),
        ],
        Spec::Set => &[("add", 1), ("remove", 1), ("contains", 1)],
        Spec::Map => &[("put", 2), ("get", 1), ("remove", 1), ("contains", 1)],
        Spec::PriorityQueue => &[("insert", 1), ("insert", 1), ("delete_min", 0), ("min", 0)],
    }
}

/// A history of up to four processes with at most `most` operations, mostly spoiled; some operations never return.
pub fn random_history(seed: u64, spec: Spec, distinct: bool, most: usize) -> History {
    let mut random = Random::new(seed);
    let processes = 2 + random.below(3);
    let count = 1 + random.below(most);
    let mut operations = right_operations(&mut random, spec, distinct, processes, count);
    spoil(&mut random, &mut operations, distinct);
    for operation in &mut operations {
        if random.below(12) == 0 {
            (operation.result, operation.ret) = (None, u64::MAX);
        }
    }
    spread(&mut operations);
    History::new(operations)
}

/// A linearizable history: operations take effect at random moments between call and return. Where `distinct`, all values
/// are different and only what the fast checks know is called.
pub fn right_operations(
    random: &mut Random,
    spec: Spec,
    distinct: bool,
    processes: usize,
    count: usize,
) -> Vec<Operation> {
    let mut object = Plain::default();
    let mut free: Vec<u64> = vec![0; processes];
    let mut operations: Vec<Operation> = Vec::with_capacity(count);
    let mut moment: u64 = 100;
    let choices: Vec<_> =
        methods(spec).iter().filter(|(name, _)| !distinct || !(name.starts_with("peek") || *name == "cas")).collect();
    for number in 0..count {
        let (method, arity) = *choices[random.below(choices.len())];
        let is_distinct = distinct && !matches!(spec, Spec::Set | Spec::Map | Spec::Counter);
        let args: Vec<i64> =
            (0..arity).map(|_| if is_distinct { number as i64 + 1 } else { random.below(3) as i64 }).collect();
        let result = object.run(spec, method, &args);
        moment += 1 + random.below(30) as u64;
        let process = random.below(processes);
        let call = (moment - random.below(60) as u64).max(free[process] + 1).min(moment);
        let ret = moment + random.below(60) as u64;
        free[process] = ret;
        operations.push(Operation {
            process: process.to_string(),
            object: None,
            method: method.to_string(),
            args: args.into_iter().map(Value::Int).collect(),
            result: Some(result),
            call,
            ret,
        });
    }
    operations
}

/// Changes a result or an interval, mostly.
pub fn spoil(random: &mut Random, operations: &mut [Operation], distinct: bool) {
    let (one, other) = (random.below(operations.len()), random.below(operations.len()));
    match random.below(4) {
        0 => {}
        1 => {
            if operations[one].method == operations[other].method {
                let result = operations[one].result.clone();
                operations[one].result = std::mem::replace(&mut operations[other].result, result);
            }
        }
        2 => {
            let earlier = random.below(60) as u64;
            let operation = &mut operations[one];
            operation.call = operation.call.saturating_sub(earlier);
            operation.ret = operation.ret.saturating_sub(earlier).max(operation.call);
        }
        _ => match &operations[one].result {
            Some(Value::Int(_)) if !distinct => operations[one].result = Some(Value::Int(random.below(3) as i64)),
            Some(Value::Bool(value)) => operations[one].result = Some(Value::Bool(!value)),
            _ => operations[one].ret += 50,
        },
    }
}

/// Gives each call and return a moment for itself.
pub fn spread(operations: &mut [Operation]) {
    let mut moments: Vec<(u64, bool, usize)> = Vec::new();
    for (number, operation) in operations.iter().enumerate() {
        moments.push((operation.call, false, number));
        if operation.ret != u64::MAX {
            moments.push((operation.ret, true, number));
        }
    }
    moments.sort_unstable();
    for (moment, (_, is_return, number)) in moments.into_iter().enumerate() {
        let operation = &mut operations[number];
        if is_return { operation.ret = moment as u64 } else { operation.call = moment as u64 }
    }
}

/// Makes numbers equal that have the same rest.
pub fn with_few_values(operations: &mut [Operation], few: i64) {
    for operation in operations {
        for value in operation.args.iter_mut().chain(&mut operation.result) {
            if let Value::Int(number) = value {
                *number %= few;
            }
        }
    }
}

//! How long judging histories takes: 10,000 histories of 1,000 operations of each object, and one of 1,000,000 operations
//! with distinct values of a register, a queue, a stack and a set.
//!
//! `cargo run --release --package foretrace-linearizability --example speed`

use foretrace_linearizability::{History, Limits, Operation, Spec, Value, Verdict, check};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % bound as u64) as usize
    }
}

#[derive(Default)]
struct Object {
    values: VecDeque<i64>,
    sorted: BTreeMap<i64, i64>,
    keys: BTreeSet<i64>,
    number: i64,
}

impl Object {
    /// A random operation and what it gives.
    fn step(&mut self, spec: Spec, fresh: i64, random: &mut Random) -> (&'static str, Vec<i64>, Value) {
        let coin = random.below(2) == 0;
        let nil_or = |value: Option<i64>| value.map_or(Value::Nil, Value::Int);
        match spec {
            Spec::Register if coin => {
                self.number = fresh;
                ("write", vec![fresh], Value::Nil)
            }
            Spec::Register => ("read", vec![], Value::Int(self.number)),
            Spec::Counter if coin => {
                self.number += 1;
                ("inc", vec![], Value::Nil)
            }
            Spec::Counter => ("get", vec![], Value::Int(self.number)),
            Spec::Stack | Spec::Queue | Spec::Deque if coin => {
                self.values.push_back(fresh);
                (if spec == Spec::Queue { "enqueue" } else { "push" }, vec![fresh], Value::Nil)
            }
            Spec::Queue => ("dequeue", vec![], nil_or(self.values.pop_front())),
            Spec::Stack | Spec::Deque => ("pop", vec![], nil_or(self.values.pop_back())),
            Spec::Set | Spec::Map => {
                let key = if fresh % 3 == 0 { fresh } else { random.below(fresh as usize + 1) as i64 };
                if spec == Spec::Map {
                    return if coin {
                        self.sorted.insert(key, fresh);
                        ("put", vec![key, fresh], Value::Nil)
                    } else {
                        ("get", vec![key], nil_or(self.sorted.get(&key).copied()))
                    };
                }
                match random.below(3) {
                    0 => ("add", vec![key], Value::Bool(self.keys.insert(key))),
                    1 => ("remove", vec![key], Value::Bool(self.keys.remove(&key))),
                    _ => ("contains", vec![key], Value::Bool(self.keys.contains(&key))),
                }
            }
            Spec::PriorityQueue if coin => {
                let value = random.below(1 << 30) as i64;
                *self.sorted.entry(value).or_default() += 1;
                ("insert", vec![value], Value::Nil)
            }
            Spec::PriorityQueue => {
                let least = self.sorted.keys().next().copied();
                if let Some(least) = least {
                    let count = self.sorted.get_mut(&least).expect("it is there");
                    *count -= 1;
                    if *count == 0 {
                        self.sorted.remove(&least);
                    }
                }
                ("delete_min", vec![], nil_or(least))
            }
        }
    }
}

/// A linearizable history of eight processes.
fn history(spec: Spec, operations: usize, seed: u64) -> History {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut object = Object::default();
    let mut free = [0u64; 8];
    let mut all = Vec::with_capacity(operations);
    let mut moment = 1_000;
    for number in 0..operations {
        let (method, args, result) = object.step(spec, number as i64 + 1, &mut random);
        moment += 1_000;
        let process = random.below(8);
        let call = (moment - random.below(4_000).min(moment as usize) as u64).max(free[process] + 1).min(moment);
        let ret = moment + 1 + random.below(4_000) as u64;
        free[process] = ret;
        all.push(Operation {
            process: process.to_string(),
            object: None,
            method: method.to_string(),
            args: args.into_iter().map(Value::Int).collect(),
            result: Some(result),
            call,
            ret,
        });
    }
    let mut moments: Vec<(u64, bool, usize)> =
        all.iter().enumerate().flat_map(|(at, op)| [(op.call, false, at), (op.ret, true, at)]).collect();
    moments.sort_unstable();
    for (moment, (_, is_return, at)) in moments.into_iter().enumerate() {
        if is_return { all[at].ret = moment as u64 } else { all[at].call = moment as u64 }
    }
    History::new(all)
}

fn judge(history: &History, spec: Spec) -> Duration {
    let start = Instant::now();
    let checked = check(history, spec, Some(&Value::Int(0)), Limits::NONE).expect("the methods are known");
    assert_eq!(checked.verdict, Verdict::Linearizable, "{spec:?}");
    start.elapsed()
}

fn main() {
    let count: u64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(10_000);
    for (name, spec) in Spec::ALL {
        let time: Duration = (0..count).map(|seed| judge(&history(spec, 1_000, seed + 1), spec)).sum();
        println!("{name:<16}{count} histories of 1,000 operations: {:.2} s", time.as_secs_f64());
    }
    for spec in [Spec::Register, Spec::Queue, Spec::Stack, Spec::Set] {
        let time = judge(&history(spec, 1_000_000, 1), spec);
        println!("{:<16}1,000,000 operations: {:.2} s", spec.name(), time.as_secs_f64());
    }
}

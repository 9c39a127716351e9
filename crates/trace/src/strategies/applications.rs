//! Every function of the term language on values that matter: for tests that hold another meaning of it against ours.

use crate::function::{Func, NAMES};
use crate::random::Random;
use crate::value::{Sort, Value};
use dashu_int::{IBig, UBig};

/// Widths of words, from the narrowest past the widest that a variable may have.
const WIDTHS: [u32; 11] = [1, 2, 3, 4, 5, 6, 7, 8, 64, 65, 100];

/// The width at which every pair of words is tried.
const EXHAUSTIVE: u32 = 3;

/// How often a function is tried with random arguments of some sort and number.
const SAMPLES: usize = 6;

/// Every function, with well-sorted arguments: all Booleans, small and huge integers, words of many widths.
pub fn applications(seed: u64) -> Vec<(Func, Vec<Value>)> {
    let mut random = Random::new(seed);
    let mut found = Vec::new();
    for func in functions() {
        for sort in sorts() {
            let values = values(&mut random, sort);
            for arity in 1..=3 {
                let args = |random: &mut Random| (0..arity).map(|_| random.pick(&values).cloned()).collect();
                let all = arity == 1 || (arity == 2 && values.len() <= 16);
                let choices: Vec<Option<Vec<Value>>> =
                    if all { tuples(&values, arity) } else { (0..SAMPLES).map(|_| args(&mut random)).collect() };
                found.extend(choices.into_iter().flatten().map(|args| (func, args)));
            }
        }
        found.extend(mixed(&mut random, func));
    }
    found.retain(|(func, args)| func.result_sort(&args.iter().map(Value::sort).collect::<Vec<_>>()).is_ok());
    found
}

fn functions() -> impl Iterator<Item = Func> {
    let extracts = [(0, 0), (2, 1), (2, 0), (7, 3), (63, 32), (64, 64), (99, 1)];
    let indexed = extracts.map(|(high, low)| Func::Extract { high, low }).into_iter().chain([
        Func::Neg,
        Func::Divisible(1),
        Func::Divisible(3),
        Func::ZeroExtend(0),
        Func::ZeroExtend(5),
        Func::SignExtend(0),
        Func::SignExtend(5),
        Func::RotateLeft(0),
        Func::RotateLeft(1),
        Func::RotateLeft(67),
        Func::RotateRight(0),
        Func::RotateRight(1),
        Func::RotateRight(67),
        Func::Repeat(1),
        Func::Repeat(3),
    ]);
    NAMES.iter().map(|(_, func)| *func).chain(indexed)
}

fn sorts() -> impl Iterator<Item = Sort> {
    [Sort::Bool, Sort::Int].into_iter().chain(WIDTHS.map(Sort::BitVec))
}

/// The values of this sort that are tried: all where they are few, the ends of its range and random ones else.
fn values(random: &mut Random, sort: Sort) -> Vec<Value> {
    match sort {
        Sort::Bool => vec![Value::Bool(false), Value::Bool(true)],
        Sort::Int => {
            let huge = (IBig::ONE << 70) + IBig::from(3);
            let small = [-7, -3, -2, -1, 0, 1, 2, 3, 7].map(Value::int);
            small.into_iter().chain([Value::Int(huge.clone()), Value::Int(-huge)]).collect()
        }
        Sort::BitVec(width @ ..=EXHAUSTIVE) => (0..1u32 << width).map(|bits| Value::word(width, bits.into())).collect(),
        Sort::BitVec(width) => {
            let (all, sign) = (UBig::ones(width as usize), UBig::ONE << (width as usize - 1));
            let ends = [UBig::ZERO, UBig::ONE, sign.clone() - UBig::ONE, sign, all.clone() - UBig::ONE, all];
            let shift = UBig::from(width - 1);
            let some = (0..3).map(|_| word(random, width)).collect::<Vec<_>>();
            ends.into_iter().chain([shift]).chain(some).map(|bits| Value::word(width, bits)).collect()
        }
    }
}

fn word(random: &mut Random, width: u32) -> UBig {
    (0..width.div_ceil(16)).fold(UBig::ZERO, |word, _| (word << 16) + UBig::from(random.below(1 << 16)))
}

/// All tuples of one or two values.
fn tuples(values: &[Value], arity: usize) -> Vec<Option<Vec<Value>>> {
    let one = |value: &Value| Some(vec![value.clone()]);
    match arity {
        1 => values.iter().map(one).collect(),
        _ => values.iter().flat_map(|a| values.iter().map(|b| Some(vec![a.clone(), b.clone()]))).collect(),
    }
}

/// Arguments of several sorts, which only `ite` and `concat` take.
fn mixed(random: &mut Random, func: Func) -> Vec<(Func, Vec<Value>)> {
    let mut found = Vec::new();
    for (sort, other) in sorts().zip(sorts().skip(3)) {
        let (values, others) = (values(random, sort), values(random, other));
        for _ in 0..SAMPLES {
            let pick = |random: &mut Random, from: &[Value]| random.pick(from).cloned().into_iter();
            let two: Vec<Value> = pick(random, &values).chain(pick(random, &others)).collect();
            let choice = Value::Bool(random.percent(50));
            let three: Vec<Value> =
                [choice].into_iter().chain(pick(random, &values)).chain(pick(random, &values)).collect();
            found.extend([(func, two), (func, three)]);
        }
    }
    found
}

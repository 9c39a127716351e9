//! Random traces of threads that ask several things of one value, as loops over a shared bound do.

use crate::random::Random;
use crate::{Data, Observed, Sort, Trace, TraceBuilder, Value};

/// Threads read a variable and find conditions about it true, plain comparisons with constants for the most part; others write it. What one
/// condition says may be part of what others say, or more, and a part is pinned.
pub fn random_conditions(seed: u64) -> (Trace, Observed) {
    let mut random = Random::new(seed);
    let mut builder = TraceBuilder::new(Data::Symbolic);
    let sort = if random.percent(50) { Sort::Int } else { Sort::BitVec(3) };
    let mut value = random.below(4) as u64;
    builder.var("x", written(sort, value));
    builder.int_var("y", 0);
    for _ in 0..3 {
        let thread = 1 + random.below(3) as u64;
        if random.percent(40) {
            value = random.below(6) as u64;
            builder.write(thread, "x", &literal(sort, value));
            continue;
        }
        builder.begin(thread);
        builder.read(thread, "x", "a");
        for _ in 0..1 + random.below(3) {
            let condition = true_condition(&mut random, sort, value);
            if random.percent(25) {
                builder.pin(thread, &condition);
            } else {
                builder.assume(thread, &condition);
            }
            if random.percent(25) {
                builder.write(thread, "y", "1");
            }
        }
        if random.percent(60) {
            builder.read(thread, "x", "b");
        } else {
            value = random.below(6) as u64;
            builder.write(thread, "x", &literal(sort, value));
        }
        builder.end(thread);
    }
    let other = 1 + random.below(3) as u64;
    builder.write(other, "x", &literal(sort, random.below(6) as u64));
    builder.finish().expect("a valid trace")
}

fn written(sort: Sort, value: u64) -> Value {
    match sort {
        Sort::BitVec(width) => Value::word(width, value.into()),
        _ => Value::int(value),
    }
}

fn literal(sort: Sort, value: u64) -> String {
    super::expressions::literal(&written(sort, value))
}

/// A condition over `a` that holds where `a` is this value: below 8, a word's from 4 on are negative.
fn true_condition(random: &mut Random, sort: Sort, value: u64) -> String {
    let is_word = sort != Sort::Int;
    let signed = |number: u64| if number < 4 { number as i64 } else { number as i64 - 8 };
    loop {
        let asks_equality = random.percent(25);
        let constant = if asks_equality && random.percent(70) { value } else { random.below(7) as u64 };
        let is_signed = is_word && random.percent(40);
        let (left, right) = match is_signed {
            true => (signed(value), signed(constant)),
            false => (value as i64, constant as i64),
        };
        let (holds, name) = match random.below(4) {
            _ if asks_equality => (left == right, "="),
            0 => (left < right, "<"),
            1 => (left <= right, "<="),
            2 => (left > right, ">"),
            _ => (left >= right, ">="),
        };
        let function = match (name, is_word, is_signed) {
            ("=", ..) | (_, false, _) => name,
            ("<", _, true) => "bvslt",
            ("<=", _, true) => "bvsle",
            (">", _, true) => "bvsgt",
            (_, _, true) => "bvsge",
            ("<", ..) => "bvult",
            ("<=", ..) => "bvule",
            (">", ..) => "bvugt",
            _ => "bvuge",
        };
        let comparison = if name == "=" && random.percent(30) {
            let (plus, sum) = if is_word { ("bvadd", (constant + 1) % 8) } else { ("+", constant + 1) };
            format!("(= ({plus} a {}) {})", literal(sort, 1), literal(sort, sum))
        } else {
            format!("({function} a {})", literal(sort, constant))
        };
        if holds {
            return comparison;
        }
        if random.percent(40) {
            return format!("(not {comparison})");
        }
    }
}

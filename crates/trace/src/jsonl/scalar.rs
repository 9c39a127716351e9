//! Single JSON values from their raw text: strings, exact integers, values of a sort.

use crate::error::{Problem, quoted};
use crate::smtlib::DIGIT_LIMIT;
use crate::value::{Sort, Value};
use dashu_int::IBig;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Deepest nesting of a JSON value that is kept as it is.
const DEPTH_LIMIT: usize = 100;

fn mismatch(field: &str, raw: &str, expected: impl Into<String>) -> Problem {
    Problem::new(format!("{} as `{field}`", quoted(raw)), expected)
}

/// A string.
pub(super) fn string<'a>(field: &str, raw: &'a str) -> Result<Cow<'a, str>, Problem> {
    let inner = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match inner {
        Some(plain) if !plain.contains('\\') => Ok(Cow::Borrowed(plain)),
        Some(_) => {
            serde_json::from_str(raw).map(Cow::Owned).map_err(|_| mismatch(field, raw, "a string of Unicode text"))
        }
        None => Err(mismatch(field, raw, "a string")),
    }
}

/// `true` or `false`.
pub(super) fn boolean(field: &str, raw: &str) -> Result<bool, Problem> {
    match raw {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(mismatch(field, raw, "true or false")),
    }
}

/// An integer from `least` to `most`.
pub(super) fn integer(field: &str, raw: &str, least: u64, most: u64) -> Result<u64, Problem> {
    let number = raw.parse().ok().filter(|_| raw.bytes().all(|byte| byte.is_ascii_digit()));
    number
        .filter(|number| (least..=most).contains(number))
        .ok_or_else(|| mismatch(field, raw, format!("an integer from {least} to {most}")))
}

/// An integer below 2^32 − 1, from `least`.
pub(super) fn small(field: &str, raw: &str, least: u32) -> Result<u32, Problem> {
    let number = integer(field, raw, u64::from(least), u64::from(u32::MAX) - 1)?;
    Ok(u32::try_from(number).unwrap_or(u32::MAX))
}

/// A value of `sort`; integers are exact, floating-point forms are refused.
pub(super) fn value(field: &str, raw: &str, sort: Sort) -> Result<Value, Problem> {
    match sort {
        Sort::Bool => boolean(field, raw).map(Value::Bool),
        Sort::Int => big_integer(field, raw).map(Value::Int),
        Sort::BitVec(width) => {
            let number = big_integer(field, raw)?;
            let value = Value::word_from_int(width, &number);
            if value.to_integer() == number {
                Ok(value)
            } else {
                let most = (IBig::ONE << width as usize) - IBig::ONE;
                Err(mismatch(field, raw, format!("an integer from 0 to {most} ({width} bits)")))
            }
        }
    }
}

fn big_integer(field: &str, raw: &str) -> Result<IBig, Problem> {
    let digits = raw.strip_prefix('-').unwrap_or(raw);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(mismatch(field, raw, "an integer"));
    }
    if digits.len() > DIGIT_LIMIT {
        return Err(mismatch(field, raw, format!("an integer of at most {DIGIT_LIMIT} digits")));
    }
    match raw.parse::<i64>() {
        Ok(small) => Ok(small.into()),
        Err(_) => raw.parse().map_err(|_| mismatch(field, raw, "an integer")),
    }
}

/// The elements of an array.
pub(super) fn array<'a>(field: &str, raw: &'a str) -> Result<Vec<&'a str>, Problem> {
    let elements: Result<Vec<&RawValue>, _> = serde_json::from_str(raw);
    let elements = elements.map_err(|_| mismatch(field, raw, "an array"))?;
    Ok(elements.into_iter().map(RawValue::get).collect())
}

/// Any JSON value without the blanks between its tokens; not nested too deep.
pub(super) fn compact(field: &str, raw: &str) -> Result<String, Problem> {
    let (mut in_string, mut escaped, mut depth) = (false, false, 0usize);
    let mut text = String::with_capacity(raw.len());
    for c in raw.chars() {
        if in_string {
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else {
            match c {
                '"' => in_string = true,
                '[' | '{' => depth += 1,
                ']' | '}' => depth -= 1,
                ' ' | '\t' | '\n' | '\r' => continue,
                _ => {}
            }
        }
        if depth > DEPTH_LIMIT {
            return Err(Problem::new(format!("`{field}` nested deeper than {DEPTH_LIMIT}"), "less nesting"));
        }
        text.push(c);
    }
    Ok(text)
}

//! Which functions are operations on concurrent objects, by their names.

use crate::transactions::Pattern;

/// Patterns for the names of functions whose calls are operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationNames(Vec<(Pattern, String)>);

impl OperationNames {
    /// Reads patterns with commas between them, such as `Queue::push,Queue::pop` or `queue_*`.
    pub fn new(text: &str) -> OperationNames {
        let patterns = text.split(',').map(str::trim).filter(|text| !text.is_empty());
        OperationNames(patterns.map(|text| (Pattern::new(text), text.to_string())).collect())
    }

    /// The operation that a function of this name is; nothing if it is none. Arguments of templates and of generic types are no part
    /// of a name; a pattern fits the end of a qualified name, too. Constructors and destructors are no operations.
    pub fn operation(&self, function: &str) -> Option<String> {
        let parts = parts(function);
        let last = parts.last().filter(|last| !last.is_empty() && !last.starts_with(['~', '{']))?;
        if parts.len() > 1 && parts[parts.len() - 2] == *last {
            return None;
        }
        let ends: Vec<String> = (0..parts.len()).map(|from| parts[from..].join("::")).collect();
        let (_, text) = self.0.iter().find(|(pattern, _)| ends.iter().any(|end| pattern.fits(end)))?;
        Some(without_prefix(last, text).to_string())
    }
}

/// The parts of a qualified name, without what stands in angle brackets; of `<Queue<T> as Fifo>::push`, `Queue` and `push`.
fn parts(mut name: &str) -> Vec<String> {
    let mut after = Vec::new();
    while let Some((ty, rest)) = name.strip_prefix('<').and_then(split_bracket) {
        after.push(rest);
        name = ty.split(" as ").next().unwrap_or(ty);
    }
    let mut plain_name = String::new();
    let mut depth = 0_u32;
    for c in name.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '(' if depth == 0 => break,
            c if depth == 0 => plain_name.push(c),
            _ => {}
        }
    }
    let mut all: Vec<String> = plain_name.split("::").filter(|part| !part.is_empty()).map(str::to_string).collect();
    let after = after.iter().rev().flat_map(|rest| rest.split("::"));
    all.extend(after.filter(|part| !part.is_empty()).map(plain));
    all
}

fn plain(part: &str) -> String {
    part.split(['<', '(']).next().unwrap_or(part).to_string()
}

/// What is inside of a bracket that is open, and what follows it.
fn split_bracket(text: &str) -> Option<(&str, &str)> {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&text[..at], &text[at + 1..]));
        }
    }
    None
}

/// A function's name without the prefix that its pattern gives: `push` of `queue_push` for `queue_*`.
fn without_prefix<'n>(name: &'n str, pattern: &str) -> &'n str {
    let last = pattern.rsplit("::").next().unwrap_or(pattern);
    let prefix = last.split(['*', '?']).next().filter(|literal| literal.len() < last.len());
    let prefix = prefix.and_then(|literal| literal.rfind('_').map(|end| &literal[..=end]));
    prefix.and_then(|prefix| name.strip_prefix(prefix)).filter(|rest| !rest.is_empty()).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_have_the_last_part_of_a_name() {
        for (pattern, function, expected) in [
            ("Queue::*", "Queue::push", Some("push")),
            ("Queue::*", "ns::Queue<int, std::less<int>>::pop", Some("pop")),
            ("Queue::*", "<ring::Queue<T> as ring::Fifo>::pop", Some("pop")),
            ("Queue::*", "<ring::Queue<u64>>::push", Some("push")),
            ("Queue::*", "Queue::Queue", None),
            ("Queue::*", "Queue<int>::~Queue", None),
            ("Queue::*", "Deque::push", None),
            ("queue_*", "queue_push", Some("push")),
            ("queue_p*", "queue_pop", Some("pop")),
            ("queue_push,queue_pop", "queue_pop", Some("queue_pop")),
            ("queue_push", "queue_push_all", None),
            ("*", "push", Some("push")),
        ] {
            assert_eq!(OperationNames::new(pattern).operation(function).as_deref(), expected, "{pattern} {function}");
        }
    }
}

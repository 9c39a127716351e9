//! Lines of Rust that are to hold a lock from the first to the last: one guard is made before, and stands for all that are made within.

use super::diff::Edit;
use super::refusal::{NoPatch, no};
use super::source::Source;
use std::collections::{BTreeMap, BTreeSet};

/// A place at which a lock is taken: `OBJECT.lock().unwrap()`.
struct Taking<'t> {
    line: usize,
    /// Where it stands in the code of its line.
    from: usize,
    to: usize,
    object: &'t str,
    /// What makes a guard of the result.
    unwrapped: &'t str,
}

/// The changes for these lines; `takes` are lines at which the trace takes the lock.
pub(super) fn held_in_rust(
    source: &Source<'_>,
    (first, last): (usize, usize),
    takes: &BTreeSet<usize>,
) -> Result<Vec<Edit>, NoPatch> {
    let (from, to) = source.statements(first, last)?;
    if let Some(word) =
        source.words_between(from, to).find(|word| ["spawn", "await", "move", "async", "scope"].contains(word))
    {
        return no(format!("the code has {word}: whether it may hold the lock is not known"));
    }
    let mut all: BTreeMap<usize, Taking<'_>> = BTreeMap::new();
    for line in from..=to {
        match takings(source, line).as_slice() {
            [] => {}
            [_] => all.extend(takings(source, line).into_iter().map(|taking| (line, taking))),
            _ => return no(format!("line {} takes more than one lock", line + 1)),
        }
    }
    let mut known: Option<&Taking<'_>> = None;
    for line in takes {
        let Some(taking) = all.get(line) else {
            return no(format!("line {}: expected what takes the lock", line + 1));
        };
        if known.is_some_and(|known| (known.object, known.unwrapped) != (taking.object, taking.unwrapped)) {
            return no(format!("line {}: the lock has another name", line + 1));
        }
        known = Some(taking);
    }
    let Some(Taking { object, unwrapped, .. }) = known else { return no("the lock is not taken in the code") };
    let variable = object.split(['.', ':']).next().unwrap_or_default();
    if source.may_change((from, to), variable) {
        return no(format!("{object} may be another lock where the code begins"));
    }
    let guard = source.unused_word("held");
    let mut edits =
        vec![Edit::Before(from, source.line_like(from, &format!("let mut {guard} = {object}.lock(){unwrapped};")))];
    let mut lives_on = false;
    for taking in all.values().filter(|taking| taking.object == *object) {
        let line = taking.line;
        let (code, text) = (source.code(line), source.lines[line]);
        if !text.starts_with(&code[..taking.to]) {
            return no(format!("line {}: comments or strings stand in front of what takes the lock", line + 1));
        }
        let (before, after) = (&text[..taking.from], &text[taking.to..]);
        match bound(before, after) {
            Some(name) => {
                edits.push(Edit::Replace(line, vec![source.line_like(line, &format!("let {name} = &mut *{guard};"))]));
                let end = source.end_of_block(line, taking.to);
                let given = (line..=end).find(|at| source.code(*at).trim() == format!("drop({name});"));
                match given {
                    Some(at) if at <= to => edits.push(Edit::Delete(at)),
                    Some(at) => {
                        edits.push(Edit::Replace(at, vec![source.line_like(at, &format!("drop({guard});"))]));
                        lives_on = true;
                    }
                    None => lives_on |= end > to,
                }
            }
            None if before.ends_with('*') || after.starts_with('.') => {
                edits.push(Edit::Replace(line, vec![format!("{before}{guard}{after}")]));
            }
            None => return no(format!("line {}: what becomes of the guard is not known", line + 1)),
        }
    }
    if !lives_on && !source.may_be_value(from, to) {
        edits.push(Edit::Before(to + 1, source.line_like(from, &format!("drop({guard});"))));
    }
    Ok(edits)
}

/// The variable to which a line binds what stands between.
fn bound<'t>(before: &'t str, after: &str) -> Option<&'t str> {
    let name = before.trim().strip_prefix("let ")?.strip_suffix('=')?.trim();
    let name = name.strip_prefix("mut ").unwrap_or(name).trim();
    let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_') && name != "_";
    (is_name && after.trim_start().starts_with(';')).then_some(name)
}

/// Where a line takes locks.
fn takings<'t>(source: &'t Source<'_>, line: usize) -> Vec<Taking<'t>> {
    let code = source.code(line);
    let all = code.match_indices(".lock()").filter_map(|(at, call)| {
        let is_of_object = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | ':');
        let from = code[..at]
            .rfind(|c: char| !is_of_object(c))
            .map_or(0, |before| before + code[before..].chars().next().map_or(1, char::len_utf8));
        let rest = &code[at + call.len()..];
        let unwrapped =
            [".unwrap()", ".unwrap_or_else(PoisonError::into_inner)"].into_iter().find(|call| rest.starts_with(call));
        let unwrapped = unwrapped.unwrap_or_default();
        let to = at + call.len() + unwrapped.len();
        (from < at).then_some(Taking { line, from, to, object: &code[from..at], unwrapped })
    });
    all.collect()
}

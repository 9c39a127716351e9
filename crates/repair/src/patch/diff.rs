//! Unified diffs.

/// A change of lines, which count from 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Edit {
    /// A new line in front of this one.
    Before(usize, String),
    /// This line goes.
    Delete(usize),
    /// This line becomes these.
    Replace(usize, Vec<String>),
}

/// How many lines around a change are shown.
const CONTEXT: usize = 3;

/// A line of the old or new text.
enum Line<'t> {
    Same(&'t str),
    Old(&'t str),
    New(String),
}

/// The diff. Lines have no line feed; where the last one is empty, the text ends with a line feed.
pub(super) fn unified(name: &str, lines: &[&str], edits: &[Edit]) -> String {
    let (lines, ends) = match lines.split_last() {
        Some((&"", lines)) => (lines, true),
        _ => (lines, false),
    };
    let mut all: Vec<Line<'_>> = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        before(number, edits, &mut all);
        let change = edits.iter().find(|edit| matches!(edit, Edit::Delete(at) | Edit::Replace(at, _) if *at == number));
        match change {
            Some(Edit::Replace(_, new)) => {
                all.push(Line::Old(line));
                all.extend(new.iter().cloned().map(Line::New));
            }
            Some(_) => all.push(Line::Old(line)),
            None => all.push(Line::Same(line)),
        }
    }
    before(lines.len(), edits, &mut all);
    let mut out = format!("--- a/{name}\n+++ b/{name}\n");
    let is_change = |line: &Line<'_>| !matches!(line, Line::Same(_));
    let (mut at, mut old, mut new) = (0, 1, 1);
    while let Some(change) = all[at..].iter().position(is_change).map(|offset| at + offset) {
        let from = change.saturating_sub(CONTEXT).max(at);
        old += from - at;
        new += from - at;
        let mut to = change;
        while let Some(offset) = all[to..].iter().take(2 * CONTEXT + 1).position(is_change) {
            to += offset + 1;
        }
        let to = (to + CONTEXT).min(all.len());
        let hunk = &all[from..to];
        let of_old = hunk.iter().filter(|line| !matches!(line, Line::New(_))).count();
        let of_new = hunk.iter().filter(|line| !matches!(line, Line::Old(_))).count();
        out.push_str(&format!("@@ -{old},{of_old} +{new},{of_new} @@\n"));
        for line in hunk {
            let (sign, text) = match line {
                Line::Same(text) => (' ', *text),
                Line::Old(text) => ('-', *text),
                Line::New(text) => ('+', text.as_str()),
            };
            out.push_str(&format!("{sign}{text}\n"));
        }
        if !ends && to == all.len() {
            out.push_str("\\ No newline at end of file\n");
        }
        old += of_old;
        new += of_new;
        at = to;
    }
    out
}

fn before<'t>(number: usize, edits: &[Edit], all: &mut Vec<Line<'t>>) {
    all.extend(edits.iter().filter_map(|edit| match edit {
        Edit::Before(at, text) if *at == number => Some(Line::New(text.clone())),
        _ => None,
    }));
}

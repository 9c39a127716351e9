//! C and C++ source as lines: without comments, strings and directives, and how deep in braces each line is.

use super::diff::Edit;
use super::refusal::{NoPatch, no};

/// A source file.
pub(super) struct Source<'t> {
    /// Its lines, without line feeds.
    pub(super) lines: Vec<&'t str>,
    /// The code of each line.
    code: Vec<String>,
    /// How many braces are open where a line starts; one more at the end.
    depths: Vec<usize>,
    /// How few braces are open somewhere on a line.
    lowest: Vec<usize>,
}

/// A statement that takes a lock or gives it back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct LockCall {
    /// The lock, as the statement names it.
    pub(super) object: String,
    is_method: bool,
}

impl LockCall {
    /// The statement that takes it.
    pub(super) fn taking(&self) -> String {
        self.statement("lock")
    }

    /// The statement that gives it back.
    pub(super) fn giving(&self) -> String {
        self.statement("unlock")
    }

    fn statement(&self, verb: &str) -> String {
        let object = &self.object;
        if self.is_method { format!("{object}.{verb}();") } else { format!("pthread_mutex_{verb}({object});") }
    }
}

/// What leaves code before its end.
const EXITS: [&str; 8] = ["return", "goto", "break", "continue", "throw", "longjmp", "pthread_exit", "co_return"];

impl<'t> Source<'t> {
    /// Reads a text.
    pub(super) fn new(text: &'t str) -> Source<'t> {
        let lines: Vec<&str> = text.split('\n').collect();
        let code = code_of(text);
        let (mut depths, mut lowest) = (vec![0], Vec::new());
        let mut depth: usize = 0;
        for line in &code {
            let mut least = depth;
            for character in line.chars() {
                match character {
                    '{' => depth += 1,
                    '}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                least = least.min(depth);
            }
            depths.push(depth);
            lowest.push(least);
        }
        Source { lines, code, depths, lowest }
    }

    /// How many lines there are.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// How many braces are open where a line starts.
    pub(super) fn depth(&self, line: usize) -> usize {
        self.depths[line]
    }

    /// The statement on a line that takes a lock or gives it back, if that is all that stands there.
    pub(super) fn lock_call(&self, line: usize) -> Option<LockCall> {
        let code = self.code[line].trim().strip_suffix(';')?;
        let method = code.strip_suffix(".lock()").or_else(|| code.strip_suffix(".unlock()"));
        let call = ["pthread_mutex_lock(", "pthread_mutex_unlock("].iter().find_map(|start| code.strip_prefix(start));
        let object = method.or_else(|| call?.strip_suffix(')'))?.trim();
        let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '&' | '-' | '>' | '[' | ']');
        let found = !object.is_empty() && object.chars().all(is_plain);
        found.then(|| LockCall { object: object.to_string(), is_method: method.is_some() })
    }

    /// A line of this text, indented as another one.
    pub(super) fn line_like(&self, line: usize, text: &str) -> String {
        let like = self.lines[line];
        let indent = &like[..like.len() - like.trim_start().len()];
        let end = if like.ends_with('\r') { "\r" } else { "" };
        format!("{indent}{text}{end}")
    }

    /// The whole statements of one block that hold these lines, and that control leaves at their end only.
    pub(super) fn statements(&self, first: usize, last: usize) -> Result<(usize, usize), NoPatch> {
        let (mut first, mut last) = (first, last);
        loop {
            let before = (first, last);
            if let Some(up) = self.line_before(first).filter(|up| !self.ends_statement(*up)) {
                first = up;
            }
            let lowest = self.lowest[first..=last].iter().copied().min().unwrap_or_default();
            let is_inner = self.depths[first] > lowest || self.starts_with(first, &["else", "}"]);
            if let Some(up) = (0..first).rev().find(|up| is_inner && self.depths[*up] < self.depths[first]) {
                first = up;
            }
            let is_open = |line: usize| self.depths[line + 1] > self.depths[first] || !self.ends_statement(line);
            while is_open(last) && last + 1 < self.len() {
                last += 1;
            }
            if let Some(next) = self.line_after(last).filter(|next| self.starts_with(*next, &["else"])) {
                last = next;
            }
            if (first, last) == before {
                break;
            }
        }
        if self.depths[first] == 0 {
            return no("the code lies in several functions");
        }
        match (first..=last).find(|line| words(&self.code[*line]).any(|word| EXITS.contains(&word))) {
            Some(line) => no(format!("line {} may leave the code before its end", line + 1)),
            None => Ok((first, last)),
        }
    }

    /// A load and a store of one atomic variable with nothing between, as a compare-and-exchange: the variable and the change.
    pub(super) fn exchange(&self, first: usize, last: usize) -> Option<(String, Edit)> {
        let (declared, load) = self.code[first].trim().strip_suffix(';')?.split_once('=')?;
        let store = self.code[last].trim().strip_suffix(';')?;
        let (load, declared) = (load.trim(), declared.trim());
        let name = words(declared).last().filter(|name| declared.ends_with(name) && declared.len() > name.len())?;
        let is_empty = (first + 1..last).all(|line| self.code[line].trim().is_empty());
        if first >= last || !is_empty || words(declared).any(|word| word == "const") {
            return None;
        }
        let (object, new, exchange) = match load.strip_suffix(".load()") {
            Some(object) => {
                let new = store.strip_prefix(object)?.strip_prefix(".store(")?.strip_suffix(')')?;
                (object, new, format!("{object}.compare_exchange_weak({name}, {new})"))
            }
            None => {
                let object = load.strip_prefix("atomic_load(")?.strip_suffix(')')?;
                let stored = store.strip_prefix("atomic_store(")?.strip_prefix(object)?.strip_suffix(')')?;
                let new = stored.strip_prefix(',')?.trim();
                (object, new, format!("atomic_compare_exchange_weak({object}, &{name}, {new})"))
            }
        };
        // With another comma the new value would be something else.
        if !words(new).any(|word| word == name) || new.contains(',') || self.lines[last].contains(['"', '\'']) {
            return None;
        }
        let turn = self.line_like(last, &format!("while (!{exchange}) {{"));
        let turns = vec![turn, self.line_like(last, "}")];
        Some((object.trim_start_matches('&').to_string(), Edit::Replace(last, turns)))
    }

    /// Whether a line ends a statement or opens a block, as far as its last character says.
    fn ends_statement(&self, line: usize) -> bool {
        let code = self.code[line].trim_end();
        code.is_empty() || code.ends_with([';', '{', '}', ':'])
    }

    fn starts_with(&self, line: usize, starts: &[&str]) -> bool {
        let code = self.code[line].trim_start();
        starts
            .iter()
            .any(|start| code.strip_prefix(start).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric())))
    }

    fn line_before(&self, line: usize) -> Option<usize> {
        (0..line).rev().find(|before| !self.code[*before].trim().is_empty())
    }

    fn line_after(&self, line: usize) -> Option<usize> {
        (line + 1..self.len()).find(|after| !self.code[*after].trim().is_empty())
    }

    /// Whether a conditional directive begins or ends between lines, but not both.
    pub(super) fn has_directive_across(&self, first: usize, last: usize) -> bool {
        let mut open = 0_i64;
        for line in first..=last {
            let Some(directive) = self.lines[line].trim_start().strip_prefix('#') else { continue };
            match words(directive).next().unwrap_or_default() {
                "if" | "ifdef" | "ifndef" => open += 1,
                "endif" => open -= 1,
                "else" | "elif" if open == 0 => return true,
                _ => {}
            }
            if open < 0 {
                return true;
            }
        }
        open != 0
    }
}

/// The words of code.
fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// What a text is in the middle of.
#[derive(Clone, Copy, PartialEq)]
enum Inside {
    Code,
    Block,
    Quoted(char),
}

/// The code of each line: without comments, what stands in quotes, and directives.
fn code_of(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut inside = Inside::Code;
    let mut is_directive = false;
    for line in text.split('\n') {
        is_directive |= inside == Inside::Code && line.trim_start().starts_with('#');
        let mut code = String::new();
        let mut rest = line;
        while let Some(character) = rest.chars().next() {
            let skipped = match inside {
                Inside::Code if rest.starts_with("//") => break,
                Inside::Code if rest.starts_with("/*") => {
                    inside = Inside::Block;
                    code.push(' ');
                    2
                }
                Inside::Code => {
                    let is_in_word = code.ends_with(char::is_alphanumeric); // as in 1'000'000
                    if character == '"' || character == '\'' && !is_in_word {
                        inside = Inside::Quoted(character);
                    }
                    code.push(character);
                    character.len_utf8()
                }
                Inside::Block if rest.starts_with("*/") => {
                    inside = Inside::Code;
                    2
                }
                Inside::Quoted(_) if character == '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
                Inside::Quoted(quote) if character == quote => {
                    inside = Inside::Code;
                    code.push(character);
                    1
                }
                Inside::Block | Inside::Quoted(_) => character.len_utf8(),
            };
            rest = &rest[skipped..];
        }
        let goes_on = line.trim_end_matches('\r').ends_with('\\');
        if matches!(inside, Inside::Quoted(_)) && !goes_on {
            inside = Inside::Code;
        }
        all.push(if is_directive { String::new() } else { code });
        is_directive &= goes_on;
    }
    all
}

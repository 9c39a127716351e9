//! Source in C, C++ or Rust as lines: without comments, strings and directives, and how deep in braces each line is.

use super::diff::Edit;
use super::refusal::{NoPatch, no};
use std::ops::Range;

/// A source file.
pub(super) struct Source<'t> {
    language: Language,
    /// Its lines, without line feeds.
    pub(super) lines: Vec<&'t str>,
    /// The code of each line.
    code: Vec<String>,
    /// How many braces are open where a line starts; one more at the end.
    depths: Vec<usize>,
    /// How few braces are open somewhere on a line.
    lowest: Vec<usize>,
}

/// How a lock is taken and given back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// `pthread_mutex_lock(&m);`
    Function,
    /// `m.lock();`
    Method,
    /// `std::lock_guard<std::mutex> name(m);`
    Guard { template: String, name: String },
}

/// A lock, as the source takes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct LockCall {
    /// The lock, as the statement names it.
    pub(super) object: String,
    pub(super) form: Form,
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
        match &self.form {
            Form::Function => format!("pthread_mutex_{verb}({object});"),
            Form::Method => format!("{object}.{verb}();"),
            Form::Guard { name, .. } if verb == "unlock" => format!("{name}.unlock();"),
            Form::Guard { template, name } => format!("std::unique_lock{template} {name}({object});"),
        }
    }

    /// Whether it is the same lock, as far as the text says.
    pub(super) fn is_of(&self, other: &LockCall) -> bool {
        self.object == other.object
    }

    /// Whether the end of a block gives it back.
    pub(super) fn is_guard(&self) -> bool {
        matches!(self.form, Form::Guard { .. })
    }

    /// The lock as an expression.
    pub(super) fn expression(&self) -> &str {
        self.object.trim_start_matches('&')
    }

    /// Whether code names the lock.
    pub(super) fn is_named_in(&self, code: &str) -> bool {
        let expression = self.expression();
        code.match_indices(expression).any(|(at, _)| {
            let before = code[..at].chars().next_back();
            let after = code[at + expression.len()..].chars().next();
            !before.is_some_and(|c| is_of_word(c) || matches!(c, '.' | '>'))
                && !after.is_some_and(|c| is_of_word(c) || c == '(')
        })
    }
}

/// A statement that takes a lock or gives it back.
#[derive(Clone, Debug)]
pub(super) struct LockStep {
    pub(super) call: LockCall,
    pub(super) takes: bool,
    /// Where it stands in the code of its line.
    pub(super) code: Range<usize>,
}

/// The language of a source file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Language {
    C,
    Cxx,
    Rust,
}

impl Language {
    /// By the name of a file.
    pub(super) fn of_file(file: &str) -> Language {
        match file.rsplit_once('.').map(|(_, extension)| extension) {
            Some("rs") => Language::Rust,
            Some("c" | "h") => Language::C,
            _ => Language::Cxx,
        }
    }

    /// The declaration of a lock.
    pub(super) fn declaring(self, name: &str) -> String {
        match self {
            Language::C => format!("static pthread_mutex_t {name} = PTHREAD_MUTEX_INITIALIZER;"),
            Language::Cxx => format!("static std::mutex {name};"),
            Language::Rust => format!("static {name}: std::sync::Mutex<()> = std::sync::Mutex::new(());"),
        }
    }

    /// The statement that takes it.
    pub(super) fn taking(self, name: &str) -> String {
        match self {
            Language::C => format!("pthread_mutex_lock(&{name});"),
            Language::Cxx => format!("{name}.lock();"),
            Language::Rust => {
                format!("let {} = {name}.lock().unwrap_or_else(|poisoned| poisoned.into_inner());", held(name))
            }
        }
    }

    /// The statement that gives it back.
    pub(super) fn giving(self, name: &str) -> String {
        match self {
            Language::C => format!("pthread_mutex_unlock(&{name});"),
            Language::Cxx => format!("{name}.unlock();"),
            Language::Rust => format!("drop({});", held(name)),
        }
    }
}

/// The variable that keeps a lock of Rust held.
fn held(name: &str) -> String {
    format!("held_{}", name.to_lowercase())
}

/// What leaves code before its end for a place that is not known here.
pub(super) const LEAVES_FAR: [&str; 5] = ["goto", "longjmp", "siglongjmp", "pthread_exit", "thrd_exit"];
/// What leaves code before its end, and locals are destroyed on the way.
pub(super) const LEAVES: [&str; 5] = ["return", "break", "continue", "throw", "co_return"];

impl<'t> Source<'t> {
    /// Reads the text of a file of this name.
    pub(super) fn new(file: &str, text: &'t str) -> Source<'t> {
        let language = Language::of_file(file);
        let lines: Vec<&str> = text.split('\n').collect();
        let code = code_of(language, text);
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
        Source { language, lines, code, depths, lowest }
    }

    /// How many lines there are.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Its language.
    pub(super) fn language(&self) -> Language {
        self.language
    }

    /// The place of a line that counts from 1.
    pub(super) fn index(&self, line: u32) -> Result<usize, NoPatch> {
        match (line as usize).checked_sub(1).filter(|line| *line < self.len()) {
            Some(line) => Ok(line),
            None => no(format!("the code ends at line {line}, the file has {}", self.len())),
        }
    }

    /// The words of some lines of code.
    pub(super) fn words_between(&self, first: usize, last: usize) -> impl Iterator<Item = &str> {
        self.code[first..=last].iter().flat_map(|code| words(code))
    }

    /// Whether the last of these lines may be the value of the block around it.
    pub(super) fn may_be_value(&self, first: usize, last: usize) -> bool {
        let ends_block = self.line_after(last).is_none_or(|next| self.lowest[next] < self.depths[first]);
        !self.code[last].trim_end().ends_with(';') && ends_block
    }

    /// A name for a lock of this variable, which the file does not have.
    pub(super) fn unused_name(&self, variable: &str) -> String {
        let plain = words(variable).last().filter(|word| !word.starts_with(|c: char| c.is_ascii_digit()));
        let plain = plain.filter(|word| word.is_ascii()).unwrap_or("repair");
        let name = format!("{plain}_lock");
        self.unused_word(&if self.language == Language::Rust { name.to_uppercase() } else { name })
    }

    /// This word, or one like it which the file does not have.
    pub(super) fn unused_word(&self, word: &str) -> String {
        let name = |number: u32| if number == 1 { word.to_string() } else { format!("{word}_{number}") };
        let is_unused = |name: &String| !self.lines.iter().any(|line| words(line).any(|word| word == name));
        (1..).map(name).find(is_unused).unwrap_or_default()
    }

    /// The first line of the item at the file's top level that a line is in, with the comment in front of it.
    pub(super) fn start_of_item(&self, line: usize) -> usize {
        let mut start = (0..=line).rev().find(|line| self.depths[*line] == 0).unwrap_or(0);
        while start > 0 {
            let above = start - 1;
            let is_comment = self.code[above].trim().is_empty() && !self.lines[above].trim().is_empty();
            let is_directive = self.lines[above].trim_start().starts_with('#') && self.language != Language::Rust;
            let belongs = !self.code[above].trim().is_empty() && !self.ends_statement(above);
            if is_directive || !(is_comment || belongs) {
                break;
            }
            start = above;
        }
        start
    }

    /// The line in front of which an include of what declares locks is missing.
    pub(super) fn missing_include(&self) -> Option<(usize, &'static str)> {
        let include = match self.language {
            Language::C => "#include <pthread.h>",
            Language::Cxx => "#include <mutex>",
            Language::Rust => return None,
        };
        let is_include = |line: &str| line.trim_start().starts_with("#include");
        let plain = |line: &str| line.split_whitespace().collect::<String>();
        if self.lines.iter().any(|line| plain(line) == plain(include)) {
            return None;
        }
        Some((self.lines.iter().position(|line| is_include(line)).unwrap_or(0), include))
    }

    /// Whether a branch of the preprocessor that a line is in ends before another line.
    pub(super) fn leaves_branch(&self, first: usize, last: usize) -> bool {
        let mut open = 0_i64;
        self.lines[first..=last].iter().any(|line| {
            let Some(directive) = line.trim_start().strip_prefix('#') else { return false };
            match words(directive).next().unwrap_or_default() {
                "if" | "ifdef" | "ifndef" => open += 1,
                "endif" => open -= 1,
                "else" | "elif" if open == 0 => return true,
                _ => {}
            }
            open < 0
        })
    }

    /// The code of a line.
    pub(super) fn code(&self, line: usize) -> &str {
        &self.code[line]
    }

    /// The first statement on a line that takes a lock or gives it back.
    pub(super) fn step_of_lock(&self, line: usize) -> Option<LockStep> {
        let code = &self.code[line];
        let calls = [("pthread_mutex_lock(", true), ("pthread_mutex_unlock(", false)].into_iter().filter_map(
            |(start, takes)| {
                let from = find_word(code, start)?;
                let object = code[from + start.len()..].split_once(");")?.0;
                let call = LockCall { object: plain_object(object)?, form: Form::Function };
                Some(LockStep { call, takes, code: from..from + start.len() + object.len() + 2 })
            },
        );
        let methods = [(".lock();", true), (".unlock();", false)].into_iter().filter_map(|(end, takes)| {
            let at = code.find(end)?;
            let object = &code[code[..at].rfind([';', '{', '}', ')', ' ', '\t']).map_or(0, |before| before + 1)..at];
            let call = LockCall { object: plain_object(object)?, form: Form::Method };
            Some(LockStep { call, takes, code: at - object.len()..at + end.len() })
        });
        calls.chain(methods).chain(guard_in(code)).min_by_key(|step| step.code.start)
    }

    /// Whether a statement begins at this place of a line: no condition stands in front of it.
    pub(super) fn begins_statement(&self, line: usize, at: usize) -> bool {
        match self.code[line][..at].trim_end().chars().next_back() {
            Some(before) => matches!(before, ';' | '{' | '}'),
            None => self.line_before(line).is_none_or(|before| self.ends_statement(before)),
        }
    }

    /// The words and braces on a line, with their places.
    pub(super) fn tokens(&self, line: usize) -> Vec<(usize, &str)> {
        let code = &self.code[line];
        let mut all = Vec::new();
        let mut word: Option<usize> = None;
        for (at, character) in code.char_indices().chain([(code.len(), ' ')]) {
            if is_of_word(character) {
                word = word.or(Some(at));
                continue;
            }
            all.extend(word.take().map(|from| (from, &code[from..at])));
            if matches!(character, '{' | '}') {
                all.push((at, &code[at..=at]));
            }
        }
        all
    }

    /// A line without some of its code; nothing where nothing else stands there.
    pub(super) fn without(&self, line: usize, part: Range<usize>) -> Result<Option<String>, NoPatch> {
        let (code, text) = (&self.code[line], self.lines[line]);
        if code[..part.start].trim().is_empty() && code[part.end..].trim().is_empty() {
            return Ok(None);
        }
        if !text.starts_with(&code[..part.end]) {
            return no(format!("line {}: what is to go stands among comments or strings", line + 1));
        }
        Ok(Some(format!("{}{}", &text[..part.start], text[part.end..].trim_start_matches(' '))))
    }

    /// A line in which another statement comes right before the one at this place, in braces where that depends on a condition.
    pub(super) fn with_before(&self, line: usize, at: usize, statement: &str) -> Option<String> {
        let (code, text) = (&self.code[line], self.lines[line]);
        let end = at + code[at..].find(';')? + 1;
        if !text.starts_with(&code[..end]) {
            return None;
        }
        let (before, own, after) = (&text[..at], &text[at..end], &text[end..]);
        Some(match self.begins_statement(line, at) {
            true => format!("{before}{statement} {own}{after}"),
            false => format!("{before}{{ {statement} {own} }}{after}"),
        })
    }

    /// Whether the code between two places is blank.
    pub(super) fn is_blank_between(&self, from: (usize, usize), to: (usize, usize)) -> bool {
        if from.0 == to.0 {
            return self.code[from.0][from.1..to.1].trim().is_empty();
        }
        let between = (from.0 + 1..to.0).all(|line| self.code[line].trim().is_empty());
        between && self.code[from.0][from.1..].trim().is_empty() && self.code[to.0][..to.1].trim().is_empty()
    }

    /// Whether these lines may declare or change a variable.
    pub(super) fn may_change(&self, (first, last): (usize, usize), variable: &str) -> bool {
        self.code[first..=last].iter().any(|code| {
            code.match_indices(variable).any(|(at, _)| {
                let before = code[..at].trim_end();
                let after = code[at + variable.len()..].trim_start();
                let is_word = !code[..at].ends_with(is_of_word) && !code[at + variable.len()..].starts_with(is_of_word);
                let is_set = after.starts_with('=') && !after.starts_with("==")
                    || [":", "++", "--", "+=", "-=", ";", "{", "]"].iter().any(|next| after.starts_with(next))
                        && !after.starts_with("::")
                    || before.ends_with("++")
                    || before.ends_with("--");
                is_word && is_set && !before.ends_with(['.', '>'])
            })
        })
    }

    /// Whether a function without a name may begin in these lines.
    pub(super) fn may_have_lambda(&self, first: usize, last: usize) -> bool {
        let starts = ["](", "] (", "]{", "] {"];
        self.language == Language::Cxx
            && self.code[first..=last].iter().any(|code| starts.iter().any(|start| code.contains(start)))
    }

    /// The last line of the block that a place is in.
    pub(super) fn end_of_block(&self, line: usize, at: usize) -> usize {
        let mut open: usize = 1;
        let rest = self.code[line][at..].chars().map(|character| (line, character));
        let after =
            (line + 1..self.len()).flat_map(|line| self.code[line].chars().map(move |character| (line, character)));
        for (line, character) in rest.chain(after) {
            match character {
                '{' => open += 1,
                '}' => open -= 1,
                _ => {}
            }
            if open == 0 {
                return line;
            }
        }
        self.len() - 1
    }

    /// A line of this text, indented as another one.
    pub(super) fn line_like(&self, line: usize, text: &str) -> String {
        let like = self.lines[line];
        let indent = &like[..like.len() - like.trim_start().len()];
        let end = if like.ends_with('\r') { "\r" } else { "" };
        format!("{indent}{text}{end}")
    }

    /// The whole statements of one block that hold these lines, and that control leaves at their end only.
    pub(super) fn closed_statements(&self, first: usize, last: usize) -> Result<(usize, usize), NoPatch> {
        let (first, last) = self.statements(first, last)?;
        // A lock of Rust is given back wherever its block is left.
        let leaves =
            |line: &usize| words(&self.code[*line]).any(|word| LEAVES.contains(&word) || LEAVES_FAR.contains(&word));
        match (first..=last).filter(|_| self.language != Language::Rust).find(leaves) {
            Some(line) => no(format!("line {} may leave the code before its end", line + 1)),
            None => Ok((first, last)),
        }
    }

    /// The whole statements of one block that hold these lines.
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
        Ok((first, last))
    }

    /// A load and a store of one atomic variable with nothing between, as one step: the variable and the changes.
    pub(super) fn exchange(&self, first: usize, last: usize) -> Option<(String, Vec<Edit>)> {
        let (declared, load) = self.code[first].trim().strip_suffix(';')?.split_once('=')?;
        let store = self.code[last].trim().strip_suffix(';')?;
        let (load, declared) = (load.trim(), declared.trim());
        let name = words(declared).last().filter(|name| declared.ends_with(name) && declared.len() > name.len())?;
        let is_empty = (first + 1..last).all(|line| self.code[line].trim().is_empty());
        if first >= last || !is_empty || words(declared).any(|word| word == "const") {
            return None;
        }
        // With another comma the new value would be something else.
        let is_plain = |new: &str| {
            words(new).any(|word| word == name) && !new.contains([',', '?']) && !self.lines[last].contains(['"', '\''])
        };
        if self.language == Language::Rust {
            let (object, read) = load.strip_suffix(')')?.split_once(".load(")?;
            let (new, written) =
                store.strip_prefix(object)?.strip_prefix(".store(")?.strip_suffix(')')?.rsplit_once(',')?;
            let updated = format!(
                "{declared} = {object}.fetch_update({}, {read}, |{name}| Some({new})).unwrap();",
                written.trim()
            );
            let edits = vec![Edit::Replace(first, vec![self.line_like(first, &updated)]), Edit::Delete(last)];
            return is_plain(new).then(|| (object.to_string(), edits));
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
        let turn = self.line_like(last, &format!("while (!{exchange}) {{"));
        let turns = vec![turn, self.line_like(last, "}")];
        is_plain(new).then(|| (object.trim_start_matches('&').to_string(), vec![Edit::Replace(last, turns)]))
    }

    /// Whether a line ends a statement or opens a block, as far as its last character says.
    pub(super) fn ends_statement(&self, line: usize) -> bool {
        let code = self.code[line].trim_end();
        code.is_empty() || code.ends_with([';', '{', '}', ':'])
    }

    fn starts_with(&self, line: usize, starts: &[&str]) -> bool {
        let code = self.code[line].trim_start();
        starts
            .iter()
            .any(|start| code.strip_prefix(start).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric())))
    }

    /// The line before that has code.
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

/// Where a word begins that this text starts with.
fn find_word(code: &str, text: &str) -> Option<usize> {
    code.match_indices(text).map(|(at, _)| at).find(|at| !code[..*at].ends_with(is_of_word))
}

/// The name of a lock, if it is a plain one.
fn plain_object(text: &str) -> Option<String> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '&' | '-' | '>' | '[' | ']' | ':');
    let text = text.trim();
    (!text.is_empty() && text.chars().all(is_plain)).then(|| text.to_string())
}

/// The declaration of a guard.
fn guard_in(code: &str) -> Option<LockStep> {
    let (at, kind) =
        ["lock_guard", "scoped_lock", "unique_lock"].iter().find_map(|kind| Some((find_word(code, kind)?, *kind)))?;
    let from = if code[..at].ends_with("std::") { at - "std::".len() } else { at };
    let rest = &code[at + kind.len()..];
    let template = if rest.starts_with('<') { &rest[..=rest.find('>')?] } else { "" };
    let declared = rest[template.len()..].strip_prefix(|c: char| c.is_whitespace())?;
    let (name, arguments) = declared.split_at(declared.find(['(', '{'])?);
    let close = if arguments.starts_with('(') { ");" } else { "};" };
    let object = arguments[1..].split_once(close)?.0;
    let is_name = !name.trim().is_empty() && name.trim().chars().all(is_of_word);
    let form = Form::Guard { template: template.to_string(), name: name.trim().to_string() };
    let end = code.len() - arguments.len() + 1 + object.len() + close.len();
    let call = LockCall { object: plain_object(object).filter(|_| is_name)?, form };
    Some(LockStep { call, takes: true, code: from..end })
}

/// Whether a character may stand in a word.
fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The words of code.
fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !is_of_word(c)).filter(|word| !word.is_empty())
}

/// What a text is in the middle of.
#[derive(Clone, Copy, PartialEq)]
enum Inside {
    Code,
    Block,
    Quoted(char),
}

/// The code of each line: without comments, what stands in quotes, and directives.
fn code_of(language: Language, text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut inside = Inside::Code;
    let mut is_directive = false;
    for line in text.split('\n') {
        is_directive |= language != Language::Rust && inside == Inside::Code && line.trim_start().starts_with('#');
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
                    let is_in_word = match language {
                        Language::Rust => character == '\'' && is_lifetime(rest),
                        _ => code.ends_with(char::is_alphanumeric), // as in 1'000'000
                    };
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

/// Whether a quote begins a lifetime and not a character.
fn is_lifetime(text: &str) -> bool {
    let mut characters = text.chars().skip(1);
    let (first, second) = (characters.next(), characters.next());
    first.is_some_and(|first| first.is_alphabetic() || first == '_') && second != Some('\'')
}

//! Source in C, C++ or Rust as lines: without comments, strings and directives, and how deep in braces each line is.

use super::diff::Edit;
use super::refusal::{NoPatch, no};

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

/// What leaves code before its end.
const EXITS: [&str; 8] = ["return", "goto", "break", "continue", "throw", "longjmp", "pthread_exit", "co_return"];

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
        let name = |number: u32| {
            let number = if number == 1 { String::new() } else { format!("_{number}") };
            let name = format!("{plain}_lock{number}");
            if self.language == Language::Rust { name.to_uppercase() } else { name }
        };
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
        // A lock of Rust is given back wherever its block is left.
        let leaves = |line: &usize| words(&self.code[*line]).any(|word| EXITS.contains(&word));
        match (first..=last).filter(|_| self.language != Language::Rust).find(leaves) {
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

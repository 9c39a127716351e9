//! Histories as EDN maps, as Jepsen stores them and Porcupine's test data has them, and as lines of Jepsen's log.

use super::entry::{Entry, Kind, ReadError, paired};
use crate::history::History;
use crate::value::Value;

/// Deepest nesting of vectors and maps.
const DEEPEST: usize = 100;

/// Reads `{:process 0, :type :invoke, :f :read, :value nil}`, one after the other or in one vector. Of a line of a log, such as `INFO … - 0
/// :invoke :read nil`, it reads the words after the dash.
pub fn read_edn(text: &str) -> Result<History, ReadError> {
    let mut entries = Vec::new();
    if text.contains('{') {
        let mut reader = Reader { rest: text, line: 1 };
        loop {
            reader.skip_blanks();
            reader.rest = reader.rest.trim_start_matches(['[', ']', '(', ')']);
            reader.skip_blanks();
            if reader.rest.is_empty() {
                break;
            }
            if reader.rest.starts_with(['[', ']', '(', ')']) {
                continue;
            }
            let line = reader.line;
            match reader.form(0)? {
                Form::Map(fields) => entries.extend(entry(line, &fields)?),
                other => return Err(ReadError::new(line, other.value().to_string(), "a map such as {:process 0, …}")),
            }
        }
    } else {
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            entries.extend(log_line(number + 1, line)?);
        }
    }
    paired(entries)
}

fn entry(line: usize, fields: &[(Form, Form)]) -> Result<Option<Entry>, ReadError> {
    let field = |name: &str| {
        let is_name = |form: &Form| matches!(form, Form::Atom(Value::Text(text)) if text == name);
        fields.iter().find(|(key, _)| is_name(key)).map(|(_, value)| value.value())
    };
    let Some(process) = field("process") else { return Err(ReadError::new(line, "a map without it", ":process")) };
    let kind = field("type").and_then(|kind| Kind::from_text(&kind.to_string()));
    let Some(kind) = kind else {
        return Err(ReadError::new(line, "none of them", ":type :invoke, :ok, :fail or :info"));
    };
    if process.to_string() == "nemesis" {
        return Ok(None);
    }
    let Some(method) = field("f") else { return Err(ReadError::new(line, "a map without it", ":f")) };
    let object = field("key").map(|key| key.to_string());
    Ok(Some(Entry {
        line,
        process: process.to_string(),
        kind,
        object,
        method: method.to_string(),
        value: field("value"),
    }))
}

/// `INFO  jepsen.util - 3 :ok :read 5`, which lines that say other things may stand between.
fn log_line(number: usize, line: &str) -> Result<Option<Entry>, ReadError> {
    let words = line.rsplit_once(" - ").map_or(line, |(_, words)| words);
    let mut reader = Reader { rest: words, line: number };
    let mut forms = Vec::new();
    while forms.len() < 4 {
        reader.skip_blanks();
        if reader.rest.is_empty() {
            break;
        }
        forms.push(reader.form(0)?.value());
    }
    let [process, kind, method, value] = forms.as_slice() else {
        return Err(ReadError::new(number, line, "a process, :invoke or how it ended, a method and a value"));
    };
    let Some(kind) = Kind::from_text(&kind.to_string()) else {
        return Err(ReadError::new(number, line, ":invoke, :ok, :fail or :info"));
    };
    if *process == Value::Text("nemesis".to_string()) {
        return Ok(None);
    }
    let timed_out = *value == Value::Text("timed-out".to_string());
    let value = if timed_out { None } else { Some(value.clone()) };
    let (process, method) = (process.to_string(), method.to_string());
    Ok(Some(Entry { line: number, process, kind, object: None, method, value }))
}

enum Form {
    Atom(Value),
    Vector(Vec<Form>),
    Map(Vec<(Form, Form)>),
}

impl Form {
    fn value(&self) -> Value {
        match self {
            Form::Atom(value) => value.clone(),
            Form::Vector(forms) => Value::List(forms.iter().map(Form::value).collect()),
            Form::Map(fields) => {
                Value::List(fields.iter().flat_map(|(key, value)| [key.value(), value.value()]).collect())
            }
        }
    }
}

struct Reader<'t> {
    rest: &'t str,
    line: usize,
}

impl<'t> Reader<'t> {
    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
            self.line += self.rest[..self.rest.len() - rest.len()].matches('\n').count();
            self.rest = rest;
            match rest.strip_prefix(';') {
                Some(comment) => self.rest = comment.find('\n').map_or("", |end| &comment[end..]),
                None => return,
            }
        }
    }

    fn take(&mut self, length: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    fn form(&mut self, depth: usize) -> Result<Form, ReadError> {
        self.skip_blanks();
        if depth > DEEPEST {
            return Err(ReadError::new(self.line, "deeper nesting", "at most 100 levels"));
        }
        let Some(first) = self.rest.chars().next() else {
            return Err(ReadError::new(self.line, "the end", "a value"));
        };
        match first {
            '{' => {
                let forms = self.forms('}', depth)?;
                let mut fields = Vec::new();
                let mut forms = forms.into_iter();
                while let Some(key) = forms.next() {
                    let Some(value) = forms.next() else {
                        return Err(ReadError::new(self.line, "a key without a value", "a value"));
                    };
                    fields.push((key, value));
                }
                Ok(Form::Map(fields))
            }
            '[' => Ok(Form::Vector(self.forms(']', depth)?)),
            '(' => Ok(Form::Vector(self.forms(')', depth)?)),
            '"' => self.text(),
            '#' => {
                // A tag, such as #jepsen.history.Op; or a set.
                self.take(1);
                if self.rest.starts_with('{') {
                    self.take(1);
                    self.rest_of_forms('}', depth).map(Form::Vector)
                } else {
                    self.word();
                    self.form(depth + 1)
                }
            }
            ')' | ']' | '}' => Err(ReadError::new(self.line, first.to_string(), "a value")),
            _ => Ok(Form::Atom(self.word())),
        }
    }

    fn forms(&mut self, end: char, depth: usize) -> Result<Vec<Form>, ReadError> {
        self.take(1);
        self.rest_of_forms(end, depth)
    }

    fn rest_of_forms(&mut self, end: char, depth: usize) -> Result<Vec<Form>, ReadError> {
        let mut forms = Vec::new();
        loop {
            self.skip_blanks();
            if self.rest.starts_with(end) {
                self.take(end.len_utf8());
                return Ok(forms);
            }
            forms.push(self.form(depth + 1)?);
        }
    }

    fn text(&mut self) -> Result<Form, ReadError> {
        let line = self.line;
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    let taken = self.take(at + 1);
                    self.line += taken.matches('\n').count();
                    return Ok(Form::Atom(Value::Text(text)));
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, other)) => text.push(other),
                    None => break,
                },
                other => text.push(other),
            }
        }
        Err(ReadError::new(line, "text without an end", "a closing quote"))
    }

    /// A number, a keyword or a symbol.
    fn word(&mut self) -> Value {
        let is_end = |c: char| c.is_whitespace() || matches!(c, ',' | '{' | '}' | '[' | ']' | '(' | ')' | '"' | ';');
        let word = self.take(self.rest.find(is_end).unwrap_or(self.rest.len()));
        match word {
            "nil" => Value::Nil,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => match word.trim_end_matches('N').parse() {
                Ok(number) => Value::Int(number),
                Err(_) => Value::Text(word.trim_start_matches(':').to_string()),
            },
        }
    }
}

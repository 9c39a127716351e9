//! What histories are held against: a named specification, or sequential runs of the object itself.

use super::files;
use anyhow::Context;
use foretrace::recorder::Folder;
use foretrace::report::{SEQUENTIAL_RUNS, SavedWitness};
use foretrace_linearizability::check::check_by_search;
use foretrace_linearizability::{
    Checked, History, Limits, Sequential, Spec, Value, Verdict, check, compile, minimal, read_text, read_trace,
};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A specification.
pub enum Specification {
    /// One that has a name, with the first value of a register.
    Named(Spec, Option<Value>),
    /// What sequential runs show.
    Runs(Sequential),
}

impl Specification {
    /// What runs in these files show; `None` if the command may not go on.
    ///
    /// # Errors
    /// A file cannot be read, or its operations overlap.
    pub fn of_runs(files: &[PathBuf], go_on: &dyn Fn() -> bool) -> anyhow::Result<Option<Specification>> {
        let mut sequential = Sequential::default();
        for file in files {
            let Some(run) = read_history(file, go_on)? else { return Ok(None) };
            sequential.add(&run).with_context(|| file.display().to_string())?;
        }
        Ok(Some(Specification::Runs(sequential)))
    }

    /// What the history of a witness is held against; `None` where it names nothing known, or the command may not go on.
    ///
    /// # Errors
    /// A file of sequential runs cannot be read.
    pub fn of_witness(witness: &SavedWitness, go_on: &dyn Fn() -> bool) -> anyhow::Result<Option<Specification>> {
        if !witness.meaning.spec_from.is_empty() {
            let files: Vec<PathBuf> = witness.meaning.spec_from.iter().map(PathBuf::from).collect();
            return Specification::of_runs(&files, go_on);
        }
        let spec = witness.spec.as_deref().and_then(|name| Spec::ALL.iter().find(|(known, _)| *known == name));
        let initial = witness.meaning.initial.as_deref().map(initial_value);
        Ok(spec.map(|(_, spec)| Specification::Named(*spec, initial)))
    }

    /// What reports call it.
    pub fn name(&self) -> &'static str {
        match self {
            Specification::Named(spec, _) => spec.name(),
            Specification::Runs(_) => SEQUENTIAL_RUNS,
        }
    }

    /// Fails where it has no meaning for an operation.
    pub fn knows(&self, history: &History) -> anyhow::Result<()> {
        if let Specification::Named(spec, _) = self {
            compile(history, *spec, None)?;
        }
        Ok(())
    }

    /// Judges a history.
    pub fn check(&self, history: &History, limits: Limits<'_>) -> anyhow::Result<Checked> {
        Ok(match self {
            Specification::Named(spec, initial) => check(history, *spec, initial.as_ref(), limits)?,
            Specification::Runs(sequential) => sequential.check(history, limits),
        })
    }

    /// Judges a history by search alone.
    pub fn check_by_search(&self, history: &History) -> anyhow::Result<Verdict> {
        Ok(match self {
            Specification::Named(spec, initial) => check_by_search(history, *spec, initial.as_ref(), Limits::NONE)?,
            Specification::Runs(sequential) => sequential.check(history, Limits::NONE).verdict,
        })
    }

    /// A small part of a history that is not linearizable, where one is found.
    pub fn part(&self, history: &History, checked: &Checked, limits: Limits<'_>) -> anyhow::Result<Option<History>> {
        if checked.verdict != Verdict::NotLinearizable {
            return Ok(None);
        }
        Ok(match self {
            Specification::Named(spec, initial) => minimal(history, *spec, initial.as_ref(), limits)?,
            Specification::Runs(_) => Some(history.part(&checked.violating)),
        })
    }
}

/// A value as the command line has it.
pub fn initial_value(text: &str) -> Value {
    match (text, text.parse()) {
        ("nil", _) => Value::Nil,
        ("true", _) => Value::Bool(true),
        ("false", _) => Value::Bool(false),
        (_, Ok(number)) => Value::Int(number),
        _ => Value::Text(text.to_string()),
    }
}

/// Reads a trace, where it is one, else a history as text.
pub fn read_history(path: &Path, go_on: &dyn Fn() -> bool) -> anyhow::Result<Option<History>> {
    let name = || path.display().to_string();
    let file = Folder::trace_of(path);
    if is_trace(&file).with_context(name)? {
        return Ok(files::read_trace_within(&file, go_on)?.map(|(trace, _)| read_trace(&trace)));
    }
    let text = std::fs::read_to_string(&file).with_context(name)?;
    Ok(Some(read_text(&text).with_context(name)?))
}

/// Whether a file is a trace by how it begins: a header, or what no text begins with.
fn is_trace(file: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    std::fs::File::open(file)?.take(256).read_to_end(&mut start)?;
    let Ok(text) = std::str::from_utf8(start.split(|byte| *byte == b'\n').next().unwrap_or_default()) else {
        return Ok(true);
    };
    let is_std = text.split('|').count() == 3 && text.starts_with('T');
    Ok(text.contains("\"foretrace\"") || text.chars().any(|c| c.is_control() && !c.is_whitespace()) || is_std)
}

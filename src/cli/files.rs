//! Reading traces and schedules, writing files.

use anyhow::Context;
use foretrace::report::SavedWitness;
use foretrace_trace::{EventId, Format, Observed, Trace, observe};
use std::path::Path;

/// Reads a trace of any format and runs its recorded order.
pub fn read_trace(path: &Path) -> anyhow::Result<(Trace, Observed)> {
    let trace = foretrace_trace::read(path)?;
    let observed = observe(&trace).with_context(|| path.display().to_string())?;
    Ok((trace, observed))
}

/// Writes a trace in the format that is asked for, else that of the file's name, else as JSON Lines; to stdout where no
/// file is named.
pub fn write_trace(trace: &Trace, path: Option<&Path>, format: Option<Format>) -> anyhow::Result<()> {
    let by_name = || path.and_then(Format::of);
    let format = format.or_else(by_name).unwrap_or(Format::JSONL);
    match path.filter(|path| *path != Path::new("-")) {
        Some(path) => foretrace_trace::write(path, trace, format).with_context(|| path.display().to_string()),
        None => Ok(foretrace_trace::write_to(std::io::stdout().lock(), trace, format)?),
    }
}

/// Whether messages on stderr are shown in colour.
pub fn colour_on_stderr() -> bool {
    anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never
}

/// A schedule as people write one, or a whole witness.
pub enum Schedule {
    /// A JSON array of event indices.
    Plain(Vec<EventId>),
    /// A file that `--witness-dir` made.
    Witness(SavedWitness),
}

impl Schedule {
    /// Reads a schedule.
    pub fn read(path: &Path) -> anyhow::Result<Schedule> {
        let name = || path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(name)?;
        let is_list = text.trim_start().starts_with('[');
        let schedule = if is_list {
            serde_json::from_str(&text).map(Schedule::Plain)
        } else {
            serde_json::from_str(&text).map(Schedule::Witness)
        };
        schedule
            .with_context(|| format!("{}: expected a JSON array of event indices or a witness of foretrace", name()))
    }

    /// The events in order.
    pub fn events(&self) -> Vec<EventId> {
        match self {
            Schedule::Plain(events) => events.clone(),
            Schedule::Witness(witness) => witness.schedule.iter().map(|step| step.event).collect(),
        }
    }
}

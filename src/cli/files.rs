//! Reading traces and schedules, writing files.

use anyhow::{Context, bail};
use foretrace::litmus::{self, FileError};
use foretrace::recorder::{Folder, Sources, add_call_stacks};
use foretrace::report::{SavedSchedule, SourceLine};
use foretrace_trace::{Format, Observed, Staged, Trace, printable};
use std::path::Path;

/// Reads a trace of any format, or that of a recording's folder, and runs its recorded order, as long as a command may go on;
/// `None` where it may not. Its names can be shown on a terminal.
pub fn read_trace_within(path: &Path, go_on: &dyn Fn() -> bool) -> anyhow::Result<Option<(Trace, Observed)>> {
    let read = read_trace_as_it_is_within(path, go_on)?;
    Ok(read.map(|(mut trace, observed)| {
        trace.make_printable();
        (trace, observed)
    }))
}

/// The same, with control characters in names.
pub fn read_trace_as_it_is_within(path: &Path, go_on: &dyn Fn() -> bool) -> anyhow::Result<Option<(Trace, Observed)>> {
    let file = Folder::trace_of(path);
    let mut read = foretrace_trace::read_observed_while(&file, go_on)?;
    if let Some((trace, _)) = &mut read {
        add_call_stacks(trace, &file)?;
    }
    Ok(read)
}

/// Reads a litmus program.
pub fn litmus_program(path: &Path) -> anyhow::Result<litmus::Program> {
    match litmus::parse_file(path, colour_on_stderr()) {
        Ok(program) => Ok(program),
        Err(FileError::Invalid(shown)) => bail!("not a litmus program\n{}", shown.trim_end()),
        Err(error) => Err(error.into()),
    }
}

/// Writes a trace in the format that is asked for, else that of the file's name, else as JSON Lines; to stdout where no
/// file is named.
pub fn write_trace(trace: &Trace, path: Option<&Path>, format: Option<Format>) -> anyhow::Result<()> {
    let by_name = || path.and_then(Format::of_path);
    let format = format.or_else(by_name).unwrap_or(Format::JSONL);
    match path.filter(|path| *path != Path::new("-")) {
        Some(path) => foretrace_trace::write(path, trace, format).with_context(|| path.display().to_string()),
        None => Ok(foretrace_trace::write_to(std::io::stdout().lock(), trace, format)?),
    }
}

/// Writes a trace to a file that is yet to take its place; nothing where it goes elsewhere.
pub fn stage_trace(trace: &Trace, path: &Path) -> anyhow::Result<Option<Staged>> {
    if path == Path::new("-") {
        return Ok(None);
    }
    let format = Format::of_path(path).unwrap_or(Format::JSONL);
    foretrace_trace::stage(path, trace, format).with_context(|| path.display().to_string())
}

/// Whether messages on stderr are shown in colour.
pub fn colour_on_stderr() -> bool {
    anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never
}

/// Reads a schedule or a witness.
pub fn read_schedule(path: &Path) -> anyhow::Result<SavedSchedule> {
    let name = || path.display().to_string();
    let file = std::fs::File::open(path).with_context(name)?;
    SavedSchedule::read(file).with_context(name)
}

/// The source lines of a trace's places, where the recording that it lies in keeps them.
pub fn source_lines(trace: &str) -> Option<SourceLine<'static>> {
    let sources = Sources::of_trace(Path::new(trace))?;
    Some(Box::new(move |loc| sources.line(loc).map(|line| printable(line).into_owned())))
}

//! `calls.json.zst`: through which calls the program came to the events of a recording's traces.

use super::folder::FolderError;
use foretrace_report::write_whole;
use foretrace_trace::{CallStacks, Trace};
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

/// The file beside the trace.
const FILE: &str = "calls.json.zst";
/// Longest text that is read again.
const LONGEST: u64 = 1 << 32;

/// Keeps a trace's call stacks in its recording's folder, where it has some.
///
/// # Errors
/// The file cannot be written.
pub fn keep_call_stacks(recording: &Path, trace: &Trace) -> Result<(), FolderError> {
    let Some(stacks) = &trace.call_stacks else { return Ok(()) };
    let path = recording.join(FILE);
    let write = |out: &mut dyn Write| {
        let mut packed = zstd::Encoder::new(out, 0)?;
        serde_json::to_writer(&mut packed, stacks.as_ref())?;
        packed.finish().map(|_| ())
    };
    write_whole(&path, write).map_err(|error| FolderError::Io(path, error))
}

/// Gives a trace that was read from a file its call stacks, where the folder around the file keeps them.
///
/// # Errors
/// The folder's file cannot be read, or does not hold call stacks.
pub fn add_call_stacks(trace: &mut Trace, file: &Path) -> Result<(), FolderError> {
    let Some(path) = file.parent().map(|folder| folder.join(FILE)) else { return Ok(()) };
    let failed = |error| FolderError::Io(path.clone(), error);
    let packed = match std::fs::File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened.map_err(failed)?,
    };
    let mut text = Vec::new();
    zstd::Decoder::new(packed).and_then(|unpacked| unpacked.take(LONGEST).read_to_end(&mut text)).map_err(failed)?;
    let stacks: CallStacks = serde_json::from_slice(&text).map_err(|error| failed(error.into()))?;
    if !stacks.is_sound() {
        return Err(failed(io::Error::other("found numbers of calls that it does not have, expected call stacks")));
    }
    trace.call_stacks = Some(Arc::new(stacks));
    Ok(())
}

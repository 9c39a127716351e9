//! The threads of a recording: what traces call them.

use crate::error::WalkError;
use crate::log::{Log, open_logs, thread_paths};
use crate::program::Program;
use foretrace_runtime::record::Kind;
use std::path::Path;

/// A thread of a recording, as the recording's trace declares it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedThread {
    /// Its place in the tree of threads: `0` is the first thread, `0.2` its second child.
    pub path: String,
    /// Its number, from 1, in the order in which threads were created.
    pub number: u64,
    /// The function that it starts in, where that is known; `main` for the first thread.
    pub name: Option<String>,
}

/// The threads of a recording, without its trace.
///
/// # Errors
/// The logs or the program cannot be read.
pub fn recorded_threads(recording: &Path) -> Result<Vec<RecordedThread>, WalkError> {
    threads_of(&Program::open(recording)?, recording)
}

/// The same where the recording's program is open already.
///
/// # Errors
/// The logs cannot be read.
pub fn threads_of(program: &Program, recording: &Path) -> Result<Vec<RecordedThread>, WalkError> {
    let logs = open_logs(recording)?;
    let threads = thread_paths(&logs).into_iter().zip(&logs);
    let thread = |(path, log): (String, &Log)| {
        let name = name_of(program, log, &path);
        RecordedThread { path, number: log.header().thread, name }
    };
    Ok(threads.map(thread).collect())
}

/// The name of a log's thread, which has this path.
pub(crate) fn name_of(program: &Program, log: &Log, path: &str) -> Option<String> {
    if path == "0" { Some("main".to_string()) } else { start_name(program, log) }
}

/// The function in which threads of Rust's library start.
const STD_START: &str = "std::sys::thread::";

/// The thread's start function, else the first function of the program's own that it entered.
fn start_name(program: &Program, log: &Log) -> Option<String> {
    if let Some(function) = program.function_at(log.header().start) {
        return Some(function.name.clone());
    }
    let symbol = program.symbol_at(log.header().start);
    if let Some((name, _)) = symbol.filter(|(name, offset)| *offset == 0 && !name.contains(STD_START)) {
        return Some(name);
    }
    let is_enter = |kind| matches!(kind, Kind::Enter0 | Kind::Enter1 | Kind::Enter2 | Kind::Enter3 | Kind::Enter4);
    let mut entered = log.records().filter(|record| is_enter(record.kind)).take(100);
    let own = entered.find_map(|record| {
        let (function, _) = program.find(record.site())?;
        Some(&program.functions[function]).filter(|function| !program.is_library(function))
    });
    own.map(|function| function.name.clone())
}

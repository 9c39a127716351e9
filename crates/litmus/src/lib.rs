//! Litmus programs: small concurrent programs, written like the figures of papers, and run to get a trace.
//!
//! [`parse`] reads and checks a program, [`run`] executes it once under a scheduler and gives the trace, [`run_file`]
//! does both. The language is described in `docs/litmus.md`. The way through: `lexer` and `parser` make the `syntax`
//! tree, `compile` checks names and types and makes the flat code of a `program`, the `machine` runs it.
//!
//! ```
//! use foretrace_litmus::{Options, Outcome, parse, run};
//!
//! let program = parse("shared x: int = 0;\nthread A { x = x + 1; }\nthread B { x = x + 1; }\n").expect("a program");
//! let run = run(&program, &Options::seed(1));
//! assert_eq!(run.outcome, Outcome::Finished);
//! assert_eq!(run.trace.threads.len(), 2);
//! ```

mod compile;
mod diagnostic;
mod explore;
mod lexer;
mod machine;
mod options;
mod parser;
mod program;
mod recorder;
mod run;
mod scheduler;
mod synchronisation;
mod syntax;
mod whole;

pub use diagnostic::{Diagnostic, Diagnostics, Span};
pub use explore::{Execution, Exploration, explore};
pub use options::{Exploring, Options, Whole};
pub use program::Program;
pub use run::{Blocked, Failure, Outcome, Run, run, run_all, run_along};
pub use scheduler::Scheduler;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Reads and checks a program.
pub fn parse(source: &str) -> Result<Program, Diagnostics> {
    let items = parser::items(source).map_err(|error| Diagnostics(vec![*error]))?;
    compile::program(source, &items)
}

/// Why a file could not be run.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It could not be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// It is no litmus program; the text shows every mistake at its place.
    #[error("{0}")]
    Invalid(String),
}

/// Reads and checks the program in a file; `color` is that of the excerpts in its errors. Events' locations name the
/// file as `path` does.
pub fn parse_file(path: &Path, color: bool) -> Result<Program, FileError> {
    let read = |source| FileError::Read { path: path.to_owned(), source };
    let name = path.display().to_string();
    let most = parser::LONGEST_SOURCE;
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(most as u64 + 1).read_to_end(&mut bytes)).map_err(read)?;
    if bytes.len() > most {
        return Err(FileError::Invalid(format!(
            "{name}: the program has more than {most} bytes, the most that are accepted"
        )));
    }
    let source = String::from_utf8(bytes).map_err(|error| read(io::Error::new(io::ErrorKind::InvalidData, error)))?;
    let program = parse(&source).map_err(|errors| FileError::Invalid(errors.render(&name, &source, color)))?;
    Ok(program.named(&name))
}

/// Runs the program in a file once.
pub fn run_file(path: &Path, options: &Options, color: bool) -> Result<Run, FileError> {
    parse_file(path, color).map(|program| run(&program, options))
}

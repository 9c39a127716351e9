//! Where in the source the accesses of a replayed program are.

use foretrace_walker::WalkError;
use foretrace_walker::log::Record;
use foretrace_walker::program::{Position, Program};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::path::Path;

/// The file of a recording that says what was loaded.
const MODULES: &str = "modules";

/// Knows the places of a program, from the first of its runs on.
#[derive(Default)]
pub struct Positions {
    program: Option<Program>,
    /// What a recording loaded, and where, with its program.
    recorded: Option<(Vec<u8>, Program)>,
    /// By place, whose code it is. The log of a run that hangs has few places, millions of times.
    owners: RefCell<FxHashMap<u64, Owner>>,
}

/// Whose code a place is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// It is a library's, or its owner is not known.
    Other,
    /// The program's own, but no line that somebody wrote.
    Compiler,
    /// A line of the program.
    Program,
}

impl Positions {
    /// Knows the program of a recording, which need not be read again for a run that loads the same.
    pub fn of_recording(program: Program, recording: &Path) -> Positions {
        let loaded = std::fs::read(recording.join(MODULES)).ok();
        Positions { recorded: loaded.map(|loaded| (loaded, program)), ..Positions::default() }
    }

    /// Reads what the program says of itself, the first time.
    ///
    /// # Errors
    /// The program's description cannot be read.
    pub fn learn(&mut self, folder: &Path) -> Result<(), WalkError> {
        if self.program.is_none() {
            let loaded = std::fs::read(folder.join(MODULES)).unwrap_or_default();
            let same = self.recorded.take().filter(|(recorded, _)| *recorded == loaded);
            self.program = Some(same.map_or_else(|| Program::open(folder), |(_, program)| Ok(program))?);
        }
        Ok(())
    }

    /// The position that a trace gives an access, where that follows from its record alone.
    pub fn of_event(&self, record: &Record) -> Option<String> {
        self.location(record).filter(|_| self.is_own(record))
    }

    /// The line that any record comes from, as `file:line`.
    pub fn line_of(&self, record: &Record) -> Option<String> {
        let position = self.program.as_ref()?.position(record.site())?;
        Some(format!("{}:{}", position.file, position.line))
    }

    /// Whether a record comes from a known line of the program's own code, not from that of a library that it is built with.
    pub fn is_own(&self, record: &Record) -> bool {
        self.owner(record) != Owner::Other
    }

    /// Whether a record comes from a line that somebody wrote in the program's own code.
    pub fn is_written(&self, record: &Record) -> bool {
        self.owner(record) == Owner::Program
    }

    fn owner(&self, record: &Record) -> Owner {
        let Some(program) = &self.program else { return Owner::Other };
        *self.owners.borrow_mut().entry(record.place).or_insert_with(|| match program.position(record.site()) {
            Some(_) if program.is_in_library(record.site()) => Owner::Other,
            Some(position) if is_made_by_rustc(&position) => Owner::Compiler,
            Some(_) => Owner::Program,
            None => Owner::Other,
        })
    }

    /// Where an access is, as `file:line:column`. Of what was not compiled for recording nothing is known.
    pub fn location(&self, record: &Record) -> Option<String> {
        let position = self.program.as_ref()?.position(record.site()).filter(|_| record.kind.size() > 0)?;
        Some(format!("{}:{}:{}", position.file, position.line, position.column))
    }
}

/// Whether a place belongs to the `main` that rustc makes for tests, whose place is the first character of the crate.
fn is_made_by_rustc(position: &Position) -> bool {
    let is_main = position.function.rsplit("::").next() == Some("main");
    is_main && position.file.ends_with(".rs") && position.line == 1 && position.column <= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_main_of_tests_is_made_by_rustc() {
        let at = |file: &str, line, column, function: &str| {
            is_made_by_rustc(&Position { file: file.to_string(), line, column, function: function.to_string() })
        };
        assert!(at("tests/queue.rs", 1, 1, "queue::main"));
        assert!(!at("src/main.rs", 1, 13, "bank::main"), "a program of one line");
        assert!(!at("src/main.rs", 7, 1, "bank::main"));
        assert!(!at("main.c", 1, 1, "main"));
    }
}

//! Sections that a failure would have needed, without a lock, and what became of the program with them kept whole.

use super::names::{Names, wrapped};
use foretrace_repair::{Lines, Section};
use foretrace_trace::{SyncId, Trace};
use serde::Serialize;
use std::io::{self, Write};

/// Runs of the program along the schedule of a run that failed, with sections kept whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct NeededRuns {
    /// How often it failed.
    pub failed: u32,
    /// How often it passed.
    pub passed: u32,
    /// How often it passed, but left the schedule before the sections had ended.
    pub left: u32,
}

/// Writes the sections that a run which failed by itself would have needed, the lock that all others hold, and what became of the program with
/// the sections kept whole.
pub fn write_needed(
    trace: &Trace,
    sections: &[Section],
    (lock, runs): (Option<SyncId>, Option<NeededRuns>),
    out: &mut dyn Write,
) -> io::Result<()> {
    let names = Names::new(trace);
    section_lines("   make atomic", &names, sections, out)?;
    if let Some(lock) = lock {
        let line =
            format!("   hold {} there, which all other accesses hold", names.short(&trace.syncs[lock.index()].key));
        writeln!(out, "{}", wrapped(&line, "      "))?;
    }
    writeln!(out, "{}", wrapped(&needed_line(runs), "      "))
}

/// The sections, one a line.
pub(super) fn section_lines(
    lead: &str,
    names: &Names<'_>,
    sections: &[Section],
    out: &mut dyn Write,
) -> io::Result<()> {
    for (place, section) in sections.iter().enumerate() {
        let lead = if place == 0 { lead } else { "   and" };
        writeln!(out, "{}", wrapped(&format!("{lead}: {}", short_section(names, section)), "      "))?;
    }
    Ok(())
}

/// What became of the program with sections kept whole.
pub(super) fn needed_line(runs: Option<NeededRuns>) -> String {
    match runs {
        None => "   not tried on the program: no schedule of this run keeps the section whole".to_string(),
        Some(NeededRuns { failed, passed: 0, left: 0 }) if failed > 0 => {
            format!(
                "   on the program: with the section kept whole it failed {failed} of {failed} times: this alone does not mend it"
            )
        }
        Some(NeededRuns { failed, passed, left }) if failed + passed + left > 0 => {
            let all = failed + passed + left;
            let astray = if left == 0 { String::new() } else { format!("; {left} times it left the schedule") };
            format!("   on the program: with the section kept whole it failed {failed} of {all} times{astray}")
        }
        Some(_) => "   not tried on the program: a limit was reached".to_string(),
    }
}

/// A section with short names of files.
pub(super) fn short_section(names: &Names<'_>, section: &Section) -> String {
    let lines = |lines: &Lines| Lines { file: names.short(&lines.file).into_owned(), ..lines.clone() };
    Section { lines: section.lines.iter().map(lines).collect(), ..section.clone() }.to_string()
}

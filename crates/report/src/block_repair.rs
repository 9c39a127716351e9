//! Repairs of whole blocks that are violated over several accesses or variables.

use super::names::{Names, wrapped};
use super::needed::{NeededRuns, needed_line, section_lines};
use foretrace_repair::Section;
use foretrace_trace::{EventId, Trace};
use serde::Serialize;
use std::io::{self, Write};

/// The code that has to be atomic for a block not to be violated.
#[derive(Clone, Debug, Serialize)]
pub struct BlockRepair {
    /// The sections.
    pub sections: Vec<Section>,
    /// The accesses of the violation path that they are against.
    pub path: Vec<EventId>,
    /// Whether this is off the path of the run.
    pub off_path: bool,
    /// What became of the program along the schedule of the violation as it is, where it was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_it_is: Option<AsItIs>,
    /// What became of it with the sections kept whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<BlockRuns>,
}

/// Runs of the program along the schedule of the violation.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct AsItIs {
    /// How many there were.
    pub runs: u32,
    /// How many failed.
    pub failed: u32,
}

impl BlockRepair {
    /// Whether the program was run along the schedule, and no run failed.
    pub fn is_harmless(&self) -> bool {
        self.as_it_is.is_some_and(|AsItIs { runs, failed }| runs > 0 && failed == 0)
    }
}

/// Runs of the program along the schedule of the violation, with the sections kept whole.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(transparent)]
pub struct BlockRuns(pub Option<NeededRuns>);

/// Writes the repairs of blocks for people, numbered after this many others.
pub(super) fn write_block_repairs(
    trace: &Trace,
    all: &[BlockRepair],
    before: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let names = Names::new(trace);
    let harmless = all.iter().position(BlockRepair::is_harmless);
    for (number, repair) in all.iter().enumerate() {
        if harmless == Some(number) {
            writeln!(out, "\nOf whole blocks, and no run of the program failed:")?;
        }
        let mut variables: Vec<&str> = Vec::new();
        let accessed = repair.path.iter().filter_map(|event| trace.event(*event).op.var());
        for key in accessed.map(|var| &*trace.vars[var.index()].key) {
            if !variables.contains(&key) {
                variables.push(key);
            }
        }
        writeln!(out)?;
        section_lines(&format!("{}. make atomic", before + number + 1), &names, &repair.sections, out)?;
        let events = repair.path.iter().map(EventId::to_string).collect::<Vec<_>>().join(", ");
        let what = if repair.off_path { "what is off the path" } else { "the violation of a whole block" };
        let against = format!("   against {what} over {}: ({events}); no lock is sought", variables.join(", "));
        writeln!(out, "{}", wrapped(&against, "      "))?;
        if let Some(AsItIs { runs, failed }) = repair.as_it_is.filter(|as_it_is| as_it_is.runs > 0) {
            writeln!(out, "   on the program: along this schedule it failed {failed} of {runs} times")?;
        }
        if let Some(BlockRuns(runs)) = repair.runs {
            writeln!(out, "{}", wrapped(&needed_line(runs), "      "))?;
        }
    }
    Ok(())
}

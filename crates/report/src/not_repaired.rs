//! What has no repair: what is off the path of the run, if no run of the program failed by it; and what was not reached.

use super::names::wrapped;
use super::repair::count;
use serde::Serialize;
use std::io::{self, Write};

/// How many variables and blocks have no repair, by why.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct NotRepaired {
    /// More than were asked for, or after the limit.
    pub beyond_limit: usize,
    /// Off the path, and not tried on the program.
    pub untried: usize,
    /// Off the path, and it happened in no run of the program.
    pub not_reached: usize,
    /// Off the path, and it happened in runs of the program, of which none failed.
    pub harmless: usize,
    /// Violations of whole blocks that no triple shows and by which no run of the program failed.
    pub harmless_blocks: usize,
}

impl NotRepaired {
    /// Adds one that was not come to.
    pub fn add_untried(&mut self, off_path: bool) {
        *(if off_path { &mut self.untried } else { &mut self.beyond_limit }) += 1;
    }

    /// Adds one that is off the path; how often the program was run along its schedule and passed, and in how many of the runs it happened.
    pub fn add_off_path(&mut self, runs: Option<(u32, u32)>) {
        let number = match runs {
            None | Some((0, _)) => &mut self.untried,
            Some((_, 0)) => &mut self.not_reached,
            Some(_) => &mut self.harmless,
        };
        *number += 1;
    }

    /// How many were tried on the program.
    pub fn tried(self) -> usize {
        self.off_path_tried() + self.harmless_blocks
    }

    fn off_path_tried(self) -> usize {
        self.not_reached + self.harmless
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: NotRepaired) -> NotRepaired {
        NotRepaired {
            beyond_limit: self.beyond_limit + other.beyond_limit,
            untried: self.untried + other.untried,
            not_reached: self.not_reached + other.not_reached,
            harmless: self.harmless + other.harmless,
            harmless_blocks: self.harmless_blocks + other.harmless_blocks,
        }
    }

    /// Whether all have one.
    pub fn is_empty(self) -> bool {
        self == NotRepaired::default()
    }

    /// How many are off the path.
    fn off_path(self) -> usize {
        self.untried + self.off_path_tried()
    }

    /// Says it for people; nothing where all have one.
    pub(super) fn write(self, out: &mut dyn Write) -> io::Result<()> {
        if self.off_path() > 0 {
            let what = count(self.off_path(), "group");
            let is = if self.off_path() == 1 { "is" } else { "are" };
            let mut parts = Vec::new();
            let mut add = |number: usize, what: &str| {
                if number > 0 {
                    parts.push(format!("{number} {what}"));
                }
            };
            add(self.harmless, "happened in runs of the program, and none failed");
            add(self.not_reached, "happened in no run of the program");
            add(self.untried, "not tried on the program");
            let line = format!(
                "Not proved: {what} {is} off the path of this run ({}). No repair is sought (--off-path seeks one)",
                parts.join("; ")
            );
            writeln!(out, "\n{}", wrapped(&line, "   "))?;
        }
        if self.harmless_blocks > 0 {
            let line = format!(
                "Without a repair: {}. No triple is feasible, and no run of the program failed along the schedules (--off-path seeks one)",
                count(self.harmless_blocks, "whole block")
            );
            writeln!(out, "\n{}", wrapped(&line, "   "))?;
        }
        match self.beyond_limit {
            0 => Ok(()),
            more => writeln!(out, "\n{} without a repair (--most-repairs seeks more)", count(more, "other variable")),
        }
    }
}

//! What `foretrace repair` says of a program: the rounds of repairing and exploring, and the program with its atomic sections.

use super::repair::count;
use foretrace_repair::{Lines, Ranked, Repair, Round, RoundsEnd, Section};
use serde::Serialize;
use std::io::{self, Write};

/// A round: how the interleavings ended with some sections kept whole, and the repairs of those that failed.
#[derive(Clone, Serialize, Default)]
pub struct RepairRound {
    /// The sections that were kept whole.
    pub sections: Repair,
    /// How many interleavings there were.
    pub interleavings: u64,
    /// How many passed.
    pub passed: u64,
    /// How many failed.
    pub failed: u64,
    /// How many were cut off or not decided.
    pub open: u64,
    /// Whether these are all interleavings.
    pub complete: bool,
    /// In which ways they failed.
    pub failures: Vec<Ways>,
    /// Whether all optimal repairs were found.
    pub all_repairs: bool,
    /// How many passing traces ranked the repairs.
    pub ranked_by: usize,
    /// The repairs of all failing traces so far, best first.
    pub repairs: Vec<Proposed>,
}

/// A way to fail.
#[derive(Clone, Serialize)]
pub struct Ways {
    /// What happened.
    pub what: String,
    /// In how many interleavings.
    pub interleavings: u64,
}

/// A repair that was found.
#[derive(Clone, Serialize)]
pub struct Proposed {
    /// Its sections.
    pub sections: Repair,
    /// Their lines together.
    pub length: u64,
    /// How many of the passing traces it forbids.
    pub forbids: usize,
}

impl RepairRound {
    /// Counts an interleaving that fails.
    pub fn fails(&mut self, what: String) {
        match self.failures.iter_mut().find(|way| way.what == what) {
            Some(way) => way.interleavings += 1,
            None => self.failures.push(Ways { what, interleavings: 1 }),
        }
    }

    /// The round with what the loop made of it.
    #[must_use]
    pub fn with(mut self, round: &Round<'_>) -> RepairRound {
        self.sections = round.sections.clone();
        self.ranked_by = round.ranked_by;
        self.all_repairs = round.repairs.is_none_or(|repairs| repairs.complete);
        let proposed = |ranked: &Ranked| Proposed {
            sections: ranked.repair.clone(),
            length: ranked.length,
            forbids: ranked.forbids.len(),
        };
        self.repairs = round.repairs.iter().flat_map(|repairs| &repairs.ranked).map(proposed).collect();
        self
    }

    /// Writes the round as text, with at most `most` repairs.
    pub fn write_text(&self, number: usize, most: usize, out: &mut dyn Write) -> io::Result<()> {
        let with = match self.sections.is_empty() {
            true => "as it is".to_string(),
            false => format!("with {} atomic", shown(&self.sections)),
        };
        let all = if self.complete { "" } else { ", and there are more" };
        let RepairRound { interleavings, failed, passed, .. } = self;
        writeln!(out, "round {number}, {with}: {interleavings} interleavings, {passed} pass, {failed} fail{all}")?;
        for Ways { what, interleavings } in self.failures.iter().take(most) {
            writeln!(out, "  {what} ({})", count(*interleavings as usize, "interleaving"))?;
        }
        if self.failures.len() > most {
            writeln!(out, "  and {} more ways to fail (--most shows them)", self.failures.len() - most)?;
        }
        if self.repairs.is_empty() {
            return Ok(());
        }
        let (found, passing) = (count(self.repairs.len(), "optimal repair"), count(self.ranked_by, "passing run"));
        writeln!(out, "  {found}, ranked by {passing}:")?;
        for (place, Proposed { sections, length, forbids }) in self.repairs.iter().take(most).enumerate() {
            let length = count(*length as usize, "line");
            writeln!(out, "  {}. make atomic {}: {length}, forbids {forbids}", place + 1, shown(sections))?;
        }
        if self.repairs.len() > most {
            writeln!(out, "  and {} more (--most shows them)", self.repairs.len() - most)?;
        }
        Ok(())
    }
}

fn shown(sections: &[Section]) -> String {
    sections.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
}

/// What became of a program.
#[derive(Serialize)]
pub struct ProgramRepair<'a> {
    /// The file of the program.
    pub program: &'a str,
    /// Its text.
    #[serde(skip)]
    pub source: &'a str,
    /// The specification of its operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<&'a str>,
    /// What was done.
    pub rounds: &'a [RepairRound],
    /// The sections that were kept whole at the end.
    pub sections: &'a Repair,
    /// How it ended.
    #[serde(serialize_with = "name_of")]
    pub end: RoundsEnd,
}

#[derive(Serialize)]
struct Json<'a> {
    foretrace: u32,
    #[serde(flatten)]
    repair: &'a ProgramRepair<'a>,
    /// The program's text with a mark in front of each line that is in a section.
    text: String,
}

fn name_of<S: serde::Serializer>(end: &RoundsEnd, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match end {
        RoundsEnd::Repaired => "repaired",
        RoundsEnd::Open => "open",
        RoundsEnd::NoSection => "no-section",
        RoundsEnd::NotEnforced => "not-enforced",
    })
}

impl ProgramRepair<'_> {
    /// Writes one JSON object.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, &Json { foretrace: 1, repair: self, text: self.text() })?;
        writeln!(out)
    }

    /// Writes how it ended, and the program with its sections.
    pub fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let sections = shown(self.sections);
        match self.end {
            RoundsEnd::Repaired if self.sections.is_empty() => {
                writeln!(out, "no interleaving fails: no repair is needed")?
            }
            RoundsEnd::Repaired => writeln!(out, "\nno interleaving fails with {sections} atomic:\n\n{}", self.text())?,
            RoundsEnd::Open => {
                writeln!(out, "\nnot decided: the limit was reached before all interleavings were explored")?
            }
            RoundsEnd::NoSection => writeln!(
                out,
                "\nno section was found for all that fails: some failing interleaving has the conflicts of operations that run one after the other"
            )?,
            RoundsEnd::NotEnforced => {
                writeln!(out, "\neach repair was tried, and with each an interleaving fails or none passes")?
            }
        }
        Ok(())
    }

    /// The program with `>` in front of each line that is in a section.
    fn text(&self) -> String {
        let is_in = |line: u32| {
            let mut lines = self.sections.iter().flat_map(|section| &section.lines);
            lines.any(|lines: &Lines| lines.first <= line && line <= lines.last)
        };
        let width = self.source.lines().count().to_string().len();
        let line = |(number, text): (usize, &str)| {
            let mark = if is_in(number as u32) { '>' } else { ' ' };
            format!("{mark} {number:width$}  {text}").trim_end().to_string()
        };
        (1..).zip(self.source.lines()).map(line).collect::<Vec<_>>().join("\n")
    }
}

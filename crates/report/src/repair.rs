//! What `foretrace repair` says: the sections, best first, and the cycle that each breaks; as text and as JSON.

use super::names::thread_name;
use super::table::act_of;
use foretrace_repair::{Link, Ranked, Relates, Repairs, Section};
use foretrace_trace::{Atomic, EventId, Trace};
use serde::Serialize;
use std::io::{self, Write};

/// The repairs of failing traces, as they are shown.
pub struct RepairReport<'t> {
    /// The files of the failing traces, and the traces.
    pub failing: (&'t [String], &'t [Trace]),
    /// The files of the passing traces.
    pub passing: &'t [String],
    /// What the operations of the first failing trace are.
    pub atomic: Atomic,
    /// What was found.
    pub repairs: &'t Repairs,
}

#[derive(Serialize)]
struct Json<'t> {
    foretrace: u32,
    failing: &'t [String],
    passing: &'t [String],
    atomic: Atomic,
    complete: bool,
    /// Failing traces that need no repair, by file.
    serializable: Vec<&'t str>,
    repairs: Vec<JsonRepair<'t>>,
}

#[derive(Serialize)]
struct JsonRepair<'t> {
    sections: &'t [Section],
    length: u64,
    forbids: Vec<&'t str>,
    trace: &'t str,
    cycle: Vec<JsonLink<'t>>,
}

#[derive(Serialize)]
pub(crate) struct JsonLink<'t> {
    from: EventId,
    to: EventId,
    by: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    variable: Option<&'t str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    loc: Option<&'t str>,
}

impl<'t> RepairReport<'t> {
    /// Writes one JSON object.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let (files, traces) = self.failing;
        let repair = |ranked: &'t Ranked| JsonRepair {
            sections: &ranked.repair,
            length: ranked.length,
            forbids: ranked.forbids.iter().map(|number| self.passing[*number].as_str()).collect(),
            trace: &files[ranked.of_failing],
            cycle: ranked.cycle.iter().map(|link| json_link(&traces[ranked.of_failing], link)).collect(),
        };
        let json = Json {
            foretrace: 1,
            failing: files,
            passing: self.passing,
            atomic: self.atomic,
            complete: self.repairs.complete,
            serializable: self.repairs.serializable.iter().map(|number| files[*number].as_str()).collect(),
            repairs: self.repairs.ranked.iter().map(repair).collect(),
        };
        serde_json::to_writer_pretty(&mut *out, &json)?;
        writeln!(out)
    }

    /// Writes text: the first `most` repairs.
    pub fn write_text(&self, most: usize, out: &mut dyn Write) -> io::Result<()> {
        let (files, _) = self.failing;
        for number in &self.repairs.serializable {
            writeln!(
                out,
                "{}: needs no repair: its operations ({}) could have run one after the other with the same conflicts and order",
                files[*number], self.atomic
            )?;
        }
        let all = &self.repairs.ranked;
        if all.is_empty() {
            return Ok(());
        }
        let (failing, passing) = (count(files.len(), "failing run"), count(self.passing.len(), "passing run"));
        let found = count(all.len(), "optimal repair");
        writeln!(out, "{found} of {failing}, ranked by {passing}; operations: {}", self.atomic)?;
        for (number, ranked) in all.iter().take(most).enumerate() {
            self.write_repair(number + 1, ranked, out)?;
        }
        if all.len() > most {
            writeln!(
                out,
                "\n{} more, longer or forbidding as many passing runs (--most shows them)",
                all.len() - most
            )?;
        }
        if !self.repairs.complete {
            writeln!(out, "\nnote: the limit was reached: each repair holds, but smaller ones may be missing")?;
        }
        Ok(())
    }

    fn write_repair(&self, number: usize, ranked: &Ranked, out: &mut dyn Write) -> io::Result<()> {
        let (files, traces) = self.failing;
        let trace = &traces[ranked.of_failing];
        writeln!(out)?;
        for (place, section) in ranked.repair.iter().enumerate() {
            let lead = if place == 0 { format!("{number}. make atomic") } else { "   and".to_string() };
            writeln!(out, "{lead}: {section}")?;
        }
        let lines = if ranked.repair.iter().any(has_lines) { "line" } else { "access" };
        let length = match (ranked.length, lines) {
            (more, "access") if more != 1 => format!("{more} accesses"),
            (length, lines) => count(length as usize, lines),
        };
        let forbids = match (self.passing.len(), ranked.forbids.len()) {
            (0, _) => "no passing run to compare with".to_string(),
            (all, 0) => format!("forbids none of {}", count(all, "passing run")),
            (all, some) => format!("forbids {some} of {}", count(all, "passing run")),
        };
        writeln!(out, "   {length}; {forbids}")?;
        let of = if files.len() > 1 { format!(" of {}", files[ranked.of_failing]) } else { String::new() };
        writeln!(out, "   were it atomic, the failing run{of} could not have had this order:")?;
        write_cycle(trace, &ranked.cycle, out)
    }
}

fn has_lines(section: &Section) -> bool {
    section.lines.iter().any(|lines| !lines.file.is_empty())
}

pub(crate) fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

fn name_of(by: Relates) -> &'static str {
    match by {
        Relates::Conflict(_) => "conflict",
        Relates::Wait => "wait",
        Relates::RealTime => "real-time",
        Relates::ProgramOrder => "program-order",
        Relates::Section => "section",
    }
}

pub(crate) fn json_link<'t>(trace: &'t Trace, link: &Link) -> JsonLink<'t> {
    let variable = match link.by {
        Relates::Conflict(var) => Some(trace.vars[var.index()].shown()),
        _ => None,
    };
    JsonLink { from: link.from, to: link.to, by: name_of(link.by), variable, loc: trace.loc(link.from) }
}

/// The events of a cycle in the order of the run, as a table.
pub(crate) fn write_cycle(trace: &Trace, cycle: &[Link], out: &mut dyn Write) -> io::Result<()> {
    let mut events: Vec<EventId> = cycle.iter().map(|link| link.from).collect();
    events.sort_unstable();
    events.dedup();
    let ends: Vec<EventId> = ends_of_sections(cycle);
    let rows: Vec<[String; 4]> = events.iter().map(|event| row(trace, *event, &ends)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    for [mark, thread, act, loc] in &rows {
        let line =
            format!("     {mark:<a$}  {thread:<b$}  {act:<c$}  {loc}", a = widths[0], b = widths[1], c = widths[2]);
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn ends_of_sections(cycle: &[Link]) -> Vec<EventId> {
    let sections = cycle.iter().filter(|link| link.by == Relates::Section);
    sections.flat_map(|link| [link.from, link.to]).collect()
}

fn row(trace: &Trace, event: EventId, ends: &[EventId]) -> [String; 4] {
    let mark = if ends.contains(&event) { "*" } else { "" };
    let thread = thread_name(trace, trace.event(event).thread);
    let act = act_of(trace, event);
    [mark.to_string(), thread, act, trace.loc(event).unwrap_or_default().to_string()]
}

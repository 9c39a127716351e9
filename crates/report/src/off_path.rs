//! The text report's third verdict: classes that are off the path of the recorded run, which other paths may show.

use super::Subject;
use super::class::{Classes, OffPathClass};
use super::table::{self, Mark};
use super::text::{HEAD, TRIPLE, place, plural};
use foretrace_analysis::verdict::OffPath;
use foretrace_trace::{EventId, Trace, Triple};
use std::io::{self, Write};

/// Classes that are listed unless all are asked for.
const MOST_LISTED: usize = 20;

/// Lists the classes that are off the path, one line each; whole, with schedules, where that is asked for.
pub(super) fn write(subject: Subject<'_>, classes: &Classes, whole: bool, out: &mut dyn Write) -> io::Result<()> {
    let trace = subject.trace;
    let listed = classes.off_path(subject);
    if listed.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n{HEAD}Off the path of this run{HEAD:#}: infeasible on it; another path of the program may show them"
    )?;
    let most = if whole { usize::MAX } else { MOST_LISTED };
    for (number, class) in listed.iter().enumerate().take(most) {
        write_line(trace, number + 1, class, out)?;
        if whole {
            write_schedule(trace, class, out)?;
        }
    }
    match listed.len().checked_sub(most) {
        Some(more) if more > 0 => writeln!(out, "   and {more} more (--off-path lists all, with their schedules)"),
        _ => Ok(()),
    }
}

fn write_line(trace: &Trace, number: usize, class: &OffPathClass<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Triple { first, remote, second } = class.decision.triple;
    let var = trace.event(first).op.var().map_or("", |var| trace.vars[var.index()].shown());
    let places = [first, remote, second].map(|event| short_place(trace, event)).join(", ");
    writeln!(
        out,
        "{number:>4}. {:<13}  {} on {var}: {places}; {}, shown: {}",
        class.off_path.name(),
        class.decision.pattern,
        plural(class.infeasible, "candidate"),
        class.decision.triple
    )
}

fn short_place(trace: &Trace, event: EventId) -> String {
    trace.loc(event).map_or_else(|| place(trace, event), str::to_string)
}

fn write_schedule(trace: &Trace, class: &OffPathClass<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Some(run) = class.off_path.run() else { return Ok(()) };
    let kind = match class.off_path {
        OffPath::AfterRemote(_) => "This schedule can happen. Whether second follows is open:",
        _ => "This schedule leaves out values and branches. Only running the program can judge it:",
    };
    writeln!(out, "      {kind}\n")?;
    for row in table::rows_of(trace, class.decision.triple, &run.steps) {
        match row.mark {
            Mark::Triple(_) => writeln!(out, "      {TRIPLE}{}{TRIPLE:#}", row.text)?,
            Mark::None => writeln!(out, "      {}", row.text)?,
        }
    }
    writeln!(out)
}

//! The part of the text report with classes that are off the path of the recorded run. Other paths may show them. Classes of one variable
//! and block are together.

use super::Subject;
use super::class::{Classes, OffPathClass};
use super::names::{Names, wrapped};
use super::pattern_meaning;
use super::style::{HEAD, plural, write_rows};
use super::table;
use foretrace_analysis::blocks::BlockName;
use foretrace_analysis::verdict::OffPath;
use foretrace_trace::{Trace, Triple, VarId};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::io::{self, Write};

/// Groups of classes that are listed unless all are asked for.
const MOST_LISTED: usize = 20;

/// Lists the classes that are off the path, one line each; whole, with schedules, where that is asked for.
pub(super) fn write(
    subject: Subject<'_>,
    names: &Names<'_>,
    classes: &Classes,
    whole: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let listed = classes.off_path(subject);
    if listed.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n{HEAD}Off the path of this run{HEAD:#}: infeasible on it; another path of the program may show them"
    )?;
    if whole {
        for (number, class) in listed.iter().enumerate() {
            write_line(names, number + 1, class, 0, out)?;
            write_schedule(subject.trace, names, class, out)?;
        }
        return Ok(());
    }
    let groups = group(subject, &listed);
    for (number, group) in groups.iter().enumerate().take(MOST_LISTED) {
        write_line(names, number + 1, group[0], group.len() - 1, out)?;
    }
    match groups.len().saturating_sub(MOST_LISTED) {
        0 => writeln!(out, "   (--off-path shows {} with the schedules)", plural(listed.len() as u64, "class")),
        more => writeln!(out, "   and {more} more (--off-path lists all, with their schedules)"),
    }
}

/// Classes of one kind, variable and block, in the order of the first of each.
fn group<'c>(subject: Subject<'_>, listed: &'c [OffPathClass<'c>]) -> Vec<Vec<&'c OffPathClass<'c>>> {
    type Key = (&'static str, Option<VarId>, Option<BlockName>);
    let mut groups: IndexMap<Key, Vec<&OffPathClass<'_>>, FxBuildHasher> = IndexMap::default();
    for class in listed {
        let triple = class.decision.triple;
        let var = subject.trace.event(triple.first).op.var();
        let block = subject.block(triple).map(|(name, _)| name);
        groups.entry((class.off_path.name(), var, block)).or_default().push(class);
    }
    groups.into_values().collect()
}

/// One line of a class, and how many there are like it.
fn write_line(
    names: &Names<'_>,
    number: usize,
    class: &OffPathClass<'_>,
    alike: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let more = if alike > 0 { format!("; {alike} like it") } else { String::new() };
    let triple @ Triple { first, remote, second } = class.decision.triple;
    let line = format!(
        "{number:>4}. {:<13}  {triple} {} on {}: {}{more}",
        class.off_path.name(),
        pattern_meaning(class.decision.pattern),
        names.var_of(first),
        names.places([first, remote, second]),
    );
    writeln!(out, "{}", wrapped(&line, "                     "))
}

fn write_schedule(trace: &Trace, names: &Names<'_>, class: &OffPathClass<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Some(run) = class.off_path.run() else { return Ok(()) };
    let kind = match class.off_path {
        OffPath::AfterRemote(_) => "This schedule can happen. Whether second follows is open:",
        _ => "This schedule leaves out values and branches. Only running the program can judge it:",
    };
    writeln!(out, "      {kind}\n")?;
    write_rows("      ", &table::rows_of(trace, names, class.decision.triple, &run.steps(trace)), out)?;
    writeln!(out)
}

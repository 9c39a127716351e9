//! Annotations of GitHub Actions: one workflow command for each class of source locations that can happen, for each block beyond, and
//! for each use after free.
//!
//! The syntax is that of "Workflow commands for GitHub Actions" (`::warning file=…,line=…,col=…,title=…::…`).

use super::serializability::BlockReport;
use super::style::plural;
use super::{Names, Subject, UsesReport, pattern_meaning, thread_name};
use foretrace_analysis::candidates::Class;
use foretrace_analysis::predict::Totals;
use foretrace_analysis::serializability::Beyond;
use foretrace_analysis::verdict::{Decision, Verdict};
use foretrace_trace::{EventId, Op, Pattern, Trace, Triple};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Collects what can happen, and writes it in the end.
pub struct AnnotationReport<'t> {
    subject: Subject<'t>,
    names: Names<'t>,
    classes: IndexMap<Class, Found, FxBuildHasher>,
}

/// The candidate that stands for its class.
struct Found {
    triple: Triple,
    pattern: Pattern,
    counts: bool,
}

/// How grave an annotation is.
#[derive(Clone, Copy)]
enum Level {
    Warning,
    Notice,
}

impl<'t> AnnotationReport<'t> {
    /// A report of nothing yet.
    pub fn new(subject: Subject<'t>) -> AnnotationReport<'t> {
        AnnotationReport { subject, names: Names::new(subject.trace), classes: IndexMap::default() }
    }

    /// Adds a decision. A candidate that counts stands for its class rather than one that does not.
    pub fn add(&mut self, decision: &Decision) {
        let Verdict::Feasible(witness) = &decision.verdict else { return };
        let (triple, pattern) = (decision.triple, decision.pattern);
        let counts = self.subject.is_found(triple, self.subject.is_observed(triple, witness));
        let found = Found { triple, pattern, counts };
        let known = self.classes.entry(self.subject.class(triple)).or_insert(Found { ..found });
        if counts && !known.counts {
            *known = found;
        }
    }

    /// Writes all annotations, then the totals: what is not decided is a notice.
    pub fn write(
        &self,
        totals: &Totals,
        blocks: Option<&(BlockReport<'t>, Beyond)>,
        uses: Option<&UsesReport<'t>>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        for found in self.classes.values() {
            let level = if found.counts { Level::Warning } else { Level::Notice };
            let loc = self.subject.trace.loc(found.triple.second);
            write_command(level, loc, pattern_meaning(found.pattern), &self.message(found), out)?;
        }
        let mut of_blocks = 0;
        if let Some((report, _)) = blocks {
            for (event, counts, message) in report.in_a_line_each() {
                of_blocks += u64::from(counts);
                let level = if counts { Level::Warning } else { Level::Notice };
                write_command(level, self.subject.trace.loc(event), "atomic block violated", &message, out)?;
            }
        }
        for (event, message) in uses.into_iter().flat_map(UsesReport::in_a_line_each) {
            write_command(Level::Warning, self.subject.trace.loc(event), "use after free", &message, out)?;
        }
        if let Some(left) = undecided(totals, blocks.map(|(_, beyond)| beyond)) {
            write_command(Level::Notice, None, "foretrace has not decided everything", &left, out)?;
        }
        let counted = self.classes.values().filter(|found| found.counts).count();
        let (classes, blocks) = (plural(counted as u64, "class"), plural(of_blocks, "block"));
        writeln!(out, "{}: {classes} of source locations and {blocks} that can be violated", self.subject.file)
    }

    /// "thread 2 writes x at bank.c:31:5 between the read at bank.c:24:9 and the write at bank.c:25:9 by thread 1".
    fn message(&self, found: &Found) -> String {
        let trace = self.subject.trace;
        let Triple { first, remote, second } = found.triple;
        let var = trace.event(first).op.var().map_or("", |var| trace.vars[var.index()].shown());
        let [by, own] = [remote, first].map(|event| thread_name(trace, trace.event(event).thread));
        let verb = match &trace.event(remote).op {
            Op::Rmw { .. } => "reads and writes",
            Op::Write { .. } => "writes",
            _ => "reads",
        };
        let [meanwhile, from, to] = [remote, first, second].map(|event| self.names.place_only(event));
        let [begins, ends] = [first, second].map(|event| noun(trace, event));
        format!(
            "{by} {verb} {var} at {meanwhile}, between the {begins} at {from} and the {ends} at {to} by {own} ({first}, {remote}, {second})"
        )
    }
}

/// What an access is, as a noun.
fn noun(trace: &Trace, event: EventId) -> &'static str {
    match &trace.event(event).op {
        Op::Rmw { .. } => "update",
        Op::Write { .. } => "write",
        _ => "read",
    }
}

/// What is left undecided, if something is.
fn undecided(totals: &Totals, beyond: Option<&Beyond>) -> Option<String> {
    let unknown: u64 = totals.decided_by.iter().map(|(_, tally)| tally.unknown).sum();
    let candidates = unknown + totals.unreached;
    let blocks = beyond.map_or(0, |Beyond { blocks, judged, undecided }| blocks - judged + undecided);
    let mut left = Vec::new();
    left.extend((candidates > 0).then(|| plural(candidates, "candidate")));
    left.extend((blocks > 0).then(|| plural(blocks, "block")));
    left.extend(totals.interrupted.then(|| "the run was stopped".to_string()));
    (!left.is_empty()).then(|| left.join(", "))
}

/// Writes one workflow command, at a place `file:line` or `file:line:column` where there is one.
fn write_command(level: Level, loc: Option<&str>, title: &str, message: &str, out: &mut dyn Write) -> io::Result<()> {
    let name = match level {
        Level::Warning => "warning",
        Level::Notice => "notice",
    };
    let mut properties = String::new();
    if let Some((file, line, column)) = loc.and_then(parts) {
        let _ = write!(properties, "file={},line={line},", escaped(file, true)); // to a string: cannot fail
        if let Some(column) = column {
            let _ = write!(properties, "col={column},");
        }
    }
    writeln!(out, "::{name} {properties}title={}::{}", escaped(title, true), escaped(message, false))
}

/// A place's file, line and column.
fn parts(loc: &str) -> Option<(&str, u32, Option<u32>)> {
    let (before, last) = loc.rsplit_once(':')?;
    let last: u32 = last.parse().ok()?;
    let with_column = before.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
    let (file, line, column) = with_column.map_or((before, last, None), |(file, line)| (file, line, Some(last)));
    (!file.is_empty()).then_some((file, line, column))
}

/// A text in which nothing ends the command, or the property that it is the value of.
fn escaped(text: &str, is_property: bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '%' => escaped.push_str("%25"),
            '\r' => escaped.push_str("%0D"),
            '\n' => escaped.push_str("%0A"),
            ':' if is_property => escaped.push_str("%3A"),
            ',' if is_property => escaped.push_str("%2C"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_a_file_a_line_and_perhaps_a_column() {
        assert_eq!(parts("src/a.c:12:5"), Some(("src/a.c", 12, Some(5))));
        assert_eq!(parts("src/a.c:12"), Some(("src/a.c", 12, None)));
        assert_eq!(parts("a:b.c:12:5"), Some(("a:b.c", 12, Some(5))));
        assert_eq!((parts("17"), parts("a.c:x"), parts(":3")), (None, None, None));
    }

    #[test]
    fn no_text_ends_the_command() {
        let mut out = Vec::new();
        write_command(Level::Warning, Some("a,b:c.c:1:2"), "x, y: z", "50%\n::error::no", &mut out).unwrap();
        let expected = "::warning file=a%2Cb%3Ac.c,line=1,col=2,title=x%2C y%3A z::50%25%0A::error::no\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}

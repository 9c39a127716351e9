//! `foretrace compare`, for people and for programs.

mod json;

pub use json::ComparisonJson;

use super::folding::cut;
use super::names::{Names, wrapped};
use super::sentence::Speaker;
use super::style::HEAD;
use super::{Subject, candidate_set_name, within_words};
use foretrace_analysis::candidates::Class;
use foretrace_analysis::compare::{Comparison, Contest, Counts, Disagreement, Said};
use foretrace_analysis::explain::Argument;
use foretrace_index::TraceIndex;
use foretrace_trace::{Model, Observed, Pattern, Transaction, Triple};
use indexmap::IndexMap;
use indexmap::map::Entry;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Lines that a group of disagreements has at most.
const MOST_LINES: usize = 1000;
/// Rows of transactions that the table has at most.
const MOST_ROWS: usize = 50;
/// Characters of a transaction's label.
const WIDEST_LABEL: usize = 40;

/// What is said of disagreements and of the whole, in one format or the other.
struct Voice<'t> {
    subject: Subject<'t>,
    contest: &'t Contest,
    observed: &'t Observed,
    trace_index: TraceIndex,
    names: Names<'t>,
}

/// The comparison for people: disagreements are put together as they come, and shown below the table.
pub struct ComparisonText<'t> {
    voice: Voice<'t>,
    /// By what the models say.
    groups: BTreeMap<Vec<Said>, AgreeingCandidates>,
}

/// Source locations, the reason, and the kind of off path.
type Alike = (Class, Option<String>, Option<&'static str>);

/// Candidates of which the models say the same.
#[derive(Default)]
struct AgreeingCandidates {
    members: u64,
    /// Those that the lines stand for.
    shown: u64,
    /// Candidates of the same source locations, with the same reason and kind of off path: one of them, and how many there are.
    lines: IndexMap<Alike, (Triple, u64)>,
}

impl<'t> ComparisonText<'t> {
    /// A report of a comparison to come.
    pub fn new(subject: Subject<'t>, contest: &'t Contest, observed: &'t Observed) -> ComparisonText<'t> {
        ComparisonText { voice: Voice::new(subject, contest, observed), groups: BTreeMap::new() }
    }

    /// Adds a candidate on which models do not agree. Of those that the reference refutes the ones with a reason are shown.
    pub fn add(&mut self, one: &Disagreement) {
        let refuted = one.said[self.voice.contest.reference_column()] == Said::Infeasible;
        let group = self.groups.entry(one.said.clone()).or_default();
        group.members += 1;
        if refuted && one.reason.is_none() {
            return;
        }
        let key = (Class::by_locations(self.voice.subject.trace, one.triple), self.voice.reason(one), one.off_path);
        let room = group.lines.len() < MOST_LINES;
        let line = match group.lines.entry(key) {
            Entry::Occupied(line) => line.into_mut(),
            Entry::Vacant(place) if room => place.insert((one.triple, 0)),
            Entry::Vacant(_) => return,
        };
        line.1 += 1;
        group.shown += 1;
    }

    /// Writes the report. `out` may drop the styling.
    pub fn write(&self, comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
        let Subject { file, trace, options, .. } = self.voice.subject;
        let question = options.question;
        writeln!(
            out,
            "{file}: {} events, {} threads, {} variables",
            trace.events.len(),
            trace.threads.len(),
            trace.vars.len()
        )?;
        writeln!(out, "{}", self.voice.subject.transactions_line())?;
        writeln!(
            out,
            "{} feasibility, {} independence; candidates {}{}",
            question.feasibility,
            question.independence,
            candidate_set_name(options.candidates),
            within_words(options.context_switches)
        )?;
        writeln!(out)?;
        self.write_table(comparison, out)?;
        self.write_disagreements(out)?;
        if comparison.unreached > 0 {
            writeln!(out, "{} candidates more were not reached", comparison.unreached)?;
        }
        if comparison.interrupted {
            writeln!(out, "interrupted")?;
        }
        Ok(())
    }

    fn write_table(&self, comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
        let subject = self.voice.subject;
        let models = self.voice.contest.models.iter().map(ToString::to_string);
        let head = ["transaction", "all", "ordered", "without data"].map(str::to_string).into_iter().chain(models);
        let mut grid: Vec<Vec<String>> = vec![head.collect()];
        for (nth, counts) in comparison.rows.iter().take(MOST_ROWS) {
            grid.push(cells(self.name_of(&subject.transactions[*nth]), counts));
        }
        if let Some(more) = comparison.rows.len().checked_sub(MOST_ROWS).filter(|more| *more > 0) {
            grid.push(vec![format!("and {more} more (--format json has all)")]);
        }
        grid.push(cells("total".to_string(), &comparison.total));
        if subject.options.times {
            let filters = comparison.filters.iter().chain(&comparison.times);
            let times = filters.map(|time| format!("{:.3} s", time.as_secs_f64()));
            grid.push(["time".to_string(), String::new()].into_iter().chain(times).collect());
        }
        let columns = grid[0].len();
        let width = |column: usize| {
            grid.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for (number, row) in grid.iter().enumerate() {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
            let line = cells.collect::<Vec<_>>().join("   ");
            match number {
                0 => writeln!(out, "{HEAD}{}{HEAD:#}", line.trim_end())?,
                _ => writeln!(out, "{}", line.trim_end())?,
            }
        }
        Ok(())
    }

    /// A transaction in the table: label, thread, where it begins.
    fn name_of(&self, transaction: &Transaction) -> String {
        let names = &self.voice.names;
        let label = transaction.label.map(|label| format!("{}, ", cut(&names.label(label), WIDEST_LABEL)));
        let (label, thread) = (label.unwrap_or_default(), names.thread(transaction.thread));
        format!("{label}{thread}, events {} to {}", transaction.first, transaction.last)
    }

    /// Candidates by what the models say of them.
    fn write_disagreements(&self, out: &mut dyn Write) -> io::Result<()> {
        let contest = self.voice.contest;
        if self.groups.is_empty() && !contest.models.is_empty() {
            return writeln!(out, "\nNo model disagrees with {}.", contest.reference);
        }
        for (said, group) in &self.groups {
            let of = |wanted: Said| {
                let models = contest.models.iter().zip(said).filter(|(_, said)| **said == wanted);
                models.map(|(model, _)| model.to_string()).collect::<Vec<_>>().join(", ")
            };
            let unknown = of(Said::Unknown);
            let unknown = if unknown.is_empty() { unknown } else { format!(", undecided under {unknown}") };
            let beyond = of(Said::NotWithin);
            let beyond =
                if beyond.is_empty() { beyond } else { format!(", not within so few context switches under {beyond}") };
            let infeasible = of(Said::Infeasible);
            let infeasible =
                if infeasible.is_empty() { infeasible } else { format!(", infeasible under {infeasible}") };
            let said_by = |model: Model| contest.models.iter().position(|other| *other == model).map(|at| said[at]);
            let refuted = said[contest.reference_column()] == Said::Infeasible;
            let off_path = match said_by(Model::Cam) == Some(Said::Feasible) && refuted {
                true => ": off the path of this run",
                false => "",
            };
            writeln!(
                out,
                "\n{HEAD}{} feasible under {}{infeasible}{beyond}{unknown}{off_path}{HEAD:#}",
                group.members,
                of(Said::Feasible)
            )?;
            for ((_, reason, off_path), (triple, alike)) in &group.lines {
                self.voice.write_disagreement(*triple, *alike, out)?;
                let kind = off_path.map_or(String::new(), |kind| format!("; off the path: {kind}"));
                reason.iter().try_for_each(|reason| {
                    writeln!(out, "{}", wrapped(&format!("      {reason}{kind}"), "        "))
                })?;
            }
            if group.shown < group.members {
                let more = group.members - group.shown;
                writeln!(out, "   and {more} more (--reasons says of how many the reason is looked for)")?;
            }
        }
        Ok(())
    }
}

impl<'t> Voice<'t> {
    fn new(subject: Subject<'t>, contest: &'t Contest, observed: &'t Observed) -> Voice<'t> {
        let names = Names::new(subject.trace);
        Voice { subject, contest, observed, trace_index: TraceIndex::new(subject.trace), names }
    }

    fn reason(&self, one: &Disagreement) -> Option<String> {
        Some(match one.reason.as_ref()? {
            Ok(arguments) => format!("by {}", self.short(arguments)),
            Err(limit) => format!("no reason was found in time ({limit})"),
        })
    }

    fn write_disagreement(&self, triple: Triple, alike: u64, out: &mut dyn Write) -> io::Result<()> {
        let Triple { first, remote, second } = triple;
        let (var, places) = (self.names.var_of(first), self.names.places([first, remote, second]));
        let pattern = self.pattern(triple).map_or(String::new(), |pattern| format!(" {pattern}"));
        let more = if alike > 1 { format!("; and {} more like it", alike - 1) } else { String::new() };
        let line = format!("{triple}{pattern} on {var}: {places}{more}");
        writeln!(out, "   {}", wrapped(&line, "      "))
    }

    fn pattern(&self, triple: Triple) -> Option<Pattern> {
        triple.patterns(self.subject.trace).next()
    }

    /// What refutes a candidate, in few words.
    fn short(&self, arguments: &[Argument]) -> String {
        let speaker = Speaker {
            trace: self.subject.trace,
            trace_index: &self.trace_index,
            observed: self.observed,
            model: self.contest.reference,
            introduced: None,
        };
        let reasons = arguments.iter().flat_map(|argument| &argument.reasons);
        speaker.in_short(reasons.map(|reason| &reason.statement))
    }
}

fn cells(name: String, counts: &Counts) -> Vec<String> {
    let numbers = [counts.all, counts.ordered, counts.without_data].map(|count| count.to_string());
    let models = counts.by_model.iter().map(|(feasible, unknown)| match unknown {
        0 => feasible.to_string(),
        _ => format!("{feasible} + {unknown}?"),
    });
    [name].into_iter().chain(numbers).chain(models).collect()
}

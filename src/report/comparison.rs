//! `foretrace compare`, for people and for programs.

use super::json::VERSION;
use super::sentence::Speaker;
use super::text::{HEAD, place};
use super::{Subject, atomic_meaning, candidate_set_name};
use crate::candidates::Class;
use crate::compare::{Comparison, Counts, Disagreement, Said};
use crate::explain::Argument;
use foretrace_trace::{
    Atomic, Data, EventId, Feasibility, Independence, Model, Observed, Pattern, Structure, Transaction, Triple,
};
use indexmap::IndexMap;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

/// A comparison with all that it takes to say it.
pub struct ComparisonReport<'t> {
    subject: Subject<'t>,
    comparison: &'t Comparison,
    observed: &'t Observed,
    structure: Structure,
}

impl<'t> ComparisonReport<'t> {
    /// A report of a comparison.
    pub fn new(subject: Subject<'t>, observed: &'t Observed, comparison: &'t Comparison) -> ComparisonReport<'t> {
        ComparisonReport { subject, comparison, observed, structure: Structure::new(subject.trace) }
    }

    /// Writes it for people. `out` may drop the styling.
    pub fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Subject { file, trace, options, transactions, .. } = self.subject;
        let question = options.question;
        writeln!(
            out,
            "{file}: {} events, {} threads, {} variables",
            trace.events.len(),
            trace.threads.len(),
            trace.vars.len()
        )?;
        writeln!(
            out,
            "transactions: {} by --atomic {} ({})",
            transactions.len(),
            options.atomic,
            atomic_meaning(options.atomic)
        )?;
        writeln!(
            out,
            "{} feasibility, {} independence; candidates {}",
            question.feasibility,
            question.independence,
            candidate_set_name(options.candidates)
        )?;
        writeln!(out)?;
        self.write_table(out)?;
        self.write_disagreements(out)?;
        if self.comparison.interrupted {
            writeln!(out, "interrupted")?;
        }
        Ok(())
    }

    fn write_table(&self, out: &mut dyn Write) -> io::Result<()> {
        let models = self.comparison.models.iter().map(ToString::to_string);
        let head = ["transaction", "all", "ordered", "without data"].map(str::to_string).into_iter().chain(models);
        let mut grid: Vec<Vec<String>> = vec![head.collect()];
        for (nth, counts) in &self.comparison.rows {
            grid.push(cells(self.name_of(&self.subject.transactions[*nth]), counts));
        }
        grid.push(cells("total".to_string(), &self.comparison.total));
        if self.subject.options.times {
            let filters = self.comparison.filters.iter().chain(&self.comparison.times);
            let times = filters.map(|time| format!("{:.3} s", time.as_secs_f64()));
            grid.push(["time".to_string(), String::new()].into_iter().chain(times).collect());
        }
        let columns = grid[0].len();
        let width = |column: usize| grid.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
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
        let trace = self.subject.trace;
        let label = transaction.label.map_or(String::new(), |label| format!("{}, ", trace.names.text(label)));
        let thread = trace.threads[transaction.thread.index()].number;
        format!("{label}thread {thread}, events {} to {}", transaction.first, transaction.last)
    }

    /// Candidates by what the models say of them.
    fn write_disagreements(&self, out: &mut dyn Write) -> io::Result<()> {
        let comparison = self.comparison;
        let reference = comparison.reference_column();
        let mut groups: BTreeMap<&[Said], Vec<&Disagreement>> = BTreeMap::new();
        for one in &comparison.disagreements {
            groups.entry(&one.said).or_default().push(one);
        }
        if groups.is_empty() {
            return writeln!(out, "\nNo model disagrees with {}.", comparison.reference);
        }
        for (said, members) in groups {
            let of = |wanted: Said| {
                let models = comparison.models.iter().zip(said).filter(|(_, said)| **said == wanted);
                models.map(|(model, _)| model.to_string()).collect::<Vec<_>>().join(", ")
            };
            let unknown = of(Said::Unknown);
            let unknown = if unknown.is_empty() { unknown } else { format!(", undecided under {unknown}") };
            writeln!(
                out,
                "\n{HEAD}{} feasible under {}, infeasible under {}{unknown}{HEAD:#}",
                members.len(),
                of(Said::Feasible),
                of(Said::Infeasible)
            )?;
            let refuted = said[reference] == Said::Infeasible;
            let shown = members.iter().take_while(|one| !refuted || one.reason.is_some()).count();
            self.write_members(&members[..shown], out)?;
            if shown < members.len() {
                writeln!(
                    out,
                    "   and {} more (--reasons says of how many the reason is looked for)",
                    members.len() - shown
                )?;
            }
        }
        Ok(())
    }

    /// Candidates of the same source locations and with the same reason stand together.
    fn write_members(&self, members: &[&Disagreement], out: &mut dyn Write) -> io::Result<()> {
        let mut alike: IndexMap<(Class, Option<String>), (&Disagreement, usize)> = IndexMap::new();
        for one in members {
            let key = (Class::of(self.subject.trace, one.triple), self.reason(one));
            alike.entry(key).or_insert((one, 0)).1 += 1;
        }
        alike.iter().try_for_each(|((_, reason), (one, count))| {
            self.write_disagreement(one, *count, out)?;
            reason.iter().try_for_each(|reason| writeln!(out, "      {reason}"))
        })
    }

    fn reason(&self, one: &Disagreement) -> Option<String> {
        Some(match one.reason.as_ref()? {
            Ok(arguments) => format!("by {}", self.short(arguments)),
            Err(limit) => format!("no reason was found in time ({limit})"),
        })
    }

    fn write_disagreement(&self, one: &Disagreement, alike: usize, out: &mut dyn Write) -> io::Result<()> {
        let trace = self.subject.trace;
        let Triple { first, remote, second } = one.triple;
        let var = trace.event(first).op.var().map_or("", |var| trace.vars[var.index()].shown());
        let at = |event: EventId| trace.loc(event).map_or_else(|| place(trace, event), str::to_string);
        let pattern = self.pattern(one.triple).map_or(String::new(), |pattern| format!(" {pattern}"));
        let more = if alike > 1 { format!("; and {} more like it", alike - 1) } else { String::new() };
        writeln!(out, "   {}{pattern} on {var}: {}, {}, {}{more}", one.triple, at(first), at(remote), at(second))
    }

    fn pattern(&self, triple: Triple) -> Option<Pattern> {
        triple.patterns(self.subject.trace).next()
    }

    /// What refutes a candidate, in few words.
    fn short(&self, arguments: &[Argument]) -> String {
        let speaker = Speaker {
            trace: self.subject.trace,
            structure: &self.structure,
            observed: self.observed,
            model: self.comparison.reference,
            introduced: None,
        };
        let reasons = arguments.iter().flat_map(|argument| &argument.reasons);
        speaker.in_short(reasons.map(|reason| &reason.statement))
    }

    /// Writes it for programs.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let Subject { file, trace, options, transactions } = self.subject;
        let comparison = self.comparison;
        let times = options.times;
        let seconds = |time: &Duration| times.then_some(time.as_secs_f64());
        let counts = |counts: &Counts| CountsJson {
            all: counts.all,
            ordered: counts.ordered,
            without_data: counts.without_data,
            models: comparison
                .models
                .iter()
                .zip(&counts.by_model)
                .map(|(model, (feasible, unknown))| (*model, ModelJson { feasible: *feasible, unknown: *unknown }))
                .collect(),
        };
        let row = |(nth, of): &(usize, Counts)| RowJson {
            thread: trace.threads[transactions[*nth].thread.index()].number,
            label: transactions[*nth].label.map(|label| trace.names.text(label)),
            first: transactions[*nth].first,
            last: transactions[*nth].last,
            counts: counts(of),
        };
        let seconds_of = |time: &Vec<Duration>| -> Option<TimesJson> {
            times.then(|| TimesJson {
                ordered: seconds(&comparison.filters[0]).unwrap_or_default(),
                without_data: seconds(&comparison.filters[1]).unwrap_or_default(),
                models: comparison.models.iter().copied().zip(time.iter().map(Duration::as_secs_f64)).collect(),
            })
        };
        let whole = ComparisonJson {
            foretrace: VERSION,
            trace: file,
            data: trace.data,
            events: trace.events.len(),
            feasibility: options.question.feasibility,
            independence: options.question.independence,
            atomic: options.atomic,
            candidate_set: candidate_set_name(options.candidates),
            reference: comparison.reference,
            transactions: comparison.rows.iter().map(row).collect(),
            total: counts(&comparison.total),
            seconds: seconds_of(&comparison.times),
            disagreements: comparison.disagreements.iter().map(|one| self.disagreement_json(one)).collect(),
            interrupted: comparison.interrupted,
        };
        serde_json::to_writer_pretty(&mut *out, &whole)?;
        writeln!(out)
    }

    fn disagreement_json(&self, one: &Disagreement) -> DisagreementJson {
        let (reason, undecided, rests_on_pin) = match &one.reason {
            Some(Ok(arguments)) => {
                (Some(self.short(arguments)), None, Some(arguments.iter().any(Argument::rests_on_pin)))
            }
            Some(Err(limit)) => (None, Some(limit.to_string()), None),
            None => (None, None, None),
        };
        DisagreementJson {
            triple: one.triple,
            pattern: self.pattern(one.triple),
            verdicts: self.comparison.models.iter().copied().zip(one.said.iter().map(|said| said.name())).collect(),
            reason,
            undecided,
            rests_on_pin,
        }
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

/// By model, in the order of the columns.
type ByModel<T> = IndexMap<Model, T>;

#[derive(Serialize)]
struct ComparisonJson<'a> {
    foretrace: u32,
    trace: &'a str,
    data: Data,
    events: usize,
    feasibility: Feasibility,
    independence: Independence,
    atomic: Atomic,
    candidate_set: &'static str,
    reference: Model,
    transactions: Vec<RowJson<'a>>,
    total: CountsJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<TimesJson>,
    disagreements: Vec<DisagreementJson>,
    interrupted: bool,
}

#[derive(Serialize)]
struct RowJson<'a> {
    thread: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    first: EventId,
    last: EventId,
    #[serde(flatten)]
    counts: CountsJson,
}

#[derive(Serialize)]
struct CountsJson {
    all: u64,
    ordered: u64,
    without_data: u64,
    models: ByModel<ModelJson>,
}

#[derive(Serialize)]
struct ModelJson {
    feasible: u64,
    unknown: u64,
}

#[derive(Serialize)]
struct TimesJson {
    ordered: f64,
    without_data: f64,
    models: ByModel<f64>,
}

#[derive(Serialize)]
struct DisagreementJson {
    #[serde(flatten)]
    triple: Triple,
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<Pattern>,
    verdicts: ByModel<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    undecided: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rests_on_pin: Option<bool>,
}

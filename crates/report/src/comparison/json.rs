//! The comparison for programs: one JSON object, its disagreements written as they come.

use super::Voice;
use crate::json::{VERSION, write_open_object};
use crate::{Subject, candidate_set_name};
use foretrace_analysis::compare::{Comparison, Contest, Counts, Disagreement};
use foretrace_analysis::explain::Argument;
use foretrace_trace::{Atomic, Data, EventId, Feasibility, Independence, Model, Observed, Pattern, Triple};
use indexmap::IndexMap;
use serde::Serialize;
use std::io::{self, Write};
use std::time::Duration;

/// Writes `schemas/comparison.schema.json`.
pub struct ComparisonJson<'t, W: Write> {
    voice: Voice<'t>,
    out: W,
    any: bool,
}

impl<'t, W: Write> ComparisonJson<'t, W> {
    /// Starts the report.
    pub fn start(
        subject: Subject<'t>,
        contest: &'t Contest,
        observed: &'t Observed,
        mut out: W,
    ) -> io::Result<ComparisonJson<'t, W>> {
        let Subject { file, trace, options, .. } = subject;
        let head = Head {
            foretrace: VERSION,
            trace: file,
            data: trace.data,
            events: trace.events.len(),
            feasibility: options.question.feasibility,
            independence: options.question.independence,
            atomic: options.atomic,
            context_switches: options.context_switches,
            candidate_set: candidate_set_name(options.candidates),
            reference: contest.reference,
        };
        write_open_object(&head, &mut out)?;
        out.write_all(b",\n\"disagreements\":[")?;
        Ok(ComparisonJson { voice: Voice::new(subject, contest, observed), out, any: false })
    }

    /// Writes a candidate on which models do not agree.
    pub fn add(&mut self, one: &Disagreement) -> io::Result<()> {
        self.out.write_all(if self.any { b",\n" } else { b"\n" })?;
        self.any = true;
        Ok(serde_json::to_writer(&mut self.out, &self.voice.disagreement_json(one))?)
    }

    /// Ends the report.
    pub fn finish(mut self, comparison: &Comparison) -> io::Result<()> {
        let (trace, transactions) = (self.voice.subject.trace, self.voice.subject.transactions);
        let models = &self.voice.contest.models;
        let counts = |counts: &Counts| CountsJson {
            all: counts.all,
            ordered: counts.ordered,
            without_data: counts.without_data,
            models: models
                .iter()
                .zip(&counts.by_model)
                .map(|(model, (feasible, unknown))| (*model, ModelJson { feasible: *feasible, unknown: *unknown }))
                .collect(),
        };
        self.out.write_all(b"],\n\"transactions\":[")?;
        for (number, (nth, of)) in comparison.rows.iter().enumerate() {
            self.out.write_all(if number > 0 { b",\n" } else { b"\n" })?;
            let row = RowJson {
                thread: trace.threads[transactions[*nth].thread.index()].number,
                label: transactions[*nth].label.map(|label| trace.names.text(label)),
                first: transactions[*nth].first,
                last: transactions[*nth].last,
                counts: counts(of),
            };
            serde_json::to_writer(&mut self.out, &row)?;
        }
        self.out.write_all(b"],\n\"total\":")?;
        serde_json::to_writer(&mut self.out, &counts(&comparison.total))?;
        if self.voice.subject.options.times {
            let [ordered, without_data] = comparison.filters.map(|time| time.as_secs_f64());
            let of_models = models.iter().copied().zip(comparison.times.iter().map(Duration::as_secs_f64));
            self.out.write_all(b",\n\"seconds\":")?;
            serde_json::to_writer(&mut self.out, &TimesJson { ordered, without_data, models: of_models.collect() })?;
        }
        if comparison.unreached > 0 {
            write!(self.out, ",\n\"unreached\":{}", comparison.unreached)?;
        }
        writeln!(self.out, ",\n\"interrupted\":{}}}", comparison.interrupted)?;
        self.out.flush()
    }
}

impl Voice<'_> {
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
            verdicts: self.contest.models.iter().copied().zip(one.said.iter().map(|said| said.name())).collect(),
            reason,
            undecided,
            rests_on_pin,
            off_path: one.off_path,
        }
    }
}

/// What stands before the disagreements.
#[derive(Serialize)]
struct Head<'a> {
    foretrace: u32,
    trace: &'a str,
    data: Data,
    events: usize,
    feasibility: Feasibility,
    independence: Independence,
    atomic: Atomic,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_switches: Option<u32>,
    candidate_set: &'static str,
    reference: Model,
}

/// By model, in the order of the columns.
type ByModel<T> = IndexMap<Model, T>;

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
    #[serde(skip_serializing_if = "Option::is_none")]
    off_path: Option<&'static str>,
}

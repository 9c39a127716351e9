//! The report for programs: one JSON object, written candidate by candidate as decisions come.

use super::block::BlockJson;
use super::block_repair::BlockRepair;
use super::not_repaired::NotRepaired;
use super::predicted::{PredictedRepair, predicted_json};
use super::totals::TotalsJson;
use super::{Subject, candidate_set_name, per_name};
use foretrace_analysis::predict::Totals;
use foretrace_analysis::verdict::{Decider, Decision, RestsOn, Verdict};
use foretrace_checker::Unseen;
use foretrace_trace::{Atomic, Data, EventId, Feasibility, Independence, Model, Op, Pattern, Triple};
use serde::Serialize;
use std::io::{self, Write};

/// The version of everything that foretrace writes as JSON.
pub const VERSION: u32 = 1;

/// Writes the report contract of `docs/trace-format.md`; its schema is `schemas/report.schema.json`.
pub struct JsonReport<'t, W: Write> {
    subject: Subject<'t>,
    out: W,
    any: bool,
}

/// Writes an object that goes on: all but its closing brace.
pub fn write_open_object(object: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let mut text = serde_json::to_string(object)?;
    text.truncate(text.len() - 1);
    out.write_all(text.as_bytes())
}

/// What stands before the candidates.
#[derive(Serialize)]
struct Head<'t> {
    foretrace: u32,
    trace: &'t str,
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<&'t str>,
    data: Data,
    events: usize,
    model: Model,
    feasibility: Feasibility,
    independence: Independence,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_switches: Option<u32>,
    transactions: Transactions,
    candidate_set: &'static str,
    per: &'static str,
}

#[derive(Serialize)]
struct Transactions {
    atomic: Atomic,
    count: usize,
}

/// What is said of a candidate wherever one is decided.
#[derive(Serialize)]
pub(super) struct DecidedJson {
    #[serde(flatten)]
    triple: Triple,
    pattern: Pattern,
    verdict: &'static str,
    decided_by: Decider,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rests_on: Option<RestsOn>,
}

impl DecidedJson {
    pub(super) fn new(decision: &Decision) -> DecidedJson {
        let (verdict, reason) = match &decision.verdict {
            Verdict::Feasible(_) => ("feasible", None),
            Verdict::Infeasible => ("infeasible", None),
            Verdict::Unknown(limit) => ("unknown", Some(limit.to_string())),
        };
        let Decision { triple, pattern, decided_by, rests_on, .. } = *decision;
        DecidedJson { triple, pattern, verdict, decided_by, reason, rests_on }
    }
}

/// One candidate.
#[derive(Serialize)]
struct Candidate<'a> {
    #[serde(flatten)]
    decided: DecidedJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<BlockJson<'a>>,
    #[serde(flatten)]
    feasible: Option<Feasible<'a>>,
    #[serde(flatten)]
    off_path: Option<OffPathJson<'a>>,
}

/// What only an infeasible candidate has that is not known to be impossible.
#[derive(Serialize)]
struct OffPathJson<'a> {
    off_path: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule: Option<&'a [EventId]>,
}

/// What only a feasible candidate has.
#[derive(Serialize)]
struct Feasible<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    guarded: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unseen: Option<UnseenJson<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    observed: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    not_counted: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    use_after_free: &'a [EventId],
    var: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    locs: Option<[Option<&'a str>; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inside: Option<[Option<String>; 3]>,
    schedule: &'a [EventId],
}

/// The order that code which the trace does not show may ask for.
#[derive(Serialize)]
struct UnseenJson<'a> {
    what: &'a str,
    event: EventId,
    after: EventId,
}

impl<'t, W: Write> JsonReport<'t, W> {
    /// Starts the report.
    pub fn start(subject: Subject<'t>, mut out: W) -> io::Result<JsonReport<'t, W>> {
        let Subject { file, trace, options, transactions, .. } = subject;
        let head = Head {
            foretrace: VERSION,
            trace: file,
            program: trace.program.as_deref(),
            data: trace.data,
            events: trace.events.len(),
            model: options.question.model,
            feasibility: options.question.feasibility,
            independence: options.question.independence,
            context_switches: options.context_switches,
            transactions: Transactions { atomic: options.atomic, count: transactions.len() },
            candidate_set: candidate_set_name(options.candidates),
            per: per_name(options.per),
        };
        write_open_object(&head, &mut out)?;
        out.write_all(b",\n\"candidates\":[")?;
        out.flush()?; // whoever listens hears that the work has begun
        Ok(JsonReport { subject, out, any: false })
    }

    /// Writes one decision.
    pub fn add(&mut self, decision: &Decision) -> io::Result<()> {
        let candidate = Candidate {
            decided: DecidedJson::new(decision),
            block: BlockJson::of_triple(self.subject, decision.triple),
            feasible: self.feasible(decision),
            off_path: decision
                .off_path
                .as_ref()
                .map(|off_path| OffPathJson { off_path: off_path.name(), schedule: off_path.schedule() }),
        };
        self.out.write_all(if self.any { b",\n" } else { b"\n" })?;
        self.any = true;
        Ok(serde_json::to_writer(&mut self.out, &candidate)?)
    }

    fn feasible<'a>(&self, decision: &'a Decision) -> Option<Feasible<'a>>
    where
        't: 'a,
    {
        let Verdict::Feasible(witness) = &decision.verdict else { return None };
        let Triple { first, remote, second } = decision.triple;
        let trace = self.subject.trace;
        let locs = [first, remote, second].map(|event| trace.loc(event));
        let inside = [first, remote, second].map(|event| self.subject.inside(event).map(str::to_string));
        let observed = self.subject.is_observed(decision.triple, witness);
        Some(Feasible {
            guarded: decision.guarded,
            unseen: witness.run().unseen.map(|unseen| self.unseen(unseen)),
            observed,
            not_counted: !self.subject.is_found(decision.triple, observed),
            use_after_free: &witness.run().uses_after_free,
            var: trace.event(first).op.var().map_or("", |var| &trace.vars[var.index()].key),
            locs: Some(locs).filter(|locs| locs.iter().any(Option::is_some)),
            inside: Some(inside).filter(|inside| inside.iter().any(Option::is_some)),
            schedule: witness.schedule(),
        })
    }

    fn unseen<'a>(&self, unseen: Unseen) -> UnseenJson<'a>
    where
        't: 'a,
    {
        let what = match self.subject.trace.event(unseen.event).op {
            Op::Unseen { what, .. } => self.subject.trace.names.text(what),
            _ => "",
        };
        UnseenJson { what, event: unseen.event, after: unseen.after }
    }

    /// Ends the report, with what was found of blocks and of uses after free where they were looked at, and with repairs where they were
    /// sought.
    pub fn finish(
        mut self,
        totals: &Totals,
        (blocks, uses): (Option<impl Serialize>, Option<impl Serialize>),
        repairs: Option<(&[PredictedRepair], &[BlockRepair], NotRepaired)>,
    ) -> io::Result<()> {
        self.out.write_all(b"],\n")?;
        if let Some(blocks) = blocks {
            self.out.write_all(b"\"blocks\":")?;
            serde_json::to_writer(&mut self.out, &blocks)?;
            self.out.write_all(b",\n")?;
        }
        if let Some(uses) = uses {
            self.out.write_all(b"\"uses_after_free\":")?;
            serde_json::to_writer(&mut self.out, &uses)?;
            self.out.write_all(b",\n")?;
        }
        self.out.write_all(b"\"totals\":")?;
        serde_json::to_writer(&mut self.out, &TotalsJson::new(totals, self.subject.options.times))?;
        if let Some((repairs, of_blocks, none)) = repairs {
            write!(self.out, ",\n\"repairs\":{}", predicted_json(self.subject, repairs)?)?;
            if !of_blocks.is_empty() {
                write!(self.out, ",\n\"block_repairs\":{}", serde_json::to_string(of_blocks)?)?;
            }
            if !none.is_empty() {
                write!(self.out, ",\n\"not_repaired\":{}", serde_json::to_string(&none)?)?;
            }
        }
        self.out.write_all(b"}\n")?;
        self.out.flush()
    }
}

//! What is said of predicted histories: [`HistoryReport`] as text, JSON, and a witness file.

mod operation;
mod witness;

pub use operation::{OperationJson, operation_json};

use super::names::{Names, wrapped};
use super::saved::SavedMeaning;
use super::style::plural;
use super::table::act;
use foretrace_analysis::verdict::RestsOn;
use foretrace_checker::Step;
use foretrace_histories::{Decision, Departure, Prediction, Undecided, Violation};
use foretrace_linearizability::{History, Operation, hint, picture};
use foretrace_trace::{EventId, Model, Op, Trace, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::io::{self, Write};

/// What was found of the histories of a trace's schedules.
pub struct HistoryReport<'t> {
    /// The trace's file, as it was named.
    pub file: &'t str,
    /// The trace.
    pub trace: &'t Trace,
    /// What reads return in other schedules.
    pub model: Model,
    /// The specification's name.
    pub spec: &'static str,
    /// What operations mean to it.
    pub meaning: &'t SavedMeaning,
    /// How many operations the trace has.
    pub operations: usize,
    /// What was found.
    pub prediction: &'t Prediction,
    /// A small part of the history that is not linearizable; times are places in the schedule.
    pub part: Option<&'t History>,
}

/// The report as JSON; the schema is `schemas/predicted-history.schema.json`.
#[derive(Serialize)]
pub struct HistoryJson<'r> {
    foretrace: u32,
    property: &'static str,
    trace: &'r str,
    spec: &'static str,
    model: Model,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    leaves_path: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    operations: usize,
    histories: u64,
    steps: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    observed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rests_on: Option<RestsOn>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<Vec<OperationJson<'r>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule: Option<&'r [EventId]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    off_path: Vec<DepartureJson<'r>>,
}

/// A schedule after which a thread goes on elsewhere than in the recorded run.
#[derive(Serialize)]
struct DepartureJson<'r> {
    event: EventId,
    thread: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    loc: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    within: Option<OperationJson<'r>>,
    schedule: Vec<EventId>,
}

/// What reports call sequential runs that serve as a specification.
pub const SEQUENTIAL_RUNS: &str = "sequential runs";

/// What an object should be as, by the name of its specification: "a stack".
pub fn as_what(spec: &str) -> String {
    if spec == SEQUENTIAL_RUNS { "sequential runs show".to_string() } else { format!("a {spec}") }
}

impl HistoryReport<'_> {
    fn violation(&self) -> Option<&Violation> {
        match &self.prediction.decision {
            Decision::Violated(violation) => Some(violation),
            _ => None,
        }
    }

    /// The report for programs.
    pub fn json(&self) -> HistoryJson<'_> {
        let Prediction { decision, histories, steps, .. } = self.prediction;
        let violation = self.violation();
        let (verdict, leaves_path, reason) = match decision {
            Decision::Violated(_) => ("not-linearizable", None, None),
            Decision::Holds { leaves_path } => ("linearizable", Some(*leaves_path), None),
            Decision::Unknown(why) => ("unknown", None, Some(reason(*why))),
        };
        HistoryJson {
            foretrace: super::json::VERSION,
            property: "linearizability",
            trace: self.file,
            spec: self.spec,
            model: self.model,
            verdict,
            leaves_path,
            reason,
            operations: self.operations,
            histories: *histories,
            steps: *steps,
            observed: violation.map(|violation| violation.observed),
            rests_on: violation.and_then(|violation| RestsOn::of_run(violation.witness.run())),
            explanation: self.part.map(|part| part.operations.iter().map(operation_json).collect()),
            schedule: violation.map(|violation| violation.witness.schedule()),
            off_path: self.prediction.departures.iter().map(|departure| self.departure_json(departure)).collect(),
        }
    }

    fn departure_json<'r>(&'r self, departure: &'r Departure) -> DepartureJson<'r> {
        DepartureJson {
            event: departure.event,
            thread: self.trace.threads[self.trace.event(departure.event).thread.index()].number,
            loc: self.trace.loc(departure.event),
            within: self.open_operation(departure).map(operation_json),
            schedule: departure.run.schedule().to_vec(),
        }
    }

    /// The operation that the thread is in which leaves the path.
    fn open_operation<'r>(&self, departure: &'r Departure) -> Option<&'r Operation> {
        let steps = departure.run.schedule();
        let thread = |time: u64| steps.get(time as usize).map(|event| self.trace.event(*event).thread);
        let leaving = self.trace.event(departure.event).thread;
        let is_open = |operation: &&Operation| !operation.is_complete() && thread(operation.call) == Some(leaving);
        departure.history.operations.iter().find(is_open)
    }

    /// The report for people.
    ///
    /// # Errors
    /// Where `out` takes no more.
    pub fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Prediction { decision, histories, steps, .. } = self.prediction;
        let names = Names::new(self.trace);
        let operations = plural(self.operations as u64, "operation");
        writeln!(out, "{}: {operations} as {}; model {}", self.file, as_what(self.spec), self.model)?;
        let say = |out: &mut dyn Write, text: &str| writeln!(out, "{}", wrapped(text, ""));
        match decision {
            Decision::Violated(violation) => return self.write_violation(&names, violation, out),
            Decision::Holds { leaves_path } => {
                say(out, "every schedule of the recorded path has a linearizable history")?;
                if *leaves_path {
                    say(out, "the program may leave that path in other schedules: what it gives there is not known")?;
                }
                self.write_departures(&names, out)?;
            }
            Decision::Unknown(why) => {
                let why = match why {
                    Undecided::Limit => "the limit was reached",
                    Undecided::Histories => "there are more histories than --most-histories allows",
                    Undecided::Judge => "the specification leaves some history open",
                };
                say(out, &format!("not decided: {why}; no history that was judged fails"))?;
                self.write_departures(&names, out)?;
            }
        }
        let steps = plural(*steps, "step");
        writeln!(
            out,
            "{} in {steps}",
            if *histories == 1 { "1 history".into() } else { format!("{histories} histories") }
        )
    }

    /// Where threads leave the recorded path.
    fn write_departures(&self, names: &Names<'_>, out: &mut dyn Write) -> io::Result<()> {
        let all = &self.prediction.departures;
        if all.is_empty() {
            return Ok(());
        }
        writeln!(
            out,
            "\noff the path: {} after which a thread goes on elsewhere",
            plural(all.len() as u64, "schedule")
        )?;
        for (number, departure) in all.iter().enumerate() {
            let thread = names.thread(self.trace.event(departure.event).thread);
            let operation = self.open_operation(departure).map(|operation| operation.to_string().replace(" …", ""));
            let operation = operation.map(|operation| format!(", in {operation}")).unwrap_or_default();
            let place =
                names.loc(departure.event).map(|loc| format!(", goes another way at {loc}")).unwrap_or_default();
            writeln!(out, "{}", wrapped(&format!("  {}. {thread}{operation}{place}", number + 1), "     "))?;
        }
        let example = Self::departure_file(0);
        let how = format!(
            "--witness-dir DIR saves them; foretrace replay DIR/{example} -- PROG runs the program along one and judges what it gives"
        );
        writeln!(out, "{}\n", wrapped(&how, ""))
    }

    fn write_violation(&self, names: &Names<'_>, violation: &Violation, out: &mut dyn Write) -> io::Result<()> {
        let run = violation.witness.run();
        let which = if violation.observed { "the recorded order" } else { "another schedule, which was checked" };
        writeln!(out, "not linearizable in {which}")?;
        match RestsOn::of_run(run) {
            Some(RestsOn::Unseen) => writeln!(out, "rests on code that may order threads in a way that is not seen")?,
            Some(_) => writeln!(out, "rests on memory that code changed which was not recorded")?,
            None => {}
        }
        if let Some(part) = self.part {
            let few = match part.operations.len() {
                1 => "this operation does not give this result in any order".to_string(),
                few => format!("no order of these {few} operations gives these results"),
            };
            writeln!(out, "\n{few}:\n\n{}", picture(part).trim_end())?;
            hint(part).iter().try_for_each(|hint| writeln!(out, "\n{hint}"))?;
        }
        if let Some(folder) = names.folder() {
            writeln!(out, "\nfiles are in {folder}")?;
        }
        writeln!(out, "\nthe schedule:")?;
        self.write_schedule(names, violation, out)
    }

    /// What the threads do to each other, from the first of the operations that fail on.
    fn write_schedule(&self, names: &Names<'_>, violation: &Violation, out: &mut dyn Write) -> io::Result<()> {
        let steps = violation.witness.run().steps(self.trace);
        let shared = shared(self.trace, &steps);
        let moments: FxHashMap<u64, String> = (violation.history.operations.iter())
            .flat_map(|operation| {
                let mut called = operation.clone();
                called.result = None;
                let call = called.to_string().replace(" …", "");
                [(operation.call, format!("call {call}")), (operation.ret, format!("return {operation}"))]
            })
            .collect();
        let begin = self.part.and_then(|part| part.operations.iter().map(|operation| operation.call).min());
        let from = begin.map_or(0, |call| call as usize);
        if from > 0 {
            writeln!(out, "  ... {}", plural(from as u64, "event"))?;
        }
        let mut rows: Vec<[String; 3]> = Vec::new();
        let mut latest = None;
        for (place, step) in steps.iter().enumerate().skip(from) {
            let event = self.trace.event(step.event);
            let is_shown = match event.op {
                Op::Let { .. } | Op::Assume { .. } | Op::Begin { .. } | Op::End { .. } => false,
                _ => event.op.var().is_none_or(|var| shared.contains(&var)),
            };
            if !is_shown {
                continue;
            }
            let is_new = latest != Some(event.thread);
            let thread = if is_new { names.thread(event.thread) } else { String::new() };
            latest = Some(event.thread);
            let text = moments.get(&(place as u64)).cloned().unwrap_or_else(|| act(self.trace, step));
            let text = names.short(&text).into_owned();
            rows.push([thread, text, names.loc(step.event).unwrap_or_default().into_owned()]);
        }
        let wide = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let (first, second) = (wide(0), wide(1));
        rows.iter().try_for_each(|[thread, text, loc]| {
            writeln!(out, "  {}", format!("{thread:<first$}  {text:<second$}  {loc}").trim_end())
        })
    }
}

/// Why nothing was decided, as JSON has it.
fn reason(why: Undecided) -> &'static str {
    match why {
        Undecided::Limit => "limit",
        Undecided::Histories => "histories",
        Undecided::Judge => "specification",
    }
}

/// The variables that several threads access in a schedule.
fn shared(trace: &Trace, steps: &[Step]) -> FxHashSet<VarId> {
    let mut first = FxHashMap::default();
    let mut shared = FxHashSet::default();
    for event in steps.iter().map(|step| trace.event(step.event)) {
        let Some(var) = event.op.var() else { continue };
        if *first.entry(var).or_insert(event.thread) != event.thread {
            shared.insert(var);
        }
    }
    shared
}

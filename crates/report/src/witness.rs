//! Witnesses as files: one JSON object each, written whole or not at all; `saved.rs` reads them again.

use super::block::BlockJson;
use super::json::{VERSION, write_open_object};
use super::{SavedPlace, SavedPlaces, Subject};
use foretrace_analysis::verdict::{Decider, Decision, OffPath, RestsOn, Verdict};
use foretrace_checker::Step;
use foretrace_trace::{
    Atomic, Block, EventId, Feasibility, Independence, Model, Pattern, Question, Trace, Triple, Value, write_whole,
};
use serde::Serialize;
use serde_json::value::RawValue;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A folder that takes one file per witness, named after its triple.
pub struct WitnessDir {
    path: PathBuf,
    places: Option<Box<dyn NamesPlaces>>,
}

/// Who knows where in the source the accesses of a recording are.
pub trait NamesPlaces {
    /// The place of the access that is this event of the trace.
    fn place(&mut self, trace: &Trace, event: EventId) -> Option<SavedPlace>;
}

/// Why a witness could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the witness {path}", path = path.display())]
pub struct WitnessFileError {
    pub(super) path: PathBuf,
    pub(super) source: io::Error,
}

/// What stands before the schedule; the schema of the whole is `schemas/witness.schema.json`.
#[derive(Serialize)]
struct Head<'t> {
    foretrace: u32,
    trace: &'t str,
    #[serde(flatten)]
    triple: Triple,
    pattern: Pattern,
    model: Model,
    feasibility: Feasibility,
    independence: Independence,
    atomic: Atomic,
    decided_by: Decider,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    off_path: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    ends_at_remote: bool,
    accesses: Accesses<'t>,
    #[serde(skip_serializing_if = "Option::is_none")]
    guarded: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rests_on: Option<RestsOn>,
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<BlockJson<'t>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    observed: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    use_after_free: &'t [EventId],
    #[serde(skip_serializing_if = "Option::is_none")]
    places: Option<&'t SavedPlaces>,
}

/// The three accesses of the candidate, whether the schedule holds them or not.
#[derive(Serialize)]
struct Accesses<'t> {
    first: StepJson<'t>,
    remote: StepJson<'t>,
    second: StepJson<'t>,
}

/// One event of the schedule.
#[derive(Serialize)]
pub(super) struct StepJson<'t> {
    event: EventId,
    thread: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'t str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<u64>,
    op: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    var: Option<&'t str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    loc: Option<&'t str>,
}

impl WitnessDir {
    /// The folder, made where it is missing.
    pub fn create(path: &Path) -> Result<WitnessDir, WitnessFileError> {
        let made = std::fs::create_dir_all(path);
        made.map_err(|source| WitnessFileError { path: path.to_path_buf(), source })?;
        Ok(WitnessDir { path: path.to_path_buf(), places: None })
    }

    /// The path of a file in it.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// From now on witnesses name places of the source.
    pub fn name_places(&mut self, places: Box<dyn NamesPlaces>) {
        self.places = Some(places);
    }

    /// Where in the source the accesses of a candidate are, as its witness names them.
    pub fn places(&mut self, trace: &Trace, triple: Triple) -> Option<SavedPlaces> {
        let places = self.places.as_mut()?;
        let [first, remote, second] =
            [triple.first, triple.remote, triple.second].map(|event| places.place(trace, event));
        Some(SavedPlaces { first: first?, remote: remote?, second: second? })
    }

    /// Writes the schedule of a decision, where it has one: the witness of a feasible one, or how far one that is off the path gets.
    /// Says which file has it.
    pub fn save(&mut self, subject: Subject<'_>, decision: &Decision) -> Result<Option<PathBuf>, WitnessFileError> {
        let (name, run) = match (&decision.verdict, &decision.off_path) {
            (Verdict::Feasible(witness), _) => ("witness", witness.run()),
            (Verdict::Infeasible, Some(off_path)) => match off_path.run() {
                Some(run) => ("off-path", run),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        self.write(name, subject, decision, (&run.steps(subject.trace), &run.uses_after_free)).map(Some)
    }

    /// Writes a schedule for a candidate that nothing proves: only running the program can judge it. An empty schedule leaves all to
    /// the replay, which steers towards the three accesses.
    pub fn save_untried(
        &mut self,
        subject: Subject<'_>,
        decision: &Decision,
        schedule: &[EventId],
    ) -> Result<PathBuf, WitnessFileError> {
        let step = |event: &EventId| Step { event: *event, read: None, written: None };
        let steps: Vec<Step> = schedule.iter().map(step).collect();
        self.write("unproved", subject, decision, (&steps, &[]))
    }

    fn write(
        &mut self,
        name: &str,
        subject: Subject<'_>,
        decision: &Decision,
        (steps, use_after_free): (&[Step], &[EventId]),
    ) -> Result<PathBuf, WitnessFileError> {
        let places = self.places(subject.trace, decision.triple);
        let Triple { first, remote, second } = decision.triple;
        let path = self.path.join(format!("{name}-{first}-{remote}-{second}.json"));
        let all = (steps, use_after_free, places.as_ref());
        match write_whole(&path, |out| write_json(subject, decision, all, out)) {
            Ok(()) => Ok(path),
            Err(source) => Err(WitnessFileError { path, source }),
        }
    }
}

impl WitnessDir {
    /// Writes a schedule that nothing proves, as `schedule-FIRST-REMOTE-SECOND.json`, and returns its path.
    ///
    /// # Errors
    /// That the file cannot be written.
    pub fn save_unproved(
        &mut self,
        (file, trace): (&str, &Trace),
        unproved: &Unproved<'_>,
    ) -> Result<PathBuf, WitnessFileError> {
        let places = self.places(trace, unproved.triple);
        let Triple { first, remote, second } = unproved.triple;
        let path = self.path.join(format!("schedule-{first}-{remote}-{second}.json"));
        let written = write_whole(&path, |out| write_unproved((file, trace), unproved, places.as_ref(), out));
        written.map_err(|source| WitnessFileError { path: path.clone(), source })?;
        Ok(path)
    }
}

fn write_json(
    subject: Subject<'_>,
    decision: &Decision,
    (steps, use_after_free, places): (&[Step], &[EventId], Option<&SavedPlaces>),
    out: &mut dyn Write,
) -> io::Result<()> {
    let question = question_of(subject.options.question, decision);
    let Triple { first, remote, second } = decision.triple;
    let access = |event: EventId| {
        let without_values = Step { event, read: None, written: None };
        step_json(subject.trace, steps.iter().find(|step| step.event == event).unwrap_or(&without_values))
    };
    let head = Head {
        foretrace: VERSION,
        trace: subject.file,
        triple: decision.triple,
        pattern: decision.pattern,
        model: question.model,
        feasibility: question.feasibility,
        independence: question.independence,
        atomic: subject.options.atomic,
        decided_by: decision.decided_by,
        verdict: match decision.verdict {
            Verdict::Feasible(_) => "feasible",
            Verdict::Infeasible => "infeasible",
            Verdict::Unknown(_) => "unproved",
        },
        off_path: decision.off_path.as_ref().map(OffPath::name),
        note: None,
        ends_at_remote: false,
        accesses: Accesses { first: access(first)?, remote: access(remote)?, second: access(second)? },
        guarded: decision.guarded,
        rests_on: decision.rests_on,
        block: BlockJson::of_triple(subject, decision.triple),
        observed: matches!(&decision.verdict, Verdict::Feasible(witness) if subject.is_observed(decision.triple, witness)),
        use_after_free,
        places,
    };
    write_open_object(&head, out)?;
    write_schedule(subject.trace, steps, out)
}

/// What a file begins with that shows something else than a triple: a prefix, in which accesses conflict.
#[derive(Serialize)]
pub(super) struct PrefixHead<'t> {
    foretrace: u32,
    kind: &'static str,
    trace: &'t str,
    first: EventId,
    remote: EventId,
    second: EventId,
    model: Model,
    feasibility: Feasibility,
    independence: Independence,
    atomic: Atomic,
    verdict: &'static str,
}

impl<'t> PrefixHead<'t> {
    /// The head of a witness of this kind, with this verdict; `ends` are the events that stand for what is shown.
    pub(super) fn new(
        (kind, verdict): (&'static str, &'static str),
        trace: &'t str,
        ends: [EventId; 3],
        model: Model,
        atomic: Atomic,
    ) -> PrefixHead<'t> {
        let [first, remote, second] = ends;
        let (feasibility, independence) = (Feasibility::Prefix, Independence::Conflict);
        let foretrace = VERSION;
        PrefixHead { foretrace, kind, trace, first, remote, second, model, feasibility, independence, atomic, verdict }
    }
}

/// The events, and the end of the file.
pub(super) fn write_schedule(trace: &Trace, steps: &[Step], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b",\n\"schedule\":[\n")?;
    for (number, step) in steps.iter().enumerate() {
        out.write_all(if number == 0 { b"" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, &step_json(trace, step)?)?;
    }
    out.write_all(b"]}\n")
}

/// A schedule that comes from locks alone: nothing is known of values and branches, and no verdict rests on it.
pub struct Unproved<'a> {
    /// The candidate.
    pub triple: Triple,
    /// The first pattern that it fits.
    pub pattern: Pattern,
    /// What counts as a transaction.
    pub atomic: Atomic,
    /// The innermost block that holds first and second.
    pub block: Block,
    /// The events, in order.
    pub events: &'a [EventId],
    /// Whether it ends with the remote access.
    pub ends_at_remote: bool,
}

/// What a file with such a schedule says of itself.
const NOT_PROVED: &str =
    "not proved: found from locks, without values and branches; only running the program along it can tell";

fn write_unproved(
    (file, trace): (&str, &Trace),
    unproved: &Unproved<'_>,
    places: Option<&SavedPlaces>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Triple { first, remote, second } = unproved.triple;
    let without_values = |event: EventId| Step { event, read: None, written: None };
    let access = |event: EventId| step_json(trace, &without_values(event));
    let head = Head {
        foretrace: VERSION,
        trace: file,
        triple: unproved.triple,
        pattern: unproved.pattern,
        model: Model::Cam,
        feasibility: Feasibility::Prefix,
        independence: Independence::Conflict,
        atomic: unproved.atomic,
        decided_by: Decider::CutPoints,
        verdict: "unproved",
        off_path: None,
        note: Some(NOT_PROVED),
        ends_at_remote: unproved.ends_at_remote,
        accesses: Accesses { first: access(first)?, remote: access(remote)?, second: access(second)? },
        guarded: None,
        rests_on: None,
        block: Some(BlockJson::new(trace, &unproved.block)),
        observed: false,
        use_after_free: &[],
        places,
    };
    write_open_object(&head, out)?;
    let steps: Vec<Step> = unproved.events.iter().map(|event| without_values(*event)).collect();
    write_schedule(trace, &steps, out)
}

/// The question that the schedule answers: one of free reads where it leaves values and branches out of account.
fn question_of(asked: Question, decision: &Decision) -> Question {
    let feasibility = Feasibility::Prefix;
    match &decision.off_path {
        None => asked,
        Some(OffPath::AfterRemote(_)) => Question { feasibility, ..asked },
        Some(_) => Question { model: Model::Cam, feasibility, independence: Independence::Conflict },
    }
}

pub(super) fn step_json<'t>(trace: &'t Trace, step: &Step) -> serde_json::Result<StepJson<'t>> {
    let event = trace.event(step.event);
    let thread = &trace.threads[event.thread.index()];
    Ok(StepJson {
        event: step.event,
        thread: thread.number,
        path: thread.path.as_deref(),
        at: event.at,
        op: event.op.kind(),
        var: event.op.var().map(|var| &*trace.vars[var.index()].key),
        read: step.read.as_ref().map(exact).transpose()?,
        written: step.written.as_ref().map(exact).transpose()?,
        loc: trace.loc(step.event),
    })
}

/// A value as a JSON literal of any size.
fn exact(value: &Value) -> serde_json::Result<Box<RawValue>> {
    RawValue::from_string(value.to_string())
}

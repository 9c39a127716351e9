//! The file of a predicted history.

use super::HistoryReport;
use crate::SavedMeaning;
use crate::json::write_open_object;
use crate::witness::{PrefixHead, WitnessDir, WitnessFileError, write_schedule};
use foretrace_analysis::verdict::RestsOn;
use foretrace_checker::{PerformedStep, Run};
use foretrace_histories::Departure;
use foretrace_linearizability::{History, Operation};
use foretrace_trace::{Atomic, EventId, write_whole};
use serde::Serialize;
use std::io::{self, Write};
use std::path::PathBuf;

/// What stands before the schedule; the schema of the whole is `schemas/history-witness.schema.json`.
#[derive(Serialize)]
struct Head<'t> {
    #[serde(flatten)]
    shown: PrefixHead<'t>,
    spec: &'static str,
    #[serde(skip_serializing_if = "SavedMeaning::is_plain")]
    meaning: SavedMeaning,
    #[serde(skip_serializing_if = "Option::is_none")]
    rests_on: Option<RestsOn>,
    observed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    off_path: Option<&'static str>,
    performed: Vec<PerformedJson>,
}

/// A call or return.
#[derive(Serialize)]
struct PerformedJson {
    event: EventId,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    given_by: Option<EventId>,
}

/// What a file shows.
struct Shown<'p> {
    run: &'p Run,
    performed: &'p [PerformedStep],
    observed: bool,
    /// After its end a thread goes on elsewhere than in the recorded run.
    is_departure: bool,
}

impl HistoryReport<'_> {
    /// Writes the witness of a history that is not linearizable; else those of schedules that leave the recorded path. Says which files have them.
    ///
    /// # Errors
    /// Where a file cannot be written.
    pub fn write_witnesses(&self, folder: &WitnessDir) -> Result<Vec<PathBuf>, WitnessFileError> {
        let mut files = Vec::new();
        if let Some(violation) = self.violation() {
            let operations = self.part.unwrap_or(&violation.history);
            let (run, performed) = (violation.witness.run(), &violation.witness.claim().steps);
            let ends = ends(run, operations);
            let shown = Shown { run, performed, observed: violation.observed, is_departure: false };
            let [first, remote, second] = ends;
            files.push(self.write_file(folder, &format!("history-{first}-{remote}-{second}.json"), &shown, ends)?);
        }
        for (number, departure) in self.prediction.departures.iter().enumerate() {
            let Departure { run, performed, history, .. } = departure;
            let shown = Shown { run, performed, observed: false, is_departure: true };
            files.push(self.write_file(folder, &Self::departure_file(number), &shown, ends(run, history))?);
        }
        Ok(files)
    }

    /// The name of the file of a schedule that leaves the recorded path.
    pub(super) fn departure_file(number: usize) -> String {
        format!("history-off-path-{}.json", number + 1)
    }

    fn write_file(
        &self,
        folder: &WitnessDir,
        name: &str,
        shown: &Shown<'_>,
        ends: [EventId; 3],
    ) -> Result<PathBuf, WitnessFileError> {
        let file = folder.file(name);
        write_whole(&file, |out| self.write_open(shown, ends, out))
            .map_err(|source| WitnessFileError { path: file.clone(), source })?;
        Ok(file)
    }

    fn write_open(&self, shown: &Shown<'_>, ends: [EventId; 3], out: &mut dyn Write) -> io::Result<()> {
        let performed = |step: &PerformedStep| PerformedJson {
            event: step.event,
            result: step.result.clone(),
            given_by: step.given_by,
        };
        let verdict = if shown.is_departure { "off-path" } else { "not-linearizable" };
        let head = Head {
            shown: PrefixHead::new(("history", verdict), self.file, ends, self.model, Atomic::Operations),
            spec: self.spec,
            meaning: self.meaning.clone(),
            rests_on: RestsOn::of_run(shown.run),
            observed: shown.observed,
            off_path: shown.is_departure.then_some("after-end"),
            performed: shown.performed.iter().map(performed).collect(),
        };
        write_open_object(&head, out)?;
        write_schedule(self.trace, &shown.run.steps(self.trace), out)
    }
}

/// The first call of these operations, the first one of another thread, and the last event of the schedule.
fn ends(run: &Run, history: &History) -> [EventId; 3] {
    let operations = &history.operations;
    let at = |time: u64| run.schedule().get(time as usize).copied();
    let second = run.schedule().last().copied().unwrap_or(EventId(0));
    let first = operations.iter().min_by_key(|operation| operation.call);
    let others = operations.iter().filter(|other| first.is_some_and(|first| other.process != first.process));
    let remote = others.min_by_key(|operation| operation.call);
    let event = |operation: Option<&Operation>| operation.and_then(|operation| at(operation.call)).unwrap_or(second);
    [event(first), event(remote), second]
}

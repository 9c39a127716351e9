//! The file of a predicted history.

use super::HistoryReport;
use crate::SavedMeaning;
use crate::json::write_open_object;
use crate::witness::{PrefixHead, WitnessDir, WitnessFileError, write_schedule};
use foretrace_analysis::verdict::RestsOn;
use foretrace_checker::PerformedStep;
use foretrace_histories::Violation;
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

impl HistoryReport<'_> {
    /// Writes the witness, where there is one; says which file has it.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn write_witness(&self, folder: &WitnessDir) -> Result<Option<PathBuf>, WitnessFileError> {
        let Some(violation) = self.violation() else { return Ok(None) };
        let [first, remote, second] = self.ends(violation);
        let file = folder.file(&format!("history-{first}-{remote}-{second}.json"));
        write_whole(&file, |out| self.write_file(violation, [first, remote, second], out))
            .map_err(|source| WitnessFileError { path: file.clone(), source })?;
        Ok(Some(file))
    }

    fn write_file(&self, violation: &Violation, ends: [EventId; 3], out: &mut dyn Write) -> io::Result<()> {
        let run = violation.witness.run();
        let performed = |step: &PerformedStep| PerformedJson {
            event: step.event,
            result: step.result.clone(),
            given_by: step.given_by,
        };
        let head = Head {
            shown: PrefixHead::new(("history", "not-linearizable"), self.file, ends, self.model, Atomic::Operations),
            spec: self.spec,
            meaning: self.meaning.clone(),
            rests_on: RestsOn::of_run(run),
            observed: violation.observed,
            performed: violation.witness.claim().steps.iter().map(performed).collect(),
        };
        write_open_object(&head, out)?;
        write_schedule(self.trace, &run.steps(self.trace), out)
    }

    /// The first call of the operations that fail together, the first one of another thread, and the last return.
    fn ends(&self, violation: &Violation) -> [EventId; 3] {
        let schedule = violation.witness.schedule();
        let operations = &self.part.unwrap_or(&violation.history).operations;
        let at = |time: u64| schedule.get(time as usize).copied();
        let second = schedule.last().copied().unwrap_or(EventId(0));
        let first = operations.iter().min_by_key(|operation| operation.call);
        let others = operations.iter().filter(|other| first.is_some_and(|first| other.process != first.process));
        let remote = others.min_by_key(|operation| operation.call);
        let event = |operation: Option<&foretrace_linearizability::Operation>| {
            operation.and_then(|operation| at(operation.call)).unwrap_or(second)
        };
        [event(first), event(remote), second]
    }
}

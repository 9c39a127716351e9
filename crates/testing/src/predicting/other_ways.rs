//! Schedules by which a branch goes the other way than in the recorded run.

use super::places::variable_of;
use super::{Asked, Writer};
use crate::attempt::{Attempt, Cycle, CycleKind, Kind, Rank};
use crate::settings::{Settings, TestError};
use foretrace_analysis::other_ways::{FoundOtherWay, other_ways};
use foretrace_checker::OtherWay;
use foretrace_harness::Sources;
use foretrace_report::{Subject, act_of, shown_value, thread_name, write_other_way};
use foretrace_trace::{EventId, Observed, Pattern};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// The class of attempts by which the branch at a place goes the other way.
pub fn class_of(place: &str) -> String {
    format!("other way {place}")
}

/// Asks once more about places of a recording's trace, with so many times the work of the first time. Gives attempts, and the places that are not
/// decided.
///
/// # Errors
/// The recording's trace cannot be read, or a file cannot be written.
pub fn ask_again(
    (recording, seed): (&Path, u64),
    places: &BTreeSet<String>,
    effort: u32,
    deadline: Instant,
    settings: &Settings,
) -> Result<(Vec<Attempt>, Vec<String>), TestError> {
    let asked = Asked::read(recording, settings, deadline.saturating_duration_since(Instant::now()))?;
    let transactions = asked.options.atomic.transactions(&asked.trace);
    let Asked { file, trace, observed, options } = &asked;
    let subject = Subject { file, trace, transactions: &transactions, options };
    let sources = Sources::read(recording).ok().flatten();
    let mut writer = Writer::new(subject, (recording, sources.as_ref()), seed, false)?;
    let rank = |place: &str| places.contains(place).then_some(0);
    writer.other_ways(&rank, observed, effort, (deadline, &settings.stop))
}

impl Writer<'_> {
    /// An attempt for each place that has a rank, those of lower rank first, and the places that are not decided.
    pub(super) fn other_ways(
        &mut self,
        rank: &dyn Fn(&str) -> Option<u32>,
        observed: &Observed,
        effort: u32,
        (deadline, stop): (Instant, &AtomicBool),
    ) -> Result<(Vec<Attempt>, Vec<String>), TestError> {
        let (trace, options) = (self.subject.trace, self.subject.options);
        let mut all = Vec::new();
        let undecided = other_ways(trace, observed, options, rank, effort, (Some(deadline), stop), &mut |found| {
            all.push(found);
            Ok(())
        })
        .map_err(|error| TestError::Analysis(format!("{error:#}")))?;
        let mut attempts = Vec::new();
        for found in all {
            let file = write_other_way(self.subject, &found, &self.folder)?;
            attempts.extend(self.attempt_other_way(&found, file));
        }
        Ok((attempts, undecided.into_iter().filter_map(|branch| trace.loc(branch)).map(str::to_string).collect()))
    }

    fn attempt_other_way(&self, found: &FoundOtherWay, witness: PathBuf) -> Option<Attempt> {
        let trace = self.subject.trace;
        let OtherWay { branch } = *found.witness.claim();
        let path = found.decisive(trace);
        let (other, read) = (*path.first()?, *path.last()?);
        let steps = found.witness.run().steps(trace);
        let value = |event: EventId| {
            let step = steps.iter().find(|step| step.event == event)?;
            step.written.as_ref().or(step.read.as_ref()).map(|value| format!(" = {}", shown_value(value)))
        };
        let act = |event: EventId| format!("{}{}", act_of(trace, event), value(event).unwrap_or_default());
        let of = |event| self.access(event, None);
        let branch_row = (of(branch), "goes the other way".to_string());
        let rows = path.iter().map(|event| (of(*event), act(*event)));
        Some(Attempt {
            kind: Kind::OtherWay,
            class: class_of(trace.loc(branch).unwrap_or("?")),
            variable: variable_of(trace, read).to_string(),
            pattern: Pattern::Rwr,
            accesses: [of(branch), of(other), of(read)],
            also: Vec::new(),
            to_make: None,
            cycle: Some(Cycle {
                path: rows.chain([branch_row]).collect(),
                thread: thread_name(trace, trace.event(branch).thread),
                other: thread_name(trace, trace.event(other).thread),
                kind: CycleKind::OtherWay,
            }),
            witness,
            recording: self.recording.clone(),
            seed: self.seed,
            rank: Rank::guarded(0, steps.len() as u32),
        })
    }
}

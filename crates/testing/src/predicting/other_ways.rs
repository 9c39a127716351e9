//! Schedules by which a branch goes the other way than in the recorded run.

use super::{Branches, Writer};
use crate::attempt::{Attempt, Cycle, CycleKind, Kind};
use crate::settings::TestError;
use foretrace_analysis::other_ways::{FoundOtherWay, other_ways};
use foretrace_checker::OtherWay;
use foretrace_report::{act_of, shown_value, thread_name, write_other_way};
use foretrace_trace::{EventId, Observed, Pattern};
use foretrace_walker::Ways;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

impl Writer<'_> {
    /// An attempt for each place of the program's own code whose branches went one way only: first those whose other way never returns, which
    /// is that of a failed assertion.
    pub(super) fn other_ways(
        &mut self,
        (checks, branches): (&BTreeMap<String, Ways>, &Branches),
        observed: &Observed,
        deadline: Instant,
        stop: &AtomicBool,
    ) -> Result<Vec<Attempt>, TestError> {
        let (trace, options) = (self.subject.trace, self.subject.options);
        let rank = |loc: &str| {
            let is_check = checks.get(loc).is_some_and(|ways| !ways.are_both());
            let is_branch = branches.get(loc).is_some_and(|(ways, _)| !ways.are_both());
            is_check.then_some(0).or(is_branch.then_some(1))
        };
        let mut all = Vec::new();
        other_ways(trace, observed, options, &rank, (Some(deadline), stop), &mut |found| {
            all.push(found);
            Ok(())
        })
        .map_err(|error| TestError::Analysis(format!("{error:#}")))?;
        let mut attempts = Vec::new();
        for found in all {
            let file = write_other_way(self.subject, &found, &self.folder)?;
            attempts.extend(self.attempt_other_way(&found, file));
        }
        Ok(attempts)
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
            class: format!("other way {}", trace.loc(branch).unwrap_or("?")),
            variable: trace.event(read).op.var().map_or("", |var| trace.vars[var.index()].shown()).to_string(),
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
            order: (false, false, 0, steps.len() as u32),
        })
    }
}

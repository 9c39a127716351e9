//! Schedules by which memory is used after it was freed.

use super::Writer;
use crate::attempt::{Attempt, Cycle, CycleKind, Kind, Rank};
use crate::settings::TestError;
use foretrace_analysis::use_after_free::uses_after_free;
use foretrace_checker::UseAfterFree;
use foretrace_report::{UsesReport, WrittenUse, act_of, thread_name};
use foretrace_trace::{Observed, Pattern};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

impl Writer<'_> {
    /// An attempt for each pair of places. What the recorded order itself shows is left out, but after a failure.
    pub(super) fn uses(
        &mut self,
        observed: &Observed,
        deadline: Instant,
        stop: &AtomicBool,
    ) -> Result<Vec<Attempt>, TestError> {
        let (trace, options, failed) = (self.subject.trace, self.subject.options, self.failed);
        let mut report = UsesReport::new(self.subject);
        uses_after_free(trace, observed, options, Some(deadline), stop, &mut |found| {
            if failed || !found.observed {
                report.add(found);
            }
            Ok(())
        })
        .map_err(|error| TestError::Analysis(format!("{error:#}")))?;
        let written = report.write_witnesses(&self.folder)?;
        Ok(written.into_iter().map(|written| self.attempt_of(&written)).collect())
    }

    fn attempt_of(&self, WrittenUse { found, file }: &WrittenUse<'_>) -> Attempt {
        let trace = self.subject.trace;
        let UseAfterFree { free, access } = *found.witness.claim();
        let first = found.interrupted(trace);
        let events = [first.unwrap_or(free), free, access];
        let of = |event| self.access(event, None);
        let loc = |event| trace.loc(event).unwrap_or("?");
        let before = first.map(|first| (of(first), act_of(trace, first)));
        let rest = [(of(free), "frees it".to_string()), (of(access), act_of(trace, access))];
        let op = &trace.event(access).op;
        let object = op.used_syncs().into_iter().flatten().next().map(|sync| &*trace.syncs[sync.index()].key);
        let variable = op.var().map(|var| trace.vars[var.index()].shown()).or(object).unwrap_or_default();
        Attempt {
            kind: if found.observed { Kind::Observed } else { Kind::UseAfterFree },
            class: format!("{} freed {}", loc(free), loc(access)),
            variable: variable.to_string(),
            pattern: Pattern::Rwr,
            accesses: events.map(of),
            also: Vec::new(),
            to_make: None,
            cycle: Some(Cycle {
                path: before.into_iter().chain(rest).collect(),
                thread: thread_name(trace, trace.event(access).thread),
                other: thread_name(trace, trace.event(free).thread),
                kind: CycleKind::UseAfterFree,
            }),
            witness: file.clone(),
            recording: self.recording.clone(),
            seed: self.seed,
            rank: Rank::guarded(0, free.0.abs_diff(access.0)),
        }
    }
}

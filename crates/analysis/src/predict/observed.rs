//! Violations that the recorded order itself shows. If the run failed, these are decided first.

use super::{Run, SolverWorkers};
use crate::candidates::{Candidates, Class, Pair};
use crate::guards::Guards;
use foretrace_trace::Triple;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

impl Run<'_, '_> {
    /// Decides the candidate of each class that the recorded order shows nearest to its end; those come first, and of them
    /// those at whose accesses no lock is held.
    pub(super) fn observed_first(
        &mut self,
        candidates: &Candidates<'_>,
        workers: &mut SolverWorkers<'_, '_, '_>,
    ) -> anyhow::Result<()> {
        let mut nearest: FxHashMap<Class, Triple> = FxHashMap::default();
        for pair in candidates.all_pairs(self.context.options.candidates) {
            let Some(triple) = self.observed(&pair) else { continue };
            let latest = nearest.entry(self.context.class(triple)).or_insert(triple);
            if latest.second < triple.second {
                *latest = triple;
            }
        }
        let mut triples: Vec<Triple> = nearest.into_values().collect();
        let trace = self.context.view.trace;
        let guards = Guards::of(trace);
        triples.sort_unstable_by_key(|triple| {
            (guards.guard(trace, *triple), Reverse(triple.second), triple.first, triple.remote)
        });
        self.stream(&mut triples.iter().copied(), workers, None)?;
        // Each comes again among all candidates, where its class is done.
        let count = triples.len() as u64;
        self.totals.skipped = self.totals.skipped.saturating_sub(count);
        self.progress.done = self.progress.done.saturating_sub(count);
        Ok(())
    }

    /// A candidate of a pair that the recorded order shows: the last such access in between.
    fn observed(&self, pair: &Pair) -> Option<Triple> {
        let view = self.context.view;
        let accesses = &view.trace_index.accesses[pair.var.index()];
        let from = accesses.partition_point(|access| *access <= pair.first);
        let to = accesses.partition_point(|access| *access < pair.second);
        let fits = |access: &&foretrace_trace::EventId| {
            let event = view.trace.event(**access);
            let (reads, writes) = (event.op.reads(), event.op.writes());
            event.thread != pair.thread && !event.op.is_external() && pair.remotes.include(reads, writes)
        };
        let remote = *accesses[from..to].iter().rev().find(fits)?;
        Some(Triple { first: pair.first, remote, second: pair.second })
    }
}

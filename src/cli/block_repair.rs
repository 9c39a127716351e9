//! Repairs of whole blocks that are violated: its code from the first to the last access of the violation, made atomic.

use super::enforced::{Endings, Enforced};
use super::predict_repair::Runs;
use foretrace::report::{AsItIs, BlockRepair, BlockReport, BlockRuns, NeededRuns, NotRepaired, Subject};
use foretrace_repair::{Guard, NoGuard, Repair, Sections, Whole, circle, guarded, kept_whole, others, stretches_of};
use foretrace_trace::{Atomic, EventId, Observed, SyncId, ThreadId, Trace, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// A violation of a block.
pub struct ViolatedBlock<'t> {
    /// The trace.
    pub trace: &'t Trace,
    /// What its recorded order shows.
    pub observed: &'t Observed,
    /// What is meant to be atomic.
    pub atomic: Atomic,
    /// The first and the last access of the violation path, both of the block.
    pub ends: Whole,
    /// The schedule that shows it.
    pub schedule: Vec<EventId>,
}

impl ViolatedBlock<'_> {
    /// The code that has to be atomic.
    pub fn sections(&self) -> Repair {
        Sections::new(self.trace, Some(self.atomic)).around(&[self.ends])
    }

    /// What becomes of the program along the schedule.
    fn tried_as_it_is(&self, enforced: &Enforced<'_>, times: u32, go_on: &dyn Fn() -> bool) -> anyhow::Result<Endings> {
        let order = kept_whole(self.trace, self.observed, &self.schedule, &[])?;
        enforced.runs(&enforced.plan(self.trace, &order, Some(self.ends.1))?, times, go_on)
    }

    /// What becomes of the program along the schedule with this code kept whole; nothing where no order of the trace keeps it whole.
    pub fn tried(
        &self,
        repair: &Repair,
        enforced: &Enforced<'_>,
        times: u32,
        go_on: &dyn Fn() -> bool,
    ) -> anyhow::Result<Option<NeededRuns>> {
        let stretches = stretches_of(self.trace, Some(self.atomic), repair);
        let order = kept_whole(self.trace, self.observed, &self.schedule, &stretches)?;
        if order.get(..self.schedule.len()) == Some(self.schedule.as_slice()) {
            return Ok(None);
        }
        let plan = enforced.plan(self.trace, &order, Some(self.ends.1))?;
        let Endings { failed, passed, left, .. } = enforced.runs(&plan, times, go_on)?;
        Ok(Some(NeededRuns { failed, passed, left }))
    }
}

/// The lock that sections can hold, and that all other accesses of what they share hold already: while it is held, no other thread comes between.
pub fn lock_of_others(trace: &Trace, atomic: Option<Atomic>, repair: &Repair) -> Option<SyncId> {
    let stretches = stretches_of(trace, atomic, repair);
    let mut by_thread: FxHashMap<VarId, FxHashSet<ThreadId>> = FxHashMap::default();
    let mut within: BTreeSet<VarId> = BTreeSet::new();
    for (id, event) in trace.iter() {
        let Some(var) = event.op.var() else { continue };
        by_thread.entry(var).or_default().insert(event.thread);
        let holds =
            |(first, last): &Whole| trace.event(*first).thread == event.thread && (*first..=*last).contains(&id);
        within.extend(stretches.iter().any(holds).then_some(var));
    }
    let shared: Vec<VarId> = within.into_iter().filter(|var| by_thread[var].len() > 1).collect();
    others(trace, &stretches, &shared).locks.into_iter().find(|lock| {
        match guarded(trace, Guard { lock: Some(*lock), stretches: &stretches, vars: &[] }) {
            Ok(made) => circle(&made.trace, made.lock).is_none(),
            Err(why) => why == NoGuard::ForbidsRun,
        }
    })
}

/// How many repairs are sought, and of what.
#[derive(Clone, Copy)]
pub struct Wanted {
    /// At most this many.
    pub most: usize,
    /// Leaves out what is off the path, unless the program fails along its schedule.
    pub only_proved: bool,
    /// Leaves out violations along whose schedules the program was run and did not fail.
    pub only_failing: bool,
}

/// The repairs of the violated blocks that a report shows, each code once; with runs of the program, where it is there. And what has none.
pub fn block_repairs(
    (subject, observed): (Subject<'_>, &Observed),
    report: &BlockReport<'_>,
    Wanted { most, only_proved, only_failing }: Wanted,
    (runs, go_on): (Option<&Runs<'_>>, &dyn Fn() -> bool),
) -> anyhow::Result<(Vec<BlockRepair>, NotRepaired)> {
    let mut all: Vec<BlockRepair> = Vec::new();
    let mut none = NotRepaired::default();
    for (_, violation, off_path) in report.shown() {
        let path = violation.claim().events.clone();
        let (Some(first), Some(last)) = (path.first().copied(), path.last().copied()) else { continue };
        let block = ViolatedBlock {
            trace: subject.trace,
            observed,
            atomic: subject.options.atomic,
            ends: (first, last),
            schedule: violation.schedule().to_vec(),
        };
        let sections = block.sections();
        if all.iter().any(|known| known.sections == sections && known.off_path == off_path) {
            continue;
        }
        let is_open = off_path && only_proved;
        if all.len() + none.tried() >= most {
            none.add_untried(is_open);
            continue;
        }
        let as_it_is = runs.filter(|_| go_on()).map(|runs| block.tried_as_it_is(&runs.enforced, runs.times, go_on));
        let as_it_is = as_it_is.transpose()?;
        if is_open && as_it_is.is_none_or(|endings| endings.failed == 0) {
            none.add_off_path(as_it_is.map(|endings| (endings.made(), endings.passed)));
            continue;
        }
        if only_failing && as_it_is.is_some_and(|endings| endings.made() > 0 && endings.failed == 0) {
            none.harmless_blocks += 1;
            continue;
        }
        let tried = runs.filter(|_| go_on()).map(|runs| block.tried(&sections, &runs.enforced, runs.times, go_on));
        let runs = tried.transpose()?.map(BlockRuns);
        let as_it_is = as_it_is.map(|endings| AsItIs { runs: endings.made(), failed: endings.failed });
        all.push(BlockRepair { sections, path, off_path, as_it_is, runs });
    }
    all.sort_by_key(BlockRepair::is_harmless);
    Ok((all, none))
}

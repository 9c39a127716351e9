//! Runs of a program along the schedule of a run that failed, with the sections of a repair kept whole.

use super::atomic::AtomicArgs;
use super::enforced::{Endings, Enforced};
use anyhow::Context;
use foretrace::recorder::{Ending, Folder, Plan, Program, run_plan};
use foretrace_repair::{Ranked, Relates, Repair, Whole, kept_whole, stretches_of};
use foretrace_trace::{Atomic, EventId, Observed, Trace};
use std::time::Duration;

/// A program that fails where it comes by the code once more is followed this many times.
const MOST_FAILURES: usize = 8;

/// The failing run.
#[derive(Clone, Copy)]
pub struct Failed<'t> {
    /// Its trace.
    pub trace: &'t Trace,
    /// What its recorded order shows.
    pub observed: &'t Observed,
    /// What was chosen to be atomic.
    pub chosen: Option<Atomic>,
}

impl Failed<'_> {
    /// What becomes of the program with these sections kept whole; `None` where no schedule of the run keeps them whole.
    pub fn tried(
        self,
        ranked: &Ranked,
        enforced: &Enforced<'_>,
        times: u32,
        go_on: &dyn Fn() -> bool,
    ) -> anyhow::Result<Option<Endings>> {
        let plan = self.plan(ranked, enforced)?;
        plan.map(|plan| enforced.runs(&plan, times, go_on)).transpose()
    }

    /// The schedule of the run, but with these sections kept whole; `None` where it keeps them whole itself.
    pub fn plan(self, ranked: &Ranked, enforced: &Enforced<'_>) -> anyhow::Result<Option<Plan>> {
        let Failed { trace, observed, chosen } = self;
        let stretches = stretches_of(trace, chosen, &ranked.repair);
        let order = kept_whole(trace, observed, &[], &stretches)?;
        if trace.iter().map(|(id, _)| id).eq(order.iter().copied()) {
            return Ok(None);
        }
        // What comes after the code that is whole first may go other ways: its values may differ now.
        let ends = ranked.cycle.iter().filter(|link| link.by == Relates::Section).map(|link| link.from);
        let ends: Vec<EventId> = ends.chain(overlapping(trace, &stretches)).collect();
        let until = order.iter().copied().find(|event| ends.contains(event));
        enforced.plan(trace, &order, until).map(Some)
    }
}

/// Runs of a program that may come by the sections of a repair more often than the recorded run did.
pub struct Executions<'a> {
    /// The program.
    pub program: &'a Program,
    /// A run that takes longer is killed.
    pub run_limit: Duration,
    /// Which code of its runs is a block.
    pub atomic: &'a AtomicArgs,
    /// Whether there is time.
    pub go_on: &'a dyn Fn() -> bool,
}

impl Executions<'_> {
    /// What becomes of the program with the sections kept whole as often as it comes by them. `plan` keeps them whole where the recorded
    /// run came by them. A run along it that fails where it comes by them once more takes the place of the recorded run. `None` where it
    /// still fails with all executions kept whole, or a limit is reached.
    pub fn tried(
        &self,
        (repair, chosen): (&Repair, Option<Atomic>),
        plan: Plan,
        enforced: &Enforced<'_>,
        times: u32,
    ) -> anyhow::Result<Option<Endings>> {
        let mut along = plan;
        let mut kept = Vec::new(); // plans read the recordings that they are of
        for _ in 0..MOST_FAILURES {
            if !(self.go_on)() {
                break;
            }
            let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
            let run = Folder::create(&folder.path().join("run"))?;
            if run_plan(&along, self.program, &run, self.run_limit, true)? == Ending::Code(0) {
                return enforced.runs(&along, times, self.go_on).map(Some);
            }
            self.atomic.first_trace_unsaid(run.path())?;
            let Some(asked) = self.atomic.read_within(run.path(), self.go_on)? else { break };
            let stretches = stretches_of(&asked.trace, chosen, repair);
            let Some(end) = first_interrupted(&asked.trace, &stretches) else { break };
            let order = kept_whole(&asked.trace, &asked.observed, &[], &stretches)?;
            let enforced = Enforced { recording: run.path(), run: enforced.run };
            along = enforced.plan(&asked.trace, &order, Some(end))?;
            kept.push(folder);
        }
        Ok(None)
    }
}

/// The end of the first stretch within which another thread does something.
fn first_interrupted(trace: &Trace, stretches: &[Whole]) -> Option<EventId> {
    let is_interrupted = |stretch: &&Whole| {
        let within = &trace.events[stretch.0.index()..=stretch.1.index()];
        within.iter().any(|event| event.thread != trace.event(stretch.0).thread)
    };
    stretches.iter().filter(is_interrupted).min().map(|stretch| stretch.1)
}

/// The ends of stretches that another thread's stretch overlaps in the recorded order.
fn overlapping(trace: &Trace, stretches: &[Whole]) -> impl Iterator<Item = EventId> {
    let thread = |stretch: &Whole| trace.event(stretch.0).thread;
    let meets = move |one: &Whole, other: &Whole| thread(one) != thread(other) && one.0 < other.1 && other.0 < one.1;
    stretches.iter().filter(move |one| stretches.iter().any(|other| meets(one, other))).map(|one| one.1)
}

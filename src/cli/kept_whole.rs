//! Runs of a program along the schedule of a run that failed, with the sections of a repair kept whole.

use super::atomic::AtomicArgs;
use super::enforced::{Endings, Enforced};
use anyhow::Context;
use foretrace::recorder::Plan;
use foretrace_repair::{Link, Ranked, Relates, Repair, Whole, kept_whole, stretches_of};
use foretrace_trace::{Atomic, EventId, Observed, Trace};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

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

/// The schedule of the failing run, but with sections kept whole.
struct Schedule {
    /// Its part that a program has to follow.
    followed: Vec<EventId>,
    plan: Plan,
}

impl Failed<'_> {
    /// `None` where the run keeps these sections whole itself.
    fn schedule(self, ranked: &Ranked, enforced: &Enforced<'_>) -> anyhow::Result<Option<Schedule>> {
        let Failed { trace, observed, chosen } = self;
        let stretches = stretches_of(trace, chosen, &ranked.repair);
        let mut order = kept_whole(trace, observed, &[], &stretches)?;
        if trace.iter().map(|(id, _)| id).eq(order.iter().copied()) {
            return Ok(None);
        }
        let until = followed_until(trace, ranked, &stretches, &order);
        let plan = enforced.plan(trace, &order, until)?;
        let end = until.and_then(|until| order.iter().position(|event| *event == until));
        order.truncate(end.map_or(order.len(), |end| end + 1));
        Ok(Some(Schedule { followed: order, plan }))
    }
}

/// Up to where a program has to follow a schedule in which sections are kept whole: what comes later may go other ways, since its values
/// may differ. All turns of a loop as one are whole only when the last one has ended.
fn followed_until(trace: &Trace, ranked: &Ranked, stretches: &[Whole], order: &[EventId]) -> Option<EventId> {
    let broken = ranked.cycle.iter().filter(|link| link.by == Relates::Section).map(|link| link.from);
    let end_of_all = |event: EventId| {
        let is_around = |stretch: &&Whole| {
            stretch.0 <= event && event <= stretch.1 && trace.event(stretch.0).thread == trace.event(event).thread
        };
        stretches.iter().filter(is_around).map(|stretch| stretch.1).max().unwrap_or(event)
    };
    let is_of_turns = ranked.repair.iter().any(|section| section.turns);
    let broken = broken.map(|event| if is_of_turns { end_of_all(event) } else { event });
    let ends: Vec<EventId> = broken.chain(overlapping(trace, stretches)).collect();
    order.iter().copied().find(|event| ends.contains(event))
}

/// What became of the program along a schedule with sections kept whole.
pub struct Tried {
    /// How its runs ended.
    pub endings: Endings,
    /// What the runs began with, as far as they had to follow the schedule.
    followed: Vec<EventId>,
    /// What was chosen to be atomic.
    pub chosen: Option<Atomic>,
    /// The schedule.
    pub along: Along,
}

/// A plan, with the recordings that it may read.
pub struct Along {
    /// The plan.
    pub plan: Plan,
    _recordings: Vec<TempDir>,
}

impl Tried {
    /// Whether the runs began in a way in which this cycle does not come about.
    pub fn is_without(&self, trace: &Trace, cycle: &[Link]) -> bool {
        let place = |event: EventId| self.followed.iter().position(|other| *other == event);
        let is_interrupted = |link: &Link| match (place(link.to), place(link.from)) {
            (Some(first), Some(last)) if first <= last => {
                let thread = trace.event(link.to).thread;
                self.followed[first..=last].iter().any(|event| trace.event(*event).thread != thread)
            }
            _ => false,
        };
        !cycle.iter().filter(|link| link.by == Relates::Section).any(is_interrupted)
    }
}

/// Runs the program along a plan, in a folder that does not exist yet; gives the recording and whether it passed, if the run came to an end.
pub type RunInto<'a> = dyn Fn(&Plan, &Path) -> anyhow::Result<Option<(PathBuf, bool)>> + 'a;

/// Runs of a program along the schedule of a run that failed, with sections kept whole as often as the program comes by them.
pub struct Tries<'a> {
    /// The failing run, and what runs the program along orders of its events.
    pub enforced: Enforced<'a>,
    /// The same for runs whose recording is read.
    pub run_into: &'a RunInto<'a>,
    /// How often each schedule.
    pub times: u32,
    /// Which code of its runs is a block.
    pub atomic: &'a AtomicArgs,
    /// Whether there is time.
    pub go_on: &'a dyn Fn() -> bool,
}

impl Tries<'_> {
    /// What becomes of the program with the sections of a repair kept whole; `None` where no schedule of the run keeps them whole.
    pub fn tried(&self, failed: Failed<'_>, ranked: &Ranked) -> anyhow::Result<Option<Tried>> {
        let Some(Schedule { followed, plan }) = failed.schedule(ranked, &self.enforced)? else { return Ok(None) };
        let mut endings = self.enforced.runs(&plan, self.times, self.go_on)?;
        let mut along = Along { plan, _recordings: Vec::new() };
        if endings.failed > 0
            && endings.passed == 0
            && let Some(each) = self.each_execution((&ranked.repair, failed.chosen), &along.plan)?
        {
            (endings, along) = each;
        }
        Ok(Some(Tried { endings, followed, chosen: failed.chosen, along }))
    }

    /// What becomes of the program with the sections kept whole as often as it comes by them. `plan` keeps them whole where the recorded
    /// run came by them. A run along it that fails where it comes by them once more takes the place of the recorded run. `None` where it
    /// still fails with all executions kept whole, or a limit is reached.
    fn each_execution(
        &self,
        (repair, chosen): (&Repair, Option<Atomic>),
        plan: &Plan,
    ) -> anyhow::Result<Option<(Endings, Along)>> {
        let mut along = plan.clone();
        let mut kept = Vec::new();
        for _ in 0..MOST_FAILURES {
            if !(self.go_on)() {
                break;
            }
            let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
            let Some((run, passed)) = (self.run_into)(&along, &folder.path().join("run"))? else { break };
            if passed {
                let endings = self.enforced.runs(&along, self.times, self.go_on)?;
                return Ok(Some((endings, Along { plan: along, _recordings: kept })));
            }
            self.atomic.first_trace_unsaid(&run)?;
            let Some(asked) = self.atomic.read_within(&run, self.go_on)? else { break };
            let stretches = stretches_of(&asked.trace, chosen, repair);
            let Some(end) = first_interrupted(&asked.trace, &stretches) else { break };
            let order = kept_whole(&asked.trace, &asked.observed, &[], &stretches)?;
            let enforced = Enforced { recording: &run, run: self.enforced.run };
            along = enforced.plan(&asked.trace, &order, Some(end))?;
            kept.push(folder);
        }
        Ok(None)
    }
}

/// The end of the first stretch within which another thread does something.
pub fn first_interrupted(trace: &Trace, stretches: &[Whole]) -> Option<EventId> {
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

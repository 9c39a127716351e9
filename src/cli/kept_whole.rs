//! Runs of a program along the schedule of a run that failed, with the sections of a repair kept whole.

use super::enforced::{Endings, Enforced};
use foretrace_repair::{Ranked, Relates, Whole, kept_whole, stretches_of};
use foretrace_trace::{Atomic, EventId, Observed, Trace};

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
        let plan = enforced.plan(trace, &order, until)?;
        enforced.runs(&plan, times, go_on).map(Some)
    }
}

/// The ends of stretches that another thread's stretch overlaps in the recorded order.
fn overlapping(trace: &Trace, stretches: &[Whole]) -> impl Iterator<Item = EventId> {
    let thread = |stretch: &Whole| trace.event(stretch.0).thread;
    let meets = move |one: &Whole, other: &Whole| thread(one) != thread(other) && one.0 < other.1 && other.0 < one.1;
    stretches.iter().filter(move |one| stretches.iter().any(|other| meets(one, other))).map(|one| one.1)
}

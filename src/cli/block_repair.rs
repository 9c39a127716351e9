//! The repair of a whole block that is violated: its code from the first to the last access of the violation, made atomic.

use super::enforced::{Endings, Enforced};
use foretrace::report::NeededRuns;
use foretrace_repair::{Repair, Sections, Whole, kept_whole};
use foretrace_trace::{Atomic, EventId, Observed, Trace};

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
    /// The code that has to be atomic, and what becomes of the program along the schedule with this code kept whole; no runs where no
    /// order of the trace keeps it whole.
    pub fn tried(
        &self,
        enforced: &Enforced<'_>,
        times: u32,
        go_on: &dyn Fn() -> bool,
    ) -> anyhow::Result<(Repair, Option<NeededRuns>)> {
        let sections = Sections::new(self.trace, Some(self.atomic));
        let repair = sections.around(&[self.ends]);
        let stretches = sections.stretches(&repair);
        let order = kept_whole(self.trace, self.observed, &self.schedule, &stretches)?;
        if order.get(..self.schedule.len()) == Some(self.schedule.as_slice()) {
            return Ok((repair, None));
        }
        let plan = enforced.plan(self.trace, &order, Some(self.ends.1))?;
        let Endings { failed, passed, left, .. } = enforced.runs(&plan, times, go_on)?;
        Ok((repair, Some(NeededRuns { failed, passed, left })))
    }
}

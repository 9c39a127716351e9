//! Functions that a failing run did not finish: their thread was interrupted, and the program ended before it went on. No cycle of
//! the trace shows that, since the rest of the function is not in it.

use super::enforced::Enforced;
use super::kept_whole::Tries;
use anyhow::Context;
use foretrace::recorder::{End, Plan, Turn};
use foretrace::report::Unfinished;
use foretrace_repair::Functions;
use foretrace_trace::{Event, EventId, Op, ThreadId, Trace};
use std::collections::BTreeSet;

/// What becomes of the program if such a function is finished first, with the rest of the schedule as it was.
pub fn unfinished(trace: &Trace, tries: &Tries<'_>) -> anyhow::Result<Vec<Unfinished>> {
    let mut all = Vec::new();
    for (last, function) in interrupted(trace) {
        if !(tries.go_on)() {
            break;
        }
        let Some(plans) = Plans::new(trace, tries, last)? else { continue };
        let end = plans.end_of_function(tries)?;
        let until = match end {
            Some(end) => Some(end),
            None => plans.first_that_passes(tries)?,
        };
        let Some(until) = until else { continue };
        let endings = tries.enforced.runs(&plans.until(until), tries.times, tries.go_on)?;
        if (tries.go_on)() {
            all.push(Unfinished { last, function, is_finished: end.is_some(), passed: endings.passed });
        }
    }
    Ok(all)
}

/// The last accesses of threads that no other thread joined and that others came after, each with the function that it is in.
fn interrupted(trace: &Trace) -> Vec<(EventId, String)> {
    let functions = Functions::new(trace);
    let joined: BTreeSet<ThreadId> = trace.events.iter().filter_map(|event| joins(&event.op)).collect();
    let accesses = |id: &EventId| trace.event(*id).op.var().is_some();
    let latest = trace.iter().map(|(id, _)| id).rfind(accesses);
    let threads = (0..trace.threads.len()).map(ThreadId::from_index).filter(|thread| !joined.contains(thread));
    let last_of = |thread: ThreadId| {
        let is_own = |id: &EventId| trace.event(*id).thread == thread && accesses(id);
        let last = trace.iter().map(|(id, _)| id).rfind(is_own)?;
        (Some(last) != latest).then_some(last)
    };
    let function_of = |last: EventId| Some((last, functions.around(last)?.name));
    let mut all: Vec<(EventId, String)> = threads.filter_map(last_of).filter_map(function_of).collect();
    all.sort_unstable_by_key(|(last, _)| std::cmp::Reverse(*last)); // what stopped last is nearest to the failure
    all
}

fn joins(op: &Op) -> Option<ThreadId> {
    if let Op::Join { child } = op { Some(*child) } else { None }
}

/// How many records further a thread is let go on where no run says how many it takes to finish the function.
const FURTHER: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Plans in which a thread goes on where it stopped, with the rest of the schedule as it was.
pub struct Plans {
    before: Plan,
    after: Plan,
    path: String,
    at: u64,
}

impl Plans {
    fn new(trace: &Trace, tries: &Tries<'_>, last: EventId) -> anyhow::Result<Option<Plans>> {
        let order: Vec<EventId> = trace.iter().map(|(id, _)| id).collect();
        let (before, after) = order.split_at(last.index() + 1);
        let stopped = trace.event(last);
        let path = trace.threads[stopped.thread.index()].path.as_deref().map(str::to_string);
        let (Some(path), Some(at)) = (path, stopped.at) else { return Ok(None) };
        let plan = |order| tries.enforced.plan(trace, order, None);
        Ok(Some(Plans { before: plan(before)?, after: plan(after)?, path, at }))
    }

    /// A thread goes on at `until`, where it was not its turn; what it did later in the run falls away. `None` where it was not started.
    pub fn first(
        trace: &Trace,
        enforced: &Enforced<'_>,
        (until, thread): (EventId, ThreadId),
    ) -> anyhow::Result<Option<Plans>> {
        let order: Vec<EventId> = trace.iter().map(|(id, _)| id).collect();
        let (before, after) = order.split_at(until.index());
        let at = before.iter().rev().filter(|id| trace.event(**id).thread == thread).find_map(|id| trace.event(*id).at);
        let forks = |id: &EventId| matches!(trace.event(*id).op, Op::Fork { child } if child == thread);
        let path = trace.threads[thread.index()].path.as_deref().map(str::to_string);
        let (Some(path), true) = (path, at.is_some() || before.iter().any(forks)) else { return Ok(None) };
        let others: Vec<EventId> = after.iter().copied().filter(|id| trace.event(*id).thread != thread).collect();
        let plan = |order| enforced.plan(trace, order, None);
        Ok(Some(Plans { before: plan(before)?, after: plan(&others)?, path, at: at.unwrap_or(0) }))
    }

    /// The thread goes on as far as it can.
    pub fn onward(&self) -> Plan {
        self.until(u64::MAX >> 1)
    }

    /// The thread goes on until a record of its log.
    fn until(&self, until: u64) -> Plan {
        let turn = Turn { path: self.path.clone(), first: self.at + 1, end: End { until, beyond: 0 } };
        let mut plan = self.before.clone();
        plan.turns.push(turn);
        plan.turns.extend(self.after.turns.iter().cloned());
        plan
    }

    /// Where the thread finishes the function, as a run says in which it goes on as far as it can.
    fn end_of_function(&self, tries: &Tries<'_>) -> anyhow::Result<Option<u64>> {
        let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
        let Some((run, _)) = (tries.run_into)(&self.onward(), &folder.path().join("run"))? else { return Ok(None) };
        tries.atomic.first_trace_unsaid(&run)?;
        let asked = tries.atomic.read_within(&run, tries.go_on)?;
        Ok(asked.and_then(|asked| end_of(&asked.trace, &self.path, self.at)))
    }

    /// The fewest records further with which the program passes.
    fn first_that_passes(&self, tries: &Tries<'_>) -> anyhow::Result<Option<u64>> {
        for until in FURTHER.map(|further| self.at + further) {
            if tries.enforced.runs(&self.until(until), 1, tries.go_on)?.passed == 1 {
                return Ok(Some(until));
            }
        }
        Ok(None)
    }
}

/// Where a thread of a run finishes the function that it is in at a position of its log, if it does more in it.
fn end_of(trace: &Trace, path: &str, at: u64) -> Option<u64> {
    let is_it =
        |event: &Event| event.at == Some(at) && trace.threads[event.thread.index()].path.as_deref() == Some(path);
    let stopped = trace.iter().rfind(|(_, event)| is_it(event) && event.op.var().is_some())?.0;
    let end = Functions::new(trace).around(stopped)?.last;
    let thread = trace.event(stopped).thread;
    let within = trace.iter().filter(|(id, event)| event.thread == thread && stopped < *id && *id <= end);
    within.filter(|(_, event)| event.op.var().is_some()).filter_map(|(_, event)| event.at).max().filter(|end| *end > at)
}

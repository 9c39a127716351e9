//! Functions that a failing run did not finish: their thread was interrupted, and the program ended before it went on. No cycle of
//! the trace shows that, since the rest of the function is not in it.

use super::enforced::Enforced;
use super::kept_whole::Tries;
use anyhow::Context;
use foretrace::recorder::{End, Plan, Turn};
use foretrace::report::Unfinished;
use foretrace_repair::{Function, Functions, may_be_end};
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
        // A thread's own function as a whole says nothing of where the thread had to get.
        let end = if function.is_thread { None } else { plans.end_of_function(tries)? };
        let until = match end {
            Some(end) => Some(end),
            None => plans.first_that_passes(tries)?,
        };
        let Some(until) = until else { continue };
        let passed = tries.enforced.runs(&plans.until(until), tries.times, tries.go_on)?.passed;
        let run = if passed > 0 { plans.run(&plans.until(until), tries)? } else { None };
        if run.as_ref().is_some_and(|run| !goes_on(trace, run)) {
            continue;
        }
        let reached = run.filter(|_| end.is_none()).and_then(|run| plans.reached(&run, until));
        // A thread that only goes on to wait, or to read, brings nothing that others need.
        let is_empty = function.is_thread && reached.is_none();
        if (tries.go_on)() && !is_empty {
            all.push(Unfinished { last, function: function.name, is_finished: end.is_some(), reached, passed });
        }
    }
    Ok(all)
}

/// Whether the thread that failed does as much in another run, or is joined there. A program that ends before that has not got past the failure.
pub fn goes_on(failing: &Trace, run: &Trace) -> bool {
    let Some(thread) = failing_thread(failing) else { return true };
    let path = failing.threads[thread.index()].path.as_deref();
    let is_it = |trace: &Trace, thread: ThreadId| trace.threads[thread.index()].path.as_deref() == path;
    let last = |trace: &Trace| {
        let own = trace.events.iter().filter(|event| is_it(trace, event.thread));
        own.filter_map(|event| event.at).max()
    };
    let is_joined = run.events.iter().filter_map(|event| joins(&event.op)).any(|child| is_it(run, child));
    is_joined || last(run) >= last(failing)
}

/// The thread that did something last.
pub fn failing_thread(trace: &Trace) -> Option<ThreadId> {
    let is_step = |op: &Op| op.var().is_some() || matches!(op, Op::Fail { .. });
    trace.iter().rfind(|(_, event)| is_step(&event.op)).map(|(_, event)| event.thread)
}

/// The last steps of threads that no other thread joined and that others came after, each with the function that it is in: accesses, and
/// what lets another thread begin or go on.
fn interrupted(trace: &Trace) -> Vec<(EventId, Function)> {
    let functions = Functions::new(trace);
    let joined: BTreeSet<ThreadId> = trace.events.iter().filter_map(|event| joins(&event.op)).collect();
    // What the thread that failed reads may be in no event, if no other thread got to write it.
    let is_step = |op: &Op| op.var().is_some() || matches!(op, Op::Fail { .. });
    let latest = trace.iter().rfind(|(_, event)| is_step(&event.op)).map(|(id, _)| id);
    let threads = (0..trace.threads.len()).map(ThreadId::from_index).filter(|thread| !joined.contains(thread));
    let last_of = |thread: ThreadId| {
        let is_own = |id: &EventId| trace.event(*id).thread == thread && may_be_end(&trace.event(*id).op);
        let last = trace.iter().map(|(id, _)| id).rfind(is_own)?;
        (latest > Some(last)).then_some(last)
    };
    let function_of = |last: EventId| Some((last, functions.around(last)?));
    let mut all: Vec<(EventId, Function)> = threads.filter_map(last_of).filter_map(function_of).collect();
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
        let (before, after) = split(trace, last.index() + 1);
        let stopped = trace.event(last);
        let path = trace.threads[stopped.thread.index()].path.as_deref().map(str::to_string);
        let (Some(path), Some(at)) = (path, stopped.at) else { return Ok(None) };
        let plan = |order| tries.enforced.plan(trace, order, None);
        Ok(Some(Plans { before: plan(&before)?, after: plan(&after)?, path, at }))
    }

    /// A thread goes on at `until`, where it was not its turn; what it did later in the run falls away. `None` where it was not started.
    pub fn first(
        trace: &Trace,
        enforced: &Enforced<'_>,
        (until, thread): (EventId, ThreadId),
    ) -> anyhow::Result<Option<Plans>> {
        let (before, after) = split(trace, until.index());
        let at = before.iter().rev().filter(|id| trace.event(**id).thread == thread).find_map(|id| trace.event(*id).at);
        let forks = |id: &EventId| matches!(trace.event(*id).op, Op::Fork { child } if child == thread);
        let path = trace.threads[thread.index()].path.as_deref().map(str::to_string);
        let (Some(path), true) = (path, at.is_some() || before.iter().any(forks)) else { return Ok(None) };
        let others: Vec<EventId> = after.into_iter().filter(|id| trace.event(*id).thread != thread).collect();
        let plan = |order| enforced.plan(trace, order, None);
        Ok(Some(Plans { before: plan(&before)?, after: plan(&others)?, path, at: at.unwrap_or(0) }))
    }

    /// The thread goes on as far as it can.
    pub fn onward(&self) -> Plan {
        self.until(u64::MAX >> 1)
    }

    /// The thread goes on until a record of its log.
    pub fn until(&self, until: u64) -> Plan {
        let turn = Turn { path: self.path.clone(), first: self.at + 1, end: End { until, beyond: 0 } };
        let mut plan = self.before.clone();
        plan.turns.push(turn);
        plan.turns.extend(self.after.turns.iter().cloned());
        plan
    }

    /// Where the thread finishes the function, as a run says in which it goes on as far as it can.
    fn end_of_function(&self, tries: &Tries<'_>) -> anyhow::Result<Option<u64>> {
        Ok(self.run(&self.onward(), tries)?.and_then(|trace| end_of(&trace, &self.path, self.at)))
    }

    /// Where the last step before a record of the thread's log is that changes something for others.
    fn reached(&self, trace: &Trace, until: u64) -> Option<String> {
        let is_own = |event: &Event| trace.threads[event.thread.index()].path.as_deref() == Some(self.path.as_str());
        let is_before = |event: &Event| event.at.is_some_and(|at| self.at < at && at <= until);
        let changes = |op: &Op| op.writes() || (op.var().is_none() && may_be_end(op) && !matches!(op, Op::Wait { .. }));
        let mut steps = trace.iter().filter(|(_, event)| is_own(event) && is_before(event) && changes(&event.op));
        steps.next_back().and_then(|(id, _)| trace.loc(id)).map(str::to_string)
    }

    /// The trace of a run along a plan.
    pub fn run(&self, plan: &Plan, tries: &Tries<'_>) -> anyhow::Result<Option<Trace>> {
        let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
        let Some((run, _)) = (tries.run_into)(plan, &folder.path().join("run"))? else { return Ok(None) };
        tries.atomic.first_trace_unsaid(&run)?;
        Ok(tries.atomic.read_within(&run, tries.go_on)?.map(|asked| asked.trace))
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

/// What threads did before and after a place of the recorded order.
fn split(trace: &Trace, at: usize) -> (Vec<EventId>, Vec<EventId>) {
    trace.iter().map(|(id, _)| id).partition(|id| id.index() < at)
}

/// Where a thread of a run finishes the function that it is in at a position of its log, if it does more in it.
fn end_of(trace: &Trace, path: &str, at: u64) -> Option<u64> {
    let is_it =
        |event: &Event| event.at == Some(at) && trace.threads[event.thread.index()].path.as_deref() == Some(path);
    let stopped = trace.iter().rfind(|(_, event)| is_it(event) && may_be_end(&event.op))?.0;
    let end = Functions::new(trace).around(stopped)?.last;
    let thread = trace.event(stopped).thread;
    let within = trace.iter().filter(|(id, event)| event.thread == thread && stopped < *id && *id <= end);
    within.filter(|(_, event)| event.op.var().is_some()).filter_map(|(_, event)| event.at).max().filter(|end| *end > at)
}

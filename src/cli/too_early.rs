//! Orders that a failing run takes: a thread wrote what another one read before it failed, too early. No code that is kept whole prevents
//! that, since the other thread has to come first. Or it read what another thread had yet to write.

use super::kept_whole::Tries;
use super::unfinished::{Plans, failing_thread, goes_on};
use foretrace::report::{ReadEarly, TooEarly};
use foretrace_repair::Functions;
use foretrace_trace::{EventId, Op, ThreadId, Trace};

/// Reads of the failing thread that are tried, the last one first.
const MOST: usize = 3;

/// What becomes of the program if the thread that failed goes on first, as far as it can, with the rest of the schedule as it was. Ends at
/// the first write that is a cause, or whose cause is known.
pub fn too_early(
    trace: &Trace,
    tries: &Tries<'_>,
    is_known: &dyn Fn(EventId, EventId) -> anyhow::Result<bool>,
) -> anyhow::Result<Vec<TooEarly>> {
    let mut all = Vec::new();
    let functions = Functions::new(trace);
    let start =
        |write: EventId| functions.around(write).filter(|function| !function.is_thread).map(|function| function.first);
    for (write, read) in last_reads(trace).into_iter().take(MOST) {
        if is_known(write, read)? {
            break;
        }
        // The function that writes may have begun to change what the other thread uses.
        for until in [Some(write), start(write)].into_iter().flatten() {
            if !(tries.go_on)() {
                return Ok(all);
            }
            let Some(plan) =
                Plans::first(trace, &tries.enforced, (until, trace.event(read).thread))?.map(|plans| plans.onward())
            else {
                continue;
            };
            if tries.enforced.runs(&plan, 1, tries.go_on)?.passed == 0 {
                continue;
            }
            let passed = tries.enforced.runs(&plan, tries.times, tries.go_on)?.passed;
            if (tries.go_on)() {
                all.push(TooEarly { write, read, passed, harmless: None });
            }
            if passed == tries.times {
                return Ok(all);
            }
        }
    }
    Ok(all)
}

/// What becomes of the program if another thread goes on to a write first that came after a read of the thread that failed, with the rest
/// of the schedule as it was. Ends at the first read that is a cause.
pub fn read_too_early(trace: &Trace, tries: &Tries<'_>) -> anyhow::Result<Vec<ReadEarly>> {
    let mut all = Vec::new();
    for (read, write) in reads_before_writes(trace).into_iter().take(MOST) {
        if !(tries.go_on)() {
            break;
        }
        let (writer, at) = (trace.event(write).thread, trace.event(write).at);
        let (Some(plans), Some(at)) = (Plans::first(trace, &tries.enforced, (read, writer))?, at) else { continue };
        let plan = plans.until(at);
        if tries.enforced.runs(&plan, 1, tries.go_on)?.passed == 0 {
            continue;
        }
        let passed = tries.enforced.runs(&plan, tries.times, tries.go_on)?.passed;
        if plans.run(&plan, tries)?.is_some_and(|run| !goes_on(trace, &run)) {
            continue;
        }
        if (tries.go_on)() {
            all.push(ReadEarly { read, write, passed });
        }
        if passed == tries.times {
            break;
        }
    }
    Ok(all)
}

/// The last read of each variable by the thread that did something last, where nobody had written it, the latest first, with the write of
/// another thread that came next.
fn reads_before_writes(trace: &Trace) -> Vec<(EventId, EventId)> {
    let Some(thread) = failing_thread(trace) else { return Vec::new() };
    let mut next: Vec<Option<EventId>> = vec![None; trace.vars.len()];
    let mut is_done = vec![false; trace.vars.len()];
    let mut all = Vec::new();
    for (id, event) in trace.events.iter().enumerate().rev().map(|(index, event)| (EventId::from_index(index), event)) {
        let Some(var) = event.op.var().map(|var| var.index()) else { continue };
        if event.thread != thread {
            next[var] = if event.op.writes() { Some(id) } else { next[var] };
        } else if !matches!(event.op, Op::Write { .. }) && !std::mem::replace(&mut is_done[var], true) {
            all.extend(next[var].map(|write| (id, write)));
        }
    }
    let mut first_write: Vec<Option<EventId>> = vec![None; trace.vars.len()];
    for (id, event) in trace.iter().filter(|(_, event)| event.op.writes()) {
        if let Some(var) = event.op.var() {
            first_write[var.index()].get_or_insert(id);
        }
    }
    all.retain(|(read, write)| trace.event(*write).op.var().and_then(|var| first_write[var.index()]) >= Some(*read));
    all
}

/// The reads of the thread that did something last, the latest first, with the writes of other threads that they read; of each write one.
fn last_reads(trace: &Trace) -> Vec<(EventId, EventId)> {
    let Some(thread) = failing_thread(trace) else { return Vec::new() };
    let mut written: Vec<Option<EventId>> = vec![None; trace.vars.len()];
    let mut all: Vec<(EventId, EventId)> = Vec::new();
    let mut joined: Vec<ThreadId> = Vec::new();
    for (id, event) in trace.iter() {
        if let Op::Join { child } = event.op {
            // What a thread did that was joined came first, whatever the schedule.
            joined.extend((event.thread == thread).then_some(child));
        }
        let Some(var) = event.op.var() else { continue };
        let is_other =
            |write: &EventId| trace.event(*write).thread != thread && !joined.contains(&trace.event(*write).thread);
        let write = written[var.index()].filter(is_other);
        if let Some(write) = write.filter(|_| event.thread == thread && !matches!(event.op, Op::Write { .. })) {
            all.retain(|(known, _)| *known != write);
            all.push((write, id));
        }
        if event.op.writes() {
            written[var.index()] = Some(id);
        }
    }
    all.reverse();
    all
}

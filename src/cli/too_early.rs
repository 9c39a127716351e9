//! Orders that a failing run takes: a thread wrote what another one read before it failed, too early. No code that is kept whole prevents
//! that, since the other thread has to come first.

use super::kept_whole::Tries;
use super::unfinished::Plans;
use foretrace::report::TooEarly;
use foretrace_trace::{BlockKind, EventId, Op, Trace};

/// Reads of the failing thread that are tried, the last one first.
const MOST: usize = 3;

/// What becomes of the program if the thread that failed goes on first, as far as it can, with the rest of the schedule as it was. Ends at
/// the first write that is a cause, or whose cause is known.
pub fn too_early(
    trace: &Trace,
    tries: &Tries<'_>,
    is_known: &dyn Fn(EventId, EventId) -> bool,
) -> anyhow::Result<Vec<TooEarly>> {
    let mut all = Vec::new();
    let unknown = last_reads(trace).into_iter().take_while(|(write, read)| !is_known(*write, *read));
    for (write, read) in unknown.take(MOST) {
        // The function that writes may have begun to change what the other thread uses.
        for until in [Some(write), start_of_function(trace, write)].into_iter().flatten() {
            if !(tries.go_on)() {
                return Ok(all);
            }
            let Some(plan) = Plans::first(trace, tries, (until, read))?.map(|plans| plans.onward()) else { continue };
            if tries.enforced.runs(&plan, 1, tries.go_on)?.passed == 0 {
                continue;
            }
            let passed = tries.enforced.runs(&plan, tries.times, tries.go_on)?.passed;
            if (tries.go_on)() {
                all.push(TooEarly { write, read, passed });
            }
            if passed == tries.times {
                return Ok(all);
            }
        }
    }
    Ok(all)
}

/// The reads of the thread that did something last, the latest first, with the writes of other threads that they read; of each write one.
fn last_reads(trace: &Trace) -> Vec<(EventId, EventId)> {
    let accesses = |id: &EventId| trace.event(*id).op.var().is_some();
    let Some(thread) = trace.iter().map(|(id, _)| id).rfind(accesses).map(|last| trace.event(last).thread) else {
        return Vec::new();
    };
    let mut written: Vec<Option<EventId>> = vec![None; trace.vars.len()];
    let mut all: Vec<(EventId, EventId)> = Vec::new();
    for (id, event) in trace.iter() {
        let Some(var) = event.op.var() else { continue };
        let write = written[var.index()].filter(|write| trace.event(*write).thread != thread);
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

/// Where the innermost function around an event begins.
fn start_of_function(trace: &Trace, event: EventId) -> Option<EventId> {
    let mut open = Vec::new();
    for (id, other) in trace.iter().take_while(|(id, _)| *id < event) {
        match other.op {
            Op::Begin { kind, .. } if other.thread == trace.event(event).thread => open.push((id, kind)),
            Op::End { .. } if other.thread == trace.event(event).thread => drop(open.pop()),
            _ => {}
        }
    }
    open.into_iter().rfind(|(_, kind)| *kind == BlockKind::Function).map(|(id, _)| id)
}

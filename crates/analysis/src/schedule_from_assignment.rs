//! From a solver's assignment to a schedule.

use foretrace_encodings::TraceView;
use foretrace_trace::{EventId, Feasibility};

/// The order of the trace's own steps, without the marks that bound context switches.
pub fn without_marks(view: TraceView<'_>, mut order: Vec<EventId>) -> Vec<EventId> {
    order.retain(|step| step.index() < view.trace.events.len());
    order
}

/// The schedule in which whole steps happen in this order, and every other event right before the next one of its thread.
pub fn in_order(view: TraceView<'_>, order: &[EventId]) -> Vec<EventId> {
    let mut schedule = Vec::new();
    let mut done = vec![0usize; view.trace_index.threads.len()];
    for step in order {
        let (thread, last) = (view.trace.event(*step).thread.index(), view.trace_index.step(view.trace, *step).1);
        let end = view.trace_index.position(last) + 1;
        if end > done[thread] {
            schedule.extend(&view.trace_index.threads[thread][done[thread]..end]);
            done[thread] = end;
        }
    }
    schedule
}

/// The same of a complete execution, with few context switches: what no order atom speaks of happens right after its thread's last
/// step in the order, or first of all. A step that the run was cut off in comes last.
pub fn complete_in_order(view: TraceView<'_>, order: &[EventId]) -> Vec<EventId> {
    let cut_off = |event: &EventId| view.trace.event(*event).part.is_some_and(|(k, n)| k < n);
    let is_open = |step: &EventId| cut_off(&view.trace_index.step(view.trace, *step).1);
    let whole: Vec<EventId> = order.iter().copied().filter(|step| !is_open(step)).collect();
    let of_thread = |event: EventId| view.trace.event(event).thread.index();
    let mut schedule = Vec::new();
    let mut done = vec![0usize; view.trace_index.threads.len()];
    let mut last = vec![None; done.len()];
    whole.iter().enumerate().for_each(|(at, step)| last[of_thread(*step)] = Some(at));
    // Only the last step of a thread can be open.
    let ends: Vec<usize> =
        view.trace_index.threads.iter().map(|events| events.partition_point(|event| !is_open(event))).collect();
    for (thread, events) in view.trace_index.threads.iter().enumerate().filter(|(thread, _)| last[*thread].is_none()) {
        schedule.extend(&events[..ends[thread]]);
        done[thread] = ends[thread];
    }
    for (at, step) in whole.iter().enumerate() {
        let thread = of_thread(*step);
        let end = view.trace_index.position(view.trace_index.step(view.trace, *step).1) + 1;
        let end = if last[thread] == Some(at) { ends[thread] } else { end };
        if end > done[thread] {
            schedule.extend(&view.trace_index.threads[thread][done[thread]..end]);
            done[thread] = end;
        }
    }
    for (events, end) in view.trace_index.threads.iter().zip(ends) {
        schedule.extend(&events[end..]);
    }
    schedule
}

/// The schedule in which the steps of `order` happen in that order, and every other event right before the next
/// one of its thread. A prefix ends at `last`, a complete execution goes on to the last event of the trace.
pub fn schedule_from_assignment(
    view: TraceView<'_>,
    order: &[EventId],
    last: EventId,
    feasibility: Feasibility,
) -> Vec<EventId> {
    let mut schedule = Vec::new();
    let mut done = vec![0usize; view.trace_index.threads.len()];
    let mut advance = |until: EventId, schedule: &mut Vec<EventId>| {
        let thread = view.trace.event(until).thread.index();
        let end = view.trace_index.position(until) + 1;
        if end > done[thread] {
            schedule.extend(&view.trace_index.threads[thread][done[thread]..end]);
            done[thread] = end;
        }
    };
    let cut_off = |event: EventId| view.trace.event(event).part.is_some_and(|(k, n)| k < n);
    for step in order {
        if feasibility == Feasibility::Complete && cut_off(view.trace_index.step(view.trace, *step).1) {
            continue;
        }
        advance(view.trace_index.step(view.trace, *step).1, &mut schedule);
    }
    match feasibility {
        Feasibility::Prefix => {
            advance(last, &mut schedule);
            let end = schedule.iter().position(|event| *event == last);
            schedule.truncate(end.map_or(schedule.len(), |end| end + 1));
        }
        Feasibility::Complete => {
            // A step that the run was cut off in is the last thing that happens.
            let end = view.trace.events.last().map(|event| event.thread.index());
            let threads = view.trace_index.threads.iter().enumerate();
            let (others, last): (Vec<_>, Vec<_>) = threads.partition(|(thread, _)| Some(*thread) != end);
            for event in others.into_iter().chain(last).filter_map(|(_, own)| own.last()) {
                advance(*event, &mut schedule);
            }
        }
    }
    schedule
}

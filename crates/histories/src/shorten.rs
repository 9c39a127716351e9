//! Makes a schedule whose history fails shorter: fewer events, then fewer context switches. Each step is run and judged again.

use crate::context::Context;
use crate::run::{Way, perform};
use foretrace_checker::context_switches;
use foretrace_trace::{EventId, Op, ThreadId};

/// Cuts a way off at the first return at which its history fails, if there is one.
pub(crate) type Failing<'f> = dyn Fn(Way) -> Option<Way> + 'f;

/// A schedule that fails, too, and from which no thread's end can be left out and no two turns of a thread can be joined. Stops early where
/// `go_on` says so.
pub(crate) fn shortened(context: &Context<'_>, mut way: Way, fails: &Failing<'_>, go_on: &dyn Fn() -> bool) -> Way {
    let tried = |schedule: Vec<EventId>| perform(context, &schedule).filter(|_| go_on()).and_then(fails);
    let switches = |schedule: &[EventId]| context_switches(context.trace, schedule);
    loop {
        let shorter =
            |schedule: Vec<EventId>| tried(schedule).filter(|other| other.schedule.len() < way.schedule.len());
        let threads = (0..context.trace.threads.len()).map(ThreadId::from_index);
        let cut = threads.flat_map(|thread| without_ends(context, &way.schedule, thread)).find_map(shorter);
        let better = cut.or_else(|| {
            let all = joined(context, &way.schedule).into_iter();
            all.filter(|schedule| switches(schedule) < switches(&way.schedule)).find_map(tried)
        });
        match better {
            Some(better) => way = better,
            None => return way,
        }
    }
}

/// A schedule without the end of a thread, the most first: it may end before an operation or a join, and after an operation.
fn without_ends(context: &Context<'_>, schedule: &[EventId], thread: ThreadId) -> Vec<Vec<EventId>> {
    let is_own = |event: &EventId| context.trace.event(*event).thread == thread;
    let mut cuts = vec![0];
    for (place, event) in schedule.iter().enumerate().filter(|(_, event)| is_own(event)) {
        match context.trace.event(*event).op {
            Op::Call { .. } | Op::Join { .. } => cuts.push(place),
            Op::Return { .. } => cuts.push(place + 1),
            _ => {}
        }
    }
    let without = |cut: &usize| {
        let kept = schedule.iter().enumerate().filter(|(place, event)| place < cut || !is_own(event));
        kept.map(|(_, event)| *event).collect()
    };
    cuts.iter().map(without).collect()
}

/// The schedules in which a turn of a thread follows its turn before at once: the later one moved up, or the earlier one down.
fn joined(context: &Context<'_>, schedule: &[EventId]) -> Vec<Vec<EventId>> {
    let thread = |event: &EventId| context.trace.event(*event).thread;
    let turns: Vec<&[EventId]> = schedule.chunk_by(|one, other| thread(one) == thread(other)).collect();
    let mut all = Vec::new();
    for (later, turn) in turns.iter().enumerate() {
        let Some(earlier) = turns[..later].iter().rposition(|other| thread(&other[0]) == thread(&turn[0])) else {
            continue;
        };
        let between = &turns[earlier + 1..later];
        let (before, after) = (&turns[..earlier], &turns[later + 1..]);
        let up = [before, &[turns[earlier], turn], between, after].concat();
        let down = [before, between, &[turns[earlier], turn], after].concat();
        all.extend([up.concat(), down.concat()]);
    }
    all
}

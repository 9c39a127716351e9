//! Shorter witnesses: each thread only goes as far as the violation needs it to.

use foretrace_trace::{EventId, ThreadId, Trace};

/// The schedule without the last events of each thread that `still` can do without; `still` runs a schedule and says whether
/// it shows the same. Takes a number of runs that grows with the threads and the logarithm of their events.
pub fn shortened(trace: &Trace, schedule: Vec<EventId>, still: &mut dyn FnMut(&[EventId]) -> bool) -> Vec<EventId> {
    let mut best = schedule;
    for thread in 0..trace.threads.len() {
        let thread = ThreadId::from_index(thread);
        let count = best.iter().filter(|event| trace.event(**event).thread == thread).count();
        let (mut fails, mut works) = (None::<usize>, count);
        // Binary search: more of a thread's events never hurts others, but for locks that it then holds; each step is checked.
        loop {
            let low = fails.map_or(0, |fails| fails + 1);
            if low >= works {
                break;
            }
            let middle = low + (works - low) / 2;
            let attempt = cut(trace, &best, thread, middle);
            if still(&attempt) {
                works = middle;
            } else {
                fails = Some(middle);
            }
        }
        if works < count {
            best = cut(trace, &best, thread, works);
        }
    }
    best
}

/// The schedule with only the first events of a thread.
fn cut(trace: &Trace, schedule: &[EventId], thread: ThreadId, keep: usize) -> Vec<EventId> {
    let mut seen = 0;
    let mut kept = schedule.to_vec();
    kept.retain(|event| {
        if trace.event(*event).thread != thread {
            return true;
        }
        seen += 1;
        seen <= keep
    });
    kept
}

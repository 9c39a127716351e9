//! Orders that the trace does not show. An `unseen` event marks a place where code ran that may order threads.
//!
//! The observed run shows that such code can run in the order of that run. So a schedule that keeps the orders between those events is
//! certain. Any other schedule rests on the assumption that the code does not order the threads. Some code does not wait for other code, but does
//! otherwise after it (`if_both`): there a schedule is certain that has one of the two alone.

use foretrace_trace::{EventId, NameId, Op, Trace};
use rustc_hash::FxHashMap;

/// An order of the observed run that a schedule does not keep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unseen {
    /// The event of the code that the trace does not show.
    pub event: EventId,
    /// An event of another thread that came before it in the run, and in the schedule does not.
    pub after: EventId,
}

/// Where such code ran, and what it may have to come after.
pub(crate) struct UnseenOrders {
    /// Per object and thread, its events in order.
    of_objects: FxHashMap<NameId, Vec<Vec<EventId>>>,
    /// Per thread, all its events, where some such event has no object.
    all: Vec<Vec<EventId>>,
    /// Whether there are any.
    any: bool,
}

impl UnseenOrders {
    pub fn in_trace(trace: &Trace) -> UnseenOrders {
        let mut orders = UnseenOrders { of_objects: FxHashMap::default(), all: Vec::new(), any: false };
        let threads = trace.threads.len();
        let mut needs_all = false;
        for (id, event) in trace.iter() {
            let Op::Unseen { object, .. } = event.op else { continue };
            orders.any = true;
            match object {
                Some(object) => {
                    let of_object = orders.of_objects.entry(object).or_insert_with(|| vec![Vec::new(); threads]);
                    of_object[event.thread.index()].push(id);
                }
                None => needs_all = true,
            }
        }
        if needs_all {
            orders.all = vec![Vec::new(); threads];
            trace.iter().for_each(|(id, event)| orders.all[event.thread.index()].push(id));
        }
        orders
    }

    /// The first pair of events of such code of which a schedule has the later one first, or alone.
    pub fn first_left_out(&self, trace: &Trace, schedule: &[EventId]) -> Option<Unseen> {
        if !self.any {
            return None;
        }
        let mut done: Vec<Option<EventId>> = vec![None; trace.threads.len()]; // per thread, its last event so far
        for event in schedule {
            let thread = trace.event(*event).thread.index();
            done[thread] = Some(*event);
            let Op::Unseen { object, if_both, .. } = trace.event(*event).op else { continue };
            let before = match object {
                Some(object) => self.of_objects.get(&object).map_or(&[][..], Vec::as_slice),
                None => &self.all,
            };
            for (other, events) in before.iter().enumerate().filter(|(other, _)| *other != thread) {
                let earlier = events.partition_point(|earlier| earlier < event);
                if if_both {
                    match events.get(earlier).filter(|later| done[other].is_some_and(|done| done >= **later)) {
                        Some(later) => return Some(Unseen { event: *later, after: *event }),
                        None => continue,
                    }
                }
                let last = earlier.checked_sub(1).map(|last| events[last]);
                if let Some(after) = last.filter(|last| done[other].is_none_or(|done| done < *last)) {
                    return Some(Unseen { event: *event, after });
                }
            }
        }
        None
    }
}

//! Marks that divide schedules into stretches: a trace with one more thread, whose events do nothing and can happen at any time.
//!
//! A bound on context switches needs only order atoms: each stretch between two marks belongs to one thread, and marks are steps like
//! others, so every solver that decides order decides this, too.

use crate::view::TraceView;
use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_trace::{BlockKind, Event, EventId, Observed, Op, Thread, ThreadId, Trace};

/// A trace with marks after its events, and the facts about it.
#[derive(Debug)]
pub struct Marked {
    trace: Trace,
    trace_index: TraceIndex,
    observed: Observed,
    clocks: MustHappenBefore,
}

/// How many marks a bound on context switches needs: one before each stretch, and one after the last.
pub(crate) fn count(switches: u32) -> usize {
    switches as usize + 2
}

impl Marked {
    /// The trace of these facts with the marks for at most `switches` context switches. Its own events keep their indices.
    pub fn new(view: TraceView<'_>, switches: u32) -> Marked {
        let mut trace = view.trace.clone();
        let thread = ThreadId::from_index(trace.threads.len());
        let number = trace.threads.iter().map(|thread| thread.number).max().map_or(1, |number| number + 1);
        trace.threads.push(Thread { number, name: None, path: None });
        let mark = Event {
            thread,
            op: Op::Begin { label: None, kind: BlockKind::Mark },
            loc: None,
            at: None,
            part: None,
            tried: false,
        };
        trace.events.extend(std::iter::repeat_n(mark, count(switches)));
        let trace_index = TraceIndex::new(&trace);
        let observed = view.observed.followed_by(count(switches));
        let clocks = view.clocks.beside(count(switches));
        Marked { trace, trace_index, observed, clocks }
    }

    /// What is fixed about the trace with its marks.
    pub fn view(&self) -> TraceView<'_> {
        let Marked { trace, trace_index, observed, clocks } = self;
        TraceView { trace, trace_index, observed, clocks }
    }
}

/// The mark of this number, from 0 on, in a trace with the marks for at most `switches` context switches.
pub(crate) fn mark(trace: &Trace, switches: u32, nth: u32) -> EventId {
    EventId::from_index(trace.events.len() - count(switches) + nth as usize)
}

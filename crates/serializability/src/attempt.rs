//! Attempts of a block: what it reads up to a compare-exchange, which succeeds or makes it try again.
//!
//! What a failed attempt read is dropped: the block acts as if it had not read it. So a violation path that starts or ends there
//! harms nothing. And what an attempt reads has an effect only where its compare-exchange succeeds.

use foretrace_index::TraceIndex;
use foretrace_trace::{Block, EventId, Op, TermId, Trace};
use rustc_hash::{FxHashMap, FxHashSet};

/// How many events after a failed attempt are searched for a use of what it read.
const MOST_EVENTS: usize = 2_000;

/// The attempts of one block.
#[derive(Clone, Default, Debug)]
pub struct Attempts {
    dropped: FxHashSet<EventId>,
    confirmed_by: FxHashMap<EventId, EventId>,
}

impl Attempts {
    /// The attempts of a block, where the trace knows values as expressions.
    pub fn of_block(trace: &Trace, trace_index: &TraceIndex, block: &Block) -> Attempts {
        let thread = &trace_index.threads[block.thread.index()];
        let from = thread.partition_point(|event| *event < block.first);
        let to = thread.partition_point(|event| *event <= block.last);
        let mut attempts = Attempts::default();
        let mut reads: Vec<EventId> = Vec::new();
        for (at, event) in thread[from..to].iter().enumerate() {
            let op = &trace.event(*event).op;
            let was_read = || reads.iter().any(|read| trace.event(*read).op.var() == op.var());
            match op {
                Op::Read { guard: Some(_), .. } if was_read() => {
                    reads.push(*event);
                    let rest = &thread[from + at + 1..];
                    reads.retain(|read| !is_used(trace, *read, rest));
                    attempts.dropped.extend(reads.drain(..));
                }
                Op::Read { .. } => reads.push(*event),
                Op::Rmw { guard: Some(_), .. } if was_read() => {
                    attempts.confirmed_by.extend(reads.drain(..).map(|read| (read, *event)));
                }
                Op::Let { .. } | Op::Assume { .. } => {}
                // Whatever else it does may tell others what it read.
                _ => reads.clear(),
            }
        }
        attempts
    }

    /// Whether nothing depends on what the block read there.
    pub fn is_dropped(&self, access: EventId) -> bool {
        self.dropped.contains(&access)
    }

    /// The compare-exchange that has to succeed for what the block read there to have an effect.
    pub fn confirmed_by(&self, access: EventId) -> Option<EventId> {
        self.confirmed_by.get(&access).copied()
    }

    /// Whether a path between these two accesses may be one of attempts alone.
    pub fn concern(&self, first: EventId, last: EventId) -> bool {
        self.is_dropped(first) || self.is_dropped(last) || self.confirmed_by(last).is_some()
    }
}

/// Whether what was read is used from the next access on; also where that is not known.
fn is_used(trace: &Trace, read: EventId, rest: &[EventId]) -> bool {
    // Names are defined before the attempt fails, too: all of the thread from the read on are followed.
    let mut names = FxHashSet::from_iter([read]);
    let thread = trace.event(read).thread;
    let until = rest.first().copied().unwrap_or(EventId(trace.events.len() as u32));
    for event in (read.0 + 1..until.0).map(EventId).filter(|event| trace.event(*event).thread == thread) {
        follow(trace, event, &mut names);
    }
    let mut tries_again = false;
    for event in rest.iter().take(MOST_EVENTS) {
        let op = &trace.event(*event).op;
        tries_again |= op.var().is_some();
        let mentions = [op.condition(), op.written()].into_iter().flatten().any(|term| mentions(trace, term, &names));
        // The branch that leads to the next attempt asks how this one went.
        let is_branch_back = matches!(op, Op::Assume { .. }) && !tries_again;
        if mentions && !is_branch_back {
            return true;
        }
        follow(trace, *event, &mut names);
    }
    rest.len() > MOST_EVENTS
}

/// Takes in a name that is defined by others.
fn follow(trace: &Trace, event: EventId, names: &mut FxHashSet<EventId>) {
    if let Op::Let { .. } = trace.event(event).op
        && trace.event(event).op.computed().is_some_and(|term| mentions(trace, term, names))
    {
        names.insert(event);
    }
}

fn mentions(trace: &Trace, term: TermId, names: &FxHashSet<EventId>) -> bool {
    trace.terms.leaves(term).into_iter().any(|local| names.contains(&local.definition))
}

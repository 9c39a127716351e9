//! Decides blocks of small traces by walking all prefixes, by the definition of section II.D alone: what everything else is compared with.

use foretrace_checker::oracle::{Automaton, Oracle, Values};
use foretrace_trace::{Block, Blocks, EventId, Feasibility, Model, Observed, ThreadId, Trace, Unsupported};
use std::ops::ControlFlow;

/// What exhaustive search finds of a block.
#[derive(Default, Clone, Debug)]
pub struct Truth {
    /// Whether a path starts and ends in it, but not in one block inside of it.
    pub violated: bool,
    /// Events of other threads on such paths, a bit each.
    pub on_paths: u64,
    /// The fewest context switches between the first and the last access of such a path, where they are counted.
    pub fewest_switches: Option<u32>,
}

/// For each event of a prefix, the accesses that lead to it.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Prefix {
    reached: Vec<u64>,
    done: u64,
    /// Where switches are counted: the thread of the last event, how many there were, and how many before each access.
    last: Option<ThreadId>,
    switches: u32,
    before: Vec<u32>,
}

/// Conflicts and program order of prefixes.
struct Paths<'t> {
    trace: &'t Trace,
    counts_switches: bool,
}

/// What is known of blocks so far.
struct Truths<'t> {
    trace: &'t Trace,
    blocks: &'t Blocks,
    truths: Vec<Truth>,
}

fn is_access(trace: &Trace, event: EventId) -> bool {
    trace.event(event).op.var().is_some() && !trace.event(event).op.is_external()
}

impl Automaton for Paths<'_> {
    type Progress = Prefix;

    fn start(&self) -> Prefix {
        let events = self.trace.events.len();
        Prefix { reached: vec![0; events], done: 0, last: None, switches: 0, before: vec![0; events] }
    }

    fn after(&self, prefix: &Prefix, event: EventId, _: Values) -> Option<Prefix> {
        let mut prefix = prefix.clone();
        if self.counts_switches {
            let thread = self.trace.event(event).thread;
            prefix.switches += u32::from(prefix.last.replace(thread).is_some_and(|last| last != thread));
            prefix.before[event.index()] = prefix.switches;
        }
        if !is_access(self.trace, event) {
            return Some(prefix);
        }
        let this = self.trace.event(event);
        let mut reached = 0;
        for (earlier, other) in self.trace.iter().filter(|(id, _)| prefix.done >> id.0 & 1 == 1) {
            let conflict = other.op.var() == this.op.var() && (other.op.writes() || this.op.writes());
            if other.thread == this.thread || conflict {
                reached |= prefix.reached[earlier.index()] | 1 << earlier.0;
            }
        }
        prefix.done |= 1 << event.0;
        prefix.reached[event.index()] = reached;
        Some(prefix)
    }
}

impl Truths<'_> {
    fn judge_all(&mut self, prefix: &Prefix, end: EventId) {
        if is_access(self.trace, end) {
            (0..self.truths.len()).for_each(|block| self.judge(block, prefix, end));
        }
    }

    fn judge(&mut self, block: usize, prefix: &Prefix, end: EventId) {
        let reached = prefix.reached[end.index()];
        let whole = self.blocks.all()[block];
        if !holds(self.trace, &whole, end) {
            return;
        }
        let inside = |one: EventId, other: EventId| {
            let around = |inner: &usize| self.blocks.around(*inner) == Some(block);
            let mut inner = (0..self.blocks.all().len()).filter(around).map(|inner| self.blocks.all()[inner]);
            inner.any(|inner| holds(self.trace, &inner, one) && holds(self.trace, &inner, other))
        };
        let events =
            |mask: u64| (0..self.trace.events.len() as u32).map(EventId).filter(move |id| mask >> id.0 & 1 == 1);
        let conflict = |one: EventId, other: EventId| {
            let [one, other] = [one, other].map(|id| &self.trace.event(id).op);
            one.var() == other.var() && (one.writes() || other.writes())
        };
        let outside = |event: &EventId| self.trace.event(*event).thread != whole.thread;
        let up_to = |event: EventId| prefix.reached[event.index()] | 1 << event.0;
        for back in events(reached).filter(outside).filter(|back| conflict(*back, end)) {
            for via in events(up_to(back)).filter(outside) {
                for out in events(up_to(via)).filter(outside) {
                    let leaves = |start: &EventId| holds(self.trace, &whole, *start) && conflict(*start, out);
                    for start in events(prefix.reached[out.index()]).filter(leaves).filter(|one| !inside(*one, end)) {
                        let switches = prefix.before[end.index()] - prefix.before[start.index()];
                        let truth = &mut self.truths[block];
                        truth.violated = true;
                        truth.on_paths |= 1 << via.0;
                        truth.fewest_switches = Some(truth.fewest_switches.map_or(switches, |few| few.min(switches)));
                    }
                }
            }
        }
    }
}

fn holds(trace: &Trace, block: &Block, event: EventId) -> bool {
    block.holds(trace.event(event).thread, event, event)
}

/// What exhaustive search finds of each block of a trace of at most 64 events.
///
/// # Errors
/// Where the trace knows too little for the model.
pub fn truths(trace: &Trace, observed: &Observed, blocks: &Blocks, model: Model) -> Result<Vec<Truth>, Unsupported> {
    truths_of((trace, observed), blocks, model, false)
}

/// The same with the fewest context switches that a path needs, which takes a search of more prefixes.
///
/// # Errors
/// As [`truths`].
pub fn truths_with_switches(
    trace: &Trace,
    observed: &Observed,
    blocks: &Blocks,
    model: Model,
) -> Result<Vec<Truth>, Unsupported> {
    truths_of((trace, observed), blocks, model, true)
}

fn truths_of(
    (trace, observed): (&Trace, &Observed),
    blocks: &Blocks,
    model: Model,
    counts_switches: bool,
) -> Result<Vec<Truth>, Unsupported> {
    let oracle = Oracle::new(trace, observed, model)?;
    let mut found = Truths { trace, blocks, truths: vec![Truth::default(); blocks.all().len()] };
    oracle.walk(&Paths { trace, counts_switches }, Feasibility::Prefix, |step| {
        found.judge_all(step.progress, step.event);
        ControlFlow::Continue(())
    });
    Ok(found.truths)
}

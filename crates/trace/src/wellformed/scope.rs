//! Names in expressions: each means the latest definition of its thread, with the sort that it has there.

use super::naming::thread;
use crate::error::{Problem, quoted};
use crate::op::Op;
use crate::program_order::ProgramOrder;
use crate::smtlib::is_expressible;
use crate::term::{Node, TermId};
use crate::trace::{Data, Event, EventId, Local, ThreadId, Trace};

/// Which events may use a term, from the names in it.
#[derive(Clone, Copy)]
enum Uses {
    /// No names: every event may.
    Anywhere,
    /// Events of this thread after its definition `latest`, up to the redefinition of a name in it.
    Between { thread: ThreadId, latest: EventId, redefined: EventId },
    /// None: it mentions a definition that is none, or names of two threads.
    Nowhere,
}

/// Per term of the arena, who may use it.
pub(super) struct Scope {
    uses: Vec<Uses>,
}

const NEVER: EventId = EventId(u32::MAX);

impl Scope {
    pub(super) fn new(trace: &Trace) -> Scope {
        let redefinitions = redefinitions(trace);
        let mut uses: Vec<Uses> = Vec::with_capacity(trace.terms.len());
        for term in trace.terms.iter() {
            let of_term = match trace.terms.node(term) {
                Node::Const(_) => Uses::Anywhere,
                Node::Leaf(local) => of_local(trace, local, &redefinitions),
                Node::App(_, args) => args.iter().fold(Uses::Anywhere, |all, arg| all.and(uses[arg.index()])),
            };
            uses.push(of_term);
        }
        Scope { uses }
    }

    pub(super) fn check(&self, trace: &Trace, id: EventId, event: &Event) -> Result<(), Problem> {
        if trace.data == Data::None {
            return Ok(());
        }
        if let Some(dst) = event.op.dst().map(|dst| trace.names.text(dst)).filter(|dst| !is_expressible(dst)) {
            return Err(Problem::new(format!("the local name {}", quoted(dst)), "a name without `|` and `\\`"));
        }
        let sees_own = !matches!(event.op, Op::Let { .. });
        match &event.op {
            Op::Let { expr, .. } | Op::Assume { expr, .. } => self.check_term(trace, id, event, *expr, sees_own),
            op => [op.written(), op.condition()]
                .into_iter()
                .flatten()
                .try_for_each(|term| self.check_term(trace, id, event, term, sees_own)),
        }
    }

    fn check_term(
        &self,
        trace: &Trace,
        id: EventId,
        event: &Event,
        term: TermId,
        sees_own: bool,
    ) -> Result<(), Problem> {
        let fits = match self.uses[term.index()] {
            Uses::Anywhere => true,
            Uses::Nowhere => false,
            // An event's own `dst` hides the name's older meaning in all but a `let`.
            Uses::Between { thread, latest, redefined } => {
                let defined = latest < id || (latest == id && sees_own);
                let current = id < redefined || (id == redefined && !sees_own);
                thread == event.thread && defined && current
            }
        };
        if fits {
            return Ok(());
        }
        let found = "an expression over names that do not stand for what it means here";
        let expected = format!("names as {} has last defined them before", thread(trace, event.thread));
        Err(Problem::new(found, expected))
    }
}

impl Uses {
    fn and(self, other: Uses) -> Uses {
        match (self, other) {
            (Uses::Anywhere, uses) | (uses, Uses::Anywhere) => uses,
            (
                Uses::Between { thread, latest, redefined },
                Uses::Between { thread: other, latest: other_latest, redefined: other_redefined },
            ) if thread == other => {
                Uses::Between { thread, latest: latest.max(other_latest), redefined: redefined.min(other_redefined) }
            }
            _ => Uses::Nowhere,
        }
    }
}

/// Per event that defines a name: the next event of its thread that defines the same.
fn redefinitions(trace: &Trace) -> Vec<EventId> {
    let mut redefinitions = vec![NEVER; trace.events.len()];
    let order = ProgramOrder::new(trace);
    let mut latest: Vec<Option<(ThreadId, EventId)>> = vec![None; trace.names.len()];
    for thread in (0..trace.threads.len()).map(ThreadId::from_index) {
        for id in order.of_thread(thread) {
            let Some(dst) = trace.event(*id).op.dst() else { continue };
            if let Some((_, earlier)) = latest[dst.index()].replace((thread, *id)).filter(|(by, _)| *by == thread) {
                redefinitions[earlier.index()] = *id;
            }
        }
    }
    redefinitions
}

fn of_local(trace: &Trace, local: &Local, redefinitions: &[EventId]) -> Uses {
    let Some(event) = trace.events.get(local.definition.index()) else { return Uses::Nowhere };
    let sort = match &event.op {
        Op::Let { expr, .. } => Some(trace.terms.sort(*expr)),
        op => op.dst().and(op.var()).and_then(|var| trace.vars[var.index()].sort),
    };
    if sort != Some(local.sort) {
        return Uses::Nowhere;
    }
    let (latest, redefined) = (local.definition, redefinitions[local.definition.index()]);
    Uses::Between { thread: event.thread, latest, redefined }
}

//! Traces with less data: from expressions to the values that were seen, from values to none.

use crate::observe::{StepError, observe};
use crate::observed::Observed;
use crate::op::Op;
use crate::term::{Node, TermId, Terms};
use crate::trace::{Data, Event, EventId, Local, Trace, Variable};
use crate::value::Value;

/// Why a trace cannot be had with this data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LowerError {
    /// It knows less than was asked for.
    #[error("found a trace with `data` {}, expected one with at least {}", has.name(), wanted.name())]
    Unknown {
        /// What it knows.
        has: Data,
        /// What was asked for.
        wanted: Data,
    },
    /// Its recorded order is no execution.
    #[error(transparent)]
    Step(#[from] StepError),
}

/// The trace with no more data than `data`.
///
/// Towards `concrete`, every access gets the values that it read and wrote in the recorded order, and `let` and
/// `assume` go. A guard stays, over what is left of its names, or as `true`: it still marks an access that must return
/// its recorded value. Towards `none`, all values, guards, local names, sorts and initial values go.
pub fn lower(trace: &Trace, data: Data) -> Result<Trace, LowerError> {
    if data > trace.data {
        return Err(LowerError::Unknown { has: trace.data, wanted: data });
    }
    if data == trace.data {
        return Ok(trace.clone());
    }
    let observed = observe(trace)?;
    let new_index = new_indices(trace);
    let mut lowered = Trace { events: Vec::new(), terms: Terms::default(), data, ..trace_without_events(trace, data) };
    let guards = if data == Data::Concrete { copy_guards(trace, &new_index, &mut lowered.terms) } else { vec![] };
    let mut lowering = Lowering { data, observed: &observed, guards, new_index: &new_index };
    for (id, event) in trace.iter().filter(|(_, event)| survives(event)) {
        let op = lowering.op(&mut lowered.terms, id, &event.op);
        lowered.events.push(Event { op, ..event.clone() });
    }
    renumber_parts(trace, &new_index, &mut lowered);
    Ok(lowered)
}

fn survives(event: &Event) -> bool {
    !matches!(event.op, Op::Let { .. } | Op::Assume { .. })
}

/// Each event's index among those that survive; for the others, that of the next one.
fn new_indices(trace: &Trace) -> Vec<EventId> {
    let mut next = 0;
    let index = |event: &Event| {
        next += u32::from(survives(event));
        EventId(next - u32::from(survives(event)))
    };
    trace.events.iter().map(index).collect()
}

fn trace_without_events(trace: &Trace, data: Data) -> Trace {
    let bare = |var: &Variable| Variable { sort: None, init: None, ..var.clone() };
    Trace {
        program: trace.program.clone(),
        vars: if data == Data::None { trace.vars.iter().map(bare).collect() } else { trace.vars.clone() },
        syncs: trace.syncs.clone(),
        threads: trace.threads.clone(),
        names: trace.names.clone(),
        call_stacks: trace.call_stacks.clone(),
        ..Trace::new(data)
    }
}

/// Per term, its copy in the new arena if it stands in a guard and all its names survive.
fn copy_guards(trace: &Trace, new_index: &[EventId], terms: &mut Terms<Local>) -> Vec<Option<TermId>> {
    let guards: Vec<TermId> =
        trace.events.iter().filter(|event| survives(event)).filter_map(|event| event.op.condition()).collect();
    let mut copies: Vec<Option<TermId>> = vec![None; trace.terms.len()];
    for term in trace.terms.reachable(&guards) {
        copies[term.index()] = match trace.terms.node(term) {
            Node::Const(value) => Some(terms.constant(value.clone())),
            Node::Leaf(local) if survives(trace.event(local.definition)) => {
                let definition = new_index[local.definition.index()];
                Some(terms.leaf(Local { definition, sort: local.sort }))
            }
            Node::Leaf(_) => None,
            Node::App(func, args) => {
                let args: Option<Vec<TermId>> = args.iter().map(|arg| copies[arg.index()]).collect();
                args.and_then(|args| terms.app(*func, &args).ok())
            }
        };
    }
    copies
}

struct Lowering<'a> {
    data: Data,
    observed: &'a Observed,
    guards: Vec<Option<TermId>>,
    new_index: &'a [EventId],
}

impl Lowering<'_> {
    fn op(&mut self, terms: &mut Terms<Local>, id: EventId, op: &Op) -> Op {
        let values = self.data == Data::Concrete;
        let mut literal = |value: Option<&Value>| value.filter(|_| values).map(|value| terms.constant(value.clone()));
        let (read, written) = (literal(self.observed.read(id)), literal(self.observed.written(id)));
        let mut guard = |guard: Option<TermId>| guard.filter(|_| values).map(|guard| self.guard(terms, guard));
        match op {
            Op::Read { var, dst, guard: condition, .. } => {
                Op::Read { var: *var, dst: dst.filter(|_| values), value: read, guard: guard(*condition) }
            }
            Op::Write { var, guard: condition, external, .. } => {
                Op::Write { var: *var, expr: None, value: written, guard: guard(*condition), external: *external }
            }
            Op::Rmw { var, dst, guard: condition, external, .. } => Op::Rmw {
                var: *var,
                dst: dst.filter(|_| values),
                expr: None,
                value: read,
                stored: written,
                guard: guard(*condition),
                external: *external,
            },
            Op::Wake { cond, lock, cause, by } => {
                Op::Wake { cond: *cond, lock: *lock, cause: *cause, by: by.map(|by| self.new_index[by.index()]) }
            }
            other => other.clone(),
        }
    }

    fn guard(&self, terms: &mut Terms<Local>, guard: TermId) -> TermId {
        self.guards[guard.index()].unwrap_or_else(|| terms.constant(Value::Bool(true)))
    }
}

/// Groups of parts that lost some of theirs are numbered again.
fn renumber_parts(trace: &Trace, new_index: &[EventId], lowered: &mut Trace) {
    let mut group: Vec<EventId> = Vec::new();
    for (id, event) in trace.iter() {
        let Some((k, n)) = event.part else { continue };
        if survives(event) {
            group.push(new_index[id.index()]);
        }
        let ends = k == n || id.index() + 1 == trace.events.len();
        if !ends {
            continue;
        }
        let size = group.len() as u32 + (n - k);
        for (k, part) in (1..).zip(group.drain(..)) {
            lowered.events[part.index()].part = (size > 1).then_some((k, size));
        }
    }
}

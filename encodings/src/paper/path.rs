//! Path conditions: g(t) is true iff t is executed (Fusion, section 4.2).
//!
//! As in the paper's Fig. 5, an event's own condition is part of its g. The events that a thread waits for (a fork, a join, the arrives of
//! a barrier's round, the end of an initialisation) are executed, too.

use super::atom::{Atom, Cell};
use super::formula::Formula;
use foretrace_trace::{EventId, Func, Node, Op, Sort, TermId, Value, Why};

impl Formula<'_> {
    /// g of every event, in observed order.
    pub(super) fn path_conditions(&mut self) {
        for index in 0..self.view.trace.events.len() {
            let id = EventId::from_index(index);
            let mut parts: Vec<TermId> = self.needed_by(id).iter().map(|needed| self.path[needed.index()]).collect();
            parts.extend(self.own_condition(id));
            let term = self.build.and(parts);
            self.path.push(term);
        }
    }

    /// The events right before this one: each is executed before it, and if it is.
    pub(super) fn needed_by(&self, id: EventId) -> Vec<EventId> {
        let (trace, trace_index) = (self.view.trace, self.view.trace_index);
        let before = trace_index.previous(trace, id).or_else(|| trace_index.fork[trace.event(id).thread.index()]);
        before.into_iter().chain(trace_index.waits_for(trace, id).iter().copied()).collect()
    }

    fn own_condition(&mut self, id: EventId) -> Option<TermId> {
        let op = &self.view.trace.event(id).op;
        let thread = self.view.trace.event(id).thread;
        match *op {
            Op::Down { sem } => {
                let count = self.value_used(id, Cell::Count(sem));
                let zero = self.build.terms.constant(Value::zero(Sort::Int));
                Some(self.build.apply(Func::Gt, &[count, zero]))
            }
            Op::Wake { cond, cause: None, .. } => Some(self.value_used(id, Cell::Signalled(cond, thread))),
            Op::Assume { expr, why: Why::Pin } => {
                let holds = self.translate(expr);
                let pins = self.build.atom(Atom::Pins);
                self.has_pins = true;
                Some(self.build.implies(pins, holds))
            }
            _ => op.condition().map(|condition| self.translate(condition)),
        }
    }

    /// A thread's expression over the names of its definitions.
    pub(super) fn translate(&mut self, root: TermId) -> TermId {
        let terms = &self.view.trace.terms;
        let mut done: rustc_hash::FxHashMap<TermId, TermId> = rustc_hash::FxHashMap::default();
        for term in terms.reachable(&[root]) {
            let translated = match terms.node(term) {
                Node::Const(value) => self.build.terms.constant(value.clone()),
                Node::Leaf(local) => self.local(local.definition, local.sort),
                Node::App(func, args) => {
                    let args: Vec<TermId> = args.iter().map(|arg| done[arg]).collect();
                    self.build.apply(*func, &args)
                }
            };
            done.insert(term, translated);
        }
        done[&root]
    }

    /// The name of a local's definition: what a read takes from its π-function, or what a `let` computes.
    fn local(&mut self, definition: EventId, sort: Sort) -> TermId {
        match self.view.trace.event(definition).op.var() {
            Some(var) => self.value_used(definition, Cell::Var(var)),
            None => self.build.atom(Atom::Definition { at: definition, cell: None, sort }),
        }
    }
}

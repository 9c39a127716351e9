//! Forgetting the first events of a trace in the making: what others say of them becomes values.

use super::TraceAssembler;
use crate::op::Op;
use crate::term::{Node, TermId, Terms};
use crate::trace::{Event, EventId, Local, SyncId, Trace};
use crate::value::Value;
use rustc_hash::FxHashMap;

impl TraceAssembler {
    /// The trace in the making, for one who keeps its events valid.
    pub(crate) fn trace_mut(&mut self) -> &mut Trace {
        &mut self.trace
    }

    /// Whether a synchronisation object came into being by use.
    pub(crate) fn is_implied(&self, sync: SyncId) -> bool {
        self.implied[sync.index()]
    }

    /// Forgets the first events; `value` gives the value of the local name that one of them defined. The others move up.
    pub(crate) fn forget(&mut self, events: usize, value: &dyn Fn(EventId) -> Option<Value>) {
        self.bind_events();
        self.values.resize_with(self.scopes.len(), FxHashMap::default);
        for (scope, values) in self.scopes.iter_mut().zip(&mut self.values) {
            scope.retain(|name, local| match moved(local, events) {
                Some(kept) => {
                    *local = kept;
                    values.remove(name);
                    true
                }
                None => {
                    values.insert(*name, value(local.definition).unwrap_or_else(|| Value::zero(local.sort)));
                    false
                }
            });
        }
        self.trace.events.drain(..events);
        let old = std::mem::take(&mut self.trace.terms);
        let mut copying = Copying { old: &old, new: Terms::default(), copies: FxHashMap::default(), events, value };
        self.trace.events.iter_mut().for_each(|event| copying.event(event));
        self.trace.terms = copying.new;
        self.bound = self.trace.events.len();
    }
}

/// The local after the first events are gone; nothing where its definition is.
fn moved(local: &Local, events: usize) -> Option<Local> {
    let definition = local.definition.index().checked_sub(events)?;
    Some(Local { definition: EventId::from_index(definition), sort: local.sort })
}

/// Copies the terms that are still used.
struct Copying<'a> {
    old: &'a Terms<Local>,
    new: Terms<Local>,
    copies: FxHashMap<TermId, TermId>,
    events: usize,
    value: &'a dyn Fn(EventId) -> Option<Value>,
}

impl Copying<'_> {
    fn event(&mut self, event: &mut Event) {
        let mut term = |term: &mut TermId| *term = self.copy(*term);
        match &mut event.op {
            Op::Read { value, guard, .. } => [value, guard].into_iter().flatten().for_each(term),
            Op::Write { expr, value, guard, .. } => [expr, value, guard].into_iter().flatten().for_each(term),
            Op::Rmw { expr, value, stored, guard, .. } => {
                [expr, value, stored, guard].into_iter().flatten().for_each(term);
            }
            Op::Let { expr, .. } | Op::Assume { expr, .. } => term(expr),
            _ => {}
        }
    }

    fn copy(&mut self, term: TermId) -> TermId {
        if let Some(copy) = self.copies.get(&term) {
            return *copy;
        }
        for part in self.old.reachable(&[term]) {
            if self.copies.contains_key(&part) {
                continue;
            }
            let copy = match self.old.node(part) {
                Node::Const(value) => self.new.constant(value.clone()),
                Node::Leaf(local) => match moved(local, self.events) {
                    Some(kept) => self.new.leaf(kept),
                    None => {
                        let value = (self.value)(local.definition).unwrap_or_else(|| Value::zero(local.sort));
                        self.new.constant(value)
                    }
                },
                Node::App(func, args) => {
                    let args: Vec<TermId> = args.iter().map(|arg| self.copies[arg]).collect();
                    self.new.app(*func, &args).expect("the copies have the sorts of the originals")
                }
            };
            self.copies.insert(part, copy);
        }
        self.copies[&term]
    }
}

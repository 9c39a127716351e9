//! Concurrent SSA: a thread's expressions over its uses of shared variables.
//!
//! Source: Fusion, section 4.1. `pi.rs` says which definitions a use may take.

use crate::encoder::Encoder;
use crate::pi::Pi;
use crate::rules::Reads;
use crate::term::Atom;
use foretrace_trace::{EventId, Node, Op, Sort, TermId};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// How many times as many writes are looked at as are to be left by critical sections.
const MOST_HIDDEN: usize = 8;

impl Encoder<'_> {
    /// The π-function of an access.
    pub(crate) fn pi(&mut self, at: EventId) -> Rc<Pi> {
        if let Some(pi) = self.sources.get(&at) {
            return pi.clone();
        }
        let pi = Rc::new(self.narrowed_pi(at, usize::MAX).expect("so many are not there"));
        self.sources.insert(at, pi.clone());
        pi
    }

    /// The same where it has at most so many writes, and is not much larger before critical sections are looked at.
    pub(crate) fn pi_of_at_most(&mut self, writes: usize, at: EventId) -> Option<Rc<Pi>> {
        if let Some(pi) = self.sources.get(&at) {
            return Some(pi.clone()).filter(|pi| pi.writes.len() <= writes);
        }
        if Pi::size(self.view, at) > MOST_HIDDEN * writes {
            return None;
        }
        let pi = Rc::new(self.narrowed_pi(at, writes)?);
        self.sources.insert(at, pi.clone());
        Some(pi)
    }

    fn narrowed_pi(&self, at: EventId, most: usize) -> Option<Pi> {
        let pi = Pi::new(self.view, at);
        match &self.sections {
            Some(sections) => sections.narrow(self.view, pi, most),
            None => Some(pi).filter(|pi| pi.writes.len() <= most),
        }
    }

    /// The value of the access's variable just before it.
    pub(crate) fn value_before(&mut self, at: EventId) -> TermId {
        if let Some(value) = self.constants.get(&at) {
            return self.build.terms.constant(value.clone());
        }
        let sort = self.sort_at(at);
        self.build.atom(Atom::Value { at, sort })
    }

    /// The sort of the access's variable.
    pub(crate) fn sort_at(&self, at: EventId) -> Sort {
        let var = self.view.trace.event(at).op.var().expect("an access has a variable");
        self.view.trace.vars[var.index()].sort.expect("values are only asked of traces with data")
    }

    /// The value that a source of a π-function gives.
    pub(crate) fn source_value(&mut self, at: EventId, source: Option<EventId>) -> TermId {
        match source {
            Some(write) => self.written(write),
            None => {
                let var = self.view.trace.event(at).op.var().expect("an access has a variable");
                let init = self.view.trace.vars[var.index()].init.clone();
                self.build.terms.constant(init.expect("values are only asked of traces with data"))
            }
        }
    }

    /// The value that a write stores.
    pub(crate) fn written(&mut self, write: EventId) -> TermId {
        let expr = match self.rules.reads {
            Reads::Latest => self.view.trace.event(write).op.written(),
            _ => None,
        };
        match expr {
            Some(expr) => self.translate(expr),
            None => {
                let value = self.view.observed.written(write).cloned();
                self.build.terms.constant(value.expect("values are only asked of traces with data"))
            }
        }
    }

    /// A thread's expression over the values that its reads return.
    pub(crate) fn translate(&mut self, term: TermId) -> TermId {
        for let_event in self.unknown_lets(term) {
            let Op::Let { expr, .. } = self.view.trace.event(let_event).op else { continue };
            let value = self.translate_flat(expr);
            self.lets.insert(let_event, value);
        }
        self.translate_flat(term)
    }

    /// The `let` events that the term needs and that are not translated yet, earlier ones first.
    fn unknown_lets(&self, term: TermId) -> Vec<EventId> {
        let mut found = std::collections::BTreeSet::new();
        let mut pending = vec![term];
        while let Some(term) = pending.pop() {
            for local in self.view.trace.terms.leaves(term) {
                if let Op::Let { expr, .. } = self.view.trace.event(local.definition).op
                    && !self.lets.contains_key(&local.definition)
                    && found.insert(local.definition)
                {
                    pending.push(expr);
                }
            }
        }
        found.into_iter().collect()
    }

    fn translate_flat(&mut self, root: TermId) -> TermId {
        let terms = &self.view.trace.terms;
        let mut done: FxHashMap<TermId, TermId> = FxHashMap::default();
        for term in terms.reachable(&[root]) {
            let translated = match terms.node(term) {
                Node::Const(value) => self.build.terms.constant(value.clone()),
                Node::Leaf(local) => match self.lets.get(&local.definition) {
                    Some(value) => *value,
                    None => self.value_before(local.definition),
                },
                Node::App(func, args) => {
                    let args: Vec<TermId> = args.iter().map(|arg| done[arg]).collect();
                    self.build.apply(*func, &args)
                }
            };
            done.insert(term, translated);
        }
        done[&root]
    }
}

//! Guards, branches and pinned values: what must hold for the events of a prefix to happen as recorded.
//!
//! Source: Fusion, section 4.2, path conditions; asked of included events only (`encodings.md`, *Feasibility, exactly*). A
//! condition over one value that only constants can give is said in terms of where the value comes from, so that no
//! arithmetic is left of it.

use super::{Reads, Rule};
use crate::encoder::Encoder;
use crate::term::Atom;
use foretrace_trace::{EventId, Func, Node, Op, TermId, Value, Why};

/// π-functions with more arguments than this keep their conditions as terms.
const MOST_CASES: usize = 512;

impl Encoder<'_> {
    /// The condition of an event, if it has one.
    pub(crate) fn conditions(&mut self, id: EventId) {
        if self.rules.reads != Reads::Latest {
            return;
        }
        let op = &self.facts.trace.event(id).op;
        let Some(condition) = op.condition() else { return };
        let pinned = matches!(op, Op::Assume { why: Why::Pin, .. });
        let translated = self.translate(condition);
        for part in self.conjuncts(translated) {
            if self.is_known(id, part, pinned) {
                continue;
            }
            let holds = self.by_cases(part);
            let included = self.included(id);
            let mut term = self.build.implies(included, holds);
            if pinned {
                let pins = self.build.atom(Atom::Pins);
                term = self.build.implies(pins, term);
            }
            self.assert(if pinned { Rule::Pins } else { Rule::Guards }, id, term);
        }
    }

    fn conjuncts(&self, term: TermId) -> Vec<TermId> {
        match self.build.terms.node(term) {
            Node::App(Func::And, args) => args.to_vec(),
            _ => vec![term],
        }
    }

    /// Whether an earlier event of the thread asks the same; notes it where not.
    fn is_known(&mut self, id: EventId, condition: TermId, pinned: bool) -> bool {
        let thread = self.facts.trace.event(id).thread;
        let known = &mut self.cone.conditions;
        if known.contains(&(thread, condition, false)) {
            return true;
        }
        !known.insert((thread, condition, pinned))
    }

    /// A condition over one value with constant sources, as the sources that fulfil it.
    fn by_cases(&mut self, condition: TermId) -> TermId {
        let leaves = self.build.terms.leaves(condition);
        let [Atom::Value { at, .. }] = leaves[..] else { return condition };
        let at = *at;
        let pi = self.pi(at);
        if pi.writes.len() > MOST_CASES {
            return condition;
        }
        let mut fulfilling = Vec::new();
        let mut all = true;
        for source in pi.sources() {
            let given = self.source_value(at, source);
            let Some(value) = self.build.terms.as_const(given).cloned() else { return condition };
            let holds = self.build.terms.evaluate(condition, &mut |_| value.clone());
            if holds == Value::Bool(true) {
                fulfilling.push(source);
            } else {
                all = false;
            }
        }
        if all {
            return self.build.truth();
        }
        let cases: Vec<TermId> = fulfilling.into_iter().map(|source| self.reads_from(at, source)).collect();
        self.build.or(cases)
    }
}

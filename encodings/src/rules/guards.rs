//! Guards, branches and pinned values: what must hold for the events of a prefix to happen as recorded.
//!
//! Source: Fusion, section 4.2, path conditions; for included events only (`docs/exactness.md`, *Inclusion*). If only constants can give
//! the one value of a condition, the constraint names the writes that the value may come from, so it needs no arithmetic. A condition that
//! other conditions of the thread imply is left out ([`super::implied`]).

use super::{Reads, Rule};
use crate::encoder::Encoder;
use crate::origin::Origin;
use crate::term::Atom;
use foretrace_trace::{EventId, Func, Node, Op, TermId, Value, Why};

/// π-functions with more arguments than this keep their conditions as terms.
const MOST_CASES: usize = 512;

/// A condition that an event must find true.
pub(crate) struct Condition {
    pub(crate) about: EventId,
    pub(crate) term: TermId,
    pub(crate) pinned: bool,
}

impl Encoder<'_> {
    /// The conditions that come into force with an event: its own, and those of the assumes right before it.
    ///
    /// A prefix that ends with an assume can do without it, so it takes part with the next event that others can notice,
    /// or with the last of its thread. Hence all conditions of a run of assumes are asked at once.
    pub(crate) fn conditions(&mut self, id: EventId) {
        let nothing_asked = self.is_left_out(Rule::Guards) && self.is_left_out(Rule::Pins);
        if self.rules.reads != Reads::Latest || nothing_asked || self.is_unnoticed(id) {
            return;
        }
        let mut run = vec![id];
        while let Some(previous) = self.previous(run[run.len() - 1]).filter(|event| self.is_unnoticed(*event)) {
            run.push(previous);
        }
        let mut conditions: Vec<Condition> = Vec::new();
        for event in run.into_iter().rev() {
            self.conjuncts(event, &mut conditions);
        }
        let thread = self.view.trace.event(id).thread;
        for condition in self.not_implied(thread, conditions) {
            self.require(id, &condition);
        }
    }

    /// Whether nobody notices the event and the thread goes on after it.
    pub(super) fn is_unnoticed(&self, id: EventId) -> bool {
        let event = self.view.trace.event(id);
        let silent = matches!(event.op, Op::Assume { .. } | Op::Let { .. }) && event.part.is_none();
        silent && self.view.trace_index.next(self.view.trace, id).is_some()
    }

    pub(super) fn previous(&self, id: EventId) -> Option<EventId> {
        self.view.trace_index.previous(self.view.trace, id)
    }

    fn conjuncts(&mut self, about: EventId, found: &mut Vec<Condition>) {
        let op = &self.view.trace.event(about).op;
        let Some(condition) = op.condition() else { return };
        let pinned = matches!(op, Op::Assume { why: Why::Pin, .. });
        let translated = self.translate(condition);
        let parts = match self.build.terms.node(translated) {
            Node::App(Func::And, args) => args.to_vec(),
            _ => vec![translated],
        };
        found.extend(parts.into_iter().map(|term| Condition { about, term, pinned }));
    }

    /// A prefix that holds `event` fulfils the condition.
    fn require(&mut self, event: EventId, condition: &Condition) {
        let Condition { about, term, pinned } = *condition;
        if self.is_known(about, term, pinned) {
            return;
        }
        let holds = self.by_cases(term);
        if holds != term && self.is_known(about, holds, pinned) {
            return;
        }
        let included = self.included(event);
        let mut term = self.build.implies(included, holds);
        if pinned {
            let pins = self.build.atom(Atom::Pins);
            term = self.build.implies(pins, term);
        }
        self.assert(Origin::Condition { about, pinned }, about, term);
    }

    /// Whether an earlier event of the thread asks the same; notes it where not.
    fn is_known(&mut self, id: EventId, condition: TermId, pinned: bool) -> bool {
        let thread = self.view.trace.event(id).thread;
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
        let Some(pi) = self.pi_of_at_most(MOST_CASES, at) else { return condition };
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

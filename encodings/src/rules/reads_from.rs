//! What a read may return: the meaning of π-functions.
//!
//! Source: Fusion, section 4.2, Φ_PI, over included writes (section 5). Each `ReadsFrom` atom implies that its write is
//! the latest included one before the access; which of them must hold is for the other rules to say.

use super::{Reads, Rule};
use crate::encoder::Encoder;
use crate::origin::Origin;
use crate::term::Atom;
use foretrace_trace::{EventId, Op, TermId};

impl Encoder<'_> {
    /// The value just before `at` came from `source`.
    pub(crate) fn reads_from(&mut self, at: EventId, source: Option<EventId>) -> TermId {
        self.build.atom(Atom::ReadsFrom { at, write: source })
    }

    /// Defines one source of a π-function: its write is the latest before the access.
    pub(crate) fn define_source(&mut self, at: EventId, source: Option<EventId>) {
        if self.obligations.is_some() {
            if !self.is_left_out(Rule::ReadsFrom) {
                self.post_read(at);
            }
            return;
        }
        let chosen = self.reads_from(at, source);
        if let Some(write) = source {
            let parts = [self.included(write), self.before(write, at)];
            for part in parts {
                let term = self.build.implies(chosen, part);
                self.assert(Origin::WrittenBefore { at, source: write }, at, term);
            }
        }
        let pi = self.pi(at);
        for other in pi.writes.iter().filter(|other| Some(**other) != source) {
            let mut ways = vec![self.build.not(chosen)];
            let included = self.included(*other);
            ways.push(self.build.not(included));
            ways.push(self.before(at, *other));
            if let Some(write) = source {
                ways.push(self.before(*other, write));
            }
            let term = self.build.or(ways);
            self.assert(Origin::NotBetween { at, source, other: *other }, at, term);
        }
    }

    /// Defines the value just before an access: some source gives it.
    pub(crate) fn define_value(&mut self, at: EventId) {
        let value = self.value_before(at);
        let pi = self.pi(at);
        let included = self.included(at);
        let mut some = vec![self.build.not(included)];
        for source in pi.sources() {
            let chosen = self.reads_from(at, source);
            let given = self.source_value(at, source);
            let equal = self.build.apply(foretrace_trace::Func::Eq, &[value, given]);
            let term = self.build.implies(chosen, equal);
            self.assert(Origin::Gives { at, source }, at, term);
            some.push(chosen);
        }
        let term = self.build.or(some);
        self.assert(Origin::SomeSource { at }, at, term);
    }

    /// Reads that must return what was recorded: every `rmw` and guarded read, and a plain read that another event of its
    /// thread follows.
    pub(crate) fn recorded_read(&mut self, id: EventId) {
        if !matches!(self.rules.reads, Reads::Recorded | Reads::SameWrite) || self.is_left_out(Rule::ReadsFrom) {
            return;
        }
        if must_match(&self.view.trace.event(id).op) {
            self.match_recorded(id, id);
        }
        if let Some(previous) = self.view.trace_index.previous(self.view.trace, id) {
            let op = &self.view.trace.event(previous).op;
            if op.reads() && !must_match(op) {
                self.match_recorded(previous, id);
            }
        }
    }

    /// In a prefix that holds `with`, the read returns what it did in the run.
    fn match_recorded(&mut self, read: EventId, with: EventId) {
        let included = self.included(with);
        let mut ways = vec![self.build.not(included)];
        if self.rules.reads == Reads::SameWrite {
            ways.push(self.reads_from(read, self.view.observed.source(read)));
        } else {
            let recorded = self.view.observed.read(read).cloned();
            for source in self.pi(read).clone().sources() {
                let given = self.source_value(read, source);
                if self.build.terms.as_const(given) == recorded.as_ref() {
                    ways.push(self.reads_from(read, source));
                }
            }
        }
        let term = self.build.or(ways);
        self.assert(Origin::Recorded { read, with }, read, term);
    }
}

/// Whether the access returns what was recorded wherever it stands.
fn must_match(op: &Op) -> bool {
    matches!(op, Op::Rmw { .. } | Op::Read { guard: Some(_), .. })
}

//! Condition variables: a wake needs a separate signal between its wait and itself, or a broadcast there.
//!
//! In the format a signal releases *exactly one* waiter, any of them. That makes no difference here: a spare signal that releases another
//! waiter only helps it. So a prefix is possible exactly when its wakes can be matched to different signals.

use super::Rule;
use crate::encoder::Encoder;
use crate::origin::Origin;
use crate::term::Atom;
use crate::view::TraceView;
use foretrace_index::Waiting;
use foretrace_trace::{EventId, Func, Op, SyncId, TermId, Value};

impl Encoder<'_> {
    /// The signal that a wake needs.
    pub(crate) fn wake(&mut self, id: EventId, cond: SyncId) {
        let waitings = &self.view.trace_index.waitings;
        let Ok(found) = waitings.binary_search_by_key(&id, |waiting| waiting.wake) else { return };
        let waiting = waitings[found];
        if !waiting.needs_signal {
            return;
        }
        let TraceView { trace, trace_index, clocks, .. } = self.view;
        let thread = trace.event(id).thread;
        let is_possible = |signal: &EventId| {
            trace.event(*signal).thread != thread
                && !clocks.before(*signal, waiting.wait)
                && !clocks.before(id, *signal)
        };
        let possible: Vec<EventId> = trace_index.signals[cond.index()].iter().copied().filter(is_possible).collect();
        for signal in possible.iter().filter(|signal| clocks.before(**signal, id)) {
            self.after(*signal, id);
        }
        if self.obligations.is_some() {
            if !self.is_left_out(Rule::ConditionVariables) {
                self.post_wake(waiting, possible);
            }
            return;
        }
        let included = self.included(id);
        let mut ways = vec![self.build.not(included)];
        ways.extend(possible.into_iter().map(|signal| self.released_by(&waiting, signal)));
        let term = self.build.or(ways);
        self.assert(Origin::Signalled(id), id, term);
        let others = self.cone.wakes.entry(cond).or_default();
        let competing: Vec<EventId> = others.clone();
        others.push(id);
        // Waits of one thread do not overlap, so what lies in one of them does not in another.
        for other in competing.into_iter().filter(|other| self.view.trace.event(*other).thread != thread) {
            self.different_tokens(Origin::OwnSignal { one: other, other: id }, id, other);
        }
    }

    fn released_by(&mut self, waiting: &Waiting, signal: EventId) -> TermId {
        let mut parts =
            vec![self.included(signal), self.before(waiting.wait, signal), self.before(signal, waiting.wake)];
        if matches!(self.view.trace.event(signal).op, Op::Signal { .. }) {
            parts.push(self.takes(waiting.wake, u64::from(signal.0)));
        } else {
            // A broadcast serves all: each wake has a token of it for itself.
            let all = self.view.trace.events.len() as u64;
            parts.push(self.takes(waiting.wake, all + u64::from(waiting.wake.0)));
        }
        self.build.and(parts)
    }

    /// The event takes the token of this number.
    pub(crate) fn takes(&mut self, id: EventId, token: u64) -> TermId {
        let taken = self.build.atom(Atom::Token(id));
        let number = self.build.terms.constant(Value::int(token));
        self.build.apply(Func::Eq, &[taken, number])
    }

    /// No two events take one token.
    pub(crate) fn different_tokens(&mut self, origin: Origin, a: EventId, b: EventId) {
        let both = [self.included(a), self.included(b)].map(|included| self.build.not(included));
        let tokens = [self.build.atom(Atom::Token(a)), self.build.atom(Atom::Token(b))];
        let equal = self.build.apply(Func::Eq, &tokens);
        let differ = self.build.not(equal);
        let term = self.build.or(both.into_iter().chain([differ]));
        self.assert(origin, a.max(b), term);
    }
}

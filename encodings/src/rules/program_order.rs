//! Program order, fork and join, barriers, and which events a prefix must hold with another.
//!
//! Source: Fusion, section 4.2, Φ_PO; inclusion makes section 5's prefixes explicit. Steps of several events share one
//! order variable.

use super::Reads;
use crate::encoder::Encoder;
use crate::origin::Origin;
use crate::term::Atom;
use foretrace_trace::EventId;

impl Encoder<'_> {
    /// `earlier` comes before `later`, and is in every prefix that holds it.
    pub(crate) fn after(&mut self, earlier: EventId, later: EventId) {
        let (from, to) = (self.step(earlier), self.step(later));
        self.order(from);
        self.order(to);
        self.program_order(from, to);
        self.inclusion_order(earlier, later);
    }

    /// The order of two steps that every execution keeps, the recorded one too.
    pub(crate) fn program_order(&mut self, earlier: EventId, later: EventId) {
        debug_assert!(earlier < later, "{earlier} is recorded after {later}");
        let term = self.build.atom(Atom::Before(earlier, later));
        self.assert(Origin::Order { earlier, later }, later, term);
    }

    /// A prefix that holds `later` holds `earlier`.
    pub(crate) fn inclusion_order(&mut self, earlier: EventId, later: EventId) {
        let (earlier_in, later_in) = (self.included(earlier), self.included(later));
        let term = self.build.implies(later_in, earlier_in);
        self.assert(Origin::Order { earlier, later }, later, term);
    }

    /// The event whose `Included` atom stands for `event`.
    ///
    /// A step is included as a whole. Where a last read may return anything, it matters whether the prefix ends inside
    /// of the step: then each part has an atom of its own. So it has where the run was cut off inside of the step.
    pub(crate) fn inclusion(&self, event: EventId) -> EventId {
        match self.rules.reads {
            Reads::Free | Reads::Latest if !self.is_cut_off(event) => self.step(event),
            _ => event,
        }
    }

    /// Whether the trace ends inside of the event's step: then so does every prefix that holds the event.
    pub(crate) fn is_cut_off(&self, event: EventId) -> bool {
        let last = self.view.trace_index.step(self.view.trace, event).1;
        self.view.trace.event(last).part.is_some_and(|(k, n)| k < n)
    }

    /// Whole steps, but for one that the prefix ends in.
    pub(crate) fn whole_step(&mut self, event: EventId) {
        let (first, last) = self.view.trace_index.step(self.view.trace, event);
        let cut_off = self.is_cut_off(last);
        let single = first == last && !cut_off;
        if single || self.inclusion(last) != last || self.cone.opens.contains(&first) {
            return;
        }
        let open = self.open(first);
        let first_in = self.included(first);
        let whole = if cut_off { self.build.falsity() } else { self.included(last) };
        let not_first = self.build.not(first_in);
        let term = self.build.or([not_first, whole, open]);
        self.assert(Origin::WholeStep(first), first, term);
    }
}

//! The candidate: its three accesses in order, and what makes them dependent.
//!
//! Source: Fusion, section 4.3, Φ_AV, and Definition 2, rules 4a and 4b, for guarded independence.

use crate::encoder::Encoder;
use crate::origin::Origin;
use crate::term::Atom;
use foretrace_trace::{EventId, Func, Pattern, TermId, Triple};

/// What a query assumes, on top of the constraints so far: Boolean terms.
#[derive(Clone, Debug)]
pub struct Query {
    /// The candidate; one of them where it may be any of several. Of orders, the first: its earlier event twice, and the later one; so of an event that comes after another.
    pub triple: Triple,
    /// The pattern in which its accesses must depend on each other by their values, under guarded independence.
    pub pattern: Option<Pattern>,
    /// These hold for a witness of the candidate.
    pub goals: Vec<TermId>,
    /// Pinned values hold: left out to ask whether a verdict rests on them.
    pub pins: TermId,
}

impl Encoder<'_> {
    /// The query of a candidate; with a pattern, under guarded independence for that pattern.
    pub fn query(&mut self, triple: Triple, guarded: Option<Pattern>) -> Query {
        self.query_while(triple, guarded, &mut |_| true).expect("nothing stops it")
    }

    /// The same as long as `go_on`, told the number of terms so far, agrees. After `None` the encoder is of no use.
    pub fn query_while(
        &mut self,
        triple: Triple,
        guarded: Option<Pattern>,
        go_on: &mut dyn FnMut(usize) -> bool,
    ) -> Option<Query> {
        for event in [triple.second, triple.remote] {
            self.reach(event);
        }
        self.settle(go_on)?;
        let mut goals = vec![self.included(triple.second)];
        goals.extend(self.interruption(triple));
        goals.extend(self.span(triple.first, triple.second));
        if let Some(pattern) = guarded {
            goals.extend(self.dependence(triple, pattern));
        }
        self.whole((triple, guarded), goals, Some(triple.second), go_on)
    }

    /// The query whether some prefix that ends with remote holds first and then remote, and not second. With a pattern, these two must also
    /// depend on each other in that prefix, under guarded independence. Only an encoder of prefixes can be asked.
    pub fn query_interruption_while(
        &mut self,
        triple: Triple,
        guarded: Option<Pattern>,
        go_on: &mut dyn FnMut(usize) -> bool,
    ) -> Option<Query> {
        let Triple { first, remote, second } = triple;
        for event in [first, remote] {
            self.reach(event);
        }
        self.settle(go_on)?;
        let mut goals = vec![self.included(first), self.included(remote), self.before(first, remote)];
        self.leave_out(Some(second), &mut goals);
        if let Some(pattern) = guarded {
            let [first_writes, remote_writes, _] = pattern.writes();
            goals.push(self.dependent((first, first_writes), (remote, remote_writes)));
        }
        self.whole((triple, guarded), goals, Some(remote), go_on)
    }

    /// The query whether some prefix shows a candidate with any of these remote accesses, at least one, under conflict
    /// independence.
    pub fn query_any_while(
        &mut self,
        first: EventId,
        remotes: &[EventId],
        second: EventId,
        go_on: &mut dyn FnMut(usize) -> bool,
    ) -> Option<Query> {
        remotes.iter().chain([&second]).for_each(|event| self.reach(*event));
        self.settle(go_on)?;
        let mut ways = Vec::new();
        for remote in remotes {
            let interruption = self.interruption(Triple { first, remote: *remote, second });
            ways.push(self.build.and(interruption));
        }
        let mut goals = vec![self.included(second), self.build.or(ways)];
        goals.extend(self.span(first, second));
        let triple = Triple { first, remote: *remotes.first()?, second };
        self.whole((triple, None), goals, Some(second), go_on)
    }

    /// The query whether some prefix breaks at least one of these orders, each (earlier, later). A prefix breaks an order if it holds the
    /// later event without the earlier one before it. The later event is an access that is a step of its own. No step is open in that
    /// prefix: one that ends inside of a step breaks no other orders than without that step.
    pub fn query_orders_while(
        &mut self,
        orders: &[(EventId, EventId)],
        go_on: &mut dyn FnMut(usize) -> bool,
    ) -> Option<Query> {
        orders.iter().for_each(|(_, later)| self.reach(*later));
        self.settle(go_on)?;
        let mut ways = Vec::new();
        for (earlier, later) in orders {
            let kept = [self.included(*earlier), self.before(*earlier, *later)];
            let kept = self.build.and(kept);
            let broken = [self.included(*later), self.build.not(kept)];
            ways.push(self.build.and(broken));
        }
        let goals = vec![self.build.or(ways)];
        let (first, second) = *orders.first()?;
        self.whole((Triple { first, remote: first, second }, None), goals, None, go_on)
    }

    /// The query whether some prefix ends with the later event and holds the earlier one.
    pub fn query_after_while(
        &mut self,
        earlier: EventId,
        later: EventId,
        go_on: &mut dyn FnMut(usize) -> bool,
    ) -> Option<Query> {
        [earlier, later].into_iter().for_each(|event| self.reach(event));
        self.settle(go_on)?;
        let goals = vec![self.included(later), self.included(earlier), self.before(earlier, later)];
        self.whole((Triple { first: earlier, remote: earlier, second: later }, None), goals, Some(later), go_on)
    }

    /// From now on every prefix that holds the later event is known to hold the earlier one before it.
    pub fn know_order(&mut self, earlier: EventId, later: EventId) {
        self.after(earlier, later);
    }

    /// The same of the prefixes in which pinned values hold.
    pub fn know_order_by_pins(&mut self, earlier: EventId, later: EventId) {
        let before = self.before(earlier, later);
        let (earlier_in, later_in) = (self.included(earlier), self.included(later));
        let holds = self.build.implies(later_in, earlier_in);
        let pins = self.build.atom(Atom::Pins);
        for known in [before, holds] {
            let term = self.build.implies(pins, known);
            self.assert(Origin::Condition { about: later, pinned: true }, later, term);
        }
    }

    /// Remote is there, between the other two.
    fn interruption(&mut self, triple: Triple) -> [TermId; 3] {
        let Triple { first, remote, second } = triple;
        [self.included(remote), self.before(first, remote), self.before(remote, second)]
    }

    /// The query with these goals and whatever they bring in, about prefixes that end at `last` where it is said.
    pub(super) fn whole(
        &mut self,
        (triple, pattern): (Triple, Option<Pattern>),
        mut goals: Vec<TermId>,
        last: Option<EventId>,
        go_on: &mut dyn FnMut(usize) -> bool,
    ) -> Option<Query> {
        for goal in goals.clone() {
            self.demand_leaves(goal);
        }
        self.settle(go_on)?;
        goals.extend(self.ends(last, go_on)?);
        let pins = self.build.atom(Atom::Pins);
        goals.retain(|goal| *goal != self.build.truth());
        Some(Query { triple, pattern, goals, pins })
    }

    /// How the execution ends. Saying so may bring in steps that must be spoken of, too: then it is said again.
    fn ends(&mut self, last: Option<EventId>, go_on: &mut dyn FnMut(usize) -> bool) -> Option<Vec<TermId>> {
        loop {
            self.divide(go_on)?;
            let known = (self.cone.opens.len(), self.ordered().count());
            let mut goals = Vec::new();
            if self.rules.complete {
                if let Some(end) = self.last_event().filter(|end| self.is_cut_off(*end)) {
                    self.comes_last(end, &mut goals);
                }
            } else {
                self.end_of_prefix(last, &mut goals);
            }
            self.settle(go_on)?;
            if known == (self.cone.opens.len(), self.ordered().count()) {
                return Some(goals);
            }
        }
    }

    /// The conditions under which each neighbouring pair is dependent in the pattern.
    fn dependence(&mut self, triple: Triple, pattern: Pattern) -> [TermId; 2] {
        let [first, remote, second] = pattern.writes();
        [
            self.dependent((triple.first, first), (triple.remote, remote)),
            self.dependent((triple.remote, remote), (triple.second, second)),
        ]
    }

    fn dependent(&mut self, (a, a_writes): (EventId, bool), (b, b_writes): (EventId, bool)) -> TermId {
        let left = if a_writes { self.written(a) } else { self.value_before(a) };
        // A write and a read after it: did the write change anything?
        let right = if a_writes && !b_writes { self.value_before(a) } else { self.written(b) };
        let equal = self.build.apply(Func::Eq, &[left, right]);
        self.build.not(equal)
    }

    /// A prefix may end inside of a step only at `last`: nothing else comes after, and no other step is open.
    fn end_of_prefix(&mut self, last: Option<EventId>, goals: &mut Vec<TermId>) {
        let step_of = |event| self.view.trace_index.step(self.view.trace, event);
        let inside = last.filter(|last| step_of(*last).1 != *last || self.is_cut_off(*last));
        let may_be_open = inside.map(|last| step_of(last).0);
        for open in self.cone.opens.clone() {
            let atom = self.open(open);
            goals.push(if Some(open) == may_be_open { atom } else { self.build.not(atom) });
        }
        if let Some(last) = inside.filter(|_| may_be_open.is_some_and(|step| self.cone.opens.contains(&step))) {
            self.leave_out(self.view.trace_index.next(self.view.trace, last), goals);
            self.comes_last(last, goals);
        }
        // What comes after is part of no such prefix. Constraints do without that; a theory of schedules gains by it.
        if let Some(last) = last.filter(|_| self.obligations.is_some()) {
            self.leave_out(self.view.trace_index.next(self.view.trace, step_of(last).1), goals);
        }
    }

    /// The prefix does not hold the event.
    fn leave_out(&mut self, event: Option<EventId>, goals: &mut Vec<TermId>) {
        if let Some(event) = event {
            let included = self.included(event);
            goals.push(self.build.not(included));
        }
    }

    /// Every other step of the prefix comes before this one; marks are no steps of it.
    fn comes_last(&mut self, event: EventId, goals: &mut Vec<TermId>) {
        let thread = self.view.trace.event(event).thread;
        let own = self.last_event();
        let is_other = |other: &EventId| Some(*other) <= own && self.view.trace.event(*other).thread != thread;
        let others: Vec<EventId> = self.ordered().filter(is_other).collect();
        for other in others {
            let included = self.included(other);
            let ways = [self.build.not(included), self.before(other, event)];
            goals.push(self.build.or(ways));
        }
    }
}

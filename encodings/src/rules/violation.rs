//! The candidate: its three accesses in order, and what makes them dependent.
//!
//! Source: Fusion, section 4.3, Φ_AV, and Definition 2, rules 4a and 4b, for guarded independence.

use crate::encoder::Encoder;
use crate::term::Atom;
use foretrace_trace::{EventId, Func, Pattern, TermId, Triple};

/// What a query assumes, on top of the constraints so far: Boolean terms.
#[derive(Clone, Debug)]
pub struct Query {
    /// The candidate; one of them where it may be any of several.
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
        if let Some(pattern) = guarded {
            goals.extend(self.dependence(triple, pattern));
        }
        self.whole(triple, guarded, goals, go_on)
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
        let goals = vec![self.included(second), self.build.or(ways)];
        self.whole(Triple { first, remote: *remotes.first()?, second }, None, goals, go_on)
    }

    /// Remote is there, between the other two.
    fn interruption(&mut self, triple: Triple) -> [TermId; 3] {
        let Triple { first, remote, second } = triple;
        [self.included(remote), self.before(first, remote), self.before(remote, second)]
    }

    /// The query with these goals and whatever they bring in.
    fn whole(
        &mut self,
        triple: Triple,
        pattern: Option<Pattern>,
        mut goals: Vec<TermId>,
        go_on: &mut dyn FnMut(usize) -> bool,
    ) -> Option<Query> {
        for goal in goals.clone() {
            self.demand_leaves(goal);
        }
        self.settle(go_on)?;
        goals.extend(self.ends(triple.second, go_on)?);
        let pins = self.build.atom(Atom::Pins);
        goals.retain(|goal| *goal != self.build.truth());
        Some(Query { triple, pattern, goals, pins })
    }

    /// How the execution ends. Saying so may bring in steps that must be spoken of, too: then it is said again.
    fn ends(&mut self, second: EventId, go_on: &mut dyn FnMut(usize) -> bool) -> Option<Vec<TermId>> {
        loop {
            let known = (self.cone.opens.len(), self.ordered().count());
            let mut goals = Vec::new();
            if self.rules.complete {
                let end = self.facts.trace.events.len().checked_sub(1).map(EventId::from_index);
                if let Some(end) = end.filter(|end| self.is_cut_off(*end)) {
                    self.comes_last(end, &mut goals);
                }
            } else {
                self.end_of_prefix(second, &mut goals);
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

    /// A prefix may end inside of a step only right there: nothing else comes after, and no other step is open.
    fn end_of_prefix(&mut self, second: EventId, goals: &mut Vec<TermId>) {
        let (step, last) = self.facts.structure.step(self.facts.trace, second);
        let ends_inside = last != second || self.is_cut_off(second);
        for open in self.cone.opens.clone() {
            let atom = self.open(open);
            goals.push(if open == step && ends_inside { atom } else { self.build.not(atom) });
        }
        if ends_inside && self.cone.opens.contains(&step) {
            if let Some(next) = self.facts.structure.next(self.facts.trace, second) {
                let next_in = self.included(next);
                goals.push(self.build.not(next_in));
            }
            self.comes_last(second, goals);
        }
        // What comes after is part of no such prefix. Constraints do without that; a theory of schedules gains by it.
        if self.duties.is_some()
            && let Some(next) = self.facts.structure.next(self.facts.trace, last)
        {
            let next_in = self.included(next);
            goals.push(self.build.not(next_in));
        }
    }

    /// Every other step of the prefix comes before this one.
    fn comes_last(&mut self, event: EventId, goals: &mut Vec<TermId>) {
        let thread = self.facts.trace.event(event).thread;
        let others: Vec<EventId> =
            self.ordered().filter(|other| self.facts.trace.event(*other).thread != thread).collect();
        for other in others {
            let included = self.included(other);
            let ways = [self.build.not(included), self.before(other, event)];
            goals.push(self.build.or(ways));
        }
    }
}

//! Violation paths: whether some prefix holds a path of conflicts and program order from a block's access through other threads back
//! to a later access of the block.
//!
//! `Reached` atoms say which accesses of other threads such a path leads to. Each needs a reason: an access of the block that
//! conflicts with it and comes before it, one that is reached and does, or one of its own thread before it. Every reason comes
//! earlier in the order of the prefix, and that order is total, so no access can be a reason for itself: a set of true atoms is
//! a set of paths. The other direction needs no constraint, since a solver may make an atom true wherever a path leads there.
//!
//! Source: A. Sinha, S. Malik, C. Wang and A. Gupta, "Predictive analysis for detecting serializability violations through
//! trace segmentation", MEMOCODE 2011, section II.D.

use super::Query;
use crate::encoder::Encoder;
use crate::origin::Origin;
use crate::term::Atom;
use foretrace_trace::{EventId, TermId, ThreadId, Triple, VarId};
use rustc_hash::FxHashMap;

/// A question about the violation paths of one block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Paths {
    /// The block's accesses at which a path may leave it.
    pub starts: Vec<EventId>,
    /// Accesses of other threads that it may visit, in observed order.
    pub through: Vec<EventId>,
    /// The block's accesses at which it may come back.
    pub ends: Vec<EventId>,
    /// An event of the block that the prefix holds, too, where that is asked for.
    pub then: Option<EventId>,
}

/// The accesses of one thread to one variable.
type Places = FxHashMap<VarId, Vec<(ThreadId, Vec<EventId>)>>;

impl Encoder<'_> {
    /// The query whether some prefix holds one of these violation paths. `last` is the path's end where that is part of a step of
    /// several events, which the prefix may end in; otherwise the ends are steps of their own.
    pub fn query_paths_while(
        &mut self,
        paths: &Paths,
        last: Option<EventId>,
        go_on: &mut dyn FnMut(usize) -> bool,
    ) -> Option<Query> {
        let (first, second) = (*paths.starts.first()?, *paths.ends.last()?);
        paths.ends.iter().chain(&paths.through).for_each(|event| self.reach(*event));
        // A schedule is made of ordered steps; orders that are known would not bring in the one that comes last.
        for end in &paths.ends {
            let step = self.step(*end);
            self.order(step);
        }
        self.settle(go_on)?;
        let question = self.next_question();
        let mut places = Places::default();
        for event in &paths.through {
            if let Some(var) = self.var(*event) {
                let (threads, thread) = (places.entry(var).or_default(), self.view.trace.event(*event).thread);
                match threads.iter_mut().find(|(other, _)| *other == thread) {
                    Some((_, events)) => events.push(*event),
                    None => threads.push((thread, vec![*event])),
                }
            }
        }
        let mut latest: FxHashMap<ThreadId, EventId> = FxHashMap::default();
        for at in &paths.through {
            let before = latest.insert(self.view.trace.event(*at).thread, *at);
            let mut reasons: Vec<TermId> =
                before.map(|before| self.build.atom(Atom::Reached { question, at: before })).into_iter().collect();
            for start in &paths.starts {
                if self.conflict(*start, *at) {
                    let included = self.included(*start);
                    let order = self.before(*start, *at);
                    let counts = self.after_first_mark(*start);
                    reasons.push(self.build.and([included, order, counts]));
                }
            }
            reasons.extend(self.conflicts_before(question, &places, *at));
            let reached = self.build.atom(Atom::Reached { question, at: *at });
            let included = self.included(*at);
            let reason = self.build.or(reasons);
            let whole = self.build.and([included, reason]);
            let term = self.build.implies(reached, whole);
            self.assert(Origin::OnPath(*at), *at, term);
            go_on(self.build.terms.len()).then_some(())?;
        }
        let mut ways = Vec::new();
        for end in &paths.ends {
            let back = self.conflicts_before(question, &places, *end);
            let back = self.build.or(back);
            let included = self.included(*end);
            ways.push(self.build.and([included, back]));
        }
        let mut goals = vec![self.build.or(ways)];
        if let Some(then) = paths.then {
            goals.push(self.included(then));
        }
        self.whole((Triple { first, remote: first, second }, None), goals, last, go_on)
    }

    /// The ways in which an access that is reached conflicts with this one and comes before it.
    fn conflicts_before(&mut self, question: u32, places: &Places, at: EventId) -> Vec<TermId> {
        let thread = self.view.trace.event(at).thread;
        let Some(threads) = self.var(at).and_then(|var| places.get(&var)) else { return Vec::new() };
        let others = threads.iter().filter(|(other, _)| *other != thread).flat_map(|(_, events)| events);
        let mut ways = Vec::new();
        for other in others {
            if self.conflict(*other, at) {
                let order = self.before(*other, at);
                let reached = self.build.atom(Atom::Reached { question, at: *other });
                ways.push(self.build.and([reached, order]));
            }
        }
        ways
    }

    fn var(&self, event: EventId) -> Option<VarId> {
        self.view.trace.event(event).op.var()
    }

    fn conflict(&self, one: EventId, other: EventId) -> bool {
        let trace = self.view.trace;
        trace.event(one).op.conflict(&trace.event(other).op).is_some()
    }
}

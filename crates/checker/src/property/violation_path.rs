//! Violation paths of blocks: from an access of the block by conflicts and program order through another thread back to a later access of
//! the block.
//!
//! Source: A. Sinha, S. Malik, C. Wang and A. Gupta, "Predictive analysis for detecting serializability violations through trace
//! segmentation", MEMOCODE 2011, section II.D.

use super::{Asked, Property, place};
use crate::dependence::Access;
use crate::error::CheckError;
use crate::run::context_switches;
use foretrace_trace::{Block, EventId, Trace, Value, VarId};

/// How a path goes from one access to the next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Link {
    /// In the same thread, later.
    ProgramOrder,
    /// They access this variable, and one writes.
    Conflict(VarId),
}

impl Link {
    /// How an access leads to a later one, if it does.
    pub fn between(trace: &Trace, one: EventId, other: EventId) -> Option<Link> {
        let [one, other] = [one, other].map(|event| trace.event(event));
        if one.thread == other.thread {
            return Some(Link::ProgramOrder);
        }
        one.op.conflict(&other.op).map(Link::Conflict)
    }

    /// Whether this is how one of two accesses leads to the other.
    fn holds(self, trace: &Trace, one: EventId, other: EventId) -> bool {
        let [one, other] = [one, other].map(|event| trace.event(event));
        match self {
            Link::ProgramOrder => one.thread == other.thread,
            Link::Conflict(var) => one.op.conflict(&other.op) == Some(var),
        }
    }
}

/// A violation path of a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ViolationPath {
    /// The block.
    pub block: Block,
    /// Its accesses: the first and last ones are the block's.
    pub events: Vec<EventId>,
    /// How each leads to the next.
    pub links: Vec<Link>,
}

/// What kind of path it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum PathKind {
    /// Over several variables: no triple of accesses shows it.
    SeveralVariables,
    /// Through several accesses of other threads, all of one variable.
    SeveralAccesses,
    /// One access of another thread between two of the block: a triple.
    Triple,
}

impl ViolationPath {
    /// The path of a block through these accesses, where each leads to the next.
    pub fn through(trace: &Trace, block: Block, events: Vec<EventId>) -> Option<ViolationPath> {
        let links = events.windows(2).map(|pair| Link::between(trace, pair[0], pair[1])).collect::<Option<_>>()?;
        Some(ViolationPath { block, events, links })
    }

    /// How many context switches a schedule has between the path's first and last access.
    pub fn context_switches(&self, trace: &Trace, schedule: &[EventId]) -> u32 {
        let place = |event: Option<&EventId>| event.and_then(|event| schedule.iter().position(|other| other == event));
        match (place(self.events.first()), place(self.events.last())) {
            (Some(from), Some(to)) if from <= to => context_switches(trace, &schedule[from..=to]),
            _ => u32::MAX,
        }
    }

    /// What kind of path it is.
    pub fn kind(&self) -> PathKind {
        match (self.vars().len(), self.events.len()) {
            (1, 3) => PathKind::Triple,
            (1, _) => PathKind::SeveralAccesses,
            _ => PathKind::SeveralVariables,
        }
    }

    /// The variables of its conflicts, in order of their numbers.
    pub fn vars(&self) -> Vec<VarId> {
        let conflict = |link: &Link| match link {
            Link::Conflict(var) => Some(*var),
            Link::ProgramOrder => None,
        };
        let mut vars: Vec<VarId> = self.links.iter().filter_map(conflict).collect();
        vars.sort_unstable();
        vars.dedup();
        vars
    }

    fn is_own(&self, trace: &Trace, event: EventId) -> bool {
        self.block.holds(trace.event(event).thread, event, event)
    }
}

impl Property for ViolationPath {
    type Shown = ();

    fn watched(&self) -> Vec<EventId> {
        Vec::new()
    }

    fn stands_in(&self, asked: &Asked<'_>, schedule: &[EventId]) -> Result<(), CheckError> {
        let trace = asked.trace;
        if self.events.iter().any(|event| event.index() >= trace.events.len()) {
            return Err(CheckError::NotOnPath);
        }
        let places = self.events.iter().map(|event| place(schedule, *event).map_err(|_| CheckError::NotOnPath));
        let places = places.collect::<Result<Vec<usize>, CheckError>>()?;
        let (Some(first), Some(last)) = (self.events.first(), self.events.last()) else {
            return Err(CheckError::NotOnPath);
        };
        let in_order = places.is_sorted_by(|earlier, later| earlier < later);
        let linked = self.links.len() + 1 == self.events.len()
            && self.events.windows(2).zip(&self.links).all(|(pair, link)| link.holds(trace, pair[0], pair[1]));
        let leaves = self.events.iter().any(|event| !self.is_own(trace, *event));
        if !(in_order && linked && leaves && self.is_own(trace, *first) && self.is_own(trace, *last)) {
            return Err(CheckError::NotOnPath);
        }
        asked.few_switches(&schedule[places[0]..=places[places.len() - 1]])
    }

    fn shown_by(&self, _: &Asked<'_>, _: &[Option<Access<Value>>]) -> Result<(), CheckError> {
        Ok(())
    }
}

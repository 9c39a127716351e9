//! The order of an argument's points, and what follows from each.
//!
//! Orders that always hold come first. Then, again and again, comes a statement from which something new follows about
//! what the rest speaks of, until nothing is possible any more.

use super::statement::{Statement, statements};
use foretrace_encodings::{Atom, Encoder, Origin, Query};
use foretrace_solve::{Claims, Limits};
use foretrace_trace::{EventId, TermId};
use std::collections::{BTreeMap, BTreeSet};

/// A sentence of an argument.
#[derive(Clone, Debug)]
pub struct Reason {
    /// What it states.
    pub statement: Statement,
    /// The instances of rules behind it.
    pub origins: Vec<Origin>,
    /// What follows from it, from all before it, and from what is supposed.
    pub so: Vec<Conclusion>,
}

/// What follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conclusion {
    /// The step of one event comes before that of another.
    Before(EventId, EventId),
    /// The value just before the access is what this write, or the initial value, gives.
    ReadsFrom(EventId, Option<EventId>),
    /// It is not.
    ReadsNotFrom(EventId, Option<EventId>),
    /// The event happens.
    Happens(EventId),
    /// It does not.
    HappensNot(EventId),
    /// Nothing is possible.
    Contradiction,
}

impl Conclusion {
    fn from_atom(atom: Atom, value: bool) -> Option<Conclusion> {
        Some(match (atom, value) {
            (Atom::Before(a, b), true) => Conclusion::Before(a, b),
            (Atom::Before(a, b), false) => Conclusion::Before(b, a),
            (Atom::ReadsFrom { at, write }, true) => Conclusion::ReadsFrom(at, write),
            (Atom::ReadsFrom { at, write }, false) => Conclusion::ReadsNotFrom(at, write),
            (Atom::Included(event), true) => Conclusion::Happens(event),
            (Atom::Included(event), false) => Conclusion::HappensNot(event),
            _ => return None,
        })
    }
}

/// More questions to the solver than this are not worth the order of an argument.
const MOST_QUESTIONS: usize = 100_000;

/// Statements of a core in the order of the argument; `asked` are the accesses that the question is about.
pub fn order(
    encoder: &Encoder<'_>,
    (query, asked): (&Query, &BTreeSet<EventId>),
    origins: BTreeSet<Origin>,
    seed: u32,
    limits: Limits<'_>,
) -> Vec<Reason> {
    let said = statements(encoder.view(), asked, &origins);
    let claims = Claims::new(encoder, query, origins, seed);
    let (orders, rest): (Vec<_>, Vec<_>) = said.into_iter().partition(|(statement, _)| statement.is_plain_order());
    let atoms = claims.atoms(rest.iter().flat_map(|(_, origins)| origins)).len();
    let affordable = rest.len() * rest.len() * atoms <= MOST_QUESTIONS;
    let mut sequence = Sequence { claims, limits, known: BTreeMap::new(), reasons: Vec::new() };
    for (statement, origins) in orders {
        sequence.reasons.push(Reason { statement, origins, so: Vec::new() });
    }
    sequence.known = sequence.forced(&[], &rest).unwrap_or_default();
    sequence.all(rest, affordable);
    let mut reasons = sequence.reasons;
    if let Some(last) = reasons.last_mut() {
        last.so = vec![Conclusion::Contradiction];
    }
    reasons
}

/// An argument in the making.
struct Sequence<'e, 'a, 'l> {
    claims: Claims<'e, 'a>,
    limits: Limits<'l>,
    known: BTreeMap<Atom, bool>,
    reasons: Vec<Reason>,
}

type Said = (Statement, Vec<Origin>);

impl Sequence<'_, '_, '_> {
    fn all(&mut self, mut rest: Vec<Said>, affordable: bool) {
        while !rest.is_empty() {
            let chosen =
                if affordable && self.limits.reached().is_none() { self.telling(&rest) } else { (0, Vec::new()) };
            let (at, so) = chosen;
            let (statement, origins) = rest.remove(at);
            self.reasons.push(Reason { statement, origins, so });
        }
    }

    /// The first statement from which something new follows, with that; else the first.
    fn telling(&mut self, rest: &[Said]) -> (usize, Vec<Conclusion>) {
        for (at, (_, origins)) in rest.iter().enumerate() {
            if self.limits.reached().is_some() {
                break;
            }
            let Some(forced) = self.forced(origins, rest) else { return (at, vec![Conclusion::Contradiction]) };
            let new = forced.iter().filter(|(atom, _)| !self.known.contains_key(*atom));
            let so: Vec<Conclusion> = new.filter_map(|(atom, value)| Conclusion::from_atom(*atom, *value)).collect();
            if !so.is_empty() {
                self.known = forced;
                return (at, so);
            }
        }
        (0, Vec::new())
    }

    /// What is forced, with these instances besides those said, of all that the rest speaks of.
    fn forced(&self, more: &[Origin], rest: &[Said]) -> Option<BTreeMap<Atom, bool>> {
        let spoken: BTreeMap<Atom, TermId> = self.claims.atoms(rest.iter().flat_map(|(_, origins)| origins));
        let said = self.reasons.iter().flat_map(|reason| &reason.origins).chain(more);
        Some(self.claims.consequences(said, &spoken, self.limits)?.into_iter().collect())
    }
}

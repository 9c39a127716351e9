//! Values in the SAT solver: tables that are filled row by row, as searches need them.
//!
//! A condition over values starts as an unconstrained literal. An assignment says which write each read takes its value from, so
//! evaluation gives all values. Where these make a constraint false, the rows that say so become clauses: "a read from this write,
//! whose expression reads 3, returns 4"; "where this read returns 4, the condition is false". A row holds in every execution, so
//! later queries keep it. When evaluation makes no constraint false, the assignment is one with values.
//!
//! Source: lemmas on demand (de Moura and Rueß, SAT 2002), with tables in place of a decision procedure.

use super::clause_target::{Clauses, operands};
use batsat::Lit;
use foretrace_encodings::Atom;
use foretrace_trace::{EventId, Node, TermId, Terms, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Integers with more bits than this are not worked with.
const MOST_BITS: usize = 1 << 16;

/// A value that is read, and the term that stands for it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Read {
    pub(super) at: EventId,
    pub(super) term: TermId,
}

/// Where a read can take its value from: the literal of "it does", and what it returns then.
#[derive(Clone, Copy, Debug)]
struct Source {
    chosen: Lit,
    given: TermId,
}

/// A constraint with conditions over values in it: its Boolean terms, arguments before what uses them.
#[derive(Clone, Debug)]
pub(super) struct Constraint(Vec<TermId>);

/// A row of a table: where these reads return these values, and the source is chosen, that is so.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) reads: Vec<(Read, Value)>,
    pub(super) chosen: Option<Lit>,
    pub(super) then: Then,
}

/// What a row says.
#[derive(Clone, Debug)]
pub(super) enum Then {
    /// A condition is true, or false.
    Holds(Lit),
    /// A read returns a value.
    Returns(Read, Value),
}

/// What became of an assignment.
#[derive(Clone, Debug)]
pub(super) enum Refined {
    /// With its values all constraints hold.
    Holds,
    /// These rows rule it out, and those that there are already, where these sources are chosen.
    RuledOut {
        /// The new rows.
        rows: Vec<Row>,
        /// Where the reads in them take their values from.
        sources: Vec<Lit>,
    },
    /// A value is too large to work with.
    TooLarge,
}

/// An integer has too many bits.
struct TooLarge;

/// What is known of values.
#[derive(Default)]
pub(super) struct Values {
    sources: FxHashMap<EventId, Vec<Source>>,
    /// Conditions over values, with their literals.
    conditions: FxHashMap<TermId, Lit>,
    /// "The read returns this value."
    equal: FxHashMap<(EventId, Value), Lit>,
    constraints: Vec<Constraint>,
    /// The rows that there are, by term, source, and what is read.
    rows: FxHashSet<(TermId, Option<Lit>, Vec<Value>)>,
    /// The values that a term is made of.
    reads: FxHashMap<TermId, Rc<[Read]>>,
}

impl Values {
    /// Notes the literal of a condition.
    pub(super) fn add_condition(&mut self, term: TermId, literal: Lit) {
        self.conditions.insert(term, literal);
    }

    /// The literal of "the read returns this value".
    pub(super) fn equals(&mut self, at: EventId, value: Value, to: &mut impl Clauses) -> Lit {
        *self.equal.entry((at, value)).or_insert_with(|| to.forced())
    }

    /// Notes that a read returns what is given where the literal is true.
    pub(super) fn add_source(&mut self, at: EventId, chosen: Lit, given: TermId) {
        self.sources.entry(at).or_default().push(Source { chosen, given });
    }

    /// Has every assignment looked at with this constraint in mind, if there are conditions in it.
    pub(super) fn watch(&mut self, terms: &Terms<Atom>, term: TermId) {
        let constraint = self.constraint(terms, term);
        self.constraints.extend(constraint);
    }

    /// The term as a constraint, if there are conditions in it.
    pub(super) fn constraint(&self, terms: &Terms<Atom>, term: TermId) -> Option<Constraint> {
        let mut found = FxHashSet::default();
        let mut pending = vec![term];
        while let Some(term) = pending.pop() {
            if found.insert(term) && !self.conditions.contains_key(&term) {
                pending.extend_from_slice(operands(terms, term));
            }
        }
        let mut parts: Vec<TermId> = found.into_iter().collect();
        parts.sort_unstable();
        parts.iter().any(|part| self.conditions.contains_key(part)).then_some(Constraint(parts))
    }

    /// What the values of an assignment make of the constraints and the goals of a query. `known` are the literals of terms.
    pub(super) fn refine(
        &mut self,
        terms: &Terms<Atom>,
        goals: &[Constraint],
        known: &[Option<Lit>],
        is_true: &dyn Fn(Lit) -> bool,
    ) -> Refined {
        let constraints = std::mem::take(&mut self.constraints);
        let mut assignment = Assignment { values: self, terms, known, is_true, found: FxHashMap::default() };
        let wrong: Result<Vec<Vec<TermId>>, TooLarge> =
            constraints.iter().chain(goals).map(|constraint| assignment.wrong(constraint)).collect();
        let refined = match wrong.map(|wrong| wrong.concat()) {
            Ok(wrong) if wrong.is_empty() => Refined::Holds,
            Ok(wrong) => assignment.ruled_out(wrong),
            Err(TooLarge) => Refined::TooLarge,
        };
        self.constraints = constraints;
        refined
    }

    /// Whether there are rows.
    pub(super) fn has_rows(&self) -> bool {
        !self.rows.is_empty()
    }

    /// What a read returns under an assignment.
    #[cfg(test)]
    pub(super) fn found(
        &mut self,
        terms: &Terms<Atom>,
        at: EventId,
        known: &[Option<Lit>],
        is_true: &dyn Fn(Lit) -> bool,
    ) -> Option<Value> {
        let mut assignment = Assignment { values: self, terms, known, is_true, found: FxHashMap::default() };
        assignment.find(at).ok().and_then(|()| assignment.found[&at].clone())
    }

    fn reads_of(&mut self, terms: &Terms<Atom>, term: TermId) -> Rc<[Read]> {
        let find = || {
            let read = |term: TermId| match terms.node(term) {
                Node::Leaf(Atom::Value { at, .. }) => Some(Read { at: *at, term }),
                _ => None,
            };
            terms.reachable(&[term]).into_iter().filter_map(read).collect()
        };
        self.reads.entry(term).or_insert_with(find).clone()
    }
}

/// An assignment, and the values that were found under it.
struct Assignment<'v> {
    values: &'v mut Values,
    terms: &'v Terms<Atom>,
    known: &'v [Option<Lit>],
    is_true: &'v dyn Fn(Lit) -> bool,
    /// What reads return; nothing for one that the prefix does without.
    found: FxHashMap<EventId, Option<Value>>,
}

impl Assignment<'_> {
    /// The conditions whose literals are wrong, where that makes a difference to the constraint.
    fn wrong(&mut self, Constraint(parts): &Constraint) -> Result<Vec<TermId>, TooLarge> {
        let mut wrong = Vec::new();
        let mut truth: FxHashMap<TermId, Value> = FxHashMap::default();
        let mut whole = true;
        for part in parts {
            let said = self.known[part.index()].is_some_and(self.is_true);
            whole = match (self.values.conditions.contains_key(part), operands(self.terms, *part)) {
                (true, _) => {
                    let actual = self.evaluate(*part)?.map(|value| value.is_true());
                    wrong.extend(actual.filter(|actual| *actual != said).map(|_| *part));
                    actual.unwrap_or(said)
                }
                (false, []) => self.terms.as_const(*part).map_or(said, Value::is_true),
                (false, args) => {
                    let Node::App(func, _) = self.terms.node(*part) else {
                        unreachable!("only connectives have operands")
                    };
                    func.apply(&args.iter().map(|arg| &truth[arg]).collect::<Vec<_>>()).is_true()
                }
            };
            truth.insert(*part, whole.into());
        }
        Ok(if whole { Vec::new() } else { wrong })
    }

    /// The value of a term, where all that it reads is in the prefix.
    fn evaluate(&mut self, term: TermId) -> Result<Option<Value>, TooLarge> {
        for read in self.values.reads_of(self.terms, term).iter() {
            self.find(read.at)?;
        }
        self.evaluate_found(term)
    }

    /// The same where the values that it reads are found.
    fn evaluate_found(&mut self, term: TermId) -> Result<Option<Value>, TooLarge> {
        let reads = self.values.reads_of(self.terms, term);
        if reads.iter().any(|read| self.found[&read.at].is_none()) {
            return Ok(None);
        }
        let found = &self.found;
        let mut value = |atom: &Atom| match atom {
            Atom::Value { at, .. } => found[at].clone().expect("just looked"),
            _ => unreachable!("conditions and expressions are over values alone"),
        };
        self.terms.evaluate_within(MOST_BITS, term, &mut value).map(Some).ok_or(TooLarge)
    }

    /// Finds what a read returns, and what that depends on.
    fn find(&mut self, at: EventId) -> Result<(), TooLarge> {
        let mut pending = vec![at];
        let mut begun: FxHashSet<EventId> = FxHashSet::default();
        while let Some(at) = pending.last().copied() {
            if self.found.contains_key(&at) {
                pending.pop();
                continue;
            }
            let Some(source) = self.chosen(at) else {
                self.found.insert(at, None);
                continue;
            };
            let reads = self.values.reads_of(self.terms, source.given);
            let missing: Vec<EventId> =
                reads.iter().map(|read| read.at).filter(|other| !self.found.contains_key(other)).collect();
            if missing.is_empty() {
                let value = self.evaluate_found(source.given)?;
                self.found.insert(at, value);
            } else if begun.insert(at) {
                pending.extend(missing);
            } else {
                self.found.insert(at, None); // it waits for itself: no order was asked for
            }
        }
        Ok(())
    }

    fn chosen(&self, at: EventId) -> Option<Source> {
        let sources = self.values.sources.get(&at)?;
        sources.iter().copied().find(|source| (self.is_true)(source.chosen))
    }

    /// The new rows by which the conditions are what they are under the assignment.
    fn ruled_out(&mut self, conditions: Vec<TermId>) -> Refined {
        let (mut rows, mut sources) = (Vec::new(), Vec::new());
        let mut pending: Vec<Read> = Vec::new();
        let mut seen: FxHashSet<EventId> = FxHashSet::default();
        for condition in conditions {
            let Ok(Some(value)) = self.evaluate_found(condition) else { continue };
            let literal = self.values.conditions[&condition];
            let then = Then::Holds(if value.is_true() { literal } else { !literal });
            pending.extend(self.add_row(condition, None, then, &mut rows).iter());
        }
        while let Some(read) = pending.pop() {
            if !seen.insert(read.at) {
                continue;
            }
            if let (Some(source), Some(value)) = (self.chosen(read.at), self.found[&read.at].clone()) {
                let then = Then::Returns(read, value);
                pending.extend(self.add_row(source.given, Some(source.chosen), then, &mut rows).iter());
                sources.push(source.chosen);
            }
        }
        Refined::RuledOut { rows, sources }
    }

    /// Adds the row if it is new; returns what it reads.
    fn add_row(&mut self, term: TermId, chosen: Option<Lit>, then: Then, rows: &mut Vec<Row>) -> Rc<[Read]> {
        let reads = self.values.reads_of(self.terms, term);
        let value = |read: &Read| self.found[&read.at].clone().expect("what has a value reads only what has one");
        let values: Vec<Value> = reads.iter().map(value).collect();
        if self.values.rows.insert((term, chosen, values.clone())) {
            rows.push(Row { reads: reads.iter().copied().zip(values).collect(), chosen, then });
        }
        reads
    }
}

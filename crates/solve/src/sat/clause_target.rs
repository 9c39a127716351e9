//! Where clauses go, and which parts of a term get literals.

use batsat::Lit;
use foretrace_encodings::Atom;
use foretrace_trace::{EventId, Node, Sort, TermId, Terms};

/// Where clauses go.
pub(super) trait Clauses {
    /// A new variable, as a literal that is tried false first.
    fn fresh(&mut self) -> Lit;
    /// A new variable that is never decided: what nothing forces is false.
    fn forced(&mut self) -> Lit;
    /// The literal of a Boolean leaf that is no order.
    fn leaf(&mut self, atom: &Atom) -> Lit;
    /// Whether the solver sees to it by itself that exactly one source of the access is the one that it finds.
    fn has_one_source(&self, at: EventId) -> bool;
    /// Unless one of these literals holds, the access has one of these sources.
    fn some_source(&mut self, unless: &[Lit], at: EventId, sources: &[Option<EventId>]);
    /// The literal of "`a` comes before `b`", for `a` earlier in the observed order.
    fn before(&mut self, a: EventId, b: EventId) -> Lit;
    /// Adds a clause.
    fn clause(&mut self, literals: &[Lit]);
}

/// The arguments that must have literals first: those of Boolean connectives.
pub(super) fn operands(terms: &Terms<Atom>, term: TermId) -> &[TermId] {
    match terms.node(term) {
        Node::App(_, args) if args.iter().all(|arg| terms.sort(*arg) == Sort::Bool) => args,
        _ => &[],
    }
}

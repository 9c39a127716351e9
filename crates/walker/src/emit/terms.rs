//! Terms that deserve a name get it before the step that uses them first; what they are part of then mentions the name.

use super::uses::{Made, Uses};
use super::{Near, Rewrite, next_name};
use foretrace_trace::{Local, Node, Op, TermId};

impl Rewrite<'_> {
    /// Names what deserves it of all parts of a term that can be computed before the step that starts with this event of the draft.
    pub(super) fn prepare(&mut self, root: TermId, first: Near) {
        let terms = self.not_made(root);
        for term in &terms {
            if self.finishing.uses.0[term.index()].latest as usize <= first.before {
                self.make(*term, Some(first));
            }
        }
        self.made.spare = terms;
    }

    /// The term in the trace; the names that it mentions are defined.
    pub(super) fn term(&mut self, root: TermId) -> TermId {
        if !self.finishing.uses.0.get(root.index()).is_some_and(|about| about.may_change) {
            return root;
        }
        let terms = self.not_made(root);
        for term in &terms {
            self.make(*term, None);
        }
        self.made.spare = terms;
        self.made.terms[&root].0
    }

    /// The parts of a term that may become others and were not looked at yet, arguments first.
    fn not_made(&mut self, root: TermId) -> Vec<TermId> {
        let (terms, Uses(of)) = (&self.finishing.expressions.terms, &mut self.finishing.uses);
        let Made { terms: made, spare } = &mut self.made;
        let mut found = std::mem::take(spare);
        found.clear();
        let mut list = |term: TermId, found: &mut Vec<TermId>| {
            let about = &mut of[term.index()];
            if about.may_change && !about.is_listed && !made.contains_key(&term) {
                about.is_listed = true;
                found.push(term);
            }
        };
        list(root, &mut found);
        let mut next = 0;
        while next < found.len() {
            terms.args(found[next]).iter().for_each(|arg| list(*arg, &mut found));
            next += 1;
        }
        found.iter().for_each(|term| of[term.index()].is_listed = false);
        found.sort_unstable(); // arguments have lower positions
        found
    }

    /// Makes a term whose arguments are made; where a place is given, a name for it may be defined there.
    fn make(&mut self, term: TermId, place: Option<Near>) {
        let (terms, made) = (&mut self.finishing.expressions.terms, &mut self.made.terms);
        let Node::App(func, args) = terms.node(term) else { return };
        let of_arg = |arg: &TermId| made.get(arg).copied().unwrap_or_else(|| (*arg, terms.size(*arg)));
        let size = args.iter().fold(1u32, |size, arg| size.saturating_add(of_arg(arg).1));
        let (func, new) = (*func, args.map(|arg| of_arg(&arg).0));
        let mut same = term;
        if new != *args {
            same = terms.app(func, &new).expect("as sorted as in the draft");
        }
        made.insert(term, (same, size));
        if let Some(place) = place.filter(|_| self.finishing.uses.0[term.index()].deserves_a_name(size)) {
            self.name(term, same, place);
        }
    }

    fn name(&mut self, term: TermId, made: TermId, place: Near) {
        let dst = next_name(&mut self.finishing.assembler, &mut self.finishing.names[place.thread.index()], "e");
        let definition = self.insert(place, Op::Let { dst, expr: made });
        let terms = &mut self.finishing.expressions.terms;
        let name = terms.append_leaf(Local { definition, sort: terms.sort(made) });
        self.made.terms.insert(term, (name, 1));
    }
}

//! The thread of each term: a term is computed from names of one thread.

use crate::expression::Expressions;
use foretrace_trace::{Event, Node, TermId, ThreadId};

/// The threads of the terms that were made so far, found out as they are asked for.
#[derive(Default)]
pub(crate) struct Owners {
    /// Per term one more than the thread's number, 0 for a constant.
    of: Vec<u32>,
}

impl Owners {
    /// The thread that a term is of; none if it is a constant.
    pub fn owner_of(&mut self, term: TermId, expressions: &Expressions, events: &[Event]) -> Option<ThreadId> {
        let known = self.of.len();
        for new in expressions.terms.iter_between(known, term) {
            let owner = match expressions.terms.node(new) {
                Node::Const(_) => 0,
                Node::Leaf(local) => events.get(local.definition.index()).map_or(0, |event| event.thread.0 + 1),
                Node::App(_, args) => args.iter().map(|arg| self.of[arg.index()]).max().unwrap_or(0),
            };
            self.of.push(owner);
        }
        self.of.get(term.index()).and_then(|owner| owner.checked_sub(1)).map(ThreadId)
    }
}

//! How the terms of a draft are used, and which of them deserve a name.

use crate::expression::Expressions;
use foretrace_trace::{Event, Node, Op, TermId};
use rustc_hash::FxHashMap;

/// Terms that are a tree of more nodes than this are cut up.
const LARGE: u32 = 40;
/// Terms of fewer nodes than this are written out each time that they are used.
const SMALL: u32 = 5;

/// Per term of the draft how it is used.
pub(crate) struct Uses(pub(super) Vec<About>);

/// What became of terms that may become others.
#[derive(Default)]
pub(super) struct Made {
    /// Of those that were looked at: what they are in the trace, and their sizes as trees there.
    pub(super) terms: FxHashMap<TermId, (TermId, u32)>,
    /// The list of `Rewrite::not_made` when it has none.
    pub(super) spare: Vec<TermId>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct About {
    /// One more than the last event of the draft whose name it mentions, 0 if it mentions none.
    pub(super) latest: u32,
    /// How often it is used, by an event or as an argument; more than twice is two.
    uses: u8,
    /// Whether it is an argument.
    is_argument: bool,
    /// Whether it, or something that it is made of, may get a name.
    pub(super) may_change: bool,
    /// Whether it is in the list that is being made.
    pub(super) is_listed: bool,
}

impl Uses {
    /// Of all terms of the draft, by its events.
    pub fn in_events(expressions: &Expressions, events: &[Event]) -> Uses {
        let terms = &expressions.terms;
        let mut of = vec![About::default(); terms.len()];
        let mut open = Vec::new();
        for root in events.iter().flat_map(|event| roots(&event.op)) {
            open.push(root);
            while let Some(term) = open.pop() {
                let about = &mut of[term.index()];
                about.uses = (about.uses + 1).min(2);
                if about.uses > 1 {
                    continue;
                }
                for arg in terms.args(term) {
                    of[arg.index()].is_argument = true;
                    open.push(*arg);
                }
            }
        }
        for term in terms.iter() {
            let (latest, parts_may) = match terms.node(term) {
                Node::Const(_) => (0, false),
                Node::Leaf(local) => (local.definition.0 + 1, false),
                Node::App(_, args) => args
                    .iter()
                    .map(|arg| of[arg.index()])
                    .fold((0, false), |(latest, may), arg| (latest.max(arg.latest), may || arg.may_change)),
            };
            let about = &mut of[term.index()];
            about.latest = latest;
            about.may_change = parts_may || about.deserves_a_name(terms.size(term));
        }
        Uses(of)
    }
}

impl About {
    /// Whether it gets a name where it is of this size.
    pub(super) fn deserves_a_name(self, size: u32) -> bool {
        self.is_argument && (size > LARGE || self.uses > 1 && size >= SMALL) && self.latest > 0
    }
}

/// The terms that an event of the draft has, the values apart.
pub(super) fn roots(op: &Op) -> impl Iterator<Item = TermId> + use<> {
    [op.condition(), op.computed()].into_iter().flatten()
}

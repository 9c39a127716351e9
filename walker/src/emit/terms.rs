//! Terms of the draft as terms of the trace: made where they are first used, and named where that is worth it.

use super::{Rewrite, next_name};
use crate::draft::DraftEvent;
use crate::expression::Expressions;
use foretrace_trace::{Arguments, Func, Local, Node, Op, Problem, TermId, ThreadId};

/// Terms that are a tree of more nodes than this are cut up.
const LARGE: u32 = 40;
/// Terms of fewer nodes than this are written out each time that they are used.
const SMALL: u32 = 5;

/// Per term of the draft what is known of it.
pub(super) struct Terms {
    of: Vec<About>,
    /// The list of [`Rewrite::not_done`] when nobody has it.
    spare: Vec<TermId>,
}

#[derive(Clone, Copy, Default)]
struct About {
    /// What it is in the trace.
    done: Option<TermId>,
    /// Its size as a tree there.
    size: u32,
    /// One more than the last event of the draft whose name it mentions, 0 if it mentions none.
    latest: u32,
    /// How often it is used, by an event or as an argument; more than twice is two.
    uses: u8,
    /// Whether it is an argument.
    is_argument: bool,
    /// Whether it is in the list that is being made.
    is_listed: bool,
}

impl Terms {
    pub fn new(expressions: &Expressions, events: &[DraftEvent]) -> Terms {
        let mut of = vec![About::default(); expressions.terms.len()];
        let mut open = Vec::new();
        for root in events.iter().flat_map(|event| event.op.terms()) {
            open.push(root);
            while let Some(term) = open.pop() {
                let about = &mut of[term.index()];
                about.uses = (about.uses + 1).min(2);
                if about.uses > 1 {
                    continue;
                }
                for arg in expressions.terms.args(term) {
                    of[arg.index()].is_argument = true;
                    open.push(*arg);
                }
            }
        }
        Terms { of, spare: open }
    }
}

impl Rewrite<'_> {
    /// Makes all parts of a term that can be made before the step that starts with event `first` of the draft.
    pub(super) fn prepare(&mut self, root: TermId, first: u32, event: &DraftEvent) -> Result<(), Problem> {
        let terms = self.not_done(root);
        for term in &terms {
            if self.mentions(*term) <= first {
                self.make(*term, Some(event))?;
            }
        }
        self.terms.spare = terms;
        Ok(())
    }

    /// The term in the trace; the names that it mentions are defined.
    pub(super) fn term(&mut self, root: TermId) -> Result<TermId, Problem> {
        let terms = self.not_done(root);
        for term in &terms {
            self.make(*term, None)?;
        }
        self.terms.spare = terms;
        Ok(self.terms.of[root.index()].done.unwrap_or(root))
    }

    pub(super) fn optional(&mut self, term: Option<TermId>) -> Result<Option<TermId>, Problem> {
        term.map(|term| self.term(term)).transpose()
    }

    /// The parts of a term that are not in the trace yet, arguments first.
    fn not_done(&mut self, root: TermId) -> Vec<TermId> {
        let (terms, of) = (&self.finishing.expressions.terms, &mut self.terms.of);
        let mut found = std::mem::take(&mut self.terms.spare);
        found.clear();
        if of[root.index()].done.is_none() {
            found.push(root);
        }
        let mut next = 0;
        while next < found.len() {
            for arg in terms.args(found[next]) {
                let about = &mut of[arg.index()];
                if about.done.is_none() && !about.is_listed {
                    about.is_listed = true;
                    found.push(*arg);
                }
            }
            next += 1;
        }
        found.iter().for_each(|term| of[term.index()].is_listed = false);
        found.sort_unstable(); // arguments have lower positions
        found
    }

    fn mentions(&mut self, term: TermId) -> u32 {
        let of = &mut self.terms.of;
        if of[term.index()].latest == 0 {
            of[term.index()].latest = match self.finishing.expressions.terms.node(term) {
                Node::Const(_) => 0,
                Node::Leaf(local) => local.definition.0 + 1,
                Node::App(_, args) => args.iter().map(|arg| of[arg.index()].latest).max().unwrap_or(0),
            };
        }
        of[term.index()].latest
    }

    /// Makes a term whose arguments are made; where an event is given, a name for it may be defined before that.
    fn make(&mut self, term: TermId, before: Option<&DraftEvent>) -> Result<(), Problem> {
        let mut size = 1u32;
        let made = match self.finishing.expressions.terms.node(term) {
            Node::Const(value) => self.assembler.literal(value.clone()),
            Node::Leaf(local) => {
                let definition = self.renumbered[local.definition.index()];
                self.leaf(Local { definition, sort: local.sort })
            }
            Node::App(func, args) => {
                let of = &self.terms.of;
                size = args.iter().fold(1, |size, arg| size.saturating_add(of[arg.index()].size));
                let args = args.map(|arg| of[arg.index()].done.expect("arguments come first"));
                self.app(*func, args)
            }
        };
        let of = &mut self.terms.of;
        let about = &mut of[term.index()];
        (about.done, about.size) = (Some(made), size);
        match before {
            Some(event) if self.deserves_a_name(term, size) => self.name(term, made, event),
            _ => Ok(()),
        }
    }

    /// Different terms of the draft are different ones in the trace, so that none has to be looked up; but for those that are
    /// made for unknown values.
    fn is_new(&self) -> bool {
        !self.has_unknown()
    }

    fn leaf(&mut self, local: Local) -> TermId {
        match self.is_new() {
            true => self.assembler.terms().append_leaf(local),
            false => self.assembler.terms().leaf(local),
        }
    }

    fn app(&mut self, func: Func, args: Arguments) -> TermId {
        let made = match self.is_new() {
            true => self.assembler.terms().append_app(func, args),
            false => self.assembler.terms().app(func, &args),
        };
        made.expect("as sorted as in the draft")
    }

    fn deserves_a_name(&mut self, term: TermId, size: u32) -> bool {
        let About { uses, is_argument, .. } = self.terms.of[term.index()];
        is_argument && (size > LARGE || uses > 1 && size >= SMALL) && self.mentions(term) > 0
    }

    fn name(&mut self, term: TermId, made: TermId, event: &DraftEvent) -> Result<(), Problem> {
        let ThreadId(thread) = event.thread;
        let dst = next_name(&mut self.assembler, &mut self.finishing.names[thread as usize], "e");
        let sort = self.assembler.terms().sort(made);
        let definition = self.mark(event, Op::Let { dst, expr: made })?;
        let name = self.leaf(Local { definition, sort });
        let about = &mut self.terms.of[term.index()];
        (about.done, about.size) = (Some(name), 1);
        Ok(())
    }
}

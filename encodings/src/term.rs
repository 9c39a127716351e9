//! The constraint language: Boolean, integer and word terms over what an execution of the trace leaves open.
//!
//! Terms are plain data. They can be evaluated under an assignment ([`Terms::evaluate`]), printed as SMT-LIB 2
//! ([`crate::smtlib`]) and lowered to a solver, which decides the order atom in whatever way it likes.

use foretrace_trace::{EventId, Func, Leaf, Node, Sort, TermId, Terms, ThreadId, Value};
use rustc_hash::FxHashSet;

/// What a constraint speaks of, besides constants.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Atom {
    /// The order atom: the step of the first event comes before that of the second. Kept with the first one earlier in
    /// the observed order; the other direction is its negation, so that one atom decides a pair.
    Before(EventId, EventId),
    /// The event is part of the prefix.
    Included(EventId),
    /// The value of the event's variable just before the event: what a read returns.
    Value {
        /// The access.
        at: EventId,
        /// The variable's sort.
        sort: Sort,
    },
    /// The value just before the access was written by this write, or is the initial one.
    ReadsFrom {
        /// The access.
        at: EventId,
        /// The write, none for the initial value.
        write: Option<EventId>,
    },
    /// Which signal a wake takes, which post a down takes: a number, different for all that compete.
    Token(EventId),
    /// The prefix ends inside of this step.
    Open(EventId),
    /// A violation path leads to this access.
    Reached {
        /// The number of the question: each has atoms apart.
        question: u32,
        /// The access, of another thread than the block.
        at: EventId,
    },
    /// A stretch of the schedule, between two marks, belongs to this thread.
    Holder {
        /// Its number, from 0 on.
        stretch: u32,
        /// The thread.
        thread: ThreadId,
    },
    /// Values that left what is tracked are as observed.
    Pins,
}

impl Leaf for Atom {
    fn sort(&self) -> Sort {
        match self {
            Atom::Value { sort, .. } => *sort,
            Atom::Token(_) => Sort::Int,
            _ => Sort::Bool,
        }
    }
}

/// Makes terms and folds constants while it does.
#[derive(Clone, Debug)]
pub struct Builder<L = Atom> {
    /// The arena.
    pub terms: Terms<L>,
    truth: TermId,
    falsity: TermId,
}

impl<L: Leaf> Default for Builder<L> {
    fn default() -> Self {
        let mut terms = Terms::default();
        let truth = terms.constant(Value::Bool(true));
        let falsity = terms.constant(Value::Bool(false));
        Builder { terms, truth, falsity }
    }
}

impl<L: Leaf> Builder<L> {
    /// `true`.
    pub fn truth(&self) -> TermId {
        self.truth
    }

    /// `false`.
    pub fn falsity(&self) -> TermId {
        self.falsity
    }

    /// A truth value.
    pub fn boolean(&self, value: bool) -> TermId {
        if value { self.truth } else { self.falsity }
    }

    /// A leaf.
    pub fn atom(&mut self, atom: L) -> TermId {
        self.terms.leaf(atom)
    }

    /// Negation.
    pub fn not(&mut self, term: TermId) -> TermId {
        if let Node::App(Func::Not, args) = self.terms.node(term) {
            return args[0];
        }
        self.apply(Func::Not, &[term])
    }

    /// Conjunction.
    pub fn and(&mut self, terms: impl IntoIterator<Item = TermId>) -> TermId {
        self.junction(Func::And, terms, self.truth, self.falsity)
    }

    /// Disjunction.
    pub fn or(&mut self, terms: impl IntoIterator<Item = TermId>) -> TermId {
        self.junction(Func::Or, terms, self.falsity, self.truth)
    }

    /// `premise` implies `conclusion`.
    pub fn implies(&mut self, premise: TermId, conclusion: TermId) -> TermId {
        let not = self.not(premise);
        self.or([not, conclusion])
    }

    fn junction(
        &mut self,
        func: Func,
        terms: impl IntoIterator<Item = TermId>,
        neutral: TermId,
        absorbing: TermId,
    ) -> TermId {
        let mut args = Distinct::default();
        for term in terms {
            if term == absorbing {
                return absorbing;
            }
            if term != neutral {
                args.insert(term);
            }
        }
        match args.terms[..] {
            [] => neutral,
            [only] => only,
            _ => self.raw(func, &args.terms),
        }
    }

    /// A function applied, folded where its arguments are constants or decide it.
    ///
    /// Some solvers refuse some functions, so these are written in another way. Functions on words get two arguments at a time, since cvc5
    /// refuses more for `bvxnor`. `divisible` is a remainder of zero, since Z3 refuses it.
    ///
    /// # Panics
    /// When the arguments do not fit the function: terms come sort-checked from the trace.
    pub fn apply(&mut self, func: Func, args: &[TermId]) -> TermId {
        use Func::{BvAdd, BvAnd, BvMul, BvOr, BvXnor, BvXor, Concat};
        let constants: Option<Vec<&Value>> = args.iter().map(|arg| self.terms.as_const(*arg)).collect();
        if let Some(values) = constants {
            let value = func.apply(&values);
            return self.terms.constant(value);
        }
        match (func, args) {
            (Func::Eq, [a, b]) if a == b => self.truth,
            (Func::Div | Func::Mod, _) => self.division(func, args),
            (Func::Divisible(divisor), [dividend]) => self.divisible(*dividend, divisor),
            (Concat | BvAnd | BvOr | BvXor | BvXnor | BvAdd | BvMul, [first, rest @ ..]) if rest.len() > 1 => {
                rest.iter().fold(*first, |nested, arg| self.apply(func, &[nested, *arg]))
            }
            (Func::And, _) => self.and(args.iter().copied()),
            (Func::Or, _) => self.or(args.iter().copied()),
            (Func::Implies, [a, b]) => self.implies(*a, *b),
            (Func::Not, [a]) if matches!(self.terms.node(*a), Node::App(Func::Not, _)) => self.not(*a),
            (Func::Ite, [_, a, b]) if a == b => *a,
            (Func::Ite, [c, a, _]) if *c == self.truth => *a,
            (Func::Ite, [c, _, b]) if *c == self.falsity => *b,
            _ => self.raw(func, args),
        }
    }

    /// Integer division as the trace format has it, 0 where the divisor is 0, which SMT-LIB leaves open.
    fn division(&mut self, func: Func, args: &[TermId]) -> TermId {
        let zero = self.terms.constant(Value::zero(Sort::Int));
        args[1..].iter().fold(args[0], |dividend, divisor| {
            let divisor_is_zero = self.apply(Func::Eq, &[*divisor, zero]);
            let quotient = self.raw(func, &[dividend, *divisor]);
            self.apply(Func::Ite, &[divisor_is_zero, zero, quotient])
        })
    }

    fn divisible(&mut self, dividend: TermId, divisor: u32) -> TermId {
        if divisor == 0 {
            return self.falsity;
        }
        let divisor = self.terms.constant(Value::int(divisor));
        let zero = self.terms.constant(Value::zero(Sort::Int));
        let remainder = self.raw(Func::Mod, &[dividend, divisor]);
        self.raw(Func::Eq, &[remainder, zero])
    }

    fn raw(&mut self, func: Func, args: &[TermId]) -> TermId {
        self.terms.app(func, args).expect("terms of a valid trace are well-sorted")
    }
}

/// Terms in the order in which they came, each once.
#[derive(Default)]
struct Distinct {
    terms: Vec<TermId>,
    /// The same terms, where there are too many to compare with each.
    known: FxHashSet<TermId>,
}

/// So many terms are compared one by one.
const FEW: usize = 16;

impl Distinct {
    fn insert(&mut self, term: TermId) {
        if self.terms.len() == FEW {
            self.known.extend(&self.terms);
        }
        let is_known = if self.terms.len() < FEW { self.terms.contains(&term) } else { !self.known.insert(term) };
        if !is_known {
            self.terms.push(term);
        }
    }
}

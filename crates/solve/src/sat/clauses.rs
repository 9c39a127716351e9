//! From constraint terms to clauses.

use super::clause_target::{Clauses, operands};
use super::values::{Constraint, Refined, Row, Then, Values};
use crate::backend::Unsupported;
use batsat::Lit;
use foretrace_encodings::Atom;
use foretrace_trace::{EventId, Func, Node, Sort, TermId, Terms, Value};
use rustc_hash::FxHashMap;

/// Gives terms literals, each once.
#[derive(Default)]
pub(super) struct Literals {
    known: Vec<Option<Lit>>,
    truth: Option<Lit>,
    tokens: FxHashMap<EventId, Token>,
    values: Values,
}

/// What is said of a token: which numbers it may be, and that it is the same as others.
#[derive(Default)]
struct Token {
    numbers: Vec<(Value, Lit)>,
    same_as: Vec<(EventId, Lit)>,
}

impl Literals {
    /// Adds a constraint.
    pub(super) fn assert(
        &mut self,
        terms: &Terms<Atom>,
        term: TermId,
        to: &mut impl Clauses,
    ) -> Result<(), Unsupported> {
        if let Node::App(Func::And, args) = terms.node(term) {
            return args.iter().try_for_each(|arg| self.assert(terms, *arg, to));
        }
        if let Some((chosen, at, given)) = source(terms, term) {
            let chosen = self.literal_of(terms, chosen, to)?;
            self.values.add_source(at, chosen, given);
            if terms.as_const(given).is_none() && terms.sort(given) != Sort::Bool {
                return Ok(()); // said by rows, as they are needed
            }
        }
        let (mut ways, mut sources) = (Vec::new(), Vec::new());
        let mut pending = vec![term];
        while let Some(term) = pending.pop() {
            match terms.node(term) {
                Node::App(Func::Or, args) => pending.extend(args),
                Node::Leaf(Atom::ReadsFrom { at, write }) if to.has_one_source(*at) => {
                    self.literal_of(terms, term, to)?; // so that it is known to the values
                    sources.push((*at, *write));
                }
                _ => ways.push(self.literal_of(terms, term, to)?),
            }
        }
        match sources.first().copied() {
            None => to.clause(&ways),
            Some((at, _)) if sources.iter().all(|(other, _)| *other == at) => {
                let sources: Vec<Option<EventId>> = sources.into_iter().map(|(_, source)| source).collect();
                to.some_source(&ways, at, &sources);
            }
            Some(_) => {
                ways.extend(sources.into_iter().map(|(at, write)| to.leaf(&Atom::ReadsFrom { at, write })));
                to.clause(&ways);
            }
        }
        self.values.watch(terms, term);
        Ok(())
    }

    /// The goal as a constraint, if there are conditions over values in it.
    pub(super) fn constraint(&self, terms: &Terms<Atom>, goal: TermId) -> Option<Constraint> {
        self.values.constraint(terms, goal)
    }

    /// What the values of an assignment make of all constraints and these goals.
    pub(super) fn refine(
        &mut self,
        terms: &Terms<Atom>,
        goals: &[Constraint],
        is_true: &dyn Fn(Lit) -> bool,
    ) -> Refined {
        self.values.refine(terms, goals, &self.known, is_true)
    }

    /// Whether there are rows of tables.
    pub(super) fn has_rows(&self) -> bool {
        self.values.has_rows()
    }

    /// What a read returns under an assignment.
    #[cfg(test)]
    pub(super) fn found(&mut self, terms: &Terms<Atom>, at: EventId, is_true: &dyn Fn(Lit) -> bool) -> Option<Value> {
        self.values.found(terms, at, &self.known, is_true)
    }

    /// Adds a row as a clause.
    pub(super) fn add_row(&mut self, terms: &Terms<Atom>, row: Row, to: &mut impl Clauses) -> Result<(), Unsupported> {
        let mut clause: Vec<Lit> = row.chosen.iter().map(|chosen| !*chosen).collect();
        for (read, value) in row.reads {
            clause.push(!self.returns(terms, read.at, read.term, value, to)?);
        }
        clause.push(match row.then {
            Then::Holds(literal) => literal,
            Then::Returns(read, value) => self.returns(terms, read.at, read.term, value, to)?,
        });
        to.clause(&clause);
        Ok(())
    }

    /// The literal of "the read returns this value".
    fn returns(
        &mut self,
        terms: &Terms<Atom>,
        at: EventId,
        read: TermId,
        value: Value,
        to: &mut impl Clauses,
    ) -> Result<Lit, Unsupported> {
        match value {
            Value::Bool(value) => {
                self.literal_of(terms, read, to).map(|literal| if value { literal } else { !literal })
            }
            value => Ok(self.values.equals(at, value, to)),
        }
    }

    /// The literal of a Boolean term.
    pub(super) fn literal_of(
        &mut self,
        terms: &Terms<Atom>,
        root: TermId,
        to: &mut impl Clauses,
    ) -> Result<Lit, Unsupported> {
        self.known.resize(terms.len(), None);
        let mut pending = vec![root];
        while let Some(term) = pending.last().copied() {
            if self.known[term.index()].is_some() {
                pending.pop();
                continue;
            }
            let operands = operands(terms, term);
            let missing: Vec<TermId> =
                operands.iter().filter(|arg| self.known[arg.index()].is_none()).copied().collect();
            if missing.is_empty() {
                self.known[term.index()] = Some(self.node(terms, term, to)?);
            } else {
                pending.extend(missing);
            }
        }
        Ok(self.known[root.index()].expect("just found"))
    }

    fn node(&mut self, terms: &Terms<Atom>, term: TermId, to: &mut impl Clauses) -> Result<Lit, Unsupported> {
        match terms.node(term) {
            Node::Const(Value::Bool(value)) => {
                let truth = self.truth(to);
                Ok(if *value { truth } else { !truth })
            }
            Node::Leaf(Atom::Before(a, b)) => Ok(to.before(*a, *b)),
            Node::Leaf(atom) if foretrace_trace::Leaf::sort(atom) == Sort::Bool => Ok(to.leaf(atom)),
            Node::App(Func::Eq, args) if args.iter().any(|arg| is_token(terms, *arg)) => self.tokens(terms, args, to),
            Node::App(func, args) if operands(terms, term).len() == args.len() => {
                let args: Vec<Lit> =
                    args.iter().map(|arg| self.known[arg.index()].expect("operands come first")).collect();
                connective(*func, &args, to)
            }
            _ => self.condition(terms, term, to),
        }
    }

    /// The literal of a condition over values.
    fn condition(&mut self, terms: &Terms<Atom>, term: TermId, to: &mut impl Clauses) -> Result<Lit, Unsupported> {
        if !terms.leaves(term).iter().all(|atom| matches!(atom, Atom::Value { .. })) {
            return Err(Unsupported);
        }
        let literal = match terms.node(term) {
            Node::App(Func::Eq, args) => match (terms.node(args[0]), terms.node(args[args.len() - 1])) {
                (Node::Leaf(Atom::Value { at, .. }), Node::Const(value))
                | (Node::Const(value), Node::Leaf(Atom::Value { at, .. }))
                    if args.len() == 2 =>
                {
                    self.values.equals(*at, value.clone(), to)
                }
                _ => to.forced(),
            },
            _ => to.forced(),
        };
        self.values.add_condition(term, literal);
        Ok(literal)
    }

    fn truth(&mut self, to: &mut impl Clauses) -> Lit {
        *self.truth.get_or_insert_with(|| {
            let truth = to.fresh();
            to.clause(&[truth]);
            truth
        })
    }

    /// A token is a number, or two tokens are the same one. That a token is two numbers does no harm: constraints ask that
    /// it is one of several, and that none of them is another's.
    fn tokens(&mut self, terms: &Terms<Atom>, args: &[TermId], to: &mut impl Clauses) -> Result<Lit, Unsupported> {
        let [a, b] = args[..] else { return Err(Unsupported) };
        match (terms.node(a), terms.node(b)) {
            (Node::Leaf(Atom::Token(a)), Node::Leaf(Atom::Token(b))) => Ok(self.same(*a, *b, to)),
            (Node::Leaf(Atom::Token(token)), Node::Const(number))
            | (Node::Const(number), Node::Leaf(Atom::Token(token))) => Ok(self.number(*token, number, to)),
            _ => Err(Unsupported),
        }
    }

    fn number(&mut self, token: EventId, number: &Value, to: &mut impl Clauses) -> Lit {
        let literal = to.fresh();
        let Token { numbers, same_as } = self.tokens.entry(token).or_default();
        numbers.push((number.clone(), literal));
        for (other, same) in same_as.clone() {
            for (_, taken) in self.tokens[&other].numbers.iter().filter(|(taken, _)| taken == number) {
                to.clause(&[!literal, !*taken, same]);
            }
        }
        literal
    }

    fn same(&mut self, a: EventId, b: EventId, to: &mut impl Clauses) -> Lit {
        let same = to.fresh();
        self.tokens.entry(a).or_default().same_as.push((b, same));
        self.tokens.entry(b).or_default().same_as.push((a, same));
        for (number, mine) in &self.tokens[&a].numbers {
            for (_, theirs) in self.tokens[&b].numbers.iter().filter(|(other, _)| other == number) {
                to.clause(&[!*mine, !*theirs, same]);
            }
        }
        same
    }
}

fn is_token(terms: &Terms<Atom>, term: TermId) -> bool {
    matches!(terms.node(term), Node::Leaf(Atom::Token(_)))
}

/// What a constraint says of where a value comes from, if that is all: the term of "it comes from there", the read, and the
/// value then.
fn source(terms: &Terms<Atom>, term: TermId) -> Option<(TermId, EventId, TermId)> {
    let Node::App(Func::Or, ways) = terms.node(term) else { return None };
    let [not_chosen, equal] = ways[..] else { return None };
    let (Node::App(Func::Not, chosen), Node::App(Func::Eq, sides)) = (terms.node(not_chosen), terms.node(equal)) else {
        return None;
    };
    match (terms.node(chosen[0]), terms.node(sides[0]), &sides[..]) {
        (Node::Leaf(Atom::ReadsFrom { at, .. }), Node::Leaf(Atom::Value { at: read, .. }), [_, given])
            if at == read =>
        {
            Some((chosen[0], *at, *given))
        }
        _ => None,
    }
}

fn connective(func: Func, args: &[Lit], to: &mut impl Clauses) -> Result<Lit, Unsupported> {
    match func {
        Func::Not => Ok(!args[0]),
        Func::Or => Ok(disjunction(args, to)),
        Func::And => Ok(!disjunction(&args.iter().map(|arg| !*arg).collect::<Vec<_>>(), to)),
        Func::Implies => {
            let (conclusion, premises) = args.split_last().ok_or(Unsupported)?;
            let ways: Vec<Lit> = premises.iter().map(|premise| !*premise).chain([*conclusion]).collect();
            Ok(disjunction(&ways, to))
        }
        Func::Xor => Ok(args[1..].iter().fold(args[0], |a, b| !equal(a, *b, to))),
        Func::Eq if args.len() == 2 => Ok(equal(args[0], args[1], to)),
        Func::Distinct if args.len() == 2 => Ok(!equal(args[0], args[1], to)),
        Func::Ite => {
            let then = disjunction(&[!args[0], args[1]], to);
            let otherwise = disjunction(&[args[0], args[2]], to);
            Ok(!disjunction(&[!then, !otherwise], to))
        }
        _ => Err(Unsupported),
    }
}

fn disjunction(args: &[Lit], to: &mut impl Clauses) -> Lit {
    let some = to.fresh();
    let mut clause = args.to_vec();
    clause.push(!some);
    to.clause(&clause);
    for arg in args {
        to.clause(&[!*arg, some]);
    }
    some
}

fn equal(a: Lit, b: Lit, to: &mut impl Clauses) -> Lit {
    let equal = to.fresh();
    for (x, y, z) in [(a, b, equal), (!a, !b, equal), (a, !b, !equal), (!a, b, !equal)] {
        to.clause(&[!x, !y, z]);
    }
    equal
}

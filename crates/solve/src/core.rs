//! Which instances of rules refute a candidate: an unsatisfiable core that needs each of its members.
//!
//! Each instance gets a literal that implies its constraints; the query's goals are assumed. A fresh solver is asked about the core that
//! Z3 gives, again and again until the core no longer shrinks. Then every member that the refutation does not need is taken out.

use super::difference_logic::{Numbers, parameters};
use super::lower::Lowering;
use super::session::Limits;
use crate::limit::Limit;
use foretrace_encodings::{Atom, Encoder, Origin, Query, Rule};
use foretrace_trace::{Node, TermId};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use z3::ast::Bool;
use z3::{SatResult, Solver};

/// What came of the search for a core.
#[derive(Debug)]
pub enum Refutation {
    /// These instances leave no schedule with the candidate.
    Core {
        /// The instances, in order.
        origins: BTreeSet<Origin>,
        /// Whether each of them is needed, as far as the solver's time allowed to find out.
        minimal: bool,
    },
    /// There is a schedule.
    Possible,
    /// Not decided.
    Unknown(Limit),
}

/// Looks for a minimal core among all constraints of the encoder: of two, the one that costs less.
pub fn refute(
    encoder: &Encoder<'_>,
    query: &Query,
    cost: &dyn Fn(&BTreeSet<Origin>) -> usize,
    seed: u32,
    limits: Limits<'_>,
) -> Refutation {
    let mut core = Claims::all_origins(encoder);
    loop {
        let claims = Claims::new(encoder, query, core.clone(), seed);
        let smaller = match claims.holds(&core, limits) {
            SatResult::Sat => return Refutation::Possible,
            SatResult::Unknown => return Refutation::Unknown(limits.of_unknown(&claims.solver)),
            SatResult::Unsat => claims.core(),
        };
        if smaller.len() == core.len() {
            break;
        }
        core = smaller;
    }
    let claims = Claims::new(encoder, query, core.clone(), seed);
    let attempts = [Links::Short, Links::Long].map(|kept| claims.minimal(&core, kept, limits));
    let best = attempts.into_iter().min_by_key(|(core, _)| (cost(core), core.len()));
    let Some((core, minimal)) = best else { return Refutation::Unknown(Limit::Size) };
    let fresh = Claims::new(encoder, query, core.clone(), seed);
    match fresh.holds(&core, limits) {
        SatResult::Unsat => Refutation::Core { minimal: minimal && fresh.needs_each(&core, limits), origins: core },
        _ => Refutation::Unknown(limits.of_unknown(&fresh.solver)),
    }
}

/// A solver that knows instances of rules by literals, and supposes the goals of a query.
pub struct Claims<'e, 'a> {
    encoder: &'e Encoder<'a>,
    lowering: RefCell<Lowering<Numbers>>,
    solver: Solver,
    terms: BTreeMap<Origin, Vec<TermId>>,
    literals: BTreeMap<Origin, Bool>,
    pins: Bool,
}

impl<'e, 'a> Claims<'e, 'a> {
    /// All instances that an encoder has constraints of.
    pub fn all_origins(encoder: &Encoder<'_>) -> BTreeSet<Origin> {
        let constraints = encoder.constraints().iter().filter(|constraint| !is_asked(constraint.origin));
        constraints.map(|constraint| constraint.origin).collect()
    }

    /// A solver of these instances.
    pub fn new(encoder: &'e Encoder<'a>, query: &Query, origins: BTreeSet<Origin>, seed: u32) -> Claims<'e, 'a> {
        let solver = Solver::new();
        solver.set_params(&parameters(encoder.view().trace, false, seed));
        let mut lowering = Lowering::new(Numbers::default());
        let arena = &encoder.build().terms;
        for goal in &query.goals {
            solver.assert(lowering.boolean(arena, *goal));
        }
        for constraint in encoder.constraints().iter().filter(|constraint| is_asked(constraint.origin)) {
            solver.assert(lowering.boolean(arena, constraint.term));
        }
        let mut terms: BTreeMap<Origin, Vec<TermId>> = BTreeMap::new();
        for constraint in encoder.constraints().iter().filter(|constraint| origins.contains(&constraint.origin)) {
            terms.entry(constraint.origin).or_default().push(constraint.term);
        }
        let mut literals = BTreeMap::new();
        for (number, (origin, of_origin)) in terms.iter().enumerate() {
            let literal = Bool::new_const(format!("rule{number}"));
            for term in of_origin {
                solver.assert(literal.implies(lowering.boolean(arena, *term)));
            }
            literals.insert(*origin, literal);
        }
        let pins = lowering.boolean(arena, query.pins);
        Claims { encoder, lowering: RefCell::new(lowering), solver, terms, literals, pins }
    }

    /// Whether some schedule has the candidate and fulfils these instances.
    fn holds<'o>(&self, origins: impl IntoIterator<Item = &'o Origin>, limits: Limits<'_>) -> SatResult {
        limits.check(&self.solver, &self.assumptions(origins))
    }

    fn assumptions<'o>(&self, origins: impl IntoIterator<Item = &'o Origin>) -> Vec<Bool> {
        let chosen = origins.into_iter().filter_map(|origin| self.literals.get(origin));
        chosen.chain([&self.pins]).cloned().collect()
    }

    /// The instances of the last answer's core.
    fn core(&self) -> BTreeSet<Origin> {
        let core: std::collections::HashSet<Bool> = self.solver.get_unsat_core().into_iter().collect();
        self.literals.iter().filter(|(_, literal)| core.contains(literal)).map(|(origin, _)| *origin).collect()
    }

    /// A core without the instances that the others do without, those about values dropped first; and whether all that
    /// stay are needed.
    fn minimal(&self, core: &BTreeSet<Origin>, kept: Links, limits: Limits<'_>) -> (BTreeSet<Origin>, bool) {
        let mut core = core.clone();
        let mut untried: Vec<Origin> = core.iter().copied().collect();
        untried.sort_by_key(|origin| (ease(origin.rule()), kept.rank(*origin), std::cmp::Reverse(*origin)));
        let mut minimal = true;
        for origin in untried {
            if !core.contains(&origin) {
                continue;
            }
            match self.holds(core.iter().filter(|other| **other != origin), limits) {
                SatResult::Unsat => core = self.core(),
                SatResult::Unknown => minimal = false,
                SatResult::Sat => {}
            }
        }
        (core, minimal)
    }

    /// Whether a schedule is possible without any one of the instances.
    fn needs_each(&self, core: &BTreeSet<Origin>, limits: Limits<'_>) -> bool {
        let rest = |spared: &Origin| core.iter().filter(|other| *other != spared).copied().collect::<Vec<_>>();
        core.iter().all(|origin| self.holds(&rest(origin), limits) == SatResult::Sat)
    }

    /// The atoms that constraints of these instances speak of.
    pub fn atoms<'o>(&self, origins: impl IntoIterator<Item = &'o Origin>) -> BTreeMap<Atom, TermId> {
        let roots: Vec<TermId> =
            origins.into_iter().filter_map(|origin| self.terms.get(origin)).flatten().copied().collect();
        let arena = &self.encoder.build().terms;
        let leaf = |term: TermId| match arena.node(term) {
            Node::Leaf(atom) => Some((*atom, term)),
            _ => None,
        };
        arena.reachable(&roots).into_iter().filter_map(leaf).collect()
    }

    /// Which of these Boolean atoms the instances leave no choice about, with their values; nothing where the instances
    /// contradict each other.
    pub fn consequences<'o>(
        &self,
        origins: impl IntoIterator<Item = &'o Origin>,
        atoms: &BTreeMap<Atom, TermId>,
        limits: Limits<'_>,
    ) -> Option<Vec<(Atom, bool)>> {
        let mut assumptions = self.assumptions(origins);
        if limits.check(&self.solver, &assumptions) == SatResult::Unsat {
            return None;
        }
        let Some(model) = self.solver.get_model() else { return Some(Vec::new()) };
        let mut forced = Vec::new();
        for (atom, term) in atoms {
            if limits.reached().is_some() {
                break;
            }
            let term = self.lowering.borrow_mut().term(&self.encoder.build().terms, *term);
            let Some(term) = term.as_bool() else { continue };
            let Some(value) = model.eval(&term, true).and_then(|value| value.as_bool()) else { continue };
            assumptions.push(if value { term.not() } else { term });
            if limits.check(&self.solver, &assumptions) == SatResult::Unsat {
                forced.push((*atom, value));
            }
            assumptions.pop();
        }
        Some(forced)
    }
}

/// Whether an instance says what is asked, as the goals of a query do: nothing can be without it.
fn is_asked(origin: Origin) -> bool {
    origin.rule() == Rule::Violation
}

/// Which orders are kept where several do: a chain of short ones, or one that skips what is between.
#[derive(Clone, Copy)]
enum Links {
    Short,
    Long,
}

impl Links {
    /// What is tried to be dropped first has the lowest rank.
    fn rank(self, origin: Origin) -> u32 {
        let Origin::Order { earlier, later } = origin else { return 0 };
        let span = later.0.abs_diff(earlier.0);
        match self {
            Links::Short => u32::MAX - span,
            Links::Long => span,
        }
    }
}

/// How easily a family of rules is understood: what is hard to understand is spared first.
fn ease(rule: Rule) -> u8 {
    match rule {
        Rule::Pins => 0,
        Rule::Guards => 1,
        Rule::ReadsFrom => 2,
        Rule::ConditionVariables | Rule::Semaphores => 3,
        Rule::Locks | Rule::Once => 4,
        Rule::ProgramOrder | Rule::Violation => 5,
    }
}

//! What an assignment of a solver makes of every constraint, by our own evaluation.

use super::{Limits, Outcome, Session};
use crate::options::Order;
use foretrace_encodings::{Atom, Facts, Reads, Rules, constant_reads};
use foretrace_trace::oracle::candidates;
use foretrace_trace::strategies::{Shape, random_trace};
use foretrace_trace::{
    Atomic, EventId, Feasibility, Independence, Model, MustHappenBefore, Node, Question, Structure, TermId, Terms,
    Value,
};
use rustc_hash::FxHashMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

impl Session<'_> {
    /// The values of all atoms of the arena under the solver's assignment, of order atoms by the places of their steps.
    fn values(&mut self, terms: &Terms<Atom>) -> FxHashMap<Atom, Value> {
        let mut values = FxHashMap::default();
        for term in terms.iter() {
            let Node::Leaf(atom) = terms.node(term) else { continue };
            let value = match atom {
                Atom::Before(a, b) => {
                    let place = |step: &EventId| (self.solver.place(*step), *step);
                    (place(a) < place(b)).into()
                }
                _ => self.solver.value(terms, term),
            };
            values.insert(*atom, value);
        }
        values
    }
}

/// In the assignment of every feasible query, every constraint and goal has the value true by our own evaluation.
#[test]
fn assignments_fulfil_all_constraints() {
    for order in [Order::Idl, Order::Order, Order::Sat] {
        fulfil_all_constraints(order);
    }
}

fn fulfil_all_constraints(order: Order) {
    let stop = AtomicBool::new(false);
    let limits = Limits { timeout: Duration::from_secs(60), deadline: None, stop: &stop };
    let (mut feasible, mut evaluated) = (0, 0);
    for seed in 0..40 {
        let (trace, observed) = random_trace(seed, &Shape::default());
        let structure = Structure::new(&trace);
        let clocks = MustHappenBefore::new(&trace, &structure);
        let facts = Facts { trace: &trace, structure: &structure, observed: &observed, clocks: &clocks };
        for (model, feasibility) in [Model::Cam, Model::Ctp, Model::Mcm, Model::Avp]
            .into_iter()
            .flat_map(|model| [(model, Feasibility::Prefix), (model, Feasibility::Complete)])
            .filter(|(model, _)| model.needs() <= trace.data)
        {
            let independence = if model.has_values() { Independence::Guarded } else { Independence::Conflict };
            let rules = Rules::of(Question { model, feasibility, independence });
            let constants = if rules.reads == Reads::Latest { constant_reads(facts) } else { Default::default() };
            let mut session = Session::new(facts, rules, &constants, order, 0);
            for triple in candidates(&trace, &Atomic::Threads.transactions(&trace)) {
                let guarded = triple.patterns(&trace).next().filter(|_| model.has_values());
                let query = session.encoder.query(triple, guarded);
                session.begin(&query).expect("the solver speaks of all that random traces hold");
                let outcome = session.ask(Some(query.pins), limits);
                assert!(outcome != Outcome::Beyond, "seed {seed}, {model}, {feasibility}, {triple}");
                if outcome != Outcome::Sat {
                    session.solver.end();
                    continue;
                }
                feasible += 1;
                let constraints: Vec<TermId> = session.encoder.constraints().iter().map(|c| c.term).collect();
                let terms = session.encoder.build().terms.clone();
                let values = session.values(&terms);
                // The SAT solver gives tokens as many numbers as it likes.
                let has_number = |atom: &&Atom| order != Order::Sat || !matches!(atom, Atom::Token(_));
                for term in constraints.into_iter().chain(query.goals).chain([query.pins]) {
                    if !terms.leaves(term).iter().all(has_number) {
                        continue;
                    }
                    let holds = terms.evaluate(term, &mut |atom| values[atom].clone());
                    assert!(holds.is_true(), "seed {seed}, {model}, {feasibility}, {triple}: {:?}", terms.node(term));
                    evaluated += 1;
                }
                session.solver.end();
            }
        }
    }
    assert!(feasible > 200 && evaluated > 10_000, "{feasible} feasible queries, {evaluated} constraints");
}

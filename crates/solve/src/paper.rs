//! The published method: for each candidate the formula of the whole trace, in a fresh solver.
//!
//! Source: C. Wang, R. Limaye, M. Ganai, A. Gupta, *Trace-based Symbolic Analysis for Atomicity Violations* (Fusion), TACAS 2010, section 5.

use super::difference_logic::parameters;
use super::lower::{Leaves, Lowering, unknown};
use super::session::{Answer, Assignment, Limits};
use crate::limit::Limit;
use foretrace_encodings::TraceView;
use foretrace_encodings::paper::{Atom, Cell, Formula};
use foretrace_trace::{EventId, Leaf, Pattern, SyncKind, Triple};
use rustc_hash::FxHashMap;
use std::time::Instant;
use z3::ast::{Bool, Dynamic, Int};
use z3::{Model, SatResult, Solver};

/// O(t) for each event: HB(t, t') is O(t) < O(t') (Fusion, section 4.3).
#[derive(Default)]
struct Places(FxHashMap<EventId, Int>);

impl Places {
    fn time_of(&mut self, event: EventId) -> Int {
        self.0.entry(event).or_insert_with(|| Int::new_const(format!("o{event}"))).clone()
    }

    fn value(&mut self, event: EventId, model: &Model) -> i64 {
        model.eval(&self.time_of(event), true).and_then(|place| place.as_i64()).unwrap_or(0)
    }
}

impl Leaves for Places {
    type Leaf = Atom;

    fn leaf(&mut self, atom: &Atom) -> Dynamic {
        match *atom {
            Atom::HappensBefore(a, b) => {
                let (a, b) = (self.time_of(a), self.time_of(b));
                a.lt(&b).into()
            }
            _ => unknown(name(atom), atom.sort()),
        }
    }
}

fn name(atom: &Atom) -> String {
    let shown = |cell: Cell| match cell {
        Cell::Var(var) => format!("v{}", var.0),
        Cell::Count(sem) => format!("s{}", sem.0),
        Cell::Signalled(cond, thread) => format!("c{}_{}", cond.0, thread.0),
    };
    match *atom {
        Atom::HappensBefore(a, b) => format!("hb{a}_{b}"),
        Atom::Use { at, cell, .. } => format!("pi{at}_{}", shown(cell)),
        Atom::Definition { at, cell, .. } => format!("def{at}_{}", cell.map_or("local".into(), shown)),
        Atom::Choice(at) => format!("choice{at}"),
        Atom::Pins => "pins".into(),
    }
}

/// Decides a candidate; with a pattern, under guarded independence for that pattern.
pub fn decide(view: TraceView<'_>, triple: Triple, guarded: Option<Pattern>, limits: Limits<'_>, seed: u32) -> Answer {
    let began = Instant::now();
    let mut reached = None;
    let formula = Formula::new(view, triple, guarded, &mut |terms| {
        reached = limits.of_encoding(began, terms);
        reached.is_none()
    });
    let Some(formula) = formula else { return Answer::Unknown(reached.unwrap_or(Limit::Size)) };
    let solver = Solver::new();
    solver.set_params(&parameters(view.trace, has_counts(view), seed));
    let mut lowering = Lowering::new(Places::default());
    for term in &formula.conjuncts {
        solver.assert(lowering.boolean(&formula.build.terms, *term));
    }
    let pins = Bool::new_const(name(&Atom::Pins));
    match limits.check(&solver, &[pins]) {
        SatResult::Sat => assignment(&solver, &mut lowering, &formula, triple),
        SatResult::Unknown => Answer::Unknown(limits.of_unknown(&solver)),
        SatResult::Unsat => {
            let without_pins = || limits.check(&solver, &[]);
            Answer::Infeasible { rests_on_pin: formula.has_pins && without_pins() != SatResult::Unsat }
        }
    }
}

/// Whether the formula has integers besides places and those of variables: counts, and the choices of signals.
fn has_counts(view: TraceView<'_>) -> bool {
    view.trace.syncs.iter().any(|object| matches!(object.kind, SyncKind::Semaphore { .. } | SyncKind::Condvar))
}

/// The events that are executed before the candidate's last one, in their order.
fn assignment(solver: &Solver, lowering: &mut Lowering<Places>, formula: &Formula<'_>, triple: Triple) -> Answer {
    let Some(model) = solver.get_model() else {
        return Answer::Unknown(Limit::Solver("satisfiable without an assignment".into()));
    };
    let end = lowering.order.value(triple.second, &model);
    let mut placed: Vec<(i64, EventId)> = Vec::new();
    for (index, path) in formula.path.iter().enumerate() {
        let event = EventId::from_index(index);
        let place = lowering.order.value(event, &model);
        let executed = lowering.boolean(&formula.build.terms, *path);
        let executed = model.eval(&executed, true).and_then(|value| value.as_bool()).unwrap_or(false);
        if place < end && executed || event == triple.second {
            placed.push((place, event));
        }
    }
    placed.sort_unstable();
    Answer::Feasible(Assignment { order: placed.into_iter().map(|(_, event)| event).collect() })
}

//! Decides what the filters left open by the states that prefixes reach, where these are few.

use super::{FxIndexMap, Run, Slot};
use crate::filters::regions_by_thread;
use crate::options::{Options, Strategy};
use crate::reachable::{Reachability, Reachable};
use crate::verdict::{Decider, Decision, RestsOn, Verdict};
use crate::workers;
use foretrace_trace::{Feasibility, Independence, Model, Op, Semantics, Trace, Triple, VarId, Why};
use std::time::Instant;

/// So many candidates are worth it to look for states before the solver is asked its easy questions. The hard ones always are.
const WORTH_IT: usize = 32;

/// If there are too many states for so many variables, others are not tried.
const MOST_IN_VAIN: usize = 2;

/// States that all searches for schedules may visit.
const MOST_VISITED: usize = 50_000_000;

/// What is known of the states of a run's trace.
#[derive(Default)]
pub(super) enum States<'r> {
    /// Not looked at yet.
    #[default]
    Unknown,
    /// They are not to be looked at, or no longer.
    Unfit,
    /// They can be looked at.
    Known(Box<Known<'r>>),
}

pub(super) struct Known<'r> {
    reachability: Reachability<'r>,
    /// Whether refutations may rest on pins.
    has_pins: bool,
    in_vain: usize,
    visited: usize,
}

impl<'r> Run<'r, '_> {
    /// Decides open candidates by states, all those of each variable together: before the easy questions if there are many.
    pub(super) fn by_states(
        &mut self,
        triples: &[Triple],
        slots: &mut [Slot<'_>],
        is_before_easy: bool,
    ) -> anyhow::Result<()> {
        let mut open: FxIndexMap<VarId, Vec<usize>> = FxIndexMap::default();
        for (place, triple) in triples.iter().enumerate() {
            let is_open = matches!(slots[place], Slot::Open) && !self.is_found(*triple);
            if let Some(var) = self.context.view.trace.event(triple.first).op.var().filter(|_| is_open) {
                open.entry(var).or_default().push(place);
            }
        }
        let count: usize = open.values().map(Vec::len).sum();
        if count == 0 || is_before_easy && count < WORTH_IT {
            return Ok(());
        }
        if matches!(self.states, States::Unknown) {
            self.states = self.look_at_states();
        }
        let States::Known(mut known) = std::mem::replace(&mut self.states, States::Unfit) else { return Ok(()) };
        for (var, places) in open {
            if known.in_vain >= MOST_IN_VAIN || known.visited >= MOST_VISITED || self.is_over() {
                break;
            }
            let context = self.context;
            match known.reachability.all(var, &|| context.limits().reached().is_none()) {
                Some(reachable) => {
                    let (has_pins, mut visited) = (known.has_pins, known.visited);
                    self.by_states_of_var((&reachable, has_pins, &mut visited), triples, (&places, slots))?;
                    known.visited = visited;
                }
                None => known.in_vain += 1,
            }
        }
        self.states = States::Known(known);
        Ok(())
    }

    fn by_states_of_var(
        &mut self,
        (reachable, has_pins, visited): (&Reachable<'_, '_>, bool, &mut usize),
        triples: &[Triple],
        (places, slots): (&[usize], &mut [Slot<'_>]),
    ) -> anyhow::Result<()> {
        for place in places {
            if *visited >= MOST_VISITED || self.is_over() {
                break;
            }
            let triple = triples[*place];
            if self.is_found(triple) {
                continue;
            }
            let start = Instant::now();
            let decision = self.by_schedule(triple, reachable.schedule(triple, visited), has_pins)?;
            self.counted.tally(Decider::States).time += start.elapsed();
            self.note(&decision);
            slots[*place] = Slot::Decided(Box::new(decision));
            self.sink.progress(&self.progress);
        }
        Ok(())
    }

    /// What a schedule says of a candidate, or that there is none.
    fn by_schedule(
        &self,
        triple: Triple,
        schedule: Option<Vec<foretrace_trace::EventId>>,
        has_pins: bool,
    ) -> anyhow::Result<Decision> {
        let Some(schedule) = schedule else {
            let rests_on = has_pins.then_some(RestsOn::Pin);
            return Ok(workers::without_witness(self.context, triple, Verdict::Infeasible, Decider::States, rests_on));
        };
        match self.context.checker.check(triple, &schedule) {
            Ok(witness) => Ok(workers::feasible(triple, self.context.simplify(witness, None), Decider::States)),
            Err(error) => anyhow::bail!(
                "internal contradiction: states show {triple}, the checker refuses the schedule ({error}): {schedule:?}"
            ),
        }
    }

    fn look_at_states(&self) -> States<'r> {
        let view = self.context.view;
        if !fits(self.context.options, view.trace) {
            return States::Unfit;
        }
        let Ok(semantics) = Semantics::new(view.trace, view.observed, Model::Ctp) else { return States::Unfit };
        let regions = regions_by_thread(view.trace, view.trace_index);
        let has_pins = view.trace.events.iter().any(|event| matches!(event.op, Op::Assume { why: Why::Pin, .. }));
        let reachability = Reachability::new(view, semantics, &regions);
        States::Known(Box::new(Known { reachability, has_pins, in_vain: 0, visited: 0 }))
    }
}

/// Whether states decide what is asked, and what their schedules rest on is not to be weighed against others.
fn fits(options: &Options, trace: &Trace) -> bool {
    let question = options.question;
    let is_unseen = |op: &Op| matches!(op, Op::Unseen { .. }) || op.is_external();
    question.model == Model::Ctp
        && question.feasibility == Feasibility::Prefix
        && question.independence == Independence::Conflict
        && options.strategy == Strategy::Demand
        && options.context_switches.is_none()
        && options.dump_smt2.is_none()
        && !options.without.contains(&Decider::States)
        && !trace.events.iter().any(|event| is_unseen(&event.op))
}

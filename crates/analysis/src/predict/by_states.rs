//! Decides what the filters left open by the states that prefixes reach, where these are few.

use super::{FxIndexMap, Run, Slot};
use crate::known_states::Said;
use crate::verdict::{Decider, Decision, RestsOn, Verdict};
use crate::workers;
use foretrace_trace::{Triple, VarId};
use std::time::Instant;

impl Run<'_, '_> {
    /// Decides open candidates by states, all those of each variable together, unless fewer than this are open.
    pub(super) fn by_states(
        &mut self,
        triples: &[Triple],
        slots: &mut [Slot<'_>],
        fewest: usize,
    ) -> anyhow::Result<()> {
        let mut open: FxIndexMap<VarId, Vec<usize>> = FxIndexMap::default();
        for (place, triple) in triples.iter().enumerate() {
            let is_open = matches!(slots[place], Slot::Open) && !self.is_found(*triple);
            if let Some(var) = self.context.view.trace.event(triple.first).op.var().filter(|_| is_open) {
                open.entry(var).or_default().push(place);
            }
        }
        let count: usize = open.values().map(Vec::len).sum();
        if count < fewest {
            return Ok(());
        }
        for place in open.into_values().flatten() {
            if self.is_over() || self.is_found(triples[place]) {
                continue;
            }
            let start = Instant::now();
            let decision = self.by_states_alone(triples[place])?;
            self.counted.tally(Decider::States).time += start.elapsed();
            if let Some(decision) = decision {
                self.note(&decision);
                slots[place] = Slot::Decided(Box::new(decision));
                self.sink.progress(&self.progress);
            }
        }
        Ok(())
    }

    /// What states say of a candidate.
    fn by_states_alone(&mut self, triple: Triple) -> anyhow::Result<Option<Decision>> {
        let context = self.context;
        let schedule = match self.states.triple(triple) {
            Said::Nothing => return Ok(None),
            Said::Never => {
                let rests_on = self.states.have_pins().then_some(RestsOn::Pin);
                let verdict = Verdict::Infeasible;
                return Ok(Some(workers::without_witness(context, triple, verdict, Decider::States, rests_on)));
            }
            Said::Shown(schedule) => schedule,
        };
        match context.checker.check(triple, &schedule) {
            Ok(witness) => {
                let decision = workers::feasible(triple, context.simplify(witness, None), Decider::States);
                Ok(Some(decision).filter(|decision| decision.rests_on.is_none())) // another schedule may be certain
            }
            Err(error) => anyhow::bail!(
                "internal contradiction: states show {triple}, the checker refuses the schedule ({error}): {schedule:?}"
            ),
        }
    }
}

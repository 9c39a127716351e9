//! Decides the candidates of a batch, in order.

use super::together::Together;
use super::{Batch, Effort, PART_FOR_LITTLE, Report, SolverWorker, feasible, infeasible};
use crate::verdict::{Decider, Decision, Limit, Verdict};
use foretrace_solve::Answer;
use foretrace_trace::{EventId, Triple};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

/// What an easy question may cost in steps of the solver.
const EASY_WORK: u32 = 20_000;

/// A worker asks this many questions of a class that turn out not to be easy. Then the class waits until the easy ones of all classes are decided.
const MOST_NOT_EASY: usize = 16;

/// So many candidates with the same pair are asked together, at least.
const FEWEST_TOGETHER: usize = 2;

/// Easy ones may take the work of so many, at most, when they are asked together.
const MOST_WORK: usize = 8;

/// If so many questions of a class in a row are too large, so are the others. The session begins anew after the first, so the next one
/// was asked alone.
const TOO_LARGE: usize = 2;

impl SolverWorker<'_, '_> {
    /// Decides a batch.
    pub(super) fn decide_batch(
        &mut self,
        batch: &Batch,
        (effort, one_is_enough): (Effort, bool),
        together: &mut Together<'_>,
        reports: &Sender<Report>,
    ) -> anyhow::Result<()> {
        let effort = self.lessened(effort);
        let mut spent = Duration::ZERO;
        let (mut not_easy, mut too_large) = (0, 0);
        for (place, triple) in &batch.triples {
            let class = self.context.class(*triple);
            if together.is_done(*place, class) {
                continue;
            }
            let trace = self.context.view.trace;
            let known = together.refuted_before(*triple).or_else(|| self.orders.refutes(trace, *triple));
            if known.is_none() && effort == Effort::Easy && together.is_not_easy(*triple) {
                continue;
            }
            let start = Instant::now();
            let decision = match known {
                Some(rests_on_pin) => infeasible(self.context, *triple, rests_on_pin),
                None if too_large >= TOO_LARGE => Decision::unknown(trace, *triple, Limit::Size),
                None => self.decide_alone(together, *triple, effort, spent)?,
            };
            let is_unknown = matches!(&decision.verdict, Verdict::Unknown(limit) if !limit.is_answer());
            let is_too_large = matches!(&decision.verdict, Verdict::Unknown(Limit::Size));
            too_large = if is_too_large { too_large + 1 } else { 0 };
            if effort == Effort::Easy
                && too_large < TOO_LARGE
                && is_unknown
                && self.context.limits().reached().is_none()
            {
                not_easy += 1;
                if reports.send(Report::InVain(start.elapsed())).is_err() {
                    break;
                }
                if !is_too_large {
                    together.note_not_easy(*triple);
                }
                if not_easy == MOST_NOT_EASY {
                    break;
                }
                continue;
            }
            spent += if is_unknown { start.elapsed() } else { Duration::ZERO };
            together.note(*place, &decision, class, one_is_enough);
            if reports.send(Report::Decided(*place, Box::new(decision), start.elapsed())).is_err() {
                break;
            }
            let start = Instant::now();
            let decided = self.decide_together(together, *triple, (effort, one_is_enough), spent)?;
            let each = start.elapsed() / decided.len().max(1) as u32;
            if decided.is_empty() {
                spent += start.elapsed();
                if reports.send(Report::InVain(start.elapsed())).is_err() {
                    break;
                }
            }
            for (place, decision) in decided {
                if reports.send(Report::Decided(place, Box::new(decision), each)).is_err() {
                    return Ok(());
                }
            }
        }
        if effort != Effort::Easy {
            self.in_vain += spent;
        }
        Ok(())
    }

    /// What a class may cost after so much time was spent in vain.
    fn lessened(&self, effort: Effort) -> Effort {
        let timeout = self.context.options.timeout;
        match effort {
            Effort::Hard { share, query } if self.in_vain >= timeout && self.context.deadline.is_none() => {
                let little = timeout / PART_FOR_LITTLE;
                Effort::Hard { share: share.min(little), query: query.min(little) }
            }
            _ => effort,
        }
    }

    /// Decides the candidates with the pair of this one together, if that is due: all of them, those that are feasible, or none. Gives what was
    /// decided, or nothing if no time of the class may be spent.
    fn decide_together(
        &mut self,
        together: &mut Together<'_>,
        triple: Triple,
        (effort, one_is_enough): (Effort, bool),
        spent: Duration,
    ) -> anyhow::Result<Vec<(usize, Decision)>> {
        let mut decided = Vec::new();
        let mut members = together.due(triple);
        while members.len() >= FEWEST_TOGETHER {
            let (work, timeout) = match effort {
                Effort::Easy => (Some(EASY_WORK * members.len().min(MOST_WORK) as u32), self.context.options.timeout),
                Effort::Hard { share, .. } if spent >= share => break,
                Effort::Hard { query, .. } => (None, query),
            };
            self.work = work;
            let limits = self.limits(timeout);
            self.work = None;
            if limits.reached().is_some() {
                break;
            }
            let Triple { first, second, .. } = triple;
            let remotes: Vec<EventId> = members.iter().map(|(_, triple, _)| triple.remote).collect();
            match self.in_session(1, |session| session.decide_any_and_pins(first, &remotes, second, limits)) {
                Answer::Feasible(assignment) => {
                    let (shown, witness) = self.witness_of_any(first, &remotes, second, &assignment.order)?;
                    let Some((place, _, class)) = members.iter().find(|(_, other, _)| *other == shown) else { break };
                    let decision = feasible(shown, witness, Decider::Smt);
                    together.note(*place, &decision, *class, one_is_enough);
                    decided.push((*place, decision));
                    together.still_open(&mut members);
                }
                Answer::Infeasible { rests_on_pin } => {
                    for (place, triple, class) in members.drain(..) {
                        let decision = infeasible(self.context, triple, rests_on_pin);
                        together.note(place, &decision, class, one_is_enough);
                        decided.push((place, decision));
                    }
                }
                Answer::Unknown(_) => break,
            }
        }
        Ok(decided)
    }

    /// Decides a candidate by itself, or by orders: where they were of use for the last one, they come first.
    fn decide_alone(
        &mut self,
        together: &Together<'_>,
        triple: Triple,
        effort: Effort,
        spent: Duration,
    ) -> anyhow::Result<Decision> {
        if self.orders.come_first()
            && let Some(rests_on_pin) = self.refuted_by_orders(together, triple, EASY_WORK)
        {
            return Ok(infeasible(self.context, triple, rests_on_pin));
        }
        let decision = self.decide_with(effort, triple, spent)?;
        let (asks, is_open) = match &decision.verdict {
            Verdict::Feasible(_) | Verdict::Unknown(Limit::Size | Limit::ClassShare) => (false, false),
            Verdict::Infeasible => (true, false),
            Verdict::Unknown(_) => (true, true),
        };
        let refuted = if asks { self.refuted_by_orders(together, triple, EASY_WORK) } else { None };
        Ok(match refuted.filter(|_| is_open) {
            Some(rests_on_pin) => infeasible(self.context, triple, rests_on_pin),
            None => decision,
        })
    }

    /// Decides a candidate of a class on whose undecided ones so much time went before.
    fn decide_with(&mut self, effort: Effort, triple: Triple, spent: Duration) -> anyhow::Result<Decision> {
        match effort {
            Effort::Easy => {
                self.work = Some(EASY_WORK);
                let decision = self.decide(triple, self.context.options.timeout);
                self.work = None;
                decision
            }
            Effort::Hard { share, .. } if spent >= share && self.context.limits().reached().is_none() => {
                Ok(Decision::unknown(self.context.view.trace, triple, Limit::ClassShare))
            }
            Effort::Hard { query, .. } => self.decide(triple, query),
        }
    }
}

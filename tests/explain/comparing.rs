//! The table of `compare`: its counts are the oracle's, and those of the filters.

use crate::seeds;
use foretrace::compare::{Asked, Contest, Disagreement, Listener, MODELS, Said, compare};
use foretrace::options::{CandidateSet, Options};
use foretrace::verdict::Decider;
use foretrace_checker::oracle::Oracle;
use foretrace_trace::strategies::{Shape, random_trace};
use foretrace_trace::{Atomic, Independence};
use std::sync::atomic::AtomicBool;

#[derive(Default)]
struct Disagreements(Vec<Disagreement>);

impl Listener for Disagreements {
    fn disagreement(&mut self, one: &Disagreement) -> anyhow::Result<()> {
        self.0.push(one.clone());
        Ok(())
    }
}

#[test]
fn counts_are_the_oracles() {
    let stop = AtomicBool::new(false);
    let (mut disagreements, mut reasons) = (0, 0);
    for seed in seeds() {
        let (trace, observed) = random_trace(seed, &Shape::default());
        let transactions = Atomic::Threads.transactions(&trace);
        let mut options = Options::new(trace.data);
        options.candidates = CandidateSet::All;
        options.jobs = 1 + (seed % 2) as usize;
        if seed % 4 > 1 {
            // All that is left to the solver: bounds, and what refutations and schedules say of other candidates.
            options.without.extend([Decider::Segment, Decider::EarlyRefutation]);
        }
        if seed % 8 > 3 {
            options.without.insert(Decider::EarlyWitness);
        }
        if seed % 3 == 0 && !trace.data.name().starts_with("none") {
            options.question.independence = Independence::Guarded;
        }
        let contest = Contest::new(&trace, &MODELS);
        let mut found = Disagreements::default();
        let (trace, observed, transactions, options) = (&trace, &observed, &transactions[..], &options);
        let asked = Asked { trace, observed, transactions, options, contest: &contest, reasons: usize::MAX };
        let comparison = compare(asked, &stop, &mut found).expect("all is well");
        assert!(comparison.is_complete());
        let truths: Vec<_> = contest
            .models
            .iter()
            .map(|model| {
                let oracle = Oracle::new(trace, observed, *model).expect("the model fits the trace");
                let independence =
                    if model.has_values() { options.question.independence } else { Independence::Conflict };
                oracle.decide(transactions, options.question.feasibility, independence)
            })
            .collect();
        assert_eq!(comparison.total.all as usize, truths[0].len(), "seed {seed}");
        for (truth, (feasible, unknown)) in truths.iter().zip(&comparison.total.by_model) {
            let expected = truth.values().filter(|pattern| pattern.is_some()).count();
            assert_eq!((*feasible as usize, *unknown), (expected, 0), "seed {seed}");
        }
        let total = &comparison.total;
        assert!(total.all >= total.ordered && total.ordered >= total.without_data);
        assert!(total.without_data >= total.by_model[0].0, "what cam allows passes the filters");
        let sum = |of: fn(&foretrace::compare::Counts) -> u64| comparison.rows.iter().map(|(_, c)| of(c)).sum::<u64>();
        assert_eq!(sum(|counts| counts.all), total.all);
        assert_eq!(sum(|counts| counts.without_data), total.without_data);
        let reference = contest.reference_column();
        let differ = truths[0].keys().filter(|triple| {
            truths.iter().any(|truth| truth[*triple].is_some() != truths[reference][*triple].is_some())
        });
        assert_eq!(found.0.len(), differ.count(), "seed {seed}");
        for one in &found.0 {
            disagreements += 1;
            assert_eq!(one.reason.is_some(), one.said[reference] == Said::Infeasible);
            reasons += usize::from(matches!(one.reason, Some(Ok(_))));
        }
    }
    assert!(disagreements > reasons && reasons > 50, "{disagreements} disagreements, {reasons} reasons");
}

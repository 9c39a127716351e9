//! Classes of remote accesses: what is said of many candidates at once is what is said of each.

use crate::candidates::{Candidates, Pair};
use crate::filters::Filters;
use crate::filters::{Judgement, SCREENS, ScreenedAccesses};
use crate::options::{CandidateSet, Options};
use crate::verdict::Decider;
use foretrace_encodings::{TraceView, constant_reads};
use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_trace::strategies::{Shape, Synthetic, random_trace};
use foretrace_trace::{Atomic, Observed, Trace, Transaction, Triple, observe};
use std::collections::BTreeMap;

/// The two filters, or those of them that `asks` names.
fn only(asks: &[Decider]) -> Options {
    let mut options = Options::new(foretrace_trace::Data::Symbolic);
    options.without.extend(Decider::ALL.into_iter().filter(|decider| !asks.contains(decider)));
    options
}

/// Holds the classes of remote accesses of a trace against its candidates one by one; returns how often each answer was given, and the most
/// candidates that came together.
fn compare(
    trace: &Trace,
    observed: &Observed,
    transactions: &[Transaction],
    asks: &[Decider],
) -> (BTreeMap<Option<Decider>, usize>, usize) {
    let trace_index = TraceIndex::new(trace);
    let clocks = MustHappenBefore::new(trace, &trace_index);
    let view = TraceView { trace, trace_index: &trace_index, observed, clocks: &clocks };
    let mut options = only(asks);
    options.question.model = foretrace_trace::Model::Avp;
    let filters = Filters::new(view, transactions, &options, &constant_reads(view));
    let candidates = Candidates::new(trace, &trace_index, transactions);
    let remote_classes = filters.remote_classes();
    let (mut answers, mut most) = (BTreeMap::new(), 0);
    for set in [CandidateSet::Adjacent, CandidateSet::All] {
        let mut found: BTreeMap<Triple, Option<Decider>> = BTreeMap::new();
        let mut parts: Vec<ScreenedAccesses<'_>> = Vec::new();
        for pair in candidates.all_pairs(set) {
            filters.judge_remote_classes(pair, remote_classes.paired_with(pair), &mut parts);
            for part in &parts {
                most = most.max(part.accesses.len());
                let Pair { first, second, .. } = pair;
                for remote in part.accesses {
                    let triple = Triple { first, remote: *remote, second };
                    assert_eq!(found.insert(triple, part.refuted_by), None, "{triple} comes once");
                }
            }
        }
        let one_by_one: BTreeMap<Triple, Option<Decider>> = candidates
            .triples(set)
            .map(|triple| {
                let by = filters.judge(triple).map(|judgement| match judgement {
                    Judgement::Infeasible { by, .. } => by,
                    Judgement::Feasible { .. } => unreachable!("neither filter builds schedules"),
                });
                (triple, by)
            })
            .collect();
        assert_eq!(found, one_by_one, "{trace:#?}");
        found.into_values().for_each(|by| *answers.entry(by).or_default() += 1);
    }
    // Each candidate was asked about twice, together with others and alone; the second filter where the first did not refute.
    let mut left: usize = answers.values().sum();
    for (decider, counted) in filters.report().0.into_iter().filter(|(decider, _)| SCREENS.contains(decider)) {
        let is_asked = asks.contains(&decider);
        let refuted = answers.get(&Some(decider)).copied().unwrap_or(0);
        let expected = if is_asked { [2 * left, 2 * refuted] } else { [0, 0] };
        assert_eq!([counted.asked, counted.infeasible], expected.map(|count| count as u64), "{decider}");
        left -= refuted;
    }
    (answers, most)
}

#[test]
fn many_at_once_are_judged_as_one_by_one() {
    let mut sums: BTreeMap<Option<Decider>, usize> = BTreeMap::new();
    for seed in 0..300 {
        let (trace, observed) = random_trace(seed, &Shape::default());
        let asks = match seed % 4 {
            0 => &SCREENS[..1],
            1 => &SCREENS[1..],
            _ => &SCREENS[..],
        };
        for atomic in [Atomic::Threads, Atomic::Marked] {
            let (answers, _) = compare(&trace, &observed, &atomic.transactions(&trace), asks);
            answers.into_iter().for_each(|(by, count)| *sums.entry(by).or_default() += count);
        }
    }
    assert!(sums.values().all(|count| *count > 40) && sums.len() == 3, "too few of some kind: {sums:?}");
}

#[test]
fn code_that_runs_again_and_again_is_judged_together() {
    let trace = Synthetic { vars: 8, threads: 4, code: Some(6), ..Synthetic::large(1500, 3) }.trace();
    let observed = observe(&trace).expect("a valid trace");
    let (answers, most) = compare(&trace, &observed, &Atomic::Threads.transactions(&trace), &SCREENS);
    assert!(most > 10, "at most {most} at once");
    assert!(answers.len() > 1, "{answers:?}");
}

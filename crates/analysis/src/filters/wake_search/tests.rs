//! What the search finds, held against the checker and all interleavings.

use super::super::early_witness::{EarlyWitness, Span};
use super::super::locksets::Locksets;
use foretrace_checker::Checker;
use foretrace_checker::oracle::Oracle;
use foretrace_index::TraceIndex;
use foretrace_trace::strategies::{Shape, Topic, random_trace};
use foretrace_trace::{Atomic, Feasibility, Independence, Model, Question};

#[test]
fn what_is_found_is_so_and_little_is_missed() {
    let [mut feasible, mut found] = [0, 0];
    for seed in 0..600 {
        let shape = Shape { events: 18, topics: vec![Topic::Condvar], ..Shape::default() };
        let (trace, observed) = random_trace(seed, &shape);
        let (trace_index, transactions) = (TraceIndex::new(&trace), Atomic::Threads.transactions(&trace));
        let locksets = Locksets::new(&trace, &trace_index);
        let oracle = Oracle::new(&trace, &observed, Model::Cam).expect("cam needs nothing");
        for feasibility in [Feasibility::Prefix, Feasibility::Complete] {
            let question = Question { model: Model::Cam, feasibility, independence: Independence::Conflict };
            let witness = EarlyWitness::within(&trace, &trace_index, &observed, &locksets, question, &|| true)
                .expect("cam needs nothing");
            let checker = Checker::new(&trace, &observed, &transactions, question).expect("cam needs nothing");
            let truth = oracle.decide(&transactions, feasibility, Independence::Conflict);
            for triple in truth.keys().filter(|_| witness.has_handshakes()) {
                let span = Span { from: triple.remote, to: triple.remote };
                let schedule = witness.by_handshakes(&locksets, (triple.first, triple.second), span);
                if let Some(schedule) = &schedule {
                    let checked = checker.check(*triple, schedule);
                    assert!(checked.is_ok(), "seed {seed}, {question:?}: {triple} by {schedule:?}: {checked:?}");
                }
                feasible += usize::from(truth[triple].is_some());
                found += usize::from(schedule.is_some());
            }
        }
    }
    println!("{found} of {feasible}");
    assert!(found > 100, "{found} of {feasible}");
}

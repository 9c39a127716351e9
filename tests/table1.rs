//! The re-created Table 1: its counts are the paper's.

#[path = "../examples/table1/bank.rs"]
mod bank;
#[path = "../examples/table1/measure.rs"]
mod measure;
#[path = "../examples/table1/rows.rs"]
mod rows;

use foretrace::options::Strategy;
use foretrace_trace::Op;
use measure::{Measured, measure};
use rows::{Figures, PAPER};
use std::time::Duration;

fn found(name: &str, strategy: Strategy) -> Measured {
    let measured = measure(name, strategy, Duration::from_secs(600)).expect("the row can be measured");
    assert!(measured.is_whole(), "{name}: not everything was decided");
    measured
}

/// Threads, regions, orig-pavs, hb-pavs, sym-avs, w/o Data.
fn counts(figures: &Figures) -> [u64; 6] {
    let Figures { threads, regions, candidates, after_orders, feasible, without_data, .. } = *figures;
    [threads as u64, regions as u64, candidates, after_orders, feasible, without_data]
}

#[test]
fn the_counts_are_those_of_the_paper() {
    for (name, paper) in &PAPER {
        assert_eq!(counts(&found(name, Strategy::Demand).figures), counts(paper), "{name}");
    }
}

/// Sizes are near the paper's: within a quarter for events, seven for shared variables.
#[test]
fn the_sizes_are_near_those_of_the_paper() {
    for (name, paper) in &PAPER {
        let figures = found(name, Strategy::Demand).figures;
        assert!(figures.events.0.abs_diff(paper.events.0) * 4 <= paper.events.0, "{name}: {figures:?}");
        assert!(figures.shared.abs_diff(paper.shared) <= 7, "{name}: {figures:?}");
    }
}

/// Everything is asked again the slow way.
#[test]
fn the_papers_way_counts_the_same_in_small_rows() {
    for name in ["atom001", "atom001a", "bank-av-2", "bank-sav-2"] {
        let (demand, paper) = (found(name, Strategy::Demand), found(name, Strategy::Paper));
        assert_eq!(paper.verdicts, demand.verdicts, "{name}");
        assert_eq!(paper.figures.after_orders, demand.figures.after_orders, "{name}");
    }
}

#[test]
fn workers_of_the_ordered_banks_have_to_wait() {
    for (name, _) in PAPER.iter().filter(|(name, _)| name.contains("sav") || name.contains("nav")) {
        let trace = rows::trace(name).expect("the program runs");
        assert!(trace.events.iter().any(|event| matches!(event.op, Op::Wake { .. })), "{name}");
    }
}

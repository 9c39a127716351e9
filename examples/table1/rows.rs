//! The rows of Table 1: the paper's figures, and the program and the run that stand for each.

use super::bank::{self, Order};
use foretrace::litmus;
use foretrace_trace::Trace;

/// A row of the paper's table.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Figures {
    /// `thrds`: threads.
    pub threads: usize,
    /// `svars`: shared variables that more than one thread accesses.
    pub shared: usize,
    /// `simplify` / `original`: events after and before simplification; ours are not simplified.
    pub events: (usize, usize),
    /// `regions`: transactions.
    pub regions: usize,
    /// `orig-pavs`: candidates.
    pub candidates: u64,
    /// `hb-pavs`: those left after must-happen-before.
    pub after_orders: u64,
    /// `sym-avs`: those that can happen.
    pub feasible: u64,
    /// `sym-time (s)`.
    pub seconds: f64,
    /// `w/o Data`: those left where data and all synchronisation but nested locks are ignored.
    pub without_data: u64,
}

const fn row(threads: usize, shared: usize, events: (usize, usize), found: (usize, [u64; 4], f64)) -> Figures {
    let (regions, [candidates, after_orders, feasible, without_data], seconds) = found;
    Figures { threads, shared, events, regions, candidates, after_orders, feasible, seconds, without_data }
}

/// Table 1 of C. Wang, R. Limaye, M. Ganai, A. Gupta, *Trace-based Symbolic Analysis for Atomicity Violations*, TACAS 2010,
/// section 6, in its order. After events and regions: orig-pavs, hb-pavs, sym-avs, w/o Data; sym-time.
pub const PAPER: [(&str, Figures); 16] = [
    ("atom001", row(3, 14, (50, 88), (1, [8, 2, 1, 1], 0.03))),
    ("atom001a", row(3, 16, (58, 100), (1, [8, 2, 0, 1], 0.03))),
    ("atom002", row(3, 24, (349, 462), (1, [212, 34, 33, 33], 20.4))),
    ("atom002a", row(3, 26, (359, 462), (1, [212, 34, 0, 33], 17.6))),
    ("bank-av-2", row(3, 109, (278, 748), (2, [24, 8, 8, 8], 0.1))),
    ("bank-av-4", row(5, 113, (527, 1213), (4, [48, 16, 16, 16], 0.6))),
    ("bank-av-6", row(7, 117, (770, 1672), (6, [72, 24, 24, 24], 2.3))),
    ("bank-av-8", row(9, 121, (1016, 2134), (8, [96, 32, 32, 32], 2.5))),
    ("bank-sav-2", row(3, 119, (337, 852), (2, [24, 8, 4, 8], 0.2))),
    ("bank-sav-4", row(5, 123, (642, 1410), (4, [48, 16, 8, 16], 0.9))),
    ("bank-sav-6", row(7, 127, (941, 1960), (6, [72, 24, 12, 24], 3.8))),
    ("bank-sav-8", row(9, 131, (1243, 2517), (8, [96, 32, 16, 32], 4.6))),
    ("bank-nav-2", row(3, 119, (341, 856), (2, [24, 8, 0, 8], 0.2))),
    ("bank-nav-4", row(5, 123, (647, 1414), (4, [48, 16, 0, 16], 0.2))),
    ("bank-nav-6", row(7, 127, (953, 1972), (6, [72, 24, 0, 24], 3.7))),
    ("bank-nav-8", row(9, 131, (1163, 2362), (8, [96, 32, 0, 32], 140.6))),
];

/// The program that stands for a row, and how it is run. The atom programs run one thread after the other, so that the
/// cleaner of the `a` forms need not wait. The banks run at random, so that most workers of `sav` and `nav` have to.
pub fn program(name: &str) -> Option<(String, litmus::Options)> {
    let atom = match name {
        "atom001" => Some(include_str!("atom001.lit")),
        "atom001a" => Some(include_str!("atom001a.lit")),
        "atom002" => Some(include_str!("atom002.lit")),
        "atom002a" => Some(include_str!("atom002a.lit")),
        _ => None,
    };
    if let Some(text) = atom {
        return Some((text.to_string(), litmus::Options::serial()));
    }
    let (kind, workers) = name.strip_prefix("bank-")?.split_once('-')?;
    let order = match kind {
        "av" => Order::None,
        "sav" => Order::TooEarly,
        "nav" => Order::Whole,
        _ => return None,
    };
    Some((bank::program(workers.parse().ok()?, order), litmus::Options::seed(2)))
}

/// The trace of a row's run.
pub fn trace(name: &str) -> anyhow::Result<Trace> {
    let Some((text, options)) = program(name) else { anyhow::bail!("no such row: {name}") };
    let file = format!("{name}.lit");
    let program = litmus::parse(&text).map_err(|errors| anyhow::anyhow!(errors.render(&file, &text, false)))?;
    let run = litmus::run(&program.named(&file), &options);
    anyhow::ensure!(run.outcome == litmus::Outcome::Finished, "{name}: {}", run.outcome);
    Ok(run.trace)
}

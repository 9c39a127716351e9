//! The end of every report: how many candidates, who decided them, how long it took.

use crate::predict::Totals;
use crate::verdict::Decider;
use serde::Serialize;
use std::io::{self, Write};
use std::time::Duration;

/// Writes the totals for people.
pub fn write(totals: &Totals, out: &mut dyn Write) -> io::Result<()> {
    let sums = Sums::of(totals);
    writeln!(
        out,
        "{} candidates: {} feasible, {} infeasible, {} unknown; {} not asked, since their class was done",
        totals.candidates, sums.feasible, sums.infeasible, sums.unknown, totals.skipped
    )?;
    writeln!(
        out,
        "\n{:<18}  {:>10}  {:>10}  {:>10}  {:>10}",
        "decided by", "feasible", "infeasible", "unknown", "time"
    )?;
    for (decider, tally) in &totals.decided_by {
        writeln!(
            out,
            "{decider:<18}  {:>10}  {:>10}  {:>10}  {:>10}",
            tally.feasible,
            tally.infeasible,
            tally.unknown,
            shown(tally.time)
        )?;
    }
    writeln!(
        out,
        "{:<18}  {:>10}  {:>10}  {:>10}  {:>10}",
        "total",
        sums.feasible,
        sums.infeasible,
        sums.unknown,
        shown(totals.elapsed)
    )?;
    if totals.unreached > 0 {
        writeln!(out, "{} candidates were not reached before the run was stopped", totals.unreached)?;
    }
    if totals.interrupted {
        writeln!(out, "interrupted")?;
    }
    Ok(())
}

fn shown(time: Duration) -> String {
    format!("{:.3} s", time.as_secs_f64())
}

/// Verdicts over all deciders.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, Serialize)]
pub struct Sums {
    /// Can happen.
    pub feasible: u64,
    /// Cannot.
    pub infeasible: u64,
    /// Undecided.
    pub unknown: u64,
}

impl Sums {
    /// The sums of a run.
    pub fn of(totals: &Totals) -> Sums {
        totals.decided_by.iter().fold(Sums::default(), |sums, (_, tally)| Sums {
            feasible: sums.feasible + tally.feasible,
            infeasible: sums.infeasible + tally.infeasible,
            unknown: sums.unknown + tally.unknown,
        })
    }
}

/// The totals as JSON has them.
#[derive(Serialize)]
pub struct TotalsJson {
    candidates: u64,
    classes: usize,
    #[serde(flatten)]
    verdicts: Sums,
    skipped: u64,
    unreached: u64,
    decided_by: Vec<DeciderJson>,
    seconds: f64,
    interrupted: bool,
}

#[derive(Serialize)]
struct DeciderJson {
    decider: Decider,
    feasible: u64,
    infeasible: u64,
    unknown: u64,
    seconds: f64,
}

impl TotalsJson {
    /// The same totals, for JSON.
    pub fn new(totals: &Totals) -> TotalsJson {
        let decided_by = totals.decided_by.iter().map(|(decider, tally)| DeciderJson {
            decider: *decider,
            feasible: tally.feasible,
            infeasible: tally.infeasible,
            unknown: tally.unknown,
            seconds: tally.time.as_secs_f64(),
        });
        TotalsJson {
            candidates: totals.candidates,
            classes: totals.classes,
            verdicts: Sums::of(totals),
            skipped: totals.skipped,
            unreached: totals.unreached,
            decided_by: decided_by.collect(),
            seconds: totals.elapsed.as_secs_f64(),
            interrupted: totals.interrupted,
        }
    }
}

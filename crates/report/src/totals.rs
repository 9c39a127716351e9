//! The end of every report: the number of candidates, what decided them, and on request the times.

use super::names::wrapped;
use foretrace_analysis::predict::{OffPathCounts, Tally, Totals};
use foretrace_analysis::verdict::Decider;
use serde::Serialize;
use std::io::{self, Write};
use std::time::Duration;

/// Writes the totals for people, with times where they are wanted.
pub fn write(totals: &Totals, times: bool, out: &mut dyn Write) -> io::Result<()> {
    let sums = Sums::of_totals(totals);
    let candidates = format!(
        "{} candidates: {} feasible, {} infeasible{}, {} unknown; {} not asked, since their class was done",
        totals.candidates,
        sums.feasible,
        sums.infeasible,
        off_path(totals.off_path),
        sums.unknown,
        totals.skipped
    );
    writeln!(out, "{}", wrapped(&candidates, "  "))?;
    let shown = |time: Duration| if times { format!("{:>10.3} s", time.as_secs_f64()) } else { String::new() };
    let time = if times { format!("{:>12}", "time") } else { String::new() };
    writeln!(out, "\n{:<18}  {:>10}  {:>10}  {:>10}{time}", "decided by", "feasible", "infeasible", "unknown")?;
    for (decider, tally) in &totals.decided_by {
        let Tally { feasible, infeasible, unknown, time } = *tally;
        writeln!(out, "{decider:<18}  {feasible:>10}  {infeasible:>10}  {unknown:>10}{}", shown(time))?;
    }
    let Sums { feasible, infeasible, unknown } = sums;
    writeln!(out, "{:<18}  {feasible:>10}  {infeasible:>10}  {unknown:>10}{}", "total", shown(totals.elapsed))?;
    if totals.unreached > 0 {
        writeln!(out, "{} candidates were not reached before the run was stopped", totals.unreached)?;
    }
    if totals.interrupted {
        writeln!(out, "interrupted")?;
    }
    Ok(())
}

/// How many of the infeasible candidates are not known to be impossible.
fn off_path(counts: OffPathCounts) -> String {
    let OffPathCounts { after_remote, before_remote, unasked } = counts;
    match (after_remote + before_remote, unasked) {
        (0, 0) => String::new(),
        (known, 0) => format!(" ({known} off the path)"),
        (known, unasked) => format!(" ({known} off the path, {unasked} not told apart)"),
    }
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
    pub fn of_totals(totals: &Totals) -> Sums {
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
    off_path: OffPathCounts,
    skipped: u64,
    unreached: u64,
    decided_by: Vec<DeciderJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    interrupted: bool,
}

#[derive(Serialize)]
struct DeciderJson {
    decider: Decider,
    feasible: u64,
    infeasible: u64,
    unknown: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
}

impl TotalsJson {
    /// The same totals, for JSON, with times where they are wanted.
    pub fn new(totals: &Totals, times: bool) -> TotalsJson {
        let seconds = |time: Duration| times.then_some(time.as_secs_f64());
        let decided_by = totals.decided_by.iter().map(|(decider, tally)| DeciderJson {
            decider: *decider,
            feasible: tally.feasible,
            infeasible: tally.infeasible,
            unknown: tally.unknown,
            seconds: seconds(tally.time),
        });
        TotalsJson {
            candidates: totals.candidates,
            classes: totals.classes,
            verdicts: Sums::of_totals(totals),
            off_path: totals.off_path,
            skipped: totals.skipped,
            unreached: totals.unreached,
            decided_by: decided_by.collect(),
            seconds: seconds(totals.elapsed),
            interrupted: totals.interrupted,
        }
    }
}

//! Runs of a program along an order of its recording's events, in which sections may be kept whole.

use anyhow::Context;
use foretrace::recorder::{Ending, Folder, Plan, Program, Replayed, judge, run_plan};
use foretrace::testing::Trial;
use foretrace_trace::{EventId, Trace};
use std::path::Path;
use std::time::Duration;

/// Runs a program again.
pub struct Enforced<'a> {
    /// The recording that orders are of.
    pub recording: &'a Path,
    /// Runs the program along a plan.
    pub run: &'a dyn Fn(&Plan) -> anyhow::Result<Trial>,
}

/// What became of several runs.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Endings {
    /// How often the program passed, after it had followed the order as far as was asked.
    pub passed: u32,
    /// How often it passed, but left the order before.
    pub left: u32,
    /// How often it failed.
    pub failed: u32,
    /// How often what the plan watches for happened.
    pub came_between: u32,
}

impl Endings {
    /// How many runs there were.
    pub fn made(self) -> u32 {
        self.passed + self.left + self.failed
    }
}

impl Enforced<'_> {
    /// The plan to run an order, followed at least up to an event.
    pub fn plan(&self, trace: &Trace, order: &[EventId], until: Option<EventId>) -> anyhow::Result<Plan> {
        let mut plan = Plan::of_order(trace, order, self.recording)?;
        let end = until.and_then(|until| order.iter().position(|event| *event == until));
        if let Some(end) = end {
            plan.expected = Plan::of_order(trace, &order[..=end], self.recording)?.expected;
        }
        Ok(plan)
    }

    /// Runs it so many times, as long as `go_on` says so.
    pub fn runs(&self, plan: &Plan, times: u32, go_on: &dyn Fn() -> bool) -> anyhow::Result<Endings> {
        let mut endings = Endings::default();
        for _ in 0..times {
            if !go_on() {
                break;
            }
            let trial = (self.run)(plan)?;
            match (trial.passed, trial.followed) {
                (true, true) => endings.passed += 1,
                (true, false) => endings.left += 1,
                (false, _) => endings.failed += 1,
            }
            endings.came_between += u32::from(trial.came_between);
        }
        Ok(endings)
    }
}

/// Runs a program along a plan, in a folder of its own.
pub fn run_along(program: &Program, run_limit: Duration, plan: &Plan) -> anyhow::Result<Replayed> {
    let kept = tempfile::tempdir().context("cannot make a temporary folder")?;
    let folder = Folder::create(&kept.path().join("run"))?;
    let ending = run_plan(plan, program, &folder, run_limit, true)?.ending;
    Ok(judge(plan, &folder, ending, |_| None)?)
}

/// The same, where a run passes that exits with status 0.
pub fn ran_along(program: &Program, run_limit: Duration, plan: &Plan) -> anyhow::Result<Trial> {
    let Replayed { ending, difference, came_between, .. } = run_along(program, run_limit, plan)?;
    Ok(Trial { passed: ending == Ending::Code(0), followed: difference.is_none(), came_between })
}

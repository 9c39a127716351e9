//! `foretrace repair` on a litmus program: repair what fails and explore again, until nothing fails.

use super::asking::stop_on_ctrl_c;
use super::choices::Format;
use super::files;
use super::histories::{Judge, Judged};
use super::outcome::{Outcome, say, since_start};
use super::oversee::{End, Hearer, oversee};
use anyhow::Context;
use foretrace::litmus::{self, Exploring, Program, Whole};
use foretrace::report::{ProgramRepair, RepairRound};
use foretrace_explore::Ended;
use foretrace_linearizability::{self as linearizability, Spec};
use foretrace_repair::{Limits, Repair, RoundsEnd, Seen, rounds};
use foretrace_trace::Trace;
use std::cell::RefCell;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

/// Whether a file is a litmus program by its name.
pub fn is_program(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "lit")
}

/// What is asked of a program.
#[derive(Clone, Copy)]
pub struct Asked {
    /// The specification that its operations should follow.
    pub spec: Option<Spec>,
    /// At most this many failing interleavings are repaired in a round; as many that pass rank the repairs.
    pub most_traces: usize,
    /// An interleaving is cut off after this many events.
    pub max_steps: u32,
    /// At most this many repairs are considered together.
    pub max_repairs: usize,
    /// The text shows at most this many repairs.
    pub most: usize,
    /// How to show it.
    pub format: Format,
    /// The limit of the command.
    pub time_limit: Option<Duration>,
}

/// Repairs a program.
pub fn run(args: Asked, file: &Path) -> anyhow::Result<Outcome> {
    let stop = stop_on_ctrl_c()?;
    let program = files::litmus_program(file)?;
    let source = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let judge = Judge::new(args.spec, &program).with_context(|| file.display().to_string())?;
    let limit = args.time_limit;
    let may_go_on = || !stop.load(Ordering::Relaxed) && limit.is_none_or(|limit| since_start() < limit);
    let work = |sender: SyncSender<RepairRound>| {
        let (most, max_steps) = (args.most_traces.max(1), args.max_steps);
        // The loop looks, then says what it makes of it.
        let look =
            RefCell::new(Looker { program: &program, judge, most, max_steps, may_go_on: &may_go_on, last: None });
        rounds(
            &mut |sections| look.borrow_mut().look(sections),
            Limits { repairs: args.max_repairs.max(1), go_on: &may_go_on },
            &mut |round| {
                let seen = look.borrow_mut().last.take().unwrap_or_default();
                // Who listens may have ended at the limit.
                let _ = sender.send(seen.with(&round));
            },
        )
    };
    let report = Report { args, name: file.display().to_string(), source, rounds: Vec::new() };
    oversee((limit, &stop), work, report)
}

/// Explores the program with sections kept whole.
struct Looker<'a> {
    program: &'a Program,
    judge: Judge,
    most: usize,
    max_steps: u32,
    may_go_on: &'a dyn Fn() -> bool,
    /// What was seen last.
    last: Option<RepairRound>,
}

impl Looker<'_> {
    fn look(&mut self, sections: &Repair) -> anyhow::Result<Seen> {
        let whole: Vec<Whole> = sections.iter().flat_map(stretches).collect();
        let exploring = Exploring { max_steps: self.max_steps, real_time: self.judge.needs_real_time(), whole: &whole };
        let (mut failing, mut passing) = (Sample::new(self.most), Sample::new(self.most));
        let mut round = RepairRound::default();
        let mut failed = Ok(());
        let limits = linearizability::Limits { go_on: self.may_go_on };
        let explored = litmus::explore(self.program, exploring, &mut |_| (self.may_go_on)(), &mut |execution| {
            match self.judge.judge(&execution, limits) {
                Ok(Judged::Passes) => passing.add(execution.trace),
                Ok(Judged::Fails(failure)) => {
                    round.fails(failure.what);
                    failing.add(execution.trace);
                }
                Ok(Judged::Open) => round.open += 1,
                Err(error) => {
                    failed = Err(error);
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        });
        failed?;
        round.interleavings = explored.tally.executions;
        (round.failed, round.passed) = (failing.seen, passing.seen);
        round.complete = explored.ended == Ended::Complete && round.open == 0;
        let complete = round.complete;
        self.last = Some(round);
        Ok(Seen { some_pass: passing.seen > 0, failing: failing.kept, passing: passing.kept, complete })
    }
}

/// The stretches of the program that a section keeps whole.
fn stretches(section: &foretrace_repair::Section) -> Vec<Whole> {
    let whole = |lines: &foretrace_repair::Lines| Whole {
        block: section.function.clone(),
        first: lines.first,
        last: lines.last,
        turns: section.turns,
    };
    section.lines.iter().map(whole).collect()
}

/// At most so many traces, evenly spaced among all that were seen.
struct Sample {
    most: usize,
    every: u64,
    seen: u64,
    kept: Vec<Trace>,
}

impl Sample {
    fn new(most: usize) -> Sample {
        Sample { most, every: 1, seen: 0, kept: Vec::new() }
    }

    fn add(&mut self, trace: Trace) {
        if self.seen.is_multiple_of(self.every) {
            if self.kept.len() == self.most {
                let mut number = 0;
                self.kept.retain(|_| {
                    number += 1;
                    number % 2 == 1
                });
                self.every *= 2;
            }
            if self.seen.is_multiple_of(self.every) && self.kept.len() < self.most {
                self.kept.push(trace);
            }
        }
        self.seen += 1;
    }
}

/// Hears of the rounds and reports.
struct Report {
    args: Asked,
    name: String,
    source: String,
    rounds: Vec<RepairRound>,
}

impl Hearer<RepairRound, anyhow::Result<(Repair, RoundsEnd)>> for Report {
    fn hear(&mut self, round: RepairRound) -> anyhow::Result<()> {
        if self.args.format == Format::Text {
            let mut out = io::stdout().lock();
            round.write_text(self.rounds.len() + 1, self.args.most, &mut out)?;
            out.flush()?;
        }
        self.rounds.push(round);
        Ok(())
    }

    fn finish(self, end: anyhow::Result<End<anyhow::Result<(Repair, RoundsEnd)>>>) -> anyhow::Result<Outcome> {
        let (sections, end) = match end? {
            End::Done(result) => result?,
            End::Overdue => {
                say("note: the limit was reached: what was found before follows");
                (self.rounds.last().map(|round| round.sections.clone()).unwrap_or_default(), RoundsEnd::Open)
            }
        };
        let outcome = match end {
            RoundsEnd::Repaired if sections.is_empty() => Outcome::Fine,
            RoundsEnd::Repaired => Outcome::Found,
            _ => Outcome::Undecided,
        };
        let report = ProgramRepair {
            program: &self.name,
            source: &self.source,
            spec: self.args.spec.map(Spec::name),
            rounds: &self.rounds,
            sections: &sections,
            end,
        };
        let mut out = io::BufWriter::new(io::stdout().lock());
        match self.args.format {
            Format::Text => report.write_text(&mut out)?,
            Format::Json => report.write_json(&mut out)?,
        }
        out.flush()?;
        Ok(outcome)
    }
}

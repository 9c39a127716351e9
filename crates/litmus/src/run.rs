//! Runs a program once: event by event, under a scheduler, up to its end.

use super::machine::{Failed, Machine, Status};
use super::options::Options;
use super::program::Program;
use foretrace_trace::{EventId, Trace};
use std::fmt;

/// A run of a program.
#[derive(Clone, Debug)]
pub struct Run {
    /// What happened, valid and complete also where the run ended early.
    pub trace: Trace,
    /// How it ended.
    pub outcome: Outcome,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All threads came to their ends.
    Finished,
    /// An `assert` did not hold; the trace ends with a `fail` event.
    AssertionFailed(Failure),
    /// The program did what it must not do, such as to leave an array's bounds or to unlock what it does not hold;
    /// the trace ends with a `fail` event.
    Error(Failure),
    /// No thread could go on, and these had not come to their ends.
    Deadlock(Vec<Blocked>),
    /// There were as many events as was allowed, or far too many instructions without any.
    StepLimit,
}

/// The failure that ended a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The `fail` event.
    pub event: EventId,
    /// The name of the thread that failed.
    pub thread: Box<str>,
    /// What failed.
    pub reason: String,
    /// Where, as `file:line:column`.
    pub loc: String,
}

/// A thread that could not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// Its name.
    pub thread: Box<str>,
    /// What it waits for, in words.
    pub waits_for: String,
    /// Where, as `file:line:column`.
    pub loc: String,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Finished => f.write_str("finished"),
            Outcome::AssertionFailed(failure) | Outcome::Error(failure) => {
                let Failure { thread, reason, loc, event } = failure;
                write!(f, "failed in `{thread}` at {loc} (event {event}): {reason}")
            }
            Outcome::Deadlock(blocked) => {
                f.write_str("deadlock:")?;
                for Blocked { thread, waits_for, loc } in blocked {
                    write!(f, "\n  `{thread}` at {loc} waits for {waits_for}")?;
                }
                Ok(())
            }
            Outcome::StepLimit => f.write_str("cut off at the step limit"),
        }
    }
}

/// Runs a program once. The same program and options give the same run.
pub fn run(program: &Program, options: &Options) -> Run {
    let mut machine = Machine::new(program, options);
    let outcome = run_to_end(&mut machine, options.max_steps);
    Run { trace: machine.recorder.trace, outcome }
}

/// Runs a program along a schedule, given as the thread of each event. Where the schedule cannot be followed, and after its end, each
/// thread runs for as long as it can.
pub fn run_along(program: &Program, threads: &[usize], max_steps: u32) -> Run {
    let mut machine = Machine::new(program, &Options { max_steps, ..Options::serial() });
    let mut position = 0;
    let mut ahead = vec![0_usize; program.threads.len()]; // events that came before their place in the schedule
    let mut seen = 0;
    let outcome = run_by(&mut machine, max_steps, |machine| {
        for event in &machine.recorder.trace.events[seen..] {
            ahead[event.thread.index()] += 1;
        }
        seen = machine.recorder.trace.events.len();
        while let Some(thread) = threads.get(position) {
            match ahead.get_mut(*thread) {
                Some(ahead) if *ahead > 0 => *ahead -= 1,
                _ => break,
            }
            position += 1;
        }
        let wanted = threads.get(position).copied().filter(|thread| *thread < program.threads.len());
        wanted.filter(|thread| machine.can_run(*thread)).or_else(|| machine.choose())
    });
    Run { trace: machine.recorder.trace, outcome }
}

/// Runs a program under every schedule, one after the other, as long as `go_on` says yes; hands on each run. Gives how many there were,
/// and whether these are all.
pub fn run_all(
    program: &Program,
    max_steps: u32,
    go_on: &mut dyn FnMut() -> bool,
    take: &mut dyn FnMut(&Run),
) -> (u64, bool) {
    let (mut wanted, mut runs) = (Vec::new(), 0);
    while go_on() {
        let mut machine = Machine::new(program, &Options { max_steps, ..Options::serial() });
        machine.script(std::mem::take(&mut wanted));
        let outcome = run_to_end(&mut machine, max_steps);
        let (mut made, recorder) = machine.into_parts();
        runs += 1;
        take(&Run { trace: recorder.trace, outcome });
        // The next one differs in the last choice that has one left.
        while made.last().is_some_and(|(chosen, count)| chosen + 1 == *count) {
            made.pop();
        }
        let Some((last, _)) = made.last_mut() else { return (runs, true) };
        *last += 1;
        wanted = made.into_iter().map(|(chosen, _)| chosen).collect();
    }
    (runs, false)
}

fn run_to_end(machine: &mut Machine<'_>, max_steps: u32) -> Outcome {
    run_by(machine, max_steps, Machine::choose)
}

fn run_by<'p>(
    machine: &mut Machine<'p>,
    max_steps: u32,
    mut choose: impl FnMut(&mut Machine<'p>) -> Option<usize>,
) -> Outcome {
    machine.start();
    for step in 0.. {
        if machine.local_steps == 0 {
            return Outcome::StepLimit;
        }
        let Some(thread) = choose(machine) else { break };
        if step == max_steps {
            return Outcome::StepLimit;
        }
        if let Err(failed) = machine.step(thread) {
            return failure(machine, failed);
        }
    }
    let blocked = blocked(machine);
    if blocked.is_empty() { Outcome::Finished } else { Outcome::Deadlock(blocked) }
}

pub(super) fn failure(machine: &mut Machine<'_>, failed: Failed) -> Outcome {
    let failure = Failure {
        event: failed.event,
        thread: machine.program.threads[failed.thread].name.clone(),
        reason: failed.reason,
        loc: location(machine, failed.at),
    };
    if failed.assertion { Outcome::AssertionFailed(failure) } else { Outcome::Error(failure) }
}

pub(super) fn blocked(machine: &mut Machine<'_>) -> Vec<Blocked> {
    let mut blocked = Vec::new();
    for thread in 0..machine.threads.len() {
        if machine.threads[thread].status == Status::Running {
            blocked.push(obstacle(machine, thread));
        }
    }
    blocked
}

/// What a thread that cannot go on waits for.
pub(super) fn obstacle(machine: &mut Machine<'_>, thread: usize) -> Blocked {
    Blocked {
        thread: machine.program.threads[thread].name.clone(),
        waits_for: machine.obstacle(thread),
        loc: location(machine, machine.threads[thread].at),
    }
}

fn location(machine: &mut Machine<'_>, at: usize) -> String {
    let location = machine.recorder.location(at);
    machine.recorder.trace.names.text(location).to_string()
}

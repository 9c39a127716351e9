//! All interleavings of a program, of those that are equivalent one.

use super::machine::Status;
use super::machine::stepping::Stepping;
use super::options::Exploring;
use super::program::Program;
use super::run::{Outcome, failure, obstacle};
use foretrace_explore::{Ended, Tally};
use foretrace_trace::Trace;
use std::ops::ControlFlow;

/// One interleaving, up to its end.
#[derive(Clone, Debug)]
pub struct Execution {
    /// How it ended. Where a thread fails the others go on to their ends; the outcome is the first failure.
    pub outcome: Outcome,
    /// What happened; where it failed, up to there.
    pub trace: Trace,
}

/// What came of all interleavings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exploration {
    /// How many there were.
    pub tally: Tally,
    /// Whether they were all.
    pub ended: Ended,
}

/// Explores every interleaving of a program up to equivalence. `go_on` is asked before each step.
pub fn explore<'p>(
    program: &'p Program,
    exploring: Exploring<'p>,
    go_on: &mut dyn FnMut(&Tally) -> bool,
    each: &mut dyn FnMut(Execution) -> ControlFlow<()>,
) -> Exploration {
    let start = Stepping::new(program, exploring);
    let (tally, ended) = foretrace_explore::explore(&start, true, go_on, &mut |state, _| each(execution(state)));
    Exploration { tally, ended }
}

fn execution(state: &Stepping<'_>) -> Execution {
    let trace = state.trace();
    let mut state = state.clone();
    let outcome = match state.failed().cloned() {
        Some(failed) => failure(state.machine(), failed),
        None if state.is_cut() => Outcome::StepLimit,
        None => ended(&mut state),
    };
    Execution { outcome, trace }
}

fn ended(state: &mut Stepping<'_>) -> Outcome {
    let threads = &state.machine().threads;
    debug_assert!(threads.iter().all(|thread| thread.status != Status::Unborn || thread.at == 0));
    let running = |thread: &usize| threads[*thread].status == Status::Running;
    let running: Vec<usize> = (0..threads.len()).filter(running).collect();
    let blocked: Vec<_> = running.into_iter().map(|thread| obstacle(&mut state.at_obstacle(thread), thread)).collect();
    if blocked.is_empty() { Outcome::Finished } else { Outcome::Deadlock(blocked) }
}

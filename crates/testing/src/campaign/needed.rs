//! Why a run fails, where the schedule that led to it may not say so: the interruption without which it does not fail.

use super::{Campaign, plan_of, sources};
use crate::attempt::{Attempt, Kind, Rank};
use crate::interrupted::{Interruption, Places, interruptions};
use crate::judge::{Effect, Failure, judge};
use crate::predicting::{Asked, access_in, around_both, told, variable_of};
use crate::runner::Ran;
use crate::settings::TestError;
use crate::state::{Found, Shown};
use crate::story;
use foretrace_harness::{self as recorder, Expected, Plan};
use foretrace_trace::{Blocks, EventId, Observed, Trace, Triple};
use foretrace_walker::walk;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Runs with more events are not looked at: making their traces takes seconds.
pub(super) const MOST_EVENTS: usize = 100_000;
/// So many interruptions are left out, each by itself, to see whether the run fails without them.
const MOST_LEFT_OUT: usize = 12;
/// It is done where there is time for so many runs.
const FEWEST_RUNS: u32 = 20;
/// How long a run is made shorter for that at most, and how long all takes.
const LONGEST_SHORTENING: Duration = Duration::from_secs(2);
const LONGEST_SEARCH: Duration = Duration::from_secs(4);

/// What a run needs in order to fail.
pub(super) struct Needed {
    /// As an attempt, which is told like others.
    pub attempt: Attempt,
    /// What happened, a line each.
    pub story: Vec<String>,
}

/// A run that fails, with its trace.
struct Failing {
    ran: Ran,
    trace: Trace,
    blocks: Blocks,
}

/// What a run comes to without an interruption.
enum Without {
    /// It fails all the same.
    Fails(Box<Failing>),
    /// It does not fail.
    Passes,
    /// The program did not go along.
    Unclear,
}

impl Campaign<'_> {
    /// What a failure needs, where it fails without the three accesses of the schedule that comes first.
    pub(super) fn needed(&mut self, found: &Found) -> Result<Option<Needed>, TestError> {
        let best = found.shown.first();
        let is_triple = |Shown { attempt, .. }: &Shown| attempt.cycle.is_none() && attempt.kind != Kind::OtherWay;
        let is_long = self.state.report.size.events > MOST_EVENTS;
        let is_other = !found.deadlock.is_empty() || found.failure.is_hang() || found.failure.is_use_after_free();
        if is_long || is_other || best.is_some_and(|best| !is_triple(best)) {
            return Ok(None);
        }
        let plan = match (best, found.recordings.first()) {
            (Some(best), _) => plan_of(&best.attempt.witness, &best.attempt.recording)?,
            (None, Some((_, folder))) => Plan::of_recording(folder)?,
            (None, None) => return Ok(None),
        };
        let told = best.map(|best| &best.attempt);
        let Some((one, run)) = self.needed_interruption(&plan, &found.failure, told)? else { return Ok(None) };
        let (trace, folder) = (&run.trace, run.ran.folder.path());
        let attempt = self.attempt_at(&one, &run);
        let Triple { first, remote, second } = one.triple;
        let triple = [first, remote, second].map(|at| {
            let event = trace.event(at);
            Some((trace.threads[event.thread.index()].path.as_deref()?.to_string(), event.at?))
        });
        let seen = recorder::accesses(folder, &triple)?;
        let story = story::lines(&attempt, Some(&seen));
        Ok(Some(Needed { attempt, story }))
    }

    /// Of a run along a plan, with as few turns as it fails with, the likeliest interruption without which it does not fail; nothing where the
    /// one that is told may be needed, and no other is much likelier. Others are left out one after the other.
    fn needed_interruption(
        &mut self,
        plan: &Plan,
        failure: &Failure,
        told: Option<&Attempt>,
    ) -> Result<Option<(Interruption, Failing)>, TestError> {
        let Some(ran) = self.failing_run(plan, failure)? else { return Ok(None) };
        let until = self.within_share(2, LONGEST_SEARCH);
        if until.saturating_duration_since(Instant::now()) < ran.took * FEWEST_RUNS {
            return Ok(None);
        }
        let whole = Plan::of_recording(ran.folder.path())?;
        let turns = self.turns_that_matter(&whole, failure, self.within_share(4, LONGEST_SHORTENING))?;
        let short = Plan { turns, ..whole };
        let Some(ran) = self.failing_run(&short, failure)? else { return Ok(None) };
        let Some(mut run) = self.traced(ran) else { return Ok(None) };
        let usual: BTreeSet<Places> = self.passing_runs().flat_map(|(trace, _)| self.places_in(&trace)).collect();
        let is_told = |one: &Interruption, run: &Failing| told.is_some_and(|told| is_told_by(one, &run.trace, told));
        let mut done: BTreeSet<Places> = BTreeSet::new();
        let mut holds: Option<Interruption> = None;
        let mut likeliest = interruptions(&run.trace, &run.blocks, &usual);
        while done.len() < MOST_LEFT_OUT && Instant::now() < until {
            likeliest.retain(|one| !done.contains(&one.places(&run.trace)));
            likeliest.retain(|one| holds.as_ref().is_none_or(|told| one.is_much_likelier(told)));
            let at = likeliest.iter().position(|one| is_told(one, &run)).unwrap_or(0);
            if at >= likeliest.len() {
                break;
            }
            let one = likeliest.remove(at);
            done.insert(one.places(&run.trace));
            match self.without(&one, &run, failure)? {
                Without::Fails(next) if holds.is_none() => {
                    run = *next;
                    likeliest = interruptions(&run.trace, &run.blocks, &usual);
                }
                Without::Passes | Without::Unclear if is_told(&one, &run) => holds = Some(one),
                Without::Passes => return Ok(Some((one, run))),
                Without::Fails(_) | Without::Unclear => {}
            }
        }
        Ok(None)
    }

    /// A run along a plan, and whether it fails in this way; nothing where it fails in another one.
    fn run_to_fail(&mut self, plan: &Plan, failure: &Failure) -> Result<Option<(Ran, bool)>, TestError> {
        self.needed_runs += 1;
        let place = format!("needed-{}", self.needed_runs);
        let Some(ran) = self.replay_once(plan, &place)? else { return Ok(None) };
        let effect = judge(&ran.seen, &self.state.baseline, self.settings);
        let fails = effect.is_failure(failure);
        Ok((fails || effect == Effect::Same).then_some((ran, fails)))
    }

    fn failing_run(&mut self, plan: &Plan, failure: &Failure) -> Result<Option<Ran>, TestError> {
        Ok(self.run_to_fail(plan, failure)?.filter(|(_, fails)| *fails).map(|(ran, _)| ran))
    }

    /// A run with its trace, if it has one.
    fn traced(&self, ran: Ran) -> Option<Failing> {
        let (walked, ()) = walk(ran.folder.path(), &self.settings.walk, |_| ()).ok()?;
        let blocks = self.settings.walk.atomic.blocks(&walked.trace);
        Some(Failing { ran, trace: walked.trace, blocks })
    }

    /// What a run comes to where the interrupted thread goes on before the others do, or only after them.
    fn without(&mut self, one: &Interruption, run: &Failing, failure: &Failure) -> Result<Without, TestError> {
        let mut without = Without::Unclear;
        for (order, until) in one.orders_without(&run.trace) {
            let plan = Plan::of_order(&run.trace, &order, run.ran.folder.path())?;
            let Some((ran, fails)) = self.run_to_fail(&plan, failure)? else { continue };
            let differs = self.replayed(&plan, &ran)?.difference;
            if differs.is_some_and(|differs| comes_before(&run.trace, &order, &differs.expected, until)) {
                continue;
            }
            if fails {
                return Ok(self.traced(ran).map_or(Without::Unclear, |run| Without::Fails(Box::new(run))));
            }
            without = Without::Passes;
        }
        Ok(without)
    }

    /// Runs that passed, as far as they were analysed, and what they show.
    pub(super) fn passing_runs(&self) -> impl Iterator<Item = (Trace, Observed)> {
        let read = |recording: &PathBuf| Asked::read(recording, self.settings, Duration::ZERO).ok();
        self.passing.iter().filter_map(read).map(|Asked { trace, observed, .. }| (trace, observed))
    }

    /// Where the interruptions of a run are.
    fn places_in(&self, trace: &Trace) -> Vec<Places> {
        let found = interruptions(trace, &self.settings.walk.atomic.blocks(trace), &BTreeSet::new());
        found.iter().map(|one| one.places(trace)).collect()
    }

    /// An interruption, told like a schedule's accesses.
    fn attempt_at(&self, one: &Interruption, Failing { ran, trace, blocks }: &Failing) -> Attempt {
        let folder = ran.folder.path();
        let sources = sources(folder, &self.settings.walk.programs);
        let Triple { first, remote, second } = one.triple;
        let ends = one.block.map_or((first, second), |at| (blocks.all()[at].first, blocks.all()[at].last));
        let mut accesses = [first, remote, second].map(|at| access_in(trace, blocks, at, sources.as_ref()));
        accesses[0].function = around_both(trace, blocks, ends.0, ends.1);
        Attempt {
            kind: Kind::Observed,
            class: String::new(),
            variable: variable_of(trace, first).to_string(),
            pattern: one.pattern,
            accesses,
            also: Vec::new(),
            to_make: None,
            cycle: None,
            witness: folder.to_path_buf(),
            recording: folder.to_path_buf(),
            seed: 0,
            rank: Rank::default(),
        }
    }
}

/// Whether a step of an order comes before an event, or is this event's own.
fn comes_before(trace: &Trace, order: &[EventId], step: &Expected, until: EventId) -> bool {
    let is_step = |at: EventId| {
        let event = trace.event(at);
        event.at == Some(step.at) && trace.threads[event.thread.index()].path.as_deref() == Some(&*step.path)
    };
    order.iter().find(|at| is_step(**at) || **at == until).is_some_and(|at| is_step(*at))
}

/// Whether an attempt is about the same variable, and about accesses at the same places.
fn is_told_by(one: &Interruption, trace: &Trace, attempt: &Attempt) -> bool {
    let place = |at: EventId| told(trace, at, trace.loc(at).unwrap_or("?")).0;
    let is_one = |at: EventId, end: usize| attempt.accesses[end].place == place(at);
    attempt.variable == variable_of(trace, one.triple.first)
        && is_one(one.triple.first, 0)
        && is_one(one.triple.second, 2)
}

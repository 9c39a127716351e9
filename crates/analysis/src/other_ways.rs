//! Branches that another schedule of the same run takes the other way: what follows there is in no trace, but the program can be run along
//! the schedule.
//!
//! A check at the end of a program is such a branch. If several interruptions together must make its condition false, no candidate asks for
//! that, and each of them alone changes nothing. A branch that went one way only is asked of the solver, in the model that executes
//! expressions, with prefixes that end right before it. A few instances of each place are asked about, the later ones first: more has
//! happened before these. What the solver leaves open is looked for by small changes of the recorded order.

mod climb;
mod distance;

use self::climb::Climber;
use crate::context::AnalysisContext;
use crate::options::{Options, Strategy};
use crate::schedule::simplify_other_way;
use crate::schedule_from_assignment::schedule_from_assignment;
use crate::verdict::RestsOn;
use crate::workers::{PrefixAnswer, SolverWorker};
use foretrace_checker::{OtherWay, Witness};
use foretrace_encodings::TraceView;
use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_solve::{Limits, interruptible};
use foretrace_trace::{
    Data, EventId, Feasibility, Independence, Model, NameId, Observed, Op, Question, Semantics, TermId, Trace, Why,
};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Instances of one place that are asked about.
const MOST_OF_PLACE: usize = 4;
/// Places that are asked about.
const MOST_PLACES: usize = 64;
/// What a question may cost in steps of the solver: not time, so that the same input gives the same bytes. First it gets little, which is enough
/// for most.
const WORK: u32 = 100_000;
const FIRST_WORK: u32 = 10_000;

/// The story of what decides a branch has at most so many accesses of its thread.
const LONGEST_PATH: usize = 6;

/// A branch that can go the other way.
#[derive(Clone, Debug)]
pub struct FoundOtherWay {
    /// A checked prefix that ends right before it.
    pub witness: Witness<OtherWay>,
    /// What that leans on.
    pub rests_on: Option<RestsOn>,
}

impl FoundOtherWay {
    /// What decides the branch: a write of another thread, and the accesses of the own thread that carry its value to the branch, in order.
    /// Where all values are the thread's own, the last read that the branch goes by.
    pub fn decisive(&self, trace: &Trace) -> Vec<EventId> {
        let branch = self.witness.claim().branch;
        let thread = trace.event(branch).thread;
        let schedule = self.witness.schedule();
        // Each read that matters, with the later accesses that its value goes to.
        let reads_for = |term: Option<TermId>, to: &[EventId], pending: &mut BTreeMap<usize, Vec<EventId>>| {
            for read in term.map(|term| reads_of(trace, term)).unwrap_or_default() {
                if let Some(place) = schedule.iter().position(|event| *event == read) {
                    pending.entry(place).or_insert_with(|| to.to_vec());
                }
            }
        };
        let mut pending = BTreeMap::new();
        reads_for(trace.event(branch).op.condition(), &[], &mut pending);
        let last = pending.keys().next_back().map(|place| schedule[*place]);
        while let Some((place, to)) = pending.pop_last() {
            let read = schedule[place];
            let var = trace.event(read).op.var();
            let is_source = |event: &&EventId| trace.event(**event).op.writes() && trace.event(**event).op.var() == var;
            let Some(source) = schedule[..place].iter().rfind(is_source).copied() else { continue };
            let path = || [&[source, read][..], &to].concat();
            if trace.event(source).thread != thread {
                return path();
            }
            if to.len() < LONGEST_PATH {
                reads_for(trace.event(source).op.written(), &path(), &mut pending);
            }
        }
        last.into_iter().collect()
    }
}

/// The reads whose values a term goes by, through definitions.
fn reads_of(trace: &Trace, term: TermId) -> FxHashSet<EventId> {
    let mut reads = FxHashSet::default();
    let mut known = FxHashSet::default();
    let mut pending = vec![term];
    while let Some(term) = pending.pop() {
        for local in trace.terms.leaves(term) {
            let definition = local.definition;
            if !known.insert(definition) {
                continue;
            }
            match trace.event(definition).op {
                Op::Let { expr, .. } => pending.push(expr),
                _ => _ = reads.insert(definition),
            }
        }
    }
    reads
}

/// Finds branches that another schedule of the trace takes the other way, one of each place that `rank` wants, those of lower rank first; what
/// has no place is one by itself, and comes last.
/// Takes so many times the work of a first try. Gives the branches that were not decided, at most one of each place. Finds nothing where the trace has no expressions.
///
/// # Errors
/// A schedule that the checker refuses; what `told` says.
pub fn other_ways(
    trace: &Trace,
    observed: &Observed,
    options: &Options,
    rank: &dyn Fn(&str) -> Option<u32>,
    effort: u32,
    (deadline, stop): (Option<Instant>, &AtomicBool),
    told: &mut dyn FnMut(FoundOtherWay) -> anyhow::Result<()>,
) -> anyhow::Result<Vec<EventId>> {
    let places = places(trace, rank);
    if trace.data != Data::Symbolic || places.is_empty() {
        return Ok(Vec::new());
    }
    let mut undecided = Vec::new();
    let (feasibility, independence) = (Feasibility::Prefix, Independence::Conflict);
    let question = Question { model: Model::Ctp, feasibility, independence };
    let options = &Options { question, strategy: Strategy::Demand, context_switches: None, ..options.clone() };
    let trace_index = TraceIndex::new(trace);
    let clocks = MustHappenBefore::new(trace, &trace_index);
    let view = TraceView { trace, trace_index: &trace_index, observed, clocks: &clocks };
    let limits = Limits { timeout: options.timeout, deadline, work: None, stop };
    let constants = AnalysisContext::constants(view, options, limits);
    let context = AnalysisContext::new(view, &[], options, constants, deadline, stop)?;
    interruptible(stop, || {
        let go_on = || limits.reached().is_none();
        let mut worker = SolverWorker::with_work(&context, FIRST_WORK);
        let mut climber = Climber::new(trace, Semantics::new(trace, observed, question.model)?, effort);
        for (number, branches) in places.values().enumerate() {
            let asked = || branches.iter().rev().take(MOST_OF_PLACE).copied();
            if number >= MOST_PLACES {
                undecided.extend(asked().take(1));
                continue;
            }
            worker.may_work(FIRST_WORK);
            let mut open = Vec::new();
            let mut shown = asked().find_map(|branch| ask((view, &mut worker), branch, &mut open));
            if shown.is_none() {
                shown = open.first().and_then(|branch| Some((*branch, climber.other_way(*branch, &go_on)?)));
            }
            if shown.is_none() && !open.is_empty() {
                worker.may_work(WORK.saturating_mul(effort));
                let again = std::mem::take(&mut open);
                shown = again.into_iter().find_map(|branch| ask((view, &mut worker), branch, &mut open));
            }
            match shown {
                Some((branch, schedule)) => told(found(&context, OtherWay { branch }, &schedule)?)?,
                None => undecided.extend(open.first()),
            }
        }
        Ok(undecided)
    })
}

/// The solver's schedule by which a branch goes the other way; what it does not decide is kept.
fn ask(
    (view, worker): (TraceView<'_>, &mut SolverWorker<'_, '_>),
    branch: EventId,
    undecided: &mut Vec<EventId>,
) -> Option<(EventId, Vec<EventId>)> {
    match worker.other_way(branch) {
        PrefixAnswer::None => None,
        PrefixAnswer::Unknown => {
            undecided.push(branch);
            None
        }
        PrefixAnswer::Order(order) => {
            let last = OtherWay { branch }.last(view.trace)?;
            Some((branch, schedule_from_assignment(view, &order, last, Feasibility::Prefix)))
        }
    }
}

/// The place of a branch, or the branch.
type Place = Result<NameId, EventId>;

/// The branches of wanted places that hang on a read, by place.
fn places(trace: &Trace, rank: &dyn Fn(&str) -> Option<u32>) -> IndexMap<Place, Vec<EventId>, FxBuildHasher> {
    let mut places: IndexMap<Place, Vec<EventId>, FxBuildHasher> = IndexMap::default();
    for (id, event) in trace.iter() {
        let Op::Assume { expr, why: Why::Branch } = event.op else { continue };
        let is_wanted = event.loc.is_none_or(|loc| rank(trace.names.text(loc)).is_some());
        if is_wanted && event.part.is_none() && !reads_of(trace, expr).is_empty() {
            places.entry(event.loc.ok_or(id)).or_default().push(id);
        }
    }
    let rank_of = |place: &Place| place.ok().and_then(|loc| rank(trace.names.text(loc))).unwrap_or(u32::MAX);
    places.sort_by_key(|place, _| rank_of(place));
    places
}

fn found(context: &AnalysisContext<'_>, claim: OtherWay, schedule: &[EventId]) -> anyhow::Result<FoundOtherWay> {
    let witness = simplify_other_way(&context.checker, context.view.trace, claim, schedule).ok_or_else(|| {
        let branch = claim.branch;
        anyhow::anyhow!(
            "internal contradiction: branch {branch} can go the other way, but the checker refuses the schedule {schedule:?}"
        )
    })?;
    Ok(FoundOtherWay { rests_on: RestsOn::of_run(witness.run()), witness })
}

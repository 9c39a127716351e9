//! Uses after free: accesses of a thread that another schedule puts after the `free` of their memory by another thread.
//!
//! A pair of a `free` and an access is asked of the solver like a candidate, in the model of the run, with prefixes that end with the access.
//! Pairs whose access comes before the `free` in every prefix are left out first: mostly the thread was joined, or a lock protects a pointer
//! that has another value after the `free`. One pair of each two places
//! that can happen is enough. That a few cannot says nothing of the others: one may be the only one that no lock protects. So all are asked
//! about, first some of each two places, or the places stay undecided.

use crate::candidates::AccessLocation;
use crate::context::AnalysisContext;
use crate::filters::Filters;
use crate::options::{Options, Strategy};
use crate::schedule::simplify_use;
use crate::schedule_from_assignment::schedule_from_assignment;
use crate::verdict::RestsOn;
use crate::workers::{PrefixAnswer, SolverWorker};
use foretrace_checker::{UseAfterFree, Witness};
use foretrace_encodings::TraceView;
use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_solve::{Limits, interruptible};
use foretrace_trace::{EventId, Feasibility, Independence, Observed, Op, Question, SyncId, Trace};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Pairs of two places that are asked about first, until one can happen.
const FIRST_OF_CLASS: usize = 4;
/// Of all places together, pairs that are asked about after these.
const MOST_LATER: usize = 400;
/// Of all places together, pairs that are looked at without the solver.
const MOST_LOOKED_AT: usize = 4000;
/// Places that are asked about.
const MOST_CLASSES: usize = 400;
/// What a question may cost in steps of the solver: not time, so that the same input gives the same bytes.
const WORK: u32 = 10_000;
/// What a question may cost that was not decided so, and how many of them are asked again.
const MORE_WORK: u32 = 100_000;
const MOST_AGAIN: usize = 4;

/// One that can happen.
#[derive(Clone, Debug)]
pub struct FoundUse {
    /// A checked prefix that ends with the access.
    pub witness: Witness<UseAfterFree>,
    /// Whether the recorded order itself shows it.
    pub observed: bool,
    /// What that leans on.
    pub rests_on: Option<RestsOn>,
}

impl FoundUse {
    /// The latest access that the thread of the use makes before the `free` in the schedule.
    pub fn interrupted(&self, trace: &Trace) -> Option<EventId> {
        let UseAfterFree { free, access } = *self.witness.claim();
        let thread = trace.event(access).thread;
        let before = self.witness.schedule().iter().take_while(|event| **event != free);
        before
            .filter(|event| trace.event(**event).thread == thread && trace.event(**event).op.var().is_some())
            .last()
            .copied()
    }
}

/// How many pairs of places there are, and what came of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UsesAfterFree {
    /// Pairs of places, of a `free` and of an access, that are not ordered in every prefix.
    pub places: u64,
    /// Of those, pairs that can happen.
    pub found: u64,
    /// Of those, pairs that were not decided.
    pub undecided: u64,
}

/// Finds the uses after free that schedules of the trace lead to, one of each two places: in the order of the trace, and hard ones last.
///
/// # Errors
/// A schedule that the checker refuses; what `told` says.
pub fn uses_after_free(
    trace: &Trace,
    observed: &Observed,
    options: &Options,
    deadline: Option<Instant>,
    stop: &AtomicBool,
    told: &mut dyn FnMut(FoundUse) -> anyhow::Result<()>,
) -> anyhow::Result<UsesAfterFree> {
    let mut counted = UsesAfterFree::default();
    if !trace.events.iter().any(|event| matches!(event.op, Op::Free { .. })) {
        return Ok(counted);
    }
    let question =
        Question { feasibility: Feasibility::Prefix, independence: Independence::Conflict, ..options.question };
    let options = &Options { question, strategy: Strategy::Demand, context_switches: None, ..options.clone() };
    let trace_index = TraceIndex::new(trace);
    let clocks = MustHappenBefore::new(trace, &trace_index);
    let view = TraceView { trace, trace_index: &trace_index, observed, clocks: &clocks };
    let mut classes = classes(view);
    if classes.is_empty() {
        return Ok(counted);
    }
    let limits = Limits { timeout: options.timeout, deadline, work: None, stop };
    let constants = AnalysisContext::constants(view, options, limits);
    let context = AnalysisContext::new(view, &[], options, constants, deadline, stop)?;
    counted.places = classes.len() as u64;
    refute(&context, &mut classes);
    interruptible(stop, || {
        let mut worker = SolverWorker::with_work(&context, WORK);
        let mut known: FxHashSet<Class> = FxHashSet::default();
        let mut tell = |found: FoundUse, known: &mut FxHashSet<Class>, counted: &mut UsesAfterFree| {
            let is_new = known.insert(class_of(trace, *found.witness.claim()));
            counted.found += u64::from(is_new);
            if is_new { told(found) } else { Ok(()) }
        };
        let mut left = MOST_LATER;
        // Pairs that were not decided, and others of the same places.
        let mut open: Vec<(&Class, Vec<UseAfterFree>, &[UseAfterFree])> = Vec::new();
        // The pairs of two places that were not asked about, and how many of them are next.
        let most = |number| if number < MOST_CLASSES { FIRST_OF_CLASS } else { 0 };
        let mut asked: VecDeque<(&Class, &[UseAfterFree], usize)> =
            classes.iter().enumerate().map(|(number, (class, pairs))| (class, &pairs[..], most(number))).collect();
        while let Some((class, pairs, most)) = asked.pop_front() {
            if known.contains(class) {
                continue;
            }
            if most == 0 || context.limits().reached().is_some() {
                counted.undecided += 1;
                continue;
            }
            let (now, others) = pairs.split_at(most.min(pairs.len()));
            match decide(&context, &mut worker, now)? {
                Decided::Found(found) => tell(*found, &mut known, &mut counted)?,
                Decided::Unknown(pairs) => open.push((class, pairs, others)),
                Decided::Impossible if others.is_empty() => {}
                Decided::Impossible => {
                    let next = others.len().min(left);
                    left -= next;
                    asked.push_back((class, others, next));
                }
            }
        }
        worker.may_work(MORE_WORK);
        let mut again = MOST_AGAIN;
        for (class, pairs, others) in open {
            if known.contains(class) {
                continue;
            }
            let (now, later) = pairs.split_at(again.min(pairs.len()));
            again -= now.len();
            let most = if later.is_empty() { left.min(others.len()) } else { 0 };
            left -= most;
            let (next, unasked) = others.split_at(most);
            match decide_in_turn(&context, &mut worker, [now].into_iter().chain(next.chunks(1)))? {
                Decided::Found(found) => tell(*found, &mut known, &mut counted)?,
                Decided::Impossible if later.is_empty() && unasked.is_empty() => {}
                Decided::Impossible | Decided::Unknown(_) => counted.undecided += 1,
            }
        }
        Ok(counted)
    })
}

/// Where memory is freed, and where it is used.
type Class = (AccessLocation, AccessLocation);

fn class_of(trace: &Trace, pair: UseAfterFree) -> Class {
    (AccessLocation::of_event(trace, pair.free), AccessLocation::of_event(trace, pair.access))
}

/// The pairs that are not ordered, by place: those first whose access the recorded run makes last.
fn classes(view: TraceView<'_>) -> IndexMap<Class, Vec<UseAfterFree>, FxBuildHasher> {
    let TraceView { trace, trace_index, clocks, .. } = view;
    let mut of_object: FxHashMap<SyncId, Vec<EventId>> = FxHashMap::default();
    for (id, event) in trace.iter() {
        event.op.used_syncs().into_iter().flatten().for_each(|sync| of_object.entry(sync).or_default().push(id));
    }
    let mut classes: IndexMap<Class, Vec<UseAfterFree>, FxBuildHasher> = IndexMap::default();
    for (free, event) in trace.iter() {
        let Op::Free { vars, syncs, .. } = &event.op else { continue };
        let of_vars = vars.iter().flat_map(|var| trace_index.accesses[var.index()].iter().rev());
        let of_syncs = syncs.iter().filter_map(|sync| of_object.get(sync)).flat_map(|uses| uses.iter().rev());
        for access in of_vars.chain(of_syncs) {
            let pair = UseAfterFree { free, access: *access };
            if !pair.is_one(trace) || clocks.before(*access, free) {
                continue;
            }
            classes.entry(class_of(trace, pair)).or_default().push(pair);
        }
    }
    classes
}

/// Leaves out pairs whose access comes before the `free` by the orders of locks and of reads with one source.
fn refute(context: &AnalysisContext<'_>, classes: &mut IndexMap<Class, Vec<UseAfterFree>, FxBuildHasher>) {
    let go_on = || context.limits().reached().is_none();
    let filters = Filters::within(context.view, &[], context.options, &context.constants, &go_on);
    let mut left = MOST_LOOKED_AT;
    for pairs in classes.values_mut() {
        pairs.retain(|pair| {
            let looks_at = left > 0 && go_on();
            left -= usize::from(looks_at);
            !looks_at || !filters.refutes_order(pair.free, pair.access)
        });
    }
    classes.retain(|_, pairs| !pairs.is_empty());
}

enum Decided {
    Found(Box<FoundUse>),
    Impossible,
    /// Of these it could not be told.
    Unknown(Vec<UseAfterFree>),
}

/// Whether one of some pairs can happen.
fn decide(
    context: &AnalysisContext<'_>,
    worker: &mut SolverWorker<'_, '_>,
    pairs: &[UseAfterFree],
) -> anyhow::Result<Decided> {
    let mut unknown = Vec::new();
    for pair in pairs {
        match worker.after(pair.free, pair.access) {
            PrefixAnswer::None => {}
            PrefixAnswer::Unknown => unknown.push(*pair),
            PrefixAnswer::Order(order) => {
                let schedule = schedule_from_assignment(context.view, &order, pair.access, Feasibility::Prefix);
                return Ok(Decided::Found(Box::new(found(context, *pair, &schedule)?)));
            }
        }
    }
    Ok(if unknown.is_empty() { Decided::Impossible } else { Decided::Unknown(unknown) })
}

/// The same of some after others, up to those that are not impossible.
fn decide_in_turn<'p>(
    context: &AnalysisContext<'_>,
    worker: &mut SolverWorker<'_, '_>,
    parts: impl Iterator<Item = &'p [UseAfterFree]>,
) -> anyhow::Result<Decided> {
    for pairs in parts {
        match decide(context, worker, pairs)? {
            Decided::Impossible => {}
            decided => return Ok(decided),
        }
    }
    Ok(Decided::Impossible)
}

/// The use after free that a schedule ends with. Where another thread must use the memory before it, that use, which is the first.
fn found(context: &AnalysisContext<'_>, pair: UseAfterFree, schedule: &[EventId]) -> anyhow::Result<FoundUse> {
    let (trace, checker) = (context.view.trace, &context.checker);
    let witness = match simplify_use(checker, trace, pair, schedule) {
        Some(witness) => witness,
        None => {
            let freed = schedule.iter().position(|event| *event == pair.free).unwrap_or(0);
            let first = schedule[freed..].iter().find(|event| UseAfterFree { access: **event, ..pair }.is_one(trace));
            let claim = UseAfterFree { access: first.copied().unwrap_or(pair.access), ..pair };
            let end = schedule.iter().position(|event| *event == claim.access).map_or(schedule.len(), |at| at + 1);
            simplify_use(checker, trace, claim, &schedule[..end]).ok_or_else(|| contradiction(pair, schedule))?
        }
    };
    let claim = witness.claim();
    Ok(FoundUse { rests_on: RestsOn::of_run(witness.run()), observed: claim.free < claim.access, witness })
}

fn contradiction(UseAfterFree { free, access }: UseAfterFree, schedule: &[EventId]) -> anyhow::Error {
    anyhow::anyhow!(
        "internal contradiction: the solver lets event {access} come after event {free}, the checker refuses its schedule {schedule:?}"
    )
}

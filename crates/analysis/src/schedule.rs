//! From a feasible schedule to one that is easier to follow: fewer events, fewer context switches.
//!
//! Source: Penelope, 4.2.3, with the dependences of this schedule in place of unshared accesses and read blocks. Which events depend on each other
//! is what exploration says ([`uses`], `Mode::relation`), but coarser in two ways. Modes are coarse ([`Mode::coarse`]): two events may change
//! places unless they are of one thread, of one synchronisation object, or accesses to one variable of which one writes. All rounds of a
//! barrier are one object. And a `free` changes its variables and objects, so that an access comes after it in the shorter schedule, too.
//! Events that the rest does not depend on are dropped, then each thread runs as long as it can. The result is only a proposal: the caller has
//! it checked and keeps the original if it fails.

#[cfg(test)]
mod tests;

pub use foretrace_checker::context_switches;
use foretrace_checker::{CheckError, Checker, Interruption, OtherWay, UseAfterFree, Witness};
use foretrace_encodings::TraceView;
use foretrace_serializability::{Mode, Object, uses};
use foretrace_trace::{EventId, Feasibility, Op, Question, Trace, Transaction, Triple};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The witness with fewer events and context switches, as far as the checker accepts that.
pub fn simplify(view: TraceView<'_>, transactions: &[Transaction], question: Question, witness: Witness) -> Witness {
    match Checker::new(view.trace, view.observed, transactions, question) {
        Ok(checker) => simplify_with(&checker, view.trace, question.feasibility, witness),
        Err(_) => witness,
    }
}

/// The same with a checker of the question that is there already.
pub fn simplify_with(checker: &Checker<'_>, trace: &Trace, feasibility: Feasibility, witness: Witness) -> Witness {
    let triple = *witness.claim();
    let shorter = shorter(trace, feasibility, triple, witness.schedule());
    let mut proposals = vec![merge(trace, triple, &shorter)];
    // A part of the schedule that is as long is the schedule.
    if shorter.len() < witness.schedule().len() {
        proposals.extend([merge(trace, triple, witness.schedule()), shorter]);
    }
    let score = |schedule: &[EventId]| (context_switches(trace, schedule), schedule.len());
    let mut least = score(witness.schedule());
    let mut best = witness;
    for proposal in proposals {
        let reached = score(&proposal);
        if reached < least
            && let Ok(better) = checker.check(triple, &proposal)
        {
            (best, least) = (better, reached);
        }
    }
    best
}

/// The checked prefix that ends with remote, with fewer events and context switches than the schedule, as far as the checker accepts
/// that.
///
/// # Errors
/// Where it does not accept the schedule itself.
pub fn simplify_interruption(
    checker: &Checker<'_>,
    trace: &Trace,
    triple: Triple,
    schedule: &[EventId],
) -> Result<Witness<Interruption>, CheckError> {
    let shorter = needed(trace, triple, schedule);
    for proposal in [merge(trace, triple, &shorter), shorter] {
        if let Ok(interruption) = checker.check(Interruption(triple), &proposal) {
            return Ok(interruption);
        }
    }
    checker.check(Interruption(triple), schedule)
}

/// The checked use after free that a schedule shows, with fewer events and context switches as far as the checker accepts that; `None` where
/// it does not accept the schedule itself.
pub fn simplify_use(
    checker: &Checker<'_>,
    trace: &Trace,
    claim: UseAfterFree,
    schedule: &[EventId],
) -> Option<Witness<UseAfterFree>> {
    let ends = Triple { first: claim.free, remote: claim.free, second: claim.access };
    let shorter = needed(trace, ends, schedule);
    let merged = merge(trace, ends, &shorter);
    [&merged[..], &shorter, schedule].into_iter().find_map(|proposal| checker.check(claim, proposal).ok())
}

/// The checked schedule after which a branch goes the other way, with fewer events and context switches as far as the checker accepts that;
/// `None` where it does not accept the schedule itself.
pub fn simplify_other_way(
    checker: &Checker<'_>,
    trace: &Trace,
    claim: OtherWay,
    schedule: &[EventId],
) -> Option<Witness<OtherWay>> {
    let last = claim.last(trace)?;
    let ends = Triple { first: last, remote: last, second: last };
    let shorter = needed(trace, ends, schedule);
    let merged = merge(trace, ends, &shorter);
    [&merged[..], &shorter, schedule].into_iter().find_map(|proposal| checker.check(claim, proposal).ok())
}

/// The schedule without what the triple does not depend on; for complete feasibility the same.
pub fn shorter(trace: &Trace, feasibility: Feasibility, triple: Triple, schedule: &[EventId]) -> Vec<EventId> {
    match feasibility {
        Feasibility::Complete => schedule.to_vec(),
        Feasibility::Prefix => needed(trace, triple, schedule),
    }
}

/// For each step of a schedule, the earlier steps that it depends on directly: a linked list in two tables, since a schedule can have
/// as many steps as the trace has events.
struct Dependences {
    /// Per step, one more than the place of its latest dependence; 0 where it has none.
    latest: Vec<u32>,
    /// The step that another depends on, and the place of what that one depends on besides, likewise.
    sources: Vec<(u32, u32)>,
}

/// The latest steps that matter for what comes next.
#[derive(Default)]
struct Latest {
    of_thread: FxHashMap<u32, u32>,
    of_object: FxHashMap<u32, LatestUses>,
    fork: FxHashMap<u32, u32>,
    /// The first step of the group of parts that is open.
    group: Option<u32>,
}

/// The latest steps that use an object.
#[derive(Default)]
struct LatestUses {
    /// The latest one that does not only read.
    change: Option<u32>,
    /// Those that read since.
    reads: Vec<u32>,
}

impl LatestUses {
    /// Finds those that a step depends on by [`Mode::coarse`], which is then the latest.
    fn add(&mut self, mode: Mode, step: u32, found: &mut Vec<u32>) {
        if mode.coarse() == Mode::Read {
            found.extend(self.change);
            self.reads.push(step);
        } else {
            found.extend(self.change.replace(step));
            found.append(&mut self.reads);
        }
    }
}

/// The number of an object; all rounds of a barrier are one.
fn number(trace: &Trace, object: Object) -> u32 {
    match object {
        Object::Variable(var) => var.0,
        Object::Sync(id) | Object::Round(id, _) => trace.vars.len() as u32 + id.0,
    }
}

impl Dependences {
    fn new(trace: &Trace, triple: Triple, schedule: &[EventId]) -> Dependences {
        let mut latest = Latest::default();
        let sources = Vec::with_capacity(2 * schedule.len());
        let mut dependences = Dependences { latest: vec![0; schedule.len()], sources };
        let mut shown: Option<u32> = None;
        let mut found = Vec::new();
        for (step, event) in schedule.iter().enumerate() {
            let step = step as u32;
            found.clear();
            latest.add(trace, *event, step, &mut found);
            if [triple.first, triple.remote, triple.second].contains(event) {
                found.extend(shown.replace(step)); // the three stay in order
            }
            let part = trace.event(*event).part;
            // Parts of one step stay together: the first waits for what any of them waits for.
            let at = latest.group.filter(|_| part.is_some_and(|(k, _)| k > 1)).unwrap_or(step);
            found.iter().filter(|source| **source < at).for_each(|source| dependences.add(at, *source));
            if at != step {
                dependences.add(step, step - 1);
            }
            latest.group = part.filter(|(k, n)| k < n).map(|_| at);
        }
        dependences
    }

    fn add(&mut self, step: u32, source: u32) {
        self.sources.push((source, self.latest[step as usize]));
        self.latest[step as usize] = self.sources.len() as u32;
    }

    /// The steps that a step depends on, the same one perhaps several times.
    fn of_step(&self, step: u32) -> impl Iterator<Item = u32> {
        let at = |place: u32| place.checked_sub(1).map(|place| self.sources[place as usize]);
        std::iter::successors(at(self.latest[step as usize]), move |(_, next)| at(*next)).map(|(source, _)| source)
    }

    /// The steps that depend on each step: where those of a step begin, with an end for the last, and all of them.
    fn targets(&self) -> (Vec<u32>, Vec<u32>) {
        let steps = self.latest.len();
        let mut from = vec![0_u32; steps + 1];
        self.sources.iter().for_each(|(source, _)| from[*source as usize + 1] += 1);
        for step in 0..steps {
            from[step + 1] += from[step];
        }
        let (mut next, mut targets) = (from.clone(), vec![0_u32; self.sources.len()]);
        for step in 0..steps as u32 {
            for source in self.of_step(step) {
                targets[next[source as usize] as usize] = step;
                next[source as usize] += 1;
            }
        }
        (from, targets)
    }
}

impl Latest {
    /// Finds the direct dependences of the next step, which is then the latest.
    fn add(&mut self, trace: &Trace, event: EventId, step: u32, found: &mut Vec<u32>) {
        let (thread, op) = (trace.event(event).thread.0, &trace.event(event).op);
        found.extend(self.of_thread.insert(thread, step).or_else(|| self.fork.get(&thread).copied()));
        for (object, mode) in uses(op).into_iter().flatten() {
            self.of_object.entry(number(trace, object)).or_default().add(mode, step, found);
        }
        match op {
            Op::Fork { child } => {
                self.fork.insert(child.0, step);
            }
            Op::Join { child } => found.extend(self.of_thread.get(&child.0)),
            Op::Free { vars, syncs, .. } => {
                let variables = vars.iter().map(|var| (Object::Variable(*var), Mode::Write));
                for (object, mode) in variables.chain(syncs.iter().map(|sync| (Object::Sync(*sync), Mode::Any))) {
                    self.of_object.entry(number(trace, object)).or_default().add(mode, step, found);
                }
            }
            _ => {}
        }
    }
}

/// The events that the triple depends on, in the same order.
fn needed(trace: &Trace, triple: Triple, schedule: &[EventId]) -> Vec<EventId> {
    let dependences = Dependences::new(trace, triple, schedule);
    let mut keep = vec![false; schedule.len()];
    for (step, event) in schedule.iter().enumerate().rev() {
        if keep[step] || [triple.first, triple.remote, triple.second].contains(event) {
            keep[step] = true;
            dependences.of_step(step as u32).for_each(|source| keep[source as usize] = true);
        }
    }
    schedule.iter().zip(keep).filter(|(_, keep)| *keep).map(|(event, _)| *event).collect()
}

/// The same events in an equivalent order in which each thread goes on as long as it can; then comes the thread whose
/// next event stands earliest.
fn merge(trace: &Trace, triple: Triple, schedule: &[EventId]) -> Vec<EventId> {
    let dependences = Dependences::new(trace, triple, schedule);
    let (from, targets) = dependences.targets();
    let targets = |step: u32| &targets[from[step as usize] as usize..from[step as usize + 1] as usize];
    let steps = schedule.len() as u32;
    let mut waits: Vec<u32> = (0..steps).map(|step| dependences.of_step(step).count() as u32).collect();
    let thread = |step: u32| trace.event(schedule[step as usize]).thread;
    let mut ready: BinaryHeap<Reverse<u32>> =
        (0..steps).filter(|step| waits[*step as usize] == 0).map(Reverse).collect();
    let mut merged = Vec::with_capacity(schedule.len());
    let mut own_next: Option<u32> = None;
    while let Some(step) = own_next.take().or_else(|| ready.pop().map(|Reverse(step)| step)) {
        merged.push(schedule[step as usize]);
        for target in targets(step) {
            waits[*target as usize] -= 1;
            if waits[*target as usize] > 0 {
                continue;
            }
            // The thread's next event depends on this one, so it is among the targets.
            match thread(*target) == thread(step) {
                true => own_next = Some(*target),
                false => ready.push(Reverse(*target)),
            }
        }
    }
    merged
}

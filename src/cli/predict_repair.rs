//! `foretrace predict --repair`: which code would have to be atomic for what was predicted not to happen, each proved by predicting
//! again with a lock around it.

use super::enforced::{Endings, Enforced};
use foretrace::candidates::{AccessLocation, Class};
use foretrace::options::Options;
use foretrace::recorder::Between;
use foretrace::remaining::{Remaining, remaining};
use foretrace::report::{
    EnforcedBy, LockChoice, NotRepaired, PredictedRepair, Proof, RepairRuns, RepairTarget, Subject,
};
use foretrace_repair::{
    Downs, Guard, Guarded, NoGuard, Others, Repair, Sections, Whole, circle, excludes, guarded, kept_whole, others,
    with_lock,
};
use foretrace_trace::{EventId, Observed, Op, SyncId, Trace, Triple, VarId};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Existing locks that are tried for one repair.
const MOST_LOCKS: usize = 3;

/// Seeks repairs.
pub struct Seeker<'s> {
    subject: Subject<'s>,
    sections: Sections<'s>,
    targets: &'s [RepairTarget],
    stop: &'s AtomicBool,
    deadline: Option<Instant>,
    runs: Option<&'s Runs<'s>>,
    only_proved: bool,
    for_patch: bool,
}

/// What runs of the program are made.
pub struct Runs<'a> {
    /// What runs it.
    pub enforced: Enforced<'a>,
    /// How often each schedule.
    pub times: u32,
    /// What the recorded order of the trace shows.
    pub observed: &'a Observed,
}

impl<'s> Seeker<'s> {
    /// One for what was found; `left` is how long it may take.
    pub fn new(
        subject: Subject<'s>,
        targets: &'s [RepairTarget],
        stop: &'s AtomicBool,
        left: Option<Duration>,
        runs: Option<&'s Runs<'s>>,
    ) -> Seeker<'s> {
        let sections = Sections::new(subject.trace, Some(subject.options.atomic));
        let deadline = left.map(|left| Instant::now() + left);
        Seeker { subject, sections, targets, stop, deadline, runs, only_proved: false, for_patch: false }
    }

    /// Leaves out what is off the path, unless the program fails along its schedule.
    #[must_use]
    pub fn only_proved(mut self, only_proved: bool) -> Seeker<'s> {
        self.only_proved = only_proved;
        self
    }

    /// Looks at a new lock even where one of the program would do: of the two, a patch may be able to take only the new one.
    #[must_use]
    pub fn for_patch(mut self, for_patch: bool) -> Seeker<'s> {
        self.for_patch = for_patch;
        self
    }

    /// The repairs of the first targets, each code once, and what has none. Those that help the program come first, where it is run.
    pub fn repairs(&self, most: usize) -> anyhow::Result<(Vec<PredictedRepair>, NotRepaired)> {
        let mut all: Vec<PredictedRepair> = Vec::new();
        let mut none = NotRepaired::default();
        for target in self.targets {
            let is_open = target.off_path && self.only_proved;
            if all.len() + none.tried() >= most || self.stop.load(Ordering::Relaxed) {
                none.add_untried(is_open);
                continue;
            }
            let whole: Vec<Whole> = target.classes.iter().map(|triple| (triple.first, triple.second)).collect();
            let sections = self.sections.around(&whole);
            let known =
                all.iter_mut().find(|known| known.sections == sections && known.target.off_path == target.off_path);
            if let Some(known) = known.filter(|known| rules_out(known, target)) {
                known.target.classes.extend(&target.classes);
                continue;
            }
            let before = self.runs.map(|runs| self.run_as_it_is(runs, target)).transpose()?.flatten();
            if is_open && before.is_none_or(|before| before.failed == 0) {
                none.add_off_path(before.map(|before| (before.made(), before.came_between)));
                continue;
            }
            let locks = self.locks(target, &sections)?;
            let runs = match (self.runs, before) {
                (Some(runs), Some(before)) => Some(self.run_enforced(runs, before, target, (&sections, &locks))?),
                _ => None,
            };
            all.push(PredictedRepair { target: target.clone(), sections, locks, runs, patch: None });
        }
        all.sort_by_key(worth);
        Ok((all, none))
    }

    /// Runs the program along the target's schedule as it is, for half of the time that is left; `None` where there is no schedule.
    fn run_as_it_is(&self, runs: &Runs<'_>, target: &RepairTarget) -> anyhow::Result<Option<Endings>> {
        if target.schedule.is_empty() {
            return Ok(None);
        }
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let half = left.map(|left| Instant::now() + left / 2); // the other half is for the runs that are compared
        self.run_along(runs, target, (&self.whole(runs, target, &[])?, half)).map(Some)
    }

    /// Runs it along the schedule with the sections enforced.
    fn run_enforced(
        &self,
        runs: &Runs<'_>,
        before: Endings,
        target: &RepairTarget,
        (sections, locks): (&Repair, &[LockChoice]),
    ) -> anyhow::Result<RepairRuns> {
        let stretches = self.sections.stretches(sections);
        let (order, by) = match self.locked(target, locks, &stretches)? {
            Some(order) => (order, EnforcedBy::Lock),
            None => (self.whole(runs, target, &stretches)?, EnforcedBy::Turn),
        };
        let after = self.run_along(runs, target, (&order, self.deadline))?;
        let (runs_before, failed_before, shown_before) = (before.made(), before.failed, before.came_between);
        let Endings { passed, left, failed, came_between: shown } = after;
        Ok(RepairRuns { runs_before, failed_before, shown_before, by, failed, passed, left, shown })
    }

    /// The target's schedule with a lock of the program that is proved to do, held by the sections; nothing where there is none.
    fn locked(
        &self,
        target: &RepairTarget,
        locks: &[LockChoice],
        stretches: &[Whole],
    ) -> anyhow::Result<Option<Vec<EventId>>> {
        let trace = self.subject.trace;
        let best = locks.first().filter(|choice| choice.is_proved_and_safe());
        let Some(lock) = best.and_then(|choice| choice.lock) else { return Ok(None) };
        match guarded(trace, Guard { lock: Some(lock), stretches, vars: &[] }) {
            Ok(made) => Ok(Some(with_lock(trace, &made, &target.schedule)?)),
            Err(_) => Ok(None),
        }
    }

    /// The target's schedule with stretches kept whole.
    fn whole(&self, runs: &Runs<'_>, target: &RepairTarget, stretches: &[Whole]) -> anyhow::Result<Vec<EventId>> {
        Ok(kept_whole(self.subject.trace, runs.observed, &target.schedule, stretches)?)
    }

    fn run_along(
        &self,
        runs: &Runs<'_>,
        target: &RepairTarget,
        (order, deadline): (&[EventId], Option<Instant>),
    ) -> anyhow::Result<Endings> {
        let (trace, triple) = (self.subject.trace, target.classes[0]);
        let go_on = || !self.stop.load(Ordering::Relaxed) && deadline.is_none_or(|deadline| Instant::now() < deadline);
        let mut plan = runs.enforced.plan(trace, order, Some(triple.second))?;
        plan.watched = between(trace, triple);
        runs.enforced.runs(&plan, runs.times, &go_on)
    }

    /// The locks that could make the sections atomic: those that are known to do first, of these existing ones, without deadlocks.
    fn locks(&self, target: &RepairTarget, sections: &Repair) -> anyhow::Result<Vec<LockChoice>> {
        let stretches = self.sections.stretches(sections);
        if target.classes.iter().any(|triple| waits_within(self.subject.trace, *triple, &stretches)) {
            return Ok(vec![LockChoice {
                lock: None,
                proof: Proof::Waits,
                rules_out: Vec::new(),
                elsewhere: Vec::new(),
                circle: Vec::new(),
            }]);
        }
        let vars = self.vars(target);
        let Others { outside, locks } = others(self.subject.trace, &stretches, &vars);
        let mut all = Vec::new();
        for lock in locks.into_iter().take(MOST_LOCKS) {
            all.push(self.choice(target, Guard { lock: Some(lock), stretches: &stretches, vars: &[] }, &[])?);
        }
        if all.iter().any(LockChoice::is_proved_and_safe) {
            all.retain(LockChoice::is_proved_and_safe);
            if !self.for_patch {
                return Ok(all);
            }
        }
        let lines = self.sections.with_calls_at_ends(&stretches);
        all.push(self.choice(target, Guard { lock: None, stretches: &lines, vars: &vars }, &outside)?);
        all.sort_by_key(|choice| (choice.proof != Proof::Proved, !choice.circle.is_empty(), choice.lock.is_none()));
        Ok(all)
    }

    /// The variables that the target's code accesses at its places.
    fn vars(&self, target: &RepairTarget) -> Vec<VarId> {
        let trace = self.subject.trace;
        let accesses = target.classes.iter().flat_map(|triple| [triple.first, triple.remote, triple.second]);
        let places: BTreeSet<AccessLocation> = accesses.map(|access| AccessLocation::of_event(trace, access)).collect();
        let accesses = trace.iter().filter(|(id, _)| places.contains(&AccessLocation::of_event(trace, *id)));
        let vars: BTreeSet<VarId> = accesses.filter_map(|(_, event)| event.op.var()).collect();
        vars.into_iter().collect()
    }

    /// Predicts again with a lock.
    fn choice(&self, target: &RepairTarget, guard: Guard<'_>, outside: &[EventId]) -> anyhow::Result<LockChoice> {
        let trace = self.subject.trace;
        let mut seen = BTreeSet::new();
        let elsewhere =
            outside.iter().copied().filter(|event| seen.insert(AccessLocation::of_event(trace, *event))).collect();
        let lock: Option<SyncId> = guard.lock;
        let without =
            |proof| LockChoice { lock, proof, rules_out: Vec::new(), elsewhere: Vec::new(), circle: Vec::new() };
        let made = match guarded(trace, guard) {
            Ok(made) => made,
            Err(NoGuard::ForbidsRun) if target.classes.iter().all(|triple| excludes(trace, guard, *triple)) => {
                return Ok(LockChoice { elsewhere, ..without(Proof::ForbidsRun) });
            }
            Err(NoGuard::ForbidsRun) => return Ok(LockChoice { elsewhere, ..without(Proof::NotEnough) }),
            Err(NoGuard::Waits) => return Ok(without(Proof::Waits)),
            Err(NoGuard::Shared) => return Ok(without(Proof::Shared)),
        };
        let budget = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let options = Options { budget, off_path: target.off_path, ..self.subject.options.clone() };
        let left = Left::new(self.subject, &made, &remaining(&made.trace, &made.observed, &options, self.stop)?);
        let proof = left.proof(self.subject, target);
        let ruled_out = |triple: &&Triple| left.complete && left.is_out(self.subject.class(**triple), target.off_path);
        let same_kind = self.targets.iter().filter(|other| other.off_path == target.off_path);
        let rules_out = same_kind.flat_map(|other| &other.classes).filter(ruled_out).copied().collect();
        let circle = circle(&made.trace, made.lock).unwrap_or_default();
        Ok(LockChoice { lock, proof, rules_out, elsewhere, circle })
    }
}

/// How much a repair is worth, the best one least: most if it makes a program pass that failed, less if what it is for is not proved, least if
/// no run came to that.
fn worth(repair: &PredictedRepair) -> u32 {
    match repair.runs {
        Some(runs) if runs.failed_before > 0 && runs.failed + runs.left == 0 => 0,
        _ if repair.never_came_about() => 3,
        _ if repair.is_unproved() => 2,
        _ => 1,
    }
}

/// What a run must show for a triple to have come about: an access like the remote one, of any thread, between the two.
fn between(trace: &Trace, triple: Triple) -> Option<Between> {
    let [first, remote, second] = [triple.first, triple.remote, triple.second].map(|event| trace.event(event));
    let path = trace.threads[first.thread.index()].path.as_deref()?.to_string();
    Some(Between { path, first: first.at?, second: second.at?, op: remote.op.kind().to_string() })
}

/// Whether the thread waits for others between the two accesses, so that no stretch holds both.
fn waits_within(trace: &Trace, triple: Triple, stretches: &[Whole]) -> bool {
    let thread = trace.event(triple.first).thread;
    let holds_both = |(first, last): &Whole| {
        trace.event(*first).thread == thread && *first <= triple.first && triple.second <= *last
    };
    if stretches.iter().any(holds_both) {
        return false;
    }
    let downs = Downs::new(trace);
    let waits =
        |id: EventId| matches!(trace.event(id).op, Op::Wait { .. } | Op::Wake { .. }) || downs.or_barrier(trace, id);
    let mut between = (triple.first.index()..=triple.second.index()).map(EventId::from_index);
    between.any(|id| trace.event(id).thread == thread && waits(id))
}

/// Whether a repair that was found is known to rule out another target.
fn rules_out(repair: &PredictedRepair, target: &RepairTarget) -> bool {
    let best = repair.best().filter(|_| repair.is_proved());
    best.is_some_and(|choice| target.classes.iter().all(|class| choice.rules_out.contains(class)))
}

/// What is left with a lock, by class.
struct Left {
    feasible: BTreeSet<Class>,
    off_path: BTreeSet<Class>,
    undecided: BTreeSet<Class>,
    complete: bool,
}

impl Left {
    fn new(subject: Subject<'_>, made: &Guarded, remaining: &Remaining) -> Left {
        let classes = |triples: &[Triple]| {
            let old = |triple: &Triple| {
                let [first, remote, second] =
                    [triple.first, triple.remote, triple.second].map(|event| made.old_of(event));
                Some(subject.class(Triple { first: first?, remote: remote?, second: second? }))
            };
            triples.iter().filter_map(old).collect()
        };
        Left {
            feasible: classes(&remaining.feasible),
            off_path: classes(&remaining.off_path),
            undecided: classes(&remaining.undecided),
            complete: remaining.complete,
        }
    }

    /// Whether nothing of a class can happen any more; of one off the path, whether it is impossible.
    fn is_out(&self, class: Class, off_path: bool) -> bool {
        let can_happen = self.feasible.contains(&class) || self.undecided.contains(&class);
        !(can_happen || off_path && self.off_path.contains(&class))
    }

    fn proof(&self, subject: Subject<'_>, target: &RepairTarget) -> Proof {
        let classes: Vec<Class> = target.classes.iter().map(|triple| subject.class(*triple)).collect();
        if classes.iter().any(|class| self.feasible.contains(class)) {
            return Proof::NotEnough;
        }
        match (self.complete, classes.iter().all(|class| self.is_out(*class, target.off_path)), target.off_path) {
            (true, true, _) => Proof::Proved,
            (true, false, true) => Proof::NotEnough,
            _ => Proof::Undecided,
        }
    }
}

//! `foretrace test --repair`: of each failure, which code would have to be atomic for it not to happen.

use super::atomic::AtomicArgs;
use super::block_repair::{ViolatedBlock, lock_of_others};
use super::enforced::{Endings, Enforced};
use super::kept_whole::{Failed, Tries};
use super::patched::{Patchable, proposed};
use super::predict_repair::{Runs, Seeker};
use super::too_early::{read_too_early, too_early};
use super::unfinished::unfinished;
use foretrace::recorder::Plan;
use foretrace::report::{
    NeededRuns, PredictedRepair, ProposedPatch, ProposedPatchJson, RepairRuns, RepairTarget, Subject, predicted_json,
    wrapped, write_needed, write_predicted_one,
};
use foretrace::testing::{
    Asked, Attempt, Cycle, CycleKind, Find, Kind, Report, Settings, TestError, Trials, read_witness,
};
use foretrace_repair::{Limits, PatchLock, Repair, repairs};
use foretrace_trace::{Atomic, EventId, Trace};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long the repair of one failure may be sought, the runs of the program included.
const LONGEST: Duration = Duration::from_secs(20);
/// It gets this long where no time is left for it.
const SHORTEST: Duration = Duration::from_secs(1);
/// Repairs of a run that failed by itself which are considered together.
const MOST_NEEDED: usize = 20_000;
/// Ways to one failure of which a repair is sought.
const MOST_WAYS: usize = 3;

/// The repair of a failure, or why there is none.
pub struct FoundRepair {
    /// For people.
    pub lines: Vec<String>,
    /// For programs.
    pub json: Value,
    /// The repair as a change of the source, where that is asked for.
    pub patch: Option<ProposedPatch>,
}

impl FoundRepair {
    /// Nothing was sought, or found.
    fn none(why: &str) -> FoundRepair {
        FoundRepair {
            lines: vec![format!("   no repair was sought: {why}")],
            json: json!({ "none": why }),
            patch: None,
        }
    }
}

/// Whether it violates a whole block.
fn is_block(attempt: &Attempt) -> bool {
    attempt.cycle.as_ref().is_some_and(|cycle| cycle.kind == CycleKind::Block)
}

/// A trace, where it lies, and what is atomic in it, where that was chosen.
type Traced<'a> = (&'a Path, &'a Trace, Option<Atomic>);

/// Seeks repairs of what a test has found.
pub struct Repairer<'a> {
    settings: &'a Settings,
    report: &'a Report,
    atomic: &'a AtomicArgs,
    trials: Trials<'a>,
    work: &'a Path,
    for_patch: bool,
}

impl<'a> Repairer<'a> {
    /// For a report whose schedules still lie where the test made them; `work` is a folder for the runs. `for_patch` asks for each repair as a
    /// change of the source, too.
    pub fn new(
        settings: &'a Settings,
        report: &'a Report,
        (atomic, for_patch): (&'a AtomicArgs, bool),
        work: &'a Path,
    ) -> Repairer<'a> {
        Repairer { settings, report, atomic, trials: Trials::new(settings, &report.baseline, work), work, for_patch }
    }

    /// The repair of each failure, in their order, each within its share of the time that is left.
    pub fn repairs(&self, until: Instant) -> Vec<FoundRepair> {
        let finds = &self.report.finds;
        let of_find = |(nth, find): (usize, &Find)| {
            let others = u32::try_from(finds.len() - nth).unwrap_or(u32::MAX);
            let share = (until.saturating_duration_since(Instant::now()) / others).clamp(SHORTEST, LONGEST);
            self.repair(find, share).unwrap_or_else(|error| FoundRepair::none(&format!("{error:#}")))
        };
        finds.iter().enumerate().map(of_find).collect()
    }

    /// The repair of the best way to a failure; of another way, where that one does not help the program, or needs a new lock and the other
    /// one does not.
    fn repair(&self, find: &Find, share: Duration) -> anyhow::Result<FoundRepair> {
        let Some(best) = find.attempts.first() else { return self.needed(&find.schedule, share) };
        match &best.cycle {
            _ if best.kind == Kind::SameCode => return self.of_replay(find, best, share),
            Some(Cycle { kind: CycleKind::OtherWay, .. }) => return self.of_replay(find, best, share),
            Some(_) => return self.of_block(best, share),
            None => {}
        }
        let mut ways: Vec<&Attempt> = Vec::new();
        for attempt in find.attempts.iter().filter(|attempt| attempt.cycle.is_none()) {
            if !ways.iter().any(|way| is_like(way, attempt)) {
                ways.push(attempt);
            }
        }
        let (mut by_new_lock, mut of_turns, mut useless, until) = (None, None, None, Instant::now() + share);
        let left = || until.saturating_duration_since(Instant::now());
        for way in ways.into_iter().take(MOST_WAYS) {
            match self.repair_of(way, &find.attempts, left())? {
                Some((found, Use::HelpsByKnownLock)) => return Ok(found),
                // The other code may have forgotten the lock that this one has.
                Some((found, Use::Helps)) => by_new_lock = by_new_lock.or(Some(found)),
                Some((found, Use::HelpsAsTurns)) => of_turns = of_turns.or(Some(found)),
                Some((found, Use::None)) => useless = useless.or(Some(found)),
                None => {}
            }
        }
        // Of a block that is violated in one turn, all turns as one are more than it takes.
        let block = find.attempts.iter().find(|attempt| is_block(attempt));
        if let (None, Some(block)) = (&by_new_lock, block) {
            let found = self.of_block(block, left())?;
            let runs = &found.json["runs"];
            let is_useful = runs["failed"] == json!(0) && runs["passed"].as_u64() > Some(0);
            if is_useful || of_turns.is_none() && useless.is_none() {
                return Ok(found);
            }
        }
        Ok(by_new_lock.or(of_turns).or(useless).unwrap_or_else(|| FoundRepair::none("a limit was reached")))
    }

    /// The repair of a whole block, of several variables.
    fn of_block(&self, way: &Attempt, share: Duration) -> anyhow::Result<FoundRepair> {
        let start = Instant::now();
        let go_on = || !self.settings.stop.load(Ordering::Relaxed) && start.elapsed() < share;
        let asked = Asked::read(&way.recording, self.settings, self.settings.predict_limit)?;
        let witness = read_witness(&way.witness)?;
        let (Some(first), Some(last)) = (witness.path.first(), witness.path.last()) else {
            return Ok(FoundRepair::none("the witness has no violation path"));
        };
        let block = ViolatedBlock {
            trace: &asked.trace,
            observed: &asked.observed,
            atomic: asked.options.atomic,
            ends: (first.event, last.event),
            schedule: witness.schedule.iter().map(|step| step.event).collect(),
        };
        let run = |plan: &Plan| Ok(self.trials.run(plan)?);
        let enforced = Enforced { recording: &way.recording, run: &run };
        let repair = block.sections();
        let runs = block.tried(&repair, &enforced, self.settings.replays, &go_on)?;
        let path: Vec<EventId> = witness.path.iter().map(|step| step.event).collect();
        let json = json!({ "sections": repair, "path": path, "runs": runs });
        let atomic = Some(asked.options.atomic);
        self.shown_sections((Path::new(&asked.file), &asked.trace, atomic), &repair, runs, json)
    }

    /// The repair of a failure whose schedule holds no violation: the program runs along it, and that run is one that failed.
    fn of_replay(&self, find: &Find, way: &Attempt, share: Duration) -> anyhow::Result<FoundRepair> {
        let plan = Plan::of_witness(&read_witness(&find.schedule)?, Some(&way.recording))?;
        match self.trials.run_into(&plan, &self.work.join("failing"))? {
            Some((trial, recording)) if !trial.passed => self.needed(&recording, share),
            _ => Ok(FoundRepair::none("the program passed when it ran along the schedule once more")),
        }
    }

    /// The repair of a recorded run that failed by itself: of those that its own trace needs the first that helps the program.
    fn needed(&self, recording: &Path, share: Duration) -> anyhow::Result<FoundRepair> {
        let start = Instant::now();
        let go_on = || !self.settings.stop.load(Ordering::Relaxed) && start.elapsed() < share;
        self.atomic.first_trace_unsaid(recording)?;
        let Some(asked) = self.atomic.read_within(recording, &go_on)? else {
            return Ok(FoundRepair::none("a limit was reached"));
        };
        let chosen = (!self.atomic.is_auto()).then_some(asked.atomic);
        let limits = Limits { repairs: MOST_NEEDED, go_on: &go_on };
        let found = repairs(std::slice::from_ref(&asked.trace), &[], chosen, limits);
        let run = |plan: &Plan| Ok(self.trials.run(plan)?);
        let run_into = |plan: &Plan, place: &Path| {
            let ran = self.trials.run_into(plan, place)?;
            Ok(ran.map(|(trial, recording)| (recording, trial.passed)))
        };
        let tries = Tries {
            enforced: Enforced { recording, run: &run },
            run_into: &run_into,
            times: self.settings.replays,
            atomic: self.atomic,
            go_on: &go_on,
        };
        let failed = Failed { trace: &asked.trace, observed: &asked.observed, chosen: found.chosen };
        let mut useless = None;
        for ranked in found.ranked.iter().take(MOST_WAYS) {
            let endings = tries.tried(failed, ranked)?.map(|tried| tried.endings);
            let runs = endings.map(|Endings { failed, passed, left, .. }| NeededRuns { failed, passed, left });
            let json = json!({ "sections": ranked.repair, "observed": true, "runs": runs });
            let traced: Traced<'_> = (recording, &asked.trace, found.chosen);
            let shown = self.shown_sections(traced, &ranked.repair, runs, json)?;
            if runs.is_some_and(|runs| runs.failed == 0 && runs.passed > 0) {
                return Ok(shown);
            }
            useless = useless.or(Some(shown));
        }
        if let Some(useless) = useless {
            return Ok(useless);
        }
        if !found.complete {
            return Ok(FoundRepair::none("a limit was reached"));
        }
        order_needed(&asked.trace, &tries)
    }

    /// The repair of one way to a failure.
    fn repair_of(
        &self,
        way: &Attempt,
        attempts: &[Attempt],
        left: Duration,
    ) -> anyhow::Result<Option<(FoundRepair, Use)>> {
        let asked = Asked::read(&way.recording, self.settings, self.settings.predict_limit)?;
        let transactions = asked.options.atomic.transactions(&asked.trace);
        let subject =
            Subject { file: &asked.file, trace: &asked.trace, transactions: &transactions, options: &asked.options };
        let targets = [target(way, attempts)?];
        let run = |plan: &Plan| Ok(self.trials.run(plan)?);
        let runs = Runs {
            enforced: Enforced { recording: &way.recording, run: &run },
            times: self.settings.replays,
            observed: &asked.observed,
        };
        let seeker = Seeker::new(subject, &targets, &self.settings.stop, Some(left), Some(&runs));
        let (found, _) = seeker.for_patch(self.for_patch).repairs(1)?;
        let Some(repair) = found.first() else { return Ok(None) };
        let is_known = repair.best().is_some_and(|choice| choice.lock.is_some() && choice.is_proved_and_safe());
        let usefulness = match repair.runs.is_some_and(RepairRuns::is_useless) {
            true => Use::None,
            false if repair.sections.iter().any(|section| section.turns) => Use::HelpsAsTurns,
            false if is_known => Use::HelpsByKnownLock,
            false => Use::Helps,
        };
        Ok(Some((self.shown(subject, repair)?, usefulness)))
    }

    /// Sections that were kept whole, with the lock that others hold, and what is said to programs.
    fn shown_sections(
        &self,
        (name, trace, atomic): Traced<'_>,
        repair: &Repair,
        runs: Option<NeededRuns>,
        mut json: Value,
    ) -> anyhow::Result<FoundRepair> {
        let lock = lock_of_others(trace, atomic, repair);
        let mut text = Vec::new();
        write_needed(trace, repair, (lock, runs), &mut text)?;
        let lines = String::from_utf8(text)?.lines().map(str::to_string).collect();
        if let Some(lock) = lock {
            json["lock"] = json!(trace.syncs[lock.index()].key);
        }
        let proposed = || match lock {
            Some(lock) => Patchable::new((name, trace), atomic, repair)?.with(PatchLock::Existing(lock)),
            None => Err("no existing lock would do, and whole blocks get no new one".to_string()),
        };
        let patch = self.for_patch.then(proposed);
        show_patch(&mut json, patch.as_ref());
        Ok(FoundRepair { lines, json, patch })
    }

    fn shown(&self, subject: Subject<'_>, repair: &PredictedRepair) -> anyhow::Result<FoundRepair> {
        let mut text = Vec::new();
        write_predicted_one(subject, repair, &mut text)?;
        let lines = String::from_utf8(text)?.lines().map(str::to_string).collect();
        let mut json: Value = serde_json::from_str(&predicted_json(subject, std::slice::from_ref(repair))?)?;
        let (mut json, patch) = (json[0].take(), self.for_patch.then(|| proposed(subject, repair)));
        show_patch(&mut json, patch.as_ref());
        Ok(FoundRepair { lines, json, patch })
    }
}

/// What has to come first, where no code that is kept whole would help a run that failed by itself.
fn order_needed(trace: &Trace, tries: &Tries<'_>) -> anyhow::Result<FoundRepair> {
    let no_lock = "no lock mends this: one thread has to wait for another";
    let shown = |[what, with]: [String; 2], json: Value| {
        let line = |text: String| wrapped(&format!("   {text}"), "      ");
        let lines = [what, with].map(line).iter().flat_map(|text| text.lines()).map(str::to_string).collect();
        FoundRepair { lines, json, patch: Some(Err(no_lock.to_string())) }
    };
    let loc = |event: EventId| trace.loc(event);
    let unfinished = unfinished(trace, tries)?;
    if let Some(one) = unfinished.iter().find(|one| one.is_cause(tries.times)) {
        let json = json!({ "unfinished": one.function, "stopped": loc(one.last), "reached": one.reached });
        return Ok(shown(one.lines(trace, tries.times), json));
    }
    let early = too_early(trace, tries, &|_, _| Ok(false))?;
    if let Some(one) = early.iter().find(|one| one.is_cause(tries.times)) {
        let json = json!({ "too_early": loc(one.write), "read": loc(one.read) });
        return Ok(shown(one.lines(trace, tries.times), json));
    }
    let read = read_too_early(trace, tries)?;
    if let Some(one) = read.iter().find(|one| one.is_cause(tries.times)) {
        let json = json!({ "read_early": loc(one.read), "write": loc(one.write) });
        return Ok(shown(one.lines(trace, tries.times), json));
    }
    Ok(FoundRepair::none("what the failing run does could be done one block after the other"))
}

/// Whether a repair keeps the program from failing, as far as its runs say.
enum Use {
    /// By a lock that all other accesses hold.
    HelpsByKnownLock,
    Helps,
    /// If all turns of a loop are one section.
    HelpsAsTurns,
    None,
}

/// Puts a change of the source into a report for programs.
fn show_patch(json: &mut Value, patch: Option<&ProposedPatch>) {
    if let Some(proposed) = patch {
        json["patch"] = json!(ProposedPatchJson::from(proposed));
    }
}

/// Whether two ways are in the same recording, variable and function, and known alike.
fn is_like(one: &Attempt, other: &Attempt) -> bool {
    other.recording == one.recording && other.group() == one.group() && is_open(one.kind) == is_open(other.kind)
}

/// Whether a schedule is not known to happen before it is tried.
fn is_open(kind: Kind) -> bool {
    kind != Kind::Proved && kind != Kind::Observed
}

/// All that leads to a failure in the same recording, variable and function.
fn target(best: &Attempt, attempts: &[Attempt]) -> Result<RepairTarget, TestError> {
    let witness = read_witness(&best.witness)?;
    let mut classes = vec![witness.triple()];
    let others = attempts.iter().filter(|other| other.witness != best.witness && other.cycle.is_none());
    for other in others.filter(|other| is_like(best, other)) {
        classes.push(read_witness(&other.witness)?.triple());
    }
    let schedule = witness.schedule.iter().map(|step| step.event).collect();
    Ok(RepairTarget { classes, off_path: is_open(best.kind), schedule })
}

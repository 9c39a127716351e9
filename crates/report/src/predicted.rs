//! Repairs of what a trace predicts: which code would have to be atomic, what that rules out, and which lock would do.

use super::Subject;
use super::block;
use super::block_repair::{BlockRepair, write_block_repairs};
use super::class::Classes;
use super::names::{Names, wrapped};
use super::needed::short_section;
use super::not_repaired::NotRepaired;
use super::style::HEAD;
use foretrace_analysis::blocks::BlockName;
use foretrace_analysis::verdict::Decision;
use foretrace_repair::{Lines, Patch, Section, Taken};
use foretrace_trace::{EventId, SyncId, Trace, Triple, VarId};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde::Serialize;
use std::io::{self, Write};

/// What a repair is sought for: classes of one variable and block.
#[derive(Clone, Debug)]
pub struct RepairTarget {
    /// A candidate of each class, the worst class first.
    pub classes: Vec<Triple>,
    /// Whether they are off the path of the run.
    pub off_path: bool,
    /// A schedule of the first one.
    pub schedule: Vec<EventId>,
}

/// Takes decisions and says what repairs are sought for.
#[derive(Debug, Default)]
pub struct RepairTargets {
    classes: Classes,
}

impl RepairTargets {
    /// Adds a decision.
    pub fn add(&mut self, subject: Subject<'_>, decision: &Decision) {
        self.classes.add(subject, decision);
    }

    /// Adds candidates that were refuted together.
    pub fn add_refuted(&mut self, subject: Subject<'_>, triple: Triple, count: u64) {
        self.classes.add_refuted(subject.class(triple), count);
    }

    /// Whether some triple can happen.
    pub fn has_feasible(&self, subject: Subject<'_>) -> bool {
        !self.classes.feasible(subject).is_empty()
    }

    /// What can happen, in the order of the report; then what is off the path. Whole threads and the workings of libraries only
    /// where there is nothing else.
    pub fn all(&self, subject: Subject<'_>) -> Vec<RepairTarget> {
        type Key = (bool, Option<VarId>, Option<BlockName>);
        let feasible = self
            .classes
            .feasible(subject)
            .into_iter()
            .map(|(_, found)| (false, found.triple, found.witness.schedule()));
        let off_path = self
            .classes
            .off_path(subject)
            .into_iter()
            .map(|class| (true, class.decision.triple, class.off_path.schedule().unwrap_or_default()));
        let all: Vec<(bool, Triple, &[EventId])> = feasible.chain(off_path).collect();
        let folds = |triple: Triple| block::is_folded(subject, triple).is_some();
        let any = all.iter().any(|(_, triple, _)| !folds(*triple));
        let mut groups: IndexMap<Key, RepairTarget, FxBuildHasher> = IndexMap::default();
        for (off_path, triple, schedule) in all.into_iter().filter(|(_, triple, _)| !(any && folds(*triple))) {
            let var = subject.trace.event(triple.first).op.var();
            let block = subject.block(triple).map(|(name, _)| name);
            let new = || RepairTarget { classes: Vec::new(), off_path, schedule: schedule.to_vec() };
            groups.entry((off_path, var, block)).or_insert_with(new).classes.push(triple);
        }
        groups.into_values().collect()
    }
}

/// What is known of a repair with some lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Proof {
    /// With the lock, nothing of what it is for can happen.
    Proved,
    /// With the lock, some of it still can.
    NotEnough,
    /// A limit was reached before all was decided.
    Undecided,
    /// With the lock, what it is for cannot happen, since no two threads hold it at once; but neither could the recorded run.
    ForbidsRun,
    /// The lock would have to be held while its thread waits: for a signal, which gives it back, or for others at a barrier.
    Waits,
    /// The lock is shared where it would have to be taken for oneself.
    Shared,
}

/// A lock that could make sections atomic.
#[derive(Clone, Debug)]
pub struct LockChoice {
    /// A lock of the trace; nothing for a new one.
    pub lock: Option<SyncId>,
    /// What is known of it.
    pub proof: Proof,
    /// What it rules out of all that can happen: the candidates that stand for the classes.
    pub rules_out: Vec<Triple>,
    /// Places outside of the sections at which it has to be taken, too.
    pub elsewhere: Vec<EventId>,
    /// A circle of locks that it closes.
    pub circle: Vec<Taken>,
}

impl LockChoice {
    /// Whether it is known to rule out what it is for, and closes no circle of locks.
    pub fn is_proved_and_safe(&self) -> bool {
        self.proof == Proof::Proved && self.circle.is_empty()
    }
}

/// A repair of what was predicted.
#[derive(Clone, Debug)]
pub struct PredictedRepair {
    /// What it is for.
    pub target: RepairTarget,
    /// The code that would have to be atomic.
    pub sections: Vec<Section>,
    /// The locks that were tried, the best first.
    pub locks: Vec<LockChoice>,
    /// What became of the program, where it was run.
    pub runs: Option<RepairRuns>,
    /// It as a change of the source, or why there is none; where that is asked for.
    pub patch: Option<ProposedPatch>,
}

/// A change of the source, or why there is none.
pub type ProposedPatch = Result<Patch, String>;

/// The same in reports for programs.
#[derive(Serialize)]
#[serde(untagged)]
pub enum ProposedPatchJson<'p> {
    /// A proposal.
    Patch(&'p Patch),
    /// Why there is none.
    None {
        /// In words.
        none: &'p str,
    },
}

impl<'p> From<&'p ProposedPatch> for ProposedPatchJson<'p> {
    fn from(proposed: &'p ProposedPatch) -> ProposedPatchJson<'p> {
        match proposed {
            Ok(patch) => ProposedPatchJson::Patch(patch),
            Err(why) => ProposedPatchJson::None { none: why },
        }
    }
}

impl PredictedRepair {
    /// Whether a run came to what it is for.
    pub fn came_about(&self) -> bool {
        self.runs.is_some_and(|runs| runs.failed_before + runs.shown_before > 0)
    }

    /// Whether what it is for is off the recorded path, and no run came to it.
    pub fn never_came_about(&self) -> bool {
        let was_tried = self.runs.is_some_and(|runs| runs.runs_before > 0);
        self.target.off_path && was_tried && !self.came_about()
    }

    /// Whether what it is for is off the recorded path, and no run failed by it.
    pub fn is_unproved(&self) -> bool {
        self.target.off_path && self.runs.is_none_or(|runs| runs.failed_before == 0)
    }
}

/// Runs of the program along the schedule of a violation.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RepairRuns {
    /// How often it ran along the schedule as it is.
    pub runs_before: u32,
    /// How often it failed along the schedule as it is.
    pub failed_before: u32,
    /// How often the violation happened along the schedule as it is.
    pub shown_before: u32,
    /// How the sections were enforced.
    pub by: EnforcedBy,
    /// How often it failed with the sections enforced.
    pub failed: u32,
    /// How often it passed with the sections enforced.
    pub passed: u32,
    /// How often it passed, but left the schedule before the sections had ended.
    pub left: u32,
    /// How often the violation happened with the sections enforced.
    pub shown: u32,
}

/// How sections are enforced on a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EnforcedBy {
    /// Each holds the lock of the program that is proved to do: threads wait where that makes them wait.
    Lock,
    /// Each is one turn: no other thread goes on before it ends.
    Turn,
}

impl RepairRuns {
    /// Whether the program failed and still fails every time.
    pub fn is_useless(self) -> bool {
        self.failed_before > 0 && self.failed > 0 && self.passed + self.left == 0
    }
}

impl PredictedRepair {
    /// The lock to choose.
    pub fn best(&self) -> Option<&LockChoice> {
        self.locks.first()
    }

    /// Whether it is known to rule out what it is for.
    pub fn is_proved(&self) -> bool {
        self.best().is_some_and(|choice| choice.proof == Proof::Proved)
    }
}

#[derive(Serialize)]
struct RepairJson<'r> {
    sections: &'r [Section],
    of: &'r [Triple],
    off_path: bool,
    locks: Vec<LockJson<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<RepairRuns>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<ProposedPatchJson<'r>>,
}

#[derive(Serialize)]
struct LockJson<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    lock: Option<&'r str>,
    proof: Proof,
    rules_out: &'r [Triple],
    elsewhere: Vec<Option<&'r str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    deadlock: Vec<TakenJson>,
}

#[derive(Serialize)]
struct TakenJson {
    thread: u64,
    holds: String,
    takes: String,
}

/// The repairs as one JSON array.
pub fn predicted_json(subject: Subject<'_>, repairs: &[PredictedRepair]) -> serde_json::Result<String> {
    let trace = subject.trace;
    let all: Vec<RepairJson<'_>> = repairs.iter().map(|repair| repair_json(trace, repair)).collect();
    serde_json::to_string(&all)
}

fn repair_json<'r>(trace: &'r Trace, repair: &'r PredictedRepair) -> RepairJson<'r> {
    RepairJson {
        sections: &repair.sections,
        of: &repair.target.classes,
        off_path: repair.target.off_path,
        locks: repair.locks.iter().map(|choice| lock_json(trace, choice)).collect(),
        runs: repair.runs,
        patch: repair.patch.as_ref().map(ProposedPatchJson::from),
    }
}

fn lock_json<'r>(trace: &'r Trace, choice: &'r LockChoice) -> LockJson<'r> {
    let taken = |taken: &Taken| TakenJson {
        thread: trace.threads[taken.thread.index()].number,
        holds: lock_name(trace, taken.holds),
        takes: lock_name(trace, taken.takes),
    };
    LockJson {
        lock: choice.lock.map(|lock| &*trace.syncs[lock.index()].key),
        proof: choice.proof,
        rules_out: &choice.rules_out,
        elsewhere: choice.elsewhere.iter().map(|event| trace.loc(*event)).collect(),
        deadlock: choice.circle.iter().map(taken).collect(),
    }
}

/// What a lock is called; one that a repair adds is not in the trace.
fn lock_name(trace: &Trace, lock: SyncId) -> String {
    trace.syncs.get(lock.index()).map_or("the new lock".to_string(), |sync| sync.key.to_string())
}

/// Writes the repairs for people. Those of what is not proved stand apart, those of whole blocks come after them.
pub fn write_predicted(
    subject: Subject<'_>,
    repairs: &[PredictedRepair],
    of_blocks: &[BlockRepair],
    none: NotRepaired,
    out: &mut dyn Write,
) -> io::Result<()> {
    let names = Names::new(subject.trace);
    writeln!(out, "\n{HEAD}Repairs{HEAD:#}")?;
    if repairs.is_empty() && of_blocks.is_empty() && none.beyond_limit == 0 {
        let what = if none.is_empty() { "nothing was found" } else { "nothing is proved" };
        writeln!(out, "none is needed: {what} that three accesses in one variable show")?;
    }
    let proved = repairs.iter().take_while(|repair| !repair.is_unproved()).count();
    for (number, repair) in repairs.iter().enumerate() {
        if number == proved {
            writeln!(out, "\nOff the path of this run, not proved:")?;
        }
        writeln!(out)?;
        let same = repairs[..number].iter().position(|earlier| earlier.sections == repair.sections);
        let as_before = same.map(|earlier| format!(", as in {}", earlier + 1)).unwrap_or_default();
        let lead = format!("{}. make atomic{as_before}", number + 1);
        write_repair(&lead, &names, subject.trace, repair, out)?;
    }
    write_block_repairs(subject.trace, of_blocks, repairs.len(), out)?;
    none.write(out)
}

/// Writes one repair by itself.
pub fn write_predicted_one(subject: Subject<'_>, repair: &PredictedRepair, out: &mut dyn Write) -> io::Result<()> {
    write_repair("   make atomic", &Names::new(subject.trace), subject.trace, repair, out)
}

fn write_repair(
    lead: &str,
    names: &Names<'_>,
    trace: &Trace,
    repair: &PredictedRepair,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (place, section) in repair.sections.iter().enumerate() {
        let lead = if place == 0 { lead } else { "   and" };
        writeln!(out, "{}", wrapped(&format!("{lead}: {}", short_section(names, section)), "      "))?;
    }
    let first = repair.target.classes[0];
    let what = match repair.target.off_path {
        true => "what is off the path",
        false => "what can happen",
    };
    let classes = repair.target.classes.len();
    let more = if classes > 1 { format!(" and {} like it", classes - 1) } else { String::new() };
    let line = format!("   against {what} on {}: {first}{more}", names.var_of(first.first));
    writeln!(out, "{}", wrapped(&line, "      "))?;
    if let Some(ends) = ends_elsewhere(names, trace, repair) {
        writeln!(out, "{}", wrapped(&ends, "      "))?;
    }
    for (place, choice) in repair.locks.iter().enumerate() {
        let lead = if place == 0 { "" } else { "or " };
        let line = format!("   {lead}{}", lock_line(names, trace, choice, &repair.target));
        writeln!(out, "{}", wrapped(&line, "      "))?;
        if !choice.circle.is_empty() {
            let steps: Vec<String> = choice.circle.iter().map(|taken| step_of_circle(names, trace, taken)).collect();
            let line = format!("      a deadlock is possible with it: {}", steps.join("; "));
            writeln!(out, "{}", wrapped(&line, "         "))?;
        }
    }
    match repair.runs {
        Some(_) if repair.never_came_about() => {
            writeln!(out, "   on the program: no run along this schedule came to it, so that it may be impossible")
        }
        Some(runs) => writeln!(out, "{}", wrapped(&runs_line(runs), "      ")),
        None => Ok(()),
    }
}

fn runs_line(runs: RepairRuns) -> String {
    let RepairRuns { runs_before, failed_before, shown_before, by, failed, passed, left, shown } = runs;
    let all = failed + passed + left;
    if all == 0 || runs_before == 0 {
        return "   not tried on the program: a limit was reached".to_string();
    }
    let astray = match left {
        0 => String::new(),
        left => format!("; {left} times it passed, but left the schedule before the section had ended"),
    };
    let verdict = if runs.is_useless() { ": this alone does not mend it" } else { "" };
    let how = match by {
        EnforcedBy::Lock => "holding the lock",
        EnforcedBy::Turn => "kept whole",
    };
    format!(
        "   on the program: along this schedule it failed {failed_before} of {runs_before} times, with the section \
         {how} {failed} of {all}{verdict}; the violation happened {shown_before} and {shown} times{astray}"
    )
}

/// Where the accesses are that the code has to hold, if they are in functions that it calls.
fn ends_elsewhere(names: &Names<'_>, trace: &Trace, repair: &PredictedRepair) -> Option<String> {
    let ends = [repair.target.classes[0].first, repair.target.classes[0].second];
    let is_in_lines = |event: &EventId| {
        let loc = trace.loc(*event).unwrap_or_default();
        let holds = |lines: &Lines| {
            let place = loc.strip_prefix(&lines.file).and_then(|rest| rest.strip_prefix(':'));
            let line = place.and_then(|place| place.split(':').next()?.parse::<u32>().ok());
            line.is_some_and(|line| (lines.first..=lines.last).contains(&line))
        };
        repair.sections.iter().flat_map(|section| &section.lines).any(holds)
    };
    let [first, second] = ends.map(|event| names.place_only(event));
    let is_shown = !ends.iter().all(is_in_lines) && ends.iter().all(|event| trace.loc(*event).is_some());
    is_shown.then(|| format!("   from the access at {first} to that at {second}, in functions that it calls"))
}

fn lock_line(names: &Names<'_>, trace: &Trace, choice: &LockChoice, target: &RepairTarget) -> String {
    let lock = match choice.lock {
        Some(lock) => {
            format!("hold {} there, which all other accesses hold", names.short(&trace.syncs[lock.index()].key))
        }
        None if choice.elsewhere.is_empty() => "a new lock there".to_string(),
        None => {
            let places: Vec<String> = choice.elsewhere.iter().map(|event| names.place_only(*event)).collect();
            format!("a new lock there and at {}", places.join(", "))
        }
    };
    let proof = match (choice.proof, choice.rules_out.len().saturating_sub(target.classes.len())) {
        (Proof::Proved, 0) => "proved: rules that out".to_string(),
        (Proof::Proved, 1) => "proved: rules that out, and one class more".to_string(),
        (Proof::Proved, others) => format!("proved: rules that out, and {others} classes more"),
        (Proof::NotEnough, _) => "not enough: some of it can still happen".to_string(),
        (Proof::Undecided, _) => "not proved: a limit was reached".to_string(),
        (Proof::ForbidsRun, _) => {
            "proved: no two threads hold it at once (in the recorded run others came between already)".to_string()
        }
        (Proof::Waits, _) => {
            let text = "the thread waits for others meanwhile, and has to look again after that";
            return match choice.lock {
                Some(_) => format!("{lock}; not possible: {text}"),
                None => format!("no lock can be held there: {text}"),
            };
        }
        (Proof::Shared, _) => "not possible: it is shared there".to_string(),
    };
    format!("{lock}; {proof}")
}

fn step_of_circle(names: &Names<'_>, trace: &Trace, taken: &Taken) -> String {
    let name = |lock| names.short(&lock_name(trace, lock)).into_owned();
    format!("{} holds {} and takes {}", names.thread(taken.thread), name(taken.holds), name(taken.takes))
}

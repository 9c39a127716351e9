//! From a recording to attempts: its trace is made, the solver decides the candidates, and each class gives one schedule.

mod blocks;
mod deferred;
mod other_ways;
mod places;
mod same_code;
mod uses;

use super::attempt::{Access, Attempt, Kind, Rank, ToMake};
use super::settings::{Predict, Settings, TestError};
use super::unseen::{WRITES, unseen_calls};
pub(crate) use blocks::act;
pub use deferred::Deferred;
use foretrace_analysis::blocks::NamedBlocks;
use foretrace_analysis::candidates::Class;
use foretrace_analysis::guards::Guards;
use foretrace_analysis::options::Options;
use foretrace_analysis::predict::{Sink, predict};
use foretrace_analysis::verdict::{Decider, Decision, Limit, OffPath, Verdict};
use foretrace_cutpoints::{CutPoint, CutPoints};
use foretrace_harness::{SourcePlaces, Sources, WalkedBy, add_call_stacks, keep_call_stacks};
use foretrace_report::{SavedPlace, SavedSchedule, SavedWitness, Subject, WitnessDir, thread_name};
use foretrace_trace::{Atomic, Blocks, EventId, Observed, Op, Trace, Triple, observe};
pub use foretrace_walker::program::is_of_library;
use foretrace_walker::{Ways, walk};
use indexmap::IndexMap;
pub use other_ways::{ask_again, class_of};
use places::around;
pub(crate) use places::{access_in, around_both, own_lines, own_place_before, told, variable_of};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// What a recording leads to.
#[derive(Default)]
pub struct Predicted {
    /// The schedules to try.
    pub attempts: Vec<Attempt>,
    /// Classes that the recorded run shows itself.
    pub already: usize,
    /// The same by name, of a run that passed.
    pub shown: Vec<String>,
    /// Classes that no schedule of this run's path or any other shows.
    pub impossible: usize,
    /// What the trace holds.
    pub size: Size,
    /// The ways that branches on shared memory went, by place, with the text of the line.
    pub branches: Branches,
    /// Places that never return on one way, which the run did not take, and of which it is not decided whether another order takes it.
    pub open_checks: Vec<String>,
    /// What the trace does not show of code that ran, as people read it.
    pub unseen: BTreeSet<String>,
    /// Places where a thread gave back a lock that it did not hold.
    pub not_held: BTreeSet<String>,
}

/// The ways that branches went, by place, with the text of their line where it is there.
pub type Branches = BTreeMap<String, (Ways, Option<String>)>;

/// What a trace holds.
#[derive(Clone, Copy, Default, Debug, Serialize, Deserialize)]
pub struct Size {
    /// Threads.
    pub threads: usize,
    /// Shared variables.
    pub variables: usize,
    /// Locks and other objects by which threads synchronise.
    pub locks: usize,
    /// Events.
    pub events: usize,
    /// How often another thread went on.
    pub switches: usize,
}

/// The analysis of a recording, on a thread of its own. It stops where this is dropped.
pub struct Analysis {
    done: Receiver<Box<Result<Predicted, TestError>>>,
    stop: Arc<AtomicBool>,
}

impl Drop for Analysis {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// The analysis of a recorded run that goes on while something else is done.
pub struct UnderWay {
    /// The run.
    pub seed: u64,
    pub recording: PathBuf,
    pub analysis: Analysis,
}

impl Analysis {
    /// Begins to make attempts of a recording. The first limit bounds the time of the solver, the second one that of all.
    pub fn begin(
        recording: &Path,
        (seed, failed): (u64, bool),
        settings: &Settings,
        (limit, most): (Duration, Duration),
    ) -> Analysis {
        let (sender, done) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let own = Settings { stop: stop.clone(), ..settings.clone() };
        let (recording, begun) = (recording.to_path_buf(), Instant::now());
        std::thread::spawn(move || {
            let limit = || limit.min(most.saturating_sub(begun.elapsed()) / PART_TO_DECIDE.1 * PART_TO_DECIDE.0);
            sender.send(Box::new(attempts_of(&recording, seed, failed, &own, &limit)))
        });
        Analysis { done, stop }
    }

    /// Waits for its end until the deadline, or until the test stops.
    ///
    /// # Errors
    /// The recording gives no trace, or a file cannot be written. `Late` where it has not ended: it goes on, and may be waited for again.
    pub fn wait(&self, deadline: Option<Instant>, settings: &Settings) -> Result<Predicted, TestError> {
        const LOOK: Duration = Duration::from_millis(50);
        loop {
            match self.done.recv_timeout(LOOK) {
                Ok(predicted) => return *predicted,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(TestError::Analysis(
                        "internal error: the analysis of a recorded run has panicked".to_string(),
                    ));
                }
            }
            let is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline + LOOK);
            if is_late || settings.stop.load(Ordering::Relaxed) {
                return Err(TestError::Late);
            }
        }
    }
}

/// Schedules that a run shows that failed by itself, as far as they are tried.
pub(crate) const MOST_OBSERVED: usize = 8;
/// How much of the time that is left once a trace is there is for decisions; their schedules take time, too.
const PART_TO_DECIDE: (u32, u32) = (2, 3);
/// How long branches of a recording are asked about in any case; if all other analysis has taken longer, as long as that.
const LEAST_FOR_OTHER_WAYS: Duration = Duration::from_secs(1);

fn attempts_of(
    recording: &Path,
    seed: u64,
    failed: bool,
    settings: &Settings,
    limit: &dyn Fn() -> Duration,
) -> Result<Predicted, TestError> {
    let file = recording.join(TRACE);
    let format = foretrace_trace::Format::of_path(&file).unwrap_or(foretrace_trace::Format::JSONL);
    let write = |walked: &foretrace_walker::Walked| foretrace_trace::write(&file, &walked.trace, format);
    let (walked, written) = walk(recording, &settings.walk, write)?;
    written.map_err(|error| TestError::Io(file.clone(), error))?;
    let by = WalkedBy { inside: walked.statistics.inside.clone(), ..settings.walked_by.clone() };
    by.save(recording)?;
    keep_call_stacks(recording, &walked.trace)?;
    let sources = Sources::keep(recording, &settings.walk.programs).ok(); // without the source reports show places alone
    let mut trace = walked.trace;
    trace.make_printable();
    let size = size_of(&trace);
    let text = |place: &str| Some(sources.as_ref()?.line(place)?.trim().to_string());
    let checks = walked.statistics.checks;
    let branches = walked.statistics.branches.iter();
    let branches: Branches = branches.map(|(place, ways)| (place.clone(), (*ways, text(place)))).collect();
    let mut unseen = unseen_calls(&trace);
    if walked.statistics.external_writes > 0 {
        unseen.insert(WRITES.to_string());
    }
    let not_held = walked.statistics.not_held;
    let nothing = Predicted { size, branches, unseen, not_held, ..Predicted::default() };
    let Ok(observed) = observe(&trace) else { return Ok(nothing) };
    let limit = limit();
    let mut options = options(&trace, by, settings, limit);
    options.failed = failed;
    let transactions = options.atomic.transactions(&trace);
    if transactions.is_empty() {
        return Ok(nothing);
    }
    let name = file.display().to_string();
    let subject = Subject { file: &name, trace: &trace, transactions: &transactions, options: &options };
    let mut best = Best { subject, classes: IndexMap::default() };
    let begun = Instant::now();
    if settings.predict != Predict::CutPoints {
        let predicted = predict(&trace, &observed, &transactions, &options, &settings.stop, &mut best);
        predicted.map_err(|error| TestError::Analysis(format!("{error:#}")))?;
    }
    let points = match settings.predict {
        Predict::Precise => Vec::new(),
        _ if failed => Vec::new(), // what it shows itself is enough
        _ => {
            let start = Instant::now();
            let go_on = || start.elapsed() < limit && !settings.stop.load(Ordering::Relaxed);
            CutPoints::within(&trace, &options.atomic.blocks(&trace), &go_on).representatives().cloned().collect()
        }
    };
    let decided = std::mem::take(&mut best.classes);
    let mut writer = Writer::new(subject, (recording, sources.as_ref()), seed, failed)?;
    let mut predicted = nothing;
    let points = points.iter().take_while(|_| !settings.stop.load(Ordering::Relaxed));
    writer.write_points(points, &decided, &mut predicted)?;
    writer.write(decided, &mut predicted, &settings.stop)?;
    if settings.predict != Predict::CutPoints {
        predicted.attempts.extend(writer.uses(&observed, begun + limit, &settings.stop)?);
        predicted.attempts.extend(writer.blocks(&observed, begun + limit, &settings.stop)?);
    }
    if settings.predict != Predict::CutPoints && !failed {
        let deadline = (Instant::now() + LEAST_FOR_OTHER_WAYS.max(begun.elapsed())).min(begun + limit);
        let rank = |place: &str| rank_of(place, &checks, &predicted.branches);
        let (found, open) = writer.other_ways(&rank, &observed, 1, (deadline, &settings.stop))?;
        predicted.attempts.extend(found);
        predicted.open_checks = open.into_iter().filter(|place| is_check(place, &checks)).collect();
    }
    if !failed {
        predicted.attempts.extend(writer.same_code());
    }
    if settings.stop.load(Ordering::Relaxed) { Err(TestError::Late) } else { Ok(predicted) }
}

/// The rank of a place whose branches went one way only: first those whose other way never returns, which is that of a failed assertion.
fn rank_of(place: &str, checks: &BTreeMap<String, Ways>, branches: &Branches) -> Option<u32> {
    let is_branch = || branches.get(place).is_some_and(|(ways, _)| !ways.are_both());
    if is_check(place, checks) { Some(0) } else { is_branch().then_some(1) }
}

/// Whether the branch that never returns was not taken there.
fn is_check(place: &str, checks: &BTreeMap<String, Ways>) -> bool {
    checks.get(place).is_some_and(|ways| !ways.are_both())
}

/// What is asked of a recording's trace.
fn options(trace: &Trace, by: WalkedBy, settings: &Settings, limit: Duration) -> Options {
    let mut options = Options::new(trace.data);
    options.atomic = match settings.walk.atomic.resolved(trace) {
        Atomic::Auto if !trace.events.iter().any(|event| matches!(event.op, Op::Begin { .. })) => Atomic::Marked,
        atomic => atomic,
    };
    options.inside = Arc::new(by.inside);
    options.jobs = settings.jobs;
    options.off_path = true;
    options.wants_effect = true;
    options.budget = Some(limit);
    options.timeout = limit.min(options.timeout);
    options.blocks = Some(Arc::new(NamedBlocks::new(trace, options.atomic)));
    options
}

/// The trace of a recording that was predicted from, with what was asked of it.
pub struct Asked {
    /// The trace's file.
    pub file: String,
    /// The trace.
    pub trace: Trace,
    /// What its recorded order shows.
    pub observed: Observed,
    /// What was asked.
    pub options: Options,
}

impl Asked {
    /// Reads it; the solver may take so long for each question that is asked next.
    ///
    /// # Errors
    /// The folder has no trace.
    pub fn read(recording: &Path, settings: &Settings, limit: Duration) -> Result<Asked, TestError> {
        let path = recording.join(TRACE);
        let failed = |error: foretrace_trace::ReadError| TestError::Analysis(error.to_string());
        let (mut trace, observed) = foretrace_trace::read_observed(&path).map_err(failed)?;
        add_call_stacks(&mut trace, &path)?;
        trace.make_printable();
        let by = WalkedBy::read(recording).unwrap_or_else(|| settings.walked_by.clone());
        let options = options(&trace, by, settings, limit);
        Ok(Asked { file: path.display().to_string(), trace, observed, options })
    }
}

fn size_of(trace: &Trace) -> Size {
    let switches = trace.events.windows(2).filter(|pair| pair[0].thread != pair[1].thread).count();
    let (threads, variables, locks) = (trace.threads.len(), trace.vars.len(), trace.syncs.len());
    Size { threads, variables, locks, events: trace.events.len(), switches }
}

/// Keeps of each class the decision that is worth trying.
struct Best<'t> {
    subject: Subject<'t>,
    classes: IndexMap<Class, Box<Decision>, FxBuildHasher>,
}

impl Sink for Best<'_> {
    fn decision(&mut self, decision: &Decision) -> anyhow::Result<()> {
        let class = self.subject.class(decision.triple);
        let rank = |one: &Decision| {
            let kind = match &one.verdict {
                Verdict::Feasible(_) => 0,
                Verdict::Unknown(_) => 2,
                Verdict::Infeasible if one.off_path.as_ref().is_some_and(|off_path| off_path.run().is_some()) => 1,
                Verdict::Infeasible if one.off_path.is_some() => 2,
                Verdict::Infeasible => 3,
            };
            (kind, self.subject.off_path_rank(one))
        };
        if self.classes.get(&class).is_none_or(|known| rank(decision) < rank(known)) {
            self.classes.insert(class, Box::new(decision.clone()));
        }
        Ok(())
    }
}

/// Whether neither a schedule nor a proof was found.
fn is_undecided(decision: &Decision) -> bool {
    match (&decision.verdict, &decision.off_path) {
        (Verdict::Unknown(_), _) => true,
        (Verdict::Infeasible, Some(off_path)) => off_path.run().is_none(),
        _ => false,
    }
}

/// The trace's file in a recording's folder.
const TRACE: &str = "trace.jsonl.zst";

/// The folder for the schedules of a recording, whose trace is this file.
fn schedules_of(recording: &Path, trace: &str) -> Result<WitnessDir, TestError> {
    let mut folder = WitnessDir::create(&recording.join("schedules"))?;
    if let Some(places) = SourcePlaces::of_trace(Path::new(trace)) {
        folder.name_places(Box::new(places));
    }
    Ok(folder)
}

/// Writes the schedules of decisions, each to a file.
struct Writer<'t> {
    subject: Subject<'t>,
    folder: WitnessDir,
    recording: PathBuf,
    seed: u64,
    /// Whether the recorded run failed: then what it shows itself is worth a try.
    failed: bool,
    /// The source, as far as it is there.
    sources: Option<&'t Sources>,
    /// All blocks, by which functions are named.
    blocks: Blocks,
    /// Where the code takes care of other threads.
    guards: Guards,
    /// Classes with a cut-point to go to, and the cut-point's accesses.
    pointed: FxHashSet<Class>,
    points: Vec<Triple>,
}

impl<'t> Writer<'t> {
    fn new(
        subject: Subject<'t>,
        (recording, sources): (&Path, Option<&'t Sources>),
        seed: u64,
        failed: bool,
    ) -> Result<Writer<'t>, TestError> {
        Ok(Writer {
            subject,
            folder: schedules_of(recording, subject.file)?,
            recording: recording.to_path_buf(),
            seed,
            failed,
            sources,
            blocks: subject.options.atomic.blocks(subject.trace),
            guards: Guards::of(subject.trace),
            pointed: FxHashSet::default(),
            points: Vec::new(),
        })
    }

    /// Makes an attempt for a cut-point of each class that the solver did not come to or did not decide. Its schedule is made when its turn
    /// comes.
    fn write_points<'p>(
        &mut self,
        points: impl IntoIterator<Item = &'p CutPoint>,
        decided: &IndexMap<Class, Box<Decision>, FxBuildHasher>,
        predicted: &mut Predicted,
    ) -> Result<(), TestError> {
        for point in points {
            let class = self.subject.class(point.triple);
            let known = decided.get(&class);
            if self.pointed.contains(&class) || known.is_some_and(|decision| !is_undecided(decision)) {
                continue;
            }
            if known.is_none() && point.is_observed() {
                predicted.already += 1;
                predicted.shown.push(self.class_name(point.triple));
                continue;
            }
            let kind = if known.is_some() { Kind::Undecided } else { Kind::CutPoint };
            let unknown = Verdict::Unknown(Limit::Budget);
            let decision = Decision::without_witness(self.subject.trace, point.triple, unknown, Decider::CutPoints);
            let attempt = self.attempt(kind, &decision, PathBuf::new());
            let to_make = Some(Box::new(ToMake::ToCutPoint(point.clone())));
            predicted.attempts.push(Attempt { to_make, ..attempt });
            self.pointed.insert(class);
            self.points.push(point.triple);
        }
        Ok(())
    }

    fn write(
        &mut self,
        decided: IndexMap<Class, Box<Decision>, FxBuildHasher>,
        predicted: &mut Predicted,
        stop: &AtomicBool,
    ) -> Result<(), TestError> {
        let undecided = self.points.iter().filter(|triple| !decided.contains_key(&self.subject.class(**triple)));
        let triples = decided.values().map(|decision| decision.triple).chain(undecided.copied());
        let classes: Vec<(Triple, String)> = triples.map(|triple| (triple, self.class_name(triple))).collect();
        let decided: Vec<Decision> = decided.into_values().map(|decision| *decision).collect();
        let decided = if self.failed { self.likeliest(decided) } else { decided };
        for decision in decided.into_iter().take_while(|_| !stop.load(Ordering::Relaxed)) {
            let observed = self.is_observed(&decision);
            if observed && !self.failed {
                predicted.already += 1;
                predicted.shown.push(self.class_name(decision.triple));
                continue;
            }
            let kind = match (&decision.verdict, &decision.off_path) {
                (Verdict::Feasible(_), _) if observed => Kind::Observed,
                (Verdict::Feasible(_), _) => Kind::Proved,
                (Verdict::Infeasible, Some(OffPath::AfterRemote(_))) => Kind::AfterRemote,
                (Verdict::Infeasible, Some(OffPath::BeforeRemote(_) | OffPath::Unasked(Some(_)))) => Kind::BeforeRemote,
                (Verdict::Infeasible, None) => {
                    predicted.impossible += 1;
                    continue;
                }
                _ => Kind::Undecided,
            };
            let file = match kind {
                Kind::Undecided if self.pointed.contains(&self.subject.class(decision.triple)) => continue,
                Kind::Undecided => Some(self.folder.save_untried(self.subject, &decision, &[])?),
                _ => self.folder.save(self.subject, &decision)?,
            };
            if let Some(file) = file {
                let mut attempt = self.attempt(kind, &decision, file);
                if let Verdict::Feasible(witness) = &decision.verdict {
                    attempt.also = shown_by(witness.schedule(), &classes);
                    attempt.also.retain(|class| *class != attempt.class);
                }
                predicted.attempts.push(attempt);
            }
        }
        Ok(())
    }

    /// What a run shows itself, as far as it is tried: a file of each takes time, since a schedule is as long as the trace.
    fn likeliest(&mut self, mut shown: Vec<Decision>) -> Vec<Decision> {
        shown.retain(|decision| self.is_observed(decision));
        shown.sort_by_cached_key(|decision| self.attempt(Kind::Observed, decision, PathBuf::new()).rank);
        shown.truncate(MOST_OBSERVED);
        shown
    }

    /// Whether the run shows it itself.
    fn is_observed(&self, decision: &Decision) -> bool {
        matches!(&decision.verdict, Verdict::Feasible(witness) if self.subject.is_observed(decision.triple, witness))
    }

    /// The name of a triple's class, which is the same in all runs.
    fn class_name(&self, triple: Triple) -> String {
        let trace = self.subject.trace;
        let block = self.subject.options.blocks.as_deref().and_then(|blocks| blocks.block_of(trace, triple));
        let label = block.and_then(|(name, _)| name.label).map_or("", |label| trace.names.text(label));
        let loc = |event| trace.loc(event).unwrap_or("?");
        format!("{} {} {} {label}", loc(triple.first), loc(triple.remote), loc(triple.second))
    }

    fn attempt(&mut self, kind: Kind, decision: &Decision, file: PathBuf) -> Attempt {
        let (trace, triple) = (self.subject.trace, decision.triple);
        let Triple { first, remote, second } = triple;
        let places = self.folder.places(trace, triple);
        let places = places.as_ref();
        let place = |event: EventId, place: Option<&SavedPlace>| self.access(event, place);
        let mut accesses = [
            place(first, places.map(|places| &places.first)),
            place(remote, places.map(|places| &places.remote)),
            place(second, places.map(|places| &places.second)),
        ];
        // A function of which several calls make the accesses, such as a wrapper of an atomic operation, is not what is interrupted.
        let interrupted = around_both(trace, &self.blocks, first, second);
        let [at_first, at_remote, at_second] = accesses.each_ref().map(|access| &*access.function);
        let several_calls = [at_remote, at_second].contains(&at_first) && !["", at_first].contains(&&*interrupted);
        if several_calls && (at_first == at_second || interrupted != at_second) {
            if at_first == at_remote {
                accesses[1].function = around(trace, &self.blocks, remote);
            }
            accesses[0].function = interrupted;
        }
        let block = self.subject.options.blocks.as_deref().and_then(|blocks| blocks.block_of(trace, triple));
        let is_thread = block.is_some_and(|(name, _)| name.kind == foretrace_trace::BlockKind::Thread);
        let is_guarded = self.guards.guard(trace, triple);
        let is_whole_thread = is_thread && (is_guarded || !self.subject.counts(triple));
        let height = block.map_or(0, |(_, height)| height);
        let variable = variable_of(trace, first);
        let inside = |event| trace.loc(event).is_some_and(|loc| self.subject.options.inside.contains_key(loc));
        let in_library = accesses.iter().any(|access| access.is_of_library) || inside(first) || inside(second);
        Attempt {
            kind,
            class: self.class_name(triple),
            variable: variable.to_string(),
            pattern: decision.pattern,
            accesses,
            also: Vec::new(),
            to_make: None,
            cycle: None,
            witness: file,
            recording: self.recording.clone(),
            seed: self.seed,
            rank: Rank { is_whole_thread, in_library, is_guarded, height, distance: triple.distance() },
        }
    }

    /// An access as people read it. `place` is what the recording's logs say of it.
    fn access(&self, event: EventId, place: Option<&SavedPlace>) -> Access {
        let trace = self.subject.trace;
        let loc = trace.loc(event).or(place.map(|place| &*place.loc)).unwrap_or("?");
        let (line, shown) = told(trace, event, loc);
        let known = place.filter(|place| place.loc == loc);
        let text = || Some(self.sources?.line(&shown)?.trim().to_string());
        Access {
            thread: thread_name(trace, trace.event(event).thread),
            function: known.map_or_else(|| around(trace, &self.blocks, event), |place| place.function.clone()),
            place: line,
            text: known.and_then(|place| place.text.clone()).or_else(text),
            is_of_library: is_of_library(loc),
        }
    }
}

/// The classes whose accesses a schedule has in the order of a violation. Conflicting accesses in that order are all that a triple is.
fn shown_by(schedule: &[EventId], classes: &[(Triple, String)]) -> Vec<String> {
    let places: FxHashMap<EventId, usize> = schedule.iter().enumerate().map(|(place, event)| (*event, place)).collect();
    let is_shown = |triple: &Triple| {
        let [first, remote, second] = [triple.first, triple.remote, triple.second].map(|event| places.get(&event));
        first.is_some() && first < remote && remote < second
    };
    classes.iter().filter(|(triple, _)| is_shown(triple)).map(|(_, class)| class.clone()).collect()
}

/// Reads a witness that foretrace has written.
///
/// # Errors
/// The file cannot be read, or is none.
pub fn read_witness(path: &Path) -> Result<SavedWitness, TestError> {
    let text = std::fs::read(path).map_err(|error| TestError::Io(path.to_path_buf(), error))?;
    match SavedSchedule::read(&*text).map_err(|error| TestError::Schedule(path.to_path_buf(), error))? {
        SavedSchedule::Witness(witness) => Ok(witness),
        SavedSchedule::Plain(_) => {
            let error = std::io::Error::other("found a plain schedule, expected a witness");
            Err(TestError::Io(path.to_path_buf(), error))
        }
    }
}

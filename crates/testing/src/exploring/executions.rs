//! Runs the program along schedules, and keeps the executions that are needed again.

use super::execution::{Execution, Order, Taken, Threads};
use super::objects::Objects;
use super::schedule::{Forced, Onward, Then, schedule};
use super::spin::Loop;
use crate::baseline::Baseline;
use crate::judge::{Cause, Effect, judge};
use crate::runner::{Ran, Runner, is_stopped};
use crate::settings::{Settings, TestError};
use crate::unseen::{NOT_MODELLED, hide_orders, unseen_calls};
use foretrace_harness::{Ending, notes};
use foretrace_runtime::record::object;
use foretrace_runtime::record::{AFTER_WRITERS, Kind, Site, TEAMS, TRIED_JOINS, WOKEN_SPURIOUSLY};
use foretrace_walker::log::Log;
use foretrace_walker::program::{Program, Writer};
use foretrace_walker::walk;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Threads of a program that can be explored.
pub const MOST_THREADS: usize = 64;
/// Executions that are kept besides the last one.
const KEPT: usize = 32;

/// The executions of a program.
pub struct Executions<'s> {
    runner: Runner<'s>,
    settings: &'s Settings,
    /// What passing runs write.
    baseline: &'s Baseline,
    work: PathBuf,
    onward: Onward,
    /// Runs that may be made.
    most_runs: u64,
    /// The recording of the first run, whose clocks and random numbers all others get.
    first: Option<Rc<Execution>>,
    recent: VecDeque<Rc<Execution>>,
    /// The program, once it is asked for; nothing inside where it cannot be read.
    program: Option<Option<Program>>,
    /// Of each of its units, by number, whether it is the program's own.
    own: FxHashMap<u32, bool>,
    /// Whether it is asked for who wrote its functions, and who did, by the sites of their entries.
    asks_for_writers: bool,
    writers: FxHashMap<u64, Option<Writer>>,
    /// Its threads.
    pub threads: Threads,
    /// Its objects.
    pub objects: Objects,
    /// Places of compare-and-swaps.
    pub swaps: FxHashSet<u64>,
    /// Loops, by the places of their accesses.
    pub loops: FxHashMap<u64, Loop>,
    /// Of calls on channels where nothing is in them, whether they wait: the thread, what it did before, and the order of such calls so far.
    pub waits_for_message: FxHashMap<(usize, u64, Order), bool>,
    /// How often the program ran.
    pub runs: u64,
    /// How long all runs took together.
    pub running: Duration,
    /// How many runs did not follow their schedule.
    pub left: u64,
    /// Why not all can have been explored.
    pub doubts: BTreeSet<String>,
    /// The first runs that failed in some way, until they are taken away: perhaps no interleaving is followed to their ends.
    pub failing: Vec<Rc<Execution>>,
    /// How these failed.
    failures: FxHashSet<(Cause, String)>,
    /// Whether a limit was reached.
    pub is_over: bool,
    /// Why it cannot go on.
    pub error: Option<TestError>,
}

impl<'s> Executions<'s> {
    /// Of a program, in a folder for its runs. Each run has at most so many events, and there are at most so many runs.
    pub fn new(
        (settings, baseline): (&'s Settings, &'s Baseline),
        work: &Path,
        onward: Onward,
        most_runs: u64,
    ) -> Executions<'s> {
        Executions {
            runner: Runner::new(settings),
            settings,
            baseline,
            work: work.to_path_buf(),
            onward,
            most_runs,
            first: None,
            recent: VecDeque::new(),
            program: None,
            own: FxHashMap::default(),
            asks_for_writers: false,
            writers: FxHashMap::default(),
            threads: Threads::default(),
            objects: Objects::default(),
            swaps: FxHashSet::default(),
            loops: FxHashMap::default(),
            waits_for_message: FxHashMap::default(),
            runs: 0,
            running: Duration::ZERO,
            left: 0,
            doubts: BTreeSet::new(),
            failing: Vec::new(),
            failures: FxHashSet::default(),
            is_over: false,
            error: None,
        }
    }

    /// From now on executions say which steps are near code of the program's writer. It takes a while to read the program.
    pub fn ask_for_writers(&mut self) {
        self.asks_for_writers = true;
    }

    /// Whether nothing is run any more.
    pub fn is_at_end(&self) -> bool {
        self.is_over || self.error.is_some() || self.settings.stop.load(Ordering::Relaxed)
    }

    /// Something that keeps the exploration from being complete.
    pub fn doubt(&mut self, why: &str) {
        if !self.doubts.contains(why) {
            self.doubts.insert(why.to_string());
        }
    }

    /// Adds a doubt where the first run calls code that foretrace did not build: that is in its trace, and not in its log.
    pub fn doubt_code_not_built(&mut self) {
        let folder = self.first.as_ref().map(|first| first.place.join("recording"));
        let walked = folder.and_then(|folder| walk(&folder, &self.settings.walk, |_| ()).ok());
        if walked.is_some_and(|(walked, ())| hide_orders(&unseen_calls(&walked.trace))) {
            self.doubt(NOT_MODELLED);
        }
    }

    /// Whether a place is in code that the compiler made of the program's own. All are where that is not known.
    pub fn is_own(&mut self, place: u64) -> bool {
        let (program, first) = (&mut self.program, &self.first);
        let open = || first.as_ref().and_then(|first| Program::open(&first.place.join("recording")).ok());
        let Some(program) = program.get_or_insert_with(open) else { return true };
        let site = Site(place);
        *self.own.entry(site.unit()).or_insert_with(|| program.is_in_own_unit(site))
    }

    /// An execution that begins with so many steps in this order, of those that are kept.
    pub fn known(&self, steps: usize, order: Order) -> Option<Rc<Execution>> {
        self.recent.iter().rev().find(|run| run.order(steps) == Some(order)).cloned()
    }

    /// Runs the program along these steps, and what follows them. Nothing where the run did not begin with the steps, or could not be made.
    pub fn along(&mut self, steps: &[Taken], next: Option<Then>) -> Option<Rc<Execution>> {
        let run = self.run(steps, next, self.onward)?;
        self.first.get_or_insert_with(|| run.clone());
        if self.recent.len() == KEPT {
            self.recent.pop_front();
        }
        self.recent.push_back(run.clone());
        Some(run)
    }

    /// The same, where the thread then goes on by itself for as long as it can, up to the most events that a run may have.
    pub fn alone(&mut self, steps: &[Taken], thread: usize) -> Option<Rc<Execution>> {
        let onward = Onward { turn: self.onward.all, ..self.onward };
        self.run(steps, Some(Then::Step(Forced { thread, wakes: None })), onward)
    }

    fn run(&mut self, steps: &[Taken], next: Option<Then>, onward: Onward) -> Option<Rc<Execution>> {
        if self.is_at_end() {
            return None;
        }
        if self.runs >= self.most_runs {
            self.is_over = true;
            return None;
        }
        self.runs += 1;
        let place = self.work.join(format!("run-{}", self.runs));
        let text = schedule(steps, next, onward, &self.threads);
        // The first run gets a recording with nothing in it: as many variables of the environment, so that the stack begins where it
        // does in all others.
        let nothing = || self.work.join("nothing");
        let recording = self.first.as_ref().map_or_else(nothing, |first| first.place.join("recording"));
        let (ran, logs) = match self.runner.along(&text, &place, Some(&recording)) {
            Ok(ran) => ran,
            Err(error) => {
                let _ = std::fs::remove_dir_all(&place); // the folder around it goes at the end
                if !is_stopped(&error) {
                    self.error = Some(error);
                }
                return None;
            }
        };
        self.running += ran.took;
        if ran.released && ran.seen.ending != Ending::Hang {
            self.doubt("a run took long under control, and was let go");
            let _ = std::fs::remove_dir_all(&place); // the folder around it goes at the end
            self.left += 1;
            return None;
        }
        let run = match self.read(&ran, &logs, &place) {
            Ok(run) => Rc::new(run),
            Err(error) => {
                self.error = Some(error);
                return None;
            }
        };
        let ends_by_itself = !run.is_cut && run.ending != Ending::Hang;
        if let Some(failure) = run.failure.as_ref().filter(|_| ends_by_itself)
            && self.failures.insert(failure.signature())
        {
            self.failing.push(run.clone());
        }
        if !run.begins_with(steps) {
            self.left += 1;
            return None;
        }
        Some(run)
    }

    fn read(&mut self, ran: &Ran, logs: &[Log], place: &Path) -> Result<Execution, TestError> {
        if self.asks_for_writers {
            self.program.get_or_insert_with(|| Program::open(ran.folder.path()).ok());
        }
        let (program, writers) = (self.program.as_ref().and_then(Option::as_ref), &mut self.writers);
        let mut writer = |place: u64| match program.filter(|_| self.asks_for_writers) {
            Some(program) => *writers.entry(place).or_insert_with(|| program.writer(Site(place))),
            None => Some(Writer::Program),
        };
        let known = (&mut self.threads, &mut self.objects);
        let mut run = Execution::read((&ran.folder, logs), ran.seen.ending, place, known, &mut writer);
        run.failure = match judge(&ran.seen, self.baseline, self.settings) {
            Effect::Failed(failure) if !failure.is_output() || self.baseline.is_steady() => Some(failure),
            _ => None,
        };
        run.seen = run.failure.as_ref().map(|_| ran.seen.clone());
        if self.threads.len() > MOST_THREADS {
            self.doubt(&format!("there are more than {MOST_THREADS} threads"));
            self.is_over = true;
        }
        let is_first = self.first.is_none();
        if let Some(note) = notes(ran.folder.path()).into_iter().next().filter(|_| !is_first) {
            self.doubt(&format!("the program asked for something from outside that the first run did not: {note}"));
        }
        if run.has_aliases {
            self.doubt("memory has two addresses");
        }
        if ran.folder.path().join(FORKED).is_file() {
            self.doubt("the program forked processes, which run unrecorded");
        }
        for why in unseen(&run.steps) {
            self.doubt(why);
        }
        if reads_again(&run.steps) {
            self.doubt("a thread reads under a lock again, and a writer who waits may keep it out");
        }
        for step in &run.steps {
            if let Some(why) = uncontrolled(step) {
                self.doubt(why);
            }
            if step.kind.size() > 0 {
                self.objects.see(step.thread, step.words[0], step.kind.size() as u64);
            } else if is_synchronisation(step) {
                self.objects.see_synchronisation(step.thread, step.words[0]);
            }
            if matches!(step.kind, Kind::Failed1 | Kind::Failed2 | Kind::Failed4 | Kind::Failed8) {
                self.swaps.insert(step.place);
            }
        }
        Ok(run)
    }
}

/// Why orders of a program are left out that signals interrupt.
const SIGNALS: &str = "signals arrive, and not at every place where they can";

/// The file in a recording's folder that says that the program forked a process.
const FORKED: &str = "forked";

/// Why orders are left out where calls are unseen: those that concern anything, or what several threads call.
fn unseen(steps: &[Taken]) -> impl Iterator<Item = &'static str> {
    let mut callers: Vec<(u64, usize)> = Vec::new();
    steps.iter().filter(|step| step.kind == Kind::Unseen).filter_map(move |step| {
        let caller = (step.words[1], step.thread);
        let orders = |(other, thread): &(u64, usize)| *thread != step.thread && object::order(caller.0, *other);
        let is_shared = caller.0 == 0 || callers.iter().any(orders);
        if !callers.contains(&caller) {
            callers.push(caller);
        }
        is_shared.then_some(NOT_MODELLED)
    })
}

fn is_synchronisation(step: &Taken) -> bool {
    (Kind::Acquire..=Kind::BarrierInit).contains(&step.kind)
}

/// Why orders of a program that takes this step are left out.
fn uncontrolled(step: &Taken) -> Option<&'static str> {
    match step.kind {
        _ if is_synchronisation(step) && (TEAMS..TRIED_JOINS).contains(&step.words[0]) => {
            Some("OpenMP deals out work by who comes first")
        }
        Kind::HandlerBegin => Some(SIGNALS),
        Kind::Unseen if step.words[1] & object::INTERRUPTS != 0 => Some(SIGNALS), // a run may end before a timer's signal
        Kind::Context => Some("contexts are switched"),
        Kind::Wake if step.words[1] == WOKEN_SPURIOUSLY => {
            Some("a wait ended for no reason, which it may do elsewhere, too")
        }
        Kind::Wake if step.is_late() => {
            Some("the limit of a wait may be over before another thread takes its mutex, and signals in vain")
        }
        _ => None,
    }
}

/// Whether a thread takes a lock for reading that it has already, and that readers leave to a writer who waits. No step says that a writer
/// waits.
fn reads_again(steps: &[Taken]) -> bool {
    let (mut held, mut again, mut written) = (Vec::new(), Vec::new(), Vec::new());
    for step in steps {
        let taken = (step.thread, step.words[0]);
        match step.kind {
            Kind::ReadLock if step.words[1] & AFTER_WRITERS == 0 => {}
            Kind::ReadLock if held.contains(&taken) => again.push(taken),
            Kind::ReadLock => held.push(taken),
            Kind::ReadUnlock => held.retain(|lock| *lock != taken),
            Kind::WriteLock => written.push(taken),
            _ => {}
        }
    }
    again.iter().any(|(reader, lock)| written.iter().any(|(writer, written)| reader != writer && lock == written))
}

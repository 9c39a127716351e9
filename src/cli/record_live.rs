//! `foretrace record --live`: says what can happen in the run so far, while the program still runs.
//!
//! Now and then the logs are copied as they are, walked, and predicted from, with a time limit. The pauses between grow with the time that this takes, so that
//! the program keeps most of the machine.

use super::atomic::in_recording;
use super::on_signal::{Asking, Askings, OnSignal};
use super::outcome::say;
use anyhow::Context;
use foretrace::blocks::NamedBlocks;
use foretrace::options::Options;
use foretrace::predict::{Sink, predict};
use foretrace::report::{Names, Subject};
use foretrace::serializability::{AskedBlocks, Bounds, FoundBeyond, Method, beyond_triples};
use foretrace::verdict::{Decision, Verdict};
use foretrace_serializability::{Choices, Decision as BlockDecision};
use foretrace_trace::{Atomic, EventId, Trace, Triple, observe};
use foretrace_walker::{Options as WalkOptions, Snapshots, walk};
use nix::sys::signal::SigSet;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long the program runs before the first look at it, and at least between two looks.
const PAUSE: Duration = Duration::from_secs(1);
/// A pause lasts so many times as long as the look before it.
const PAUSES: u32 = 2;
/// Time limit of the prediction of one look.
const LOOK: Duration = Duration::from_secs(10);
/// Time limit of one question to the solver.
const QUERY: Duration = Duration::from_secs(2);
/// How often the end of the program is looked for.
const NAP: Duration = Duration::from_millis(20);

/// Looks at a recording that is under way.
pub struct Live {
    ended: Arc<AtomicBool>,
    looks: JoinHandle<Looks>,
}

/// What was said so far.
struct Looks {
    recording: PathBuf,
    options: WalkOptions,
    snapshots: Snapshots,
    /// The last copy had so many ordered records.
    records: u64,
    /// How many looks there were.
    count: u64,
    said: BTreeSet<String>,
    errors: BTreeSet<String>,
    stop: Arc<AtomicBool>,
}

impl Live {
    /// Begins to look at a recording, whose program is about to run.
    ///
    /// # Errors
    /// No thread can be made.
    pub fn begin(recording: &Path, options: WalkOptions) -> anyhow::Result<Live> {
        let ended = Arc::new(AtomicBool::new(false));
        let mut looks = Looks {
            recording: recording.to_path_buf(),
            options,
            snapshots: Snapshots::of_recording(recording),
            records: 0,
            count: 0,
            said: BTreeSet::new(),
            errors: BTreeSet::new(),
            stop: ended.clone(),
        };
        let looks = std::thread::Builder::new().name("live".into()).spawn(move || {
            let _ = SigSet::all().thread_block(); // signals are for the thread that waits for the program
            looks.go_on();
            looks
        })?;
        Ok(Live { ended, looks })
    }

    /// The program has ended, and its logs are whole. Looks once more, at all of them.
    ///
    /// # Errors
    /// The thread that looked has failed.
    pub fn end(self) -> anyhow::Result<()> {
        self.ended.store(true, Ordering::SeqCst);
        let mut looks =
            self.looks.join().map_err(|_| anyhow::anyhow!("internal error: the live reports ended early"))?;
        looks.stop = Arc::new(AtomicBool::new(false));
        let _stopped = stop_on_signal(looks.stop.clone())?; // before, signals were for the program
        let recording = looks.recording.clone();
        if let Err(error) = looks.look(&recording) {
            looks.say_error(&error);
        }
        let found = looks.said.len();
        say(format_args!(
            "foretrace: live: {found} different violations can happen; {} looks; `foretrace predict {}` shows their schedules",
            looks.count,
            recording.display()
        ));
        Ok(())
    }
}

/// The first signal sets a flag; the second ends the process.
fn stop_on_signal(flag: Arc<AtomicBool>) -> anyhow::Result<OnSignal> {
    let mut askings = Askings::default();
    OnSignal::call(move |signal| match askings.take() {
        Asking::Stop => {
            flag.store(true, Ordering::SeqCst);
            say("\nforetrace: live: stopping: what was found so far follows");
        }
        Asking::Same => {}
        Asking::End => std::process::exit(128 + signal),
    })
}

impl Looks {
    /// Looks again and again, until the program ends.
    fn go_on(&mut self) {
        let mut pause = PAUSE;
        while self.rest(pause) {
            let begun = Instant::now();
            match self.copy() {
                Ok(Some(copy)) => {
                    if let Err(error) = self.look(copy.path()) {
                        self.say_error(&error);
                    }
                }
                Ok(None) => {}
                Err(error) => self.say_error(&error),
            }
            pause = PAUSE.max(begun.elapsed() * PAUSES);
        }
    }

    /// Waits; whether the program still runs then.
    fn rest(&self, pause: Duration) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < pause {
            if self.stop.load(Ordering::SeqCst) {
                return false;
            }
            std::thread::sleep(NAP);
        }
        !self.stop.load(Ordering::SeqCst)
    }

    /// A copy of what was recorded so far, if that is more than before.
    fn copy(&mut self) -> anyhow::Result<Option<tempfile::TempDir>> {
        let folder = tempfile::Builder::new().prefix("live-").tempdir_in(&self.recording)?;
        let records = self.snapshots.take(folder.path())?;
        let is_more = records > self.records;
        self.records = records;
        Ok(is_more.then_some(folder))
    }

    /// Predicts from a recording, and says what was not said before.
    fn look(&mut self, recording: &Path) -> anyhow::Result<()> {
        self.count += 1;
        let (walked, ()) = walk(recording, &self.options, |_| ()).context("the run so far gives no trace")?;
        let inside = walked.statistics.inside;
        let mut trace = walked.trace;
        trace.make_printable();
        let observed = observe(&trace)?;
        let atomic = in_recording(self.options.atomic, &trace);
        let transactions = atomic.transactions(&trace);
        let mut options = Options::new(trace.data);
        options.atomic = atomic;
        options.blocks = Some(Arc::new(NamedBlocks::new(&trace, atomic)));
        options.inside = Arc::new(inside);
        (options.timeout, options.budget) = (QUERY, Some(LOOK));
        let subject = Subject { file: "", trace: &trace, transactions: &transactions, options: &options };
        let stop = self.stop.clone();
        predict(&trace, &observed, &transactions, &options, &stop, &mut Teller { subject, said: &mut self.said })?;
        let deadline = Instant::now().checked_add(LOOK);
        let bounds = Bounds { of_block: Some(QUERY), deadline, work: None, stop: &stop };
        let blocks = atomic.blocks(&trace);
        let asked = AskedBlocks {
            trace: &trace,
            observed: &observed,
            blocks: &blocks,
            wanted: &|_| true,
            choices: Choices::new(options.question.model),
            method: Method::Both,
            observed_only: false,
        };
        beyond_triples(&asked, atomic != Atomic::Auto, &bounds, &mut |found| {
            if let FoundBeyond::Violated(judgement, _) = &found
                && !judgement.is_dropped
                && let BlockDecision::Violated(violation) = &judgement.decision
            {
                tell_path(&trace, &violation.claim().events, &mut self.said);
            }
            Ok(())
        })?;
        Ok(())
    }

    /// The recording goes on, and so do the looks.
    fn say_error(&mut self, error: &anyhow::Error) {
        let line = format!("{error:#}");
        if self.errors.insert(line.clone()) {
            say(format_args!("foretrace: live: {line}"));
        }
    }
}

/// Says what can happen as soon as it is decided.
struct Teller<'t> {
    subject: Subject<'t>,
    said: &'t mut BTreeSet<String>,
}

impl Sink for Teller<'_> {
    fn decision(&mut self, decision: &Decision) -> anyhow::Result<()> {
        let Verdict::Feasible(_) = &decision.verdict else { return Ok(()) };
        let Triple { first, remote, second } = decision.triple;
        if !self.subject.counts(decision.triple) {
            return Ok(());
        }
        let trace = self.subject.trace;
        let names = Names::new(trace);
        let line = format!("{} ({}): {}", names.var_of(first), decision.pattern, names.places([first, remote, second]));
        tell(trace, line, self.said);
        Ok(())
    }
}

/// Says which accesses make a block not serialisable, in the order of the path.
fn tell_path(trace: &Trace, path: &[EventId], said: &mut BTreeSet<String>) {
    let names = Names::new(trace);
    let steps = path.iter().map(|event| format!("{} {}", names.var_of(*event), names.place_only(*event)));
    tell(trace, format!("a block, by {}", steps.collect::<Vec<_>>().join(", ")), said);
}

fn tell(trace: &Trace, line: String, said: &mut BTreeSet<String>) {
    if said.insert(line.clone()) {
        say(format_args!("foretrace: live: can happen, by the first {} events: {line}", trace.events.len()));
    }
}

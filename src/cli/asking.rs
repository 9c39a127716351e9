//! Options that several commands share, and whether they fit each other and the trace.

use super::atomic::{Asked, AtomicArgs};
use super::choices::{Choice, one_of, seconds};
use super::on_signal::{Asking, Askings};
use super::outcome::{Outcome, say};
use anyhow::{Context, bail};
use foretrace::options::{CandidateSet, Options, Per};
use foretrace::verdict::Decider;
use foretrace_trace::{Feasibility, Independence, Model, Question, Trace};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What is asked of candidates.
#[derive(clap::Args)]
pub struct QuestionArgs {
    /// What a read returns in another schedule [default: the strongest that the trace's data allows]
    #[arg(long, value_parser = one_of(MODELS))]
    model: Option<Model>,

    /// Whether the run may end with the violation
    #[arg(long, default_value = "prefix", value_parser = one_of(FEASIBILITIES))]
    feasibility: Feasibility,

    /// When the order of two accesses makes no difference
    #[arg(long, default_value = "conflict", value_parser = one_of(INDEPENDENCES))]
    independence: Independence,

    #[command(flatten)]
    bound: SwitchBound,

    #[command(flatten)]
    atomic: AtomicArgs,
}

impl QuestionArgs {
    /// Reads the trace, or that of a recording with what is asked for.
    /// As long as the command may go on; `None` where it may not.
    pub fn read_within(&self, path: &Path, go_on: &dyn Fn() -> bool) -> anyhow::Result<Option<Asked>> {
        self.atomic.read_within(path, go_on)
    }

    /// Fails where a trace has no block at all.
    pub fn some_block(&self, asked: &Asked, path: &Path) -> anyhow::Result<()> {
        self.atomic.some_block(asked, path)
    }

    /// Fails where no block can be broken.
    pub fn something_to_judge(&self, asked: &Asked, path: &Path) -> anyhow::Result<()> {
        self.atomic.something_to_judge(asked, path)
    }

    /// Options that ask this, where the trace allows it.
    pub fn options(&self, asked: &Asked) -> anyhow::Result<Options> {
        let trace = &asked.trace;
        let mut options = Options::new(trace.data);
        let model = self.model.unwrap_or(options.question.model);
        options.question = Question { model, feasibility: self.feasibility, independence: self.independence };
        options.context_switches = self.bound.context_switches;
        options.atomic = asked.atomic;
        options.failed = asked.failed;
        options.inside = Arc::new(asked.inside.clone());
        must_fit(options.question, trace)?;
        Ok(options)
    }
}

/// A bound on context switches.
#[derive(clap::Args)]
pub struct SwitchBound {
    /// Look only for violations with at most K context switches between their first and last access. All count, also where a thread
    /// cannot go on; a violation takes at least two. If none is found, the verdict is `unknown`, not impossible
    #[arg(long, value_name = "K")]
    pub context_switches: Option<u32>,
}

/// How long the solver may take.
#[derive(clap::Args)]
pub struct TimeLimits {
    /// Time limit of one solver query
    #[arg(long, alias = "timeout", value_name = "SECS", default_value = "30", value_parser = seconds)]
    pub query_timeout: Duration,

    /// Time limit of the whole run, from its start: the report has what was decided by then, and the exit code is 3
    #[arg(long, alias = "budget", value_name = "SECS", value_parser = seconds)]
    pub time_limit: Option<Duration>,
}

impl TimeLimits {
    /// Puts the limits into options; of the whole run what is left of it now.
    pub fn apply(&self, options: &mut Options) {
        options.timeout = self.query_timeout;
        options.budget = self.time_limit.map(|limit| limit.saturating_sub(super::outcome::since_start()));
    }
}

/// How long a command that asks no solver may take.
#[derive(clap::Args)]
pub struct TimeLimit {
    /// Time limit of the command, from its start; if it is reached, the exit code is 3
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    pub time_limit: Option<Duration>,
}

/// How long reading may go on beyond the time limit: of a trace that was read there is a report, if only of what is undecided.
const TO_READ_ON: Duration = Duration::from_secs(1);

/// Whether a command may go on to read its trace.
pub fn may_read_on(time_limit: Option<Duration>, stop: &AtomicBool) -> bool {
    !stop.load(Ordering::Relaxed) && time_limit.is_none_or(|limit| super::outcome::since_start() < limit + TO_READ_ON)
}

/// The outcome of a command that came to its limit before there was anything to report.
pub fn ended_early(doing: &str) -> Outcome {
    say(format_args!("note: the limit was reached while {doing}: nothing was decided"));
    Outcome::Undecided
}

/// The values of `--model`.
pub const MODELS: &[Choice<Model>] = &[
    ("cam", "any value, and guards need not hold: many false alarms", Model::Cam),
    ("ctp", "the value written last; guards must hold (needs expressions)", Model::Ctp),
    ("mcm", "the recorded value (needs values)", Model::Mcm),
    ("avp", "the value of the same write as in the recorded order", Model::Avp),
];

/// The values of `--feasibility`.
pub const FEASIBILITIES: &[Choice<Feasibility>] = &[
    ("prefix", "it may: later events do not matter", Feasibility::Prefix),
    ("complete", "it may not: all recorded events must happen", Feasibility::Complete),
];

/// The values of `--independence`.
pub const INDEPENDENCES: &[Choice<Independence>] = &[
    ("conflict", "when both read", Independence::Conflict),
    ("guarded", "also when their values make the order irrelevant (ctp and mcm)", Independence::Guarded),
];

/// The values of `--candidates`.
pub const CANDIDATE_SETS: &[Choice<CandidateSet>] = &[
    ("adjacent", "neighbouring accesses; enough to find every violation", CandidateSet::Adjacent),
    ("all", "every triple", CandidateSet::All),
];

/// The values of `--per`.
pub const PERS: &[Choice<Per>] = &[
    ("location", "when the first of them is feasible", Per::Location),
    ("event", "when each of them is decided", Per::Event),
];

/// The values of `--without`.
pub const FILTERS: &[Choice<Decider>] = &[
    ("must-happen-before", "vector clocks", Decider::MustHappenBefore),
    ("cut-points", "locksets and acquisition histories", Decider::CutPoints),
    ("segment", "trace atomicity segments", Decider::Segment),
    ("early-witness", "schedules built without the solver", Decider::EarlyWitness),
    ("early-refutation", "cycles of forced orders", Decider::EarlyRefutation),
    ("states", "the states that prefixes reach, where they are few", Decider::States),
];

/// Whether a question can be asked of the trace.
pub fn must_fit(question: Question, trace: &Trace) -> anyhow::Result<()> {
    if trace.data < question.model.needs() {
        let needs = if question.model == Model::Ctp { "expressions (data: symbolic)" } else { "values" };
        let found = format!("{:?}", trace.data).to_lowercase();
        bail!("--model {} needs a trace with {needs}, found data: {found}", question.model);
    }
    if question.independence == Independence::Guarded && !matches!(question.model, Model::Ctp | Model::Mcm) {
        bail!("--independence guarded asks for values: it goes with --model ctp and mcm, found {}", question.model);
    }
    Ok(())
}

/// A flag that the first Ctrl-C sets; the second ends the process.
pub fn stop_on_ctrl_c() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    let mut askings = Askings::default();
    let handler = move || match askings.take() {
        Asking::Stop => {
            flag.store(true, Ordering::SeqCst);
            say("\nstopping: what was decided so far follows; Ctrl-C again ends at once");
        }
        Asking::Same => {}
        Asking::End => std::process::exit(130),
    };
    ctrlc::set_handler(handler).context("cannot watch for Ctrl-C")?;
    Ok(stop)
}

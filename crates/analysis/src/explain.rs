//! Why a candidate cannot happen: an argument that was checked, from instances of rules to a contradiction.
//!
//! The encoder knows only the order of each thread. So every other order, value and lock that an argument uses is a constraint with a name.
//! Rules are tried family by family, plain orders first: an argument that needs no values has none. If a candidate can happen, the witness
//! is the explanation.

mod block;
mod sequence;
mod statement;

pub use block::{BlockArgument, BlockExplanation, explain_block};
pub use sequence::{Conclusion, Reason};
pub use statement::Statement;

use crate::options::Options;
use crate::predict::{Asked, Sink, decide, tells_apart};
use crate::schedule::context_switches;
use crate::verdict::{Decision, Limit, Verdict};
use foretrace_encodings::{Encoder, Origin, Paths, Query, Rule, Rules, TraceView};
use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_solve::{Limits, Refutation, interruptible, refute};
use foretrace_trace::{EventId, Independence, Observed, Pattern, Trace, Transaction, Triple, Value};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// A candidate's verdict with its reason.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The verdict, of the same pipeline as in `predict`.
    pub decision: Decision,
    /// Of an infeasible candidate: why it is, one argument for each pattern that is asked about.
    pub arguments: Vec<Argument>,
    /// The limit that kept an argument of an infeasible candidate from being found.
    pub missing: Option<Limit>,
    /// Of a candidate that is not feasible with as few context switches as were asked for, but with more: the fewest that it takes.
    pub fewest_switches: Option<u32>,
}

/// Why no schedule shows a candidate.
#[derive(Clone, Debug)]
pub struct Argument {
    /// The pattern that it is about, under guarded independence.
    pub pattern: Option<Pattern>,
    /// The families of rules that it does without.
    pub without: &'static [Rule],
    /// The instances of rules that leave no schedule, in the order of the argument.
    pub reasons: Vec<Reason>,
    /// Whether a schedule was found without each single instance: then none can be spared.
    pub minimal: bool,
}

impl Argument {
    /// All instances of rules that it uses.
    pub fn origins(&self) -> BTreeSet<Origin> {
        self.reasons.iter().flat_map(|reason| reason.origins.iter().copied()).collect()
    }

    /// Whether it needs that a pinned value stays as it was.
    pub fn rests_on_pin(&self) -> bool {
        self.reasons.iter().any(|reason| matches!(reason.statement, Statement::Condition { pinned: true, .. }))
    }
}

/// Families of rules that are left out, fewer from stage to stage.
const STAGES: [&[Rule]; 4] = [
    &[Rule::ReadsFrom, Rule::Guards, Rule::Pins, Rule::Locks, Rule::Once, Rule::ConditionVariables, Rule::Semaphores],
    &[Rule::ReadsFrom, Rule::Guards, Rule::Pins],
    &[Rule::Pins],
    &[],
];

/// Explains candidates of one trace.
pub struct Explainer<'a> {
    view: TraceView<'a>,
    options: &'a Options,
    deadline: Option<Instant>,
    stop: &'a AtomicBool,
    /// No read is taken to be constant: why it is one is part of the argument.
    constants: FxHashMap<EventId, Value>,
}

/// What came of the search for an argument.
#[derive(Debug)]
pub enum Argued {
    /// Here it is.
    Refuted(Argument),
    /// There is none: some schedule shows the candidate.
    Possible,
    /// There was no time for it.
    Undecided(Limit),
}

/// The orders that arguments take for granted: those of each thread.
pub fn granted(trace: &Trace, trace_index: &TraceIndex) -> MustHappenBefore {
    MustHappenBefore::of_threads(trace, trace_index)
}

impl<'a> Explainer<'a> {
    /// For a trace whose `view` hold the clocks of [`granted`].
    pub fn new(view: TraceView<'a>, options: &'a Options, deadline: Option<Instant>, stop: &'a AtomicBool) -> Self {
        Explainer { view, options, deadline, stop, constants: FxHashMap::default() }
    }

    /// Why the candidate cannot happen: an argument for every pattern that is asked about, or the reason why there is none.
    ///
    /// # Errors
    /// Where some schedule shows the candidate.
    pub fn refutation(&self, triple: Triple) -> anyhow::Result<Result<Vec<Argument>, Limit>> {
        let guarded = self.options.question.independence == Independence::Guarded;
        let patterns: Vec<Option<Pattern>> =
            if guarded { triple.patterns(self.view.trace).map(Some).collect() } else { vec![None] };
        let mut arguments = Vec::new();
        for pattern in patterns {
            match self.argue(triple, pattern) {
                Argued::Refuted(argument) => arguments.push(argument),
                Argued::Undecided(limit) => return Ok(Err(limit)),
                Argued::Possible => anyhow::bail!(
                    "internal contradiction: {triple} was refuted, but the rules alone allow it (model {})",
                    self.options.question.model
                ),
            }
        }
        Ok(Ok(arguments))
    }

    /// Looks for an argument against a candidate; with a pattern, under guarded independence for that pattern.
    pub fn argue(&self, triple: Triple, pattern: Option<Pattern>) -> Argued {
        self.argue_against(Supposed::Triple(triple, pattern))
    }

    /// Looks for an argument against what is supposed.
    fn argue_against(&self, supposed: Supposed<'_>) -> Argued {
        interruptible(self.stop, || {
            let mut undecided = None;
            for without in STAGES {
                match self.argue_without(supposed, without) {
                    Argued::Possible => {}
                    Argued::Undecided(limit) => undecided = Some(limit),
                    refuted => return refuted,
                }
            }
            undecided.map_or(Argued::Possible, Argued::Undecided)
        })
    }

    fn argue_without(&self, supposed: Supposed<'_>, without: &'static [Rule]) -> Argued {
        let limits = Limits { timeout: self.options.timeout, deadline: self.deadline, work: None, stop: self.stop };
        if let Some(limit) = limits.reached() {
            return Argued::Undecided(limit);
        }
        let rules = Rules { without: without.to_vec(), ..Rules::for_question(self.options.question) };
        let mut encoder = Encoder::new(self.view, rules, &self.constants);
        let query = match supposed.encode(&mut encoder, limits) {
            Ok(query) => query,
            Err(limit) => return Argued::Undecided(limit),
        };
        let asked = supposed.accesses();
        let cost = |core: &BTreeSet<Origin>| statement::statements(self.view, &asked, core).len();
        match refute(&encoder, &query, &cost, self.options.seed, limits) {
            Refutation::Possible => Argued::Possible,
            Refutation::Unknown(limit) => Argued::Undecided(limit),
            Refutation::Core { origins, minimal } => {
                let reasons = sequence::order(&encoder, (&query, &asked), origins, self.options.seed, limits);
                Argued::Refuted(Argument { pattern: supposed.pattern(), without, reasons, minimal })
            }
        }
    }
}

/// What an argument leads to a contradiction.
#[derive(Clone, Copy)]
enum Supposed<'q> {
    /// That some schedule shows a candidate; with a pattern, with values that make the order matter.
    Triple(Triple, Option<Pattern>),
    /// That some schedule holds one of these violation paths; and its end where that is part of a step of several events.
    Paths(&'q Paths, Option<EventId>),
}

impl Supposed<'_> {
    fn encode(self, encoder: &mut Encoder<'_>, limits: Limits<'_>) -> Result<Query, Limit> {
        let began = Instant::now();
        let mut reached = None;
        let mut go_on = |terms| {
            reached = limits.of_encoding(began, terms);
            reached.is_none()
        };
        let query = match self {
            Supposed::Triple(triple, pattern) => encoder.query_while(triple, pattern, &mut go_on),
            Supposed::Paths(paths, last) => encoder.query_paths_while(paths, last, &mut go_on),
        };
        query.ok_or_else(|| reached.unwrap_or(Limit::Size))
    }

    /// The accesses that it is about.
    fn accesses(self) -> BTreeSet<EventId> {
        match self {
            Supposed::Triple(Triple { first, remote, second }, _) => BTreeSet::from([first, remote, second]),
            Supposed::Paths(Paths { starts, through, ends, .. }, _) => {
                starts.iter().chain(through).chain(ends).copied().collect()
            }
        }
    }

    fn pattern(self) -> Option<Pattern> {
        match self {
            Supposed::Triple(_, pattern) => pattern,
            Supposed::Paths(..) => None,
        }
    }
}

/// Decides a candidate as `predict` does, and says why.
///
/// # Errors
/// As [`crate::predict::predict`]; where verdict and argument contradict each other.
pub fn explain(
    trace: &Trace,
    observed: &Observed,
    transactions: &[Transaction],
    options: &Options,
    triple: Triple,
    stop: &AtomicBool,
) -> anyhow::Result<Explanation> {
    explain_and_tell((trace, observed), transactions, options, triple, stop, &mut |_| {})
}

/// The same; `tell` hears the verdict before the argument is looked for.
///
/// # Errors
/// As [`explain`].
pub fn explain_and_tell(
    (trace, observed): (&Trace, &Observed),
    transactions: &[Transaction],
    options: &Options,
    triple: Triple,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(&Decision),
) -> anyhow::Result<Explanation> {
    let deadline = options.budget.map(|budget| Instant::now() + budget);
    let asked = |switches: Option<u32>| -> anyhow::Result<Decision> {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let options = Options { context_switches: switches, budget: left, ..options.clone() };
        let mut one = One(None);
        decide(trace, observed, transactions, &options, Asked::These(&[triple]), stop, &mut one)?;
        Ok(one.0.unwrap_or_else(|| Decision::unknown(trace, triple, Limit::Budget)))
    };
    let mut decision = asked(options.context_switches)?;
    let mut fewest_switches = None;
    if let Verdict::Unknown(Limit::ContextSwitches(most)) = decision.verdict {
        let unbounded = asked(None)?;
        match &unbounded.verdict {
            Verdict::Feasible(witness) => {
                fewest_switches = fewest(triple, most, witness_switches(trace, triple, witness.schedule()), &asked)?;
            }
            // Whatever the number of context switches.
            Verdict::Infeasible => decision = unbounded,
            Verdict::Unknown(_) => {}
        }
    }
    tell(&decision);
    let mut explanation = Explanation { decision, arguments: Vec::new(), missing: None, fewest_switches };
    if matches!(explanation.decision.verdict, Verdict::Infeasible) {
        // The argument for what is impossible leans on no outcome of a try.
        let is_impossible = tells_apart(options) && explanation.decision.off_path.is_none();
        let opened = if is_impossible { trace.with_open_tries() } else { None };
        let trace = opened.as_ref().unwrap_or(trace);
        let trace_index = TraceIndex::new(trace);
        let clocks = granted(trace, &trace_index);
        let view = TraceView { trace, trace_index: &trace_index, observed, clocks: &clocks };
        match Explainer::new(view, options, deadline, stop).refutation(triple)? {
            Ok(arguments) => explanation.arguments = arguments,
            Err(limit) => explanation.missing = Some(limit),
        }
    }
    Ok(explanation)
}

/// How many context switches a schedule has between the candidate's first and second access.
fn witness_switches(trace: &Trace, triple: Triple, schedule: &[EventId]) -> u32 {
    let from = schedule.iter().position(|event| *event == triple.first).unwrap_or(0);
    let to = schedule.iter().position(|event| *event == triple.second).unwrap_or(from);
    context_switches(trace, &schedule[from..=to])
}

/// The fewest context switches with which a candidate is feasible, where that can be told: more than `too_few`, and no more than
/// `enough`.
fn fewest(
    triple: Triple,
    mut too_few: u32,
    mut enough: u32,
    asked: &dyn Fn(Option<u32>) -> anyhow::Result<Decision>,
) -> anyhow::Result<Option<u32>> {
    while too_few + 1 < enough {
        let middle = too_few + (enough - too_few) / 2;
        match asked(Some(middle))?.verdict {
            Verdict::Feasible(_) => enough = middle,
            Verdict::Unknown(Limit::ContextSwitches(_)) => too_few = middle,
            Verdict::Unknown(_) => return Ok(None),
            Verdict::Infeasible => {
                anyhow::bail!("internal contradiction: {triple} is feasible with {enough} switches only")
            }
        }
    }
    Ok(Some(enough))
}

/// The decision of the only candidate.
struct One(Option<Decision>);

impl Sink for One {
    fn decision(&mut self, decision: &Decision) -> anyhow::Result<()> {
        self.0 = Some(decision.clone());
        Ok(())
    }
}

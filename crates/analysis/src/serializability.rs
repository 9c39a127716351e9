//! Decides whole blocks. In turn, these decide a block: the static check, schedules that are likely to show a violation, exploration of the
//! segment for a bounded number of steps, the solver, and exploration to the end.
//!
//! The solver and the exploration answer the same question. Exploration is better where few interleavings differ; the solver is better
//! where many differ or a segment begins long before its block.
//!
//! The blocks that the recorded order itself violates are known before: that takes one pass ([`foretrace_serializability::observed`]).

mod other_paths;
mod windowed;

pub use other_paths::{OtherPaths, on_other_paths};
pub use windowed::{Chosen, Decided, Found, Verdict, Windowed};

use crate::kept_session::KeptSession;
use crate::schedule_from_assignment::{in_order, without_marks};
use foretrace_encodings::{Marked, Paths, Reads, Rules, TraceView, constant_reads_while};
use foretrace_index::MustHappenBefore;
use foretrace_serializability::{
    Choices, Decision, Explored, Judge, Judgement, PathKind, Question, Violation, observed,
};
use foretrace_solve::{Answer, Limits, Order, Session};
use foretrace_trace::{
    Block, BlockKind, Blocks, EventId, Feasibility, Independence, NameId, Observed, Question as Asked, Trace, Value,
    VarId,
};
use rustc_hash::FxHashMap;
use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Steps of exploration before the solver is asked.
const STEPS_BEFORE_SOLVER: u64 = 5_000;

/// Who decides what the static check and likely schedules leave open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Method {
    /// Exploration for a while, then the solver, then exploration to the end.
    #[default]
    Both,
    /// Exploration alone.
    Explore,
    /// The solver alone, not even likely schedules.
    Solve,
}

/// What bounds the decisions.
#[derive(Clone, Copy)]
pub struct Bounds<'a> {
    /// Time of one block.
    pub of_block: Option<Duration>,
    /// When all must be over.
    pub deadline: Option<Instant>,
    /// Steps of the exploration of one block, and steps of its questions to the solver: unlike time, the same on every machine.
    pub work: Option<(u64, u32)>,
    /// Set when the user stops the run.
    pub stop: &'a AtomicBool,
}

/// Decides blocks of one trace.
pub struct BlockJudge<'a> {
    trace: &'a Trace,
    observed: &'a Observed,
    judge: Judge<'a>,
    clocks: MustHappenBefore,
    /// Made when the solver is first asked, where context switches are bounded.
    marked: OnceCell<Marked>,
    /// Found when the solver is first asked.
    constants: OnceCell<FxHashMap<EventId, Value>>,
    rules: Rules,
    choices: Choices,
    method: Method,
}

impl<'a> BlockJudge<'a> {
    /// Decides the blocks of `judge` by this method.
    pub fn new(trace: &'a Trace, observed: &'a Observed, judge: Judge<'a>, method: Method) -> BlockJudge<'a> {
        let choices = judge.choices().clone();
        let (feasibility, independence) = (Feasibility::Prefix, Independence::Conflict);
        let switches = choices.context_switches;
        let rules = Rules::for_question(Asked { model: choices.model, feasibility, independence }).within(switches);
        let clocks = MustHappenBefore::new(trace, judge.trace_index());
        let (constants, marked) = (OnceCell::new(), OnceCell::new());
        BlockJudge { trace, observed, judge, clocks, marked, constants, rules, choices, method }
    }

    /// What judges without a solver.
    pub fn judge(&self) -> &Judge<'a> {
        &self.judge
    }

    /// A solver for blocks, which keeps what it learns from one to the next.
    pub fn solver(&self) -> BlockSolver<'_> {
        let BlockJudge { trace, observed, clocks, marked, .. } = self;
        let view = TraceView { trace, trace_index: self.judge.trace_index(), observed, clocks };
        BlockSolver {
            view,
            marked,
            rules: &self.rules,
            constants: &self.constants,
            order: Order::Auto,
            session: KeptSession::default(),
        }
    }

    /// Decides a block.
    pub fn decide(&self, block: usize, solver: &mut BlockSolver<'_>, bounds: &Bounds<'_>) -> Judgement {
        let begun = Instant::now();
        let limits = bounds.of_block(begun);
        let may_go_on = || limits.reached().is_none();
        let explore = |most_steps: Option<u64>, hunt: bool| {
            let choices = Choices { most_steps, hunt: hunt && self.choices.hunt, ..self.choices.clone() };
            self.judge.judge_as(block, &choices, &may_go_on)
        };
        let most = bounds.work.map(|(steps, _)| steps);
        let mut judgement = match self.method {
            Method::Explore => return explore(most, true),
            Method::Solve => explore(Some(0), false),
            Method::Both => explore(Some(most.map_or(STEPS_BEFORE_SOLVER, |most| most.min(STEPS_BEFORE_SOLVER))), true),
        };
        if matches!(judgement.decision, Decision::Limit) && may_go_on() {
            let work = bounds.work.map(|(_, work)| work);
            if let Some(decision) = solver.decide(&self.judge, block, Limits { work, ..limits }) {
                judgement.decision = decision;
                judgement.by_solver = true;
            }
        }
        let wants_more = most.is_none_or(|most| most > STEPS_BEFORE_SOLVER);
        if matches!(judgement.decision, Decision::Limit) && self.method == Method::Both && may_go_on() && wants_more {
            let first = judgement.explored;
            judgement = explore(most, false);
            judgement.explored = added(judgement.explored, first);
        }
        judgement.time = begun.elapsed();
        judgement
    }
}

impl BlockJudge<'_> {
    /// A violation that only attempts may see which the block gives up: says so where that is proved, or has another one in its place.
    fn with_effect(&self, mut judgement: Judgement, solver: &mut BlockSolver<'_>, bounds: &Bounds<'_>) -> Judgement {
        let Decision::Violated(violation) = &judgement.decision else { return judgement };
        let Some(questions) = self.judge.questions_with_effect(judgement.block, violation) else { return judgement };
        let limits = Limits { work: bounds.work.map(|(_, work)| work), ..bounds.of_block(Instant::now()) };
        if limits.reached().is_some() {
            return judgement;
        }
        match solver.decide_asked(&self.judge, judgement.block, questions, limits) {
            Some(Decision::Holds) => judgement.is_dropped = true,
            Some(Decision::Violated(other)) => judgement.decision = Decision::Violated(other),
            _ => {}
        }
        judgement
    }
}

impl<'a> Bounds<'a> {
    /// Whether the run must end.
    fn are_reached(&self) -> bool {
        self.of_block(Instant::now()).reached().is_some()
    }

    fn of_block(&self, begun: Instant) -> Limits<'a> {
        let own = self.of_block.and_then(|limit| begun.checked_add(limit));
        let deadline = [own, self.deadline].into_iter().flatten().min();
        let timeout = self.of_block.unwrap_or(Duration::from_secs(24 * 3600));
        Limits { timeout, deadline, work: None, stop: self.stop }
    }
}

/// A solver for blocks of one trace.
pub struct BlockSolver<'a> {
    view: TraceView<'a>,
    marked: &'a OnceCell<Marked>,
    rules: &'a Rules,
    constants: &'a OnceCell<FxHashMap<EventId, Value>>,
    order: Order,
    session: KeptSession<'a>,
}

impl BlockSolver<'_> {
    /// The same with this back-end for orders.
    pub fn by(self, order: Order) -> Self {
        BlockSolver { order, ..self }
    }

    /// What the solver says of a block; `None` where it says nothing within its limits, or the question would be too large.
    fn decide(&mut self, judge: &Judge<'_>, block: usize, limits: Limits<'_>) -> Option<Decision> {
        let questions = judge.questions(block)?;
        self.decide_asked(judge, block, questions, limits)
    }

    /// What it says of some of a block's paths.
    fn decide_asked(
        &mut self,
        judge: &Judge<'_>,
        block: usize,
        questions: Vec<Question>,
        limits: Limits<'_>,
    ) -> Option<Decision> {
        let asked = !questions.is_empty();
        for question in questions {
            let ends = question.ends.clone();
            let confirmed = question.then.is_some();
            match self.ask(question, limits) {
                Answer::Feasible(assignment) => {
                    let order = in_order(self.view, &without_marks(self.view, assignment.order));
                    return Some(match confirmed {
                        true => judge.in_schedule_at(block, &order, &ends),
                        false => judge.in_schedule(block, order),
                    });
                }
                Answer::Infeasible { .. } => {}
                Answer::Unknown(_) => return None,
            }
        }
        Some(self.rules.switches.filter(|_| asked).map_or(Decision::Holds, Decision::NotWithin))
    }

    fn ask(&mut self, question: Question, limits: Limits<'_>) -> Answer {
        let Question { starts, through, ends, last, then } = question;
        let (view, rules) = (self.view, self.rules);
        let constants = self.constants.get_or_init(|| match rules.reads == Reads::Latest {
            true => constant_reads_while(view, &mut || limits.reached().is_none()),
            false => FxHashMap::default(),
        });
        let order = self.order;
        let marked = self.marked;
        let make = || {
            let mark = |switches| marked.get_or_init(|| Marked::new(view, switches)).view();
            Session::new(rules.switches.map_or(view, mark), rules.clone(), constants, order, 0)
        };
        self.session.ask(make, |session| session.decide_paths(&Paths { starts, through, ends, then }, last, limits))
    }
}

/// Blocks of a trace to be decided.
pub struct AskedBlocks<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// What the run showed.
    pub observed: &'a Observed,
    /// Its blocks.
    pub blocks: &'a Blocks,
    /// Which variables count.
    pub wanted: &'a dyn Fn(VarId) -> bool,
    /// How they are judged.
    pub choices: Choices,
    /// By whom.
    pub method: Method,
    /// Whether only what the recorded order itself shows is wanted.
    pub observed_only: bool,
}

/// Takes what is found of each block, and whether the recorded order shows it.
pub type Judged<'f> = dyn FnMut(&Judge<'_>, Judgement, bool) -> anyhow::Result<()> + 'f;

/// Decides every block, in order.
///
/// # Errors
/// Where the trace knows too little for the model, a schedule that was found does not pass the checker, or what `judged` says.
pub fn decide_blocks(asked: &AskedBlocks<'_>, bounds: &Bounds<'_>, judged: &mut Judged<'_>) -> anyhow::Result<()> {
    let all: Vec<usize> = (0..asked.blocks.all().len()).collect();
    decide_some(asked, &all, bounds, judged)
}

/// Decides these blocks, by their positions, in order.
///
/// # Errors
/// As [`decide_blocks`].
pub fn decide_some(
    asked: &AskedBlocks<'_>,
    blocks: &[usize],
    bounds: &Bounds<'_>,
    judged: &mut Judged<'_>,
) -> anyhow::Result<()> {
    decide_these(asked, &mut |_, _| true, blocks, bounds, judged)
}

fn decide_these(
    asked: &AskedBlocks<'_>,
    is_wanted: &mut dyn FnMut(usize, Option<&Judgement>) -> bool,
    blocks: &[usize],
    bounds: &Bounds<'_>,
    judged: &mut Judged<'_>,
) -> anyhow::Result<()> {
    let AskedBlocks { trace, observed: run, wanted, .. } = *asked;
    let shown: FxHashMap<usize, EventId> =
        observed(trace, asked.blocks, wanted).into_iter().map(|one| (one.block, one.end)).collect();
    let judge = Judge::new(trace, run, asked.blocks, wanted, asked.choices.clone())?;
    let all = BlockJudge::new(trace, run, judge, asked.method);
    let mut solver = all.solver();
    for block in blocks.iter().copied() {
        if !is_wanted(block, None) {
            continue;
        }
        let end = shown.get(&block);
        let decision = end.map(|end| all.judge.in_recorded_order(block, *end));
        let judgement = match decision.filter(|decision| matches!(decision, Decision::Violated(_))) {
            Some(decision) => all.judge.known(block, decision),
            None if asked.observed_only => all.judge.known(block, Decision::NotObserved),
            None if bounds.are_reached() => all.judge.known(block, Decision::Limit),
            None => all.decide(block, &mut solver, bounds),
        };
        if let Decision::Refused(reason) = &judgement.decision {
            anyhow::bail!("internal error: the schedule found for block {block} fails the check: {reason}");
        }
        let judgement = all.with_effect(judgement, &mut solver, bounds);
        is_wanted(block, Some(&judgement));
        judged(&all.judge, judgement, end.is_some())?;
    }
    Ok(())
}

/// What was looked at besides triples.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Beyond {
    /// Blocks there are, but for whole threads that were not asked for.
    pub blocks: u64,
    /// Blocks that were judged.
    pub judged: u64,
    /// Of those, blocks that were not decided, or only for as few context switches as were asked for.
    pub undecided: u64,
}

/// What blocks of one place in the program have in common: kind, label, and where they begin.
type BlockLocation = (BlockKind, Option<NameId>, Option<NameId>);

/// What is found of a block beyond triples.
pub enum FoundBeyond {
    /// It is violated, and whether the recorded order itself does it.
    Violated(Judgement, bool),
    /// No schedule of the model violates it. Another path of the program may, as this schedule with free reads does.
    OffPath(Judgement, Box<Violation>),
}

/// Looks for violations that no triple shows, at a cost that is bounded and the same on every machine. It judges a few blocks of each place
/// in the program, each with little work. A place is done at its first such violation. Where `with_threads` is off, whole threads that have
/// other blocks inside are left out.
///
/// # Errors
/// Those of [`decide_blocks`], and of `told`.
pub fn beyond_triples(
    asked: &AskedBlocks<'_>,
    with_threads: bool,
    bounds: &Bounds<'_>,
    told: &mut dyn FnMut(FoundBeyond) -> anyhow::Result<()>,
) -> anyhow::Result<Beyond> {
    const MOST_OF_PLACE: u32 = 8;
    const MOST_BLOCKS: u64 = 400;
    const WORK: (u64, u32) = (2_000, 5_000);
    let all = asked.blocks.all();
    let blocks: Vec<usize> = (0..all.len()).filter(|block| with_threads || !is_divided_thread(&all[*block])).collect();
    let mut found = Beyond { blocks: blocks.len() as u64, ..Beyond::default() };
    let counts = Cell::new((0u64, 0u64));
    let mut places: FxHashMap<BlockLocation, u32> = FxHashMap::default();
    let mut is_wanted = |block: usize, judgement: Option<&Judgement>| {
        let one = &all[block];
        let tried = places.entry((one.kind, one.label, asked.trace.event(one.first).loc)).or_default();
        let Some(judgement) = judgement else {
            return *tried < MOST_OF_PLACE && counts.get().0 < MOST_BLOCKS && !bounds.are_reached();
        };
        let (judged, undecided) = counts.get();
        counts.set((
            judged + 1,
            undecided + u64::from(matches!(judgement.decision, Decision::Limit | Decision::NotWithin(_))),
        ));
        *tried += if is_beyond(judgement) && !judgement.is_dropped { MOST_OF_PLACE } else { 1 };
        true
    };
    let bounds = Bounds { work: Some(WORK), ..*bounds };
    let mut hidden = Hidden::default();
    let mut safe = Vec::new();
    decide_these(asked, &mut is_wanted, &blocks, &bounds, &mut |_, judgement, observed| {
        // How long it took would make two reports of the same input differ.
        let judgement = Judgement { time: Duration::ZERO, ..judgement };
        hidden.add(asked, &judgement, &BTreeSet::new());
        if judgement.is_safe() {
            safe.push(judgement);
            return Ok(());
        }
        if is_beyond(&judgement) { told(FoundBeyond::Violated(judgement, observed)) } else { Ok(()) }
    })?;
    hidden.seek(asked, &bounds, &mut |_, judgement, observed| told(FoundBeyond::Violated(judgement, observed)))?;
    for (judgement, violation) in beyond_off_path(asked, safe, &bounds)? {
        told(FoundBeyond::OffPath(judgement, violation))?;
    }
    (found.judged, found.undecided) = counts.get();
    Ok(found)
}

/// Whether a block is a whole thread with other blocks inside.
fn is_divided_thread(block: &Block) -> bool {
    block.kind == BlockKind::Thread && block.height > 0
}

/// Of blocks that no schedule of the model violates those that another path of the program may violate in a way that no triple shows.
fn beyond_off_path(
    asked: &AskedBlocks<'_>,
    safe: Vec<Judgement>,
    bounds: &Bounds<'_>,
) -> anyhow::Result<Vec<(Judgement, Box<Violation>)>> {
    let blocks: Vec<usize> = safe.iter().map(|judgement| judgement.block).collect();
    let mut answers = Vec::with_capacity(blocks.len());
    on_other_paths(asked, &blocks, bounds, &mut |_, paths| answers.push(paths))?;
    let found = safe.into_iter().zip(answers).filter_map(|(judgement, paths)| match paths {
        OtherPaths::Violated(violation) if violation.claim().kind() != PathKind::Triple => Some((judgement, violation)),
        _ => None,
    });
    Ok(found.collect())
}

/// Blocks whose shortest cycle is a triple: others may hide behind it.
#[derive(Default)]
struct Hidden {
    /// By the variables of the triples found so far, the blocks.
    blocks: BTreeMap<BTreeSet<VarId>, Vec<usize>>,
    /// How often each place is there.
    places: FxHashMap<(BTreeSet<VarId>, BlockLocation), u32>,
}

impl Hidden {
    /// Takes in a block whose cycle is a triple, which was found without these variables.
    fn add(&mut self, asked: &AskedBlocks<'_>, judgement: &Judgement, without: &BTreeSet<VarId>) {
        const MOST_OF_PLACE: u32 = 2;
        let Decision::Violated(violation) = &judgement.decision else { return };
        if violation.claim().kind() != PathKind::Triple {
            return;
        }
        let without: BTreeSet<VarId> = without.iter().copied().chain(violation.claim().vars()).collect();
        let block = &asked.blocks.all()[judgement.block];
        let place = (without.clone(), (block.kind, block.label, asked.trace.event(block.first).loc));
        let count = self.places.entry(place).or_default();
        *count += 1;
        if *count <= MOST_OF_PLACE {
            self.blocks.entry(without).or_default().push(judgement.block);
        }
    }

    /// Judges the blocks again without the variables of their triples, as often as others come up, at a bounded cost.
    fn seek(mut self, asked: &AskedBlocks<'_>, bounds: &Bounds<'_>, judged: &mut Judged<'_>) -> anyhow::Result<()> {
        const MOST_ROUNDS: usize = 3;
        /// Events that are looked at to prepare the judging.
        const MOST_EVENTS: usize = 4_000_000;
        let mut left = MOST_EVENTS;
        for _ in 0..MOST_ROUNDS {
            let mut next = Hidden::default();
            for (without, blocks) in std::mem::take(&mut self.blocks) {
                let Some(rest) = left.checked_sub(asked.trace.events.len()) else { return Ok(()) };
                left = rest;
                if bounds.are_reached() {
                    return Ok(());
                }
                let wanted = |var: VarId| (asked.wanted)(var) && !without.contains(&var);
                let apart = AskedBlocks { wanted: &wanted, choices: asked.choices.clone(), ..*asked };
                decide_some(&apart, &blocks, bounds, &mut |judge, judgement, observed| {
                    let judgement = Judgement { time: Duration::ZERO, ..judgement };
                    next.add(asked, &judgement, &without);
                    if is_beyond(&judgement) { judged(judge, judgement, observed) } else { Ok(()) }
                })?;
            }
            self = next;
        }
        Ok(())
    }
}

/// Whether a block is violated in a way that no triple shows.
fn is_beyond(judgement: &Judgement) -> bool {
    matches!(&judgement.decision, Decision::Violated(violation) if violation.claim().kind() != PathKind::Triple)
}

fn added(one: Explored, other: Explored) -> Explored {
    Explored {
        interleavings: one.interleavings + other.interleavings,
        redundant: one.redundant + other.redundant,
        steps: one.steps + other.steps,
    }
}

//! No constraint is too strong: under the assignment that a prefix of the exhaustive oracle induces, every constraint and
//! every goal of its query holds. No solver takes part.
//!
//! `FORETRACE_SEEDS` says how many random traces (default 800), `FORETRACE_SEED` where to start.

use foretrace_checker::oracle::{Oracle, candidates};
use foretrace_checker::run_schedule;
use foretrace_encodings::{Atom, Encoder, Reads, Rule, Rules, TraceView, constant_reads};
use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_trace::strategies::{Shape, random_trace};
use foretrace_trace::{
    Atomic, EventId, Feasibility, Independence, Model, Op, Question, SyncId, SyncKind, Trace, Value,
};
use std::collections::BTreeMap;

/// What each atom means in one execution.
struct Execution<'a> {
    view: TraceView<'a>,
    /// Per event: its place in the execution, if it takes part.
    place: Vec<Option<usize>>,
    /// Per access that takes part: the write before it, and the value just before it where values are known.
    before: BTreeMap<EventId, (Option<EventId>, Option<Value>)>,
    tokens: BTreeMap<EventId, u64>,
}

impl<'a> Execution<'a> {
    fn new(view: TraceView<'a>, rules: &Rules, model: Model, schedule: &[EventId]) -> Execution<'a> {
        let trace = view.trace;
        let mut schedule = schedule.to_vec();
        let last = *schedule.last().expect("a witness holds three events");
        if matches!(rules.reads, Reads::Free | Reads::Latest) && !cut_off(view, last) {
            // Here it makes no difference whether a prefix ends inside of a step: steps are included as a whole.
            let end = view.trace_index.position(view.trace_index.step(trace, last).1);
            let own = &view.trace_index.threads[trace.event(last).thread.index()];
            schedule.extend(&own[view.trace_index.position(last) + 1..=end]);
        }
        let run = run_schedule(trace, view.observed, model, &schedule).expect("the oracle gives prefixes");
        let mut place = vec![None; trace.events.len()];
        let mut memory: Vec<(Option<EventId>, Option<Value>)> =
            trace.vars.iter().map(|var| (None, var.init.clone())).collect();
        let mut before = BTreeMap::new();
        for (nth, step) in run.steps(trace).into_iter().enumerate() {
            place[step.event.index()] = Some(nth);
            let op = &trace.event(step.event).op;
            let Some(var) = op.var() else { continue };
            before.insert(step.event, memory[var.index()].clone());
            if op.writes() {
                memory[var.index()] = (Some(step.event), step.written);
            }
        }
        let tokens = tokens(view, &schedule, &place);
        Execution { view, place, before, tokens }
    }

    fn includes(&self, event: EventId) -> bool {
        self.place[event.index()].is_some()
    }

    /// Where an event stands: those of the execution in its order, then all others as they were observed.
    fn order(&self, event: EventId) -> (usize, EventId) {
        (self.place[event.index()].unwrap_or(usize::MAX), event)
    }

    fn value(&self, atom: &Atom) -> Value {
        match atom {
            Atom::Before(a, b) => (self.order(*a) < self.order(*b)).into(),
            Atom::Included(event) => self.includes(*event).into(),
            Atom::Value { at, sort } => {
                let known = self.before.get(at).and_then(|(_, value)| value.clone());
                known.unwrap_or(Value::zero(*sort))
            }
            Atom::ReadsFrom { at, write } => self.before.get(at).is_some_and(|(source, _)| source == write).into(),
            Atom::Token(event) => Value::int(self.tokens.get(event).copied().unwrap_or(0)),
            Atom::Open(step) => {
                let last = self.view.trace_index.step(self.view.trace, *step).1;
                (self.includes(*step) && (!self.includes(last) || cut_off(self.view, last))).into()
            }
            Atom::Reached { .. } | Atom::Holder { .. } | Atom::Pins => true.into(),
        }
    }
}

/// Whether the run ended inside of the event's step.
fn cut_off(view: TraceView<'_>, event: EventId) -> bool {
    let last = view.trace_index.step(view.trace, event).1;
    view.trace.event(last).part.is_some_and(|(k, n)| k < n)
}

/// What each wake and each down of an execution takes.
fn tokens(view: TraceView<'_>, schedule: &[EventId], place: &[Option<usize>]) -> BTreeMap<EventId, u64> {
    let mut tokens = BTreeMap::new();
    for sync in (0..view.trace.syncs.len()).map(SyncId::from_index) {
        match view.trace.syncs[sync.index()].kind {
            SyncKind::Condvar => signals_taken(view, sync, place, &mut tokens),
            SyncKind::Semaphore { init } => {
                // Every down takes the oldest token.
                let posts = &view.trace_index.posts[sync.index()];
                let nth = |post: &EventId| posts.iter().position(|other| other == post).map(|nth| init + nth as u64);
                let mut there: std::collections::VecDeque<u64> = (0..init).collect();
                for event in schedule {
                    match view.trace.event(*event).op {
                        Op::Post { sem } if sem == sync => there.extend(nth(event)),
                        Op::Down { sem } if sem == sync => {
                            tokens.insert(*event, there.pop_front().expect("the count is above zero"));
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    tokens
}

/// A signal of its own for each wake that needs one: a broadcast where there is one, else by augmenting paths.
fn signals_taken(view: TraceView<'_>, cond: SyncId, place: &[Option<usize>], tokens: &mut BTreeMap<EventId, u64>) {
    let mut choices: BTreeMap<EventId, Vec<EventId>> = BTreeMap::new();
    for waiting in view.trace_index.waitings.iter().filter(|waiting| waiting.cond == cond && waiting.needs_signal) {
        let (Some(wait), Some(wake)) = (place[waiting.wait.index()], place[waiting.wake.index()]) else { continue };
        let all = view.trace_index.signals[cond.index()].iter().copied();
        let between = |signal: &EventId| place[signal.index()].is_some_and(|at| wait < at && at < wake);
        let possible: Vec<EventId> = all.filter(between).collect();
        if possible.iter().any(|signal| matches!(view.trace.event(*signal).op, Op::Broadcast { .. })) {
            tokens.insert(waiting.wake, view.trace.events.len() as u64 + u64::from(waiting.wake.0));
        } else {
            choices.insert(waiting.wake, possible);
        }
    }
    let mut taken: BTreeMap<EventId, EventId> = BTreeMap::new(); // by signal
    for wake in choices.keys() {
        let mut tried = Vec::new();
        assert!(augment(*wake, &choices, &mut taken, &mut tried), "wake {wake} has no signal of its own");
    }
    tokens.extend(taken.into_iter().map(|(signal, wake)| (wake, u64::from(signal.0))));
}

fn augment(
    wake: EventId,
    choices: &BTreeMap<EventId, Vec<EventId>>,
    taken: &mut BTreeMap<EventId, EventId>,
    tried: &mut Vec<EventId>,
) -> bool {
    for signal in &choices[&wake] {
        if tried.contains(signal) {
            continue;
        }
        tried.push(*signal);
        let free = match taken.get(signal).copied() {
            None => true,
            Some(other) => augment(other, choices, taken, tried),
        };
        if free {
            taken.insert(*signal, wake);
            return true;
        }
    }
    false
}

fn questions(model: Model) -> impl Iterator<Item = Question> {
    let all = [Feasibility::Prefix, Feasibility::Complete].into_iter().flat_map(move |feasibility| {
        [Independence::Conflict, Independence::Guarded].map(|independence| Question {
            model,
            feasibility,
            independence,
        })
    });
    all.filter(move |question| question.independence == Independence::Conflict || model.has_values())
}

/// How often constraints of each rule were looked at; violation stands for goals.
type Seen = BTreeMap<Rule, u64>;

fn check(seed: u64, view: TraceView<'_>, atomic: Atomic, question: Question, oracle: &Oracle<'_>, seen: &mut Seen) {
    let trace: &Trace = view.trace;
    let rules = Rules::for_question(question);
    let constants = if rules.reads == Reads::Latest { constant_reads(view) } else { Default::default() };
    let mut encoder = Encoder::new(view, rules.clone(), &constants);
    let mut executions = Vec::new();
    for triple in candidates(trace, &atomic.transactions(trace)) {
        let Some((pattern, schedule)) = oracle.witness(triple, question.feasibility, question.independence) else {
            continue;
        };
        let guarded = (question.independence == Independence::Guarded).then_some(pattern);
        let query = encoder.query(triple, guarded);
        let execution = Execution::new(view, &rules, question.model, &schedule);
        for goal in &query.goals {
            let holds = encoder.build().terms.evaluate(*goal, &mut |atom| execution.value(atom));
            assert!(holds.is_true(), "seed {seed}, {question:?}, {triple} by {schedule:?}: a goal is too strong");
            *seen.entry(Rule::Violation).or_default() += 1;
        }
        executions.push((triple, schedule, execution));
    }
    // Constraints hold for every query, also those that came in with a later one.
    for (triple, schedule, execution) in &executions {
        for constraint in encoder.constraints() {
            let holds = encoder.build().terms.evaluate(constraint.term, &mut |atom| execution.value(atom));
            assert!(
                holds.is_true(),
                "seed {seed}, {question:?}, {triple} by {schedule:?}: {} about {} is too strong\n{:#?}",
                constraint.rule(),
                constraint.about,
                trace.events
            );
            *seen.entry(constraint.rule()).or_default() += 1;
        }
    }
}

#[test]
fn every_constraint_holds_in_every_witness() {
    let number = |name: &str, default| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let start: u64 = number("FORETRACE_SEED", 0);
    let mut seen = Seen::new();
    for seed in start..start + number("FORETRACE_SEEDS", 800) {
        let (trace, observed) = random_trace(seed, &Shape::default());
        let trace_index = TraceIndex::new(&trace);
        let clocks = MustHappenBefore::new(&trace, &trace_index);
        let view = TraceView { trace: &trace, trace_index: &trace_index, observed: &observed, clocks: &clocks };
        for model in [Model::Cam, Model::Ctp, Model::Mcm, Model::Avp] {
            let Ok(oracle) = Oracle::new(&trace, &observed, model) else { continue };
            for atomic in [Atomic::Threads, Atomic::Marked] {
                for question in questions(model) {
                    check(seed, view, atomic, question, &oracle, &mut seen);
                }
            }
        }
    }
    println!("looked at: {seen:?}");
    let rules = [
        Rule::ProgramOrder,
        Rule::ReadsFrom,
        Rule::Guards,
        Rule::Pins,
        Rule::Locks,
        Rule::Once,
        Rule::ConditionVariables,
        Rule::Semaphores,
        Rule::Violation,
    ];
    for rule in rules {
        assert!(seen.get(&rule).is_some_and(|times| *times > 20), "{rule}: too few to mean anything: {seen:?}");
    }
}

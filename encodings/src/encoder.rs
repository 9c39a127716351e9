//! The encoder: grows the constraints of a trace as far as the queries asked need them.
//!
//! Constraints hold for every query and only ever grow in number, so a solver can keep them and what it learned. What a
//! query needs is its cone: the events before its three accesses, and whatever can enable or feed those. An event outside
//! of the cone can be taken from any witness without harm.
//!
//! Source: Fusion, sections 4.2 and 5, with the prefix made explicit (`Included`) and synchronisation by kind.

use crate::obligation::Obligation;
use crate::origin::Origin;
use crate::pi::Pi;
use crate::rules::{KnownValues, Rule, Rules};
use crate::sections::Sections;
use crate::term::{Atom, Builder};
use crate::view::TraceView;
use foretrace_index::Region;
use foretrace_trace::{EventId, Op, SyncId, TermId, ThreadId, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::rc::Rc;

/// A constraint with the instance of a rule that it comes from and the event that it is about.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// Where it comes from.
    pub origin: Origin,
    /// A Boolean term.
    pub term: TermId,
    /// The event that brought it in.
    pub about: EventId,
}

impl Constraint {
    /// Its family.
    pub fn rule(&self) -> Rule {
        self.origin.rule()
    }
}

/// Encodes queries over one trace.
pub struct Encoder<'a> {
    pub(crate) view: TraceView<'a>,
    pub(crate) rules: Rules,
    pub(crate) build: Builder,
    pub(crate) constants: &'a FxHashMap<EventId, Value>,
    pub(crate) cone: Cone,
    pub(crate) lets: FxHashMap<EventId, TermId>,
    pub(crate) sources: FxHashMap<EventId, Rc<Pi>>,
    pub(crate) sections: Option<Sections>,
    constraints: Vec<Constraint>,
    /// What the solver sees to by itself, where it knows schedules.
    pub(crate) obligations: Option<Vec<Obligation>>,
    agenda: Vec<Task>,
    /// How many questions about paths there were.
    questions: u32,
}

/// Which events take part so far.
#[derive(Default)]
pub(crate) struct Cone {
    /// Per thread: how many of its events.
    frontier: Vec<usize>,
    /// Per thread: positions with an `Included` atom.
    included: Vec<BTreeSet<usize>>,
    /// Per thread: positions of steps that order atoms speak of.
    ordered: Vec<BTreeSet<usize>>,
    /// Accesses whose value is defined, and sources that are.
    defined: FxHashSet<(EventId, Option<Option<EventId>>)>,
    /// Conditions that are asserted, with their thread, and whether only as pins.
    pub(crate) conditions: FxHashSet<(ThreadId, TermId, bool)>,
    /// What they say of single values.
    pub(crate) known_values: KnownValues,
    /// Steps that a prefix could end in.
    pub(crate) opens: BTreeSet<EventId>,
    pub(crate) regions: FxHashMap<SyncId, Vec<Region>>,
    pub(crate) attempts: FxHashMap<SyncId, Vec<Region>>,
    pub(crate) wakes: FxHashMap<SyncId, Vec<EventId>>,
    pub(crate) downs: FxHashMap<SyncId, Vec<EventId>>,
    /// Steps of which it is said that they lie in a stretch of their thread, and the threads that hold stretches.
    pub(crate) divided: FxHashSet<EventId>,
    pub(crate) holders: Vec<ThreadId>,
    /// Writes and accesses that obligations speak of.
    pub(crate) told: FxHashSet<EventId>,
    pub(crate) told_reads: FxHashSet<EventId>,
}

/// What is still to be encoded.
enum Task {
    /// The event and all before it in its thread.
    Reach(EventId),
    /// The value just before this access.
    Value(EventId),
    /// That this access reads from this write, or from the initial value.
    Source(EventId, Option<EventId>),
}

impl<'a> Encoder<'a> {
    /// An encoder without any constraint yet. `constants` are the reads that return one value in every prefix
    /// ([`crate::constants::constant_reads`]).
    pub fn new(view: TraceView<'a>, rules: Rules, constants: &'a FxHashMap<EventId, Value>) -> Encoder<'a> {
        Encoder::with_duties(view, rules, constants, None)
    }

    /// The same for a solver that knows schedules. Such a solver gets [`obligations`](Encoder::obligations) in place of the constraints of
    /// locks and of what reads return. These constraints grow with the square and the cube of the events.
    pub fn for_schedules(view: TraceView<'a>, rules: Rules, constants: &'a FxHashMap<EventId, Value>) -> Encoder<'a> {
        Encoder::with_duties(view, rules, constants, Some(Vec::new()))
    }

    fn with_duties(
        view: TraceView<'a>,
        rules: Rules,
        constants: &'a FxHashMap<EventId, Value>,
        obligations: Option<Vec<Obligation>>,
    ) -> Encoder<'a> {
        let threads = view.trace.threads.len();
        let cone = Cone {
            frontier: vec![0; threads],
            included: vec![BTreeSet::new(); threads],
            ordered: vec![BTreeSet::new(); threads],
            ..Cone::default()
        };
        let mut encoder = Encoder {
            view,
            rules,
            build: Builder::default(),
            constants,
            cone,
            lets: FxHashMap::default(),
            sources: FxHashMap::default(),
            sections: None,
            constraints: Vec::new(),
            obligations,
            agenda: Vec::new(),
            questions: 0,
        };
        if encoder.rules.complete {
            let last: Vec<EventId> = view.trace_index.threads.iter().filter_map(|own| own.last().copied()).collect();
            last.into_iter().for_each(|event| encoder.reach(event));
        }
        encoder
    }

    /// An encoder that leaves out sources which critical sections hide: fewer constraints, with the same verdicts, but
    /// what they rest on is not all named.
    pub fn narrowed(mut self) -> Encoder<'a> {
        self.sections = (!self.is_left_out(Rule::Locks)).then(|| Sections::new(self.view));
        self
    }

    /// All constraints so far; later queries only append.
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    /// All obligations so far; later queries only append. None for a solver that is told constraints alone.
    pub fn obligations(&self) -> &[Obligation] {
        self.obligations.as_deref().unwrap_or_default()
    }

    /// The arena of the constraints' terms.
    pub fn build(&self) -> &Builder {
        &self.build
    }

    /// The trace's facts.
    pub fn view(&self) -> TraceView<'a> {
        self.view
    }

    /// Whether every event takes part, not only a prefix.
    pub fn is_complete(&self) -> bool {
        self.rules.complete
    }

    /// How many events take part so far.
    pub fn cone_size(&self) -> usize {
        self.cone.frontier.iter().sum()
    }

    /// The ordered steps that take part so far, by thread and position: one order variable each.
    pub fn ordered(&self) -> impl Iterator<Item = EventId> + '_ {
        let own = &self.view.trace_index.threads;
        self.cone.ordered.iter().enumerate().flat_map(move |(thread, at)| at.iter().map(move |p| own[thread][*p]))
    }

    /// The term for "the step is part of the prefix"; nothing where no constraint says so.
    pub fn inclusion_term(&mut self, step: EventId) -> Option<TermId> {
        if self.rules.complete {
            return Some(self.build.truth());
        }
        let thread = self.view.trace.event(step).thread.index();
        let known = self.cone.included[thread].range(self.view.trace_index.position(step)..).next()?;
        let event = self.view.trace_index.threads[thread][*known];
        Some(self.build.atom(Atom::Included(event)))
    }

    /// Adds a constraint, unless it is trivial or its rule is left out.
    pub(crate) fn assert(&mut self, origin: Origin, about: EventId, term: TermId) {
        if term != self.build.truth() && !self.is_left_out(origin.rule()) {
            self.constraints.push(Constraint { origin, term, about });
            self.demand_leaves(term);
        }
    }

    /// Whether a family of rules is left out.
    pub(crate) fn is_left_out(&self, rule: Rule) -> bool {
        self.rules.without.contains(&rule)
    }

    /// The number of a new question about paths.
    pub(crate) fn next_question(&mut self) -> u32 {
        self.questions += 1;
        self.questions
    }

    /// Makes sure that the event and all before it in its thread take part.
    pub(crate) fn reach(&mut self, event: EventId) {
        self.agenda.push(Task::Reach(event));
    }

    /// Makes sure that everything the term mentions is defined.
    pub(crate) fn demand_leaves(&mut self, term: TermId) {
        let leaves: Vec<Atom> = self.build.terms.leaves(term).into_iter().copied().collect();
        for leaf in leaves {
            match leaf {
                Atom::Value { at, .. } if self.cone.defined.insert((at, None)) => {
                    self.reach(at);
                    self.agenda.push(Task::Value(at));
                }
                Atom::ReadsFrom { at, write } if self.cone.defined.insert((at, Some(write))) => {
                    self.reach(at);
                    self.agenda.push(Task::Source(at, write));
                }
                _ => {}
            }
        }
    }

    /// Works until everything asked for is encoded; `None` where `go_on`, told the number of terms, says no. The encoder is
    /// of no use then.
    pub(crate) fn settle(&mut self, go_on: &mut dyn FnMut(usize) -> bool) -> Option<()> {
        while let Some(task) = self.agenda.pop() {
            match task {
                Task::Reach(event) => self.extend(event, go_on)?,
                Task::Value(access) => self.define_value(access),
                Task::Source(access, source) => self.define_source(access, source),
            }
            go_on(self.build.terms.len()).then_some(())?;
        }
        Some(())
    }

    fn extend(&mut self, event: EventId, go_on: &mut dyn FnMut(usize) -> bool) -> Option<()> {
        let thread = self.view.trace.event(event).thread.index();
        let own = &self.view.trace_index.threads[thread];
        let until = self.view.trace_index.position(event) + 1;
        let from = self.cone.frontier[thread];
        if from == 0
            && let Some(fork) = self.view.trace_index.fork[thread]
        {
            self.after(fork, own[0]);
        }
        self.cone.frontier[thread] = from.max(until);
        for id in own.iter().take(until).skip(from) {
            self.encode_event(*id);
            go_on(self.build.terms.len()).then_some(())?;
        }
        Some(())
    }

    /// The obligations of one event that takes part.
    fn encode_event(&mut self, id: EventId) {
        let view = self.view;
        match &view.trace.event(id).op {
            Op::Acquire { lock } | Op::AcquireShared { lock } => self.lock_region(id, *lock),
            Op::Wake { cond, lock, .. } => {
                self.lock_region(id, *lock);
                self.wake(id, *cond);
            }
            Op::Busy { lock } => self.busy(id, *lock),
            Op::Down { sem } => self.down(id, *sem),
            Op::OnceBegin { once } => self.once_begin(id, *once),
            _ => {}
        }
        let others = |earlier: &&EventId| view.trace.event(**earlier).thread != view.trace.event(id).thread;
        for earlier in view.trace_index.waits_for(view.trace, id).iter().filter(others) {
            self.after(*earlier, id);
        }
        if self.sections.is_some() {
            self.learned_orders(id);
        }
        self.conditions(id);
        self.recorded_read(id);
    }

    /// The orders that are known beforehand, whatever they rest on.
    fn learned_orders(&mut self, id: EventId) {
        let TraceView { trace_index, clocks, .. } = self.view;
        for (thread, events) in clocks.learned(id) {
            self.after(trace_index.threads[thread][events as usize - 1], id);
        }
    }

    /// The event that stands for the step of `event` in order atoms.
    pub(crate) fn step(&self, event: EventId) -> EventId {
        self.view.trace_index.step(self.view.trace, event).0
    }

    /// The term for "`a` comes before `b`"; a constant where that is known.
    pub(crate) fn before(&mut self, a: EventId, b: EventId) -> TermId {
        let (trace, trace_index, clocks) = (self.view.trace, self.view.trace_index, self.view.clocks);
        if trace.event(a).thread == trace.event(b).thread {
            return self.build.boolean(trace_index.position(a) < trace_index.position(b));
        }
        let ((a, a_last), (b, b_last)) = (trace_index.step(trace, a), trace_index.step(trace, b));
        if clocks.before(a, b) || clocks.before(a_last, b) {
            return self.build.truth();
        }
        if clocks.before(b, a) || clocks.before(b_last, a) {
            return self.build.falsity();
        }
        self.order(a);
        self.order(b);
        if a < b {
            self.build.atom(Atom::Before(a, b))
        } else {
            let reverse = self.build.atom(Atom::Before(b, a));
            self.build.not(reverse)
        }
    }

    /// The term for "`event` is part of the prefix".
    pub(crate) fn included(&mut self, event: EventId) -> TermId {
        if self.rules.complete {
            return self.build.truth();
        }
        let event = self.inclusion(event);
        self.include(event);
        self.build.atom(Atom::Included(event))
    }

    /// Adds an `Included` atom for the event and ties it to its neighbours in the thread.
    fn include(&mut self, event: EventId) {
        let thread = self.view.trace.event(event).thread;
        let position = self.view.trace_index.position(event);
        if self.rules.complete || !self.cone.included[thread.index()].insert(position) {
            return;
        }
        self.reach(event);
        let (before, after) = neighbours(&self.cone.included[thread.index()], position);
        self.link_inclusion(thread, before, position);
        self.link_inclusion(thread, Some(position), after.unwrap_or(usize::MAX));
        self.whole_step(self.step(event));
    }

    fn link_inclusion(&mut self, thread: ThreadId, before: Option<usize>, after: usize) {
        let own = &self.view.trace_index.threads[thread.index()];
        if let (Some(before), Some(after)) = (before, own.get(after).copied()) {
            self.inclusion_order(own[before], after);
        }
    }

    /// The term for "the prefix ends inside of this step".
    pub(crate) fn open(&mut self, step: EventId) -> TermId {
        self.cone.opens.insert(step);
        self.build.atom(Atom::Open(step))
    }

    /// Gives the step an order variable and ties it to its neighbours in the thread.
    pub(crate) fn order(&mut self, step: EventId) {
        let thread = self.view.trace.event(step).thread.index();
        let position = self.view.trace_index.position(step);
        if !self.cone.ordered[thread].insert(position) {
            return;
        }
        self.reach(step);
        let own = &self.view.trace_index.threads[thread];
        let (before, after) = neighbours(&self.cone.ordered[thread], position);
        if let Some(before) = before {
            self.program_order(own[before], step);
        }
        if let Some(after) = after {
            self.program_order(step, own[after]);
        }
    }
}

/// The elements next to `position` on either side.
fn neighbours(set: &BTreeSet<usize>, position: usize) -> (Option<usize>, Option<usize>) {
    let before = set.range(..position).next_back().copied();
    let after = set.range(position + 1..).next().copied();
    (before, after)
}

//! Reads whose value can come from only one write. The trace atomicity segment and early refutation rest on them.
//!
//! Every statement here names an event, `by`, and holds in *every* prefix of the model that contains `by`:
//!
//! - for a plain read, `by` is the next event of its thread (in `avp` and `mcm` the last read of a thread may return anything);
//! - for a read with a guard and for an `rmw`, `by` is the read itself;
//! - in `ctp`, `by` is the guard or assume that tests the value.

use super::enabling_sets::{Edges, add_enabling_orders};
use super::known_writes::{Known, KnownWrites, SingleValues, evaluate, single_value};
use super::regions::{RegionsByThread, regions_by_thread};
use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_trace::{EventId, Func, Model, Node, Observed, Op, TermId, Trace, Value, VarId, Why};
use rustc_hash::FxHashMap;
use std::cell::OnceCell;

/// In every prefix that holds `by`, `read` takes what `source` wrote, the initial value if nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ForcedRead {
    /// The read.
    pub read: EventId,
    /// The only write that it can read from.
    pub source: Option<EventId>,
    /// The event in whose presence this holds: `read` or a later one of its thread.
    pub by: EventId,
}

/// What a model's rule for reads forces.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Forced {
    /// Reads with one possible source.
    pub reads: Vec<ForcedRead>,
    /// Pairs (earlier, later) of different threads: the earlier comes first in every prefix with the later. Before a read from one
    /// of several writes comes what comes before, or is, each of them.
    pub edges: Edges,
}

/// What a read that the thread goes on from must have returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadRule {
    /// Anything.
    Free,
    /// What makes the conditions over it true; those of pins are looked at or not.
    Conditions {
        /// Whether assumes that pin a value count.
        pins: bool,
    },
    /// The recorded value.
    SameValue,
    /// What the recorded write wrote.
    SameWrite,
}

impl ReadRule {
    /// A model's rules: the one that needs no pin, and the one with pins where that differs.
    pub fn of_model(model: Model) -> (ReadRule, Option<ReadRule>) {
        match model {
            Model::Cam => (ReadRule::Free, None),
            Model::Ctp => (ReadRule::Conditions { pins: false }, Some(ReadRule::Conditions { pins: true })),
            Model::Mcm => (ReadRule::SameValue, None),
            Model::Avp => (ReadRule::SameWrite, None),
        }
    }
}

/// Writes looked at for one read and condition before it is left alone.
const MOST_WRITES: usize = 256;
/// Conditions over one read that are looked at.
const MOST_CONDITIONS: usize = 8;
/// Definitions that a condition may go through.
const MOST_LETS: usize = 32;

/// A condition over a single read, and what is constant.
#[derive(Clone, Debug)]
struct Condition {
    by: EventId,
    term: TermId,
    /// The `let`s between the read and the condition, in order.
    lets: Vec<EventId>,
    pin: bool,
}

/// Finds forced reads.
#[derive(Debug)]
pub struct Reads<'a> {
    trace: &'a Trace,
    trace_index: &'a TraceIndex,
    observed: &'a Observed,
    constants: &'a FxHashMap<EventId, Value>,
    /// Per variable: its writes by thread.
    writes: Vec<WritesByThread>,
    /// The same by the value that the run wrote.
    same_value: OnceCell<FxHashMap<(VarId, &'a Value), WritesByThread>>,
    /// The conditions over each read, where its rule asks for them.
    conditions: FxHashMap<EventId, Vec<Condition>>,
    /// The critical sections of each lock.
    regions: RegionsByThread,
    /// What writes write, by conditions without pins and with them.
    known: [OnceCell<KnownWrites>; 2],
}

/// Writes of one variable in program order, for each thread that has any.
type WritesByThread = Vec<Vec<EventId>>;

/// Where a read can take its value from.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Sources {
    /// From the initial value among others, from nowhere, or from too many to say.
    Many,
    /// From the initial value alone.
    Initial,
    /// From writes alone: what comes before the read with the earliest of each thread that has any; and the write, where there
    /// is no other.
    From { earliest: Vec<EventId>, only: Option<EventId> },
}

impl Sources {
    fn one(write: EventId) -> Sources {
        Sources::From { earliest: vec![write], only: Some(write) }
    }

    fn is_one(&self) -> bool {
        matches!(self, Sources::Initial | Sources::From { only: Some(_), .. })
    }
}

impl<'a> Reads<'a> {
    /// Prepares a valid trace. `constants` are reads that return one value in every prefix.
    pub fn new(
        trace: &'a Trace,
        trace_index: &'a TraceIndex,
        observed: &'a Observed,
        constants: &'a FxHashMap<EventId, Value>,
    ) -> Reads<'a> {
        let writes = trace_index.writes.iter().map(|all| by_thread(trace, all.iter().copied())).collect();
        let conditions = conditions(trace, trace_index, constants);
        let regions = regions_by_thread(trace, trace_index);
        let (same_value, known) = (OnceCell::new(), [OnceCell::new(), OnceCell::new()]);
        Reads { trace, trace_index, observed, constants, writes, same_value, conditions, regions, known }
    }

    /// The critical sections of each lock, by thread.
    pub(super) fn regions(&self) -> &RegionsByThread {
        &self.regions
    }

    /// The same, where nothing more is asked.
    pub(super) fn into_regions(self) -> RegionsByThread {
        self.regions
    }

    /// Adds sections of further locks, which exclude each other as those of a mutex do.
    pub(super) fn add_regions(&mut self, regions: &RegionsByThread) {
        self.regions.extend_from_slice(regions);
    }

    /// The writes of a value to a variable.
    fn writes_of(&self, var: VarId, value: &'a Value) -> &[Vec<EventId>] {
        let by_value = self.same_value.get_or_init(|| {
            let mut by_value: FxHashMap<(VarId, &Value), Vec<EventId>> = FxHashMap::default();
            for (var, all) in self.trace_index.writes.iter().enumerate() {
                for (write, value) in all.iter().filter_map(|write| Some((*write, self.observed.written(*write)?))) {
                    by_value.entry((VarId::from_index(var), value)).or_default().push(write);
                }
            }
            by_value.into_iter().map(|(of, all)| (of, by_thread(self.trace, all.into_iter()))).collect()
        });
        by_value.get(&(var, value)).map_or(&[], |writes| &writes[..])
    }

    /// Whether any pin is a condition over a single read.
    pub fn any_pin(&self) -> bool {
        self.conditions.values().flatten().any(|condition| condition.pin)
    }

    /// What `rule` forces, given orders that hold already.
    pub fn forced(&self, rule: ReadRule, clocks: &MustHappenBefore) -> Forced {
        let mut forced = Forced::default();
        for (read, event) in self.trace.iter() {
            let Some(var) = event.op.var().filter(|_| event.op.reads()) else { continue };
            match rule {
                ReadRule::Free => {}
                ReadRule::SameWrite => {
                    let source = self.observed.source(read);
                    let only = source.map_or(Sources::Initial, Sources::one);
                    self.record(&mut forced, clocks, read, self.goes_on(read), &only);
                }
                ReadRule::SameValue => {
                    let Some(value) = self.observed.read(read) else { continue };
                    let initial = self.trace.vars[var.index()].init.as_ref() == Some(value);
                    let same = self.writes_of(var, value);
                    let sources = self.sources(clocks, (read, var), same, initial, &mut Some);
                    self.record(&mut forced, clocks, read, self.goes_on(read), &sources);
                }
                ReadRule::Conditions { pins } => self.by_conditions(&mut forced, clocks, read, var, pins),
            }
        }
        forced
    }

    /// The first event in whose presence the read has returned what the recorded run says.
    fn goes_on(&self, read: EventId) -> Option<EventId> {
        match self.trace.event(read).op {
            Op::Read { guard: None, .. } => self.trace_index.next(self.trace, read),
            _ => Some(read),
        }
    }

    fn record(
        &self,
        forced: &mut Forced,
        clocks: &MustHappenBefore,
        read: EventId,
        by: Option<EventId>,
        sources: &Sources,
    ) {
        let Some(by) = by else { return };
        match sources {
            Sources::Many => {}
            Sources::Initial => forced.reads.push(ForcedRead { read, source: None, by }),
            Sources::From { earliest, only } => {
                forced.reads.extend(only.map(|source| ForcedRead { read, source: Some(source), by }));
                add_enabling_orders((self.trace, self.trace_index, clocks), earliest, 1, by, &mut forced.edges);
            }
        }
    }

    fn by_conditions(&self, forced: &mut Forced, clocks: &MustHappenBefore, read: EventId, var: VarId, pins: bool) {
        let Some(all) = self.conditions.get(&read) else { return };
        let mut held: Vec<&Condition> = Vec::new();
        for condition in all.iter().filter(|condition| pins || !condition.pin).take(MOST_CONDITIONS) {
            held.push(condition);
            let holds = |value: &Value| held.iter().all(|condition| self.holds(condition, read, value));
            let initial = self.trace.vars[var.index()].init.as_ref().is_none_or(holds);
            let writes = &self.writes[var.index()];
            let mut fits = |write| match self.written(write, read, pins, clocks) {
                Some((value, with)) => holds(value).then_some(with),
                None => Some(write), // its value is not known before the prefix is
            };
            let sources = self.sources(clocks, (read, var), writes, initial, &mut fits);
            self.record(forced, clocks, read, Some(condition.by), &sources);
            if sources.is_one() {
                return;
            }
        }
    }

    /// What a read takes from a write, where that is the same in every prefix in which it does so; and an event of the writer that
    /// comes before the read then, at or after the write.
    fn written(
        &self,
        write: EventId,
        read: EventId,
        pins: bool,
        clocks: &MustHappenBefore,
    ) -> Option<(&Value, EventId)> {
        self.literal(write).map(|value| (value, write)).or_else(|| {
            let known = self.known[usize::from(pins)].get_or_init(|| {
                KnownWrites::new(self.trace, self.trace_index, &self.regions, &self.single_values(pins), clocks)
            });
            known.read_from(self.trace, &self.regions, write, read)
        })
    }

    /// The reads that conditions leave one value, and constant ones.
    fn single_values(&self, pins: bool) -> SingleValues {
        let constant = |(read, value): (&EventId, &Value)| (*read, Known { value: value.clone(), by: *read });
        let mut single: SingleValues = self.constants.iter().map(constant).collect();
        for (read, conditions) in &self.conditions {
            let mut held = conditions.iter().filter(|condition| pins || !condition.pin);
            let known = held.find_map(|condition| {
                let value = single_value(self.trace, condition.term, *read)?.clone();
                Some(Known { value, by: condition.by })
            });
            single.extend(known.map(|known| (*read, known)));
        }
        single
    }

    /// Whether a read did not return a value in any prefix with a later event of its thread, by a rule for reads.
    pub(super) fn excludes(&self, rule: ReadRule, read: EventId, later: EventId, value: &Value) -> bool {
        match rule {
            ReadRule::Free | ReadRule::SameWrite => false,
            ReadRule::SameValue => self.observed.read(read).is_some_and(|observed| observed != value),
            ReadRule::Conditions { pins } => {
                let mut held = self.held(read, pins).filter(|condition| condition.by <= later);
                held.any(|condition| !self.holds(condition, read, value))
            }
        }
    }

    /// The conditions over a read, by a rule for reads.
    pub(super) fn condition_events(&self, rule: ReadRule, read: EventId) -> impl Iterator<Item = EventId> {
        let pins = match rule {
            ReadRule::Conditions { pins } => Some(pins),
            ReadRule::Free | ReadRule::SameValue | ReadRule::SameWrite => None,
        };
        pins.into_iter().flat_map(move |pins| self.held(read, pins)).map(|condition| condition.by)
    }

    /// The conditions over a read, those of pins included or not.
    fn held(&self, read: EventId, pins: bool) -> impl Iterator<Item = &Condition> {
        let all = self.conditions.get(&read).into_iter().flatten();
        all.filter(move |condition| pins || !condition.pin)
    }

    /// What an rmw stores if it reads `read`, where that depends on nothing else.
    pub(super) fn stored(&self, rmw: EventId, read: &Value) -> Option<Value> {
        match &self.trace.event(rmw).op {
            Op::Rmw { expr: Some(term), .. } => evaluate(self.trace, *term, &|definition| match definition == rmw {
                true => Some(read),
                false => self.constants.get(&definition),
            }),
            Op::Rmw { expr: None, .. } if self.observed.read(rmw) == Some(read) => self.observed.written(rmw).cloned(),
            _ => None,
        }
    }

    /// The read of a thread whose value a later compare-and-swap of it found again, where it took effect.
    fn swapped_for(&self, rmw: EventId) -> Option<EventId> {
        let Op::Rmw { guard: Some(guard), .. } = self.trace.event(rmw).op else { return None };
        let Node::App(Func::Eq, _) = self.trace.terms.node(guard) else { return None };
        let definition = |term: &TermId| match self.trace.terms.node(*term) {
            Node::Leaf(local) => Some(local.definition),
            _ => None,
        };
        let [one, other] = *self.trace.terms.args(guard) else { return None };
        let pair = [definition(&one)?, definition(&other)?];
        pair.contains(&rmw).then(|| pair.into_iter().find(|read| *read != rmw)).flatten()
    }

    /// As [`excludes`](Self::excludes); a compare-and-swap that took effect found what the read returned that it compares with.
    pub(super) fn excludes_swapped(&self, rule: ReadRule, rmw: EventId, later: EventId, value: &Value) -> bool {
        let excludes = |read| self.excludes(rule, read, later, value);
        excludes(rmw) || self.swapped_for(rmw).is_some_and(excludes)
    }

    /// As [`condition_events`](Self::condition_events), with those over the read that a compare-and-swap compares with.
    pub(super) fn condition_events_swapped(&self, rule: ReadRule, rmw: EventId) -> impl Iterator<Item = EventId> {
        let other = self.swapped_for(rmw).into_iter().flat_map(move |read| self.condition_events(rule, read));
        self.condition_events(rule, rmw).chain(other)
    }

    /// As [`stored`](Self::stored), also where it depends on the read that a compare-and-swap compares with.
    pub(super) fn stored_swapped(&self, rmw: EventId, read: &Value) -> Option<Value> {
        let compared = self.swapped_for(rmw);
        match &self.trace.event(rmw).op {
            Op::Rmw { expr: Some(term), .. } => evaluate(self.trace, *term, &|definition| {
                let is_found = definition == rmw || Some(definition) == compared;
                if is_found { Some(read) } else { self.constants.get(&definition) }
            }),
            _ => None,
        }
    }

    /// The value of a write that is a literal, or of a plain write with a recorded value. A trace without expressions has no conditions, so no
    /// caller asks for an rmw there.
    pub(super) fn literal(&self, write: EventId) -> Option<&Value> {
        match &self.trace.event(write).op {
            Op::Write { expr: Some(term), .. } | Op::Rmw { expr: Some(term), .. } => self.trace.terms.as_const(*term),
            Op::Write { value, .. } => value.map(|value| self.trace.value(value)),
            _ => None,
        }
    }

    fn holds(&self, condition: &Condition, read: EventId, value: &Value) -> bool {
        let mut names: FxHashMap<EventId, Value> = FxHashMap::default();
        names.insert(read, value.clone());
        let evaluate = |term, names: &FxHashMap<EventId, Value>| {
            self.trace.terms.evaluate(term, &mut |local| {
                let known = names.get(&local.definition).or_else(|| self.constants.get(&local.definition));
                known.cloned().unwrap_or_else(|| Value::zero(local.sort))
            })
        };
        for definition in &condition.lets {
            if let Op::Let { expr, .. } = self.trace.event(*definition).op {
                let value = evaluate(expr, &names);
                names.insert(*definition, value);
            }
        }
        evaluate(condition.term, &names).is_true()
    }

    /// The possible sources of a read: those of these writes that `fits` and that the orders allow. A write that must come after the
    /// read is none, nor is one that another write must come after and still before the read. For a write that fits, `fits` gives an
    /// event of its thread that comes before the read with it.
    fn sources(
        &self,
        clocks: &MustHappenBefore,
        (read, var): (EventId, VarId),
        these: &[Vec<EventId>],
        initial: bool,
        fits: &mut dyn FnMut(EventId) -> Option<EventId>,
    ) -> Sources {
        let before = |write: &EventId| clocks.before(*write, read);
        let all = &self.writes[var.index()];
        // Per thread, the last write that must come before the read: what it overwrites is gone.
        let last: Vec<EventId> =
            all.iter().filter_map(|writes| writes[..writes.partition_point(before)].last().copied()).collect();
        let mut earliest: Vec<EventId> = Vec::new();
        let mut only = None;
        let mut count = 0;
        let mut looked = 0;
        for writes in these {
            let gone = |write: &EventId| last.iter().any(|last| clocks.before(*write, *last));
            let mut of_thread = 0;
            for write in &writes[writes.partition_point(gone)..] {
                if *write == read || clocks.before(read, *write) || of_thread > 1 {
                    break;
                }
                looked += 1;
                if looked > MOST_WRITES {
                    return Sources::Many;
                }
                if let Some(with) = fits(*write).filter(|with| !clocks.before(read, *with)) {
                    // With a later write comes that write at least.
                    match earliest.last_mut().filter(|_| of_thread > 0) {
                        Some(first) => *first = (*first).min(*write),
                        None => earliest.push(with),
                    }
                    only = Some(*write);
                    of_thread += 1;
                }
            }
            count += of_thread;
        }
        match (initial && last.is_empty(), count) {
            (true, 0) => Sources::Initial,
            (true, _) | (false, 0) => Sources::Many,
            (false, count) => Sources::From { earliest, only: only.filter(|_| count == 1) },
        }
    }
}

fn by_thread(trace: &Trace, writes: impl Iterator<Item = EventId>) -> WritesByThread {
    let mut by_thread: WritesByThread = Vec::new();
    let mut row: FxHashMap<u32, usize> = FxHashMap::default();
    for write in writes {
        let at = *row.entry(trace.event(write).thread.0).or_insert_with(|| {
            by_thread.push(Vec::new());
            by_thread.len() - 1
        });
        by_thread[at].push(write);
    }
    by_thread
}

/// The single read that a value depends on.
#[derive(Clone, Debug)]
enum Support {
    None,
    One(EventId, Vec<EventId>),
    Many,
}

/// The conditions over each read that no other one takes part in, but for constant ones.
fn conditions(
    trace: &Trace,
    trace_index: &TraceIndex,
    constants: &FxHashMap<EventId, Value>,
) -> FxHashMap<EventId, Vec<Condition>> {
    let mut conditions: FxHashMap<EventId, Vec<Condition>> = FxHashMap::default();
    for own in &trace_index.threads {
        let mut lets: FxHashMap<EventId, Support> = FxHashMap::default();
        for id in own {
            let op = &trace.event(*id).op;
            if let Op::Let { expr, .. } = op {
                let support = support(trace, *expr, &lets, constants).through(*id);
                lets.insert(*id, support);
            }
            let Some(term) = op.condition() else { continue };
            if let Support::One(read, through) = support(trace, term, &lets, constants) {
                let pin = matches!(op, Op::Assume { why: Why::Pin, .. });
                let all = conditions.entry(read).or_default();
                if all.iter().filter(|other| other.pin == pin).count() < MOST_CONDITIONS {
                    all.push(Condition { by: *id, term, lets: through, pin });
                }
            }
        }
    }
    conditions
}

fn support(
    trace: &Trace,
    term: TermId,
    lets: &FxHashMap<EventId, Support>,
    constants: &FxHashMap<EventId, Value>,
) -> Support {
    let mut found = Support::None;
    for local in trace.terms.leaves(term).into_iter().filter(|local| !constants.contains_key(&local.definition)) {
        let one = match lets.get(&local.definition) {
            Some(known) => known.clone(),
            None => Support::One(local.definition, Vec::new()),
        };
        found = found.and(one);
    }
    found
}

impl Support {
    fn and(self, other: Support) -> Support {
        match (self, other) {
            (Support::None, other) => other,
            (one, Support::None) => one,
            (Support::One(a, mut through), Support::One(b, more)) if a == b => {
                through.extend(more);
                through.sort_unstable();
                through.dedup();
                if through.len() > MOST_LETS { Support::Many } else { Support::One(a, through) }
            }
            _ => Support::Many,
        }
    }

    /// The same for what a `let` defines by such a value.
    fn through(self, definition: EventId) -> Support {
        match self {
            Support::One(read, mut through) if through.len() < MOST_LETS => {
                through.push(definition);
                Support::One(read, through)
            }
            _ => Support::Many, // also a constant: rare, and nothing is lost but a filter's chance
        }
    }
}

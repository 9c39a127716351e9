//! Early refutation against its rules: each applied to all events again and again until no order is new.

use crate::filters::early_refutation::{EarlyRefutation, ReadIndex};
use crate::filters::{Orders, ReadRule, Reads};
use foretrace_encodings::{TraceView, constant_reads};
use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_trace::strategies::{Shape, Topic, random_trace};
use foretrace_trace::{Atomic, EventId, Feasibility, Model, Trace, Triple};
use rustc_hash::FxHashMap;

/// What one candidate forces, as matrices over all events.
struct Forced<'a> {
    trace: &'a Trace,
    trace_index: &'a TraceIndex,
    orders: &'a Orders,
    triple: Triple,
    is_complete: bool,
    /// Which events the prefix holds.
    held: Vec<bool>,
    /// The orders besides those of the clocks.
    added: Vec<(EventId, EventId)>,
    /// All that follows from both.
    before: Vec<Vec<bool>>,
}

/// There is no such prefix.
struct Impossible;

impl Forced<'_> {
    fn events(&self) -> impl Iterator<Item = EventId> + use<> {
        (0..self.trace.events.len()).map(EventId::from_index)
    }

    fn hold(&mut self, event: EventId) {
        for other in self.events() {
            self.held[other.index()] |= other == event || self.orders.clocks.before(other, event);
        }
    }

    fn is_before(&self, a: EventId, b: EventId) -> bool {
        self.before[a.index()][b.index()]
    }

    fn is_up_to(&self, a: EventId, b: EventId) -> bool {
        a == b || self.is_before(a, b)
    }

    /// Whole steps come before each other; within one, each part does.
    fn add(&mut self, from: EventId, to: EventId) {
        let [one, other] = [from, to].map(|event| self.trace_index.step(self.trace, event));
        let order = if one == other { (from, to) } else { (one.1, other.0) };
        if !self.added.contains(&order) {
            self.added.push(order);
        }
    }

    /// What holds with the orders so far, unless that is impossible.
    fn close(&mut self) -> Result<(), Impossible> {
        for a in self.events() {
            for b in self.events() {
                self.before[a.index()][b.index()] = self.orders.clocks.before(a, b) || self.added.contains(&(a, b));
            }
        }
        for between in self.events() {
            for a in self.events().filter(|a| self.before[a.index()][between.index()]).collect::<Vec<_>>() {
                for b in self.events().filter(|b| self.before[between.index()][b.index()]).collect::<Vec<_>>() {
                    self.before[a.index()][b.index()] = true;
                }
            }
        }
        let second = self.triple.second;
        let goes_on = self.events().any(|event| self.held[event.index()] && self.is_before(second, event));
        let has_cycle = self.events().any(|event| self.is_before(event, event));
        if has_cycle || !self.is_complete && goes_on { Err(Impossible) } else { Ok(()) }
    }

    /// What follows where all of `past` come before all of `future`.
    fn follow(&mut self, past: &[EventId], future: &[EventId]) -> Result<(), Impossible> {
        let (trace, held) = (self.trace, self.held.clone());
        let regions: Vec<_> = self.trace_index.regions.iter().flatten().copied().collect();
        for one in regions.iter().filter(|one| past.contains(&one.start)) {
            for other in regions.iter().filter(|other| other.excludes(one) && held[other.start.index()]) {
                let thread = |event: &&EventId| trace.event(**event).thread == other.thread;
                let is_open = |event: &EventId| other.end.is_none_or(|end| *event <= end);
                if future.iter().filter(thread).any(is_open) {
                    let end = one.end.ok_or(Impossible)?;
                    self.hold(end);
                    self.add(end, other.start);
                }
            }
        }
        for read in self.orders.reads.clone().into_iter().filter(|read| held[read.by.index()]) {
            let var = trace.event(read.read).op.var();
            let writes = |event: &EventId| {
                let op = &trace.event(*event).op;
                op.writes() && op.var() == var && *event != read.read && Some(*event) != read.source
            };
            let thread = |event: EventId| trace.event(event).thread;
            let overwritten = past.iter().copied().filter(|write| writes(write) && thread(*write) != thread(read.read));
            for write in overwritten.filter(|_| future.contains(&read.read)).collect::<Vec<_>>() {
                self.add(write, read.source.ok_or(Impossible)?);
            }
            let later = future.iter().copied().filter(|write| writes(write) && held[write.index()]);
            let after_source = |write: &EventId| read.source.is_none_or(|source| self.is_before(source, *write));
            let later: Vec<EventId> = later.filter(after_source).collect();
            for write in later {
                self.add(read.read, write);
            }
        }
        Ok(())
    }

    fn run(&mut self) -> Result<(), Impossible> {
        let Triple { first, remote, second } = self.triple;
        [first, remote, second].into_iter().for_each(|event| self.hold(event));
        self.add(first, remote);
        self.add(remote, second);
        loop {
            let before = (self.held.clone(), self.added.len());
            self.close()?;
            let links: Vec<_> =
                self.added.iter().copied().chain([first, remote, second].map(|one| (one, one))).collect();
            for (from, to) in links {
                // All that a prefix holds comes before second, its last event.
                let is_last = from == second && !self.is_complete;
                let past = self.events().filter(|a| self.held[a.index()] && is_last || self.is_up_to(*a, from));
                let future = self.events().filter(|b| self.held[b.index()] && self.is_up_to(to, *b));
                let (past, future): (Vec<EventId>, Vec<EventId>) = (past.collect(), future.collect());
                self.follow(&past, &future)?;
            }
            if (&self.held, self.added.len()) == (&before.0, before.1) {
                return Ok(());
            }
        }
    }
}

#[test]
fn what_is_refuted_is_what_the_rules_refute() {
    let about = |topics: &[Topic]| Shape { events: 18, topics: topics.to_vec(), ..Shape::default() };
    let shapes =
        [Shape::default(), about(&[Topic::Mutex]), about(&[Topic::Rwlock, Topic::Threads]), about(&[Topic::Condvar])];
    let mut answers = [0, 0];
    for seed in 0..150 {
        let (trace, observed) = random_trace(seed, &shapes[seed as usize % shapes.len()]);
        let trace_index = TraceIndex::new(&trace);
        let clocks = MustHappenBefore::new(&trace, &trace_index);
        let view = TraceView { trace: &trace, trace_index: &trace_index, observed: &observed, clocks: &clocks };
        let constants = constant_reads(view);
        let reads = Reads::new(&trace, &trace_index, &observed, &constants);
        let candidates = foretrace_trace::candidates(&trace, &Atomic::Threads.transactions(&trace));
        for model in
            [Model::Cam, Model::Ctp, Model::Mcm, Model::Avp].into_iter().filter(|model| trace.data >= model.needs())
        {
            let (rule, with_pins) = ReadRule::of_model(model);
            for feasibility in [Feasibility::Prefix, Feasibility::Complete] {
                let orders = Orders::new(&trace, &trace_index, &reads, with_pins.unwrap_or(rule), feasibility);
                let refutation = EarlyRefutation::new(
                    (&trace, &trace_index),
                    feasibility,
                    (reads.regions().clone(), FxHashMap::default()),
                );
                let index = ReadIndex::new(&trace, &orders.reads);
                for triple in candidates.iter().copied() {
                    let is_complete = feasibility == Feasibility::Complete;
                    let events = trace.events.len();
                    let mut forced = Forced {
                        trace: &trace,
                        trace_index: &trace_index,
                        orders: &orders,
                        triple,
                        is_complete,
                        held: vec![is_complete; events],
                        added: Vec::new(),
                        before: vec![vec![false; events]; events],
                    };
                    let expected = forced.run().is_err();
                    let found = refutation.refutes(&orders, &index, triple);
                    assert_eq!(found, expected, "seed {seed}, {model}, {feasibility}: {triple} of {trace:#?}");
                    answers[usize::from(found)] += 1;
                }
            }
        }
    }
    assert!(answers.iter().all(|count| *count > 500), "{answers:?}");
}

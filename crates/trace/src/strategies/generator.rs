//! Runs random programs: a thread is chosen at random, its next step is kept if the trace is still valid with it.

use super::expressions::{Name, expression, literal, value};
use super::programs::{Step, idiom, topics};
use super::shape::{Shape, Topic};
use crate::assembler::validate;
use crate::builder::{Added, TraceBuilder};
use crate::candidates::candidates;
use crate::lower::lower;
use crate::observe::observe;
use crate::observed::Observed;
use crate::op::{Op, WakeCause};
use crate::random::Random;
use crate::trace::{Data, EventId, SyncKind, Trace};
use crate::transactions::Atomic;
use crate::value::{Sort, Value};
use std::collections::VecDeque;

/// A thread while the trace is made.
#[derive(Clone, Debug, Default)]
struct Thread {
    /// What it is to do next.
    plan: VecDeque<Step>,
    /// How often the next step did not fit.
    refused: usize,
    names: Vec<Name>,
    open_transactions: usize,
    waits_since: Option<EventId>,
    rounds: u64,
    /// Whether it is at an initialisation.
    initialises: bool,
    /// Whether it still has to be forked.
    unborn: bool,
}

#[derive(Clone)]
struct Generator {
    random: Random,
    /// Most events.
    limit: usize,
    /// Whether blocks are often inside each other.
    nests: bool,
    builder: TraceBuilder,
    vars: Vec<(&'static str, Sort)>,
    topics: Vec<Topic>,
    threads: Vec<Thread>,
    /// The signals and broadcasts that no wake was by.
    signals: Vec<EventId>,
    /// Whether an initialisation has ended.
    initialised: bool,
}

/// How often a step is tried again before it is given up.
const PATIENCE: usize = 5;

/// How often a trace without candidates is made again.
const ATTEMPTS: usize = 3;

pub(super) fn generate(seed: u64, shape: &Shape) -> (Trace, Observed) {
    let mut random = Random::new(seed);
    let chosen = random.weighted(&[(6, Data::Symbolic), (2, Data::Concrete), (2, Data::None)]);
    let data = shape.data.or(chosen).unwrap_or(Data::Symbolic);
    let mut trace = program(&mut random, shape);
    for _ in 1..ATTEMPTS {
        if !candidates(&trace, &Atomic::Marked.transactions(&trace)).is_empty() {
            break;
        }
        trace = program(&mut random, shape);
    }
    let trace = lower(&trace, data).unwrap_or(trace);
    let observed = observe(&trace).unwrap_or_default();
    (trace, observed)
}

/// The symbolic trace of one program.
fn program(random: &mut Random, shape: &Shape) -> Trace {
    let mut generator = Generator::new(random.clone(), shape);
    generator.fill();
    generator.record_values();
    *random = generator.random;
    generator.builder.trace().clone()
}

impl Generator {
    fn new(mut random: Random, shape: &Shape) -> Generator {
        let mut builder = TraceBuilder::new(Data::Symbolic);
        let sorts = [(6, Sort::Int), (1, Sort::Bool), (1, Sort::BitVec(64)), (2, Sort::BitVec(2))];
        let mut vars = Vec::new();
        for key in &["x", "y", "z"][..[1, 1, 2, 3][random.below(4)]] {
            let sort = random.weighted(&sorts).unwrap_or(Sort::Int);
            builder.var(key, value(&mut random, sort));
            vars.push((*key, sort));
        }
        builder.sync("m", SyncKind::Mutex { recursive: false });
        builder.sync("n", SyncKind::Mutex { recursive: false });
        builder.sync("r", SyncKind::Mutex { recursive: true });
        builder.sync("l", SyncKind::Rwlock);
        builder.sync("s", SyncKind::Semaphore { init: random.below(2) as u64 });
        builder.sync("c", SyncKind::Condvar);
        builder.sync("b", SyncKind::Barrier { parties: None });
        builder.sync("o", SyncKind::Once);
        let chosen = topics(&mut random);
        let topics = if shape.topics.is_empty() { chosen } else { shape.topics.clone() };
        let threads = vec![Thread::default(); [2, 3, 3, 4][random.below(4)].min(shape.threads.max(2) as usize)];
        let mut generator = Generator {
            random,
            limit: shape.events,
            nests: shape.nests,
            builder,
            vars,
            topics,
            threads,
            signals: Vec::new(),
            initialised: false,
        };
        generator.start();
        generator
    }

    /// Names the threads; lets some be forked by the first where that is a topic.
    fn start(&mut self) {
        for number in 1..=self.threads.len() as u64 {
            self.builder.thread(number);
            let is_forked = number > 1 && self.topics.contains(&Topic::Threads) && self.random.percent(60);
            if is_forked {
                self.thread(number).unborn = true;
                self.thread(1).plan.push_back(Step::Fork(number));
            }
        }
    }

    /// Adds events until there are this many, or nothing fits for long.
    fn fill(&mut self) {
        let fails = self.random.percent(6);
        let mut number = 1;
        for _ in 0..self.limit * 20 {
            if self.length() + usize::from(fails) >= self.limit {
                break;
            }
            if self.random.percent(45) {
                number = self.random.below(self.threads.len()) as u64 + 1;
            }
            if !self.thread(number).unborn {
                self.advance(number);
            }
        }
        if fails {
            self.keep_if_valid(|attempt| attempt.take(number, Step::Fail));
        }
    }

    fn length(&self) -> usize {
        self.builder.trace().events.len()
    }

    /// Tries the thread's next step.
    fn advance(&mut self, number: u64) {
        if self.thread(number).plan.is_empty() {
            self.plan(number);
        }
        let Some(step) = self.thread(number).plan.front().copied() else { return };
        let length = self.length();
        let fits = self.keep_if_valid(|attempt| {
            attempt.take(number, step);
            attempt.thread(number).plan.pop_front();
            attempt.thread(number).refused = 0;
        });
        if !fits || self.length() == length {
            let thread = self.thread(number);
            thread.refused += 1;
            let waits = thread.waits_since.is_some();
            if thread.refused > PATIENCE && !waits {
                thread.plan.pop_front();
                thread.refused = 0;
            }
        }
    }

    fn plan(&mut self, number: u64) {
        let thread = self.thread(number).clone();
        let opens = thread.open_transactions == 0 && self.random.percent(if thread.names.is_empty() { 70 } else { 30 });
        let (deepest, nesting, ending_inner) = if self.nests { (3, 30, 15) } else { (1, 3, 50) };
        let ends = thread.open_transactions > 0
            && self.random.percent(if thread.open_transactions > 1 { ending_inner } else { 8 });
        let nests = (1..=deepest).contains(&thread.open_transactions) && self.random.percent(nesting);
        let mut steps = Vec::new();
        if opens || nests {
            steps.push(Step::Begin);
        } else if ends {
            steps.push(Step::End);
        }
        let somebody_waits = self.threads.iter().any(|thread| thread.waits_since.is_some());
        if somebody_waits && self.random.percent(50) {
            steps.push(Step::Signal);
        }
        steps.extend(idiom(&mut self.random, &self.topics, self.threads.len() as u64));
        self.thread(number).plan.extend(steps);
    }

    /// Does something to a copy and keeps that, if the trace is valid then; other random choices follow in any case.
    fn keep_if_valid(&mut self, change: impl FnOnce(&mut Generator)) -> bool {
        let mut attempt = self.clone();
        change(&mut attempt);
        let is_valid = |builder: TraceBuilder| builder.build().is_ok_and(|trace| validate(&trace).is_ok());
        let fits = attempt.length() <= self.limit && is_valid(attempt.builder.clone());
        if fits {
            *self = attempt;
        } else {
            self.random = attempt.random;
        }
        fits
    }

    /// Puts down the values of about half of the accesses; which ones is a matter of position alone.
    fn record_values(&mut self) {
        let Ok(observed) = observe(self.builder.trace()) else { return };
        for index in (0..self.length()).filter(|index| Random::new(*index as u64).percent(50)) {
            self.builder.record(EventId::from_index(index), &observed);
        }
    }

    fn thread(&mut self, number: u64) -> &mut Thread {
        &mut self.threads[number as usize - 1]
    }

    fn expression(&mut self, number: u64, sort: Sort) -> String {
        let names = &self.threads[number as usize - 1].names;
        expression(&mut self.random, names, sort, 2)
    }

    fn condition(&mut self, number: u64) -> String {
        self.expression(number, Sort::Bool)
    }

    fn a_var(&mut self) -> (&'static str, Sort) {
        let index = if self.random.percent(75) { 0 } else { self.random.below(self.vars.len()) };
        self.vars[index]
    }

    /// A name to define, often one that was defined before.
    fn define(&mut self, number: u64, sort: Sort) -> &'static str {
        let name = self.random.pick(&["p", "q", "s 1"]).copied().unwrap_or("p");
        let definition = EventId::from_index(self.length());
        let names = &mut self.thread(number).names;
        names.retain(|known| known.name != name);
        names.push(Name { name, sort, definition });
        name
    }

    /// Adds what the step is to the trace, valid or not.
    fn take(&mut self, number: u64, step: Step) {
        match step {
            Step::Begin => {
                self.thread(number).open_transactions += 1;
                self.builder.begin(number);
            }
            Step::End => {
                self.thread(number).open_transactions -= 1;
                self.builder.end(number);
            }
            Step::Read | Step::ReadIf => self.read(number, step == Step::ReadIf),
            Step::Write | Step::WriteIf | Step::External => self.write(number, step),
            Step::Rmw | Step::Swap => self.rmw(number, step == Step::Swap),
            Step::Let | Step::Assume | Step::Pin => self.compute(number, step),
            Step::Parts(size) => self.parts(number, size),
            Step::Fork(child) => {
                self.thread(child).unborn = false;
                self.builder.fork(number, child);
            }
            Step::Wait(lock) => {
                let since = self.builder.wait(number, "c", lock).id();
                self.thread(number).waits_since = Some(since);
            }
            Step::Wake(lock, cause) => self.wake(number, lock, cause),
            Step::Signal | Step::Broadcast => {
                let signal = step == Step::Signal;
                let added = if signal { self.builder.signal(number, "c") } else { self.builder.broadcast(number, "c") };
                let id = added.id();
                self.signals.push(id);
            }
            Step::Arrive => {
                self.thread(number).rounds += 1;
                let round = self.thread(number).rounds;
                self.builder.arrive(number, "b", round);
            }
            Step::Depart => {
                let round = self.thread(number).rounds;
                self.builder.depart(number, "b", round);
            }
            Step::Once => {
                self.thread(number).initialises = !self.initialised;
                let done = self.initialised;
                discard(if done { self.builder.once_pass(number, "o") } else { self.builder.once_begin(number, "o") });
            }
            Step::OnceOver if self.thread(number).initialises => {
                self.thread(number).initialises = false;
                self.initialised = self.random.percent(60);
                let done = self.initialised;
                discard(if done { self.builder.once_end(number, "o") } else { self.builder.once_fail(number, "o") });
            }
            Step::Free => {
                let var = self.a_var().0;
                self.builder.free(number, &[var]);
            }
            simple => take_simple(&mut self.builder, number, simple),
        }
    }

    fn read(&mut self, number: u64, guarded: bool) {
        let (var, sort) = self.a_var();
        if !guarded && self.random.percent(10) {
            self.builder.read(number, var, "");
            return;
        }
        let dst = self.define(number, sort);
        if guarded {
            let guard = self.condition(number);
            self.builder.read_if(number, var, dst, &guard);
        } else {
            self.builder.read(number, var, dst);
        }
    }

    fn write(&mut self, number: u64, step: Step) {
        let (var, sort) = self.a_var();
        let written = self.expression(number, sort);
        match step {
            Step::External => {
                let value = value(&mut self.random, sort);
                self.builder.put(number, var, Some(value)).external();
            }
            Step::WriteIf => {
                let guard = self.condition(number);
                self.builder.write_if(number, var, &written, &guard);
            }
            _ => discard(self.builder.write(number, var, &written)),
        }
    }

    fn rmw(&mut self, number: u64, guarded: bool) {
        let (var, sort) = self.a_var();
        let dst = self.define(number, sort);
        let written = self.expression(number, sort);
        if guarded {
            let guard = self.condition(number);
            self.builder.rmw_if(number, var, dst, &written, &guard);
        } else {
            self.builder.rmw(number, var, dst, &written);
        }
    }

    fn compute(&mut self, number: u64, step: Step) {
        match step {
            Step::Let => {
                let sort = self.a_var().1;
                let written = self.expression(number, sort);
                let dst = self.define(number, sort);
                self.builder.set(number, dst, &written);
            }
            Step::Pin => {
                let observed = observe(self.builder.trace()).unwrap_or_default();
                let seen = self.threads[number as usize - 1].names.last().cloned();
                let seen = seen.and_then(|name| Some((name.text(), observed.read(name.definition)?)));
                if let Some((name, value)) = seen {
                    self.builder.pin(number, &format!("(= {name} {})", literal(value)));
                }
            }
            _ => {
                let condition = self.condition(number);
                self.builder.assume(number, &condition);
            }
        }
    }

    fn wake(&mut self, number: u64, lock: &str, cause: Option<WakeCause>) {
        let since = self.thread(number).waits_since.take();
        let added = self.builder.wake(number, "c", lock, cause);
        let waker = self.signals.iter().position(|signal| Some(*signal) > since);
        if let Some(waker) = waker.filter(|_| cause.is_none()) {
            added.by(self.signals.remove(waker));
        }
    }

    /// Two or three events in one step; rarely the run ends inside.
    fn parts(&mut self, number: u64, size: u32) {
        let before = self.length();
        let recorded = if self.random.percent(3) { 1 } else { size };
        let firsts = [(6, Step::Read), (6, Step::Write), (2, Step::Rmw), (2, Step::Swap), (2, Step::ReadIf)];
        let others = [(1, Step::WriteIf), (1, Step::Assume), (1, Step::Acquire("m")), (1, Step::Down), (1, Step::Once)];
        let laters = [(6, Step::Read), (6, Step::Write), (2, Step::Rmw), (1, Step::Let), (1, Step::Begin)];
        for k in 1..=recorded {
            let step = if k > 1 {
                self.random.weighted(&laters)
            } else if self.random.percent(85) {
                self.random.weighted(&firsts)
            } else {
                self.random.weighted(&others)
            };
            self.take(number, step.unwrap_or(Step::Read));
        }
        for k in 1..=recorded.min((self.length() - before) as u32) {
            self.builder.make_part(EventId::from_index(before + k as usize - 1), k, size);
        }
    }
}

/// Steps that leave nothing to choose.
fn take_simple(builder: &mut TraceBuilder, number: u64, step: Step) {
    match step {
        Step::Acquire(lock) => discard(builder.acquire(number, lock)),
        Step::Release(lock) => discard(builder.release(number, lock)),
        Step::Share => discard(builder.acquire_shared(number, "l")),
        Step::Unshare => discard(builder.release_shared(number, "l")),
        Step::Busy(lock) => discard(builder.busy(number, lock)),
        Step::Post => discard(builder.post(number, "s")),
        Step::Down => discard(builder.down(number, "s")),
        Step::Join(child) => discard(builder.join(number, child)),
        Step::Call(method) => discard(builder.call(number, method)),
        Step::Return(method) => discard(builder.ret(number, method)),
        Step::Fail => discard(builder.fail(number)),
        _ => {}
    }
}

/// Nothing more is to be said of this event.
fn discard(_: Added<'_>) {}

impl TraceBuilder {
    /// Makes an event that was added before the k-th of n parts.
    fn make_part(&mut self, event: EventId, k: u32, n: u32) {
        self.added(event).part(k, n);
    }

    /// Puts down the values that an access read and wrote.
    fn record(&mut self, event: EventId, observed: &Observed) {
        let (read, written): (Option<&Value>, Option<&Value>) = (observed.read(event), observed.written(event));
        let is_rmw = matches!(self.trace().event(event).op, Op::Rmw { .. });
        let mut added = self.added(event);
        if let Some(value) = read.or(written) {
            added = added.value(value.clone());
        }
        if let Some(written) = written.filter(|_| is_rmw) {
            added.stored(written.clone());
        }
    }
}

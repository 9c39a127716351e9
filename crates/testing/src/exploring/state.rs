//! A state of a program: the steps that lead to it. What threads do next is what an execution shows that begins with them; where
//! none is known the program runs once more.

use super::channel_calls::OnChannel;
use super::clocks::Clocks;
use super::execution::{Execution, Order, Taken, order_after};
use super::executions::{Executions, MOST_THREADS};
use super::machine::{Machine, Pending};
use super::objects::Objects;
use super::schedule::{Forced, TURN, Then};
use super::spin::{self, Loop, Round, Spin};
use foretrace_explore::{Fingerprint, Next, System, Use};
use foretrace_harness::Ending;
use foretrace_runtime::record::Kind;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// A state. Copies share the executions.
#[derive(Clone)]
pub struct State<'s> {
    shared: Rc<RefCell<Executions<'s>>>,
    inner: RefCell<Inner>,
}

/// What became of an interleaving.
pub enum End {
    /// It came to the end of this execution.
    Whole(Rc<Execution>),
    /// The program had more events than it may.
    Cut,
    /// Threads wait in loops for what no thread does any more; these.
    Spins(Rc<Execution>, Vec<String>),
    /// No execution shows it: a run left its schedule, or a limit was reached.
    Unknown,
}

#[derive(Clone)]
struct Inner {
    /// Begins with the steps.
    run: Rc<Execution>,
    steps: usize,
    /// A step after them that `run` does not take, with what it was expected to be.
    ahead: Option<(Forced, Option<Taken>, Arc<[Use]>)>,
    /// No execution begins with the steps.
    is_lost: bool,
    last: Option<usize>,
    /// The latest steps of that thread alone.
    in_a_row: u64,
    /// Steps of each thread.
    done: [u32; MOST_THREADS],
    machine: Machine,
    spins: FxHashMap<usize, Spin>,
    clocks: Clocks,
    /// The order of the calls on channels so far.
    calls_on_channels: Order,
    /// What threads do next that other executions have shown.
    shown: FxHashMap<usize, Option<Pending>>,
}

impl<'s> State<'s> {
    /// The state before the first step; nothing where the program cannot be run.
    pub fn start(shared: Rc<RefCell<Executions<'s>>>) -> Option<State<'s>> {
        let run = shared.borrow_mut().along(&[], None)?;
        let mut machine = Machine::default();
        let roots: Vec<usize> = {
            let threads = &shared.borrow().threads;
            (0..threads.len()).filter(|thread| !threads.path(*thread).contains('.')).collect()
        };
        roots.iter().for_each(|root| machine.starts(*root));
        let mut inner = Inner {
            run,
            steps: 0,
            ahead: None,
            is_lost: false,
            last: None,
            in_a_row: 0,
            done: [0; MOST_THREADS],
            machine,
            spins: FxHashMap::default(),
            clocks: Clocks::default(),
            calls_on_channels: 0,
            shown: FxHashMap::default(),
        };
        if let [root] = *roots {
            inner.take_first(root);
        }
        Some(State { shared, inner: RefCell::new(inner) })
    }

    /// What became of the interleaving that ends here.
    pub fn end(&self) -> End {
        let mut shared = self.shared.borrow_mut();
        let mut inner = self.inner.borrow_mut();
        inner.settle(&mut shared);
        if inner.is_lost {
            return End::Unknown;
        }
        let spinning = inner.spins.iter().filter(|(_, spin)| spin.waits != Loop::Passes).map(|(thread, _)| *thread);
        let mut spinning: Vec<String> = spinning.map(|thread| shared.threads.path(thread).to_string()).collect();
        spinning.sort();
        let is_whole = inner.steps == inner.run.steps.len() || inner.goes_on_alone();
        match (spinning.is_empty() || inner.machine.is_over, is_whole) {
            (true, true) if inner.run.is_cut => End::Cut,
            (true, true) => End::Whole(inner.run.clone()),
            (true, false) => {
                shared.doubt("a run went on where every thread seemed to wait");
                End::Unknown
            }
            (false, _) if inner.is_any_unknown(&mut shared) => End::Unknown, // it may do what the others wait for
            (false, _) if inner.run.is_cut || inner.run.ending == Ending::Hang => {
                End::Spins(inner.run.clone(), spinning)
            }
            (false, _) => {
                shared.doubt("a loop in which a thread seemed to wait ended by itself");
                End::Unknown
            }
        }
    }

    /// The class of the interleaving, as a number.
    pub fn class(&self) -> u128 {
        self.inner.borrow().clocks.class()
    }
}

impl System for State<'_> {
    fn threads(&self) -> usize {
        MOST_THREADS
    }

    fn next(&self, thread: usize) -> Next {
        let mut shared = self.shared.borrow_mut();
        let mut inner = self.inner.borrow_mut();
        inner.settle(&mut shared);
        inner.next(thread, &mut shared)
    }

    fn step(&mut self, thread: usize, choice: usize) {
        let mut shared = self.shared.borrow_mut();
        self.inner.borrow_mut().step(thread, choice, &mut shared);
    }

    /// After as many steps of one thread as an execution has in a turn: the thread with which the execution goes on, so that no thread keeps
    /// others from what it waits for.
    fn preferred(&self) -> Option<usize> {
        let inner = self.inner.borrow();
        let next = inner.run.steps.get(inner.steps).map(|step| step.thread);
        next.filter(|_| inner.in_a_row >= TURN)
    }

    fn found(&self) -> bool {
        let mut shared = self.shared.borrow_mut();
        let mut inner = self.inner.borrow_mut();
        inner.settle(&mut shared);
        inner.is_lost
    }
}

impl Fingerprint for State<'_> {
    fn fingerprint(&self) -> u128 {
        self.class()
    }

    /// Only taking the turn from a thread that could go on is an interruption.
    fn counts(&self) -> bool {
        let last = self.inner.borrow().last;
        last.is_some_and(|last| matches!(self.next(last), Next::Ready(_)))
    }
}

impl Inner {
    /// Whether a step ends the program: a failure, or an end of a thread after which no other one does anything.
    fn ends(&self, step: &Taken) -> bool {
        let is_last = || self.run.steps.last().is_some_and(|last| last.is_same(step));
        let by_itself = matches!(self.run.ending, Ending::Code(_));
        step.kind == Kind::Fail || step.kind == Kind::Exit && by_itself && is_last()
    }

    /// Takes the steps before the first one that starts a thread: they come in one order, and programs may take many.
    fn take_first(&mut self, root: usize) {
        while let Some(step) = self.run.steps.get(self.steps).copied() {
            if step.thread != root || step.kind == Kind::Fork || self.ends(&step) {
                return;
            }
            self.machine.take(&step, false);
            self.steps += 1;
            self.done[root] += 1;
            self.last = Some(root);
        }
    }

    /// Whether all that comes in the run at hand are steps of one thread after the ends of all others. They come in one order, too. A thread that
    /// does not come to its end may wait in a loop.
    fn goes_on_alone(&self) -> bool {
        let ends = !self.run.is_cut && self.run.ending != Ending::Hang;
        let next = self.run.steps.get(self.steps).filter(|_| ends && self.steps >= self.run.last_start);
        next.is_some_and(|next| self.machine.is_alone(next.thread))
    }

    fn next(&mut self, thread: usize, shared: &mut Executions<'_>) -> Next {
        let is_cut_off = self.run.is_cut && self.steps >= self.run.steps.len();
        if self.is_lost || self.machine.is_over || is_cut_off || !self.machine.is_alive(thread) || self.goes_on_alone()
        {
            return Next::Over;
        }
        let Some(pending) = self.pending(thread, shared) else { return Next::Over };
        let ends = matches!(&pending, Pending::Step(step) if self.ends(step));
        let next = self.machine.next(thread, &pending, ends, &shared.swaps, &mut shared.objects);
        match next {
            Next::Ready(action) if self.waits_in_loop(thread, shared) => Next::Blocked(action),
            Next::Ready(action) if self.is_within_call_of_another(thread) => Next::Blocked(action),
            Next::Ready(action) if self.waits_for_message(thread, &pending, shared) => Next::Blocked(action),
            next => next,
        }
    }

    /// Whether another thread is within a call on a channel, which is several steps in one.
    fn is_within_call_of_another(&self, thread: usize) -> bool {
        let Some(other) = self.last.filter(|last| *last != thread) else { return false };
        let next = self.run.next_of(other, self.done[other]).map(|index| self.run.steps[index].on_channel);
        next == Some(OnChannel::Within)
    }

    /// Whether a thread waits for what another one is still to send, in a call on a channel that the run at hand shows where something was there.
    /// Only a run can show whether it waits where nothing is. That depends on the calls on channels so far alone.
    fn waits_for_message(&mut self, thread: usize, pending: &Pending, shared: &mut Executions<'_>) -> bool {
        let Pending::Step(step) = pending else { return false };
        let is_next = || self.run.steps.get(self.steps).is_some_and(|next| next.thread == thread);
        let begins = matches!(step.on_channel, OnChannel::Moves | OnChannel::Looks);
        let writes = || {
            let next = self.run.next_of(thread, self.done[thread] + 1).map(|index| self.run.steps[index].kind);
            step.on_channel == OnChannel::Moves && next == Some(Kind::Post)
        };
        if !begins || is_next() || writes() || self.machine.is_message_in(step) {
            return false;
        }
        let call = (thread, step.at, self.calls_on_channels);
        if let Some(known) = shared.waits_for_message.get(&call) {
            return *known;
        }
        let forced = Forced { thread, wakes: None };
        let Some(run) = shared.along(&self.run.steps[..self.steps], Some(Then::Step(forced))) else { return false };
        let waits = run.sleeps && run.steps.get(self.steps).is_none_or(|next| next.thread != thread);
        shared.waits_for_message.insert(call, waits);
        waits
    }

    fn waits_in_loop(&mut self, thread: usize, shared: &mut Executions<'_>) -> bool {
        let Some(spin) = self.spins.get(&thread) else { return false };
        match spin.waits {
            Loop::Passes => false,
            Loop::Waits => true,
            Loop::WaitsForUnrecorded => spin.waits_in_vain() || self.another_goes_on(thread, shared),
        }
    }

    /// Whether a thread but this one, and those that wait as it does, can take a step.
    fn another_goes_on(&mut self, thread: usize, shared: &mut Executions<'_>) -> bool {
        (0..shared.threads.len()).any(|other| {
            let waits = self.spins.get(&other).is_some_and(|spin| spin.waits != Loop::Passes);
            other != thread && !waits && matches!(self.next(other, shared), Next::Ready(_))
        })
    }

    /// Whether no run shows what some thread does next.
    fn is_any_unknown(&mut self, shared: &mut Executions<'_>) -> bool {
        let alive = |own: &Inner, thread: usize| own.machine.is_alive(thread);
        (0..shared.threads.len()).any(|thread| alive(self, thread) && self.pending(thread, shared).is_none())
    }

    /// What a thread is about to do.
    fn pending(&mut self, thread: usize, shared: &mut Executions<'_>) -> Option<Pending> {
        if let Some(index) = self.run.next_of(thread, self.done[thread]) {
            return Some(Pending::Step(self.run.steps[index]));
        }
        if let Some(object) = self.run.waits.get(&thread) {
            return Some(Pending::Waits(*object));
        }
        if let Some(shown) = self.shown.get(&thread) {
            return *shown;
        }
        if self.run.ending == Ending::Hang {
            return None; // what it waits for is outside of the program
        }
        let forced = Forced { thread, wakes: None };
        let run = shared.along(&self.run.steps[..self.steps], Some(Then::Step(forced)));
        let pending = run.as_ref().and_then(|run| match run.next_of(thread, self.done[thread]) {
            Some(index) => Some(Pending::Step(run.steps[index])),
            None => run.waits.get(&thread).map(|object| Pending::Waits(*object)),
        });
        if pending.is_none() {
            shared.doubt("a thread was at work when the program ended, and no run shows at what");
        }
        self.shown.insert(thread, pending);
        pending
    }

    fn step(&mut self, thread: usize, choice: usize, shared: &mut Executions<'_>) {
        self.settle(shared);
        let pending = self.pending(thread, shared);
        let action = match self.next(thread, shared) {
            Next::Ready(action) | Next::Blocked(action) => action,
            Next::Over => return self.is_lost = true,
        };
        let expected = match pending {
            Some(Pending::Step(step)) => Some(step),
            _ => None,
        };
        let wakes = expected.as_ref().and_then(|step| self.machine.woken(step, choice));
        self.clocks.push(thread, &action, wakes);
        self.in_a_row = if self.last == Some(thread) { self.in_a_row + 1 } else { 1 };
        self.last = Some(thread);
        let is_as_run = |next: &&Taken| next.thread == thread && (next.kind != Kind::Signal || next.other == wakes);
        match self.run.steps.get(self.steps).filter(is_as_run).copied() {
            Some(step) => self.take(&step, &action.uses, shared),
            None => self.ahead = Some((Forced { thread, wakes }, expected, action.uses)),
        }
    }

    /// Finds an execution that takes the step ahead, or makes one.
    fn settle(&mut self, shared: &mut Executions<'_>) {
        let Some((forced, expected, uses)) = self.ahead.take() else { return };
        let order = self.run.order(self.steps).map(|order| order_after(order, forced.thread, forced.wakes));
        let known = order.and_then(|order| shared.known(self.steps + 1, order));
        let run = known.or_else(|| shared.along(&self.run.steps[..self.steps], Some(Then::Step(forced))));
        let as_forced = |run: &Rc<Execution>| {
            let step = run.steps.get(self.steps)?;
            let fits = step.thread == forced.thread && (step.kind != Kind::Signal || step.other == forced.wakes);
            fits.then_some(*step)
        };
        let Some(run) = run else { return self.is_lost = true };
        let Some(step) = as_forced(&run) else {
            shared.left += 1;
            return self.is_lost = true;
        };
        if expected.is_some_and(|expected| !expected.is_same(&step)) {
            shared.doubt("a thread did something else after the same steps");
        }
        self.run = run;
        self.take(&step, &uses, shared);
    }

    /// The thread takes its step; `expected` is what it was expected to use.
    fn take(&mut self, step: &Taken, expected: &[Use], shared: &mut Executions<'_>) {
        let uses = match step.kind.size() as u64 {
            0 => expected.to_vec(),
            bytes => shared.objects.access(step.words[0], bytes, step.writes()),
        };
        if uses.iter().any(|own| !expected.contains(own) && spin::changes(own.mode)) {
            shared.doubt("a thread did something else after the same steps");
        }
        let ends = self.ends(step);
        self.machine.take(step, ends);
        if step.on_channel != OnChannel::No {
            self.calls_on_channels = order_after(self.calls_on_channels, step.thread, Some(step.at as usize));
        }
        self.steps += 1;
        self.done[step.thread] += 1;
        self.shown.remove(&step.thread);
        if !step.leaves_all_as_it_is() {
            let others = self.spins.iter_mut().filter(|(thread, _)| **thread != step.thread);
            others.for_each(|(_, spin)| spin.see(&uses));
        }
        let spin = self.spins.entry(step.thread).or_default();
        if let Some(round) = spin.take(step, &uses, &shared.objects) {
            self.look_for_loop(step.thread, &round, shared);
        }
    }

    /// Whether a thread waits in the loop of this round, which it has gone through twice.
    fn look_for_loop(&mut self, thread: usize, round: &Round, shared: &mut Executions<'_>) {
        let spin = &self.spins[&thread];
        let places = round.places();
        let known = shared.loops.get(&places).copied();
        let waits = known.unwrap_or_else(|| {
            let looped =
                |run: &Execution, objects: &mut Objects| spin.looped(round, &run.steps[self.steps..], thread, objects);
            let here = looped(&self.run, &mut shared.objects).filter(|known| *known != Loop::Waits);
            let decided = match here {
                Some(known) => Some((known, self.run.clone())),
                None => shared.alone(&self.run.steps[..self.steps], thread).map(|run| {
                    let ends_well = !run.is_cut && run.ending == Ending::Code(0);
                    let at_end = if ends_well { Loop::Passes } else { Loop::Waits };
                    (looped(&run, &mut shared.objects).unwrap_or(at_end), run)
                }),
            };
            if let Some((Loop::WaitsForUnrecorded, run)) = &decided
                && !spin::joins_at_once(round, &run.steps[self.steps..], thread, &shared.objects)
            {
                shared.doubt("a thread waited for what code changed that is not recorded");
            }
            let decided = decided.map(|(known, _)| known);
            if let Some(waits) = decided {
                shared.loops.insert(places, waits);
            }
            decided.unwrap_or_default()
        });
        if let Some(spin) = self.spins.get_mut(&thread) {
            spin.waits = waits;
        }
    }
}

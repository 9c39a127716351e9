//! Exclusion by the values of one variable: what threads do to it leaves them in states that never meet. A reader-writer lock of one word is an
//! example: readers add one where they find no writer, and a writer puts -1 in place of 0.
//!
//! Only the writes of the variable are looked at. A thread's *state* is the place of its last write and the value that it found there. A write is
//! a step from a value of the variable to another one. From a state a thread goes to those places that follow on a write at this place, somewhere
//! in its part of the trace, which may have found this value by the conditions up to the next write. Threads that write at the same places may go
//! where one of them goes, so it does not matter which of them is where. A search lists all states of all threads together that
//! these steps lead to. Every prefix of the model passes through such states alone, since it obeys each of these rules.
//!
//! So take two writes of two threads. In no listed state may the two threads be behind writes at these places, each having found what the
//! conditions between its write and the next one allow. Then the times from these conditions up to the next writes do not overlap.
//!
//! Writes that exclude their like and each other make exclusive sections of a lock, and writes that exclude all of these make shared ones.

use super::forced_reads::{ReadRule, Reads};
use super::inferred_locks::{InferredLocks, Section};
use foretrace_index::{MustHappenBefore, Region, TraceIndex};
use foretrace_trace::{EventId, NameId, Op, SyncId, ThreadId, Trace, Value, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// Locks that are looked for in one trace.
const MOST_LOCKS: usize = 256;
/// Writes of such a variable.
const MOST_WRITES: usize = 1 << 12;
/// Plain writes that may come before all others.
const MOST_FIRST: usize = 16;
/// Different values of such a variable, a bit of a word each.
const MOST_VALUES: usize = 64;
/// Places of its writes, and writes that differ in their place or in what they may have found.
const MOST_PLACES: usize = 32;
const MOST_KINDS: usize = 64;
/// Locks that one variable is.
const MOST_LOCKS_OF_VARIABLE: usize = 4;
/// States of all threads together that are listed for one variable, and for all variables.
const MOST_STATES: usize = 1 << 15;
const MOST_STATES_OF_ALL: usize = 1 << 17;

/// The number of a place at which the variable is written. The first one stands for no write yet.
type Place = u8;
const START: Place = 0;

/// The number of a value.
type Number = u8;

/// Where a thread is: the place of its last write, and what it found there if that matters.
type State = (Place, Number);

/// Adds the locks that single variables are, by what a rule for reads says of them and the orders that hold in every prefix.
pub(super) fn add(
    found: &mut InferredLocks,
    (trace, trace_index): (&Trace, &TraceIndex),
    reads: &Reads<'_>,
    rule: ReadRule,
    clocks: &MustHappenBefore,
) {
    let known: FxHashSet<VarId> = found.vars.iter().copied().collect();
    let mut left = MOST_STATES_OF_ALL;
    for (var, writes) in trace_index.writes.iter().enumerate() {
        let var = VarId::from_index(var);
        if found.vars.len() >= MOST_LOCKS || left == 0 {
            break;
        }
        if known.contains(&var) || writes.len() > MOST_WRITES {
            continue;
        }
        let Some(mut product) = Product::new((trace, var, writes), reads, rule, clocks) else { continue };
        let is_listed = product.list(MOST_STATES.min(left)).is_some();
        left -= product.listed.len().min(left);
        if is_listed {
            product.add_locks(var, found);
        }
    }
}

/// A write of the variable.
#[derive(Clone, Copy)]
struct Write {
    event: EventId,
    place: Place,
    /// Its thread's next write, if there is one.
    next: Option<(EventId, Place)>,
}

impl Write {
    /// Conditions up to here say what it found.
    fn until(&self) -> EventId {
        self.next.map_or(EventId(u32::MAX), |(event, _)| event)
    }
}

/// What threads do to one variable.
struct Product<'a, 'r> {
    trace: &'a Trace,
    reads: &'a Reads<'r>,
    rule: ReadRule,
    values: Vec<Value>,
    /// The threads that write it, with their writes in order. Those that write at the same places follow each other.
    threads: Vec<(ThreadId, Vec<Write>)>,
    /// For each thread, which threads write at the same places.
    alike: Vec<Range<usize>>,
    /// How many places there are. A write without a location has a place of its own.
    places: usize,
    /// What writes at a place leave if they find a value.
    leaves: FxHashMap<State, Vec<Number>>,
    /// For each place, whether what a write found there decides where its thread goes on. Else it does not belong to the state.
    remembers: Vec<bool>,
    /// To which places threads that are alike, by the number of the first one, go on from a state.
    goes_on: FxHashMap<(usize, State), Vec<Place>>,
    /// What was listed: the variable's value and the state of each thread, in order among threads that are alike.
    listed: FxHashSet<(Number, Vec<State>)>,
}

impl<'a, 'r> Product<'a, 'r> {
    /// Of a variable that several threads change in steps of reading and writing, whose values conditions ask about.
    fn new(
        (trace, var, writes): (&'a Trace, VarId, &[EventId]),
        reads: &'a Reads<'r>,
        rule: ReadRule,
        clocks: &MustHappenBefore,
    ) -> Option<Product<'a, 'r>> {
        let is_rmw = |event: &EventId| trace.event(*event).op.reads();
        let thread = |event: &EventId| trace.event(*event).thread;
        let mut by_rmw = writes.iter().filter(|write| is_rmw(write)).map(thread);
        let one = by_rmw.next()?;
        let asks = |rmw: &EventId| reads.condition_events_swapped(rule, *rmw).next().is_some();
        let is_asked = writes.iter().filter(|write| is_rmw(write)).any(asks);
        if !by_rmw.any(|other| other != one)
            || !is_asked
            || writes.iter().any(|write| trace.event(*write).op.is_external())
        {
            return None;
        }
        let is_first = |write: &&EventId| !is_rmw(write) && thread(write) == thread(&writes[0]);
        let most = writes.iter().take(MOST_FIRST).take_while(is_first).count();
        // What one thread writes before all other writes is where these begin.
        let (first, rest) = (0..=most).rev().map(|count| writes.split_at(count)).find(|(first, rest)| {
            first.last().is_none_or(|last| rest.iter().all(|other| clocks.before(*last, *other)))
        })?;
        let value = match first.last() {
            Some(last) => reads.literal(*last)?.clone(),
            None => trace.vars[var.index()].init.clone()?,
        };
        let mut product = Product {
            trace,
            reads,
            rule,
            values: vec![value],
            threads: Vec::new(),
            alike: Vec::new(),
            places: 1,
            remembers: Vec::new(),
            leaves: FxHashMap::default(),
            goes_on: FxHashMap::default(),
            listed: FxHashSet::default(),
        };
        product.take(rest)?;
        Some(product)
    }

    /// Sorts the writes by thread, and numbers their places.
    fn take(&mut self, writes: &[EventId]) -> Option<()> {
        let mut places: FxHashMap<(NameId, bool), Place> = FxHashMap::default();
        for event in writes {
            let written = self.trace.event(*event);
            let location = written.loc.map(|location| (location, written.op.reads()));
            let known = location.and_then(|location| places.get(&location).copied());
            let place = match known {
                Some(place) => place,
                None => {
                    let new = Place::try_from(self.places).ok().filter(|_| self.places < MOST_PLACES)?;
                    self.places += 1;
                    places.extend(location.map(|location| (location, new)));
                    new
                }
            };
            let at = self.threads.iter().position(|(thread, _)| *thread == written.thread).unwrap_or_else(|| {
                self.threads.push((written.thread, Vec::new()));
                self.threads.len() - 1
            });
            let own = &mut self.threads[at].1;
            if let Some(last) = own.last_mut() {
                last.next = Some((*event, place));
            }
            own.push(Write { event: *event, place, next: None });
        }
        let places = |(_, own): &(ThreadId, Vec<Write>)| own.iter().fold(0_u32, |bits, write| bits | 1 << write.place);
        self.threads.sort_by_key(places);
        for alike in self.threads.chunk_by(|one, other| places(one) == places(other)) {
            let range = self.alike.len()..self.alike.len() + alike.len();
            self.alike.extend(std::iter::repeat_n(range, alike.len()));
        }
        let decides = |write: &Write| {
            let mut conditions = self.reads.condition_events_swapped(self.rule, write.event);
            self.trace.event(write.event).op.reads() && conditions.any(|by| by > write.event && by < write.until())
        };
        self.remembers = (0..self.places).map(|place| self.writes_at(place as Place).any(decides)).collect();
        Some(())
    }

    /// Lists the states of all threads together. Gives nothing if there are more than so many, or if a written value is not known.
    fn list(&mut self, most: usize) -> Option<()> {
        let start: (Number, Vec<State>) = (0, vec![(START, 0); self.threads.len()]);
        self.listed.insert(start.clone());
        let mut open = vec![start];
        while let Some((value, states)) = open.pop() {
            for (thread, state) in states.iter().enumerate() {
                let is_same_again = self.alike[thread].start < thread && states[thread - 1] == *state;
                for place in if is_same_again { Vec::new() } else { self.goes_on(thread, *state) } {
                    let found = if self.remembers[usize::from(place)] { value } else { 0 };
                    for left in self.leaves((place, value))? {
                        let mut after = states.clone();
                        after[thread] = (place, found);
                        after[self.alike[thread].clone()].sort_unstable();
                        if self.listed.insert((left, after.clone())) {
                            open.push((left, after));
                        }
                        if self.listed.len() > most {
                            return None;
                        }
                    }
                }
            }
        }
        Some(())
    }

    /// Where a thread goes on from a state.
    fn goes_on(&mut self, thread: usize, state: State) -> Vec<Place> {
        let alike = self.alike[thread].clone();
        if let Some(known) = self.goes_on.get(&(alike.start, state)) {
            return known.clone();
        }
        let mut next: Vec<Place> = Vec::new();
        for (_, own) in &self.threads[alike.clone()] {
            match state {
                (START, _) => next.extend(own.first().map(|write| write.place)),
                (place, found) => {
                    let goes_on = |write: &&Write| write.place == place && self.may_go_on(write, found);
                    next.extend(own.iter().filter(goes_on).filter_map(|write| Some(write.next?.1)));
                }
            }
        }
        next.sort_unstable();
        next.dedup();
        self.goes_on.insert((alike.start, state), next.clone());
        next
    }

    /// Whether a thread may go on from a write where it found this, if that is remembered.
    fn may_go_on(&self, write: &Write, found: Number) -> bool {
        !self.remembers[usize::from(write.place)] || self.may_have_found(write, write.until(), found)
    }

    fn writes_at(&self, place: Place) -> impl Iterator<Item = &Write> {
        self.threads.iter().flat_map(|(_, own)| own).filter(move |write| write.place == place)
    }

    /// Whether a write may have found a value, by the conditions up to an event.
    fn may_have_found(&self, write: &Write, until: EventId, value: Number) -> bool {
        let finds = self.trace.event(write.event).op.reads();
        !finds || !self.reads.excludes_swapped(self.rule, write.event, until, &self.values[usize::from(value)])
    }

    /// What the writes at a place leave if they find this value; nothing if that is not known.
    fn leaves(&mut self, (place, found): State) -> Option<Vec<Number>> {
        if let Some(known) = self.leaves.get(&(place, found)) {
            return Some(known.clone());
        }
        let value = &self.values[usize::from(found)];
        let mut left: Vec<Value> = Vec::new();
        for write in self.writes_at(place).filter(|write| self.may_have_found(write, write.event, found)) {
            let stored = match self.trace.event(write.event).op {
                Op::Rmw { .. } => self.reads.stored_swapped(write.event, value)?,
                _ => self.reads.literal(write.event)?.clone(),
            };
            if !left.contains(&stored) {
                left.push(stored);
            }
        }
        let numbers = left.into_iter().map(|value| self.number(value)).collect::<Option<Vec<Number>>>()?;
        self.leaves.insert((place, found), numbers.clone());
        Some(numbers)
    }

    fn number(&mut self, value: Value) -> Option<Number> {
        let at = self.values.iter().position(|known| *known == value).unwrap_or_else(|| {
            self.values.push(value);
            self.values.len() - 1
        });
        Number::try_from(at).ok().filter(|_| at < MOST_VALUES)
    }

    /// The values that a write may have found if its thread went on, a bit each, if they are remembered.
    fn found(&self, write: &Write) -> u64 {
        if !self.remembers[usize::from(write.place)] {
            return 1;
        }
        let numbers = (0..self.values.len()).filter_map(|value| Number::try_from(value).ok());
        let may = numbers.filter(|value| self.may_have_found(write, write.until(), *value));
        may.fold(0, |bits, value| bits | 1 << value)
    }

    /// Adds a lock for each set of writes that exclude their like and each other.
    fn add_locks(&self, var: VarId, found: &mut InferredLocks) {
        let mut kinds: Vec<(Place, u64)> = Vec::new();
        let mut of_writes: Vec<(ThreadId, Write, usize)> = Vec::new();
        for (thread, own) in &self.threads {
            for write in own {
                let kind = (write.place, self.found(write));
                let at = kinds.iter().position(|known| *known == kind).unwrap_or_else(|| {
                    kinds.push(kind);
                    kinds.len() - 1
                });
                of_writes.push((*thread, *write, at));
            }
        }
        if kinds.len() > MOST_KINDS {
            return;
        }
        let meet = self.meetings(&kinds);
        let mut seen: u64 = 0;
        let mut added = 0;
        for (kind, met) in meet.iter().enumerate().filter(|(kind, met)| *met & 1 << kind == 0) {
            if seen & 1 << kind != 0 || added == MOST_LOCKS_OF_VARIABLE {
                continue;
            }
            // Those that meet the same are of one lock; those that meet it not are kept out, whatever else they meet.
            let alike = meet.iter().enumerate().filter(|(_, other)| *other == met);
            let exclusive = alike.fold(0, |bits: u64, (other, _)| bits | 1 << other);
            seen |= exclusive;
            let lock = SyncId::from_index(self.trace.syncs.len() + found.vars.len());
            if let Some(by_thread) = self.sections(lock, &of_writes, exclusive, &meet) {
                found.add(var, by_thread);
                added += 1;
            }
        }
    }

    /// The sections of a lock by thread, if threads exclude each other.
    fn sections(
        &self,
        lock: SyncId,
        of_writes: &[(ThreadId, Write, usize)],
        exclusive: u64,
        meet: &[u64],
    ) -> Option<Vec<Vec<Section>>> {
        let mut by_thread: Vec<Vec<Section>> = self.trace.threads.iter().map(|_| Vec::new()).collect();
        let (mut owners, mut others) = (FxHashSet::default(), FxHashSet::default());
        for (thread, write, kind) in of_writes {
            let shared = exclusive & 1 << kind == 0;
            if shared && meet[*kind] & exclusive != 0 {
                continue;
            }
            let Some(start) = self.known_at(write) else { continue };
            if shared {
                others.insert(*thread)
            } else {
                owners.insert(*thread)
            };
            let end = write.next.map(|(event, _)| event);
            let known = Region { lock, thread: *thread, shared, start, end };
            by_thread[thread.index()].push(Section { taken_at: write.event, known });
        }
        let keeps_out = owners.len() > 1 || others.iter().any(|other| owners.iter().any(|owner| owner != other));
        keeps_out.then_some(by_thread)
    }

    /// Which kinds of writes, a bit each, two threads are behind together in a listed state.
    fn meetings(&self, kinds: &[(Place, u64)]) -> Vec<u64> {
        let mut together: FxHashSet<(State, State)> = FxHashSet::default();
        for (_, states) in &self.listed {
            for (at, one) in states.iter().enumerate() {
                together.extend(states[at + 1..].iter().flat_map(|other| [(*one, *other), (*other, *one)]));
            }
        }
        let mut meet = vec![0; kinds.len()];
        let of = |(place, found): State| {
            let is_of = move |(own, may): &(Place, u64)| *own == place && may & 1 << found != 0;
            kinds.iter().enumerate().filter(move |(_, kind)| is_of(kind)).map(|(number, _)| number)
        };
        for (one, other) in together {
            let others = of(other).fold(0, |bits: u64, kind| bits | 1 << kind);
            of(one).for_each(|kind| meet[kind] |= others);
        }
        meet
    }

    /// The first event in whose presence a write found nothing but what lets its thread go on.
    fn known_at(&self, write: &Write) -> Option<EventId> {
        if !self.remembers[usize::from(write.place)] {
            return Some(write.event);
        }
        let may = self.found(write);
        let numbers = || (0..self.values.len()).filter_map(|value| Number::try_from(value).ok());
        let is_known =
            |at: &EventId| numbers().all(|value| may & 1 << value != 0 || !self.may_have_found(write, *at, value));
        let conditions = self.reads.condition_events_swapped(self.rule, write.event);
        let between = conditions.filter(|by| *by > write.event && *by < write.until());
        std::iter::once(write.event).chain(between).filter(is_known).min()
    }
}

//! The theory against all interleavings of a few events: what it excludes or implies is so in each of them, by the atoms of
//! the explanation alone, and what it executes is one of them.

use super::{Executed, Member, Schedules};
use crate::partial_order::{AtomId, StepPosition};
use foretrace_trace::{EventId, SyncId, VarId};
use proptest::collection::vec;
use proptest::prelude::*;

const LOCK: SyncId = SyncId(0);
const VAR: VarId = VarId(0);

/// An event of a thread; `Open` is an acquire that nothing releases.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Start { shared: bool },
    End,
    Open,
    Write,
    Read,
}

#[derive(Clone, Copy, Debug)]
struct Event {
    kind: Kind,
    thread: usize,
    position: usize,
}

/// What an atom says, by numbers of events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Said {
    Included(usize),
    Source { read: usize, write: Option<usize> },
    Order { earlier: usize, later: usize },
    Split { before: usize, after: usize },
}

/// All events one after the other, and how much of each thread the prefix holds.
struct World<'w> {
    events: &'w [Event],
    order: &'w [usize],
    held: &'w [usize],
}

impl World<'_> {
    fn place(&self, event: usize) -> usize {
        self.order.iter().position(|other| *other == event).expect("all are there")
    }

    fn holds(&self, event: usize) -> bool {
        self.events[event].position < self.held[self.events[event].thread]
    }

    /// Whether no two regions of the prefix overlap of which one is not shared.
    fn excludes(&self) -> bool {
        let mut holders: Vec<(usize, bool)> = Vec::new();
        self.order.iter().copied().filter(|event| self.holds(*event)).all(|event| {
            let Event { kind, thread, .. } = self.events[event];
            match kind {
                Kind::Start { .. } | Kind::Open => {
                    let shared = kind == Kind::Start { shared: true };
                    let free = holders.iter().all(|(_, other)| shared && *other);
                    holders.push((thread, shared));
                    free
                }
                Kind::End => {
                    holders.retain(|(holder, _)| *holder != thread);
                    true
                }
                Kind::Write | Kind::Read => true,
            }
        })
    }

    fn allows(&self, said: Said, value: bool) -> bool {
        match said {
            Said::Included(event) => self.holds(event) == value,
            Said::Order { earlier, later } => (self.place(earlier) < self.place(later)) == value,
            Said::Split { before, after } => !value || self.place(before) < self.place(after),
            Said::Source { read, write } => !value || self.finds(read) == write,
        }
    }

    /// The write of the prefix that a read finds, one that need not be of the prefix among them if it is the last.
    fn finds(&self, read: usize) -> Option<usize> {
        let before = &self.order[..self.place(read)];
        before.iter().rev().copied().find(|event| self.events[*event].kind == Kind::Write && self.holds(*event))
    }
}

/// Calls `test` with each world.
fn for_each_world(events: &[Event], mut test: impl FnMut(&World<'_>)) {
    let threads = events.iter().map(|event| event.thread + 1).max().unwrap_or(0);
    let lengths: Vec<usize> =
        (0..threads).map(|thread| events.iter().filter(|event| event.thread == thread).count()).collect();
    let mut pending: Vec<Vec<usize>> = vec![Vec::new()];
    while let Some(order) = pending.pop() {
        for thread in 0..threads {
            let done = order.iter().filter(|event| events[**event].thread == thread).count();
            let next = (0..events.len()).find(|e| (events[*e].thread, events[*e].position) == (thread, done));
            pending.extend(next.map(|next| [&order[..], &[next]].concat()));
        }
        if order.len() < events.len() {
            continue;
        }
        let mut held = vec![0; threads];
        loop {
            let world = World { events, order: &order, held: &held };
            if world.excludes() {
                test(&world);
            }
            let Some(grows) = (0..threads).find(|thread| held[*thread] < lengths[*thread]) else { break };
            held[..grows].fill(0);
            held[grows] += 1;
        }
    }
}

/// The theory, told of events, with what its atoms say.
struct Told {
    events: Vec<Event>,
    schedules: Schedules,
    said: Vec<Said>,
}

impl Told {
    fn new(threads: &[Vec<Kind>]) -> Told {
        let mut events = Vec::new();
        for (thread, kinds) in threads.iter().enumerate() {
            events.extend(kinds.iter().enumerate().map(|(position, kind)| Event { kind: *kind, thread, position }));
        }
        let mut told = Told { events, schedules: Schedules::new(threads.len()), said: Vec::new() };
        let included: Vec<AtomId> = (0..told.events.len()).map(|event| told.included(event)).collect();
        told.tell(&included);
        told.add_sources();
        told
    }

    fn place(&self, event: usize) -> StepPosition {
        let Event { thread, position, .. } = self.events[event];
        StepPosition { step: EventId(event as u32), thread: thread as u32, position: position as u32 }
    }

    fn included(&mut self, event: usize) -> AtomId {
        self.said.push(Said::Included(event));
        let StepPosition { thread, position, .. } = self.place(event);
        self.schedules.add_included(thread, position)
    }

    fn tell(&mut self, included: &[AtomId]) {
        for event in 0..self.events.len() {
            let Event { kind, thread, position } = self.events[event];
            let member = |event: usize| {
                let place = self.place(event);
                Member { place, position: place.position, included: Some((place.position, included[event])) }
            };
            let of_event = member(event);
            match kind {
                Kind::Start { shared } => {
                    let ends = |e: &usize| self.events[*e].thread == thread && self.events[*e].kind == Kind::End;
                    let end = (event..self.events.len()).find(ends).map(member);
                    debug_assert!(end.is_some_and(|end| end.position as usize > position));
                    self.schedules.add_region(LOCK, shared, of_event, end);
                }
                Kind::Open => self.schedules.add_region(LOCK, false, of_event, None),
                Kind::Write => self.schedules.add_write(EventId(event as u32), VAR, of_event),
                Kind::Read => {
                    let read = Member { included: None, ..of_event };
                    self.schedules.add_read(EventId(event as u32), VAR, read);
                }
                Kind::End => {}
            }
        }
    }

    /// For each read all writes, but not those after it in its thread.
    fn add_sources(&mut self) {
        let (reads, writes) = (self.all(Kind::Read), self.all(Kind::Write));
        for read in reads {
            for write in writes.iter().copied().map(Some).chain([None]) {
                let own = write.filter(|write| self.events[*write].thread == self.events[read].thread);
                if own.is_none_or(|write| write < read) {
                    self.said.push(Said::Source { read, write });
                    self.schedules.add_source(EventId(read as u32), write.map(|write| EventId(write as u32)));
                }
            }
        }
    }

    fn all(&self, kind: Kind) -> Vec<usize> {
        (0..self.events.len()).filter(|event| self.events[*event].kind == kind).collect()
    }

    fn add_order(&mut self, earlier: usize, later: usize) {
        self.said.push(Said::Order { earlier, later });
        self.schedules.add_atom(self.place(earlier), self.place(later));
    }

    fn add_split(&mut self, before: usize, after: usize) -> AtomId {
        let [first, then] = [before, after].map(|event| self.schedules.order.node(self.place(event)));
        self.said.push(Said::Split { before, after });
        self.schedules.add_split(first, then)
    }

    /// Decides an atom.
    fn decide(&mut self, atom: AtomId, value: bool) -> Result<(), Vec<AtomId>> {
        self.schedules.push();
        self.assign(atom, value)
    }

    /// Whether the atom says that a read finds a write that is no part of the prefix, which a clause forbids.
    fn is_without_source(&self, atom: AtomId) -> bool {
        match self.said[atom as usize] {
            Said::Source { write: Some(write), .. } => self.schedules.order.value(write as AtomId) == Some(false),
            _ => false,
        }
    }

    /// Assigns an atom, and others as clauses would: a source is part of the prefix, and the prefix has no holes.
    fn assign(&mut self, atom: AtomId, value: bool) -> Result<(), Vec<AtomId>> {
        match self.said[atom as usize] {
            Said::Source { write: Some(write), .. } if value => self.assign(write as AtomId, true)?,
            Said::Included(event) => {
                let next = if value { event.checked_sub(1) } else { Some(event + 1) };
                let of_thread =
                    |next: &usize| self.events.get(*next).map(|e| e.thread) == Some(self.events[event].thread);
                if let Some(next) = next.filter(of_thread) {
                    self.assign(next as AtomId, value)?;
                }
            }
            _ => {}
        }
        self.schedules.assign(atom, value)
    }

    /// The same, and all that is implied. Wrong are values that cannot be together.
    fn decide_with_all_implied(&mut self, atom: AtomId, value: bool) -> Result<(), Vec<(AtomId, bool)>> {
        let mut decided = self.decide(atom, value);
        loop {
            if let Err(conflict) = decided {
                let conflict = self.schedules.without_weaker(conflict);
                return Err(self.with_values(conflict));
            }
            let Some((implied, value)) = self.schedules.order.next_implied() else { return Ok(()) };
            let mut wrong = self.reasons(implied, value);
            wrong.push((implied, !value));
            assert!(self.is_impossible(&wrong), "{:?}: {wrong:?} of {:?}", self.events, self.said);
            decided = self.assign(implied, value);
        }
    }

    /// Why an atom has a value that is known.
    fn reasons(&mut self, atom: AtomId, value: bool) -> Vec<(AtomId, bool)> {
        let reasons = self.schedules.explain(atom, value);
        self.with_values(reasons)
    }

    /// A source that nothing is decided about and that comes after its read.
    fn too_late_source(&self) -> Option<AtomId> {
        let undecided = |atom: &AtomId| self.schedules.order.value(*atom).is_none();
        (0..self.said.len() as AtomId).filter(undecided).find(|atom| self.schedules.is_too_late(*atom))
    }

    /// Whether no world allows these values of these atoms.
    fn is_impossible(&self, values: &[(AtomId, bool)]) -> bool {
        let mut impossible = true;
        for_each_world(&self.events, |world| {
            let allowed = values.iter().all(|(atom, value)| world.allows(self.said[*atom as usize], *value));
            impossible &= !allowed;
        });
        impossible
    }

    fn with_values(&self, atoms: Vec<AtomId>) -> Vec<(AtomId, bool)> {
        atoms.into_iter().map(|atom| (atom, self.schedules.order.value(atom).expect("it is decided"))).collect()
    }

    fn decided(&self) -> Vec<(AtomId, bool)> {
        let atoms = 0..self.said.len() as AtomId;
        atoms.filter_map(|atom| Some((atom, self.schedules.order.value(atom)?))).collect()
    }

    /// Whether an execution allows all that is decided, and reads find in it what it says.
    fn is_allowed(&self, Executed { order, found }: &Executed) -> bool {
        let order: Vec<usize> = order.iter().map(|step| step.index()).collect();
        let threads = self.schedules.reach.iter();
        let held: Vec<usize> = threads.map(|reach| reach.last().map_or(0, |reach| reach.events as usize)).collect();
        let world = World { events: &self.events, order: &order, held: &held };
        let finds = |(read, write): &(EventId, Option<EventId>)| world.finds(read.index()) == write.map(EventId::index);
        world.excludes()
            && found.iter().all(finds)
            && self.decided().iter().all(|(atom, value)| world.allows(self.said[*atom as usize], *value))
    }
}

fn threads() -> impl Strategy<Value = Vec<Vec<Kind>>> {
    let access = || prop_oneof![Just(Kind::Write), Just(Kind::Read)];
    let region = (any::<bool>(), vec(access(), 0..2))
        .prop_map(|(shared, inner)| [vec![Kind::Start { shared }], inner, vec![Kind::End]].concat());
    let accesses = vec(access(), 1..3);
    let open = access().prop_map(|access| vec![Kind::Open, access]);
    vec(prop_oneof![3 => region, 2 => accesses, 1 => open], 2..4)
}

proptest! {
    #[test]
    fn what_the_theory_says_is_so_in_every_interleaving(
        threads in threads(),
        pairs in vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..4),
        choices in vec((any::<prop::sample::Index>(), prop::bool::weighted(0.7)), 1..16),
    ) {
        let mut told = Told::new(&threads);
        for (nth, (a, b)) in pairs.into_iter().enumerate() {
            let (a, b) = (a.index(told.events.len()), b.index(told.events.len()));
            if told.events[a].thread != told.events[b].thread {
                if nth % 2 == 0 {
                    told.add_order(a, b);
                } else {
                    told.add_split(a, b);
                }
            }
        }
        for (atom, value) in choices {
            let atom = atom.index(told.said.len()) as AtomId;
            if told.schedules.order.value(atom).is_some() || value && told.is_without_source(atom) {
                continue;
            }
            if let Err(wrong) = told.decide_with_all_implied(atom, value) {
                prop_assert!(told.is_impossible(&wrong), "{:?}: {:?} of {:?}", told.events, wrong, told.said);
                told.schedules.pop(1);
            }
        }
        if let Some(late) = told.too_late_source() {
            let mut wrong = told.reasons(late, false);
            wrong.push((late, true));
            prop_assert!(told.is_impossible(&wrong), "{:?}: too late by {:?} of {:?}", told.events, wrong, told.said);
        }
        match told.schedules.execute() {
            Ok(executed) => {
                let evidence = (&told.events, &executed, told.decided(), &told.said);
                prop_assert!(told.is_allowed(&executed), "{:?}", evidence);
            }
            Err(splits) => {
                prop_assert!(!splits.is_empty());
                for (a, b) in splits {
                    let order = &told.schedules.order;
                    prop_assert!(!order.reaches(a, b) && !order.reaches(b, a), "{:?}: nothing to decide", told.events);
                }
            }
        }
    }
}

const START: Kind = Kind::Start { shared: false };
const SHARED: Kind = Kind::Start { shared: true };

fn two_regions(first: Kind, second: Kind) -> Told {
    let mut told = Told::new(&[vec![first, Kind::End], vec![second, Kind::End]]);
    let overlap = told.add_split(0, 3);
    for included in 0..4 {
        assert_eq!(told.decide(included, true), Ok(()));
    }
    assert_eq!(told.decide(overlap, true), Ok(()));
    told
}

impl Told {
    fn is_before(&mut self, a: usize, b: usize) -> bool {
        let [a, b] = [a, b].map(|event| self.schedules.order.node(self.place(event)));
        self.schedules.order.reaches(a, b)
    }
}

#[test]
fn a_region_that_starts_before_another_ends_is_over_before_that_starts() {
    assert!(two_regions(START, START).is_before(1, 2));
    assert!(two_regions(SHARED, START).is_before(1, 2));
    assert!(two_regions(START, SHARED).is_before(1, 2));
    assert!(!two_regions(SHARED, SHARED).is_before(1, 2));
}

#[test]
fn regions_that_the_prefix_does_not_hold_exclude_nothing() {
    let mut told = Told::new(&[vec![START, Kind::End], vec![START, Kind::End]]);
    let overlap = told.add_split(0, 3);
    assert_eq!(told.decide(1, true), Ok(()));
    assert_eq!(told.decide(overlap, true), Ok(()));
    assert!(!told.is_before(1, 2));
}

#[test]
fn no_region_follows_one_that_stays_open() {
    let mut told = Told::new(&[vec![Kind::Open], vec![START, Kind::End]]);
    let overlap = told.add_split(0, 2);
    for included in 0..3 {
        assert_eq!(told.decide(included, true), Ok(()));
    }
    assert!(told.is_before(2, 0));
    assert!(told.decide(overlap, true).is_err());
}

/// Event 0 and 1 are writes of two threads, 2 reads in a third; the first atoms say that the prefix holds them.
#[test]
fn a_write_that_comes_after_the_source_comes_after_the_read() {
    let mut told = Told::new(&[vec![Kind::Write], vec![Kind::Write], vec![Kind::Read]]);
    let after_source = told.add_split(0, 1);
    for atom in [0, 1, 3, after_source] {
        assert_eq!(told.decide(atom, true), Ok(()));
    }
    assert!(told.is_before(2, 1));
}

#[test]
fn a_write_that_comes_before_the_read_comes_before_the_source() {
    let mut told = Told::new(&[vec![Kind::Write], vec![Kind::Write], vec![Kind::Read]]);
    let before_read = told.add_split(1, 2);
    for atom in [0, 1, 3, before_read] {
        assert_eq!(told.decide(atom, true), Ok(()));
    }
    assert!(told.is_before(1, 0));
}

#[test]
fn every_write_comes_after_a_read_of_the_initial_value() {
    let mut told = Told::new(&[vec![Kind::Write], vec![Kind::Read]]);
    let initial = told.said.len() as AtomId - 1;
    assert_eq!(told.decide(0, true), Ok(()));
    assert_eq!(told.decide(initial, true), Ok(()));
    assert!(told.is_before(1, 0));
}

#[test]
fn a_write_that_comes_after_the_read_is_too_late() {
    let mut told = Told::new(&[vec![Kind::Write], vec![Kind::Read]]);
    let after_read = told.add_split(1, 0);
    assert_eq!(told.too_late_source(), None);
    assert_eq!(told.decide(after_read, true), Ok(()));
    let late = told.too_late_source().expect("the write comes after the read");
    assert_eq!(told.said[late as usize], Said::Source { read: 1, write: Some(0) });
    assert_eq!(told.reasons(late, false), [(after_read, true)]);
}

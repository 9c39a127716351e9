//! The facts of a trace that do not depend on order and values: the events of each thread and variable, and events that belong together.
//!
//! Everything here is read off the program order of each thread. The filters and the encoder build on it; the
//! checker and the oracle do not, so that they cannot share a mistake made here.

use foretrace_trace::{EventId, Op, SyncId, SyncKind, ThreadId, Trace, VarId};
use rustc_hash::FxHashMap;

/// A stretch in which one thread holds a lock, or is at an initialisation that happens once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    /// The lock, or what is initialised.
    pub lock: SyncId,
    /// Its holder.
    pub thread: ThreadId,
    /// Whether a rwlock is only shared.
    pub shared: bool,
    /// The `acquire`, `acquire_shared`, `wake` or `once_begin` that takes it, or the `down` of a semaphore that is a lock.
    pub start: EventId,
    /// The `release`, `release_shared`, `wait`, `once_end`, `once_fail` or `post` that gives it back, where the run got there.
    pub end: Option<EventId>,
}

impl Region {
    /// Whether the two cannot be held at once.
    pub fn excludes(&self, other: &Region) -> bool {
        self.lock == other.lock && self.thread != other.thread && !(self.shared && other.shared)
    }
}

/// The threads that hold a lock at some time.
#[derive(Clone, Copy, Default, Debug)]
enum Holders {
    #[default]
    None,
    One(ThreadId),
    Several,
}

impl Holders {
    fn add(&mut self, thread: ThreadId) {
        *self = match self {
            Holders::None => Holders::One(thread),
            Holders::One(other) if *other == thread => return,
            _ => Holders::Several,
        }
    }

    fn any_but(self, thread: ThreadId) -> bool {
        match self {
            Holders::None => false,
            Holders::One(other) => other != thread,
            Holders::Several => true,
        }
    }
}

/// A `wake` with the `wait` that it ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// The condition variable.
    pub cond: SyncId,
    /// The start of the wait.
    pub wait: EventId,
    /// Its end.
    pub wake: EventId,
    /// Whether a signal is needed (no timeout, not spurious).
    pub needs_signal: bool,
}

/// The fixed relations between a trace's events.
#[derive(Clone, Debug)]
pub struct TraceIndex {
    /// Per thread: its events in program order.
    pub threads: Vec<Vec<EventId>>,
    /// Per event: its position in its thread.
    pub position: Vec<u32>,
    /// Per thread: the `fork` that starts it.
    pub fork: Vec<Option<EventId>>,
    /// Per synchronisation object: the regions in which it is held, by start. A semaphore has some where it is used as a lock.
    pub regions: Vec<Vec<Region>>,
    /// Per synchronisation object: who holds it, and who does not only share it.
    holders: Vec<[Holders; 2]>,
    /// All finished waits, by wake.
    pub waitings: Vec<Waiting>,
    /// Per synchronisation object: its signals and broadcasts.
    pub signals: Vec<Vec<EventId>>,
    /// Per synchronisation object: its posts.
    pub posts: Vec<Vec<EventId>>,
    /// Per synchronisation object: its downs.
    pub downs: Vec<Vec<EventId>>,
    /// Per synchronisation object: the `once_end`, which a valid trace has at most one of.
    pub initialised: Vec<Option<EventId>>,
    /// Whether some event is one of two outcomes of a call.
    pub has_tries: bool,
    /// All `busy` events.
    pub busy: Vec<EventId>,
    /// The arrives of each round of a barrier, by first event of the round.
    rounds: Vec<Vec<EventId>>,
    /// The round of each depart.
    round_of: FxHashMap<EventId, usize>,
    /// Per variable: its reads, writes and read-modify-writes, external writes included.
    pub accesses: Vec<Vec<EventId>>,
    /// Per variable: those that write.
    pub writes: Vec<Vec<EventId>>,
    /// The same, thread by thread.
    writes_by_thread: Vec<Vec<EventId>>,
}

impl TraceIndex {
    /// Reads the structure off a valid trace.
    pub fn new(trace: &Trace) -> TraceIndex {
        let syncs = trace.syncs.len();
        let mut trace_index = TraceIndex {
            threads: vec![Vec::new(); trace.threads.len()],
            position: Vec::with_capacity(trace.events.len()),
            fork: vec![None; trace.threads.len()],
            regions: vec![Vec::new(); syncs],
            holders: vec![<[Holders; 2]>::default(); syncs],
            waitings: Vec::new(),
            signals: vec![Vec::new(); syncs],
            posts: vec![Vec::new(); syncs],
            downs: vec![Vec::new(); syncs],
            initialised: vec![None; syncs],
            has_tries: trace.events.iter().any(|event| event.tried),
            busy: Vec::new(),
            rounds: Vec::new(),
            round_of: FxHashMap::default(),
            accesses: vec![Vec::new(); trace.vars.len()],
            writes: vec![Vec::new(); trace.vars.len()],
            writes_by_thread: Vec::new(),
        };
        let mut scan = Scan::default();
        for (id, event) in trace.iter() {
            let own = &mut trace_index.threads[event.thread.index()];
            trace_index.position.push(own.len() as u32);
            own.push(id);
            scan.event(trace, id, &mut trace_index);
        }
        for (sem, object) in trace.syncs.iter().enumerate() {
            if object.kind == (SyncKind::Semaphore { init: 1 }) {
                trace_index.add_semaphore_lock(trace, SyncId::from_index(sem));
            }
        }
        trace_index.writes_by_thread = trace_index.writes.clone();
        for writes in &mut trace_index.writes_by_thread {
            writes.sort_by_key(|write| trace.event(*write).thread);
        }
        trace_index
    }

    /// Adds the regions of a semaphore that the program uses as a lock: the count is 1 at first, and each thread takes it before it gives it
    /// back, in turn.
    ///
    /// Lemma: then the count is above zero before each down of a schedule exactly if no two of these regions overlap. Proof: in every
    /// prefix a thread with an open region has one down more than posts, and each other thread has as many. So the count is 1 less the open
    /// regions.
    fn add_semaphore_lock(&mut self, trace: &Trace, sem: SyncId) {
        let (downs, posts) = (&self.downs[sem.index()], &self.posts[sem.index()]);
        let mut changes: Vec<EventId> = downs.iter().chain(posts).copied().collect();
        changes.sort_unstable();
        let mut open: FxHashMap<ThreadId, usize> = FxHashMap::default();
        let mut regions: Vec<Region> = Vec::with_capacity(downs.len());
        for change in changes {
            let thread = trace.event(change).thread;
            match (&trace.event(change).op, open.remove(&thread)) {
                (Op::Down { .. }, None) => {
                    open.insert(thread, regions.len());
                    regions.push(Region { lock: sem, thread, shared: false, start: change, end: None });
                }
                (Op::Post { .. }, Some(region)) => regions[region].end = Some(change),
                _ => return,
            }
        }
        for region in &regions {
            self.holders[sem.index()].iter_mut().for_each(|holders| holders.add(region.thread));
        }
        self.regions[sem.index()] = regions;
    }

    /// Position of an event in its thread.
    pub fn position(&self, event: EventId) -> usize {
        self.position[event.index()] as usize
    }

    /// The event that comes right before in the same thread.
    pub fn previous(&self, trace: &Trace, event: EventId) -> Option<EventId> {
        let own = &self.threads[trace.event(event).thread.index()];
        self.position(event).checked_sub(1).map(|before| own[before])
    }

    /// The event that comes right after in the same thread.
    pub fn next(&self, trace: &Trace, event: EventId) -> Option<EventId> {
        self.threads[trace.event(event).thread.index()].get(self.position(event) + 1).copied()
    }

    /// The region that an event opens; none at an inner level of a recursive lock.
    pub fn region_from(&self, start: EventId) -> Option<Region> {
        (0..self.regions.len()).find_map(|lock| self.region_at(SyncId::from_index(lock), start))
    }

    /// The region of this object that an event opens.
    pub fn region_at(&self, lock: SyncId, start: EventId) -> Option<Region> {
        let regions = &self.regions[lock.index()];
        let at = regions.binary_search_by_key(&start, |region| region.start).ok()?;
        Some(regions[at])
    }

    /// Whether there is a region that cannot be held together with this one.
    pub fn is_contended(&self, region: &Region) -> bool {
        let [all, exclusive] = self.holders[region.lock.index()];
        if region.shared { exclusive } else { all }.any_but(region.thread)
    }

    /// Whether no thread takes the object after this region: it is the initialisation that did not fail.
    pub fn is_last(&self, region: &Region) -> bool {
        region.end.is_some() && region.end == self.initialised[region.lock.index()]
    }

    /// The wait that a wake ends.
    pub fn waiting_until(&self, wake: EventId) -> Option<Waiting> {
        let at = self.waitings.binary_search_by_key(&wake, |waiting| waiting.wake).ok()?;
        Some(self.waitings[at])
    }

    /// The events that an event waits for in every prefix that holds it, whatever the values: the last one of a thread that is joined, the
    /// arrives of a round that is left, the end of an initialisation that is passed.
    pub fn waits_for(&self, trace: &Trace, event: EventId) -> &[EventId] {
        match trace.event(event).op {
            Op::Join { child } => {
                let own = &self.threads[child.index()];
                &own[own.len().saturating_sub(1)..]
            }
            Op::Depart { .. } => self.round_of.get(&event).map_or(&[], |round| &self.rounds[*round]),
            Op::OncePass { once } => self.initialised[once.index()].as_slice(),
            _ => &[],
        }
    }

    /// The writes of a variable: those of each thread that has any, in program order.
    pub fn writes_by_thread<'s>(&'s self, trace: &'s Trace, var: VarId) -> impl Iterator<Item = &'s [EventId]> {
        let mut rest = &self.writes_by_thread[var.index()][..];
        std::iter::from_fn(move || {
            let thread = trace.event(*rest.first()?).thread;
            let (own, others) = rest.split_at(rest.partition_point(|write| trace.event(*write).thread == thread));
            rest = others;
            Some(own)
        })
    }

    /// The next write of the same thread to the same variable.
    pub fn next_write(&self, trace: &Trace, write: EventId) -> Option<EventId> {
        let (thread, var) = (trace.event(write).thread, trace.event(write).op.var()?);
        let writes = &self.writes_by_thread[var.index()];
        let next = writes.partition_point(|other| (trace.event(*other).thread, *other) <= (thread, write));
        writes.get(next).copied().filter(|next| trace.event(*next).thread == thread)
    }

    /// First and last event of the step that `event` is part of; the event itself where it stands alone.
    pub fn step(&self, trace: &Trace, event: EventId) -> (EventId, EventId) {
        let Some((k, n)) = trace.event(event).part else { return (event, event) };
        let own = &self.threads[trace.event(event).thread.index()];
        let position = self.position(event);
        let first = position + 1 - k as usize;
        let last = (first + n as usize - 1).min(own.len() - 1); // a run may be cut off inside a step
        (own[first], own[last])
    }
}

/// A lock that a thread holds while the trace is scanned.
struct Held {
    region: usize,
    depth: u32,
}

/// State of the scan: what is held and waited for at this point.
#[derive(Default)]
struct Scan {
    held: FxHashMap<(ThreadId, SyncId, bool), Held>,
    waiting: FxHashMap<(ThreadId, SyncId), (EventId, u32)>,
    rounds: FxHashMap<(SyncId, u64), usize>,
}

impl Scan {
    fn event(&mut self, trace: &Trace, id: EventId, to: &mut TraceIndex) {
        let thread = trace.event(id).thread;
        match &trace.event(id).op {
            Op::Read { var, .. } => to.accesses[var.index()].push(id),
            Op::Write { var, .. } | Op::Rmw { var, .. } => {
                to.accesses[var.index()].push(id);
                to.writes[var.index()].push(id);
            }
            Op::Acquire { lock } => {
                let recursive = matches!(trace.syncs[lock.index()].kind, SyncKind::Mutex { recursive: true });
                self.take(id, thread, *lock, false, recursive, 1, to);
            }
            Op::AcquireShared { lock } => self.take(id, thread, *lock, true, true, 1, to),
            Op::Release { lock } => {
                self.give(id, thread, *lock, false, 1, to);
            }
            Op::ReleaseShared { lock } => {
                self.give(id, thread, *lock, true, 1, to);
            }
            Op::Wait { cond, lock } => {
                let depth = self.give(id, thread, *lock, false, u32::MAX, to);
                self.waiting.insert((thread, *cond), (id, depth));
            }
            Op::Wake { cond, lock, cause, .. } => {
                let Some((wait, depth)) = self.waiting.remove(&(thread, *cond)) else { return };
                self.take(id, thread, *lock, false, false, depth, to);
                to.waitings.push(Waiting { cond: *cond, wait, wake: id, needs_signal: cause.is_none() });
            }
            Op::Signal { cond } | Op::Broadcast { cond } => to.signals[cond.index()].push(id),
            Op::Post { sem } => to.posts[sem.index()].push(id),
            Op::Down { sem } => to.downs[sem.index()].push(id),
            Op::OnceBegin { once } => self.take(id, thread, *once, false, false, 1, to),
            Op::OnceEnd { once } => {
                self.give(id, thread, *once, false, 1, to);
                to.initialised[once.index()] = Some(id);
            }
            Op::OnceFail { once } => {
                self.give(id, thread, *once, false, 1, to);
            }
            Op::Busy { .. } => to.busy.push(id),
            Op::Arrive { barrier, round } => {
                let round = self.round(*barrier, *round, to);
                to.rounds[round].push(id);
            }
            Op::Depart { barrier, round } => {
                let round = self.round(*barrier, *round, to);
                to.round_of.insert(id, round);
            }
            Op::Fork { child } => to.fork[child.index()] = Some(id),
            _ => {}
        }
    }

    #[allow(clippy::too_many_arguments)] // one place for the four ways to take a lock
    fn take(
        &mut self,
        id: EventId,
        thread: ThreadId,
        lock: SyncId,
        shared: bool,
        nests: bool,
        depth: u32,
        to: &mut TraceIndex,
    ) {
        if nests && let Some(held) = self.held.get_mut(&(thread, lock, shared)) {
            held.depth += 1;
            return;
        }
        let [all, exclusive] = &mut to.holders[lock.index()];
        all.add(thread);
        if !shared {
            exclusive.add(thread);
        }
        let regions = &mut to.regions[lock.index()];
        self.held.insert((thread, lock, shared), Held { region: regions.len(), depth });
        regions.push(Region { lock, thread, shared, start: id, end: None });
    }

    /// Gives back `levels` of a nest; returns how many were held.
    fn give(
        &mut self,
        id: EventId,
        thread: ThreadId,
        lock: SyncId,
        shared: bool,
        levels: u32,
        to: &mut TraceIndex,
    ) -> u32 {
        let key = (thread, lock, shared);
        let Some(held) = self.held.get_mut(&key) else { return 0 };
        let depth = held.depth;
        held.depth = depth.saturating_sub(levels);
        if held.depth == 0 {
            to.regions[lock.index()][held.region].end = Some(id);
            self.held.remove(&key);
        }
        depth
    }

    fn round(&mut self, barrier: SyncId, round: u64, to: &mut TraceIndex) -> usize {
        *self.rounds.entry((barrier, round)).or_insert_with(|| {
            to.rounds.push(Vec::new());
            to.rounds.len() - 1
        })
    }
}

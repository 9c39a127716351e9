//! What events use, and how: the one place that says it, for explorations and for the shortening of witnesses.

use foretrace_explore::{Mode, Relation, Use};
use foretrace_trace::{EventId, Op, SyncId, Trace, VarId};
use rustc_hash::FxHashMap;

/// What the events of several threads may use.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Object {
    /// A variable.
    Variable(VarId),
    /// A synchronisation object.
    Sync(SyncId),
    /// A round of a barrier. Uses of different rounds do not depend on each other.
    Round(SyncId, u64),
}

/// What an event uses, and how. Of operations on concurrent objects and of memory that is given back it says nothing: those change no state.
#[inline]
pub fn uses(op: &Op) -> [Option<(Object, Mode)>; 2] {
    if let Some(var) = op.var() {
        let mode = if op.writes() { Mode::Write } else { Mode::Read };
        return [Some((Object::Variable(var), mode)), None];
    }
    let sync = |id: SyncId, mode| Some((Object::Sync(id), mode));
    match *op {
        Op::Acquire { lock } => [sync(lock, Mode::Take), None],
        Op::Release { lock } => [sync(lock, Mode::Give), None],
        Op::AcquireShared { lock } => [sync(lock, Mode::TakeShared), None],
        Op::ReleaseShared { lock } => [sync(lock, Mode::GiveShared), None],
        Op::Busy { lock } => [sync(lock, Mode::Busy), None],
        Op::Wait { cond, lock } => [sync(lock, Mode::Give), sync(cond, Mode::Any)],
        Op::Wake { cond, lock, .. } => [sync(lock, Mode::Take), sync(cond, Mode::Any)],
        Op::Signal { cond } | Op::Broadcast { cond } => [sync(cond, Mode::Any), None],
        Op::Post { sem } => [sync(sem, Mode::Post), None],
        Op::Down { sem } => [sync(sem, Mode::Down), None],
        Op::Arrive { barrier, round } => [Some((Object::Round(barrier, round), Mode::Arrive)), None],
        Op::Depart { barrier, round } => [Some((Object::Round(barrier, round), Mode::Depart)), None],
        Op::OnceBegin { once } | Op::OnceEnd { once } | Op::OncePass { once } | Op::OnceFail { once } => {
            [sync(once, Mode::Any), None]
        }
        Op::Fork { .. } | Op::Join { .. } => [None, None],
        Op::Begin { .. }
        | Op::End { .. }
        | Op::Read { .. }
        | Op::Write { .. }
        | Op::Rmw { .. }
        | Op::Let { .. }
        | Op::Assume { .. } => [None, None],
        Op::Call { .. } | Op::Return { .. } | Op::Free { .. } | Op::Unseen { .. } | Op::Fail { .. } => [None, None],
    }
}

/// The numbers of a trace's objects.
pub struct Objects {
    vars: u32,
    syncs: u32,
    rounds: FxHashMap<(SyncId, u64), u32>,
}

impl Objects {
    /// Numbers the objects of a trace.
    pub fn new(trace: &Trace) -> Objects {
        let mut rounds = FxHashMap::default();
        for event in &trace.events {
            if let Op::Arrive { barrier, round } | Op::Depart { barrier, round } = event.op {
                let number = rounds.len() as u32;
                rounds.entry((barrier, round)).or_insert(number);
            }
        }
        Objects { vars: trace.vars.len() as u32, syncs: trace.syncs.len() as u32, rounds }
    }

    /// How many there are: variables, synchronisation objects and rounds of barriers.
    pub fn count(&self) -> usize {
        self.vars as usize + self.syncs as usize + self.rounds.len()
    }

    /// Whether an object is a variable.
    pub fn is_var(&self, object: u32) -> bool {
        object < self.vars
    }

    /// What an event uses, by number.
    pub fn uses(&self, op: &Op) -> [Option<Use>; 2] {
        uses(op).map(|used| used.map(|(object, mode)| Use { object: self.number(object), mode }))
    }

    fn number(&self, object: Object) -> u32 {
        match object {
            Object::Variable(var) => var.0,
            Object::Sync(id) => self.vars + id.0,
            Object::Round(barrier, round) => {
                self.vars + self.syncs + self.rounds.get(&(barrier, round)).copied().unwrap_or(0)
            }
        }
    }
}

/// The events that use each object, thread by thread.
pub struct Users {
    of_object: Vec<Vec<OfThread>>,
}

/// The events of one thread that use an object.
pub struct OfThread {
    pub thread: usize,
    /// Position in the thread, how it uses the object, and the event.
    pub uses: Vec<(u32, Mode, EventId)>,
}

impl Users {
    pub fn new(trace: &Trace, objects: &Objects, position: impl Fn(EventId) -> u32) -> Users {
        let mut of_object: Vec<Vec<OfThread>> = Vec::new();
        of_object.resize_with(objects.count(), Vec::new);
        let mut place: FxHashMap<(u32, usize), usize> = FxHashMap::default();
        for (id, event) in trace.iter() {
            let thread = event.thread.index();
            for Use { object, mode } in objects.uses(&event.op).into_iter().flatten() {
                let threads = &mut of_object[object as usize];
                let at = *place.entry((object, thread)).or_insert_with(|| {
                    threads.push(OfThread { thread, uses: Vec::new() });
                    threads.len() - 1
                });
                threads[at].uses.push((position(id), mode, id));
            }
        }
        Users { of_object }
    }

    pub fn of_object(&self, object: u32) -> &[OfThread] {
        &self.of_object[object as usize]
    }

    pub fn objects(&self) -> u32 {
        self.of_object.len() as u32
    }
}

impl OfThread {
    /// Whether some of its uses at positions from `from` and below `to` depends on one with this mode.
    pub fn first_dependent(&self, mode: Mode, from: u32, to: u32) -> Option<(u32, EventId)> {
        let start = self.uses.partition_point(|(position, _, _)| *position < from);
        let uses = self.uses[start..].iter().take_while(|(position, _, _)| *position < to);
        uses.filter(|(_, other, _)| other.relation(mode) != Relation::Independent).map(|(at, _, id)| (*at, *id)).next()
    }
}

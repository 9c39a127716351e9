//! What all states of one exploration have in common: what events use, and which threads use an object how late.

use foretrace_explore::{Action, Mode, Relation, Use};
use foretrace_serializability::Objects;
use foretrace_trace::{EventId, NameId, Op, Results, Semantics, Trace};
use rustc_hash::FxHashMap;
use std::cell::Cell;

/// A step of a thread, as others can tell it.
pub(crate) struct Step {
    /// What it does.
    pub action: Action,
    /// The event that other threads can tell. Before it come the beginnings of operations, after it their ends.
    pub anchor: EventId,
}

/// How a thread uses an object: in which ways, and the latest position of each.
struct User {
    thread: usize,
    modes: Vec<(Mode, u32)>,
}

/// The facts of a trace that an exploration looks up.
pub(crate) struct Context<'a> {
    pub trace: &'a Trace,
    pub semantics: &'a Semantics<'a>,
    pub results: Results,
    /// Per event its position in its thread.
    positions: Vec<u32>,
    /// Per event the step that begins with it.
    steps: Vec<Option<Step>>,
    /// Per object the threads that use it.
    users: Vec<Vec<User>>,
    /// The objects of operations, by their names.
    concurrent: FxHashMap<Option<NameId>, usize>,
    /// Per thread the one that starts it.
    starters: Vec<Option<usize>>,
    /// Whether a value forbade the next event of a thread in some state that was explored. The program would go on elsewhere there, also if
    /// another thread then makes the event possible.
    pub leaves_path: Cell<bool>,
}

impl<'a> Context<'a> {
    pub fn new(trace: &'a Trace, semantics: &'a Semantics<'a>) -> Context<'a> {
        let mut context = Context {
            trace,
            semantics,
            results: Results::new(trace),
            positions: Vec::with_capacity(trace.events.len()),
            steps: Vec::new(),
            users: Vec::new(),
            concurrent: FxHashMap::default(),
            starters: vec![None; trace.threads.len()],
            leaves_path: Cell::new(may_come_out_otherwise(trace)),
        };
        let mut uses = context.read(&Objects::new(trace));
        let shared: Vec<bool> = context.users.iter().map(|users| is_shared(users)).collect();
        uses.iter_mut().for_each(|uses| uses.retain(|one| shared[one.object as usize]));
        let mut threads: Vec<Vec<EventId>> = vec![Vec::new(); trace.threads.len()];
        trace.iter().for_each(|(id, event)| threads[event.thread.index()].push(id));
        context.steps.resize_with(trace.events.len(), || None);
        for events in &threads {
            context.divide(events, &uses);
        }
        context
    }

    /// Divides a thread's events into steps.
    fn divide(&mut self, events: &[EventId], uses: &[Vec<Use>]) {
        let trace = self.trace;
        let op = |place: usize| &trace.event(events[place]).op;
        let is_call = |place: usize| matches!(op(place), Op::Call { .. });
        let is_failure = |place: usize| matches!(op(place), Op::Fail { .. });
        // A step of several events may fail half-way, so that it is always seen.
        let is_visible = |place: usize| match op(place) {
            Op::Call { .. } | Op::Return { .. } => false,
            Op::Fork { .. } | Op::Join { .. } => true,
            _ => !uses[events[place].index()].is_empty() || trace.event(events[place]).part.is_some(),
        };
        let mut place = 0;
        while place < events.len() {
            if !is_call(place) && !is_visible(place) {
                place += 1;
                continue;
            }
            let ends = |at: &usize| is_visible(*at) || matches!(op(*at), Op::Return { .. });
            let anchor = (place..events.len()).find(ends).unwrap_or(events.len() - 1);
            let parts = trace.event(events[anchor]).part.map_or(0, |(number, parts)| (parts - number) as usize);
            let mut end = (anchor + parts + 1).min(events.len());
            while end < events.len() && !is_visible(end) && !is_call(end) && !is_failure(end) {
                end += 1;
            }
            if !(place..=anchor).any(is_failure) {
                let all: Vec<Use> = events[place..end].iter().flat_map(|id| &uses[id.index()]).copied().collect();
                let mut action = Action::new(all.into());
                match op(anchor) {
                    Op::Fork { child } => action.starts = Some(child.index()),
                    Op::Join { child } => action.joins = Some(child.index()),
                    _ => {}
                }
                self.steps[events[place].index()] = Some(Step { action, anchor: events[anchor] });
            }
            place = end;
        }
    }

    /// Reads positions and users off the trace; what each event uses.
    fn read(&mut self, objects: &Objects) -> Vec<Vec<Use>> {
        let mut counts = vec![0; self.trace.threads.len()];
        let mut all = Vec::with_capacity(self.trace.events.len());
        for (_, event) in self.trace.iter() {
            let thread = event.thread.index();
            let position: u32 = counts[thread];
            counts[thread] += 1;
            self.positions.push(position);
            let mut uses: Vec<Use> = objects.uses(&event.op).into_iter().flatten().collect();
            match event.op {
                Op::Call { object, .. } => uses.push(self.operation(objects, object, Mode::Call)),
                Op::Return { object, .. } => uses.push(self.operation(objects, object, Mode::Return)),
                Op::Fork { child } => self.starters[child.index()] = Some(thread),
                _ => {}
            }
            uses.iter().for_each(|one| self.note(thread, position, *one));
            all.push(uses);
        }
        all
    }

    fn operation(&mut self, objects: &Objects, object: Option<NameId>, mode: Mode) -> Use {
        let next = self.concurrent.len();
        let number = *self.concurrent.entry(object).or_insert(next);
        Use { object: (objects.count() + number) as u32, mode }
    }

    fn note(&mut self, thread: usize, position: u32, Use { object, mode }: Use) {
        let object = object as usize;
        if self.users.len() <= object {
            self.users.resize_with(object + 1, Vec::new);
        }
        let users = &mut self.users[object];
        let place = users.iter().position(|user| user.thread == thread).unwrap_or_else(|| {
            users.push(User { thread, modes: Vec::new() });
            users.len() - 1
        });
        let modes = &mut users[place].modes;
        match modes.iter_mut().find(|(known, _)| *known == mode) {
            Some((_, latest)) => *latest = position,
            None => modes.push((mode, position)),
        }
    }

    /// The step that begins with an event.
    pub fn step(&self, event: EventId) -> Option<&Step> {
        self.steps[event.index()].as_ref()
    }

    /// The number of the object of an operation.
    pub fn object(&self, object: Option<NameId>) -> usize {
        self.concurrent.get(&object).copied().unwrap_or(0)
    }

    /// The thread that starts a thread.
    pub fn starter(&self, thread: usize) -> Option<usize> {
        self.starters[thread]
    }

    /// Whether a thread may still take a step that depends on an action, where `next` is its next event.
    pub fn may_depend(&self, (thread, next): (usize, EventId), action: &Action) -> bool {
        let from = self.positions[next.index()];
        action.uses.iter().any(|one| {
            let user = self.users[one.object as usize].iter().find(|user| user.thread == thread);
            let depends =
                |(mode, latest): &(Mode, u32)| *latest >= from && mode.relation(one.mode) != Relation::Independent;
            user.is_some_and(|user| user.modes.iter().any(depends))
        })
    }
}

/// Whether two threads use an object in ways that depend on each other.
fn is_shared(users: &[User]) -> bool {
    let dependent = |one: &User, other: &User| {
        let mut pairs = one.modes.iter().flat_map(|(own, _)| other.modes.iter().map(move |(theirs, _)| (own, theirs)));
        pairs.any(|(own, theirs)| own.relation(*theirs) != Relation::Independent)
    };
    users.iter().enumerate().any(|(number, own)| users[..number].iter().any(|other| dependent(own, other)))
}

/// Whether what the program tried may come out another way in another schedule, whatever the values.
fn may_come_out_otherwise(trace: &Trace) -> bool {
    trace.events.iter().any(|event| event.tried || is_one_of_several(&event.op))
}

/// Whether the program does something else where this event cannot come.
fn is_one_of_several(op: &Op) -> bool {
    match op {
        Op::Busy { .. } | Op::OnceBegin { .. } | Op::OncePass { .. } => true,
        Op::Begin { .. } | Op::End { .. } | Op::Call { .. } | Op::Return { .. } => false,
        Op::Read { .. } | Op::Write { .. } | Op::Rmw { .. } | Op::Let { .. } | Op::Assume { .. } => false,
        Op::Acquire { .. } | Op::Release { .. } | Op::AcquireShared { .. } | Op::ReleaseShared { .. } => false,
        Op::Wait { .. } | Op::Wake { .. } | Op::Signal { .. } | Op::Broadcast { .. } => false,
        Op::Post { .. } | Op::Down { .. } | Op::Arrive { .. } | Op::Depart { .. } => false,
        Op::OnceEnd { .. } | Op::OnceFail { .. } | Op::Fork { .. } | Op::Join { .. } => false,
        Op::Free { .. } | Op::Unseen { .. } | Op::Fail { .. } => false,
    }
}

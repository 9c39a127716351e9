//! What all states of one exploration have in common: what events use, and which threads use an object how late.

use foretrace_explore::{Action, Mode, Relation, Use};
use foretrace_serializability::Objects;
use foretrace_trace::{EventId, NameId, Op, Results, Semantics, Trace};
use rustc_hash::FxHashMap;

/// The facts of a trace that an exploration looks up.
pub(crate) struct Context<'a> {
    pub trace: &'a Trace,
    pub semantics: &'a Semantics<'a>,
    pub results: Results,
    /// Per event its position in its thread.
    positions: Vec<u32>,
    /// Per event what other threads can tell of it; nothing where they cannot tell anything. The first of several parts stands for all.
    actions: Vec<Option<Action>>,
    /// Per object and thread that uses it: in which ways, and the latest position of each.
    users: Vec<Vec<(usize, Vec<(Mode, u32)>)>>,
    /// The objects of operations, by their names.
    concurrent: FxHashMap<Option<NameId>, usize>,
    /// Per thread the one that starts it.
    starters: Vec<Option<usize>>,
}

impl<'a> Context<'a> {
    pub fn new(trace: &'a Trace, semantics: &'a Semantics<'a>) -> Context<'a> {
        let mut context = Context {
            trace,
            semantics,
            results: Results::new(trace),
            positions: Vec::with_capacity(trace.events.len()),
            actions: Vec::with_capacity(trace.events.len()),
            users: Vec::new(),
            concurrent: FxHashMap::default(),
            starters: vec![None; trace.threads.len()],
        };
        let objects = Objects::new(trace);
        let uses = context.read(&objects);
        let shared: Vec<bool> = context.users.iter().map(|users| is_shared(users)).collect();
        for ((id, event), uses) in trace.iter().zip(uses) {
            let action = context.action_of(id, uses, &objects, &shared);
            let is_first = event.part.is_none_or(|(number, _)| number == 1);
            context.actions.push(action.filter(|_| is_first));
        }
        context
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
            self.users.resize(object + 1, Vec::new());
        }
        let users = &mut self.users[object];
        let place = users.iter().position(|(user, _)| *user == thread).unwrap_or_else(|| {
            users.push((thread, Vec::new()));
            users.len() - 1
        });
        let modes = &mut users[place].1;
        match modes.iter_mut().find(|(known, _)| *known == mode) {
            Some((_, latest)) => *latest = position,
            None => modes.push((mode, position)),
        }
    }

    /// What other threads can tell of a step that begins with this event, which uses `own`.
    fn action_of(&self, id: EventId, own: Vec<Use>, objects: &Objects, shared: &[bool]) -> Option<Action> {
        let trace = self.trace;
        let event = trace.event(id);
        let mut uses = own;
        if let Some((number, parts)) = event.part {
            let rest = trace.iter().skip(id.index() + 1).filter(|(_, other)| other.thread == event.thread);
            let rest = rest.take(parts.saturating_sub(number) as usize);
            uses.extend(rest.flat_map(|(_, other)| objects.uses(&other.op)).flatten());
        }
        uses.retain(|one| shared[one.object as usize]);
        let mut action = Action::new(uses.into());
        match event.op {
            Op::Fork { child } => action.starts = Some(child.index()),
            Op::Join { child } => action.joins = Some(child.index()),
            _ => {}
        }
        let is_visible = !action.uses.is_empty() || action.starts.is_some() || action.joins.is_some();
        // A step of several events may fail half-way, so that it is always seen.
        (is_visible || event.part.is_some()).then_some(action)
    }

    /// What other threads can tell of the event.
    pub fn action(&self, event: EventId) -> Option<&Action> {
        self.actions[event.index()].as_ref()
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
            let of_thread = self.users[one.object as usize].iter().find(|(user, _)| *user == thread);
            let depends =
                |(mode, latest): &(Mode, u32)| *latest >= from && mode.relation(one.mode) != Relation::Independent;
            of_thread.is_some_and(|(_, modes)| modes.iter().any(depends))
        })
    }
}

/// Whether two threads use an object in ways that depend on each other.
fn is_shared(users: &[(usize, Vec<(Mode, u32)>)]) -> bool {
    let dependent = |one: &[(Mode, u32)], other: &[(Mode, u32)]| {
        one.iter().any(|(mode, _)| other.iter().any(|(theirs, _)| mode.relation(*theirs) != Relation::Independent))
    };
    users.iter().enumerate().any(|(number, (_, own))| users[..number].iter().any(|(_, other)| dependent(own, other)))
}

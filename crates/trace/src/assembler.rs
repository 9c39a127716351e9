//! Makes a trace event by event. Every reader and every producer of traces uses it.

mod forgetting;

use crate::error::{Invalid, Problem, quoted};
use crate::observe::observe;
use crate::observed::Observed;
use crate::op::Op;
use crate::smtlib::{self, TermError};
use crate::term::{Node, TermId, Terms};
use crate::trace::{
    Data, Event, EventId, Local, NameId, SyncId, SyncKind, SyncObject, Thread, ThreadId, Trace, VarId, Variable,
};
use crate::value::{Sort, Value};
use rustc_hash::FxHashMap;

/// Widest word that a shared variable may be.
pub const MAX_VAR_WIDTH: u32 = 64;

/// How an event uses a synchronisation object; its kind, where no header declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncUse {
    /// As a lock, taken exclusively.
    Lock,
    /// As a lock that is shared.
    SharedLock,
    /// As a condition variable.
    Condvar,
    /// As a semaphore.
    Semaphore,
    /// As a barrier.
    Barrier,
    /// As an initialisation that happens once.
    Once,
}

impl SyncUse {
    pub(crate) fn kind(self) -> SyncKind {
        match self {
            SyncUse::Lock => SyncKind::Mutex { recursive: false },
            SyncUse::SharedLock => SyncKind::Rwlock,
            SyncUse::Condvar => SyncKind::Condvar,
            SyncUse::Semaphore => SyncKind::Semaphore { init: 0 },
            SyncUse::Barrier => SyncKind::Barrier { parties: None },
            SyncUse::Once => SyncKind::Once,
        }
    }
}

/// A trace in the making.
///
/// Objects are declared first; where the trace has no data they may also come into being at their first use, with
/// the kind that the use shows. [`TraceAssembler::finish`] checks every rule of the format.
#[derive(Clone, Debug)]
pub struct TraceAssembler {
    trace: Trace,
    vars: FxHashMap<Box<str>, VarId>,
    syncs: FxHashMap<Box<str>, SyncId>,
    threads: FxHashMap<u64, ThreadId>,
    /// Which synchronisation objects came into being by use.
    implied: Vec<bool>,
    /// What each thread's local names stand for, after so many events; whoever asks brings it up to date.
    scopes: Vec<FxHashMap<NameId, Local>>,
    bound: usize,
    /// What each thread's local names stand for whose definitions were forgotten.
    values: Vec<FxHashMap<NameId, Value>>,
    /// How many events went by, where they are not kept, nor what they say of values.
    passed: Option<u32>,
}

impl TraceAssembler {
    /// An empty trace that knows this much of values.
    pub fn new(data: Data) -> TraceAssembler {
        TraceAssembler {
            trace: Trace::new(data),
            vars: FxHashMap::default(),
            syncs: FxHashMap::default(),
            threads: FxHashMap::default(),
            implied: Vec::new(),
            scopes: Vec::new(),
            bound: 0,
            values: Vec::new(),
            passed: None,
        }
    }

    /// From here on keeps no events, and nothing of what they say of values.
    pub(crate) fn keep_no_events(&mut self) {
        self.passed = Some(0);
    }

    /// Keeps events again; none has gone by yet.
    pub(crate) fn keep_events(&mut self) {
        self.passed = None;
    }

    /// Whether events and what they say of values are kept.
    pub(crate) fn keeps_events(&self) -> bool {
        self.passed.is_none()
    }

    /// Counts an event that is not kept.
    pub(crate) fn pass(&mut self) -> Result<EventId, Problem> {
        let id = self.next_event();
        must_have_number(id)?;
        self.passed = Some(id.0 + 1);
        Ok(id)
    }

    /// The trace as far as it is made.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// The arena of the trace's terms.
    pub fn terms(&mut self) -> &mut Terms<Local> {
        &mut self.trace.terms
    }

    /// Names the program.
    pub fn set_program(&mut self, program: &str) {
        self.trace.program = Some(program.into());
    }

    /// Declares a shared variable; `sort` and `init` are needed unless the trace has no data.
    pub fn declare_var(
        &mut self,
        key: &str,
        name: Option<&str>,
        sort: Option<Sort>,
        init: Option<Value>,
    ) -> Result<VarId, Problem> {
        let shown = || format!("variable {}", quoted(key));
        if self.vars.contains_key(key) {
            return Err(Problem::new(format!("{} declared twice", shown()), "one declaration of each variable"));
        }
        match (sort, &init) {
            (Some(Sort::BitVec(width)), _) if !(1..=MAX_VAR_WIDTH).contains(&width) => {
                let expected = format!("1 to {MAX_VAR_WIDTH} bits");
                return Err(Problem::new(format!("{} of {width} bits", shown()), expected));
            }
            (Some(sort), Some(init)) if init.sort() != sort => {
                let found =
                    format!("{} of sort {sort} with the initial value `{init}` of sort {}", shown(), init.sort());
                return Err(Problem::new(found, format!("an initial value of sort {sort}")));
            }
            (None, Some(_)) => return Err(Problem::new(format!("{} with `init` but no `sort`", shown()), "`sort`")),
            (None, _) if self.trace.data != Data::None => {
                return Err(Problem::new(
                    format!("{} without `sort`", shown()),
                    "`sort` (only `data` none can do without)",
                ));
            }
            (_, None) if self.trace.data != Data::None => {
                return Err(Problem::new(
                    format!("{} without `init`", shown()),
                    "`init` (only `data` none can do without)",
                ));
            }
            _ => {}
        }
        let id = VarId::from_index(self.trace.vars.len());
        self.vars.insert(key.into(), id);
        self.trace.vars.push(Variable { key: key.into(), name: name.map(Into::into), sort, init });
        Ok(id)
    }

    /// Whether a variable of this name was declared.
    pub fn has_var(&self, key: &str) -> bool {
        self.vars.contains_key(key)
    }

    /// Declares a synchronisation object.
    pub fn declare_sync(&mut self, key: &str, kind: SyncKind) -> Result<SyncId, Problem> {
        if self.syncs.contains_key(key) {
            let found = format!("synchronisation object {} declared twice", quoted(key));
            return Err(Problem::new(found, "one declaration of each synchronisation object"));
        }
        if let SyncKind::Barrier { parties: Some(0) } = kind {
            return Err(Problem::new(format!("barrier {} with 0 parties", quoted(key)), "1 party or more"));
        }
        Ok(self.add_sync(key, kind, false))
    }

    /// Gives a synchronisation object another name; says whether that was free.
    pub fn rename_sync(&mut self, sync: SyncId, key: &str) -> bool {
        if self.syncs.contains_key(key) {
            return false;
        }
        let object = &mut self.trace.syncs[sync.index()];
        self.syncs.remove(&object.key);
        object.key = key.into();
        self.syncs.insert(key.into(), sync);
        true
    }

    fn add_sync(&mut self, key: &str, kind: SyncKind, implied: bool) -> SyncId {
        let id = SyncId::from_index(self.trace.syncs.len());
        self.syncs.insert(key.into(), id);
        self.implied.push(implied);
        self.trace.syncs.push(SyncObject { key: key.into(), kind });
        id
    }

    /// Declares a thread.
    pub fn declare_thread(&mut self, number: u64, name: Option<&str>, path: Option<&str>) -> Result<ThreadId, Problem> {
        if self.threads.contains_key(&number) {
            return Err(Problem::new(format!("thread {number} declared twice"), "one declaration of each thread"));
        }
        let id = self.thread(number)?;
        let thread = &mut self.trace.threads[id.index()];
        (thread.name, thread.path) = (name.map(Into::into), path.map(Into::into));
        Ok(id)
    }

    /// The thread of this number.
    pub fn thread(&mut self, number: u64) -> Result<ThreadId, Problem> {
        if number == 0 {
            return Err(Problem::new("thread 0", "a positive thread number"));
        }
        let (threads, scopes) = (&mut self.trace.threads, &mut self.scopes);
        Ok(*self.threads.entry(number).or_insert_with(|| {
            scopes.push(FxHashMap::default());
            threads.push(Thread { number, name: None, path: None });
            ThreadId::from_index(threads.len() - 1)
        }))
    }

    /// The variable of this key; where the trace has no data it comes into being by being named.
    pub fn var(&mut self, key: &str) -> Result<VarId, Problem> {
        match self.vars.get(key) {
            Some(var) => Ok(*var),
            None if self.trace.data == Data::None => self.declare_var(key, None, None, None),
            None => {
                Err(Problem::new(format!("unknown variable {}", quoted(key)), "a variable that the header declares"))
            }
        }
    }

    /// The synchronisation object of this key, of whatever kind, which is known already.
    pub fn known_sync(&self, key: &str) -> Result<SyncId, Problem> {
        let unknown = || {
            let found = format!("unknown synchronisation object {}", quoted(key));
            Problem::new(found, "an object that the header declares or an earlier event uses")
        };
        self.syncs.get(key).copied().ok_or_else(unknown)
    }

    /// The synchronisation object of this key. If the trace has no data, the first use makes the object, and its first shared use turns a
    /// mutex that was made so into a rwlock.
    pub fn sync(&mut self, key: &str, used_as: SyncUse) -> Result<SyncId, Problem> {
        match self.syncs.get(key) {
            Some(sync) => {
                let kind = &mut self.trace.syncs[sync.index()].kind;
                let upgrade = used_as == SyncUse::SharedLock && matches!(kind, SyncKind::Mutex { .. });
                if upgrade && self.implied[sync.index()] {
                    *kind = SyncKind::Rwlock;
                }
                Ok(*sync)
            }
            None if self.trace.data == Data::None => Ok(self.add_sync(key, used_as.kind(), true)),
            None => {
                let found = format!("unknown synchronisation object {}", quoted(key));
                Err(Problem::new(found, "an object that the header declares"))
            }
        }
    }

    /// Makes a mutex that came into being by use recursive.
    pub(crate) fn make_recursive(&mut self, sync: SyncId) {
        if let SyncKind::Mutex { recursive } = &mut self.trace.syncs[sync.index()].kind {
            *recursive |= self.implied[sync.index()];
        }
    }

    /// The interned form of a string.
    pub fn name(&mut self, text: &str) -> NameId {
        self.trace.names.intern(text)
    }

    /// The interned form of a base and a number with a dot between them.
    pub fn numbered_name(&mut self, base: &str, number: u64) -> NameId {
        self.trace.names.intern_numbered(base, number)
    }

    /// A value as a term.
    pub fn literal(&mut self, value: Value) -> TermId {
        self.trace.terms.constant(value)
    }

    /// Lets `dst` of this thread stand for what the next event defines; the term is a use of it.
    ///
    /// For the guard and `expr` of a `read` or `rmw`; for other uses [`TraceAssembler::push`] does it.
    pub fn define(&mut self, thread: ThreadId, dst: NameId, sort: Sort) -> TermId {
        let local = self.bind(thread, dst, sort);
        self.trace.terms.leaf(local)
    }

    pub(crate) fn bind(&mut self, thread: ThreadId, dst: NameId, sort: Sort) -> Local {
        self.bind_events();
        let local = Local { definition: self.next_event(), sort };
        self.scopes[thread.index()].insert(dst, local.clone());
        local
    }

    /// Lets the names that events define stand for their values.
    fn bind_events(&mut self) {
        for index in self.bound..self.trace.events.len() {
            let event = &self.trace.events[index];
            if let (Some(dst), Some(sort)) = (event.op.dst(), self.defined_sort(&event.op)) {
                let local = Local { definition: EventId::from_index(index), sort };
                self.scopes[event.thread.index()].insert(dst, local);
            }
        }
        self.bound = self.trace.events.len();
    }

    /// A use of the name that this thread has defined.
    pub fn local(&mut self, thread: ThreadId, name: &str) -> Option<TermId> {
        self.bind_events();
        let name = self.trace.names.find(name)?;
        let local = self.scopes[thread.index()].get(&name)?.clone();
        Some(self.trace.terms.leaf(local))
    }

    /// The expression that `text` is, over the names that this thread has defined so far.
    pub fn expression(&mut self, thread: ThreadId, text: &str) -> Result<TermId, TermError> {
        self.bind_events();
        let (names, scope, values) = (&self.trace.names, &self.scopes[thread.index()], self.values.get(thread.index()));
        let mut resolve = |name: &str| {
            let name = names.find(name)?;
            let value = || values.and_then(|values| values.get(&name).cloned().map(Node::Const));
            scope.get(&name).cloned().map(Node::Leaf).or_else(value)
        };
        smtlib::parse_over(text, &mut self.trace.terms, &mut resolve)
    }

    /// The index that the next event will have.
    pub fn next_event(&self) -> EventId {
        self.passed.map_or_else(|| EventId::from_index(self.trace.events.len()), EventId)
    }

    /// Adds an event. Its `dst` stands for its value from here on.
    ///
    /// In a symbolic trace a `write` without `expr` writes its `value`, an `rmw` its `stored`.
    pub fn push(&mut self, mut event: Event) -> Result<EventId, Problem> {
        let id = self.next_event();
        must_have_number(id)?;
        if self.trace.data == Data::Symbolic {
            match &mut event.op {
                Op::Write { expr, value: written, .. } | Op::Rmw { expr, stored: written, .. } if expr.is_none() => {
                    *expr = *written;
                }
                _ => {}
            }
        }
        self.trace.events.push(event);
        Ok(id)
    }

    /// Takes events and their terms as they are, in place of those so far.
    pub fn take_over(&mut self, terms: Terms<Local>, events: Vec<Event>) -> Result<(), Problem> {
        if events.len() > u32::MAX as usize {
            return Err(Problem::new(format!("more than {} events", u32::MAX), "fewer events"));
        }
        (self.trace.terms, self.trace.events, self.bound) = (terms, events, 0);
        Ok(())
    }

    /// An event that was added before.
    pub(crate) fn event_mut(&mut self, id: EventId) -> &mut Event {
        &mut self.trace.events[id.index()]
    }

    fn defined_sort(&self, op: &Op) -> Option<Sort> {
        match op {
            Op::Let { expr, .. } => Some(self.trace.terms.sort(*expr)),
            _ => op.var().and_then(|var| self.trace.vars[var.index()].sort),
        }
    }

    /// The trace, if it keeps every rule of the format.
    pub fn finish(mut self) -> Result<Trace, Invalid> {
        self.give_semaphores_their_least_init();
        validate(&self.trace)?;
        Ok(self.trace)
    }

    /// The same, and what its recorded order shows, which has to be run to know.
    pub fn finish_observed(mut self) -> Result<(Trace, Observed), Invalid> {
        self.give_semaphores_their_least_init();
        crate::wellformed::check(&self.trace)?;
        let observed = observe(&self.trace).map_err(|step| step.problem.at(step.event))?;
        Ok((self.trace, observed))
    }

    /// As [`TraceAssembler::finish`], but not checked: the caller does that, by [`validate_meanwhile`].
    pub fn finish_unchecked(mut self) -> Trace {
        self.give_semaphores_their_least_init();
        self.trace
    }

    /// A semaphore that came into being by use starts with as much as the recorded order needs.
    fn give_semaphores_their_least_init(&mut self) {
        if !self.implied.contains(&true) {
            return;
        }
        let mut count = vec![(0u64, 0u64); self.trace.syncs.len()]; // (now, init so far)
        for event in &self.trace.events {
            match event.op {
                Op::Post { sem } => count[sem.index()].0 += 1,
                Op::Down { sem } => {
                    let (now, init) = &mut count[sem.index()];
                    *init += u64::from(*now == 0);
                    *now = now.saturating_sub(1);
                }
                _ => {}
            }
        }
        for (sync, (_, needed)) in count.into_iter().enumerate() {
            if let (SyncKind::Semaphore { init }, true) = (&mut self.trace.syncs[sync].kind, self.implied[sync]) {
                *init = needed;
            }
        }
    }
}

/// Events have numbers below 2^32 - 1.
pub(crate) fn must_have_number(id: EventId) -> Result<(), Problem> {
    if id.0 == u32::MAX {
        return Err(Problem::new(format!("more than {} events", u32::MAX), "fewer events"));
    }
    Ok(())
}

/// Checks every rule of the format: those of single events, then that the recorded order is an execution.
pub fn validate(trace: &Trace) -> Result<(), Invalid> {
    crate::wellformed::check(trace)?;
    run_as_recorded(trace)
}

/// As [`validate`], with its two halves at the same time, while the caller does something else, which counts for nothing if the trace is
/// not valid. For traces that keep the rules of single events by construction. A trace that breaks these rules cannot always be run: this
/// may then panic, and `validate` would say what is wrong.
pub fn validate_meanwhile<R>(trace: &Trace, meanwhile: impl FnOnce() -> R) -> Result<R, Invalid> {
    std::thread::scope(|scope| {
        let events = std::thread::Builder::new().spawn_scoped(scope, || crate::wellformed::check(trace));
        let run = std::thread::Builder::new().spawn_scoped(scope, || run_as_recorded(trace));
        let done = meanwhile();
        let unwound = |panic| std::panic::resume_unwind(panic);
        match events {
            Ok(events) => events.join().unwrap_or_else(unwound)?,
            Err(_) => crate::wellformed::check(trace)?, // no thread is to be had
        }
        match run {
            Ok(run) => run.join().unwrap_or_else(unwound)?,
            Err(_) => run_as_recorded(trace)?,
        }
        Ok(done)
    })
}

fn run_as_recorded(trace: &Trace) -> Result<(), Invalid> {
    crate::observe::check(trace).map_err(|step| step.problem.at(step.event))
}

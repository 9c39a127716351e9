//! The latest events of a trace that is read as it comes, as a separate trace.

use super::past::{self, Carried, Past};
use super::{EventStream, Source};
use crate::assembler::must_have_number;
use crate::error::{Problem, ReadError};
use crate::observe::observe;
use crate::observed::Observed;
use crate::op::Op;
use crate::trace::{Data, Event, EventId, Local, SyncId, SyncKind, SyncObject, Thread, ThreadId, Trace};
use crate::value::Value;
use rustc_hash::FxHashMap;

/// The name of the barrier that keeps what went by before all that is kept.
const BEFORE: &str = "what went by";

/// The latest events of a trace that comes from a file or a pipe. Events are kept until they are forgotten; what they leave behind (values
/// of variables and of local names, locks that are held, waits) is kept for those after them.
///
/// Memory grows with the events kept, and with variables, synchronisation objects, threads and names.
pub struct TraceTail {
    stream: EventStream,
    /// How many events were forgotten: the number of the first one that is kept.
    first: u32,
    past: Past,
    /// Per thread, whether it was joined.
    over: Vec<bool>,
    /// Per thread, whether it had events or was forked.
    heard: Vec<bool>,
    /// How many threads began that nothing forked.
    roots: u64,
    /// Whether some thread was forked.
    has_forks: bool,
    /// The counts of semaphores that no header declares; they begin with as much as is needed.
    implied: FxHashMap<SyncId, u64>,
}

/// The events that a [`TraceTail`] keeps, after those that stand for what went by.
pub struct Lent {
    /// The trace.
    pub trace: Trace,
    /// What its recorded order shows.
    pub observed: Observed,
    /// The numbers of the events that stand for what went by.
    before: Vec<EventId>,
    /// The number of the first event after them.
    first: u32,
    /// The stream's threads, and which of them each of the trace's is.
    all: Vec<Thread>,
    threads: Vec<ThreadId>,
    /// Per thread of the trace, whether it was joined.
    over: Vec<bool>,
    /// Per thread of the trace, whether it had events or was forked.
    heard: Vec<bool>,
    has_barrier: bool,
}

impl TraceTail {
    /// The tail of a stream of which nothing was read.
    ///
    /// # Errors
    /// Where it is in the binary form, which begins with the expressions of all events.
    pub fn from_stream(mut stream: EventStream) -> Result<TraceTail, ReadError> {
        if matches!(stream.source, Source::Binary(..)) {
            let expected = "JSON Lines or STD; `foretrace convert` makes them";
            let found = "the binary form, which begins with the expressions of all events";
            return Err(ReadError::invalid(None, Problem::new(found, expected).at(None)).in_file(&stream.file));
        }
        stream.source.assembler().keep_events();
        let (past, implied) = (Past::default(), FxHashMap::default());
        Ok(TraceTail {
            stream,
            first: 0,
            past,
            over: Vec::new(),
            heard: Vec::new(),
            roots: 0,
            has_forks: false,
            implied,
        })
    }

    /// What was declared or named so far, and the events that are kept.
    pub fn trace(&self) -> &Trace {
        self.stream.trace()
    }

    /// How many events came.
    pub fn count(&self) -> u64 {
        u64::from(self.first) + self.trace().events.len() as u64
    }

    /// Whether threads may wait for, or count down, something that is not known for sure.
    pub fn is_unsure(&self) -> bool {
        self.past.is_unsure() || !self.implied.is_empty()
    }

    /// How many threads began that nothing forked.
    pub fn roots(&self) -> u64 {
        self.roots
    }

    /// Whether all threads but the first were forked, and some were: those that are still to come will be, too.
    pub fn forks_all(&self) -> bool {
        self.has_forks && self.roots == 1
    }

    /// That an event which came is not what was expected.
    pub fn refused(&self, id: EventId, found: String, expected: String) -> ReadError {
        self.stream.refused(id, found, expected)
    }

    /// Reads and keeps the next event, and gives its number; `None` at the end.
    ///
    /// # Errors
    /// As [`crate::read`], but for values and synchronisation: [`TraceTail::lend`] checks those.
    #[allow(clippy::should_implement_trait)] // an error ends it, and the trace is asked in between
    pub fn next(&mut self) -> Result<Option<EventId>, ReadError> {
        let number = EventId::from_index(self.first as usize + self.trace().events.len());
        let read = self.stream.source.next(number);
        let Some(mut event) = read.map_err(|error| error.in_file(&self.stream.file))? else { return Ok(None) };
        if let Op::Wake { cond, by, .. } = &mut event.op {
            *by = None; // which may have gone by
            if self.past.releases(event.thread, *cond) {
                past::free(&mut event);
            }
        }
        let added = self.add(number, event);
        added.map(|()| Some(number)).map_err(|problem| {
            ReadError::invalid(self.stream.source.line(), problem.at(number)).in_file(&self.stream.file)
        })
    }

    fn add(&mut self, number: EventId, event: Event) -> Result<(), Problem> {
        must_have_number(number)?;
        let assembler = self.stream.source.assembler();
        let id = assembler.push(event)?;
        let trace = assembler.trace();
        let event = trace.event(id);
        crate::wellformed::check_fields(trace, event)?;
        self.stream.checks.check(trace, number, event)?;
        self.over.resize(trace.threads.len(), false);
        self.heard.resize(trace.threads.len(), false);
        self.roots += u64::from(!std::mem::replace(&mut self.heard[event.thread.index()], true));
        if let Op::Fork { child } = event.op {
            self.heard[child.index()] = true;
            self.has_forks = true;
        }
        if let Op::Join { child } = event.op {
            self.over[child.index()] = true;
        }
        if let Some((sem, up)) = counted(&event.op).filter(|(sem, _)| assembler.is_implied(*sem)) {
            let lacks = self.count_of(sem, up);
            if let SyncKind::Semaphore { init } = &mut self.assembled().syncs[sem.index()].kind {
                *init += lacks;
            }
        }
        Ok(())
    }

    /// Counts an implied semaphore up or down; how much more it must have begun with.
    fn count_of(&mut self, sem: SyncId, up: bool) -> u64 {
        let SyncKind::Semaphore { init } = self.trace().syncs[sem.index()].kind else { return 0 };
        let count = self.implied.entry(sem).or_insert(init);
        let lacks = u64::from(!up && *count == 0);
        *count = if up { *count + 1 } else { (*count + lacks) - 1 };
        lacks
    }

    fn assembled(&mut self) -> &mut Trace {
        self.stream.source.assembler().trace_mut()
    }

    /// The events that are kept, as a trace. [`TraceTail::give_back`] or [`TraceTail::forget`] must get it back before anything else is
    /// asked.
    ///
    /// # Errors
    /// Where the recorded order does not give the recorded values, or an event is not enabled.
    pub fn lend(&mut self) -> Result<Lent, ReadError> {
        let data = self.trace().data;
        let (carried, over, first) = (self.past.carried.clone(), std::mem::take(&mut self.over), self.first);
        let mut trace = std::mem::replace(self.assembled(), Trace::new(data));
        let there = threads_of(&trace, &carried, &over);
        let is_over: Vec<bool> =
            there.iter().map(|thread| over.get(thread.index()).is_some_and(|over| *over)).collect();
        self.over = over;
        let heard = there.iter().map(|thread| self.heard.get(thread.index()).is_some_and(|heard| *heard)).collect();
        let mut place = vec![ThreadId(0); trace.threads.len()];
        there.iter().enumerate().for_each(|(at, thread)| place[thread.index()] = ThreadId::from_index(at));
        let all = std::mem::take(&mut trace.threads);
        trace.threads = there.iter().map(|thread| described(&all[thread.index()])).collect();
        let forked: Vec<ThreadId> = trace.events.iter().filter_map(|event| child(&event.op, true)).collect();
        let has_barrier = !carried.is_empty();
        let mut before: Vec<(EventId, Event)> =
            carried.into_iter().map(|Carried { number, event }| (number, event)).collect();
        if has_barrier {
            let barrier = SyncId::from_index(trace.syncs.len());
            trace.syncs.push(SyncObject { key: BEFORE.into(), kind: SyncKind::Barrier { parties: None } });
            for op in [Op::Arrive { barrier, round: 0 }, Op::Depart { barrier, round: 0 }] {
                let there = there.iter().filter(|thread| !forked.contains(thread));
                let event = |thread: &ThreadId| plain(*thread, op.clone());
                before.extend(there.map(|thread| (EventId(first), event(thread))));
            }
        }
        let (before, events): (Vec<EventId>, Vec<Event>) = before.into_iter().unzip();
        let kept = std::mem::replace(&mut trace.events, events);
        trace.events.extend(kept);
        trace.events.iter_mut().for_each(|event| rename(event, &|thread| place[thread.index()]));
        move_locals(&mut trace, before.len() as u32, u32::wrapping_add);
        let (observed, threads, over) = (Observed::default(), there, is_over);
        let mut lent = Lent { trace, observed, before, first, all, threads, over, heard, has_barrier };
        match observe(&lent.trace) {
            Ok(observed) => lent.observed = observed,
            Err(step) => {
                let (number, header) = (lent.number(step.event), matches!(self.stream.source, Source::Jsonl(..)));
                self.give_back(lent);
                let line = u64::from(number.0) + if header { 2 } else { 1 };
                return Err(ReadError::invalid(Some(line), step.problem.at(number)).in_file(&self.stream.file));
            }
        }
        Ok(lent)
    }

    /// Takes back what was lent.
    pub fn give_back(&mut self, lent: Lent) {
        let Lent { mut trace, before, all, threads, has_barrier, .. } = lent;
        move_locals(&mut trace, before.len() as u32, u32::wrapping_sub);
        trace.events.drain(..before.len());
        trace.events.iter_mut().for_each(|event| rename(event, &|thread| threads[thread.index()]));
        trace.threads = all;
        if has_barrier {
            trace.syncs.pop();
        }
        *self.assembled() = trace;
    }

    /// Takes back what was lent, and forgets its first events: those before `cut`.
    pub fn forget(&mut self, lent: Lent, cut: EventId) {
        let count = lent.before.len();
        let gone = cut.index().saturating_sub(count);
        if gone == 0 {
            return self.give_back(lent);
        }
        let values = values_of_locals(&lent, cut);
        let written: Vec<(usize, Option<Value>)> = lent.written_before(cut);
        let events: Vec<(EventId, &Event)> = lent.trace.iter().map(|(id, event)| (lent.number(id), event)).collect();
        let (past, free) = self.past.after(&events, cut.index(), &|thread| lent.threads[thread.index()]);
        let counts = lent.counts_before(cut);
        self.give_back(lent);
        self.past = past;
        let trace = self.assembled();
        free.into_iter().for_each(|wake| past::free(&mut trace.events[wake - count]));
        written.into_iter().for_each(|(var, value)| trace.vars[var].init = value);
        for (sem, (up, down)) in counts {
            if let SyncKind::Semaphore { init } = &mut trace.syncs[sem.index()].kind {
                *init = (*init + up).saturating_sub(down);
            }
        }
        let value = |definition: EventId| values.get(&definition).cloned();
        self.stream.source.assembler().forget(gone, &value);
        self.first += gone as u32;
        // A block that a thread left open ends with the thread.
        let mut goes_on: Vec<bool> = self.over.iter().map(|over| !over).collect();
        self.trace().events.iter().for_each(|event| goes_on[event.thread.index()] = true);
        self.past.carried.retain(|Carried { event, .. }| {
            goes_on[event.thread.index()] || !matches!(event.op, Op::Begin { .. } | Op::Call { .. })
        });
    }
}

impl Lent {
    /// The number in the stream of an event; of one that stands for what went by, the number of the event that opened it.
    pub fn number(&self, event: EventId) -> EventId {
        let after = event.index().checked_sub(self.before.len());
        after.map_or_else(|| self.before[event.index()], |after| EventId(self.first + after as u32))
    }

    /// How many events stand for what went by: the first ones.
    pub fn before(&self) -> usize {
        self.before.len()
    }

    /// How many events went by.
    pub fn gone(&self) -> u32 {
        self.first
    }

    /// Whether a thread was joined: no event of it comes any more.
    pub fn is_over(&self, thread: ThreadId) -> bool {
        self.over[thread.index()]
    }

    /// Whether a thread had events or was forked, now or before what is kept.
    pub fn is_heard(&self, thread: ThreadId) -> bool {
        self.heard[thread.index()]
    }

    /// The stream's thread that one of the trace is.
    pub fn thread(&self, thread: ThreadId) -> ThreadId {
        self.threads[thread.index()]
    }

    /// The variables that are written before an event, and what they hold there.
    fn written_before(&self, cut: EventId) -> Vec<(usize, Option<Value>)> {
        let mut written: FxHashMap<usize, EventId> = FxHashMap::default();
        for (id, event) in self.trace.iter().take(cut.index()) {
            if let Some(var) = event.op.var().filter(|_| event.op.writes()) {
                written.insert(var.index(), id);
            }
        }
        let value = |(var, id)| (var, self.observed.written(id).cloned());
        written.into_iter().map(value).collect()
    }

    /// How often semaphores are counted up and down before an event.
    fn counts_before(&self, cut: EventId) -> FxHashMap<SyncId, (u64, u64)> {
        let mut counts: FxHashMap<SyncId, (u64, u64)> = FxHashMap::default();
        for event in &self.trace.events[..cut.index()] {
            match counted(&event.op) {
                Some((sem, true)) => counts.entry(sem).or_default().0 += 1,
                Some((sem, false)) => counts.entry(sem).or_default().1 += 1,
                None => {}
            }
        }
        counts
    }
}

/// The object that an event counts up (true) or down. What else events change, threads have open ([`Past`]), or each event says itself.
fn counted(op: &Op) -> Option<(SyncId, bool)> {
    match *op {
        Op::Post { sem } => Some((sem, true)),
        Op::Down { sem } => Some((sem, false)),
        Op::Begin { .. } | Op::End { .. } | Op::Call { .. } | Op::Return { .. } => None,
        Op::Read { .. } | Op::Write { .. } | Op::Rmw { .. } | Op::Let { .. } | Op::Assume { .. } => None,
        Op::Acquire { .. } | Op::Release { .. } | Op::AcquireShared { .. } | Op::ReleaseShared { .. } => None,
        Op::Busy { .. } | Op::Wait { .. } | Op::Wake { .. } | Op::Signal { .. } | Op::Broadcast { .. } => None,
        Op::Arrive { .. } | Op::Depart { .. } => None,
        Op::OnceBegin { .. } | Op::OnceEnd { .. } | Op::OncePass { .. } | Op::OnceFail { .. } => None,
        Op::Fork { .. } | Op::Join { .. } | Op::Free { .. } | Op::Unseen { .. } | Op::Fail { .. } => None,
    }
}

/// The values of local names that the events before `cut` define, by the definitions' places among the events that were kept.
fn values_of_locals(lent: &Lent, cut: EventId) -> FxHashMap<EventId, Value> {
    let mut values: FxHashMap<EventId, Value> = FxHashMap::default();
    if lent.trace.data == Data::None {
        return values;
    }
    let place = |id: EventId| EventId::from_index(id.index() - lent.before.len());
    for (id, event) in lent.trace.iter().take(cut.index()).skip(lent.before.len()) {
        let value = match &event.op {
            Op::Let { expr, .. } => {
                let mut of = |local: &Local| {
                    values.get(&place(local.definition)).cloned().unwrap_or_else(|| Value::zero(local.sort))
                };
                Some(lent.trace.terms.evaluate(*expr, &mut of))
            }
            op => op.dst().and_then(|_| lent.observed.read(id).cloned()),
        };
        values.extend(value.map(|value| (place(id), value)));
    }
    values
}

/// The threads that are not over, or have events: ascending.
fn threads_of(trace: &Trace, carried: &[Carried], over: &[bool]) -> Vec<ThreadId> {
    let mut there: Vec<bool> =
        (0..trace.threads.len()).map(|thread| !over.get(thread).copied().unwrap_or(false)).collect();
    for event in trace.events.iter().chain(carried.iter().map(|one| &one.event)) {
        there[event.thread.index()] = true;
        if let Some(child) = child(&event.op, false) {
            there[child.index()] = true;
        }
    }
    (0..there.len()).filter(|thread| there[*thread]).map(ThreadId::from_index).collect()
}

/// A thread with a name: one without events may be joined only where something is known of it.
fn described(thread: &Thread) -> Thread {
    let Thread { number, name, path } = thread.clone();
    let name = name.or_else(|| path.is_none().then(|| format!("thread {number}").into()));
    Thread { number, name, path }
}

/// The thread that a fork, or a join where that is asked for too, names.
fn child(op: &Op, forks_only: bool) -> Option<ThreadId> {
    match op {
        Op::Fork { child } => Some(*child),
        Op::Join { child } if !forks_only => Some(*child),
        _ => None,
    }
}

fn rename(event: &mut Event, thread: &dyn Fn(ThreadId) -> ThreadId) {
    event.thread = thread(event.thread);
    if let Op::Fork { child } | Op::Join { child } = &mut event.op {
        *child = thread(*child);
    }
}

fn plain(thread: ThreadId, op: Op) -> Event {
    Event { thread, op, loc: None, at: None, part: None, tried: false }
}

/// Moves the definitions that expressions mention.
fn move_locals(trace: &mut Trace, by: u32, moved: fn(u32, u32) -> u32) {
    if by > 0 {
        trace.terms.rename_leaves(&mut |local| local.definition = EventId(moved(local.definition.0, by)));
    }
}

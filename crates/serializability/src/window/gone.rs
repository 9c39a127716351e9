//! What is known of dropped events: whether the kept events can be judged as if all dropped ones came first.

use crate::objects::{Object as Used, uses};
use foretrace_explore::Mode;
use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_trace::{EventId, Lent, Op, SyncId, ThreadId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

/// What the events that went by did, by the stream's threads and objects.
#[derive(Default)]
pub struct Gone {
    /// Who wrote a variable last.
    pub(super) writers: FxHashMap<VarId, ThreadId>,
    /// Who used objects that are no plain locks: the only thread, or `None` where several did.
    pub(super) users: FxHashMap<SyncId, Option<ThreadId>>,
    /// Threads that had events.
    threads: FxHashSet<ThreadId>,
    /// Threads of whose events some thread that goes on does not know all.
    pub(super) unknown: FxHashSet<ThreadId>,
    /// Every event that is kept, or is still to come, comes after all that went by.
    pub(super) is_before_all: bool,
    /// Two of them that depend on each other could have come in the other order.
    pub(super) is_racy: bool,
    latest: Latest,
}

/// The latest use of each object: its thread, and whether all uses so far only read.
type Latest = FxHashMap<Object, (ThreadId, bool)>;

/// What events depend on each other by.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Object {
    Var(VarId),
    Sync(SyncId),
}

/// The synchronisation object that an event uses, the condition variable of a wait or wake, and whether it takes or gives back a plain lock.
pub(super) fn object(op: &Op) -> Option<(SyncId, bool)> {
    let (used, mode) = uses(op).into_iter().flatten().last()?;
    let is_lock = matches!(mode, Mode::Take | Mode::Give | Mode::TakeShared | Mode::GiveShared);
    match used {
        Used::Variable(_) => None,
        Used::Sync(sync) => Some((sync, is_lock)),
        Used::Round(barrier, _) => Some((barrier, false)),
    }
}

impl Gone {
    /// A thread has begun that nothing forked: it may know nothing of what went by.
    pub fn another_begins(&mut self) {
        self.is_before_all = false;
        self.unknown.extend(&self.threads);
    }

    /// Takes in the events before `cut`. `knows` has a row for each thread that goes on, and for each thread that its forks begin: how many
    /// events of each thread it knows of there. `is_clean` says that all these events are before `cut`.
    pub(super) fn add(
        &mut self,
        lent: &Lent,
        (trace_index, lasting): (&TraceIndex, &MustHappenBefore),
        cut: EventId,
        knows: &[Vec<u32>],
        is_clean: bool,
    ) {
        self.is_racy |= self.first_racy(lent, lasting).is_some_and(|first| first < cut.0);
        let mut count = vec![0; lent.trace.threads.len()];
        for (id, event) in lent.trace.iter().take(cut.index()) {
            count[event.thread.index()] += 1;
            if id.index() < lent.before() {
                continue;
            }
            let thread = lent.thread(event.thread);
            if let Some((object, only_reads)) = used(&event.op) {
                let only_read = self.latest.get(&object).is_none_or(|(_, only_read)| *only_read);
                self.latest.insert(object, (thread, only_read && only_reads));
            }
            if let Some((sync, false)) = object(&event.op) {
                let user = self.users.entry(sync).or_insert(Some(thread));
                *user = user.filter(|user| *user == thread);
            }
            if let Some(var) = event.op.var().filter(|_| event.op.writes()) {
                self.writers.insert(var, thread);
            }
        }
        for (thread, count) in count.into_iter().enumerate() {
            let own = trace_index.threads[thread].iter().take(count as usize);
            let has_gone = own.clone().any(|event| event.index() >= lent.before());
            let is_known = knows.iter().all(|known| known[thread] >= count);
            let stream = lent.thread(ThreadId::from_index(thread));
            if has_gone {
                self.threads.insert(stream);
            }
            match (has_gone, is_known) {
                (true, true) => drop(self.unknown.remove(&stream)),
                (true, false) => drop(self.unknown.insert(stream)),
                (false, _) => {}
            }
        }
        self.is_before_all = is_clean;
    }

    /// The first event that is kept and could have come before an earlier one that it depends on; what went by counts, too.
    pub(super) fn first_racy(&self, lent: &Lent, lasting: &MustHappenBefore) -> Option<u32> {
        if self.is_racy {
            return Some(0);
        }
        let was_before_all = self.is_before_all || lent.gone() == 0;
        let (mut latest, mut at): (Latest, FxHashMap<Object, EventId>) = Default::default();
        let racy = lent.trace.iter().skip(lent.before()).find(|(id, event)| {
            let Some((object, only_reads)) = used(&event.op) else { return false };
            let before = latest.get(&object).or_else(|| self.latest.get(&object)).copied();
            let only_read = before.is_none_or(|(_, only_read)| only_read);
            let thread = lent.thread(event.thread);
            let is_apart = before.is_some_and(|(other, _)| other != thread) && !(only_read && only_reads);
            let is_ordered = at.get(&object).map_or(was_before_all, |earlier| lasting.before(*earlier, *id));
            latest.insert(object, (thread, only_read && only_reads));
            at.insert(object, *id);
            is_apart && !is_ordered
        });
        racy.map(|(id, _)| id.0)
    }
}

/// What an event uses that others depend on, and whether it only reads it.
fn used(op: &Op) -> Option<(Object, bool)> {
    match (op.var(), object(op)) {
        (Some(var), _) => Some((Object::Var(var), !op.writes())),
        (None, sync) => sync.map(|(sync, _)| (Object::Sync(sync), false)),
    }
}

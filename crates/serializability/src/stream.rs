//! Which blocks the order violates in which events come, while they come: for traces that do not end or do not fit into memory.
//!
//! Finds what [`crate::observed`] finds of a trace that was read whole. Memory grows with the variables, the threads, and the blocks
//! that are open; not with events. After AeroDrome (see `clocks.rs`): a block that has ended is
//! forgotten, since a path that comes back to it later does not violate it.

use crate::clocks::{Access, Clocks};
use foretrace_trace::{Atomic, BlockKind, Event, EventId, NameId, Op, ThreadId, VarId};

/// A block that the order of events violates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    /// The block's thread.
    pub thread: ThreadId,
    /// The block's first event.
    pub first: EventId,
    /// The place of its first event in the program.
    pub loc: Option<NameId>,
    /// The label of its `begin`, the method of its `call`.
    pub label: Option<NameId>,
    /// What it is.
    pub kind: BlockKind,
    /// The first access at which a path comes back to it.
    pub end: EventId,
    /// The place of that access.
    pub end_loc: Option<NameId>,
    /// What is accessed there.
    pub var: VarId,
}

/// What is meant to be atomic, where it has to be known before all events are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wanted {
    /// Blocks between `begin` and `end`, of one kind or of all.
    Between(Option<BlockKind>),
    /// The innermost calls of functions.
    Innermost,
    /// Critical sections; with them threads between forks and joins.
    Sections {
        with_threads: bool,
    },
    Operations,
    Threads,
}

/// Finds violated blocks while events come.
pub struct StreamMonitor {
    wanted: Wanted,
    clocks: Clocks,
    threads: Vec<OfThread>,
    /// Places in the clocks of threads that are over.
    free: Vec<usize>,
    places: usize,
}

/// A block that has begun.
#[derive(Clone, Copy)]
struct Open {
    first: EventId,
    loc: Option<NameId>,
    label: Option<NameId>,
    kind: BlockKind,
    /// Where it was first violated.
    seen: Option<Seen>,
    /// Whether one of its kind is inside.
    is_outer: bool,
}

/// What a thread has open.
#[derive(Clone, Default)]
struct OfThread {
    place: Option<usize>,
    /// From `begin` to `end`; those that are not wanted have none.
    between: Vec<Option<Open>>,
    thread: Option<Open>,
    section: Option<Open>,
    locks: usize,
    operation: Option<Open>,
    operations: usize,
}

impl StreamMonitor {
    /// A monitor of the blocks that `atomic` says. `Auto` stands for all blocks of a trace that has some, but no marks.
    ///
    /// [`StreamMonitor::of_bare`] is for traces that have none.
    pub fn new(atomic: Atomic) -> StreamMonitor {
        StreamMonitor::wanting(match atomic {
            Atomic::Auto => Wanted::Between(None),
            Atomic::Marked => Wanted::Between(Some(BlockKind::Mark)),
            Atomic::Functions => Wanted::Between(Some(BlockKind::Function)),
            Atomic::InnerFunctions => Wanted::Innermost,
            Atomic::Loops => Wanted::Between(Some(BlockKind::Loop)),
            Atomic::Sections => Wanted::Sections { with_threads: false },
            Atomic::Operations => Wanted::Operations,
            Atomic::Threads => Wanted::Threads,
        })
    }

    /// A monitor of what `auto` stands for in a trace without blocks: threads between forks and joins, and their critical sections.
    pub fn of_bare() -> StreamMonitor {
        StreamMonitor::wanting(Wanted::Sections { with_threads: true })
    }

    /// Whether it is a monitor of a trace without blocks.
    pub fn is_of_bare(&self) -> bool {
        self.wanted == Wanted::Sections { with_threads: true }
    }

    fn wanting(wanted: Wanted) -> StreamMonitor {
        StreamMonitor { wanted, clocks: Clocks::new(1), threads: Vec::new(), free: Vec::new(), places: 0 }
    }

    /// Takes the next event; `counts` says whether its variable does. What is found goes to `found`, each block once.
    pub fn see(&mut self, id: EventId, event: &Event, counts: bool, found: &mut Vec<Seen>) {
        let place = self.place(event.thread.index());
        self.threads[event.thread.index()].event(self.wanted, id, event, found);
        if let Op::Join { child } = event.op {
            self.is_over(child.index());
        }
        let Some(var) = event.op.var().filter(|_| counts && !event.op.is_external()) else { return };
        let back = self.clocks.access(Access::of_event(event, var, place, id));
        if back > 0 {
            let holds_back = self.wanted == Wanted::Innermost;
            self.threads[event.thread.index()].came_back(back, (id, event, var), holds_back, found);
        }
    }

    /// The input has ended: what is still open ends, too.
    pub fn end(&mut self, found: &mut Vec<Seen>) {
        if self.wanted == Wanted::Innermost {
            let left = self.threads.iter_mut().flat_map(|thread| thread.between.drain(..)).flatten();
            found.extend(left.filter(|open| !open.is_outer).filter_map(|open| open.seen));
        }
    }

    /// The place of a thread in the clocks, now or from before.
    fn place(&mut self, thread: usize) -> usize {
        if thread >= self.threads.len() {
            self.threads.resize_with(thread + 1, OfThread::default);
        }
        if let Some(place) = self.threads[thread].place {
            return place;
        }
        let place = self.free.pop().unwrap_or_else(|| {
            self.places += 1;
            self.places - 1
        });
        if place >= self.clocks.width() {
            self.clocks.widen((2 * place).max(8));
        }
        self.clocks.begin(place);
        self.threads[thread].place = Some(place);
        place
    }

    /// A thread was joined: it has no more events.
    fn is_over(&mut self, thread: usize) {
        let Some(over) = self.threads.get_mut(thread) else { return };
        self.free.extend(over.place.take());
        over.between.shrink_to_fit(); // what is still open is told at the end
    }
}

impl OfThread {
    /// What an event opens and closes, as in the blocks of a trace that was read whole.
    fn event(&mut self, wanted: Wanted, id: EventId, event: &Event, found: &mut Vec<Seen>) {
        let open = |label, kind| Open { first: id, loc: event.loc, label, kind, seen: None, is_outer: false };
        let in_section = self.locks > 0;
        match event.op {
            Op::Begin { label, kind } => {
                let is_wanted = match wanted {
                    Wanted::Between(one) => one.is_none_or(|one| one == kind),
                    Wanted::Innermost => kind == BlockKind::Function,
                    _ => false,
                };
                if is_wanted {
                    self.between.iter_mut().flatten().for_each(|outer| outer.is_outer = true);
                }
                self.between.push(is_wanted.then(|| open(label, kind)));
            }
            Op::End { .. } => {
                let ended = self.between.pop().flatten().filter(|ended| !ended.is_outer);
                if wanted == Wanted::Innermost {
                    found.extend(ended.and_then(|ended| ended.seen));
                }
            }
            Op::Acquire { .. } | Op::AcquireShared { .. } | Op::Wake { .. } => self.locks += 1,
            Op::Release { .. } | Op::ReleaseShared { .. } | Op::Wait { .. } => {
                self.locks = self.locks.saturating_sub(1);
            }
            Op::Call { method, .. } if wanted == Wanted::Operations => {
                self.operations += 1;
                self.operation.get_or_insert_with(|| open(Some(method), BlockKind::Function));
            }
            Op::Return { .. } if self.operations > 0 => {
                self.operations -= 1;
                self.operation = self.operation.filter(|_| self.operations > 0);
            }
            _ => {}
        }
        let Wanted::Sections { with_threads } = wanted else {
            if wanted == Wanted::Threads {
                self.thread.get_or_insert_with(|| open(None, BlockKind::Thread));
            }
            return;
        };
        if with_threads && matches!(event.op, Op::Fork { .. } | Op::Join { .. }) {
            (self.thread, self.section) = (None, None);
            return;
        }
        if with_threads {
            self.thread.get_or_insert_with(|| open(None, BlockKind::Thread));
        }
        if in_section || self.locks > 0 {
            self.section.get_or_insert_with(|| open(None, BlockKind::Section));
        }
        self.section = self.section.filter(|_| self.locks > 0);
    }

    /// A path from an access (its number from 1) has come back at an event.
    fn came_back(
        &mut self,
        from: u32,
        (id, event, var): (EventId, &Event, VarId),
        holds_back: bool,
        found: &mut Vec<Seen>,
    ) {
        let own = [&mut self.thread, &mut self.section, &mut self.operation];
        let open = self.between.iter_mut().flatten().chain(own.into_iter().flatten());
        for open in open.filter(|open| open.first.0 < from && open.seen.is_none()) {
            let Open { first, loc, label, kind, .. } = *open;
            let seen = Seen { thread: event.thread, first, loc, label, kind, end: id, end_loc: event.loc, var };
            open.seen = Some(seen);
            if !holds_back {
                found.push(seen);
            }
        }
    }
}

//! Forks and joins: each thread is started at most once, before its first event, and is over when joined.

use super::naming::thread;
use crate::error::Problem;
use crate::op::Op;
use crate::trace::{Event, EventId, ThreadId, Trace};

/// What is known of each thread so far.
#[derive(Default)]
pub(super) struct Threads {
    first_event: Vec<Option<EventId>>,
    fork: Vec<Option<EventId>>,
    join: Vec<Option<EventId>>,
}

impl Threads {
    /// There are this many threads.
    pub(super) fn know(&mut self, threads: usize) {
        for of_thread in [&mut self.first_event, &mut self.fork, &mut self.join] {
            of_thread.resize(threads, None);
        }
    }

    pub(super) fn check(&mut self, trace: &Trace, id: EventId, event: &Event) -> Result<(), Problem> {
        let own = event.thread.index();
        if let Some(join) = self.join[own] {
            let found = format!("an event of {} after its join at event {join}", thread(trace, event.thread));
            return Err(Problem::new(found, "no event of a thread after its join"));
        }
        self.first_event[own].get_or_insert(id);
        match event.op {
            Op::Fork { child } => self.fork(trace, id, event.thread, child),
            Op::Join { child } => self.join(trace, id, event.thread, child),
            _ => Ok(()),
        }
    }

    fn fork(&mut self, trace: &Trace, id: EventId, parent: ThreadId, child: ThreadId) -> Result<(), Problem> {
        let shown = thread(trace, child);
        if child == parent {
            return Err(Problem::new(format!("a fork of {shown} by itself"), "another thread as child"));
        }
        if let Some(earlier) = self.fork[child.index()] {
            let found = format!("a second fork of {shown}, which event {earlier} forked");
            return Err(Problem::new(found, "one fork of each thread"));
        }
        if let Some(first) = self.first_event[child.index()] {
            let found = format!("a fork of {shown} after its first event {first}");
            return Err(Problem::new(found, "the fork before the child's events"));
        }
        self.fork[child.index()] = Some(id);
        Ok(())
    }

    fn join(&mut self, trace: &Trace, id: EventId, parent: ThreadId, child: ThreadId) -> Result<(), Problem> {
        let shown = thread(trace, child);
        if child == parent {
            return Err(Problem::new(format!("a join of {shown} by itself"), "another thread as child"));
        }
        let described = &trace.threads[child.index()];
        let known = self.fork[child.index()].is_some()
            || self.first_event[child.index()].is_some()
            || described.name.is_some()
            || described.path.is_some();
        if !known {
            let expected = "a thread that was forked, has events or is described in the header";
            return Err(Problem::new(format!("a join of unknown {shown}"), expected));
        }
        self.join[child.index()].get_or_insert(id);
        Ok(())
    }
}

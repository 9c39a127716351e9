//! What the thread that fails asked for in vain last: a lock that another thread held, or a signal that did not come up to a time limit.

use super::Campaign;
use crate::predicting::told;
use crate::report::Find;
use crate::story::asked;
use foretrace_harness::Sources;
use foretrace_report::thread_name;
use foretrace_trace::{EventId, Op, SyncId, ThreadId, Trace, WakeCause};
use rustc_hash::FxHashSet;

/// Objects that only a library knows have names that begin so.
const OF_LIBRARY: &str = "(std)";

/// What a thread asked for in vain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Asked {
    /// A lock, by a try; and who held it, since when.
    Lock(SyncId, Option<EventId>),
    /// A signal, by a wait that began at this event; and the last signal before that.
    Signal(EventId, Option<EventId>),
}

/// What the thread of the last event asked for in vain, and did not get later; else a lock that another thread did not get.
fn last_in_vain(trace: &Trace) -> Option<(EventId, Asked)> {
    let last = trace.events.last()?.thread;
    let mut others: Vec<ThreadId> = trace.events.iter().rev().map(|event| event.thread).collect();
    let mut known = FxHashSet::default();
    others.retain(|thread| *thread != last && known.insert(*thread));
    let a_lock = |thread: ThreadId| of_thread(trace, thread).filter(|(_, asked)| matches!(asked, Asked::Lock(..)));
    of_thread(trace, last).or_else(|| others.into_iter().find_map(a_lock))
}

fn of_thread(trace: &Trace, thread: ThreadId) -> Option<(EventId, Asked)> {
    let is_own = |at: &usize| trace.events[*at].thread == thread;
    let (mut taken, mut signalled): (Vec<SyncId>, Vec<SyncId>) = Default::default();
    for at in (0..trace.events.len()).rev().filter(is_own) {
        match trace.events[at].op {
            Op::Acquire { lock } | Op::AcquireShared { lock } => taken.push(lock),
            Op::Busy { lock } if !taken.contains(&lock) && !trace.syncs[lock.index()].key.starts_with(OF_LIBRARY) => {
                return Some((EventId::from_index(at), Asked::Lock(lock, holder(trace, at, lock))));
            }
            Op::Wake { cond, cause: Some(WakeCause::Timeout), .. } if !signalled.contains(&cond) => {
                let begins = |other: &usize| matches!(trace.events[*other].op, Op::Wait { cond: of, .. } if of == cond);
                let wait = (0..at).rev().filter(is_own).find(begins)?;
                let asked = Asked::Signal(EventId::from_index(wait), signal_before(trace, wait, thread, cond));
                return Some((EventId::from_index(at), asked));
            }
            Op::Wake { cond, lock, .. } => {
                taken.push(lock);
                signalled.push(cond);
            }
            _ => {}
        }
    }
    None
}

/// Where the thread that holds the lock before this event took it.
fn holder(trace: &Trace, before: usize, of: SyncId) -> Option<EventId> {
    let takes = |at: &usize| match trace.events[*at].op {
        Op::Acquire { lock } | Op::AcquireShared { lock } | Op::Wake { lock, .. } => lock == of,
        _ => false,
    };
    (0..before).rev().find(takes).map(EventId::from_index)
}

/// The last signal of another thread before this event.
fn signal_before(trace: &Trace, before: usize, thread: ThreadId, of: SyncId) -> Option<EventId> {
    let signals = |at: &usize| match trace.events[*at].op {
        Op::Signal { cond } | Op::Broadcast { cond } => cond == of && trace.events[*at].thread != thread,
        _ => false,
    };
    (0..before).rev().find(signals).map(EventId::from_index)
}

impl Campaign<'_> {
    /// The headline, and what the thread that fails asked for in vain, if it did.
    pub(super) fn in_vain(&self, trace: &Trace, find: &Find) -> Option<(String, Vec<String>)> {
        if find.failure.kind() != "fails" {
            return None;
        }
        let (at, asked) = last_in_vain(trace)?;
        let sources = super::sources(&find.schedule, &self.settings.walk.programs);
        Some(in_words(trace, sources.as_ref(), (at, asked)))
    }
}

fn in_words(trace: &Trace, sources: Option<&Sources>, (at, what): (EventId, Asked)) -> (String, Vec<String>) {
    let name = |event: EventId| thread_name(trace, trace.event(event).thread);
    let line = |event: EventId, does: &str| {
        let (place, shown) = told(trace, event, trace.loc(event).unwrap_or("?"));
        asked(&name(event), does, &place, sources.and_then(|sources| sources.line(&shown)))
    };
    match what {
        Asked::Lock(lock, holder) => {
            let key = &trace.syncs[lock.index()].key;
            let mut lines = vec![line(at, &format!("finds {key} taken"))];
            lines.extend(holder.map(|holder| line(holder, &format!("took {key}"))));
            (format!("{} does not get {key}, which is taken", name(at)), lines)
        }
        Asked::Signal(wait, signal) => {
            let mut lines = vec![line(wait, "waits up to a time limit")];
            lines.extend(signal.map(|signal| line(signal, "gave the last signal before that wait")));
            (format!("a wait of {} ends by its time limit", name(at)), lines)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretrace_trace::jsonl;

    fn last(events: &[&str]) -> Option<(usize, Asked)> {
        let header = r#"{"foretrace":1,"data":"none","vars":{"x":{}},"sync":{"m":{"kind":"mutex"},"c":{"kind":"condvar"}},"threads":{"1":{},"2":{}}}"#;
        let text = format!("{header}\n{}", events.join("\n"));
        let (trace, _) = jsonl::read(text.as_bytes()).expect("a trace");
        last_in_vain(&trace).map(|(at, asked)| (at.index(), asked))
    }

    const TAKES: [&str; 2] = [r#"{"t":1,"op":"acquire","lock":"m"}"#, r#"{"t":2,"op":"acquire","lock":"m"}"#];
    const GIVES: [&str; 2] = [r#"{"t":1,"op":"release","lock":"m"}"#, r#"{"t":2,"op":"release","lock":"m"}"#];
    const BUSY: &str = r#"{"t":2,"op":"busy","lock":"m"}"#;
    const WRITES: &str = r#"{"t":2,"op":"write","var":"x"}"#;

    #[test]
    fn a_try_that_fails_is_told_unless_the_lock_is_taken_later() {
        let id = SyncId::from_index;
        let asked = Asked::Lock(id(0), Some(EventId::from_index(0)));
        assert_eq!(last(&[TAKES[0], BUSY, WRITES]), Some((1, asked)));
        assert_eq!(last(&[TAKES[0], BUSY, GIVES[0], TAKES[1], GIVES[1], WRITES]), None, "it had the lock later");
        assert_eq!(last(&[TAKES[0], BUSY, GIVES[0]]), Some((1, asked)), "who ended the run is not known");
    }

    #[test]
    fn a_wait_that_ends_by_its_limit_is_told_with_the_signal_that_came_before() {
        let signal = r#"{"t":1,"op":"signal","cond":"c"}"#;
        let wait = r#"{"t":2,"op":"wait","cond":"c","lock":"m"}"#;
        let late = r#"{"t":2,"op":"wake","cond":"c","lock":"m","cause":"timeout"}"#;
        let at = EventId::from_index;
        let ends = [TAKES[1], signal, wait, late, WRITES];
        assert_eq!(last(&ends), Some((3, Asked::Signal(at(2), Some(at(1))))));
        assert_eq!(last(&[&ends[..], &[GIVES[1], TAKES[0]]].concat()), None, "another thread may wait for work");
        assert_eq!(last(&[TAKES[1], wait, late, WRITES]), Some((2, Asked::Signal(at(1), None))));
    }
}

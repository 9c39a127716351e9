//! Schedules for a thread that took another way than a second thread at the same code, and so did not make the second thread's write there.
//!
//! A thread checks a variable and then writes it, in one block but not under one lock. In a run that passes, a second thread comes to
//! the check later, sees what the first wrote, and leaves. So the trace has no remote access there, and no candidate, even if the second
//! thread made the write at another time, before the two met. The second thread would write, too, if it checked before that write. A schedule that ends with the first check asks for this: the replay holds the first thread
//! between its two accesses, until another thread makes the write at the same place in the code.

use super::Writer;
use crate::attempt::{Attempt, Kind, ToMake};
use foretrace_analysis::verdict::{Decider, Decision, Limit, Verdict};
use foretrace_report::thread_name;
use foretrace_trace::{BlockKind, Blocks, EventId, NameId, Op, SyncId, ThreadId, Trace, Triple, VarId};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::path::PathBuf;

/// Schedules of one recording at most.
const MOST: usize = 16;
/// Reads before a write that are looked at.
const MOST_READS: usize = 8;
/// Checks right before and after a write of which one may be another thread's.
const MOST_NEAR: usize = 8;

/// A place at which a variable is accessed.
type AccessSite = (VarId, NameId);

/// What a thread checks and then writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Check {
    /// The read.
    read: EventId,
    /// The next access of the variable by the thread: the write, or another read before it.
    next: EventId,
    /// The write that another thread could make between the two.
    write: EventId,
    /// A thread that came to the place of the read and not from there to that of the write.
    other: ThreadId,
    /// Its read there.
    other_read: EventId,
    /// Whether no other thread came to the place of the write at all.
    is_only_writer: bool,
    /// Whether the block around is a whole thread.
    is_thread: bool,
}

impl Writer<'_> {
    /// An attempt for each check that another thread has made without what follows it.
    pub(super) fn same_code(&mut self) -> Vec<Attempt> {
        let trace = self.subject.trace;
        let mut attempts = Vec::new();
        for check in checks(trace, &self.blocks).into_iter().take(MOST) {
            let triple = Triple { first: check.read, remote: check.write, second: check.next };
            let unknown = Verdict::Unknown(Limit::Budget);
            let decision = Decision::without_witness(trace, triple, unknown, Decider::CutPoints);
            let mut attempt = self.attempt(Kind::SameCode, &decision, PathBuf::new());
            attempt.to_make = Some(Box::new(ToMake::UpToFirst { triple, other: check.other, from: check.other_read }));
            attempt.class.push_str(" by another thread");
            attempt.accesses[1].thread = thread_name(trace, check.other);
            attempts.push(attempt);
        }
        attempts
    }
}

/// The checks of a trace, of each three places the one that is nearest to another thread's; those that are in no block but the whole thread come last, and before them those whose
/// write other threads have made at other times.
fn checks(trace: &Trace, blocks: &Blocks) -> Vec<Check> {
    let mut held: Vec<FxHashMap<SyncId, EventId>> = vec![FxHashMap::default(); trace.threads.len()];
    let mut reads: FxHashMap<(ThreadId, VarId), Vec<Read>> = FxHashMap::default();
    let mut ways: FxHashMap<AccessSite, Vec<Way>> = FxHashMap::default();
    let mut writers: FxHashMap<AccessSite, Vec<ThreadId>> = FxHashMap::default();
    let mut found: Vec<(Check, AccessSite, AccessSite)> = Vec::new();
    for (id, event) in trace.iter() {
        let held = &mut held[event.thread.index()];
        match event.op {
            Op::Acquire { lock } | Op::Wake { lock, .. } => drop(held.insert(lock, id)),
            Op::Release { lock } | Op::Wait { lock, .. } => drop(held.remove(&lock)),
            _ => {}
        }
        let Some((var, loc)) = place(trace, id) else { continue };
        let own = reads.entry((event.thread, var)).or_default();
        if let Some(last) = own.last_mut() {
            let is_kept = held.values().any(|since| *since < last.at);
            last.next = Some(id).filter(|_| !is_kept);
        }
        if event.op.writes() {
            for read in own.drain(..) {
                leave(&mut ways, var, &read, (event.thread, Some(loc)));
                let Some(next) = read.next else { continue };
                if let Some(block) = blocks.innermost(event.thread, read.at, id) {
                    let is_thread = blocks.all()[block].kind == BlockKind::Thread;
                    let (other, other_read, is_only_writer) = (event.thread, read.at, false); // so far
                    let check = Check { read: read.at, next, write: id, other, other_read, is_only_writer, is_thread };
                    found.push((check, (var, read.loc), (var, loc)));
                }
            }
            add(writers.entry((var, loc)).or_default(), event.thread);
        } else {
            if let Some(last) = own.iter().rfind(|read| read.loc == loc) {
                leave(&mut ways, var, last, (event.thread, None)); // it reads there again, and did not write
            }
            own.push(Read { at: id, loc, next: None });
            if own.len() > MOST_READS {
                leave(&mut ways, var, &own.remove(0), (event.thread, None));
            }
        }
    }
    for ((thread, var), left) in reads {
        left.iter().for_each(|read| leave(&mut ways, var, read, (thread, None)));
    }
    ways.values_mut().for_each(|ways| ways.sort_unstable_by_key(|way| way.at));
    let mut nearest: IndexMap<[Option<NameId>; 3], (u32, Check), FxBuildHasher> = IndexMap::default();
    for (check, read, write) in found {
        let own = trace.event(check.read).thread;
        let leaves = |way: &&Way| way.thread != own && way.to != Some(write.1);
        let Some((distance, way)) = nearest_of(&ways[&read], check.write, leaves) else { continue };
        let is_only_writer = writers[&write] == [own];
        let check = Check { other: way.thread, other_read: way.at, is_only_writer, ..check };
        let class = [check.read, check.write, check.next].map(|event| trace.event(event).loc);
        let known = nearest.entry(class).or_insert((distance, check));
        if distance < known.0 {
            *known = (distance, check);
        }
    }
    let mut checks: Vec<Check> = nearest.into_values().map(|(_, check)| check).collect();
    checks.sort_by_key(|check| (check.is_thread, !check.is_only_writer));
    checks
}

/// The way of a thread on from a read.
#[derive(Clone, Copy)]
struct Way {
    /// The read.
    at: EventId,
    /// The thread.
    thread: ThreadId,
    /// Where it wrote the variable next before it read at the same place again, if it did.
    to: Option<NameId>,
}

fn leave(
    ways: &mut FxHashMap<AccessSite, Vec<Way>>,
    var: VarId,
    read: &Read,
    (thread, to): (ThreadId, Option<NameId>),
) {
    ways.entry((var, read.loc)).or_default().push(Way { at: read.at, thread, to });
}

/// The nearest way to an event that fits, and how far it is; a few on each side are looked at. Two checks that are near each other may change
/// places.
fn nearest_of(ways: &[Way], event: EventId, fits: impl Fn(&&Way) -> bool) -> Option<(u32, &Way)> {
    let middle = ways.partition_point(|way| way.at < event);
    let near = &ways[middle.saturating_sub(MOST_NEAR)..(middle + MOST_NEAR).min(ways.len())];
    near.iter().filter(fits).map(|way| (way.at.0.abs_diff(event.0), way)).min_by_key(|(distance, _)| *distance)
}

/// A read whose thread may write later.
struct Read {
    at: EventId,
    loc: NameId,
    /// The next access of the variable by the thread, unless one lock is held from here to there.
    next: Option<EventId>,
}

/// The variable of the program's own that an event accesses, and where.
fn place(trace: &Trace, event: EventId) -> Option<AccessSite> {
    let (Op::Read { .. } | Op::Write { .. } | Op::Rmw { .. }) = trace.event(event).op else { return None };
    let op = &trace.event(event).op;
    let var = op.var().filter(|var| !op.is_external() && !trace.vars[var.index()].is_of_library())?;
    Some((var, trace.event(event).loc?))
}

fn add(threads: &mut Vec<ThreadId>, thread: ThreadId) {
    if !threads.contains(&thread) {
        threads.push(thread);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretrace_trace::{Atomic, Data, SyncKind, TraceBuilder};

    /// Two threads check and take in a block each; the second comes late. A lock is held around each access, or around both.
    fn late(is_kept_locked: bool) -> Trace {
        let mut trace = TraceBuilder::new(Data::None);
        trace.sync("m", SyncKind::Mutex { recursive: false });
        for thread in [1, 2] {
            trace.begin(thread).at("a.c:1");
            trace.acquire(thread, "m").at("a.c:2");
            trace.saw(thread, "left", None).at("a.c:3");
            if thread == 1 {
                if !is_kept_locked {
                    trace.release(thread, "m").at("a.c:4");
                    trace.acquire(thread, "m").at("a.c:5");
                }
                trace.put(thread, "left", None).at("a.c:6");
            }
            trace.release(thread, "m").at("a.c:7");
            trace.end(thread).at("a.c:8");
        }
        trace.build().expect("a trace")
    }

    #[test]
    fn a_check_that_another_thread_made_without_the_write_is_found() {
        let trace = late(false);
        let found = checks(&trace, &Atomic::Marked.blocks(&trace));
        let [check] = found[..] else { panic!("{found:?}") };
        let places = [check.read, check.write, check.next].map(|event| trace.loc(event));
        assert_eq!(places, [Some("a.c:3"), Some("a.c:6"), Some("a.c:6")]);
        assert_ne!(check.other, trace.event(check.read).thread);
    }

    /// Of three takes of two threads the last one finds nothing left.
    #[test]
    fn a_write_that_the_other_thread_made_at_another_time_does_not_count() {
        let mut trace = TraceBuilder::new(Data::None);
        for (thread, takes) in [(2, true), (1, true), (2, false)] {
            trace.begin(thread).at("a.c:1");
            trace.saw(thread, "left", None).at("a.c:3");
            if takes {
                trace.put(thread, "left", None).at("a.c:6");
            }
            trace.end(thread).at("a.c:8");
        }
        let trace = trace.build().expect("a trace");
        let found = checks(&trace, &Atomic::Marked.blocks(&trace));
        let [check] = found[..] else { panic!("{found:?}") };
        assert!(!check.is_only_writer && check.read == EventId(5), "{check:?}");
    }

    #[test]
    fn a_lock_around_check_and_write_leaves_nothing() {
        let trace = late(true);
        assert_eq!(checks(&trace, &Atomic::Marked.blocks(&trace)), []);
    }
}

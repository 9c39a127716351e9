//! Where the exploration of a segment starts: after events above its upper frontier that can all come first, in the recorded order.
//!
//! The events above the upper frontier are on no violation path. But they cannot always all come before the segment: a write of the segment
//! may have to come before one above it, so that a later read finds its value. In that case the exploration starts further up.
//!
//! Lemma. Let P be closed under the orders of the model and such that [`Start::offender`] finds nothing. Then each prefix of the
//! model with a violation path has one in which all of P comes first, in the recorded order. Proof: move the events of P to
//! the front. In `ctp` and `mcm` every two of P and the range that depend on each other are ordered, so each exchange is one of
//! independent events. In `avp`, a read of P finds its write in P, in the recorded order; a read of the range whose write is in the range
//! has the same writes in between as before; one whose write is in P finds it, since the rules for variables leave
//! no other write of P after it, and none of the range before it that is not ordered after it. Critical sections in P are
//! whole, or the lock is not used outside. `cam` asks nothing of data. Tested against the exhaustive oracle.

use crate::objects::{Objects, Users};
use crate::order::Order;
use crate::segment::Range;
use foretrace_explore::Mode;
use foretrace_index::TraceIndex;
use foretrace_trace::{EventId, Model, Observed, Trace};

/// Finds starts of explorations of one trace in one model.
pub struct Starts<'a> {
    pub trace: &'a Trace,
    pub trace_index: &'a TraceIndex,
    pub observed: &'a Observed,
    pub order: &'a Order,
    pub objects: &'a Objects,
    pub users: &'a Users,
    pub model: Model,
}

impl Starts<'_> {
    /// The range from where everything is explored that `range` asks for: its lower frontier, and an upper one that is the same
    /// or further up.
    pub fn of_range(&self, range: &Range) -> Range {
        let mut start = range.clone();
        self.close(&mut start);
        // Each round takes at least one event out.
        while let Some((thread, position)) = self.offender(&start) {
            start.upper[thread] = position;
            self.close(&mut start);
        }
        start
    }

    /// Takes one event out of what comes first.
    pub fn without(&self, range: &mut Range, event: EventId) {
        let thread = self.trace.event(event).thread.index();
        range.upper[thread] = range.upper[thread].min(self.trace_index.position(event) as u32);
        self.close(range);
    }

    /// The events that come first, in the recorded order.
    pub fn before(&self, range: &Range) -> Vec<EventId> {
        let threads = self.trace_index.threads.iter().zip(&range.upper);
        let mut events: Vec<EventId> =
            threads.flat_map(|(events, upper)| events[..*upper as usize].iter().copied()).collect();
        events.sort_unstable();
        events
    }

    /// Takes out what comes after something that is out, and keeps the events of one step together.
    fn close(&self, range: &mut Range) {
        let firm = self.order.firm();
        let mut changed: Vec<usize> = (0..range.upper.len()).collect();
        while let Some(thread) = changed.pop() {
            let upper = range.upper[thread];
            let Some(first) = self.trace_index.threads[thread].get(upper as usize).copied() else { continue };
            let whole = self.trace_index.position(self.trace_index.step(self.trace, first).0) as u32;
            range.upper[thread] = upper.min(whole);
            let first = self.trace_index.threads[thread][range.upper[thread] as usize];
            for other in (0..range.upper.len()).filter(|other| *other != thread) {
                let after = firm.first_after(first, other);
                if after < range.upper[other] {
                    range.upper[other] = after;
                    changed.push(other);
                }
            }
        }
    }

    /// An event above the range that cannot simply come first.
    fn offender(&self, range: &Range) -> Option<(usize, u32)> {
        (0..self.users.objects()).find_map(|object| {
            let is_lock = self.is_plain_lock(object, range);
            match self.model {
                Model::Cam if self.objects.is_var(object) => None,
                Model::Avp if self.objects.is_var(object) => self.couple(object, range),
                Model::Cam | Model::Avp if is_lock => self.open_section(object, range),
                _ => self.unordered(object, range),
            }
        })
    }

    /// Whether an object is a lock with no failed try in what is above the range or in it.
    fn is_plain_lock(&self, object: u32, range: &Range) -> bool {
        self.users.of_object(object).iter().all(|of_thread| {
            let within = of_thread.uses.iter().take_while(|(at, _, _)| *at < range.lower[of_thread.thread]);
            let is_section =
                |mode: &Mode| matches!(mode, Mode::Take | Mode::Give | Mode::TakeShared | Mode::GiveShared);
            within.into_iter().all(|(_, mode, _)| is_section(mode))
        })
    }

    /// Of two that depend on each other and are not ordered, one above the range.
    fn unordered(&self, object: u32, range: &Range) -> Option<(usize, u32)> {
        let firm = self.order.firm();
        let all = self.users.of_object(object);
        for own in all {
            let above = own.uses.iter().take_while(|(at, _, _)| *at < range.upper[own.thread]);
            for (position, mode, id) in above {
                for other in all.iter().filter(|other| other.thread != own.thread) {
                    let seen = firm.seen(*id, other.thread);
                    let after = firm.first_after(*id, other.thread).min(range.lower[other.thread]);
                    if other.first_dependent(*mode, seen, after).is_some() {
                        return Some((own.thread, *position));
                    }
                }
            }
        }
        None
    }

    /// A critical section that is open where the range begins, of a lock that is used elsewhere, too.
    fn open_section(&self, object: u32, range: &Range) -> Option<(usize, u32)> {
        let all = self.users.of_object(object);
        for own in all {
            let mut open: Vec<u32> = Vec::new();
            let mut outermost = None;
            for (position, mode, _) in own.uses.iter().take_while(|(at, _, _)| *at < range.upper[own.thread]) {
                match mode {
                    Mode::Take | Mode::TakeShared => {
                        outermost = outermost.or(Some(*position));
                        open.push(*position);
                    }
                    _ => {
                        open.pop();
                        outermost = outermost.filter(|_| !open.is_empty());
                    }
                }
            }
            let elsewhere = |other: &crate::objects::OfThread| {
                other.thread != own.thread && other.uses.iter().any(|(at, _, _)| *at < range.lower[other.thread])
            };
            if let Some(position) = outermost.filter(|_| all.iter().any(elsewhere)) {
                return Some((own.thread, position));
            }
        }
        None
    }

    /// A write above the range that keeps a read of the range from what it must find, or has to: where a write of the range can
    /// come before it, or where it came after what the read found.
    fn couple(&self, var: u32, range: &Range) -> Option<(usize, u32)> {
        let firm = self.order.firm();
        let all = self.users.of_object(var);
        let above = |event: EventId| {
            let thread = self.trace.event(event).thread.index();
            (self.trace_index.position(event) as u32) < range.upper[thread]
        };
        // Both in the order of threads; blocks may be long, so that no read may look at all uses.
        let writes = |of: &crate::objects::OfThread| -> Vec<(u32, EventId)> {
            let kept = of.uses.iter().filter(|(_, _, id)| self.trace.event(*id).op.writes());
            kept.map(|(position, _, id)| (*position, *id)).collect()
        };
        let writes: Vec<(usize, Vec<(u32, EventId)>)> = all.iter().map(|of| (of.thread, writes(of))).collect();
        let writes_above: Vec<EventId> =
            writes.iter().flat_map(|(_, writes)| writes).map(|(_, id)| *id).filter(|write| above(*write)).collect();
        let latest_above = writes_above.iter().max().copied();
        let place = |event: EventId| (self.trace.event(event).thread.index(), self.trace_index.position(event) as u32);
        for own in all {
            // What a read above the range found must be there, too, if the thread is to go on after it.
            let mut first = own.uses.iter().take_while(|(at, _, _)| *at < range.upper[own.thread]);
            let lost = first.find(|(_, _, id)| self.observed.source(*id).is_some_and(|source| !above(source)));
            if let Some((position, _, _)) = lost {
                return Some((own.thread, *position));
            }
            let inside = own.uses.iter().filter(|(at, _, _)| range.holds(own.thread, *at));
            for (_, _, read) in inside.filter(|(_, _, id)| self.trace.event(*id).op.reads()) {
                let source = self.observed.source(*read);
                let is_late = |write: &EventId| source.is_none_or(|source| source < *write);
                if source.is_none_or(above) && latest_above.as_ref().is_some_and(is_late) {
                    return writes_above.iter().copied().find(is_late).map(place);
                }
                let Some(source) = source.filter(|source| above(*source)) else { continue };
                let from = self.trace.event(source).thread.index();
                let early = writes.iter().filter(|(thread, _)| *thread != from).any(|(thread, writes)| {
                    let start = range.upper[*thread].max(firm.seen(source, *thread));
                    let end = range.lower[*thread].min(firm.first_after(source, *thread));
                    let first = writes.partition_point(|(at, _)| *at < start);
                    let within = writes[first..].iter().take_while(|(at, _)| *at < end);
                    within.into_iter().any(|(_, id)| *id != *read && !firm.before(*read, *id))
                });
                if early {
                    return Some(place(source));
                }
            }
        }
        None
    }
}

//! The words for why an event cannot come next in a prefix.

use crate::blocked::Blocked;
use crate::data_rules::MOST_BITS;
use crate::error::Problem;
use crate::op::Op;
use crate::semantics::Semantics;
use crate::smtlib;
use crate::state::State;
use crate::term::TermId;
use crate::trace::{EventId, Local, SyncId, SyncKind, ThreadId, Trace};

impl Semantics<'_> {
    /// Says in words why the event is blocked in this state.
    pub fn explain(&self, state: &State, event: EventId, blocked: Blocked) -> Problem {
        let trace = self.trace();
        let thread = trace.event(event).thread;
        let own = thread_name(trace, thread);
        match blocked {
            Blocked::NotNext => self.explain_order(state, event),
            Blocked::NotStarted { fork } => {
                Problem::new(format!("that {own} has not started"), format!("its fork (event {fork}) before"))
            }
            Blocked::Stopped => Problem::new(
                format!("that {own} stopped at a read that returned another value or write than recorded"),
                "no further event of that thread",
            ),
            Blocked::InsideGroup { thread } => {
                let next = self.next(state, thread).map_or("no event".into(), |next| format!("event {next}"));
                let inside = thread_name(trace, thread);
                Problem::new(
                    format!("that {inside} is inside a step of several parts"),
                    format!("its next part, {next}"),
                )
            }
            Blocked::NotFree { lock, by, shared } => {
                let how = if shared { "shared" } else { "held" };
                let by = if by == thread { "this thread itself".into() } else { thread_name(trace, by) };
                Problem::new(format!("{} {how} by {by}", object_name(trace, lock)), "it free")
            }
            Blocked::NotHeld { lock, shared } => {
                let how = if shared { "shared" } else { "held" };
                Problem::new(format!("{} not {how} by {own}", object_name(trace, lock)), format!("it {how} by {own}"))
            }
            Blocked::NotBusy { lock } => Problem::new(
                format!("{} held by no other thread", object_name(trace, lock)),
                "another thread to hold it",
            ),
            Blocked::NotWaiting { cond } => {
                Problem::new(format!("that {own} does not wait on {}", object_name(trace, cond)), "a wait before")
            }
            Blocked::NotSignalled { cond } => Problem::new(
                format!("no signal or broadcast of {} that released {own} since its wait", object_name(trace, cond)),
                "one, or a wake with a cause",
            ),
            Blocked::NotReleasable { cond } => Problem::new(
                format!("a signal of {} with another choice", object_name(trace, cond)),
                "exactly one of those that wait to be released",
            ),
            Blocked::CountIsZero { sem } => {
                Problem::new(format!("{} at 0", object_name(trace, sem)), "a count above 0")
            }
            Blocked::NotInitialised { once } => {
                Problem::new(format!("{} not done", object_name(trace, once)), "the end of its initialisation before")
            }
            Blocked::Initialised { once } => {
                Problem::new(format!("{} done already", object_name(trace, once)), "it not done")
            }
            Blocked::NotAllArrived { barrier, arrived, arrives } => Problem::new(
                format!("{arrived} arrives at {} in this round", object_name(trace, barrier)),
                format!("all {arrives} that were recorded"),
            ),
            Blocked::NotFinished { child } => {
                let next = self.next(state, child).map_or("an event".into(), |next| format!("event {next}"));
                Problem::new(
                    format!("that {} has not done {next}", thread_name(trace, child)),
                    "all its recorded events done",
                )
            }
            Blocked::False { condition } => self.explain_condition(state, event, condition),
            Blocked::ReadsOther { var } => Problem::new(
                format!("another value or write in {} than it read when recorded", trace.vars[var.index()].shown()),
                "the recorded one, since it is an rmw or has a guard",
            ),
            Blocked::TooLarge => Problem::new(format!("a value of more than {MOST_BITS} bits"), "smaller ones"),
            Blocked::WrongKind { object } => {
                let expected = format!("an object that `{}` works on", trace.event(event).op.kind());
                Problem::new(object_name(trace, object), expected)
            }
        }
    }

    fn explain_order(&self, state: &State, event: EventId) -> Problem {
        let thread = self.trace().event(event).thread;
        let expected = match self.next(state, thread) {
            Some(next) => format!("event {next}, the next of {}", thread_name(self.trace(), thread)),
            None => format!("none, all events of {} are done", thread_name(self.trace(), thread)),
        };
        let found = if self.is_done(state, event) { "an event that was done before" } else { "an event out of order" };
        Problem::new(found, expected)
    }

    /// "the guard `(> r 1)` false with r = 0".
    fn explain_condition(&self, state: &State, event: EventId, condition: TermId) -> Problem {
        let trace = self.trace();
        let what = if matches!(trace.event(event).op, Op::Assume { .. }) { "assumption" } else { "guard" };
        let mut values = Vec::new();
        let mut locals = trace.terms.leaves(condition);
        locals.sort_unstable_by_key(|local| local.definition);
        for local in locals {
            let value = self.data().local(state, event, local).map_or("?".into(), |value| value.to_string());
            values.push(format!("{} = {value}", local_name(trace, local)));
        }
        let more = if values.len() > SHOWN_VALUES { ", …" } else { "" };
        values.truncate(SHOWN_VALUES);
        let with = if values.is_empty() { String::new() } else { format!(" with {}{more}", values.join(", ")) };
        Problem::new(format!("the {what} `{}` false{with}", shown_term(trace, condition)), "it true")
    }
}

/// How many locals' values a message names.
const SHOWN_VALUES: usize = 6;

fn thread_name(trace: &Trace, thread: ThreadId) -> String {
    format!("thread {}", trace.threads[thread.index()].number)
}

/// "mutex m".
fn object_name(trace: &Trace, object: SyncId) -> String {
    let object = &trace.syncs[object.index()];
    let kind = match object.kind {
        SyncKind::Mutex { .. } => "mutex",
        SyncKind::Rwlock => "rwlock",
        SyncKind::Semaphore { .. } => "semaphore",
        SyncKind::Condvar => "condition variable",
        SyncKind::Barrier { .. } => "barrier",
        SyncKind::Once => "once",
    };
    format!("{kind} {}", object.key)
}

fn local_name<'t>(trace: &'t Trace, local: &Local) -> &'t str {
    trace.event(local.definition).op.dst().map_or("?", |name| trace.names.text(name))
}

/// A term as people read it, cut off where it is long.
fn shown_term(trace: &Trace, term: TermId) -> String {
    let mut text = String::new();
    smtlib::print(&mut text, &trace.terms, term, &|local: &Local| local_name(trace, local));
    if let Some((cut, _)) = text.char_indices().nth(SHOWN_LENGTH) {
        text.replace_range(cut.., "…");
    }
    text
}

/// To how many characters a message shows a term.
const SHOWN_LENGTH: usize = 200;

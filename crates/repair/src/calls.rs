//! The calls of a trace's functions, where they are known: inlined ones too, and those that did one thing alone.
//! Programmers make lines of one function atomic. An access in a function that it calls counts as the line of that call.

use crate::place::parts_of_loc;
use crate::relation::may_be_end;
use foretrace_trace::{BlockKind, CallStacks, Event, EventId, Op, ThreadId, Trace};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The calls of a trace.
pub(crate) struct Calls {
    stacks: Arc<CallStacks>,
    /// Per event with a place in the log, the innermost call.
    innermost: Vec<Option<u32>>,
    /// The calls that are the whole of their threads: of `main`, and of a thread's own function where it is the only one that no
    /// function of the program called.
    whole: FxHashSet<u32>,
    /// By function, its calls that did something, with their threads, first and last events.
    of_function: FxHashMap<String, Vec<CallSpan>>,
}

/// What a call did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallSpan {
    pub call: u32,
    pub thread: ThreadId,
    pub first: EventId,
    pub last: EventId,
}

/// Where an access is, seen from a function.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'t> {
    pub file: &'t str,
    pub line: u32,
    pub column: u32,
    /// The call that leads to it; nothing of the function's own accesses.
    pub through: Option<u32>,
}

impl Calls {
    /// Those of a trace; nothing where they are not known.
    pub(crate) fn new(trace: &Trace) -> Option<Calls> {
        let stacks = trace.call_stacks.clone()?;
        let call = |event: &Event| stacks.at(event.thread, event.at?);
        let innermost: Vec<Option<u32>> = trace.events.iter().map(call).collect();
        let mut spans: Vec<Option<CallSpan>> = vec![None; stacks.count() as usize];
        let mut outermost: Vec<Vec<u32>> = vec![Vec::new(); trace.threads.len()];
        for (id, event) in trace.iter().filter(|(_, event)| may_be_end(&event.op)) {
            let Some(innermost) = innermost[id.index()] else { continue };
            let mut last = innermost;
            for call in stacks.outwards(innermost) {
                let span = &mut spans[call as usize];
                span.get_or_insert(CallSpan { call, thread: event.thread, first: id, last: id }).last = id;
                last = call;
            }
            let known = &mut outermost[event.thread.index()];
            if known.last() != Some(&last) {
                known.push(last);
            }
        }
        let is_main = |call: &u32| matches!(stacks.function(*call).rsplit("::").next(), Some("main"));
        let of_thread = |mut calls: Vec<u32>| {
            calls.sort_unstable();
            calls.dedup();
            if calls.len() > 1 {
                calls.retain(is_main);
            }
            calls
        };
        let whole = outermost.into_iter().flat_map(of_thread).collect();
        let mut of_function: FxHashMap<String, Vec<CallSpan>> = FxHashMap::default();
        for span in spans.into_iter().flatten() {
            match of_function.get_mut(stacks.function(span.call)) {
                Some(known) => known.push(span),
                None => drop(of_function.insert(stacks.function(span.call).to_string(), vec![span])),
            }
        }
        Some(Calls { stacks, innermost, whole, of_function })
    }

    /// The innermost call that two events are in; nothing where that is the whole of their thread, or not known.
    pub(crate) fn around(&self, first: EventId, last: EventId) -> Option<u32> {
        let of_last: Vec<u32> = self.stacks.outwards(self.innermost[last.index()]?).collect();
        let mut of_first = self.stacks.outwards(self.innermost[first.index()]?);
        of_first.find(|call| of_last.contains(call)).filter(|call| !self.whole.contains(call))
    }

    /// The innermost call around an event, with all that the thread does in it; nothing where the call is not known.
    pub(crate) fn innermost_span(&self, trace: &Trace, event: EventId) -> Option<CallSpan> {
        let call = self.innermost[event.index()]?;
        let thread = trace.event(event).thread;
        // Of events without a place in the log it is not known in which call they are.
        let is_known = |id: &EventId| trace.event(*id).thread == thread && trace.event(*id).at.is_some();
        let is_within = |id: &EventId| {
            self.innermost[id.index()].is_some_and(|inner| self.stacks.outwards(inner).any(|one| one == call))
        };
        let earlier = (0..event.0).rev().map(EventId).filter(is_known).take_while(is_within);
        let later = (event.0..trace.events.len() as u32).map(EventId).filter(is_known).take_while(is_within);
        let (first, last) = (earlier.last().unwrap_or(event), later.last().unwrap_or(event));
        Some(CallSpan { call, thread, first, last })
    }

    /// A stretch with all that is done by the calls at its ends, up to the function that both ends are in: a lock that this function takes around
    /// its lines is taken before those calls take theirs.
    pub(crate) fn with_calls_at_ends(&self, trace: &Trace, (first, last): (EventId, EventId)) -> (EventId, EventId) {
        let around = self.around(first, last);
        let thread = trace.event(first).thread;
        let ends_of = |event: EventId, step: &dyn Fn(u32) -> Option<u32>| {
            let Some(through) = self.seen_from(trace, around, event).and_then(|seen| seen.through) else {
                return event;
            };
            let is_in_call = |id: EventId| {
                let mut outwards = self.innermost[id.index()].into_iter().flat_map(|call| self.stacks.outwards(call));
                outwards.any(|call| call == through)
            };
            let others = std::iter::successors(step(event.0), |id| step(*id)).map(EventId);
            let own = others.filter(|id| trace.event(*id).thread == thread && trace.event(*id).at.is_some());
            own.take_while(|id| is_in_call(*id)).last().unwrap_or(event)
        };
        let count = trace.events.len() as u32;
        (ends_of(first, &|id| id.checked_sub(1)), ends_of(last, &|id| Some(id + 1).filter(|id| *id < count)))
    }

    /// Whether a call is the whole of its thread.
    pub(crate) fn is_thread(&self, call: u32) -> bool {
        self.whole.contains(&call)
    }

    /// The function of a call.
    pub(crate) fn function(&self, call: u32) -> &str {
        self.stacks.function(call)
    }

    /// What a call did.
    pub(crate) fn span(&self, call: u32) -> Option<&CallSpan> {
        let of_function = self.of_function(self.function(call));
        of_function.get(of_function.binary_search_by_key(&call, |span| span.call).ok()?)
    }

    /// All calls of a function that did something, in order.
    pub(crate) fn of_function(&self, function: &str) -> &[CallSpan] {
        self.of_function.get(function).map_or(&[], Vec::as_slice)
    }

    /// What a function that is not known as a whole thread did, of the outermost such calls.
    pub(crate) fn outermost(&self) -> Vec<CallSpan> {
        let is_outermost = |span: &&CallSpan| {
            let is_whole = |call: u32| self.whole.contains(&call);
            !is_whole(span.call) && self.stacks.caller(span.call).is_none_or(is_whole)
        };
        let mut all: Vec<CallSpan> = self.of_function.values().flatten().filter(is_outermost).copied().collect();
        all.sort_unstable_by_key(|span| (span.first, span.call));
        all
    }

    /// Where an access is for a call that it is in; for its thread as a whole, where no call is given. Nothing of an event without a place.
    pub(crate) fn seen_from<'t>(&'t self, trace: &'t Trace, call: Option<u32>, event: EventId) -> Option<Seen<'t>> {
        let mut through = None;
        let outwards = self.innermost[event.index()].into_iter().flat_map(|call| self.stacks.outwards(call));
        for outer in outwards {
            if Some(outer) == call || call.is_none() && self.stacks.caller(outer).is_none() {
                break;
            }
            through = Some(outer);
        }
        self.seen_through(trace, through, event)
    }

    /// Where an access is for the function that made a call on the way to it.
    fn seen_through<'t>(&'t self, trace: &'t Trace, through: Option<u32>, event: EventId) -> Option<Seen<'t>> {
        let called_at = through.and_then(|call| self.stacks.called_at(call));
        let (file, line, column) = called_at.or_else(|| trace.loc(event)).and_then(parts_of_loc)?;
        Some(Seen { file, line, column, through })
    }

    /// Where an access is for each of the functions that it is in, the innermost first.
    pub(crate) fn seen_from_all<'t>(
        &'t self,
        trace: &'t Trace,
        event: EventId,
    ) -> impl Iterator<Item = Seen<'t>> + use<'t> {
        let outwards = self.innermost[event.index()].into_iter().flat_map(|call| self.stacks.outwards(call));
        let through = std::iter::once(None).chain(outwards.map(Some));
        // The outermost function has no place to be called at.
        let has_place = |through: &Option<u32>| through.is_none_or(|call| self.stacks.called_at(call).is_some());
        through.filter(has_place).filter_map(move |through| self.seen_through(trace, through, event))
    }
}

/// Whether functions are operations in a trace that was made without a choice of its own: then it has blocks of other kinds, too.
pub(crate) fn is_without_choice(trace: &Trace) -> bool {
    let is_other = |kind| matches!(kind, BlockKind::Thread | BlockKind::Loop | BlockKind::Section);
    trace.events.iter().any(|event| matches!(event.op, Op::Begin { kind, .. } if is_other(kind)))
}

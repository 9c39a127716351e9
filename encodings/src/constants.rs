//! The reads that return one and the same value in every prefix, with that value.
//!
//! A read is constant when every argument of its π-function is, and they are equal; a write is when its expression reads only
//! constants. Each read and write that cannot be judged yet waits for one other that it needs, and is tried again when that one is
//! known. Known equal values of neighbouring writes are runs in a union-find, so that a read looks at each run once: the work
//! is nearly linear in the events, for flags that are written all the time, too.

use crate::pi::{Window, windows};
use crate::view::TraceView;
use foretrace_trace::{EventId, Op, TermId, Value};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The reads that return one and the same value in every prefix, with that value: the least solution.
pub fn constant_reads(view: TraceView<'_>) -> FxHashMap<EventId, Value> {
    constant_reads_while(view, &mut || true)
}

/// The same as long as `go_on` agrees; stopped early it names fewer reads, each of them constant.
pub fn constant_reads_while(view: TraceView<'_>, go_on: &mut dyn FnMut() -> bool) -> FxHashMap<EventId, Value> {
    let mut search = Search::new(view);
    for (id, event) in view.trace.iter() {
        if event.op.writes() {
            search.writes_to_try.push(id);
        }
        if event.op.reads() {
            search.reads_to_try.push_back(id);
        }
    }
    let mut done = 0usize;
    while search.attempt_next() {
        done += 1;
        if done.is_multiple_of(LOOK) && !go_on() {
            break;
        }
    }
    search.constants
}

/// How many reads and writes are tried between two looks at the clock.
const LOOK: usize = 1 << 12;

/// What came of looking at a source.
enum Look {
    /// It gives this value.
    Known(u32),
    /// It is a write whose value is not known yet.
    Waits(EventId),
    /// Its values differ.
    Differs,
}

struct Search<'a> {
    view: TraceView<'a>,
    constants: FxHashMap<EventId, Value>,
    /// Numbers of values: equal ones have one number.
    numbers: FxHashMap<Value, u32>,
    values: Vec<Value>,
    /// Per write of `TraceIndex::writes_by_thread`, all variables one after the other: its place there.
    places: FxHashMap<EventId, u32>,
    /// By place: the write.
    writes: Vec<EventId>,
    /// By place: the number of the value that is known to be written.
    written: Vec<Option<u32>>,
    /// By place: the next place of the same run of equal known values, itself at the last (union-find).
    runs: Vec<u32>,
    /// By place: whether it is the first of its variable and thread.
    starts: Vec<bool>,
    /// All writes are tried before the next read: a read that waits for many is then tried seldom.
    writes_to_try: Vec<EventId>,
    reads_to_try: VecDeque<EventId>,
    /// The writes that wait for a read to be constant, and the reads that wait for a write.
    for_read: FxHashMap<EventId, Vec<EventId>>,
    for_write: FxHashMap<EventId, Vec<EventId>>,
}

impl<'a> Search<'a> {
    fn new(view: TraceView<'a>) -> Search<'a> {
        let (mut places, mut writes, mut starts) = (FxHashMap::default(), Vec::new(), Vec::new());
        for var in (0..view.trace.vars.len()).map(foretrace_trace::VarId::from_index) {
            for own in view.trace_index.writes_by_thread(view.trace, var) {
                for (nth, write) in own.iter().enumerate() {
                    places.insert(*write, starts.len() as u32);
                    writes.push(*write);
                    starts.push(nth == 0);
                }
            }
        }
        Search {
            view,
            constants: FxHashMap::default(),
            numbers: FxHashMap::default(),
            values: Vec::new(),
            places,
            writes,
            written: vec![None; starts.len()],
            runs: (0..starts.len() as u32).collect(),
            starts,
            writes_to_try: Vec::new(),
            reads_to_try: VecDeque::new(),
            for_read: FxHashMap::default(),
            for_write: FxHashMap::default(),
        }
    }

    /// Tries the next write, else the next read; whether there was one.
    fn attempt_next(&mut self) -> bool {
        if let Some(write) = self.writes_to_try.pop() {
            match self.write(write) {
                Ok(Some(value)) => self.set_written(write, value),
                Ok(None) => {}
                Err(read) => self.for_read.entry(read).or_default().push(write),
            }
            return true;
        }
        let Some(read) = self.reads_to_try.pop_front() else { return false };
        match self.read(read) {
            Look::Known(value) => {
                self.constants.insert(read, self.values[value as usize].clone());
                self.writes_to_try.extend(self.for_read.remove(&read).unwrap_or_default());
            }
            Look::Waits(write) => self.for_write.entry(write).or_default().push(read),
            Look::Differs => {}
        }
        true
    }

    fn number(&mut self, value: Value) -> u32 {
        let next = self.values.len() as u32;
        let number = *self.numbers.entry(value.clone()).or_insert(next);
        if number == next {
            self.values.push(value);
        }
        number
    }

    /// What a read returns in every prefix.
    fn read(&mut self, read: EventId) -> Look {
        let view = self.view;
        let Some(var) = view.trace.event(read).op.var() else { return Look::Differs };
        let mut value: Option<u32> = None;
        let mut latest: Vec<EventId> = Vec::new();
        for Window { before, concurrent } in windows(view, read) {
            latest.extend(before);
            let Some((first, last)) = concurrent.first().zip(concurrent.last()) else { continue };
            match self.range(*first, *last) {
                Look::Known(next) if value.is_none_or(|value| value == next) => value = Some(next),
                Look::Known(_) => return Look::Differs,
                other => return other,
            }
        }
        for write in &latest {
            if latest.iter().any(|other| view.clocks.before(*write, *other)) {
                continue;
            }
            match self.written[self.places[write] as usize] {
                Some(next) if value.is_none_or(|value| value == next) => value = Some(next),
                Some(_) => return Look::Differs,
                None => return Look::Waits(*write),
            }
        }
        if latest.is_empty() {
            let Some(init) = view.trace.vars[var.index()].init.clone() else { return Look::Differs };
            let next = self.number(init);
            if value.is_some_and(|value| value != next) {
                return Look::Differs;
            }
            value = Some(next);
        }
        value.map_or(Look::Differs, Look::Known)
    }

    /// What all writes of a thread from one to another write.
    fn range(&mut self, first: EventId, last: EventId) -> Look {
        let (first, last) = (self.places[&first], self.places[&last]);
        let Some(value) = self.written[first as usize] else { return Look::Waits(self.write_at(first)) };
        let end = self.end_of_run(first);
        if end >= last {
            return Look::Known(value);
        }
        match self.written[end as usize + 1] {
            Some(_) => Look::Differs, // else the run would go on
            None => Look::Waits(self.write_at(end + 1)),
        }
    }

    fn write_at(&self, place: u32) -> EventId {
        self.writes[place as usize]
    }

    fn end_of_run(&mut self, place: u32) -> u32 {
        let mut end = place;
        while self.runs[end as usize] != end {
            let next = self.runs[end as usize];
            self.runs[end as usize] = self.runs[next as usize];
            end = next;
        }
        end
    }

    /// The value that a write stores, nothing where that can never be told; else the read that it needs first.
    fn write(&mut self, write: EventId) -> Result<Option<u32>, EventId> {
        let Some(term) = self.view.trace.event(write).op.written() else { return Ok(None) };
        let value = self.term(term)?;
        Ok(value.map(|value| self.number(value)))
    }

    /// The value of a term over constant reads alone.
    fn term(&self, term: TermId) -> Result<Option<Value>, EventId> {
        let trace = self.view.trace;
        for local in trace.terms.leaves(term) {
            match &trace.event(local.definition).op {
                Op::Let { .. } => return Ok(None), // a let is large or used again: not worth following
                _ if self.constants.contains_key(&local.definition) => {}
                _ => return Err(local.definition),
            }
        }
        Ok(Some(trace.terms.evaluate(term, &mut |local| self.constants[&local.definition].clone())))
    }

    fn set_written(&mut self, write: EventId, value: u32) {
        let place = self.places[&write];
        self.written[place as usize] = Some(value);
        let joins = |search: &Self, next: u32| {
            search.starts.get(next as usize) == Some(&false)
                && search.written[next as usize] == search.written[next as usize - 1]
        };
        if joins(self, place + 1) {
            self.runs[place as usize] = place + 1;
        }
        if joins(self, place) {
            self.runs[place as usize - 1] = place;
        }
        self.reads_to_try.extend(self.for_write.remove(&write).unwrap_or_default());
    }
}

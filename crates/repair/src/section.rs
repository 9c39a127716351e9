//! Atomic sections as code: stretches of source lines, their events in a trace, and which section contains which.

use crate::calls::{CallSpan, Calls, Seen};
use crate::eliminators::Segment;
use crate::operations::Operations;
use crate::place::parts_of_loc;
use crate::relation::{Position, Relation, may_be_end};
use crate::serializable::Stretch;
use crate::subsumption::Contains;
use crate::ways::Way;
use foretrace_trace::{Block, BlockKind, EventId, Trace};
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::fmt;

/// Lines of a file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub struct Lines {
    /// The file as the trace names it. Empty where the trace has no places: then lines are accesses of the block, from 1.
    pub file: String,
    /// The first line, from 1.
    pub first: u32,
    /// The last line.
    pub last: u32,
}

/// Code that is to be atomic: lines within a function, mark or operation.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub struct Section {
    /// The name of the innermost function, mark or operation around it, where the trace has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Its lines, per file; several files where what it calls is elsewhere.
    pub lines: Vec<Lines>,
    /// Whether it goes on from one turn of a loop to the next: all that its thread does in these lines is one section.
    /// If not, each time that the lines are run through is a section by itself.
    pub turns: bool,
}

/// A set of sections that rule out a trace.
pub type Repair = Vec<Section>;

impl Contains for Section {
    fn contains(&self, other: &Section) -> bool {
        let holds = |lines: &Lines| {
            self.lines.iter().any(|own| own.file == lines.file && own.first <= lines.first && lines.last <= own.last)
        };
        self.function == other.function && (self.turns || !other.turns) && other.lines.iter().all(holds)
    }
}

impl Section {
    /// The code of a segment.
    pub fn new(trace: &Trace, relation: &Relation, operations: &Operations, segment: &Segment) -> Section {
        let block = operations.named_block(segment.thread, segment.first, segment.last);
        if let Some(calls) = &operations.calls {
            return Section::of_calls((trace, relation, operations), calls, block, segment);
        }
        let steps = Steps::around(relation, operations, block, segment);
        let mut lines: Vec<Lines> = Vec::new();
        let is_within = |place: &AccessLine<'_>| segment.first <= place.event && place.event <= segment.last;
        // What it calls between its ends is in it anyway.
        let is_end = |place: &AccessLine<'_>| place.event == segment.first || place.event == segment.last;
        for place in steps.places(trace, operations).filter(|place| is_within(place) && (place.is_own || is_end(place)))
        {
            let (file, line) = place.shown();
            match lines.iter_mut().find(|lines| lines.file == file) {
                Some(lines) => {
                    lines.first = lines.first.min(line);
                    lines.last = lines.last.max(line);
                }
                None => lines.push(Lines { file: file.to_string(), first: line, last: line }),
            }
        }
        lines.sort();
        let function =
            block.and_then(|block| operations.block(block).label).map(|label| trace.names.text(label).to_string());
        let mut section = Section { function, lines, turns: false };
        let position = |event| relation.position(event).unwrap_or_default();
        let (first, last) = (position(segment.first), position(segment.last));
        let is_whole = |(_, from, to): &Stretch| *from <= first && last <= *to;
        section.turns = !section.runs_of(trace, operations, &steps).iter().any(is_whole);
        section
    }

    /// The code of a segment in the function of the innermost call that both of its ends are in.
    fn of_calls(
        (trace, relation, operations): (&Trace, &Relation, &Operations),
        calls: &Calls,
        block: Option<u32>,
        segment: &Segment,
    ) -> Section {
        let call = calls.around(segment.first, segment.last);
        let mark = block.map(|block| operations.block(block)).filter(|block| is_mark(block));
        let function = match mark.and_then(|block| block.label) {
            Some(label) => Some(trace.names.text(label).to_string()),
            None => call.map(|call| calls.function(call).to_string()),
        };
        let mut section = Section { function, lines: Vec::new(), turns: false };
        let all = Steps::between(relation, None, segment.thread.index(), segment.first, segment.last);
        for place in all.places_seen_from(trace, calls, call) {
            section.absorb_line(place.file, place.line);
        }
        section.lines.sort();
        let steps = match (mark, call.and_then(|call| calls.span(call))) {
            (Some(mark), _) => Steps::between(relation, None, segment.thread.index(), mark.first, mark.last),
            (None, Some(span)) => Steps::of_call(relation, span),
            (None, None) => Steps::of_thread(relation, segment.thread.index()),
        };
        let places = steps.places_of(trace, calls, &section, (mark.is_some(), call));
        let position = |event| relation.position(event).unwrap_or_default();
        let (first, last) = (position(segment.first), position(segment.last));
        let is_whole = |(_, from, to): &Stretch| *from <= first && last <= *to;
        section.turns = !section.runs_among(trace, operations, steps.thread, places.into_iter()).iter().any(is_whole);
        section
    }

    fn absorb_line(&mut self, file: &str, line: u32) {
        match self.lines.iter_mut().find(|lines| lines.file == file) {
            Some(lines) => {
                lines.first = lines.first.min(line);
                lines.last = lines.last.max(line);
            }
            None => self.lines.push(Lines { file: file.to_string(), first: line, last: line }),
        }
    }

    /// The stretches of a trace whose calls are known.
    fn stretches_of_calls(
        &self,
        (trace, relation, operations): (&Trace, &Relation, &Operations),
        calls: &Calls,
    ) -> Vec<Stretch> {
        let runs = |steps: &Steps<'_>, scope| {
            let places = steps.places_of(trace, calls, self, scope);
            self.runs_among(trace, operations, steps.thread, places.into_iter())
        };
        let Some(function) = &self.function else {
            let threads = (0..trace.threads.len()).map(|thread| Steps::of_thread(relation, thread));
            return threads.flat_map(|steps| runs(&steps, (false, None))).collect();
        };
        let label = trace.names.find(function);
        let is_it = |block: &Block| is_mark(block) && block.label == label;
        let marks = operations.blocks_of(label).map(|number| operations.block(number)).filter(|block| is_it(block));
        let marks: Vec<&Block> = marks.collect();
        if label.is_some() && !marks.is_empty() {
            let steps = marks
                .into_iter()
                .map(|mark| Steps::between(relation, None, mark.thread.index(), mark.first, mark.last));
            return steps.flat_map(|steps| runs(&steps, (true, None))).collect();
        }
        let of_call = |span: &CallSpan| {
            let steps = Steps::of_call(relation, span);
            runs(&steps, (false, Some(span.call)))
        };
        calls.of_function(function).iter().flat_map(of_call).collect()
    }

    /// How many lines it has.
    pub fn length(&self) -> u64 {
        self.lines.iter().map(|lines| u64::from(lines.last - lines.first) + 1).sum()
    }

    /// Whether lines of both are the same, of one function.
    pub(crate) fn overlaps(&self, other: &Section) -> bool {
        let meets = |lines: &Lines| {
            self.lines.iter().any(|own| own.file == lines.file && own.first <= lines.last && lines.first <= own.last)
        };
        self.function == other.function && other.lines.iter().any(meets)
    }

    /// Takes another section into this one.
    pub(crate) fn absorb(&mut self, other: &Section) {
        for lines in &other.lines {
            match self.lines.iter_mut().find(|own| own.file == lines.file) {
                Some(own) => {
                    own.first = own.first.min(lines.first);
                    own.last = own.last.max(lines.last);
                }
                None => self.lines.push(lines.clone()),
            }
        }
        self.lines.sort();
        self.turns |= other.turns;
    }

    /// The stretches of a trace's threads that it makes atomic.
    pub(crate) fn stretches(&self, trace: &Trace, relation: &Relation, operations: &Operations) -> Vec<Stretch> {
        if let Some(calls) = &operations.calls {
            let runs = self.stretches_of_calls((trace, relation, operations), calls);
            let mut all: Vec<Stretch> = runs.into_iter().flat_map(|stretch| operations.cut(stretch)).collect();
            all.sort_unstable();
            return all;
        }
        let label = match &self.function {
            Some(function) => match trace.names.find(function) {
                Some(label) => Some(label),
                None => return Vec::new(), // this trace never ran it
            },
            None => None,
        };
        let blocks = operations.blocks_of(label);
        let mut all: Vec<Stretch> = blocks
            .flat_map(|block| self.runs_of(trace, operations, &Steps::of_block(relation, operations, block)))
            .flat_map(|stretch| operations.cut(stretch))
            .collect();
        all.sort_unstable();
        all
    }

    fn holds(&self, place: &AccessLine<'_>) -> bool {
        let (file, line) = place.shown();
        self.has_line(file, line)
    }

    fn has_line(&self, file: &str, line: u32) -> bool {
        self.lines.iter().any(|own| own.file == file && own.first <= line && line <= own.last)
    }

    /// Whether it is one line.
    fn is_line(&self) -> bool {
        matches!(self.lines.as_slice(), [lines] if lines.first == lines.last)
    }

    /// The runs of a block through the lines of the section.
    fn runs_of(&self, trace: &Trace, operations: &Operations, steps: &Steps<'_>) -> Vec<Stretch> {
        self.runs_among(trace, operations, steps.thread, steps.places(trace, operations))
    }

    /// The runs through the lines of the section, by the places of a thread's accesses.
    fn runs_among<'t>(
        &self,
        trace: &Trace,
        operations: &Operations,
        thread: usize,
        places: impl Iterator<Item = AccessLine<'t>>,
    ) -> Vec<Stretch> {
        let mut runs: Vec<Stretch> = Vec::new();
        let mut open = false;
        let mut seen: FxHashMap<SourceStep<'_>, (EventId, Option<u32>)> = FxHashMap::default();
        let (mut line, mut line_seen) = (0, 0);
        for place in places {
            if !self.holds(&place) {
                // What is in other functions or files is called from the section; other lines of these files are outside.
                open &= !place.is_own && place.through.is_none() || self.lines.iter().all(|own| own.file != place.file);
                continue;
            }
            // What comes after an access of the line may belong to the next one: only what comes later shows that it is within.
            if open && place.way.is_some_and(|way| !way.is_sure && way.line == line) {
                continue;
            }
            let event = trace.event(place.event);
            let kind = place.through.map_or(event.op.kind(), |_| "call");
            let key = (place.file, place.line, place.column, kind);
            let is_same_step = event.part.is_some_and(|(part, _)| part > 1);
            // A loop within one line of a longer section, such as in a library, is no turn of the section; nor are several variables that
            // one line accesses, such as in a macro; nor are the loops of a function that it calls.
            let is_again = |(earlier, through): &(EventId, Option<u32>)| {
                let is_of_same = || trace.event(*earlier).op.var() == event.op.var();
                let is_turn = || operations.is_new_turn(*earlier, place.event);
                match place.through {
                    None => self.is_line() && is_of_same() || is_turn(),
                    same if same == *through => false,
                    Some(_) => self.is_line() || place.line < line_seen || is_turn(),
                }
            };
            let is_new_turn =
                !is_same_step && (place.is_own && place.line < line || seen.get(&key).is_some_and(is_again));
            match runs.last_mut() {
                Some(run) if open && (self.turns || !is_new_turn) => run.2 = place.position,
                _ => {
                    seen.clear();
                    line = 0;
                    runs.push((thread, place.position, place.position));
                }
            }
            open = true;
            seen.insert(key, (place.event, place.through));
            line_seen = place.line;
            line = if place.is_own { place.line } else { line };
        }
        runs
    }
}

/// What a line does: its file, line and column, and what kind of step it is.
type SourceStep<'t> = (&'t str, u32, u32, &'t str);

/// Whether a block is what the user marked, and no call of a function.
fn is_mark(block: &Block) -> bool {
    block.kind == BlockKind::Mark
}

/// Where an access is.
struct AccessLine<'a> {
    event: EventId,
    position: Position,
    /// Whether it is in the block itself, and not in one inside.
    is_own: bool,
    file: &'a str,
    line: u32,
    column: u32,
    /// Of one that lies elsewhere, the place in the block's lines that leads to it.
    way: Option<Way<'a>>,
    /// The call that it is in, made by the block, where calls are known.
    through: Option<u32>,
}

impl<'a> AccessLine<'a> {
    fn seen(event: EventId, position: Position, seen: Option<Seen<'a>>) -> AccessLine<'a> {
        let (file, line, column, through) =
            seen.map_or(("", 0, 0, None), |seen| (seen.file, seen.line, seen.column, seen.through));
        AccessLine { event, position, is_own: through.is_none(), file, line, column, way: None, through }
    }

    /// The file and the line in which programmers look for it.
    fn shown(&self) -> (&'a str, u32) {
        self.way.map_or((self.file, self.line), |way| (way.file, way.line))
    }
}

/// The steps of a block.
struct Steps<'a> {
    thread: usize,
    /// The block, where it has a name.
    block: Option<u32>,
    from: Position,
    events: &'a [EventId],
}

impl<'a> Steps<'a> {
    fn of_block(relation: &'a Relation, operations: &Operations, number: u32) -> Steps<'a> {
        let block = operations.block(number);
        let named = operations.is_own(Some(number), block.first).then_some(number);
        Steps::between(relation, named, block.thread.index(), block.first, block.last)
    }

    /// The steps of a block, or of the largest one around a segment where none has a name.
    fn around(relation: &'a Relation, operations: &Operations, block: Option<u32>, segment: &Segment) -> Steps<'a> {
        if let Some(block) = block {
            return Steps::of_block(relation, operations, block);
        }
        let holds = |number: &u32| operations.block(*number).holds(segment.thread, segment.first, segment.last);
        let largest = operations.blocks_of(None).find(holds);
        match largest {
            Some(block) => Steps::of_block(relation, operations, block),
            None => Steps::between(relation, None, segment.thread.index(), segment.first, segment.last),
        }
    }

    fn between(relation: &'a Relation, block: Option<u32>, thread: usize, first: EventId, last: EventId) -> Steps<'a> {
        let steps = &relation.steps[thread];
        let from = steps.partition_point(|step| *step < first);
        let to = steps.partition_point(|step| *step <= last);
        Steps { thread, block, from: from as Position, events: &steps[from..to.max(from)] }
    }

    /// What a call does.
    fn of_call(relation: &'a Relation, span: &CallSpan) -> Steps<'a> {
        Steps::between(relation, None, span.thread.index(), span.first, span.last)
    }

    /// All that a thread does.
    fn of_thread(relation: &'a Relation, thread: usize) -> Steps<'a> {
        Steps { thread, block: None, from: 0, events: &relation.steps[thread] }
    }

    fn ends<'t>(&'t self, trace: &'t Trace) -> impl Iterator<Item = (EventId, Position)> + 't {
        let ends = self.events.iter().enumerate().filter(|(_, event)| may_be_end(&trace.event(**event).op));
        ends.map(|(offset, event)| (*event, self.from + offset as Position))
    }

    /// The places of its accesses as a call sees them, or the whole thread.
    fn places_seen_from<'t>(&'t self, trace: &'t Trace, calls: &'t Calls, call: Option<u32>) -> Vec<AccessLine<'t>> {
        let seen = |(event, position)| AccessLine::seen(event, position, calls.seen_from(trace, call, event));
        self.ends(trace).map(seen).collect()
    }

    /// The places of its accesses for a section: as a call sees them or the whole thread; of a mark, which may be in any function, as
    /// the function sees them that has the lines of the section.
    fn places_of<'t>(
        &'t self,
        trace: &'t Trace,
        calls: &'t Calls,
        section: &Section,
        (is_mark, call): (bool, Option<u32>),
    ) -> Vec<AccessLine<'t>> {
        if !is_mark {
            return self.places_seen_from(trace, calls, call);
        }
        let seen = |(event, position)| {
            let own = calls.seen_from_all(trace, event).find(|seen| section.has_line(seen.file, seen.line));
            AccessLine::seen(event, position, own.or_else(|| calls.seen_from_all(trace, event).next()))
        };
        self.ends(trace).map(seen).collect()
    }

    /// Where the code of a block begins: the call of an operation may have no place, then the first step in the file in which
    /// it returns.
    fn start_of<'t>(&self, trace: &'t Trace, block: &Block) -> Option<(&'t str, u32, u32)> {
        let place = |event| trace.loc(event).and_then(parts_of_loc);
        let first_in =
            |file: &str| self.events.iter().find_map(|step| place(*step).filter(|(other, ..)| *other == file));
        place(block.first).or_else(|| first_in(place(block.last)?.0))
    }

    /// The places of its accesses.
    fn places<'t>(&self, trace: &'t Trace, operations: &Operations) -> impl Iterator<Item = AccessLine<'t>> {
        let mut number = 0;
        let start = self.block.and_then(|block| self.start_of(trace, operations.block(block)));
        // What the compiler put in from other functions has no block; it is in another file, or mostly above.
        let may_be_own = move |file, line| start.is_none_or(|(own, first, _)| own == file && first <= line);
        let has_place = |event: EventId| trace.loc(event).and_then(parts_of_loc).is_some();
        let is_access = |event: EventId| trace.event(event).op.var().is_some();
        let ends = self.events.iter().enumerate().filter(move |(_, event)| {
            may_be_end(&trace.event(**event).op) && (is_access(**event) || has_place(**event))
        });
        ends.map(move |(offset, event)| {
            number += u32::from(is_access(*event));
            let (file, line, column) = trace.loc(*event).and_then(parts_of_loc).unwrap_or(("", number, 0));
            let is_own = operations.is_own(self.block, *event) && may_be_own(file, line);
            let way = if is_own && self.block.is_some() { None } else { operations.way(trace, self.block, *event) };
            let position = self.from + offset as Position;
            AccessLine { event: *event, position, is_own, file, line, column, way, through: None }
        })
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Lines { file, first, last } = self;
        match (file.is_empty(), first == last) {
            (true, true) => write!(f, "access {first}"),
            (true, false) => write!(f, "accesses {first}–{last}"),
            (false, true) => write!(f, "{file}:{first}"),
            (false, false) => write!(f, "{file}:{first}–{last}"),
        }
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, lines) in self.lines.iter().enumerate() {
            write!(f, "{}{lines}", if number == 0 { "" } else { " with " })?;
        }
        if let Some(function) = &self.function {
            write!(f, " in {function}")?;
        }
        if self.turns { write!(f, ", all turns as one") } else { Ok(()) }
    }
}

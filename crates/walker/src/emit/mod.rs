//! From the events of the walk to a trace: variables take the place of cells, transactions are put in, and terms that are
//! large or used again get names.
//!
//! The walk knows neither which transactions will turn out to touch shared memory nor which terms will be
//! used again. So its events and terms are a draft; here they become those of the trace, in place.

mod insert;
mod terms;
mod uses;

use crate::error::WalkError;
use crate::expression::Expressions;
use crate::marks::Mark;
use crate::transactions::Insertions;
use dashu_int::UBig;
use foretrace_trace::{
    Data, Event, EventId, Func, Local, NameId, Op, Sort, TermId, Terms, ThreadId, Trace, TraceAssembler, Value, VarId,
    Why,
};
use insert::Inserted;
use rustc_hash::FxHashMap;
use std::ops::Range;
pub(crate) use uses::Uses;
use uses::{Made, roots};

/// What the draft becomes a trace with.
pub(crate) struct Finishing<'a> {
    pub expressions: Expressions,
    pub uses: Uses,
    /// The trace's header.
    pub assembler: TraceAssembler,
    /// Per cell, the variable of the trace.
    pub variables: &'a [Option<VarId>],
    /// Per cell whose first value is not known what stands for it, and no read may find.
    pub unlike: FxHashMap<u32, u64>,
    pub insertions: Insertions,
    /// Marks that are put in, in order, the last one first.
    pub marks: Vec<Mark>,
    /// Per thread, how many names it has defined.
    pub names: Vec<u64>,
}

/// Makes the trace, which is to be checked.
pub(crate) fn finish(mut events: Vec<Event>, finishing: Finishing<'_>) -> Result<Trace, WalkError> {
    let inserted = Inserted::among(events.len());
    let mut rewrite = Rewrite { finishing, inserted, made: Made::default() };
    let mut at = 0;
    while at < events.len() {
        let size = events[at].part.map_or(1, |(_, n)| n as usize);
        let group = at..(at + size).min(events.len());
        rewrite.group(&mut events, group.clone());
        at = group.end;
    }
    let (mut assembler, mut terms, inserted) = rewrite.done();
    inserted.put(&mut events, &mut terms);
    assembler.take_over(terms, events)?;
    Ok(assembler.finish_unchecked())
}

struct Rewrite<'a> {
    finishing: Finishing<'a>,
    inserted: Inserted,
    made: Made,
}

/// Near which event something is inserted: who does it, and where in the source.
#[derive(Clone, Copy)]
struct Near {
    /// Before which event of the draft it comes.
    before: usize,
    thread: ThreadId,
    loc: Option<NameId>,
}

impl Near {
    fn around(events: &[Event], index: usize, before: usize) -> Near {
        Near { before, thread: events[index].thread, loc: events[index].loc }
    }
}

impl Rewrite<'_> {
    /// What is left of it; the checks need room.
    fn done(self) -> (TraceAssembler, Terms<Local>, Inserted) {
        (self.finishing.assembler, self.finishing.expressions.terms, self.inserted)
    }

    /// One event, or several that are one step.
    fn group(&mut self, events: &mut [Event], group: Range<usize>) {
        while let Some(mark) = self.finishing.marks.pop_if(|mark| mark.before <= group.start) {
            let near = Near { before: group.start, thread: mark.thread, loc: mark.loc };
            self.insert(near, mark.op());
        }
        let first = Near::around(events, group.start, group.start);
        while let Some(title) = self.finishing.insertions.before(group.start) {
            let near = Near { loc: title.loc.or(first.loc), ..first };
            self.insert(near, Op::Begin { label: title.label, kind: title.kind });
        }
        for event in &events[group.clone()] {
            for root in roots(&event.op) {
                self.prepare(root, first);
            }
        }
        for index in group.clone() {
            let cell = events[index].op.var();
            self.rewrite(&mut events[index].op);
            if let Some(known) = cell.and_then(|cell| self.finds_known(cell, index)) {
                let after = Near::around(events, index, group.end);
                self.hold_to_known(&mut events[index].op, known, after);
            }
        }
        while let Some(title) = self.finishing.insertions.after(group.end - 1) {
            let last = Near::around(events, group.end - 1, group.end);
            self.insert(Near { loc: title.called_at.or(last.loc), ..last }, Op::End { label: title.label });
        }
    }

    /// That the event of the draft did not find what stands for an unknown value; nothing where all is known.
    fn finds_known(&mut self, cell: VarId, index: usize) -> Option<TermId> {
        let stands_for = *self.finishing.unlike.get(&cell.0)?;
        if self.finishing.assembler.trace().data == Data::Concrete {
            return None; // there every read that matters finds what it found
        }
        let width = self.width(cell);
        let terms = &mut self.finishing.expressions.terms;
        let found = terms.leaf(Local { definition: EventId::from_index(index), sort: Sort::BitVec(width) });
        let unknown = terms.constant(Value::word(width, UBig::from(stands_for)));
        terms.app(Func::Distinct, &[found, unknown]).ok()
    }

    /// An update that finds an unknown value cannot happen: what it would write is not known. After a read of one nothing is known.
    fn hold_to_known(&mut self, op: &mut Op, known: TermId, after: Near) {
        match op {
            Op::Rmw { guard, .. } => {
                let terms = &mut self.finishing.expressions.terms;
                *guard = guard.map_or(Some(known), |guard| terms.app(Func::And, &[known, guard]).ok());
            }
            Op::Read { .. } => drop(self.insert(after, Op::Assume { expr: known, why: Why::Pin })),
            _ => {}
        }
    }

    fn insert(&mut self, near: Near, op: Op) -> EventId {
        self.inserted
            .push(near.before, Event { thread: near.thread, op, loc: near.loc, at: None, part: None, tried: false })
    }

    fn variable(&self, cell: VarId) -> VarId {
        self.finishing.variables[cell.index()].expect("declared at its first use")
    }

    fn width(&self, cell: VarId) -> u32 {
        match self.finishing.assembler.trace().vars[self.variable(cell).index()].sort {
            Some(Sort::BitVec(width)) => width,
            _ => unreachable!("cells are declared as words"),
        }
    }

    /// An event of the draft becomes one of the trace.
    fn rewrite(&mut self, op: &mut Op) {
        match op {
            Op::Read { var, guard, .. } => {
                *var = self.variable(*var);
                self.replace(guard);
            }
            Op::Write { var, expr, .. } => {
                *var = self.variable(*var);
                self.replace(expr);
            }
            Op::Rmw { var, expr, guard, .. } => {
                *var = self.variable(*var);
                self.replace(expr);
                self.replace(guard);
            }
            Op::Assume { expr, .. } | Op::Let { expr, .. } => *expr = self.term(*expr),
            Op::Wake { by: Some(by), .. } => *by = self.inserted.renumbered(*by),
            Op::Free { vars, .. } => {
                let known = vars.iter().filter_map(|cell| self.finishing.variables[cell.index()]);
                *vars = known.collect();
            }
            _ => {}
        }
        if self.finishing.assembler.trace().data == Data::Concrete {
            only_values(op);
        }
    }

    fn replace(&mut self, term: &mut Option<TermId>) {
        *term = term.map(|term| self.term(term));
    }
}

/// What a trace without expressions has of an event.
fn only_values(op: &mut Op) {
    match op {
        Op::Read { dst, guard, .. } => (*dst, *guard) = (None, None),
        Op::Write { expr, .. } => *expr = None,
        Op::Rmw { dst, expr, guard, .. } => (*dst, *expr, *guard) = (None, None, None),
        _ => {}
    }
}

/// A local name that its thread has not used before.
pub(crate) fn next_name(assembler: &mut TraceAssembler, used: &mut u64, base: &str) -> NameId {
    *used += 1;
    if !base.bytes().any(|byte| matches!(byte, b'|' | b'\\')) {
        return assembler.numbered_name(base, *used);
    }
    let allowed: String = base.chars().filter(|c| !matches!(c, '|' | '\\')).collect();
    assembler.numbered_name(&allowed, *used)
}

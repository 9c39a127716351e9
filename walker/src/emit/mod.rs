//! From the events of the walk to a trace: variables are declared as they come, transactions put in, and terms that are
//! large or used again get names.
//!
//! The walk knows neither which transactions will turn out to touch shared memory nor which terms will be
//! used again. So it makes a draft, whose expressions refer to events of the draft; here all are numbered anew.

mod terms;

use crate::draft::{Draft, DraftEvent, DraftOp};
use crate::error::WalkError;
use crate::expression::Expressions;
use crate::transactions::Insertions;
use dashu_int::UBig;
use foretrace_trace::{
    Data, Event, EventId, Func, Local, NameId, Op, Problem, Sort, TermId, Trace, TraceAssembler, Value, VarId, Why,
};
use rustc_hash::FxHashMap;
use std::ops::Range;
use terms::Terms;

/// What the draft becomes a trace with.
pub(crate) struct Finishing<'a> {
    pub expressions: Expressions,
    /// Per cell, the variable of the trace.
    pub variables: &'a [Option<VarId>],
    /// Per cell whose first value is not known what stands for it, and no read may find.
    pub unlike: FxHashMap<u32, u64>,
    pub insertions: Insertions,
    /// Per thread, how many names it has defined.
    pub names: Vec<u64>,
}

/// Makes the trace, and checks it.
pub(crate) fn finish(draft: Draft, finishing: Finishing<'_>) -> Result<Trace, WalkError> {
    let Draft { assembler, events } = draft;
    let mut rewrite = Rewrite {
        terms: Terms::new(&finishing.expressions, &events),
        contents: vec![None; finishing.variables.len()],
        renumbered: vec![EventId(0); events.len()],
        finishing,
        assembler,
    };
    let mut at = 0;
    while at < events.len() {
        let size = events[at].part.map_or(1, |(_, n)| n as usize);
        let group = at..(at + size).min(events.len());
        rewrite.group(&events, group.clone())?;
        at = group.end;
    }
    let assembler = rewrite.into_assembler();
    drop(events); // what the checks need takes its place
    Ok(assembler.finish_side_by_side()?)
}

struct Rewrite<'a> {
    finishing: Finishing<'a>,
    assembler: TraceAssembler,
    terms: Terms,
    /// Per cell what the last access found or left there, as bits and as a literal.
    contents: Vec<Option<(u64, TermId)>>,
    renumbered: Vec<EventId>,
}

impl Rewrite<'_> {
    fn into_assembler(self) -> TraceAssembler {
        self.assembler
    }

    /// One event, or several that are one step.
    fn group(&mut self, events: &[DraftEvent], group: Range<usize>) -> Result<(), Problem> {
        let first = &events[group.start];
        while let Some(label) = self.finishing.insertions.before(group.start) {
            self.mark(first, Op::Begin { label })?;
        }
        for event in &events[group.clone()] {
            for root in event.op.terms() {
                self.prepare(root, group.start as u32, first)?;
            }
        }
        for index in group.clone() {
            self.renumbered[index] = self.assembler.next_event();
            let event = &events[index];
            let mut op = self.op(&event.op)?;
            if self.has_unknown() {
                op = self.guarded(op, &event.op, index);
            }
            let DraftEvent { thread, loc, at, part, .. } = *event;
            self.assembler.push(Event { thread, op, loc, at, part })?;
        }
        if self.has_unknown() {
            for index in group.clone() {
                self.assume_known(&events[index], index)?;
            }
        }
        while let Some(label) = self.finishing.insertions.after(group.end - 1) {
            self.mark(&events[group.end - 1], Op::End { label })?;
        }
        Ok(())
    }

    /// Whether some cell's first value is not known.
    #[inline]
    fn has_unknown(&self) -> bool {
        !self.finishing.unlike.is_empty()
    }

    /// That the event of the draft did not find what stands for an unknown value; nothing where all is known.
    fn finds_known(&mut self, op: &DraftOp, index: usize) -> Option<TermId> {
        let cell = op.cell()?;
        let stands_for = *self.finishing.unlike.get(&cell)?;
        if self.assembler.trace().data == Data::Concrete {
            return None; // there every read that matters finds what it found
        }
        let width = self.width(cell);
        let definition = self.renumbered[index];
        let terms = self.assembler.terms();
        let found = terms.leaf(Local { definition, sort: Sort::BitVec(width) });
        let unknown = terms.constant(Value::word(width, UBig::from(stands_for)));
        terms.app(Func::Distinct, &[found, unknown]).ok()
    }

    /// An update that finds an unknown value cannot happen: nobody knows what it would write.
    fn guarded(&mut self, op: Op, of_draft: &DraftOp, index: usize) -> Op {
        let Op::Rmw { var, dst, expr, value, stored, guard } = op else { return op };
        let known = self.finds_known(of_draft, index);
        let mut both = |known, guard| self.assembler.terms().app(Func::And, &[known, guard]).ok();
        let guard = match (known, guard) {
            (Some(known), Some(guard)) => both(known, guard),
            (known, guard) => known.or(guard),
        };
        Op::Rmw { var, dst, expr, value, stored, guard }
    }

    /// After a read of an unknown value nothing is known.
    fn assume_known(&mut self, event: &DraftEvent, index: usize) -> Result<(), Problem> {
        if let (DraftOp::Read { .. }, Some(expr)) = (&event.op, self.finds_known(&event.op, index)) {
            self.mark(event, Op::Assume { expr, why: Why::Pin })?;
        }
        Ok(())
    }

    fn mark(&mut self, near: &DraftEvent, op: Op) -> Result<EventId, Problem> {
        self.assembler.push(Event { thread: near.thread, op, loc: near.loc, at: None, part: None })
    }

    fn variable(&self, cell: u32) -> VarId {
        self.finishing.variables[cell as usize].expect("declared at its first use")
    }

    fn width(&self, cell: u32) -> u32 {
        match self.assembler.trace().vars[self.variable(cell).index()].sort {
            Some(Sort::BitVec(width)) => width,
            _ => unreachable!("cells are declared as words"),
        }
    }

    /// What a cell holds, as a literal.
    fn literal(&mut self, cell: u32, bits: u64) -> TermId {
        match self.contents[cell as usize] {
            Some((same, literal)) if same == bits => literal,
            _ => {
                let value = Value::word(self.width(cell), UBig::from(bits));
                let literal = self.assembler.literal(value);
                self.contents[cell as usize] = Some((bits, literal));
                literal
            }
        }
    }

    fn op(&mut self, op: &DraftOp) -> Result<Op, Problem> {
        let op = self.symbolic_op(op)?;
        Ok(if self.assembler.trace().data == Data::Concrete { only_values(op) } else { op })
    }

    fn symbolic_op(&mut self, op: &DraftOp) -> Result<Op, Problem> {
        Ok(match *op {
            DraftOp::Read { cell, dst, bits } => {
                let value = Some(self.literal(cell, bits));
                Op::Read { var: self.variable(cell), dst: Some(dst), value, guard: None }
            }
            DraftOp::Write { cell, expr, bits, external } => {
                let expr = self.optional(expr)?;
                let value = self.literal(cell, bits);
                let expr = Some(expr.unwrap_or(value));
                Op::Write { var: self.variable(cell), expr, value: Some(value), guard: None, external }
            }
            DraftOp::Rmw { cell, dst, expr, found, stored, guard } => {
                let (expr, guard) = (self.optional(expr)?, self.optional(guard)?);
                let value = Some(self.literal(cell, found));
                let stored = self.literal(cell, stored);
                let expr = Some(expr.unwrap_or(stored));
                Op::Rmw { var: self.variable(cell), dst: Some(dst), expr, value, stored: Some(stored), guard }
            }
            DraftOp::Other(ref op) => self.other(op)?,
        })
    }

    /// What is no access.
    fn other(&mut self, op: &Op) -> Result<Op, Problem> {
        Ok(match op {
            Op::Assume { expr, why } => Op::Assume { expr: self.term(*expr)?, why: *why },
            Op::Wake { cond, lock, cause, by } => {
                let by = by.map(|by| self.renumbered[by.index()]);
                Op::Wake { cond: *cond, lock: *lock, cause: *cause, by }
            }
            Op::Free { vars } => {
                let known = vars.iter().filter_map(|cell| self.finishing.variables[cell.index()]);
                Op::Free { vars: known.collect() }
            }
            other => other.clone(),
        })
    }
}

/// What a trace without expressions has of an event.
fn only_values(op: Op) -> Op {
    match op {
        Op::Read { var, value, .. } => Op::Read { var, dst: None, value, guard: None },
        Op::Write { var, value, external, .. } => Op::Write { var, expr: None, value, guard: None, external },
        Op::Rmw { var, value, stored, .. } => Op::Rmw { var, dst: None, expr: None, value, stored, guard: None },
        other => other,
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

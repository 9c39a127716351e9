//! From the events of the walk to a trace: variables are declared as they come, transactions put in, and terms that are
//! large or used again get names.
//!
//! The walk knows neither which transactions will turn out to touch shared memory nor which terms will be
//! used again. So it makes a draft, whose expressions refer to events of the draft; here all are numbered anew.

use crate::error::WalkError;
use crate::expression::Expressions;
use crate::transactions::Insertions;
use dashu_int::UBig;
use foretrace_trace::{
    Data, Event, EventId, Func, Local, NameId, Node, Op, Problem, Sort, TermId, ThreadId, Trace, TraceAssembler, Value,
    VarId, Why,
};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The events of the walk so far, and the trace's header in the making.
pub(crate) struct Draft {
    pub assembler: TraceAssembler,
    pub events: Vec<Event>,
}

impl Draft {
    /// The index of the next event.
    pub fn next(&self) -> EventId {
        EventId::from_index(self.events.len())
    }

    /// Adds an event.
    pub fn push(&mut self, event: Event) -> EventId {
        let id = self.next();
        self.events.push(event);
        id
    }
}

/// What the draft becomes a trace with.
pub(crate) struct Finishing<'a> {
    pub expressions: &'a Expressions,
    /// Per cell, the variable of the trace.
    pub variables: &'a [Option<VarId>],
    /// Per cell whose first value is not known what stands for it, and no read may find.
    pub unlike: FxHashMap<u32, u64>,
    pub insertions: Insertions,
    /// Per thread, how many names it has defined.
    pub names: Vec<u64>,
}

/// Terms that are a tree of more nodes than this are cut up.
const LARGE: u32 = 40;
/// Terms of fewer nodes than this are written out each time that they are used.
const SMALL: u32 = 5;

/// Makes the trace, and checks it.
pub(crate) fn finish(draft: Draft, finishing: Finishing<'_>) -> Result<Trace, WalkError> {
    let Draft { assembler, events } = draft;
    let uses = Uses::count(finishing.expressions, &events);
    let terms = finishing.expressions.terms.len();
    let mut rewrite = Rewrite {
        finishing,
        assembler,
        uses,
        done: vec![None; terms],
        sizes: vec![0; terms],
        latest: vec![0; terms],
        renumbered: vec![EventId(0); events.len()],
    };
    let mut at = 0;
    while at < events.len() {
        let size = events[at].part.map_or(1, |(_, n)| n as usize);
        let group = at..(at + size).min(events.len());
        rewrite.group(&events, group.clone())?;
        at = group.end;
    }
    Ok(rewrite.assembler.finish()?)
}

/// How often each term of the draft is used.
struct Uses {
    /// As argument of another one.
    inner: Vec<u32>,
    /// By an event, or as argument.
    all: Vec<u32>,
}

impl Uses {
    fn count(expressions: &Expressions, events: &[Event]) -> Uses {
        let none = vec![0; expressions.terms.len()];
        let mut uses = Uses { inner: none.clone(), all: none };
        let mut open = Vec::new();
        for root in events.iter().flat_map(|event| roots(&event.op)) {
            open.push(root);
            while let Some(term) = open.pop() {
                uses.all[term.index()] += 1;
                if uses.all[term.index()] > 1 {
                    continue;
                }
                for arg in expressions.terms.args(term) {
                    uses.inner[arg.index()] += 1;
                    open.push(*arg);
                }
            }
        }
        uses
    }
}

/// The terms of an event, values among them.
fn roots(op: &Op) -> impl Iterator<Item = TermId> + use<> {
    let values = match op {
        Op::Read { value, .. } | Op::Write { value, .. } => [*value, None],
        Op::Rmw { value, stored, .. } => [*value, *stored],
        _ => [None, None],
    };
    op.condition().into_iter().chain(op.computed()).chain(values.into_iter().flatten())
}

struct Rewrite<'a> {
    finishing: Finishing<'a>,
    assembler: TraceAssembler,
    uses: Uses,
    /// Per term of the draft, what it is in the trace.
    done: Vec<Option<TermId>>,
    /// Its size as a tree there.
    sizes: Vec<u32>,
    /// One more than the last event of the draft whose name it mentions, 0 if it mentions none.
    latest: Vec<u32>,
    renumbered: Vec<EventId>,
}

impl Rewrite<'_> {
    /// One event, or several that are one step.
    fn group(&mut self, events: &[Event], group: Range<usize>) -> Result<(), Problem> {
        let first = &events[group.start];
        for label in self.finishing.insertions.before(group.start) {
            self.mark(first, Op::Begin { label })?;
        }
        for event in &events[group.clone()] {
            for root in roots(&event.op) {
                self.prepare(root, group.start as u32, first)?;
            }
        }
        for index in group.clone() {
            self.renumbered[index] = self.assembler.next_event();
            let event = &events[index];
            let op = self.op(&event.op)?;
            let op = self.guarded(op, &event.op, index);
            self.assembler.push(Event { op, ..event.clone() })?;
        }
        for index in group.clone() {
            self.assume_known(&events[index], index)?;
        }
        for label in self.finishing.insertions.after(group.end - 1) {
            self.mark(&events[group.end - 1], Op::End { label })?;
        }
        Ok(())
    }

    /// That the event of the draft did not find what stands for an unknown value; nothing where all is known.
    fn finds_known(&mut self, op: &Op, index: usize) -> Option<TermId> {
        let cell = op.var()?;
        let stands_for = *self.finishing.unlike.get(&cell.0)?;
        if self.assembler.trace().data == Data::Concrete {
            return None; // there every read that matters finds what it found
        }
        let Sort::BitVec(width) = self.assembler.trace().vars[self.variable(cell).index()].sort? else { return None };
        let definition = self.renumbered[index];
        let terms = self.assembler.terms();
        let found = terms.leaf(Local { definition, sort: Sort::BitVec(width) });
        let unknown = terms.constant(Value::word(width, UBig::from(stands_for)));
        terms.app(Func::Distinct, &[found, unknown]).ok()
    }

    /// An update that finds an unknown value cannot happen: nobody knows what it would write.
    fn guarded(&mut self, op: Op, of_draft: &Op, index: usize) -> Op {
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
    fn assume_known(&mut self, event: &Event, index: usize) -> Result<(), Problem> {
        if let (Op::Read { .. }, Some(expr)) = (&event.op, self.finds_known(&event.op, index)) {
            self.mark(event, Op::Assume { expr, why: Why::Pin })?;
        }
        Ok(())
    }

    fn mark(&mut self, near: &Event, op: Op) -> Result<EventId, Problem> {
        self.assembler.push(Event { thread: near.thread, op, loc: near.loc, at: None, part: None })
    }

    /// Makes all parts of a term that can be made before the step that starts with event `first` of the draft.
    fn prepare(&mut self, root: TermId, first: u32, event: &Event) -> Result<(), Problem> {
        for term in self.not_done(root) {
            if self.mentions(term) <= first {
                self.make(term, Some(event))?;
            }
        }
        Ok(())
    }

    /// The term in the trace; the names that it mentions are defined.
    fn term(&mut self, root: TermId) -> Result<TermId, Problem> {
        for term in self.not_done(root) {
            self.make(term, None)?;
        }
        Ok(self.done[root.index()].unwrap_or(root))
    }

    /// The parts of a term that are not in the trace yet, arguments first.
    fn not_done(&self, root: TermId) -> Vec<TermId> {
        if self.done[root.index()].is_some() {
            return Vec::new();
        }
        let (mut found, mut next) = (vec![root], 0);
        let mut seen = rustc_hash::FxHashSet::default();
        while next < found.len() {
            for arg in self.finishing.expressions.terms.args(found[next]) {
                if self.done[arg.index()].is_none() && seen.insert(*arg) {
                    found.push(*arg);
                }
            }
            next += 1;
        }
        found.sort_unstable(); // arguments have lower positions
        found
    }

    fn mentions(&mut self, term: TermId) -> u32 {
        if self.latest[term.index()] == 0 {
            let terms = &self.finishing.expressions.terms;
            self.latest[term.index()] = match terms.node(term) {
                Node::Const(_) => 0,
                Node::Leaf(local) => local.definition.0 + 1,
                Node::App(_, args) => args.iter().map(|arg| self.latest[arg.index()]).max().unwrap_or(0),
            };
        }
        self.latest[term.index()]
    }

    /// Makes a term whose arguments are made; where an event is given, a name for it may be defined before that.
    fn make(&mut self, term: TermId, before: Option<&Event>) -> Result<(), Problem> {
        let expressions = self.finishing.expressions;
        let mut size = 1u32;
        let made = match expressions.terms.node(term) {
            Node::Const(value) => self.assembler.terms().constant(value.clone()),
            Node::Leaf(local) => {
                let definition = self.renumbered[local.definition.index()];
                self.assembler.terms().leaf(Local { definition, sort: local.sort })
            }
            Node::App(func, args) => {
                size = args.iter().fold(1, |size, arg| size.saturating_add(self.sizes[arg.index()]));
                let args: Vec<TermId> = args.iter().filter_map(|arg| self.done[arg.index()]).collect();
                self.assembler.terms().app(*func, &args).expect("as sorted as in the draft")
            }
        };
        self.done[term.index()] = Some(made);
        self.sizes[term.index()] = size;
        match before {
            Some(event) if self.deserves_a_name(term, size) => self.name(term, made, event),
            _ => Ok(()),
        }
    }

    fn deserves_a_name(&mut self, term: TermId, size: u32) -> bool {
        let (inner, all) = (self.uses.inner[term.index()], self.uses.all[term.index()]);
        self.mentions(term) > 0 && inner > 0 && (size > LARGE || all > 1 && size >= SMALL)
    }

    fn name(&mut self, term: TermId, made: TermId, event: &Event) -> Result<(), Problem> {
        let ThreadId(thread) = event.thread;
        let dst = next_name(&mut self.assembler, &mut self.finishing.names[thread as usize], "e");
        let sort = self.assembler.terms().sort(made);
        let definition = self.mark(event, Op::Let { dst, expr: made })?;
        let name = self.assembler.terms().leaf(Local { definition, sort });
        self.done[term.index()] = Some(name);
        self.sizes[term.index()] = 1;
        Ok(())
    }

    fn optional(&mut self, term: Option<TermId>) -> Result<Option<TermId>, Problem> {
        term.map(|term| self.term(term)).transpose()
    }

    fn variable(&self, cell: VarId) -> VarId {
        self.finishing.variables[cell.index()].expect("declared at its first use")
    }

    fn op(&mut self, op: &Op) -> Result<Op, Problem> {
        let op = self.symbolic_op(op)?;
        Ok(if self.assembler.trace().data == Data::Concrete { only_values(op) } else { op })
    }

    fn symbolic_op(&mut self, op: &Op) -> Result<Op, Problem> {
        Ok(match op {
            Op::Read { var, dst, value, guard } => Op::Read {
                var: self.variable(*var),
                dst: *dst,
                value: self.optional(*value)?,
                guard: self.optional(*guard)?,
            },
            Op::Write { var, expr, value, guard, external } => Op::Write {
                var: self.variable(*var),
                expr: self.optional(*expr)?,
                value: self.optional(*value)?,
                guard: self.optional(*guard)?,
                external: *external,
            },
            Op::Rmw { var, dst, expr, value, stored, guard } => Op::Rmw {
                var: self.variable(*var),
                dst: *dst,
                expr: self.optional(*expr)?,
                value: self.optional(*value)?,
                stored: self.optional(*stored)?,
                guard: self.optional(*guard)?,
            },
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
    let base: String = base.chars().filter(|c| !matches!(c, '|' | '\\')).collect();
    assembler.name(&format!("{base}.{used}"))
}

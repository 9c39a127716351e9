//! How the analysis models treat data: each has one small set of rules, chosen once.
//!
//! Synchronisation is the same in every model; they differ in what a variable holds and what a read must find.

use crate::blocked::Blocked;
use crate::locals::Slots;
use crate::observed::Observed;
use crate::op::Op;
use crate::state::{Cell, Effect, State};
use crate::term::TermId;
use crate::trace::{EventId, Local, Trace, VarId};
use crate::value::Value;
use std::sync::Arc;

/// What an execution does with variables and conditions.
pub(crate) trait DataRules: Send + Sync {
    /// What a variable holds before the first event.
    fn initial(&self, var: VarId) -> Cell;

    /// What the event does to data in this state, or why it cannot happen.
    fn effect(&self, state: &State, event: EventId) -> Result<Effect, Blocked>;

    /// The value that a variable with this content has, where that is known.
    fn value<'a>(&'a self, var: VarId, cell: &'a Cell) -> Option<&'a Value>;

    /// The value of a local name for this event, for messages.
    fn local(&self, _: &State, _: EventId, _: &Local) -> Option<Value> {
        None
    }
}

/// Nothing is known of data, reads return anything: `cam`.
pub(crate) struct Ignored;

impl DataRules for Ignored {
    fn initial(&self, _: VarId) -> Cell {
        Cell::Anything
    }

    fn effect(&self, _: &State, _: EventId) -> Result<Effect, Blocked> {
        Ok(Effect::default())
    }

    fn value<'a>(&'a self, _: VarId, _: &'a Cell) -> Option<&'a Value> {
        None
    }
}

/// The largest integer that is computed with, in bits: what a million digits take, and some. A few events can ask for
/// more than all memory holds.
pub(crate) const MOST_BITS: usize = 1 << 22;

/// Expressions are executed, conditions must hold: `ctp`. Where a write has no expression it writes the value
/// that was recorded.
pub(crate) struct Executed<'t> {
    pub trace: &'t Trace,
    pub slots: Arc<Slots>,
}

impl Executed<'_> {
    /// A term's value at this event; readers of traces see to it that all names in it are defined.
    fn evaluate(&self, state: &State, event: EventId, term: TermId) -> Result<Value, Blocked> {
        let mut value = |local: &Local| self.local(state, event, local).unwrap_or_else(|| Value::zero(local.sort));
        self.trace.terms.evaluate_within(MOST_BITS, term, &mut value).ok_or(Blocked::TooLarge)
    }

    /// What the event's variable holds.
    fn content<'a>(&self, state: &'a State, event: EventId) -> Option<&'a Cell> {
        self.trace.event(event).op.var().map(|var| &state.memory[var.index()])
    }

    fn written(&self, state: &State, event: EventId) -> Result<Cell, Blocked> {
        Ok(match &self.trace.event(event).op {
            Op::Write { expr: Some(term), .. } | Op::Rmw { expr: Some(term), .. } => {
                Cell::Value(self.evaluate(state, event, *term)?)
            }
            Op::Write { value: Some(recorded), .. } | Op::Rmw { stored: Some(recorded), .. } => {
                Cell::Value(self.trace.value(*recorded).clone())
            }
            _ => Cell::Anything,
        })
    }

    /// The value of the name that the event defines.
    fn defined(&self, state: &State, event: EventId) -> Result<Option<Value>, Blocked> {
        Ok(match &self.trace.event(event).op {
            Op::Let { expr, .. } => Some(self.evaluate(state, event, *expr)?),
            op if op.reads() => self.content(state, event).and_then(Cell::as_value).cloned(),
            _ => None,
        })
    }
}

impl DataRules for Executed<'_> {
    fn initial(&self, var: VarId) -> Cell {
        self.trace.vars[var.index()].init.clone().map_or(Cell::Anything, Cell::Value)
    }

    fn effect(&self, state: &State, event: EventId) -> Result<Effect, Blocked> {
        if let Some(condition) = self.trace.event(event).op.condition()
            && !self.evaluate(state, event, condition)?.is_true()
        {
            return Err(Blocked::False { condition });
        }
        Ok(Effect {
            before: self.content(state, event).cloned().unwrap_or_default(),
            after: self.written(state, event)?,
            defined: self.slots.slot_of(event).map_or(Ok(None), |_| self.defined(state, event))?,
            stops: false,
        })
    }

    fn value<'a>(&'a self, _: VarId, cell: &'a Cell) -> Option<&'a Value> {
        cell.as_value()
    }

    /// What an earlier event defined, or what this one reads.
    fn local(&self, state: &State, event: EventId, local: &Local) -> Option<Value> {
        if local.definition == event {
            return self.content(state, event)?.as_value().cloned();
        }
        state.locals[self.slots.slot_of(local.definition)?].clone()
    }
}

/// Reads return what they returned in the recorded order, writes write what they wrote there: `mcm` and `avp`.
/// Only a plain read may return something else; its thread stops there.
pub(crate) struct Repeated<'t> {
    pub trace: &'t Trace,
    pub observed: &'t Observed,
    /// What a variable is taken to hold after this write, or at first.
    pub content: fn(&Trace, &Observed, VarId, Option<EventId>) -> Cell,
}

/// The value of a variable after this write in the recorded order, or at first.
pub(crate) fn value_after<'a>(
    trace: &'a Trace,
    observed: &'a Observed,
    var: VarId,
    write: Option<EventId>,
) -> Option<&'a Value> {
    match write {
        Some(write) => observed.written(write),
        None => trace.vars[var.index()].init.as_ref(),
    }
}

impl<'t> Repeated<'t> {
    /// Reads must return the recorded value.
    pub fn same_value(trace: &'t Trace, observed: &'t Observed) -> Repeated<'t> {
        let content = |trace: &Trace, observed: &Observed, var, write| {
            value_after(trace, observed, var, write).cloned().map_or(Cell::Anything, Cell::Value)
        };
        Repeated { trace, observed, content }
    }

    /// Reads must return the value of the same write.
    pub fn same_write(trace: &'t Trace, observed: &'t Observed) -> Repeated<'t> {
        Repeated { trace, observed, content: |_, _, _, write| Cell::Write(write) }
    }
}

impl DataRules for Repeated<'_> {
    fn initial(&self, var: VarId) -> Cell {
        (self.content)(self.trace, self.observed, var, None)
    }

    fn effect(&self, state: &State, event: EventId) -> Result<Effect, Blocked> {
        let op = &self.trace.event(event).op;
        let Some(var) = op.var() else { return Ok(Effect::default()) };
        let before = state.memory[var.index()].clone();
        let as_recorded =
            !op.reads() || before == (self.content)(self.trace, self.observed, var, self.observed.source(event));
        let plain_read = matches!(op, Op::Read { guard: None, .. });
        if !as_recorded && !plain_read {
            return Err(Blocked::ReadsOther { var });
        }
        let after =
            if op.writes() { (self.content)(self.trace, self.observed, var, Some(event)) } else { Cell::Anything };
        Ok(Effect { before, after, defined: None, stops: !as_recorded })
    }

    fn value<'a>(&'a self, var: VarId, cell: &'a Cell) -> Option<&'a Value> {
        match cell {
            Cell::Write(write) => value_after(self.trace, self.observed, var, *write),
            other => other.as_value(),
        }
    }
}

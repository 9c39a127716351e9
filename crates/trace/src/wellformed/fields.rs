//! What each event may say of values by the trace's data, of which sorts, and on objects of which kinds.

use super::naming::{a_kind, sync};
use crate::error::{Problem, quoted};
use crate::op::Op;
use crate::term::TermId;
use crate::trace::{Data, Event, SyncId, SyncKind, Trace, VarId};
use crate::value::Sort;

pub(super) fn check(trace: &Trace, event: &Event) -> Result<(), Problem> {
    check_presence(trace, event)?;
    check_sorts(trace, event)?;
    check_kinds(trace, event)
}

/// A field that a trace without data cannot have.
pub(crate) fn values_in_trace_without_data(field: &str) -> Problem {
    Problem::new(format!("`{field}`"), "neither values nor expressions (`data` is none)")
}

fn check_presence(trace: &Trace, event: &Event) -> Result<(), Problem> {
    match trace.data {
        Data::None => no_values(event),
        Data::Concrete => only_values(event),
        Data::Symbolic => expressions(event),
    }
}

fn no_values(event: &Event) -> Result<(), Problem> {
    let present = |field: &'static str, term: Option<TermId>| term.map(|_| field);
    let field = match &event.op {
        Op::Read { value, guard, .. } => present("value", *value).or(present("guard", *guard)),
        Op::Write { expr, value, guard, .. } => {
            present("expr", *expr).or(present("value", *value)).or(present("guard", *guard))
        }
        Op::Rmw { expr, value, stored, guard, .. } => present("expr", *expr)
            .or(present("value", *value))
            .or(present("stored", *stored))
            .or(present("guard", *guard)),
        Op::Let { .. } | Op::Assume { .. } => Some("expr"),
        _ => None,
    };
    field.map_or(Ok(()), |field| Err(values_in_trace_without_data(field)))
}

fn only_values(event: &Event) -> Result<(), Problem> {
    let missing = match &event.op {
        Op::Let { .. } | Op::Assume { .. } => {
            return Err(Problem::new(a_kind(event), "no expressions (`data` is concrete)"));
        }
        Op::Write { expr: Some(_), .. } | Op::Rmw { expr: Some(_), .. } => {
            return Err(Problem::new("`expr`", "no expressions (`data` is concrete)"));
        }
        Op::Read { value, .. } | Op::Write { value, .. } => value.is_none().then_some("value"),
        Op::Rmw { value: None, .. } => Some("value"),
        Op::Rmw { stored, .. } => stored.is_none().then_some("stored"),
        _ => None,
    };
    missing.map_or(Ok(()), |field| {
        let found = format!("{} without `{field}`", a_kind(event));
        Err(Problem::new(found, format!("`{field}` (`data` is concrete)")))
    })
}

fn expressions(event: &Event) -> Result<(), Problem> {
    match &event.op {
        Op::Write { expr: None, .. } => {
            Err(Problem::new("a `write` without `expr` and `value`", "`expr` (`data` is symbolic)"))
        }
        Op::Rmw { expr: None, .. } => {
            Err(Problem::new("an `rmw` without `expr` and `stored`", "`expr` (`data` is symbolic)"))
        }
        _ => Ok(()),
    }
}

fn check_sorts(trace: &Trace, event: &Event) -> Result<(), Problem> {
    match &event.op {
        Op::Read { var, value, guard, .. } => {
            literal(trace, "value", *value, *var)?;
            condition(trace, "guard", *guard)
        }
        Op::Write { var, expr, value, guard, .. } => {
            of_var(trace, "expr", *expr, *var)?;
            literal(trace, "value", *value, *var)?;
            condition(trace, "guard", *guard)
        }
        Op::Rmw { var, expr, value, stored, guard, .. } => {
            of_var(trace, "expr", *expr, *var)?;
            literal(trace, "value", *value, *var)?;
            literal(trace, "stored", *stored, *var)?;
            condition(trace, "guard", *guard)
        }
        Op::Assume { expr, .. } => condition(trace, "expr", Some(*expr)),
        _ => Ok(()),
    }
}

fn condition(trace: &Trace, field: &str, term: Option<TermId>) -> Result<(), Problem> {
    match term.map(|term| trace.terms.sort(term)) {
        None | Some(Sort::Bool) => Ok(()),
        Some(sort) => Err(Problem::new(format!("`{field}` of sort {sort}"), "sort Bool")),
    }
}

fn of_var(trace: &Trace, field: &str, term: Option<TermId>, var: VarId) -> Result<(), Problem> {
    let (Some(term), Some(wanted)) = (term, trace.vars[var.index()].sort) else { return Ok(()) };
    let sort = trace.terms.sort(term);
    if sort == wanted {
        return Ok(());
    }
    let expected = format!("sort {wanted} of variable {}", quoted(&trace.vars[var.index()].key));
    Err(Problem::new(format!("`{field}` of sort {sort}"), expected))
}

fn literal(trace: &Trace, field: &str, term: Option<TermId>, var: VarId) -> Result<(), Problem> {
    if term.is_some_and(|term| trace.terms.as_const(term).is_none()) {
        return Err(Problem::new(format!("an expression as `{field}`"), "a value"));
    }
    of_var(trace, field, term, var)
}

pub(super) fn check_kinds(trace: &Trace, event: &Event) -> Result<(), Problem> {
    let is = |id: SyncId, fits: fn(SyncKind) -> bool, expected: &str| {
        let kind = trace.syncs[id.index()].kind;
        if fits(kind) {
            return Ok(());
        }
        let found = format!("{} on {} {}", a_kind(event), kind.name(), sync(trace, id));
        Err(Problem::new(found, expected))
    };
    let is_lock = |id| is(id, |kind| matches!(kind, SyncKind::Mutex { .. } | SyncKind::Rwlock), "a mutex or rwlock");
    let is_condvar = |id| is(id, |kind| kind == SyncKind::Condvar, "a condvar");
    match event.op {
        Op::Acquire { lock } | Op::Release { lock } | Op::Busy { lock } => is_lock(lock),
        Op::AcquireShared { lock } | Op::ReleaseShared { lock } => {
            is(lock, |kind| kind == SyncKind::Rwlock, "a rwlock")
        }
        Op::Wait { cond, lock } | Op::Wake { cond, lock, .. } => is_condvar(cond).and_then(|()| is_lock(lock)),
        Op::Signal { cond } | Op::Broadcast { cond } => is_condvar(cond),
        Op::Post { sem } | Op::Down { sem } => {
            is(sem, |kind| matches!(kind, SyncKind::Semaphore { .. }), "a semaphore")
        }
        Op::OnceBegin { once } | Op::OnceEnd { once } | Op::OncePass { once } | Op::OnceFail { once } => {
            is(once, |kind| kind == SyncKind::Once, "a once")
        }
        Op::Arrive { barrier, .. } | Op::Depart { barrier, .. } => {
            is(barrier, |kind| matches!(kind, SyncKind::Barrier { .. }), "a barrier")
        }
        Op::Fork { .. } | Op::Join { .. } => Ok(()),
        Op::Begin { .. }
        | Op::End { .. }
        | Op::Read { .. }
        | Op::Write { .. }
        | Op::Rmw { .. }
        | Op::Let { .. }
        | Op::Assume { .. } => Ok(()),
        Op::Call { .. } | Op::Return { .. } | Op::Free { .. } | Op::Unseen { .. } | Op::Fail { .. } => Ok(()),
    }
}

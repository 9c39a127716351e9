//! Runs programs and shows what happened, one line per event.

use foretrace::litmus::{Options, Outcome, Program, Run, parse, run};
use foretrace_trace::{Event, Format, Op, TermId, Trace, Why, file, smtlib, validate};

/// The program, which must have no mistakes.
pub fn program(source: &str) -> Program {
    parse(source).unwrap_or_else(|errors| panic!("{}", errors.render("test.lit", source, false)))
}

/// A serial run.
pub fn serial(source: &str) -> Run {
    accepted(run(&program(source), &Options::serial()))
}

/// The run, whose trace must obey every rule of the format, and come back from JSON Lines as it is.
pub fn accepted(run: Run) -> Run {
    validate(&run.trace).unwrap_or_else(|invalid| panic!("{invalid}\n{}", shown(&run.trace).join("\n")));
    let mut written = Vec::new();
    file::write_to(&mut written, &run.trace, Format::JSONL).expect("memory takes everything");
    let read = file::read_from(&*written, "run").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(shown(&read), shown(&run.trace));
    run
}

/// Checks the events of a serial run, and that it finishes.
#[track_caller]
pub fn check(source: &str, expected: &[&str]) {
    let run = serial(source);
    assert_eq!(shown(&run.trace), expected);
    assert_eq!(run.outcome, Outcome::Finished);
}

/// The events of a run, one per line.
pub fn shown(trace: &Trace) -> Vec<String> {
    trace.events.iter().map(|event| show(trace, event)).collect()
}

fn show(trace: &Trace, event: &Event) -> String {
    let thread = &trace.threads[event.thread.index()];
    format!("{}: {}", thread.name.as_deref().unwrap_or("?"), show_op(trace, &event.op))
}

/// A term, with the names that events gave to what it mentions.
pub fn term(trace: &Trace, term: TermId) -> String {
    let mut text = String::new();
    let name = |leaf: &foretrace_trace::Local| {
        let dst = trace.event(leaf.definition).op.dst().expect("what a term mentions was defined");
        trace.names.text(dst)
    };
    smtlib::print(&mut text, &trace.terms, term, &name);
    text
}

fn show_op(trace: &Trace, op: &Op) -> String {
    let kind = op.kind();
    let var = |var: foretrace_trace::VarId| &*trace.vars[var.index()].key;
    let sync = |sync: foretrace_trace::SyncId| &*trace.syncs[sync.index()].key;
    let thread = |thread: foretrace_trace::ThreadId| trace.threads[thread.index()].name.as_deref().unwrap_or("?");
    let name = |name: Option<foretrace_trace::NameId>| name.map_or("", |name| trace.names.text(name));
    let value = |value: &Option<TermId>| value.map_or("?".to_string(), |value| trace.value(value).to_string());
    let guarded = |guard: &Option<TermId>| guard.map_or(String::new(), |guard| format!(" if {}", term(trace, guard)));
    match op {
        Op::Begin { label, .. } | Op::End { label } => format!("{kind} {}", name(*label)).trim().to_string(),
        Op::Read { var: x, dst, value: v, guard } => {
            format!("read {} into {}: {}{}", var(*x), name(*dst), value(v), guarded(guard))
        }
        Op::Write { var: x, expr, value: v, guard, .. } => {
            let expr = expr.map_or("?".to_string(), |expr| term(trace, expr));
            format!("write {expr} to {}: {}{}", var(*x), value(v), guarded(guard))
        }
        Op::Rmw { var: x, dst, expr, value: v, stored, guard, .. } => {
            let expr = expr.map_or("?".to_string(), |expr| term(trace, expr));
            let (old, new) = (value(v), value(stored));
            format!("rmw {} into {}, {expr}: {old} to {new}{}", var(*x), name(*dst), guarded(guard))
        }
        Op::Let { dst, expr } => format!("let {} = {}", name(Some(*dst)), term(trace, *expr)),
        Op::Assume { expr, why: Why::Branch } => format!("assume {}", term(trace, *expr)),
        Op::Assume { expr, why: Why::Pin } => format!("pin {}", term(trace, *expr)),
        Op::Acquire { lock } | Op::Release { lock } | Op::AcquireShared { lock } | Op::ReleaseShared { lock } => {
            format!("{kind} {}", sync(*lock))
        }
        Op::Busy { lock } => format!("busy {}", sync(*lock)),
        Op::Wait { cond, lock } => format!("wait {} {}", sync(*cond), sync(*lock)),
        Op::Wake { cond, lock, cause, by } => {
            let why = match (cause, by) {
                (Some(cause), _) => format!("{cause:?}"),
                (None, Some(by)) => format!("by {by}"),
                (None, None) => "unknown".to_string(),
            };
            format!("wake {} {}, {why}", sync(*cond), sync(*lock))
        }
        Op::Signal { cond: object }
        | Op::Broadcast { cond: object }
        | Op::Post { sem: object }
        | Op::Down { sem: object } => {
            format!("{kind} {}", sync(*object))
        }
        Op::OnceBegin { once } | Op::OnceEnd { once } | Op::OncePass { once } | Op::OnceFail { once } => {
            format!("{kind} {}", sync(*once))
        }
        Op::Arrive { barrier, round } | Op::Depart { barrier, round } => format!("{kind} {} {round}", sync(*barrier)),
        Op::Fork { child } | Op::Join { child } => format!("{kind} {}", thread(*child)),
        Op::Free { vars, .. } => format!("free {}", vars.iter().map(|x| var(*x)).collect::<Vec<_>>().join(" ")),
        Op::Fail { reason } => format!("fail {}", name(*reason)),
        Op::Call { method, args, .. } => format!("{kind} {} {}", name(Some(*method)), name(*args)).trim().to_string(),
        Op::Return { method, value, .. } => {
            format!("{kind} {} {}", name(Some(*method)), name(*value)).trim().to_string()
        }
        Op::Unseen { .. } => unreachable!("litmus programs make no {kind}"),
    }
}

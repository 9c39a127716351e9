//! A witness as a table: a column per thread, the triple marked, stretches that do not matter folded.

use foretrace_checker::{Step, Witness};
use foretrace_trace::{EventId, Op, ThreadId, Trace, Triple, Value, VarId};
use std::fmt::Write;

/// Cells are cut at this many characters.
const WIDEST_CELL: usize = 44;

/// More steps than this between first and second: then synchronisation is folded, too.
const MANY_STEPS: usize = 60;

/// The three events that a witness is about, as styled by whoever prints.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// No part of the triple.
    None,
    /// Part of it, under this name.
    Triple(&'static str),
}

/// A line of the table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// Whether it is one of the triple.
    pub mark: Mark,
    /// The line's text.
    pub text: String,
}

/// The table's lines, its head first.
pub fn rows(trace: &Trace, witness: &Witness) -> Vec<Row> {
    rows_of(trace, witness.triple(), &witness.run().steps)
}

/// The same for steps that show a triple or a part of it.
pub fn rows_of(trace: &Trace, triple: Triple, steps: &[Step]) -> Vec<Row> {
    let kept = kept(trace, triple, steps);
    let lines = fold(trace, triple, steps, &kept);
    let threads = columns(trace, &lines);
    layout(trace, &threads, lines)
}

/// What a line shows before it is laid out.
enum Line {
    Step { mark: Mark, event: EventId, thread: ThreadId, text: String, place: String },
    Folded { events: usize, thread: Option<ThreadId>, threads: usize },
}

fn mark(triple: Triple, event: EventId) -> Mark {
    match event {
        e if e == triple.first => Mark::Triple("first"),
        e if e == triple.remote => Mark::Triple("remote"),
        e if e == triple.second => Mark::Triple("second"),
        _ => Mark::None,
    }
}

/// Which steps are shown: the triple, where its values come from, and what orders the events around it.
fn kept(trace: &Trace, triple: Triple, steps: &[Step]) -> Vec<bool> {
    let position = |event| steps.iter().position(|step| step.event == event);
    let first = position(triple.first).unwrap_or(0);
    let second = position(triple.second).unwrap_or(steps.len().saturating_sub(1)); // those without second end before it
    let var = trace.event(triple.first).op.var();
    let touches = |step: &Step| var.is_some() && trace.event(step.event).op.var() == var;
    let writes = |step: &Step| touches(step) && trace.event(step.event).op.writes();
    let source = steps[..first].iter().rposition(writes).unwrap_or(first);
    let show_sync = second - first <= MANY_STEPS;
    let matters = |(at, step): (usize, &Step)| {
        let op = &trace.event(step.event).op;
        at == source
            || matches!(op, Op::Free { vars } if var.is_some_and(|var| vars.contains(&var)))
            || ((first..=second).contains(&at) && (touches(step) || (show_sync && orders(op))))
    };
    steps.iter().enumerate().map(matters).collect()
}

/// Whether an event can hold up or let go others.
fn orders(op: &Op) -> bool {
    op.var().is_none() && !matches!(op, Op::Let { .. } | Op::Assume { .. } | Op::Call { .. } | Op::Return { .. })
}

fn fold(trace: &Trace, triple: Triple, steps: &[Step], kept: &[bool]) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut start = 0;
    while start < steps.len() {
        if kept[start] {
            lines.push(step_line(trace, triple, &steps[start]));
            start += 1;
            continue;
        }
        let length = kept[start..].iter().take_while(|kept| !**kept).count();
        fold_stretch(trace, triple, &steps[start..start + length], &mut lines);
        start += length;
    }
    lines
}

/// Folds steps that do not matter, thread by thread where these are few.
fn fold_stretch(trace: &Trace, triple: Triple, steps: &[Step], lines: &mut Vec<Line>) {
    if let [step] = steps
        && trace.event(step.event).op.var().is_some()
    {
        lines.push(step_line(trace, triple, step));
        return;
    }
    let thread = |step: &Step| trace.event(step.event).thread;
    let runs: Vec<&[Step]> = steps.chunk_by(|a, b| thread(a) == thread(b)).collect();
    if runs.len() <= 3 {
        let folded = |run: &&[Step]| Line::Folded { events: run.len(), thread: Some(thread(&run[0])), threads: 1 };
        lines.extend(runs.iter().map(folded));
        return;
    }
    let mut threads: Vec<ThreadId> = runs.iter().map(|run| thread(&run[0])).collect();
    threads.sort_unstable();
    threads.dedup();
    lines.push(Line::Folded { events: steps.len(), thread: None, threads: threads.len() });
}

fn step_line(trace: &Trace, triple: Triple, step: &Step) -> Line {
    let event = trace.event(step.event);
    let place = trace.loc(step.event).unwrap_or_default().to_string();
    Line::Step {
        mark: mark(triple, step.event),
        event: step.event,
        thread: event.thread,
        text: act(trace, step),
        place,
    }
}

/// What an event does, in few words.
pub fn act(trace: &Trace, step: &Step) -> String {
    let op = &trace.event(step.event).op;
    let sync = |id: foretrace_trace::SyncId| &trace.syncs[id.index()].key;
    let thread = |id: ThreadId| trace.threads[id.index()].number;
    let named =
        |name: Option<foretrace_trace::NameId>| name.map_or(String::new(), |n| format!(" {}", trace.names.text(n)));
    let kind = op.kind().replace('_', " ");
    match op {
        Op::Read { var, .. } => access(trace, "read", *var, step.read.as_ref(), None),
        Op::Write { var, external, .. } => {
            let verb = if *external { "external write" } else { "write" };
            access(trace, verb, *var, step.written.as_ref(), None)
        }
        Op::Rmw { var, .. } => access(trace, "rmw", *var, step.read.as_ref(), step.written.as_ref()),
        Op::Begin { label, .. } | Op::End { label } => format!("{kind}{}", named(*label)),
        Op::Acquire { lock }
        | Op::Release { lock }
        | Op::AcquireShared { lock }
        | Op::ReleaseShared { lock }
        | Op::Busy { lock } => format!("{kind} {}", sync(*lock)),
        Op::Wait { cond, lock } | Op::Wake { cond, lock, .. } => format!("{kind} {} ({})", sync(*cond), sync(*lock)),
        Op::Signal { cond } | Op::Broadcast { cond } => format!("{kind} {}", sync(*cond)),
        Op::OnceBegin { once } | Op::OnceEnd { once } | Op::OncePass { once } | Op::OnceFail { once } => {
            format!("{kind} {}", sync(*once))
        }
        Op::Post { sem } | Op::Down { sem } => format!("{kind} {}", sync(*sem)),
        Op::Arrive { barrier, round } | Op::Depart { barrier, round } => {
            format!("{kind} {} round {round}", sync(*barrier))
        }
        Op::Fork { child } | Op::Join { child } => format!("{kind} thread {}", thread(*child)),
        Op::Call { method, .. } | Op::Return { method, .. } => format!("{kind} {}", trace.names.text(*method)),
        Op::Free { vars } => {
            let names: Vec<&str> = vars.iter().map(|var| trace.vars[var.index()].shown()).collect();
            format!("free {}", names.join(", "))
        }
        Op::Unseen { what, .. } => format!("{kind} {}", trace.names.text(*what)),
        Op::Let { .. } | Op::Assume { .. } | Op::Fail { .. } => kind,
    }
}

fn access(trace: &Trace, verb: &str, var: VarId, value: Option<&Value>, then: Option<&Value>) -> String {
    let mut text = format!("{verb} {}", trace.vars[var.index()].shown());
    if let Some(value) = value {
        let _ = write!(text, " = {value}"); // a String takes everything
    }
    if let Some(value) = then {
        let _ = write!(text, " -> {value}");
    }
    text
}

/// The threads that have a line of their own, in the order of the trace.
fn columns(trace: &Trace, lines: &[Line]) -> Vec<ThreadId> {
    let mut threads: Vec<ThreadId> = lines
        .iter()
        .filter_map(|line| match line {
            Line::Step { thread, .. } => Some(*thread),
            Line::Folded { thread, .. } => *thread,
        })
        .collect();
    threads.sort_unstable_by_key(|thread| trace.threads[thread.index()].number);
    threads.dedup();
    threads
}

/// The name of a thread in a table's head and in sentences.
pub fn thread_name(trace: &Trace, thread: ThreadId) -> String {
    let thread = &trace.threads[thread.index()];
    match &thread.name {
        Some(name) => format!("thread {} ({name})", thread.number),
        None => format!("thread {}", thread.number),
    }
}

fn layout(trace: &Trace, threads: &[ThreadId], lines: Vec<Line>) -> Vec<Row> {
    let mut grid: Vec<(Mark, Vec<String>)> = Vec::with_capacity(lines.len() + 1);
    let names = threads.iter().map(|thread| thread_name(trace, *thread));
    let head = ["".to_string(), "event".to_string()].into_iter().chain(names).chain(["at".to_string()]);
    grid.push((Mark::None, head.collect()));
    grid.extend(lines.into_iter().map(|line| cells(threads, line)));
    let columns = threads.len() + 3;
    let width = |column: usize| grid.iter().map(|(_, cells)| cells[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |cells: &[String]| {
        let padded = cells.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column {
            1 => format!("{cell:>width$}"),
            _ => format!("{cell:<width$}"),
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_string()
    };
    grid.iter().map(|(mark, cells)| Row { mark: *mark, text: line(cells) }).collect()
}

fn cells(threads: &[ThreadId], line: Line) -> (Mark, Vec<String>) {
    let mut cells = vec![String::new(); threads.len() + 3];
    let column = |thread: ThreadId| 2 + threads.iter().position(|t| *t == thread).unwrap_or(0);
    match line {
        Line::Step { mark, event, thread, text, place } => {
            if let Mark::Triple(name) = mark {
                cells[0] = name.to_string();
            }
            cells[1] = event.to_string();
            cells[column(thread)] = cut(text);
            cells[threads.len() + 2] = place;
            (mark, cells)
        }
        Line::Folded { events, thread, threads: count } => {
            let plural = if events == 1 { "" } else { "s" };
            cells[thread.map_or(2, column)] = match thread {
                Some(_) => format!("... {events} event{plural}"),
                None => format!("... {events} events of {count} threads"),
            };
            (Mark::None, cells)
        }
    }
}

fn cut(text: String) -> String {
    if text.chars().count() <= WIDEST_CELL {
        return text;
    }
    text.chars().take(WIDEST_CELL - 3).chain("...".chars()).collect()
}

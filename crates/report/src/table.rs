//! A witness as a table: a column for each of the triple's two threads, the triple marked, what does not matter folded. Lines stay
//! within the width of text reports.

use super::folding::cut;
use super::names::{Names, WIDEST_LINE, thread_name};
use super::values::shown_value;
use foretrace_checker::{Step, Witness};
use foretrace_trace::{EventId, Op, ThreadId, Trace, Triple, Value, VarId};
use std::fmt::Write;

/// What stands in front of each line of the table where it is shown.
const INDENT: usize = 6;

/// Places are cut from the left at this many characters.
const WIDEST_PLACE: usize = 26;

/// More steps than this between first and second: then synchronisation is folded, too.
const MANY_STEPS: usize = 60;

/// Of more lines than these between two events of the triple only the first and the last are shown.
const MOST_BETWEEN: usize = 8;
const FIRST_BETWEEN: usize = 2;
const LAST_BETWEEN: usize = 5;

/// The three events that a witness is about, as the caller styles them.
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
pub fn rows(trace: &Trace, names: &Names<'_>, witness: &Witness) -> Vec<Row> {
    rows_of(trace, names, *witness.claim(), &witness.run().steps(trace))
}

/// The same for steps that show a triple or a part of it.
pub fn rows_of(trace: &Trace, names: &Names<'_>, triple: Triple, steps: &[Step]) -> Vec<Row> {
    rows_named(trace, names, triple, steps, ["first", "remote", "second"])
}

/// The same where the three events have other names, of at most six letters.
pub fn rows_named(
    trace: &Trace,
    names: &Names<'_>,
    triple: Triple,
    steps: &[Step],
    roles: [&'static str; 3],
) -> Vec<Row> {
    let kept = kept(trace, triple, steps);
    let columns = [triple.second, triple.remote].map(|at| trace.event(at).thread);
    let table = Table { trace, names, triple, roles, columns };
    layout(names, table.columns, table.fold(steps, &kept))
}

/// What a line shows before it is laid out.
struct Line {
    mark: Mark,
    event: Option<EventId>,
    /// The column; nothing for what other threads do.
    column: Option<usize>,
    text: String,
    place: String,
}

fn mark(triple: Triple, roles: [&'static str; 3], event: EventId) -> Mark {
    match event {
        e if e == triple.remote => Mark::Triple(roles[1]),
        e if e == triple.first => Mark::Triple(roles[0]),
        e if e == triple.second => Mark::Triple(roles[2]),
        _ => Mark::None,
    }
}

/// Which steps are shown: the triple, where its values come from, and what orders the events around it.
fn kept(trace: &Trace, triple: Triple, steps: &[Step]) -> Vec<bool> {
    let position = |event| steps.iter().position(|step| step.event == event);
    let end = steps.len().saturating_sub(1); // those without second end before it
    let first = position(triple.first).unwrap_or(0);
    let second = position(triple.second).unwrap_or(end);
    let remote = position(triple.remote).unwrap_or(end);
    let var = trace.event(triple.second).op.var();
    let touches = |step: &Step| var.is_some() && trace.event(step.event).op.var() == var;
    let writes = |step: &Step| touches(step) && trace.event(step.event).op.writes();
    let source = steps[..first].iter().rposition(writes).unwrap_or(first);
    let show_sync = second.saturating_sub(first) <= MANY_STEPS;
    let matters = |(at, step): (usize, &Step)| {
        let op = &trace.event(step.event).op;
        at == source
            || [triple.first, triple.remote, triple.second].contains(&step.event)
            || matches!(op, Op::Free { vars, .. } if var.is_some_and(|var| vars.contains(&var)))
            || ((first..=second).contains(&at) && (touches(step) || (show_sync && orders(op))))
    };
    let mut kept: Vec<bool> = steps.iter().enumerate().map(matters).collect();
    for (from, to) in [(first, remote), (remote, second)] {
        thin(&mut kept, from + 1, to);
    }
    kept
}

/// Leaves the first and the last of many lines.
fn thin(kept: &mut [bool], from: usize, to: usize) {
    let shown: Vec<usize> = (from..to).filter(|at| kept[*at]).collect();
    if shown.len() > MOST_BETWEEN {
        shown[FIRST_BETWEEN..shown.len() - LAST_BETWEEN].iter().for_each(|at| kept[*at] = false);
    }
}

/// Whether an event can hold up or let go others.
fn orders(op: &Op) -> bool {
    use Op::{Assume, Begin, Call, End, Let, Return};
    op.var().is_none()
        && !matches!(op, Let { .. } | Assume { .. } | Call { .. } | Return { .. } | Begin { .. } | End { .. })
}

/// What lines are made from.
struct Table<'t, 'n> {
    trace: &'t Trace,
    names: &'n Names<'t>,
    triple: Triple,
    roles: [&'static str; 3],
    columns: [ThreadId; 2],
}

impl Table<'_, '_> {
    fn fold(&self, steps: &[Step], kept: &[bool]) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut start = 0;
        while start < steps.len() {
            if kept[start] {
                lines.push(self.step_line(&steps[start]));
                start += 1;
                continue;
            }
            let length = kept[start..].iter().take_while(|kept| !**kept).count();
            self.fold_stretch(&steps[start..start + length], &mut lines);
            start += length;
        }
        lines
    }

    fn column(&self, thread: ThreadId) -> Option<usize> {
        self.columns.iter().position(|column| *column == thread)
    }

    /// Folds steps that do not matter, thread by thread where these are few.
    fn fold_stretch(&self, steps: &[Step], lines: &mut Vec<Line>) {
        if let [step] = steps
            && self.trace.event(step.event).op.var().is_some()
        {
            lines.push(self.step_line(step));
            return;
        }
        let thread = |step: &Step| self.trace.event(step.event).thread;
        let runs: Vec<&[Step]> = steps.chunk_by(|a, b| thread(a) == thread(b)).collect();
        if runs.len() <= 3 {
            lines.extend(runs.iter().map(|run| self.folded(run.len(), Some(thread(&run[0])), 1)));
            return;
        }
        let mut threads: Vec<ThreadId> = runs.iter().map(|run| thread(&run[0])).collect();
        threads.sort_unstable();
        threads.dedup();
        lines.push(self.folded(steps.len(), None, threads.len()));
    }

    fn folded(&self, events: usize, thread: Option<ThreadId>, threads: usize) -> Line {
        let column = thread.and_then(|thread| self.column(thread));
        let plural = if events == 1 { "" } else { "s" };
        let text = match (thread, column) {
            (None, _) => format!("... {events} events of {threads} threads"),
            (Some(_), Some(_)) => format!("... {events} event{plural}"),
            (Some(thread), None) => format!("... {events} event{plural} of {}", self.names.thread(thread)),
        };
        Line { mark: Mark::None, event: None, column, text, place: String::new() }
    }

    fn step_line(&self, step: &Step) -> Line {
        let thread = self.trace.event(step.event).thread;
        let column = self.column(thread);
        let act = self.names.short(&act(self.trace, step)).into_owned();
        let text = match column {
            Some(_) => act,
            None => format!("{}: {act}", self.names.thread(thread)),
        };
        let place = self.names.loc(step.event).unwrap_or_default().into_owned();
        Line { mark: mark(self.triple, self.roles, step.event), event: Some(step.event), column, text, place }
    }
}

/// What an event does, in few words.
pub fn act(trace: &Trace, step: &Step) -> String {
    let op = &trace.event(step.event).op;
    let sync = |id: foretrace_trace::SyncId| &trace.syncs[id.index()].key;
    let named =
        |name: Option<foretrace_trace::NameId>| name.map_or(String::new(), |n| format!(" {}", trace.names.text(n)));
    let kind = op.kind().replace('_', " ");
    match op {
        Op::Read { var, .. } => access(trace, "read", *var, step.read.as_ref(), None),
        Op::Write { var, external, .. } => {
            let verb = if *external { "external write" } else { "write" };
            access(trace, verb, *var, step.written.as_ref(), None)
        }
        Op::Rmw { var, external, .. } => {
            let verb = if *external { "external rmw" } else { "rmw" };
            access(trace, verb, *var, step.read.as_ref(), step.written.as_ref())
        }
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
        Op::Fork { child } | Op::Join { child } => format!("{kind} {}", thread_name(trace, *child)),
        Op::Call { method, .. } | Op::Return { method, .. } => format!("{kind} {}", trace.names.text(*method)),
        Op::Free { vars, syncs, .. } => {
            let names = vars.iter().map(|var| trace.vars[var.index()].shown());
            let names: Vec<&str> = names.chain(syncs.iter().map(|id| &*trace.syncs[id.index()].key)).collect();
            format!("free {}", names.join(", "))
        }
        Op::Unseen { what, .. } => format!("{kind} {}", trace.names.text(*what)),
        Op::Let { .. } | Op::Assume { .. } | Op::Fail { .. } => kind,
    }
}

/// What an event does, in words, without its values.
pub fn act_of(trace: &Trace, event: EventId) -> String {
    let op = &trace.event(event).op;
    let shown = |var: VarId| trace.vars[var.index()].shown();
    let lock = |lock: foretrace_trace::SyncId| &trace.syncs[lock.index()].key;
    match op {
        Op::Read { var, .. } => format!("reads {}", shown(*var)),
        Op::Write { var, .. } => format!("writes {}", shown(*var)),
        Op::Rmw { var, .. } => format!("reads and writes {}", shown(*var)),
        Op::Acquire { lock: taken } | Op::AcquireShared { lock: taken } => format!("takes {}", lock(*taken)),
        Op::Release { lock: given } | Op::ReleaseShared { lock: given } => format!("gives back {}", lock(*given)),
        Op::Busy { lock: tried } => format!("tries {}", lock(*tried)),
        Op::Wait { cond: object, .. } => format!("waits on {}", lock(*object)),
        Op::Signal { cond: object } | Op::Broadcast { cond: object } => format!("signals {}", lock(*object)),
        Op::Post { sem: object } | Op::Down { sem: object } | Op::Arrive { barrier: object, .. } => {
            format!("uses {}", lock(*object))
        }
        Op::Fork { child } => format!("starts {}", thread_name(trace, *child)),
        Op::Join { child } => format!("joins {}", thread_name(trace, *child)),
        other => other.kind().replace('_', " "),
    }
}

fn access(trace: &Trace, verb: &str, var: VarId, value: Option<&Value>, then: Option<&Value>) -> String {
    let mut text = format!("{verb} {}", trace.vars[var.index()].shown());
    if let Some(value) = value {
        let _ = write!(text, " = {}", shown_value(value)); // a String takes everything
    }
    if let Some(value) = then {
        let _ = write!(text, " -> {}", shown_value(value));
    }
    text
}

fn layout(names: &Names<'_>, columns: [ThreadId; 2], lines: Vec<Line>) -> Vec<Row> {
    let head = columns.map(|thread| names.thread(thread));
    let width_of = |text: &str| text.chars().count();
    let digits = |line: &Line| line.event.map_or(0, |event| event.to_string().len());
    let events = lines.iter().map(digits).max().unwrap_or(0).max("event".len());
    let places = lines.iter().map(|line| width_of(&line.place)).max().unwrap_or(0).min(WIDEST_PLACE);
    let gaps = "second".len() + events + 2 * 4;
    let left = (WIDEST_LINE - INDENT).saturating_sub(gaps + places);
    let needs = |column: usize| {
        let of_lines = lines.iter().filter(|line| line.column == Some(column)).map(|line| width_of(&line.text));
        of_lines.chain([width_of(&head[column])]).max().unwrap_or(0)
    };
    let [first, remote] = share(left, [needs(0), needs(1)]);
    let row = |role: &str, event: &str, text: [&str; 2], place: &str| {
        let text = match text {
            [wide, ""] if width_of(wide) > first => {
                format!("{:<width$}", cut(wide, first + 2 + remote), width = first + 2 + remote)
            }
            [one, other] => format!("{:<first$}  {:<remote$}", cut(one, first), cut(other, remote)),
        };
        format!("{role:<6}  {event:>events$}  {text}  {}", cut_left(place, places)).trim_end().to_string()
    };
    let mut rows = vec![Row { mark: Mark::None, text: row("", "event", [&head[0], &head[1]], "") }];
    for line in &lines {
        let role = if let Mark::Triple(role) = line.mark { role } else { "" };
        let event = line.event.map_or(String::new(), |event| event.to_string());
        let own = cut(&line.text, first);
        let text = match line.column {
            Some(0) => [own.as_ref(), ""],
            Some(_) => ["", &*line.text],
            None => [&*line.text, ""],
        };
        rows.push(Row { mark: line.mark, text: row(role, &event, text, &line.place) });
    }
    rows
}

/// What each of two columns gets of a width.
fn share(width: usize, [one, other]: [usize; 2]) -> [usize; 2] {
    if one + other <= width {
        return [one, other];
    }
    let half = width / 2;
    match (one <= half, other <= half) {
        (true, _) => [one, width - one],
        (_, true) => [width - other, other],
        _ => [half, width - half],
    }
}

/// A place cut so that its end is left, which has the line.
fn cut_left(place: &str, most: usize) -> String {
    let length = place.chars().count();
    if length <= most {
        return place.to_string();
    }
    "...".chars().chain(place.chars().skip(length + 3 - most)).collect()
}

//! The text format STD that RAPID reads: `T0|r(V123)|34`, one event a line, without data.
//!
//! Threads keep their names and are numbered in the order in which they are first named. A lock that its holder takes
//! again is recursive. Written out, an `rmw` is a read and a write, a `wait` a release and a `wake` an acquire; events
//! that STD cannot express are left out, with a warning.
//!
//! RAPID reads locations as integers. A table beside the file, `17<TAB>bank.c:26:28` a line, says what they stand for;
//! reading the trace puts the places back.

use crate::assembler::{SyncUse, TraceAssembler};
use crate::error::{Problem, ReadError, quoted};
use crate::lines::Lines;
use crate::observed::Observed;
use crate::op::{BlockKind, Op};
use crate::printable::printable;
use crate::trace::{Data, Event, NameId, SyncId, ThreadId, Trace, VarId};
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::io::{self, BufRead, Write};

type FxIndexSet<T> = IndexSet<T, FxBuildHasher>;

/// Reads a trace and runs its recorded order; every rule that its events are under is checked.
pub fn read(input: impl BufRead) -> Result<(Trace, Observed), ReadError> {
    let mut lines = Lines::new(input);
    let mut import = Import::new();
    loop {
        let id = import.assembler.next_event();
        let Some(line) = lines.next(Some(id))? else { break };
        let read = import.line(line).and_then(|event| import.assembler.push(event));
        read.map_err(|problem| ReadError::invalid(Some(lines.number()), problem.at(id)))?;
    }
    import.assembler.finish_observed().map_err(|invalid| {
        let line = invalid.event.map(|event| u64::from(event.0) + 1);
        ReadError::invalid(line, invalid)
    })
}

pub(crate) struct Import {
    pub(crate) assembler: TraceAssembler,
    threads: FxHashMap<String, ThreadId>,
    held: FxHashMap<(ThreadId, SyncId), u64>,
}

impl Import {
    pub(crate) fn new() -> Import {
        let assembler = TraceAssembler::new(Data::None);
        Import { assembler, threads: FxHashMap::default(), held: FxHashMap::default() }
    }

    /// The event of a line.
    pub(crate) fn line(&mut self, line: &str) -> Result<Event, Problem> {
        let mut fields = line.trim().splitn(3, '|').map(str::trim);
        let (thread, action) = match (fields.next(), fields.next()) {
            (Some(thread), Some(action)) if !thread.is_empty() => (thread, action),
            _ => return Err(Problem::new(quoted(line.trim_end()), self.expected_line())),
        };
        let thread = self.thread(thread)?;
        let op = self.op(thread, action)?;
        let loc = fields.next().filter(|loc| !loc.is_empty()).map(|loc| self.assembler.name(loc));
        Ok(Event { thread, op, loc, at: None, part: None, tried: false })
    }

    fn expected_line(&self) -> &'static str {
        match self.assembler.next_event().0 {
            0 => "a trace: JSON Lines, the binary form, or `thread|operation(operand)|location`",
            _ => "`thread|operation(operand)|location`",
        }
    }

    fn thread(&mut self, name: &str) -> Result<ThreadId, Problem> {
        if let Some(thread) = self.threads.get(name) {
            return Ok(*thread);
        }
        let thread = self.assembler.declare_thread(self.threads.len() as u64 + 1, Some(name), None)?;
        self.threads.insert(name.to_string(), thread);
        Ok(thread)
    }

    fn op(&mut self, thread: ThreadId, action: &str) -> Result<Op, Problem> {
        let unknown = || {
            let expected = "r(x), w(x), acq(l), rel(l), fork(t), join(t), begin or end";
            Problem::new(quoted(action), expected)
        };
        let (kind, operand) = match action.split_once('(') {
            Some((kind, rest)) => (kind, rest.strip_suffix(')').ok_or_else(unknown)?),
            None => (action, ""),
        };
        match (kind, operand) {
            ("begin", _) => return Ok(Op::Begin { label: self.label(operand), kind: BlockKind::Mark }),
            ("end", _) => return Ok(Op::End { label: self.label(operand) }),
            (_, "") => return Err(unknown()),
            _ => {}
        }
        match kind {
            "r" => Ok(Op::Read { var: self.assembler.var(operand)?, dst: None, value: None, guard: None }),
            "w" => {
                let var = self.assembler.var(operand)?;
                Ok(Op::Write { var, expr: None, value: None, guard: None, external: false })
            }
            "acq" => self.acquire(thread, operand),
            "rel" => self.release(thread, operand),
            "fork" => Ok(Op::Fork { child: self.thread(operand)? }),
            "join" => match self.threads.get(operand) {
                Some(child) => Ok(Op::Join { child: *child }),
                None => Err(Problem::new(
                    format!("a join of unknown thread {}", quoted(operand)),
                    "a thread that was forked or has events",
                )),
            },
            _ => Err(unknown()),
        }
    }

    fn label(&mut self, operand: &str) -> Option<NameId> {
        (!operand.is_empty()).then(|| self.assembler.name(operand))
    }

    fn acquire(&mut self, thread: ThreadId, lock: &str) -> Result<Op, Problem> {
        let lock = self.assembler.sync(lock, SyncUse::Lock)?;
        let held = self.held.entry((thread, lock)).or_default();
        *held += 1;
        if *held > 1 {
            self.assembler.make_recursive(lock);
        }
        Ok(Op::Acquire { lock })
    }

    fn release(&mut self, thread: ThreadId, lock: &str) -> Result<Op, Problem> {
        let lock = self.assembler.sync(lock, SyncUse::Lock)?;
        if let Entry::Occupied(mut held) = self.held.entry((thread, lock)) {
            *held.get_mut() -= 1;
            if *held.get() == 0 {
                held.remove(); // memory follows what is held, not the threads that there were
            }
        }
        Ok(Op::Release { lock })
    }
}

/// The number that stands for each source location: from 1, in the order of the events; 0 is for none.
fn location_numbers(trace: &Trace) -> FxIndexSet<NameId> {
    trace.events.iter().filter_map(|event| event.loc).collect()
}

/// Writes what the numbers in place of locations stand for.
pub fn write_locations(out: impl Write, trace: &Trace) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    for (number, loc) in (1..).zip(location_numbers(trace)) {
        writeln!(out, "{number}\t{}", printable(trace.names.text(loc)))?;
    }
    out.flush()
}

/// Puts places back for the numbers of [`write_locations`]; a number that the table lacks stays.
pub fn restore_locations(trace: &mut Trace, table: impl BufRead) -> Result<(), ReadError> {
    let mut lines = Lines::new(table);
    let mut places: FxHashMap<NameId, NameId> = FxHashMap::default();
    while let Some(line) = lines.next(None)? {
        let numbered = line.split_once('\t').filter(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit()));
        let Some((number, place)) = numbered else {
            let problem = Problem::new(quoted(line), "a number, a tab and a place in the source");
            return Err(ReadError::invalid(Some(lines.number()), problem.at(None)));
        };
        let (number, place) = (trace.names.intern(number), trace.names.intern(place));
        places.insert(number, place);
    }
    for event in &mut trace.events {
        event.loc = event.loc.map(|loc| places.get(&loc).copied().unwrap_or(loc));
    }
    Ok(())
}

/// Writes what STD can express of a trace.
pub fn write(mut out: impl Write, trace: &Trace) -> io::Result<()> {
    let threads = thread_names(trace);
    let numbers = location_numbers(trace);
    let mut left_out: BTreeMap<&str, u64> = BTreeMap::new();
    for event in &trace.events {
        let actions = actions(trace, &threads, event);
        if actions.is_empty() {
            *left_out.entry(event.op.kind()).or_default() += 1;
        }
        let loc = event.loc.and_then(|loc| numbers.get_index_of(&loc)).map_or(0, |index| index + 1);
        for (kind, operand) in actions {
            writeln!(out, "{}|{kind}({operand})|{loc}", threads[event.thread.index()])?;
        }
    }
    for (kind, count) in left_out {
        tracing::warn!("{count} `{kind}` events are left out, STD has none such");
    }
    out.flush()
}

/// The threads' own names where each has a different one, else T0, T1, … by number.
fn thread_names(trace: &Trace) -> Vec<Cow<'_, str>> {
    let mut seen = FxHashSet::default();
    let distinct = trace.threads.iter().all(|thread| thread.name.as_deref().is_some_and(|name| seen.insert(name)));
    let name = |thread: &'_ crate::trace::Thread| format!("T{}", thread.number - 1);
    match distinct {
        true => trace.threads.iter().map(|thread| operand(thread.name.as_deref().unwrap_or(""))).collect(),
        false => trace.threads.iter().map(|thread| Cow::Owned(name(thread))).collect(),
    }
}

/// What an event is in STD; nothing where it has no form there.
fn actions<'a>(trace: &'a Trace, threads: &'a [Cow<'a, str>], event: &Event) -> Vec<(&'static str, Cow<'a, str>)> {
    let var = |var: VarId| operand(&trace.vars[var.index()].key);
    let lock = |sync: SyncId| operand(&trace.syncs[sync.index()].key);
    let label = |label: Option<NameId>| label.map_or(Cow::Borrowed("0"), |label| operand(trace.names.text(label)));
    let thread = |id: ThreadId| Cow::Borrowed(&*threads[id.index()]);
    match event.op {
        Op::Begin { label: name, .. } => vec![("begin", label(name))],
        Op::End { label: name } => vec![("end", label(name))],
        Op::Read { var: read, .. } => vec![("r", var(read))],
        Op::Write { var: written, .. } => vec![("w", var(written))],
        Op::Rmw { var: both, .. } => vec![("r", var(both)), ("w", var(both))],
        Op::Acquire { lock: taken } | Op::Wake { lock: taken, .. } => vec![("acq", lock(taken))],
        Op::Release { lock: given } | Op::Wait { lock: given, .. } => vec![("rel", lock(given))],
        Op::OnceBegin { once } => vec![("acq", lock(once))],
        Op::OnceEnd { once } | Op::OnceFail { once } => vec![("rel", lock(once))],
        Op::OncePass { once } => vec![("acq", lock(once)), ("rel", lock(once))],
        Op::Fork { child } => vec![("fork", thread(child))],
        Op::Join { child } => vec![("join", thread(child))],
        _ => vec![],
    }
}

/// Text without the characters that separate fields: those become `%` and their code.
fn operand(text: &str) -> Cow<'_, str> {
    let special = |c: char| c.is_whitespace() || c.is_control() || "|()%".contains(c);
    if text.is_empty() {
        return Cow::Borrowed("%");
    }
    if !text.contains(special) {
        return Cow::Borrowed(text);
    }
    let escape = |c: char| if special(c) { format!("%{:02X}", u32::from(c)) } else { c.to_string() };
    Cow::Owned(text.chars().map(escape).collect())
}

//! A trace as JSON Lines: compact, fields in the order of `docs/trace-format.md`, the same bytes each time.

use super::VERSION;
use crate::op::{BlockKind, Op, WakeCause, Why};
use crate::smtlib;
use crate::term::TermId;
use crate::trace::{Event, NameId, SyncId, SyncKind, ThreadId, Trace, VarId};
use crate::value::Sort;
use std::io::{self, Write};

/// Writes a trace.
pub fn write(mut out: impl Write, trace: &Trace) -> io::Result<()> {
    let mut line = Line::default();
    header(&mut line, trace)?;
    line.flush(&mut out)?;
    for event in &trace.events {
        event_line(&mut line, trace, event)?;
        line.flush(&mut out)?;
    }
    out.flush()
}

/// A JSON object under construction.
#[derive(Default)]
struct Line {
    text: Vec<u8>,
    expression: String,
}

impl Line {
    fn open(&mut self) {
        self.text.push(b'{');
    }

    fn close(&mut self) {
        self.text.push(b'}');
    }

    fn key(&mut self, key: &str) -> io::Result<()> {
        if self.text.last().is_some_and(|last| *last != b'{') {
            self.text.push(b',');
        }
        self.json(key)?;
        self.text.push(b':');
        Ok(())
    }

    fn json(&mut self, text: &str) -> io::Result<()> {
        serde_json::to_writer(&mut self.text, text).map_err(io::Error::from)
    }

    fn string(&mut self, key: &str, text: &str) -> io::Result<()> {
        self.key(key)?;
        self.json(text)
    }

    /// A field whose value is written as it is: a number, a literal, JSON.
    fn plain(&mut self, key: &str, value: impl std::fmt::Display) -> io::Result<()> {
        self.key(key)?;
        write!(self.text, "{value}")
    }

    fn flush(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.text.push(b'\n');
        out.write_all(&self.text)?;
        self.text.clear();
        Ok(())
    }

    fn name(&mut self, trace: &Trace, key: &str, name: Option<NameId>) -> io::Result<()> {
        name.map_or(Ok(()), |name| self.string(key, trace.names.text(name)))
    }

    fn json_text(&mut self, trace: &Trace, key: &str, text: Option<NameId>) -> io::Result<()> {
        text.map_or(Ok(()), |text| self.plain(key, trace.names.text(text)))
    }

    fn value(&mut self, trace: &Trace, key: &str, literal: Option<TermId>) -> io::Result<()> {
        literal.map_or(Ok(()), |literal| self.plain(key, trace.value(literal)))
    }

    fn expression(&mut self, trace: &Trace, key: &str, term: Option<TermId>) -> io::Result<()> {
        let Some(term) = term else { return Ok(()) };
        let mut text = std::mem::take(&mut self.expression);
        text.clear();
        smtlib::print(&mut text, &trace.terms, term, &|local| trace.local_name(local));
        self.string(key, &text)?;
        self.expression = text;
        Ok(())
    }

    fn var(&mut self, trace: &Trace, var: VarId) -> io::Result<()> {
        self.string("var", &trace.vars[var.index()].key)
    }

    fn sync(&mut self, trace: &Trace, key: &str, sync: SyncId) -> io::Result<()> {
        self.string(key, &trace.syncs[sync.index()].key)
    }
}

fn header(line: &mut Line, trace: &Trace) -> io::Result<()> {
    line.open();
    line.plain("foretrace", VERSION)?;
    line.string("data", trace.data.name())?;
    if let Some(program) = &trace.program {
        line.string("program", program)?;
    }
    vars(line, trace)?;
    syncs(line, trace)?;
    threads(line, trace)?;
    line.close();
    Ok(())
}

fn vars(line: &mut Line, trace: &Trace) -> io::Result<()> {
    line.key("vars")?;
    line.open();
    for var in &trace.vars {
        line.key(&var.key)?;
        line.open();
        match var.sort {
            Some(Sort::BitVec(width)) => line.plain("sort", format_args!("{{\"BitVec\":{width}}}"))?,
            Some(sort) => line.plain("sort", format_args!("\"{sort}\""))?,
            None => {}
        }
        if let Some(init) = &var.init {
            line.plain("init", init)?;
        }
        if let Some(name) = &var.name {
            line.string("name", name)?;
        }
        line.close();
    }
    line.close();
    Ok(())
}

fn syncs(line: &mut Line, trace: &Trace) -> io::Result<()> {
    line.key("sync")?;
    line.open();
    for sync in &trace.syncs {
        line.key(&sync.key)?;
        line.open();
        line.string("kind", sync.kind.name())?;
        match sync.kind {
            SyncKind::Mutex { recursive: true } => line.plain("recursive", true)?,
            SyncKind::Semaphore { init } => line.plain("init", init)?,
            SyncKind::Barrier { parties: Some(parties) } => line.plain("parties", parties)?,
            _ => {}
        }
        line.close();
    }
    line.close();
    Ok(())
}

/// The threads that have something to say and those that no event mentions, by number as readers order them.
fn threads(line: &mut Line, trace: &Trace) -> io::Result<()> {
    let mut mentioned = vec![false; trace.threads.len()];
    for event in &trace.events {
        mentioned[event.thread.index()] = true;
        if let Op::Fork { child } | Op::Join { child } = event.op {
            mentioned[child.index()] = true;
        }
    }
    line.key("threads")?;
    line.open();
    let mut threads: Vec<_> = trace.threads.iter().zip(mentioned).collect();
    threads.sort_by_key(|(thread, _)| thread.number);
    for (thread, mentioned) in threads {
        if mentioned && thread.name.is_none() && thread.path.is_none() {
            continue;
        }
        line.key(&thread.number.to_string())?;
        line.open();
        if let Some(name) = &thread.name {
            line.string("name", name)?;
        }
        if let Some(path) = &thread.path {
            line.string("path", path)?;
        }
        line.close();
    }
    line.close();
    Ok(())
}

fn event_line(line: &mut Line, trace: &Trace, event: &Event) -> io::Result<()> {
    line.open();
    line.plain("t", thread_number(trace, event.thread))?;
    line.string("op", event.op.kind())?;
    op(line, trace, &event.op)?;
    line.name(trace, "loc", event.loc)?;
    if let Some(at) = event.at {
        line.plain("at", at)?;
    }
    if let Some((k, n)) = event.part {
        line.plain("part", format_args!("[{k},{n}]"))?;
    }
    if event.tried {
        line.plain("try", true)?;
    }
    line.close();
    Ok(())
}

fn thread_number(trace: &Trace, thread: ThreadId) -> u64 {
    trace.threads[thread.index()].number
}

fn op(line: &mut Line, trace: &Trace, op: &Op) -> io::Result<()> {
    match op {
        Op::Begin { label, kind } => {
            line.name(trace, "label", *label)?;
            if *kind != BlockKind::Mark {
                line.string("kind", kind.name())?;
            }
            Ok(())
        }
        Op::End { label } => line.name(trace, "label", *label),
        Op::Read { .. } | Op::Write { .. } | Op::Rmw { .. } => access(line, trace, op),
        Op::Let { dst, expr } => {
            line.name(trace, "dst", Some(*dst))?;
            line.expression(trace, "expr", Some(*expr))
        }
        Op::Assume { expr, why } => {
            line.expression(trace, "expr", Some(*expr))?;
            if *why == Why::Pin { line.string("why", "pin") } else { Ok(()) }
        }
        Op::Call { object, method, args } => {
            line.name(trace, "object", *object)?;
            line.name(trace, "method", Some(*method))?;
            line.json_text(trace, "args", *args)
        }
        Op::Return { object, method, value } => {
            line.name(trace, "object", *object)?;
            line.name(trace, "method", Some(*method))?;
            line.json_text(trace, "value", *value)
        }
        Op::Free { vars, syncs, external } => {
            line.key("vars")?;
            let keys: Vec<&str> = vars.iter().map(|var| &*trace.vars[var.index()].key).collect();
            serde_json::to_writer(&mut line.text, &keys)?;
            if !syncs.is_empty() {
                line.key("syncs")?;
                let keys: Vec<&str> = syncs.iter().map(|sync| &*trace.syncs[sync.index()].key).collect();
                serde_json::to_writer(&mut line.text, &keys)?;
            }
            if *external { line.plain("external", true) } else { Ok(()) }
        }
        Op::Unseen { what, object, if_both } => {
            line.name(trace, "what", Some(*what))?;
            line.name(trace, "object", *object)?;
            if *if_both { line.plain("if_both", true) } else { Ok(()) }
        }
        Op::Fail { reason } => line.name(trace, "reason", *reason),
        _ => synchronisation(line, trace, op),
    }
}

fn access(line: &mut Line, trace: &Trace, op: &Op) -> io::Result<()> {
    match op {
        Op::Read { var, dst, value, guard } => {
            line.var(trace, *var)?;
            line.name(trace, "dst", *dst)?;
            line.value(trace, "value", *value)?;
            line.expression(trace, "guard", *guard)
        }
        Op::Write { var, expr, value, guard, external } => {
            line.var(trace, *var)?;
            line.expression(trace, "expr", *expr)?;
            line.value(trace, "value", *value)?;
            line.expression(trace, "guard", *guard)?;
            if *external { line.plain("external", true) } else { Ok(()) }
        }
        Op::Rmw { var, dst, expr, value, stored, guard, external } => {
            line.var(trace, *var)?;
            line.name(trace, "dst", *dst)?;
            line.expression(trace, "expr", *expr)?;
            line.value(trace, "value", *value)?;
            line.value(trace, "stored", *stored)?;
            line.expression(trace, "guard", *guard)?;
            if *external { line.plain("external", true) } else { Ok(()) }
        }
        _ => Ok(()),
    }
}

fn synchronisation(line: &mut Line, trace: &Trace, op: &Op) -> io::Result<()> {
    match op {
        Op::Acquire { lock }
        | Op::Release { lock }
        | Op::AcquireShared { lock }
        | Op::ReleaseShared { lock }
        | Op::Busy { lock } => line.sync(trace, "lock", *lock),
        Op::Wait { cond, lock } => {
            line.sync(trace, "cond", *cond)?;
            line.sync(trace, "lock", *lock)
        }
        Op::Wake { cond, lock, cause, by } => {
            line.sync(trace, "cond", *cond)?;
            line.sync(trace, "lock", *lock)?;
            match cause {
                Some(WakeCause::Timeout) => line.string("cause", "timeout")?,
                Some(WakeCause::Spurious) => line.string("cause", "spurious")?,
                None => {}
            }
            by.map_or(Ok(()), |by| line.plain("by", by))
        }
        Op::Signal { cond } | Op::Broadcast { cond } => line.sync(trace, "cond", *cond),
        Op::Post { sem } | Op::Down { sem } => line.sync(trace, "sem", *sem),
        Op::OnceBegin { once } | Op::OnceEnd { once } | Op::OncePass { once } | Op::OnceFail { once } => {
            line.sync(trace, "once", *once)
        }
        Op::Arrive { barrier, round } | Op::Depart { barrier, round } => {
            line.sync(trace, "barrier", *barrier)?;
            line.plain("round", round)
        }
        Op::Fork { child } | Op::Join { child } => line.plain("child", thread_number(trace, *child)),
        _ => Ok(()),
    }
}

//! From a trace to bytes.

use super::{KINDS, MAGIC, VERSION, flag, tag};
use crate::op::{BlockKind, Op, WakeCause, Why};
use crate::smtlib::name_and_indices;
use crate::term::{Node, TermId};
use crate::trace::{Data, Event, NameId, SyncId, SyncKind, Trace, VarId};
use crate::value::{Sort, Value};
use dashu_int::UBig;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use std::io::{self, Write};

/// Writes a trace.
pub fn write(out: impl Write, trace: &Trace) -> io::Result<()> {
    let mut out = Output { out, checksum: crc32fast::Hasher::new(), bytes: Vec::new() };
    out.bytes.extend_from_slice(&MAGIC);
    out.number(VERSION);
    header(&mut out, trace);
    let tables = Tables::of_trace(trace);
    out.number(tables.names.len() as u64);
    for name in &tables.names {
        out.string(trace.names.text(*name));
        out.flush_some()?;
    }
    terms(&mut out, trace, &tables)?;
    out.number(trace.events.len() as u64);
    for event in &trace.events {
        write_event(&mut out, &tables, event);
        out.flush_some()?;
    }
    out.finish()
}

/// Bytes on their way out.
struct Output<W> {
    out: W,
    checksum: crc32fast::Hasher,
    bytes: Vec<u8>,
}

/// Bytes that are kept before they are passed on.
const CHUNK: usize = 1 << 16;

impl<W: Write> Output<W> {
    fn flush_some(&mut self) -> io::Result<()> {
        if self.bytes.len() < CHUNK { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.checksum.update(&self.bytes);
        self.out.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        self.out.write_all(&self.checksum.finalize().to_le_bytes())?;
        self.out.flush()
    }

    fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    fn counted(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    fn string(&mut self, text: &str) {
        self.counted(text.as_bytes());
    }

    fn optional_string(&mut self, text: Option<&str>) {
        self.byte(u8::from(text.is_some()));
        text.into_iter().for_each(|text| self.string(text));
    }

    fn sort(&mut self, sort: Sort) {
        self.number(match sort {
            Sort::Bool => 0,
            Sort::Int => 1,
            Sort::BitVec(width) => u64::from(width) + 1,
        });
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Bool(false) => self.byte(tag::FALSE),
            Value::Bool(true) => self.byte(tag::TRUE),
            Value::Int(number) => {
                let (sign, magnitude) = number.clone().into_parts();
                self.byte(if sign == dashu_int::Sign::Negative { tag::NEGATIVE } else { tag::NATURAL });
                self.counted(&magnitude.to_le_bytes());
            }
            Value::BitVec { width, bits } => {
                self.byte(tag::WORD);
                self.number(u64::from(*width));
                self.word(bits, *width);
            }
        }
    }

    fn word(&mut self, bits: &UBig, width: u32) {
        match u64::try_from(bits) {
            Ok(small) if width <= 64 => self.number(small),
            _ => self.counted(&bits.to_le_bytes()),
        }
    }
}

fn header(out: &mut Output<impl Write>, trace: &Trace) {
    out.byte(match trace.data {
        Data::None => 0,
        Data::Concrete => 1,
        Data::Symbolic => 2,
    });
    out.optional_string(trace.program.as_deref());
    out.number(trace.vars.len() as u64);
    for var in &trace.vars {
        out.string(&var.key);
        out.optional_string(var.name.as_deref());
        out.byte(u8::from(var.sort.is_some()));
        var.sort.into_iter().for_each(|sort| out.sort(sort));
        out.byte(u8::from(var.init.is_some()));
        var.init.iter().for_each(|init| out.value(init));
    }
    out.number(trace.syncs.len() as u64);
    for sync in &trace.syncs {
        out.string(&sync.key);
        sync_kind(out, sync.kind);
    }
    out.number(trace.threads.len() as u64);
    for thread in &trace.threads {
        out.number(thread.number);
        out.optional_string(thread.name.as_deref());
        out.optional_string(thread.path.as_deref());
    }
}

fn sync_kind(out: &mut Output<impl Write>, kind: SyncKind) {
    match kind {
        SyncKind::Mutex { recursive } => out.byte(u8::from(recursive)),
        SyncKind::Rwlock => out.byte(2),
        SyncKind::Semaphore { init } => {
            out.byte(3);
            out.number(init);
        }
        SyncKind::Condvar => out.byte(4),
        SyncKind::Barrier { parties: None } => out.byte(5),
        SyncKind::Barrier { parties: Some(parties) } => {
            out.byte(6);
            out.number(parties);
        }
        SyncKind::Once => out.byte(7),
    }
}

/// The names and terms that events use, in the order in which the file has them.
struct Tables {
    names: IndexSet<NameId, FxBuildHasher>,
    terms: Vec<TermId>,
    /// Per term of the arena, its position among `terms`.
    positions: Vec<u32>,
}

impl Tables {
    fn of_trace(trace: &Trace) -> Tables {
        let mut names = IndexSet::default();
        let mut used = vec![false; trace.terms.len()];
        for event in &trace.events {
            let fields = Fields::of_op(&event.op);
            names.extend(fields.names().chain(event.loc));
            fields.terms().for_each(|term| used[term.index()] = true);
        }
        let mut terms: Vec<TermId> = trace.terms.iter().collect();
        for term in terms.iter().rev() {
            if used[term.index()] {
                trace.terms.args(*term).iter().for_each(|arg| used[arg.index()] = true);
            }
        }
        terms.retain(|term| used[term.index()]);
        let mut positions = vec![0; trace.terms.len()];
        for (position, term) in (0u32..).zip(&terms) {
            positions[term.index()] = position;
        }
        Tables { names, terms, positions }
    }

    fn name(&self, name: NameId) -> u64 {
        self.names.get_index_of(&name).unwrap_or_default() as u64
    }

    fn term(&self, term: TermId) -> u64 {
        u64::from(self.positions[term.index()])
    }
}

fn terms(out: &mut Output<impl Write>, trace: &Trace, tables: &Tables) -> io::Result<()> {
    let mut functions: IndexSet<(&'static str, Vec<u32>), FxBuildHasher> = IndexSet::default();
    for term in &tables.terms {
        if let Node::App(func, _) = trace.terms.node(*term) {
            functions.insert(name_and_indices(*func));
        }
    }
    out.number(functions.len() as u64);
    for (name, indices) in &functions {
        out.string(name);
        out.number(indices.len() as u64);
        indices.iter().for_each(|index| out.number(u64::from(*index)));
    }
    out.number(tables.terms.len() as u64);
    for (position, term) in tables.terms.iter().enumerate() {
        match trace.terms.node(*term) {
            Node::Const(value) => out.value(value),
            Node::Leaf(local) => {
                out.byte(tag::LOCAL);
                out.number(u64::from(local.definition.0));
                out.sort(local.sort);
            }
            Node::App(func, args) => {
                out.byte(tag::APPLICATION);
                out.number(functions.get_index_of(&name_and_indices(*func)).unwrap_or_default() as u64);
                out.number(args.len() as u64);
                args.iter().for_each(|arg| out.number(position as u64 - 1 - tables.term(*arg)));
            }
        }
        out.flush_some()?;
    }
    Ok(())
}

/// The fields of an operation in the order of the file: what it must have, then what it may.
struct Fields {
    fixed: [Option<Field>; 2],
    optional: [Option<Field>; 5],
}

#[derive(Clone, Copy)]
enum Field {
    Number(u64),
    Name(NameId),
    Term(TermId),
    /// A flag alone.
    Mark,
}

impl Fields {
    fn of_op(op: &Op) -> Fields {
        let name = |name: Option<NameId>| name.map(Field::Name);
        let term = |term: Option<TermId>| term.map(Field::Term);
        let mark = |set: bool| set.then_some(Field::Mark);
        let var = |var: VarId| [Some(Field::Number(u64::from(var.0))), None];
        let sync = |sync: SyncId| [Some(Field::Number(u64::from(sync.0))), None];
        let pair = |first: SyncId, second: u64| [Some(Field::Number(u64::from(first.0))), Some(Field::Number(second))];
        let (fixed, optional) = match op {
            Op::Begin { label, kind } => {
                let code = (*kind != BlockKind::Mark).then_some(Field::Number(*kind as u64));
                ([None; 2], [name(*label), code, None, None, None])
            }
            Op::End { label } => ([None; 2], [name(*label), None, None, None, None]),
            Op::Read { var: read, dst, value, guard } => {
                (var(*read), [name(*dst), term(*value), term(*guard), None, None])
            }
            Op::Write { var: written, expr, value, guard, external } => {
                (var(*written), [term(*expr), term(*value), term(*guard), mark(*external), None])
            }
            Op::Rmw { var: both, dst, expr, value, stored, guard, .. } => {
                (var(*both), [name(*dst), term(*expr), term(*value), term(*stored), term(*guard)])
            }
            Op::Let { dst, expr } => ([Some(Field::Name(*dst)), Some(Field::Term(*expr))], [None; 5]),
            Op::Assume { expr, why } => {
                ([Some(Field::Term(*expr)), None], [mark(*why == Why::Pin), None, None, None, None])
            }
            Op::Acquire { lock }
            | Op::Release { lock }
            | Op::AcquireShared { lock }
            | Op::ReleaseShared { lock }
            | Op::Busy { lock } => (sync(*lock), [None; 5]),
            Op::Wait { cond, lock } => (pair(*cond, u64::from(lock.0)), [None; 5]),
            Op::Wake { cond, lock, cause, by } => {
                let cause = [Some(WakeCause::Timeout), Some(WakeCause::Spurious)].map(|each| mark(each == *cause));
                let by = by.map(|by| Field::Number(u64::from(by.0)));
                (pair(*cond, u64::from(lock.0)), [cause[0], cause[1], by, None, None])
            }
            Op::Signal { cond } | Op::Broadcast { cond } => (sync(*cond), [None; 5]),
            Op::Post { sem } | Op::Down { sem } => (sync(*sem), [None; 5]),
            Op::OnceBegin { once } | Op::OnceEnd { once } | Op::OncePass { once } | Op::OnceFail { once } => {
                (sync(*once), [None; 5])
            }
            Op::Arrive { barrier, round } | Op::Depart { barrier, round } => (pair(*barrier, *round), [None; 5]),
            Op::Fork { child } | Op::Join { child } => ([Some(Field::Number(u64::from(child.0))), None], [None; 5]),
            Op::Call { object, method, args: last } | Op::Return { object, method, value: last } => {
                ([Some(Field::Name(*method)), None], [name(*object), name(*last), None, None, None])
            }
            // Its variables follow, and its objects if it has some.
            Op::Free { syncs, external, .. } => {
                ([None; 2], [mark(!syncs.is_empty()), mark(*external), None, None, None])
            }
            Op::Unseen { what, object, if_both } => {
                ([Some(Field::Name(*what)), None], [name(*object), mark(*if_both), None, None, None])
            }
            Op::Fail { reason } => ([None; 2], [name(*reason), None, None, None, None]),
        };
        Fields { fixed, optional }
    }

    fn all(&self) -> impl Iterator<Item = Field> {
        self.fixed.iter().chain(&self.optional).flatten().copied()
    }

    fn names(&self) -> impl Iterator<Item = NameId> {
        self.all().filter_map(|field| if let Field::Name(name) = field { Some(name) } else { None })
    }

    fn terms(&self) -> impl Iterator<Item = TermId> {
        self.all().filter_map(|field| if let Field::Term(term) = field { Some(term) } else { None })
    }
}

fn write_event(out: &mut Output<impl Write>, tables: &Tables, event: &Event) {
    let kind = event.op.kind();
    let code = KINDS.iter().position(|known| *known == kind).unwrap_or_default();
    out.byte(code as u8);
    out.number(u64::from(event.thread.0));
    let fields = Fields::of_op(&event.op);
    let mut flags = 0;
    for (present, bit) in
        [(event.loc.is_some(), flag::LOC), (event.at.is_some(), flag::AT), (event.part.is_some(), flag::PART)]
    {
        flags |= if present { bit } else { 0 };
    }
    flags |= if event.tried { flag::TRIED } else { 0 };
    flags |= if matches!(event.op, Op::Rmw { external: true, .. }) { flag::EXTERNAL } else { 0 };
    for (position, field) in fields.optional.iter().enumerate() {
        flags |= if field.is_some() { flag::FIRST_FIELD << position } else { 0 };
    }
    out.number(flags);
    for field in fields.all() {
        match field {
            Field::Number(number) => out.number(number),
            Field::Name(name) => out.number(tables.name(name)),
            Field::Term(term) => out.number(tables.term(term)),
            Field::Mark => {}
        }
    }
    if let Op::Free { vars, syncs, .. } = &event.op {
        out.number(vars.len() as u64);
        vars.iter().for_each(|var| out.number(u64::from(var.0)));
        if !syncs.is_empty() {
            out.number(syncs.len() as u64);
            syncs.iter().for_each(|sync| out.number(u64::from(sync.0)));
        }
    }
    event.loc.into_iter().for_each(|loc| out.number(tables.name(loc)));
    event.at.into_iter().for_each(|at| out.number(at));
    if let Some((k, n)) = event.part {
        out.number(u64::from(k));
        out.number(u64::from(n));
    }
}

//! From bytes to a trace.

use super::input::{Failure, Input};
use super::{KINDS, MAGIC, VERSION, flag, tag};
use crate::assembler::TraceAssembler;
use crate::error::{Problem, ReadError};
use crate::function::Func;
use crate::observed::Observed;
use crate::op::{BlockKind, Op, WakeCause, Why};
use crate::smtlib::function;
use crate::term::TermId;
use crate::trace::Trace;
use crate::trace::{Data, Event, EventId, Local, NameId, SyncId, SyncKind, ThreadId, VarId};
use crate::value::{Sort, Value};
use dashu_int::{IBig, UBig};
use std::io::BufRead;

/// Reads a trace and runs its recorded order; every rule of the format is checked.
pub fn read(input: impl BufRead) -> Result<(Trace, Observed), ReadError> {
    let (mut reader, events) = Reader::after_tables(input)?;
    for _ in 0..events {
        let id = reader.assembler.next_event();
        let read = reader.event().and_then(|event| reader.assembler.push(event).map_err(Failure::from));
        read.map_err(|failure| failure.at(Some(id)))?;
    }
    reader.end()?;
    let Reader { assembler, .. } = reader;
    assembler.finish_observed().map_err(|invalid| ReadError::invalid(None, invalid))
}

/// The tables that events refer to.
pub(crate) struct Reader<R> {
    input: Input<R>,
    pub(crate) assembler: TraceAssembler,
    names: Vec<NameId>,
    threads: Vec<ThreadId>,
    terms: Vec<TermId>,
}

impl<R: BufRead> Reader<R> {
    /// A reader that has read the tables, and how many events follow.
    pub(crate) fn after_tables(input: R) -> Result<(Reader<R>, u64), ReadError> {
        let mut reader = Reader::start(Input::new(input)).map_err(|failure| failure.at(None))?;
        let events = reader.input.number_up_to(u64::from(u32::MAX) - 1, "a number of events");
        Ok((reader, events.map_err(|failure| failure.at(None))?))
    }

    /// The next event.
    pub(crate) fn next(&mut self) -> Result<Event, ReadError> {
        let id = self.assembler.next_event();
        self.event().map_err(|failure| failure.at(Some(id)))
    }

    /// That nothing follows.
    pub(crate) fn end(&mut self) -> Result<(), ReadError> {
        self.input.end().map_err(|failure| failure.at(None))
    }

    fn start(mut input: Input<R>) -> Result<Reader<R>, Failure> {
        for expected in MAGIC {
            if input.byte()? != expected {
                return Err(input.corrupt("a damaged first line", "the start of a binary trace"));
            }
        }
        let version = input.number()?;
        if version != VERSION {
            let expected = format!("binary format version `{VERSION}`");
            return Err(Problem::new(format!("binary format version `{version}`"), expected).into());
        }
        let data = match input.byte()? {
            0 => Data::None,
            1 => Data::Concrete,
            2 => Data::Symbolic,
            other => return Err(input.corrupt(format!("the data code {other}"), "0, 1 or 2")),
        };
        let assembler = TraceAssembler::new(data);
        let mut reader = Reader { input, assembler, names: vec![], threads: vec![], terms: vec![] };
        if let Some(program) = reader.input.optional_string()? {
            reader.assembler.set_program(&program);
        }
        reader.times(Self::variable)?;
        reader.times(Self::sync_object)?;
        reader.times(Self::thread)?;
        reader.times(Self::name)?;
        reader.read_terms()?;
        Ok(reader)
    }

    /// A count, then so many things.
    fn times(&mut self, each: impl Fn(&mut Self) -> Result<(), Failure>) -> Result<(), Failure> {
        let count = self.input.number_up_to(u64::from(u32::MAX) - 1, "a count")?;
        (0..count).try_for_each(|_| each(self))
    }

    fn variable(&mut self) -> Result<(), Failure> {
        let (key, name) = (self.input.string()?, self.input.optional_string()?);
        let sort = match self.input.byte()? {
            0 => None,
            1 => Some(self.sort()?),
            other => return Err(self.input.corrupt(format!("the mark {other}"), "0 or 1")),
        };
        let init = match self.input.byte()? {
            0 => None,
            1 => Some(self.value()?),
            other => return Err(self.input.corrupt(format!("the mark {other}"), "0 or 1")),
        };
        self.assembler.declare_var(&key, name.as_deref(), sort, init)?;
        Ok(())
    }

    fn sort(&mut self) -> Result<Sort, Failure> {
        let most = u64::from(crate::function::MAX_WIDTH) + 1;
        Ok(match self.input.number_up_to(most, "a sort")? {
            0 => Sort::Bool,
            1 => Sort::Int,
            code => Sort::BitVec(code as u32 - 1),
        })
    }

    /// A term that is a literal.
    fn value(&mut self) -> Result<Value, Failure> {
        let code = self.input.byte()?;
        self.literal(code)?.ok_or_else(|| self.input.corrupt(format!("the tag {code}"), "a value"))
    }

    fn literal(&mut self, code: u8) -> Result<Option<Value>, Failure> {
        Ok(Some(match code {
            tag::FALSE => Value::Bool(false),
            tag::TRUE => Value::Bool(true),
            tag::NATURAL => Value::Int(self.input.big_number()?.into()),
            tag::NEGATIVE => Value::Int(-IBig::from(self.input.big_number()?)),
            tag::WORD => self.word()?,
            _ => return Ok(None),
        }))
    }

    fn word(&mut self) -> Result<Value, Failure> {
        let width = self.input.number_up_to(u64::from(crate::function::MAX_WIDTH), "a width")? as u32;
        let bits = if width <= 64 { UBig::from(self.input.number()?) } else { self.input.big_number()? };
        let value = Value::word(width, bits.clone());
        match &value {
            Value::BitVec { bits: kept, .. } if width > 0 && *kept == bits => Ok(value),
            _ => Err(self.input.corrupt(format!("the word {bits} of {width} bits"), "a word that fits its width")),
        }
    }

    fn sync_object(&mut self) -> Result<(), Failure> {
        let key = self.input.string()?;
        let kind = match self.input.byte()? {
            0 => SyncKind::Mutex { recursive: false },
            1 => SyncKind::Mutex { recursive: true },
            2 => SyncKind::Rwlock,
            3 => SyncKind::Semaphore { init: self.input.number()? },
            4 => SyncKind::Condvar,
            5 => SyncKind::Barrier { parties: None },
            6 => SyncKind::Barrier { parties: Some(self.input.number()?) },
            7 => SyncKind::Once,
            other => return Err(self.input.corrupt(format!("the kind {other}"), "a kind up to 7")),
        };
        self.assembler.declare_sync(&key, kind)?;
        Ok(())
    }

    fn thread(&mut self) -> Result<(), Failure> {
        let number = self.input.number()?;
        let (name, path) = (self.input.optional_string()?, self.input.optional_string()?);
        let thread = self.assembler.declare_thread(number, name.as_deref(), path.as_deref())?;
        self.threads.push(thread);
        Ok(())
    }

    fn name(&mut self) -> Result<(), Failure> {
        let text = self.input.string()?;
        self.names.push(self.assembler.name(&text));
        Ok(())
    }

    /// The functions that terms apply, then the terms.
    fn read_terms(&mut self) -> Result<(), Failure> {
        let count = self.input.number_up_to(u64::from(u32::MAX) - 1, "a count")?;
        let mut functions = Vec::new();
        for _ in 0..count {
            functions.push(self.function()?);
        }
        let mut args = Vec::new();
        self.times_with(&mut args, |reader, args| reader.term(&functions, args))
    }

    fn times_with<T>(
        &mut self,
        state: &mut T,
        each: impl Fn(&mut Self, &mut T) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let count = self.input.number_up_to(u64::from(u32::MAX) - 1, "a count")?;
        (0..count).try_for_each(|_| each(self, state))
    }

    fn function(&mut self) -> Result<Func, Failure> {
        let name = self.input.string()?;
        let mut indices = Vec::new();
        for _ in 0..self.input.number_up_to(2, "a number of indices")? {
            indices.push(self.input.number_up_to(u64::from(u32::MAX), "an index")? as u32);
        }
        function(&name, &indices).ok_or_else(|| {
            let found = format!("unknown function {}", crate::error::quoted(&name));
            self.input.corrupt(found, "a function of Core, Ints or FixedSizeBitVectors")
        })
    }

    fn term(&mut self, functions: &[Func], args: &mut Vec<TermId>) -> Result<(), Failure> {
        let code = self.input.byte()?;
        let term = match (self.literal(code)?, code) {
            (Some(value), _) => self.assembler.literal(value),
            (None, tag::LOCAL) => {
                let definition = EventId(self.input.number_up_to(u64::from(u32::MAX) - 1, "an event")? as u32);
                let sort = self.sort()?;
                self.assembler.terms().leaf(Local { definition, sort })
            }
            (None, tag::APPLICATION) => self.application(functions, args)?,
            _ => return Err(self.input.corrupt(format!("the tag {code}"), "a term")),
        };
        self.terms.push(term);
        Ok(())
    }

    fn application(&mut self, functions: &[Func], args: &mut Vec<TermId>) -> Result<TermId, Failure> {
        let func = functions[self.input.index(functions.len(), "function")?];
        args.clear();
        for _ in 0..self.input.number_up_to(u64::from(u32::MAX), "a number of arguments")? {
            args.push(self.term_before(self.terms.len())?);
        }
        let func = if func == Func::Sub && args.len() == 1 { Func::Neg } else { func };
        self.assembler.terms().app(func, args).map_err(|error| self.input.corrupt(error, "a well-sorted term"))
    }

    /// A term by its distance back from position `here`.
    fn term_before(&mut self, here: usize) -> Result<TermId, Failure> {
        let back = self.input.index(here, "the argument")?;
        Ok(self.terms[here - 1 - back])
    }

    fn event(&mut self) -> Result<Event, Failure> {
        let kind = usize::from(self.input.byte()?);
        let kind = *KINDS.get(kind).ok_or_else(|| self.input.corrupt(format!("the event kind {kind}"), "a kind"))?;
        let thread = self.input.index(self.threads.len(), "thread")?;
        let thread = self.threads[thread];
        let flags = self.input.number()?;
        let op = self.op(kind, flags / flag::FIRST_FIELD)?;
        let loc = if flags & flag::LOC != 0 { Some(self.name_use()?) } else { None };
        let at = if flags & flag::AT != 0 { Some(self.input.number()?) } else { None };
        let part = if flags & flag::PART != 0 { Some((self.part_number()?, self.part_number()?)) } else { None };
        let tried = op.can_be_tried() && flags & flag::TRIED != 0;
        Ok(Event { thread, op, loc, at, part, tried })
    }

    fn part_number(&mut self) -> Result<u32, Failure> {
        Ok(self.input.number_up_to(u64::from(u32::MAX) - 1, "a part")? as u32)
    }

    /// The operation of this kind; bit k of `given` says whether its k-th optional field is there.
    fn op(&mut self, kind: &str, given: u64) -> Result<Op, Failure> {
        let given = Given(given);
        Ok(match kind {
            "begin" => Op::Begin { label: given.at(0, || self.name_use())?, kind: self.block_kind(given)? },
            "end" => Op::End { label: given.at(0, || self.name_use())? },
            "read" => Op::Read {
                var: self.var()?,
                dst: given.at(0, || self.name_use())?,
                value: given.at(1, || self.term_use())?,
                guard: given.at(2, || self.term_use())?,
            },
            "write" => Op::Write {
                var: self.var()?,
                expr: given.at(0, || self.term_use())?,
                value: given.at(1, || self.term_use())?,
                guard: given.at(2, || self.term_use())?,
                external: given.has(3),
            },
            "rmw" => Op::Rmw {
                var: self.var()?,
                dst: given.at(0, || self.name_use())?,
                expr: given.at(1, || self.term_use())?,
                value: given.at(2, || self.term_use())?,
                stored: given.at(3, || self.term_use())?,
                guard: given.at(4, || self.term_use())?,
                external: given.has(6),
            },
            "let" => Op::Let { dst: self.name_use()?, expr: self.term_use()? },
            "assume" => Op::Assume { expr: self.term_use()?, why: if given.has(0) { Why::Pin } else { Why::Branch } },
            "acquire" => Op::Acquire { lock: self.sync()? },
            "release" => Op::Release { lock: self.sync()? },
            "acquire_shared" => Op::AcquireShared { lock: self.sync()? },
            "release_shared" => Op::ReleaseShared { lock: self.sync()? },
            "busy" => Op::Busy { lock: self.sync()? },
            "wait" => Op::Wait { cond: self.sync()?, lock: self.sync()? },
            "wake" => Op::Wake {
                cond: self.sync()?,
                lock: self.sync()?,
                cause: given.cause(),
                by: given
                    .at(2, || Ok(EventId(self.input.number_up_to(u64::from(u32::MAX) - 1, "an event")? as u32)))?,
            },
            "signal" => Op::Signal { cond: self.sync()? },
            "broadcast" => Op::Broadcast { cond: self.sync()? },
            "post" => Op::Post { sem: self.sync()? },
            "down" => Op::Down { sem: self.sync()? },
            "arrive" => Op::Arrive { barrier: self.sync()?, round: self.input.number()? },
            "depart" => Op::Depart { barrier: self.sync()?, round: self.input.number()? },
            "once_begin" => Op::OnceBegin { once: self.sync()? },
            "once_end" => Op::OnceEnd { once: self.sync()? },
            "once_pass" => Op::OncePass { once: self.sync()? },
            "once_fail" => Op::OnceFail { once: self.sync()? },
            "fork" => Op::Fork { child: self.child()? },
            "join" => Op::Join { child: self.child()? },
            "call" => Op::Call {
                method: self.name_use()?,
                object: given.at(0, || self.name_use())?,
                args: given.at(1, || self.json())?,
            },
            "return" => Op::Return {
                method: self.name_use()?,
                object: given.at(0, || self.name_use())?,
                value: given.at(1, || self.json())?,
            },
            "free" => {
                let (vars, syncs) = (self.vars()?, given.at(0, || self.syncs())?.unwrap_or_default());
                Op::Free { vars, syncs, external: given.has(1) }
            }
            "unseen" => {
                let what = self.name_use()?;
                Op::Unseen { what, object: given.at(0, || self.name_use())?, if_both: given.has(1) }
            }
            _ => Op::Fail { reason: given.at(0, || self.name_use())? },
        })
    }

    fn block_kind(&mut self, given: Given) -> Result<BlockKind, Failure> {
        let kind = given.at(1, || self.input.index(BlockKind::ALL.len(), "kind of block"))?;
        Ok(kind.map_or(BlockKind::Mark, |kind| BlockKind::ALL[kind]))
    }

    fn var(&mut self) -> Result<VarId, Failure> {
        let count = self.assembler.trace().vars.len();
        self.input.index(count, "variable").map(VarId::from_index)
    }

    fn vars(&mut self) -> Result<Box<[VarId]>, Failure> {
        let mut vars = Vec::new();
        for _ in 0..self.input.number_up_to(u64::from(u32::MAX), "a count")? {
            vars.push(self.var()?);
        }
        Ok(vars.into())
    }

    fn syncs(&mut self) -> Result<Box<[SyncId]>, Failure> {
        let mut syncs = Vec::new();
        for _ in 0..self.input.number_up_to(u64::from(u32::MAX), "a count")? {
            syncs.push(self.sync()?);
        }
        Ok(syncs.into())
    }

    fn sync(&mut self) -> Result<SyncId, Failure> {
        let count = self.assembler.trace().syncs.len();
        self.input.index(count, "synchronisation object").map(SyncId::from_index)
    }

    fn child(&mut self) -> Result<ThreadId, Failure> {
        let index = self.input.index(self.threads.len(), "thread")?;
        Ok(self.threads[index])
    }

    fn name_use(&mut self) -> Result<NameId, Failure> {
        let index = self.input.index(self.names.len(), "name")?;
        Ok(self.names[index])
    }

    /// A name that is compact JSON.
    fn json(&mut self) -> Result<NameId, Failure> {
        let name = self.name_use()?;
        let text = self.assembler.trace().names.text(name);
        match crate::jsonl::is_compact(text) {
            true => Ok(name),
            false => Err(self.input.corrupt(crate::error::quoted(text), "compact JSON")),
        }
    }

    fn term_use(&mut self) -> Result<TermId, Failure> {
        let index = self.input.index(self.terms.len(), "term")?;
        Ok(self.terms[index])
    }
}

/// Which optional fields of an operation are there.
#[derive(Clone, Copy)]
struct Given(u64);

impl Given {
    fn has(self, position: u32) -> bool {
        self.0 >> position & 1 == 1
    }

    fn at<T>(self, position: u32, read: impl FnOnce() -> Result<T, Failure>) -> Result<Option<T>, Failure> {
        if self.has(position) { read().map(Some) } else { Ok(None) }
    }

    fn cause(self) -> Option<WakeCause> {
        match (self.has(0), self.has(1)) {
            (true, _) => Some(WakeCause::Timeout),
            (false, true) => Some(WakeCause::Spurious),
            (false, false) => None,
        }
    }
}

//! An event line.

use super::object::Object;
use super::scalar::{array, boolean, compact, integer, small, string, value};
use crate::assembler::{SyncUse, TraceAssembler};
use crate::error::{Problem, quoted};
use crate::op::{BlockKind, Op, WakeCause, Why};
use crate::term::TermId;
use crate::trace::{Data, Event, EventId, NameId, SyncId, ThreadId, VarId};
use crate::value::Value;
use crate::wellformed::values_in_trace_without_data;

/// Every field that some event has; on an event that does not take it, it is a mistake.
const KNOWN: &[&str] = &[
    "t", "op", "loc", "at", "part", "external", "label", "kind", "var", "dst", "expr", "value", "stored", "guard",
    "why", "try", "lock", "cond", "cause", "by", "sem", "once", "barrier", "round", "child", "object", "method",
    "args", "vars", "syncs", "reason", "what", "if_both",
];

/// Reads events, and says once that it passes over unknown fields.
#[derive(Default)]
pub(crate) struct EventReader {
    warned: bool,
}

impl EventReader {
    /// The event of a line, which will be the assembler's next.
    pub(crate) fn read(&mut self, assembler: &mut TraceAssembler, line: &str) -> Result<Event, Problem> {
        let mut object = Object::parse(line)?;
        let number = object.take("t").ok_or_else(|| missing("t", "an event"))?;
        let thread = assembler.thread(integer("t", number, 1, u64::MAX)?)?;
        let kind = object.take("op").ok_or_else(|| missing("op", "an event"))?;
        let kind = string("op", kind)?;
        let mut fields = Fields { assembler, object, thread, kind: &kind };
        let op = fields.op()?;
        let (loc, at, part, tried) = (fields.name("loc")?, fields.at()?, fields.part()?, fields.tried(&op)?);
        let event = Event { thread, op, loc, at, part, tried };
        self.check_rest(&fields)?;
        Ok(event)
    }

    fn check_rest(&mut self, fields: &Fields<'_, '_>) -> Result<(), Problem> {
        for (key, raw) in fields.object.rest() {
            if KNOWN.contains(&key) {
                let found = format!("`{key}` on {}", fields.a_kind());
                return Err(Problem::new(found, format!("only the fields of {}", fields.a_kind())));
            }
            compact(key, raw)?;
            if !std::mem::replace(&mut self.warned, true) {
                let event = fields.assembler.next_event();
                tracing::warn!("unknown field {} of event {event} and all others are ignored", quoted(key));
            }
        }
        Ok(())
    }
}

fn missing(field: &str, what: &str) -> Problem {
    Problem::new(format!("{what} without `{field}`"), format!("`{field}`"))
}

/// The fields of one event, and what they refer to.
struct Fields<'a, 'b> {
    assembler: &'b mut TraceAssembler,
    object: Object<'a>,
    thread: ThreadId,
    kind: &'b str,
}

impl<'a> Fields<'a, '_> {
    fn op(&mut self) -> Result<Op, Problem> {
        Ok(match self.kind {
            "begin" => Op::Begin { label: self.name("label")?, kind: self.block_kind()? },
            "end" => Op::End { label: self.name("label")? },
            "read" => {
                let (var, dst) = (self.var()?, self.dst()?);
                self.bind(dst, var);
                Op::Read { var, dst, value: self.value("value", var)?, guard: self.expression("guard")? }
            }
            "write" => {
                let var = self.var()?;
                let (expr, value) = (self.expression("expr")?, self.value("value", var)?);
                Op::Write { var, expr, value, guard: self.expression("guard")?, external: self.flag("external")? }
            }
            "rmw" => {
                let (var, dst) = (self.var()?, self.dst()?);
                self.bind(dst, var);
                let expr = self.expression("expr")?;
                let (value, stored) = (self.value("value", var)?, self.value("stored", var)?);
                let guard = self.expression("guard")?;
                Op::Rmw { var, dst, expr, value, stored, guard, external: self.flag("external")? }
            }
            "let" => {
                let expr = self.needed("expr", Self::expression)?;
                Op::Let { dst: self.needed("dst", |fields, _| fields.dst())?, expr }
            }
            "assume" => Op::Assume { expr: self.needed("expr", Self::expression)?, why: self.why()? },
            "acquire" => Op::Acquire { lock: self.sync("lock", SyncUse::Lock)? },
            "release" => Op::Release { lock: self.sync("lock", SyncUse::Lock)? },
            "acquire_shared" => Op::AcquireShared { lock: self.sync("lock", SyncUse::SharedLock)? },
            "release_shared" => Op::ReleaseShared { lock: self.sync("lock", SyncUse::SharedLock)? },
            "busy" => Op::Busy { lock: self.sync("lock", SyncUse::Lock)? },
            "wait" => Op::Wait { cond: self.condvar()?, lock: self.sync("lock", SyncUse::Lock)? },
            "wake" => {
                let (cond, lock) = (self.condvar()?, self.sync("lock", SyncUse::Lock)?);
                Op::Wake { cond, lock, cause: self.cause()?, by: self.by()? }
            }
            "signal" => Op::Signal { cond: self.condvar()? },
            "broadcast" => Op::Broadcast { cond: self.condvar()? },
            "post" => Op::Post { sem: self.sync("sem", SyncUse::Semaphore)? },
            "down" => Op::Down { sem: self.sync("sem", SyncUse::Semaphore)? },
            "arrive" => Op::Arrive { barrier: self.sync("barrier", SyncUse::Barrier)?, round: self.round()? },
            "depart" => Op::Depart { barrier: self.sync("barrier", SyncUse::Barrier)?, round: self.round()? },
            "once_begin" => Op::OnceBegin { once: self.sync("once", SyncUse::Once)? },
            "once_end" => Op::OnceEnd { once: self.sync("once", SyncUse::Once)? },
            "once_pass" => Op::OncePass { once: self.sync("once", SyncUse::Once)? },
            "once_fail" => Op::OnceFail { once: self.sync("once", SyncUse::Once)? },
            "fork" => Op::Fork { child: self.child()? },
            "join" => Op::Join { child: self.child()? },
            "call" => Op::Call { object: self.name("object")?, method: self.method()?, args: self.json("args")? },
            "return" => Op::Return { object: self.name("object")?, method: self.method()?, value: self.json("value")? },
            "free" => Op::Free { vars: self.vars()?, syncs: self.syncs()?, external: self.flag("external")? },
            "unseen" => {
                let what = self.needed("what", Self::name)?;
                Op::Unseen { what, object: self.name("object")?, if_both: self.flag("if_both")? }
            }
            "fail" => Op::Fail { reason: self.name("reason")? },
            other => return Err(Problem::new(format!("the unknown `op` {}", quoted(other)), "a kind of event")),
        })
    }

    /// `a read`, as messages say it.
    fn a_kind(&self) -> String {
        format!("`{}` events", self.kind)
    }

    fn needed<T>(
        &mut self,
        field: &str,
        get: impl FnOnce(&mut Self, &str) -> Result<Option<T>, Problem>,
    ) -> Result<T, Problem> {
        get(self, field)?.ok_or_else(|| missing(field, &format!("a `{}`", self.kind)))
    }

    fn raw(&mut self, field: &str) -> Result<&'a str, Problem> {
        self.needed(field, |fields, field| Ok(fields.object.take(field)))
    }

    fn name(&mut self, field: &str) -> Result<Option<NameId>, Problem> {
        let Some(raw) = self.object.take(field) else { return Ok(None) };
        Ok(Some(self.assembler.name(&string(field, raw)?)))
    }

    fn method(&mut self) -> Result<NameId, Problem> {
        self.needed("method", Self::name)
    }

    fn dst(&mut self) -> Result<Option<NameId>, Problem> {
        match self.assembler.keeps_events() {
            true => self.name("dst"),
            false => Ok(self.object.take("dst").map(|_| self.assembler.name("dst"))),
        }
    }

    /// Lets guard and `expr` of the same event mention its `dst`.
    fn bind(&mut self, dst: Option<NameId>, var: VarId) {
        if let (Some(dst), Some(sort)) = (dst, self.assembler.trace().vars[var.index()].sort)
            && self.assembler.keeps_events()
        {
            self.assembler.bind(self.thread, dst, sort);
        }
    }

    fn var(&mut self) -> Result<VarId, Problem> {
        let raw = self.raw("var")?;
        self.assembler.var(&string("var", raw)?)
    }

    fn vars(&mut self) -> Result<Box<[VarId]>, Problem> {
        let raw = self.raw("vars")?;
        array("vars", raw)?.into_iter().map(|raw| self.assembler.var(&string("vars", raw)?)).collect()
    }

    /// The objects of a `free`; none where it has no such field.
    fn syncs(&mut self) -> Result<Box<[SyncId]>, Problem> {
        let Some(raw) = self.object.take("syncs") else { return Ok(Box::default()) };
        array("syncs", raw)?.into_iter().map(|raw| self.assembler.known_sync(&string("syncs", raw)?)).collect()
    }

    fn sync(&mut self, field: &str, used_as: SyncUse) -> Result<SyncId, Problem> {
        let raw = self.raw(field)?;
        self.assembler.sync(&string(field, raw)?, used_as)
    }

    fn condvar(&mut self) -> Result<SyncId, Problem> {
        self.sync("cond", SyncUse::Condvar)
    }

    fn child(&mut self) -> Result<ThreadId, Problem> {
        let raw = self.raw("child")?;
        self.assembler.thread(integer("child", raw, 1, u64::MAX)?)
    }

    fn round(&mut self) -> Result<u64, Problem> {
        let raw = self.raw("round")?;
        integer("round", raw, 0, u64::MAX)
    }

    fn expression(&mut self, field: &str) -> Result<Option<TermId>, Problem> {
        let Some(raw) = self.object.take(field) else { return Ok(None) };
        if self.assembler.trace().data == Data::None {
            return Err(values_in_trace_without_data(field));
        }
        if !self.assembler.keeps_events() {
            return Ok(Some(self.assembler.literal(Value::Bool(true)))); // some term
        }
        let text = string(field, raw)?;
        let term = self.assembler.expression(self.thread, &text).map_err(|error| {
            let found = format!("{} at column {} of `{field}`", error.problem.found, error.column);
            Problem { found, ..error.problem }
        })?;
        Ok(Some(term))
    }

    fn value(&mut self, field: &str, var: VarId) -> Result<Option<TermId>, Problem> {
        let Some(raw) = self.object.take(field) else { return Ok(None) };
        match (self.assembler.trace().data, self.assembler.trace().vars[var.index()].sort) {
            (Data::Concrete | Data::Symbolic, Some(_)) if !self.assembler.keeps_events() => Ok(None),
            (Data::Concrete | Data::Symbolic, Some(sort)) => {
                let value = value(field, raw, sort)?;
                Ok(Some(self.assembler.literal(value)))
            }
            _ => Err(values_in_trace_without_data(field)),
        }
    }

    fn json(&mut self, field: &str) -> Result<Option<NameId>, Problem> {
        let Some(raw) = self.object.take(field).filter(|_| self.assembler.keeps_events()) else { return Ok(None) };
        Ok(Some(self.assembler.name(&compact(field, raw)?)))
    }

    fn flag(&mut self, name: &'static str) -> Result<bool, Problem> {
        self.object.take(name).map_or(Ok(false), |raw| boolean(name, raw))
    }

    fn why(&mut self) -> Result<Why, Problem> {
        let Some(raw) = self.object.take("why") else { return Ok(Why::Branch) };
        match string("why", raw)?.as_ref() {
            "branch" => Ok(Why::Branch),
            "pin" => Ok(Why::Pin),
            other => Err(Problem::new(format!("{} as `why`", quoted(other)), "\"branch\" or \"pin\"")),
        }
    }

    fn block_kind(&mut self) -> Result<BlockKind, Problem> {
        let Some(raw) = self.object.take("kind") else { return Ok(BlockKind::Mark) };
        let name = string("kind", raw)?;
        BlockKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let names = BlockKind::ALL.map(|kind| format!("\"{}\"", kind.name())).join(", ");
            Problem::new(format!("{} as `kind`", quoted(&name)), format!("one of {names}"))
        })
    }

    fn cause(&mut self) -> Result<Option<WakeCause>, Problem> {
        let Some(raw) = self.object.take("cause") else { return Ok(None) };
        match string("cause", raw)?.as_ref() {
            "timeout" => Ok(Some(WakeCause::Timeout)),
            "spurious" => Ok(Some(WakeCause::Spurious)),
            other => Err(Problem::new(format!("{} as `cause`", quoted(other)), "\"timeout\" or \"spurious\"")),
        }
    }

    fn by(&mut self) -> Result<Option<EventId>, Problem> {
        self.object.take("by").map(|raw| small("by", raw, 0).map(EventId)).transpose()
    }

    fn at(&mut self) -> Result<Option<u64>, Problem> {
        self.object.take("at").map(|raw| integer("at", raw, 0, u64::MAX)).transpose()
    }

    fn tried(&mut self, op: &Op) -> Result<bool, Problem> {
        if !op.can_be_tried() {
            return Ok(false); // what is left over is a mistake
        }
        self.object.take("try").map_or(Ok(false), |raw| boolean("try", raw))
    }

    fn part(&mut self) -> Result<Option<(u32, u32)>, Problem> {
        let Some(raw) = self.object.take("part") else { return Ok(None) };
        match array("part", raw)?.as_slice() {
            [k, n] => Ok(Some((small("part", k, 1)?, small("part", n, 1)?))),
            _ => Err(Problem::new(format!("{} as `part`", quoted(raw)), "[k, n]")),
        }
    }
}

//! The header line: what the trace knows of values, its variables, synchronisation objects and threads.

use super::object::Object;
use super::scalar::{boolean, integer, string, value};
use crate::assembler::{MAX_VAR_WIDTH, TraceAssembler};
use crate::error::{Problem, quoted};
use crate::trace::{Data, SyncKind};
use crate::value::Sort;

/// The version of the format.
pub const VERSION: u64 = 1;

/// A assembler that knows what the header declares.
pub(crate) fn read(line: &str) -> Result<TraceAssembler, Problem> {
    let mut header = Object::parse(line)?;
    version(header.take("foretrace"))?;
    let mut assembler = TraceAssembler::new(data(header.take("data"))?);
    if let Some(program) = header.take("program") {
        assembler.set_program(&string("program", program)?);
    }
    for_each(header.take("vars"), "vars", |key, raw| declare_var(&mut assembler, key, raw))?;
    for_each(header.take("sync"), "sync", |key, raw| declare_sync(&mut assembler, key, raw))?;
    declare_threads(&mut assembler, header.take("threads"))?;
    ignore_rest(&header, "the header")?;
    Ok(assembler)
}

fn version(raw: Option<&str>) -> Result<(), Problem> {
    match raw {
        None => Err(Problem::new("a JSON object without `foretrace`", "a trace's header")),
        Some(raw) if raw.parse() == Ok(VERSION) => Ok(()),
        Some(raw) => {
            let found = format!("format version {}", quoted(raw));
            Err(Problem::new(found, format!("format version `{VERSION}`")))
        }
    }
}

fn data(raw: Option<&str>) -> Result<Data, Problem> {
    const EXPECTED: &str = "`data`: \"symbolic\", \"concrete\" or \"none\"";
    let Some(raw) = raw else { return Err(Problem::new("no `data`", EXPECTED)) };
    match string("data", raw)?.as_ref() {
        "symbolic" => Ok(Data::Symbolic),
        "concrete" => Ok(Data::Concrete),
        "none" => Ok(Data::None),
        other => Err(Problem::new(format!("{} as `data`", quoted(other)), EXPECTED)),
    }
}

/// Each entry of an object that may be absent.
fn for_each<'a>(
    raw: Option<&'a str>,
    field: &str,
    mut each: impl FnMut(&str, &'a str) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let Some(raw) = raw else { return Ok(()) };
    let entries = Object::parse(raw).map_err(|problem| within(problem, &format!("`{field}`")))?;
    entries.fields().try_for_each(|(key, raw)| each(key, raw))
}

fn within(problem: Problem, place: &str) -> Problem {
    Problem { found: format!("{} in {place}", problem.found), ..problem }
}

/// The fields of one entry of `vars`, `sync` or `threads`, and its name for messages.
fn entry<'a>(what: &str, key: &str, raw: &'a str) -> Result<(Object<'a>, String), Problem> {
    let place = format!("{what} {}", quoted(key));
    Object::parse(raw).map_err(|problem| within(problem, &place)).map(|object| (object, place))
}

fn declare_var(assembler: &mut TraceAssembler, key: &str, raw: &str) -> Result<(), Problem> {
    let (mut fields, place) = entry("variable", key, raw)?;
    let inside = |problem| within(problem, &place);
    let sort = fields.take("sort").map(sort).transpose().map_err(inside)?;
    let init = match (fields.take("init"), sort) {
        (Some(raw), Some(sort)) => Some(value("init", raw, sort).map_err(inside)?),
        (Some(_), None) => return Err(Problem::new(format!("{place} with `init` but no `sort`"), "`sort`")),
        (None, _) => None,
    };
    let name = fields.take("name").map(|raw| string("name", raw)).transpose().map_err(inside)?;
    ignore_rest(&fields, &place)?;
    assembler.declare_var(key, name.as_deref(), sort, init).map(|_| ())
}

fn sort(raw: &str) -> Result<Sort, Problem> {
    let unknown = || {
        Problem::new(
            format!("the sort {}", quoted(raw)),
            format!("\"Int\", \"Bool\" or {{\"BitVec\": 1 to {MAX_VAR_WIDTH}}}"),
        )
    };
    match raw {
        "\"Int\"" => return Ok(Sort::Int),
        "\"Bool\"" => return Ok(Sort::Bool),
        _ => {}
    }
    let mut fields = Object::parse(raw).map_err(|_| unknown())?;
    let width = fields.take("BitVec").ok_or_else(unknown)?;
    let width = integer("BitVec", width, 1, u64::from(MAX_VAR_WIDTH)).map_err(|_| unknown())?;
    let width = u32::try_from(width).map_err(|_| unknown())?;
    if fields.rest().next().is_some() { Err(unknown()) } else { Ok(Sort::BitVec(width)) }
}

fn declare_sync(assembler: &mut TraceAssembler, key: &str, raw: &str) -> Result<(), Problem> {
    const KINDS: &str = "`kind`: mutex, rwlock, semaphore, condvar, barrier or once";
    let (mut fields, place) = entry("synchronisation object", key, raw)?;
    let inside = |problem| within(problem, &place);
    let Some(kind) = fields.take("kind") else { return Err(Problem::new(format!("{place} without `kind`"), KINDS)) };
    let kind = string("kind", kind).map_err(inside)?;
    let kind = match kind.as_ref() {
        "mutex" => {
            let recursive =
                fields.take("recursive").map(|raw| boolean("recursive", raw)).transpose().map_err(inside)?;
            SyncKind::Mutex { recursive: recursive.unwrap_or(false) }
        }
        "rwlock" => SyncKind::Rwlock,
        "semaphore" => {
            let init = fields.take("init").ok_or_else(|| Problem::new(format!("{place} without `init`"), "`init`"))?;
            SyncKind::Semaphore { init: integer("init", init, 0, u64::MAX).map_err(inside)? }
        }
        "condvar" => SyncKind::Condvar,
        "barrier" => {
            let parties = fields.take("parties").map(|raw| integer("parties", raw, 1, u64::MAX)).transpose();
            SyncKind::Barrier { parties: parties.map_err(inside)? }
        }
        "once" => SyncKind::Once,
        other => return Err(inside(Problem::new(format!("the kind {}", quoted(other)), KINDS))),
    };
    if let Some((field, _)) = fields.rest().find(|(key, _)| ["recursive", "init", "parties"].contains(key)) {
        let found = format!("`{field}` of {place}");
        return Err(Problem::new(found, format!("only the fields of a {}", kind.name())));
    }
    ignore_rest(&fields, &place)?;
    assembler.declare_sync(key, kind).map(|_| ())
}

/// Threads by number, whatever their order in the file.
fn declare_threads(assembler: &mut TraceAssembler, raw: Option<&str>) -> Result<(), Problem> {
    let mut threads = Vec::new();
    for_each(raw, "threads", |key, raw| {
        let canonical = !key.starts_with('0');
        let number = integer("threads", key, 1, u64::MAX)
            .ok()
            .filter(|_| canonical)
            .ok_or_else(|| Problem::new(format!("thread {}", quoted(key)), "a positive thread number"))?;
        threads.push((number, raw));
        Ok(())
    })?;
    threads.sort_unstable();
    for (number, raw) in threads {
        let (mut fields, place) = entry("thread", &number.to_string(), raw)?;
        let inside = |problem| within(problem, &place);
        let name = fields.take("name").map(|raw| string("name", raw)).transpose().map_err(inside)?;
        let path = fields.take("path").map(|raw| string("path", raw)).transpose().map_err(inside)?;
        ignore_rest(&fields, &place)?;
        assembler.declare_thread(number, name.as_deref(), path.as_deref())?;
    }
    Ok(())
}

/// Fields of later versions are passed over, and said so.
fn ignore_rest(fields: &Object<'_>, place: &str) -> Result<(), Problem> {
    for (key, raw) in fields.rest() {
        super::scalar::compact(key, raw)?;
        tracing::warn!("unknown field {} of {place} is ignored", quoted(key));
    }
    Ok(())
}

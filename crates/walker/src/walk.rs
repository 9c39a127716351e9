//! The whole way from a recording to a trace.

use crate::concrete::count_races;
use crate::emit::{self, Finishing, Uses};
use crate::error::WalkError;
use crate::expression::Expressions;
use crate::interpret::{Thread, Walk};
use crate::log::{Log, missing, open_logs, thread_paths};
use crate::memory::{Memory, Mirror};
use crate::names::{Names, shown};
use crate::nesting::{self, About};
use crate::options::Options;
use crate::order::{self, Turns};
use crate::program::{Code, Program};
use crate::shared::{self, Analysis, Sharing};
use crate::signals::signal_name;
use crate::statistics::{Statistics, Ways};
use crate::threads::name_of;
use crate::transactions::{Insertions, Title};
use crate::window;
use crate::world::{Source, World};
use dashu_int::UBig;
use foretrace_instrument::sidecar::{Instruction, Op as SideOp};
use foretrace_runtime::record::{ATOMIC_PLACE, Kind};
use foretrace_trace::{Atomic, BlockKind, Event, OF_LIBRARY, Op, Sort, Trace, Value, VarId, validate_meanwhile};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A trace, and what making it met.
#[derive(Debug)]
pub struct Walked {
    /// The trace, which is valid.
    pub trace: Trace,
    /// What making it met.
    pub statistics: Statistics,
}

/// Makes the trace of a recording, and does something with it while other threads check it. That counts for nothing if the
/// trace is not valid, which would be an error of the walker's.
pub fn walk<R>(
    recording: &Path,
    options: &Options,
    meanwhile: impl FnOnce(&Walked) -> R,
) -> Result<(Walked, R), WalkError> {
    let walked = make(recording, options)?;
    let done = validate_meanwhile(&walked.trace, || meanwhile(&walked))?;
    Ok((walked, done))
}

fn make(recording: &Path, options: &Options) -> Result<Walked, WalkError> {
    let description = Description::read(recording)?;
    let mut logs = open_logs(recording)?;
    logs.iter().try_for_each(order::check)?;
    missing::check(recording, &logs)?;
    let start = window::find(&mut logs)?;
    let loaded = options.programs.open(recording)?;
    let program = &loaded.program;
    if program.is_concrete() && options.atomic == Atomic::Loops {
        return Err(WalkError::NoLoops);
    }
    if program.is_concrete() && options.operations.is_some() {
        return Err(WalkError::NoOperations);
    }
    let races = if description.parallel && logs.iter().any(Log::has_calls) { races(program, &logs) } else { 0 };
    let sharing = survey(program, &logs, start.as_ref())?;
    let mut world = World::new(program, options, sharing, Names::of(loaded.types()));
    world.mirror = mirror(&logs);
    world.unseen = logs.iter().map(|log| (log.header().thread, log.unseen().to_vec())).collect();
    world.draft.assembler.set_program(&description.program);
    world.most_events = description.most_events();
    let mut threads = declare_threads(&mut world, &logs, start.as_ref())?;
    world.statistics.races = races;
    if let Some(start) = start {
        world.begins_later = true;
        world.statistics.begins_later = true;
        window::take_open(&mut world, &mut threads, &logs, &start)?;
    }
    take_turns(&mut world, &mut threads, &logs)?;
    if !world.statistics.ends_early {
        fail_by_signal(&mut world, &threads, description.signal);
    }
    finish(world, &threads)
}

/// Finds out which memory is shared.
fn survey(program: &Program, logs: &[Log], start: Option<&window::Start>) -> Result<Sharing, WalkError> {
    let Some(mirror) = mirror(logs) else { return Ok(shared::analyse(program, logs, start.is_none())) };
    let options = Options { atomic: Atomic::Marked, ..Options::default() };
    let mut world = World::new(program, &options, Sharing::default(), Names::none());
    world.mirror = Some(mirror);
    world.survey = Some(Analysis::new(logs, start.is_none()));
    let mut threads = declare_threads(&mut world, logs, start)?;
    take_turns(&mut world, &mut threads, logs)?; // ends where the walk after it ends
    Ok(world.survey.take().unwrap_or_default().finish())
}

fn mirror(logs: &[Log]) -> Option<Mirror> {
    logs.iter().any(Log::leaves_out).then(Mirror::default)
}

/// Accesses that may have come at the same time as another thread's, where a hook came before its access.
fn races(program: &Program, logs: &[Log]) -> u64 {
    count_races(logs, |record| record.place & ATOMIC_PLACE != 0 || program.find(record.site()).is_some())
}

/// What `recording.json` says that matters here.
struct Description {
    program: String,
    /// Whether threads ran at the same time.
    parallel: bool,
    /// The signal that ended the process.
    signal: Option<u64>,
    /// Of all logs together.
    max_bytes: Option<u64>,
}

/// Bytes of an access in the log.
const ACCESS_BYTES: u64 = Kind::Load8.words() as u64 * 8;

impl Description {
    fn read(recording: &Path) -> Result<Description, WalkError> {
        let path = recording.join("recording.json");
        if recording.is_dir() && !path.exists() {
            return Err(WalkError::NotARecording { path: recording.to_path_buf() });
        }
        let text = std::fs::read_to_string(&path).map_err(|error| WalkError::io(&path, error))?;
        let bad = |what: String| WalkError::Description { path: path.clone(), what };
        let json: serde_json::Value = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
        match json["foretrace"].as_u64() {
            Some(1) => {}
            Some(version) => return Err(bad(format!("a recording of version {version}, expected 1"))),
            None => return Err(bad("found no `foretrace`, expected a recording's description".into())),
        }
        let program = json["program"].as_str().unwrap_or_default();
        let program = program.rsplit('/').next().unwrap_or_default().to_string();
        let parallel = json["mode"] == "parallel";
        let (signal, max_bytes) = (json["exit"]["signal"].as_u64(), json["max_bytes"].as_u64());
        Ok(Description { program, parallel, signal, max_bytes })
    }

    /// As many as logs of the size that was asked for could have records of. Logs do not bound what was left out of them.
    fn most_events(&self) -> usize {
        self.max_bytes.map_or(usize::MAX, |bytes| usize::try_from(bytes / ACCESS_BYTES).unwrap_or(usize::MAX))
    }
}

fn declare_threads<'a>(
    world: &mut World<'_>,
    logs: &'a [Log],
    start: Option<&window::Start>,
) -> Result<Vec<Thread<'a>>, WalkError> {
    let mut threads = Vec::new();
    for ((index, log), path) in logs.iter().enumerate().zip(thread_paths(logs)) {
        let header = log.header();
        let name = name_of(world.program, log, &path);
        let id = world.draft.assembler.declare_thread(header.thread, name.as_deref(), Some(&path))?;
        world.threads.insert(header.thread, id);
        world.statistics.records += log.len();
        world.statistics.counted += log.counted();
        let mut thread = Thread::new(index, header.thread, id, log);
        thread.begun_before = start.is_some_and(|start| start.begun[index]);
        threads.push(thread);
    }
    world.statistics.threads = threads.len() as u64;
    Ok(threads)
}

fn take_turns<'a>(world: &mut World<'a>, threads: &mut [Thread<'a>], logs: &'a [Log]) -> Result<(), WalkError> {
    let mut turns = Turns::new(logs);
    let program = world.program;
    while let Some((thread, until)) = turns.next().filter(|_| !world.statistics.ends_early) {
        let mut walk = Walk { world, thread: &mut threads[thread], program, until };
        if let Some(order) = walk.run()? {
            turns.wait(thread, order);
        }
    }
    if world.statistics.ends_early {
        for thread in threads {
            Walk { world, thread, program, until: 0 }.end();
        }
    }
    Ok(())
}

/// The signal that killed the process, where the runtime could not record it.
fn fail_by_signal(world: &mut World<'_>, threads: &[Thread<'_>], signal: Option<u64>) {
    let (Some(signal), false, Some(first)) = (signal, world.failed, threads.first()) else { return };
    let reason = world.draft.assembler.name(&format!("killed by {}", signal_name(signal)));
    let at = first.done;
    let source = Source { thread: first.id, loc: None, at };
    world.push(source, Op::Fail { reason: Some(reason) });
}

fn finish(mut world: World<'_>, threads: &[Thread<'_>]) -> Result<Walked, WalkError> {
    let unlike = window::choose_initials(&mut world)?;
    let (mut events, expressions) = (std::mem::take(&mut world.draft.events), std::mem::take(&mut world.expressions));
    world.detours.mark(&mut events, &expressions);
    (world.memory, world.mirror) = (Memory::default(), None); // the trace takes their place
    let (uses, declared) = uses_and_variables(&mut world, &expressions, &events);
    let variables = declared?;
    world.rename_objects();
    let titles = thread_titles(&mut world, threads);
    let spans = std::mem::take(&mut world.spans);
    let focus = world.options.focus.clone();
    let declared = &world.draft.assembler.trace().vars;
    let name = |cell: VarId| variables[cell.index()].map(|variable| &*declared[variable.index()].key);
    let wanted = |event: &Event| match (&focus, event.op.var()) {
        _ if event.op.is_external() => false,
        (_, Some(cell)) if world.is_of_library(cell.0) => false,
        (Some(pattern), Some(cell)) => name(cell).is_some_and(|name| pattern.fits(name)),
        _ => true,
    };
    let about = About { options: world.options, events: &events, wanted: &wanted, threads: &titles };
    let insertions = Insertions::new(&nesting::blocks(spans, &about), &events);
    let mut statistics = std::mem::take(&mut world.statistics);
    statistics.transactions = insertions.count;
    let names = &world.draft.assembler.trace().names;
    statistics.branches = branches(&world, false);
    statistics.checks = branches(&world, true);
    statistics.inside = std::mem::take(&mut world.inside).named(|place| names.text(place));
    let mut counters = vec![0; world.draft.assembler.trace().threads.len()];
    threads.iter().for_each(|thread| counters[thread.id.index()] = thread.names);
    let call_stacks = std::mem::take(&mut world.call_stacks).finish();
    let mut marks = std::mem::take(&mut world.given_again).into_marks();
    marks.append(&mut std::mem::take(&mut world.draft.looks).into_marks());
    marks.sort_by_key(|mark| mark.before);
    marks.reverse();
    let assembler = world.into_assembler();
    let finishing =
        Finishing { expressions, uses, variables: &variables, unlike, insertions, marks, names: counters, assembler };
    let mut trace = emit::finish(events, finishing)?;
    trace.call_stacks = (call_stacks.count() > 0).then(|| Arc::new(call_stacks));
    statistics.events = trace.events.len() as u64;
    Ok(Walked { trace, statistics })
}

/// The ways that branches of the program's own code went, by place; several branches of one place count as one where all went both. Checks are
/// apart: one of their ways never returns.
fn branches(world: &World<'_>, checks: bool) -> BTreeMap<String, Ways> {
    let mut at: BTreeMap<String, Ways> = BTreeMap::new();
    for ((function, instruction), ways) in &world.branches {
        let function = &world.program.functions[*function];
        let Instruction { location, op, .. } = &function.instructions[*instruction];
        let is_check =
            matches!(op, SideOp::Branch { yes, no, .. } if [*yes, *no].iter().any(|to| function.is_left_for_good(*to)));
        if is_check != checks || function.is_library || function.code(*instruction) != Code::Own {
            continue;
        }
        if let Some(position) = world.program.location(function.unit, *location) {
            let place = format!("{}:{}:{}", position.file, position.line, position.column);
            let known = at.entry(place).or_default();
            *known = known.and(*ways);
        }
    }
    at
}

/// What each thread's whole code is called, by the thread's place in the trace.
fn thread_titles(world: &mut World<'_>, threads: &[Thread<'_>]) -> Vec<Title> {
    let count = world.draft.assembler.trace().threads.len();
    let mut titles = vec![Title { kind: BlockKind::Thread, label: None, loc: None, called_at: None }; count];
    for thread in threads {
        let name = world.draft.assembler.trace().threads[thread.id.index()].name.clone();
        titles[thread.id.index()].label = name.map(|name| world.draft.assembler.name(&name));
    }
    titles
}

/// Per cell the variable.
type Declared = Vec<Option<VarId>>;

/// How terms are used, found out by another thread, and what variables are called.
fn uses_and_variables(
    world: &mut World<'_>,
    expressions: &Expressions,
    events: &[Event],
) -> (Uses, Result<Declared, WalkError>) {
    std::thread::scope(|scope| {
        let uses = std::thread::Builder::new().spawn_scoped(scope, || Uses::in_events(expressions, events));
        let declared = declare_variables(world, events);
        let uses = match uses {
            Ok(uses) => uses.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => Uses::in_events(expressions, events), // no thread is to be had
        };
        (uses, declared)
    })
}

/// Declares all cells that have events, in order of their first.
fn declare_variables(world: &mut World<'_>, events: &[Event]) -> Result<Declared, WalkError> {
    let mut variables = vec![None; world.cells.all.len()];
    for cell in events.iter().filter_map(|event| event.op.var()) {
        let cell = cell.0;
        if variables[cell as usize].is_some() {
            continue;
        }
        let described = world.cells.all[cell as usize];
        let address = described.piece.address;
        let mut name = world.names.variable(world.program, described.piece, described.region, described.base);
        if world.is_of_library(cell) {
            name.insert_str(0, OF_LIBRARY);
        }
        if world.draft.assembler.has_var(&name) {
            name = format!("{name}@{address:x}"); // static variables of two files, say
        }
        let width = described.piece.size * 8;
        let bits = world.initial.get(cell as usize).copied().flatten().unwrap_or_else(|| world.image(cell));
        let init = Value::word(width, UBig::from(bits));
        let shown = shown(&name);
        let variable =
            world.draft.assembler.declare_var(&name, shown.as_deref(), Some(Sort::BitVec(width)), Some(init))?;
        variables[cell as usize] = Some(variable);
    }
    Ok(variables)
}

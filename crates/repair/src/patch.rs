//! A repair as a change of the source, for the simple cases, to be proposed to the programmer:
//!
//! - a critical section is widened: the lock that is given back and taken again within the code is held on;
//! - the lock that all others take is taken around the code;
//! - a new lock is declared, and taken around the code and all other accesses;
//! - a compare-and-exchange (in Rust an update) stands in place of a load and a store of an atomic variable.
//!
//! Text is all that is known of the source here. So a patch is refused wherever a line is not of the form that is expected:
//! a wrong patch is worse than none.

mod diff;
mod held;
mod new_lock;
mod refusal;
mod rust_held;
mod source;

use crate::enforce::Whole;
use crate::place::parts_of_loc;
use crate::section::Section;
use diff::{Edit, unified};
use foretrace_trace::{Op, SyncId, Trace};
use held::{Holding, holding};
use new_lock::by_new_lock;
use refusal::no;
use rust_held::held_in_rust;
use serde::Serialize;
use source::{Language, LockCall, Source};
use std::collections::BTreeSet;

pub use new_lock::NewLock;
pub use refusal::NoPatch;

/// The lock that a patch takes.
#[derive(Clone, Copy)]
pub enum PatchLock<'a> {
    /// One of the trace's.
    Existing(SyncId),
    /// One that the patch declares.
    New(NewLock<'a>),
    /// None would do.
    None,
}

/// A change of a source file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Patch {
    /// What it does.
    pub what: String,
    /// The change as a unified diff, with this name of the file.
    pub diff: String,
    /// Whether it declares a new lock.
    #[serde(skip)]
    pub declares: bool,
}

/// The only file that a repair is in.
pub fn file_of(repair: &[Section]) -> Result<&str, NoPatch> {
    if repair.iter().any(|section| section.turns) {
        return no("all turns of a loop have to be one section");
    }
    let mut files = repair.iter().flat_map(|section| &section.lines).map(|lines| lines.file.as_str());
    match files.next().filter(|file| !file.is_empty()) {
        Some(file) if files.all(|other| other == file) => Ok(file),
        _ => no("the code lies in several files"),
    }
}

/// Proposes a change of a file with this text, for a repair whose sections have these runs in the trace. The diff names the file `name`.
pub fn patch(
    trace: &Trace,
    (repair, stretches): (&[Section], &[Vec<Whole>]),
    lock: PatchLock<'_>,
    (name, text): (&str, &str),
) -> Result<Patch, NoPatch> {
    let file = file_of(repair)?;
    let source = Source::new(file, text);
    let mut code = Vec::new();
    for lines in repair.iter().flat_map(|section| &section.lines) {
        if lines.first == 0 || lines.last as usize > source.len() {
            return no(format!("{file}: the code ends at line {}, the file has {}", lines.last, source.len()));
        }
        code.push((lines.first as usize - 1, lines.last as usize - 1));
    }
    let exchange = match code.as_slice() {
        [(first, last)] => source.exchange(*first, *last),
        _ => None,
    };
    let declares = exchange.is_none() && matches!(lock, PatchLock::New(_));
    let (what, edits) = match (exchange, lock) {
        (Some((object, edits)), _) => {
            let how = if source.language() == Language::Rust { "an update" } else { "a compare-and-exchange" };
            (format!("{how} of {object} in place of a load and a store"), edits)
        }
        (None, PatchLock::Existing(lock)) => {
            let locked = Locked { trace, lock, file, source: &source };
            let mut all = (String::new(), Vec::new());
            for (stretches, code) in stretches.iter().zip(code) {
                let (what, edits) = by_lock(&locked, stretches, code)?;
                all.0 = what;
                all.1.extend(edits);
            }
            all
        }
        (None, PatchLock::New(new)) => by_new_lock(trace, (repair, new), (file, &source))?,
        (None, PatchLock::None) => return no("no existing lock would do"),
    };
    Ok(Patch { diff: unified(name, &source.lines, &edits), what, declares })
}

/// A lock, in a file.
struct Locked<'a> {
    trace: &'a Trace,
    lock: SyncId,
    file: &'a str,
    source: &'a Source<'a>,
}

/// What stretches do with a lock.
struct Use {
    /// Whether it is held when they begin, and when they end.
    held: (bool, bool),
    /// The lines within at which it is given back or taken.
    lines: BTreeSet<usize>,
    /// The lines at which it is taken: of those within, and of the last one before where it is held when the stretches begin.
    takes: BTreeSet<usize>,
}

/// Holds a lock from the first to the last of these lines.
fn by_lock(locked: &Locked<'_>, stretches: &[Whole], code: (usize, usize)) -> Result<(String, Vec<Edit>), NoPatch> {
    let Locked { trace, lock, source, .. } = locked;
    let name = &trace.syncs[lock.index()].key;
    let Use { held, lines, takes } = locked.uses(stretches)?;
    if source.language() == Language::Rust {
        let all = || takes.iter().copied().chain([code.0, code.1]);
        let code = (all().min().unwrap_or(code.0), all().max().unwrap_or(code.1));
        if source.statements(code.0, code.1).is_err() {
            return no(format!("the code calls what takes {name} itself"));
        }
        return Ok((format!("holds {name} on over the code"), held_in_rust(source, code, &takes)?));
    }
    // Callers of a function that takes the lock itself are many: its lines cannot go, and around its call the thread would wait for itself.
    if let Some(line) = lines.iter().find(|line| !(code.0..=code.1).contains(line)) {
        return no(format!("the code calls what takes {name} itself, at line {}", line + 1));
    }
    let inner = (lines.first().copied(), lines.last().copied());
    // What is held at an end is held on there, so that the code may as well end where the lock is given back or taken.
    let from = if held.0 { inner.0 } else { Some(inner.0.map_or(code.0, |line| line.min(code.0))) };
    let to = if held.1 { inner.1 } else { Some(inner.1.map_or(code.1, |line| line.max(code.1))) };
    let (Some(from), Some(to)) = (from.or(to), to.or(from)) else {
        return no(format!("{name} is held all the time, so that another lock is needed"));
    };
    let (from, to) = source.statements(from, to)?;
    let is_step = |line: usize| {
        format!("line {}: expected a statement that takes or gives back {name} and nothing else", line + 1)
    };
    let call = match lines.first() {
        Some(line) => match (from..=to).find_map(|line| source.step_of_lock(line)) {
            Some(step) => Some(step.call),
            None => return no(is_step(*line)),
        },
        None => locked.taken_elsewhere(),
    };
    let is_global = |call: &LockCall| call.expression().replace("->", ".") == **name;
    let Some(call) = call.filter(|call| !lines.is_empty() || is_global(call)) else {
        return no(format!("{name} is no global variable that this file takes by its name"));
    };
    let Holding { held, steps, mut edits } = holding(source, (from, to), &call, held.0)?;
    if let Some(line) = lines.iter().find(|line| !steps.contains(line)) {
        return no(is_step(*line));
    }
    if source.has_directive_across(from, to) {
        return no("the code lies in several branches of the preprocessor");
    }
    let variable = call.expression().split(['.', '-', '[', ':']).next().unwrap_or_default();
    if held != (true, true) && !is_global(&call) && source.may_change((from, to), variable) {
        return no(format!("{} may be another lock where the code begins or ends", call.expression()));
    }
    if !held.0 {
        edits.push(Edit::Before(from, source.line_like(from, &call.taking())));
    }
    if !held.1 {
        edits.push(Edit::Before(to + 1, source.line_like(from, &call.giving())));
    }
    let what = if steps.is_empty() {
        format!("takes {name} around the code")
    } else {
        format!("holds {name} on over the code")
    };
    Ok((what, edits))
}

impl Locked<'_> {
    /// What the stretches do with the lock; all must do alike.
    fn uses(&self, stretches: &[Whole]) -> Result<Use, NoPatch> {
        let Locked { trace, lock, .. } = self;
        let name = &trace.syncs[lock.index()].key;
        let (mut held, mut lines, mut takes) = (None, BTreeSet::new(), BTreeSet::new());
        for (first, last) in stretches {
            let (mut now, mut at_start, mut taken) = (false, false, None);
            let thread = trace.event(*first).thread;
            for (id, event) in trace.iter().filter(|(id, event)| event.thread == thread && id <= last) {
                if id == *first {
                    at_start = now;
                    takes.extend(taken.filter(|_| now).map(|id| self.line_of(trace.loc(id))).transpose()?);
                }
                match event.op {
                    Op::Acquire { lock: other } if other == *lock => {
                        now = true;
                        taken = Some(id);
                    }
                    Op::Release { lock: other } if other == *lock => now = false,
                    Op::AcquireShared { lock: other } if other == *lock => return no(format!("{name} is shared")),
                    _ => continue,
                }
                if *first <= id {
                    lines.insert(self.line_of(trace.loc(id))?);
                    takes.extend(taken.filter(|taken| *taken == id).map(|_| self.line_of(trace.loc(id))).transpose()?);
                }
            }
            if *held.get_or_insert((at_start, now)) != (at_start, now) {
                return no(format!("{name} is held on some ways to the code only"));
            }
        }
        match held {
            Some(held) => Ok(Use { held, lines, takes }),
            None => no("the trace never runs the code"),
        }
    }

    fn line_of(&self, loc: Option<&str>) -> Result<usize, NoPatch> {
        match loc.and_then(parts_of_loc) {
            Some((file, line, _)) if file == self.file && (1..=self.source.len()).contains(&(line as usize)) => {
                Ok(line as usize - 1)
            }
            _ => no(format!("{} is taken in another file", self.trace.syncs[self.lock.index()].key)),
        }
    }

    /// How this file takes the lock.
    fn taken_elsewhere(&self) -> Option<LockCall> {
        let takes = |op: &Op| matches!(op, Op::Acquire { lock } if *lock == self.lock);
        let mut places = self.trace.iter().filter(|(_, event)| takes(&event.op));
        places.find_map(|(id, _)| Some(self.source.step_of_lock(self.line_of(self.trace.loc(id)).ok()?)?.call))
    }
}

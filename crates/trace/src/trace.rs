//! A trace: one observed execution as plain data.
//!
//! Names are interned, expressions live in one arena, and everything that refers to an event does
//! so by its index. A `Trace` that came out of a reader or [`crate::TraceBuilder`] was validated; see
//! `docs/trace-format.md` for what each field means.

use crate::call_stacks::CallStacks;
use crate::names::Names;
use crate::op::Op;
use crate::printable::make_printable;
use crate::term::{Leaf, TermId, Terms};
use crate::value::{Sort, Value};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub use crate::ids::{EventId, NameId, SyncId, ThreadId, VarId};

/// What a trace knows of values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Data {
    /// Neither values nor expressions.
    None,
    /// The values that were read and written.
    Concrete,
    /// Expressions, from which values follow.
    Symbolic,
}

impl Data {
    /// The name that the format gives it.
    pub fn name(self) -> &'static str {
        match self {
            Data::None => "none",
            Data::Concrete => "concrete",
            Data::Symbolic => "symbolic",
        }
    }
}

/// A shared variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name in the file, unique among variables.
    pub key: Box<str>,
    /// What reports show instead of the key.
    pub name: Option<Box<str>>,
    /// Its sort; present unless the trace has no data.
    pub sort: Option<Sort>,
    /// Its value before the first event; present unless the trace has no data.
    pub init: Option<Value>,
}

/// What the names of a library's own variables start with, in recorded traces.
pub const OF_LIBRARY: &str = "(std) ";

/// The barrier that stands for other programs in recorded traces. What the program sends to them arrives there, each time in another round.
/// What comes from them departs from the rounds that it may depend on.
pub const OTHER_PROGRAMS: &str = "other programs";

impl Variable {
    /// The name for people.
    pub fn shown(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.key)
    }

    /// Whether it is a library's own, which keeps in it what lets threads meet: its accesses order others, and are no
    /// candidates.
    pub fn is_of_library(&self) -> bool {
        self.key.starts_with(OF_LIBRARY)
    }
}

/// A synchronisation object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncObject {
    /// Its name in the file, unique among synchronisation objects.
    pub key: Box<str>,
    /// What it is.
    pub kind: SyncKind,
}

/// The kinds of synchronisation objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncKind {
    /// A lock with one holder; of a recursive one only the outermost acquire and release of a nest count.
    Mutex {
        /// Whether its holder may take it again.
        recursive: bool,
    },
    /// A lock with one holder or any number of sharers.
    Rwlock,
    /// A counter, at `init` before the first event.
    Semaphore {
        /// The count before the first event.
        init: u64,
    },
    /// A condition variable.
    Condvar,
    /// A barrier of `parties` threads.
    Barrier {
        /// How many threads meet, where known.
        parties: Option<u64>,
    },
    /// An initialisation that happens once.
    Once,
}

impl SyncKind {
    /// The name that the format gives this kind.
    pub fn name(self) -> &'static str {
        match self {
            SyncKind::Mutex { .. } => "mutex",
            SyncKind::Rwlock => "rwlock",
            SyncKind::Semaphore { .. } => "semaphore",
            SyncKind::Condvar => "condvar",
            SyncKind::Barrier { .. } => "barrier",
            SyncKind::Once => "once",
        }
    }
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its number in the file.
    pub number: u64,
    /// Its name, for reports.
    pub name: Option<Box<str>>,
    /// Its place in the tree of threads, `"0.2"`, the same in every run of the program.
    pub path: Option<Box<str>>,
}

/// A use of a local name in an expression: the event that defined it (a `read`, `rmw` or `let`).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Local {
    /// The defining event, of the same thread, at or before the use.
    pub definition: EventId,
    /// The name's sort there.
    pub sort: Sort,
}

impl Leaf for Local {
    fn sort(&self) -> Sort {
        self.sort
    }
}

/// One step of one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Who takes the step.
    pub thread: ThreadId,
    /// What it does.
    pub op: Op,
    /// Where in the source, `file:line` or `file:line:column`.
    pub loc: Option<NameId>,
    /// Position in the recorder's log of the thread, for replay.
    pub at: Option<u64>,
    /// `(k, n)`: the k-th (from 1) of n events of the thread that happen in one step.
    pub part: Option<(u32, u32)>,
    /// What it does is one of two outcomes of a call: a try that might have failed, a wait that might have timed out.
    pub tried: bool,
}

/// One observed execution of a concurrent program.
#[derive(Clone, Debug)]
pub struct Trace {
    /// What it knows of values.
    pub data: Data,
    /// The program's name.
    pub program: Option<Box<str>>,
    /// Shared variables.
    pub vars: Vec<Variable>,
    /// Synchronisation objects.
    pub syncs: Vec<SyncObject>,
    /// Threads, those of the header first (by number), then in order of first mention.
    pub threads: Vec<Thread>,
    /// The events, in the order in which they took effect.
    pub events: Vec<Event>,
    /// Interned strings.
    pub names: Names,
    /// All expressions and recorded values.
    pub terms: Terms<Local>,
    /// Through which calls the program came to the events, where that is known. The formats leave it out.
    pub call_stacks: Option<Arc<CallStacks>>,
}

impl Trace {
    /// A trace without events.
    pub fn new(data: Data) -> Trace {
        Trace {
            data,
            program: None,
            vars: Vec::new(),
            syncs: Vec::new(),
            threads: Vec::new(),
            events: Vec::new(),
            names: Names::default(),
            terms: Terms::default(),
            call_stacks: None,
        }
    }

    /// The event of this index.
    pub fn event(&self, id: EventId) -> &Event {
        &self.events[id.index()]
    }

    /// All events with their indices, in observed order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (EventId, &Event)> + DoubleEndedIterator {
        self.events.iter().enumerate().map(|(index, event)| (EventId::from_index(index), event))
    }

    /// An event's source location, where the trace has it.
    pub fn loc(&self, id: EventId) -> Option<&str> {
        self.event(id).loc.map(|loc| self.names.text(loc))
    }

    /// A recorded value.
    pub fn value(&self, literal: TermId) -> &Value {
        self.terms.as_const(literal).expect("recorded values are literals")
    }

    /// Puts a mark in place of each control character of all names, so that a terminal can show them.
    pub fn make_printable(&mut self) {
        self.names.make_printable();
        let vars = self.vars.iter_mut().flat_map(|var| std::iter::once(&mut var.key).chain(var.name.as_mut()));
        let syncs = self.syncs.iter_mut().map(|sync| &mut sync.key);
        let threads = self.threads.iter_mut().flat_map(|thread| thread.name.iter_mut().chain(thread.path.as_mut()));
        vars.chain(syncs).chain(threads).chain(self.program.as_mut()).for_each(make_printable);
        if let Some(stacks) = &mut self.call_stacks {
            Arc::make_mut(stacks).make_printable();
        }
    }

    /// The name under which expressions mention a local.
    pub fn local_name(&self, local: &Local) -> &str {
        let dst = self.events.get(local.definition.index()).and_then(|event| event.op.dst());
        dst.map_or("", |dst| self.names.text(dst))
    }
}

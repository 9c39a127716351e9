//! The walk's state of one thread: its position in the log, its frames, its assumptions.

use crate::concrete::Calls;
use crate::detours::Decisions;
use crate::inlined::FrameCalls;
use crate::log::{Log, Records};
use crate::marks::Ran;
use crate::memory::Bytes;
use crate::names::Scalar;
use crate::transactions::Nest;
use crate::value::{Value, Word};
use crate::world::Source;
use foretrace_runtime::library::Function;
use foretrace_runtime::record::Kind;
use foretrace_trace::{NameId, TermId, ThreadId};
use rustc_hash::FxHashSet;

/// Addresses that no process has, for memory of frames that has no record of where it is.
const PRIVATE: u64 = 0xf000_0000_0000_0000;

/// A value that a mark is given: as JSON, and as a word of the program's where that is known.
pub(crate) type GivenValue = (Option<String>, Option<(Word, Scalar)>);

/// A thread of the recorded run.
pub(crate) struct Thread<'a> {
    /// Its position among the logs.
    pub index: usize,
    /// Its number in the recording.
    pub number: u64,
    pub id: ThreadId,
    pub records: Records<'a>,
    /// The `at` of what it does now.
    pub now: u64,
    /// The place of that record.
    pub place: u64,
    /// The `at` of the last access without a record.
    pub unlogged: Option<u64>,
    /// How many counted things it has done.
    pub done: u64,
    pub frames: Vec<Frame>,
    /// Other stacks of frames, which do not go on at the moment.
    pub contexts: Vec<Context>,
    /// How many stacks it had beyond its first.
    pub areas: u64,
    /// Whether it is in functions that it entered before the trace begins.
    pub begun_before: bool,
    /// Functions without side-car that it is in.
    pub calls: Calls,
    /// The registers of all frames.
    pub registers: Vec<Value>,
    /// Room for what the first instructions of a block take over from the one before.
    pub incoming: Vec<Value>,
    /// What it has assumed so far; no need to say it again.
    pub assumed: FxHashSet<TermId>,
    /// Which terms it has pinned, the last ones.
    pub pinned: Pinned,
    /// How many names it has defined.
    pub names: u64,
    pub nest: Nest,
    pub decisions: Decisions,
    /// Marked transactions that are open.
    pub marked: u32,
    /// Marked operations that are open: object and method of each, the innermost last.
    pub operations: Vec<(Option<NameId>, NameId)>,
    /// What was given for the call or return that comes next: values as JSON, nothing for one that is not known; and what the
    /// program computed them from.
    pub given: Vec<GivenValue>,
    /// What the program passes to the mark that comes next.
    pub passed: Option<Word>,
    /// What it is about to free.
    pub freed: Option<Word>,
    /// Locks that it has or shares.
    pub locks: u32,
    /// The condition variable and the mutex of the wait that it is in.
    pub waiting: Option<(usize, usize)>,
    /// Where the next private memory goes.
    pub private: u64,
    /// What it does comes after all that was sent to other programs up to this number.
    pub heard: u64,
}

impl<'a> Thread<'a> {
    pub fn new(index: usize, number: u64, id: ThreadId, log: &'a Log) -> Thread<'a> {
        Thread {
            index,
            number,
            id,
            records: log.records(),
            now: 0,
            place: 0,
            unlogged: None,
            begun_before: false,
            done: log.counted_before(),
            frames: Vec::new(),
            contexts: Vec::new(),
            areas: 0,
            calls: Calls::default(),
            registers: Vec::new(),
            incoming: Vec::new(),
            assumed: FxHashSet::default(),
            pinned: Pinned::default(),
            names: 0,
            nest: Nest::default(),
            decisions: Decisions::default(),
            marked: 0,
            operations: Vec::new(),
            given: Vec::new(),
            passed: None,
            freed: None,
            locks: 0,
            waiting: None,
            private: PRIVATE | (index as u64) << 40,
            heard: 0,
        }
    }
}

impl Thread<'_> {
    /// Whether it does anything.
    pub fn has_records(&self) -> bool {
        self.records.peek().is_some_and(|record| record.kind != Kind::Stop)
    }

    /// Where its private memory starts.
    pub fn first_private(&self) -> u64 {
        PRIVATE | (self.index as u64) << 40
    }

    /// Of an event that no record stands for.
    pub fn source(&self) -> Source {
        Source { thread: self.id, loc: None, at: 0 }
    }
}

impl Thread<'_> {
    /// Puts a stack in place of the one that goes on, which is kept for this address.
    pub fn swap(&mut self, from: u64, to: Context) {
        let kept = Context {
            address: from,
            frames: std::mem::replace(&mut self.frames, to.frames),
            registers: std::mem::replace(&mut self.registers, to.registers),
            calls: std::mem::replace(&mut self.calls, to.calls),
            private: std::mem::replace(&mut self.private, to.private),
        };
        if !kept.frames.is_empty() {
            self.contexts.push(kept);
        }
    }
}

/// Some of the terms that a thread has pinned: addresses are the same base and something, over and over.
#[derive(Default)]
pub(crate) struct Pinned([Option<TermId>; 32]);

impl Pinned {
    /// Whether this term was, as far as is known.
    #[inline]
    pub fn has(&self, term: TermId) -> bool {
        self.0[term.index() % 32] == Some(term)
    }

    pub fn add(&mut self, term: TermId) {
        self.0[term.index() % 32] = Some(term);
    }
}

/// What a frame is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// The next instruction is to be executed.
    Running,
    /// Its call led out of instrumented code, or it has returned but for its `Result` record: what comes is not of
    /// this frame.
    Outside,
    /// It copies or sets memory, and has done so many bytes.
    Moving(u64),
}

/// A call of an instrumented function.
pub(crate) struct Frame {
    /// Its position among the program's functions; nothing for a signal handler's caller.
    pub function: Option<usize>,
    /// The next instruction.
    pub next: usize,
    pub block: u32,
    /// The block before.
    pub previous: u32,
    /// Where its registers start: its instructions', then its parameters, then constants.
    pub registers: usize,
    /// Where those of its parameters start.
    pub parameters: usize,
    pub state: State,
    /// What a copy has read and not yet written.
    pub held: Option<Box<Bytes>>,
    /// What it did when an access crashed, until a handler has ended or jumped out.
    pub crashed: Option<State>,
    /// Whether an instruction of the frame below called it, and gets its value.
    pub called: bool,
    /// What the function that it called gave back, until the `Result` record.
    pub returned: Option<Value>,
    /// The function of the C library that it calls, if the log has what that does.
    pub library: Option<Box<LibraryCall>>,
    /// Variable arguments that came in registers: where among these, and what they are.
    pub variadic: Vec<(u64, Word)>,
    /// Calls of `setjmp` that were made here.
    pub setjmps: Vec<usize>,
    /// Code that may order threads, which the call that the frame is in has led to.
    pub foreign: Option<Ran>,
    /// Stretches of the thread that were open when it began.
    pub nest: usize,
    /// Loops that it is in, where each turn is a stretch.
    pub loops: Vec<u32>,
    /// Whether its loops' turns are stretches: those of the program's own functions.
    pub has_blocks: bool,
    /// Where its private memory starts.
    pub private: u64,
    /// The operation that it is, until that has returned.
    pub operation: Option<Box<OpenOperation>>,
    /// The calls that have led to events.
    pub calls: FrameCalls,
}

/// An operation by the name of its function that has not returned.
pub(crate) struct OpenOperation {
    pub object: Option<NameId>,
    pub method: NameId,
    /// Where it puts its result.
    pub place: Option<(Word, Scalar)>,
    /// Whether it takes something out or looks for it: a truth value that it gives is not what it found.
    pub is_taker: bool,
    /// Whether it has a pointer where its result may go, for all that is known.
    pub has_pointer: bool,
}

/// A stack of frames that does not go on at the moment.
pub(crate) struct Context {
    /// The address of what the program keeps of it, 0 where it keeps nothing.
    pub address: u64,
    pub frames: Vec<Frame>,
    pub registers: Vec<Value>,
    pub calls: Calls,
    pub private: u64,
}

/// A call of a function of the C library that is under way.
pub(crate) struct LibraryCall {
    pub function: Function,
    /// The byte that is looked for.
    pub wanted: Word,
    /// What was read last and not written yet.
    pub held: Option<Bytes>,
    /// Of a pair of pieces that are compared the first.
    pub first: Option<Bytes>,
    /// What the comparison gives, once it is decided.
    pub difference: Option<Word>,
}

/// Why a thread does not go on right now.
pub(crate) enum Pause {
    /// It is another thread's turn until this order.
    Turn(u64),
    /// Its log ends here.
    End,
    /// The trace has as many events as it may.
    Full,
    /// The frames are others now: look again.
    Again,
    /// The log is not what the program would have written.
    Lost(String),
    /// The trace cannot hold what happened.
    Problem(foretrace_trace::Problem),
}

impl Pause {
    #[cold]
    pub fn no_frame() -> Pause {
        Pause::Lost("no function is active".into())
    }

    #[cold]
    pub fn no_end() -> Pause {
        Pause::Lost("a block without an end".into())
    }
}

impl From<foretrace_trace::Problem> for Pause {
    fn from(problem: foretrace_trace::Problem) -> Pause {
        Pause::Problem(problem)
    }
}

/// The result of a step of the walk.
pub(crate) type Step<T> = Result<T, Pause>;

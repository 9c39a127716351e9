//! Writes down the trace of a run: events, the names they define, and the terms that values are made of.

use super::program::{Program, TextId};
use foretrace_trace::{
    Data, Event, EventId, Func, Local, NameId, Node, Op, Sort, TermId, Thread, ThreadId, Trace, Value, smtlib,
};
use rustc_hash::FxHashMap;

/// A value of a thread, and how it came from what the thread read.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub value: Value,
    /// Nothing for what is the same in every run: constants come into the trace only where an event mentions them.
    term: Option<TermId>,
    /// How large the term is.
    size: u32,
}

impl Operand {
    /// A value that is the same in every run.
    pub(super) fn constant(value: Value) -> Operand {
        Operand { value, term: None, size: 1 }
    }

    /// Whether it is the same in every run.
    pub(super) fn is_constant(&self) -> bool {
        self.term.is_none()
    }

    /// Whether it is better named than written out.
    pub(super) fn is_large(&self) -> bool {
        self.size > LARGEST_TERM
    }
}

/// Terms that local variables hold are at most this large.
const LARGEST_TERM: u32 = 12;

/// A trace that grows.
#[derive(Clone)]
pub(super) struct Recorder<'p> {
    program: &'p Program,
    pub trace: Trace,
    /// How often each thread has defined each name.
    defined: FxHashMap<(usize, TextId), u32>,
    /// How many results of operations each thread has named.
    results: FxHashMap<usize, u32>,
    /// The locations of instructions that made events.
    locations: FxHashMap<usize, NameId>,
}

impl<'p> Recorder<'p> {
    pub(super) fn new(program: &'p Program) -> Recorder<'p> {
        let mut trace = Trace::new(Data::Symbolic);
        trace.program = Some(program.file.clone());
        trace.vars = program.variables.clone();
        trace.syncs = program.syncs.clone();
        let thread = |(position, name): (usize, &str)| Thread {
            number: position as u64 + 1,
            name: Some(name.into()),
            path: None,
        };
        trace.threads = program.threads().enumerate().map(thread).collect();
        Recorder {
            program,
            trace,
            defined: FxHashMap::default(),
            results: FxHashMap::default(),
            locations: FxHashMap::default(),
        }
    }

    /// The index that the next event will have.
    pub(super) fn next_event(&self) -> EventId {
        EventId::from_index(self.trace.events.len())
    }

    /// Adds an event of the thread, made by the instruction at `at`.
    pub(super) fn event(&mut self, thread: usize, at: usize, op: Op) -> EventId {
        let event = self.next_event();
        let loc = Some(self.location(at));
        self.trace.events.push(Event {
            thread: ThreadId::from_index(thread),
            op,
            loc,
            at: None,
            part: None,
            tried: false,
        });
        event
    }

    /// `file:line:column` of an instruction.
    pub(super) fn location(&mut self, at: usize) -> NameId {
        if let Some(location) = self.locations.get(&at) {
            return *location;
        }
        let (line, column) = self.program.places[at];
        let location = self.trace.names.intern(&format!("{}:{line}:{column}", self.program.file));
        self.locations.insert(at, location);
        location
    }

    pub(super) fn intern(&mut self, text: TextId) -> NameId {
        self.trace.names.intern(self.program.text(text))
    }

    /// A local name that the thread has not defined yet, after `base`.
    pub(super) fn fresh_name(&mut self, thread: usize, base: TextId) -> NameId {
        let text = self.program.text(base);
        let uses = self.defined.entry((thread, base)).or_insert(u32::from(is_reserved(text)));
        *uses += 1;
        // No name of the language has a dot in it.
        let name = if *uses == 1 { text.to_string() } else { format!("{text}.{uses}") };
        self.trace.names.intern(&name)
    }

    /// A local name for what an operation of the thread gives; no name of the language has a dot in it.
    pub(super) fn fresh_result(&mut self, thread: usize) -> NameId {
        let uses = self.results.entry(thread).or_default();
        *uses += 1;
        self.trace.names.intern(&format!("result.of.{uses}"))
    }

    /// What an operation gives as a term that readers take for the same number: a word of 64 bits would be signed.
    pub(super) fn result(&mut self, result: &Operand) -> TermId {
        match result.value.sort() {
            Sort::BitVec(64) => {
                let longer = self.apply(Func::ZeroExtend(1), std::slice::from_ref(result));
                self.term(&longer)
            }
            _ => self.term(result),
        }
    }

    /// Whether the latest event of a thread gives a value a name, which could be taken for that of a result.
    pub(super) fn has_just_named(&self, thread: usize) -> bool {
        let is_own = |event: &&Event| event.thread == ThreadId::from_index(thread);
        self.trace.events.iter().rfind(is_own).is_some_and(|event| matches!(event.op, Op::Let { .. }))
    }

    /// The value that the event gives to the local name that it defines.
    pub(super) fn defined_by(&mut self, event: EventId, value: Value) -> Operand {
        let term = self.trace.terms.leaf(Local { definition: event, sort: value.sort() });
        Operand { value, term: Some(term), size: 1 }
    }

    /// The operand as a term of the trace.
    pub(super) fn term(&mut self, operand: &Operand) -> TermId {
        operand.term.unwrap_or_else(|| self.literal(&operand.value))
    }

    pub(super) fn literal(&mut self, value: &Value) -> TermId {
        self.trace.terms.constant(value.clone())
    }

    /// A function of operands, which the compiler has checked to fit it.
    pub(super) fn apply(&mut self, function: Func, operands: &[Operand]) -> Operand {
        let values: Vec<&Value> = operands.iter().map(|operand| &operand.value).collect();
        let value = function.apply(&values);
        if operands.iter().all(Operand::is_constant) {
            return Operand::constant(value);
        }
        let terms: Vec<TermId> = operands.iter().map(|operand| self.term(operand)).collect();
        let size = operands.iter().fold(1u32, |size, operand| size.saturating_add(operand.size));
        let term = self.trace.terms.app(function, &terms).expect("the compiler has checked the sorts");
        Operand { value, term: Some(term), size }
    }

    /// The condition that a truth value is as it is.
    pub(super) fn as_it_is(&mut self, truth: &Operand) -> TermId {
        let term = self.term(truth);
        if truth.value.is_true() {
            return term;
        }
        match self.trace.terms.node(term) {
            Node::App(Func::Not, inner) => inner[0],
            _ => {
                let negation = self.apply(Func::Not, std::slice::from_ref(truth));
                self.term(&negation)
            }
        }
    }

    /// The condition that two operands are equal.
    pub(super) fn equal(&mut self, left: &Operand, right: &Operand) -> Operand {
        self.apply(Func::Eq, &[left.clone(), right.clone()])
    }
}

/// Whether the name means something else in a term.
fn is_reserved(name: &str) -> bool {
    smtlib::symbol(name) != name || smtlib::function(name, &[]).is_some()
}

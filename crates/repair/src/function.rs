//! The function that an event is in: by the calls that led to it, inlined ones too, where they are known, else by blocks.

use crate::calls::{CallSpan, Calls};
use foretrace_trace::{BlockKind, EventId, NameId, Op, Trace};

/// The functions of a trace.
pub struct Functions<'t> {
    trace: &'t Trace,
    calls: Option<Calls>,
}

/// The part of a thread that is one call of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its first event, which may be its begin.
    pub first: EventId,
    /// Its last event, which may be its end.
    pub last: EventId,
    /// Whether it is all that its thread does.
    pub is_thread: bool,
}

impl<'t> Functions<'t> {
    /// Those of a trace.
    pub fn new(trace: &'t Trace) -> Functions<'t> {
        Functions { trace, calls: Calls::new(trace) }
    }

    /// The innermost function or mark around an event.
    pub fn around(&self, event: EventId) -> Option<Function> {
        match (self.call_around(event), self.block_around(event)) {
            (Some(called), Some((block, BlockKind::Mark))) if called.first <= block.first => Some(block),
            (Some(called), _) => Some(called),
            (None, block) => block.map(|(block, _)| block),
        }
    }

    fn call_around(&self, event: EventId) -> Option<Function> {
        let calls = self.calls.as_ref()?;
        let CallSpan { call, first, last, .. } = calls.innermost_span(self.trace, event)?;
        Some(Function { name: calls.function(call).to_string(), first, last, is_thread: calls.is_thread(call) })
    }

    fn block_around(&self, event: EventId) -> Option<(Function, BlockKind)> {
        let trace = self.trace;
        let mut open: Vec<(EventId, Option<(NameId, BlockKind)>)> = Vec::new();
        let mut inner = None;
        let is_code = |kind: BlockKind| !matches!(kind, BlockKind::Loop | BlockKind::Section);
        for (id, other) in trace.iter().filter(|(_, other)| other.thread == trace.event(event).thread) {
            match other.op {
                Op::Begin { label, kind } => open.push((id, label.filter(|_| is_code(kind)).map(|name| (name, kind)))),
                Op::End { .. } => {
                    let ended = open.pop()?;
                    if inner == Some(ended) {
                        let (name, kind) = ended.1?;
                        let name = trace.names.text(name).to_string();
                        let is_thread = kind == BlockKind::Thread;
                        return Some((Function { name, first: ended.0, last: id, is_thread }, kind));
                    }
                }
                _ => {}
            }
            if id == event {
                inner = Some(*open.iter().rfind(|(_, code)| code.is_some())?);
            }
        }
        None
    }
}

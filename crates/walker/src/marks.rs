//! Marks of code that may order threads in a way that the trace does not show.

use foretrace_trace::{NameId, Op, ThreadId};

/// Such code that ran: the function, and what it belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ran {
    pub what: NameId,
    pub object: NameId,
    /// Whether the order with others of the object matters only where both come.
    pub if_both: bool,
}

impl Ran {
    pub fn op(self) -> Op {
        Op::Unseen { what: self.what, object: Some(self.object), if_both: self.if_both }
    }
}

/// A mark that comes before an event of the draft, and is put in later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mark {
    pub before: usize,
    pub thread: ThreadId,
    pub loc: Option<NameId>,
    pub ran: Ran,
}

impl Mark {
    pub fn op(self) -> Op {
        self.ran.op()
    }
}

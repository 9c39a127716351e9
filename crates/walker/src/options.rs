//! What is asked of a walk.

use crate::operation_names::OperationNames;
use crate::programs::Programs;
use crate::transactions::Pattern;
use foretrace_trace::{Atomic, BlockKind};

/// What is asked of a walk.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What becomes a block that is meant to be atomic.
    pub atomic: Atomic,
    /// Only functions of such names, where functions become blocks.
    pub functions: Option<Pattern>,
    /// Functions of libraries that count as the program's own, by their names.
    pub include: Option<Pattern>,
    /// Only blocks that access a shared variable whose name fits.
    pub focus: Option<Pattern>,
    /// Functions whose calls are operations on concurrent objects.
    pub operations: Option<OperationNames>,
    /// Programs that were read for other walks.
    pub programs: Programs,
}

impl Options {
    /// Whether stretches of this kind are looked for.
    pub(crate) fn wants(&self, kind: BlockKind) -> bool {
        match self.atomic {
            Atomic::Auto => true,
            Atomic::Marked => kind == BlockKind::Mark,
            Atomic::Sections => kind == BlockKind::Section,
            Atomic::Functions | Atomic::InnerFunctions => kind == BlockKind::Function,
            Atomic::Loops => kind == BlockKind::Loop,
            Atomic::Threads => kind == BlockKind::Thread,
            Atomic::Operations => false,
        }
    }
}

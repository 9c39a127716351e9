//! Calls of functions as stretches of a thread, and the functions that say where an event comes from.

use super::Walk;
use super::thread::Frame;
use crate::program::Function;
use crate::transactions::Transactions;

impl Walk<'_, '_> {
    pub(super) fn begin_function(&mut self, function: &Function, below: bool) {
        let Transactions::Functions { pattern, .. } = &self.world.options.transactions else { return };
        let wanted = match pattern {
            Some(pattern) => pattern.fits(&function.name) || pattern.fits(&function.symbol),
            None => !self.program.is_library(function),
        };
        if wanted && below {
            let label = self.world.draft.assembler.name(&function.name);
            let start = self.world.draft.next().0;
            self.thread.nest.begin(start, Some(label));
        }
    }

    /// The innermost stretch of the thread ends before event `end`, or with the thread.
    pub(crate) fn end_stretch(&mut self, end: Option<u32>) {
        let innermost = match self.world.options.transactions {
            Transactions::Functions { outermost, .. } => !outermost,
            Transactions::LoopBodies => true,
            _ => false,
        };
        let span = self.thread.nest.end(self.thread.id.0, end, innermost);
        self.world.spans.extend(span);
    }

    /// The innermost function of the program's own, and how far it is; of a library's, if there is no other.
    pub(super) fn place(&self) -> Option<(usize, usize)> {
        let own = |frame: &&Frame| {
            let function = frame.function.map(|function| &self.program.functions[function]);
            function.is_some_and(|function| !self.program.is_library(function))
        };
        let frames = || self.thread.frames.iter().rev();
        let frame = frames().find(own).or_else(|| frames().find(|frame| frame.function.is_some()))?;
        Some((frame.function?, frame.next))
    }

    /// The names of the two innermost functions of the program's own, `outer>inner`.
    pub(super) fn two_innermost(&self) -> String {
        if self.is_concrete() {
            let mut names = self.concrete_names();
            names.reverse();
            return names.join(">");
        }
        let mut names: Vec<&str> = Vec::new();
        for frame in self.thread.frames.iter().rev() {
            let Some(function) = frame.function.map(|function| &self.program.functions[function]) else { continue };
            if !self.program.is_library(function) && names.len() < 2 {
                names.push(&function.name);
            }
        }
        names.reverse();
        names.join(">")
    }
}

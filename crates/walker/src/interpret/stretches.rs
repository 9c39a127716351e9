//! Calls of functions as stretches of a thread, and the functions that say where an event comes from.

use super::Walk;
use super::thread::Frame;
use crate::program::Function;
use crate::transactions::{Counts, Pattern, Title};
use foretrace_trace::{Atomic, BlockKind, NameId};

impl Walk<'_, '_> {
    /// A function starts that the innermost frame is of.
    pub(super) fn begin_function(&mut self, function: &Function) {
        let options = self.world.options;
        if !options.wants(BlockKind::Function) {
            return;
        }
        let fits = |pattern: &Pattern| pattern.fits(&function.name) || pattern.fits(&function.symbol);
        let is_written = !self.program.is_library(function) && !function.is_derived;
        let is_own = is_written || options.include.as_ref().is_some_and(fits);
        let is_wanted = options.functions.as_ref().map_or(is_own, fits);
        if !is_wanted {
            return;
        }
        let below = self.own_functions_below();
        let is_main = function.symbol == "main" || below == ["main"] && function.name.ends_with("::main");
        let is_outermost = below.is_empty();
        if is_main {
            if is_outermost {
                self.thread.nest.is_first_outermost_call();
            }
            return;
        }
        let loc = self.world.place_of_block(function.unit, function.location);
        let label = Some(self.world.draft.assembler.name(&function.name));
        let called_at = self.called_at();
        self.begin_call(is_outermost, Title { kind: BlockKind::Function, label, loc, called_at });
    }

    /// Where the program's own code called the function of the innermost frame.
    fn called_at(&mut self) -> Option<NameId> {
        let frames = &self.thread.frames[..self.thread.frames.len().saturating_sub(1)];
        let called = frames.iter().rev().find_map(|frame| {
            let function = &self.program.functions[frame.function?];
            let is_own = !self.program.is_library(function);
            is_own.then(|| Some((function.unit, function.instructions.get(frame.next)?.location)))
        });
        let (unit, location) = called.flatten()?;
        self.world.location(unit, location)
    }

    /// A call of a function of the program's own: by another one, or not.
    pub(crate) fn begin_call(&mut self, is_outermost: bool, title: Title) {
        let start = self.world.draft.next().0;
        let is_asked_for = self.world.options.atomic != Atomic::Auto;
        match is_outermost {
            true if is_asked_for && self.thread.nest.is_first_outermost_call() => {} // the thread's own
            true if !is_asked_for => self.thread.nest.begin_outermost_call(start, title),
            _ => self.thread.nest.begin(start, title),
        }
    }

    /// The symbols of up to two functions of the program's own that the thread is in, below the innermost frame.
    fn own_functions_below(&self) -> Vec<&str> {
        let frames = &self.thread.frames[..self.thread.frames.len().saturating_sub(1)];
        let functions = frames.iter().filter_map(|frame| Some(&self.program.functions[frame.function?]));
        let own = functions.filter(|function| !self.program.is_library(function));
        own.take(2).map(|function| function.symbol.as_str()).collect()
    }

    /// The innermost call or turn of the thread ends before event `end`, or with the thread.
    pub(crate) fn end_stretch(&mut self, end: Option<u32>) {
        let counts = match self.world.options.atomic {
            Atomic::Functions => Counts::Outermost,
            Atomic::InnerFunctions => Counts::Innermost,
            _ => Counts::All,
        };
        let span = self.thread.nest.end(self.thread.id.0, end, counts);
        self.world.spans.extend(span);
    }

    /// All that the thread has open ends with it.
    pub(crate) fn end_all_stretches(&mut self) {
        while self.thread.nest.is_open() {
            if self.thread.nest.depth() > 0 {
                self.end_stretch(None);
            }
            let thread = self.thread.id.0;
            let (mark, section) = (self.thread.nest.end_mark(thread, None), self.thread.nest.end_section(thread, None));
            self.world.spans.extend(mark.into_iter().chain(section));
        }
    }

    /// The innermost function of the program's own that somebody wrote, and how far it is; of a library's, if there is no other, but for operations of atomics.
    pub(super) fn place(&self) -> Option<(usize, usize)> {
        let frame = &self.thread.frames[self.acting_frame()?];
        Some((frame.function?, frame.next))
    }

    /// The frame of that function, by its position.
    pub(super) fn acting_frame(&self) -> Option<usize> {
        let function = |frame: &Frame| frame.function.map(|function| &self.program.functions[function]);
        let own = |frame: &Frame| function(frame).is_some_and(|function| !self.program.is_library(function));
        let written = |frame: &Frame| own(frame) && function(frame).is_some_and(|function| !function.is_derived);
        let known = |frame: &Frame| frame.function.is_some();
        let acts = |frame: &Frame| frame.function.is_some_and(|function| !self.program.functions[function].is_atomic);
        let frames = &self.thread.frames;
        frames
            .iter()
            .rposition(written)
            .or_else(|| frames.iter().rposition(own))
            .or_else(|| frames.iter().rposition(acts))
            .or_else(|| frames.iter().rposition(known))
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

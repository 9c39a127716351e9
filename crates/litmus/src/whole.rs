//! Code that is kept whole while a program is explored: no other thread takes a step between its first event and its last.

use super::machine::Machine;
use super::options::Whole;
use super::program::{Instruction, TextId};

/// A thread on its way through such lines.
pub(super) struct Passage<'w> {
    whole: &'w Whole,
    /// How deep in calls it is; what it calls belongs to it.
    depth: Option<usize>,
    line: u32,
    seen: Vec<usize>,
}

impl<'w> Passage<'w> {
    /// Where a thread's next event is in one of these: its way from there.
    pub(super) fn begin(all: &'w [Whole], machine: &Machine<'_>, thread: usize) -> Option<Passage<'w>> {
        all.iter().find_map(|whole| {
            let mut passage = Passage { whole, depth: None, line: 0, seen: Vec::new() };
            passage.goes_on(machine, thread).then_some(passage)
        })
    }

    /// Whether a thread's next event belongs to it, too.
    pub(super) fn goes_on(&mut self, machine: &Machine<'_>, thread: usize) -> bool {
        let at = machine.threads[thread].at;
        let line = machine.program.places[at].0;
        let depth = machine.depth(thread);
        if self.depth.is_some_and(|own| own < depth) {
            return !waits_for_threads(&machine.program.code[at]);
        }
        let is_within = self.whole.first <= line && line <= self.whole.last;
        if !is_within || !self.is_of_block(machine, thread) || waits_for_threads(&machine.program.code[at]) {
            return false;
        }
        if !self.whole.turns && (line < self.line || self.seen.contains(&at)) {
            return false;
        }
        self.depth = Some(depth);
        self.line = line;
        self.seen.push(at);
        true
    }

    fn is_of_block(&self, machine: &Machine<'_>, thread: usize) -> bool {
        let name = |text: TextId| machine.program.text(text);
        machine.block(thread).map(name) == self.whole.block.as_deref()
    }
}

/// Whether others must go on meanwhile: nothing that is whole can hold that.
fn waits_for_threads(instruction: &Instruction) -> bool {
    use Instruction::*;
    matches!(instruction, Wake { .. } | WakeOrTimeout { .. } | Depart(_) | Join(_) | Spawn(_))
}

//! Turns of loops as stretches of a thread.

use super::Walk;
use crate::program::Function;
use crate::transactions::Title;
use foretrace_instrument::sidecar::{BlockId, LocationId};
use foretrace_trace::BlockKind;

impl Walk<'_, '_> {
    /// The innermost function goes to a block: turns of loops end and begin.
    pub(super) fn enter_block(&mut self, function: &Function, to: BlockId) {
        let headers = function.loops().around(to);
        let Some(frame) = self.thread.frames.last_mut() else { return };
        if frame.loops == headers && !headers.contains(&to) || !frame.has_blocks {
            return;
        }
        let mut open = std::mem::take(&mut frame.loops);
        let mut same = open.iter().zip(headers).take_while(|(a, b)| a == b).count();
        if let Some(again) = open.iter().position(|header| *header == to) {
            same = same.min(again);
        }
        while open.len() > same {
            open.pop();
            self.end_stretch(Some(self.world.draft.next().0));
        }
        for header in &headers[same..] {
            let title = self.title_of_turn(function, *header);
            self.thread.nest.begin(self.world.draft.next().0, title);
            open.push(*header);
        }
        if let Some(frame) = self.thread.frames.last_mut() {
            frame.loops = open;
        }
    }

    /// A turn has the name of its function, and the place of its loop.
    fn title_of_turn(&mut self, function: &Function, header: BlockId) -> Title {
        let inside = function.instructions_of(header);
        let position = |location| self.program.location(function.unit, location);
        let has_column = |location: &LocationId| position(*location).is_some_and(|position| position.column > 0);
        let loc = inside.iter().map(|one| one.location).find(has_column);
        let loc = loc.and_then(|location| self.world.place_of_block(function.unit, location));
        let label = Some(self.world.draft.assembler.name(&function.name));
        Title { kind: BlockKind::Loop, label, loc, called_at: None }
    }
}

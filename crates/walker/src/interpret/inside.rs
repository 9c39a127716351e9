//! Accesses by a library's code that acts for a function of the program's own: an event has the place of the user's call;
//! `inside.rs` keeps where inside of the library it happens. An operation of an atomic is its caller's own access.

use super::Walk;
use crate::program::holds_atomics;

impl Walk<'_, '_> {
    /// Notes whose code made the access that the last event is.
    pub(super) fn note_inside(&mut self) {
        if self.is_concrete() || self.is_unknown() {
            return;
        }
        let place = self.world.draft.events.last().and_then(|event| event.loc);
        let frame = self.thread.frames.last().and_then(|frame| Some((frame.function?, frame.next)));
        let (Some(place), Some((number, next))) = (place, frame) else { return };
        if !self.world.inside.seen.insert((place, number, next)) {
            return;
        }
        let inside = self.inside();
        self.world.inside.note(place, inside);
    }

    /// The code of a library that makes the access at hand; nothing where that is the program's own.
    fn inside(&self) -> Option<String> {
        for frame in self.thread.frames.iter().rev() {
            let Some(function) = frame.function.map(|number| &self.program.functions[number]) else { break };
            let location = function.instructions.get(frame.next).map_or(function.location, |one| one.location);
            let position = self.program.library_position(function.unit, location)?;
            if holds_atomics(&position.file) {
                continue;
            }
            let file = position.file.rsplit_once("/library/").map_or(&*position.file, |(_, file)| file);
            let name = if position.function.is_empty() { &function.name } else { &position.function };
            return Some(format!("{name}, {file}:{}", position.line));
        }
        None
    }
}

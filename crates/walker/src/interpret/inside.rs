//! Accesses by a library's code that acts for a function of the program's own: an event has the place of the user's call;
//! `inside.rs` keeps where inside of the library it happens.

use super::Walk;

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
        let function = &self.program.functions[number];
        let location = function.instructions.get(next).map_or(function.location, |one| one.location);
        let inside = self.program.library_position(function.unit, location).map(|position| {
            let file = position.file.rsplit_once("/library/").map_or(&*position.file, |(_, file)| file);
            let name = if position.function.is_empty() { &function.name } else { &position.function };
            format!("{name}, {file}:{}", position.line)
        });
        self.world.inside.note(place, inside);
    }
}

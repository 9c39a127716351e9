//! Accesses by a library's code that acts for a function of the program's own: an event has the place of the user's call; here
//! is where inside of the library it happens.

use super::Walk;
use foretrace_trace::NameId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// How many places inside of libraries are told of one place.
const MOST: usize = 8;
const LAST: usize = MOST - 1;

/// By place of the program's own code, where inside of a library its accesses happen.
#[derive(Default)]
pub(crate) struct Inside {
    /// Place, function and instruction of the accesses that were looked at.
    seen: FxHashSet<(NameId, usize, usize)>,
    /// Nothing where the program's own code makes some access itself.
    of_place: FxHashMap<NameId, Option<Vec<String>>>,
}

impl Inside {
    fn note(&mut self, place: NameId, inside: Option<String>) {
        let Some(text) = inside else {
            self.of_place.insert(place, None);
            return;
        };
        let known = self.of_place.entry(place).or_insert_with(|| Some(Vec::new()));
        if let Some(known) = known.as_mut().filter(|known| !known.contains(&text)) {
            match known.len() {
                MOST => {}
                LAST => known.push("…".to_string()),
                _ => known.push(text),
            }
        }
    }

    /// In words, by the places' names; several of one place with `; ` between.
    pub fn named<'n>(self, name: impl Fn(NameId) -> &'n str) -> BTreeMap<String, String> {
        let of_library = self.of_place.into_iter().filter_map(|(place, inside)| Some((name(place), inside?)));
        let told = of_library.filter_map(|(place, mut inside)| {
            let is_library_s =
                |text: &String| text.rsplit_once(", ").is_none_or(|(_, library)| !place.contains(library));
            inside.retain(is_library_s);
            (!inside.is_empty()).then(|| (place.to_string(), inside.join("; ")))
        });
        told.collect()
    }
}

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

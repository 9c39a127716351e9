//! Where inside of a library the accesses happen that it makes for the program's own code.

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
    pub seen: FxHashSet<(NameId, usize, usize)>,
    /// Nothing where the program's own code makes some access itself.
    of_place: FxHashMap<NameId, Option<Vec<String>>>,
}

impl Inside {
    /// Notes an access: what it is inside of, nothing where the program's own code makes it.
    pub fn note(&mut self, place: NameId, inside: Option<String>) {
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

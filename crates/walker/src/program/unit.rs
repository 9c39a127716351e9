//! What a unit's side-car says of all its functions.

use super::position::openmp_name;
use super::{Code, Function};
use foretrace_instrument::sidecar::{Location, LocationId, Unit};
use std::ops::Range;

/// What is left of a unit when its functions are taken out.
pub(crate) struct UnitInfo {
    pub source: String,
    pub directory: String,
    pub files: Vec<String>,
    /// Per file, whose code it holds.
    code: Vec<Code>,
    pub locations: Vec<Location>,
    /// Its functions among those of the program, ordered by site.
    pub functions: Range<usize>,
    /// Their sites, lower part.
    entries: Vec<u32>,
    pub module: usize,
}

impl UnitInfo {
    /// Of a unit whose functions are these of the program, and have these sites.
    pub fn new(unit: Unit, functions: Range<usize>, entries: Vec<u32>, module: usize) -> UnitInfo {
        let code = unit.files.iter().map(|file| Code::of_file(&unit.directory, file)).collect();
        UnitInfo {
            source: unit.source,
            directory: unit.directory,
            files: unit.files,
            code,
            locations: unit.locations.into_iter().map(named).collect(),
            functions,
            entries,
            module,
        }
    }

    /// Among its functions the one that a site may lie in, and how far from its entry.
    #[inline]
    pub fn around(&self, local: u32) -> Option<(usize, usize)> {
        let at = self.entries.partition_point(|entry| *entry <= local).checked_sub(1)?;
        Some((self.functions.start + at, (local - self.entries[at]) as usize))
    }

    /// Whose code a location is, by the innermost of the functions inlined there that acts for itself; nothing where it is not known.
    pub fn code(&self, location: LocationId) -> Option<Code> {
        let codes = || self.outwards(location).map(|(_, _, code)| code);
        codes().find(|code| *code != Code::Library).or_else(|| codes().next())
    }

    /// Where a location of an inlined function was inlined; nothing of one that was not, or where that is not known.
    pub fn inlined_at(&self, location: LocationId) -> Option<LocationId> {
        let at = self.locations.get(location as usize)?.inlined_at;
        (at != 0).then_some(at)
    }

    /// A location, and those that it was inlined at, with their files; none where it is not known.
    pub fn outwards(&self, location: LocationId) -> impl Iterator<Item = (&Location, &String, Code)> {
        let known = |id: LocationId| {
            let location = self.locations.get(id as usize).filter(|location| location.line > 0)?;
            let file = location.file as usize;
            Some((location, self.files.get(file)?, self.code.get(file)?.of_function(&location.function)))
        };
        std::iter::successors(known(location), move |(location, ..)| known(location.inlined_at)).take(64)
    }

    /// Whether a `derive` made a function: all of it is where that has the trait's name, and the return at the end of the name.
    pub fn is_derived(&self, function: &Function) -> bool {
        let Some(name) = trait_of(&function.name) else { return false };
        let place = |id| self.outwards(id).last().map(|(at, ..)| (at.file, at.line, at.column));
        let mut places = function.instructions.iter().filter_map(|instruction| place(instruction.location));
        let (Some(start), Some(declared)) = (places.next(), place(function.location)) else { return false };
        let end = (start.0, start.1, start.2 + name.len() as u32);
        let mut returns = false;
        let is_there = |place| {
            returns |= place == end;
            place == start || place == end
        };
        start.1 == declared.1 && places.all(is_there) && returns
    }
}

/// The trait's own name in that of a function which implements it: `PartialEq` of `<Status as core::cmp::PartialEq>::eq`.
fn trait_of(function: &str) -> Option<&str> {
    let (of_trait, _) = function.strip_prefix('<')?.rsplit_once(">::")?;
    let (_, path) = of_trait.rsplit_once(" as ")?;
    path.rsplit("::").next()
}

/// A location whose function has its name in the source.
fn named(mut location: Location) -> Location {
    if let Some(name) = openmp_name(&location.function) {
        location.function = name;
    }
    location
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_of_a_trait_has_its_name() {
        assert_eq!(trait_of("<job::Status as core::cmp::PartialEq>::eq"), Some("PartialEq"));
        assert_eq!(trait_of("<Pair<u8> as Clone>::clone"), Some("Clone"));
        assert_eq!((trait_of("job::Status::eq"), trait_of("<job::Status>::eq")), (None, None));
    }
}

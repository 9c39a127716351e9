//! A witness tried on another build of its program: its places, found in the edited source.

use super::error::{RecordError, ReplayError};
use super::launch::list_modules;
use super::lines::Lines;
use super::program::Program;
use super::replay::Plan;
use super::sources::{Sources, text_of};
use super::target::{Target, Times};
use foretrace_report::{SavedPlace, SavedWitness};
use foretrace_runtime::record::Site;
use foretrace_walker::program::{Position, Program as Code};
use std::path::Path;

/// What became of the places of a witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Matched {
    /// All three are there: the plan, and what is said of each that is elsewhere now.
    All(Box<Plan>, Vec<String>),
    /// At least one is not: which, and why.
    Missing(String),
}

/// An instruction of the new build.
struct Found {
    place: u64,
    position: Position,
}

/// Finds the places of a witness in another build of the program. `recording` is the folder of the witness's recording; without the
/// source that it keeps a place is looked for by its function and column.
pub fn plan_of_edited(
    witness: &SavedWitness,
    program: &Program,
    recording: Option<&Path>,
) -> Result<Matched, ReplayError> {
    let Some(places) = &witness.places else { return Err(ReplayError::NoPlaces) };
    let folder = tempfile::tempdir().map_err(|error| ReplayError::Io(std::env::temp_dir(), error))?;
    list_modules(program, folder.path())?;
    let code = Code::open(folder.path())?;
    if code.is_concrete() {
        return Err(ReplayError::NoSideCar);
    }
    let sources = match recording {
        Some(recording) => Sources::read(recording).map_err(RecordError::from)?.unwrap_or_default(),
        None => Sources::default(),
    };
    let triple = witness.triple();
    let roles = [("first", triple.first, &places.first), ("remote", triple.remote, &places.remote)];
    let roles = roles.into_iter().chain([("second", triple.second, &places.second)]);
    let (mut targets, mut notes) = (Vec::new(), Vec::new());
    for (role, event, place) in roles {
        let step = witness.step(event).ok_or(ReplayError::NoPositions)?;
        let path = step.path.clone().ok_or(ReplayError::NoPositions)?;
        match find(place, &sources, &code) {
            Ok((places, position)) => {
                notes.extend(moved(role, place, &position));
                let times = Times { least: place.times, exact: false };
                targets.push(Target { path, at: None, times, op: step.op.clone(), places });
            }
            Err(why) => {
                return Ok(Matched::Missing(format!("{role}, {} in `{}`, {why}", place.loc, place.function)));
            }
        }
    }
    let triple = <[Target; 3]>::try_from(targets).ok();
    let recording = recording.and_then(|folder| folder.canonicalize().ok());
    let plan = Plan { recording, triple, ..Plan::default() };
    Ok(Matched::All(Box::new(plan), notes))
}

/// What is said of a place that is elsewhere now.
fn moved(role: &str, place: &SavedPlace, now: &Position) -> Option<String> {
    let loc = format!("{}:{}:{}", now.file, now.line, now.column);
    match (loc == place.loc, now.function == place.function) {
        (true, true) => None,
        (_, true) => Some(format!("{role} was at {}, is at {loc}", place.loc)),
        (_, false) => {
            Some(format!("{role} was at {} in `{}`, is at {loc} in `{}`", place.loc, place.function, now.function))
        }
    }
}

/// The places of an access in the new build, and where in the source they are; or why there are none.
fn find(place: &SavedPlace, sources: &Sources, code: &Code) -> Result<(Vec<u64>, Position), String> {
    let (file, line, column) = place.parts().ok_or("has no line")?;
    let found: Vec<Found> = code
        .places()
        .filter(|(_, position)| position.file == file)
        .map(|(Site(place), position)| Found { place, position })
        .collect();
    let Some(any) = found.first() else { return Err(format!("has no match: nothing of {file} is in this build")) };
    let now = code.source_file(Site(any.place)).and_then(|path| text_of(&path));
    let lines = match (sources.text(file), now) {
        (Some(old), Some(new)) => Some(Lines::between(old, &new)),
        _ => None,
    };
    let (line, column) = match &lines {
        None => by_function(place, (line, column), &found)?,
        Some(lines) => match lines.position(line, column) {
            Some(position) => position,
            None => in_gap(place, column, lines.gap(line), &found)?,
        },
    };
    let at = |one: &&Found| (one.position.line, one.position.column) == (line, column);
    let position = found.iter().find(at).map(|one| one.position.clone());
    let position = position.ok_or_else(|| format!("has no match: line {line} has no such code in this build"))?;
    Ok((found.iter().filter(at).map(|one| one.place).collect(), position))
}

/// Without the old source: in the function of the same name the nearest line with something at the same column.
fn by_function(place: &SavedPlace, (line, column): (u32, u32), found: &[Found]) -> Result<(u32, u32), String> {
    let fits = |one: &&Found| one.position.function == place.function && one.position.column == column;
    let nearest = found.iter().filter(fits).min_by_key(|one| one.position.line.abs_diff(line));
    let nearest = nearest.ok_or_else(|| {
        "has no match: the recording keeps no source of that file, and the function has nothing at that column"
            .to_string()
    })?;
    Ok((nearest.position.line, nearest.position.column))
}

/// Of the lines that stand in place of the old one, the only one with something at the same column of the same function.
fn in_gap(place: &SavedPlace, column: u32, (first, last): (u32, u32), found: &[Found]) -> Result<(u32, u32), String> {
    let inside = |one: &&Found| (first..=last).contains(&one.position.line);
    let fits = |one: &&Found| one.position.function == place.function && one.position.column == column;
    let mut lines: Vec<u32> = found.iter().filter(inside).filter(fits).map(|one| one.position.line).collect();
    lines.sort_unstable();
    lines.dedup();
    match lines[..] {
        [line] => Ok((line, column)),
        [] => Err("has no match: its line was changed or removed".to_string()),
        _ => Err(format!("has no single match: its line was changed, lines {} to {} may be it", lines[0], last)),
    }
}

//! Schedules that fail, made shorter by running the program: fewest turns that still fail, then fewest threads that are held up.

use super::settings::TestError;
use foretrace_report::write_whole;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

/// The schedule of a witness file as turns of threads, to be rearranged.
#[derive(Clone)]
pub struct Shortened {
    head: Head,
    /// All steps of the schedule that was read.
    steps: Rc<[Box<RawValue>]>,
    turns: Vec<Turn>,
}

/// Steps of one thread in a row. A schedule may have hundreds of thousands, so that no arrangement has copies of them.
#[derive(Clone)]
struct Turn {
    path: Rc<str>,
    steps: Vec<Range<usize>>,
}

/// A turn that goes to another one of its thread.
#[derive(Clone, Copy)]
enum Move {
    /// To right after the one before.
    Up { earlier: usize, later: usize },
    /// To right before the next one.
    Down { earlier: usize, later: usize },
}

/// What else a witness has, by its names.
type Head = BTreeMap<String, Box<RawValue>>;

/// What is read of a step.
#[derive(Deserialize)]
struct Step<'s> {
    #[serde(borrow, default)]
    path: Cow<'s, str>,
}

/// A witness as it is written.
#[derive(Serialize)]
struct Written<'s> {
    #[serde(flatten)]
    head: BTreeMap<&'s str, &'s RawValue>,
    schedule: Vec<&'s RawValue>,
}

const SCHEDULE: &str = "schedule";
const TRACE: &str = "trace";
/// Most runs that are spent on one schedule.
const MOST_RUNS: usize = 40;
/// Of a schedule with more turns, many are left out at once before single ones are moved.
const LONG: usize = 40;

impl Shortened {
    /// Reads a witness file.
    ///
    /// # Errors
    /// It cannot be read, or is none.
    pub fn read(path: &Path) -> Result<Shortened, TestError> {
        let failed = |error| TestError::Io(path.to_path_buf(), error);
        let text = std::fs::read(path).map_err(failed)?;
        let mut head: Head = serde_json::from_slice(&text).map_err(|error| failed(error.into()))?;
        let Some(schedule) = head.remove(SCHEDULE) else {
            return Err(failed(std::io::Error::other("found no schedule, expected a witness")));
        };
        let read = || -> Result<_, serde_json::Error> {
            let steps: Vec<Box<RawValue>> = serde_json::from_str(schedule.get())?;
            let paths = steps.iter().map(|step| Ok(serde_json::from_str::<Step<'_>>(step.get())?.path));
            let turns = turns_of(&paths.collect::<Result<Vec<_>, serde_json::Error>>()?);
            Ok((steps, turns))
        };
        let (steps, turns) = read().map_err(|error| failed(error.into()))?;
        Ok(Shortened { head, steps: steps.into(), turns })
    }

    /// Writes it as a witness file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), TestError> {
        let ranges = self.turns.iter().flat_map(|turn| &turn.steps);
        let schedule = ranges.flat_map(|range| &self.steps[range.clone()]).map(Box::as_ref).collect();
        let head = self.head.iter().map(|(name, value)| (name.as_str(), value.as_ref())).collect();
        let whole = Written { head, schedule };
        let write = |out: &mut dyn std::io::Write| {
            serde_json::to_writer(&mut *out, &whole)?;
            out.write_all(b"\n")
        };
        write_whole(path, write).map_err(|error| TestError::Io(path.to_path_buf(), error))
    }

    /// The same without any order but that of the three accesses.
    pub fn without_schedule(self) -> Shortened {
        Shortened { turns: Vec::new(), ..self }
    }

    /// The path of its trace.
    ///
    /// # Errors
    /// It is no text.
    pub fn trace(&self) -> Result<String, serde_json::Error> {
        self.head.get(TRACE).map_or(Ok(String::new()), |trace| serde_json::from_str(trace.get()))
    }

    /// Names its trace by another path.
    ///
    /// # Errors
    /// Never: every string can be written.
    pub fn set_trace(&mut self, trace: &str) -> Result<(), serde_json::Error> {
        self.head.insert(TRACE.to_string(), to_raw_value(trace)?);
        Ok(())
    }

    /// How many turns it has.
    pub fn turns(&self) -> usize {
        self.turns.len()
    }

    /// The shortest that was found and still does what the first one did, as `still_fails` says by running the program; it says nothing
    /// where there is no time for that.
    ///
    /// # Errors
    /// Those of `still_fails`.
    pub fn minimise(
        self,
        mut still_fails: impl FnMut(&Shortened) -> Result<Option<bool>, TestError>,
    ) -> Result<Shortened, TestError> {
        let mut left = MOST_RUNS;
        let mut best = self;
        let mut fails = |next: &Shortened, left: &mut usize| -> Result<bool, TestError> {
            let fails = still_fails(next)?;
            *left = if fails.is_some() { left.saturating_sub(1) } else { 0 };
            Ok(fails.unwrap_or(false))
        };
        let nothing = best.with(Vec::new());
        if best.is_shorter(nothing.turns()) && fails(&nothing, &mut left)? {
            return Ok(nothing);
        }
        for thread in best.threads() {
            let next = best.with(best.turns.iter().filter(|turn| turn.path != thread).cloned());
            if left > 0 && best.is_shorter(next.turns()) && fails(&next, &mut left)? {
                best = next;
            }
        }
        if best.turns() > LONG {
            let turns = fewest(best.turns.clone(), left / 2, |turns| {
                let next = best.with(turns.iter().cloned());
                let fails = best.is_shorter(next.turns()) && fails(&next, &mut left)?;
                Ok((left > 0).then_some(fails))
            })?;
            best = best.with(turns);
        }
        let mut progress = true;
        while progress && left > 0 {
            progress = false;
            for change in best.moves() {
                if left == 0 {
                    break;
                }
                let next = best.moved(change);
                if fails(&next, &mut left)? {
                    best = next;
                    progress = true;
                    break;
                }
            }
        }
        Ok(best)
    }

    /// Whether a schedule with so many turns is shorter, and still aims at something: without a schedule only a triple is left for that.
    fn is_shorter(&self, turns: usize) -> bool {
        let is_triple = self.head.get("kind").is_none_or(|kind| kind.get() == "null");
        turns < self.turns.len() && (is_triple || turns > 0)
    }

    /// The threads but the first.
    fn threads(&self) -> Vec<Rc<str>> {
        let mut threads: Vec<Rc<str>> = self.turns.iter().map(|turn| turn.path.clone()).collect();
        threads.sort_unstable();
        threads.dedup();
        threads.retain(|path| **path != *"0");
        threads
    }

    /// Moves of single turns, those with the fewest turns left first.
    fn moves(&self) -> Vec<Move> {
        let mut last: FxHashMap<&str, usize> = FxHashMap::default();
        let mut moves = Vec::new();
        for (later, turn) in self.turns.iter().enumerate() {
            if let Some(earlier) = last.insert(&turn.path, later) {
                moves.extend([Move::Down { earlier, later }, Move::Up { earlier, later }]);
            }
        }
        moves.reverse();
        moves.retain(|change| self.is_shorter(self.turns_after(*change)));
        moves.sort_by_key(|change| self.turns_after(*change));
        moves
    }

    /// How many turns there are after a move: the turn joins another, and those beside it may be of one thread.
    fn turns_after(&self, change: Move) -> usize {
        let (Move::Up { later: moved, .. } | Move::Down { earlier: moved, .. }) = change;
        let path = |at: usize| self.turns.get(at).map(|turn| &turn.path);
        let are_joined = moved > 0 && path(moved - 1) == path(moved + 1);
        self.turns.len() - 1 - usize::from(are_joined)
    }

    fn moved(&self, change: Move) -> Shortened {
        let mut turns = self.turns.clone();
        match change {
            Move::Up { earlier, later } => turns[earlier + 1..=later].rotate_right(1),
            Move::Down { earlier, later } => turns[earlier..later].rotate_left(1),
        }
        self.with(turns)
    }

    fn with(&self, turns: impl IntoIterator<Item = Turn>) -> Shortened {
        Shortened { head: self.head.clone(), steps: self.steps.clone(), turns: joined(turns) }
    }
}

/// A part of these that still fails, and that passes without any single one of its elements, as far as so many tries show. Halves are left
/// out first, then quarters, and so on (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", TSE 2002, without its
/// complements' order). `still_fails` says nothing where there is no time for a try.
///
/// # Errors
/// Those of `still_fails`.
pub fn fewest<T: Clone>(
    mut all: Vec<T>,
    most_tries: usize,
    mut still_fails: impl FnMut(&[T]) -> Result<Option<bool>, TestError>,
) -> Result<Vec<T>, TestError> {
    let mut size = all.len().div_ceil(2);
    let mut tries = 0;
    while size > 0 && tries < most_tries {
        let (before, mut from) = (all.len(), 0);
        while from < all.len() && tries < most_tries {
            let without: Vec<T> = all.iter().take(from).chain(all.iter().skip(from + size)).cloned().collect();
            tries += 1;
            match still_fails(&without)? {
                Some(true) => all = without,
                Some(false) => from += size,
                None => return Ok(all),
            }
        }
        size = match size {
            1 if all.len() < before => 1,
            size => size / 2,
        };
    }
    Ok(all)
}

/// The turns of a schedule whose steps are of these threads.
fn turns_of<P: AsRef<str>>(paths: &[P]) -> Vec<Turn> {
    let mut known: FxHashMap<&str, Rc<str>> = FxHashMap::default();
    let steps = paths.iter().map(AsRef::as_ref).enumerate().map(|(at, path)| {
        let path = known.entry(path).or_insert_with(|| Rc::from(path)).clone();
        Turn { path, steps: std::iter::once(at..at + 1).collect() }
    });
    joined(steps)
}

/// Turns of one thread in a row as one.
fn joined(turns: impl IntoIterator<Item = Turn>) -> Vec<Turn> {
    let mut all: Vec<Turn> = Vec::new();
    for turn in turns {
        let Some(last) = all.last_mut().filter(|last| last.path == turn.path) else {
            all.push(turn);
            continue;
        };
        for steps in turn.steps {
            match last.steps.last_mut().filter(|before| before.end == steps.start) {
                Some(before) => before.end = steps.end,
                None => last.steps.push(steps),
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_failure_needs_is_left() {
        let needs = |part: &[u32]| Ok(Some(part.contains(&3) && part.contains(&17)));
        assert_eq!(fewest((0..20).collect(), 100, needs).expect("no error"), [3, 17]);
        assert_eq!(fewest((0..20).collect(), 0, needs).expect("no error").len(), 20);
        let mut tries = 0;
        let late = |_: &[u32]| {
            tries += 1;
            Ok(None)
        };
        assert_eq!(fewest((0..20).collect(), 100, late).expect("no error").len(), 20);
        assert_eq!(tries, 1, "no more is tried without time");
        assert_eq!(fewest(Vec::<u32>::new(), 100, |_| Ok(Some(true))).expect("no error"), [0; 0]);
    }
    use serde_json::json;

    fn shortened(paths: &[&str]) -> Shortened {
        let step = |path| to_raw_value(&json!({ "path": path })).expect("a step can be written");
        let steps = paths.iter().map(step).collect();
        Shortened { head: Head::new(), steps, turns: turns_of(paths) }
    }

    fn paths(shortened: &Shortened) -> Vec<&str> {
        shortened.turns.iter().map(|turn| &*turn.path).collect()
    }

    #[test]
    fn turns_that_do_not_matter_are_joined() {
        // It fails as long as 1 runs before and after 2.
        let needs = |next: &Shortened| {
            let paths = paths(next);
            let at = |path| paths.iter().position(|other| *other == path);
            let last = paths.iter().rposition(|path| *path == "0.1");
            Ok(Some(matches!((at("0.1"), at("0.2"), last), (Some(a), Some(b), Some(c)) if a < b && b < c)))
        };
        let long = shortened(&["0", "0.1", "0.3", "0", "0.2", "0.3", "0.2", "0.1", "0", "0.3"]);
        let best = long.minimise(needs).expect("no run fails");
        assert_eq!(paths(&best).into_iter().filter(|path| *path != "0").collect::<Vec<_>>(), ["0.1", "0.2", "0.1"]);
        assert!(best.turns() <= 4, "{:?}", paths(&best));
    }

    #[test]
    fn a_change_has_as_many_turns_as_it_says() {
        let threads = ["0", "0.1", "0.2", "0.3"];
        let mut state = 1_u64;
        for length in 1..60 {
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                threads[(state >> 33) as usize % threads.len()]
            };
            let all: Vec<&str> = (0..length).map(|_| next()).collect();
            let schedule = shortened(&all);
            for change in schedule.moves() {
                assert_eq!(schedule.moved(change).turns(), schedule.turns_after(change), "{all:?}");
            }
        }
    }

    #[test]
    fn a_long_schedule_is_shortened_in_little_memory() {
        let long = shortened(&["0.1", "0.2"].repeat(100_000)); // all shorter ones together have 80 thousand million steps
        let best = long.minimise(|next| Ok(Some(next.turns() > 2))).expect("no run fails");
        assert!((3..1_000).contains(&best.turns()), "{} turns", best.turns());
    }

    #[test]
    fn what_always_fails_needs_no_schedule() {
        let best = shortened(&["0", "0.1", "0"]).minimise(|_| Ok(Some(true))).expect("no run fails");
        assert_eq!(best.turns(), 0);
    }
}

//! Schedules that fail, made shorter by running the program: fewest turns that still fail, then fewest threads that are held up.

use super::settings::TestError;
use foretrace_report::write_whole;
use serde_json::Value;
use std::path::Path;

/// The schedule of a witness file as turns of threads, to be rearranged.
#[derive(Clone)]
pub struct Shortened {
    head: Value,
    turns: Vec<Turn>,
}

/// Steps of one thread in a row.
#[derive(Clone)]
struct Turn {
    path: String,
    steps: Vec<Value>,
}

/// Most runs that are spent on one schedule.
const MOST_RUNS: usize = 40;

impl Shortened {
    /// Reads a witness file.
    ///
    /// # Errors
    /// It cannot be read, or is none.
    pub fn read(path: &Path) -> Result<Shortened, TestError> {
        let failed = |error| TestError::Io(path.to_path_buf(), error);
        let text = std::fs::read(path).map_err(failed)?;
        let mut head: Value = serde_json::from_slice(&text).map_err(|error| failed(error.into()))?;
        let steps = head.get_mut("schedule").map(Value::take);
        let Some(Value::Array(steps)) = steps else {
            return Err(failed(std::io::Error::other("found no schedule, expected a witness")));
        };
        let mut turns: Vec<Turn> = Vec::new();
        for step in steps {
            let path = step.get("path").and_then(Value::as_str).unwrap_or_default().to_string();
            match turns.last_mut().filter(|turn| turn.path == path) {
                Some(turn) => turn.steps.push(step),
                None => turns.push(Turn { path, steps: vec![step] }),
            }
        }
        Ok(Shortened { head, turns })
    }

    /// Writes it as a witness file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), TestError> {
        let mut whole = self.head.clone();
        let steps = self.turns.iter().flat_map(|turn| turn.steps.iter().cloned());
        whole["schedule"] = Value::Array(steps.collect());
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

    /// Names its trace by another path.
    pub fn set_trace(&mut self, trace: &str) {
        self.head["trace"] = Value::from(trace);
    }

    /// How many turns it has.
    pub fn turns(&self) -> usize {
        self.turns.len()
    }

    /// The shortest that was found and still does what the first one did, as `still_fails` says by running the program.
    ///
    /// # Errors
    /// Those of `still_fails`.
    pub fn minimise(
        self,
        mut still_fails: impl FnMut(&Shortened) -> Result<bool, TestError>,
    ) -> Result<Shortened, TestError> {
        let mut best = self;
        let mut runs = 0;
        let mut progress = true;
        while progress && runs < MOST_RUNS {
            progress = false;
            for next in best.shorter() {
                runs += 1;
                if still_fails(&next)? {
                    best = next;
                    progress = true;
                    break;
                }
                if runs >= MOST_RUNS {
                    break;
                }
            }
        }
        Ok(best)
    }

    /// Schedules with fewer turns, the shortest first: none at all, without one thread, with one turn joined to another of its thread.
    fn shorter(&self) -> Vec<Shortened> {
        let with = |turns: Vec<Turn>| Shortened { head: self.head.clone(), turns: joined(turns) };
        let mut shorter = Vec::new();
        if !self.turns.is_empty() {
            shorter.push(with(Vec::new()));
        }
        let mut paths: Vec<&str> = self.turns.iter().map(|turn| &*turn.path).filter(|path| *path != "0").collect();
        paths.sort_unstable();
        paths.dedup();
        for path in paths {
            shorter.push(with(self.turns.iter().filter(|turn| turn.path != path).cloned().collect()));
        }
        for later in (1..self.turns.len()).rev() {
            let own = &self.turns[later].path;
            let Some(earlier) = self.turns[..later].iter().rposition(|turn| turn.path == *own) else { continue };
            let mut up = self.turns.clone();
            let moved = up.remove(later);
            up.insert(earlier + 1, moved);
            shorter.push(with(up));
            let mut down = self.turns.clone();
            let moved = down.remove(earlier);
            down.insert(later - 1, moved);
            shorter.push(with(down));
        }
        // Only a triple is left to aim at without a schedule.
        let is_triple = self.head["kind"].is_null();
        shorter.retain(|next| next.turns.len() < self.turns.len() && (is_triple || !next.turns.is_empty()));
        shorter.sort_by_key(Shortened::turns);
        shorter
    }
}

/// A part of these that still fails, and that passes without any single one of its elements, as far as so many tries show. Halves are left
/// out first, then quarters, and so on (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", TSE 2002, without its
/// complements' order).
///
/// # Errors
/// Those of `still_fails`.
pub fn fewest<T: Clone>(
    mut all: Vec<T>,
    most_tries: usize,
    mut still_fails: impl FnMut(&[T]) -> Result<bool, TestError>,
) -> Result<Vec<T>, TestError> {
    let mut size = all.len().div_ceil(2);
    let mut tries = 0;
    while size > 0 && tries < most_tries {
        let (before, mut from) = (all.len(), 0);
        while from < all.len() && tries < most_tries {
            let without: Vec<T> = all.iter().take(from).chain(all.iter().skip(from + size)).cloned().collect();
            tries += 1;
            if still_fails(&without)? { all = without } else { from += size }
        }
        size = match size {
            1 if all.len() < before => 1,
            size => size / 2,
        };
    }
    Ok(all)
}

/// Turns of one thread in a row as one.
fn joined(turns: Vec<Turn>) -> Vec<Turn> {
    let mut all: Vec<Turn> = Vec::new();
    for turn in turns {
        match all.last_mut().filter(|last| last.path == turn.path) {
            Some(last) => last.steps.extend(turn.steps),
            None => all.push(turn),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_failure_needs_is_left() {
        let needs = |part: &[u32]| Ok(part.contains(&3) && part.contains(&17));
        assert_eq!(fewest((0..20).collect(), 100, needs).expect("no error"), [3, 17]);
        assert_eq!(fewest((0..20).collect(), 0, needs).expect("no error").len(), 20);
        assert_eq!(fewest(Vec::<u32>::new(), 100, |_| Ok(true)).expect("no error"), [0; 0]);
    }
    use serde_json::json;

    fn shortened(paths: &[&str]) -> Shortened {
        let turn = |path: &&str| Turn { path: path.to_string(), steps: vec![json!({ "path": path })] };
        Shortened { head: json!({}), turns: paths.iter().map(turn).collect() }
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
            Ok(matches!((at("0.1"), at("0.2"), last), (Some(a), Some(b), Some(c)) if a < b && b < c))
        };
        let long = shortened(&["0", "0.1", "0.3", "0", "0.2", "0.3", "0.2", "0.1", "0", "0.3"]);
        let best = long.minimise(needs).expect("no run fails");
        assert_eq!(paths(&best).into_iter().filter(|path| *path != "0").collect::<Vec<_>>(), ["0.1", "0.2", "0.1"]);
        assert!(best.turns() <= 4, "{:?}", paths(&best));
    }

    #[test]
    fn what_always_fails_needs_no_schedule() {
        let best = shortened(&["0", "0.1", "0"]).minimise(|_| Ok(true)).expect("no run fails");
        assert_eq!(best.turns(), 0);
    }
}

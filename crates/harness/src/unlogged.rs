//! Accesses of shared memory without a record: with records alone, one does not know where the turns of a recording's own schedule end.
//!
//! Such an access took effect right after the record before it. In a replay turns can end between the two, so that another
//! thread comes first: each turn has to go on up to the access.

use super::error::ReplayError;
use super::verify::Step;
use foretrace_trace::Trace;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::path::Path;

/// Per thread, the positions in its log of all that the trace has of it, ascending.
#[derive(Default)]
pub(super) struct Traced(FxHashMap<String, Vec<u64>>);

impl Traced {
    /// Of a trace, if there is one.
    pub fn read(trace: &Path) -> Result<Traced, ReplayError> {
        match trace.exists() {
            true => Ok(Traced::of_trace(&foretrace_trace::read(trace)?)),
            false => Ok(Traced::default()),
        }
    }

    fn of_trace(trace: &Trace) -> Traced {
        let mut traced = Traced::default();
        for event in &trace.events {
            let path = trace.threads[event.thread.index()].path.as_deref();
            if let (Some(path), Some(at)) = (path, event.at) {
                traced.0.entry(path.to_string()).or_default().push(at);
            }
        }
        traced
    }

    /// The last position of a thread in a range, else the range's start. Where the trace ends before the recording, all that comes before
    /// the thread's next step: without a record it took effect before another thread came to its memory.
    fn last(&self, path: &str, range: Range<u64>) -> u64 {
        if self.0.is_empty() {
            return range.start; // nothing is known
        }
        let positions = self.0.get(path).map_or(&[][..], Vec::as_slice);
        let ends_before = positions.last().is_none_or(|last| *last < range.end);
        if ends_before && range.end != u64::MAX {
            return range.start.max(range.end.saturating_sub(1));
        }
        let before = positions.partition_point(|at| *at < range.end);
        positions[..before].last().map_or(range.start, |at| range.start.max(*at))
    }

    /// How far each of the steps of a recording goes, given in order: up to the last of what came before the thread's next step.
    pub fn ends(&self, steps: &[Step]) -> Vec<u64> {
        let mut next: FxHashMap<&str, u64> = FxHashMap::default();
        let end =
            |step: &Step, next_at: Option<u64>| self.last(&step.path, step.end().until..next_at.unwrap_or(u64::MAX));
        let mut ends: Vec<u64> = Vec::with_capacity(steps.len());
        for step in steps.iter().rev() {
            let next_at = next.insert(&step.path, step.at);
            ends.push(end(step, next_at));
        }
        ends.reverse();
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_go_on_to_accesses_without_a_record() {
        let traced = [("0", vec![0, 3, 4, 7, 9]), ("0.1", vec![2])];
        let traced = Traced(traced.into_iter().map(|(path, all)| (path.to_string(), all)).collect());
        let step = |path: &str, at| Step { path: path.to_string(), at, apart: None };
        let steps = [step("0", 0), step("0.1", 1), step("0", 5), step("0.1", 2), step("0", 6), step("0.2", 0)];
        assert_eq!(traced.ends(&steps), [4, 1, 5, 2, 9, 0]);
        let late = [step("0", 0), step("0", 9), step("0.1", 1), step("0", 20), step("0.1", 8)];
        assert_eq!(traced.ends(&late), [7, 19, 7, 20, 8], "the trace ends before the recording");
        let freed = Step { apart: Some(1), ..step("0", 4) };
        assert_eq!(traced.ends(&[step("0", 0), freed, step("0", 6)]), [3, 4, 9]);
    }
}

//! Which thread a signal killed, and where.

use super::positions::Positions;
use super::thread_names::ThreadNames;
use foretrace_walker::WalkError;
use foretrace_walker::log::{Record, open_logs, thread_paths};
use std::path::Path;

/// Where a run died.
pub struct Death {
    /// The thread, in full.
    pub thread: String,
    /// The last line of the program's own that it came to, as `file:line`.
    pub place: String,
    /// Whether it died there, in an access of memory; else some time after.
    pub is_there: bool,
}

/// The thread that a run died of, and where.
///
/// # Errors
/// The logs of the recording cannot be read.
pub fn dying_thread(recording: &Path, positions: &Positions) -> Result<Option<Death>, WalkError> {
    let logs = open_logs(recording)?;
    let mut last: Option<(Time, String, Option<Record>)> = None;
    for (path, log) in thread_paths(&logs).into_iter().zip(&logs) {
        let (mut time, mut own) = (Time::Ran(0), None);
        for record in log.records() {
            time = time.after(record.order());
            own = if positions.is_written(&record) { Some(record) } else { own };
        }
        if last.as_ref().is_none_or(|(latest, ..)| time > *latest) {
            last = Some((time, path, own));
        }
    }
    let Some((_, path, Some(record))) = last else { return Ok(None) };
    let thread = ThreadNames::of_recording(recording)?.full(&path);
    let is_there = record.order() == Some(0);
    Ok(positions.line_of(&record).map(|place| Death { thread, place, is_there }))
}

/// How late a thread's log ends. Threads run one at a time, so the one that ran last dies; an access that crashed says so itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Time {
    /// After the record of this order.
    Ran(u64),
    /// In an access that never took effect.
    Crashed,
}

impl Time {
    /// After one more record, of this order. A handler may repair a crash: then the thread goes on.
    fn after(self, order: Option<u64>) -> Time {
        match (self, order) {
            (_, Some(0)) => Time::Crashed,
            (_, Some(order)) => Time::Ran(order),
            (before, None) => before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(orders: &[Option<u64>]) -> Time {
        orders.iter().fold(Time::Ran(0), |time, order| time.after(*order))
    }

    #[test]
    fn who_crashes_dies_and_else_who_ran_last() {
        assert!(time(&[Some(3), Some(0)]) > time(&[Some(7)]));
        assert!(time(&[Some(8), None]) > time(&[Some(7)]));
        assert_eq!(time(&[Some(0), Some(9)]), Time::Ran(9), "a handler repaired it");
    }
}

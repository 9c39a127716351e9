//! Where the log is not what the program would have written: asynchronous cancellation ends a function anywhere, and we may be wrong.
//!
//! That costs as little as possible. The thread goes on by its records alone, as in functions that began before the trace: all that they
//! read is pinned. Where that cannot be, the trace ends for all threads at this moment; a prefix of a run is a run.

use super::Walk;

impl Walk<'_, '_> {
    /// Counts what does not fit, and drops the thread's functions. False if the trace has to end here.
    pub(super) fn lose(&mut self, what: String) -> bool {
        self.mismatch(what);
        // What was left out of the logs only the functions themselves tell.
        if self.world.mirror.is_some() || self.is_unknown() {
            self.world.statistics.ends_unexplained = true;
            self.world.statistics.ends_early = true;
            return false;
        }
        while let Some(frame) = self.thread.frames.pop() {
            self.drop_frame(&frame);
        }
        self.thread.begun_before = true;
        true
    }
}

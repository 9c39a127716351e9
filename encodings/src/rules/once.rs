//! Initialisations that happen once: they exclude each other like the critical sections of a lock, and the one that does not fail is the
//! last. A thread passes it only after its end.
//!
//! A valid trace has at most one that does not fail. Another thread's attempt that failed need not be in a prefix that holds it; where
//! it is, it was over before.

use super::Rule;
use crate::encoder::Encoder;
use crate::origin::Origin;
use foretrace_index::Region;
use foretrace_trace::{EventId, SyncId};

impl Encoder<'_> {
    /// The attempt that `start` begins, against those of other threads that take part already.
    pub(crate) fn once_begin(&mut self, start: EventId, once: SyncId) {
        self.lock_region(start, once);
        let trace_index = self.view.trace_index;
        let Some(attempt) = trace_index.region_at(once, start) else { return };
        if self.is_left_out(Rule::Once) {
            return;
        }
        let taking_part = self.cone.attempts.entry(once).or_default();
        let others = taking_part.clone();
        taking_part.push(attempt);
        for other in others.iter().filter(|other| attempt.excludes(other)) {
            if trace_index.is_last(&attempt) {
                self.last_attempt(other, &attempt);
            } else if trace_index.is_last(other) {
                self.last_attempt(&attempt, other);
            }
        }
    }

    fn last_attempt(&mut self, failed: &Region, made: &Region) {
        let (failed_in, made_in) = (self.included(failed.start), self.included(made.start));
        let (not_failed, not_made) = (self.build.not(failed_in), self.build.not(made_in));
        for over in self.closed_before(failed, made) {
            let term = self.build.or([not_failed, not_made, over]);
            self.assert(Origin::LastAttempt { failed: failed.start, made: made.start }, made.start, term);
        }
    }
}

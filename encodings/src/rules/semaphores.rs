//! Semaphores: every down takes a separate token, which was there from the start or comes from an earlier post.
//!
//! The count stays above zero before every down exactly when downs can be matched to different earlier tokens (Hall). A semaphore that is
//! used as a lock has regions, and no tokens.

use crate::encoder::Encoder;
use crate::origin::Origin;
use foretrace_trace::{EventId, SyncId, SyncKind, TermId};

impl Encoder<'_> {
    /// The token that a down takes.
    pub(crate) fn down(&mut self, id: EventId, sem: SyncId) {
        let trace_index = self.view.trace_index;
        if !trace_index.regions[sem.index()].is_empty() {
            return self.lock_region(id, sem); // it is used as a lock
        }
        let all = trace_index.downs[sem.index()].len() as u64;
        let SyncKind::Semaphore { init } = self.view.trace.syncs[sem.index()].kind else { return };
        if init >= all {
            return;
        }
        let included = self.included(id);
        let mut ways = vec![self.build.not(included)];
        for token in 0..init {
            ways.push(self.takes(id, token));
        }
        for (nth, post) in trace_index.posts[sem.index()].iter().enumerate() {
            if !self.view.clocks.before(id, *post) {
                ways.push(self.posted(id, *post, init + nth as u64));
            }
        }
        let term = self.build.or(ways);
        self.assert(Origin::Counted(id), id, term);
        let others = self.cone.downs.entry(sem).or_default();
        let competing: Vec<EventId> = others.clone();
        others.push(id);
        for other in competing {
            self.different_tokens(Origin::OwnToken { one: other, other: id }, id, other);
        }
    }

    fn posted(&mut self, down: EventId, post: EventId, token: u64) -> TermId {
        let parts = [self.included(post), self.before(post, down), self.takes(down, token)];
        self.build.and(parts)
    }
}

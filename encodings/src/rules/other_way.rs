//! The query whether a branch can go another way than in the recorded run.
//!
//! Such a prefix ends with what comes right before the branch in its thread. A prefix can do without the assumes at its end
//! ([`super::guards`]), so their conditions are goals of the query, and the branch's condition is one that must not hold.

use super::violation::Query;
use crate::encoder::Encoder;
use foretrace_trace::{EventId, Triple};

impl Encoder<'_> {
    /// The query whether after some prefix this branch is next in its thread, and its condition does not hold. An event that others can
    /// notice comes before it in its thread.
    pub fn query_other_way_while(&mut self, branch: EventId, go_on: &mut dyn FnMut(usize) -> bool) -> Option<Query> {
        let condition = self.view.trace.event(branch).op.condition()?;
        let mut last = self.previous(branch)?;
        let mut holds = Vec::new();
        while self.is_unnoticed(last) {
            holds.extend(self.view.trace.event(last).op.condition());
            last = self.previous(last)?;
        }
        self.reach(last);
        self.settle(go_on)?;
        let mut goals = vec![self.included(last)];
        for condition in holds {
            let holds = self.translate(condition);
            goals.push(holds);
        }
        let condition = self.translate(condition);
        goals.push(self.build.not(condition));
        self.whole((Triple { first: last, remote: last, second: last }, None), goals, Some(last), go_on)
    }
}

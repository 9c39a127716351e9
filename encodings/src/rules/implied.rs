//! Conditions that others of the same thread imply: a loop over a shared bound leaves `0 < r`, `1 < r`, … a thousand times,
//! one that counts down `r ≠ 0`, `r - 1 ≠ 0`, … and at last `r = 1000`.
//!
//! A later condition of a thread is only asked together with the earlier ones, so what these imply is left out; and so is
//! what the conditions that are asked at the same time imply.

use super::guards::Condition;
use super::known_values::{Known, Plain, plain, single_value};
use crate::encoder::Encoder;
use foretrace_trace::{TermId, ThreadId, Value};

/// A condition, with the one value that it speaks of, and what it says of that.
struct Weighed {
    condition: Condition,
    value: Option<TermId>,
    plain: Option<Plain>,
}

impl Encoder<'_> {
    /// The conditions, all asked at once, that neither earlier ones of the thread nor the others among them imply.
    pub(crate) fn not_implied(&mut self, thread: ThreadId, conditions: Vec<Condition>) -> Vec<Condition> {
        let mut weighed: Vec<Weighed> = conditions.into_iter().map(|condition| self.weigh(condition)).collect();
        weighed.retain(|one| !self.is_implied(thread, one));
        for Weighed { condition, value, plain } in &weighed {
            if let (Some(value), Some(plain)) = (value, plain) {
                self.cone.known_values.add(thread, *value, condition.pinned, plain);
            }
        }
        weighed.retain(|one| self.says_most(thread, one));
        weighed.into_iter().map(|one| one.condition).collect()
    }

    fn weigh(&self, condition: Condition) -> Weighed {
        let value = single_value(&self.build, condition.term);
        let plain = value.and_then(|_| plain(&self.build, condition.term));
        Weighed { condition, value, plain }
    }

    /// Whether what is known already implies the condition.
    fn is_implied(&self, thread: ThreadId, Weighed { condition, value, plain }: &Weighed) -> bool {
        let Some(value) = value else { return condition.term == self.build.truth() };
        self.cone.known_values.of_thread(thread, *value, condition.pinned).any(|known| {
            plain.as_ref().is_some_and(|plain| known.implies(plain)) || self.follows(condition.term, known)
        })
    }

    /// Whether nothing that is known, this condition included, says more than it.
    fn says_most(&self, thread: ThreadId, Weighed { condition, value, plain }: &Weighed) -> bool {
        let (Some(value), None | Some(Plain::AtLeast(..) | Plain::AtMost(..))) = (value, plain) else { return true };
        self.cone.known_values.of_thread(thread, *value, condition.pinned).all(|known| {
            let says_less = plain.as_ref().is_some_and(|plain| known.implies(plain) && !known.is_tightest(plain));
            !says_less && !self.follows(condition.term, known)
        })
    }

    /// Whether the value is known, and the condition holds with it.
    fn follows(&self, condition: TermId, known: &Known) -> bool {
        let holds = |value: &Value| self.build.terms.evaluate(condition, &mut |_| value.clone()).is_true();
        known.equal.as_ref().is_some_and(holds)
    }
}

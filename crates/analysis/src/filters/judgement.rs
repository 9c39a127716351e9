//! What a filter found out.

use crate::verdict::Decider;
use foretrace_checker::Witness;

/// What a filter found out.
#[derive(Clone, Debug)]
pub enum Judgement {
    /// No prefix of the model shows the candidate.
    Infeasible {
        /// The filter that proved it.
        by: Decider,
        /// Whether the proof needs that a pinned value stays as it was.
        rests_on_pin: bool,
    },
    /// The checker has run a schedule that shows it.
    Feasible {
        /// The proof.
        witness: Box<Witness>,
    },
}

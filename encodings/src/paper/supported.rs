//! What the baseline can be asked.

use foretrace_trace::{EventId, Feasibility, Model, Op, Question, Trace};

/// A question or a trace that the paper's method, as it stands here, has no formula for.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unsupported {
    /// Another question.
    #[error("the paper's method answers --model ctp and --feasibility prefix, found {model} and {feasibility}")]
    Question {
        /// The model asked about.
        model: Model,
        /// The feasibility asked about.
        feasibility: Feasibility,
    },
    /// An event of a kind that it does not know.
    #[error("the paper's method knows no {what}, found one at event {event}")]
    Event {
        /// What it is.
        what: &'static str,
        /// The first such event.
        event: EventId,
    },
}

/// Whether there is a formula: for `ctp` with prefixes, and for all that a trace can hold but shared locks and steps of
/// several events.
///
/// # Errors
/// What there is no formula for.
pub fn supports(trace: &Trace, question: Question) -> Result<(), Unsupported> {
    let Question { model, feasibility, .. } = question;
    if model != Model::Ctp || feasibility != Feasibility::Prefix {
        return Err(Unsupported::Question { model, feasibility });
    }
    for (id, event) in trace.iter() {
        let what = match event.op {
            _ if event.part.is_some() => "step of several events",
            Op::AcquireShared { .. } | Op::ReleaseShared { .. } => "shared lock",
            Op::Begin { .. }
            | Op::End { .. }
            | Op::Read { .. }
            | Op::Write { .. }
            | Op::Rmw { .. }
            | Op::Let { .. }
            | Op::Assume { .. } => continue,
            Op::Acquire { .. } | Op::Release { .. } | Op::Busy { .. } => continue,
            Op::Wait { .. } | Op::Wake { .. } | Op::Signal { .. } | Op::Broadcast { .. } => continue,
            Op::Post { .. } | Op::Down { .. } | Op::Arrive { .. } | Op::Depart { .. } => continue,
            Op::OnceBegin { .. } | Op::OnceEnd { .. } | Op::OncePass { .. } | Op::OnceFail { .. } => continue,
            Op::Fork { .. } | Op::Join { .. } => continue,
            Op::Call { .. } | Op::Return { .. } | Op::Free { .. } | Op::Unseen { .. } | Op::Fail { .. } => continue,
        };
        return Err(Unsupported::Event { what, event: id });
    }
    Ok(())
}

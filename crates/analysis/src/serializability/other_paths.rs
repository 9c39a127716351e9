//! Whether a block that no schedule of the model violates is safe on every path, or on the path of this run alone.
//!
//! A block is safe on every path if synchronisation alone keeps it from being violated: if no prefix with free reads (`cam`) of the trace
//! with open tries violates it. The verdict stands without this answer, so the search for it is small: a bounded number of steps.

use super::{AskedBlocks, Bounds, Method, decide_some};
use foretrace_serializability::{Choices, Decision, Violation};
use foretrace_trace::Model;

/// Steps of the exploration of one block, and steps of its questions to the solver.
const WORK: (u64, u32) = (2_000, 5_000);

/// What is known of a block on other paths of the program, where no schedule of the model violates it.
#[derive(Clone, Debug)]
pub enum OtherPaths {
    /// Nothing violates it: synchronisation forbids that, whatever reads return and tries come to.
    Safe,
    /// This path does, if reads may return anything and tries may come out the other way: another path of the program may do it.
    Violated(Box<Violation>),
    /// Not decided within the limits.
    Unknown,
}

impl OtherPaths {
    /// The same as explanations say it: whether another path may violate the block, where that is known.
    pub fn may_violate(&self) -> Option<bool> {
        match self {
            OtherPaths::Safe => Some(false),
            OtherPaths::Violated(_) => Some(true),
            OtherPaths::Unknown => None,
        }
    }
}

/// Decides for blocks that no schedule of the model violates what other paths may do. `told` gets each block with the answer, in order.
///
/// # Errors
/// As [`super::decide_blocks`].
pub fn on_other_paths(
    asked: &AskedBlocks<'_>,
    blocks: &[usize],
    bounds: &Bounds<'_>,
    told: &mut dyn FnMut(usize, OtherPaths),
) -> anyhow::Result<()> {
    if blocks.is_empty() {
        return Ok(());
    }
    let opened = asked.trace.with_open_tries();
    if asked.choices.model == Model::Cam && opened.is_none() {
        blocks.iter().for_each(|block| told(*block, OtherPaths::Safe));
        return Ok(());
    }
    let free = AskedBlocks {
        trace: opened.as_ref().unwrap_or(asked.trace),
        choices: Choices { shorten: false, ..Choices::new(Model::Cam) },
        method: Method::Both,
        observed_only: false,
        ..*asked
    };
    decide_some(&free, blocks, &Bounds { work: Some(WORK), ..*bounds }, &mut |_, judgement, _| {
        let paths = match judgement.decision {
            Decision::Violated(violation) => OtherPaths::Violated(violation),
            Decision::Proved | Decision::Holds => OtherPaths::Safe,
            _ => OtherPaths::Unknown,
        };
        told(judgement.block, paths);
        Ok(())
    })
}

//! Why no schedule violates a block: the static proof, and an argument from instances of rules, as for candidates.
//!
//! The argument is about all paths that program order and conflicts alone would allow, not only about those of the segment: the
//! orders and locks that bound a segment are part of what must be named.

use super::{Argued, Argument, Explainer, Supposed, granted};
use crate::options::Options;
use crate::serializability::{AskedBlocks, Bounds, OtherPaths, decide_some, on_other_paths};
use crate::verdict::Limit;
use foretrace_encodings::{Paths, TraceView};
use foretrace_index::TraceIndex;
use foretrace_serializability::{Apart, Choices, Decision, Judge, Judgement, Question};
use foretrace_trace::EventId;
use std::time::Duration;

/// A block's verdict with its reason.
#[derive(Clone, Debug)]
pub struct BlockExplanation {
    /// The verdict, of the same pipeline as in `serializability`.
    pub judgement: Judgement,
    /// Whether the recorded order itself violates the block.
    pub observed: bool,
    /// Of a block that the static check proves: per access of the block, what keeps paths from it.
    pub apart: Vec<(EventId, Apart)>,
    /// Of a block that no schedule violates: why, one argument for each kind of path that is asked about. None where conflicts and
    /// program order lead nowhere.
    pub arguments: Vec<BlockArgument>,
    /// The limit that kept an argument from being found.
    pub missing: Option<Limit>,
    /// Of a block that no schedule of the model violates: what other paths of the program may do.
    pub other_paths: Option<OtherPaths>,
    /// Of a block that is not violated with as few context switches as were asked for, but with more: the fewest that it takes.
    pub fewest_switches: Option<u32>,
}

/// Why no schedule holds one of some violation paths.
#[derive(Clone, Debug)]
pub struct BlockArgument {
    /// The paths.
    pub paths: Question,
    /// Why there is none.
    pub argument: Argument,
}

/// Decides a block as `serializability` does, and says why.
///
/// # Errors
/// As [`crate::serializability::decide_blocks`]; where verdict and argument contradict each other.
pub fn explain_block(
    asked: &AskedBlocks<'_>,
    block: usize,
    options: &Options,
    bounds: &Bounds<'_>,
) -> anyhow::Result<BlockExplanation> {
    let mut found = decided(asked, block, bounds)?;
    if let Decision::NotWithin(most) = found.judgement.decision {
        let of = |switches: Option<u32>| -> anyhow::Result<BlockExplanation> {
            let choices = Choices { context_switches: switches, ..asked.choices.clone() };
            decided(&AskedBlocks { choices, ..*asked }, block, bounds)
        };
        let unbounded = of(None)?;
        match &unbounded.judgement.decision {
            Decision::Violated(violation) => {
                let enough = violation.claim().context_switches(asked.trace, violation.schedule());
                found.fewest_switches = fewest(most, enough, &of)?;
            }
            // Whatever the number of context switches.
            Decision::Holds | Decision::Proved => found = unbounded,
            _ => {}
        }
    }
    if matches!(found.judgement.decision, Decision::Proved | Decision::Holds) {
        argue(asked, block, options, bounds, &mut found)?;
        on_other_paths(asked, &[block], bounds, &mut |_, paths| found.other_paths = Some(paths))?;
    }
    Ok(found)
}

/// The verdict.
fn decided(asked: &AskedBlocks<'_>, block: usize, bounds: &Bounds<'_>) -> anyhow::Result<BlockExplanation> {
    let mut found = None;
    decide_some(asked, &[block], bounds, &mut |judge, judgement, observed| {
        let is_proved = matches!(judgement.decision, Decision::Proved);
        found = Some(BlockExplanation {
            apart: if is_proved { judge.apart(block) } else { Vec::new() },
            // How long it took would make two reports of the same input differ.
            judgement: Judgement { time: Duration::ZERO, ..judgement },
            observed,
            arguments: Vec::new(),
            missing: None,
            other_paths: None,
            fewest_switches: None,
        });
        Ok(())
    })?;
    found.ok_or_else(|| anyhow::anyhow!("internal error: block {block} was not decided"))
}

/// The fewest context switches with which the block is violated, where that can be told: more than `too_few`, no more than `enough`.
fn fewest(
    mut too_few: u32,
    mut enough: u32,
    of: &dyn Fn(Option<u32>) -> anyhow::Result<BlockExplanation>,
) -> anyhow::Result<Option<u32>> {
    while too_few + 1 < enough {
        let middle = too_few + (enough - too_few) / 2;
        match of(Some(middle))?.judgement.decision {
            Decision::Violated(_) => enough = middle,
            Decision::NotWithin(_) => too_few = middle,
            _ => return Ok(None),
        }
    }
    Ok(Some(enough))
}

/// Looks for the arguments.
fn argue(
    asked: &AskedBlocks<'_>,
    block: usize,
    options: &Options,
    bounds: &Bounds<'_>,
    found: &mut BlockExplanation,
) -> anyhow::Result<()> {
    let AskedBlocks { trace, observed, wanted, .. } = *asked;
    let judge = Judge::new(trace, observed, asked.blocks, wanted, asked.choices.clone())?;
    let Some(questions) = judge.questions_of_all(block) else {
        found.missing = Some(Limit::Size);
        return Ok(());
    };
    let trace_index = TraceIndex::new(trace);
    let clocks = granted(trace, &trace_index);
    let view = TraceView { trace, trace_index: &trace_index, observed, clocks: &clocks };
    let explainer = Explainer::new(view, options, bounds.deadline, bounds.stop);
    for question in questions {
        let Question { starts, through, ends, last, then } = question.clone();
        match explainer.argue_against(Supposed::Paths(&Paths { starts, through, ends, then }, last)) {
            Argued::Refuted(argument) => found.arguments.push(BlockArgument { paths: question, argument }),
            Argued::Undecided(limit) => found.missing = Some(limit),
            Argued::Possible => anyhow::bail!(
                "internal contradiction: block {block} cannot be violated, but the rules alone allow it (model {})",
                asked.choices.model
            ),
        }
    }
    Ok(())
}

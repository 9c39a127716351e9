//! One model's verdicts on a block of candidates, without a witness for each, under conflict independence.
//!
//! The candidates of a pair differ only in the remote access. A schedule in which the other threads run as far as they can
//! between the pair's accesses shows many candidates at once; one query refutes all that are left. Each prefix of a checked
//! schedule is a prefix of the model, so a checked schedule settles every candidate that it shows.

use super::block::Block;
use super::known::Known;
use super::outcome::Said;
use super::worker::Worker;
use crate::context::AnalysisContext;
use crate::filters::Filters;
use crate::pool;
use foretrace_solve::interruptible;
use foretrace_trace::Triple;
use std::sync::mpsc::channel;

/// Decides candidates; those of a pair stand together. `done` hears of how many more are through.
///
/// # Errors
/// A solver's schedule that the checker refuses.
pub(super) fn verdicts<'a>(
    context: &AnalysisContext<'a>,
    filters: &Filters<'_>,
    known: &Known<'a>,
    triples: &[Triple],
    mut done: impl FnMut(usize),
) -> anyhow::Result<Vec<Said>> {
    let block = Block::new(context, filters, known, triples);
    block.recorded_order();
    let jobs = context.options.jobs.clamp(1, block.groups.len().max(1));
    let (sender, receiver) = channel();
    let work = (0..jobs).map(|_| {
        let (block, sender) = (&block, sender.clone());
        move || interruptible(context.stop, || Worker::new(block).groups(&sender))
    });
    let work: Vec<_> = work.collect();
    drop(sender);
    pool::all(work, || receiver.iter().for_each(&mut done))?;
    Ok(block.into_said())
}

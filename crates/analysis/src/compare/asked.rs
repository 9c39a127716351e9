//! What is asked of a comparison, and the trait of its listeners.

use super::outcome::{Comparison, Disagreement};
use crate::options::{Options, strongest_model};
use crate::predict::Progress;
use foretrace_trace::{Model, Observed, Trace, Transaction};

/// The models, in the order of the columns.
pub const MODELS: [Model; 4] = [Model::Cam, Model::Ctp, Model::Mcm, Model::Avp];

/// Models to be held against each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contest {
    /// The models, in the order of the columns.
    pub models: Vec<Model>,
    /// The one that the others are held against: `ctp`, or the strongest that the trace's data allows; if that is not among
    /// them, the first.
    pub reference: Model,
}

impl Contest {
    /// Those of `wanted` that the trace's data allows.
    pub fn new(trace: &Trace, wanted: &[Model]) -> Contest {
        let fits = |model: &Model| wanted.contains(model) && model.needs() <= trace.data;
        let models: Vec<Model> = MODELS.into_iter().filter(fits).collect();
        let strongest = strongest_model(trace.data);
        let first = models.first().copied().unwrap_or(strongest);
        let reference = if models.contains(&strongest) { strongest } else { first };
        Contest { models, reference }
    }

    /// The column of the reference.
    pub fn reference_column(&self) -> usize {
        self.models.iter().position(|model| *model == self.reference).unwrap_or(0)
    }
}

/// Who takes the candidates on which models do not agree, in the order of the candidates.
pub trait Listener {
    /// Takes one.
    fn disagreement(&mut self, one: &Disagreement) -> anyhow::Result<()>;

    /// Hears how far the run is.
    fn progress(&mut self, _progress: &Progress) {}

    /// Hears what was compared so far, block by block; nothing is summed yet.
    fn so_far(&mut self, _comparison: &Comparison) {}
}

/// A trace, and what is asked of it.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// What its run showed.
    pub observed: &'a Observed,
    /// What counts as a transaction.
    pub transactions: &'a [Transaction],
    /// As for `predict`. The model is not looked at; guarded independence is asked of the models that have values.
    pub options: &'a Options,
    /// The models.
    pub contest: &'a Contest,
    /// How many candidates are explained, at most.
    pub reasons: usize,
}

//! `explain` and `compare` against the exhaustive oracle on random traces, and every argument by a route of its own.
//!
//! `FORETRACE_SEEDS` says how many random traces (default 24), `FORETRACE_SEED` where to start.

mod arguments;
mod comparing;
mod search;

use foretrace_trace::{Independence, Model, Question};

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn seeds() -> std::ops::Range<u64> {
    let start = number("FORETRACE_SEED", 0);
    start..start + number("FORETRACE_SEEDS", 24)
}

const MODELS: [Model; 4] = [Model::Cam, Model::Ctp, Model::Mcm, Model::Avp];

/// The questions of a model.
fn questions(model: Model) -> Vec<Question> {
    use foretrace_trace::Feasibility::{Complete, Prefix};
    let independences: &[Independence] =
        if model.has_values() { &[Independence::Conflict, Independence::Guarded] } else { &[Independence::Conflict] };
    let of = |feasibility| independences.iter().map(move |i| Question { model, feasibility, independence: *i });
    [Prefix, Complete].into_iter().flat_map(of).collect()
}

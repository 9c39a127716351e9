//! What the fuzz target for schedules does with its bytes; a test does the same with the corpus.
//!
//! No input may panic, and what is read runs on a trace or is refused at a step.

use foretrace::report::SavedSchedule;
use foretrace_checker::{check, run_schedule};
use foretrace_trace::{Model, observe, read_from};

/// One with every kind of event, and a real one.
const TRACES: [&[u8]; 2] = [include_bytes!("corpus/jsonl/everything"), include_bytes!("corpus/jsonl/bank")];

/// A schedule or a witness file.
pub fn schedule(bytes: &[u8]) {
    if let Ok(saved) = SavedSchedule::read(bytes) {
        TRACES.iter().for_each(|trace| run(&saved, trace));
    }
}

fn run(saved: &SavedSchedule, trace: &[u8]) {
    let trace = read_from(trace, "seed").unwrap_or_else(|error| panic!("{error}"));
    let observed = observe(&trace).unwrap_or_else(|error| panic!("{error}"));
    let events = saved.events();
    for model in [Model::Cam, Model::Ctp, Model::Mcm, Model::Avp] {
        run_schedule(&trace, &observed, model, &events).ok();
    }
    if let SavedSchedule::Witness(witness) = saved {
        let transactions = witness.atomic.transactions(&trace);
        check(&trace, &observed, &transactions, witness.question(), witness.triple(), &events).ok();
    }
}

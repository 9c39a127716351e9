//! Testing a program: record runs that pass, predict what other schedules lead to, force each schedule on the program, and say what
//! really fails.
//!
//! This is the loop of Sorrentino, Farzan and Madhusudan, "PENELOPE: Weaving Threads to Expose Atomicity Violations", FSE 2010 (section 2),
//! for native programs, with verdicts that are proved in place of cut-points alone. `predicting` makes attempts from recordings, `plan`
//! orders them, and `runner` runs the program. `judge` says what happened, by comparison with passing runs (`baseline`). `campaign` is the
//! loop, and `kept` saves failures. `state` is all that a test knows; `unfinished` keeps the state of a test that was stopped.

mod attempt;
mod baseline;
mod campaign;
mod differing;
mod exploring;
mod interrupted;
mod judge;
mod kept;
mod litmus;
mod minimise;
mod observation;
mod overtime;
mod plan;
mod predicting;
mod report;
mod runner;
mod settings;
mod state;
mod story;
mod subject;
mod torn;
mod trial;
mod unfinished;
mod unseen;
mod whole_turns;
mod workplace;

pub use attempt::{Attempt, Cycle, CycleKind, Kind};
pub use baseline::Baseline;
pub use campaign::{Campaign, Progress};
pub use exploring::{Bounds, Explored, Failing, Interleaving, Kept, explore_program, reverse_program};
pub use judge::{Effect, Failure};
pub use kept::{Again, AgainOutcome, run_again};
pub use litmus::{LitmusReport, test_litmus};
pub use observation::Observation;
pub use predicting::{Asked, is_of_library, read_witness};
pub use report::{Exploration, Find, Harmless, Recorded, Report, Times};
pub use settings::{Predict, Settings, TestError};
pub use state::State;
pub use subject::Tested;
pub use trial::{Trial, Trials};
pub use unfinished::{forget, go_on_from, is_kept, keep_unfinished};
pub use workplace::{Workplace, free_memory};

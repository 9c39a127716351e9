//! Predicted histories: from one trace, is there another schedule whose history of operations is not linearizable?
//!
//! A history is the calls and returns of a schedule, with what the operations give there and with which of them ended before another
//! began. [`predict`] explores the schedules of a trace up to equivalence, with the step semantics that checker and oracle use, and judges
//! each history once. What it finds comes with a [`foretrace_checker::Witness`].

mod context;
mod performed;
mod predict;
mod run;
mod shorten;
mod stepper;

pub use performed::{Came, Performed};
pub use predict::{
    Asked, Decision, Departure, Every, PredictError, Prediction, Undecided, Violation, every_history, predict,
};

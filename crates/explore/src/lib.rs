//! Explores interleavings of anything whose threads take steps, such as a trace's segment or a litmus program.
//!
//! [`System`] says what can be stepped. [`explore`] visits every maximal interleaving up to equivalence, by dynamic
//! partial-order reduction with source sets and sleep sets. [`bounded`] visits every interleaving with few context switches.

mod action;
mod bounded;
mod explorer;
mod races;
mod step;
mod system;
mod threads;

pub use action::{Action, Mode, Relation, Use};
pub use bounded::{Fingerprint, bounded, fingerprint_of};
pub use explorer::{Ended, Tally, explore};
pub use step::Step;
pub use system::{Next, System};

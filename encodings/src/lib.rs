//! From a trace to constraints: concurrent SSA, a typed term language with one order atom, and one file per rule family.
//!
//! Everything here is plain data. What decides the constraints (difference logic in Z3, another solver on the printed
//! text, evaluation under an assignment) is not known here, and an analysis model is nothing but a choice of rules.

mod constants;
mod cssa;
mod encoder;
mod marks;
mod obligation;
mod origin;
pub mod paper;
mod pi;
mod posting;
mod rules;
mod sections;
pub mod smtlib;
mod term;
mod view;

pub use constants::{constant_reads, constant_reads_while};
pub use encoder::{Constraint, Encoder};
pub use marks::Marked;
pub use obligation::{Obligation, Participant};
pub use origin::Origin;
pub use pi::Pi;
pub use rules::{Paths, Query, Reads, Rule, Rules};
pub use term::{Atom, Builder};
pub use view::TraceView;

//! From a trace to constraints: concurrent SSA, a typed term language with one order atom, and one file per rule family.
//!
//! Everything here is plain data. What decides the constraints (difference logic in Z3, another solver on the printed
//! text, evaluation under an assignment) is not known here, and an analysis model is nothing but a choice of rules.

mod constants;
mod cssa;
mod duty;
mod encoder;
mod facts;
mod marks;
mod origin;
pub mod paper;
mod pi;
mod rules;
mod sections;
pub mod smtlib;
mod telling;
mod term;

pub use constants::{constant_reads, constant_reads_while};
pub use duty::{Duty, Part};
pub use encoder::{Constraint, Encoder};
pub use facts::Facts;
pub use marks::Marked;
pub use origin::Origin;
pub use pi::Pi;
pub use rules::{Paths, Query, Reads, Rule, Rules};
pub use term::{Atom, Builder};

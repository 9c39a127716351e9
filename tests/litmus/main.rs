//! Litmus programs: what each construct does, what the examples show, what mistakes look like.

mod constructs;
mod examples;
mod exploring;
mod mistakes;
mod operations;
mod properties;
mod running;
mod support;
mod synchronisation;
mod synchronised;

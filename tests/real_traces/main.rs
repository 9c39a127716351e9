//! Traces of real programs: the corpus of this repository, and the whole collection where it is at hand.
//!
//! `FORETRACE_TRACES` says where the collection is (default: `../shared/traces` beside the repository).

mod everything;
mod shapes;
mod support;

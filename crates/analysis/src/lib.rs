//! The analysis of a trace: decides candidates by filters and solver, compares models, and gives reasons.

pub mod blocks;
mod bounds;
pub mod candidates;
pub mod compare;
mod context;
pub mod explain;
pub mod filters;
pub mod guards;
mod kept_session;
mod known_states;
mod open_tries;
pub mod options;
pub mod other_ways;
mod pool;
pub mod predict;
mod reachable;
mod refuted_sections;
pub mod remaining;
pub mod schedule;
pub mod schedule_from_assignment;
pub mod serializability;
pub mod summary;
pub mod use_after_free;
pub mod verdict;
pub mod whole_thread;
mod workers;

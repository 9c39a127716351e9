//! Real programs, the whole way: built by `foretrace cc`, recorded, predicted, replayed.

mod crashes;
mod examples;
mod support;

//! Real programs, the whole way: built by `foretrace cc`, recorded, predicted, replayed.

mod blocks;
mod breadth;
mod builds;
mod crashes;
mod edited;
mod examples;
mod faults;
mod gcc;
mod left_out;
mod live;
mod operations;
mod outside;
mod parts;
mod patches;
mod predicted_repairs;
mod repair_lines;
mod replays;
mod robust;
mod rust;
mod schedulers;
mod sockets;
mod steering;
mod support;
mod transactions;
mod why;
mod wide;

//! The command as people and programs see it: exit codes, messages, reports, files.

mod annotations;
mod block_explanation;
mod block_groups;
mod commands;
mod cutpoints;
mod histories;
mod linearizable;
mod messages;
mod predict;
mod reasons;
mod repair;
mod serializability;
mod support;
mod switches;
mod tutorial;

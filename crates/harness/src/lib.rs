//! Real programs: running them recorded, and running them again along a witness.
//!
//! The crate `foretrace-runtime` runs inside of the program, and `foretrace-walker` makes a trace of its logs. `docs/recording.md` says how
//! they meet.

mod apart;
mod call_stacks;
mod calls;
mod comers;
mod deadlock;
mod dying;
mod edited;
mod ending;
mod error;
mod folder;
mod foreground;
mod freed;
mod kept;
mod launch;
mod lines;
mod looks;
mod others;
mod outside;
mod own_lines;
mod positions;
mod process_number;
mod program;
mod replay;
mod schedule;
mod scheduling;
mod sources;
mod started;
mod target;
mod thread_names;
mod turns;
mod unlogged;
mod unlogged_places;
mod verify;
mod wait;
mod walked;

pub use apart::{Apart, STDERR, STDOUT};
pub use call_stacks::{add_call_stacks, keep_call_stacks};
pub use deadlock::{deadlock_in_words, last_places, recorded_ending};
pub use dying::{Death, dying_thread};
pub use edited::{Matched, plan_of_edited};
pub use ending::{Cut, Ending};
pub use error::{LaunchError, RecordError, ReplayError};
pub use folder::{Folder, FolderError, Recording};
pub use foreground::Foreground;
pub use freed::{UseAfterFreeInWords, use_after_free_in_words};
pub use launch::{Ended, Mode, RecordingScope, Run, fix_addresses};
pub use outside::{BACKTRACE, Variables, differences, environment_of, fill, is_of_number, notes};
pub use own_lines::OwnLines;
pub use positions::Positions;
pub use program::{Program, ProgramError};
pub use replay::{Outcome, Plan, Replayed, WAITS, accesses, judge, run_plan};
pub use schedule::{Beside, End, Turn};
pub use scheduling::{Scheduler, Scheduling};
pub use sources::{SourcePlace, Sources};
pub use target::{Places, SourcePlaces, Target, Times};
pub use thread_names::ThreadNames;
pub use turns::{Stretch, last_stretches};
pub use unlogged_places::keep_unlogged;
pub use verify::{Between, Difference, Event, Expected, What, is_deadlock, ops};
pub use walked::WalkedBy;

//! Real programs: running them recorded, and running them again along a witness.
//!
//! What runs inside of the program is the crate `foretrace-runtime`; what makes a trace of its logs is
//! `foretrace-walker`; how they meet is told in `docs/recording.md`.

mod folder;
mod launch;
mod program;
mod schedule;

pub use folder::{Folder, FolderError, Recording};
pub use launch::{Ending, LaunchError, Mode, Run};
pub use program::{Program, ProgramError};
pub use schedule::{Turn, as_file, turns};

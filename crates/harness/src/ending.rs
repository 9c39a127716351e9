//! How a run ended, by itself or cut off.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// How a program ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// By itself, with this exit status.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// It did not end in time and was killed.
    Hang,
    /// All threads waited for each other, so that the runtime aborted it.
    Deadlock,
}

impl Ending {
    /// The exit status by which a shell would tell of it.
    pub fn shell_status(self) -> u8 {
        match self {
            Ending::Code(code) => code as u8, // what a parent sees of it, too
            Ending::Signal(signal) => 128_u8.saturating_add(signal as u8),
            Ending::Hang => 124, // as timeout(1) has it
            Ending::Deadlock => 128 + nix::libc::SIGABRT as u8,
        }
    }
}

/// As in "the program …".
impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ending::Code(code) => write!(f, "exited with status {code}"),
            Ending::Signal(signal) => match nix::sys::signal::Signal::try_from(*signal) {
                Ok(signal) => write!(f, "was ended by {signal}"),
                Err(_) => write!(f, "was ended by signal {signal}"),
            },
            Ending::Hang => f.write_str("did not end in time and was killed"),
            Ending::Deadlock => f.write_str("came to a deadlock: every thread waited for another"),
        }
    }
}

impl From<ExitStatus> for Ending {
    fn from(status: ExitStatus) -> Ending {
        match status.signal() {
            Some(signal) => Ending::Signal(signal),
            None => Ending::Code(status.code().unwrap_or_default()),
        }
    }
}

/// Why a run was cut off that says nothing about the program's threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cut {
    /// The user stopped it.
    Stopped,
    /// It took more than so many bytes of memory.
    Memory(u64),
    /// It wrote more than so many bytes.
    Output(u64),
    /// The program did what the runtime cannot record, which then ended it.
    Refused,
}

/// As in "the program …".
impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cut::Stopped => f.write_str("was stopped"),
            Cut::Memory(most) => write!(f, "took more than {} MB of memory and was killed", most >> 20),
            Cut::Refused => f.write_str("does what cannot be recorded: `foretrace record` says what"),
            Cut::Output(most) => write!(f, "wrote more than {} MB of output and was killed", most >> 20),
        }
    }
}

//! How a command ends, and what it says to the user on the way.

use foretrace_trace::printable;
use std::io::Write;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How a command ended where it did what was asked of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// Nothing was found, all is well.
    Fine,
    /// A violation can happen, or the schedule is no feasible prefix.
    Found,
    /// Nothing was found, but not everything was decided.
    Undecided,
    /// As another program ended.
    Status(u8),
}

impl Outcome {
    pub(super) fn code(self) -> u8 {
        match self {
            Outcome::Fine => 0,
            Outcome::Found => 1,
            Outcome::Undecided => 3,
            Outcome::Status(status) => status,
        }
    }
}

/// Wrong usage, bad input, or a defect of foretrace.
pub(super) const FAILURE: u8 = 2;

/// The exit code of a command; says what went wrong.
pub(super) fn exit_code(result: anyhow::Result<Outcome>) -> u8 {
    match result {
        Ok(outcome) => outcome.code(),
        // Who asks for this of an error of closed output has not heard that all is well.
        Err(error) if is_closed_pipe(&error) => Outcome::Undecided.code(),
        Err(error) => {
            complain(&error);
            FAILURE
        }
    }
}

/// The exit code of a compiler, or of one that could not run.
pub(super) fn code_of(result: anyhow::Result<ExitCode>) -> ExitCode {
    result.unwrap_or_else(|error| {
        complain(&error);
        ExitCode::from(FAILURE)
    })
}

/// The time since the command started.
pub(super) fn since_start() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// Whether the reader of our output closed it early, as `head` does.
pub(super) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let kind = |cause: &(dyn std::error::Error + 'static)| {
        let json = || cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind).or_else(json)
    };
    error.chain().any(|cause| kind(cause) == Some(std::io::ErrorKind::BrokenPipe))
}

/// Writes a message to stderr. If stderr is closed, the run goes on.
pub(super) fn say(message: impl std::fmt::Display) {
    let _ = writeln!(anstream::stderr(), "{message}");
}

/// The one message of a failed run.
pub(super) fn complain(error: &anyhow::Error) {
    let style = anstyle::AnsiColor::Red.on_default().bold();
    let mut message = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !message.ends_with(&cause) {
            let separator = if message.is_empty() { "" } else { ": " };
            message = format!("{message}{separator}{cause}"); // some errors show their cause themselves
        }
    }
    let lines: Vec<_> = message.split('\n').map(printable).collect();
    say(format_args!("{style}error{style:#}: {}", lines.join("\n")));
}

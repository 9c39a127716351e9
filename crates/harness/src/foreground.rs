//! Runs a program on our terminal. Meanwhile signals that are sent to us wait, and are passed on to it.

use super::process_number;
use super::started::Started;
use super::wait::Signals;
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawnp};
use nix::sys::signal::{SigSet, Signal};
use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitStatus;
use std::time::Duration;

/// A program that is to run on our terminal.
///
/// [`std::process::Command`] cannot start it: the program would inherit the signals that we hold, and keep them blocked.
#[derive(Debug)]
pub struct Foreground {
    /// Its path, or its name in a folder of `PATH`.
    pub path: OsString,
    /// What comes after the path.
    pub arguments: Vec<OsString>,
    /// All of its environment. It is sorted, as that of [`std::process::Command`], since its order moves the stack.
    pub environment: BTreeMap<OsString, OsString>,
    /// Whether what it prints is not shown, and nothing is there to read.
    pub is_quiet: bool,
}

impl Foreground {
    /// Runs it to its end, unless it takes longer than this; then it is killed, and there is no exit status.
    ///
    /// # Errors
    /// It does not start, or cannot be waited for.
    pub fn run(&self, limit: Option<Duration>) -> io::Result<Option<ExitStatus>> {
        self.run_while(&Signals::hold()?, None, limit)
    }

    /// The same while signals are held already: a signal before it starts would end us without it. It gets this process number if it can be.
    pub(super) fn run_while(
        &self,
        held: &Signals,
        number: Option<i32>,
        limit: Option<Duration>,
    ) -> io::Result<Option<ExitStatus>> {
        held.wait(&mut self.start(held.mask_before(), number)?, limit)
    }

    /// Starts it with these signals blocked, and no other one.
    fn start(&self, blocked: &SigSet, number: Option<i32>) -> io::Result<Started> {
        let mut attributes = PosixSpawnAttr::init()?;
        attributes.set_flags(PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK | PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF)?;
        attributes.set_sigmask(blocked)?;
        attributes.set_sigdefault(&SigSet::from_iter([Signal::SIGPIPE]))?; // Rust ignores it
        let mut files = PosixSpawnFileActions::init()?;
        let nothing = match self.is_quiet {
            true => Some(File::options().read(true).write(true).open("/dev/null")?),
            false => None,
        };
        if let Some(nothing) = &nothing {
            (0..=2).try_for_each(|standard| files.add_dup2(nothing.as_raw_fd(), standard))?;
        }
        let path = text(&self.path)?;
        let words = std::iter::once(&self.path).chain(&self.arguments);
        let words = words.map(|word| text(word)).collect::<io::Result<Vec<CString>>>()?;
        let environment = self.environment.iter().map(|(name, value)| {
            let parts = [name.as_os_str(), OsStr::new("="), value];
            text(&parts.into_iter().collect::<OsString>())
        });
        let environment = environment.collect::<io::Result<Vec<CString>>>()?;
        let spawn = || posix_spawnp(&path, &files, &attributes, &words, &environment);
        Ok(Started::new(process_number::with(number, spawn)?))
    }
}

fn text(words: &OsStr) -> io::Result<CString> {
    Ok(CString::new(words.as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::signal::raise;
    use std::os::unix::process::ExitStatusExt;

    fn of_shell(script: &str) -> Foreground {
        let arguments = ["-c", script].map(OsString::from).into();
        Foreground { path: "sh".into(), arguments, environment: std::env::vars_os().collect(), is_quiet: true }
    }

    #[test]
    fn a_signal_before_the_program_starts_is_passed_on() {
        for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT] {
            let held = Signals::hold().expect("signals wait");
            raise(signal).expect("sent to this thread");
            let ended = of_shell("ulimit -c 0; exec sleep 60").run_while(&held, None, None).expect("it starts");
            assert_eq!(ended.and_then(|status| status.signal()), Some(signal as i32));
        }
    }

    #[test]
    fn a_program_has_the_signals_that_were_blocked_before() {
        let blocked = |signal: Signal| {
            let bit = format!("0x$(sed -n 's/^SigBlk:.//p' /proc/$$/status) >> {} & 1", signal as i32 - 1);
            let ended = of_shell(&format!("exit $(({bit}))")).run(None).expect("it starts");
            ended.and_then(|status| status.code()) == Some(1)
        };
        SigSet::from_iter([Signal::SIGHUP]).thread_block().expect("a mask");
        assert!(blocked(Signal::SIGHUP));
        for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGQUIT, Signal::SIGCHLD] {
            assert!(!blocked(signal), "{signal}");
        }
    }

    #[test]
    fn the_end_of_a_program_is_told_as_it_was() {
        let run = |script: &str| of_shell(script).run(Some(Duration::from_secs(60))).expect("it starts");
        assert_eq!(run("exit 3").and_then(|status| status.code()), Some(3));
        assert_eq!(run("kill -40 $$").and_then(|status| status.signal()), Some(40), "a signal of real time");
        assert_eq!(of_shell("exec sleep 60").run(Some(Duration::from_millis(20))).expect("it starts"), None);
        let missing = Foreground { path: "/no/such/program".into(), ..of_shell("") }.run(None);
        assert_eq!(missing.expect_err("it is not there").kind(), io::ErrorKind::NotFound);
    }
}

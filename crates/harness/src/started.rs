//! A program that we started without [`std::process::Command`]: its end, and signals to it.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rustix::process::{WaitOptions, waitpid};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// A program that runs, or has ended.
pub struct Started {
    process: Pid,
    ended: Option<ExitStatus>,
}

impl Started {
    /// Takes over a process of ours. No other code may wait for that process.
    pub fn new(process: Pid) -> Started {
        Started { process, ended: None }
    }

    /// Whether it is the process of this number.
    pub fn is_process(&self, number: u32) -> bool {
        u32::try_from(self.process.as_raw()) == Ok(number)
    }

    /// Its exit status, if it has ended.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.look(WaitOptions::NOHANG)
    }

    /// Kills it.
    pub fn kill(&mut self) -> io::Result<()> {
        self.send(Signal::SIGKILL);
        while self.look(WaitOptions::empty())?.is_none() {}
        Ok(())
    }

    /// Sends it a signal, unless it has ended.
    pub fn send(&self, signal: Signal) {
        if self.ended.is_none() {
            let _ = kill(self.process, signal); // only its end, which is not looked at yet, can be in the way
        }
    }

    /// Waits with rustix: nix has no name for signals of real time, and refuses the status of what they ended.
    fn look(&mut self, how: WaitOptions) -> io::Result<Option<ExitStatus>> {
        if self.ended.is_none() {
            let process = rustix::process::Pid::from_raw(self.process.as_raw());
            self.ended = match waitpid(process, how) {
                Ok(status) => status.map(|(_, status)| ExitStatus::from_raw(status.as_raw())),
                Err(rustix::io::Errno::INTR) => None,
                Err(error) => return Err(error.into()),
            };
        }
        Ok(self.ended)
    }
}

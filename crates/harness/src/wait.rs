//! Waits for a program to end. Meanwhile signals that are sent to us alone are passed on to it; what a terminal sends it gets itself.
//! Signals that came before it started are passed on, too.

use super::started::Started;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use std::cell::Cell;
use std::io;
use std::os::fd::AsFd;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

/// Signals by which people end programs.
const PASSED_ON: [Signal; 4] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];
/// The kernel sent a signal by itself, such as for Ctrl-C: to all programs of the terminal.
const BY_KERNEL: i32 = 0x80;
/// The end of the program is looked for at least this often, should another thread of ours get its signal.
const LONGEST_NAP: Duration = Duration::from_millis(100);

/// From here on signals wait until they are looked at.
pub struct Signals {
    waiting: SignalFd,
    before: SigSet,
    /// The first signal that somebody else than the program sent.
    came: Cell<Option<Signal>>,
}

impl Signals {
    /// To be called before the program starts, which must start with [`Signals::mask_before`].
    pub fn hold() -> io::Result<Signals> {
        let mut held = SigSet::from_iter(PASSED_ON);
        held.add(Signal::SIGCHLD);
        let before = held.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
        let waiting = SignalFd::with_flags(&held, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        Ok(Signals { waiting, before, came: Cell::new(None) })
    }

    /// The signals that were blocked before.
    pub fn mask_before(&self) -> &SigSet {
        &self.before
    }

    /// Waits; kills the program and gives nothing if it takes longer than this.
    pub fn wait(&self, program: &mut Started, limit: Option<Duration>) -> io::Result<Option<ExitStatus>> {
        let end = limit.map(|limit| Instant::now() + limit);
        self.pass_on(program, |_| true)?; // it was not there for the terminal
        loop {
            self.pass_on(program, |code| code != BY_KERNEL)?;
            if let Some(status) = program.try_wait()? {
                return Ok(Some(status));
            }
            let left = end.map_or(LONGEST_NAP, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                program.kill()?;
                return Ok(None);
            }
            let nap =
                PollTimeout::try_from(left.min(LONGEST_NAP).as_millis().max(1) as i32).unwrap_or(PollTimeout::ZERO);
            match poll(&mut [PollFd::new(self.waiting.as_fd(), PollFlags::POLLIN)], nap) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The first signal that has come by now and that somebody else than the program sent. Those that still wait were meant for the program.
    pub fn came(&self) -> io::Result<Option<Signal>> {
        while let Some(found) = self.waiting.read_signal()? {
            if let Some(signal) = to_end(found.ssi_signo) {
                self.came.set(self.came.get().or(Some(signal)));
            }
        }
        Ok(self.came.get())
    }

    /// Passes on the signals that have come, of senders with such codes.
    fn pass_on(&self, program: &Started, is_for_it: impl Fn(i32) -> bool) -> io::Result<()> {
        while let Some(found) = self.waiting.read_signal()? {
            let Some(signal) = to_end(found.ssi_signo) else { continue };
            // A program that signals its process group reaches us, too, and means itself.
            if !program.is_process(found.ssi_pid) {
                self.came.set(self.came.get().or(Some(signal)));
            }
            if is_for_it(found.ssi_code) {
                program.send(signal);
            }
        }
        Ok(())
    }
}

/// The signal of this number, if people end programs by it.
fn to_end(number: u32) -> Option<Signal> {
    Signal::try_from(number as i32).ok().filter(|signal| PASSED_ON.contains(signal))
}

impl Drop for Signals {
    fn drop(&mut self) {
        while let Ok(Some(_)) = self.waiting.read_signal() {} // meant for the program
        let _ = self.before.thread_set_mask(); // a mask that was in force before
    }
}

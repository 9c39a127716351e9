//! What a command does where a signal comes that ends programs, as long as it says so. Otherwise such a signal ends the command.

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use std::io::PipeWriter;
use std::os::fd::AsFd;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const ENDING: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

/// Signals that come sooner than this after the first one are the same: `timeout` sends one to the process, and one to its group.
const SAME: Duration = Duration::from_millis(200);

/// How often a user has asked a command to stop.
#[derive(Default)]
pub struct Askings {
    first: Option<Instant>,
}

/// What a signal says that asks a command to stop.
pub enum Asking {
    /// To stop, and to tell what is known.
    Stop,
    /// The same as the signal right before.
    Same,
    /// To end at once.
    End,
}

impl Askings {
    /// Takes a signal that comes now.
    pub fn take(&mut self) -> Asking {
        match self.first {
            None => {
                self.first = Some(Instant::now());
                Asking::Stop
            }
            Some(first) if first.elapsed() < SAME => Asking::Same,
            Some(_) => Asking::End,
        }
    }
}

/// A thread that waits for such signals, until this is dropped.
pub struct OnSignal {
    before: SigSet,
    /// The thread ends when this is closed.
    end: Option<PipeWriter>,
    waiting: Option<JoinHandle<()>>,
}

impl OnSignal {
    /// Calls this with the number of each signal. Threads that are made from here on leave signals to it.
    pub fn call(mut act: impl FnMut(i32) + Send + 'static) -> anyhow::Result<OnSignal> {
        let ending = SigSet::from_iter(ENDING);
        let signals = SignalFd::with_flags(&ending, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        let (ended, end) = std::io::pipe()?;
        let before = ending.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
        let waiting = std::thread::Builder::new().name("signals".into()).spawn(move || {
            loop {
                let mut either = [&signals.as_fd(), &ended.as_fd()].map(|one| PollFd::new(*one, PollFlags::POLLIN));
                let _ = poll(&mut either, PollTimeout::NONE); // an interrupted one is made again
                while let Ok(Some(signal)) = signals.read_signal() {
                    act(signal.ssi_signo as i32);
                }
                if either[1].any() == Some(true) {
                    return;
                }
            }
        });
        let waiting = waiting.inspect_err(|_| restore(&before))?;
        Ok(OnSignal { before, end: Some(end), waiting: Some(waiting) })
    }
}

fn restore(mask: &SigSet) {
    let _ = mask.thread_set_mask();
}

impl Drop for OnSignal {
    fn drop(&mut self) {
        drop(self.end.take());
        let _ = self.waiting.take().map(JoinHandle::join);
        restore(&self.before);
    }
}

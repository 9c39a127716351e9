//! Work that has a limit: a thread does it and this one hears of it, so that the command ends in time even where a stage of the
//! work does not look at the clock.

use super::asking::ended_early;
use super::outcome::{Outcome, exit_code};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// How long after its limit, or after Ctrl-C, the work may take to end: at least, and as a part of the limit.
const GRACE: Duration = Duration::from_millis(700);
const PART_OF_LIMIT: u32 = 20;

/// Work that has something to say after that goes on, as long as it is not silent for this time.
const SILENCE: Duration = Duration::from_millis(200);

/// How long it may go on at most: what was decided is kept, but the limit is one.
const MOST_GRACE: Duration = Duration::from_secs(5);

/// How often the clock is looked at while nothing is heard.
const POLL: Duration = Duration::from_millis(20);

/// Messages that wait to be heard, at most.
const MOST_WAITING: usize = 1 << 12;

/// What the work came to.
pub enum End<T> {
    /// It ended, with this.
    Done(T),
    /// It has not ended in time: there is nothing but what was heard.
    Overdue,
}

/// Who hears of the work, and reports.
pub trait Hearer<M, T> {
    /// Takes what the work sends. Where this fails the work is stopped.
    fn hear(&mut self, message: M) -> anyhow::Result<()>;

    /// Reports, in the end; hears whether [`Hearer::hear`] failed.
    fn finish(self, end: anyhow::Result<End<T>>) -> anyhow::Result<Outcome>;
}

/// Has a thread do `work`, and `hearer` hear of it and report.
///
/// The time is that of the command. Work that is overdue cannot be stopped: then the process ends here.
pub fn oversee<M: Send, T: Send>(
    (limit, stop): (Option<Duration>, &AtomicBool),
    work: impl FnOnce(SyncSender<M>) -> T + Send,
    mut hearer: impl Hearer<M, T>,
) -> anyhow::Result<Outcome> {
    let (sender, messages) = sync_channel(MOST_WAITING);
    let mut patience = Patience { limit, stop, over_since: None, heard_at: Instant::now() };
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| work(sender));
        let mut heard = Ok(());
        let mut take = |message| {
            if heard.is_ok() {
                heard = hearer.hear(message);
                heard.as_ref().is_err().then(|| stop.store(true, Ordering::Relaxed));
            }
        };
        let is_done = loop {
            match messages.recv_timeout(POLL) {
                Ok(message) => {
                    take(message);
                    patience.heard_at = Instant::now();
                }
                Err(RecvTimeoutError::Disconnected) => break true,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if patience.is_over() {
                waiting(&messages).for_each(&mut take);
                break false;
            }
        };
        if is_done {
            let result = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            return hearer.finish(heard.map(|()| End::Done(result)));
        }
        std::process::exit(exit_code(hearer.finish(heard.map(|()| End::Overdue))).into())
    })
}

/// The messages that are there.
fn waiting<M>(messages: &Receiver<M>) -> impl Iterator<Item = M> {
    messages.try_iter().take(MOST_WAITING)
}

/// How long work is waited for.
struct Patience<'a> {
    limit: Option<Duration>,
    stop: &'a AtomicBool,
    over_since: Option<Instant>,
    heard_at: Instant,
}

impl Patience<'_> {
    fn is_over(&mut self) -> bool {
        let late = self.limit.is_some_and(|limit| super::outcome::since_start() >= limit);
        if self.over_since.is_none() && (late || self.stop.load(Ordering::Relaxed)) {
            self.over_since = Some(Instant::now());
        }
        let Some(over) = self.over_since.map(|since| since.elapsed()) else { return false };
        let grace = self.limit.map_or(GRACE, |limit| (limit / PART_OF_LIMIT).clamp(GRACE, MOST_GRACE));
        over >= grace && (self.heard_at.elapsed() >= SILENCE || over >= MOST_GRACE)
    }
}

/// Work of which nothing is heard before it ends: what is said where it is overdue, and what reports it.
pub struct AtOnce<F>(pub &'static str, pub F);

impl<T, F: FnOnce(T) -> anyhow::Result<Outcome>> Hearer<(), T> for AtOnce<F> {
    fn hear(&mut self, (): ()) -> anyhow::Result<()> {
        Ok(())
    }

    fn finish(self, end: anyhow::Result<End<T>>) -> anyhow::Result<Outcome> {
        match end? {
            End::Done(result) => (self.1)(result),
            End::Overdue => Ok(ended_early(self.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{End, Hearer, oversee};
    use crate::cli::Outcome;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::SyncSender;

    /// Expects the numbers from 0 on, and fails at one of them.
    struct Numbers {
        next: u32,
        fails_at: u32,
    }

    impl Hearer<u32, &str> for Numbers {
        fn hear(&mut self, message: u32) -> anyhow::Result<()> {
            assert_eq!(message, self.next);
            self.next += 1;
            anyhow::ensure!(message != self.fails_at, "closed");
            Ok(())
        }

        fn finish(self, end: anyhow::Result<End<&str>>) -> anyhow::Result<Outcome> {
            assert!(matches!(end?, End::Done("done")));
            assert_eq!(self.next, 10_000);
            Ok(Outcome::Fine)
        }
    }

    #[test]
    fn what_is_sent_is_heard_in_order_before_the_end() {
        let stop = AtomicBool::new(false);
        let work = |sender: SyncSender<u32>| {
            (0..10_000).for_each(|number| sender.send(number).unwrap());
            "done"
        };
        let ended = oversee((None, &stop), work, Numbers { next: 0, fails_at: u32::MAX });
        assert_eq!(ended.unwrap(), Outcome::Fine);
        assert!(!stop.load(Ordering::Relaxed));
    }

    #[test]
    fn a_failure_to_hear_stops_the_work() {
        let stop = AtomicBool::new(false);
        let work = |sender: SyncSender<u32>| {
            for number in 0.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                let _ = sender.send(number);
            }
            "stopped"
        };
        let ended = oversee((None, &stop), work, Numbers { next: 0, fails_at: 5 });
        assert_eq!(ended.unwrap_err().to_string(), "closed");
    }
}

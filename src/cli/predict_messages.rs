//! What `predict` hears of its work, from the thread that does it.

use foretrace::predict::{Progress, Refuted, Sink, Totals};
use foretrace::verdict::{Decider, Decision};
use foretrace_trace::Triple;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

/// What is heard of the work.
pub(super) enum Message {
    Decision(Box<Decision>),
    /// So many candidates of the class of this one.
    Refuted(Triple, Decider, u64),
    Progress(Progress),
    Finished(Box<Totals>),
}

/// Tells of the work.
pub(super) struct Speaker {
    messages: SyncSender<Message>,
    takes_refuted: bool,
    told_at: Option<Instant>,
}

/// How far the work is, is told so often.
const TELLS: Duration = Duration::from_millis(20);

impl Speaker {
    /// Tells by messages, also of candidates that filters refute if these are taken.
    pub(super) fn new(messages: SyncSender<Message>, takes_refuted: bool) -> Speaker {
        Speaker { messages, takes_refuted, told_at: None }
    }
}

impl Sink for Speaker {
    fn decision(&mut self, decision: &Decision) -> anyhow::Result<()> {
        Ok(self.messages.send(Message::Decision(Box::new(decision.clone())))?)
    }

    fn takes_refuted(&self) -> bool {
        self.takes_refuted
    }

    fn refuted(&mut self, refuted: &Refuted<'_>) {
        let count = refuted.remotes.len() as u64;
        let _ = self.messages.send(Message::Refuted(refuted.triple(), refuted.by, count)); // if nobody listens the run has ended
    }

    fn progress(&mut self, progress: &Progress) {
        if self.told_at.is_none_or(|told_at| told_at.elapsed() >= TELLS) {
            let _ = self.messages.send(Message::Progress(*progress));
            self.told_at = Some(Instant::now());
        }
    }

    fn finished(&mut self, totals: &Totals) {
        let _ = self.messages.send(Message::Finished(Box::new(totals.clone())));
    }
}

//! Which wakes have which signals in an order of steps, where that is not decided.
//!
//! A signal serves one of those that wait when it comes, and the one whose wake comes next has the least time: if every signal
//! serves that one, all are served that can be (earliest deadline first). Who is not served then wants a signal that
//! others of the same time have.

use super::Schedules;
use super::tables::{Role, Signal, SignalId, WakeId};
use foretrace_trace::{EventId, SyncId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A wake, with the signal that it has, if there is one.
type Match = (EventId, Option<EventId>);

/// Who waits on a condition variable, by the moment of the wake, and who was served when.
#[derive(Default)]
struct Queue {
    waiting: BTreeMap<usize, WakeId>,
    served: Vec<(usize, WakeId)>,
}

impl Schedules {
    /// The wakes of the prefix without a signal, with one each as far as there are; of those that are not served and all that stand
    /// in their way it is said that there is none.
    pub(super) fn matched(&self, moments: &[Role]) -> Vec<Match> {
        let mut wakes: FxHashMap<WakeId, usize> = FxHashMap::default();
        let mut begun: FxHashMap<WakeId, usize> = FxHashMap::default();
        for (moment, role) in moments.iter().enumerate() {
            if let Role::Wake(wake) = role
                && self.is_open(*wake)
            {
                wakes.insert(*wake, moment);
            }
        }
        let mut queues: FxHashMap<SyncId, Queue> = FxHashMap::default();
        let mut found = Vec::new();
        for (moment, role) in moments.iter().enumerate() {
            match *role {
                Role::Wait(wake) => {
                    if let Some(until) = wakes.get(&wake) {
                        begun.insert(wake, moment);
                        let cond = self.tables.wakes[wake as usize].cond;
                        queues.entry(cond).or_default().waiting.insert(*until, wake);
                    }
                }
                Role::Signal(signal) => {
                    let cond = self.tables.signals[signal as usize].cond;
                    self.serve(signal, moment, queues.entry(cond).or_default(), &mut found);
                }
                Role::Wake(wake) => {
                    let queue = queues.entry(self.tables.wakes[wake as usize].cond).or_default();
                    if queue.waiting.remove(&moment).is_some() {
                        let since = |(when, _): &&(usize, WakeId)| *when > begun[&wake];
                        let others = queue.served.iter().filter(since).map(|(_, other)| *other);
                        found.extend(others.chain([wake]).map(|one| (self.tables.wakes[one as usize].event, None)));
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// Whether the prefix holds the wake and nothing says which signal it has.
    fn is_open(&self, wake: WakeId) -> bool {
        let wake = &self.tables.wakes[wake as usize];
        wake.released == 0 && self.holds(wake.at)
    }

    fn serve(&self, signal: SignalId, moment: usize, queue: &mut Queue, found: &mut Vec<Match>) {
        let Signal { event, at, serves_all, taken, .. } = self.tables.signals[signal as usize];
        if taken.is_some() || !self.holds(at) {
            return;
        }
        while let Some((_, wake)) = queue.waiting.pop_first() {
            found.push((self.tables.wakes[wake as usize].event, Some(event)));
            if !serves_all {
                queue.served.push((moment, wake));
                break;
            }
        }
    }
}

//! Which signal serves which wake in an order of steps, where that is not decided.
//!
//! A signal serves one of the threads that wait when it comes. Serving the one whose wake comes next serves all that can be served
//! (earliest deadline first). A wake that is left without a signal needs one that serves another wake of the same time.

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
    /// Gives each wake of the prefix that has no signal one signal, as far as there are signals. A wake that stays without is given none,
    /// and so are the wakes that were served since its wait began.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partial_order::StepPosition;
    use crate::schedules::Member;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// Threads that wait so often each, and a thread that signals, or broadcasts.
    struct Told {
        schedules: Schedules,
        moments: Vec<Role>,
        /// Per wake, where it waits from and until.
        waits: Vec<(usize, usize)>,
        signals: Vec<(usize, bool)>,
    }

    /// What happens at each moment: a thread goes on (waits, or wakes), or there is a signal, or a broadcast.
    fn told(threads: usize, steps: &[usize]) -> Told {
        let mut told = Told {
            schedules: Schedules::new(threads + 1),
            moments: Vec::new(),
            waits: Vec::new(),
            signals: Vec::new(),
        };
        let mut positions = vec![0; threads + 1];
        let mut member = |moment: usize, thread: usize| {
            let position = positions[thread];
            positions[thread] += 1;
            let place = StepPosition { step: EventId(moment as u32), thread: thread as u32, position };
            Member { place, position, included: None }
        };
        let mut since: Vec<Option<(usize, Member)>> = vec![None; threads];
        let mut signals = Vec::new();
        let mut roles: Vec<Option<Role>> = vec![None; steps.len()];
        for (moment, step) in steps.iter().enumerate() {
            match since.get(*step).copied() {
                Some(None) => since[*step] = Some((moment, member(moment, *step))),
                Some(Some((from, wait))) => {
                    since[*step] = None;
                    let wake = member(moment, *step);
                    let id = told.schedules.add_wake(EventId(moment as u32), SyncId(0), wait, wake);
                    (roles[from], roles[moment]) = (Some(Role::Wait(id)), Some(Role::Wake(id)));
                    told.waits.push((from, moment));
                }
                None => {
                    signals.push((moment, member(moment, threads)));
                    told.signals.push((moment, *step > threads));
                }
            }
        }
        for ((moment, member), (_, serves_all)) in signals.into_iter().zip(&told.signals) {
            let at = told.schedules.at(member);
            let id = told.schedules.tables.signal(EventId(moment as u32), SyncId(0), at, *serves_all);
            roles[moment] = Some(Role::Signal(id));
        }
        told.moments.extend(roles.into_iter().flatten());
        told
    }

    impl Told {
        fn serves(&self, signal: usize, wake: usize) -> bool {
            let ((at, _), (from, until)) = (self.signals[signal], self.waits[wake]);
            from < at && at < until
        }

        /// Whether each wake can have a signal of its own: tries for one after the other.
        fn can_all_be_served(&self, wake: usize, taken: &mut Vec<usize>) -> bool {
            wake == self.waits.len()
                || (0..self.signals.len()).any(|signal| {
                    if !self.serves(signal, wake) || taken.contains(&signal) {
                        return false;
                    }
                    taken.extend((!self.signals[signal].1).then_some(signal));
                    let others = self.can_all_be_served(wake + 1, taken);
                    taken.pop_if(|last| !others && *last == signal);
                    others
                })
        }
    }

    proptest! {
        #[test]
        fn wakes_have_signals_of_their_own_wherever_they_can(
            threads in 1..4_usize,
            steps in vec(0..6_usize, 0..14),
        ) {
            let told = told(threads, &steps);
            let found = told.schedules.matched(&told.moments);
            let all = found.iter().all(|(_, signal)| signal.is_some());
            prop_assert_eq!(all, told.can_all_be_served(0, &mut Vec::new()), "{:?}", &found);
            let mut own = Vec::new();
            for (wake, signal) in found.iter().filter_map(|(wake, signal)| Some((wake.index(), signal.as_ref()?.index()))) {
                let wake = told.waits.iter().position(|(_, until)| *until == wake).expect("it is a wake");
                let signal = told.signals.iter().position(|(at, _)| *at == signal).expect("it is a signal");
                prop_assert!(told.serves(signal, wake) && (told.signals[signal].1 || !own.contains(&signal)));
                own.push(signal);
            }
            prop_assert!(all || found.iter().any(|(_, signal)| signal.is_none()));
            prop_assert_eq!(own.len() + found.iter().filter(|(_, signal)| signal.is_none()).count() >= told.waits.len(), true);
        }
    }
}

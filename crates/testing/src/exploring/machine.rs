//! The state of locks, conditions, semaphores, barriers and threads after the steps so far: whether a thread's next step can come, and on
//! which steps it depends.

use super::channel_calls::{OnChannel, channel_of};
use super::execution::{Taken, end_of};
use super::objects::Objects;
use foretrace_explore::{Action, Mode, Next, Use};
use foretrace_runtime::record::{Kind, MESSAGES_END, TRIED, WOKEN_BY_TIMEOUT, WOKEN_SPURIOUSLY, nature};
use foretrace_runtime::{access_kinds, code_kinds};
use rustc_hash::{FxHashMap, FxHashSet};

/// Who holds a lock.
#[derive(Clone, Default)]
struct Lock {
    /// The thread, and how often it took it.
    holder: Option<(usize, u32)>,
    readers: Vec<usize>,
}

#[derive(Clone, Default)]
struct Barrier {
    parties: u64,
    /// Threads that have come, by round.
    arrived: FxHashMap<u64, u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Once {
    Running,
    Done,
}

/// The wait of a thread for a condition.
#[derive(Clone, Copy)]
struct Wait {
    condition: u64,
    mutex: u64,
    is_woken: bool,
}

/// What a thread is about to do.
#[derive(Clone, Copy)]
pub enum Pending {
    /// This step, as an execution shows it; it may turn out otherwise here.
    Step(Taken),
    /// It waits for what is at this address.
    Waits(u64),
}

/// The state after some steps.
#[derive(Clone, Default)]
pub struct Machine {
    locks: FxHashMap<u64, Lock>,
    /// Who waits for a condition, in order.
    conditions: FxHashMap<u64, Vec<usize>>,
    waits: FxHashMap<usize, Wait>,
    semaphores: FxHashMap<u64, u64>,
    barriers: FxHashMap<u64, Barrier>,
    once_objects: FxHashMap<u64, Once>,
    /// What was last seen in memory: bytes and value, by address.
    memory: FxHashMap<u64, (usize, u64)>,
    started: FxHashSet<usize>,
    ended: FxHashSet<usize>,
    joined: FxHashSet<usize>,
    /// Whether the program is over.
    pub is_over: bool,
}

/// The uses of a step that is the end of a thread, or asks for it.
fn ends_of(thread: Option<usize>, objects: &mut Objects) -> Vec<Use> {
    thread.map(|thread| objects.synchronisation(end_of(thread), Mode::Any)).into_iter().collect()
}

/// What a step is in this state.
struct Found {
    uses: Vec<Use>,
    is_ready: bool,
}

impl Machine {
    /// Whether a thread exists and has not ended.
    pub fn is_alive(&self, thread: usize) -> bool {
        self.started.contains(&thread) && !self.ended.contains(&thread)
    }

    /// Whether a thread is the only one that has not been joined: all that others did comes before what it does.
    pub fn is_alone(&self, thread: usize) -> bool {
        self.started.iter().all(|other| *other == thread || self.joined.contains(other))
    }

    /// A thread that no other one started.
    pub fn starts(&mut self, thread: usize) {
        self.started.insert(thread);
    }

    /// Whether something is in the channel that a step is about, as far as that is known.
    pub fn is_message_in(&self, step: &Taken) -> bool {
        let semaphore = step.takes_from.or_else(|| channel_of(step.kind, step.words[0]));
        semaphore.and_then(|semaphore| self.semaphores.get(&semaphore)).is_some_and(|count| *count > 0)
    }

    /// The thread that a signal wakes if it makes this choice.
    pub fn woken(&self, step: &Taken, choice: usize) -> Option<usize> {
        let waiting = || self.conditions.get(&step.words[0])?.get(choice).copied();
        if step.kind == Kind::Signal { waiting() } else { None }
    }

    /// What a thread would do next. `ends` says whether the step ends the program; `swaps` holds places of compare-and-swaps.
    pub fn next(
        &self,
        thread: usize,
        pending: &Pending,
        ends: bool,
        swaps: &FxHashSet<u64>,
        objects: &mut Objects,
    ) -> Next {
        let step = match pending {
            Pending::Step(step) => step,
            Pending::Waits(address) => return self.waiting(thread, *address, objects),
        };
        let Found { mut uses, is_ready } = self.find(step, swaps, objects);
        uses.extend(objects.freed(step.frees, thread));
        let mut action = Action::new(uses.into());
        match step.kind {
            Kind::Fork => action.starts = step.other,
            Kind::Join => action.joins = step.other.filter(|other| self.ended.contains(other)),
            Kind::Signal => {
                action.choices = self.conditions.get(&step.words[0]).map_or(1, |waiting| waiting.len().max(1));
            }
            _ => {}
        }
        action.ends_all = ends;
        if is_ready { Next::Ready(action) } else { Next::Blocked(action) }
    }

    fn find(&self, step: &Taken, swaps: &FxHashSet<u64>, objects: &mut Objects) -> Found {
        let address = step.words[0];
        let is_free = |lock: u64| self.is_free(lock, step.thread, false);
        let ready = |uses: Vec<Use>| Found { uses, is_ready: true };
        let bytes = step.kind.size();
        // The order of calls on channels is that of this run alone: any of them may come first.
        const ALL_CHANNELS: u64 = MESSAGES_END;
        match (step.on_channel, channel_of(step.kind, step.words[0])) {
            (OnChannel::Moves, Some(channel)) => {
                let one = objects.synchronisation(channel, Mode::Any);
                return ready(vec![one, objects.synchronisation(ALL_CHANNELS, Mode::Read)]);
            }
            (OnChannel::Looks, _) => return ready(vec![objects.synchronisation(ALL_CHANNELS, Mode::Write)]),
            (OnChannel::Within, _) => return ready(Vec::new()),
            _ => {}
        }
        let mut on = |mode: Mode| objects.synchronisation(address, mode);
        match step.kind {
            Kind::Busy if step.other.is_some() => ready(ends_of(step.other, objects)),
            Kind::Acquire | Kind::WriteLock | Kind::Busy => {
                let recursive = step.kind == Kind::Acquire && step.words[1] & nature::RECURSIVE != 0;
                let is_free = self.is_free(address, step.thread, recursive);
                let tries = step.kind == Kind::Busy || step.words[1] & TRIED != 0;
                match (is_free, tries) {
                    (false, true) => ready(vec![on(Mode::Busy)]),
                    (true, true) => ready(vec![on(Mode::TryTake)]),
                    (is_ready, false) => Found { uses: vec![on(Mode::Take)], is_ready },
                }
            }
            Kind::ReadLock => {
                let is_free = self.locks.get(&address).is_none_or(|lock| lock.holder.is_none());
                match (is_free, step.words[1] & TRIED != 0) {
                    (false, true) => ready(vec![on(Mode::Busy)]),
                    (true, true) => ready(vec![on(Mode::TryTakeShared)]),
                    (is_ready, false) => Found { uses: vec![on(Mode::TakeShared)], is_ready },
                }
            }
            Kind::Release | Kind::WriteUnlock => ready(vec![on(Mode::Give)]),
            Kind::ReadUnlock => ready(vec![on(Mode::GiveShared)]),
            Kind::Wait => {
                let condition = on(Mode::Any);
                ready(vec![objects.synchronisation(step.words[1], Mode::Give), condition])
            }
            Kind::Wake => {
                let condition = on(Mode::Any);
                let Some(wait) = self.waits.get(&step.thread) else { return ready(vec![condition]) };
                let by = step.words[1];
                let by_itself = by == WOKEN_BY_TIMEOUT || by == WOKEN_SPURIOUSLY;
                let has_limit = !by_itself && by & TRIED != 0;
                let is_ready = (wait.is_woken || by_itself || has_limit) && is_free(wait.mutex);
                Found { uses: vec![objects.synchronisation(wait.mutex, Mode::Take), condition], is_ready }
            }
            Kind::Post => ready(vec![on(Mode::Post)]),
            Kind::Down => {
                let is_ready = self.semaphores.get(&address).is_none_or(|count| *count > 0);
                let tries = step.words[1] & TRIED != 0;
                Found { uses: vec![on(Mode::Down)], is_ready: is_ready || tries }
            }
            Kind::Depart => {
                let Some(barrier) = self.barriers.get(&address) else { return ready(vec![on(Mode::Any)]) };
                let has_come = barrier.arrived.get(&step.words[1]).is_some_and(|arrived| *arrived >= barrier.parties);
                Found { uses: objects.departure(address, step.words[1]), is_ready: has_come }
            }
            Kind::Arrive => ready(objects.arrival(address, step.words[1])),
            Kind::OnceBegin | Kind::OncePass => {
                Found { uses: vec![on(Mode::Any)], is_ready: self.once_objects.get(&address) != Some(&Once::Running) }
            }
            Kind::Signal
            | Kind::Broadcast
            | Kind::SemaphoreInit
            | Kind::BarrierInit
            | Kind::OnceEnd
            | Kind::OnceFail => ready(vec![on(Mode::Any)]),
            Kind::Exit => ready(ends_of(Some(step.thread), objects)),
            Kind::Join if step.words[1] & TRIED != 0 => ready(ends_of(step.other, objects)),
            Kind::Join => {
                let has_ended = step.other.is_some_and(|other| self.ended.contains(&other));
                Found { uses: Vec::new(), is_ready: has_ended }
            }
            access_kinds!() => ready(objects.access(address, bytes as u64, self.writes(step, swaps))),
            Kind::Fork | Kind::Start | Kind::HandlerBegin | Kind::HandlerEnd => ready(Vec::new()),
            Kind::AtomicBegin | Kind::AtomicEnd | Kind::CallBegin | Kind::CallEnd | Kind::CallValue => {
                ready(Vec::new())
            }
            Kind::Allocate | Kind::Free | Kind::Alias | Kind::Unseen | Kind::Refused | Kind::Fail => ready(Vec::new()),
            code_kinds!() => ready(Vec::new()),
        }
    }

    /// Whether an access writes in this state.
    fn writes(&self, step: &Taken, swaps: &FxHashSet<u64>) -> bool {
        let bytes = step.kind.size();
        let value = self.memory.get(&step.words[0]).filter(|(size, _)| *size == bytes).map(|(_, value)| *value);
        match step.kind {
            kind if kind.is_load() => false,
            kind if kind.is_store() => true,
            Kind::Failed1 | Kind::Failed2 | Kind::Failed4 | Kind::Failed8 => {
                value.is_none_or(|value| value == step.words[2])
            }
            // What was found is what a compare-and-swap expects.
            _ if swaps.contains(&step.place) => value.is_none_or(|value| value == step.words[1]),
            _ => true,
        }
    }

    /// A thread that waits at the end of an execution.
    fn waiting(&self, thread: usize, address: u64, objects: &mut Objects) -> Next {
        if let Some(wait) = self.waits.get(&thread) {
            let uses = vec![
                objects.synchronisation(wait.mutex, Mode::Take),
                objects.synchronisation(wait.condition, Mode::Any),
            ];
            let action = Action::new(uses.into());
            let is_ready = wait.is_woken && self.is_free(wait.mutex, thread, false);
            return if is_ready { Next::Ready(action) } else { Next::Blocked(action) };
        }
        let (mode, is_ready) = if self.semaphores.contains_key(&address) {
            (Mode::Down, self.semaphores[&address] > 0)
        } else if self.barriers.contains_key(&address) {
            (Mode::Any, false)
        } else if self.locks.contains_key(&address) {
            (Mode::Take, self.is_free(address, thread, false))
        } else {
            (Mode::Any, false) // the end of a thread, among others
        };
        let action = Action::new(vec![objects.synchronisation(address, mode)].into());
        if is_ready { Next::Ready(action) } else { Next::Blocked(action) }
    }

    fn is_free(&self, lock: u64, thread: usize, recursive: bool) -> bool {
        let Some(lock) = self.locks.get(&lock) else { return true };
        let is_own = |holder: usize| recursive && holder == thread;
        lock.holder.is_none_or(|(holder, _)| is_own(holder)) && lock.readers.is_empty()
    }

    /// Takes a step. Whether it ends the program is `ends`.
    pub fn take(&mut self, step: &Taken, ends: bool) {
        let (thread, address) = (step.thread, step.words[0]);
        match step.kind {
            Kind::Acquire | Kind::WriteLock => self.take_lock(address, thread),
            Kind::ReadLock => self.locks.entry(address).or_default().readers.push(thread),
            Kind::Release | Kind::WriteUnlock => self.give_back(address),
            Kind::ReadUnlock => {
                let readers = &mut self.locks.entry(address).or_default().readers;
                if let Some(at) = readers.iter().position(|reader| *reader == thread) {
                    readers.remove(at);
                }
            }
            Kind::Wait => {
                self.give_back(step.words[1]);
                self.conditions.entry(address).or_default().push(thread);
                self.waits.insert(thread, Wait { condition: address, mutex: step.words[1], is_woken: false });
            }
            Kind::Wake => {
                self.conditions.entry(address).or_default().retain(|waiting| *waiting != thread);
                if let Some(wait) = self.waits.remove(&thread) {
                    self.take_lock(wait.mutex, thread);
                }
            }
            Kind::Signal => self.wake(address, |waiting| step.other == Some(waiting)),
            Kind::Broadcast => self.wake(address, |_| true),
            Kind::SemaphoreInit => _ = self.semaphores.insert(address, step.words[1]),
            Kind::Post => _ = self.semaphores.insert(address, step.words[1] + 1),
            Kind::Down => _ = self.semaphores.insert(address, step.words[1] & !TRIED),
            Kind::BarrierInit => {
                self.barriers.insert(address, Barrier { parties: step.words[1], ..Barrier::default() });
            }
            Kind::Arrive => {
                *self.barriers.entry(address).or_default().arrived.entry(step.words[1]).or_default() += 1;
            }
            Kind::OnceBegin => _ = self.once_objects.insert(address, Once::Running),
            Kind::OnceEnd => _ = self.once_objects.insert(address, Once::Done),
            Kind::OnceFail => _ = self.once_objects.remove(&address),
            Kind::Fork => self.started.extend(step.other),
            Kind::Join => self.joined.extend(step.other),
            Kind::Exit => _ = self.ended.insert(thread),
            access_kinds!() => self.remember(step),
            Kind::Busy | Kind::Depart | Kind::OncePass | Kind::Start => {}
            Kind::HandlerBegin | Kind::HandlerEnd | Kind::Unseen | Kind::Refused | Kind::Fail => {}
            Kind::AtomicBegin | Kind::AtomicEnd | Kind::CallBegin | Kind::CallEnd | Kind::CallValue => {}
            Kind::Allocate | Kind::Free | Kind::Alias => {}
            code_kinds!() => {}
        }
        self.is_over |= ends;
    }

    fn take_lock(&mut self, lock: u64, thread: usize) {
        let lock = self.locks.entry(lock).or_default();
        let times = lock.holder.filter(|(holder, _)| *holder == thread).map_or(0, |(_, times)| times);
        lock.holder = Some((thread, times + 1));
    }

    fn give_back(&mut self, lock: u64) {
        let lock = self.locks.entry(lock).or_default();
        lock.holder = lock.holder.filter(|(_, times)| *times > 1).map(|(holder, times)| (holder, times - 1));
    }

    fn wake(&mut self, condition: u64, is_woken: impl Fn(usize) -> bool) {
        let Some(waiting) = self.conditions.get_mut(&condition) else { return };
        waiting.retain(|thread| {
            if is_woken(*thread)
                && let Some(wait) = self.waits.get_mut(thread)
            {
                wait.is_woken = true;
            }
            !is_woken(*thread)
        });
    }

    fn remember(&mut self, step: &Taken) {
        let (address, bytes) = (step.words[0], step.kind.size());
        let value = match step.kind {
            Kind::Update1 | Kind::Update2 | Kind::Update4 | Kind::Update8 => step.words[2],
            _ => step.words[1],
        };
        if !step.kind.is_load() {
            let reach = 8;
            for near in address.saturating_sub(reach)..address.saturating_add(reach) {
                let overlaps =
                    |(size, _): &(usize, u64)| near + *size as u64 > address && near < address + bytes as u64;
                if near != address && self.memory.get(&near).is_some_and(overlaps) {
                    self.memory.remove(&near);
                }
            }
        }
        self.memory.insert(address, (bytes, value));
    }
}

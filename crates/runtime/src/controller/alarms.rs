//! Signals in a replay. A replay follows a recording only if signals come where they came there: the thread's count of records says where.
//! For signals that timers and other programs send, the schedule says which signal comes, and the feed has its information. While the
//! schedule is followed, such signals that really arrive are taken away, and come when it is over. Signals that the program sends arrive by
//! themselves. Those that arrive too early are taken away until they are due.

use core::cell::UnsafeCell;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{
    AtomicU8, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use super::plan;
use crate::hooks::occupied::Occupied;
use crate::interpose::signals::state;
use crate::siginfo::Information;
use crate::sys::{self, call};
use crate::threads::{self, Thread};

/// In place of the number of a thread: the signal comes from outside of the program.
pub const ANY_THREAD: u64 = 0;

/// A signal that arrived while the schedule was followed, and was not given to a thread since.
struct Taken {
    state: AtomicU8,
    /// The number of the thread that gets it, or [`ANY_THREAD`].
    to: AtomicU64,
    /// How many were taken away before it.
    before: AtomicU64,
    information: UnsafeCell<Information>,
}

// SAFETY: who makes the state `CHANGING` alone reads and writes the rest.
unsafe impl Sync for Taken {}

const FREE: u8 = 0;
const CHANGING: u8 = 1;
const KEPT: u8 = 2;

static TAKEN: [Taken; 64] = [const {
    Taken {
        state: AtomicU8::new(FREE),
        to: AtomicU64::new(0),
        before: AtomicU64::new(0),
        information: UnsafeCell::new([0; 16]),
    }
}; 64];
/// How many were taken away.
static COUNT: AtomicU64 = AtomicU64::new(0);
/// Those for which there was no place: a bit for each.
static MORE: AtomicU64 = AtomicU64::new(0);

impl Taken {
    /// Whether the place had this state and is the caller's now, until it gives it another one.
    fn becomes_mine(&self, state: u8) -> bool {
        self.state.compare_exchange(state, CHANGING, Acquire, Relaxed).is_ok()
    }

    /// Whether what is kept for this thread is like that.
    fn holds(&self, to: u64, like: impl Fn(&Information) -> bool) -> bool {
        if !self.becomes_mine(KEPT) {
            return false;
        }
        // SAFETY: the place is ours.
        let is_like = self.to.load(Relaxed) == to && like(unsafe { &*self.information.get() });
        self.state.store(KEPT, Release);
        is_like
    }

    /// What is kept, if anything. It is not kept any more then.
    fn remove(&self) -> Option<Information> {
        if !self.becomes_mine(KEPT) {
            return None;
        }
        // SAFETY: the place is ours.
        let information = unsafe { *self.information.get() };
        self.state.store(FREE, Release);
        Some(information)
    }
}

/// The number of a signal.
fn number(information: &Information) -> c_int {
    information[0] as c_int
}

/// Whether the kernel keeps one of the two only, if both wait: the numbers below 32 do not queue, nor does a timer's own signal.
fn is_one(one: &Information, other: &Information) -> bool {
    const FIRST_THAT_QUEUES: c_int = 32;
    const OF_TIMER: c_int = -2;
    let code = |information: &Information| information[1] as c_int;
    let timer = |information: &Information| information[2] as u32;
    let is_same_timer = code(one) == OF_TIMER && code(other) == OF_TIMER && timer(one) == timer(other);
    number(one) == number(other) && (number(one) < FIRST_THAT_QUEUES || is_same_timer)
}

/// The signal that came in the recording where the thread is now.
pub fn due(thread: &Thread) -> Option<c_int> {
    let (at, signal) = plan::next_alarm(thread)?;
    (at == thread.count() && thread.turn.alarmed.get() != at + 1).then_some(signal)
}

/// Up to which count the thread may go without a look.
pub fn next(thread: &Thread) -> u64 {
    let alarm = plan::next_alarm(thread).map_or(u64::MAX, |(at, _)| at);
    alarm.min(plan::next_sent(thread).map_or(u64::MAX, |(at, _)| at))
}

/// The signal that the program sent and that the thread handles here, if it has not begun to.
pub fn due_sent(thread: &Thread) -> Option<c_int> {
    let (at, signal) = plan::next_sent(thread)?;
    (at == thread.count() && thread.turn.handled.get() != at + 1).then_some(signal)
}

/// Lets a signal come that the program sent and that the thread handles before what it is about to do. The kernel may need a moment to
/// deliver it. The thread is inside of a hook, has the turn, and has done nothing in the hook yet.
pub fn sent_comes(thread: &'static Thread) -> bool {
    const SPAN: i64 = 200_000;
    const TRIES: usize = 500;
    if due_sent(thread).is_none() {
        return false;
    }
    for _ in 0..TRIES {
        if thread.pending.get() {
            // As at the end of a hook.
            thread.end();
            thread.occupy();
        }
        late_comes(thread);
        if due_sent(thread).is_none() {
            return true;
        }
        sys::sleep(SPAN);
    }
    handles(thread); // it does not come
    false
}

/// The thread begins to handle a signal here.
pub fn handles(thread: &Thread) {
    thread.turn.handled.set(thread.count() + 1);
}

/// Lets all come that are due; the thread is inside of a hook, has the turn, and has done nothing in the hook yet.
pub fn come(thread: &'static Thread) -> bool {
    let mut came = false;
    while let Some(signal) = due(thread) {
        thread.turn.alarmed.set(thread.count() + 1); // its handler's first record asks here, too
        if !state::come_again(thread, signal) {
            break;
        }
        if taken(ANY_THREAD, signal).is_none() {
            MORE.fetch_and(!bit(signal), Relaxed);
        }
        came = true;
    }
    came
}

/// Whether this signal is due, which then comes.
pub fn begin(thread: &Thread, signal: c_int) -> bool {
    let is_due = due(thread) == Some(signal);
    if is_due {
        thread.turn.alarmed.set(thread.count() + 1);
    }
    is_due
}

/// The first one of this number that waits for the thread. It does not any more.
fn taken(to: u64, signal: c_int) -> Option<Information> {
    let all = TAKEN.iter().filter(|taken| taken.holds(to, |kept| number(kept) == signal));
    all.min_by_key(|taken| taken.before.load(Relaxed))?.remove()
}

/// Lets one come that arrived too early and is due here. The thread is inside of a hook, has the turn, and has done nothing in the hook yet.
pub fn late_comes(thread: &'static Thread) {
    let late = due_sent(thread).and_then(|signal| Some((signal, taken(thread.number.get(), signal)?)));
    if let Some((signal, information)) = late {
        state::come_late(thread, signal, information);
    }
}

/// A signal arrived for this thread that the schedule has elsewhere, or not at all.
///
/// # Safety
/// What the kernel says of it (`siginfo_t`).
pub unsafe fn take_away(to: u64, information: *const c_void) {
    // SAFETY: the caller's promise; of this size.
    let information = unsafe { *information.cast::<Information>() };
    if TAKEN.iter().any(|taken| taken.holds(to, |kept| is_one(kept, &information))) {
        return;
    }
    let Some(place) = TAKEN.iter().find(|taken| taken.becomes_mine(FREE)) else {
        MORE.fetch_or(bit(number(&information)), Relaxed);
        return;
    };
    place.to.store(to, Relaxed);
    place.before.store(COUNT.fetch_add(1, Relaxed), Relaxed);
    // SAFETY: the place is ours.
    unsafe { *place.information.get() = information };
    place.state.store(KEPT, Release);
    if !plan::following() {
        give_back(); // the schedule ended meanwhile
    }
}

const fn bit(signal: c_int) -> u64 {
    1 << (signal - 1)
}

/// A thread sleeps in the kernel where a signal came in the recording, so perhaps until one comes.
pub fn prod(thread: &Thread) {
    if let Some(signal) = due(thread) {
        call!(TGKILL, call!(GETPID, 0), thread.tid.load(Relaxed), signal);
    }
}

/// The schedule is over: what was taken away comes after all, with what the kernel said of it. A program may wait for a timer's value.
pub fn give_back() {
    let process = call!(GETPID, 0);
    let everything = TAKEN.iter().filter_map(|taken| {
        let to = taken.to.load(Relaxed); // of what is kept: nothing is put there any more
        Some((to, taken.remove()?))
    });
    for (to, information) in everything {
        let signal = number(&information);
        if let Some(thread) = threads::all().find(|thread| to != ANY_THREAD && thread.number.get() == to) {
            let tid = thread.tid.load(Relaxed);
            call!(RT_TGSIGQUEUEINFO, process, tid, signal, &raw const information);
            continue;
        }
        // The kernel lets only the first thread pass on all that it says itself.
        if call!(RT_SIGQUEUEINFO, process, signal, &raw const information) != 0 {
            call!(KILL, process, signal);
        }
    }
    let more = MORE.swap(0, Relaxed);
    for signal in (1..=64).filter(|&signal| more & bit(signal) != 0) {
        call!(KILL, process, signal);
    }
}

//! Holds one thread after the schedule of a run that explores, so that all others go on as far as they can.
//!
//! The line `then` of the schedule asks for it, with `hold <path> <records>` at its end. The thread goes on once no other thread is ready and none
//! comes out of the kernel soon. Others may also wait for it in a loop: it goes on once all of them repeat what they do, or have made
//! that many records. And it goes on once more time has passed for them than the longest wait takes that may end by its limit at any time.

use core::cell::Cell;
use core::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering::Relaxed};

use crate::controller::limits;
use crate::controller::thread_turn::State;
use crate::controller::turns::ready;
use crate::program_time;
use crate::text::number;
use crate::threads::{self, Thread};

/// The path of the thread; nothing where none is held.
struct Path(Cell<&'static [u8]>);

// SAFETY: set before threads run, and changed under the controller's lock.
unsafe impl Sync for Path {}

static PATH: Path = Path(Cell::new(&[]));
/// How many records others may make.
static RECORDS: AtomicU64 = AtomicU64::new(0);
/// The records of all at which it goes on; 0 before it is held.
static UNTIL: AtomicU64 = AtomicU64::new(0);
/// How far the time had come when it was held first.
static SINCE: AtomicI64 = AtomicI64::new(0);
/// Ticks of the watchdog for which threads in the kernel have been waited for; more than are waited where nobody is.
static WAITED: AtomicUsize = AtomicUsize::new(NOBODY);
const NOBODY: usize = usize::MAX;
/// A thread that something has made ready comes out of the kernel sooner.
const TICKS: usize = 5;

/// Takes the rest of the line; whether it is right.
pub fn prepare(words: &mut dyn Iterator<Item = &'static [u8]>) -> bool {
    match (words.next(), words.next(), words.next().and_then(number)) {
        (None, ..) => true,
        (Some(b"hold"), Some(path), Some(bound)) => {
            PATH.0.set(path);
            RECORDS.store(bound, Relaxed);
            true
        }
        _ => false,
    }
}

/// Who is held.
pub enum Held {
    Nobody,
    /// This thread, since others are ready.
    Thread(&'static Thread),
    /// A thread, and others may come out of the kernel.
    UntilOthersCome,
}

/// Looks who is held now that all threads have made so many records. The controller's lock is held.
pub fn look(made: u64) -> Held {
    let path = PATH.0.get();
    let held = if path.is_empty() { None } else { threads::by_path(path) };
    let Some(held) = held else { return Held::Nobody };
    if UNTIL.load(Relaxed) == 0 {
        UNTIL.store(made + RECORDS.load(Relaxed), Relaxed);
        SINCE.store(program_time::passed(), Relaxed);
    }
    let mut others = threads::all().filter(|thread| ready(thread) && !core::ptr::eq(*thread, held)).peekable();
    let some_can = others.peek().is_some();
    let may_come = || threads::all().any(|thread| thread.turn.state.get() == State::Outside);
    let all_repeat = some_can && others.all(|thread| thread.turn.repeating.is_so()) && !may_come();
    let is_late = limits::is_long(program_time::passed() - SINCE.load(Relaxed));
    let is_in_time = made < UNTIL.load(Relaxed) && !all_repeat && !is_late;
    if is_in_time && some_can {
        WAITED.store(NOBODY, Relaxed);
        return Held::Thread(held);
    }
    let waited = WAITED.load(Relaxed);
    if is_in_time && may_come() && (waited == NOBODY || waited < TICKS) {
        if waited == NOBODY {
            WAITED.store(0, Relaxed);
        }
        return Held::UntilOthersCome;
    }
    PATH.0.set(&[]);
    WAITED.store(NOBODY, Relaxed);
    Held::Nobody
}

/// Every tick of the watchdog in which no thread has the turn: whether the held one should get it.
pub fn nobody_runs() -> bool {
    let tick = |waited: usize| if waited == NOBODY { None } else { Some(waited + 1) };
    WAITED.fetch_update(Relaxed, Relaxed, tick).is_ok_and(|waited| waited + 1 >= TICKS)
}

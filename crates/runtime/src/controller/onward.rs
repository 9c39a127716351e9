//! Chooses threads after the schedule of a run that explores: the thread that ran goes on until it waits, then the first that is ready.
//!
//! A line `then <turn> <all> <second>` of the schedule asks for it. The clocks stand still at that second (`program_time.rs`). A turn has at
//! most `turn` counted records, and ends sooner if the thread repeats what it does, so that a thread that waits in a loop does not stop the others. With a turn of `all` one thread goes on
//! alone. After `all` records the run is cut off. With `hold <path> <records>` at the end of the line, that thread stands still until no other can
//! go on, or until the others have made so many records. The file `waits` of its folder says how the run ends: `cut` if it was cut off, and a line `<path> <object>` for each thread that waits.

use core::sync::atomic::{
    AtomicBool, AtomicI64, AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use crate::controller::hold::{self, Held};
use crate::controller::limits;
use crate::controller::rounds;
use crate::controller::thread_turn::State;
use crate::controller::turns::{Choice, LAST, ready};
use crate::mode;
use crate::program_time;
use crate::sys::{self, Timespec};
use crate::text::{Text, number};
use crate::threads::{self, Thread};

/// Counted records of a turn; 0 where nothing is explored.
static TURN: AtomicU64 = AtomicU64::new(0);
/// Counted records of the run.
static ALL: AtomicU64 = AtomicU64::new(0);
/// Counted records after which it is looked whether a thread repeats what it does: its turn ends if all of them did.
const LOOK: u64 = 64;
/// The thread that got the last turn here, by number, and where that turn ends.
static GRANTED: AtomicUsize = AtomicUsize::new(0);
static ENDS: AtomicU64 = AtomicU64::new(0);
/// How far the time had come when that thread got its first turn in a row.
static SINCE: AtomicI64 = AtomicI64::new(0);

/// The rest of the line of the schedule that asks for it.
pub fn line(line: &'static [u8]) -> Option<&'static [u8]> {
    line.strip_prefix(b"then ")
}

/// Takes the rest of that line.
pub fn prepare(rest: &'static [u8]) -> Result<(), &'static str> {
    let mut words = rest.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
    let mut next = || words.next().and_then(number).filter(|&number| number > 0);
    let wrong = "a line of the schedule is not `then <turn> <all> <second>`, or that and `hold <path> <records>`";
    let (Some(turn), Some(all), Some(second)) = (next(), next(), next()) else { return Err(wrong) };
    if !hold::prepare(&mut words) {
        return Err(wrong);
    }
    program_time::stand_at(second);
    TURN.store(turn, Relaxed);
    ALL.store(all, Relaxed);
    Ok(())
}

/// Whether this run explores.
pub fn explores() -> bool {
    TURN.load(Relaxed) > 0
}

/// Whether the schedule is of a run that explored, in which waits ended by their limits before their time.
static AS_EXPLORED: AtomicBool = AtomicBool::new(false);

/// Whether a line of the schedule says so.
pub fn is_as_explored(line: &[u8]) -> bool {
    line == b"explored"
}

/// Lets waits end as in a run that explored.
pub fn as_explored() {
    AS_EXPLORED.store(true, Relaxed);
}

/// Whether a wait to this moment may end by its limit at any time, as far as the schedule goes: other waits are for threads.
pub fn may_end_by_limit(at: Timespec) -> bool {
    (explores() || AS_EXPLORED.load(Relaxed)) && limits::is_choice(at)
}

/// Whether a thread that has waited in the kernel since then waits on, though its limit is over: others that could go on were held back.
/// As elsewhere, a limit of a second or less counts at any time, and a longer one only if no other thread can go on.
pub fn waits_beyond_limit(thread: &Thread, since: Timespec) -> bool {
    let others = || threads::all().any(|other| !core::ptr::eq(other, thread) && ready(other));
    explores() && limits::was_long(since) && others()
}

/// Where one thread goes on alone: that thread, and its counted records, if it is in a wait that may end by its limit. Whether the loop
/// around such a wait ends by itself is what that run is to show.
pub fn alone_in_wait() -> Option<(&'static Thread, u64)> {
    let turn = TURN.load(Relaxed);
    if turn == 0 || turn < ALL.load(Relaxed) {
        return None;
    }
    cut_off();
    let thread = threads::all().find(|thread| thread.number.get() as usize == LAST.load(Relaxed))?;
    let waits = thread.turn.state.get() == State::Blocked && thread.turn.deadline.get().is_some_and(may_end_by_limit);
    waits.then_some((thread, turn))
}

/// The counted records of all threads.
fn records() -> u64 {
    threads::all().map(Thread::count).sum()
}

/// Ends the run if it has reached its limit of counted records.
fn cut_off() {
    if records() >= ALL.load(Relaxed) {
        report(true);
        sys::die_by(sys::SIGKILL);
    }
}

/// Which of the threads that are ready, of which there is one, runs; nothing where nothing is explored.
pub fn choose() -> Option<Choice> {
    let turn = TURN.load(Relaxed);
    if turn == 0 {
        return None;
    }
    cut_off();
    let held = match hold::look(records()) {
        Held::Nobody => None,
        Held::UntilOthersCome => return Some(Choice::Wait),
        Held::Thread(thread) => Some(thread),
    };
    let (thread, records) = next(turn, held)?;
    Some(Choice::RunBeyond(thread, thread.count() + records, u64::MAX))
}

/// Whether the thread of this number, which had the turn, repeats what it does. If it does not, others may wait for what it did.
fn last_repeats(last: usize) -> bool {
    let Some(thread) = threads::by_number(last as u64) else { return false };
    let repeats = rounds::look(thread).was_for(LOOK);
    if !repeats {
        let others = threads::all().filter(|other| !core::ptr::eq(*other, thread));
        others.for_each(|other| other.turn.repeating.other_went_on());
    }
    repeats
}

/// The next thread but the held one, and its counted records.
fn next(turn: u64, held: Option<&'static Thread>) -> Option<(&'static Thread, u64)> {
    let last = LAST.load(Relaxed);
    let number = |thread: &Thread| thread.number.get() as usize;
    let ready = |thread: &Thread| ready(thread) && !held.is_some_and(|held| core::ptr::eq(held, thread));
    let granted = GRANTED.load(Relaxed) == last;
    let looks = turn < ALL.load(Relaxed); // one thread alone goes on, whatever it does
    let end = if looks && last_repeats(last) { 0 } else { ENDS.load(Relaxed) };
    let stays = threads::all().find(|thread| number(thread) == last && ready(thread));
    let (thread, records) = match stays {
        Some(thread) if granted && thread.count() < end => (thread, end - thread.count()),
        Some(thread) if !granted => (thread, turn),
        Some(_) => {
            let after = threads::all().find(|thread| number(thread) > last && ready(thread));
            (after.or_else(|| threads::all().find(|thread| ready(thread)))?, turn)
        }
        None => (threads::all().find(|thread| ready(thread))?, turn),
    };
    if GRANTED.swap(number(thread), Relaxed) != number(thread) {
        SINCE.store(program_time::passed(), Relaxed);
    }
    ENDS.store(thread.count() + records, Relaxed);
    Some((thread, if looks { records.min(look_after(thread.count())) } else { records }))
}

/// Whether the thread that goes on has slept, waited or looked at clocks for so long that others which are ready should have had their turns:
/// what is only late because they stand still is late on no machine. Its turn ends then. Where it is to go on alone, the run is cut off.
pub fn starves_others() -> bool {
    if !limits::is_long(program_time::passed() - SINCE.load(Relaxed)) {
        return false;
    }
    if TURN.load(Relaxed) >= ALL.load(Relaxed) {
        report(true);
        sys::die_by(sys::SIGKILL);
    }
    ENDS.store(0, Relaxed);
    true
}

/// After how many counted records the thread is looked at again: never the same number for long. Otherwise a loop that takes a lock might hold
/// it at each look, and others would wait for ever.
fn look_after(count: u64) -> u64 {
    LOOK + (count.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58)
}

/// Says how the run ends, where it explores.
pub fn report(cut: bool) {
    if !explores() {
        return;
    }
    let Ok(file) = sys::open(mode::file(b"/waits\0").bytes(), sys::CREATE) else { return };
    if cut {
        sys::write(file, b"cut\n");
    }
    // One that is free to go on, and has had no turn since, waits as well: another thread may be quicker.
    for thread in threads::all().filter(|thread| matches!(thread.turn.state.get(), State::Blocked | State::Ready)) {
        // SAFETY: the frame of a waiter is alive as long as the thread's wait.
        let Some(waiter) = (unsafe { thread.wait.load(SeqCst).as_ref() }) else { continue };
        let path = thread.path();
        let path = core::str::from_utf8(path.bytes()).unwrap_or("?");
        sys::write(file, Text::<300>::formatted(format_args!("{path} {:#x}\n", waiter.key())).bytes());
    }
    sys::close(file);
}

//! Schedulers that rank threads: PCT by thread, POS by what each is about to do, URW by how much each has left, `order` by chance once.
//!
//! PCT: Burckhardt, Kothari, Musuvathi, Nagarakatte, *A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs*, ASPLOS
//! 2010. POS: Yuan, Yang, Gu, *Partial Order Aware Concurrency Sampling*, CAV 2018. URW: the random walk of Zhao, Wolff, Mathur,
//! Roychoudhury, *Selectively Uniform Concurrency Testing* (SURW), ASPLOS 2025, without its selection: all records count.

use core::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering::Relaxed};

use crate::controller::chance::{Habit, Settings, all_ready, below, random};
use crate::controller::target::Access;
use crate::controller::thread_turn::Pending;
use crate::scheduler::Scheduler;
use crate::text::number;
use crate::threads::{self, Thread};

/// Most moments at which priorities change.
const MOST_CHANGES: usize = 32;
/// Threads whose records in another run are known.
const MOST_KNOWN: usize = 256;
/// A run of unknown length has its changes before the record of this number, early ones more often.
const LONGEST_RUN: u32 = 16;
/// A thread that ran for so long while others could goes behind them: it may wait for them in a loop.
const PATIENCE: u64 = 2000;
/// The same for `order`, whose runs are of whole threads: a loop that does the same again and again is known sooner.
const PATIENCE_IN_ORDER: u64 = 100_000;
/// How many turns of others a thread lets pass, by a [`Habit`].
const PASSED_OVER: u64 = 1000;
/// Initial priorities are above those that a change gives, and these above those of threads that gave way.
const INITIAL: u64 = 1 << 40;
const CHANGED: u64 = 1 << 39;

/// The priority of a first thread that goes on for as long as it can.
const FIRST: u64 = u64::MAX;

static RANKS_RECORDS: AtomicU8 = AtomicU8::new(0);
static FIRST_GOES_ON: AtomicU8 = AtomicU8::new(0);
static CHANGES: [AtomicU64; MOST_CHANGES] = [const { AtomicU64::new(u64::MAX) }; MOST_CHANGES];
static STEPS: AtomicU64 = AtomicU64::new(0);
static KNOWN: [AtomicU64; MOST_KNOWN] = [const { AtomicU64::new(0) }; MOST_KNOWN];
/// `order` ranks a thread anew after a record with one of its headers. A thread has at most so many headers.
const MOST_ENDS: usize = 4;
/// For each thread, these headers; 0 where there are no more.
static ENDS_OF_TURNS: [[AtomicU64; MOST_ENDS]; MOST_KNOWN] =
    [const { [const { AtomicU64::new(0) }; MOST_ENDS] }; MOST_KNOWN];
/// Who ran last, and for how many records without a break.
static LAST: AtomicUsize = AtomicUsize::new(0);
static STREAK: AtomicU64 = AtomicU64::new(0);

/// Reads what the environment says, and draws the moments of changes.
pub fn prepare(scheduler: Scheduler, settings: &Settings) -> Result<(), &'static str> {
    RANKS_RECORDS.store(u8::from(scheduler == Scheduler::Pos), Relaxed);
    FIRST_GOES_ON.store(u8::from(scheduler == Scheduler::Order), Relaxed);
    let mut length = 0;
    if let Some(steps) = settings.steps {
        // Threads beyond those that there is room for count as unknown.
        for (known, text) in KNOWN.iter().zip(steps.split(|byte| *byte == b',')) {
            let steps = number(text).ok_or("FORETRACE_STEPS has something other than numbers")?;
            known.store(steps, Relaxed);
            length += steps;
        }
    }
    let of_threads = settings.ends_of_turns.iter().flat_map(|ends| ends.split(|byte| *byte == b','));
    for (known, texts) in ENDS_OF_TURNS.iter().zip(of_threads) {
        for (known, text) in known.iter().zip(texts.split(|byte| *byte == b'/')) {
            known.store(number(text).ok_or("FORETRACE_ENDS_OF_TURNS has something other than numbers")?, Relaxed);
        }
    }
    let depth = settings.depth.map_or(Some(3), number).ok_or("FORETRACE_DEPTH is no number")?;
    if scheduler == Scheduler::Pct {
        for change in CHANGES.iter().take(depth.saturating_sub(1) as usize) {
            let bound = if length > 0 { length } else { 2 << below(u64::from(LONGEST_RUN)) };
            change.store(1 + below(bound), Relaxed);
        }
    }
    Ok(())
}

/// Whether what threads are about to do decides.
pub fn ranks_records() -> bool {
    RANKS_RECORDS.load(Relaxed) == 1
}

/// Ranks a thread anew under `order` if its last record, which has this header, ends a turn of its loop. The caller holds the controller's
/// lock.
pub fn wrote(thread: &Thread, header: u64) {
    if FIRST_GOES_ON.load(Relaxed) == 0 {
        return; // each choice of each scheduler comes here
    }
    let ends = ENDS_OF_TURNS.get(thread.number.get() as usize - 1);
    if ends.is_some_and(|ends| ends.iter().any(|end| end.load(Relaxed) == header)) {
        thread.turn.priority.set(0);
    }
}

/// A thread is about to write this record. The controller's lock is held.
pub fn note(thread: &Thread, access: Option<&Access>) {
    let pending = access.map_or(Pending::default(), |access| Pending {
        address: access.address,
        bytes: access.bytes,
        writes: !access.kind.is_load(),
    });
    thread.turn.pending.set(pending);
}

/// The ready thread of highest priority among those that let no others go first. It is about to run for so many records.
pub fn highest(records: u64) -> &'static Thread {
    let chosen = highest_in_front(records);
    all_ready().filter(|thread| is_behind(thread)).for_each(|thread| {
        thread.turn.passed_over.set(thread.turn.passed_over.get() - 1);
    });
    chosen.turn.passed_over.set(0);
    chosen
}

fn highest_in_front(records: u64) -> &'static Thread {
    for thread in all_ready().filter(|thread| thread.turn.priority.get() == 0) {
        let is_first = thread.number.get() == 1 && FIRST_GOES_ON.load(Relaxed) == 1;
        thread.turn.priority.set(if is_first { FIRST } else { INITIAL + (random() >> 33) });
    }
    let all_are_behind = all_ready().all(is_behind);
    let in_front = || all_ready().filter(|thread| all_are_behind || !is_behind(thread));
    let top = || in_front().max_by_key(|thread| thread.turn.priority.get()).expect("one is ready");
    let mut chosen = top();
    if ranks_records() {
        let own = chosen.turn.pending.get();
        let racing = all_ready().filter(|other| other.turn.pending.get().races(own));
        racing.for_each(|thread| thread.turn.priority.set(0));
        chosen.turn.priority.set(0); // that of its next record is drawn when it gets there
        return chosen;
    }
    let before = STEPS.fetch_add(records, Relaxed);
    let now = before + 1..=before + records;
    for (number, _) in CHANGES.iter().enumerate().filter(|(_, change)| now.contains(&change.load(Relaxed))) {
        chosen.turn.priority.set(CHANGED + (MOST_CHANGES - number) as u64);
        chosen = top();
    }
    if is_tired(chosen, records) {
        gives_way(chosen);
        chosen = all_ready().find(|thread| !core::ptr::eq(*thread, chosen)).unwrap_or(chosen);
    }
    chosen
}

/// The thread comes to where it lets others go first, if this run has the habit.
pub fn at(habit: Habit, thread: &Thread) {
    if habit.is_of_this_run() {
        lets_others_go_first(thread);
    }
}

/// For as long as they can go on, but not without end.
fn lets_others_go_first(thread: &Thread) {
    thread.turn.passed_over.set(PASSED_OVER);
}

/// The thread may wait in a loop for others, also for those that let it go first.
pub fn waits_for_others(thread: &Thread) {
    lets_others_go_first(thread);
    if all_ready().all(is_behind) {
        let others = all_ready().filter(|other| !core::ptr::eq(*other, thread));
        others.for_each(|other| other.turn.passed_over.set(0));
    }
}

fn is_behind(thread: &'static Thread) -> bool {
    thread.turn.passed_over.get() > 0
}

/// A thread goes behind all others: it may wait for them in a loop. The controller's lock is held.
pub fn gives_way(thread: &Thread) {
    if ranks_records() || thread.turn.priority.get() == 0 {
        return; // no rank of threads is in use
    }
    let drawn = threads::all().map(|thread| thread.turn.priority.get()).filter(|priority| *priority > 0);
    thread.turn.priority.set(drawn.min().unwrap_or(CHANGED).saturating_sub(1).max(1));
}

/// Whether a thread ran so long that it may wait for another one in a loop.
fn is_tired(thread: &Thread, records: u64) -> bool {
    let number = thread.number.get() as usize;
    if LAST.swap(number, Relaxed) != number {
        STREAK.store(0, Relaxed);
    }
    let streak = STREAK.fetch_add(records, Relaxed) + records;
    let others = all_ready().count() > 1;
    let patience = if FIRST_GOES_ON.load(Relaxed) == 1 { PATIENCE_IN_ORDER } else { PATIENCE };
    if streak < patience || !others {
        return false;
    }
    STREAK.store(0, Relaxed);
    true
}

/// A thread that is ready, by chance: as likely as many records are left to it, and to those that it has not started.
pub fn by_what_is_left() -> &'static Thread {
    let unborn: u64 = KNOWN.iter().skip(threads::count()).map(|known| known.load(Relaxed)).sum();
    let left = |thread: &Thread| {
        let number = thread.number.get() as usize;
        let known = KNOWN.get(number - 1).map_or(0, |known| known.load(Relaxed));
        let children = if number == 1 { unborn } else { 0 };
        known.saturating_sub(thread.count()).max(1) + children
    };
    let mut ticket = below(all_ready().map(left).sum());
    for thread in all_ready() {
        match ticket.checked_sub(left(thread)) {
            Some(rest) => ticket = rest,
            None => return thread,
        }
    }
    all_ready().next().expect("one is ready")
}

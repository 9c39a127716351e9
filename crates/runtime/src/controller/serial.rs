//! Chooses threads in a serial recording: at random, by a seed.
//!
//! `turns` lets a thread run for up to 50 records. All others decide before each record, so that the start of a thread and each
//! operation of a lock are points where another thread may go on. [`priorities`](super::priorities) has those that rank threads.

use core::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use crate::controller::chance::{Habit, Settings, all_ready, below, random, sow};
use crate::controller::turns::replaying;
use crate::controller::{priorities, rounds};
use crate::mode;
use crate::scheduler::Scheduler;
use crate::text::number;
use crate::threads::{self, Thread};

/// Turns are of one to so many counted records.
static LONGEST: AtomicU64 = AtomicU64::new(50);

static SCHEDULER: AtomicU8 = AtomicU8::new(Scheduler::Turns as u8);
/// Records of a turn of `round-robin`.
static SLICE: AtomicU64 = AtomicU64::new(1);

/// Turns are of so many counted records at most. Short ones part accesses that are near, long ones those that are far.
pub fn set_longest_turn(records: u64) {
    LONGEST.store(records.max(1), Relaxed);
}

pub fn prepare(settings: &Settings) -> Result<(), &'static str> {
    sow(number(settings.seed.unwrap_or(b"0")).ok_or("FORETRACE_SEED is no number")?);
    let name = settings.scheduler.unwrap_or(b"turns");
    let scheduler = Scheduler::ALL
        .into_iter()
        .find(|known| known.name().as_bytes() == name)
        .ok_or("FORETRACE_SCHEDULER is neither turns, random, round-robin, pct, pos, urw nor order")?;
    SCHEDULER.store(scheduler as u8, Relaxed);
    Habit::draw(habits(scheduler));
    if scheduler == Scheduler::RoundRobin {
        SLICE.store(1 + below(LONGEST.load(Relaxed)), Relaxed);
    }
    priorities::prepare(scheduler, settings)
}

/// A turn goes on for less than so many records that are not counted.
const BEYOND: u64 = 4;

/// Records of the turns that were given so far while several threads could go on.
static GIVEN: AtomicU64 = AtomicU64::new(0);
/// Turns get longer in a long run: each time that the run gets 2.7 times as long, it takes about so many turns more.
const OFTEN: u64 = 1 << 15;

/// How many counted records a turn may have now, if a scheduler would give it `longest`. With turns of one record a program of millions of
/// accesses would take minutes.
fn stretched(longest: u64) -> u64 {
    longest.max(GIVEN.load(Relaxed) / OFTEN * 2)
}

/// One of the threads that are ready, of which there are so many, and how long it runs. `last` is the number of the one that ran.
pub fn choose(count: usize, last: u64) -> (&'static Thread, u64, u64) {
    if let Some(last) = threads::by_number(last) {
        let repeating = rounds::look(last);
        if repeating.gives_way() {
            priorities::waits_for_others(last);
        }
        if let Some(header) = repeating.last_header() {
            priorities::wrote(last, header);
        }
    }
    let (thread, records, beyond) = match SCHEDULER.load(Relaxed) {
        scheduler if scheduler == Scheduler::Turns as u8 => turn(count),
        scheduler if scheduler == Scheduler::Random as u8 => (nth(below(count as u64)), some(), 0),
        scheduler if scheduler == Scheduler::RoundRobin as u8 => (after(last), stretched(SLICE.load(Relaxed)), 0),
        scheduler if scheduler == Scheduler::Urw as u8 => (priorities::by_what_is_left(), some(), 0),
        _ => {
            let records = some();
            (priorities::highest(records), records, 0)
        }
    };
    if count > 1 {
        GIVEN.fetch_add(records, Relaxed); // what one thread does alone makes no later turn longer
    }
    (thread, records, beyond)
}

/// The file `repeated` says how many records were the same as those before, again and again: mostly those of threads that waited in loops.
pub fn report() {
    let repeated: u64 = threads::all().map(|thread| thread.turn.repeating.all()).sum();
    if !replaying() && repeated > 0 {
        mode::write_file(b"/repeated\0", format_args!("{repeated}\n"));
    }
}

/// One record, and more of them in a long run.
fn some() -> u64 {
    match stretched(1) {
        1 => 1,
        longest => 1 + below(longest),
    }
}

/// The habits that runs by a scheduler may have: who has no ranks cannot let others go first.
fn habits(scheduler: Scheduler) -> &'static [Habit] {
    match scheduler {
        Scheduler::Pct | Scheduler::Pos => &[Habit::WaitsLate, Habit::WakesAny, Habit::GoesOnLate],
        Scheduler::Order => &[Habit::WakesAny, Habit::GoesOnLate],
        Scheduler::Turns | Scheduler::Random | Scheduler::RoundRobin | Scheduler::Urw => &[Habit::WakesAny],
    }
}

/// The number of the waiter whom a signal wakes. The one who has waited longest has number 0.
pub fn waiter(count: usize) -> usize {
    if Habit::WakesAny.is_of_this_run() && count > 1 { below(count as u64) as usize } else { 0 }
}

fn turn(count: usize) -> (&'static Thread, u64, u64) {
    let index = below(count as u64);
    let drawn = random() >> 11;
    let longest = stretched(LONGEST.load(Relaxed));
    let (records, beyond) = (1 + drawn % longest, drawn / longest % BEYOND);
    (nth(index), records, beyond)
}

fn nth(index: u64) -> &'static Thread {
    all_ready().nth(index as usize).expect("there are so many")
}

fn after(last: u64) -> &'static Thread {
    let next = all_ready().find(|thread| thread.number.get() > last);
    next.or_else(|| all_ready().next()).expect("one is ready")
}

//! Chooses threads in a replay: by the schedule, line by line, as long as the program follows it.

use core::fmt::Arguments;
use core::sync::atomic::{
    AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use crate::controller::plan::{self, FOLLOWING, Line, PLAN, RECORDED_ORDER};
use crate::controller::thread_turn::{Stands, State};
use crate::controller::turns::{Choice, UNTIL, give_up, give_up_late, ready, running, wake_for_nothing};
use crate::controller::{alarms, limits, onward, stuck};
use crate::interpose::signals::state;
use crate::mode;
use crate::threads::{self, Thread};
use crate::waiting::Wait;

/// How long the running threads have been waiting for one that sleeps in the kernel.
static STALLED: AtomicUsize = AtomicUsize::new(0);

/// The choice as long as there is a schedule to follow, or a thread comes to a lock after it.
pub fn choose() -> Option<Choice> {
    follow().or_else(comer)
}

/// How many threads have come to locks after the schedule, and how many records the next one had before, and one.
static CAME: AtomicUsize = AtomicUsize::new(0);
static BEFORE: AtomicU64 = AtomicU64::new(0);

/// The next thread that comes to a lock after the schedule: it goes on until it waits, or has done something else.
fn comer() -> Option<Choice> {
    loop {
        let path = plan::comer(CAME.load(Relaxed))?;
        if let Some(thread) = threads::by_path(path).filter(|thread| ready(thread)) {
            let before = thread.count() + 1;
            if [0, before].contains(&BEFORE.swap(before, Relaxed)) {
                return Some(Choice::RunBeyond(thread, before, u64::MAX));
            }
        }
        BEFORE.store(0, Relaxed);
        CAME.fetch_add(1, Relaxed);
    }
}

/// The choice as long as there is a schedule to follow.
fn follow() -> Option<Choice> {
    while FOLLOWING.load(SeqCst) {
        let position = PLAN.position.get();
        let Some(&line) = PLAN.lines.get().get(position) else {
            end(format_args!("followed\n"));
            break;
        };
        let Some(thread) = threads::by_path(line.path) else {
            if is_of_library(line.path) {
                return Some(ahead_of_library()); // the watchdog's patience ends
            }
            leave(format_args!("does not exist yet"));
            break;
        };
        if thread.count() > line.at && !goes_beyond(thread, &line) {
            PLAN.position.set(position + 1);
            continue;
        }
        if let Some(choice) = go_on(thread, &line) {
            return Some(choice);
        }
    }
    None
}

/// Whether a library makes the thread of this path for itself, some time after the call that leads to it.
fn is_of_library(path: &[u8]) -> bool {
    path != b"0" && !path.contains(&b'.')
}

/// Until it is there: what another thread has to do before its next turn, but not at once.
fn ahead_of_library() -> Choice {
    let is_late = STALLED.load(Relaxed) >= SOON;
    is_late.then(anybody_ahead).flatten().unwrap_or(Choice::Wait)
}

/// Whether the thread did all that is counted of its turn, and stands before something else that belongs to it.
fn goes_beyond(thread: &Thread, line: &Line) -> bool {
    let stands = thread.turn.state.get() == State::Ready && thread.turn.stands.get() == Stands::BeforeApart;
    stands && thread.count() == line.at + 1 && thread.since_counted() < line.beyond
}

/// The thread of the current line runs, if it can.
fn go_on(thread: &'static Thread, line: &Line) -> Option<Choice> {
    let at = line.at;
    match thread.turn.state.get() {
        State::Ready => Some(Choice::RunBeyond(thread, at + 1, line.beyond)),
        // What it sleeps for, another thread may bring about.
        State::Outside if STALLED.load(Relaxed) >= SOON => {
            alarms::prod(thread);
            helper(thread).or(Some(Choice::Wait))
        }
        State::Outside => Some(Choice::Wait),
        State::Blocked if thread.turn.deadline.get().is_some_and(onward::may_end_by_limit) => {
            Some(give_up(thread, at + 1 - thread.count()))
        }
        // Its limit is too far away to have been what ended it.
        State::Blocked if has_time(thread) && may_end_early(thread) && !ends_in_vain(thread) => {
            Some(wake_for_nothing(thread, at + 1 - thread.count()))
        }
        State::Blocked if is_about_to_expire(thread) || may_end_early(thread) && !ends_in_vain(thread) => {
            let records = at + 1 - thread.count();
            let is_late = WAITS_LONG.load(Relaxed) == thread.number.get() && threads::all().any(ready);
            Some(if is_late { give_up_late(thread, records) } else { give_up(thread, records) })
        }
        State::Blocked if thread.turn.deadline.get().is_some_and(|at| !limits::is_far(at)) => {
            helper(thread).or_else(|| {
                WAITS_LONG.store(thread.number.get(), Relaxed);
                Some(Choice::Wait)
            })
        }
        State::Blocked => helper(thread).or_else(|| {
            if state::may_come() {
                return Some(Choice::Wait); // one may be on its way; the watchdog's patience ends
            }
            leave(format_args!("waits for another thread"));
            None
        }),
        State::Done => {
            leave(format_args!("has ended"));
            None
        }
    }
}

/// The thread whose time limit, more than a second away, the schedule waits for.
static WAITS_LONG: AtomicU64 = AtomicU64::new(0);

/// Whether the time of a wait is up within a second, which the thread then waits for. An earlier end would be one that no run shows.
fn is_about_to_expire(thread: &Thread) -> bool {
    thread.turn.expired.get() || thread.turn.deadline.get().is_some_and(|at| !limits::is_beyond(at, 1))
}

/// A thread that goes on, by what the schedule says nothing of, since the thread of the current line waits for another one: that
/// which it joins, and which has no more to do than to end; else one that has something to do before its next turn.
fn helper(thread: &'static Thread) -> Option<Choice> {
    let mut waiting = thread;
    for _ in 0..threads::count() {
        let Some(joined) = joined_by(waiting) else { break };
        match joined.turn.state.get() {
            State::Ready => return go_ahead(joined),
            State::Outside => return Some(Choice::Wait),
            State::Blocked => waiting = joined,
            State::Done => break,
        }
    }
    anybody_ahead()
        .or_else(|| threads::all().any(|other| other.turn.state.get() == State::Outside).then_some(Choice::Wait))
}

/// The first thread that is ready and has something to do before its next turn.
fn anybody_ahead() -> Option<Choice> {
    let mut ready = threads::all().filter(|other| other.turn.state.get() == State::Ready);
    ready.find_map(|other| next_turn(other).and_then(|_| go_ahead(other)))
}

/// The thread does what it has to do before the schedule needs it next, if there is something.
fn go_ahead(thread: &'static Thread) -> Option<Choice> {
    let first = next_turn(thread).unwrap_or(u64::MAX);
    let stands_there = thread.count() == first && thread.turn.stands.get() == Stands::BeforeCounted;
    (thread.count() <= first && !stands_there).then_some(Choice::RunBeyond(thread, first, u64::MAX))
}

/// Whose end the thread waits for.
fn joined_by(thread: &Thread) -> Option<&'static Thread> {
    // SAFETY: the frame of a waiter is alive as long as the thread's wait.
    let key = unsafe { thread.wait.load(SeqCst).as_ref() }?.key();
    threads::all().find(|other| other.end_key() == key)
}

/// Where the part of the schedule that is still to come first needs the thread.
fn next_turn(thread: &Thread) -> Option<u64> {
    let path = thread.path();
    let mut lines = PLAN.lines.get()[PLAN.position.get()..].iter();
    lines.find(|line| line.path == path.bytes() && line.at >= thread.count()).map(|line| line.first)
}

/// A thread can go on. If the schedule waits for it, the one that brought this about has done enough.
pub fn can_go_on(thread: &Thread) {
    let Some(running) = running().filter(|running| !core::ptr::eq(*running, thread)) else { return };
    let wanted = || PLAN.lines.get().get(PLAN.position.get()).is_some_and(|line| line.path == thread.path().bytes());
    if FOLLOWING.load(SeqCst) && wanted() {
        UNTIL.store(running.count(), Relaxed);
        running.turn.beyond.set(0);
        running.limit.store(0, Relaxed);
    }
}

/// Whether its wait has a limit, of more time than a wait takes that is short.
fn has_time(thread: &Thread) -> bool {
    !thread.turn.expired.get() && thread.turn.deadline.get().is_some_and(|at| !limits::is_choice(at))
}

/// Whether its wait may end for no reason.
fn may_end_early(thread: &Thread) -> bool {
    // SAFETY: the frame of a waiter is alive as long as the thread's wait.
    unsafe { thread.wait.load(SeqCst).as_ref() }.is_some_and(Wait::may_end_early)
}

/// Whether its waits have ended for no reason several times here, and it did nothing that the schedule has: a lock of code that is not
/// recorded, which another thread holds, lets it wait again and again.
fn ends_in_vain(thread: &Thread) -> bool {
    const MOST: u64 = 8;
    static HERE: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
    static TIMES: AtomicU64 = AtomicU64::new(0);
    let here = [thread.number.get(), thread.count()];
    let is_same = (0..2).all(|part| HERE[part].swap(here[part], Relaxed) == here[part]);
    let times = if is_same { TIMES.load(Relaxed) + 1 } else { 0 };
    TIMES.store(times, Relaxed);
    times > MOST
}

/// The program does something else than the schedule says.
pub fn leave(why: Arguments) {
    let position = PLAN.position.get();
    let path = core::str::from_utf8(PLAN.lines.get()[position].path).unwrap_or("?");
    RECORDED_ORDER.store(false, SeqCst);
    end(format_args!("left {} thread {path} {why}\n", position + 1));
}

fn end(arguments: Arguments) {
    FOLLOWING.store(false, SeqCst);
    alarms::give_back();
    mode::write_file(b"/replay\0", arguments);
}

/// Ticks after which others may go ahead of a thread that sleeps in the kernel.
const SOON: usize = 10;

/// Once in so many ticks a look shows whether the thread sleeps until another one of the program does something, and none is about to do it.
const LOOK: usize = 2 * SOON;

/// Every tick of the watchdog in which no thread has the turn; whether to look who can go on. Patience with a thread that sleeps in the
/// kernel ends.
pub fn nobody_runs() -> bool {
    const TICKS: usize = 400;
    if !FOLLOWING.load(SeqCst) {
        return false;
    }
    let ticks = STALLED.fetch_add(1, Relaxed) + 1;
    let Some(line) = PLAN.lines.get().get(PLAN.position.get()) else {
        return ticks >= SOON; // the schedule is over, which the next choice says
    };
    let thread = threads::by_path(line.path);
    if ticks >= TICKS || ticks.is_multiple_of(LOOK) && thread.is_some_and(stuck::waits_in_vain) {
        let why = match thread.map(|thread| thread.turn.state.get()) {
            None => "does not exist yet",
            Some(State::Blocked) => "waits for another thread",
            Some(_) => "sleeps in the kernel",
        };
        leave(format_args!("{why}"));
    }
    ticks >= SOON
}

/// Somebody runs.
pub fn somebody_runs() {
    STALLED.store(0, Relaxed);
}

/// The program ends: what became of the schedule is known.
pub fn finish() {
    if FOLLOWING.load(SeqCst) {
        let lines = PLAN.lines.get();
        let left = lines[PLAN.position.get()..]
            .iter()
            .any(|line| threads::by_path(line.path).is_none_or(|thread| thread.count() <= line.at));
        if left { leave(format_args!("was not reached: the program ended")) } else { end(format_args!("followed\n")) }
    }
}

/// Whether the thread, which has the turn and stands before a record that is not counted, may write it.
pub fn may_go_beyond(thread: &Thread) -> bool {
    let (count, until) = (thread.count(), UNTIL.load(Relaxed));
    count < until || count == until && thread.since_counted() < thread.turn.beyond.get()
}

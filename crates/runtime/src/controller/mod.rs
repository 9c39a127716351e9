//! The controller: in serial recording and in replay one thread runs at a time, and the controller says which.
//!
//! The thread that has the turn runs up to a limit of counted records. There it asks the controller and waits for its next turn. A
//! thread that waits for something does the same. The [`watchdog`] takes the turn from a thread that sleeps in the kernel;
//! that thread queues at its next counted record.

mod alarms;
mod chance;
mod deadlock;
mod hold;
mod limits;
mod onward;
mod plan;
mod priorities;
mod release;
mod repeating;
mod replay;
mod rests;
mod rounds;
mod serial;
mod spinning;
mod steer;
mod stuck;
mod target;
mod thread_turn;
mod turns;
mod waking;
mod watchdog;

pub use alarms::{ANY_THREAD, begin as begin_alarm, due as due_alarm, due_sent, handles as handles_signal, take_away};
pub use chance::Settings;
pub use onward::{explores, waits_beyond_limit};
pub use plan::{
    clocks_are_as_recorded, following, is_join_planned, is_late, is_time_for_handler, keeps_freed, other_handler,
    prefer,
};
pub use release::prepare as release_after;
pub use steer::{failed, transaction_ends, watching};
pub use target::Access;
pub use thread_turn::Turn;
pub use turns::{abandon, controlled, release_all, replaying};
pub use watchdog::start;

use core::cell::Cell;
use core::sync::atomic::{
    AtomicU32,
    Ordering::{Relaxed, SeqCst},
};

use crate::hooks::occupied::Occupied;
use crate::program_time;
use crate::sys::{self, Deadline, Timespec};
use crate::threads::{self, Thread};
use crate::waiting::{Wait, Waiter};
use chance::Habit;
use thread_turn::{Stands, State};
use turns::{
    CONTROLLED, Choice, LAST, LEAVING, LOCK, Next, REPLAY, RUNNING, UNTIL, earliest, give_up, has_turn, open, ready,
};

/// Who chooses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// Chance, by a seed.
    Serial,
    /// A schedule.
    Replay,
}

/// Records of a turn when nothing is left to follow.
const ROUND: u64 = 1000;

/// Of a serial recording: a turn has so many counted records at most.
pub fn set_longest_turn(records: u64) {
    serial::set_longest_turn(records);
}

/// Reads what the environment says.
pub fn prepare(
    policy: Policy,
    settings: &Settings,
    schedule: Option<&'static [u8]>,
    stops: bool,
) -> Result<(), &'static str> {
    match policy {
        Policy::Serial => serial::prepare(settings)?,
        Policy::Replay => {
            plan::prepare(schedule.ok_or("FORETRACE_SCHEDULE is not set")?)?;
            for (role, access) in plan::triple() {
                steer::prepare(role, access)?;
            }
            if stops {
                steer::stop_at_remote();
            }
            plan::follow();
            REPLAY.store(true, SeqCst);
        }
    }
    CONTROLLED.store(true, SeqCst);
    Ok(())
}

/// What the log says of a wait that was ended by another thread: whether its limit might have ended it.
pub fn may_have_timed_out(deadline: Option<Deadline>) -> bool {
    deadline.is_some_and(|deadline| !explores() || limits::is_choice(deadline.monotonic()))
}

/// The run ends: says what threads wait for, where it explores.
pub fn report_waits() {
    onward::report(false);
}

/// Whether a schedule was given that the program left, or that is over.
pub fn off_schedule() -> bool {
    replaying() && !plan::following()
}

/// Before a counted record: the thread may wait here for a turn.
#[inline(always)]
pub fn stop_at_limit(thread: &'static Thread) {
    if thread.count() >= thread.limit.load(Relaxed) {
        point(thread, None);
    }
}

/// Before a counted record, when the limit is reached: waits for a turn.
#[cold]
#[inline(never)]
pub fn point(thread: &'static Thread, access: Option<&Access>) {
    if !controlled() {
        return rests::look(thread);
    }
    let may_go_on = || thread.count() < UNTIL.load(Relaxed);
    if priorities::ranks_records() {
        LOCK.lock();
        priorities::note(thread, access);
        LOCK.unlock();
    }
    loop {
        stand(thread, Stands::BeforeCounted, || if may_go_on() { steer::before(thread, access) } else { Next::Hold });
        if !REPLAY.load(Relaxed) || !(alarms::come(thread) || alarms::sent_comes(thread)) {
            break;
        }
    }
    look_up_to(thread, UNTIL.load(Relaxed));
}

/// The thread asks here again when it has so many counted records, or sooner.
fn look_up_to(thread: &Thread, until: u64) {
    if controlled() && has_turn(thread) {
        let until = if REPLAY.load(Relaxed) { until.min(alarms::next(thread)) } else { until };
        thread.limit.store(if steer::watching() { 0 } else { until }, Relaxed);
    }
}

/// The same before a record that is not counted.
#[cold]
#[inline(never)]
pub fn point_apart(thread: &'static Thread) {
    if !controlled() {
        return;
    }
    let next = || if replay::may_go_beyond(thread) { Next::Go } else { Next::Hold };
    stand(thread, Stands::BeforeApart, next);
}

/// Waits for a turn that leads on.
fn stand(thread: &'static Thread, stands: Stands, next: impl Fn() -> Next) {
    let outer = thread.turn.stands.replace(stands);
    while controlled() {
        LOCK.lock();
        if has_turn(thread) {
            match next() {
                Next::Go => {
                    LOCK.unlock();
                    break;
                }
                Next::Stop => {
                    LOCK.unlock();
                    foretrace_at_remote();
                    continue;
                }
                Next::Hold => {}
            }
        }
        pass(thread, State::Ready);
        LOCK.unlock();
        wait_for_turn(thread);
    }
    thread.turn.stands.set(outer);
}

/// The place before the access that a witness is about, for debuggers to stop at.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn foretrace_at_remote() {
    // SAFETY: does nothing; keeps calls of this function.
    unsafe { core::arch::asm!("", options(nomem, nostack, preserves_flags)) };
}

/// Gives the turn to somebody else if possible. Whether there was anybody.
pub fn yield_turn(thread: &'static Thread) -> bool {
    LOCK.lock();
    let others = threads::all().any(|other| !core::ptr::eq(other, thread) && ready(other));
    // Where orders are explored, the schedule alone says who gives way; and so does a schedule that is followed: the turn goes on to what is not
    // counted, such as a `free`.
    let goes_on = onward::explores() || plan::following() && replay::may_go_beyond(thread);
    if others && has_turn(thread) && !goes_on {
        priorities::gives_way(thread);
        thread.turn.state.set(State::Outside); // not a choice this time
        RUNNING.store(core::ptr::null_mut(), SeqCst);
        dispatch();
        thread.turn.state.set(State::Ready);
        dispatch_if_idle();
        LOCK.unlock();
        wait_for_turn(thread);
    } else {
        LOCK.unlock();
    }
    others
}

/// Where orders are explored the time went on for the thread: others that are ready get their turns before long.
pub fn time_went_on(thread: &'static Thread) {
    if !onward::explores() || plan::following() || !has_turn(thread) {
        return;
    }
    LOCK.lock();
    let others = threads::all().any(|other| !core::ptr::eq(other, thread) && ready(other));
    if others && onward::starves_others() {
        thread.limit.store(0, Relaxed);
    }
    LOCK.unlock();
}

/// The thread goes to sleep in the kernel: others may run. It queues at its next counted record.
pub fn outside(thread: &'static Thread) {
    if !controlled() {
        return;
    }
    come_before_wait(thread);
    LOCK.lock();
    if has_turn(thread) {
        take_turn(thread);
    }
    LOCK.unlock();
}

/// Signals that came while it waited in the recording come before it does.
fn come_before_wait(thread: &'static Thread) {
    if REPLAY.load(Relaxed) && has_turn(thread) {
        alarms::come(thread);
        alarms::late_comes(thread);
    }
}

/// It goes on from [`outside`].
pub fn inside(thread: &'static Thread) {
    if controlled() {
        point(thread, None);
    }
}

/// The thread is about to take what another one gives through the kernel: the bytes of a pipe, a message. In a replay it waits for its
/// turn here: if several threads slept in the kernel, the kernel would choose who is served.
pub fn before_taking(thread: &'static Thread) {
    if following() {
        thread.occupy();
        point(thread, None);
        thread.end();
    }
}

/// A place where a thread that was cancelled ends. If the thread unwinds from here in the recording, it stays here in a replay until it is
/// cancelled. In the recording a call without a record, such as a sleep, lasted until then.
pub fn at_cancellation_point(thread: &'static Thread) {
    const SPAN: i64 = 500_000;
    if !REPLAY.load(Relaxed) || thread.cancelled.load(SeqCst) || !plan::unwinds_here(thread) {
        return;
    }
    outside(thread);
    while plan::following() && !thread.cancelled.load(SeqCst) {
        sys::sleep(SPAN);
    }
}

/// Whether a replay has the thread unwind later than at this call, which has no record: the call was over before the thread was cancelled.
pub fn unwinds_later(thread: &Thread) -> bool {
    REPLAY.load(Relaxed) && plan::unwinds_later(thread)
}

/// The thread is about to wait for a condition.
pub fn before_condition(thread: &Thread) {
    if controlled() {
        priorities::at(Habit::WaitsLate, thread);
    }
}

/// The thread is about to wait for a signal without a limit, or comes back from that.
pub fn listens(thread: Option<&'static Thread>, does: bool) {
    if let Some(thread) = thread {
        thread.turn.listens.set(does);
    }
}

/// A thread that waits for a condition is about to be woken.
pub fn woken(thread: &Thread) {
    if controlled() {
        priorities::at(Habit::GoesOnLate, thread);
    }
}

/// Takes the turn from a thread that will not use it. The lock is held.
fn take_turn(thread: &Thread) {
    thread.turn.state.set(State::Outside);
    thread.limit.store(0, Relaxed);
    RUNNING.store(core::ptr::null_mut(), SeqCst);
    dispatch();
}

/// A waiter sleeps until it is released and has the turn; true if it gave up instead.
pub fn block(thread: &'static Thread, wait: &Wait, deadline: Option<Deadline>) -> bool {
    come_before_wait(thread);
    LOCK.lock();
    if wait.is_released() || !controlled() {
        LOCK.unlock();
        return false;
    }
    let outer = thread.wait.swap(core::ptr::from_ref(wait).cast_mut(), SeqCst);
    let turn = &thread.turn;
    turn.deadline.set(deadline.map(Deadline::monotonic));
    turn.expired.set(false);
    turn.timed_out.set(false);
    turn.for_nothing.set(false);
    pass(thread, State::Blocked);
    LOCK.unlock();
    wait_for_turn(thread);
    LOCK.lock();
    thread.wait.store(outer, SeqCst);
    turn.deadline.set(None);
    let timed_out = turn.timed_out.replace(false);
    LOCK.unlock();
    turn.is_late.set(timed_out);
    if timed_out && let Some(deadline) = deadline.filter(|_| !turn.for_nothing.get()) {
        sleep_until(deadline);
        time_went_on(thread);
    }
    timed_out
}

/// A schedule may say that a wait is over before it is: clocks should agree, unless that takes too long.
pub fn sleep_until(deadline: Deadline) {
    const PATIENCE: Timespec = Timespec { seconds: 1, nanoseconds: 0 };
    if program_time::pass_to(deadline) {
        return;
    }
    if REPLAY.load(Relaxed)
        && let Some(passed) = program_time::jump_to(deadline)
    {
        return steer::waited(passed);
    }
    let at = deadline.monotonic().min(sys::now(sys::CLOCK_MONOTONIC).plus(PATIENCE));
    let word = AtomicU32::new(0);
    while !sys::futex_wait(&word, 0, Some(Deadline { clock: sys::CLOCK_MONOTONIC, at })) {}
}

/// Lets a waiter go; its bucket is locked.
pub fn unblock(waiter: &Waiter) {
    let thread = waiter.thread;
    LOCK.lock();
    waiter.set_released();
    let innermost = core::ptr::eq(thread.wait.load(SeqCst), &waiter.wait);
    if innermost && thread.turn.state.get() == State::Blocked {
        thread.turn.state.set(State::Ready);
        replay::can_go_on(thread);
        dispatch_if_idle();
    }
    LOCK.unlock();
}

/// A thread that waits looks around in its next turn.
pub fn disturb(thread: &'static Thread) {
    if !controlled() {
        return;
    }
    LOCK.lock();
    if thread.turn.state.get() == State::Blocked {
        thread.turn.state.set(State::Ready);
        dispatch_if_idle();
    }
    LOCK.unlock();
}

/// A signal interrupts a thread that waits: it runs the handler in a turn of its own. What it did before.
pub fn interrupt(thread: &'static Thread) -> Option<State> {
    if !controlled() || has_turn(thread) {
        return None;
    }
    LOCK.lock();
    let before = thread.turn.state.replace(State::Ready);
    dispatch_if_idle();
    LOCK.unlock();
    wait_for_turn(thread);
    Some(before)
}

/// Ends [`interrupt`]. A wait that is not restarted looks again at what it waits for.
pub fn resume(thread: &'static Thread, before: State, restarts: bool) {
    LOCK.lock();
    // SAFETY: the frame of a waiter is alive as long as the thread's wait.
    let released = unsafe { thread.wait.load(SeqCst).as_ref() }.is_none_or(Wait::is_released);
    pass(thread, if released || !restarts { State::Ready } else { before });
    LOCK.unlock();
}

/// The thread jumps out of a wait to a frame with this stack pointer, and has the turn.
pub fn left_wait(thread: &'static Thread, stack: usize) {
    LOCK.lock();
    if (thread.wait.load(SeqCst) as usize) < stack {
        thread.wait.store(core::ptr::null_mut(), SeqCst);
        thread.turn.deadline.set(None);
    }
    LOCK.unlock();
}

/// A new thread, which waits for its first turn.
pub fn created(thread: &'static Thread) {
    if controlled() {
        thread.limit.store(0, Relaxed);
        LOCK.lock();
        steer::created(thread);
        LOCK.unlock();
    } else if !replaying() {
        rests::begin(thread);
    }
}

/// A thread that appeared by itself: it queues at its first counted record, but the first of all runs.
pub fn adopted(thread: &'static Thread) {
    created(thread);
    if !controlled() {
        return;
    }
    LOCK.lock();
    thread.turn.state.set(State::Outside);
    if thread.number.get() == 1 {
        thread.turn.state.set(State::Ready);
        dispatch();
    }
    LOCK.unlock();
}

/// The thread's last record is written; it is about to go.
pub fn done(thread: &'static Thread) {
    if !controlled() {
        return;
    }
    LOCK.lock();
    if has_turn(thread) {
        LEAVING.store(thread.tid.load(Relaxed), SeqCst);
    }
    pass(thread, State::Done);
    LOCK.unlock();
}

/// The thread is about to end the process, as it did in the recording: what others did after that in the schedule, they do now.
pub fn before_end(thread: &'static Thread) {
    if !replaying() || !has_turn(thread) {
        return;
    }
    let has_passed = Cell::new(false);
    let next = || if !plan::needs_others(thread) || has_passed.replace(true) { Next::Go } else { Next::Hold };
    stand(thread, Stands::BeforeCounted, next);
}

/// The program ends: what became of the schedule and of the triple is known.
pub fn finish() {
    serial::report();
    onward::report(false);
    replay::finish();
    steer::finish();
}

/// The thread changes its state; if it had the turn somebody else gets it. The lock is held.
fn pass(thread: &Thread, state: State) {
    thread.turn.state.set(state);
    if has_turn(thread) {
        RUNNING.store(core::ptr::null_mut(), SeqCst);
    }
    dispatch_if_idle();
}

fn dispatch_if_idle() {
    if RUNNING.load(SeqCst).is_null() {
        dispatch();
    }
}

/// Gives the turn, which no thread has, to the next. The lock is held.
fn dispatch() {
    match choose() {
        Choice::Run(thread, until) => grant(thread, until, 0),
        Choice::RunBeyond(thread, until, beyond) => grant(thread, until, beyond),
        Choice::Wait => {}
        Choice::Nobody => deadlock::nobody_runs(),
    }
}

fn choose() -> Choice {
    if let Some(choice) = replay::choose().or_else(steer::choose) {
        return choice;
    }
    if let Some((thread, records)) = onward::alone_in_wait() {
        return give_up(thread, records);
    }
    let count = threads::all().filter(|thread| ready(thread)).count();
    if count == 0 {
        return last_resort();
    }
    if let Some(choice) = onward::choose() {
        return choice;
    }
    let (thread, records, beyond) =
        if replaying() { next_in_round() } else { serial::choose(count, LAST.load(Relaxed) as u64) };
    Choice::RunBeyond(thread, thread.count() + records, beyond)
}

/// Sleeps that a run skips at most.
const MOST_SKIPPED: u32 = 1000;
static SKIPPED: AtomicU32 = AtomicU32::new(0);

/// Whether the thread, which has the turn, need not sleep in the run of a test.
pub fn skips_sleep(thread: &Thread) -> bool {
    let skips = release::is_of_test() && SKIPPED.load(Relaxed) < MOST_SKIPPED && is_alone(thread);
    if skips {
        SKIPPED.fetch_add(1, Relaxed);
    }
    skips
}

/// Whether no other thread than this one, which has the turn, can go on, is in the kernel or waits up to a limit, and nothing can come from
/// elsewhere.
pub fn is_alone(thread: &Thread) -> bool {
    let waits = |other: &Thread| match other.turn.state.get() {
        State::Blocked => other.turn.deadline.get().is_none(),
        State::Done => true,
        State::Outside | State::Ready => false,
    };
    if !controlled() || waking::by_others() {
        return false;
    }
    LOCK.lock();
    let alone = threads::all().all(|other| core::ptr::eq(other, thread) || waits(other));
    LOCK.unlock();
    alone
}

/// No thread is ready: those whose time is up give up, earliest first.
fn last_resort() -> Choice {
    let blocked = || threads::all().filter(|thread| thread.turn.state.get() == State::Blocked);
    let outside = threads::all().any(|thread| thread.turn.state.get() == State::Outside);
    let is_alone = || explores() || replaying() && !waking::by_others();
    let in_time = |thread: &Thread| !outside && thread.turn.deadline.get().is_some() && is_alone();
    let expired = blocked().filter(|thread| thread.turn.expired.get() || in_time(thread));
    if let Some(thread) = earliest(expired) {
        return give_up(thread, ROUND);
    }
    if outside || blocked().any(|thread| thread.turn.deadline.get().is_some()) {
        return Choice::Wait;
    }
    if blocked().next().is_some() { Choice::Nobody } else { Choice::Wait }
}

/// The ready thread after the one that had the last turn.
fn next_in_round() -> (&'static Thread, u64, u64) {
    let last = LAST.load(Relaxed) as u64;
    let after = threads::all().find(|thread| thread.number.get() > last && ready(thread));
    let thread = after.or_else(|| threads::all().find(|thread| ready(thread)));
    (thread.expect("one is ready"), ROUND, 0)
}

fn grant(thread: &'static Thread, until: u64, beyond: u64) {
    thread.turn.state.set(State::Ready);
    thread.turn.beyond.set(beyond);
    LAST.store(thread.number.get() as usize, Relaxed);
    UNTIL.store(until, Relaxed);
    RUNNING.store(core::ptr::from_ref(thread).cast_mut(), SeqCst);
    look_up_to(thread, until);
    open(thread);
}

/// Sleeps until it has the turn. Signal handlers run meanwhile, in turns of their own.
fn wait_for_turn(thread: &'static Thread) {
    let turn = &thread.turn;
    loop {
        let gate = turn.gate.load(SeqCst);
        if has_turn(thread) || !controlled() {
            break;
        }
        let at = if turn.expired.get() { None } else { turn.deadline.get() };
        thread.end();
        let outer = turn.sleeps.swap(true, SeqCst); // of a wait that a signal handler interrupts, and that goes on
        let timed_out = sys::futex_wait(&turn.gate, gate, at.map(|at| Deadline { clock: sys::CLOCK_MONOTONIC, at }));
        turn.sleeps.store(outer, SeqCst);
        thread.occupy();
        if timed_out {
            LOCK.lock();
            turn.expired.set(true);
            dispatch_if_idle();
            LOCK.unlock();
        }
    }
    let tid = LEAVING.swap(0, SeqCst);
    if tid != 0 {
        wait_until_gone(tid);
    }
}

/// A thread that ends goes on in the C library for a while, and what it does there must not depend on time.
fn wait_until_gone(tid: i32) {
    const ROUNDS: u32 = 2000;
    const NANOSECONDS: i64 = 20_000;
    for _ in 0..ROUNDS {
        if sys::gone(tid) {
            return;
        }
        sys::sleep(NANOSECONDS);
    }
}

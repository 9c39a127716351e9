//! Chooses threads in a replay: by the schedule, line by line, as long as the program follows it.

use core::cell::Cell;
use core::ffi::c_int;
use core::fmt::Arguments;
use core::sync::atomic::{
    AtomicBool, AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use crate::controller::target::Target;
use crate::controller::{
    Choice, Stands, State, UNTIL, alarms, give_up, give_up_late, limits, onward, ready, steer, target,
};
use crate::interpose::{self, signals};
use crate::log;
use crate::mode;
use crate::record::BY_CANCELLATION;
use crate::sys::{self, PAGE};
use crate::text::{Text, number};
use crate::threads::{self, Thread};
use crate::waiting::Waiter;

/// A line of the schedule: this thread runs until its record of this number took effect.
#[derive(Clone, Copy)]
struct Line {
    path: &'static [u8],
    at: u64,
    /// The first record of the turn that the schedule is about. The thread's records before it may come at any time.
    first: u64,
    /// After `at`, so many records that are not counted belong to the turn, if the thread comes to them without waiting.
    beyond: u64,
}

/// The schedule. Touched under the controller's lock once threads run.
struct Plan {
    lines: Cell<&'static [Line]>,
    /// Where threads are joined.
    joins: Cell<&'static [Line]>,
    position: Cell<usize>,
    /// The records of the longest thread in it.
    longest: Cell<u64>,
    /// Where handlers of signals began in the recording, in order; those of signals from outside with the signal.
    handlers: Cell<&'static [Line]>,
    /// Where a signal of a condition wakes a certain thread: the rest of each line that says so.
    text: Cell<&'static [u8]>,
}

// SAFETY: as above.
unsafe impl Sync for Plan {}

static PLAN: Plan = Plan {
    lines: Cell::new(&[]),
    joins: Cell::new(&[]),
    position: Cell::new(0),
    longest: Cell::new(0),
    handlers: Cell::new(&[]),
    text: Cell::new(&[]),
};
static FOLLOWING: AtomicBool = AtomicBool::new(false);
/// How long the running threads have been waiting for one that sleeps in the kernel.
static STALLED: AtomicUsize = AtomicUsize::new(0);

pub fn prepare(schedule: &'static [u8], stops: bool) -> Result<(), &'static str> {
    let text = read(schedule).ok_or("the file that FORETRACE_SCHEDULE names cannot be read")?;
    let is_other = |line: &'static [u8]| {
        let is_named = [join(line), handler(line), wake(line), limit(line)].iter().any(Option::is_some);
        target::role(line).is_some() || is_named || super::onward::is_as_explored(line)
    };
    let is_turn = |line: &&'static [u8]| !is_other(line) && super::onward::line(line).is_none();
    PLAN.text.set(text);
    lines(text).find_map(super::onward::line).map_or(Ok(()), super::onward::prepare)?;
    if lines(text).any(super::onward::is_as_explored) {
        super::onward::as_explored();
    }
    PLAN.lines.set(parse_all(lines(text).filter(is_turn))?);
    PLAN.longest.set(PLAN.lines.get().iter().map(|line| line.at).max().unwrap_or_default());
    PLAN.joins.set(parse_all(lines(text).filter_map(join))?);
    PLAN.handlers.set(parse_all(lines(text).filter_map(handler))?);
    if let Some(bytes) = lines(text).find_map(limit).and_then(number) {
        log::set_limit(bytes);
    }
    for (role, access) in lines(text).filter_map(target::role) {
        steer::prepare(role, access)?;
    }
    if stops {
        steer::stop_at_remote();
    }
    FOLLOWING.store(true, SeqCst);
    Ok(())
}

/// Whether the thread handles a signal that arrives now: one that it handled later in the recording waits until there.
pub fn is_time_for_handler(thread: &Thread) -> bool {
    next_sent(thread).is_none_or(|at| at == thread.count())
}

/// Where the next signal from outside came in the recording of this thread, and which.
pub fn next_alarm(thread: &Thread) -> Option<(u64, c_int)> {
    if !FOLLOWING.load(SeqCst) || PLAN.handlers.get().is_empty() {
        return None;
    }
    let path = thread.path();
    let is_signal = |handler: &&Line| ![0, BY_CANCELLATION].contains(&handler.first);
    let mut later = handlers_from(path.bytes(), thread.count()).filter(is_signal);
    later.next().map(|handler| (handler.at, handler.first as c_int))
}

/// Where in this thread the next handler began of a signal that the program sent itself.
pub fn next_sent(thread: &Thread) -> Option<u64> {
    if !FOLLOWING.load(SeqCst) || PLAN.handlers.get().is_empty() {
        return None;
    }
    let path = thread.path();
    let mut later = handlers_from(path.bytes(), thread.count()).filter(|handler| handler.first == 0);
    later.next().map(|handler| handler.at)
}

/// Who handles a signal to the process that the kernel gave to this thread: another one, if the schedule says so.
pub fn other_handler(thread: &Thread) -> Option<&'static Thread> {
    let own = next_sent(thread);
    if own == Some(thread.count()) {
        return None;
    }
    let other = |wanted: fn(&Thread, u64) -> bool| {
        let mut others = threads::all().filter(|other| other.turn.state.get() != State::Done);
        others.find(|other| !core::ptr::eq(*other, thread) && next_sent(other).is_some_and(|at| wanted(other, at)))
    };
    other(|other, at| at == other.count()).or_else(|| own.is_none().then(|| other(|_, _| true)).flatten())
}

/// Whether the recording has the thread unwind here, since somebody cancelled it.
pub fn unwinds_here(thread: &Thread) -> bool {
    let (path, count) = (thread.path(), thread.count());
    let mut here = handlers_from(path.bytes(), count).take_while(|handler| handler.at == count);
    FOLLOWING.load(SeqCst) && here.any(|handler| handler.first == BY_CANCELLATION)
}

/// Whether it has the thread unwind later than here.
pub fn unwinds_later(thread: &Thread) -> bool {
    let (path, count) = (thread.path(), thread.count());
    let mut later = handlers_from(path.bytes(), count).filter(|handler| handler.at > count);
    FOLLOWING.load(SeqCst) && later.any(|handler| handler.first == BY_CANCELLATION)
}

/// Of a thread, from this count on; the schedule has them in order.
fn handlers_from(path: &[u8], count: u64) -> impl Iterator<Item = &'static Line> {
    let handlers = PLAN.handlers.get();
    let from = handlers.partition_point(|handler| (handler.path, handler.at) < (path, count));
    handlers[from..].iter().take_while(move |handler| handler.path == path)
}

/// How many records the longest thread of the schedule makes in it.
pub fn longest() -> u64 {
    PLAN.longest.get()
}

fn read(name: &[u8]) -> Option<&'static [u8]> {
    let mut path = Text::<4096>::new();
    path.push(name);
    path.push(b"\0");
    let file = sys::open(path.bytes(), sys::READ_ONLY).ok()?;
    let length = sys::size(file)?;
    let memory = if length == 0 { None } else { sys::map_private(file, length) };
    sys::close(file);
    // SAFETY: a private mapping of so many bytes, never unmapped.
    (length == 0 || memory.is_some())
        .then(|| memory.map_or(&[][..], |memory| unsafe { core::slice::from_raw_parts(memory, length) }))
}

fn lines(text: &'static [u8]) -> impl Iterator<Item = &'static [u8]> + Clone {
    text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty())
}

/// The rest of a line that says where a thread is joined.
fn join(line: &'static [u8]) -> Option<&'static [u8]> {
    line.strip_prefix(b"join ")
}

/// The rest of a line that says where a handler of a signal began in the recording.
fn handler(line: &'static [u8]) -> Option<&'static [u8]> {
    line.strip_prefix(b"handler ")
}

/// The rest of a line that says how many bytes the logs may have.
fn limit(line: &'static [u8]) -> Option<&'static [u8]> {
    line.strip_prefix(b"limit ")
}

/// The rest of a line that says which thread a signal of a condition wakes.
fn wake(line: &'static [u8]) -> Option<&'static [u8]> {
    line.strip_prefix(b"wake ")
}

fn parse_all(lines: impl Iterator<Item = &'static [u8]> + Clone) -> Result<&'static [Line], &'static str> {
    let count = lines.clone().count();
    let memory = sys::map((count * size_of::<Line>()).max(PAGE)).ok_or("no memory for the schedule")?;
    for (index, line) in lines.enumerate() {
        let line = parse(line).ok_or(
            "a line of the schedule is not `<path> <at> [<first> [<beyond>]]`, nor `join <path> <at>` or `handler <path> <at> [<signal>]`",
        )?;
        // SAFETY: there is room for all of them.
        unsafe { memory.cast::<Line>().add(index).write(line) };
    }
    // SAFETY: written just now, never freed.
    Ok(unsafe { core::slice::from_raw_parts(memory.cast(), count) })
}

fn parse(line: &'static [u8]) -> Option<Line> {
    let mut words = line.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
    let (path, at) = (words.next()?, number(words.next()?)?);
    let first = words.next().map_or(Some(0), number)?;
    let beyond = words.next().map_or(Some(0), number)?;
    words.next().is_none().then_some(Line { path, at, first, beyond })
}

/// The choice as long as there is a schedule to follow.
pub fn choose() -> Option<Choice> {
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
            if signals::may_come() {
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
    let key = unsafe { thread.waiter.load(SeqCst).as_ref() }?.key();
    threads::all().find(|other| interpose::threads::key(other) == key)
}

/// Where the part of the schedule that is still to come first needs the thread.
fn next_turn(thread: &Thread) -> Option<u64> {
    let path = thread.path();
    let mut lines = PLAN.lines.get()[PLAN.position.get()..].iter();
    lines.find(|line| line.path == path.bytes() && line.at >= thread.count()).map(|line| line.first)
}

/// A thread can go on. If the schedule waits for it, the one that brought this about has done enough.
pub fn can_go_on(thread: &Thread) {
    let Some(running) = super::running().filter(|running| !core::ptr::eq(*running, thread)) else { return };
    let wanted = || PLAN.lines.get().get(PLAN.position.get()).is_some_and(|line| line.path == thread.path().bytes());
    if FOLLOWING.load(SeqCst) && wanted() {
        UNTIL.store(running.count(), Relaxed);
        running.turn.beyond.set(0);
        running.limit.store(0, Relaxed);
    }
}

/// Whether its wait may end for no reason.
fn may_end_early(thread: &Thread) -> bool {
    // SAFETY: the frame of a waiter is alive as long as the thread's wait.
    unsafe { thread.waiter.load(SeqCst).as_ref() }.is_some_and(Waiter::may_end_early)
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
    end(format_args!("left {} thread {path} {why}\n", position + 1));
}

fn end(arguments: Arguments) {
    FOLLOWING.store(false, SeqCst);
    alarms::give_back();
    mode::write_file(b"/replay\0", arguments);
}

/// Ticks after which others may go ahead of a thread that sleeps in the kernel.
const SOON: usize = 10;

/// Every tick of the watchdog in which no thread has the turn; whether to look who can go on. Patience with a thread that sleeps in the
/// kernel ends.
pub fn nobody_runs() -> bool {
    const TICKS: usize = 400;
    if !FOLLOWING.load(SeqCst) {
        return false;
    }
    let ticks = STALLED.fetch_add(1, Relaxed) + 1;
    if ticks >= TICKS {
        let line = PLAN.lines.get()[PLAN.position.get()];
        let why = match threads::by_path(line.path).map(|thread| thread.turn.state.get()) {
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

/// Whether other threads still have to do something in the schedule.
pub fn needs_others(thread: &Thread) -> bool {
    let path = thread.path();
    let open = |line: &Line| threads::by_path(line.path).is_some_and(|other| other.count() <= line.at);
    let lines = || PLAN.lines.get()[PLAN.position.get()..].iter();
    FOLLOWING.load(SeqCst) && lines().any(|line| line.path != path.bytes() && open(line))
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

/// Of those who wait for a condition, the one that the schedule names for the signal of the running thread.
fn named<I: Iterator<Item = &'static Waiter>>(waiters: &impl Fn() -> I) -> Option<&'static Waiter> {
    let running = super::running()?;
    let (path, count) = (running.path(), running.count());
    let parts = |line: &'static [u8]| {
        let mut words = line.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
        Some((words.next()?, number(words.next()?)?, words.next()?))
    };
    let lines = lines(PLAN.text.get()).filter_map(wake).filter_map(parts);
    let (.., wanted) = lines.into_iter().find(|(thread, at, _)| *thread == path.bytes() && *at == count)?;
    waiters().find(|waiter| waiter.thread.path().bytes() == wanted)
}

/// Of those who wait for a condition, the one that the schedule needs next.
pub fn prefer<I: Iterator<Item = &'static Waiter>>(waiters: impl Fn() -> I) -> Option<&'static Waiter> {
    if let Some(waiter) = named(&waiters) {
        return Some(waiter);
    }
    if FOLLOWING.load(SeqCst) {
        for line in &PLAN.lines.get()[PLAN.position.get()..] {
            let wanted = |waiter: &&'static Waiter| {
                waiter.thread.count() <= line.at && waiter.thread.path().bytes() == line.path
            };
            if let Some(waiter) = waiters().find(wanted) {
                return Some(waiter);
            }
        }
    }
    waiters().next()
}

/// Whether the program follows the schedule, and there is something left of it.
pub fn following() -> bool {
    FOLLOWING.load(SeqCst)
}

/// The turn of the running thread ends after so many more counted records, if it does not before.
pub fn end_turn_after(thread: &Thread, records: u64) {
    let until = thread.count() + records;
    UNTIL.store(until.min(UNTIL.load(Relaxed)), Relaxed);
}

/// Whether the thread, which has the turn and stands before a record that is not counted, may write it.
pub fn may_go_beyond(thread: &Thread) -> bool {
    let (count, until) = (thread.count(), UNTIL.load(Relaxed));
    count < until || count == until && thread.since_counted() < thread.turn.beyond.get()
}

/// Whether the schedule says that the thread joins another one now; nothing where it does not say what the thread does.
pub fn is_join_planned(thread: &Thread) -> Option<bool> {
    let (path, count) = (thread.path(), thread.count());
    let named = |lines: &'static [Line], fits: fn(u64, u64) -> bool| {
        lines.iter().any(|line| line.path == path.bytes() && fits(line.at, count))
    };
    let says = FOLLOWING.load(SeqCst) && named(&PLAN.lines.get()[PLAN.position.get()..], |at, count| at >= count);
    says.then(|| named(PLAN.joins.get(), |at, count| at == count))
}

/// Of what is left of a schedule that the program has left, up to the turn with this event: the next thread that can run, and how
/// far.
pub fn preferred(up_to: &Target, can_run: impl Fn(&Thread) -> bool) -> Option<(&'static Thread, u64)> {
    const LINES: usize = 200;
    let lines = PLAN.lines.get();
    let over = |line: &Line| threads::by_path(line.path).is_some_and(|thread| thread.count() > line.at);
    while lines.get(PLAN.position.get()).is_some_and(over) {
        PLAN.position.set(PLAN.position.get() + 1);
    }
    let is_last = |line: &Line| line.path == up_to.path && up_to.at.is_some_and(|at| line.at >= at);
    let last = lines.iter().position(is_last)?;
    lines.get(PLAN.position.get()..=last)?.iter().take(LINES).find_map(|line| {
        let thread = threads::by_path(line.path)?;
        (thread.count() <= line.at && can_run(thread)).then(|| (thread, line.at + 1 - thread.count()))
    })
}

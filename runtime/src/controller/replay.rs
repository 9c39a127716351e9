//! Who runs in a replay: the schedule says it, line by line, as long as the program goes along.

use core::cell::Cell;
use core::fmt::Arguments;
use core::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use crate::controller::target::Target;
use crate::controller::{Choice, State, UNTIL, give_up, steer, target};
use crate::interpose::{self, signals};
use crate::mode;
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
}

/// The schedule. Touched under the controller's lock once threads run.
struct Plan {
    lines: Cell<&'static [Line]>,
    position: Cell<usize>,
    /// Where handlers of signals began in the recording.
    handlers: Cell<&'static [Line]>,
}

// SAFETY: as above.
unsafe impl Sync for Plan {}

static PLAN: Plan = Plan { lines: Cell::new(&[]), position: Cell::new(0), handlers: Cell::new(&[]) };
static FOLLOWING: AtomicBool = AtomicBool::new(false);
/// How long the running threads have been waiting for one that sleeps in the kernel.
static STALLED: AtomicUsize = AtomicUsize::new(0);

pub fn prepare(schedule: &'static [u8], stops: bool) -> Result<(), &'static str> {
    let text = read(schedule).ok_or("the file that FORETRACE_SCHEDULE names cannot be read")?;
    let count = lines(text).count();
    let memory = sys::map((count * size_of::<Line>()).max(PAGE)).ok_or("no memory for the schedule")?;
    let (mut turns, mut handlers) = (0, 0);
    for line in lines(text) {
        if let Some(handler) = line.strip_prefix(HANDLER) {
            let line = parse(handler).ok_or("a line of the schedule is not `handler <path> <at>`")?;
            handlers += 1;
            // SAFETY: there is room for all of them: turns from the start, these from the end.
            unsafe { memory.cast::<Line>().add(count - handlers).write(line) };
            continue;
        }
        if let Some((role, access)) = target::role(line) {
            steer::prepare(role, access)?;
            continue;
        }
        let line = parse(line).ok_or("a line of the schedule is not `<path> <at>` or `<path> <at> <first>`")?;
        // SAFETY: there is room for all of them.
        unsafe { memory.cast::<Line>().add(turns).write(line) };
        turns += 1;
    }
    // SAFETY: written just now, never freed.
    PLAN.lines.set(unsafe { core::slice::from_raw_parts(memory.cast(), turns) });
    // SAFETY: as above.
    PLAN.handlers.set(unsafe { core::slice::from_raw_parts(memory.cast::<Line>().add(count - handlers), handlers) });
    if stops {
        steer::stop_at_remote();
    }
    FOLLOWING.store(true, SeqCst);
    Ok(())
}

/// What a line starts with that says where a handler of a signal began in the recording.
const HANDLER: &[u8] = b"handler ";

/// Whether the thread handles a signal that arrives now: one that it handled later in the recording waits until there.
pub fn is_time_for_handler(thread: &Thread) -> bool {
    if !FOLLOWING.load(SeqCst) {
        return true;
    }
    let (path, count) = (thread.path(), thread.count());
    let later = PLAN.handlers.get().iter().filter(|handler| handler.path == path.bytes() && handler.at >= count);
    later.map(|handler| handler.at).min().is_none_or(|next| next == count)
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

fn lines(text: &'static [u8]) -> impl Iterator<Item = &'static [u8]> {
    text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty())
}

fn parse(line: &'static [u8]) -> Option<Line> {
    let mut words = line.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
    let (path, at) = (words.next()?, number(words.next()?)?);
    let first = words.next().map_or(Some(0), number)?;
    words.next().is_none().then_some(Line { path, at, first })
}

/// The choice as long as there is a schedule to follow.
pub fn choose() -> Option<Choice> {
    while FOLLOWING.load(SeqCst) {
        let position = PLAN.position.get();
        let Some(line) = PLAN.lines.get().get(position) else {
            end(format_args!("followed\n"));
            break;
        };
        let Some(thread) = threads::by_path(line.path) else {
            leave(format_args!("does not exist yet"));
            break;
        };
        if thread.count() > line.at {
            PLAN.position.set(position + 1);
            continue;
        }
        if let Some(choice) = go_on(thread, line.at) {
            return Some(choice);
        }
    }
    None
}

/// The thread of the current line runs, if it can.
fn go_on(thread: &'static Thread, at: u64) -> Option<Choice> {
    match thread.turn.state.get() {
        State::Ready => Some(Choice::Run(thread, at + 1)),
        State::Outside => Some(Choice::Wait),
        State::Blocked if thread.turn.deadline.get().is_some() || may_end_early(thread) => {
            Some(give_up(thread, at + 1 - thread.count()))
        }
        State::Blocked => helper(thread).or_else(|| {
            if signals::handled() {
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

/// A thread that goes on, by what the schedule says nothing of, since the thread of the current line waits for another one: that
/// which it joins, and which has no more to do than to end; else one that has something to do before its next turn.
fn helper(thread: &'static Thread) -> Option<Choice> {
    let mut waiting = thread;
    for _ in 0..threads::count() {
        let Some(joined) = joined_by(waiting) else { break };
        match joined.turn.state.get() {
            State::Ready => {
                return has_room(joined).then(|| Choice::Run(joined, next_turn(joined).unwrap_or(u64::MAX)));
            }
            State::Outside => return Some(Choice::Wait),
            State::Blocked => waiting = joined,
            State::Done => break,
        }
    }
    let ready = threads::all().filter(|other| other.turn.state.get() == State::Ready);
    ready.filter(|other| has_room(other)).find_map(|other| Some(Choice::Run(other, next_turn(other)?)))
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

/// Whether the thread has something to do before that.
fn has_room(thread: &Thread) -> bool {
    next_turn(thread).is_none_or(|first| thread.count() < first)
}

/// A thread can go on. If the schedule waits for it, the one that brought this about has done enough.
pub fn can_go_on(thread: &Thread) {
    let Some(running) = super::running().filter(|running| !core::ptr::eq(*running, thread)) else { return };
    let wanted = || PLAN.lines.get().get(PLAN.position.get()).is_some_and(|line| line.path == thread.path().bytes());
    if FOLLOWING.load(SeqCst) && wanted() {
        UNTIL.store(running.count(), Relaxed);
        running.limit.store(0, Relaxed);
    }
}

/// Whether its wait may end for no reason.
fn may_end_early(thread: &Thread) -> bool {
    // SAFETY: the frame of a waiter is alive as long as the thread's wait.
    unsafe { thread.waiter.load(SeqCst).as_ref() }.is_some_and(Waiter::may_end_early)
}

/// The program does something else than the schedule says.
pub fn leave(why: Arguments) {
    let position = PLAN.position.get();
    let path = core::str::from_utf8(PLAN.lines.get()[position].path).unwrap_or("?");
    end(format_args!("left {} thread {path} {why}\n", position + 1));
}

fn end(arguments: Arguments) {
    FOLLOWING.store(false, SeqCst);
    let mut path = Text::<4200>::new();
    path.push(mode::directory());
    path.push(b"/replay\0");
    if let Ok(file) = sys::open(path.bytes(), sys::CREATE) {
        sys::write(file, Text::<600>::of(arguments).bytes());
        sys::close(file);
    }
}

/// Every tick of the watchdog in which nobody has the turn. Patience with a thread that sleeps in the kernel ends.
pub fn nobody_runs() -> bool {
    const TICKS: usize = 400;
    if !FOLLOWING.load(SeqCst) {
        return false;
    }
    if STALLED.fetch_add(1, Relaxed) + 1 >= TICKS {
        let line = PLAN.lines.get()[PLAN.position.get()];
        let blocked = threads::by_path(line.path).is_some_and(|thread| thread.turn.state.get() == State::Blocked);
        let why = if blocked { "waits for another thread" } else { "sleeps in the kernel" };
        leave(format_args!("{why}"));
        return true;
    }
    false
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

/// Of those who wait for a condition, the one that the schedule needs next.
pub fn prefer<I: Iterator<Item = &'static Waiter>>(waiters: impl Fn() -> I) -> Option<&'static Waiter> {
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

//! The schedule of a replay: what its lines say, and how far the program has come in it.

use core::cell::Cell;
use core::ffi::c_int;
use core::sync::atomic::{
    AtomicBool,
    Ordering::{Relaxed, SeqCst},
};

use crate::controller::target::Target;
use crate::controller::thread_turn::State;
use crate::controller::turns::{UNTIL, replaying, running};
use crate::controller::{onward, serial, target};
use crate::log;
use crate::record::{BY_CANCELLATION, SENT};
use crate::sys::{self, PAGE};
use crate::text::{Text, number};
use crate::threads::{self, Thread};
use crate::waiting::Waiter;

/// A line of the schedule: this thread runs until its record of this number took effect.
#[derive(Clone, Copy)]
pub(super) struct Line {
    pub(super) path: &'static [u8],
    pub(super) at: u64,
    /// The first record of the turn that the schedule is about. The thread's records before it may come at any time.
    pub(super) first: u64,
    /// This many uncounted records after `at` belong to the turn, if the thread reaches them without waiting.
    pub(super) beyond: u64,
}

/// The schedule. Touched under the controller's lock once threads run.
pub(super) struct Plan {
    pub(super) lines: Cell<&'static [Line]>,
    /// Where threads are joined.
    pub(super) joins: Cell<&'static [Line]>,
    pub(super) position: Cell<usize>,
    /// The records of the longest thread in it.
    pub(super) longest: Cell<u64>,
    /// Where handlers of signals began in the recording, in order; those of signals from outside with the signal.
    pub(super) handlers: Cell<&'static [Line]>,
    /// Where waits for conditions ended by their limits in the recording, in order.
    late: Cell<&'static [Line]>,
    /// How many threads come to locks after it.
    comers: Cell<usize>,
    /// All lines. Rare ones are read where they are needed, such as where a signal of a condition wakes a certain thread.
    pub(super) text: Cell<&'static [u8]>,
}

// SAFETY: as above.
unsafe impl Sync for Plan {}

pub(super) static PLAN: Plan = Plan {
    lines: Cell::new(&[]),
    joins: Cell::new(&[]),
    position: Cell::new(0),
    longest: Cell::new(0),
    handlers: Cell::new(&[]),
    late: Cell::new(&[]),
    comers: Cell::new(0),
    text: Cell::new(&[]),
};
pub(super) static FOLLOWING: AtomicBool = AtomicBool::new(false);
/// Whether the schedule is the order of the recording, and the program has not left it.
pub(super) static RECORDED_ORDER: AtomicBool = AtomicBool::new(false);
/// Whether what clocks said fits the schedule, too.
static CLOCKS_FIT: AtomicBool = AtomicBool::new(false);

/// Whether the allocator gets no memory back.
static KEEPS_FREED: AtomicBool = AtomicBool::new(false);

/// Reads the schedule.
pub fn prepare(schedule: &'static [u8]) -> Result<(), &'static str> {
    let text = read(schedule).ok_or("the file that FORETRACE_SCHEDULE names cannot be read")?;
    let is_other = |line: &'static [u8]| {
        let is_named =
            [join(line), handler(line), late(line), wake(line), limit(line), comes(line)].iter().any(Option::is_some);
        target::role(line).is_some()
            || is_named
            || onward::is_as_explored(line)
            || is_recorded_order(line)
            || are_clocks(line)
            || is_freed_kept(line)
    };
    let is_turn = |line: &&'static [u8]| !is_other(line) && onward::line(line).is_none();
    PLAN.text.set(text);
    lines(text).find_map(onward::line).map_or(Ok(()), onward::prepare)?;
    if lines(text).any(onward::is_as_explored) {
        onward::as_explored();
    }
    RECORDED_ORDER.store(lines(text).any(is_recorded_order), SeqCst);
    CLOCKS_FIT.store(lines(text).any(are_clocks), SeqCst);
    KEEPS_FREED.store(lines(text).any(is_freed_kept), SeqCst);
    PLAN.lines.set(parse_all(lines(text).filter(is_turn))?);
    PLAN.longest.set(PLAN.lines.get().iter().map(|line| line.at).max().unwrap_or_default());
    PLAN.joins.set(parse_all(lines(text).filter_map(join))?);
    PLAN.handlers.set(parse_all(lines(text).filter_map(handler))?);
    PLAN.late.set(parse_all(lines(text).filter_map(late))?);
    PLAN.comers.set(lines(text).filter_map(comes).count());
    if let Some(bytes) = lines(text).find_map(limit).and_then(number) {
        log::set_limit(bytes);
    }
    Ok(())
}

/// Whether memory that is freed is to be given to nobody again.
pub fn keeps_freed() -> bool {
    KEEPS_FREED.load(Relaxed)
}

/// The lines that name accesses of the triple.
pub fn triple() -> impl Iterator<Item = (usize, &'static [u8])> {
    lines(PLAN.text.get()).filter_map(target::role)
}

/// From here on the program follows the schedule.
pub fn follow() {
    FOLLOWING.store(true, SeqCst);
}

/// Whether the thread handles a signal of the program that arrives now: one that it handled later in the recording waits until there, and
/// what it did not handle until the schedule is over.
pub fn is_time_for_handler(thread: &Thread, signal: c_int) -> bool {
    !FOLLOWING.load(SeqCst) || PLAN.handlers.get().is_empty() || next_sent(thread) == Some((thread.count(), signal))
}

/// Where the next signal from outside came in the recording of this thread, and which.
pub fn next_alarm(thread: &Thread) -> Option<(u64, c_int)> {
    if !FOLLOWING.load(SeqCst) || PLAN.handlers.get().is_empty() {
        return None;
    }
    let path = thread.path();
    let is_signal = |handler: &&Line| (1..BY_CANCELLATION).contains(&handler.first);
    let mut later = lines_from(PLAN.handlers.get(), path.bytes(), thread.count()).filter(is_signal);
    later.next().map(|handler| (handler.at, handler.first as c_int))
}

/// Where in this thread the next handler began of a signal that the program sent itself, and of which.
pub fn next_sent(thread: &Thread) -> Option<(u64, c_int)> {
    if !FOLLOWING.load(SeqCst) || PLAN.handlers.get().is_empty() {
        return None;
    }
    let path = thread.path();
    let is_sent = |handler: &&Line| handler.first & SENT != 0;
    let mut later = lines_from(PLAN.handlers.get(), path.bytes(), thread.count()).filter(is_sent);
    later.next().map(|handler| (handler.at, (handler.first & !SENT) as c_int))
}

/// Who handles this signal to the process, which the kernel gave to this thread: another one, if the schedule says so.
pub fn other_handler(thread: &Thread, signal: c_int) -> Option<&'static Thread> {
    let own = next_sent(thread).filter(|(_, next)| *next == signal);
    if own.is_some_and(|(at, _)| at == thread.count()) {
        return None;
    }
    let other = |wanted: fn(&Thread, u64) -> bool| {
        let handles = |other: &Thread| next_sent(other).is_some_and(|(at, next)| next == signal && wanted(other, at));
        let mut others = threads::all().filter(|other| other.turn.state.get() != State::Done);
        others.find(|other| !core::ptr::eq(*other, thread) && handles(other))
    };
    other(|other, at| at == other.count()).or_else(|| own.is_none().then(|| other(|_, _| true)).flatten())
}

/// Whether the recording has the thread unwind here, since somebody cancelled it.
pub fn unwinds_here(thread: &Thread) -> bool {
    let (path, count) = (thread.path(), thread.count());
    let mut here = lines_from(PLAN.handlers.get(), path.bytes(), count).take_while(|handler| handler.at == count);
    FOLLOWING.load(SeqCst) && here.any(|handler| handler.first == BY_CANCELLATION)
}

/// Whether it has the thread unwind later than here.
pub fn unwinds_later(thread: &Thread) -> bool {
    let (path, count) = (thread.path(), thread.count());
    let mut later = lines_from(PLAN.handlers.get(), path.bytes(), count).filter(|handler| handler.at > count);
    FOLLOWING.load(SeqCst) && later.any(|handler| handler.first == BY_CANCELLATION)
}

/// Those of a thread, from this count on; the schedule has them in order.
fn lines_from(lines: &'static [Line], path: &[u8], count: u64) -> impl Iterator<Item = &'static Line> {
    let from = lines.partition_point(|line| (line.path, line.at) < (path, count));
    lines[from..].iter().take_while(move |line| line.path == path)
}

/// Whether the limit of this wait for a condition is over before any other thread signals: the thread only waits for its mutex.
pub fn is_late(waiter: &Waiter) -> bool {
    if !FOLLOWING.load(SeqCst) || PLAN.late.get().is_empty() {
        return false;
    }
    let (path, count) = (waiter.thread.path(), waiter.thread.count());
    lines_from(PLAN.late.get(), path.bytes(), count).next().is_some_and(|line| line.at == count)
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

/// The rest of a line that says where a wait for a condition ended by its limit in the recording.
fn late(line: &'static [u8]) -> Option<&'static [u8]> {
    line.strip_prefix(b"late ")
}

/// Whether a line says that the schedule is the order of the recording.
fn is_recorded_order(line: &[u8]) -> bool {
    line == b"recorded"
}

/// Whether a line says that clocks are to say what they said while the program follows the schedule.
fn are_clocks(line: &[u8]) -> bool {
    line == b"clocks"
}

/// Whether a line says that the allocator gets no memory back.
fn is_freed_kept(line: &[u8]) -> bool {
    line == b"keep"
}

/// The rest of a line that says how many bytes the logs may have.
fn limit(line: &'static [u8]) -> Option<&'static [u8]> {
    line.strip_prefix(b"limit ")
}

/// The rest of a line that says which thread comes to a lock after the schedule, and waits there, before others go on.
fn comes(line: &'static [u8]) -> Option<&'static [u8]> {
    line.strip_prefix(b"comes ")
}

/// Of the threads that come to locks after the schedule, before others go on, the path of the one with this number.
pub fn comer(number: usize) -> Option<&'static [u8]> {
    (number < PLAN.comers.get()).then(|| lines(PLAN.text.get()).filter_map(comes).nth(number))?
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
            "a line of the schedule is not `<path> <at> [<first> [<beyond>]]`, nor `join <path> <at>`, `handler <path> <at> [<signal>]`, `late <path> <at>` or `comes <path>`",
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

/// Whether other threads still have to do something in the schedule.
pub fn needs_others(thread: &Thread) -> bool {
    let path = thread.path();
    let open = |line: &Line| threads::by_path(line.path).is_some_and(|other| other.count() <= line.at);
    let lines = || PLAN.lines.get()[PLAN.position.get()..].iter();
    FOLLOWING.load(SeqCst) && lines().any(|line| line.path != path.bytes() && open(line))
}

/// Of those who wait for a condition, the one that the schedule names for the signal of the running thread.
fn named<I: Iterator<Item = &'static Waiter>>(waiters: &impl Fn() -> I) -> Option<&'static Waiter> {
    let running = running()?;
    let (path, count) = (running.path(), running.count());
    let parts = |line: &'static [u8]| {
        let mut words = line.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
        Some((words.next()?, number(words.next()?)?, words.next()?))
    };
    let lines = lines(PLAN.text.get()).filter_map(wake).filter_map(parts);
    let (.., wanted) = lines.into_iter().find(|(thread, at, _)| *thread == path.bytes() && *at == count)?;
    waiters().find(|waiter| waiter.thread.path().bytes() == wanted)
}

/// Of those who wait for a condition, the one that the schedule needs next, or in a serial recording the one that chance says.
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
    waiters().nth(if replaying() { 0 } else { serial::waiter(waiters().count()) })
}

/// Whether the program follows the schedule, and there is something left of it.
pub fn following() -> bool {
    FOLLOWING.load(SeqCst)
}

/// Whether clocks are to say exactly what they said in the recording.
pub fn clocks_are_as_recorded() -> bool {
    RECORDED_ORDER.load(Relaxed) || CLOCKS_FIT.load(Relaxed) && following()
}

/// The turn of the running thread ends after so many more counted records, if it does not before.
pub fn end_turn_after(thread: &Thread, records: u64) {
    let until = thread.count() + records;
    UNTIL.store(until.min(UNTIL.load(Relaxed)), Relaxed);
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

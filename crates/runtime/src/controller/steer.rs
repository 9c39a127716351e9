//! Steering towards the triple of a witness, where the program has left the schedule or the schedule is over.
//!
//! Only one thing about a schedule must hold: first, then remote, then second. The rest is a preference. So the controller holds other
//! threads before remote until first has happened. Then it holds the thread of first, and lets the others run until one makes the remote
//! access, at the same place in the code and of the same memory. Then second may come. Where no other thread can go on (one may wait for a
//! lock that the held thread has), or all others do the same again and again, the held thread goes on by single steps. Where nothing else
//! is left, it passes the access that it is held before. So no thread waits forever. Holding threads at suspicious places is an idea of Park and Sen, "Randomized active atomicity
//! violation detection in concurrent programs", FSE 2008, and of Park, Lu and Zhou, "CTrigger: exposing atomicity violation bugs from their
//! hiding places", ASPLOS 2009.

use core::cell::Cell;
use core::fmt::Arguments;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::controller::target::{self, Access, Target};
use crate::controller::thread_turn::State;
use crate::controller::turns::{Choice, LOCK, Next, earliest, give_up_late, ready};
use crate::controller::{limits, plan, replay, rounds, stuck};
use crate::interpose::mappings;
use crate::mode;
use crate::program_time::nanoseconds;
use crate::sys::{self, Timespec};
use crate::text::Text;
use crate::threads::{self, Thread};

/// How far the triple has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// First has not happened, or what followed it was no triple.
    Before,
    /// First has happened.
    First,
    /// First and remote have.
    Remote,
    /// All three.
    Reached,
    /// Nothing is steered any more.
    Over,
}

/// An access of the triple that happened in this run.
#[derive(Clone, Copy)]
struct Seen {
    thread: &'static Thread,
    at: u64,
    address: u64,
    bytes: u64,
}

/// All that is kept. Touched under the controller's lock once threads run.
struct Steering {
    targets: [Cell<Option<Target>>; 3],
    /// Threads of first and remote as recorded, by number; 0 while they do not exist.
    numbers: [Cell<u64>; 2],
    /// How often these were at the places of first and remote.
    visits: [Cell<u64>; 2],
    phase: Cell<Phase>,
    seen: [Cell<Option<Seen>>; 3],
    /// How often the thread of first had to go past second alone.
    missed: Cell<u64>,
    /// The thread that may make the access that it is held before, by number.
    permitted: Cell<u64>,
    /// Who got the last turn, and its count of records then.
    turn: Cell<Option<(&'static Thread, u64)>>,
    /// Counted records of all turns that were given.
    given: Cell<u64>,
    /// Those of others since the thread of first last went on.
    awaited: Cell<u64>,
    /// The same before the last access of the triple.
    awaited_before: Cell<u64>,
    /// The thread that had the last turn of those that take turns, by number.
    last: Cell<u64>,
    /// Whose turn it is: that of the thread that should go on, or of others that it may wait for in a loop.
    others_next: Cell<bool>,
}

// SAFETY: as above.
unsafe impl Sync for Steering {}

static STEERING: Steering = Steering {
    targets: [const { Cell::new(None) }; 3],
    numbers: [const { Cell::new(0) }; 2],
    visits: [const { Cell::new(0) }; 2],
    phase: Cell::new(Phase::Before),
    seen: [const { Cell::new(None) }; 3],
    missed: Cell::new(0),
    permitted: Cell::new(0),
    turn: Cell::new(None),
    given: Cell::new(0),
    awaited: Cell::new(0),
    awaited_before: Cell::new(0),
    last: Cell::new(0),
    others_next: Cell::new(false),
};

/// Whether there is a triple: then each access asks here.
static WATCHING: AtomicBool = AtomicBool::new(false);
/// Whether `foretrace_at_remote` is to be called before the remote access; once.
static STOPS: AtomicBool = AtomicBool::new(false);
/// Ticks of the watchdog for which threads in the kernel, or in waits with a limit, are still waited for.
static PATIENCE: AtomicU64 = AtomicU64::new(MOST_TICKS);

const MOST_TICKS: u64 = 400;
/// Counted records of a turn of the thread that is to go on,
const LONG: u64 = 2000;
/// and of one that it may wait for.
const SHORT: u64 = 50;
/// Counted records of others after which a thread that is held goes on all the same, at first: so many,
const AWAIT: u64 = 20_000;
/// and so many for each record of the longest thread of the schedule, but
const AWAIT_FOR_EACH: u64 = 20;
/// never more than this,
const AWAIT_AT_MOST: u64 = 200_000;
/// and from then on: others that did not do without it for so long spin in a loop.
const AWAIT_AGAIN: u64 = 2000;
/// A wait counts as one record for each 50 microseconds.
const NANOSECONDS_FOR_EACH: u64 = 50_000;
/// Counted records after which steering ends: so many,
const MOST: u64 = 100_000;
/// and so many for each record of the longest thread of the schedule. The triple stands in the schedule, so it is not much further.
const MOST_FOR_EACH: u64 = 20;

/// Takes a line of the schedule that names an access of the triple.
pub fn prepare(role: usize, line: &'static [u8]) -> Result<(), &'static str> {
    let target = target::parse(line).ok_or("a line of the schedule is no access of a triple")?;
    STEERING.targets[role].set(Some(target));
    let complete = STEERING.targets.iter().all(|target| target.get().is_some_and(|target| target.has_places()));
    WATCHING.store(complete, Relaxed);
    Ok(())
}

/// A debugger wants to stop before the remote access.
pub fn stop_at_remote() {
    STOPS.store(true, Relaxed);
}

/// Whether accesses are watched.
#[inline]
pub fn watching() -> bool {
    WATCHING.load(Relaxed)
}

fn targets() -> [Target; 3] {
    STEERING.targets.each_ref().map(|target| target.get().expect("all three are there while accesses are watched"))
}

fn phase() -> Phase {
    STEERING.phase.get()
}

/// Whether the triple is what decides who runs.
fn active() -> bool {
    watching() && !plan::following() && !matches!(phase(), Phase::Reached | Phase::Over)
}

/// A thread that may be one of those recorded.
pub fn created(thread: &Thread) {
    if watching() {
        for (target, number) in targets().iter().zip(&STEERING.numbers) {
            if thread.path().bytes() == target.path {
                number.set(thread.number.get());
            }
        }
    }
}

/// The running thread is about to make an access, or to do something else. The lock is held.
pub fn before(thread: &'static Thread, access: Option<&Access>) -> Next {
    let next = match access {
        Some(access) if watching() => about(thread, access),
        _ => Next::Go,
    };
    if matches!(next, Next::Go) && active() && phase() == Phase::First && is_first(thread) {
        plan::end_turn_after(thread, 1); // by single steps
    }
    thread.turn.held.set(matches!(next, Next::Hold));
    next
}

fn about(thread: &'static Thread, access: &Access) -> Next {
    if matches!(phase(), Phase::Reached | Phase::Over) {
        return Next::Go;
    }
    let [first, remote, second] = targets();
    let is = [0, 1].map(|role| STEERING.numbers[role].get() == thread.number.get());
    let fits = [is[0] && first.fits(access), is[1] && remote.fits(access)];
    if plan::following() {
        leave_where_another(thread, access, fits);
    }
    let next = if plan::following() {
        as_planned(thread, access)
    } else {
        match phase() {
            Phase::Before => before_first(thread, access, fits),
            Phase::First => before_remote(thread, access, [fits[0], remote.fits(access), second.fits(access)]),
            _ => before_second(thread, access, [fits[0], second.fits(access)]),
        }
    };
    if matches!(next, Next::Go) {
        for (visits, fits) in STEERING.visits.iter().zip(fits) {
            visits.set(visits.get() + u64::from(fits));
        }
    }
    next
}

/// Leaves the schedule where first, remote or second are elsewhere in the thread than it says.
fn leave_where_another(thread: &'static Thread, access: &Access, fits: [bool; 2]) {
    let names = ["first", "remote", "second"];
    for (role, target) in targets().into_iter().enumerate() {
        let number = STEERING.numbers[if role == 1 { 1 } else { 0 }].get();
        let Some(at) = target.at.filter(|_| number == thread.number.get()) else { continue };
        let here = thread.count();
        if here == at && !target.fits(access) {
            return replay::leave(format_args!("stands at another access than {}", names[role]));
        }
        let early = here < at && role < 2 && fits[role] && target.exact && STEERING.visits[role].get() == target.times;
        if early {
            return replay::leave(format_args!("comes to {} at its event {here}, not {at}", names[role]));
        }
    }
}

/// An access of a program that follows the schedule.
fn as_planned(thread: &'static Thread, access: &Access) -> Next {
    let role = match phase() {
        Phase::Before => 0,
        Phase::First => 1,
        _ => 2,
    };
    let target = targets()[role];
    let number = STEERING.numbers[if role == 1 { 1 } else { 0 }].get();
    if number != thread.number.get() || target.at != Some(thread.count()) {
        return Next::Go;
    }
    if !overlaps(role, access) {
        replay::leave(format_args!("accesses other memory than the access of the triple before"));
        return Next::Go;
    }
    if role == 1 && stops() {
        return Next::Stop;
    }
    see(role, thread, access);
    Next::Go
}

/// Whether an access is of the memory of those of the triple before.
fn overlaps(role: usize, access: &Access) -> bool {
    let start = mappings::canonical(access.address);
    STEERING.seen[..role].iter().filter_map(Cell::get).all(|seen| {
        start < seen.address.saturating_add(seen.bytes) && seen.address < start.saturating_add(access.bytes)
    })
}

fn is_first(thread: &Thread) -> bool {
    STEERING.seen[0].get().is_some_and(|seen| seen.thread.number.get() == thread.number.get())
}

fn stops() -> bool {
    STOPS.swap(false, Relaxed)
}

/// An access of the triple happens.
fn see(role: usize, thread: &'static Thread, access: &Access) {
    let address = mappings::canonical(access.address);
    let seen = Seen { thread, at: thread.count(), address, bytes: access.bytes };
    STEERING.seen[role].set(Some(seen));
    STEERING.seen[role + 1..].iter().for_each(|later| later.set(None));
    STEERING.phase.set([Phase::First, Phase::Remote, Phase::Reached][role]);
    STEERING.awaited_before.set(STEERING.awaited.replace(0));
    if role == 2 {
        say_reached();
    } else if !plan::following() {
        plan::end_turn_after(thread, 1);
    }
}

/// First has to happen; who is about to make the remote access waits for it.
fn before_first(thread: &'static Thread, access: &Access, fits: [bool; 2]) -> Next {
    let [first, remote, _] = targets();
    let [there, remotely] = STEERING.visits.each_ref().map(Cell::get);
    if fits[0] && there >= first.times {
        see(0, thread, access);
    } else if fits[1] && remotely >= remote.times && !take_permission(thread) {
        return Next::Hold;
    }
    Next::Go
}

/// The thread of first waits; the others run until one makes the remote access.
fn before_remote(thread: &'static Thread, access: &Access, [first, remote, second]: [bool; 3]) -> Next {
    let own = is_first(thread);
    if own && second && overlaps(1, access) {
        if !take_permission(thread) {
            return Next::Hold;
        }
        STEERING.missed.set(STEERING.missed.get() + 1);
        STEERING.phase.set(Phase::Before);
    } else if own && first {
        see(0, thread, access);
    } else if !own && remote && overlaps(1, access) {
        if stops() {
            return Next::Stop;
        }
        see(1, thread, access);
    }
    Next::Go
}

/// Second has to happen.
fn before_second(thread: &'static Thread, access: &Access, [first, second]: [bool; 2]) -> Next {
    if is_first(thread) && second && overlaps(2, access) {
        see(2, thread, access);
    } else if is_first(thread) && first {
        see(0, thread, access);
    }
    Next::Go
}

fn take_permission(thread: &Thread) -> bool {
    let permitted = STEERING.permitted.get() == thread.number.get();
    if permitted {
        STEERING.permitted.set(0);
    }
    permitted
}

/// The access that the thread has just made turned out to be a compare-and-swap that failed: it wrote nothing.
#[cold]
pub fn failed(thread: &'static Thread, at: u64) {
    LOCK.lock();
    for (role, before) in [Phase::Before, Phase::First, Phase::Remote].into_iter().enumerate() {
        let is_it = |seen: Seen| seen.at == at && seen.thread.number.get() == thread.number.get();
        if targets()[role].writes() && STEERING.seen[role].get().is_some_and(is_it) {
            STEERING.seen[role].set(None);
            STEERING.phase.set(before);
            STEERING.awaited.set(STEERING.awaited_before.get()); // nothing has happened
            if plan::following() {
                replay::leave(format_args!("wrote nothing: its compare-and-swap failed"));
            }
        }
    }
    LOCK.unlock();
}

/// A transaction that the program has marked ends: what first began is no triple any more.
pub fn transaction_ends(thread: &'static Thread) {
    if !watching() {
        return;
    }
    LOCK.lock();
    if active() && is_first(thread) && matches!(phase(), Phase::First | Phase::Remote) {
        STEERING.phase.set(Phase::Before);
    }
    LOCK.unlock();
}

/// Who runs, as long as something is steered; nothing where that makes no difference.
pub fn choose() -> Option<Choice> {
    if !active() {
        return None;
    }
    count_last_turn();
    let most = MOST.saturating_add(plan::longest().saturating_mul(MOST_FOR_EACH));
    if STEERING.given.get() > most {
        give_up(format_args!("{most} events after the departure it had not happened"));
        return None;
    }
    match phase() {
        Phase::Before => to_first(),
        Phase::First => to_remote(),
        _ => to_second(),
    }
}

fn can_run(thread: &Thread) -> bool {
    ready(thread) && !thread.turn.held.get()
}

/// Whether it should go on as the schedule says: it comes after the others where it waited in vain for what they are to do.
fn can_go_on(thread: &Thread) -> bool {
    can_run(thread) && !thread.turn.is_late.get()
}

/// A thread waited for so many nanoseconds, up to its limit: others have not done without the one that is held for as long.
pub fn waited(nanoseconds: i64) {
    LOCK.lock();
    if active() {
        let records = nanoseconds.unsigned_abs() / NANOSECONDS_FOR_EACH;
        STEERING.given.set(STEERING.given.get() + records);
        STEERING.awaited.set(STEERING.awaited.get() + records);
        PATIENCE.store(PATIENCE.load(Relaxed).saturating_sub(ticks(nanoseconds)), Relaxed);
    }
    LOCK.unlock();
}

/// How many ticks of the watchdog last so many nanoseconds.
fn ticks(nanoseconds: i64) -> u64 {
    nanoseconds.unsigned_abs() / limits::TICK.unsigned_abs()
}

/// How many ticks of the watchdog a moment is away.
fn ticks_to(at: Timespec) -> u64 {
    let left = at.since(sys::now(sys::CLOCK_MONOTONIC));
    ticks(nanoseconds(left).max(0))
}

/// Counts what the thread did that had the last turn.
fn count_last_turn() {
    let Some((thread, before)) = STEERING.turn.take() else { return };
    if !rounds::look(thread).was_so() {
        goes_on(thread);
    }
    let records = thread.count() - before + 1; // a turn without a record counts, too
    STEERING.given.set(STEERING.given.get() + records);
    let awaited = if phase() == Phase::First && is_first(thread) { 0 } else { records };
    STEERING.awaited.set(STEERING.awaited.get() + awaited);
}

fn give(thread: &'static Thread, records: u64) -> Option<Choice> {
    STEERING.turn.set(Some((thread, thread.count())));
    Some(Choice::Run(thread, thread.count() + records))
}

/// The same, but a short turn for a thread that only repeats what it does.
fn give_long(thread: &'static Thread) -> Option<Choice> {
    give(thread, if thread.turn.repeating.was_so() { SHORT } else { LONG })
}

/// Whether those that can run and are wanted all repeat what they do, there are some, and no other comes by itself.
fn all_repeat(wanted: impl Fn(&Thread) -> bool) -> bool {
    let mut able = threads::all().filter(|thread| can_run(thread) && wanted(thread)).peekable();
    able.peek().is_some() && able.all(|thread| thread.turn.repeating.is_so()) && !threads::all().any(may_come)
}

/// Whether a thread may come out of the kernel, or out of a wait with a limit.
fn may_come(thread: &Thread) -> bool {
    let turn = &thread.turn;
    let ends_soon = || turn.deadline.get().is_some_and(|at| !limits::is_far(at));
    match turn.state.get() {
        State::Outside => !stuck::waits_for_program(thread),
        State::Blocked => ends_soon(),
        State::Ready | State::Done => false,
    }
}

/// A thread goes on for which others may wait.
fn goes_on(thread: &Thread) {
    let others = threads::all().filter(|other| other.number.get() != thread.number.get());
    others.for_each(|other| {
        other.turn.repeating.other_went_on();
        other.turn.is_late.set(false);
    });
}

/// One of the threads that can run and are wanted, each in turn.
fn next_of(wanted: impl Fn(&Thread) -> bool) -> Option<&'static Thread> {
    let last = STEERING.last.get();
    let fits = |thread: &&'static Thread| can_run(thread) && wanted(thread);
    let after = threads::all().find(|thread| thread.number.get() > last && fits(thread));
    let next = after.or_else(|| threads::all().find(fits))?;
    STEERING.last.set(next.number.get());
    Some(next)
}

/// Counted records of others for which a held thread waits.
fn patience() -> u64 {
    AWAIT.saturating_add(plan::longest().saturating_mul(AWAIT_FOR_EACH)).min(AWAIT_AT_MOST)
}

fn to_first() -> Option<Choice> {
    let first = threads::by_number(STEERING.numbers[0].get());
    if first.is_some_and(|thread| thread.turn.state.get() == State::Done) {
        never_first();
        return None;
    }
    if let Some((thread, records)) = plan::preferred(&targets()[0], can_go_on) {
        return give(thread, records);
    }
    // The thread of remote comes last: held before its access, it may hold a lock that first needs. But first may wait for it, too.
    let remote = STEERING.numbers[1].get();
    let (out_of_patience, in_loops) =
        (STEERING.awaited.get() > patience(), all_repeat(|thread| thread.number.get() != remote));
    let is_late = out_of_patience || in_loops;
    let late = if is_late { held_at_last(!out_of_patience) } else { None };
    if late.is_some() && out_of_patience {
        STEERING.awaited.set(patience() - AWAIT_AGAIN);
    }
    let last = if is_late { 0 } else { remote };
    late.or_else(|| onwards(first, last)).or_else(|| held_at_last(true))
}

/// The thread goes on; others take turns, as it may wait for them in a loop, but the one of the number `last` only where it must.
fn onwards(thread: Option<&'static Thread>, last: u64) -> Option<Choice> {
    let own = thread.filter(|thread| can_run(thread));
    let is_other = |other: &Thread| thread.is_none_or(|thread| thread.number.get() != other.number.get());
    let others_next = STEERING.others_next.replace(!STEERING.others_next.get());
    if let Some(own) = own.filter(|_| !others_next) {
        return give_long(own);
    }
    let other = next_of(|other| is_other(other) && other.number.get() != last);
    if let Some(other) = other.or_else(|| if own.is_none() { next_of(is_other) } else { None }) {
        return give(other, SHORT);
    }
    give_long(own?)
}

fn to_remote() -> Option<Choice> {
    let first = STEERING.seen[0].get()?.thread;
    let number = first.number.get();
    let is_other = |thread: &Thread| thread.number.get() != number;
    threads::all().filter(|thread| is_other(thread)).for_each(|thread| thread.turn.held.set(false));
    if first.turn.state.get() == State::Done {
        give_up(format_args!("thread {} ended before it came to second", shown(first).as_str()));
        return None;
    }
    if ready(first) && all_repeat(is_other) {
        if !can_run(first) {
            return held_at_last(true);
        }
        goes_on(first);
        return give(first, 1);
    }
    let is_patient = STEERING.awaited.get() < patience();
    if is_patient {
        let preferred = plan::preferred(&targets()[1], |thread| can_go_on(thread) && is_other(thread));
        let remote = threads::by_number(STEERING.numbers[1].get()).filter(|thread| is_other(thread));
        let others_next = STEERING.others_next.replace(!STEERING.others_next.get());
        let remote = remote.filter(|thread| can_run(thread) && !others_next);
        if let Some((other, records)) = preferred {
            return give(other, records);
        }
        if let Some(other) = remote.or_else(|| next_of(is_other)) {
            return give_long(other);
        }
    } else {
        STEERING.awaited.set(patience() - AWAIT_AGAIN);
    }
    if can_run(first) {
        goes_on(first);
        return give(first, 1);
    }
    held_at_last(is_patient)
}

fn to_second() -> Option<Choice> {
    let first = STEERING.seen[0].get()?.thread;
    threads::all().for_each(|thread| thread.turn.held.set(false));
    if first.turn.state.get() == State::Done {
        give_up(format_args!("thread {} ended before it came to second", shown(first).as_str()));
        return None;
    }
    onwards(Some(first), 0)
}

/// Nobody can run but those who are held: one goes past the access, unless others are still waited for, and a thread may come out of the
/// kernel or out of a wait with a limit.
fn held_at_last(is_patient: bool) -> Option<Choice> {
    let held = threads::all().find(|thread| ready(thread) && thread.turn.held.get())?;
    if is_patient {
        let stands = |thread: &Thread, state: State| thread.turn.state.get() == state;
        let comes_by_itself = |thread: &Thread| !thread.turn.listens.get() && !stuck::waits_for_program(thread);
        let is_outside = threads::all().any(|thread| stands(thread, State::Outside) && comes_by_itself(thread));
        let patience = PATIENCE.load(Relaxed);
        let comes_soon = |at| !is_outside && ticks_to(at) <= patience;
        let comes = |thread: &&Thread| {
            let turn = &thread.turn;
            stands(thread, State::Blocked) && (turn.expired.get() || turn.deadline.get().is_some_and(comes_soon))
        };
        if let Some(late) = earliest(threads::all().filter(comes)) {
            STEERING.turn.set(Some((late, late.count())));
            return Some(give_up_late(late, SHORT));
        }
        if is_outside && patience > 0 {
            return Some(Choice::Wait);
        }
    }
    STEERING.permitted.set(held.number.get());
    held.turn.held.set(false);
    goes_on(held);
    give(held, SHORT)
}

/// Every tick of the watchdog in which no thread has the turn: whether somebody should get it.
pub fn nobody_runs() -> bool {
    active() && PATIENCE.fetch_update(Relaxed, Relaxed, |ticks| ticks.checked_sub(1)) == Ok(1)
}

/// The program ends.
pub fn finish() {
    if !watching() {
        return;
    }
    LOCK.lock();
    match phase() {
        Phase::Reached | Phase::Over => {}
        Phase::Before => never_first(),
        Phase::First => {
            give_up(format_args!("after first no other thread made the remote access before the program ended"))
        }
        Phase::Remote => give_up(format_args!("after remote the program ended before second")),
    }
    LOCK.unlock();
}

fn never_first() {
    let [first, ..] = targets();
    let path = core::str::from_utf8(first.path).unwrap_or("?");
    let (missed, there) = (STEERING.missed.get(), STEERING.visits[0].get());
    match (missed, there) {
        (1.., _) => give_up(format_args!(
            "thread {path} stood before second{}, and no other thread could make the remote access meanwhile",
            Times(missed)
        )),
        (0, 0) => give_up(format_args!("thread {path} never came to the place of first")),
        (0, _) => give_up(format_args!(
            "thread {path} came to the place of first{}; the triple begins with time {}",
            Times(there),
            first.times + 1
        )),
    }
}

fn give_up(why: Arguments) {
    STEERING.phase.set(Phase::Over);
    write(format_args!("missed {why}\n"));
}

fn say_reached() {
    let [first, remote, second] = STEERING.seen.each_ref().map(Cell::get);
    let (Some(first), Some(remote), Some(second)) = (first, remote, second) else { return };
    let paths = [first, remote, second].map(|seen| shown(seen.thread));
    let [one, two, three] = paths.each_ref().map(Shown::as_str);
    write(format_args!("reached {one} {} {two} {} {three} {}\n", first.at, remote.at, second.at));
}

/// ` 3 times`, but nothing for one time.
struct Times(u64);

impl core::fmt::Display for Times {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if self.0 == 1 { Ok(()) } else { write!(f, " {} times", self.0) }
    }
}

/// The path of a thread, as text.
struct Shown(Text<256>);

impl Shown {
    fn as_str(&self) -> &str {
        core::str::from_utf8(self.0.bytes()).unwrap_or("?")
    }
}

fn shown(thread: &Thread) -> Shown {
    Shown(thread.path())
}

/// What became of the triple, for those who look at the folder.
fn write(arguments: Arguments) {
    mode::write_file(b"/triple\0", arguments);
}

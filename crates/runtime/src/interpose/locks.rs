//! Locks that the program builds itself, of which the instrumenter knows the functions: around each it calls [`enter`] and
//! [`leave`].
//!
//! The program's own code runs in between, with nothing recorded. This module knows which thread holds the lock. A thread that would have
//! to wait waits here, before it comes to the program's own waiting. So a lock is one step of the schedule however often its code reads its
//! words. A lock that can be upgraded has a second one, its *gate*: each thread that writes or may come to write holds it, so that no other
//! thread writes between a release and an acquire that are one operation of the program's.

use super::cond;
use super::in_lock::InLock;
use super::{interpose, tracked};
use crate::controller;
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::lock_calls::{Action, GATE, Hold, LockCall, OURS, as_recorded};
use crate::log;
use crate::mode;
use crate::record::{AFTER_WRITERS, Kind, WOKEN_BY_TIMEOUT, tried_if};
use crate::sys::{self, CLOCK_MONOTONIC, Deadline, EBUSY, EDEADLK, ETIMEDOUT, Timespec};
use crate::threads::{self, Thread};
use crate::waiting::{self, Bucket, Object, Request, Waiter};

/// What [`enter`] answers: the function's own code is to be run.
const GO_ON: u64 = 1;
/// It failed already, for lack of time.
const FAILED: u64 = 0;
/// Not one of them: the program's own code is to be run after all.
const NOT_OURS: u64 = 2;
/// How often a try-lock looks whether another thread has finished taking the lock.
const LOOKS: u32 = 1000;
const NANOSECONDS: u32 = 1_000_000_000;

impl InLock {
    fn start(&self, call: Call, frame: usize, nested: bool, locked: bool) {
        self.depth.set(1);
        self.what.set(call.what.code());
        self.lock.set(call.lock);
        self.frame.set(frame);
        self.nested.set(nested);
        self.locked.set(locked);
    }
}

/// Whether any lock of the program's is upgraded or downgraded: `__foretrace_lock_changes` is defined by the files that do so.
fn any_changes() -> bool {
    let address: usize;
    // SAFETY: the address of a symbol, null if no thread has it defines it.
    unsafe {
        core::arch::asm!(
            ".weak __foretrace_lock_changes",
            "mov {0}, qword ptr [rip + __foretrace_lock_changes@GOTPCREL]",
            out(reg) address,
            options(nostack, preserves_flags, readonly, pure)
        );
    }
    address != 0
}

/// Who holds a lock. Kept in the words of its object, under the lock of its bucket.
#[derive(Clone, Copy, Default)]
struct State {
    /// The number of the thread that holds it alone, 0 for none.
    holder: u32,
    /// How often.
    depth: u32,
    /// How many share it.
    shares: u32,
    /// The thread that holds it upgradable.
    upgradable: u32,
    /// A thread has it, but its code is still about to take it.
    being_taken: bool,
}

impl State {
    fn of_object(object: &Object) -> State {
        let [alone, shared, flags] = object.words.get();
        State {
            holder: (alone >> 32) as u32,
            depth: alone as u32,
            shares: shared as u32,
            upgradable: (shared >> 32) as u32,
            being_taken: flags != 0,
        }
    }

    fn keep(self, bucket: &Bucket, key: usize) {
        if self.holder == 0 && self.shares == 0 && self.upgradable == 0 && !self.being_taken {
            return bucket.forget(key);
        }
        bucket.object_or_new(key).words.set([
            u64::from(self.holder) << 32 | u64::from(self.depth),
            u64::from(self.upgradable) << 32 | u64::from(self.shares),
            u64::from(self.being_taken),
        ]);
    }

    fn is_free_for(self, hold: Hold) -> bool {
        self.holder == 0
            && match hold {
                Hold::Shared => true,
                Hold::Upgradable => self.upgradable == 0,
                Hold::Mutex | Hold::Alone | Hold::Either => self.upgradable == 0 && self.shares == 0,
            }
    }

    fn take(&mut self, hold: Hold, thread: u32) {
        match hold {
            Hold::Shared => self.shares += 1,
            Hold::Upgradable => self.upgradable = thread,
            Hold::Mutex | Hold::Alone | Hold::Either => (self.holder, self.depth) = (thread, 1),
        }
    }

    fn give(&mut self, hold: Hold) {
        match hold {
            Hold::Shared => self.shares = self.shares.saturating_sub(1),
            Hold::Upgradable => self.upgradable = 0,
            Hold::Mutex | Hold::Alone | Hold::Either => (self.holder, self.depth) = (0, 0),
        }
    }
}

/// A call of a lock's function: by whom, what, of which lock, from where.
#[derive(Clone, Copy)]
struct Call {
    thread: &'static Thread,
    what: LockCall,
    lock: usize,
    /// [`GATE`] if it is the lock's gate that this is about.
    gate: usize,
    place: usize,
}

impl Call {
    fn key(self) -> usize {
        self.lock | OURS | self.gate
    }

    fn number(self) -> u32 {
        self.thread.number.get() as u32
    }

    fn state(self, bucket: &Bucket) -> State {
        bucket.object(self.key()).map(State::of_object).unwrap_or_default()
    }

    fn record(self, kind: Kind) {
        log::sync(self.thread, kind, self.place, self.object(), self.tried(kind));
    }

    /// Records of one step: no other event has a place between them.
    fn record_together<const N: usize>(self, records: [(Call, Kind); N]) {
        let _step = log::together(self.thread, N as u64);
        records.into_iter().for_each(|(call, kind)| call.record(kind));
    }

    /// The mark of records that could have been a failure.
    fn tried(self, kind: Kind) -> u64 {
        let takes = matches!(kind, Kind::Acquire | Kind::WriteLock | Kind::ReadLock);
        let reads_after = kind == Kind::ReadLock && self.what.writers_first;
        tried_if(takes && matches!(self.what.action, Action::Try | Action::TryUpgrade | Action::Ask))
            | if reads_after { AFTER_WRITERS } else { 0 }
    }

    /// What records call it.
    fn object(self) -> u64 {
        as_recorded(self.key()) as u64
    }

    /// The lock's gate, where it has one.
    fn gate(self) -> Option<Call> {
        let has = self.what.gated && matches!(self.what.hold, Hold::Alone | Hold::Upgradable) && any_changes();
        has.then_some(Call { what: LockCall { hold: Hold::Mutex, again: false, ..self.what }, gate: GATE, ..self })
    }

    /// Whether another thread has the gate; the bucket is locked.
    fn gate_is_shut(self, bucket: &Bucket) -> bool {
        self.gate().is_some_and(|gate| !gate.state(bucket).is_free_for(Hold::Mutex))
    }

    fn taking(self) -> Kind {
        match self.what.hold {
            Hold::Mutex => Kind::Acquire,
            Hold::Alone | Hold::Either => Kind::WriteLock,
            Hold::Shared | Hold::Upgradable => Kind::ReadLock,
        }
    }

    fn giving(self) -> Kind {
        match self.what.hold {
            Hold::Mutex => Kind::Release,
            Hold::Alone | Hold::Either => Kind::WriteUnlock,
            Hold::Shared | Hold::Upgradable => Kind::ReadUnlock,
        }
    }

    fn taken(self) {
        self.record(self.taking());
    }

    fn given(self) {
        self.record(self.giving());
    }

    /// The program's code comes next.
    fn go_on(self, frame: usize, nested: bool, locked: bool) -> u64 {
        self.thread.in_lock.start(self, frame, nested, locked);
        self.thread.hide();
        GO_ON
    }

    /// Waits until it is the thread's, and makes it so. False if time is up before.
    fn wait(self, deadline: Option<Deadline>, is_free: impl Fn(State) -> bool, take: impl Fn(&mut State)) -> bool {
        let LockCall { action, hold, writers_first, .. } = self.what;
        let reads = writers_first && action == Action::Take && matches!(hold, Hold::Shared | Hold::Upgradable);
        let comes_first = writers_first && hold == Hold::Alone;
        let attempt = || {
            let bucket = waiting::locked(self.key());
            let mut state = self.state(bucket);
            if !is_free(state) || reads && bucket.is_bespoken(self.key()) {
                return EBUSY;
            }
            take(&mut state);
            state.keep(bucket, self.key());
            0
        };
        let request =
            Request { object: self.key(), deadline, interruptible: false, comes_first, attempt, success: || {} };
        waiting::acquire(self.thread, request) == 0
    }

    fn change(self, change: impl FnOnce(&mut State)) {
        let bucket = waiting::lock(self.key());
        self.change_locked(bucket, change);
        bucket.unlock();
    }

    /// Changes who holds it, and lets those look who wait for it.
    fn change_locked(self, bucket: &Bucket, change: impl FnOnce(&mut State)) {
        let mut state = self.state(bucket);
        change(&mut state);
        state.keep(bucket, self.key());
        bucket.release_all(self.key(), 0);
    }

    fn take(self, deadline: Option<Deadline>, frame: usize) -> u64 {
        let hold = self.what.hold;
        if self.what.again && hold != Hold::Shared && self.holds_again() {
            return self.go_on(frame, true, false);
        }
        if let Some(gate) = self.gate() {
            if !gate.wait(
                deadline,
                |state| state.is_free_for(Hold::Mutex),
                |state| state.take(Hold::Mutex, self.number()),
            ) {
                return self.out_of_time();
            }
            gate.taken();
            self.thread.begin();
        }
        let take = |state: &mut State| {
            state.take(hold, self.number());
            state.being_taken = true;
        };
        if !self.wait(deadline, |state| state.is_free_for(hold) && !state.being_taken, take) {
            if let Some(gate) = self.gate() {
                gate.given();
                gate.change(|state| state.give(Hold::Mutex));
            }
            return self.out_of_time();
        }
        self.go_on(frame, false, false)
    }

    fn out_of_time(self) -> u64 {
        log::sync(self.thread, Kind::Busy, self.place, self.lock as u64, ETIMEDOUT as u64);
        self.thread.end();
        FAILED
    }

    /// Whether the thread holds it already, and does so once more now.
    fn holds_again(self) -> bool {
        let bucket = waiting::lock(self.key());
        let mut state = self.state(bucket);
        let own = state.holder == self.number();
        if own {
            state.depth += 1;
            state.keep(bucket, self.key());
        }
        bucket.unlock();
        own
    }

    /// Before code that waits for no other thread: with the bucket locked, so that code and record are one step. Whoever is just taking the lock
    /// comes first.
    fn at_once(self, frame: usize) -> u64 {
        for _ in 0..LOOKS {
            let bucket = waiting::lock(self.key());
            if self.what.action == Action::Try && self.gate_is_shut(bucket) {
                let gate = self.gate().map_or(self.object(), Call::object);
                log::sync(self.thread, Kind::Busy, self.place, gate, 0);
                bucket.unlock();
                self.thread.end();
                return FAILED;
            }
            if !self.state(bucket).being_taken {
                return self.go_on(frame, false, true);
            }
            bucket.unlock();
            sys::sleep(1000);
        }
        waiting::lock(self.key());
        self.go_on(frame, false, true)
    }

    fn give(mut self, frame: usize) -> u64 {
        let bucket = waiting::lock(self.key());
        let mut state = self.state(bucket);
        let own = state.holder == self.number();
        if self.what.hold == Hold::Either {
            self.what.hold = if own { Hold::Alone } else { Hold::Shared };
        }
        if own && state.depth > 1 {
            state.depth -= 1;
            state.keep(bucket, self.key());
            return self.go_on(frame, true, true);
        }
        match self.gate() {
            Some(gate) => self.record_together([(self, self.giving()), (gate, gate.giving())]),
            None => self.given(),
        }
        self.go_on(frame, false, true)
    }

    fn upgrade(self, frame: usize) -> u64 {
        self.record(Kind::ReadUnlock);
        self.thread.begin();
        let take = |state: &mut State| {
            state.give(Hold::Upgradable);
            state.take(Hold::Alone, self.number());
            state.being_taken = true;
        };
        self.wait(None, |state| state.holder == 0 && state.shares == 0, take);
        self.go_on(frame, false, false)
    }

    fn enter(self, deadline: Option<Deadline>, frame: usize) -> u64 {
        self.thread.begin();
        match self.what.action {
            Action::Take => self.take(deadline, frame),
            Action::Give => self.give(frame),
            Action::Upgrade => self.upgrade(frame),
            Action::Try
            | Action::Ask
            | Action::TryUpgrade
            | Action::Downgrade
            | Action::DowngradeUpgradable
            | Action::DowngradeToUpgradable => self.at_once(frame),
        }
    }

    /// The program's code is done. The thread may have lost its turn in it.
    fn leave(self, succeeded: bool) {
        let inside = &self.thread.in_lock;
        self.thread.show();
        if inside.locked.get() {
            let bucket = waiting::locked(self.key());
            self.done_at_once(bucket, succeeded);
            bucket.unlock();
        } else if !inside.nested.get() {
            self.thread.begin();
            if self.what.action == Action::Upgrade {
                self.record(Kind::WriteLock)
            } else {
                self.taken()
            }
            self.change(|state| state.being_taken = false);
        }
        self.thread.end();
    }

    fn done_at_once(mut self, bucket: &Bucket, succeeded: bool) {
        let (hold, number) = (self.what.hold, self.number());
        let before = self.state(bucket);
        match self.what.action {
            Action::Try if succeeded && before.holder == number => {
                self.change_locked(bucket, |state| state.depth += 1);
            }
            Action::Try if succeeded => {
                if let Some(gate) = self.gate() {
                    self.record_together([(gate, gate.taking()), (self, self.taking())]);
                    gate.change_locked(bucket, |state| state.take(Hold::Mutex, number));
                } else {
                    self.taken();
                }
                self.change_locked(bucket, |state| state.take(hold, number));
            }
            Action::Ask if !succeeded => {
                self.record_together([(self, self.taking()), (self, self.giving())]);
            }
            Action::TryUpgrade if succeeded => {
                self.record_together([(self, Kind::ReadUnlock), (self, Kind::WriteLock)]);
                self.change_locked(bucket, |state| {
                    state.give(Hold::Upgradable);
                    state.take(Hold::Alone, number);
                });
            }
            Action::Try | Action::Ask | Action::TryUpgrade => {
                let error = if before.holder == number { EDEADLK } else { 0 };
                log::sync(self.thread, Kind::Busy, self.place, self.object(), error as u64);
            }
            Action::Give if self.thread.in_lock.nested.get() => {}
            Action::Give => {
                if hold == Hold::Either {
                    self.what.hold = if before.holder == number { Hold::Alone } else { Hold::Shared };
                }
                self.change_locked(bucket, |state| state.give(self.what.hold));
                self.open_gate(bucket);
            }
            Action::Downgrade | Action::DowngradeToUpgradable => {
                let stays = self.what.action == Action::DowngradeToUpgradable;
                let (writes, reads) = ((self, Kind::WriteUnlock), (self, Kind::ReadLock));
                self.what.hold = Hold::Alone;
                match self.gate().filter(|_| !stays) {
                    Some(gate) => {
                        self.record_together([writes, reads, (gate, gate.giving())]);
                        self.open_gate(bucket);
                    }
                    None => self.record_together([writes, reads]),
                }
                self.change_locked(bucket, |state| {
                    state.give(Hold::Alone);
                    state.take(if stays { Hold::Upgradable } else { Hold::Shared }, number);
                });
            }
            Action::DowngradeUpgradable => {
                self.change_locked(bucket, |state| {
                    state.give(Hold::Upgradable);
                    state.take(Hold::Shared, number);
                });
                self.what.hold = Hold::Upgradable;
                if let Some(gate) = self.gate() {
                    gate.given();
                }
                self.open_gate(bucket);
            }
            Action::Take | Action::Upgrade => {}
        }
    }

    /// Gives the gate back, if there is one; the record of that is the caller's.
    fn open_gate(self, bucket: &Bucket) {
        if let Some(gate) = self.gate() {
            gate.change_locked(bucket, |state| state.give(Hold::Mutex));
        }
    }

    /// An exception has left the program's code: it is not known whether the thread has the lock, and it is as if it had not tried.
    fn abandon(self) {
        let inside = &self.thread.in_lock;
        self.thread.show();
        if inside.locked.get() {
            waiting::locked(self.key()).unlock();
        } else if !inside.nested.get() {
            self.change(|state| {
                state.being_taken = false;
                state.give(self.what.hold);
            });
        }
        self.thread.end();
    }
}

fn call(what: u64, lock: usize, frame: usize, place: usize, deadline: Option<Deadline>) -> u64 {
    let Some(what) = LockCall::from_code(what) else { return GO_ON };
    if mode::get() == mode::OFF {
        return GO_ON;
    }
    if let Some(thread) = threads::known()
        && thread.in_lock.is_inside()
    {
        thread.in_lock.depth.set(thread.in_lock.depth.get() + 1);
        return GO_ON;
    }
    match tracked() {
        Some(thread) => Call { thread, what, lock, gate: 0, place }.enter(deadline, frame),
        None => GO_ON,
    }
}

/// Before a function of a lock, which was called from a frame at this address; whether its code is to be run.
extern "C" fn enter(what: u64, lock: usize, frame: usize, place: usize) -> u64 {
    call(what, lock, frame, place, None)
}

/// The same of one that waits so long, or (`absolute`) until then, by the monotonic clock.
extern "C" fn enter_until(what: u64, lock: usize, seconds: u64, nanoseconds: u32, absolute: u64, place: usize) -> u64 {
    call(what, lock, usize::MAX, place, deadline(seconds, nanoseconds, absolute != 0))
}

/// None where it is too far away to be told.
fn deadline(seconds: u64, nanoseconds: u32, absolute: bool) -> Option<Deadline> {
    let seconds = i64::try_from(seconds).ok().filter(|seconds| *seconds < i64::MAX / 4 && nanoseconds < NANOSECONDS)?;
    let span = Timespec { seconds, nanoseconds: nanoseconds.into() };
    let at = if absolute { span } else { sys::now(CLOCK_MONOTONIC).plus(span) };
    Some(Deadline { clock: CLOCK_MONOTONIC, at })
}

/// After it.
extern "C" fn leave(what: u64, lock: usize, succeeded: u64, place: usize) {
    if mode::get() == mode::OFF {
        return;
    }
    let Some(thread) = threads::known().filter(|thread| thread.in_lock.is_inside()) else { return };
    let depth = thread.in_lock.depth.get() - 1;
    thread.in_lock.depth.set(depth);
    if depth == 0
        && let Some(what) = LockCall::from_code(what)
    {
        Call { thread, what, lock, gate: 0, place }.leave(succeeded != 0);
    }
}

/// An exception arrived in a frame whose callees are all below this address.
#[inline(always)]
pub fn unwound(stack: usize) {
    if let Some(thread) = threads::known()
        && thread.in_lock.is_inside()
        && thread.in_lock.frame.get() < stack
    {
        give_up(thread);
    }
}

#[cold]
#[inline(never)]
fn give_up(thread: &'static Thread) {
    thread.in_lock.depth.set(0);
    if let Some(what) = LockCall::from_code(thread.in_lock.what.get()) {
        Call { thread, what, lock: thread.in_lock.lock.get(), gate: 0, place: 0 }.abandon();
    }
}

const fn mutex(again: bool) -> LockCall {
    LockCall::new(Action::Take, Hold::Mutex, again)
}

/// Takes a lock that is nothing but an address.
pub fn take_for(thread: &'static Thread, lock: usize, place: usize, again: bool) {
    let call = Call { thread, what: mutex(again), lock, gate: 0, place };
    thread.begin();
    if !(again && call.holds_again()) {
        call.wait(None, |state| state.is_free_for(Hold::Mutex), |state| state.take(Hold::Mutex, call.number()));
        call.taken();
    }
    thread.end();
}

/// Tries that: how often the thread has it then, 0 if another one has it.
pub fn try_for(thread: &'static Thread, lock: usize, place: usize, again: bool) -> u32 {
    let what = LockCall { action: Action::Try, ..mutex(again) };
    let call = Call { thread, what, lock, gate: 0, place };
    thread.begin();
    let bucket = waiting::lock(call.key());
    let mut state = call.state(bucket);
    let own = state.holder == call.number();
    if own && again {
        state.depth += 1;
    } else if state.is_free_for(Hold::Mutex) {
        state.take(Hold::Mutex, call.number());
        call.taken();
    } else {
        let error = if own { EDEADLK } else { 0 };
        log::sync(thread, Kind::Busy, place, call.object(), error as u64);
    }
    let depth = if state.holder == call.number() && (again || !own) { state.depth } else { 0 };
    state.keep(bucket, call.key());
    bucket.unlock();
    thread.end();
    depth
}

/// Gives such a lock back.
pub fn give_back(thread: &'static Thread, lock: usize, place: usize) {
    let call = Call { thread, what: mutex(false), lock, gate: 0, place };
    thread.begin();
    let bucket = waiting::lock(call.key());
    let mut state = call.state(bucket);
    if state.depth > 1 {
        state.depth -= 1;
        state.keep(bucket, call.key());
    } else {
        call.given();
        call.change_locked(bucket, |state| state.give(Hold::Mutex));
    }
    bucket.unlock();
    thread.end();
}

/// The functions of a mutex that do what the program does to it.
type Real = extern "C" fn(usize);

/// A wait of a condition variable of the program's own, with the functions of its mutex. It lasts until that time, or for ever if the
/// nanoseconds are more than a second has. It gives 1 if it timed out.
#[unsafe(no_mangle)]
pub extern "C" fn __foretrace_condvar_wait(
    condition: usize,
    mutex: usize,
    seconds: u64,
    nanoseconds: u32,
    lock: Real,
    unlock: Real,
) -> u64 {
    let Some(thread) = tracked() else { return NOT_OURS };
    let what = LockCall::new(Action::Take, Hold::Mutex, false);
    let mutex = Call { thread, what, lock: mutex, gate: 0, place: 0 };
    controller::before_condition(thread);
    thread.begin();
    let both = waiting::lock_both(condition, mutex.key());
    log::sync(thread, Kind::Wait, 0, condition as u64, mutex.lock as u64);
    unrecorded(thread, unlock, mutex.lock);
    mutex.change_locked(both.of_other, |state| state.give(Hold::Mutex));
    let waiter = Waiter::new(thread, condition);
    both.of_one.push(&waiter);
    both.unlock();
    let deadline = deadline(seconds, nanoseconds, true);
    let outcome = waiting::wait_to_end(&waiter, deadline);
    let by = cond::outcome_of(&waiter, condition, outcome);
    thread.begin();
    let take = |state: &mut State| {
        state.take(Hold::Mutex, mutex.number());
        state.being_taken = true;
    };
    mutex.wait(None, |state| state.is_free_for(Hold::Mutex) && !state.being_taken, take);
    unrecorded(thread, lock, mutex.lock);
    cond::log_wake(thread, 0, condition, by, deadline);
    mutex.change(|state| state.being_taken = false);
    thread.end();
    u64::from(by == WOKEN_BY_TIMEOUT)
}

fn unrecorded(thread: &'static Thread, function: Real, object: usize) {
    thread.hide();
    function(object);
    thread.show();
}

/// Wakes one who waits for such a condition variable, or all: how many.
extern "C" fn condvar_notify(condition: usize, all: u64, place: usize) -> u64 {
    let Some(thread) = tracked() else { return u64::MAX };
    thread.begin();
    let bucket = waiting::lock(condition);
    let waiting = bucket.waiters(condition).count() as u64;
    let woken = if all != 0 { waiting } else { waiting.min(1) };
    if all != 0 {
        cond::release_all(thread, bucket, condition, place);
    } else {
        cond::release_one(thread, bucket, condition, place);
    }
    bucket.unlock();
    thread.end();
    woken
}

interpose! {
    __foretrace_lock_enter "rcx" => enter;
    __foretrace_lock_enter_until "r9" => enter_until;
    __foretrace_lock_leave "rcx" => leave;
    __foretrace_condvar_notify "rdx" => condvar_notify;
}

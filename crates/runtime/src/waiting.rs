//! The threads that wait for a synchronisation object, by its address, and the state of objects. While a program is recorded, the
//! runtime does the waiting itself: an operation takes effect and is logged in one step, under the lock of the object's bucket.

mod wait;
mod waiter;

pub use wait::Wait;
pub use waiter::Waiter;

use core::cell::Cell;
use core::ffi::c_int;
use core::sync::atomic::{
    AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use crate::controller;
use crate::hooks::occupied::Occupied;
use crate::interpose::real;
use crate::lock::Lock;
use crate::program_time;
use crate::sys::{self, Deadline, EBUSY, EINTR, ETIMEDOUT, PAGE};
use crate::threads::Thread;
use wait::{DISTURBED, WAITING};

/// Objects whose addresses fall together, and those who wait for them.
#[repr(align(64))]
pub struct Bucket {
    lock: Lock,
    waiters: Cell<*const Waiter>,
    objects: Cell<*const Object>,
    /// The last addresses that it was locked for, in turn.
    latest: [AtomicUsize; LATEST],
    next: AtomicUsize,
}

// SAFETY: the lock is held by whoever touches the lists.
unsafe impl Sync for Bucket {}

const BUCKETS: usize = 1024;
/// As many as leave a bucket in one line of the cache.
const LATEST: usize = 4;
static TABLE: [Bucket; BUCKETS] = [const {
    Bucket {
        lock: Lock::new(),
        waiters: Cell::new(core::ptr::null()),
        objects: Cell::new(core::ptr::null()),
        latest: [const { AtomicUsize::new(0) }; LATEST],
        next: AtomicUsize::new(0),
    }
}; BUCKETS];

fn index(key: usize) -> usize {
    (key >> 3 ^ key >> 13) % BUCKETS
}

/// Locks the bucket of an object.
pub fn lock(key: usize) -> &'static Bucket {
    let bucket = &TABLE[index(key)];
    bucket.lock.lock();
    if bucket.latest.iter().all(|latest| latest.load(Relaxed) != key) {
        let next = bucket.next.load(Relaxed);
        bucket.latest[next % LATEST].store(key, Relaxed);
        bucket.next.store(next + 1, Relaxed);
    }
    bucket
}

/// Whether an object was at this address of late.
pub fn was_object(address: usize) -> bool {
    TABLE[index(address)].latest.iter().any(|latest| latest.load(Relaxed) == address)
}

/// The bucket of an object, which the caller has locked.
pub fn locked(key: usize) -> &'static Bucket {
    &TABLE[index(key)]
}

/// Locks those of two objects, which may be one.
pub fn lock_both(one: usize, other: usize) -> Both {
    let (first, second) = (index(one).min(index(other)), index(one).max(index(other)));
    TABLE[first].lock.lock();
    if second != first {
        TABLE[second].lock.lock();
    }
    Both { of_one: &TABLE[index(one)], of_other: &TABLE[index(other)] }
}

/// Two locked buckets.
pub struct Both {
    pub of_one: &'static Bucket,
    pub of_other: &'static Bucket,
}

impl Both {
    pub fn unlock(self) {
        if !core::ptr::eq(self.of_one, self.of_other) {
            self.of_other.unlock();
        }
        self.of_one.unlock();
    }
}

/// How a wait ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Released,
    TimedOut,
    Interrupted,
    /// The thread is to be cancelled.
    Cancelled,
}

/// Whether the thread that asks was cancelled, and lets that happen.
pub fn to_be_cancelled(thread: &Thread) -> bool {
    const ENABLED: c_int = 0;
    const DISABLED: c_int = 1;
    if !thread.cancelled.load(SeqCst) {
        return false;
    }
    let mut state = DISABLED;
    real::pthread_setcancelstate(DISABLED, &mut state);
    real::pthread_setcancelstate(state, core::ptr::null_mut());
    state == ENABLED
}

/// Waits until somebody releases the waiter, with no bucket locked. Signal handlers run meanwhile.
pub fn wait(waiter: &Waiter, deadline: Option<Deadline>) -> Outcome {
    let thread = waiter.thread;
    let interruptions = thread.deferred.interruptions();
    loop {
        if waiter.is_cancellable && to_be_cancelled(thread) {
            return if waiter.is_released() { Outcome::Released } else { Outcome::Cancelled };
        }
        let _ = waiter.released.compare_exchange(DISTURBED, WAITING, SeqCst, SeqCst);
        let timed_out = if controller::controlled() {
            controller::block(thread, waiter, deadline)
        } else {
            thread.end();
            let timed_out = sys::futex_wait(&waiter.released, WAITING, deadline.map(program_time::real));
            thread.occupy();
            timed_out
        };
        if waiter.is_released() {
            return Outcome::Released;
        } else if timed_out {
            return Outcome::TimedOut;
        } else if thread.deferred.interruptions() != interruptions {
            return Outcome::Interrupted;
        }
    }
}

/// The same; signal handlers do not end it.
pub fn wait_to_end(waiter: &Waiter, deadline: Option<Deadline>) -> Outcome {
    loop {
        let outcome = wait(waiter, deadline);
        if outcome != Outcome::Interrupted {
            return outcome;
        }
    }
}

/// A thread is cancelled: if it waits where that counts, it looks.
pub fn disturb(thread: &Thread) {
    for bucket in &TABLE {
        bucket.lock.lock();
        let mut link = follow(&bucket.waiters);
        while let Some(waiter) = link {
            if waiter.is_cancellable && core::ptr::eq(waiter.thread, thread) {
                let _ = waiter.released.compare_exchange(WAITING, DISTURBED, SeqCst, SeqCst);
                sys::futex_wake(&raw const waiter.released, 1);
                controller::disturb(waiter.thread);
            }
            link = follow(&waiter.next);
        }
        bucket.unlock();
    }
}

/// Takes the waiters of a thread out that lie on its stack below this address, which it leaves behind.
pub fn forget_below(thread: &Thread, stack: usize) {
    for bucket in &TABLE {
        bucket.lock.lock();
        let mut link = follow(&bucket.waiters);
        while let Some(waiter) = link {
            link = follow(&waiter.next);
            if core::ptr::eq(waiter.thread, thread) && (core::ptr::from_ref(waiter) as usize) < stack {
                bucket.remove(waiter);
            }
        }
        bucket.unlock();
    }
}

impl Bucket {
    pub fn unlock(&self) {
        self.lock.unlock();
    }

    /// Puts a waiter last.
    pub fn push(&self, waiter: &Waiter) {
        let mut link = &self.waiters;
        while let Some(other) = follow(link) {
            link = &other.next;
        }
        link.set(waiter);
    }

    /// Whoever waits for an object, in order.
    pub fn waiters(&self, key: usize) -> impl Iterator<Item = &'static Waiter> {
        let mut link = follow(&self.waiters);
        core::iter::from_fn(move || {
            let waiter = link?;
            link = follow(&waiter.next);
            Some(waiter)
        })
        .filter(move |waiter| waiter.key() == key)
    }

    /// Takes a waiter out; whether it was there.
    pub fn remove(&self, waiter: &Waiter) -> bool {
        let mut link = &self.waiters;
        while let Some(other) = follow(link) {
            if core::ptr::eq(other, waiter) {
                link.set(waiter.next.get());
                return true;
            }
            link = &other.next;
        }
        false
    }

    /// Lets a waiter go.
    pub fn release(&self, waiter: &Waiter, by: u64) {
        self.remove(waiter);
        waiter.by.set(by);
        if controller::controlled() {
            return controller::unblock(waiter);
        }
        let word = &raw const waiter.released;
        waiter.set_released();
        sys::futex_wake(word, 1); // if it is gone by now this wakes nobody
    }

    /// Whether a thread waits for an object that others who come later have to leave to it.
    pub fn is_bespoken(&self, key: usize) -> bool {
        self.waiters(key).any(|waiter| waiter.comes_first)
    }

    /// Lets one go of those who will try again; all where the controller decides who is first.
    pub fn release_next(&self, key: usize) {
        if controller::controlled() {
            return self.release_all(key, 0);
        }
        if let Some(waiter) = self.waiters(key).next() {
            self.release(waiter, 0);
        }
    }

    /// Lets all go; how many.
    pub fn release_all(&self, key: usize, by: u64) {
        while let Some(waiter) = self.waiters(key).next() {
            self.release(waiter, by);
        }
    }

    /// What is kept of an object, if anything.
    pub fn object(&self, key: usize) -> Option<&'static Object> {
        let mut link = object(&self.objects);
        while let Some(found) = link {
            if found.key.get() == key {
                return Some(found);
            }
            link = object(&found.next);
        }
        None
    }

    /// The same; it is made if there is none.
    pub fn object_or_new(&self, key: usize) -> &'static Object {
        self.object(key).unwrap_or_else(|| {
            let new = spare();
            new.key.set(key);
            new.words.set([0; 3]);
            new.next.set(self.objects.get());
            self.objects.set(new);
            new
        })
    }

    /// Forgets an object.
    pub fn forget(&self, key: usize) {
        let mut link = &self.objects;
        while let Some(found) = object(link) {
            if found.key.get() == key {
                link.set(found.next.get());
                return give_back(found);
            }
            link = &found.next;
        }
    }
}

fn follow(link: &Cell<*const Waiter>) -> Option<&'static Waiter> {
    // SAFETY: waiters are taken out before their frames end.
    unsafe { link.get().as_ref() }
}

/// What is kept of an object.
pub struct Object {
    next: Cell<*const Object>,
    key: Cell<usize>,
    /// Whatever its kind needs.
    pub words: Cell<[u64; 3]>,
}

fn object(link: &Cell<*const Object>) -> Option<&'static Object> {
    // SAFETY: objects are never freed.
    unsafe { link.get().as_ref() }
}

/// Objects that are not in use.
struct Spare(Cell<*const Object>);

// SAFETY: touched under its lock alone.
unsafe impl Sync for Spare {}

static SPARE: Spare = Spare(Cell::new(core::ptr::null()));
static SPARE_LOCK: Lock = Lock::new();

fn spare() -> &'static Object {
    SPARE_LOCK.lock();
    if SPARE.0.get().is_null() {
        let Some(memory) = sys::map(PAGE) else { sys::die_by(sys::SIGABRT) };
        for index in 0..PAGE / size_of::<Object>() {
            let object = memory.cast::<Object>().wrapping_add(index);
            // SAFETY: all zeroes is a valid object, and this one is ours.
            unsafe { (*object).next.set(SPARE.0.get()) };
            SPARE.0.set(object);
        }
    }
    let taken = object(&SPARE.0).expect("some were made");
    SPARE.0.set(taken.next.get());
    SPARE_LOCK.unlock();
    taken
}

fn give_back(object: &'static Object) {
    SPARE_LOCK.lock();
    object.next.set(SPARE.0.get());
    SPARE.0.set(object);
    SPARE_LOCK.unlock();
}

/// What taking an object asks for.
pub struct Request<A, S> {
    pub object: usize,
    pub deadline: Option<Deadline>,
    /// A handler that does not restart calls ends the wait, and so does cancellation. If not, the object is a lock, which some thread holds.
    pub interruptible: bool,
    /// Some who come later leave the object to the thread as long as it waits.
    pub comes_first: bool,
    /// Tries; `EBUSY` means: wait.
    pub attempt: A,
    /// Records that it was taken.
    pub success: S,
}

/// Takes an object, waiting as long as it is busy. The thread is inside of a hook.
pub fn acquire(thread: &'static Thread, request: Request<impl Fn() -> c_int, impl Fn()>) -> c_int {
    let Request { object, deadline, interruptible, comes_first, attempt, success } = request;
    loop {
        let bucket = lock(object);
        let result = attempt();
        if result != EBUSY {
            if result == 0 {
                success();
            }
            bucket.unlock();
            return result;
        }
        let waiter = match interruptible {
            true => Waiter::cancellable(thread, object),
            false => Waiter::for_lock(thread, object, comes_first),
        };
        bucket.push(&waiter);
        bucket.unlock();
        let outcome = wait(&waiter, deadline);
        if outcome == Outcome::Released {
            continue;
        }
        let bucket = lock(object);
        bucket.remove(&waiter);
        let missed = !waiter.is_released();
        if missed && comes_first {
            bucket.release_all(object, 0);
        }
        bucket.unlock();
        match outcome {
            Outcome::TimedOut if missed => return ETIMEDOUT,
            Outcome::Interrupted | Outcome::Cancelled if missed && interruptible => return EINTR,
            _ => {}
        }
    }
}

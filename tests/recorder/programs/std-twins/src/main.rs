//! What Rust's standard library has to keep threads apart, each used rightly or (with a second argument) wrongly: then something
//! happens to `DATA` between two accesses of a thread.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::*};
use std::sync::{mpsc, Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock};
use std::time::Duration;
use std::{ptr, thread};

/// A variable whose accesses only what is tested orders.
struct Shared(UnsafeCell<u64>);

unsafe impl Sync for Shared {}

impl Shared {
    fn get(&self) -> u64 {
        unsafe { self.0.get().read_volatile() }
    }

    fn set(&self, value: u64) {
        unsafe { self.0.get().write_volatile(value) }
    }

    fn read_twice(&self) {
        std::hint::black_box((self.get(), self.get()));
    }
}

static DATA: Shared = Shared(UnsafeCell::new(0));

/// Between two looks, so that a run has a few of them and not a million.
fn pause() {
    thread::sleep(Duration::from_micros(200));
}

/// Writes before something is given to another thread, or wrongly after it.
fn give(wrong: bool, how: impl FnOnce()) {
    if !wrong {
        DATA.set(1);
    }
    how();
    if wrong {
        DATA.set(1);
    }
}

/// In two threads at a time. Their handles are kept: to drop one finds out whether its thread has ended, which orders them.
fn twice(work: impl Fn() + Sync) {
    thread::scope(|scope| [scope.spawn(&work), scope.spawn(&work)].map(|thread| thread.join().unwrap()));
}

/// Counts in two threads, in one critical section or wrongly in two.
fn count<G>(wrong: bool, enter: impl Fn() -> G + Sync) {
    twice(|| {
        let mut section = Some(enter());
        let before = DATA.get();
        if wrong {
            drop(section.take());
            section = Some(enter());
        }
        DATA.set(before + 1);
        drop(section);
    });
}

fn mutex(wrong: bool) {
    static LOCK: Mutex<()> = Mutex::new(());
    count(wrong, || LOCK.lock().unwrap());
}

fn try_mutex(wrong: bool) {
    static LOCK: Mutex<()> = Mutex::new(());
    count(wrong, || loop {
        match LOCK.try_lock() {
            Ok(guard) => return guard,
            Err(_) => pause(),
        }
    });
}

fn rwlock(wrong: bool) {
    static LOCK: RwLock<()> = RwLock::new(());
    count(wrong, || LOCK.write().unwrap());
}

/// Wrong is to share the lock and write.
fn shared_rwlock(wrong: bool) {
    let lock = RwLock::new(());
    thread::scope(|scope| {
        let read = || {
            let _shared = lock.read().unwrap();
            DATA.read_twice();
        };
        let others = [scope.spawn(read), scope.spawn(read)];
        if wrong {
            let _shared = lock.read().unwrap();
            DATA.set(1);
        } else {
            let _alone = lock.write().unwrap();
            DATA.set(1);
        }
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}

/// A lock made of a compare-and-swap, wrongly of a look and a write.
fn spinning(wrong: bool) {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    struct Guard;
    impl Drop for Guard {
        fn drop(&mut self) {
            TAKEN.store(false, Release);
        }
    }
    count(false, || {
        if wrong {
            while TAKEN.load(Acquire) {
                pause();
            }
            TAKEN.store(true, Relaxed);
        } else {
            while TAKEN.compare_exchange_weak(false, true, Acquire, Relaxed).is_err() {
                pause();
            }
        }
        Guard
    });
}

fn condvar(wrong: bool) {
    let (ready, changed) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            let ready = changed.wait_while(ready.lock().unwrap(), |ready| !*ready).unwrap();
            drop(ready);
            DATA.read_twice();
        });
        give(wrong, || {
            *ready.lock().unwrap() = true;
            changed.notify_one();
        });
    });
}

/// Wrong is not to wait for it.
fn once(wrong: bool) {
    static ONCE: Once = Once::new();
    let work = |wait: bool| {
        if wait {
            ONCE.call_once(|| DATA.set(1));
        }
        DATA.read_twice();
    };
    let other = thread::spawn(move || work(!wrong));
    work(true);
    other.join().unwrap();
}

fn once_completed(wrong: bool) {
    static ONCE: Once = Once::new();
    let other = thread::spawn(|| {
        while !ONCE.is_completed() {
            pause();
        }
        DATA.read_twice();
    });
    give(wrong, || ONCE.call_once(|| {}));
    other.join().unwrap();
}

fn once_lock(wrong: bool) {
    static ONCE: OnceLock<u64> = OnceLock::new();
    let other = thread::spawn(|| {
        while ONCE.get().is_none() {
            pause();
        }
        DATA.read_twice();
    });
    give(wrong, || _ = ONCE.set(5));
    other.join().unwrap();
}

/// Wrong is not to ask for the value.
fn lazy_lock(wrong: bool) {
    static LAZY: LazyLock<u64> = LazyLock::new(|| {
        DATA.set(1);
        7
    });
    let work = |wait: bool| {
        if wait {
            assert_eq!(*LAZY, 7);
        }
        DATA.read_twice();
    };
    let other = thread::spawn(move || work(!wrong));
    work(true);
    other.join().unwrap();
}

/// The token alone orders: `park` returns only with it.
fn parking(wrong: bool) {
    let other = thread::spawn(|| {
        thread::park();
        DATA.read_twice();
    });
    give(wrong, || other.thread().unpark());
    other.join().unwrap();
}

/// Wrong is to go on before the scope ends.
fn scope(wrong: bool) {
    thread::scope(|scope| {
        scope.spawn(|| DATA.read_twice());
        if wrong {
            DATA.set(1);
        }
    });
    if !wrong {
        DATA.set(1);
    }
}

fn scope_joined(wrong: bool) {
    thread::scope(|scope| {
        let other = scope.spawn(|| DATA.read_twice());
        if !wrong {
            other.join().unwrap();
        }
        DATA.set(1);
    });
}

fn finished(wrong: bool) {
    let other = thread::spawn(|| DATA.read_twice());
    while !wrong && !other.is_finished() {
        pause();
    }
    DATA.set(1);
    other.join().unwrap();
}

fn barrier(wrong: bool) {
    let barrier = Arc::new(Barrier::new(2));
    let others = barrier.clone();
    let other = thread::spawn(move || {
        others.wait();
        DATA.read_twice();
    });
    give(wrong, || _ = barrier.wait());
    other.join().unwrap();
}

fn channel(wrong: bool) {
    let (sender, receiver) = mpsc::channel();
    let other = thread::spawn(move || {
        assert_eq!(receiver.recv(), Ok(1));
        DATA.read_twice();
    });
    give(wrong, || sender.send(1).unwrap());
    other.join().unwrap();
}

fn polled_channel(wrong: bool) {
    let (sender, receiver) = mpsc::channel();
    let other = thread::spawn(move || {
        while receiver.try_recv().is_err() {
            pause();
        }
        DATA.read_twice();
    });
    give(wrong, || sender.send(1).unwrap());
    other.join().unwrap();
}

fn disconnected_channel(wrong: bool) {
    let (sender, receiver) = mpsc::channel::<u32>();
    let other = thread::spawn(move || {
        assert!(receiver.recv().is_err());
        DATA.read_twice();
        receiver
    });
    give(wrong, || drop(sender));
    drop(other.join().unwrap());
}

/// A sender goes on when there is room. Wrong is too much room.
fn full_channel(wrong: bool, room: usize) {
    let (sender, receiver) = mpsc::sync_channel(room + usize::from(wrong));
    let other = thread::spawn(move || {
        DATA.read_twice();
        assert_eq!(receiver.recv(), Ok(0));
        receiver
    });
    for number in 0..=room {
        sender.send(number).unwrap();
    }
    DATA.set(1);
    drop(other.join().unwrap());
}

/// Whoever has the last reference knows that the others are done. Wrong is not to ask.
fn counted(wrong: bool) {
    let mut mine = Arc::new(0);
    let others = mine.clone();
    let other = thread::spawn(move || {
        DATA.read_twice();
        drop(others);
    });
    while !wrong && Arc::get_mut(&mut mine).is_none() {
        pause();
    }
    DATA.set(1);
    other.join().unwrap();
}

fn published(wrong: bool) {
    static PLACE: AtomicPtr<u64> = AtomicPtr::new(ptr::null_mut());
    let other = thread::spawn(|| {
        while PLACE.load(Acquire).is_null() {
            pause();
        }
        DATA.read_twice();
    });
    give(wrong, || PLACE.store(DATA.0.get(), Release));
    other.join().unwrap();
}

/// The last of two that are done writes; wrong is that both do.
fn countdown(wrong: bool) {
    static LEFT: AtomicUsize = AtomicUsize::new(2);
    twice(|| {
        DATA.read_twice();
        if LEFT.fetch_sub(1, AcqRel) == 1 || wrong {
            DATA.set(1);
        }
    });
}

type Part = (&'static str, fn(bool));

const PARTS: &[Part] = &[
    ("mutex", mutex),
    ("try_mutex", try_mutex),
    ("rwlock", rwlock),
    ("shared_rwlock", shared_rwlock),
    ("spinning", spinning),
    ("condvar", condvar),
    ("once", once),
    ("once_completed", once_completed),
    ("once_lock", once_lock),
    ("lazy_lock", lazy_lock),
    ("parking", parking),
    ("scope", scope),
    ("scope_joined", scope_joined),
    ("finished", finished),
    ("barrier", barrier),
    ("channel", channel),
    ("polled_channel", polled_channel),
    ("disconnected_channel", disconnected_channel),
    ("rendezvous", |wrong| full_channel(wrong, 0)),
    ("full_channel", |wrong| full_channel(wrong, 1)),
    ("counted", counted),
    ("published", published),
    ("countdown", countdown),
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(wanted) = arguments.next() else {
        return PARTS.iter().for_each(|(name, _)| println!("{name}"));
    };
    let (_, part) = PARTS.iter().find(|(name, _)| *name == wanted).expect("the name of a part");
    part(arguments.next().is_some());
}

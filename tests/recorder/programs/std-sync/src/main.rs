//! All that Rust's standard library has for threads to meet. Each hands a variable of its own to another thread and back: nothing
//! that the other thread does with it can be interrupted.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{mpsc, Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock};
use std::thread;
use std::time::{Duration, Instant};

/// What is handed over. That its accesses are ordered is what is tested.
struct Handed(UnsafeCell<u64>);

unsafe impl Sync for Handed {}

impl Handed {
    const fn new() -> Handed {
        Handed(UnsafeCell::new(0))
    }

    fn get(&self) -> u64 {
        unsafe { *self.0.get() }
    }

    fn set(&self, value: u64) {
        unsafe { *self.0.get() = value }
    }

    /// What the other thread does.
    fn use_twice(&self) {
        let before = self.get();
        assert_eq!(before, 1);
        assert_eq!(self.get(), before);
        self.set(2);
    }
}

static BY_MUTEX: Handed = Handed::new();
static BY_RWLOCK: Handed = Handed::new();
static BY_CONDVAR: Handed = Handed::new();
static BY_BARRIER: Handed = Handed::new();
static BY_PARKING: Handed = Handed::new();
static BY_SCOPE: Handed = Handed::new();
static BY_CHANNEL: Handed = Handed::new();
static BY_FULL_CHANNEL: Handed = Handed::new();
static BY_ONCE: Handed = Handed::new();
static BY_ONCE_LOCK: Handed = Handed::new();
static BY_LAZY_LOCK: Handed = Handed::new();
static BY_ATOMIC: Handed = Handed::new();

static MUTEX: Mutex<u32> = Mutex::new(0);
static RWLOCK: RwLock<u32> = RwLock::new(0);
static CHANGED: Condvar = Condvar::new();
static ONCE: Once = Once::new();
static ONCE_LOCK: OnceLock<u64> = OnceLock::new();
static LAZY_LOCK: LazyLock<u64> = LazyLock::new(|| {
    BY_LAZY_LOCK.set(1);
    7
});

/// Between two looks, so that a parallel run has a few of them and not a million.
fn pause() {
    thread::sleep(Duration::from_micros(200));
}

fn mutex() {
    BY_MUTEX.set(1);
    *MUTEX.lock().unwrap() = 1;
    let other = thread::spawn(|| {
        while *MUTEX.lock().unwrap() != 1 {
            pause();
        }
        BY_MUTEX.use_twice();
        *MUTEX.lock().unwrap() = 2;
    });
    loop {
        match MUTEX.try_lock() {
            Ok(state) if *state == 2 => break,
            _ => pause(),
        }
    }
    BY_MUTEX.set(3);
    other.join().unwrap();
}

fn rwlock() {
    BY_RWLOCK.set(1);
    *RWLOCK.write().unwrap() = 1;
    let other = thread::spawn(|| {
        while *RWLOCK.read().unwrap() != 1 {
            pause();
        }
        BY_RWLOCK.use_twice();
        loop {
            if let Ok(mut state) = RWLOCK.try_write() {
                *state = 2;
                break;
            }
            pause();
        }
    });
    while RWLOCK.try_read().map_or(true, |state| *state != 2) {
        pause();
    }
    BY_RWLOCK.set(3);
    other.join().unwrap();
}

fn condvar() {
    *MUTEX.lock().unwrap() = 10;
    let other = thread::spawn(|| {
        let mut state = MUTEX.lock().unwrap();
        while *state != 11 {
            state = CHANGED.wait(state).unwrap();
        }
        drop(state);
        BY_CONDVAR.use_twice();
        *MUTEX.lock().unwrap() = 12;
        CHANGED.notify_all();
    });
    BY_CONDVAR.set(1);
    *MUTEX.lock().unwrap() = 11;
    CHANGED.notify_one();
    let mut state = MUTEX.lock().unwrap();
    while *state != 12 {
        state = CHANGED.wait_timeout(state, Duration::from_secs(60)).unwrap().0;
    }
    drop(state);
    BY_CONDVAR.set(3);
    other.join().unwrap();
}

fn barrier() {
    let barrier = Arc::new(Barrier::new(2));
    let others = barrier.clone();
    let other = thread::spawn(move || {
        others.wait();
        BY_BARRIER.use_twice();
        others.wait();
    });
    BY_BARRIER.set(1);
    barrier.wait();
    barrier.wait();
    BY_BARRIER.set(3);
    other.join().unwrap();
}

fn parking() {
    static READY: AtomicBool = AtomicBool::new(false);
    let main = thread::current();
    let other = thread::spawn(move || {
        while !READY.load(Ordering::Acquire) {
            thread::park();
        }
        BY_PARKING.use_twice();
        READY.store(false, Ordering::Release);
        main.unpark();
    });
    BY_PARKING.set(1);
    READY.store(true, Ordering::Release);
    other.thread().unpark();
    while READY.load(Ordering::Acquire) {
        thread::park_timeout(Duration::from_secs(60));
    }
    BY_PARKING.set(3);
    other.join().unwrap();
}

fn scope() {
    BY_SCOPE.set(1);
    thread::scope(|scope| {
        scope.spawn(|| BY_SCOPE.use_twice());
    });
    BY_SCOPE.set(3);
}

fn channel() {
    let (there, here) = (mpsc::channel::<u32>(), mpsc::channel::<u32>());
    let other = thread::spawn(move || {
        assert_eq!(there.1.recv(), Ok(1));
        BY_CHANNEL.use_twice();
        here.0.send(2).unwrap();
    });
    BY_CHANNEL.set(1);
    there.0.send(1).unwrap();
    assert_eq!(here.1.recv(), Ok(2));
    BY_CHANNEL.set(3);
    other.join().unwrap();
}

fn full_channel() {
    let (there, here) = (mpsc::sync_channel::<u32>(0), mpsc::sync_channel::<u32>(1));
    let other = thread::spawn(move || {
        assert_eq!(there.1.recv_timeout(Duration::from_secs(60)), Ok(1));
        BY_FULL_CHANNEL.use_twice();
        here.0.send(2).unwrap();
    });
    BY_FULL_CHANNEL.set(1);
    there.0.send(1).unwrap();
    assert_eq!(here.1.recv(), Ok(2));
    BY_FULL_CHANNEL.set(3);
    other.join().unwrap();
}

fn initialisation() {
    let use_all = || {
        ONCE.call_once(|| BY_ONCE.set(1));
        ONCE_LOCK.get_or_init(|| {
            BY_ONCE_LOCK.set(1);
            5
        });
        assert_eq!(*LAZY_LOCK, 7);
        [&BY_ONCE, &BY_ONCE_LOCK, &BY_LAZY_LOCK].map(|handed| (handed.get(), handed.get()))
    };
    let others = [thread::spawn(use_all), thread::spawn(use_all)];
    assert_eq!(use_all(), [(1, 1); 3]);
    for other in others {
        assert_eq!(other.join().unwrap(), [(1, 1); 3]);
    }
}

fn atomic() {
    static STATE: AtomicBool = AtomicBool::new(false);
    let other = thread::spawn(|| {
        while !STATE.load(Ordering::Acquire) {
            pause();
        }
        BY_ATOMIC.use_twice();
        STATE.store(false, Ordering::Release);
    });
    BY_ATOMIC.set(1);
    STATE.store(true, Ordering::Release);
    while STATE.load(Ordering::Acquire) {
        pause();
    }
    BY_ATOMIC.set(3);
    other.join().unwrap();
}

/// A deadline that is not there has bytes that mean nothing, and may be others at each use.
fn undefined() {
    fn is_kept(deadline: Option<Instant>) -> bool {
        let kept = deadline;
        std::hint::black_box(&kept).is_none()
    }
    assert!(is_kept(None) && is_kept(None));
}

fn main() {
    let parts =
        [undefined, mutex, rwlock, condvar, barrier, parking, scope, channel, full_channel, initialisation, atomic];
    let only = std::env::args().nth(1).and_then(|which| which.parse::<usize>().ok());
    for (number, part) in parts.iter().enumerate() {
        if only.is_none_or(|only| only == number) {
            part();
        }
    }
    println!("done");
}

//! Locks of one's own behind the traits of `lock_api`.
use lock_api::{GuardSend, Mutex, RawMutex, RawRwLock, RwLock};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};
use std::thread;

struct Spin(AtomicBool);

unsafe impl RawMutex for Spin {
    #[allow(clippy::declare_interior_mutable_const)]
    const INIT: Spin = Spin(AtomicBool::new(false));
    type GuardMarker = GuardSend;
    fn lock(&self) {
        while !self.try_lock() {
            while self.0.load(Ordering::Relaxed) {
                thread::yield_now();
            }
        }
    }
    fn try_lock(&self) -> bool {
        !self.0.swap(true, Ordering::Acquire)
    }
    unsafe fn unlock(&self) {
        self.0.store(false, Ordering::Release);
    }
}

struct Readers(AtomicIsize);

unsafe impl RawRwLock for Readers {
    #[allow(clippy::declare_interior_mutable_const)]
    const INIT: Readers = Readers(AtomicIsize::new(0));
    type GuardMarker = GuardSend;
    fn lock_shared(&self) {
        while !self.try_lock_shared() {
            thread::yield_now();
        }
    }
    fn try_lock_shared(&self) -> bool {
        let now = self.0.load(Ordering::Relaxed);
        now >= 0 && self.0.compare_exchange(now, now + 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }
    unsafe fn unlock_shared(&self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
    fn lock_exclusive(&self) {
        while !self.try_lock_exclusive() {
            thread::yield_now();
        }
    }
    fn try_lock_exclusive(&self) -> bool {
        self.0.compare_exchange(0, -1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }
    unsafe fn unlock_exclusive(&self) {
        self.0.store(0, Ordering::Release);
    }
}

static COUNT: Mutex<Spin, i32> = Mutex::new(0);
static LIMIT: RwLock<Readers, i32> = RwLock::new(1000);

fn work(by: i32) {
    foretrace::atomic!("no one hold", {
        *COUNT.lock() += by;
    });
    foretrace::atomic!("yes two holds", {
        let old = *COUNT.lock();
        loop {
            if let Some(mut count) = COUNT.try_lock() {
                *count = old + by;
                break;
            }
            thread::yield_now();
        }
    });
    foretrace::atomic!("no alone", {
        *LIMIT.write() -= by;
    });
    foretrace::atomic!("yes shared, then alone", {
        let old = *LIMIT.read();
        *LIMIT.write() = old - by;
    });
}

fn main() {
    let threads: Vec<_> = [1, 10].into_iter().map(|by| thread::spawn(move || work(by))).collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("done");
}

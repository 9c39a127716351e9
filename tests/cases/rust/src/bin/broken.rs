//! A lock of one's own behind a trait of `lock_api` that lets two threads in: it looks and takes in two steps.
use lock_api::{GuardSend, Mutex, RawMutex};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct Hasty(AtomicBool);

unsafe impl RawMutex for Hasty {
    #[allow(clippy::declare_interior_mutable_const)]
    const INIT: Hasty = Hasty(AtomicBool::new(false));
    type GuardMarker = GuardSend;
    fn lock(&self) {
        while !self.try_lock() {
            thread::yield_now();
        }
    }
    fn try_lock(&self) -> bool {
        if self.0.load(Ordering::SeqCst) {
            return false;
        }
        self.0.store(true, Ordering::SeqCst);
        true
    }
    unsafe fn unlock(&self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

static COUNT: Mutex<Hasty, i32> = Mutex::new(0);

fn work(by: i32) {
    foretrace::atomic!("yes the lock lets two in", {
        *COUNT.lock() += by;
    });
}

fn main() {
    let threads: Vec<_> = [1, 10].into_iter().map(|by| thread::spawn(move || work(by))).collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("done");
}

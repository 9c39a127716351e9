//! `parking_lot`: mutex, lock that can be shared and upgraded, condition variable.
use parking_lot::{Condvar, Mutex, RwLock, RwLockUpgradableReadGuard, RwLockWriteGuard};
use std::thread;

static BALANCE: Mutex<i64> = Mutex::new(100);
static RATE: RwLock<u32> = RwLock::new(7);
static READY: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());
static mut SET_BEFORE: i32 = 0;

fn deposit(by: i64) {
    foretrace::atomic!("yes two holds", {
        let old = *BALANCE.lock();
        *BALANCE.lock() = old + by;
    });
    foretrace::atomic!("no one hold", {
        *BALANCE.lock() += by;
    });
}

fn raise() {
    let rate = RATE.upgradable_read();
    foretrace::atomic!("no read, then upgraded", {
        let old = *rate;
        *RwLockUpgradableReadGuard::upgrade(rate) = old + 1;
    });
    let mut rate = RATE.write();
    foretrace::atomic!("no written, then downgraded", {
        *rate += 1;
        let rate = RwLockWriteGuard::downgrade(rate);
        assert!(*rate > 7);
    });
}

fn main() {
    let waiter = thread::spawn(|| {
        let mut ready = READY.0.lock();
        while !*ready {
            READY.1.wait(&mut ready);
        }
        drop(ready);
        foretrace::atomic!("no after the signal", {
            unsafe { SET_BEFORE += 1 };
        });
        deposit(10);
        raise();
    });
    let other = thread::spawn(|| {
        deposit(20);
        raise();
    });
    unsafe { SET_BEFORE = 1 };
    *READY.0.lock() = true;
    READY.1.notify_all();
    waiter.join().unwrap();
    other.join().unwrap();
    println!("{}", *RATE.read());
}

//! `parking_lot` since 0.13, whose locks return guards and whose condition variable is one of `lock_api`.
use parking_lot_of_guards::{Condvar, Mutex, RwLock, RwLockUpgradableReadGuard};
use std::thread;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(1000);
static BALANCE: Mutex<i64> = Mutex::new(100);
static RATE: RwLock<u32> = RwLock::new(7);
static READY: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());
static mut SET_BEFORE: i32 = 0;

fn deposit(by: i64) {
    foretrace::atomic!("yes two holds", {
        let old = *BALANCE.lock();
        *BALANCE.try_lock_for(LONG).unwrap() = old + by;
    });
    foretrace::atomic!("no one hold", {
        *BALANCE.lock() += by;
    });
}

fn raise() {
    let rate = RATE.upgradable_read();
    foretrace::atomic!("no read, then a try to upgrade", {
        let old = *rate;
        match RwLockUpgradableReadGuard::try_upgrade(rate) {
            Ok(mut rate) => *rate = old + 1,
            Err(rate) => assert!(*rate >= old),
        }
    });
}

fn main() {
    let reader = RATE.read();
    let refused = RwLockUpgradableReadGuard::try_upgrade(RATE.upgradable_read()).is_err();
    assert!(refused, "another reader");
    drop(reader);
    let waiter = thread::spawn(|| {
        let mut ready = READY.0.lock();
        while !*ready {
            READY.1.wait(&mut ready);
        }
        assert!(READY.1.wait_for(&mut ready, Duration::from_millis(1)).timed_out());
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

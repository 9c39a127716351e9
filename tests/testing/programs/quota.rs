//! Users take from a quota. Wrong: what is left is loaded, and stored later.
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::thread;

struct Quota {
    left: AtomicI64,
    granted: AtomicUsize,
}

impl Quota {
    fn take(&self, amount: i64) -> bool {
        let mut left = self.left.load(Ordering::SeqCst);
        loop {
            if left < amount {
                return false;
            }
            if cfg!(feature = "right") {
                match self.left.compare_exchange(left, left - amount, Ordering::SeqCst, Ordering::SeqCst) {
                    Ok(_) => break,
                    Err(now) => left = now,
                }
            } else {
                self.left.store(left - amount, Ordering::SeqCst);
                break;
            }
        }
        self.granted.fetch_add(1, Ordering::SeqCst);
        true
    }
}

fn main() {
    let quota = Arc::new(Quota { left: AtomicI64::new(10), granted: AtomicUsize::new(0) });
    let users: Vec<_> = (0..3)
        .map(|_| {
            let quota = quota.clone();
            thread::spawn(move || while quota.take(3) {})
        })
        .collect();
    for user in users {
        user.join().unwrap();
    }
    let granted = quota.granted.load(Ordering::SeqCst);
    assert!(granted <= 3, "{granted} grants");
}

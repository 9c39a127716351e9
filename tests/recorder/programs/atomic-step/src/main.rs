//! Two threads count by a load and a store, which the standard library makes.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

static COUNTER: AtomicU32 = AtomicU32::new(0);

fn step() {
    let before = COUNTER.load(SeqCst);
    COUNTER.store(before + 1, SeqCst);
}

fn main() {
    let other = std::thread::spawn(step);
    step();
    other.join().expect("it ends");
    assert_eq!(COUNTER.load(SeqCst), 2);
}

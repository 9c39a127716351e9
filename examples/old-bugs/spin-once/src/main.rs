//! An initialiser that fails while another thread waits for it.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

static ONCE: spin::Once<Box<u32>> = spin::Once::new();
static TRIES: AtomicU32 = AtomicU32::new(0);

fn attempt() -> Option<u32> {
    let made = ONCE.try_call_once(|| if TRIES.fetch_add(1, SeqCst) == 0 { Err(()) } else { Ok(Box::new(7)) });
    made.ok().map(|value| **value)
}

fn main() {
    let threads = [thread::spawn(attempt), thread::spawn(attempt)];
    for made in threads.map(|thread| thread.join().unwrap()).into_iter().flatten() {
        assert_eq!(made, 7);
    }
}

//! Threads that print first, all at once, with values that others change.
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;
static COUNT: AtomicU32 = AtomicU32::new(0);
fn main() {
    let threads: Vec<_> = (0..3).map(|k| thread::spawn(move || {
        foretrace::atomic!("yes loose", { COUNT.store(COUNT.load(SeqCst) + 1, SeqCst) });
        println!("thread {k}");
        eprintln!("thread {k}");
    })).collect();
    for thread in threads { thread.join().unwrap() }
}

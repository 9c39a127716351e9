//! Locks that a panic poisons: the next one takes them all the same; `RwLock` read then write is torn.
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let (lock, shared, count) = (Arc::new(Mutex::new(0)), Arc::new(RwLock::new(0)), Arc::new(RwLock::new(0)));
    let threads: Vec<_> = (0..2).map(|k| {
        let (lock, shared, count) = (lock.clone(), shared.clone(), count.clone());
        thread::spawn(move || {
            let _ = catch_unwind(AssertUnwindSafe(|| {
                let mut guard = lock.lock().unwrap_or_else(|poison| poison.into_inner());
                foretrace::atomic!("no held until the panic", { *guard += 1 });
                if k == 0 { panic!("on purpose") }
            }));
            let _ = catch_unwind(AssertUnwindSafe(|| {
                let mut guard = shared.write().unwrap_or_else(|poison| poison.into_inner());
                foretrace::atomic!("no written", { *guard += 1 });
                if k == 1 { panic!("on purpose") }
            }));
            foretrace::atomic!("yes read then write", {
                let seen = *count.read().unwrap();
                *count.write().unwrap() = seen + 1;
            });
        })
    }).collect();
    for thread in threads { thread.join().unwrap() }
    let sum = *lock.lock().unwrap_or_else(|poison| poison.into_inner());
    println!("{sum} {}", shared.is_poisoned());
}

//! A mutex that is given back between a look and a change, a lock for reading, and a condition variable.

use parking_lot::{Condvar, Mutex, RwLock};
use std::thread::scope;

fn main() {
    let (count, ready, names) = (Mutex::new(0u32), Condvar::new(), RwLock::new(Vec::new()));
    scope(|threads| {
        for number in 0..2u32 {
            let (count, ready, names) = (&count, &ready, &names);
            threads.spawn(move || {
                let found = *count.lock();
                *count.lock() = found + 1;
                if names.read().is_empty() {
                    names.write().push(number);
                }
                ready.notify_all();
            });
        }
        let mut guard = count.lock();
        while *guard == 0 {
            ready.wait(&mut guard);
        }
    });
    println!("{} {}", count.into_inner(), names.into_inner().len());
}

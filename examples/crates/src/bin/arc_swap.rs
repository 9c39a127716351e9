//! A configuration that two threads read, count up and put back.

use arc_swap::ArcSwap;
use std::sync::Arc;
use std::thread::scope;

fn main() {
    let shared = ArcSwap::from_pointee(0u32);
    scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                let found = **shared.load();
                shared.store(Arc::new(found + 1));
                shared.rcu(|before| **before + 10);
            });
        }
    });
    println!("{}", shared.load());
}

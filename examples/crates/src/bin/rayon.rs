//! A pool of two threads that maps, joins, and counts what it has done by a relaxed load and store.

use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let done = AtomicU32::new(0);
    let sum: u32 = pool.install(|| {
        (0..8u32)
            .into_par_iter()
            .map(|number| {
                done.store(done.load(Relaxed) + 1, Relaxed);
                number * number
            })
            .sum()
    });
    println!("{sum} {}", done.load(Relaxed) > 0);
}

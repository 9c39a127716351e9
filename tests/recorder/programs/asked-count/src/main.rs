//! A cache of `Weak` references: wrong asks for the count of owners before it upgrades, and the last owner may go in between.

use std::sync::{Arc, Mutex, Weak};
use std::thread;

#[derive(Default)]
struct Cache {
    kept: Mutex<Weak<u32>>,
}

impl Cache {
    fn get(&self, wrong: bool) -> Arc<u32> {
        let mut kept = self.kept.lock().unwrap();
        if wrong && kept.strong_count() > 0 {
            return kept.upgrade().expect("it was alive");
        }
        kept.upgrade().unwrap_or_else(|| {
            let new = Arc::new(7);
            *kept = Arc::downgrade(&new);
            new
        })
    }
}

fn main() {
    let wrong = std::env::args().nth(1).is_some();
    let cache = Cache::default();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| (0..2).for_each(|_| drop(cache.get(wrong))));
        }
    });
    println!("done");
}

//! The order of a `HashMap` with random keys, and a clock, decide what the threads access.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::time::{Instant, SystemTime};

static BALANCE: Mutex<i64> = Mutex::new(0);
static SEEN: [AtomicUsize; 8] = [const { AtomicUsize::new(0) }; 8];

fn work(by: i64) {
    let start = Instant::now();
    let map: HashMap<usize, usize> = (0..8).map(|key| (key, key)).collect();
    for key in map.keys() {
        SEEN[*key].fetch_add(1, Ordering::SeqCst);
        if *key == 3 {
            break;
        }
    }
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    // Seconds: a schedule that has threads look at the clock in another order cannot give each of them its nanoseconds.
    for _ in 0..(now.as_secs() + start.elapsed().as_secs()) % 5 {
        SEEN[0].fetch_add(1, Ordering::SeqCst);
    }
    let old = *BALANCE.lock().unwrap();
    *BALANCE.lock().unwrap() = old + by;
}

fn main() {
    let threads: Vec<_> = [10, 20].into_iter().map(|by| std::thread::spawn(move || work(by))).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    println!("{}", *BALANCE.lock().unwrap());
}

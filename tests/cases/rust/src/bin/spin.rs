//! The locks of the crate `spin`.
use std::thread;

static COUNT: spin::Mutex<i32> = spin::Mutex::new(0);
static LIMIT: spin::RwLock<i32> = spin::RwLock::new(1000);

fn work(by: i32) {
    foretrace::atomic!("no one hold", {
        *COUNT.lock() += by;
    });
    foretrace::atomic!("yes two holds", {
        let old = *COUNT.lock();
        loop {
            if let Some(mut count) = COUNT.try_lock() {
                *count = old + by;
                break;
            }
            thread::yield_now();
        }
    });
    foretrace::atomic!("no alone", {
        *LIMIT.write() -= by;
    });
    foretrace::atomic!("yes shared, then alone", {
        let old = *LIMIT.read();
        *LIMIT.write() = old - by;
    });
}

fn main() {
    let threads: Vec<_> = [1, 10].into_iter().map(|by| thread::spawn(move || work(by))).collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("done");
}

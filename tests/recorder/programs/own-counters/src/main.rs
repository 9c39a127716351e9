//! Counters of the program's own, beside those that the standard library keeps for itself.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{channel, Sender};
use std::sync::Arc;
use std::thread;

static UPDATED: AtomicUsize = AtomicUsize::new(0);

struct Counter {
    count: AtomicUsize,
}

fn count(counter: &Arc<Counter>, results: &Sender<usize>) {
    let found = counter.count.load(SeqCst);
    let another = refer(counter);
    another.count.store(found + 1, SeqCst);
    results.send(found).unwrap();
    UPDATED.fetch_update(SeqCst, SeqCst, |found| Some(found + 1)).unwrap();
}

/// The library's counter alone is changed here.
fn refer(counter: &Arc<Counter>) -> Arc<Counter> {
    Arc::clone(counter)
}

fn main() {
    let counter = Arc::new(Counter { count: AtomicUsize::new(0) }); // @allocated
    let (results, arrived) = channel();
    let spawn = |_| {
        let (counter, results) = (refer(&counter), results.clone());
        thread::spawn(move || count(&counter, &results))
    };
    let others: Vec<_> = (0..2).map(spawn).collect();
    for other in others {
        other.join().unwrap();
    }
    drop(results);
    println!("{}", arrived.iter().count());
}

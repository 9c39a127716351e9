//! A work queue without `async`: a worker looks whether there is work, and then takes it. Each of both is done under the lock;
//! between them the work may be cancelled.

use std::sync::Mutex;
use std::thread;

struct Queue {
    work: [u32; 4],
    length: usize,
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue { work: [0; 4], length: 0 });

fn push(work: u32) {
    let mut queue = QUEUE.lock().unwrap();
    let length = queue.length;
    queue.work[length] = work;
    queue.length = length + 1;
}

fn is_empty() -> bool {
    QUEUE.lock().unwrap().length == 0 // @first
}

fn pop() -> u32 {
    let mut queue = QUEUE.lock().unwrap();
    let length = queue.length; // @second
    assert!(length > 0, "no work is left");
    queue.length = length - 1;
    queue.work[length - 1]
}

/// Takes a piece of work if there is one.
fn try_pop() -> Option<u32> {
    let mut queue = QUEUE.lock().unwrap();
    queue.length = queue.length.checked_sub(1)?;
    Some(queue.work[queue.length])
}

fn cancel() {
    QUEUE.lock().unwrap().length = 0; // @remote
}

fn take() -> Option<u32> {
    foretrace::atomic!("take", {
        if cfg!(feature = "fixed") {
            return try_pop();
        }
        if is_empty() {
            return None;
        }
        Some(pop())
    })
}

fn worker() -> u32 {
    let mut done = 0;
    while let Some(work) = take() {
        done += work;
    }
    done
}

fn main() {
    push(10);
    push(20);
    let worker = thread::spawn(worker);
    let user = thread::spawn(|| thread::spawn(cancel).join().unwrap());
    let done = worker.join().unwrap();
    user.join().unwrap();
    println!("{done} of 30 done");
}

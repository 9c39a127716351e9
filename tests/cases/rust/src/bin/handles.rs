//! A handle of a thread, which `std`'s own code counts, too: another thread has it after the thread's end.
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::mpsc;
use std::thread::{self, Thread};

fn add(loose: &AtomicU32) {
    foretrace::atomic!("yes loose", { loose.store(loose.load(Relaxed) + 1, Relaxed) });
}

fn main() {
    let loose = Arc::new(AtomicU32::new(0));
    let (send, receive) = mpsc::channel::<Thread>();
    let (first, second) = (loose.clone(), loose.clone());
    let waker = thread::spawn(move || {
        add(&first);
        receive.into_iter().for_each(|sleeper| sleeper.unpark());
    });
    let sleeper = thread::spawn(move || {
        add(&second);
        let me = thread::current();
        send.send(me.clone()).unwrap();
    });
    sleeper.join().unwrap();
    waker.join().unwrap();
    println!("{}", loose.load(Relaxed));
}

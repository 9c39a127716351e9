//! Two senders begin to use a list channel whose receiver goes.

use std::thread;

fn main() {
    let (sender, receiver) = crossbeam_channel::unbounded::<Box<u32>>();
    let other = sender.clone();
    let threads = [
        thread::spawn(move || drop(sender.send(Box::new(1)))),
        thread::spawn(move || drop(other.send(Box::new(2)))),
    ];
    drop(receiver);
    threads.map(|thread| thread.join().unwrap());
}

//! Two senders and two receivers of a bounded channel, and a look at its length before sending.

use std::thread::scope;

fn main() {
    let (sender, receiver) = flume::bounded(2);
    let sum: u32 = scope(|threads| {
        for number in 1..3u32 {
            let sender = sender.clone();
            threads.spawn(move || {
                if !sender.is_full() {
                    sender.send(number).unwrap();
                }
                sender.send(10 * number).unwrap();
            });
        }
        drop(sender);
        let receivers = [receiver.clone(), receiver];
        let receivers = receivers.map(|receiver| threads.spawn(move || receiver.iter().sum::<u32>()));
        receivers.into_iter().map(|receiver| receiver.join().unwrap()).sum()
    });
    println!("{sum}");
}

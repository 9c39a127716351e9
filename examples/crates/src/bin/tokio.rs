//! Tasks of a runtime with two workers: a mutex that is given back between two awaits, a semaphore, a channel.

use std::sync::Arc;
use tokio::sync::{Mutex, Semaphore, mpsc};

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let total = runtime.block_on(async {
        let (count, permits) = (Arc::new(Mutex::new(0u32)), Arc::new(Semaphore::new(1)));
        let (sender, mut receiver) = mpsc::channel(2);
        for number in 0..2u32 {
            let (count, permits, sender) = (count.clone(), permits.clone(), sender.clone());
            tokio::spawn(async move {
                let found = *count.lock().await;
                *count.lock().await = found + 1;
                let _permit = permits.acquire().await.unwrap();
                sender.send(number).await.unwrap();
            });
        }
        drop(sender);
        while receiver.recv().await.is_some() {}
        let total = *count.lock().await;
        total
    });
    println!("{total}");
}

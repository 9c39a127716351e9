//! Two receivers clone one value of a type that is `Send` and not `Sync`.

use std::cell::Cell;
use std::rc::Rc;
use tokio::sync::broadcast;

/// Counts its clones without atomic operations. A type like this may be `Send` as long as all that shares the counter moves together.
struct Counted(Rc<Cell<u32>>);

// SAFETY: what `broadcast` must not rely on; see above.
unsafe impl Send for Counted {}

impl Clone for Counted {
    fn clone(&self) -> Self {
        let clones = self.0.get();
        self.0.set(clones + 1);
        Counted(Rc::new(Cell::new(0)))
    }
}

fn main() {
    let clones = Rc::new(Cell::new(0));
    let (sender, mut one) = broadcast::channel(4);
    let (mut other, mut third) = (sender.subscribe(), sender.subscribe());
    let threads = [
        std::thread::spawn(move || drop(one.blocking_recv())),
        std::thread::spawn(move || drop(other.blocking_recv())),
    ];
    let _ = sender.send(Counted(clones.clone()));
    threads.map(|thread| thread.join().unwrap());
    drop(third.try_recv());
    assert_eq!(clones.get(), 3, "a clone was lost");
}

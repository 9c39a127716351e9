//! A value that is changed in place if nobody else refers to it. That nobody does is seen by a relaxed load of the reference
//! count, as in `if Arc::strong_count(&value) == 1`: a moment later somebody may. The count is right all the time; what was
//! concluded from it is not.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};
use std::thread;

const OWNER: u64 = 1;
const LOCKED: u64 = 0;

/// Whoever has a reference may rely on the value to stay as it is.
struct Shared {
    references: AtomicU64,
    value: AtomicU64,
}

static SHARED: Shared = Shared { references: AtomicU64::new(OWNER), value: AtomicU64::new(40) };

impl Shared {
    fn refer(&self) {
        let one_more = |references| (references != LOCKED).then_some(references + 1);
        while self.references.fetch_update(Acquire, Relaxed, one_more).is_err() {
            thread::yield_now();
        }
    }

    fn release(&self) {
        self.references.fetch_sub(1, AcqRel);
    }

    /// Whether the owner may change the value.
    fn is_unique(&self) -> bool {
        if cfg!(feature = "fixed") {
            self.references.compare_exchange(OWNER, LOCKED, Acquire, Relaxed).is_ok()
        } else {
            self.references.load(Relaxed) == OWNER
        }
    }

    fn changed(&self) {
        if cfg!(feature = "fixed") {
            self.references.store(OWNER, Release);
        }
    }
}

fn owner() {
    if SHARED.is_unique() {
        SHARED.value.store(41, Relaxed); // @remote
        SHARED.changed();
    }
}

fn reader() -> (u64, u64) {
    SHARED.refer();
    let both = foretrace::atomic!("read", {
        let measured = SHARED.value.load(Relaxed); // @first
        let used = SHARED.value.load(Relaxed); // @second
        (measured, used)
    });
    SHARED.release();
    both
}

fn main() {
    let reader = thread::spawn(reader);
    let owner = thread::spawn(|| thread::spawn(owner).join().unwrap());
    let (measured, used) = reader.join().unwrap();
    owner.join().unwrap();
    println!("measured {measured}, used {used}");
    if measured != used {
        std::process::exit(1);
    }
}

//! Random traces of an array that threads append to, each index pinned as the recorder pins addresses.

use crate::random::Random;
use crate::{Data, Observed, SyncKind, Trace, TraceBuilder};

/// What keeps other threads away from an append.
#[derive(Clone, Copy)]
enum Guard {
    Mutex,
    /// A semaphore, which is a lock if its count is 1 at first.
    Semaphore,
    /// A variable that is set and reset under a mutex.
    Flag,
}

impl Guard {
    fn take(self, builder: &mut TraceBuilder, thread: u64) {
        match self {
            Guard::Mutex => _ = builder.acquire(thread, "m"),
            Guard::Semaphore => _ = builder.down(thread, "s"),
            Guard::Flag => {
                builder.acquire(thread, "m");
                builder.read(thread, "busy", "b");
                builder.assume(thread, "(= b 0)");
                builder.write(thread, "busy", "1");
                builder.release(thread, "m");
            }
        }
    }

    fn give(self, builder: &mut TraceBuilder, thread: u64) {
        match self {
            Guard::Mutex => _ = builder.release(thread, "m"),
            Guard::Semaphore => _ = builder.post(thread, "s"),
            Guard::Flag => {
                builder.acquire(thread, "m");
                builder.write(thread, "busy", "0");
                builder.release(thread, "m");
            }
        }
    }
}

/// Appends to an array and looks at it, mostly under a guard: `n` counts the elements, `e0` to `e2` hold them. What is read of `n` decides
/// which element an append writes, as a pin says, and whether a look goes on to read one. Some appends read `n` once more to count on.
pub fn random_appends(seed: u64) -> (Trace, Observed) {
    let mut random = Random::new(seed);
    let mut builder = TraceBuilder::new(Data::Symbolic);
    let guard = [Guard::Mutex, Guard::Mutex, Guard::Semaphore, Guard::Flag][random.below(4)];
    builder.sync("m", SyncKind::Mutex { recursive: false });
    builder.sync("s", SyncKind::Semaphore { init: if random.below(5) == 0 { 2 } else { 1 } });
    for var in ["n", "busy", "e0", "e1", "e2"] {
        builder.int_var(var, 0);
    }
    let mut count = 0;
    for _ in 0..4 + random.below(2) {
        let thread = 2 + random.below(3) as u64;
        let guarded = random.below(5) > 0;
        if guarded {
            guard.take(&mut builder, thread);
        } else if matches!(guard, Guard::Semaphore) && random.below(2) == 0 {
            builder.post(thread, "s"); // for whom it was not taken
        }
        builder.begin(thread);
        builder.read(thread, "n", "c");
        if count < 3 && random.below(2) == 0 {
            let twice = random.below(2) == 0;
            if !twice {
                builder.write(thread, "n", "(+ c 1)");
            }
            if random.below(5) > 0 {
                builder.pin(thread, &format!("(= c {count})"));
            }
            builder.write(thread, &format!("e{count}"), "7");
            if twice {
                builder.read(thread, "n", "d");
                builder.write(thread, "n", "(+ d 1)");
            }
            count += 1;
        } else if count > 0 {
            let element = random.below(count);
            builder.assume(thread, &format!("(> c {element})"));
            builder.read(thread, &format!("e{element}"), "v");
            builder.read(thread, &format!("e{element}"), "w");
        }
        builder.end(thread);
        if guarded {
            guard.give(&mut builder, thread);
        }
    }
    builder.finish().expect("a valid trace")
}

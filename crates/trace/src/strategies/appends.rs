//! Random traces of an array that threads append to, each index pinned as the recorder pins addresses.

use crate::random::Random;
use crate::{Data, Observed, SyncKind, Trace, TraceBuilder};

/// Appends to an array and looks at it, mostly under a lock: `n` counts the elements, `e0` to `e2` hold them. What is read of `n` decides
/// which element an append writes, as a pin says, and whether a look goes on to read one.
pub fn random_appends(seed: u64) -> (Trace, Observed) {
    let mut random = Random::new(seed);
    let mut builder = TraceBuilder::new(Data::Symbolic);
    builder.sync("m", SyncKind::Mutex { recursive: false });
    for var in ["n", "e0", "e1", "e2"] {
        builder.int_var(var, 0);
    }
    let mut count = 0;
    for _ in 0..4 + random.below(2) {
        let thread = 2 + random.below(3) as u64;
        let locked = random.below(5) > 0;
        if locked {
            builder.acquire(thread, "m");
        }
        builder.begin(thread);
        builder.read(thread, "n", "c");
        if count < 3 && random.below(2) == 0 {
            builder.write(thread, "n", "(+ c 1)");
            if random.below(5) > 0 {
                builder.pin(thread, &format!("(= c {count})"));
            }
            builder.write(thread, &format!("e{count}"), "7");
            count += 1;
        } else if count > 0 {
            let element = random.below(count);
            builder.assume(thread, &format!("(> c {element})"));
            builder.read(thread, &format!("e{element}"), "v");
            builder.read(thread, &format!("e{element}"), "w");
        }
        builder.end(thread);
        if locked {
            builder.release(thread, "m");
        }
    }
    builder.finish().expect("a valid trace")
}

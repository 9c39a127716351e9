//! Check, then act, on a concurrent map in shards, each with a lock of its own (as DashMap has them). Every call of the map
//! is atomic; to look whether a key is there and then to remove it is not. A session that expires while its user
//! logs out is removed twice.

use std::sync::RwLock;
use std::thread;

const SHARDS: usize = 4;
const SLOTS: usize = 4;
const NONE: u32 = 0;

/// From small numbers to numbers other than 0.
struct Map {
    shards: [RwLock<[u32; SLOTS]>; SHARDS],
}

impl Map {
    fn shard(&self, key: usize) -> &RwLock<[u32; SLOTS]> {
        &self.shards[key % SHARDS]
    }

    fn contains_key(&self, key: usize) -> bool {
        self.shard(key).read().unwrap()[key / SHARDS] != NONE // @first
    }

    fn set(&self, key: usize, value: u32) {
        self.shard(key).write().unwrap()[key / SHARDS] = value; // @remote
    }

    fn remove(&self, key: usize) -> Option<u32> {
        let mut slots = self.shard(key).write().unwrap();
        let found = slots[key / SHARDS]; // @second
        slots[key / SHARDS] = NONE;
        (found != NONE).then_some(found)
    }
}

static SESSIONS: Map = Map { shards: [const { RwLock::new([NONE; SLOTS]) }; SHARDS] };
const USER: usize = 6;

fn log_out() {
    foretrace::atomic!("log_out", {
        if cfg!(feature = "fixed") {
            SESSIONS.remove(USER);
        } else if SESSIONS.contains_key(USER) {
            SESSIONS.remove(USER).expect("the session is there");
        }
    });
}

fn expire() {
    SESSIONS.set(USER, NONE);
}

fn main() {
    SESSIONS.set(USER, 17);
    let user = thread::spawn(log_out);
    let clock = thread::spawn(|| thread::spawn(expire).join().unwrap());
    user.join().unwrap();
    clock.join().unwrap();
    println!("the session is over");
}

//! The first thread that asks for the configuration loads it; others yield until it is there. Wrong: a thread looks at the state and then sets it,
//! so that two may load it, and one that reads a copy loses it to the other. Who waits reads the state again and again, which harms nobody.
use std::cell::UnsafeCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;

const NOT_YET: u8 = 0;
const LOADING: u8 = 1;
const THERE: u8 = 2;

struct Lazy {
    state: AtomicU8,
    config: UnsafeCell<Option<Arc<BTreeMap<String, String>>>>,
}

unsafe impl Sync for Lazy {}

static CONFIG: Lazy = Lazy { state: AtomicU8::new(NOT_YET), config: UnsafeCell::new(None) };

impl Lazy {
    fn get(&self) -> &Arc<BTreeMap<String, String>> {
        loop {
            let now = self.state.load(Ordering::Acquire);
            match now {
                THERE => return unsafe { (*self.config.get()).as_ref().unwrap() },
                NOT_YET => {
                    if cfg!(feature = "right") {
                        let taken = self.state.compare_exchange(now, LOADING, Ordering::AcqRel, Ordering::Acquire);
                        if taken.is_err() {
                            continue;
                        }
                    } else {
                        self.state.store(LOADING, Ordering::Release);
                    }
                    unsafe { *self.config.get() = Some(load()) };
                    self.state.store(THERE, Ordering::Release);
                }
                _ => thread::yield_now(),
            }
        }
    }
}

fn load() -> Arc<BTreeMap<String, String>> {
    Arc::new(["host", "port", "user"].iter().map(|key| (key.to_string(), format!("the {key}"))).collect())
}

fn main() {
    let users: Vec<_> = (0..4)
        .map(|number| {
            thread::spawn(move || {
                for turn in 0..10 {
                    let config = CONFIG.get().clone();
                    let key = ["host", "port", "user"][(number + turn) % 3];
                    assert_eq!(config.get(key).map(String::len), Some(8));
                }
            })
        })
        .collect();
    users.into_iter().for_each(|user| user.join().unwrap());
    assert_eq!(Arc::strong_count(CONFIG.get()), 1);
}

//! Thread-locals with destructors that lock; `is_finished`; a barrier's leader.
use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

static ENDED: Mutex<u32> = Mutex::new(0);
static LOOSE: AtomicU32 = AtomicU32::new(0);
struct Local(u32);
impl Drop for Local {
    fn drop(&mut self) {
        let mut ended = ENDED.lock().unwrap();
        foretrace::atomic!("no locked in a destructor", { *ended += self.0 });
        drop(ended);
        foretrace::atomic!("yes loose in a destructor", { LOOSE.store(LOOSE.load(SeqCst) + 1, SeqCst) });
    }
}
thread_local!(static LOCAL: RefCell<Local> = RefCell::new(Local(1)));

fn main() {
    let barrier = Arc::new(Barrier::new(2));
    let led = Arc::new(AtomicU32::new(0));
    let threads: Vec<_> = (0..2).map(|k| {
        let (barrier, led) = (barrier.clone(), led.clone());
        thread::spawn(move || {
            LOCAL.with(|local| local.borrow_mut().0 += k);
            if barrier.wait().is_leader() { foretrace::atomic!("no the leader alone", { led.store(led.load(SeqCst) + 1, SeqCst) }) }
            barrier.wait();
            led.load(SeqCst)
        })
    }).collect();
    let mut sum = 0;
    for thread in threads { let _ = thread.is_finished(); sum += thread.join().unwrap() }
    println!("{sum} {}", *ENDED.lock().unwrap());
}

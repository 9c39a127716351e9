//! `park` and `unpark` with a flag; a scope; `Condvar::wait_timeout` and `wait_while`.
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::{Relaxed, SeqCst}};
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;

fn main() {
    let (ready, data, loose) = (AtomicBool::new(false), AtomicU32::new(0), AtomicU32::new(0));
    let (lock, condition) = (Mutex::new((0, false)), Condvar::new());
    thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            while !ready.load(SeqCst) { thread::park() }
            foretrace::atomic!("no after the flag", { data.store(data.load(Relaxed) + 1, Relaxed) });
            foretrace::atomic!("yes loose", { loose.store(loose.load(Relaxed) + 1, Relaxed) });
            let guard = lock.lock().unwrap();
            let (mut guard, timeout) = condition.wait_timeout_while(guard, Duration::from_secs(30), |state| !state.1).unwrap();
            foretrace::atomic!("no held", { if !timeout.timed_out() { guard.0 += 1 } });
        });
        foretrace::atomic!("no before the flag", { data.store(data.load(Relaxed) + 1, Relaxed) });
        ready.store(true, SeqCst);
        waiter.thread().unpark();
        scope.spawn(|| {
            foretrace::atomic!("yes loose", { loose.store(loose.load(Relaxed) + 1, Relaxed) });
            let mut guard = lock.lock().unwrap();
            foretrace::atomic!("no held", { guard.0 += 1 });
            guard.1 = true;
            condition.notify_all();
        });
    });
    foretrace::atomic!("no after the scope", { loose.store(loose.load(Relaxed) * 0 + data.load(Relaxed), Relaxed); loose.load(Relaxed) });
    println!("{} {}", loose.load(SeqCst), lock.lock().unwrap().0);
}

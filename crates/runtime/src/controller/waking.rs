//! Whether threads that all wait can still be woken: by a handler of a signal, by a timer, or by a thread that is not recorded, such as the
//! one in which the C library waits for timers.

use core::sync::atomic::Ordering::SeqCst;

use crate::controller::thread_turn::State;
use crate::interpose::signals::state;
use crate::sys::{self, call};
use crate::text::number;
use crate::threads::{self, Thread};
use crate::waiting::Wait;

/// Whether something may come that lets a thread go on.
pub fn possible() -> bool {
    one_can_go_on() || timer_runs() || others_run() || state::may_come() && !all_need_threads()
}

/// Whether something may come that no recorded thread does.
pub fn by_others() -> bool {
    state::may_come() || timer_runs() || others_run()
}

/// Whether a thread sleeps in the kernel, or waits up to a deadline.
fn one_can_go_on() -> bool {
    threads::all().any(|thread| match thread.turn.state.get() {
        State::Blocked => thread.turn.deadline.get().is_some(),
        State::Outside | State::Ready => true,
        State::Done => false,
    })
}

/// Whether each thread waits for a lock or for the end of a thread, which no handler changes. Frameworks for tests and servers have
/// handlers for what ends a program.
fn all_need_threads() -> bool {
    // SAFETY: the waiter's frame is alive: its thread waits.
    let wait = |thread: &Thread| unsafe { thread.wait.load(SeqCst).as_ref() };
    let alive = |thread: &&'static Thread| thread.turn.state.get() != State::Done;
    threads::all().filter(alive).all(|thread| wait(thread).is_some_and(Wait::needs_thread))
}

/// Whether one of the timers of `setitimer` and `alarm` is set. Its signal ends the process if nothing handles it.
fn timer_runs() -> bool {
    const TIMERS: usize = 3;
    (0..TIMERS).any(|which| {
        let mut timer = [0u64; 4]; // struct itimerval: interval, then what is left
        call!(GETITIMER, which, timer.as_mut_ptr()) == 0 && (timer[2] != 0 || timer[3] != 0)
    })
}

/// Whether the process has threads that are not ours and have no log.
fn others_run() -> bool {
    const WATCHDOG: u64 = 1;
    let known = threads::all().filter(|thread| thread.turn.state.get() != State::Done).count() as u64;
    count().is_some_and(|all| all > known + WATCHDOG)
}

/// How many threads the kernel knows of.
fn count() -> Option<u64> {
    const FIELD: &[u8] = b"Threads:";
    let file = sys::open(b"/proc/self/status\0", sys::READ_ONLY).ok()?;
    let mut text = [0u8; 4096];
    let length = sys::read(file, &mut text);
    sys::close(file);
    let line = text[..length].split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(FIELD))?;
    number(line.trim_ascii())
}

//! The number of a replayed process. Programs print their number, so one with another number of digits makes other texts and leaves the
//! schedule. They also send signals to it, so they must get the real one. So the kernel is asked to give a replay the number of its recording.
//! Only root may ask, and another process may have the number: then the replay has another one, and its notes say so.

use super::kept::{files_of, kept};
use foretrace_runtime::outside::NUMBER;
use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

/// Holds the number that the kernel gave last; it gives the next one that is free.
const LAST: &str = "/proc/sys/kernel/ns_last_pid";

/// Replays of several threads ask one after the other.
static ASKING: Mutex<()> = Mutex::new(());

/// The number of the process of a recording, if the program asked for it.
pub fn recorded(recording: &Path) -> Option<i32> {
    let files = files_of(recording).ok()?;
    let of_process =
        |bytes: &Vec<u8>| kept(bytes).find(|kept| (kept.source, kept.detail) == (NUMBER, 0))?.result.try_into().ok();
    files.iter().find_map(of_process)
}

/// Starts a process, which gets this number if that can be.
pub fn with<R>(number: Option<i32>, start: impl FnOnce() -> R) -> R {
    let _asking = number.map(|_| ASKING.lock());
    let is_free = |number: &i32| kill(Pid::from_raw(*number), None) == Err(Errno::ESRCH);
    let before = number.filter(is_free).and_then(|number| {
        let before = fs::read(LAST).ok()?;
        fs::write(LAST, (number - 1).to_string()).ok()?;
        Some(before)
    });
    let started = start();
    if let Some(before) = before {
        let _ = fs::write(LAST, before); // others go on where they were: numbers come back late
    }
    started
}

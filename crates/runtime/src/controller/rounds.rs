//! Looks whether a thread repeats what it does, up to the record that it wrote last.

use crate::controller::repeating::Repeating;
use crate::log;
use crate::threads::Thread;

/// Takes what the thread has written since the last look.
pub fn look(thread: &Thread) -> &Repeating {
    let repeating = &thread.turn.repeating;
    repeating.take(log::written_since(thread, repeating.looked_up_to(log::next(thread))));
    repeating
}

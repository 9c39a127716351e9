//! Tries schedules that are likely to show a violation, before exploration: the block is interrupted at one access, one other thread goes
//! on, and the block continues.

use crate::segment::Segment;
use crate::stepper::Stepper;
use foretrace_explore::{Next, System};
use foretrace_trace::EventId;

/// Most accesses at which a block is interrupted.
const MOST_INTERRUPTIONS: usize = 48;

/// Most steps of the other thread after which the block comes back.
const MOST_RETURNS: usize = 24;

/// Looks for a violation from a state in which the block has not begun, or is about to. `step_to` lets the block's thread go on
/// up to and including an event; it says whether that worked.
pub fn hunt<'c>(
    start: &Stepper<'c>,
    own: usize,
    segment: &Segment,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Stepper<'c>> {
    let mut state = start.clone();
    for leaving in segment.leaving.iter().take(MOST_INTERRUPTIONS) {
        advance(&mut state, own, *leaving)?;
        if state.found() {
            return Some(state);
        }
        for other in (0..state.threads()).filter(|other| *other != own) {
            if let Some(found) = interrupted(&state, own, other, go_on) {
                return Some(found);
            }
            if !go_on() {
                return None;
            }
        }
    }
    None
}

/// Lets the thread take steps until it has taken this event.
fn advance(state: &mut Stepper<'_>, thread: usize, event: EventId) -> Option<()> {
    while state.next_event(thread).is_some_and(|next| next <= event) {
        let Next::Ready(_) = state.next(thread) else { return None };
        state.step(thread, 0);
    }
    Some(())
}

/// One other thread goes on; after some of its steps the block does.
fn interrupted<'c>(
    state: &Stepper<'c>,
    own: usize,
    other: usize,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Stepper<'c>> {
    let mut interrupted = state.clone();
    let mut due = 1;
    for taken in 1.. {
        if !matches!(interrupted.next(other), Next::Ready(_)) || !go_on() {
            return if taken > 1 { returned(interrupted, own) } else { None };
        }
        interrupted.step(other, 0);
        if taken == due {
            let found = returned(interrupted.clone(), own);
            if found.is_some() {
                return found;
            }
            due = if due < MOST_RETURNS { due + 1 } else { due * 2 };
        }
    }
    None
}

/// The block goes on as far as it can.
fn returned<'c>(mut state: Stepper<'c>, own: usize) -> Option<Stepper<'c>> {
    while !state.found() {
        let Next::Ready(_) = state.next(own) else { return None };
        state.step(own, 0);
    }
    Some(state)
}

//! Groups of events that happen in one step stand together and complete.

use super::naming::{a_kind, thread};
use crate::error::Problem;
use crate::op::Op;
use crate::trace::{Event, ThreadId, Trace};

/// The group that is open, if any.
#[derive(Default)]
pub(super) struct Parts {
    open: Option<OpenStep>,
}

#[derive(Clone, Copy)]
struct OpenStep {
    thread: ThreadId,
    seen: u32,
    size: u32,
}

impl Parts {
    pub(super) fn check(&mut self, trace: &Trace, event: &Event) -> Result<(), Problem> {
        let next = self.open.map_or(1, |group| group.seen + 1);
        match (self.open, event.part) {
            (None, None) => return Ok(()),
            (_, Some((k, n))) if k == 0 || k > n => {
                return Err(Problem::new(format!("part [{k},{n}]"), "part [k,n] with 1 ≤ k ≤ n"));
            }
            (None, Some((1, n))) => self.open = Some(OpenStep { thread: event.thread, seen: 1, size: n }),
            (None, Some((k, n))) => {
                return Err(Problem::new(format!("part [{k},{n}] without the parts before it"), "part [1,n] first"));
            }
            (Some(group), part) if event.thread != group.thread || part != Some((next, group.size)) => {
                let found = match part {
                    Some((k, n)) => format!("part [{k},{n}] of {}", thread(trace, event.thread)),
                    None => format!("an event of {} that is no part", thread(trace, event.thread)),
                };
                let expected = format!("part [{next},{}] of {}", group.size, thread(trace, group.thread));
                return Err(Problem::new(found, expected));
            }
            (Some(group), _) => {
                if !may_follow_in_a_step(&event.op) {
                    let guarded = if event.op.condition().is_some() { " with a guard" } else { "" };
                    let found = format!("{}{guarded} as part [{next},{}]", a_kind(event), group.size);
                    return Err(Problem::new(found, "an event that cannot block in a later part of a step"));
                }
                self.open = Some(OpenStep { seen: next, ..group });
            }
        }
        self.open = self.open.filter(|group| group.seen < group.size);
        Ok(())
    }
}

/// Events that are always enabled and so cannot stop a step in its middle.
fn may_follow_in_a_step(op: &Op) -> bool {
    match op {
        Op::Read { guard, .. } | Op::Write { guard, .. } | Op::Rmw { guard, .. } => guard.is_none(),
        Op::Let { .. } | Op::Free { .. } | Op::Begin { .. } | Op::End { .. } => true,
        _ => false,
    }
}

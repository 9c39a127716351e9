//! What one more replay of a failing run adds to its story: where the run uses memory after its `free`, which no three accesses of one
//! variable show; and the places that threads came to last, where nothing else is known.

use super::{Campaign, plan_of};
use crate::judge::{Effect, judge};
use crate::predicting::{line_of, own_place_before};
use crate::report::Find;
use crate::runner::{cut_of, is_stopped};
use crate::settings::TestError;
use foretrace_harness as recorder;
use foretrace_report::thread_name;
use foretrace_trace::{EventId, Op, Trace};
use foretrace_walker::walk;
use std::path::Path;

/// Runs with more events are not looked at: making their traces takes seconds.
const MOST_EVENTS: usize = 100_000;

impl Campaign<'_> {
    /// Replays a find once, and completes its story, as far as there is time. `recording` is what the find's schedule belongs to, if that
    /// is no recording itself.
    pub(super) fn retell(&mut self, find: &mut Find, recording: Option<&Path>) -> Result<(), TestError> {
        let is_replayed = find.replays.is_some_and(|(failed, _)| failed > 0);
        if !is_replayed || find.failure.is_hang() || self.is_share_over() || self.state.report.size.events > MOST_EVENTS
        {
            return Ok(());
        }
        let plan = match recording {
            Some(recording) => plan_of(&find.schedule, recording)?,
            None => recorder::Plan::of_recording(&find.schedule)?,
        };
        let ran = match self.runner.replay(&plan, &self.work.place("retold")) {
            Ok(ran) => ran,
            Err(error) if is_stopped(&error) || cut_of(&error).is_some() => return Ok(()),
            Err(error) => return Err(error),
        };
        self.state.report.times.running += ran.took;
        let effect = judge(&ran.seen, &self.state.baseline, self.settings);
        if !matches!(&effect, Effect::Failed(other) if other.signature() == find.failure.signature()) {
            return Ok(());
        }
        let trace = walk(ran.folder.path(), &self.settings.walk, |_| ()).ok().map(|(walked, ())| walked.trace);
        let used = trace.as_ref().and_then(|trace| Some((trace, first_use(trace)?)));
        if let Some((trace, (use_, free))) = used {
            find.story.extend(lines(trace, use_, free));
        } else if find.story.is_empty() {
            self.positions.learn(ran.folder.path())?;
            find.story.extend(self.last_places(ran.folder.path())?);
        }
        Ok(())
    }
}

/// The first access of memory after its `free` in the recorded order, and that `free`.
fn first_use(trace: &Trace) -> Option<(EventId, EventId)> {
    let mut freed: Vec<Option<EventId>> = vec![None; trace.vars.len()];
    for (at, event) in trace.events.iter().enumerate() {
        let at = EventId::from_index(at);
        if let Op::Free { vars } = &event.op {
            vars.iter().for_each(|var| freed[var.index()] = Some(at));
        }
        let var = event.op.var().filter(|_| !event.op.is_external()); // what the next access finds there, not an access
        if let Some(free) = var.and_then(|var| freed[var.index()]) {
            return Some((at, free));
        }
    }
    None
}

fn lines(trace: &Trace, use_: EventId, free: EventId) -> Vec<String> {
    let place = |event: EventId| {
        let own = own_place_before(trace, event).filter(|_| trace.loc(event).is_none_or(|loc| loc.starts_with('/')));
        own.or(trace.loc(event)).map_or_else(|| "a place that is not known".to_string(), |loc| line_of(loc).to_string())
    };
    let thread = |event: EventId| thread_name(trace, trace.event(event).thread);
    let op = &trace.event(use_).op;
    let verb = if op.writes() { "writes" } else { "reads" };
    let variable = op.var().map_or("", |var| trace.vars[var.index()].shown());
    vec![
        format!("use after free: {} {verb} {variable} at {}", thread(use_), place(use_)),
        format!("  {} freed that memory before, at {}", thread(free), place(free)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretrace_trace::jsonl;

    fn first(events: &str) -> Option<(usize, usize)> {
        let header = r#"{"foretrace":1,"data":"none","vars":{"x":{},"y":{}},"threads":{"1":{},"2":{}}}"#;
        let (trace, _) = jsonl::read(format!("{header}\n{events}").as_bytes()).expect("a trace");
        first_use(&trace).map(|(use_, free)| (use_.index(), free.index()))
    }

    #[test]
    fn the_first_use_after_the_free_of_its_own_memory_is_told() {
        let free = r#"{"t":1,"op":"free","vars":["x"]}"#;
        let (of_x, of_y) = (r#"{"t":2,"op":"read","var":"x"}"#, r#"{"t":2,"op":"read","var":"y"}"#);
        assert_eq!(first(&[of_x, free, of_y, of_x, of_x].join("\n")), Some((3, 1)));
        assert_eq!(first(&[of_x, of_y, free, of_y].join("\n")), None);
    }
}

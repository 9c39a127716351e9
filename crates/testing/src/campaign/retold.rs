//! What one more replay of a failing run says of its story: the lines of the program from which each access came, which the recorded run
//! may have come by from others; where the run uses memory after its `free`, which no three accesses of one
//! variable show; the block that a run tore, what the thread that fails asked for in vain, and what it reads that passing
//! runs do not, or the places that threads came to last, where nothing else is known.

use super::needed::{MOST_EVENTS, Needed};
use super::{Campaign, Told, plan_of, sources};
use crate::attempt::{Access, Attempt, Cycle, CycleKind, Kind, Rank};
use crate::differing::{Sourced, first_difference};
use crate::judge::judge;
use crate::predicting::{access_in, act, around_both, is_of_library, own_place_before, told, variable_of};
use crate::report::Find;
use crate::runner::{Ran, cut_of, is_stopped};
use crate::settings::TestError;
use crate::story;
use crate::torn::{Torn, torn};
use foretrace_harness::{self as recorder, Event};
use foretrace_report::{act_of, below_project, line_of, shown_value, thread_name};
use foretrace_trace::{EventId, Observed, Op, Pattern, Trace, observe};
use foretrace_walker::walk;
use std::path::Path;

/// The title of a failure after a use of freed memory that no trace shows.
const USED: &str = "memory is used after it was freed";

impl Campaign<'_> {
    /// Replays a find once, and completes its story, as far as there is time. What the failure needs is told where no schedule says it.
    pub(super) fn retell(&mut self, find: &mut Find, by: Told<'_>, needed: Option<&Needed>) -> Result<(), TestError> {
        let is_replayed = find.replays.is_some_and(|(failed, _)| failed > 0);
        if !is_replayed || find.failure.is_hang() || self.state.report.size.events > MOST_EVENTS {
            return Ok(());
        }
        let (shown, plan) = match by {
            Told::By(shown) => (Some(shown), &plan_of(&find.schedule, &shown.attempt.recording)?),
            Told::ByTurns(plan) => (None, plan),
        };
        let Some(ran) = self.replay_once(plan, "retold")? else { return Ok(()) };
        let effect = judge(&ran.seen, &self.state.baseline, self.settings);
        if !effect.is_failure(&find.failure) {
            return Ok(());
        }
        let trace = walk(ran.folder.path(), &self.settings.walk, |_| ()).ok().map(|(walked, ())| walked.trace);
        let told = shown.filter(|shown| needed.is_none() && shown.reached && shown.attempt.cycle.is_none());
        if let (Some(shown), Some(trace)) = (told, &trace)
            && let Some(triple) = self.replayed(plan, &ran)?.triple
        {
            let mut attempt = shown.attempt.clone();
            for (access, event) in attempt.accesses.iter_mut().zip(&triple) {
                let known = event.as_ref().and_then(|event| self.told_in(trace, event, &shown.attempt.recording));
                if let Some((place, text)) = known.filter(|(place, _)| *place != access.place) {
                    *access = Access { place, text, ..access.clone() };
                }
            }
            if attempt != shown.attempt {
                let retold = story::lines(&attempt, Some(&triple));
                find.story.splice(..shown.story.len().min(find.story.len()), retold);
            }
        }
        let is_reached = shown.is_some_and(|shown| shown.reached);
        // Turns alone say where threads went on, not why that fails.
        let tells_no_cause =
            !is_reached && (find.story.is_empty() || shown.is_none() && find.failure.kind() == "fails");
        let is_told = shown.is_some_and(|shown| shown.attempt.is_use_after_free());
        let used = trace.as_ref().filter(|_| !is_told).and_then(|trace| Some((trace, first_use(trace)?)));
        let kept = match used.is_none() && !is_told && find.failure.is_unplaced_death() {
            true => self.first_use_of_kept(plan)?,
            false => None,
        };
        if let Some((trace, (use_, free))) = &kept {
            let used = story::below_folders(used_in(trace, *use_));
            find.title = Some(format!("{used} is used after its memory was freed"));
            find.story = lines(trace, *use_, *free);
        } else if let Some((trace, (use_, free))) = used {
            if shown.is_none() {
                let used = story::below_folders(used_in(trace, use_));
                find.title = Some(format!("{used} is used after its memory was freed"));
            }
            find.story.extend(lines(trace, use_, free));
        } else if let (None, false, Some(used)) = (shown, find.failure.is_use_after_free(), &ran.seen.used_after_free) {
            // A lock refuses calls where its memory was freed and overwritten: that is in no trace.
            find.title = Some(USED.to_string());
            let place = used.place.as_ref().map(|place| format!(" at {place}")).unwrap_or_default();
            find.story.push(format!("use after free: {}{place}", used.text));
        } else if let Some(attempt) =
            trace.as_ref().filter(|_| shown.is_none()).and_then(|trace| self.torn(trace, find))
        {
            find.title = Some(story::title(&attempt));
            find.story = story::lines(&attempt, None);
        } else if let (false, Some((title, lines))) =
            (is_reached, trace.as_ref().and_then(|trace| self.in_vain(trace, find)))
        {
            find.title = Some(title);
            find.story.splice(..0, lines);
        } else if let (None, Some(needed)) = (shown, needed) {
            find.title = Some(story::title(&needed.attempt));
            find.story.clone_from(&needed.story);
        } else if let (true, Some((title, lines))) =
            (tells_no_cause, trace.as_ref().and_then(|trace| self.different(trace, find)))
        {
            find.title = Some(title);
            find.story.splice(..0, lines);
        } else if find.story.is_empty() {
            self.positions.learn(ran.folder.path())?;
            find.story.extend(self.last_places(ran.folder.path())?);
        }
        if find.failure.is_unplaced_death() {
            self.positions.learn(ran.folder.path())?;
            let death = self.death(ran.folder.path(), &find.story)?;
            find.story.extend(death);
        }
        Ok(())
    }

    /// A run along a plan in a folder of its own, as far as there is time for it.
    pub(super) fn replay_once(&mut self, plan: &recorder::Plan, place: &str) -> Result<Option<Ran>, TestError> {
        if self.is_share_over() {
            return Ok(None);
        }
        let ran = match self.runner.replay(plan, &self.work.place(place)) {
            Ok(ran) => ran,
            Err(error) if is_stopped(&error) || cut_of(&error).is_some() => return Ok(None),
            Err(error) => return Err(error),
        };
        self.state.report.times.running += ran.took;
        Ok(Some(ran))
    }

    /// The first use of freed memory, where freed memory is given to nobody again: a run in which it is given out at once
    /// shows an access of another block.
    fn first_use_of_kept(&mut self, plan: &recorder::Plan) -> Result<Option<(Trace, Use)>, TestError> {
        let keeping = recorder::Plan { keeps_freed: true, ..plan.clone() };
        let Some(ran) = self.replay_once(&keeping, "kept")? else { return Ok(None) };
        let trace = walk(ran.folder.path(), &self.settings.walk, |_| ()).ok().map(|(walked, ())| walked.trace);
        Ok(trace.and_then(|trace| first_use(&trace).map(|found| (trace, found))))
    }

    /// What the run reads from another write than runs that pass.
    fn different(&self, trace: &Trace, find: &Find) -> Option<(String, Vec<String>)> {
        let observed = observe(trace).ok()?;
        let passing: Vec<_> = self.passing_runs().collect();
        let (here, run, there) = first_difference((trace, &observed), &passing)?;
        let sources = sources(&find.schedule, &self.settings.walk.programs);
        let line = |trace: &Trace, observed: &Observed, event: EventId| {
            let (place, shown) = told(trace, event, trace.loc(event).unwrap_or("?"));
            let text = sources.as_ref().and_then(|sources| sources.line(&shown));
            let value = observed.written(event).or(observed.read(event)).map(shown_value);
            let act =
                format!("{}{}", act_of(trace, event), value.map(|value| format!(" = {value}")).unwrap_or_default());
            story::asked(&thread_name(trace, trace.event(event).thread), &act, &place, text)
        };
        let mut lines = Vec::new();
        let told_of = |trace: &Trace, observed: &Observed, Sourced { read, source }: Sourced| {
            let source = source.map(|write| line(trace, observed, write));
            [source.unwrap_or("nothing is written yet".to_string()), line(trace, observed, read)]
        };
        lines.extend(told_of(trace, &observed, here));
        let (trace, observed) = &passing[run];
        lines.push(
            if passing.len() == 1 { "in a run that passes:" } else { "in runs that pass, as in one of them:" }
                .to_string(),
        );
        lines.extend(told_of(trace, observed, there).map(|line| format!("  {line}")));
        let variable = variable_of(trace, there.read);
        Some((format!("{variable} has another value than in runs that pass"), lines))
    }

    /// The block that the run tore, where it ended by itself: of a deadlock it matters who waits for whom.
    fn torn(&self, trace: &Trace, find: &Find) -> Option<Attempt> {
        if find.failure.kind() != "fails" {
            return None;
        }
        let blocks = self.settings.walk.atomic.blocks(trace);
        let Torn { block, path } = torn(trace, &blocks)?;
        let block = blocks.all()[block];
        let sources = sources(&find.schedule, &self.settings.walk.programs);
        let access = |at: EventId| access_in(trace, &blocks, at, sources.as_ref());
        let mut ends = [path[0], path[1], path[3]].map(access);
        ends[0].function = around_both(trace, &blocks, block.first, block.last);
        let mut variables: Vec<&str> = path.iter().map(|at| variable_of(trace, *at)).collect();
        variables.sort_unstable();
        variables.dedup();
        Some(Attempt {
            kind: Kind::Observed,
            class: String::new(),
            variable: variables.join(", "),
            pattern: Pattern::Rwr,
            accesses: ends,
            also: Vec::new(),
            to_make: None,
            cycle: Some(Cycle {
                path: path.iter().map(|at| (access(*at), act(trace, *at))).collect(),
                thread: thread_name(trace, block.thread),
                other: thread_name(trace, trace.event(path[1]).thread),
                kind: CycleKind::Block,
            }),
            witness: find.schedule.clone(),
            recording: find.schedule.clone(),
            seed: find.seed,
            rank: Rank::guarded(block.height, block.last.0 - block.first.0),
        })
    }

    /// Where the trace of a run has an access, with the line of source.
    fn told_in(&self, trace: &Trace, event: &Event, recording: &Path) -> Option<(String, Option<String>)> {
        let is_it = |other: &foretrace_trace::Event| {
            // A branch before the access has no record, and counts as at the same one.
            other.op.var().is_some()
                && other.at == Some(event.record.at)
                && trace.threads[other.thread.index()].path.as_deref() == Some(&*event.path)
        };
        let at = EventId::from_index(trace.events.iter().position(is_it)?);
        let (place, shown) = told(trace, at, trace.loc(at)?);
        let text = sources(recording, &self.settings.walk.programs)
            .and_then(|sources| Some(sources.line(&shown)?.trim().to_string()));
        Some((place, text))
    }
}

/// A use of freed memory, and the `free`.
type Use = (EventId, EventId);

/// The first access of memory after its `free` in the recorded order, and that `free`.
fn first_use(trace: &Trace) -> Option<Use> {
    let mut freed: Vec<Option<EventId>> = vec![None; trace.vars.len()];
    let mut objects: Vec<Option<EventId>> = vec![None; trace.syncs.len()];
    for (at, event) in trace.events.iter().enumerate() {
        let at = EventId::from_index(at);
        if let Op::Free { vars, syncs, .. } = &event.op {
            vars.iter().for_each(|var| freed[var.index()] = Some(at));
            syncs.iter().for_each(|sync| objects[sync.index()] = Some(at));
        }
        let var = event.op.var().filter(|_| !event.op.is_external()); // what the next access finds there, not an access
        let of_object = || event.op.used_syncs().iter().flatten().find_map(|sync| objects[sync.index()]);
        if let Some(free) = var.and_then(|var| freed[var.index()]).or_else(of_object) {
            return Some((at, free));
        }
    }
    None
}

/// The variable or object that an event uses.
fn used_in(trace: &Trace, use_: EventId) -> &str {
    let op = &trace.event(use_).op;
    let object = || op.used_syncs().into_iter().flatten().next().map(|sync| &*trace.syncs[sync.index()].key);
    op.var().map(|var| trace.vars[var.index()].shown()).or_else(object).unwrap_or("memory")
}

fn lines(trace: &Trace, use_: EventId, free: EventId) -> Vec<String> {
    let place = |event: EventId| {
        let own = own_place_before(trace, event).filter(|_| trace.loc(event).is_none_or(is_of_library));
        let loc = own.or(trace.loc(event)).map(|loc| below_project(line_of(loc)));
        loc.unwrap_or("a place that is not known").to_string()
    };
    let thread = |event: EventId| thread_name(trace, trace.event(event).thread);
    vec![
        format!("use after free: {} {} at {}", thread(use_), story::below_folders(&act_of(trace, use_)), place(use_)),
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

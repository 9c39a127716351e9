//! What a failing run reads that no passing run reads at that point: where no three accesses tell why it fails, the order of two threads
//! may.
//!
//! Source: S. Park, R. Vuduc, M. J. Harrold, *Falcon: Fault Localization in Concurrent Programs*, ICSE 2010 (suspicious patterns of accesses); here a
//! pattern is a read and the write that it reads.

use crate::predicting::variable_of;
use foretrace_trace::{EventId, Observed, Trace};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// An access that runs of one program have in common: the path of the thread's forks, the place, and how often the thread was there.
type Point<'t> = (Option<&'t str>, &'t str, u32);

/// A read, and the write that it reads; nothing where that is the initial value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sourced {
    pub read: EventId,
    pub source: Option<EventId>,
}

/// The first read of the failing run whose write and value are others than in each passing run that has that read, with the same read of the
/// first such run. Of a read that only some of them have, they say enough. Variables of a library come after the program's own.
pub(crate) fn first_difference(
    failing: (&Trace, &Observed),
    passing: &[(Trace, Observed)],
) -> Option<(Sourced, usize, Sourced)> {
    let of_passing: Vec<_> = passing.iter().map(|(trace, observed)| sources(trace, observed)).collect();
    let mut reads: Vec<_> = sources(failing.0, failing.1).into_iter().collect();
    let is_of_library =
        |read: EventId| failing.0.event(read).op.var().is_some_and(|var| failing.0.vars[var.index()].is_of_library());
    reads.sort_by_key(|(_, (sourced, _))| (is_of_library(sourced.read), sourced.read));
    reads.into_iter().find_map(|(point, (sourced, source))| {
        // A line may read several variables, and in another run others of them.
        let is_same =
            |run: usize, of: Sourced| variable_of(failing.0, sourced.read) == variable_of(&passing[run].0, of.read);
        let others = of_passing.iter().enumerate().filter_map(|(run, reads)| Some((run, reads.get(&point)?)));
        let mut others = others.filter(|(run, (other, _))| is_same(*run, *other));
        let first = others.clone().next()?;
        let value = failing.1.read(sourced.read);
        let has_value = |run: usize, of: Sourced| value.is_some() && passing[run].1.read(of.read) == value;
        let is_alone = others.all(|(run, (other, write))| *write != source && !has_value(run, *other));
        // What reads its own thread's write in both is as far as it was.
        let is_own = |trace: &Trace, of: Sourced| {
            of.source.is_some_and(|write| trace.event(write).thread == trace.event(of.read).thread)
        };
        let (run, (other, _)) = first;
        let is_between = !is_own(failing.0, sourced) || !is_own(&passing[run].0, *other);
        (is_alone && is_between).then_some((sourced, run, *other))
    })
}

/// Per read its write, by points.
fn sources<'t>(trace: &'t Trace, observed: &Observed) -> BTreeMap<Point<'t>, (Sourced, Option<Point<'t>>)> {
    let points = points(trace);
    let reads = trace.iter().filter(|(_, event)| event.op.reads() && !event.op.is_external());
    let sourced = reads.filter_map(|(read, _)| {
        let source = observed.source(read);
        let of_source = source.and_then(|write| points.get(&write).copied());
        Some((*points.get(&read)?, (Sourced { read, source }, of_source)))
    });
    sourced.collect()
}

fn points(trace: &Trace) -> FxHashMap<EventId, Point<'_>> {
    let mut counts: FxHashMap<(Option<&str>, &str), u32> = FxHashMap::default();
    let mut points = FxHashMap::default();
    for (id, event) in trace.iter() {
        let (true, Some(loc)) = (event.op.var().is_some(), trace.loc(id)) else { continue };
        let path = trace.threads[event.thread.index()].path.as_deref();
        let count = counts.entry((path, loc)).or_default();
        *count += 1;
        points.insert(id, (path, loc, *count));
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretrace_trace::jsonl;

    /// Main writes an index twice, and a thread that it starts after the first write reads it, before or after the second one.
    fn run(reads_late: bool) -> (Trace, Observed) {
        let header = r#"{"foretrace":1,"data":"concrete","vars":{"x":{"sort":"Int","init":0}},"threads":{"1":{"path":"0"},"2":{"path":"0.1"}}}"#;
        let write = |value: u32| format!(r#"{{"t":1,"op":"write","var":"x","value":{value},"loc":"a.c:3"}}"#);
        let fork = r#"{"t":1,"op":"fork","child":2,"loc":"a.c:4"}"#.to_string();
        let read = |value: u32| format!(r#"{{"t":2,"op":"read","var":"x","value":{value},"loc":"a.c:9"}}"#);
        let own = r#"{"t":1,"op":"read","var":"x","value":2,"loc":"a.c:5"}"#.to_string();
        let rest = if reads_late { [write(2), own, read(2)] } else { [read(1), write(2), own] };
        let events = [[header.to_string(), write(1), fork].to_vec(), rest.to_vec()].concat();
        jsonl::read(events.join("\n").as_bytes()).expect("a trace")
    }

    #[test]
    fn the_first_read_of_another_write_than_in_runs_that_pass() {
        let (late, early) = (run(true), run(false));
        let found = first_difference((&late.0, &late.1), &[run(false), run(false)]);
        let of = |read: u32, source: u32| Sourced { read: EventId(read), source: Some(EventId(source)) };
        assert_eq!(found, Some((of(4, 2), 0, of(2, 0))));
        assert_eq!(first_difference((&early.0, &early.1), &[run(true)]), Some((of(2, 0), 0, of(4, 2))));
    }

    /// A line of a loop reads one field in one run, and another one in the other.
    #[test]
    fn reads_of_other_variables_are_not_compared() {
        let late = run(true);
        let (mut other, observed) = run(false);
        other.vars[0].name = Some("y".into());
        assert_eq!(first_difference((&late.0, &late.1), &[(other, observed)]), None);
    }

    /// The order of two writes of one value changes nothing.
    #[test]
    fn the_same_value_of_another_write_is_no_difference() {
        let same = |reads_late: bool| {
            let header = r#"{"foretrace":1,"data":"concrete","vars":{"x":{"sort":"Int","init":0}},"threads":{"1":{"path":"0"},"2":{"path":"0.1"}}}"#;
            let event = |rest: &str| format!(r#"{{{rest}}}"#);
            let first = event(r#""t":1,"op":"write","var":"x","value":1,"loc":"a.c:3""#);
            let second = event(r#""t":1,"op":"write","var":"x","value":1,"loc":"a.c:6""#);
            let read = event(r#""t":2,"op":"read","var":"x","value":1,"loc":"a.c:9""#);
            let rest = if reads_late { [second, read] } else { [read, second] };
            let events = [[header.to_string(), first].to_vec(), rest.to_vec()].concat();
            jsonl::read(events.join("\n").as_bytes()).expect("a trace")
        };
        let late = same(true);
        assert_eq!(first_difference((&late.0, &late.1), &[same(false)]), None);
    }

    #[test]
    fn what_one_passing_run_reads_too_is_no_difference() {
        let late = run(true);
        assert_eq!(first_difference((&late.0, &late.1), &[run(false), run(true)]), None);
        assert_eq!(first_difference((&late.0, &late.1), &[]), None);
    }
}

//! The closure against a search through the edges themselves.

use super::closure::{Closure, Gain, Point};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeSet;

const THREADS: u32 = 4;
const EVENTS: u32 = 6;

/// What is tried: an edge, or to take back as many levels.
#[derive(Clone, Debug)]
enum Try {
    Edge(Point, Point),
    TakeBack(usize),
}

fn point() -> impl Strategy<Value = Point> {
    (0..THREADS, 0..EVENTS).prop_map(|(thread, position)| Point { thread, position })
}

fn tries() -> impl Strategy<Value = Vec<Try>> {
    let edge = (point(), point()).prop_map(|(from, to)| Try::Edge(from, to));
    vec(prop_oneof![8 => edge, 1 => (1usize..4).prop_map(Try::TakeBack)], 1..40)
}

fn points() -> impl Iterator<Item = Point> {
    (0..THREADS).flat_map(|thread| (0..EVENTS).map(move |position| Point { thread, position }))
}

/// All events that come after one, or are it, by searching.
fn after(from: Point, edges: &[(Point, Point)]) -> BTreeSet<(u32, u32)> {
    let (mut found, mut pending) = (BTreeSet::new(), vec![from]);
    while let Some(at) = pending.pop() {
        if at.position < EVENTS && found.insert((at.thread, at.position)) {
            pending.push(Point { position: at.position + 1, ..at });
            pending.extend(edges.iter().filter(|(from, _)| *from == at).map(|(_, to)| *to));
        }
    }
    found
}

fn reaches(from: Point, to: Point, edges: &[(Point, Point)]) -> bool {
    after(from, edges).contains(&(to.thread, to.position))
}

/// Whether the gain speaks of it that one event comes before another.
fn tells(gain: &Gain, from: Point, to: Point) -> bool {
    let of_threads = (gain.known, gain.knower) == (from.thread, to.thread);
    of_threads && gain.positions.contains(&to.position) && gain.events.contains(&from.position)
}

/// The edges that a chain of first causes rests on.
fn causes(closure: &Closure, edges: &[(Point, Point)], from: Point, to: Point) -> Vec<u32> {
    if from.thread == to.thread {
        return Vec::new();
    }
    let edge = closure.first_cause(from, to).expect("it is known");
    let (before, after) = edges[edge as usize];
    [causes(closure, edges, from, before), vec![edge], causes(closure, edges, after, to)].concat()
}

proptest! {
    #[test]
    fn the_closure_knows_what_a_search_finds(tries in tries()) {
        let (mut closure, mut edges, mut marks) = (Closure::new(THREADS as usize), Vec::new(), Vec::new());
        for one in tries {
            match one {
                Try::TakeBack(levels) => {
                    let kept = edges.len().saturating_sub(levels);
                    if let Some(mark) = marks.drain(kept..).next() {
                        closure.take_back(mark);
                    }
                    edges.truncate(kept);
                }
                Try::Edge(from, to) if from.thread == to.thread || reaches(to, from, &edges) => {}
                Try::Edge(from, to) => {
                    let known = edges.clone();
                    marks.push(closure.changes());
                    edges.push((from, to));
                    let mut gains = Vec::new();
                    if !closure.reaches(from, to) {
                        closure.add(from, to, edges.len() as u32 - 1, &mut gains);
                    }
                    for (a, b) in points().flat_map(|a| points().map(move |b| (a, b))) {
                        let is_new = reaches(a, b, &edges) && !reaches(a, b, &known);
                        prop_assert!(!is_new || gains.iter().any(|gain| tells(gain, a, b)), "{a:?} {b:?} is not told");
                        let is_told = gains.iter().any(|gain| tells(gain, a, b));
                        prop_assert!(!is_told || reaches(a, b, &edges), "{a:?} {b:?} is told");
                    }
                }
            }
            for (a, b) in points().flat_map(|a| points().map(move |b| (a, b))) {
                prop_assert_eq!(closure.reaches(a, b), reaches(a, b, &edges), "{:?} {:?}", a, b);
                let first = after(a, &edges).into_iter().find(|(thread, _)| *thread == b.thread);
                prop_assert_eq!(closure.first_after(a, b.thread), first.map(|(_, position)| position));
            }
        }
    }

    /// Of an event before another one, the causes alone say so, and without the last of them nothing did yet.
    #[test]
    fn causes_are_a_path_of_what_was_there_first(tries in tries()) {
        let (mut closure, mut edges) = (Closure::new(THREADS as usize), Vec::new());
        for one in tries {
            if let Try::Edge(from, to) = one
                && !closure.reaches(to, from)
                && !closure.reaches(from, to)
            {
                edges.push((from, to));
                closure.add(from, to, edges.len() as u32 - 1, &mut Vec::new());
            }
        }
        for (a, b) in points().flat_map(|a| points().map(move |b| (a, b))) {
            if a.thread != b.thread && closure.reaches(a, b) {
                let causes = causes(&closure, &edges, a, b);
                let alone: Vec<(Point, Point)> = causes.iter().map(|edge| edges[*edge as usize]).collect();
                prop_assert!(reaches(a, b, &alone), "{a:?} {b:?} does not follow from {alone:?}");
                let last = causes.iter().copied().max().expect("one or more") as usize;
                prop_assert!(!reaches(a, b, &edges[..last]), "{a:?} {b:?} was known before edge {last}");
            }
        }
    }
}

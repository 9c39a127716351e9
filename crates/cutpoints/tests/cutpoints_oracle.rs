//! Cut-points and schedules against the exhaustive search over all prefixes in the model of free reads.
//!
//! `FORETRACE_SEEDS` says how many random traces of each kind (default 300), `FORETRACE_SEED` where to start.

use foretrace_checker::oracle::Oracle;
use foretrace_checker::{Checker, Interruption};
use foretrace_cutpoints::{CutPoint, CutPoints, Ends, Middle, Schedule, Synthesizer, Then};
use foretrace_trace::random::Random;
use foretrace_trace::strategies::{Shape, random_trace};
use foretrace_trace::{
    Atomic, Data, EventId, Feasibility, Independence, Model, Observed, Pattern, Question, SyncKind, Trace,
    TraceBuilder, Transaction, Triple,
};
use std::collections::{BTreeMap, BTreeSet};

const QUESTION: Question =
    Question { model: Model::Cam, feasibility: Feasibility::Prefix, independence: Independence::Conflict };

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn seeds() -> std::ops::Range<u64> {
    let start = number("FORETRACE_SEED", 0);
    start..start + number("FORETRACE_SEEDS", 300)
}

/// What one thread of a trace with nested locks does.
#[derive(Default)]
struct Nest {
    held: Vec<usize>,
    blocks: usize,
}

/// A trace of accesses in nested critical sections and blocks, and nothing else.
fn nested_locks(seed: u64) -> Trace {
    let mut random = Random::new(seed);
    let (locks, vars, threads) = (2 + random.below(3), 1 + random.below(2), 2 + random.below(2));
    let length = 10 + random.below(if threads == 2 { 20 } else { 12 });
    let mut builder = TraceBuilder::new(Data::None);
    for lock in 0..locks {
        builder.sync(&format!("m{lock}"), SyncKind::Mutex { recursive: false });
    }
    let mut nests: Vec<Nest> = (0..threads).map(|_| Nest::default()).collect();
    let mut owner: Vec<Option<usize>> = vec![None; locks];
    for number in 1..=threads {
        if random.below(100) < 70 {
            builder.begin(number as u64);
            nests[number - 1].blocks += 1;
        }
    }
    let mut thread = 0;
    for _ in 0..length {
        if random.below(100) < 40 {
            thread = random.below(threads);
        }
        let (nest, id) = (&mut nests[thread], thread as u64 + 1);
        let var = format!("x{}", random.below(vars));
        match random.below(100) {
            0..5 => {
                nest.blocks += 1;
                builder.begin(id);
            }
            5..7 if nest.blocks > 0 => {
                nest.blocks -= 1;
                builder.end(id);
            }
            7..38 => {
                let lock = random.below(locks);
                if owner[lock].is_none() && nest.held.len() < 3 {
                    owner[lock] = Some(thread);
                    nest.held.push(lock);
                    builder.acquire(id, &format!("m{lock}"));
                }
            }
            38..68 => {
                if let Some(lock) = nest.held.pop() {
                    owner[lock] = None;
                    builder.release(id, &format!("m{lock}"));
                }
            }
            68..82 => drop(builder.saw(id, &var, None)),
            82..97 => drop(builder.put(id, &var, None)),
            _ => drop(builder.swapped(id, &var, None)),
        }
    }
    builder.build().expect("a valid trace")
}

/// Gives each event a place of its own, or one of a few.
fn with_places(mut trace: Trace, places: Option<usize>) -> Trace {
    for index in 0..trace.events.len() {
        let line = places.map_or(index, |places| index * 7 % places);
        trace.events[index].loc = Some(trace.names.intern(&format!("f.c:{line}")));
    }
    trace
}

/// What the exhaustive search says of each candidate: whether it can be interrupted, and whether it is feasible.
fn truth(trace: &Trace, transactions: &[Transaction]) -> BTreeMap<Triple, (bool, bool)> {
    let observed = Observed::default();
    let oracle = Oracle::new(trace, &observed, Model::Cam).expect("free reads");
    let feasible = oracle.decide(transactions, Feasibility::Prefix, Independence::Conflict);
    let judge = |(triple, pattern): (Triple, Option<Pattern>)| {
        let interrupted = pattern.is_some() || oracle.interruption(triple, Independence::Conflict).is_some();
        (triple, (interrupted, pattern.is_some()))
    };
    feasible.into_iter().map(judge).collect()
}

fn triples<'a>(points: impl Iterator<Item = &'a CutPoint>) -> BTreeSet<Triple> {
    points.map(|point| point.triple).collect()
}

/// The schedule is a prefix that shows what it says; the event at which the transaction stands still is right before remote's thread
/// gets there.
fn must_show(trace: &Trace, transactions: &[Transaction], point: &CutPoint, schedule: &Schedule, seed: u64) {
    let observed = Observed::default();
    let checker = Checker::new(trace, &observed, transactions, QUESTION).expect("free reads");
    let shown = match schedule.ends {
        Ends::AtSecond => checker.check(point.triple, &schedule.events).map(drop),
        Ends::AtRemote => checker.check(Interruption(point.triple), &schedule.events).map(drop),
    };
    assert_eq!(shown, Ok(()), "seed {seed}, {point:?}, {schedule:?}");
    assert!(schedule.switches[1] <= schedule.switches[0], "seed {seed}");
}

#[test]
fn with_nested_locks_alone_cut_points_are_exact() {
    let (mut candidates, mut feasible, mut shut, mut synthesised) = (0, 0, 0, 0);
    for seed in seeds() {
        let trace = with_places(nested_locks(seed), None);
        let blocks = Atomic::Marked.blocks(&trace);
        let transactions = Atomic::Marked.transactions(&trace);
        let truth = truth(&trace, &transactions);
        let found = CutPoints::in_trace(&trace, &blocks);
        let reached = triples(found.all.iter().filter(|point| point.then == Then::Second));
        let expected = truth.iter().filter(|(_, (_, feasible))| *feasible).map(|(triple, _)| *triple).collect();
        assert_eq!(reached, expected, "seed {seed}: feasible triples");
        let interrupted = truth.iter().filter(|(_, (interrupted, _))| *interrupted).map(|(triple, _)| *triple);
        let interrupted: BTreeSet<Triple> = interrupted.collect();
        assert_eq!(triples(found.all.iter()), interrupted, "seed {seed}: interrupted triples");
        candidates += truth.len();
        feasible += reached.len();
        shut += interrupted.len() - reached.len();
        let observed = Observed::default();
        let synthesizer = Synthesizer::new(&trace, &observed);
        for point in &found.all {
            let schedule = synthesizer.synthesize(point).unwrap_or_else(|why| panic!("seed {seed}, {point:?}: {why}"));
            must_show(&trace, &transactions, point, &schedule, seed);
            let ends = if point.then == Then::Second { Ends::AtSecond } else { Ends::AtRemote };
            assert_eq!(schedule.ends, ends, "seed {seed}, {point:?}");
            synthesised += 1;
        }
    }
    println!("{candidates} candidates, {feasible} feasible, {shut} locked out, {synthesised} schedules");
    assert!(feasible > 100 && candidates > feasible + shut && shut > 0, "{candidates} candidates, {feasible} feasible");
}

#[test]
fn on_every_trace_no_feasible_triple_is_missing() {
    let (mut feasible, mut more, mut made, mut not_made) = (0, 0, 0, 0);
    for seed in seeds() {
        let (trace, observed) = random_trace(seed, &Shape::default());
        let trace = with_places(trace, None);
        for atomic in [Atomic::Marked, Atomic::Auto, Atomic::Threads] {
            let transactions = atomic.transactions(&trace);
            let truth = truth(&trace, &transactions);
            let found = CutPoints::in_trace(&trace, &atomic.blocks(&trace));
            let ours: Vec<&CutPoint> = found.all.iter().filter(|point| !is_of_library(&trace, point)).collect();
            let reached = triples(ours.iter().filter(|point| point.then == Then::Second).copied());
            let all = triples(ours.iter().copied());
            for (triple, (interrupted, is_feasible)) in &truth {
                assert!(!is_feasible || reached.contains(triple), "seed {seed}, {atomic}: {triple} is missing");
                assert!(!interrupted || all.contains(triple), "seed {seed}, {atomic}: {triple} interrupts");
                feasible += usize::from(*is_feasible);
            }
            more += reached.iter().filter(|triple| !truth[triple].1).count();
            let synthesizer = Synthesizer::new(&trace, &observed);
            for point in ours {
                for middle in [Middle::Alone, Middle::Together] {
                    if let Ok(schedule) = synthesizer.with_middle(point, middle) {
                        must_show(&trace, &transactions, point, &schedule, seed);
                    }
                }
                match synthesizer.synthesize(point) {
                    Ok(schedule) if schedule.ends == Ends::AtSecond => made += 1,
                    _ if truth[&point.triple].1 => not_made += 1,
                    _ => {}
                }
            }
        }
    }
    println!("{feasible} feasible, {more} cut-points are not, {made} schedules, {not_made} feasible ones without");
    assert!(feasible > 100 && made > not_made * 10, "{feasible} feasible, {made} schedules, {not_made} not made");
}

fn is_of_library(trace: &Trace, point: &CutPoint) -> bool {
    trace.vars[point.var.index()].is_of_library()
}

/// A class of triples, as people tell them apart.
fn class(trace: &Trace, triple: Triple) -> (BTreeSet<u32>, [Option<String>; 3], [&'static str; 3], u32) {
    let Triple { first, remote, second } = triple;
    let events: [EventId; 3] = [first, remote, second];
    let threads = BTreeSet::from([trace.event(first).thread.0, trace.event(remote).thread.0 << 16]);
    let var = trace.event(first).op.var().map_or(0, |var| var.0);
    let places = events.map(|event| trace.loc(event).map(str::to_string));
    (threads, places, events.map(|event| trace.event(event).op.kind()), var)
}

#[test]
fn each_class_keeps_a_triple_that_is_feasible() {
    let (mut classes, mut triples) = (0, 0);
    for seed in seeds() {
        let trace = with_places(nested_locks(seed), Some(3));
        let transactions = Atomic::Marked.transactions(&trace);
        let truth = truth(&trace, &transactions);
        let found = CutPoints::in_trace(&trace, &Atomic::Marked.blocks(&trace));
        let reached = found.all.iter().filter(|point| point.then == Then::Second);
        let kept: Vec<Triple> = reached.map(|point| point.triple).collect();
        assert!(kept.iter().all(|triple| truth[triple].1), "seed {seed}: a representative that cannot happen");
        let kept: BTreeSet<_> = kept.into_iter().map(|triple| class(&trace, triple)).collect();
        let feasible = truth.iter().filter(|(_, (_, feasible))| *feasible).map(|(triple, _)| *triple);
        let expected: BTreeSet<_> = feasible.clone().map(|triple| class(&trace, triple)).collect();
        assert_eq!(kept, expected, "seed {seed}");
        classes += expected.len();
        triples += feasible.count();
    }
    println!("{triples} triples in {classes} classes");
    assert!(classes > 50 && triples > classes);
}

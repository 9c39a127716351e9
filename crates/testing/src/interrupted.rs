//! Where a run interrupted a thread between two accesses that conflict with one in between.
//!
//! Of a run that fails, with as few turns as it fails with, the nearest accesses around an interruption are likely those that should have been
//! atomic; that it does not fail where the interruption is left out says that they are.
//!
//! Source: J.-D. Choi, A. Zeller, *Isolating Failure-Inducing Thread Schedules*, ISSTA 2002, section 4 (the switch without which a run passes).

use foretrace_trace::{BlockKind, Blocks, EventId, Op, Pattern, Trace, Triple};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::ops::Range;

/// Events that are looked at.
const MOST_WORK: usize = 5_000_000;
/// So many accesses of a thread before an interruption, and after it, are compared with what comes between.
const MOST_NEAR: usize = 400;

/// An interruption of a thread.
#[derive(Clone, Debug)]
pub(crate) struct Interruption {
    /// The thread's last access of a variable before it, an access of another thread in it that conflicts, and the thread's first one after it.
    pub triple: Triple,
    /// What the accesses do.
    pub pattern: Pattern,
    /// The innermost block that holds the first and the second one, by its position among all.
    pub block: Option<usize>,
    /// How unlikely it is to be a cause: more where the accesses are far from each other, or the block is large.
    doubt: usize,
    /// Accesses of the thread between the first and the second one.
    distance: usize,
    /// Events of the thread in the block.
    block_size: usize,
    /// Whether no block but the thread holds them.
    is_whole_thread: bool,
    /// Whether the variable is a library's own.
    is_internal: bool,
    /// Whether each access reads and writes in one step, and so is whole by itself.
    is_counter: bool,
    /// Whether first and second are the same read, which asks again and again.
    is_polling: bool,
}

/// The places of the three accesses: the same in all runs of a program.
pub(crate) type Places = [String; 3];

/// All interruptions of a run, the likeliest causes of a failure first: the accesses are near each other in a small block of the thread that
/// fails, and are none of the usual ones, which runs that pass have in that order, too.
pub(crate) fn interruptions(trace: &Trace, blocks: &Blocks, usual: &BTreeSet<Places>) -> Vec<Interruption> {
    let failed = trace.events.iter().rfind(|event| matches!(event.op, Op::Fail { .. })).map(|event| event.thread);
    let mut found = all(trace, blocks);
    for one in &mut found {
        let thread = trace.event(one.triple.first).thread;
        let doubts = [
            (usual.contains(&one.places(trace)), 2),
            (failed.is_some_and(|failed| thread != failed), 4),
            (one.is_polling, 4),
            (one.is_counter, 8),
        ];
        let weight: usize = doubts.iter().map(|(doubt, weight)| if *doubt { *weight } else { 1 }).product();
        one.doubt = (one.distance + one.block_size / 2 + 1) * weight;
    }
    found.sort_by_key(|one| (one.is_whole_thread, one.is_internal, one.doubt, one.triple));
    found
}

impl Interruption {
    /// Whether it is a cause much rather than another one.
    pub fn is_much_likelier(&self, other: &Interruption) -> bool {
        const MUCH: usize = 2;
        let is_far = |one: &Interruption| (one.is_whole_thread, one.is_internal);
        is_far(self) <= is_far(other) && self.doubt.saturating_mul(MUCH) <= other.doubt
    }

    /// The orders of the run's events without it: the interrupted thread goes on to the second access before the others do, or it comes to the
    /// first one only after them. Each comes with the access up to which the program must go along: from there on it may go another way.
    pub fn orders_without(&self, trace: &Trace) -> [(Vec<EventId>, EventId); 2] {
        let Triple { first, second, .. } = self.triple;
        let is_own = |at: &EventId| trace.event(*at).thread == trace.event(first).thread;
        [(true, second), (false, first)].map(|(own_first, until)| {
            let mut order: Vec<EventId> = (0..trace.events.len()).map(EventId::from_index).collect();
            let between = &mut order[first.index()..=second.index()];
            between.sort_by_key(|at| is_own(at) != own_first); // stable: each thread keeps its order
            (order, until)
        })
    }

    /// Where its accesses are.
    pub fn places(&self, trace: &Trace) -> Places {
        self.locations(trace).map(str::to_string)
    }

    fn locations<'t>(&self, trace: &'t Trace) -> [&'t str; 3] {
        let Triple { first, remote, second } = self.triple;
        [first, remote, second].map(|at| trace.loc(at).unwrap_or("?"))
    }
}

/// An access, and how many accesses of its thread are nearer to an interruption.
type Near = (usize, EventId);

fn all(trace: &Trace, blocks: &Blocks) -> Vec<Interruption> {
    let mut of_thread: Vec<Vec<EventId>> = vec![Vec::new(); trace.threads.len()];
    let mut found: FxHashMap<[&str; 3], Interruption> = FxHashMap::default();
    let mut work = MOST_WORK;
    for (at, event) in trace.iter() {
        let own = &mut of_thread[event.thread.index()];
        let pause = own.last().map_or(at.0, |last| last.0 + 1)..at.0;
        if !pause.is_empty() && !waits(&event.op) {
            let Some(left) = work.checked_sub(pause.len() + MOST_NEAR) else { break };
            work = left;
            for one in around(trace, blocks, own, pause, at) {
                let known = found.entry(one.locations(trace)).or_insert_with(|| one.clone());
                if one.distance < known.distance {
                    *known = one;
                }
            }
        }
        own.push(at);
    }
    let mut found: Vec<Interruption> = found.into_values().collect();
    for one in &mut found {
        let own = &of_thread[trace.event(one.triple.first).thread.index()];
        if let Some(block) = one.block.map(|at| blocks.all()[at]) {
            one.block_size = own.partition_point(|at| *at <= block.last) - own.partition_point(|at| *at < block.first);
        }
    }
    found
}

/// Whether a thread stands at such an event until others go on: there it is meant to be interrupted.
fn waits(op: &Op) -> bool {
    matches!(op, Op::Wait { .. } | Op::Join { .. } | Op::Down { .. } | Op::Depart { .. })
}

/// The interruptions of a thread in one of its pauses, after which it goes on with `next`.
fn around(trace: &Trace, blocks: &Blocks, own: &[EventId], pause: Range<u32>, next: EventId) -> Vec<Interruption> {
    let mut between: FxHashMap<usize, [Option<EventId>; 2]> = FxHashMap::default();
    for at in pause.map(EventId) {
        if let Some(var) = variable(trace, at) {
            between.entry(var).or_default()[usize::from(trace.event(at).op.writes())].get_or_insert(at);
        }
    }
    let thread = trace.event(next).thread;
    let before = nearest(trace, own.iter().rev().copied(), &between);
    if before.is_empty() {
        return Vec::new();
    }
    let later = (next.0..trace.events.len() as u32).map(EventId).filter(|at| trace.event(*at).thread == thread);
    let after = nearest(trace, later, &between);
    let in_order = |(var, (far, first)): (&usize, &Near)| {
        let (near, second) = after.get(var)?;
        let [read, write] = between[var];
        let triples =
            [write, read].into_iter().flatten().map(|remote| Triple { first: *first, remote, second: *second });
        let (triple, pattern) =
            triples.into_iter().find_map(|triple| Some((triple, triple.patterns(trace).next()?)))?;
        let block = blocks.innermost(thread, *first, *second);
        let op = |at: EventId| &trace.event(at).op;
        let Triple { first, remote, second } = triple;
        Some(Interruption {
            triple,
            pattern,
            block,
            doubt: 0,
            distance: far + near,
            block_size: 0,
            is_whole_thread: block.is_none_or(|at| blocks.all()[at].kind == BlockKind::Thread),
            is_internal: trace.vars[*var].is_of_library(),
            is_counter: [first, remote, second].into_iter().all(|at| matches!(op(at), Op::Rmw { .. })),
            is_polling: pattern == Pattern::Rwr && trace.loc(first) == trace.loc(second),
        })
    };
    before.iter().filter_map(in_order).collect()
}

/// Of each of these variables the nearest access of a thread. A wait is where the thread is meant to be interrupted: nothing beyond it counts.
fn nearest<T>(
    trace: &Trace,
    of_thread: impl Iterator<Item = EventId>,
    wanted: &FxHashMap<usize, T>,
) -> FxHashMap<usize, Near> {
    let mut found = FxHashMap::default();
    let of_thread = of_thread.take_while(|at| !waits(&trace.event(*at).op));
    let accesses = of_thread.filter_map(|at| Some((at, variable(trace, at)?)));
    for (far, (at, var)) in accesses.take(MOST_NEAR).enumerate() {
        if wanted.contains_key(&var) {
            found.entry(var).or_insert((far, at));
        }
    }
    found
}

/// The variable that the program itself accesses.
fn variable(trace: &Trace, at: EventId) -> Option<usize> {
    let op = &trace.event(at).op;
    op.var().filter(|_| !op.is_external()).map(|var| var.index())
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretrace_trace::{Atomic, jsonl};

    /// A run of three threads; each event is a thread, what it does to a variable, and where.
    fn run(events: &[(u32, &str, &str, &str)]) -> (Trace, Blocks) {
        let header = r#"{"foretrace":1,"data":"none","vars":{"x":{},"y":{}},"threads":{"1":{},"2":{},"3":{}}}"#;
        let line = |(thread, op, var, loc): &(u32, &str, &str, &str)| match *op {
            "begin" | "end" => format!(r#"{{"t":{thread},"op":"{op}","label":"{var}"}}"#),
            _ => format!(r#"{{"t":{thread},"op":"{op}","var":"{var}","loc":"{loc}"}}"#),
        };
        let lines: Vec<String> = std::iter::once(header.to_string()).chain(events.iter().map(line)).collect();
        let (trace, _) = jsonl::read(lines.join("\n").as_bytes()).expect("a trace");
        let blocks = Atomic::Marked.blocks(&trace);
        (trace, blocks)
    }

    fn found((trace, blocks): &(Trace, Blocks), passing: &[(Trace, Blocks)]) -> Vec<(Pattern, [u32; 3])> {
        let places = |(trace, blocks): &(Trace, Blocks)| {
            let found = interruptions(trace, blocks, &BTreeSet::new());
            found.iter().map(|one| one.places(trace)).collect::<Vec<_>>()
        };
        let all = interruptions(trace, blocks, &passing.iter().flat_map(places).collect());
        all.iter()
            .map(|one| (one.pattern, [one.triple.first, one.triple.remote, one.triple.second].map(|at| at.0)))
            .collect()
    }

    const LOOKS: (u32, &str, &str, &str) = (1, "read", "x", "a:1");
    const SETS: (u32, &str, &str, &str) = (1, "write", "x", "a:2");
    const OTHER_SETS: (u32, &str, &str, &str) = (2, "write", "x", "a:2");
    const WAITS: (u32, &str, &str, &str) = (3, "read", "x", "a:9");
    const BEGINS: (u32, &str, &str, &str) = (1, "begin", "get", "");
    const ENDS: (u32, &str, &str, &str) = (1, "end", "get", "");

    #[test]
    fn who_asks_again_and_again_is_interrupted_less_than_who_goes_by_what_it_read() {
        let polls =
            [(3, "begin", "wait", ""), WAITS, BEGINS, LOOKS, OTHER_SETS, SETS, ENDS, WAITS, (3, "end", "wait", "")];
        assert_eq!(found(&run(&polls), &[]), [(Pattern::Rww, [3, 4, 5]), (Pattern::Rwr, [1, 4, 7])]);
    }

    #[test]
    fn what_passing_runs_have_comes_later() {
        let of_y = [(1, "read", "y", "a:5"), (2, "write", "y", "a:6"), (1, "read", "y", "a:7")];
        let both = [BEGINS, LOOKS, of_y[0], OTHER_SETS, of_y[1], of_y[2], SETS, ENDS];
        assert_eq!(found(&run(&both), &[]), [(Pattern::Rwr, [2, 4, 5]), (Pattern::Rww, [1, 3, 6])]);
        let passes = run(&[BEGINS, of_y[0], of_y[1], of_y[2], ENDS]);
        assert_eq!(found(&run(&both), &[passes]), [(Pattern::Rww, [1, 3, 6]), (Pattern::Rwr, [2, 4, 5])]);
    }

    #[test]
    fn a_pause_without_a_conflict_is_no_interruption() {
        let (reads, other) = ((2, "read", "x", "a:3"), (2, "write", "y", "a:4"));
        assert_eq!(found(&run(&[BEGINS, LOOKS, reads, other, LOOKS, ENDS]), &[]), []);
    }

    #[test]
    fn without_it_each_thread_keeps_its_order() {
        let (trace, blocks) = run(&[BEGINS, LOOKS, OTHER_SETS, WAITS, OTHER_SETS, SETS, OTHER_SETS, ENDS]);
        let one = &interruptions(&trace, &blocks, &BTreeSet::new())[0];
        let orders = one.orders_without(&trace).map(|(order, until)| (order.iter().map(|at| at.0).collect(), until.0));
        let (own_first, others_first): (Vec<u32>, Vec<u32>) =
            (vec![0, 1, 5, 2, 3, 4, 6, 7], vec![0, 2, 3, 4, 1, 5, 6, 7]);
        assert_eq!(orders, [(own_first, 5), (others_first, 1)]);
    }
}

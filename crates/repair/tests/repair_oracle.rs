//! The repairs of random small traces equal those of the paper's own algorithms, and those that the definition names.

use foretrace_repair::{Limits, Operations, Relation, Segment, eliminators, is_serializable};
use foretrace_trace::{Atomic, Data, EventId, Op, Trace, TraceBuilder};
use std::collections::BTreeSet;

/// A conflict or an order of a thread, by the positions of its two accesses.
type Edge = (usize, usize);
type Sets = BTreeSet<BTreeSet<Segment>>;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// Two to four threads with one or two operations each, up to ten accesses of up to three variables, interleaved by chance.
fn random_trace(seed: u64) -> Trace {
    random_trace_of(seed, 1, 4)
}

/// The same with at most so many accesses in an operation. With turns of more than one event, the first thread is interrupted anywhere, and
/// the others mostly between operations. So an operation of another thread can end before a third one begins, while one of the first is open.
fn random_trace_of(seed: u64, turn: usize, most: usize) -> Trace {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for _ in 0..8 {
        random.below(2);
    }
    let threads = 2 + random.below(3);
    let variables = 1 + random.below(3);
    let mut left: Vec<Vec<&str>> = vec![Vec::new(); threads];
    let mut accesses = 0;
    for thread in &mut left {
        for _ in 0..1 + random.below(2) {
            thread.push("call");
            for _ in 0..1 + random.below(most) {
                if accesses < 10 {
                    thread.push(["read", "write", "write"][random.below(3)]);
                    accesses += 1;
                }
            }
            thread.push("return");
        }
        thread.reverse();
    }
    let mut builder = TraceBuilder::new(Data::None);
    let mut thread = 0;
    while left.iter().any(|thread| !thread.is_empty()) {
        let is_between = left[thread].last().is_none_or(|next| *next == "call");
        if turn == 1 || thread == 0 || is_between || random.below(turn) == 0 {
            thread = random.below(threads);
        }
        let var = format!("x{}", random.below(variables));
        match left[thread].pop() {
            Some("call") => {
                builder.call(thread as u64 + 1, "f");
            }
            Some("return") => {
                builder.ret(thread as u64 + 1, "f");
            }
            Some("read") => {
                builder.saw(thread as u64 + 1, &var, None);
            }
            Some(_) => {
                builder.put(thread as u64 + 1, &var, None);
            }
            None => {}
        }
    }
    builder.build().expect("the trace is valid")
}

/// A trace as the paper has it, read without any of the crate's code.
struct Plain {
    /// Accesses: event, thread, operation.
    accesses: Vec<(EventId, u32, usize)>,
    /// Conflict edges between accesses, by their positions.
    conflicts: Vec<(usize, usize)>,
}

impl Plain {
    fn new(trace: &Trace) -> Plain {
        let mut operations = 0;
        let mut current = vec![0; trace.threads.len()];
        let mut accesses = Vec::new();
        for (id, event) in trace.iter() {
            if matches!(event.op, Op::Call { .. }) {
                operations += 1;
                current[event.thread.index()] = operations;
            }
            if event.op.var().is_some() {
                accesses.push((id, event.thread.0, current[event.thread.index()]));
            }
        }
        let mut conflicts = Vec::new();
        for (late, (b, thread_b, _)) in accesses.iter().enumerate() {
            for (early, (a, thread_a, _)) in accesses[..late].iter().enumerate() {
                let (a, b) = (&trace.event(*a).op, &trace.event(*b).op);
                if thread_a != thread_b && a.var() == b.var() && (a.writes() || b.writes()) {
                    conflicts.push((early, late));
                }
            }
        }
        Plain { accesses, conflicts }
    }

    /// The same, where an access of an operation that has returned comes before those of operations that are called later.
    fn in_real_time(trace: &Trace) -> Plain {
        let mut plain = Plain::new(trace);
        let mut ends: Vec<(EventId, EventId)> = Vec::new(); // of each operation, by the number of its accesses
        let mut open = vec![0; trace.threads.len()];
        for (id, event) in trace.iter() {
            match event.op {
                Op::Call { .. } => {
                    ends.push((id, EventId(u32::MAX)));
                    open[event.thread.index()] = ends.len() - 1;
                }
                Op::Return { .. } => ends[open[event.thread.index()]].1 = id,
                _ => {}
            }
        }
        for (late, (_, thread_b, of_b)) in plain.accesses.iter().enumerate() {
            for (early, (_, thread_a, of_a)) in plain.accesses[..late].iter().enumerate() {
                let is_before = thread_a != thread_b && ends[*of_a - 1].1 < ends[*of_b - 1].0;
                if is_before && !plain.conflicts.contains(&(early, late)) {
                    plain.conflicts.push((early, late));
                }
            }
        }
        plain
    }

    fn thread(&self, access: usize) -> u32 {
        self.accesses[access].1
    }

    /// The segment from one access of an operation to another.
    fn segment(&self, trace: &Trace, first: usize, last: usize) -> Segment {
        let (first, last) = (self.accesses[first].0, self.accesses[last].0);
        Segment { thread: trace.event(first).thread, first, last }
    }

    /// All decompositions: per access the number of its interval (Definition 4).
    fn decompositions(&self) -> Vec<Vec<usize>> {
        // Whether each access continues the interval of the one before it in its thread.
        let before: Vec<Option<usize>> = (0..self.accesses.len())
            .map(|access| (0..access).rev().find(|other| self.thread(*other) == self.thread(access)))
            .collect();
        let may: Vec<usize> = (0..self.accesses.len())
            .filter(|access| before[*access].is_some_and(|other| self.accesses[other].2 == self.accesses[*access].2))
            .collect();
        let all = 0..1u32 << may.len();
        all.map(|choice| {
            let mut intervals = Vec::new();
            for (access, before) in before.iter().enumerate() {
                let joined = may.iter().position(|other| *other == access).is_some_and(|bit| choice >> bit & 1 == 1);
                let own = if joined { before.map(|other| intervals[other]) } else { None };
                intervals.push(own.unwrap_or(access));
            }
            intervals
        })
        .collect()
    }

    /// The edges of the trace graph, by program order and by conflicts.
    fn edges(&self) -> Vec<(usize, usize)> {
        let mut edges = self.conflicts.clone();
        for late in 0..self.accesses.len() {
            edges.extend((0..late).filter(|early| self.thread(*early) == self.thread(late)).map(|early| (early, late)));
        }
        edges
    }

    /// The segments that are the intervals of more than one access.
    fn intervals(&self, trace: &Trace, decomposition: &[usize]) -> BTreeSet<Segment> {
        let last = |interval: usize| (0..decomposition.len()).rev().find(|access| decomposition[*access] == interval);
        let heads = (0..decomposition.len()).filter(|access| decomposition[*access] == *access);
        heads
            .filter_map(|head| last(head).filter(|last| *last > head).map(|last| self.segment(trace, head, last)))
            .collect()
    }
}

fn contains(large: &BTreeSet<Segment>, small: &BTreeSet<Segment>) -> bool {
    small.iter().all(|small| {
        large.iter().any(|large| large.thread == small.thread && large.first <= small.first && small.last <= large.last)
    })
}

fn optimal(all: Sets) -> Sets {
    all.iter().filter(|set| all.iter().all(|other| other == *set || !contains(set, other))).cloned().collect()
}

/// By the definition (Theorem 1): the smallest decompositions whose interval graph has a cycle.
fn by_definition(trace: &Trace, plain: &Plain) -> Sets {
    let edges = plain.edges();
    let cyclic = plain.decompositions().into_iter().filter(|decomposition| {
        let mut nodes: BTreeSet<usize> = decomposition.iter().copied().collect();
        loop {
            let entered: BTreeSet<usize> = edges
                .iter()
                .map(|(from, to)| (decomposition[*from], decomposition[*to]))
                .filter(|(from, to)| from != to && nodes.contains(from))
                .map(|(_, to)| to)
                .collect();
            let before = nodes.len();
            nodes.retain(|node| entered.contains(node));
            if nodes.len() == before {
                return !nodes.is_empty();
            }
        }
    });
    optimal(cyclic.map(|decomposition| plain.intervals(trace, &decomposition)).collect())
}

/// By section 5.2: all decompositions, all simple cycles of each, all sets of critical segments of each.
fn by_enumeration(trace: &Trace, plain: &Plain) -> Sets {
    let edges = plain.edges();
    let mut all = Sets::new();
    for decomposition in plain.decompositions() {
        let lifted = |(from, to): &(usize, usize)| (decomposition[*from], decomposition[*to]);
        let graph: BTreeSet<(usize, usize)> = edges.iter().map(lifted).filter(|(from, to)| from != to).collect();
        for cycle in simple_cycles(&graph) {
            let choices: Vec<Vec<(usize, usize)>> = (0..cycle.len())
                .map(|at| (cycle[at], cycle[(at + 1) % cycle.len()]))
                .map(|ends| edges.iter().filter(|edge| lifted(edge) == ends).copied().collect())
                .collect();
            each_choice(&choices, &mut |chosen| {
                let mut segments = BTreeSet::new();
                for (at, (leave, _)) in chosen.iter().enumerate() {
                    let (_, enter) = chosen[(at + chosen.len() - 1) % chosen.len()];
                    if *leave < enter {
                        segments.insert(plain.segment(trace, *leave, enter));
                    }
                }
                all.insert(segments);
            });
        }
    }
    optimal(all)
}

fn each_choice(choices: &[Vec<Edge>], then: &mut dyn FnMut(&[Edge])) {
    let mut at = vec![0; choices.len()];
    loop {
        let chosen: Vec<_> = choices.iter().zip(&at).map(|(choice, at)| choice[*at]).collect();
        then(&chosen);
        let Some(next) = (0..at.len()).find(|digit| at[*digit] + 1 < choices[*digit].len()) else { return };
        at[..next].fill(0);
        at[next] += 1;
    }
}

fn simple_cycles(graph: &BTreeSet<(usize, usize)>) -> Vec<Vec<usize>> {
    let mut cycles = Vec::new();
    let starts: BTreeSet<usize> = graph.iter().map(|(from, _)| *from).collect();
    for start in starts {
        let mut paths = vec![vec![start]];
        while let Some(path) = paths.pop() {
            let end = path[path.len() - 1];
            for (_, next) in graph.range((end, 0)..=(end, usize::MAX)) {
                if *next == start {
                    cycles.push(path.clone());
                } else if *next > start && !path.contains(next) {
                    paths.push(path.iter().copied().chain([*next]).collect());
                }
            }
        }
    }
    cycles
}

/// By section 6.1: all sequences of conflict edges that visit each thread at most once.
fn by_conflict_edges(trace: &Trace, plain: &Plain) -> Sets {
    let mut all = Sets::new();
    let mut paths: Vec<Vec<(usize, usize)>> = plain.conflicts.iter().map(|edge| vec![*edge]).collect();
    while let Some(path) = paths.pop() {
        let join = |(_, enter): (usize, usize), (leave, _): (usize, usize)| {
            let same = plain.accesses[enter].2 == plain.accesses[leave].2;
            plain.thread(enter) == plain.thread(leave) && (enter <= leave || same)
        };
        if join(path[path.len() - 1], path[0]) {
            let mut segments = BTreeSet::new();
            for (at, (leave, _)) in path.iter().enumerate() {
                let (_, enter) = path[(at + path.len() - 1) % path.len()];
                if *leave < enter {
                    segments.insert(plain.segment(trace, *leave, enter));
                }
            }
            all.insert(segments);
        }
        let visited: Vec<u32> = path.iter().map(|(leave, _)| plain.thread(*leave)).collect();
        for edge in &plain.conflicts {
            if join(path[path.len() - 1], *edge) && !visited.contains(&plain.thread(edge.0)) {
                paths.push(path.iter().copied().chain([*edge]).collect());
            }
        }
    }
    optimal(all)
}

fn ours(trace: &Trace, relation: Relation) -> Sets {
    let operations = Operations::new(trace, &relation, Atomic::Operations);
    let found = eliminators(&relation, &operations, Limits::NONE);
    assert!(found.complete);
    let sets: Sets = found.sets.iter().map(|set| set.iter().copied().collect()).collect();
    assert_eq!(sets.len(), found.sets.len(), "no repair is found twice");
    sets
}

/// The algorithm of section 5.2 enumerates traces of at most so many accesses: it takes exponential time.
const MOST_ENUMERATED: usize = 9;

/// `FORETRACE_REPAIR_TRACES` says how many traces; 10,000 take a few minutes.
fn how_many() -> u64 {
    std::env::var("FORETRACE_REPAIR_TRACES").ok().and_then(|text| text.parse().ok()).unwrap_or(400)
}

#[test]
fn repairs_are_those_of_the_definition_and_of_both_of_the_papers_algorithms() {
    let mut with_repairs = 0;
    let mut with_several_segments = 0;
    let (mut enumerated, mut enumerated_with_repairs) = (0, 0);
    for seed in 1..=how_many() {
        let trace = random_trace(seed);
        let plain = Plain::new(&trace);
        let found = ours(&trace, Relation::new(&trace));
        assert_eq!(found, by_definition(&trace, &plain), "seed {seed}: definition");
        assert_eq!(found, by_conflict_edges(&trace, &plain), "seed {seed}: section 6.1");
        if plain.accesses.len() <= MOST_ENUMERATED {
            assert_eq!(found, by_enumeration(&trace, &plain), "seed {seed}: section 5.2");
            enumerated += 1;
            enumerated_with_repairs += u64::from(!found.is_empty());
        }
        with_repairs += u64::from(!found.is_empty());
        with_several_segments += u64::from(found.iter().any(|set| set.len() > 1));
    }
    assert!(
        with_repairs > how_many() / 4 && with_several_segments > how_many() / 20,
        "{with_repairs} {with_several_segments}"
    );
    println!(
        "{} traces; {with_repairs} with repairs, {with_several_segments} of several segments; {enumerated} enumerated, {enumerated_with_repairs} of them with repairs",
        how_many()
    );
    assert!(
        enumerated > how_many() / 3 && enumerated_with_repairs > how_many() / 10,
        "{enumerated} {enumerated_with_repairs}"
    );
}

/// The same with the order of operations. Where conflicts alone have no repair, three threads are needed for one.
#[test]
fn repairs_in_real_time_are_those_of_the_definition_and_of_section_6_1() {
    let mut only_in_real_time = 0;
    for seed in 1..=how_many() {
        let trace = random_trace_of(seed, 9, 2);
        let plain = Plain::in_real_time(&trace);
        let found = ours(&trace, Relation::in_real_time(&trace));
        assert_eq!(found, by_definition(&trace, &plain), "seed {seed}: definition");
        assert_eq!(found, by_conflict_edges(&trace, &plain), "seed {seed}: section 6.1");
        let is_new = !found.is_empty() && ours(&trace, Relation::new(&trace)).is_empty();
        assert!(!is_new || trace.threads.len() > 2, "seed {seed}");
        only_in_real_time += u64::from(is_new);
    }
    println!("{} traces; {only_in_real_time} with repairs in real time only", how_many());
    assert!(only_in_real_time > how_many() / 2_000, "{only_in_real_time}");
}

/// A trace is serializable by its whole operations if and only if it has no eliminator.
#[test]
fn a_trace_without_eliminators_is_serializable() {
    for seed in 1..=how_many() {
        let trace = random_trace(seed);
        let relation = Relation::new(&trace);
        let plain = Plain::new(&trace);
        let mut stretches: Vec<(usize, u32, u32)> = Vec::new();
        let mut positions = vec![0; trace.threads.len()];
        let mut last = vec![None; trace.threads.len()];
        let contended: BTreeSet<EventId> =
            trace.threads.iter().enumerate().flat_map(|(thread, _)| steps(&relation, thread)).collect();
        for (event, thread, operation) in plain.accesses.iter().filter(|(event, ..)| contended.contains(event)) {
            let thread = *thread as usize;
            let position = positions[thread];
            positions[thread] += 1;
            match last[thread] {
                Some(of) if of == *operation => {
                    let own = stretches.iter_mut().rev().find(|stretch| stretch.0 == thread);
                    own.expect("the operation has begun").2 = position;
                }
                _ => stretches.push((thread, position, position)),
            }
            last[thread] = Some(*operation);
            assert_eq!(steps(&relation, thread)[position as usize], *event);
        }
        assert_eq!(
            is_serializable(&relation, &stretches),
            ours(&trace, Relation::new(&trace)).is_empty(),
            "seed {seed}"
        );
    }
}

fn steps(relation: &Relation, thread: usize) -> Vec<EventId> {
    relation.steps(foretrace_trace::ThreadId::from_index(thread)).to_vec()
}

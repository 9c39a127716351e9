//! Whether a trace keeps stretches of its threads whole, up to the order of what does not conflict (Theorem 1).

use crate::relation::{Position, Relation};

/// A stretch of a thread's steps: the thread, its first and its last position.
pub(crate) type Stretch = (usize, Position, Position);

/// Whether some trace with the same conflicts runs each stretch without interruption: whether the graph is acyclic in
/// which each stretch is one node. Stretches that overlap count as one.
pub fn is_serializable(relation: &Relation, stretches: &[(usize, u32, u32)]) -> bool {
    let nodes = Nodes::new(relation, stretches);
    // Kahn's algorithm; edges are kept as counts, since each may be there several times.
    let mut incoming = vec![0u32; nodes.count];
    let mut outgoing: Vec<Vec<u32>> = vec![Vec::new(); nodes.count];
    let mut edge = |from: u32, to: u32| {
        if from != to {
            outgoing[from as usize].push(to);
            incoming[to as usize] += 1;
        }
    };
    for (thread, steps) in relation.steps.iter().enumerate() {
        for (position, step) in steps.iter().enumerate() {
            let node = nodes.of[thread][position];
            if position > 0 {
                edge(nodes.of[thread][position - 1], node);
            }
            relation.sources(*step).iter().for_each(|source| edge(nodes.of_event(relation, *source), node));
        }
    }
    let mut ready: Vec<u32> = (0..nodes.count as u32).filter(|node| incoming[*node as usize] == 0).collect();
    let mut done = 0;
    while let Some(node) = ready.pop() {
        done += 1;
        for next in &outgoing[node as usize] {
            incoming[*next as usize] -= 1;
            if incoming[*next as usize] == 0 {
                ready.push(*next);
            }
        }
    }
    done == nodes.count
}

/// The nodes of an interval graph (Definition 5).
struct Nodes {
    count: usize,
    /// Per thread and position the node.
    of: Vec<Vec<u32>>,
    /// Per event, where its node is to be found.
    threads: Vec<u32>,
}

impl Nodes {
    fn new(relation: &Relation, stretches: &[Stretch]) -> Nodes {
        let mut joined: Vec<Vec<bool>> = relation.steps.iter().map(|steps| vec![false; steps.len()]).collect();
        for (thread, first, last) in stretches {
            joined[*thread][*first as usize + 1..=*last as usize].fill(true);
        }
        let mut count = 0;
        let number = |joined: &bool| {
            count += u32::from(!joined);
            count - 1
        };
        let mut number = number;
        let of = joined.iter().map(|joined| joined.iter().map(&mut number).collect()).collect();
        let mut threads = vec![0; relation.events()];
        for (thread, steps) in relation.steps.iter().enumerate() {
            steps.iter().for_each(|step| threads[step.index()] = thread as u32);
        }
        Nodes { count: count as usize, of, threads }
    }

    fn of_event(&self, relation: &Relation, event: foretrace_trace::EventId) -> u32 {
        let position = relation.position(event).unwrap_or_default();
        self.of[self.threads[event.index()] as usize][position as usize]
    }
}

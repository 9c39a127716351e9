//! Which blocks the recorded order itself violates: the monitoring problem.
//!
//! One pass with vector clocks over conflicts and program order, after U. Mathur and M. Viswanathan, "Atomicity checking in linear
//! time using vector clocks", ASPLOS 2020. A variable remembers, for each thread, that thread's latest access
//! that leads to it directly, and the latest one that leads to it through another thread: if the latter is inside a block that is
//! still open, a path came back. Memory grows with variables that several threads share, times threads; not with events.

use foretrace_trace::{Block, Blocks, EventId, Trace, VarId};
use std::rc::Rc;

/// A block that the recorded order violates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Observation {
    /// The block's position among all.
    pub block: usize,
    /// The first access at which a path comes back to it.
    pub end: EventId,
}

/// What leads to the accesses of one kind of a variable: per thread, event numbers from 1.
#[derive(Clone, Default)]
struct Clock {
    direct: Box<[u32]>,
    through: Box<[u32]>,
}

/// An access, by its number from 1, and what its thread knew of others then.
type At = (u32, Rc<[u32]>);

/// What is known of a variable.
#[derive(Clone, Default)]
enum OfVar {
    #[default]
    Untouched,
    /// One thread only: its latest read and write.
    Own {
        thread: u32,
        read: Option<At>,
        write: Option<At>,
    },
    Shared(Box<(Clock, Clock)>),
}

/// Finds every block that the recorded order violates, by the positions of the blocks; `wanted` says which variables count.
pub fn observed(trace: &Trace, blocks: &Blocks, wanted: &dyn Fn(VarId) -> bool) -> Vec<Observation> {
    let wanted: Vec<bool> =
        (0..trace.vars.len()).map(|var| !trace.vars[var].is_of_library() && wanted(VarId::from_index(var))).collect();
    let threads = trace.threads.len();
    let mut clocks: Vec<Rc<[u32]>> = vec![vec![0; threads].into(); threads];
    let mut vars: Vec<OfVar> = vec![OfVar::Untouched; trace.vars.len()];
    let mut open = OpenBlocks::new(trace, blocks.all());
    for (id, event) in trace.iter() {
        let thread = event.thread.index();
        let Some(var) = event.op.var().filter(|var| wanted[var.index()] && !event.op.is_external()) else { continue };
        let (reads, writes) = (event.op.reads(), event.op.writes());
        let now = id.0 + 1;
        let of_var = &mut vars[var.index()];
        match of_var {
            OfVar::Untouched => *of_var = OfVar::Own { thread: thread as u32, read: None, write: None },
            OfVar::Own { thread: other, .. } if *other as usize != thread => *of_var = shared(of_var, threads),
            _ => {}
        }
        match of_var {
            OfVar::Own { read, write, .. } => {
                let at = || Some((now, clocks[thread].clone()));
                *read = if reads { at() } else { read.take() };
                *write = if writes { at() } else { write.take() };
            }
            OfVar::Shared(both) => {
                let (read, write) = &mut **both;
                let back = write.through[thread].max(if writes { read.through[thread] } else { 0 });
                open.came_back(thread, id, back);
                let clock = &mut clocks[thread];
                learn(clock, write);
                if writes {
                    learn(clock, read);
                }
                if reads {
                    tell(read, thread, clock, now);
                }
                if writes {
                    tell(write, thread, clock, now);
                }
            }
            OfVar::Untouched => {}
        }
    }
    open.violated.sort_unstable_by_key(|observation| observation.block);
    open.violated
}

/// What is known of a variable that a second thread comes to.
fn shared(of_var: &OfVar, threads: usize) -> OfVar {
    let none = || vec![0; threads].into_boxed_slice();
    let new = || Clock { direct: none(), through: none() };
    let (mut reads, mut writes) = (new(), new());
    if let OfVar::Own { thread, read, write } = of_var {
        for (clock, at) in [(&mut reads, read), (&mut writes, write)] {
            if let Some((now, known)) = at {
                tell(clock, *thread as usize, known, *now);
            }
        }
    }
    OfVar::Shared(Box::new((reads, writes)))
}

/// The thread has accessed what others accessed before.
fn learn(clock: &mut Rc<[u32]>, from: &Clock) {
    let known = || from.direct.iter().zip(&from.through).map(|(direct, through)| *direct.max(through));
    if clock.iter().zip(known()).all(|(own, known)| *own >= known) {
        return;
    }
    Rc::make_mut(clock).iter_mut().zip(known()).for_each(|(own, known)| *own = (*own).max(known));
}

/// Others that access it from now on know what the thread knows.
fn tell(of_var: &mut Clock, thread: usize, clock: &[u32], now: u32) {
    of_var.direct[thread] = now;
    for (other, (through, known)) in of_var.through.iter_mut().zip(clock).enumerate() {
        if other != thread {
            *through = (*through).max(*known);
        }
    }
}

/// The blocks that are open in each thread, as the trace goes on.
struct OpenBlocks<'t> {
    blocks: &'t [Block],
    /// Per thread: its blocks by first event, which of them comes next, and which are open.
    of_thread: Vec<(Vec<usize>, usize, Vec<usize>)>,
    is_violated: Vec<bool>,
    violated: Vec<Observation>,
}

impl OpenBlocks<'_> {
    fn new<'t>(trace: &Trace, blocks: &'t [Block]) -> OpenBlocks<'t> {
        let mut of_thread = vec![(Vec::new(), 0, Vec::new()); trace.threads.len()];
        for (position, block) in blocks.iter().enumerate() {
            of_thread[block.thread.index()].0.push(position);
        }
        OpenBlocks { blocks, of_thread, is_violated: vec![false; blocks.len()], violated: Vec::new() }
    }

    /// A path from an access (its number from 1) has come back to its thread at this event.
    fn came_back(&mut self, thread: usize, event: EventId, from: u32) {
        if from == 0 {
            return;
        }
        let (own, next, open) = &mut self.of_thread[thread];
        while own.get(*next).is_some_and(|position| self.blocks[*position].first <= event) {
            open.push(own[*next]);
            *next += 1;
        }
        open.retain(|position| self.blocks[*position].last >= event);
        for position in open.iter() {
            if self.blocks[*position].first.0 < from && !self.is_violated[*position] {
                self.is_violated[*position] = true;
                self.violated.push(Observation { block: *position, end: event });
            }
        }
    }
}

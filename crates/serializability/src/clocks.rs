//! What leads to what in the order of events that have come so far.
//!
//! Vector clocks over conflicts and program order, after U. Mathur and M. Viswanathan, "Atomicity checking in linear
//! time using vector clocks", ASPLOS 2020. A variable remembers, for each thread, that thread's latest access
//! that leads to it directly, and the latest one that leads to it through another thread: if the latter is inside a block that is
//! still open, a path came back. Memory grows with variables that several threads share, times threads; not with events.
//!
//! A thread has a place in the clocks. When it is over, another thread may take its place. The entries of the first thread are older than
//! each block of the second one, so they are never taken for a path back to such a block.

use foretrace_trace::{Event, EventId, VarId};
use std::rc::Rc;

/// An access, as the clocks see it.
#[derive(Clone, Copy)]
pub struct Access {
    /// The variable.
    var: usize,
    /// Its thread, which no other thread is.
    thread: u32,
    /// The thread's place in the clocks.
    place: usize,
    reads: bool,
    writes: bool,
    /// Its number, from 1.
    now: u32,
}

impl Access {
    /// The access that an event makes to a variable.
    pub fn of_event(event: &Event, var: VarId, place: usize, id: EventId) -> Access {
        let (reads, writes) = (event.op.reads(), event.op.writes());
        Access { var: var.index(), thread: event.thread.0, place, reads, writes, now: id.0 + 1 }
    }
}

/// What leads to the accesses of one kind of a variable: per place, event numbers from 1.
#[derive(Clone, Default)]
struct Clock {
    direct: Box<[u32]>,
    through: Box<[u32]>,
}

/// An access by its number, and what its thread knew of others then.
type At = (u32, Rc<[u32]>);

/// What is known of a variable.
#[derive(Clone, Default)]
enum OfVar {
    #[default]
    Untouched,
    /// One thread only, with its place: its latest read and write.
    Own {
        thread: u32,
        place: usize,
        read: Option<At>,
        write: Option<At>,
    },
    Shared(Box<(Clock, Clock)>),
}

/// What leads to the latest accesses of each variable and to the latest event of each thread.
pub struct Clocks {
    /// How many places there are.
    width: usize,
    threads: Vec<Rc<[u32]>>,
    vars: Vec<OfVar>,
}

impl Clocks {
    /// Nothing has come; there are this many places.
    pub fn new(width: usize) -> Clocks {
        Clocks { width, threads: vec![vec![0; width].into(); width], vars: Vec::new() }
    }

    /// How many places there are.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Makes more places.
    pub fn widen(&mut self, width: usize) {
        let wider = |known: &[u32]| -> Vec<u32> {
            let more = std::iter::repeat_n(0, width - known.len());
            known.iter().copied().chain(more).collect()
        };
        self.threads.iter_mut().for_each(|clock| *clock = wider(clock).into());
        self.threads.resize(width, vec![0; width].into());
        for var in &mut self.vars {
            match var {
                OfVar::Untouched => {}
                OfVar::Own { read, write, .. } => {
                    for (_, known) in [read, write].into_iter().flatten() {
                        *known = wider(known).into();
                    }
                }
                OfVar::Shared(both) => {
                    for clock in [&mut both.0, &mut both.1] {
                        clock.direct = wider(&clock.direct).into();
                        clock.through = wider(&clock.through).into();
                    }
                }
            }
        }
        self.width = width;
    }

    /// A new thread has this place: it knows nothing yet.
    pub fn begin(&mut self, place: usize) {
        self.threads[place] = vec![0; self.width].into();
    }

    /// Adds an access; the number of the latest access of its own thread from which a path through other threads leads to it, 0 if there
    /// is none.
    pub fn access(&mut self, access: Access) -> u32 {
        let Access { var, thread, place, reads, writes, now } = access;
        if var >= self.vars.len() {
            self.vars.resize_with(var + 1, OfVar::default);
        }
        let of_var = &mut self.vars[var];
        match of_var {
            OfVar::Untouched => *of_var = OfVar::Own { thread, place, read: None, write: None },
            OfVar::Own { thread: other, .. } if *other != thread => *of_var = shared(of_var, self.width),
            _ => {}
        }
        match of_var {
            OfVar::Own { read, write, .. } => {
                let at = || Some((now, self.threads[place].clone()));
                *read = if reads { at() } else { read.take() };
                *write = if writes { at() } else { write.take() };
                0
            }
            OfVar::Shared(both) => {
                let (read, write) = &mut **both;
                let back = write.through[place].max(if writes { read.through[place] } else { 0 });
                let clock = &mut self.threads[place];
                learn(clock, write);
                if writes {
                    learn(clock, read);
                }
                if reads {
                    tell(read, place, clock, now);
                }
                if writes {
                    tell(write, place, clock, now);
                }
                back
            }
            OfVar::Untouched => 0,
        }
    }
}

/// What is known of a variable that a second thread comes to.
fn shared(of_var: &OfVar, width: usize) -> OfVar {
    let none = || vec![0; width].into_boxed_slice();
    let new = || Clock { direct: none(), through: none() };
    let (mut reads, mut writes) = (new(), new());
    if let OfVar::Own { place, read, write, .. } = of_var {
        for (clock, at) in [(&mut reads, read), (&mut writes, write)] {
            if let Some((now, known)) = at {
                tell(clock, *place, known, *now);
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
fn tell(of_var: &mut Clock, place: usize, clock: &[u32], now: u32) {
    of_var.direct[place] = now;
    for (other, (through, known)) in of_var.through.iter_mut().zip(clock).enumerate() {
        if other != place {
            *through = (*through).max(*known);
        }
    }
}

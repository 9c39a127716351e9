//! Large traces for measurements: the same for the same seed on every machine.

use crate::builder::TraceBuilder;
use crate::random::Random;
use crate::trace::{Data, SyncKind, Trace};
use crate::value::Value;

const WIDTH: u32 = 32;

/// What a large trace is like.
#[derive(Clone, Copy, Debug)]
pub struct Synthetic {
    /// About how many events.
    pub events: usize,
    /// Threads that work, besides the one that starts them.
    pub threads: usize,
    /// Shared variables, with a lock for every four of them.
    pub vars: usize,
    /// How many pieces of code the threads run again and again; none: each event is a place of its own.
    pub code: Option<usize>,
    /// Out of a hundred reads, how many a condition follows.
    pub guarded: usize,
    /// Out of a hundred writes, how many write what was read plus one, not a constant.
    pub computed: usize,
    /// Only as many candidates as this, about a variable of their own; none: every thread's work is in transactions.
    pub candidates: Option<usize>,
    /// Where it starts from.
    pub seed: u64,
}

impl Synthetic {
    /// Full of locks: 8 threads, 8 variables, 50 candidates, every place its own class, no value to solve for.
    pub fn dense(events: usize, seed: u64) -> Synthetic {
        let candidates = Some(50);
        Synthetic { events, threads: 8, vars: 8, code: None, guarded: 33, computed: 0, candidates, seed }
    }

    /// 8 threads, 64 variables, two thirds of the reads in no guard, always the same code.
    pub fn large(events: usize, seed: u64) -> Synthetic {
        Synthetic { events, threads: 8, vars: 64, code: Some(48), guarded: 33, computed: 33, candidates: None, seed }
    }

    /// The trace.
    ///
    /// # Panics
    /// Never: what is made is valid.
    pub fn trace(&self) -> Trace {
        let mut maker = Maker::new(*self);
        maker.run();
        maker.builder.build().expect("the trace is valid")
    }
}

/// What a thread is about to do.
#[derive(Clone, Copy)]
enum Next {
    Begin,
    Acquire(usize),
    Read(usize),
    Assume,
    Write(usize),
    Release(usize),
    End,
}

struct Maker {
    shape: Synthetic,
    random: Random,
    builder: TraceBuilder,
    values: Vec<u32>,
    last_read: Vec<u32>,
    holder: Vec<Option<usize>>,
    work: Vec<Vec<Next>>,
    /// Per thread: the first line of the code that it runs.
    line: Vec<usize>,
    made: usize,
}

impl Maker {
    fn new(shape: Synthetic) -> Maker {
        let mut builder = TraceBuilder::new(Data::Symbolic);
        for var in 0..=shape.vars {
            builder.var(&name("x", var), Value::word(WIDTH, 0u8.into()));
        }
        let locks = shape.vars.div_ceil(4);
        for lock in 0..locks {
            builder.sync(&name("m", lock), SyncKind::Mutex { recursive: false });
        }
        Maker {
            shape,
            random: Random::new(shape.seed),
            builder,
            values: vec![0; shape.vars + 1],
            last_read: vec![0; shape.threads + 2],
            holder: vec![None; locks],
            work: vec![Vec::new(); shape.threads + 2],
            line: vec![0; shape.threads + 2],
            made: 0,
        }
    }

    fn run(&mut self) {
        let threads = self.shape.threads;
        for thread in 2..threads + 2 {
            self.builder.fork(1, thread as u64);
            // Something of its own, so that the thread is there even if it never gets a turn.
            self.builder.set(thread as u64, "r", &word(0));
        }
        let mut remote = self.shape.candidates.unwrap_or(0);
        let every = self.shape.events / (remote + 1).max(1);
        let middle = self.shape.events / 2;
        let mut marked = self.shape.candidates.is_none();
        while self.made < self.shape.events || self.work.iter().any(|work| !work.is_empty()) {
            let thread = 2 + self.random.below(threads);
            if !marked && self.made >= middle && self.work[2].is_empty() {
                self.plan_marked();
                marked = true;
            }
            if self.work[thread].is_empty() && self.made < self.shape.events {
                let due = self.shape.candidates.unwrap_or(0) - remote < self.made / every.max(1);
                if remote > 0 && thread > 2 && due {
                    remote -= 1;
                    self.plan_remote(thread);
                } else {
                    self.plan(thread);
                }
            }
            self.step(thread);
        }
    }

    /// A stretch of work. A piece of code has a seed of its own.
    fn plan(&mut self, thread: usize) {
        let Some(pieces) = self.shape.code else { return self.plan_work(thread) };
        let piece = self.random.below(pieces);
        self.line[thread] = piece * 100;
        let random = std::mem::replace(&mut self.random, Random::new(piece as u64));
        self.plan_work(thread);
        self.random = random;
    }

    /// The last thing first: reads and writes of a few variables, most in critical sections.
    fn plan_work(&mut self, thread: usize) {
        let mut work = Vec::new();
        if self.shape.candidates.is_none() {
            work.push(Next::End);
        }
        for _ in 0..2 {
            let var = self.random.below(self.shape.vars);
            self.section(var, &mut work);
        }
        if self.shape.candidates.is_none() {
            work.push(Next::Begin);
        }
        self.work[thread] = work;
    }

    /// One critical section about a variable, seldom without its lock.
    fn section(&mut self, var: usize, work: &mut Vec<Next>) {
        let locked = self.random.percent(90);
        if locked {
            work.push(Next::Release(var / 4));
        }
        if self.random.percent(60) {
            work.push(Next::Write(var));
        }
        if self.random.percent(70) {
            if self.random.percent(self.shape.guarded) {
                work.push(Next::Assume);
            }
            work.push(Next::Read(var));
        }
        if locked {
            work.push(Next::Acquire(var / 4));
        }
    }

    /// The transaction: a read and a write of the last variable in two critical sections.
    fn plan_marked(&mut self) {
        let var = self.shape.vars;
        let (mut work, mut between) =
            (vec![Next::End, Next::Release(0), Next::Write(var), Next::Acquire(0)], Vec::new());
        self.section(0, &mut between);
        work.extend(between);
        work.extend([Next::Release(0), Next::Read(var), Next::Acquire(0), Next::Begin]);
        self.work[2] = work;
    }

    /// A write of the last variable, with others before it in the same critical section.
    fn plan_remote(&mut self, thread: usize) {
        let mut work = vec![Next::Release(0), Next::Write(self.shape.vars)];
        work.extend([Next::Write(1), Next::Assume, Next::Read(1), Next::Acquire(0)]);
        self.work[thread] = work;
    }

    fn step(&mut self, thread: usize) {
        let Some(next) = self.work[thread].last().copied() else { return };
        if let Next::Acquire(lock) = next {
            if self.holder[lock].is_some() {
                return;
            }
            self.holder[lock] = Some(thread);
        }
        self.work[thread].pop();
        self.made += 1;
        let place = self.place(thread);
        let id = thread as u64;
        match next {
            Next::Begin => self.builder.begin(id).at(&place),
            Next::End => self.builder.end(id).at(&place),
            Next::Acquire(lock) => self.builder.acquire(id, &name("m", lock)).at(&place),
            Next::Release(lock) => {
                self.holder[lock] = None;
                self.builder.release(id, &name("m", lock)).at(&place)
            }
            Next::Read(var) => {
                self.last_read[thread] = self.values[var];
                self.builder.read(id, &name("x", var), "r").at(&place)
            }
            Next::Assume => {
                let bound = self.random.below(8) as u32;
                let above = self.last_read[thread] >= bound;
                let test = format!("({} r {})", if above { "bvuge" } else { "bvult" }, word(bound));
                self.builder.assume(id, &test).at(&place)
            }
            Next::Write(var) => self.write(thread, var, &place),
        };
    }

    fn write(&mut self, thread: usize, var: usize, place: &str) -> crate::builder::Added<'_> {
        let computed = self.random.percent(self.shape.computed);
        let (value, expr) = if computed {
            (self.last_read[thread].wrapping_add(1), format!("(bvadd r {})", word(1)))
        } else {
            let constant = self.random.below(8) as u32;
            (constant, word(constant))
        };
        self.values[var] = value;
        self.builder.write(thread as u64, &name("x", var), &expr).at(place)
    }

    fn place(&self, thread: usize) -> String {
        let line = if self.shape.code.is_some() { self.line[thread] + self.work[thread].len() } else { self.made };
        format!("synthetic.c:{}", line + 1)
    }
}

fn name(kind: &str, number: usize) -> String {
    format!("{kind}{number}")
}

fn word(value: u32) -> String {
    format!("#x{value:08x}")
}

//! Cut-points of a trace, and schedules that reach them, without a solver.
//!
//! Source: Sorrentino, Farzan, Madhusudan, *PENELOPE: Weaving Threads to Expose Atomicity Violations*, FSE 2010, section 4. A [`CutPoint`]
//! is found from locks alone. It may be impossible where values, branches or conditions order threads: only a run of the program along its
//! [`Schedule`] can decide. An interruption without a cut-point is impossible.
//!
//! ```
//! # use foretrace_trace::{Atomic, Data, Observed, TraceBuilder};
//! # use foretrace_cutpoints::{CutPoints, Synthesizer};
//! let mut trace = TraceBuilder::new(Data::None);
//! trace.begin(1);
//! trace.saw(1, "x", None);
//! trace.put(1, "x", None);
//! trace.end(1);
//! trace.put(2, "x", None);
//! let trace = trace.build()?;
//! let found = CutPoints::in_trace(&trace, &Atomic::Marked.blocks(&trace));
//! assert_eq!(found.all.len(), 1);
//! let observed = Observed::default();
//! let schedule = Synthesizer::new(&trace, &observed).synthesize(&found.all[0]).expect("two threads without locks");
//! assert_eq!(schedule.events.iter().map(|event| event.0).collect::<Vec<_>>(), [0, 1, 4, 2]);
//! # Ok::<(), foretrace_trace::BuildError>(())
//! ```

mod cut_point;
mod future;
mod lock_log;
mod locks;
mod matching;
mod scan;
mod schedule;
mod stays;

pub use cut_point::{CutPoint, Then};
pub use locks::Taken;
pub use schedule::{Ends, Middle, Schedule, Synthesizer, WhyNot, synthesize};

use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_trace::{Blocks, Trace};
use future::Futures;
use lock_log::LockLog;
use locks::LockStates;
use matching::match_all;
use scan::{Input, scan};

/// The cut-points of a trace: one for each pair of threads, variable, places of the source, pattern, kind of block, and pair of
/// locksets with acquisition histories.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CutPoints {
    /// Those that reach second before those that are locked out, tight blocks first; those of one class stand together.
    pub all: Vec<CutPoint>,
    /// How many pairs of accesses of a transaction were kept (the paper's AA).
    pub pairs: usize,
    /// How many accesses were kept (the paper's R and W).
    pub accesses: usize,
    /// Whether all pairs were compared, and no limit was hit.
    pub is_whole: bool,
}

impl CutPoints {
    /// Finds the cut-points of a valid trace. The time is linear in the trace, quadratic in its threads and its places of the source.
    pub fn in_trace(trace: &Trace, blocks: &Blocks) -> CutPoints {
        CutPoints::within(trace, blocks, &|| true)
    }

    /// The same, as long as `go_on` says yes.
    pub fn within(trace: &Trace, blocks: &Blocks, go_on: &dyn Fn() -> bool) -> CutPoints {
        let trace_index = TraceIndex::new(trace);
        let clocks = MustHappenBefore::new(trace, &trace_index);
        drop(trace_index);
        let mut states = LockStates::new();
        let log = LockLog::new(trace, &mut states);
        let mut futures = Futures::new();
        let summary = scan(&Input { trace, blocks, clocks: &clocks, log: &log, states: &states }, &mut futures);
        let (pairs, accesses) = (summary.pairs.len(), summary.points.len());
        let (all, is_whole) = match_all(&(trace, blocks, &clocks), &mut states, &futures, &summary, go_on);
        CutPoints { all, pairs, accesses, is_whole }
    }

    /// The first cut-point of each class: the one with the fewest locks that reaches second, if one does.
    pub fn representatives(&self) -> impl Iterator<Item = &CutPoint> {
        self.all.chunk_by(|one, other| one.class == other.class).map(|class| &class[0])
    }
}

//! Schedules that violate a whole block in a way that no triple shows.

use super::Writer;
use super::places::{around_both, variable_of};
use crate::attempt::{Attempt, Cycle, CycleKind, Kind, Rank};
use crate::settings::TestError;
use foretrace_analysis::serializability::{AskedBlocks, Bounds, FoundBeyond, Method, beyond_triples};
use foretrace_report::{BlockReport, thread_name};
use foretrace_serializability::{Choices, Violation};
use foretrace_trace::{Atomic, Block, BlockKind, EventId, Observed, Op, Pattern, Trace};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

impl Writer<'_> {
    /// An attempt for each violation, of each place and path one. What the recorded order itself shows is left out, but after a failure.
    pub(super) fn blocks(
        &mut self,
        observed: &Observed,
        deadline: Instant,
        stop: &AtomicBool,
    ) -> Result<Vec<Attempt>, TestError> {
        let (trace, options, failed) = (self.subject.trace, self.subject.options, self.failed);
        let blocks = self.blocks.clone();
        let model = options.question.model;
        let asked = AskedBlocks {
            trace,
            observed,
            blocks: &blocks,
            wanted: &|_| true,
            choices: Choices::new(model),
            method: Method::Both,
            observed_only: false,
        };
        let bounds = Bounds { of_block: None, deadline: Some(deadline), work: None, stop };
        let mut report = BlockReport::new(self.subject.file, trace, options.atomic, &blocks, model);
        let with_threads = options.atomic != Atomic::Auto;
        beyond_triples(&asked, with_threads, &bounds, &mut |found| {
            if failed || !matches!(found, FoundBeyond::Violated(_, true)) {
                report.add_beyond(found);
            }
            Ok(())
        })
        .map_err(|error| TestError::Analysis(format!("{error:#}")))?;
        let written = report.write_witnesses(&self.folder)?;
        Ok(written
            .into_iter()
            .map(|written| {
                let kind = match (written.observed, written.off_path) {
                    (true, _) => Kind::Observed,
                    (_, true) => Kind::BeforeRemote,
                    _ => Kind::Block,
                };
                self.attempt_at(&blocks.all()[written.block], written.violation, written.file, kind)
            })
            .collect())
    }

    fn attempt_at(&self, block: &Block, violation: &Violation, witness: PathBuf, kind: Kind) -> Attempt {
        let trace = self.subject.trace;
        let events = &violation.claim().events;
        let of = |event: EventId| self.access(event, None);
        let ends = [events.first(), events.get(1), events.last()].map(|event| event.copied().unwrap_or(block.first));
        let mut accesses = ends.map(of);
        accesses[0].function = around_both(trace, &self.blocks, block.first, block.last);
        let mut names: Vec<&str> = violation.claim().vars().iter().map(|var| trace.vars[var.index()].shown()).collect();
        names.dedup(); // a container of the library is several variables
        let label = block.label.map_or("", |label| trace.names.text(label));
        let places: Vec<&str> = events.iter().map(|event| trace.loc(*event).unwrap_or("?")).collect();
        let inside =
            |event: &EventId| trace.loc(*event).is_some_and(|loc| self.subject.options.inside.contains_key(loc));
        let others = events.iter().map(|event| trace.event(*event).thread).filter(|thread| *thread != block.thread);
        Attempt {
            kind,
            class: format!("{} {label}", places.join(" ")),
            variable: names.join(", "),
            pattern: Pattern::Rwr,
            accesses,
            also: Vec::new(),
            to_make: None,
            cycle: Some(Cycle {
                path: events.iter().map(|event| (of(*event), act(trace, *event))).collect(),
                thread: thread_name(trace, block.thread),
                other: others.map(|thread| thread_name(trace, thread)).next().unwrap_or_default(),
                kind: CycleKind::Block,
            }),
            witness,
            recording: self.recording.clone(),
            seed: self.seed,
            rank: Rank {
                is_whole_thread: block.kind == BlockKind::Thread,
                in_library: inside(&ends[0]) || inside(&ends[2]),
                ..Rank::guarded(block.height, ends[2].0.abs_diff(ends[0].0))
            },
        }
    }
}

/// What an access does, in words.
pub(crate) fn act(trace: &Trace, event: EventId) -> String {
    let op = &trace.event(event).op;
    let verb = match op {
        Op::Rmw { .. } => "updates",
        op if op.writes() => "writes",
        _ => "reads",
    };
    format!("{verb} {}", variable_of(trace, event))
}
